"""Time, chance and ids of a sample session, all of them functions of its name."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime, timedelta
from typing import Final

from ulid import ULID

SEED: Final = "workbench samples, 1"
"""Part of every draw: another seed gives the same stories with other ids, times and token counts."""

_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Dice:
    """Draws that depend on a name and on how many were drawn before, and on nothing else."""

    def __init__(self, name: str) -> None:
        """Begin the sequence of draws that belongs to `name`."""
        self._name = name
        self._drawn = 0

    def _draw(self) -> bytes:
        self._drawn += 1
        return hashlib.sha256(f"{SEED}/{self._name}/{self._drawn}".encode()).digest()

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both possible."""
        return low + int.from_bytes(self._draw()[:8], "big") % (high - low + 1)

    def uuid(self) -> str:
        """A UUID of version 4."""
        return str(uuid.UUID(bytes=self._draw()[:16], version=4))

    def token(self, prefix: str, length: int) -> str:
        """`prefix` and `length` letters and digits."""
        return prefix + "".join(_BASE62[byte % len(_BASE62)] for byte in self._draw()[:length])

    def hexadecimal(self, length: int) -> str:
        """`length` hexadecimal digits."""
        return self._draw().hex()[:length]

    def ulid(self, at: datetime) -> str:
        """A ULID of that time."""
        milliseconds = round(at.timestamp() * 1000)
        return str(ULID.from_bytes(milliseconds.to_bytes(6, "big") + self._draw()[:10]))


class Clock:
    """A clock that moves only when it is told to."""

    def __init__(self, start: str, dice: Dice) -> None:
        """Begin at `start`, an ISO time in UTC without an offset."""
        self.now = datetime.fromisoformat(start).replace(tzinfo=UTC)
        self._dice = dice

    def wait(self, low_ms: int, high_ms: int) -> None:
        """Let between `low_ms` and `high_ms` milliseconds pass."""
        self.now += timedelta(milliseconds=self._dice.between(low_ms, high_ms))

    def read(self, text: str) -> None:
        """Let as much time pass as a person needs to read `text` and think of an answer."""
        self.wait(8_000, 45_000 + 15 * len(text))

    @property
    def stamp(self) -> str:
        """Now, as Claude Code writes it: milliseconds and a Z."""
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
