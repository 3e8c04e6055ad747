"""Ids: ULIDs for what happens here, repeatable ids of the same shape for what is imported, hashes of content.

A ULID is 48 bits of time in milliseconds and 80 further bits, written as 26 characters of Crockford's base 32, so
that text order is time order. Source: github.com/ulid/spec; PRAANA's ids.
"""

from __future__ import annotations

import os
import threading
import time
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import Final

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
# Ten bits, two characters, at a look-up.
_PAIRS: Final = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
_PAIR_BITS: Final = 10
_PAIR_MASK: Final = (1 << _PAIR_BITS) - 1
# The low five bits of a byte as a character: sixteen bytes of a hash become the eighty bits of a tail in one call.
_LOW_BITS: Final = bytes(ord(_ALPHABET[byte % 32]) for byte in range(256))

_MAX_MS: Final = (1 << 48) - 1  # the year 10889
_TAIL_CHARS: Final = 16
_TAIL_BITS: Final = 80


def new_ulid() -> str:
    """Make an id that is greater than every earlier one of this process.

    Time from the wall clock, the rest random; within one millisecond, or while the clock stands before an earlier
    reading, the previous id plus one. So ids of one process ascend strictly, and those of other processes differ by
    their random part. Safe in threads and after a fork. An id is not a secret: the next one can be guessed.

    Returns:
        26 upper-case characters.

    Source: github.com/ulid/spec, "Monotonicity"; PRAANA's event ids, which lack it.
    """
    return _sequence.next()


def derived_id(occurred_at_ms: int | None, *parts: str) -> str:
    r"""Make the id that belongs to a time and to what names the thing: the same today and after a rebuild.

    id = base32(48 bits of time, 80 bits of BLAKE2b over the parts). The parts are joined by NUL; where that would be
    ambiguous ("a\0b" against "a", "b"), by their lengths, hashed under another personalisation.

    Args:
        occurred_at_ms: Milliseconds since 1970 UTC, clipped to 0 .. 2**48 - 1; None counts as 0.
        parts: What names the thing within that millisecond, say session, source and record id.

    Returns:
        26 upper-case characters, in the shape of a ULID. Two things share a tail with probability 2**-80 a pair.
    """
    named = "\0".join(parts)
    if named.count("\0") < len(parts):
        tail = blake2b(named.encode("utf-8", "surrogatepass"), digest_size=_TAIL_CHARS)
    else:
        named = "".join([f"{len(part)}:{part}" for part in parts])
        tail = blake2b(named.encode("utf-8", "surrogatepass"), digest_size=_TAIL_CHARS, person=b"lengths")
    return _time_text(occurred_at_ms) + tail.digest().translate(_LOW_BITS).decode("ascii")


class DerivedIds:
    """Ids as `derived_id` makes them, of many things whose names have the first part in common: in half the time.

    Args:
        first: The first part of every name.
    """

    def __init__(self, first: str) -> None:
        self._first = first
        self._named = blake2b(f"{first}\0".encode("utf-8", "surrogatepass"), digest_size=_TAIL_CHARS)

    def of(self, occurred_at_ms: int | None, second: str, third: str) -> str:
        """The same as `derived_id(occurred_at_ms, first, second, third)`."""
        named = f"{second}\0{third}"
        if named.count("\0") > 1 or "\0" in self._first:
            return derived_id(occurred_at_ms, self._first, second, third)
        tail = self._named.copy()
        tail.update(named.encode("utf-8", "surrogatepass"))
        return _time_text(occurred_at_ms) + tail.digest().translate(_LOW_BITS).decode("ascii")


def content_hash(text: str | bytes) -> str:
    """SHA-256 of a content, by which it is stored once however often it occurs.

    Args:
        text: Bytes as they are, or text, hashed as UTF-8 (half surrogates as their three bytes).

    Returns:
        64 hexadecimal digits.

    Source: PRAANA's artifact ids, PAI's `content_hash` columns.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return sha256(data).hexdigest()


@lru_cache(maxsize=1024)  # what one record gives rise to shares its time
def _time_text(ms: int | None) -> str:
    """Write a time as ten characters, 48 bits; None is 0, and what does not fit is clipped."""
    ms = ms or 0
    if not 0 <= ms <= _MAX_MS:
        ms = 0 if ms < 0 else _MAX_MS
    pairs = _PAIRS  # written out: twice as fast as a loop
    return (
        f"{pairs[ms >> 40]}{pairs[ms >> 30 & 1023]}{pairs[ms >> 20 & 1023]}{pairs[ms >> 10 & 1023]}{pairs[ms & 1023]}"
    )


def _tail_text(tail: int) -> str:
    """Write 80 bits as sixteen characters."""
    shifts = range(_TAIL_BITS - _PAIR_BITS, -1, -_PAIR_BITS)
    return "".join([_PAIRS[tail >> shift & _PAIR_MASK] for shift in shifts])


class _Sequence:
    """The ascending ULIDs of one process."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget earlier ids, and with them a lock that another thread held at a fork."""
        self._lock = threading.Lock()
        self._ms = -1
        self._tail = 0

    def next(self) -> str:
        """Make the next id."""
        ms = max(time.time_ns() // 1_000_000, 0)
        with self._lock:
            if ms > self._ms:
                self._ms = ms
                self._tail = int.from_bytes(os.urandom(_TAIL_BITS // 8), "big")
            else:
                self._tail += 1
                if self._tail >> _TAIL_BITS:
                    self._ms += 1
                    self._tail = 0
            return _time_text(self._ms) + _tail_text(self._tail)


_sequence = _Sequence()
if hasattr(os, "register_at_fork"):  # a child that went on counting would repeat its parent's ids
    os.register_at_fork(after_in_child=_sequence.restart)
