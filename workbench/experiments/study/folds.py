"""Parts of the data that know nothing of each other: nothing of a group is in two of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_HOME: Final = re.compile(r"^(?:/(?:Users|home)/|[A-Za-z]:[\\/]Users[\\/])([^/\\]+)")


def shuffled_folds(groups: Sequence[str], count: int, *, seed: int) -> Ints:
    """Deal groups into parts of like size.

    Args:
        groups: One name an observation; observations of one name stay together.
        count: Parts; fewer where there are fewer groups.
        seed: Of the shuffling.

    Returns:
        The part of each observation, from 0.
    """
    names = sorted(set(groups))
    places = np.random.default_rng(seed).permutation(len(names)) % max(min(count, len(names)), 1)
    part = dict(zip(names, places.tolist(), strict=True))
    return np.array([part[name] for name in groups], dtype=np.int64)


def named_folds(groups: Sequence[str], *, smallest: int) -> tuple[Ints, list[str]]:
    """Each group a part of its own; those with fewer than `smallest` observations together are one.

    Returns:
        The part of each observation, and the names of the parts.
    """
    sizes: dict[str, int] = {}
    for name in groups:
        sizes[name] = sizes.get(name, 0) + 1
    large = sorted(name for name, size in sizes.items() if size >= smallest)
    names = [*large, "others"] if len(large) < len(sizes) else large
    place = {name: number for number, name in enumerate(large)}
    return np.array([place.get(name, len(large)) for name in groups], dtype=np.int64), names


def connected(names: Iterable[str], links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Sessions that share records, as one group: each name to the first name that it hangs together with."""
    first = {name: name for name in names}

    def root(name: str) -> str:
        while first[name] != name:
            first[name] = first[first[name]]
            name = first[name]
        return name

    for one, other in links:
        if one in first and other in first:
            low, high = sorted((root(one), root(other)))
            first[high] = low
    return {name: root(name) for name in first}


def developer_of(cwd: str | None) -> str | None:
    """Who worked there, as far as the folder tells: the owner of the home folder that it is in."""
    found = _HOME.match(cwd or "")
    return found[1] if found else None


def known_groups(names: Sequence[str], group_of: Mapping[str, str | None]) -> list[str]:
    """The group of each name; one that is not known is a group of its own."""
    return [group_of.get(name) or f"unknown {name}" for name in names]
