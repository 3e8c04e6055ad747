"""Times of foreign files: as recorded, in UTC, or none with the reason."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple


class Moment(NamedTuple):
    """A time and where it comes from: `recorded`, `no_zone` (read as UTC), `missing` or `unreadable`."""

    at: datetime | None
    source: str


MISSING = Moment(None, "missing")
UNREADABLE = Moment(None, "unreadable")


def from_iso(text: str | None) -> Moment:
    """Read an ISO 8601 time, such as `2026-03-02T09:00:00.000Z`."""
    if not text:
        return MISSING
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is UTC:
            return Moment(found, "recorded")
        if found.tzinfo is None:
            return Moment(found.replace(tzinfo=UTC), "no_zone")
        return Moment(found.astimezone(UTC), "recorded")
    except (ValueError, OverflowError):
        return UNREADABLE
