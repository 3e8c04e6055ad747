"""How often chance alone does as much: permutation tests of a difference of means, many metrics at once.

All splits are tried where there are few, else a random part of them. The observed split is one of those that chance
could have made, so a p value from m random ones is (hits + 1) / (m + 1) and never 0 (Phipson and Smyth 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.experiments.statistics.means import Floats, arms, pairs
from workbench.experiments.statistics.studentised import DRAWS_AT_ONCE, FIGURES_AT_ONCE

PERMUTATIONS: Final = 9_999
"""Random splits: p values come in steps of 0.0001, and one of 0.05 has a standard error of 0.002."""

_ROUNDING: Final = 1e-9
"""How much less than the observed figure still counts as as much; values are standardised."""

Signs = NDArray[np.float64]
Judge = Callable[[Signs], Floats]
"""A figure of each split of each metric: (splits, n) to (splits, m); higher is further from alike."""


@dataclass(frozen=True)
class PermutationTest:
    """Two-sided p values, an entry a metric.

    Attributes:
        difference: Mean of the second arm minus mean of the first (m,).
        p: NaN where an arm is empty.
        permutations: Splits that were tried.
        is_exact: Whether these are all there are.
    """

    difference: Floats
    p: Floats
    permutations: int
    is_exact: bool


def permutation_test(
    first: ArrayLike,
    second: ArrayLike,
    *,
    seed: int,
    permutations: int = PERMUTATIONS,
    exact: bool | None = None,
    studentised: bool = False,
) -> PermutationTest:
    """Whether two arms of different units are alike, by dealing the units anew.

    Args:
        first: The baseline (n1,) or (n1, m), finite.
        second: The other arm (n2,) or (n2, m).
        seed: Of the random splits.
        permutations: Random splits; all are tried instead where there are no more than these.
        exact: Whether to try all splits; as many as `permutations` unless given.
        studentised: Judge by Welch's t and not by the plain difference. Arms of other sizes and other spreads, but of
            one mean, then keep the false positives in bounds (Janssen 1997; measured in `simulation`).

    Raises:
        ValueError: A value is not finite, the arms' metrics differ in number, or there is nothing to permute.
    """
    one, other = arms(first, second)
    _check(permutations)
    pooled = np.vstack([one, other])
    size, taken = len(pooled), len(other)
    difference = (other.mean(axis=0) - one.mean(axis=0)) if len(one) and taken else np.full(one.shape[1], np.nan)
    if not (len(one) and taken):
        return PermutationTest(difference, np.full(one.shape[1], np.nan), 0, is_exact=False)
    is_exact = comb(size, taken) <= permutations if exact is None else exact
    standard = _standardised(pooled)
    observed = np.r_[np.zeros(len(one)), np.ones(taken)][None, :]
    judge = _welch_t if studentised else _mean_difference
    splits = _all_splits(size, taken) if is_exact else _random_splits(size, taken, permutations, seed)
    hits, tried = _hits(standard, observed, splits, judge)
    return PermutationTest(difference, _p(hits, tried, is_exact=is_exact), tried, is_exact)


def sign_flip_test(
    first: ArrayLike, second: ArrayLike, *, seed: int, permutations: int = PERMUTATIONS, exact: bool | None = None
) -> PermutationTest:
    """Whether pairs lean to one side, by swapping the two of a pair.

    Args:
        first: The baseline (n,) or (n, m), finite.
        second: The same units, in the same order.
        seed: As for `permutation_test`.
        permutations: As for `permutation_test`.
        exact: As for `permutation_test`.

    Raises:
        ValueError: The samples differ in shape; else as for `permutation_test`.
    """
    differences = pairs(first, second)
    _check(permutations)
    size = len(differences)
    if not size:
        none = np.full(differences.shape[1], np.nan)
        return PermutationTest(none, none, 0, is_exact=False)
    is_exact = 2**size <= permutations if exact is None else exact
    spread = np.abs(differences).max(axis=0)
    standard = differences / np.where(spread > 0, spread, 1.0)
    flips = _all_flips(size) if is_exact else _random_flips(size, permutations, seed)
    hits, tried = _hits(standard, np.ones((1, size)), flips, _mean_of)
    return PermutationTest(differences.mean(axis=0), _p(hits, tried, is_exact=is_exact), tried, is_exact)


def _check(permutations: int) -> None:
    if permutations < 1:
        raise ValueError(f"no test from {permutations} permutations")


def _standardised(values: Floats) -> Floats:
    centred = values - values.mean(axis=0)
    spread = np.abs(centred).max(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0), dtype=np.float64)


def _p(hits: NDArray[np.int64], tried: int, *, is_exact: bool) -> Floats:
    share = hits / tried if is_exact else (hits + 1.0) / (tried + 1.0)
    return np.asarray(share, dtype=np.float64)


def _hits(
    standard: Floats, observed: Signs, splits: Iterator[Signs], judging: Callable[[Floats], Judge]
) -> tuple[NDArray[np.int64], int]:
    """How many splits do at least as much as the observed one, and how many there were."""
    metrics = standard.shape[1]
    at_once = max(1, FIGURES_AT_ONCE // max(1, DRAWS_AT_ONCE // len(standard)))
    parts = [slice(first, first + at_once) for first in range(0, metrics, at_once)]
    judges = [judging(standard[:, part]) for part in parts]
    bars = [judge(observed)[0] * (1.0 - _ROUNDING) - _ROUNDING for judge in judges]
    hits, tried = np.zeros(metrics, dtype=np.int64), 0
    for labels in splits:
        for part, judge, bar in zip(parts, judges, bars, strict=True):
            hits[part] += (judge(labels) >= bar).sum(axis=0)
        tried += len(labels)
    return hits, tried


def _mean_of(values: Floats) -> Judge:
    return lambda signs: np.asarray(np.abs(signs @ values) / len(values), dtype=np.float64)


def _mean_difference(values: Floats) -> Judge:
    """Values have the mean 0, so the other arm's sum is this one's with the other sign."""

    def judge(labels: Signs) -> Floats:
        taken = labels[0].sum()
        return np.asarray(np.abs(labels @ values) * (1.0 / taken + 1.0 / (len(values) - taken)), dtype=np.float64)

    return judge


def _welch_t(values: Floats) -> Judge:
    size, metrics = values.shape
    both, all_squares = np.hstack([values, values**2]), (values**2).sum(axis=0)

    def judge(labels: Signs) -> Floats:
        taken = labels[0].sum()
        left = size - taken
        if min(taken, left) < 2:  # noqa: PLR2004  (no variance: the plain difference tells as much)
            return _mean_difference(values)(labels)
        sums = labels @ both
        total, squares = sums[:, :metrics], sums[:, metrics:]
        one = np.maximum(squares - total**2 / taken, 0.0) / (taken * (taken - 1.0))
        other = np.maximum(all_squares - squares - total**2 / left, 0.0) / (left * (left - 1.0))
        return _over(np.abs(total) * (1.0 / taken + 1.0 / left), np.sqrt(one + other))

    return judge


def _over(difference: Floats, error: Floats) -> Floats:
    """The t values; infinite where both arms are constant and differ."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / error
    return np.where(error <= _ROUNDING, np.where(difference <= _ROUNDING, 0.0, np.inf), t)


