"""Ranking, selection, recency, cosine, and the hash that ids are cut from."""

from __future__ import annotations

import numpy as np

from workbench.context.scoring import rank_order, recency, select_within
from workbench.text.ids import content_hash
from workbench.text.similarity import cosine

from .praana_context__scoring import terms_of, unit_of


def run(case_input):
    match case_input["op"]:
        case "rank":
            return rank(case_input)
        case "select":
            return select(case_input)
        case "recency":
            return float(recency(np.array([float(case_input["age"])]))[0])
        case "cosine":
            return cosine(np.float32(case_input["a"]), np.float32(case_input["b"]))  # float32 on the peer's side
        case "hash12":
            return content_hash(case_input["text"])[:12]
        case other:
            raise NotImplementedError(other)


def rank(case_input):
    units = [unit_of(given, order=given["sourceTurn"]) for given in case_input["units"]]
    score = terms_of(case_input, units).score
    ranking = rank_order(score, np.array([unit.order for unit in units]), [unit.id for unit in units])
    return [[units[place].id, float(score[place])] for place in ranking]


def select(case_input):
    tokens = np.array(case_input["tokens"], dtype=np.int64)
    pinned = np.isin(np.arange(len(tokens)), case_input["pinnedIndexes"])
    places = np.arange(len(tokens))
    taken = np.isin(places, select_within(case_input["budget"], tokens, pinned, -places.astype(float), places))
    names = [f"u{place}" for place in range(len(tokens))]
    return {
        "included": [name for name, is_in in zip(names, taken, strict=True) if is_in],
        "excluded": [name for name, is_in in zip(names, taken, strict=True) if not is_in],
    }
