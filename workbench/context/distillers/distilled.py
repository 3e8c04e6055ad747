"""What distilling gives, how hard it is done, and the words that all distillers share.

Source: PRAANA src/context-engine/distiller.ts; specification A, 14.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from workbench.context.records import Intensity

if TYPE_CHECKING:
    from workbench.config.context import Distiller

Status = Literal["passed", "failed", "unknown"]
"""How a run ended: `unknown` where the output does not say."""

HEADER_CHARS: Final = 200
"""A distilled text is at most this much longer than what it was made of: by its header."""


class Distilled(msgspec.Struct, frozen=True):
    """A shortened text, by whom, and what it cost before and after in estimated tokens."""

    text: str
    distiller: str
    intensity: Intensity
    input_tokens: int
    output_tokens: int

    @property
    def savings(self) -> float:
        """Share of the tokens that are gone, 0 where it grew."""
        return max(0.0, 1.0 - self.output_tokens / self.input_tokens) if self.input_tokens else 0.0


Distil = Callable[[str, Intensity, "Distiller"], str]
"""A distiller: text, intensity and settings to a shorter text."""


class Registered(NamedTuple):
    """A distiller as the registry knows it.

    Attributes:
        name: How it is called in reports.
        distil: The function.
        deferred: Whether it is too slow for the turn: its card is pending until the turn has ended.
    """

    name: str
    distil: Distil
    deferred: bool = False


def select_intensity(raw_tokens: int, settings: Distiller) -> Intensity:
    """How hard a text is shortened: by its size, and as configured only where it is small.

    Source: PRAANA src/context-engine/distiller.ts, `selectIntensity`.
    """
    if raw_tokens > settings.full_above_tokens:
        return "full"
    return "lite" if raw_tokens > settings.lite_above_tokens else settings.default_intensity


def by_intensity(pair: tuple[int, int], intensity: Intensity) -> int:
    """The figure of a setting for `lite`, or for `full`."""
    return pair[0] if intensity == "lite" else pair[1]


def cut_line(line: str, most: int) -> str:
    """A line without its middle where it is very long; what stands at either end says what it is about.

    Args:
        line: One line.
        most: Characters that it may have before it is cut; three quarters are kept from the start, a quarter from the
            end.
    """
    if len(line) <= most:
        return line
    tail = most // 4
    head = most - tail
    return f"{line[:head]} … [{len(line) - most:,} chars] … {line[len(line) - tail :]}"


class LinePattern:
    """A pattern for the beginnings of lines, looked for in large texts.

    The newline stands in the pattern itself: a search for it skips from line to line, where `^` would be tried at every
    character (20 MB: 20 ms instead of 1 s).

    Args:
        alternatives: Regular expressions for what stands at the beginning of a line; `$` is the end of a line.
        needs: One of these texts is in every text that has such a line; looked for first.
    """

    def __init__(self, *alternatives: str, needs: tuple[str, ...] = ()) -> None:
        self._pattern = re.compile(f"\n(?:{'|'.join(alternatives)})", re.MULTILINE)
        self._needs = needs

    def found_in(self, text: str) -> bool:
        """Whether a line of a text begins so."""
        return (not self._needs or any(each in text for each in self._needs)) and (
            self._pattern.search("\n" + text) is not None
        )


_EXIT: Final = re.compile(
    r"\n((?:Command exited with code|exit (?:code|status):?|process exited with code) +-?[1-9][0-9]*\.?)$",
    re.MULTILINE | re.IGNORECASE,
)


def exit_lines(text: str) -> list[str]:
    """The lines by which a harness tells that the command failed, once each."""
    return list(dict.fromkeys(_EXIT.findall("\n" + text)))
