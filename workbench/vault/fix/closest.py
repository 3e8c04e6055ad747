"""The name that comes closest to one that leads nowhere."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy import sparse  # type: ignore[import-untyped]

CANDIDATES: Final = 8
"""Names compared by edit distance, those that share most pairs of characters."""

_LOOSE: Final = re.compile(r"[\W_]+")
_DIGITS: Final = re.compile(r"\d+")


class Close(NamedTuple):
    """A name that comes close.

    Attributes:
        path: The note of that name.
        name: The name.
        similarity: 1 - edit distance / length of the longer one, of the names in loose form.
        is_alone: No other note has a name as close.
    """

    path: str
    name: str
    similarity: float
    is_alone: bool


def loose(name: str) -> str:
    """A name without case, punctuation and white space, in one Unicode form."""
    return _LOOSE.sub("", unicodedata.normalize("NFKC", name).casefold())


def edit_distance(first: str, second: str) -> int:
    """Insertions, deletions and replacements of a character that turn one text into the other (Levenshtein 1966)."""
    row = list(range(len(second) + 1))
    for number, character in enumerate(first, 1):
        diagonal, row[0] = row[0], number
        for place, other in enumerate(second, 1):
            cost = min(row[place] + 1, row[place - 1] + 1, diagonal + (character != other))
            diagonal, row[place] = row[place], cost
    return row[-1]


class ClosestNames:
    """Finds the closest of many names.

    Args:
        named: Name and path; a path may have several names.
    """

    def __init__(self, named: Iterable[tuple[str, str]]) -> None:
        self._named = [(loose(name), name, path) for name, path in dict.fromkeys(named) if loose(name)]
        self._pairs: dict[str, int] = {}
        self._matrix = self._counted([key for key, _, _ in self._named], grow=True)

    def find(self, targets: Sequence[str]) -> list[Close | None]:
        """The closest name to each target; None where nothing has a pair of characters in common.

        Names with other numbers in them are other things, however few characters differ: `2026-03-01` never stands for
        `2026-03-02`.
        """
        keys = [loose(target) for target in targets]
        if not self._named or not keys:
            return [None] * len(targets)
        common = sparse.csr_array(self._counted(keys, grow=False) @ self._matrix.T)
        found: list[Close | None] = []
        for place, key in enumerate(keys):
            entries = slice(common.indptr[place], common.indptr[place + 1])
            columns, shared = common.indices[entries], common.data[entries]
            lengths = np.array([len(self._named[column][0]) for column in columns])
            order = np.lexsort((columns, -2 * shared / np.maximum(lengths + len(key), 1)))
            found.append(self._closest(key, columns[order][:CANDIDATES].tolist()))
        return found

    def _closest(self, key: str, columns: list[int]) -> Close | None:
        ranked = []
        for known, name, path in (self._named[column] for column in columns):
            if _DIGITS.findall(known) == _DIGITS.findall(key):
                similarity = 1 - edit_distance(key, known) / max(len(key), len(known), 1)
                ranked.append((-similarity, len(path), path, name))
        if not ranked:
            return None
        ranked.sort()
        similarity, _, path, name = ranked[0]
        rivals = {each[2] for each in ranked if each[0] == similarity}
        return Close(path, name, -similarity, is_alone=len(rivals) == 1)

    def _counted(self, keys: Sequence[str], *, grow: bool) -> sparse.csr_array:
        """How often each pair of characters is in each key, the ends of a key counted as characters."""
        rows, columns, counts = [], [], []
        for row, key in enumerate(keys):
            edged = f"\x00{key}\x00"
            for pair, count in Counter(edged[at : at + 2] for at in range(len(edged) - 1)).items():
                column = self._pairs.setdefault(pair, len(self._pairs)) if grow else self._pairs.get(pair)
                if column is not None:
                    rows.append(row)
                    columns.append(column)
                    counts.append(count)
        shape = (len(keys), len(self._pairs))
        return sparse.coo_array((counts, (rows, columns)), shape=shape, dtype=np.int64).tocsr()
