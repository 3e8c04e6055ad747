"""How far these statistics hold, found out by simulation: many experiments whose truth is known.

An experiment is a column: ten thousand of them go through the very functions that a comparison calls, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from zlib import crc32

import numpy as np

from workbench.errors import BadInputError
from workbench.experiments.statistics.means import Difference, Floats, paired_t, welch
from workbench.experiments.statistics.permutation import permutation_test, sign_flip_test
from workbench.experiments.statistics.ranks import mann_whitney
from workbench.experiments.statistics.sequential import sequential_interval
from workbench.experiments.statistics.studentised import (
    Intervals,
    difference_interval,
    draw_counts,
    paired_interval,
)

ALPHA: Final = 0.05
EXPERIMENTS: Final = 10_000
"""A share of 5 % then has a standard error of 0.22 points."""
DRAWS: Final = 1_999
"""Resamples and permutations an experiment: 5 % of the possible p values are then at most 0.05, exactly."""
EFFECT: Final = 1.3
"""The second arm's values over the first's, where there is a difference."""
SPREAD: Final = 3.0
"""Standard deviation of the smaller arm over the larger's, where they differ in nothing else."""
AT_ONCE: Final = 2_000
"""Experiments whose resampled means are held in memory together."""
PEEKS: Final = 20
FIRST_PEEK: Final = 5
"""Units an arm at the first of the looks."""

Draw = Callable[[np.random.Generator, tuple[int, int], float], Floats]


@dataclass(frozen=True)
class Shape:
    """A kind of metric.

    Attributes:
        name: What it is called.
        says: What such a metric is like.
        mean: Its true mean at scale 1; at another scale that many times as much.
        draw: From a generator, a size and a scale to values.
        is_hard: Whether no interval of a mean is expected to hold for it with small arms.
    """

    name: str
    says: str
    mean: float
    draw: Draw
    is_hard: bool = False


def _counts(random: np.random.Generator, size: tuple[int, int], scale: float) -> Floats:
    return random.poisson(scale * 1.5 * random.gamma(0.7, 1 / 0.7, size)).astype(np.float64)


def _rates(random: np.random.Generator, size: tuple[int, int], scale: float) -> Floats:
    turns = 1 + random.geometric(0.15, size)
    return np.asarray(random.poisson(turns * 0.4 * scale * random.gamma(1.0, 1.0, size)) / turns, dtype=np.float64)


def _binary(share: float) -> Draw:
    return lambda random, size, scale: (random.random(size) < share * scale).astype(np.float64)


def _normal(random: np.random.Generator, size: tuple[int, int], scale: float) -> Floats:
    return random.normal(scale, 1.0, size)


def _mostly_zero(random: np.random.Generator, size: tuple[int, int], scale: float) -> Floats:
    return np.where(random.random(size) < 0.8, 0.0, scale * random.gamma(1.0, 1.0, size))  # noqa: PLR2004


def _heavy(random: np.random.Generator, size: tuple[int, int], scale: float) -> Floats:
    return scale * np.exp(random.normal(0.0, 1.0, size))


SHAPES: Final = (
    Shape("normal", "symmetric, without outliers", 1.0, _normal),
    Shape("counts", "skewed counts: mean 1.5, variance 4.7", 1.5, _counts),
    Shape("rates", "counts over a session's turns, sessions unlike each other", 0.4, _rates),
    Shape("share 30 %", "yes or no, three in ten", 0.3, _binary(0.3)),
    Shape("share 10 %", "yes or no, one in ten", 0.1, _binary(0.1)),
    Shape("mostly zero", "four of five are 0, the others skewed", 0.2, _mostly_zero, is_hard=True),
    Shape("heavy tail", "log-normal with sigma 1, skewness 6", float(np.exp(0.5)), _heavy, is_hard=True),
)  # fmt: skip
"""Of telemetry's metrics, each has one of these shapes; parameters are ours."""

ARMS: Final = ((10, 10), (20, 20), (50, 50), (100, 100), (200, 200), (200, 50))
"""Units in the baseline and in the other arm."""
PAIRS: Final = (10, 20, 50, 100, 200)


