"""Reading judged sets for the evaluation of retrieval: queries, documents, and which document answers which query.

Three shapes are known: a folder with `queries.jsonl` and `qrels.tsv` (`folder`), and the published files of LoCoMo and
LongMemEval (`conversations`). All become one `JudgedSet` (`judged`).
"""

from workbench.ingest.retrieval.judged import JudgedSet
from workbench.ingest.retrieval.open import open_judged_set

__all__ = ["JudgedSet", "open_judged_set"]
