"""The parts of words that a tokenizer of plain words does not find: of identifiers, of paths, of CJK runs.

A full-text index of words cuts at white space and punctuation: `getUserProfile` is one word to it, and so, but for
what its dictionary knows, is a run of Chinese or Korean. The stream of a text's parts is indexed beside the words; a
query is cut by the same rules, so that `user profile` finds `getUserProfile` and the whole identifier ranks first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

LONGEST_TOKEN: Final = 100
"""Characters; longer tokens are data in base64 and the like. Full-text indexes are made with the same bound."""

_CJK_RANGES: Final = "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f"
_PICTURES: Final = "\u2600-\u27bf\U0001f000-\U0001faff"
_CHAR: Final = rf"(?:[^\W_{_CJK_RANGES}])"
_BETWEEN: Final = r"(?:[_./\\:@$'\u2019-]+|(?<=[0-9])[,;](?=[0-9]))"
"""What stands inside a token; with all of it that the index of words does not cut at, as in `o'clock` and `1,000`."""

_TOKEN: Final = re.compile(rf"[{_CJK_RANGES}]+|[{_PICTURES}]|_*{_CHAR}+(?:{_BETWEEN}{_CHAR}+)*_*")
_CJK: Final = re.compile(f"[{_CJK_RANGES}]")
_PICTURE: Final = re.compile(f"[{_PICTURES}]")
_SEPARATORS: Final = re.compile(rf"_|{_BETWEEN}")
# between a small letter or digit and a capital, before the last capital of a run, before digits at the end
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9]+$)")

# What is left out of a query that has other words too: the most frequent English function words. Question words stay,
# as in PAI; so does `not`, which is a plain word here.
STOP_WORDS: Final = frozenset(
    (  # noqa: SIM905  (a list of quoted words takes a page)
        "a an and are as at be been but by can could did do does for from had has have i in into is it its me my of on "
        "or our please so than that the their them then there these they this those to too was we were will with would "
        "you your"
    ).split()
)


class Terms(NamedTuple):
    """What a query looks for.

    Attributes:
        words: Lower-case words and their parts, each once, in order.
        left_out: How many distinct ones were not taken because there were too many.
    """

    words: tuple[str, ...]
    left_out: int


def parts(text: str) -> str:
    """The stream of a text: of each identifier or path the whole and its parts, of each CJK run pairs and characters.

    Args:
        text: Any text. Plain words are not repeated: the index has them already.

    Returns:
        Lower-case tokens separated by spaces, in order.
    """
    return " ".join(filter(None, map(_document_tokens, _TOKEN.findall(text))))


def query_terms(query: str, most: int = 64, least_chars: int = 2) -> Terms:
    """The words of a query, and the parts of those that have some.

    Args:
        query: What a person typed; nothing in it is syntax.
        most: Distinct terms taken; a pasted log of a thousand words finds the same by its first ones.
        least_chars: Characters of an ASCII word.

    Returns:
        The terms without stop words and short ones, unless it has no others.
    """
    found = dict.fromkeys(token for match in _TOKEN.findall(query) for token in _query_tokens(match))
    long = [token for token in found if len(token) >= least_chars or not token.isascii()]
    wanted = [token for token in long if token not in STOP_WORDS] or list(found)
    return Terms(tuple(wanted[:most]), max(len(wanted) - most, 0))


@lru_cache(maxsize=1 << 16)  # words recur: five times the speed, measured on source code
def _document_tokens(token: str) -> str:
    if _CJK.match(token):
        return " ".join([*_pairs(token), *token])
    if _PICTURE.match(token):
        return token
    pieces = _pieces(token)
    return " ".join([*_whole(token), *pieces]) if pieces != [token.lower()] else ""


def _query_tokens(token: str) -> Iterator[str]:
    if _CJK.match(token):
        yield from _pairs(token) if len(token) > 1 else token
        return
    yield from _whole(token)
    pieces = _pieces(token)
    if pieces != [token.lower()]:
        yield from pieces


def _pairs(run: str) -> Iterator[str]:
    return (first + second for first, second in pairwise(run))


def _whole(text: str) -> Iterator[str]:
    if len(text) <= LONGEST_TOKEN:
        yield text.lower()


def _pieces(text: str) -> list[str]:
    """`HTTPServerError2` gives http, server, error and 2; `src/app.py` gives src, app and py; a plain word itself."""
    pieces = (piece for part in _SEPARATORS.split(text) for piece in _HUMPS.split(part))
    return [piece.lower() for piece in pieces if 0 < len(piece) <= LONGEST_TOKEN]