@dataclass(frozen=True)
class Share:
    """In how many experiments something was so.

    Attributes:
        table: `false positives`, `unequal spreads`, `coverage` or `peeks`.
        design: `arms` or `pairs`.
        shape: Name of the shape.
        first: Units in the baseline; pairs.
        second: Units in the other arm.
        effect: The second arm's mean over the first's.
        method: What was tried.
        experiments: How many.
        share: Of them.
    """

    table: str
    design: str
    shape: str
    first: int
    second: int
    effect: float
    method: str
    experiments: int
    share: float

    def row(self) -> dict[str, Any]:
        """As a row of a frame."""
        return asdict(self)


PEEK_DESIGNS: Final[dict[str, tuple[Callable[[Floats, Floats], Difference], int]]] = {
    "arms": (welch, 1),
    "arms, 1 to 4": (welch, 4),
    "arms, 1 to 10": (welch, 10),
    "pairs": (paired_t, 1),
}
"""What is looked at again and again: how it is measured, and the first arm's units over the second's."""

Progress = Callable[[int, int, str], None]


def shapes_of(names: Sequence[str]) -> tuple[Shape, ...]:
    """Kinds of metric by name; all without a name.

    Raises:
        BadInputError: There is no such kind.
    """
    known = {shape.name: shape for shape in SHAPES}
    odd = sorted(set(names) - known.keys())
    if odd:
        raise BadInputError(f"there is no kind of metric {', '.join(odd)}; there are {', '.join(known)}")
    return tuple(shape for shape in SHAPES if not names or shape.name in names)


def simulate(
    *,
    seed: int = 0,
    experiments: int = EXPERIMENTS,
    shapes: Sequence[Shape] = SHAPES,
    arms: Sequence[tuple[int, int]] = ARMS,
    pairs: Sequence[int] = PAIRS,
    progress: Progress | None = None,
) -> list[Share]:
    """Run all experiments.

    Args:
        seed: Of everything.
        experiments: A cell of the tables.
        shapes: Kinds of metric.
        arms: Sizes of two arms.
        pairs: Numbers of pairs.
        progress: Hears of cells done, cells in all, and the cell at hand.
    """
    cells = [("arms", shape, size) for shape in shapes for size in arms]
    cells += [("pairs", shape, (size, size)) for shape in shapes for size in pairs]
    cells += [("spreads", SHAPES[0], size) for size in arms if size[0] != size[1]]
    cells += [("peeks", shape, (max(first for first, _ in arms),) * 2) for shape in shapes]
    found: list[Share] = []
    for place, (design, shape, sizes) in enumerate(cells):
        if progress:
            progress(place, len(cells), f"{shape.name} {sizes[0]}/{sizes[1]}")
        random = np.random.default_rng([seed, crc32(f"{design} {shape.name} {sizes}".encode())])
        cell = _Cell(shape, sizes, experiments, random, seed)
        found += _DESIGNS[design](cell)
    if progress:
        progress(len(cells), len(cells), "")
    return found


@dataclass(frozen=True)
class _Cell:
    shape: Shape
    sizes: tuple[int, int]
    experiments: int
    random: np.random.Generator
    seed: int

    def drawn(self, effect: float) -> tuple[Floats, Floats]:
        first, second = self.sizes
        draw = self.shape.draw
        return (
            draw(self.random, (first, self.experiments), 1.0),
            draw(self.random, (second, self.experiments), effect),
        )

    def share(self, table: str, design: str, effect: float, method: str, is_so: Any) -> Share:
        share = float(np.mean(is_so))
        return Share(table, design, self.shape.name, *self.sizes, effect, method, self.experiments, share)

    def truth(self, effect: float) -> float:
        return self.shape.mean * (effect - 1.0)


def _arms(cell: _Cell) -> Iterator[Share]:
    first, second = cell.drawn(1.0)
    for method, p in _tests(first, second, cell.seed).items():
        yield cell.share("false positives", "arms", 1.0, method, p <= ALPHA)
    for effect in (1.0, EFFECT):
        first, second = (first, second) if effect == 1.0 else cell.drawn(effect)
        truth = cell.truth(effect)
        ours = difference_interval(first, second, seed=cell.seed, resamples=DRAWS)
        yield cell.share("coverage", "arms", effect, "bootstrap-t", _holds(ours, truth))
        yield cell.share("coverage", "arms", effect, "percentile", _holds(_percentile(first, second, cell.seed), truth))


