"""Times of foreign files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from workbench.ingest.times import from_iso


@pytest.mark.parametrize(
    ("text", "at", "source"),
    [
        ("2026-03-02T09:00:00.000Z", datetime(2026, 3, 2, 9, tzinfo=UTC), "recorded"),
        ("2026-03-02T09:00:00.123456Z", datetime(2026, 3, 2, 9, 0, 0, 123456, tzinfo=UTC), "recorded"),
        ("2026-03-02T09:00:00Z", datetime(2026, 3, 2, 9, tzinfo=UTC), "recorded"),
        ("2026-03-02T18:00:00+09:00", datetime(2026, 3, 2, 9, tzinfo=UTC), "recorded"),
        ("2026-03-01T23:30:00-09:30", datetime(2026, 3, 2, 9, tzinfo=UTC), "recorded"),
        ("2026-03-02 09:00:00", datetime(2026, 3, 2, 9, tzinfo=UTC), "no_zone"),
        ("1969-12-31T23:59:59.999Z", datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC), "recorded"),
        (None, None, "missing"),
        ("", None, "missing"),
        ("yesterday", None, "unreadable"),
        ("2026-02-30T00:00:00Z", None, "unreadable"),
        ("0001-01-01T00:00:00+14:00", None, "unreadable"),
        ("9999-12-31T23:59:59-14:00", None, "unreadable"),
        ("2026-03-02T09:00:60Z", None, "unreadable"),
    ],
)
def test_a_time_is_utc_or_says_why_there_is_none(text, at, source):
    assert from_iso(text) == (at, source)
    assert at is None or from_iso(text).at.tzinfo is UTC