def _all_splits(size: int, taken: int) -> Iterator[Signs]:
    """Every way to take so many of all, some thousand at a time."""
    chosen = np.array(list(combinations(range(size), taken)), dtype=np.int64).reshape(-1, taken)
    at_once = max(1, DRAWS_AT_ONCE // size)
    for first in range(0, len(chosen), at_once):
        part = chosen[first : first + at_once]
        labels = np.zeros((len(part), size))
        np.put_along_axis(labels, part, 1.0, axis=1)
        yield labels


def _random_splits(size: int, taken: int, permutations: int, seed: int) -> Iterator[Signs]:
    """Random ways to take so many of all: those with the smallest of random keys; a row with a tie is dealt again."""
    random = np.random.default_rng(seed)
    at_once = max(1, DRAWS_AT_ONCE // size)
    for done in range(0, permutations, at_once):
        labels = _dealt(min(at_once, permutations - done), size, taken, random)
        while (tied := labels.sum(axis=1) != taken).any():
            labels[tied] = _dealt(int(tied.sum()), size, taken, random)
        yield labels.astype(np.float64)


def _dealt(rows: int, size: int, taken: int, random: np.random.Generator) -> NDArray[np.bool_]:
    keys = random.integers(0, 2**32, (rows, size), dtype=np.uint32)
    last = np.partition(keys, taken - 1, axis=1)[:, taken - 1 : taken]
    return keys <= last


def _all_flips(size: int) -> Iterator[Signs]:
    places = np.arange(size)
    at_once = max(1, DRAWS_AT_ONCE // size)
    for first in range(0, 2**size, at_once):
        codes = np.arange(first, min(first + at_once, 2**size))[:, None]
        yield (1 - 2 * ((codes >> places) & 1)).astype(np.float64)


def _random_flips(size: int, permutations: int, seed: int) -> Iterator[Signs]:
    random = np.random.default_rng(seed)
    at_once = max(1, DRAWS_AT_ONCE // size)
    for done in range(0, permutations, at_once):
        rows = min(at_once, permutations - done)
        yield (2 * random.integers(0, 2, (rows, size)) - 1).astype(np.float64)
