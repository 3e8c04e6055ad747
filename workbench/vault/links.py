"""Links in a note: `[[wikilinks]]`, `[links](of.md "Markdown")`, `[by reference][name]`, and embeds of each.

What a bracket means is told as in CommonMark: one backslash makes it a plain character, a link holds no other link, an
image may stand in one. Places are those of the text; nothing is cut or replaced on the way.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote_to_bytes

from workbench.vault.code import HIDDEN

LONGEST: Final = 2_000
"""Characters of a destination or a title. Without a limit a text of nothing but brackets takes its length squared."""

Syntax = Literal["wikilink", "embed", "md_link", "md_embed"]

_WIKILINK: Final = r"!?\[\[[^\[\]|\n\x00]*(?:\|(?:[^\[\]\n]|\](?!\])|\[(?!\[))*)?\]\]"
_WIKI_TOKEN: Final = re.compile(rf"\\.|{_WIKILINK}", re.DOTALL)
_TOKEN: Final = re.compile(rf"\\.|{_WIKILINK}|!?\[|\]|\n[ \t]*(?=\n)", re.DOTALL)
_INNER: Final = r"(?:[^\s()\\\x00]|\\.)"
_BARE: Final = rf"(?!<)(?:{_INNER}|\((?:{_INNER}|\((?:{_INNER}|\({_INNER}*\))*\))*\)){{0,{LONGEST}}}"
_TITLE: Final = (
    rf"""(?:"(?:[^"\\]|\\.){{0,{LONGEST}}}"|'(?:[^'\\]|\\.){{0,{LONGEST}}}'|\((?:[^()\\]|\\.){{0,{LONGEST}}}\))"""
)
_DESTINATION: Final = rf"(?:<((?:[^<>\n\\\x00]|\\.)*)>|({_BARE}))"
_BLANKS: Final = r"[ \t]*(?:\n[ \t]*)?"
_BEHIND: Final = rf"(?:(?:[ \t]+|[ \t]*\n[ \t]*){_TITLE})?"
_AIMED: Final = re.compile(rf"\({_BLANKS}{_DESTINATION}{_BEHIND}{_BLANKS}\)")
_REFERENCE: Final = re.compile(r"\[((?:[^\[\]\\\x00]|\\.){0,999})\]")
_DEFINITION: Final = re.compile(
    rf"^ {{0,3}}\[(?!\^)((?:[^\[\]\\\x00]|\\.){{1,999}})\]:{_BLANKS}{_DESTINATION}{_BEHIND}[ \t]*$",
    re.MULTILINE,
)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")


class Link(NamedTuple):
    """One link.

    Attributes:
        start: Place of its first character.
        end: Place behind its last one.
        syntax: How it is written.
        raw: What stands between the brackets: of a wikilink all of it, of a Markdown link its destination.
        target: The name that is linked to, without heading and block.
        heading: The heading, subheadings separated by `#`; None where none is named.
        block: The block; None where none is named.
        display: What is shown; None where nothing is said.
    """

    start: int
    end: int
    syntax: Syntax
    raw: str
    target: str
    heading: str | None
    block: str | None
    display: str | None


class _Opener(NamedTuple):
    start: int
    end: int
    is_image: bool


def wikilinks(text: str, start: int, end: int, *, embeds: bool) -> Iterator[Link]:
    """The wikilinks between two places.

    Args:
        text: Any text, code hidden.
        start: The first place.
        end: The place behind the last one.
        embeds: Whether `![[x]]` embeds; in front matter it is a link like others.
    """
    for found in _WIKI_TOKEN.finditer(text, start, end):
        link = None if found[0][0] == "\\" else _wikilink(found[0], found.start(), embeds=embeds)
        if link is not None:
            yield link


def links(text: str, start: int) -> list[Link]:
    r"""All links of a body, in order.

    Args:
        text: A note with `\n` at the ends of lines and code hidden.
        start: Where the body begins.
    """
    if "](" not in text and "]:" not in text:
        return list(wikilinks(text, start, len(text), embeds=True)) if "[[" in text else []
    definitions, bare = _definitions(text, start)
    return sorted(_Scan(bare, definitions).links(start))


