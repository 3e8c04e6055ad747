"""A judged set: queries, documents, and grades of documents for queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from workbench.errors import BadInputError
from workbench.text.ids import content_hash

QUERIES: Final = {"query_id": pl.String, "text": pl.String}
DOCUMENTS: Final = {"document_id": pl.String, "text": pl.String}
JUDGEMENTS: Final = {"query_id": pl.String, "document_id": pl.String, "grade": pl.Float64}
POOLS: Final = {"query_id": pl.String, "document_id": pl.String}

_NAMED: Final = 3


@dataclass(frozen=True)
class JudgedSet:
    """What an evaluation needs; made by `judged_set`, which checks that it fits together.

    Attributes:
        name: Names the report.
        queries: `query_id`, `text`; each has at least one judgement with a grade above 0.
        documents: `document_id`, `text`.
        judgements: `query_id`, `document_id`, `grade` above 0; documents without a row are wrong answers.
        pools: `query_id`, `document_id`: the only documents that a query is searched in; None: all are, for each query.
        left_out: What of the files is not in here, in words.
        notes: Where the documents are the notes of a vault: `path` (the document's id), `title`, `text`, `aliases`,
            `modified_at`, as `vault.note_chunks` takes them.
    """

    name: str
    queries: pl.DataFrame
    documents: pl.DataFrame
    judgements: pl.DataFrame
    pools: pl.DataFrame | None = None
    left_out: tuple[str, ...] = field(default=())
    notes: pl.DataFrame | None = None

    def content_hash(self) -> str:
        """A hash of queries, documents, judgements and pools: another set, or one that was changed, has another."""
        frames = [self.queries, self.documents, self.judgements, *([] if self.pools is None else [self.pools])]
        rows = "\n".join(frame.sort(pl.all()).write_ndjson() for frame in frames)
        return content_hash(rows)


def judged_set(
    name: str,
    queries: Iterable[tuple[str, str]],
    documents: Iterable[tuple[str, str]],
    judgements: Iterable[tuple[str, str, float]],
    pools: Iterable[tuple[str, str]] | None = None,
    left_out: Sequence[str] = (),
) -> JudgedSet:
    """Put a set together; what cannot be used is left out and named.

    Args:
        name: Names the report.
        queries: Id and text.
        documents: Id and text.
        judgements: Query, document and grade; a grade of 0 or less says that the document is wrong.
        pools: Query and document that it may find; None: every document for every query.
        left_out: What the reader left out already.

    Returns:
        The set, rows in the order given; of an id that recurs the first row counts.

    Raises:
        BadInputError: No query with a right document is left.
    """
    notes = list(left_out)
    asked = _first_of_each(pl.DataFrame(list(queries), schema=QUERIES, orient="row"), "query_id", "queries", notes)
    known = _first_of_each(
        pl.DataFrame(list(documents), schema=DOCUMENTS, orient="row"), "document_id", "documents", notes
    )
    graded = pl.DataFrame(list(judgements), schema=JUDGEMENTS, orient="row").filter(pl.col("grade") > 0)
    graded = graded.unique(["query_id", "document_id"], keep="first", maintain_order=True)
    _note(
        notes,
        "judgements name a document that is not in the corpus",
        graded.join(known, "document_id", "anti")["document_id"],
    )
    graded = graded.join(known.select("document_id"), "document_id", "semi", maintain_order="left")
    allowed = None
    if pools is not None:
        allowed = pl.DataFrame(list(pools), schema=POOLS, orient="row").unique(maintain_order=True)
        allowed = allowed.join(known, "document_id", "semi", maintain_order="left")
        graded = graded.join(allowed, ["query_id", "document_id"], "semi", maintain_order="left")
    _note(notes, "judgements name a query that is not asked", graded.join(asked, "query_id", "anti")["query_id"])
    graded = graded.join(asked, "query_id", "semi", maintain_order="left")
    _note(notes, "queries have no right document", asked.join(graded, "query_id", "anti")["query_id"])
    asked = asked.join(graded, "query_id", "semi", maintain_order="left")
    if asked.is_empty():
        raise BadInputError(
            f"the set {name} has no query with a right document in its corpus; {'; '.join(notes) or 'it is empty'}"
        )
    return JudgedSet(name, asked, known, graded, allowed, tuple(notes))


def _first_of_each(rows: pl.DataFrame, key: str, what: str, notes: list[str]) -> pl.DataFrame:
    kept = rows.unique(key, keep="first", maintain_order=True)
    _note(notes, f"{what} have an id that another one has", rows.filter(~pl.col(key).is_first_distinct())[key])
    return kept


def _note(notes: list[str], what: str, ids: pl.Series) -> None:
    if len(ids):
        more = ", ..." if len(ids) > _NAMED else ""
        notes.append(f"{len(ids)} {what} ({', '.join(ids.head(_NAMED))}{more})")
