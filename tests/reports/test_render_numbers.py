"""Numbers for people."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from workbench.reports.render.numbers import UNKNOWN, Clock, compact, count, day, days, lasting, plural, share


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, UNKNOWN),
        (0, "0"),
        (999, "999"),
        (1000, "1.00 k"),
        (12_345, "12.3 k"),
        (999_499, "999 k"),
        (999_500, "1.00 M"),
        (733_193_463, "733 M"),
        (3.5, "3.50"),
        (-1500, "-1.50 k"),
    ],
)
def test_a_compact_number_has_three_digits(value, shown):
    assert compact(value) == shown


def test_a_count_parts_its_thousands():
    assert [count(value) for value in (None, 0, 9452)] == [UNKNOWN, "0", "9,452"]


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (None, 3, UNKNOWN),
        (1, 0, UNKNOWN),
        (1, None, UNKNOWN),
        (0, 3, "0 %"),
        (3, 3, "100 %"),
        (1, 3, "33.3 %"),
        (1, 100_000, "< 0.1 %"),
        (99_999, 100_000, "> 99.9 %"),
    ],
)
def test_a_little_is_never_none_and_almost_all_is_never_all(part, whole, shown):
    assert share(part, whole) == shown


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (None, UNKNOWN),
        (0, "0 ms"),
        (430, "430 ms"),
        (12_500, "12.5 s"),
        (59_960, "1 min 00 s"),
        (245_000, "4 min 05 s"),
        (12_000_000, "3 h 20 min"),
        (187_200_000, "2 d 04 h"),
    ],
)
def test_a_duration_has_two_units(milliseconds, shown):
    assert lasting(milliseconds) == shown


def test_a_noun_follows_its_number():
    assert plural(1, "session") == "1 session"
    assert plural(1234, "thing was", "things were") == "1,234 things were"


def test_a_span_says_once_what_both_ends_share():
    assert day(date(2026, 1, 5)) == "5 Jan 2026"
    assert days(date(2026, 1, 5), date(2026, 1, 5)) == "5 Jan 2026"
    assert days(date(2026, 1, 5), date(2026, 1, 9)) == "5\N{EN DASH}9 Jan 2026"
    assert days(date(2026, 1, 5), date(2026, 2, 16)) == "5 Jan \N{EN DASH} 16 Feb 2026"
    assert days(date(2025, 12, 30), date(2026, 1, 2)) == "30 Dec 2025 \N{EN DASH} 2 Jan 2026"


def test_times_are_those_of_the_clock():
    moment = datetime(2026, 3, 28, 23, 30, tzinfo=UTC)
    clock = Clock.of(ZoneInfo("Asia/Kolkata"), [moment])
    assert (clock.name, clock.moment(moment), clock.day(moment)) == (
        "Asia/Kolkata",
        "2026-03-29 05:00",
        date(2026, 3, 29),
    )
    assert clock.moment(None) == UNKNOWN


def test_a_zone_without_a_name_is_called_as_it_was_at_the_time():
    winter, summer = datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 7, 5, tzinfo=UTC)
    assert Clock.of(timezone(timedelta(hours=2), "CEST"), [winter, summer]).name == "CEST"
    assert Clock.of(UTC, []).name == "UTC"


def test_the_first_and_last_hours_there_are_have_no_other_zone():
    last = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
    assert Clock.of(timezone(timedelta(hours=5)), [last]).day(last) == date(9999, 12, 31)
