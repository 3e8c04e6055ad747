"""Each message once, although it stands in both logs.

The event mirrors the item next to it, whichever comes first; the second telling is no message. The same words again in
a later turn are a new one, and so are the same words twice in one log.
"""

from __future__ import annotations

from collections import deque
from typing import Final, Literal, NamedTuple

Log = Literal["item", "event"]

_NEAR: Final = 32
"""How many messages a log may be ahead of the other; far more than was ever described."""


class _Awaited(NamedTuple):
    """A message that one log told and the other may tell next."""

    place: int
    log: Log
    role: str
    words: str


class Pairing:
    """What one log told and the other did not yet."""

    def __init__(self) -> None:
        self._awaited: deque[_Awaited] = deque(maxlen=_NEAR)

    def is_told(self, place: int, log: Log, role: str, text: str) -> bool:
        """Whether the other log has just told this message; if not, it is expected to.

        Args:
            place: The record's place in the file.
            log: The log that tells it now.
            role: Whose it is.
            text: Its words; white space does not count.
        """
        words = "".join(text.split())
        for each in self._awaited:
            if each.log != log and (each.role, each.words) == (role, words):
                self._awaited.remove(each)
                return True
        self._awaited.append(_Awaited(place, log, role, words))
        return False

    def next_turn(self, after: int | None = None) -> None:
        """A turn begins or ends: what was told so far is not told again, save perhaps by the record at `after`."""
        kept = [each for each in self._awaited if each.place == after]
        self._awaited.clear()
        self._awaited.extend(kept)
