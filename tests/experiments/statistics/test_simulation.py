import numpy as np
import polars as pl
import pytest

from workbench.experiments.statistics.simulation import SHAPES, Share, simulate
from workbench.reports.statistics import (
    COVERAGE,
    FALSE_POSITIVES,
    LEAST_ARM,
    NUMBERS,
    PAGE,
    command_of,
    frame_of,
    page,
    write_statistics,
)
from workbench.surfaces.shipped import CLONE

SHIPPED = CLONE / "reports" / "statistics"
TEST_METHODS = ["permutation of t", "sign flips"]


@pytest.fixture(scope="module")
def found():
    return simulate(experiments=400, shapes=SHAPES[:2], arms=[(20, 20), (50, 25)], pairs=[20])


@pytest.fixture(scope="module")
def shipped():
    return pl.read_parquet(SHIPPED / NUMBERS)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_shape_has_the_mean_that_it_is_said_to_have(shape):
    for scale in (1.0, 1.3):
        drawn = shape.draw(np.random.default_rng(0), (400_000,), scale)
        assert drawn.mean() == pytest.approx(scale * shape.mean, rel=0.02)


def test_the_same_seed_gives_the_same_shares_and_another_one_others():
    few = {"experiments": 60, "shapes": SHAPES[1:2], "arms": [(20, 20)], "pairs": []}
    assert simulate(seed=3, **few) == simulate(seed=3, **few) != simulate(seed=4, **few)


def test_every_table_is_filled(found):
    assert {each.table for each in found} == {"false positives", "unequal spreads", "coverage", "peeks"}
    assert all(0.0 <= each.share <= 1.0 for each in found)


def test_a_few_hundred_experiments_already_show_what_the_page_says(found):
    shares = {(each.table, each.design, each.shape, each.first, each.effect, each.method): each.share for each in found}
    assert shares["coverage", "arms", "normal", 20, 1.0, "bootstrap-t"] == pytest.approx(0.95, abs=0.04)
    assert shares["false positives", "arms", "normal", 20, 1.0, "permutation of t"] == pytest.approx(0.05, abs=0.04)
    assert shares["peeks", "arms", "normal", 50, 1.0, "sequential"] <= 0.05
    assert shares["peeks", "arms", "normal", 50, 1.0, "single look (t)"] > 0.12
    plain = shares["unequal spreads", "arms", "normal", 50, 1.0, "permutation of means"]
    assert plain > shares["unequal spreads", "arms", "normal", 50, 1.0, "permutation of t"]


def test_the_shipped_page_is_what_its_numbers_say(shipped):
    assert (SHIPPED / PAGE).read_text("utf-8") == page(shipped, command_of(0, 10_000))


def test_the_shipped_numbers_are_of_ten_thousand_experiments_of_every_shape(shipped):
    assert set(shipped["experiments"]) == {10_000}
    assert set(shipped["shape"]) == {shape.name for shape in SHAPES}


def test_no_shipped_test_is_wrong_more_often_than_it_says(shipped):
    tests = shipped.filter((pl.col("table") == "false positives") & pl.col("method").is_in(TEST_METHODS))
    assert tests["share"].max() <= FALSE_POSITIVES[1]
    continuous = tests.filter((pl.col("shape") == "normal") | (pl.col("shape") == "rates"))
    assert continuous.filter(pl.col("second") >= LEAST_ARM)["share"].min() >= FALSE_POSITIVES[0]


def test_the_shipped_sequential_interval_holds_under_twenty_looks(shipped):
    looks = shipped.filter((pl.col("table") == "peeks") & (pl.col("method") == "sequential"))
    assert looks.height == 4 * len(SHAPES)
    assert looks["share"].max() <= 0.05


def test_shipped_intervals_of_large_arms_hold_the_truth_as_often_as_they_say(shipped):
    plausible = [shape.name for shape in SHAPES if not shape.is_hard]
    holds = shipped.filter(
        (pl.col("table") == "coverage")
        & (pl.col("method") == "bootstrap-t")
        & (pl.col("second") >= LEAST_ARM)
        & pl.col("shape").is_in(plausible)
    )
    assert holds.height == len(plausible) * 2 * 7
    assert COVERAGE[0] <= holds["share"].min() <= holds["share"].max() <= COVERAGE[1] + 0.0005


def test_what_is_out_of_bounds_is_marked():
    shares = [
        Share("false positives", "arms", "normal", 50, 50, 1.0, "a", 10, 0.2),
        Share("false positives", "arms", "counts", 50, 50, 1.0, "a", 10, 0.01),
        Share("false positives", "arms", "rates", 50, 50, 1.0, "a", 10, 0.05),
        Share("coverage", "pairs", "normal", 50, 50, 1.3, "bootstrap-t", 10, 0.9),
        Share("peeks", "arms", "normal", 200, 200, 1.0, "sequential", 10, 0.0),
    ]
    text = page(frame_of(shares), "made up")
    assert "| 50 and 50 | a | **20.0** | *1.0* | 5.0 |" in text
    assert "| 50 pairs | 30 % more | bootstrap-t | **90.0** |" in text


def test_page_and_numbers_are_written(found, tmp_path):
    written = write_statistics(found, tmp_path / "new", "a command")
    assert pl.read_parquet(written.numbers).equals(frame_of(found))
    assert written.page.read_text("utf-8").startswith("# How far the statistics hold\n\nMade by `a command`")
