"""Tags as Obsidian has them: in the text, and in the front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from workbench.vault.code import HIDDEN

_ENDING: Final = (
    r"\s\x00-,.:-@\[-^`{-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f"
    r"\u3000-\u3003\u3008-\u3011\u3014-\u301f\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
"""What ends a tag: blanks, and punctuation of any script but `_`, `-` and `/`. Letters, digits, signs that combine with
letters, and emoji go on. Source: Obsidian's help, "Tags", Tag format."""

_TAG: Final = re.compile(rf"(?<!\S)#([^{_ENDING}]+)")
_WHOLE: Final = re.compile(rf"[^{_ENDING}]+")
_HTML: Final = re.compile(r"<[A-Za-z/!][^<>\n]*>")
_APART: Final = re.compile(r"[,\s]+")


class InlineTag(NamedTuple):
    """A tag in the text; `start` is the place of its `#`."""

    tag: str
    start: int


def inline_tags(text: str, start: int) -> Iterator[InlineTag]:
    """The tags of a body.

    Args:
        text: A note, code and links hidden.
        start: Where the body begins.
    """
    if "#" not in text:
        return
    if "<" in text:
        text = _HTML.sub(lambda found: HIDDEN * len(found[0]), text)
    for found in _TAG.finditer(text, start):
        name = tag_name(found[1])
        if name:
            yield InlineTag(name, found.start())


def tag_name(text: str) -> str | None:
    """The name in a text that should be one tag, with or without `#`; None where it is no tag.

    A tag has at least one character that is no digit.
    """
    name = text.strip().removeprefix("#").strip("/")
    return name if _WHOLE.fullmatch(name) and not name.isdecimal() else None


def listed_tags(value: Any) -> list[str]:
    """The tags of a property: a list, or one text with commas or blanks between them."""
    items = value if isinstance(value, list) else [value]
    texts = [part for item in items if isinstance(item, str) for part in _APART.split(item)]
    return [name for text in texts if (name := tag_name(text))]


def parents(tag: str) -> list[str]:
    """The tags above a nested one, the nearest last: `a/b/c` has `a` and `a/b`."""
    parts = tag.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]
