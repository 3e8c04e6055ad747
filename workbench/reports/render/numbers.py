"""Numbers, times and durations for people. What is not known is shown as a dash, never as 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Final

UNKNOWN: Final = "–"  # noqa: RUF001  (an en dash)

_STEPS: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def count(value: float | None) -> str:
    """A whole number with its thousands parted: 12,345."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def compact(value: float | None) -> str:
    """A number of about three digits: 733 M, 1.25 M, 809 k, 12."""
    if value is None:
        return UNKNOWN
    for size, letter in _STEPS:
        if abs(value) >= size * 0.9995:
            return f"{_three_digits(value / size)} {letter}"
    return _three_digits(value) if isinstance(value, float) and not value.is_integer() else f"{value:.0f}"


def _three_digits(value: float) -> str:
    size = abs(value)
    return f"{value:.0f}" if size >= 99.95 else f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"  # noqa: PLR2004


def usd(value: float | None) -> str:
    """US dollars: $1,234, $12.30, and what is less than a cent as such."""
    if value is None:
        return UNKNOWN
    if 0 < value < 0.005:  # noqa: PLR2004
        return "< $0.01"
    return f"${value:,.0f}" if value >= 1000 else f"${value:,.2f}"  # noqa: PLR2004


def share(part: float | None, whole: float | None) -> str:
    """A part of a whole in per cent; none of it is 0 %, and a little is never rounded to none or to all."""
    if part is None or not whole:
        return UNKNOWN
    percent = 100 * part / whole
    if 0 < percent < 0.1:  # noqa: PLR2004
        return "< 0.1 %"
    if 99.9 < percent < 100:  # noqa: PLR2004
        return "> 99.9 %"
    return f"{percent:.0f} %" if percent in (0, 100) else f"{percent:.1f} %"


def lasting(milliseconds: float | None) -> str:
    """A duration: 430 ms, 12.5 s, 4 min 05 s, 3 h 20 min, 2 d 04 h."""
    if milliseconds is None:
        return UNKNOWN
    if milliseconds < 1000:  # noqa: PLR2004
        return f"{milliseconds:.0f} ms"
    if milliseconds < 59_950:  # noqa: PLR2004
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours:02} h"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s"


def plural(number: int, thing: str, things: str | None = None) -> str:
    """A number with its noun: 1 session, 2 sessions."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def day(value: date | datetime | None) -> str:
    """A day: 5 Jan 2026."""
    return UNKNOWN if value is None else f"{value.day} {value:%b} {value.year}"


def days(first: date, last: date) -> str:
    """A span of days, what both ends share said once: 5-9 Jan 2026, 5 Jan - 16 Feb 2026."""
    if first == last:
        return day(first)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{day(last)}"  # noqa: RUF001
    begin = f"{first.day} {first:%b}" if first.year == last.year else day(first)
    return f"{begin} – {day(last)}"  # noqa: RUF001


@dataclass(frozen=True)
class Clock:
    """The time zone of a page, and what it is called there.

    Attributes:
        zone: None is the local one.
        name: Such as Europe/Berlin, or CET/CEST.
    """

    zone: tzinfo | None
    name: str

    @classmethod
    def of(cls, zone: tzinfo | None, moments: Sequence[datetime]) -> Clock:
        """The clock of a zone; the local one is called by its names at the given moments."""
        clock = cls(zone, "")
        names = dict.fromkeys(clock.local(value).strftime("%Z") for value in moments)
        return cls(zone, str(getattr(zone, "key", "") or "/".join(filter(None, names)) or "UTC"))

    def local(self, value: datetime) -> datetime:
        """The time in this zone; the first and last hours that there are stay as they are."""
        try:
            return value.astimezone(self.zone)
        except (OverflowError, ValueError, OSError):
            return value

    def moment(self, value: datetime | None) -> str:
        """A time to the minute: 2026-01-05 14:30."""
        return UNKNOWN if value is None else f"{self.local(value):%Y-%m-%d %H:%M}"

    def day(self, value: datetime) -> date:
        """The day a time lies in."""
        return self.local(value).date()
