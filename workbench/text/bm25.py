"""Keyword relevance: BM25 over a pool of texts, and the seed's one-document form of it as a baseline.

score(q, d) = sum over the tokens t of q, repeats included, of
    idf(t) * f(t, d) * (k1 + 1) / (f(t, d) + k1 * (1 - b + b * |d| / average length))
idf(t) = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

f(t, d): how often t occurs in d; |d|: tokens in d; N: documents; n(t): documents that hold t.
Source: PRAANA src/utils/bm25.ts.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

# Source of all three: PRAANA src/utils/bm25.ts.
K1: Final = 1.5
B: Final = 0.75
_TOKEN: Final = re.compile(r"[a-z0-9_./-]+")
_IDF_ALONE: Final = log(1.0 + 0.5 / 1.5)
"""`CorpusStats.idf` of a token whose document is the whole pool: N = n = 1."""


def tokenize(text: str) -> list[str]:
    """Cut a text into lower-case words of ASCII letters, digits and `_ . / -`.

    No stop words, no stemming: a path or a dotted name stays whole, and so does a word with its full stop.

    Args:
        text: Any text; what is not ASCII after lowering separates words.

    Returns:
        The tokens in order, repeats included.

    Source: PRAANA src/utils/bm25.ts, `tokenize`.
    """
    return _TOKEN.findall(text.lower())


def tokenize_short(text: str) -> list[str]:
    """Cut a text as `tokenize` does and drop tokens of one character.

    Args:
        text: Any text.

    Returns:
        The tokens in order, repeats included.

    Source: PRAANA src/utils/bm25.ts, `tokenizeShort`, used to match skills.
    """
    return [token for token in tokenize(text) if len(token) > 1]


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """What BM25 must know about a pool of documents.

    Attributes:
        average_length: Tokens of the mean document, empty ones included; 0 where there are none.
        total_documents: Documents, empty ones included.
        document_frequency: Documents that hold a token, by token.
    """

    average_length: float
    total_documents: int
    document_frequency: Mapping[str, int]

    def idf(self, token: str) -> float:
        """Weigh a token by its rarity: ln(1 + (N - n + 0.5) / (n + 0.5)), with n = 1 for one that no document holds.

        Source: PRAANA src/utils/bm25.ts.
        """
        holding = self.document_frequency.get(token, 1)
        return log(1.0 + (self.total_documents - holding + 0.5) / (holding + 0.5))


def corpus_stats(documents: Iterable[Sequence[str]]) -> CorpusStats:
    """Count documents, tokens and the documents that hold each token.

    Args:
        documents: Tokens of each document, as `tokenize` returns them.

    Returns:
        The statistics; average length 0 for an empty pool.

    Source: PRAANA src/utils/bm25.ts, `buildBM25Stats`.
    """
    total_documents = total_tokens = 0
    holding: Counter[str] = Counter()
    for tokens in documents:
        total_documents += 1
        total_tokens += len(tokens)
        holding.update(dict.fromkeys(tokens, 1))
    return CorpusStats(total_tokens / total_documents if total_documents else 0.0, total_documents, holding)


def bm25_score(query: Sequence[str], document: Sequence[str], stats: CorpusStats) -> float:
    """Score one document against one query, by the formula of this module.

    Args:
        query: Tokens of the query; repeats count each time.
        document: Tokens of the document, which need not be one of the pool.
        stats: Of the pool.

    Returns:
        At least 0; 0 for an empty query, an empty document, or a pool without tokens.

    Source: PRAANA src/utils/bm25.ts, `bm25Score`.
    """
    if not document or not stats.average_length:
        return 0.0
    occurrences = Counter(document)
    norm = K1 * (1.0 - B + B * len(document) / stats.average_length)
    return sum(
        repeats * stats.idf(token) * occurrences[token] * (K1 + 1.0) / (occurrences[token] + norm)
        for token, repeats in Counter(query).items()
        if token in occurrences
    )


class Pool:
    """Documents made ready for many queries: per token, which documents hold it and how often. It can grow.

    A query costs what its own tokens occur, not what the pool holds.
    """

    def __init__(self, documents: Iterable[Sequence[str]] = ()) -> None:
        """Count the tokens of each document.

        Args:
            documents: Tokens of each document. Another tokenizer than `tokenize` serves as well, or the same without
                stop words, as long as queries are cut alike.
        """
        self._lengths = array("q")
        self._tokens = 0
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self.extend(documents)

    def __len__(self) -> int:
        """Count the documents."""
        return len(self._lengths)

    def extend(self, documents: Iterable[Sequence[str]]) -> None:
        """Add documents behind those that are there.

        Args:
            documents: Tokens of each document.
        """
        for document in documents:
            number = len(self._lengths)
            self._lengths.append(len(document))
            self._tokens += len(document)
            for token, count in Counter(document).items():
                holders, counts = self._postings.setdefault(token, (array("q"), array("q")))
                holders.append(number)
                counts.append(count)

    @property
    def stats(self) -> CorpusStats:
        """Statistics of the documents."""
        holding = {token: len(holders) for token, (holders, _) in self._postings.items()}
        return self._stats(holding)

    def scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Score every document against one query, by the formula of this module.

        Args:
            query: Tokens of the query; repeats count each time.

        Returns:
            One score a document, in their order, at least 0.

        Source: PRAANA src/utils/bm25.ts, `bm25Score`.
        """
        row: NDArray[np.float64] = self._scores([query])[0]
        return row

    def relevance(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Score every document on a scale that means the same in every pool.

        relevance(q, d) = min(1, score(q, d) / score(q, q)), both with the statistics of this pool; a query token that
        no document holds counts in the divisor as if one did, so a query of strange words finds little relevant.

        Args:
            query: Tokens of the query.

        Returns:
            One value from 0 to 1 a document, in their order; zeros for an empty query.

        Source: design, "Relevance", which repairs the one-document form of PRAANA src/context-engine/scoring.ts.
        """
        row: NDArray[np.float64] = self.relevances([query])[0]
        return row

    def relevances(self, queries: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Score every document by `relevance` against a few queries at once: dearer than one, far cheaper than each.

        Args:
            queries: Tokens of each query.

        Returns:
            Array (queries, documents).
        """
        import numpy as np  # noqa: PLC0415  # as below

        stats = [self._stats_of(query) for query in queries]
        itself = [bm25_score(query, query, each) or np.inf for query, each in zip(queries, stats, strict=True)]
        told: NDArray[np.float64] = np.minimum(self._scores(queries) / np.array(itself)[:, None], 1.0)
        return told

    def seed_relevance(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Score every document by itself, as the function `seed_relevance` scores one text.

        Args:
            query: Tokens of the query.

        Returns:
            One value a document, at least 0, without upper bound.
        """
        import numpy as np  # noqa: PLC0415  # as below

        asked = self._held([query])
        if not asked:
            return np.zeros(len(self))
        alone = CorpusStats(1.0, 1, {})
        holders, counts, sizes = self._postings_of(asked)
        weights = np.repeat([repeats * alone.idf(token) for _, token, repeats in asked], sizes)
        parts = weights * counts * (K1 + 1.0) / (counts + K1)
        return np.bincount(holders, parts, minlength=len(self)).astype(np.float64, copy=False)

    def _scores(self, queries: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Array (queries, documents)."""
        import numpy as np  # noqa: PLC0415  # the one-document baseline needs none of it: 100 ms to import

        asked = self._held(queries)
        if not asked:
            return np.zeros((len(queries), len(self)))
        stats = self._stats_of(token for _, token, _ in asked)
        holders, counts, sizes = self._postings_of(asked)
        weights = [repeats * stats.idf(token) * (K1 + 1.0) for _, token, repeats in asked]
        lengths = np.frombuffer(self._lengths, dtype=np.int64)[holders]
        norms = K1 * (1.0 - B + B / stats.average_length * lengths)
        parts = np.repeat(weights, sizes) * counts / (counts + norms)
        places = holders + np.repeat([row * len(self) for row, _, _ in asked], sizes)
        added = np.bincount(places, parts, minlength=len(queries) * len(self))  # one by one, in the order of the tokens
        return added.reshape(len(queries), len(self)).astype(np.float64, copy=False)

    def _held(self, queries: Sequence[Sequence[str]]) -> list[tuple[int, str, int]]:
        """Place of the query, token and its repeats in it, for each token that a document holds."""
        counted = ((row, *each) for row, query in enumerate(queries) for each in Counter(query).items())
        return [each for each in counted if each[1] in self._postings]

    def _postings_of(
        self, asked: Sequence[tuple[int, str, int]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], list[int]]:
        """Documents that hold each token, how often, all put end to end; and how many documents hold each."""
        import numpy as np  # noqa: PLC0415  # as above

        found = [self._postings[token] for _, token, _ in asked]
        holders, counts = (np.frombuffer(b"".join(column), dtype=np.int64) for column in zip(*found, strict=True))
        return holders, counts, [len(each) for each, _ in found]

    def _stats_of(self, query: Iterable[str]) -> CorpusStats:
        """Statistics, the frequencies only of what the query holds."""
        return self._stats({token: len(self._postings[token][0]) for token in query if token in self._postings})

    def _stats(self, holding: Mapping[str, int]) -> CorpusStats:
        return CorpusStats(self._tokens / len(self) if len(self) else 0.0, len(self), holding)


def bm25_scores(query: str, documents: Sequence[str]) -> NDArray[np.float64]:
    """Score texts against a query with their own statistics.

    Args:
        query: Text of the query.
        documents: The texts, which are the whole pool. Build a `Pool` once where several queries meet the same one.

    Returns:
        One BM25 score a document, in their order, at least 0; zeros for an empty query.

    Source: PRAANA src/utils/bm25.ts, `buildBM25Stats` and `bm25Score`.
    """
    return Pool(map(tokenize, documents)).scores(tokenize(query))


def relevance(queries: Sequence[str], pool: Sequence[str]) -> NDArray[np.float64]:
    """Judge how relevant each text of a pool is to each query, from 0 to 1.

    relevance(q, d) = min(1, score(q, d) / score(q, q)) with the statistics of the pool; see `Pool.relevance`.

    Args:
        queries: Texts, say the prompt and what was hydrated for it.
        pool: The texts to judge.

    Returns:
        Array (queries, pool).

    Source: design, "Relevance".
    """
    import numpy as np  # noqa: PLC0415  # as above

    ready = Pool(map(tokenize, pool))
    return np.array([ready.relevance(tokenize(query)) for query in queries]).reshape(len(queries), len(pool))


def seed_relevance(query: str, text: str) -> float:
    """Judge one text by the original's formula, the baseline that studies call `seed`.

    BM25 over a pool that is this one text, so N = n = 1 and |d| = average length: each query token that occurs f times
    adds ln(4/3) * 2.5 f / (f + 1.5). Neither rarity nor length counts, and a longer query can only score higher.

    Args:
        query: Text of the query.
        text: The text to judge.

    Returns:
        At least 0, without upper bound.

    Source: PRAANA src/utils/bm25.ts, `bm25Relevance`; PRAANA src/context-engine/scoring.ts.
    """
    tokens = tokenize(text)
    return bm25_score(tokenize(query), tokens, corpus_stats([tokens]))