class _Scan:
    """One pass over the brackets of a body, with the stack of those that are open."""

    def __init__(self, text: str, definitions: dict[str, str]) -> None:
        self._text = text
        self._definitions = definitions
        self._open: list[_Opener] = []

    def links(self, start: int) -> Iterator[Link]:
        place = start
        while found := _TOKEN.search(self._text, place):
            token, place = found[0], found.end()
            if token[0] == "\\":
                continue
            if token[0] == "\n":
                self._open.clear()
            elif token == "]":  # noqa: S105
                link = self._closed(found.start())
                if link is not None:
                    place = link.end
                    yield link
            elif token.endswith("]]"):
                link = _wikilink(token, found.start(), embeds=True)
                if link is not None:
                    self._close_links()
                    yield link
            else:
                self._open.append(_Opener(found.start(), found.end(), token[0] == "!"))

    def _closed(self, place: int) -> Link | None:
        """The link that a closing bracket ends, if it does."""
        if not self._open:
            return None
        opener = self._open.pop()
        aimed = self._aim(opener, place)
        if aimed is None:
            return None
        raw, end = aimed
        if not opener.is_image:
            self._close_links()
        shown = " ".join(self._text[opener.end : place].replace(HIDDEN, "").split())
        return _md_link(opener, end, raw, shown or None)

    def _aim(self, opener: _Opener, place: int) -> tuple[str, int] | None:
        """The destination behind a closing bracket, and the place behind it."""
        aimed = _AIMED.match(self._text, place + 1)
        if aimed:
            return aimed[1] if aimed[1] is not None else aimed[2], aimed.end()
        if not self._definitions:
            return None
        named = _REFERENCE.match(self._text, place + 1)
        label = named[1] if named and named[1].strip() else self._text[opener.end : place]
        raw = self._definitions.get(_label(label))
        return None if raw is None else (raw, named.end() if named else place + 1)

    def _close_links(self) -> None:
        """A link was found: what is open around it is none, images apart."""
        self._open = [opener for opener in self._open if opener.is_image]


def _wikilink(token: str, start: int, *, embeds: bool) -> Link | None:
    is_embed = token[0] == "!"
    raw = token[3 if is_embed else 2 : -2]
    aim, bar, display = raw.partition("|")
    if bar and aim.endswith("\\"):  # in a table the bar needs it
        aim = aim[:-1]
    name, mark, anchor = aim.partition("#")
    target = name.strip()
    if not target:  # a heading of the note itself, or nothing
        return None
    heading, block = _anchor(anchor) if mark else (None, None)
    syntax: Syntax = "embed" if is_embed and embeds else "wikilink"
    begin = start + (1 if is_embed and not embeds else 0)
    return Link(begin, start + len(token), syntax, raw, target, heading, block, display.strip() or None)


def _md_link(opener: _Opener, end: int, raw: str, display: str | None) -> Link | None:
    aim = html.unescape(_ESCAPED.sub(r"\1", raw))
    if not aim or _SCHEME.match(aim):
        return None
    name, mark, anchor = aim.partition("#")
    target = _decoded(name).strip()
    if not target:
        return None
    heading, block = _anchor(_decoded(anchor)) if mark else (None, None)
    syntax: Syntax = "md_embed" if opener.is_image else "md_link"
    return Link(opener.start, end, syntax, raw, target, heading, block, display)


def _anchor(anchor: str) -> tuple[str | None, str | None]:
    """Heading and block of what stands behind the first `#`."""
    headings, mark, block = anchor.strip().rpartition("^")
    if mark and (not headings or headings.endswith("#")):
        return headings.strip("# ") or None, block.strip() or None
    return anchor.strip("# ") or None, None


def _decoded(name: str) -> str:
    """Percent-decoded once; as it is where the escapes are none."""
    if "%" not in name:
        return name
    if _BAD_ESCAPE.search(name):
        return name
    try:
        return unquote_to_bytes(name).decode("utf-8").replace("\0", "\ufffd")
    except (UnicodeDecodeError, UnicodeEncodeError):
        return name


_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


def _definitions(text: str, start: int) -> tuple[dict[str, str], str]:
    """Destinations by label, the first of each counts; and the text with the definitions blanked out."""
    known: dict[str, str] = {}
    if "]:" not in text:
        return known, text
    parts, done = [], 0
    for found in _DEFINITION.finditer(text, start):
        raw = found[2] if found[2] is not None else found[3]
        if found[2] is None and not raw:
            continue
        known.setdefault(_label(found[1]), raw)
        parts += [text[done : found.start()], re.sub(r"[^\n]", " ", found[0])]
        done = found.end()
    return known, "".join([*parts, text[done:]])


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()
