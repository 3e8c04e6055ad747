"""What an evaluation says: each method's measures and their intervals, the mixture chosen, whether it is worth it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from workbench.experiments.retrieval.build import PACKED, build_index, chunk_documents, index_name
from workbench.experiments.retrieval.metrics import HEADLINE, TOP, measures
from workbench.experiments.retrieval.searches import Grepped, Searched, grep_all, ideal_grades, search_all
from workbench.experiments.retrieval.tuning import (
    MIXTURES,
    NOBODY,
    Candidates,
    Choice,
    Mixture,
    Ranking,
    choose,
    headline_by_mixture,
    is_tuning_half,
    mix,
    rank,
)
from workbench.experiments.statistics import Interval, bootstrap_interval, paired_bootstrap_interval
from workbench.ingest.retrieval import JudgedSet
from workbench.search.refresh import Progress
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from workbench.providers.embedding import Embedder

Values = NDArray[np.float64]

GREP: Final = "grep"
KEYWORD: Final = "keyword"
SEMANTIC: Final = "semantic"
TUNED: Final = "hybrid, tuned"
DEFAULT: Final = "hybrid, default"
SINGLE: Final = (KEYWORD, SEMANTIC)
COMPARED: Final = (*SINGLE, DEFAULT)
"""Methods whose figures are compared between ways to cut; a tuned mixture may be another one for each."""

SEED: Final = 20260301
"""Of every interval; the spread from seed to seed is far below the width of an interval."""

LEAST_QUERIES: Final = 2
"""In each half: an interval of one query says nothing."""


class Method(NamedTuple):
    """One way to search, over all queries.

    Attributes:
        measures: Values of each query, by the name of the measure.
        tokens: Estimated tokens of the text that the first ten answers hand back (queries,).
        times_ms: Time of a search (queries,).
    """

    measures: Mapping[str, Values]
    tokens: Values
    times_ms: Values


@dataclass(frozen=True)
class Evaluation:
    """One judged set under one embedder. All figures are of the reporting half unless they say otherwise.

    Attributes:
        set_name: The judged set.
        model: The embedder, as `embedding.model` names it.
        model_id: Its vector space.
        chunking: How documents were cut; see `build.CHUNKINGS`.
        counts: `documents`, `chunks`, `queries`, `tuning`, `reporting`, `candidates`.
        summary: `method`, `measure`, `estimate`, `low`, `high`, one row each; measures are those of `metrics`, and
            `tokens`, `p50_ms`, `p95_ms` without interval.
        grid: `mixture`, `method`, `parameter`, `tuning`, `reporting`: mean headline of each mixture on both halves.
        per_query: `query_id`, `half`, `method`, a column a measure, `tokens`, `time_ms`: all queries, all methods.
        choice: The mixture chosen on the tuning half, and why.
        default: The mixture that the configuration names.
        better_single: `keyword` or `semantic`, whichever has the better headline.
        gain: Tuned mixture minus the better single mode, per measure, paired over queries.
        default_gain: The default mixture minus the better single mode, likewise.
        left_out: What of the set was not used, in words.
    """

    set_name: str
    model: str
    model_id: str
    chunking: str
    counts: Mapping[str, int]
    summary: pl.DataFrame
    grid: pl.DataFrame
    per_query: pl.DataFrame
    choice: Choice
    default: Mixture
    better_single: str
    gain: Mapping[str, Interval]
    default_gain: Mapping[str, Interval]
    left_out: tuple[str, ...]

    def figure(self, method: str, measure: str = HEADLINE) -> Interval:
        """One figure of the summary."""
        row = self.summary.row(by_predicate=(pl.col("method") == method) & (pl.col("measure") == measure), named=True)
        return Interval(row["estimate"], row["low"], row["high"])

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in their order."""
        return self.summary["method"].unique(maintain_order=True).to_list()

    @property
    def verdict(self) -> str:
        """Whether the tuned mixture is worth it, in a word: `above`, `level` or `below` the better single mode.

        `above`: the whole interval of the difference is above 0. `below`: the difference is below 0, however little.
        """
        gain = self.gain[HEADLINE]
        return "above" if gain.low > 0 else "below" if gain.estimate < 0 else "level"


