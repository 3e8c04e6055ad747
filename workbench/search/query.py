"""One question to an index: which lists are asked, what the answer lacks, and the hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from workbench.errors import EmbedderUnavailableError, RerankerUnavailableError
from workbench.search.index import ROWS, ChunkIndex
from workbench.search.nearest import no_neighbours
from workbench.search.rank import Mode, reranked, scored
from workbench.search.snippets import snippet
from workbench.text.parts import Terms, query_terms

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from workbench.config.knowledge import Search
    from workbench.store.filters import Where

_WANTED: Final = tuple(name for name in ROWS if name not in {"owner", "content_hash", "start", "end", "text"})
"""Columns of candidates; each costs time, and texts most, which are read of the hits that are shown."""

MOST_CANDIDATES: Final = 1600
"""Candidates are asked for again, four times as many, while chunks of few things take all places; until here."""

COLUMNS: Final = (
    "session_id",
    "kind",
    "id",
    "score",
    "keyword",
    "semantic",
    "context",
    "recency",
    "rerank",
    "occurred_at",
    "turn",
    "position",
    "role",
    "tool",
    "agent",
    "project_id",
    "snippet",
    "marks",
    "text",
    "chunk_id",
)
"""Columns of an answer's hits."""


class EmbedsQuery(Protocol):
    """What is asked of an embedder here; see `providers.embedding`."""

    @property
    def model_id(self) -> str:
        """Name of the vector space."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The query's vector, of length 1."""
        ...


Rerank = Callable[[str, Sequence[str]], "NDArray[np.floating]"]
"""Query and texts to a score each."""


@dataclass(frozen=True)
class Question:
    """What is looked for.

    Attributes:
        text: What a person typed; nothing in it is syntax.
        mode: `keyword`, `semantic` or `hybrid`.
        limit: Most hits.
        where: Only chunks that fit.
        embed_command: What gives a vector to texts without one; an answer that lacks some names it.
    """

    text: str
    mode: Mode
    limit: int
    where: Where | None = None
    embed_command: str = "workbench embed"


@dataclass
class Answer:
    """What was found.

    Attributes:
        mode: How was searched.
        hits: `COLUMNS`, best first.
        lacks: What was asked for and is not in the answer, each with its remedy.
        notices: What else is to be known.
    """

    mode: Mode
    hits: pl.DataFrame
    lacks: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def degraded(self) -> str | None:
        """What the answer lacks in one line; None where it is whole."""
        return "; ".join(self.lacks) or None


def ask(
    index: ChunkIndex,
    question: Question,
    settings: Search,
    *,
    embedder: Callable[[], EmbedsQuery],
    rerank: Rerank | None = None,
    now: datetime,
) -> Answer:
    """Answer a question.

    Args:
        index: Where is searched.
        question: What is looked for.
        settings: How.
        embedder: Loads the embedder; called only where vectors are compared.
        rerank: Scores the best again; None where no cross-encoder is configured.
        now: UTC.

    Returns:
        The hits; a missing embedder and missing vectors are named in `lacks`.

    Raises:
        StoreError: The index cannot be read.
    """
    lacks: list[str] = []
    lists, notices = _looked_up(index, question, settings, embedder, lacks)
    if not lists.terms.words:
        return Answer(question.mode, _no_hits(), notices=notices)
    hits = _hits(lists, question, settings, now)
    if rerank is not None and settings.rerank and hits.height:
        try:
            hits = reranked(
                _with_texts(index, hits.head(settings.rerank_top)),
                lambda texts: rerank(question.text, texts),
                settings.rerank_top,
            )
        except RerankerUnavailableError as error:
            lacks.append(str(error))
    shown = _with_texts(index, hits.head(question.limit))
    index.keep()
    return Answer(question.mode, _shown(shown, lists.terms, settings.snippet_length), lacks, notices)


