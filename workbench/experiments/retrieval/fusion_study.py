"""A study of the weights of words and meaning in hybrid search, on queries whose answers are known.

`evaluation` chooses a mixture on one half of the queries and reports it on the other. This holds every query out in
turn, searches again on permuted judgements, and compares with the best that a person could have set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from workbench.config.knowledge import Search
from workbench.config.study import Study
from workbench.errors import BadInputError
from workbench.experiments.retrieval.build import PACKED, build_index, chunk_documents, index_name
from workbench.experiments.retrieval.metrics import HEADLINE, TOP, ndcg
from workbench.experiments.retrieval.run import FOLDER, configured_mixture, named_embedder
from workbench.experiments.retrieval.searches import search_all
from workbench.experiments.retrieval.tuning import MIXTURES, NOBODY, Candidates, Mixture, mix, rank
from workbench.experiments.setting_studies import SettingRecipe
from workbench.experiments.study.folds import connected
from workbench.experiments.study.plain import PlainSettings, Progress, SpaceResult, plain_settings, study_space
from workbench.experiments.study.space import Parameter, Space
from workbench.ingest.retrieval import JudgedSet, open_judged_set

if TYPE_CHECKING:
    from workbench.config import Config

Floats = NDArray[np.float64]

SEMANTIC_WEIGHT: Final = "search.semantic_weight"
KEYWORD_WEIGHT: Final = "search.keyword_weight"

FUSION: Final = "fusion"
"""Its name among studies of settings."""
CONTENT: Final = "content_hash"

TRIALS: Final = 64
"""Points tried: one setting alone, a step of 1/64."""


class FusionObjective:
    """nDCG of each query by the weight of meaning; the weight of words is the rest.

    Args:
        query_ids: Their names.
        candidates: What both searches found.
        places: Rankings made already, by weight: they do not hang on judgements.
    """

    def __init__(
        self, query_ids: Sequence[str], candidates: Candidates, places: dict[float, NDArray[np.int64]] | None = None
    ) -> None:
        self._query_ids, self._candidates = query_ids, candidates
        self._places = {} if places is None else places

    @property
    def groups(self) -> Sequence[str]:
        """Ids of the queries."""
        return self._query_ids

    def search_values(self, points: Floats) -> Floats:
        """Array (points, queries)."""
        return np.stack([self._values(float(weight)) for weight in points[:, 0]])

    def report_values(self, points: Floats) -> Floats:
        """The same: searching looks at every query."""
        return self.search_values(points)

    def permuted(self, seed: int) -> Self:
        """Grades dealt out anew among the documents that were found for each query."""
        random = np.random.default_rng(seed)
        held = self._candidates
        grades = np.stack([_dealt(row, known, random) for row, known in zip(held.documents, held.grades, strict=True)])
        return type(self)(self._query_ids, replace(held, grades=grades), self._places)

    def mixture_values(self, mixture: Mixture) -> Floats:
        """The measure of each query under any mixture (queries,)."""
        held = self._candidates
        return ndcg(rank(held, mix(held, mixture)).gains, held.ideal)

    def _values(self, weight: float) -> Floats:
        held = self._candidates
        if weight not in self._places:
            self._places[weight] = rank(held, mix(held, Mixture("minmax", weight))).places[:, :TOP]
        places = self._places[weight]
        found = np.take_along_axis(held.grades, np.maximum(places, 0), axis=1)
        return ndcg(np.where(places == NOBODY, 0.0, found), held.ideal)


class FusionAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a study of fusion is asked.

    Attributes:
        judged_set: Its folder or file; see `open_judged_set`.
        corpus: The set's documents, where they are elsewhere.
        embedder: As `embedding.model` takes it; the configured one unless given.
        trials: Points tried; `TRIALS` unless given.
        learning_trials: Further points of each search.
        permutations: Studies on permuted judgements, at least; `study.null_permutations_min` unless given.
        seed: Of everything random.
    """

    judged_set: str
    corpus: str | None = None
    embedder: str | None = None
    trials: int | None = None
    learning_trials: int = 0
    permutations: int | None = None
    seed: int = 0


class _Settings(msgspec.Struct, frozen=True):
    """What of the configuration decides a study of fusion."""

    search: Search
    study: Study


