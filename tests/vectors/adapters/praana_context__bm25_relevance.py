from __future__ import annotations

from workbench.text.bm25 import seed_relevance


def run(case_input):
    return seed_relevance(case_input["query"], case_input["content"])