def ask_chunks(
    index: ChunkIndex, question: Question, settings: Search, *, embedder: Callable[[], EmbedsQuery], now: datetime
) -> Answer:
    """Answer a question by chunks as they are, several of one hit among them; neither reranked nor aged.

    Args:
        index: Where is searched.
        question: What is looked for; `limit` is in chunks.
        settings: Which fusion and weights, `candidates` of each list, `snippet_length`.
        embedder: As for `ask`.
        now: UTC.

    Returns:
        The chunks; of a list that does not have one it gets nothing.

    Raises:
        StoreError: The index cannot be read.
    """
    lacks: list[str] = []
    lists, notices = _looked_up(index, question, settings, embedder, lacks)
    if not lists.terms.words:
        return Answer(question.mode, _no_hits(), notices=notices)
    found, _ = lists.candidates(settings.candidates, complete=0)
    plain = msgspec.structs.replace(_weighed(settings, lists), recency_boost_days=0.0)
    chunks = scored(found, question.mode, plain, now, each_chunk=True).head(question.limit)
    shown = _with_texts(index, chunks)
    index.keep()
    return Answer(question.mode, _shown(shown, lists.terms, settings.snippet_length), lacks, notices)


def _looked_up(
    index: ChunkIndex, question: Question, settings: Search, embedder: Callable[[], EmbedsQuery], lacks: list[str]
) -> tuple[_Lists, list[str]]:
    """The lists of a question, and what is to be known of its words."""
    terms = query_terms(question.text, settings.query_terms, settings.token_min_chars)
    notices: list[str] = []
    if not terms.words:
        shown = question.text.strip()
        what = f"{shown[:40]!r} has no words" if shown else "the question is empty"
        notices.append(f"{what}; type the words that are to be found")
    if terms.left_out:
        notices.append(
            f"the question has {len(terms.words) + terms.left_out:,} words and parts of words; "
            f"the first {len(terms.words)} were looked for"
        )
    return _Lists(index, question, terms, lambda: _vector(index, question, terms, embedder, lacks)), notices


@dataclass(frozen=True)
class QueryVector:
    """A query's vector, whose it is, and the share of texts that have a vector of that model."""

    model_id: str
    vector: NDArray[np.float32]
    share: float


@dataclass
class _Lists:
    """The two lists of one question, as long as they are asked for."""

    index: ChunkIndex
    question: Question
    terms: Terms
    embed: Callable[[], QueryVector | None]

    @cached_property
    def vector(self) -> QueryVector | None:
        """The query's vector, made once; None where meaning is not compared."""
        return self.embed()

    def candidates(self, count: int, *, complete: int) -> tuple[pl.DataFrame, bool]:
        """Chunks of both lists with all columns, and whether there may be more of them.

        Args:
            count: Chunks taken from each list.
            complete: So many of those that only words found get their cosine as well, from the stored vectors.
        """
        import polars as pl  # noqa: PLC0415  (175 ms)

        if self.question.mode == "keyword":
            found = self._words(count)
            nothing = pl.Series("semantic", [None] * found.height, dtype=pl.Float64)
            return found.hstack([nothing]), found.height >= count
        # in turn: each takes both cores of a small machine, and side by side they took a third longer (measured)
        found, meaning = self._words(count), self._meaning(count)
        known = set(found["chunk_id"].to_list())
        others = [chunk_id for chunk_id in meaning["chunk_id"].to_list() if chunk_id not in known]
        rows = self.index.rows(others, _WANTED, as_searched=True)
        cosines = pl.concat([meaning, self._cosines(found, meaning, complete)])
        every = pl.concat([found, rows], how="diagonal_relaxed").join(cosines, on="chunk_id", how="left")
        return every, max(found.height, meaning.height) >= count

    def _words(self, count: int) -> pl.DataFrame:
        wanted = 0 if self.question.mode == "semantic" else count
        return self.index.keyword(self.terms, wanted, self.question.where, _WANTED)

    def _meaning(self, count: int) -> pl.DataFrame:
        if self.vector is None:
            return no_neighbours()
        return self.index.semantic(self.vector.vector, self.vector.model_id, count, self.question.where)

    def _cosines(self, found: pl.DataFrame, meaning: pl.DataFrame, complete: int) -> pl.DataFrame:
        """Cosines of what only words found: the embedder scores it again, so that it is compared on equal terms."""
        if self.vector is None or not complete or not found.height:
            return no_neighbours()
        lacking = found.filter(~found["chunk_id"].is_in(meaning["chunk_id"].implode())).head(complete)
        return self.index.cosines(self.vector.vector, self.vector.model_id, lacking["chunk_id"].to_list())


