"""Ids of records that have none in their file."""

from __future__ import annotations

from hashlib import blake2b


class RecordIds:
    """Names the records of one file by their content, counted where the same content comes again.

    So a file that grows keeps the ids of what it had, and a file that is read again gives the same ones.
    """

    def __init__(self) -> None:
        self._times: dict[bytes, int] = {}

    def of(self, content: bytes) -> str:
        """The id of the next record with this content."""
        named = blake2b(content, digest_size=10).digest()
        times = self._times.get(named, 0)
        self._times[named] = times + 1
        return f"{named.hex()}.{times}"