def evaluate(
    judged: JudgedSet,
    embedder: Embedder,
    folder: Path,
    *,
    model: str,
    default: Mixture,
    candidates: int,
    chunking: str = PACKED,
    grepped: Grepped | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate a set under an embedder.

    Args:
        judged: The set.
        embedder: Makes the vectors.
        folder: Where the indices of evaluations are kept; an unchanged set is not embedded again.
        model: Name of the embedder in `embedding.model`.
        default: The mixture of the configuration.
        candidates: Chunks taken from each list.
        chunking: How documents are cut; see `build.CHUNKINGS`.
        grepped: What `grep_all` found, where several embedders are compared.
        progress: Told about the embedding.

    Returns:
        The figures.

    Raises:
        EmbedderUnavailableError: The embedder failed.
        StoreError: The index cannot be written.
    """
    chunks = chunk_documents(judged, embedder, chunking)
    index = build_index(folder / index_name(judged, embedder, chunking), chunks, embedder, progress)
    searched = search_all(judged, chunks, index, embedder, candidates, progress)
    names = (model, embedder.model_id, chunking)
    return summarise(judged, names, chunks, searched, grepped or grep_all(judged), default, candidates)


def summarise(
    judged: JudgedSet,
    names: tuple[str, str, str],
    chunks: pl.DataFrame,
    searched: Searched,
    grepped: Grepped,
    default: Mixture,
    candidates: int,
) -> Evaluation:
    """Turn what was found into figures: `names` are embedder, vector space and chunking, the rest as in `evaluate`."""
    query_ids = judged.queries["query_id"].to_list()
    is_tuning = _halves(query_ids)
    headline = headline_by_mixture(searched.candidates)
    choice = choose(headline, is_tuning, seed=SEED)
    methods = _methods(searched, grepped, ideal_grades(judged), _chunk_tokens(chunks), choice.mixture, default)
    reporting = ~is_tuning
    means = {name: float(methods[name].measures[HEADLINE][reporting].mean()) for name in SINGLE}
    better = max(SINGLE, key=lambda name: means[name])
    return Evaluation(
        set_name=judged.name,
        model=names[0],
        model_id=names[1],
        chunking=names[2],
        counts={
            "documents": judged.documents.height,
            "chunks": chunks.height,
            "queries": len(query_ids),
            "tuning": int(is_tuning.sum()),
            "reporting": int(reporting.sum()),
            "candidates": candidates,
        },
        summary=_summary(methods, reporting),
        grid=_grid(headline, is_tuning),
        per_query=_per_query(query_ids, is_tuning, methods),
        choice=choice,
        default=default,
        better_single=better,
        gain=_gain(methods[TUNED], methods[better], reporting),
        default_gain=_gain(methods[DEFAULT], methods[better], reporting),
        left_out=judged.left_out,
    )


def gain_of_chunking(one: Evaluation, other: Evaluation) -> dict[str, Interval]:
    """By method: the headline of one way to cut minus that of another, under the same embedder, paired over queries."""
    values = [
        each.per_query.filter(pl.col("half") == "reporting").sort("query_id").partition_by("method", as_dict=True)
        for each in (one, other)
    ]
    return {
        method: paired_bootstrap_interval(*(each[(method,)][HEADLINE].to_numpy() for each in values), seed=SEED)
        for method in COMPARED
    }


def _halves(query_ids: list[str]) -> NDArray[np.bool_]:
    """The tuning half; of a set too small to be split every other query, by id."""
    is_tuning = is_tuning_half(query_ids)
    if min(is_tuning.sum(), (~is_tuning).sum()) < LEAST_QUERIES:
        order = np.argsort(np.array(query_ids))
        is_tuning = np.zeros(len(query_ids), dtype=bool)
        is_tuning[order[::2]] = len(query_ids) > 1
    return is_tuning


def _chunk_tokens(chunks: pl.DataFrame) -> Values:
    return np.array([estimate_tokens(text) for text in chunks["text"]], dtype=np.float64)


def _methods(
    searched: Searched, grepped: Grepped, ideal: Values, chunk_tokens: Values, tuned: Mixture, default: Mixture
) -> dict[str, Method]:
    found = searched.candidates
    single = {KEYWORD: found.keyword, SEMANTIC: found.semantic}
    mixed = {TUNED: tuned, DEFAULT: default, **{str(mixture): mixture for mixture in _BESIDE}}
    by_meaning = searched.embed_ms + searched.semantic_ms
    times = {KEYWORD: searched.keyword_ms, SEMANTIC: by_meaning}
    rankings = {name: rank(found, scores) for name, scores in single.items()}
    rankings |= {name: rank(found, mix(found, mixture)) for name, mixture in mixed.items()}
    methods = {GREP: Method(measures(grepped.gains, ideal), grepped.tokens, grepped.times_ms)}
    for name, ranking in rankings.items():
        taken = times.get(name, searched.keyword_ms + by_meaning)
        methods[name] = Method(measures(ranking.gains, ideal), _tokens(found, ranking, chunk_tokens), taken)
    return methods


_BESIDE: Final = (Mixture("minmax", 0.5), MIXTURES[-1])
"""Shown whatever is chosen: PAI's even weights, and ranks alone."""


def _tokens(found: Candidates, ranking: Ranking, chunk_tokens: Values) -> Values:
    """Tokens of the chunks behind the first ten answers of each query."""
    places = ranking.places[:, :TOP]
    numbers = np.take_along_axis(found.chunks, np.maximum(places, 0), axis=1)
    handed: Values = np.where(places == NOBODY, 0.0, chunk_tokens[np.maximum(numbers, 0)]).sum(axis=1)
    return handed


def _summary(methods: Mapping[str, Method], reporting: NDArray[np.bool_]) -> pl.DataFrame:
    rows: list[tuple[Any, ...]] = []
    for name, method in methods.items():
        for measure, values in method.measures.items():
            rows.append((name, measure, *bootstrap_interval(values[reporting], seed=SEED)))
        times = method.times_ms[reporting]
        rows.append((name, "tokens", float(method.tokens[reporting].mean()), None, None))
        rows += [(name, f"p{share}_ms", float(np.percentile(times, share)), None, None) for share in (50, 95)]
    numbers = dict.fromkeys(("estimate", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={"method": pl.String, "measure": pl.String, **numbers}, orient="row")


def _grid(headline: Mapping[Mixture, Values], is_tuning: NDArray[np.bool_]) -> pl.DataFrame:
    rows = [
        (str(mixture), *mixture, float(values[is_tuning].mean()), float(values[~is_tuning].mean()))
        for mixture, values in headline.items()
    ]
    numbers = dict.fromkeys(("parameter", "tuning", "reporting"), pl.Float64)
    return pl.DataFrame(rows, schema={"mixture": pl.String, "method": pl.String, **numbers}, orient="row")


def _per_query(query_ids: list[str], is_tuning: NDArray[np.bool_], methods: Mapping[str, Method]) -> pl.DataFrame:
    half = np.where(is_tuning, "tuning", "reporting")
    return pl.concat(
        pl.DataFrame(
            {
                "query_id": query_ids,
                "half": half,
                "method": [name] * len(query_ids),
                **method.measures,
                "tokens": method.tokens,
                "time_ms": method.times_ms,
            }
        )
        for name, method in methods.items()
    )


def _gain(method: Method, single: Method, reporting: NDArray[np.bool_]) -> dict[str, Interval]:
    return {
        measure: paired_bootstrap_interval(values[reporting], single.measures[measure][reporting], seed=SEED)
        for measure, values in method.measures.items()
    }