def _vector(
    index: ChunkIndex, question: Question, terms: Terms, embedder: Callable[[], EmbedsQuery], lacks: list[str]
) -> QueryVector | None:
    """The query's vector with its model; None where none is needed or to be had, which the answer then says."""
    if question.mode == "keyword":
        return None
    if index.is_there() and not index.has_vectors():
        total = index.coverage("")[1]
        lacks.append(f"no vectors for {total:,} of {total:,} texts; run {question.embed_command}")
        return None
    try:
        loaded = embedder()
        vector = loaded.embed_query(" ".join(terms.words) if terms.left_out else question.text)
    except EmbedderUnavailableError as error:
        lacks.append(str(error))
        return None
    have, total = index.coverage(loaded.model_id)
    if have < total:
        lacks.append(_partial(index, loaded.model_id, have, total, question.embed_command))
    ann = index.ann(loaded.model_id)
    if ann is not None and not ann.is_accepted:
        lacks.append(
            f"the index of {ann.rows:,} vectors found only {ann.recall:.0%} of the true neighbours and is not used: "
            f"every vector is compared, which is slower; raise store.vectors.nprobes, then run {question.embed_command}"
        )
    return QueryVector(loaded.model_id, vector, have / total if total else 0.0)


def _partial(index: ChunkIndex, model: str, have: int, total: int, embed_command: str) -> str:
    lacking = f"no vectors for {total - have:,} of {total:,} texts; run {embed_command}"
    others = [name for name in index.models() if name != model]
    return lacking if have or not others else f"{lacking} (there are some of {', '.join(others)}, not of {model})"


def _hits(lists: _Lists, question: Question, settings: Search, now: datetime) -> pl.DataFrame:
    """Score candidates until there are as many hits as were asked for, or no more candidates."""
    count = max(settings.candidates, 2 * question.limit)
    complete = settings.rerank_top if settings.rerank and question.mode == "hybrid" else 0
    while True:
        candidates, may_be_more = lists.candidates(count, complete=complete)
        hits = scored(candidates, question.mode, _weighed(settings, lists), now)
        if hits.height >= question.limit or not may_be_more or count >= MOST_CANDIDATES:
            return hits
        count = min(4 * count, MOST_CANDIDATES)


def _weighed(settings: Search, lists: _Lists) -> Search:
    """Let meaning weigh by the share of texts that have a vector: the nearest of a few need not be near."""
    if lists.question.mode != "hybrid":
        return settings
    share = 0.0 if lists.vector is None else lists.vector.share
    return msgspec.structs.replace(settings, semantic_weight=settings.semantic_weight * share)


def _with_texts(index: ChunkIndex, hits: pl.DataFrame) -> pl.DataFrame:
    """Hits with their texts."""
    import polars as pl  # noqa: PLC0415  (175 ms)

    if "text" in hits.columns:
        return hits
    ids = hits["chunk_id"].to_list()
    texts = dict(index.rows(ids, ("chunk_id", "text"), as_searched=True).iter_rows())
    there = [place for place, chunk_id in enumerate(ids) if chunk_id in texts]  # somebody may have deleted others
    return hits[there].hstack([pl.Series("text", [texts[ids[place]] for place in there], dtype=pl.String)])


def _shown(hits: pl.DataFrame, terms: Terms, length: int) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415  (175 ms)

    cut = [snippet(text, terms.words, length) for text in hits["text"].to_list()]
    added = [
        pl.Series("snippet", [each.text for each in cut], dtype=pl.String),
        pl.Series("marks", [each.marks for each in cut], dtype=pl.List(pl.List(pl.Int64))),
    ]
    if "rerank" not in hits.columns:
        added.append(pl.Series("rerank", [None] * hits.height, dtype=pl.Float64))
    return hits.hstack(added)[list(COLUMNS)]


def _no_hits() -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415  (175 ms)

    numbers = dict.fromkeys(("score", "keyword", "semantic", "context", "recency", "rerank"), pl.Float64())
    others = {
        "turn": pl.Int64(),
        "position": pl.Int64(),
        "occurred_at": pl.Datetime("us", "UTC"),
        "marks": pl.List(pl.List(pl.Int64)),
    }
    return pl.DataFrame(schema={name: (numbers | others).get(name, pl.String()) for name in COLUMNS})
