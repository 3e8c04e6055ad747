"""The score of one unit. The recorded values are those of the baseline `seed`: statistics of the one text at hand."""

from __future__ import annotations

import numpy as np

from workbench.config.context import Scoring
from workbench.context.pool import UnitPool
from workbench.context.records import ContextUnit
from workbench.context.scoring import score_terms

TOLERANCE = 1e-6  # vectors are float32 on the peer's side


def unit_of(given, order=0):
    return ContextUnit(
        id=given["id"],
        type=given["type"],
        content=given["content"],
        tokens=given["tokens"],
        source_turn=given["sourceTurn"],
        pinned=given["pinned"],
        order=order,
    )


def terms_of(case_input, units):
    vectors = case_input.get("vectors") or {}
    size = max((len(vector) for vector in vectors.values()), default=0)

    def embed(texts):
        return np.array([vectors.get(text, [np.nan] * size) for text in texts], dtype=np.float32)

    pool = UnitPool(units, method="seed")
    features = pool.features(
        case_input["userInput"],
        case_input["currentTurn"],
        hydrated=case_input.get("hydratedTexts") or (),
        embed=embed if vectors else None,
    )
    return score_terms(features, Scoring(**case_input["weights"]))


def run(case_input):
    terms = terms_of(case_input, [unit_of(case_input["unit"])])
    names = ("pin", "recency", "bm25", "semantic", "relevance", "hydrate_boost")
    return {
        "score": float(terms.score[0]),
        "breakdown": {name: float(getattr(terms, name)[0]) for name in names},
    }


def compare(actual, expected):
    assert abs(actual["score"] - expected["score"]) <= TOLERANCE
    assert actual["breakdown"].keys() == expected["breakdown"].keys()
    for name, value in expected["breakdown"].items():
        assert abs(actual["breakdown"][name] - value) <= TOLERANCE, name
