"""Asking every query of a judged set in every mode, as a user would, one after the other, with a watch beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from workbench.experiments.retrieval.grep import grep, matching_lines
from workbench.experiments.retrieval.metrics import DEPTH, TOP
from workbench.experiments.retrieval.tuning import NOBODY, Candidates
from workbench.ingest.retrieval import JudgedSet
from workbench.search.index import ChunkIndex
from workbench.search.refresh import Progress
from workbench.store.filters import Where
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from workbench.providers.embedding import Embedder

Times = NDArray[np.float64]
T = TypeVar("T")
_MS: Final = 1000.0


class Searched(NamedTuple):
    """What the index found, and how long it took.

    Attributes:
        candidates: Of every query.
        keyword_ms: Time of the search by words (queries,).
        embed_ms: Time to embed the query.
        semantic_ms: Time of the search by meaning, without embedding.
    """

    candidates: Candidates
    keyword_ms: Times
    embed_ms: Times
    semantic_ms: Times


class Grepped(NamedTuple):
    """What the baseline found.

    Attributes:
        gains: Grade at each rank (queries, ranks).
        tokens: Estimated tokens of the matching lines of the first ten documents (queries,).
        times_ms: Time of each search.
    """

    gains: NDArray[np.float64]
    tokens: NDArray[np.float64]
    times_ms: Times


def search_all(
    judged: JudgedSet,
    chunks: pl.DataFrame,
    index: ChunkIndex,
    embedder: Embedder,
    limit: int,
    progress: Progress | None = None,
) -> Searched:
    """Ask every query by words and by meaning.

    Args:
        judged: The set.
        chunks: What was indexed; see `build.chunk_documents`.
        index: Ready to be searched.
        embedder: That of the index.
        limit: Chunks taken from each list, as `search.candidates` says.
        progress: Told about every query.

    Returns:
        What was found, by arrays whose rows are the queries in their order.
    """
    queries = judged.queries["text"].to_list()
    wheres = _wheres(judged)
    times = np.zeros((3, len(queries)))
    keyword, semantic = [], []
    _ask(index, embedder, queries[0], wheres[0], limit)  # the first search opens files, which is no part of a search
    for place, (query, where) in enumerate(zip(queries, wheres, strict=True)):
        words, meaning, times[:, place] = _ask(index, embedder, query, where, limit)
        keyword.append(words.with_columns(query=pl.lit(place)))
        semantic.append(meaning.with_columns(query=pl.lit(place)))
        if progress is not None:
            progress(place + 1, len(queries), "queries")
    found = pl.concat(keyword).join(pl.concat(semantic), on=["query", "chunk_id"], how="full", coalesce=True)
    return Searched(lay_out(judged, chunks, found), *times)


def grep_all(judged: JudgedSet) -> Grepped:
    """Look for the words of every query in all documents that it may find."""
    lowered = judged.documents.with_columns(pl.col("text").str.to_lowercase())
    texts = dict(judged.documents.iter_rows())
    grades = _grades(judged)
    allowed = _pools(judged)
    gains = np.zeros((judged.queries.height, DEPTH))
    tokens, times = np.zeros(len(gains)), np.zeros(len(gains))
    for place, (query_id, query) in enumerate(judged.queries.select("query_id", "text").iter_rows()):
        pool = lowered if allowed is None else lowered.filter(pl.col("document_id").is_in(allowed.get(query_id, [])))
        found, times[place] = _timed(partial(grep, pool, query, DEPTH))
        ranked = found["document_id"].to_list()
        gains[place, : len(ranked)] = [grades.get((query_id, document), 0.0) for document in ranked]
        tokens[place] = sum(estimate_tokens(matching_lines(texts[document], query)) for document in ranked[:TOP])
    return Grepped(gains, tokens, times)


def lay_out(judged: JudgedSet, chunks: pl.DataFrame, found: pl.DataFrame) -> Candidates:
    """Lay what was found into arrays.

    Args:
        judged: The set.
        chunks: `chunk_id`, `document_id`, in the order of `chunk_id`.
        found: `query` (number), `chunk_id`, `keyword`, `semantic`, null where the list lacks the chunk.

    Returns:
        One row a query, one place a candidate.
    """
    documents = judged.documents.select("document_id").with_row_index("document")
    queries = judged.queries.select("query_id").with_row_index("query").with_columns(pl.col("query").cast(pl.Int64))
    numbered = chunks.select("chunk_id", "document_id").with_row_index("chunk").join(documents, "document_id")
    grades = judged.judgements.join(queries, "query_id").select("query", "document_id", "grade")
    rows = (
        found.with_columns(pl.col("query").cast(pl.Int64))
        .join(numbered, "chunk_id")
        .join(grades, ["query", "document_id"], how="left")
        .sort("query", "chunk")
        .with_columns(place=pl.int_range(pl.len()).over("query"))
    )
    places = (rows["query"].to_numpy(), rows["place"].to_numpy())
    shape = (judged.queries.height, int(rows["place"].max() or 0) + 1 if rows.height else 1)  # type: ignore[arg-type]
    return Candidates(
        documents=_array(shape, places, rows["document"], NOBODY).astype(np.int64),
        keyword=_array(shape, places, rows["keyword"], np.nan),
        semantic=_array(shape, places, rows["semantic"], np.nan),
        grades=_array(shape, places, rows["grade"].fill_null(0.0), 0.0),
        ideal=ideal_grades(judged),
        chunks=_array(shape, places, rows["chunk"], NOBODY).astype(np.int64),
    )


def ideal_grades(judged: JudgedSet) -> NDArray[np.float64]:
    """Grades of the right documents of each query, highest first, padded by 0 (queries, most right documents)."""
    queries = judged.queries.select("query_id").with_row_index("query")
    rows = (
        judged.judgements.join(queries, "query_id")
        .sort("query", "grade", descending=[False, True])
        .with_columns(place=pl.int_range(pl.len()).over("query"))
    )
    shape = (judged.queries.height, rows.group_by("query").len()["len"].max())
    return _array(shape, (rows["query"].to_numpy(), rows["place"].to_numpy()), rows["grade"], 0.0)


def _array(shape: Any, places: tuple[Any, Any], values: pl.Series, missing: float) -> NDArray[np.float64]:
    array = np.full(shape, missing, dtype=np.float64)
    array[places] = values.cast(pl.Float64).to_numpy()
    return array


def _ask(
    index: ChunkIndex, embedder: Embedder, query: str, where: Where | None, limit: int
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[float, float, float]]:
    words, keyword_ms = _timed(lambda: index.keyword(query, limit, where))
    vector, embed_ms = _timed(lambda: embedder.embed_query(query))
    meaning, semantic_ms = _timed(lambda: index.semantic(vector, embedder.model_id, limit, where))
    return words, meaning, (keyword_ms, embed_ms, semantic_ms)


def _timed(action: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    done = action()
    return done, (time.perf_counter() - started) * _MS


def _wheres(judged: JudgedSet) -> Sequence[Where | None]:
    """What each query is searched in: the document's id stands in the column that sessions are filtered by."""
    allowed = _pools(judged)
    if allowed is None:
        return [None] * judged.queries.height
    return [Where.of(session_id=allowed.get(query_id, [])) for query_id in judged.queries["query_id"]]


def _pools(judged: JudgedSet) -> dict[str, list[str]] | None:
    if judged.pools is None:
        return None
    return dict(judged.pools.group_by("query_id").agg("document_id").iter_rows())


def _grades(judged: JudgedSet) -> dict[tuple[str, str], float]:
    rows = judged.judgements.select("query_id", "document_id", "grade").iter_rows()
    return {(query, document): grade for query, document, grade in rows}