def _spreads(cell: _Cell) -> Iterator[Share]:
    """Arms of one mean, the smaller of which varies more: who tests means should not cry out."""
    first, second = cell.drawn(1.0)
    second = 1.0 + (second - 1.0) * SPREAD
    for method, p in _tests(first, second, cell.seed).items():
        yield cell.share("unequal spreads", "arms", 1.0, method, p <= ALPHA)


def _tests(first: Floats, second: Floats, seed: int) -> dict[str, Floats]:
    return {
        "permutation of t": permutation_test(first, second, seed=seed, permutations=DRAWS, studentised=True).p,
        "permutation of means": permutation_test(first, second, seed=seed, permutations=DRAWS).p,
        "Mann-Whitney": mann_whitney(first, second),
    }


def _pairs(cell: _Cell) -> Iterator[Share]:
    """The two of a pair have a part in common: both are drawn, and a third value is added to both."""
    for effect in (1.0, EFFECT):
        first, second = cell.drawn(effect)
        common = cell.shape.draw(cell.random, first.shape, 1.0)
        first, second = first + common, second + common
        if effect == 1.0:
            p = sign_flip_test(first, second, seed=cell.seed, permutations=DRAWS).p
            yield cell.share("false positives", "pairs", 1.0, "sign flips", p <= ALPHA)
        ours = paired_interval(first, second, seed=cell.seed, resamples=DRAWS)
        yield cell.share("coverage", "pairs", effect, "bootstrap-t", _holds(ours, cell.truth(effect)))


def _peeks(cell: _Cell) -> Iterator[Share]:
    """Looks at growing arms and at growing pairs: how often some look excludes the truth, which is 0."""
    first, second = cell.drawn(1.0)
    looks = np.unique(np.geomspace(FIRST_PEEK, cell.sizes[0], PEEKS).round().astype(int))
    for design, (measure, part) in PEEK_DESIGNS.items():
        missed = {"sequential": np.zeros(cell.experiments, bool), "single look (t)": np.zeros(cell.experiments, bool)}
        for look in looks:
            found = measure(first[:look], second[: max(2, look // part)])
            missed["sequential"] |= _misses(sequential_interval(found), 0.0)
            missed["single look (t)"] |= _misses(_student(found), 0.0)
        for method, some in missed.items():
            yield cell.share("peeks", design, 1.0, method, some)


def _holds(found: Intervals, truth: float) -> Any:
    """Whether intervals hold the truth; one of a sample in which nothing varies holds its own estimate alone."""
    at_most = np.where(np.isnan(found.high), found.estimate, found.high)
    at_least = np.where(np.isnan(found.low), found.estimate, found.low)
    return (at_least <= truth) & (truth <= at_most)


def _misses(found: Intervals, truth: float) -> Any:
    return (found.low > truth) | (found.high < truth)


def _student(found: Difference) -> Intervals:
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # noqa: PLC0415

    reach = stdtrit(found.degrees, 1.0 - ALPHA / 2) * found.standard_error
    return Intervals(found.estimate, found.estimate - reach, found.estimate + reach)


def _percentile(first: Floats, second: Floats, seed: int) -> Intervals:
    """The percentile bootstrap, for comparison: all experiments by the same draws, some at a time."""
    ends = []
    for start in range(0, first.shape[1], AT_ONCE):
        part = slice(start, start + AT_ONCE)
        random = np.random.default_rng(seed)
        one, other = (_resampled_means(each[:, part], random) for each in (first, second))
        ends.append(np.quantile(other - one, [ALPHA / 2, 1.0 - ALPHA / 2], axis=0))
    low, high = np.hstack(ends)
    return Intervals(second.mean(axis=0) - first.mean(axis=0), low, high)


def _resampled_means(values: Floats, random: np.random.Generator) -> Floats:
    size = len(values)
    return np.vstack([drawn @ values for drawn in draw_counts(size, DRAWS, random)]) / size


_DESIGNS: Final[dict[str, Callable[[_Cell], Iterator[Share]]]] = {
    "arms": _arms,
    "pairs": _pairs,
    "spreads": _spreads,
    "peeks": _peeks,
}
