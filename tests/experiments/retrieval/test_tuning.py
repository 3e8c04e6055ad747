import numpy as np
import pytest

from workbench.experiments.retrieval.tuning import (
    GRID,
    MIXTURES,
    Candidates,
    Mixture,
    choose,
    is_tuning_half,
    mix,
    rank,
)

NAN = float("nan")


def candidates(documents, keyword, semantic, grades):
    documents = np.array([documents])
    chunks = np.where(documents >= 0, np.arange(documents.shape[1]), -1)
    ideal = -np.sort(-np.array([grades], dtype=float), axis=1)
    return Candidates(
        documents, np.array([keyword]), np.array([semantic]), np.array([grades], dtype=float), ideal, chunks
    )


FOUND = candidates([7, 7, 8, 9, -1], [1.0, 5.0, NAN, 2.0, NAN], [0.2, NAN, 0.9, 0.1, NAN], [1, 1, 0, 2, 0])


def test_a_document_ranks_by_its_best_chunk_once():
    ranking = rank(FOUND, FOUND.keyword)
    assert ranking.places.tolist() == [[1, 3, -1, -1, -1]]
    assert ranking.gains.tolist() == [[1, 2, 0, 0, 0]]


def test_equal_scores_rank_by_the_number_of_the_chunk():
    equal = np.array([[1.0, 1.0, 1.0, 1.0, NAN]])
    assert rank(FOUND, equal).places.tolist() == [[0, 2, 3, -1, -1]]


def test_no_more_ranks_than_asked_for():
    assert rank(FOUND, FOUND.keyword, 1).places.tolist() == [[1]]


def test_a_mixture_scores_candidates_and_nothing_else():
    scores = mix(FOUND, Mixture("minmax", 0.5))
    assert scores.tolist() == [pytest.approx([0.0625, 0.5, 0.5, 0.125, -np.inf])]
    assert mix(FOUND, Mixture("rrf", 60.0))[0, 4] == -np.inf


def test_all_weight_on_one_mode_ranks_as_that_mode_does():
    for mixture, scores in ((Mixture("minmax", 0.0), FOUND.keyword), (Mixture("minmax", 1.0), FOUND.semantic)):
        alone, mixed = rank(FOUND, scores).places[0], rank(FOUND, mix(FOUND, mixture)).places[0]
        assert mixed[:2].tolist() == alone[:2].tolist()


def test_the_grid_reaches_from_one_mode_to_the_other():
    assert (GRID[0], GRID[-1], len(GRID)) == (0.0, 1.0, 21)
    assert len(MIXTURES) == 22


def test_the_half_of_a_query_is_told_by_its_id_alone():
    ids = [f"query-{number}" for number in range(1000)]
    halves = is_tuning_half(ids)
    assert (is_tuning_half(ids[::-1])[::-1] == halves).all()
    assert 450 <= halves.sum() <= 550


def headline(**means):
    """Values of 100 queries, with a little spread that all mixtures share."""
    spread = np.random.default_rng(0).uniform(0, 0.1, 100)
    named = {"words": Mixture("minmax", 0.0), "meaning": Mixture("minmax", 1.0), "even": Mixture("minmax", 0.5)}
    return {named[name]: value + spread for name, value in means.items()}


def test_a_mixture_that_is_better_beyond_chance_is_chosen():
    choice = choose(headline(words=0.3, meaning=0.5, even=0.6), np.ones(100, bool), seed=0)
    assert choice.mixture == choice.best == Mixture("minmax", 0.5)
    assert choice.gain.estimate == pytest.approx(0.1)


def test_a_mixture_that_is_better_by_chance_gives_way_to_the_better_single_mode():
    values = headline(words=0.3, meaning=0.5, even=0.5)
    values[Mixture("minmax", 0.5)][:10] += np.array([1.0, -0.9] * 5)
    choice = choose(values, np.ones(100, bool), seed=0)
    assert choice.best == Mixture("minmax", 0.5)
    assert choice.gain.low < 0 < choice.gain.estimate
    assert choice.mixture == Mixture("minmax", 1.0)


def test_only_the_tuning_half_counts():
    values = headline(words=0.3, meaning=0.5, even=0.4)
    values[Mixture("minmax", 0.5)][50:] += 1.0
    assert choose(values, np.arange(100) < 50, seed=0).mixture == Mixture("minmax", 1.0)


def test_mixtures_have_names():
    assert str(Mixture("minmax", 0.75)) == "min-max sum, meaning 0.75"
    assert str(Mixture("rrf", 60.0)) == "reciprocal rank, k 60"
