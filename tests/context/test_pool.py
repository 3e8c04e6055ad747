from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.context.pool import Rows, UnitPool
from workbench.context.records import ContextUnit

TEXTS = st.lists(st.sampled_from(["load parquet", "plot churn", "load and plot", "", "churn churn"]), max_size=12)


def units(texts):
    return [
        ContextUnit(id=f"u{place}", type="turn_digest", content=text, tokens=len(text), source_turn=place, order=place)
        for place, text in enumerate(texts)
    ]


def embed(texts):
    return np.array([[len(text), text.count("l") + 1, 1] for text in texts], dtype=np.float32)


@given(st.lists(st.lists(st.integers(0, 9), max_size=7), max_size=9))
def test_rows_are_what_was_added_in_order(parts):
    rows = Rows(np.int64)
    for part in parts:
        rows.extend(part)
    assert rows.all.tolist() == [value for part in parts for value in part]
    assert len(rows) == sum(map(len, parts))


@given(TEXTS, st.integers(0, 12), st.sampled_from(["corpus", "seed"]))
def test_a_pool_that_grew_knows_what_one_made_at_once_knows(texts, split, method):
    def asked(pool):
        return pool.features("plot the churn", 20, hydrated=["load", "churn"], last_step="parquet", embed=embed)

    grown = UnitPool(units(texts)[:split], method=method)
    asked(grown)
    grown.extend(units(texts)[split:])
    whole = UnitPool(units(texts), method=method)
    for one, other in zip(astuple(asked(grown)), astuple(asked(whole)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_came_back_counts_by_the_nearest_of_its_texts():
    pool = UnitPool(units(["load parquet", "plot churn", "strange"]))
    told = pool.features("nothing", 3, hydrated=["load parquet", "plot churn"]).hydrate
    assert told.tolist() == pytest.approx([1.0, 1.0, 0.0])
    assert pool.features("nothing", 3).hydrate.tolist() == [0.0, 0.0, 0.0]


def test_a_newer_unit_of_the_same_id_stands_for_the_older_until_it_is_retired():
    first, second = units(["a", "b"])
    pool = UnitPool([first, second])
    pool.extend([ContextUnit(id="u0", type="artifact_card", content="c", tokens=1, source_turn=5, order=2)])
    assert pool.live.tolist() == [False, True, True]
    pool.retire(["u0", "unknown"])
    assert (pool.live.tolist(), pool.is_digest.tolist()) == ([False, True, False], [True, True, False])