def run_fusion_study(
    asked: FusionAsked, config: Config, home_vectors: Path, *, progress: Progress | None = None
) -> tuple[SpaceResult, SettingRecipe]:
    """Study the weights of hybrid search on a judged set.

    Args:
        asked: What is asked.
        config: Weights in use, candidates, embedder, and how a study is made.
        home_vectors: Where indices of evaluations are kept.
        progress: Called with things done, things in all and what they are.

    Returns:
        The study, and what it was made from.

    Raises:
        NotFoundError, BadInputError: The set cannot be read, has too few queries, or ranks are joined, not scores.
        EmbedderUnavailableError: The embedder is not there.
    """
    mixture = configured_mixture(config.search)
    if mixture.method != "minmax":
        raise BadInputError("search.fusion is rrf, which has no weights; a study of weights needs minmax")
    trials = TRIALS if asked.trials is None else asked.trials
    least = config.study.null_permutations_min if asked.permutations is None else asked.permutations
    if trials < 1 or least < 1 or asked.learning_trials < 0:
        raise BadInputError("trials and permutations must be at least 1, and trials that learn at least 0")
    judged = open_judged_set(Path(asked.judged_set), None if asked.corpus is None else Path(asked.corpus))
    name = asked.embedder or config.embedding.model
    model = named_embedder(name, judged, config, home_vectors)
    chunks = chunk_documents(judged, model, PACKED)
    index = build_index(home_vectors / FOLDER / index_name(judged, model, PACKED), chunks, model, progress)
    candidates = search_all(judged, chunks, index, model, config.search.candidates, progress).candidates
    plain = plain_settings(
        config.study,
        measure=HEADLINE,
        of="queries",
        seed=asked.seed,
        trials=trials,
        learning_trials=asked.learning_trials,
        permutations=least,
    )
    result = study_fusion(judged, candidates, mixture.parameter, plain, progress=progress)
    resolved = msgspec.structs.replace(asked, embedder=name, trials=trials, permutations=least)
    recipe = SettingRecipe(
        what=FUSION,
        asked=msgspec.to_builtins(resolved) | {CONTENT: judged.content_hash()},
        settings=msgspec.to_builtins(_Settings(config.search, config.study)),
    )
    return result, recipe


def fusion_again(
    recipe: SettingRecipe, config: Config, home_vectors: Path, *, progress: Progress | None = None
) -> SpaceResult:
    """Make a study again: every point, part and permutation anew.

    Args:
        recipe: What it was made from.
        config: Of today; the recipe comes before it.
        home_vectors: As for `run_fusion_study`.
        progress: As for `run_fusion_study`.

    Raises:
        NotFoundError, BadInputError: The judged set is not there any more, or is not what it was.
        EmbedderUnavailableError: The embedder is not there.
    """
    told = msgspec.convert(recipe.settings, _Settings)
    asked = msgspec.convert(recipe.asked, FusionAsked)
    before = msgspec.structs.replace(config, search=told.search, study=told.study)
    result, again = run_fusion_study(asked, before, home_vectors, progress=progress)
    if again.asked[CONTENT] != recipe.asked.get(CONTENT):
        raise BadInputError(
            f"{asked.judged_set} is not what the study was made from: its queries, judgements or documents changed"
        )
    return result


def study_fusion(
    judged: JudgedSet,
    candidates: Candidates,
    weight: float,
    asked: PlainSettings,
    *,
    progress: Progress | None = None,
) -> SpaceResult:
    """Study what was found.

    Args:
        judged: The set.
        candidates: Of each of its queries, in order.
        weight: Of meaning, in use.
        asked: How.
        progress: As for `run_fusion_study`.
    """
    query_ids = judged.queries["query_id"].to_list()
    objective = FusionObjective(query_ids, candidates)
    space = Space("weights of hybrid search", [Parameter(SEMANTIC_WEIGHT, weight, 0.0, 1.0)])
    by_hand = {
        "keyword": Mixture("minmax", 0.0),
        "semantic": Mixture("minmax", 1.0),
        "even weights": Mixture("minmax", 0.5),
        "reciprocal rank": MIXTURES[-1],
    }
    values = {name: objective.mixture_values(each) for name, each in by_hand.items()}
    return study_space(space, objective, values, _shared(judged, query_ids), asked, progress=progress)


def fusion_settings(found: Mapping[str, float]) -> dict[str, float]:
    """Both weights as the configuration has them."""
    meaning = round(found[SEMANTIC_WEIGHT], 6)
    return {KEYWORD_WEIGHT: round(1.0 - meaning, 6), SEMANTIC_WEIGHT: meaning}


def _shared(judged: JudgedSet, query_ids: Sequence[str]) -> list[str]:
    """Queries with a right document in common are not parted: one would tell of the other."""
    first: dict[str, str] = {}
    links = [
        (query, first.setdefault(document, query))
        for query, document in judged.judgements.select("query_id", "document_id").iter_rows()
    ]
    group = connected(query_ids, links)
    return [group[query] for query in query_ids]


def _dealt(documents: NDArray[np.int64], grades: Floats, random: np.random.Generator) -> Floats:
    known, first, place = np.unique(documents, return_index=True, return_inverse=True)
    is_document = known != NOBODY
    dealt = np.zeros(len(known))
    dealt[is_document] = random.permutation(grades[first][is_document])
    return dealt[place]
