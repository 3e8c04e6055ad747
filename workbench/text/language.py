"""Whether texts are largely not English, which decides about the embedding model that serves them.

The default model knows English alone (Chinese STS-B 0.20 against 0.82 in English, design 11). Scripts other than Latin
tell at once; a text in Latin script tells by the small words it is full of. Code, paths and JSON have none and are not
judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_WORDS: Final = re.compile(r"[^\W\d_]+")
_CODE: Final = re.compile(r"^(```|~~~).*?^\1[^\n]*$|`[^`\n]*`|https?://\S+", re.MULTILINE | re.DOTALL)
_DENSE: Final = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_LATIN: Final = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
_LETTER: Final = re.compile(r"[^\W\d_]")

ENGLISH: Final = frozenset(
    (  # noqa: SIM905  (a list of 48 literals reads worse)
        "the of and to is it you that was with as at be this have from by but not what were we when your can an which "
        "their if will how them then has would there been its they about"
    ).split(" ")
)
"""Small words of English that are no words of the languages below."""

OTHERS: Final = frozenset(
    (  # noqa: SIM905  (as above)
        "der und ist nicht das ein eine zu mit auf sich dem von auch wird sind oder für wie "  # German
        "het een van niet zijn voor ook naar maar worden deze "  # Dutch
        "le la les des et est dans que pour qui une sur pas avec sont aux ce ou "  # French
        "el los las una que por con para su como pero más este entre "  # Spanish
        "il di che è per una sono della nel con gli anche alla "  # Italian
        "o os uma que não com para mais como dos seu ao "  # Portuguese
        "och att det som är inte på av för ett "  # Swedish, Danish, Norwegian
        "og ikke til er det som på af "
        "się nie jest na że do jak są przez "  # Polish
        "ve bir bu için ile olarak"  # Turkish
    ).split(" ")
) - {"do", "o"}  # which are English, and a letter
"""Small words of other languages in Latin script."""

LEAST_SMALL_WORDS: Final = 3
"""A Latin text with fewer small words is not judged: names, commands and code have no language."""

DENSE_FACTOR: Final = 3
"""A letter of Chinese, Japanese or Korean says about as much as three Latin ones."""

LARGELY: Final = 0.5
"""Share of the letters judged that must not be English before another model is offered."""


class LanguageJudgement(NamedTuple):
    """What a sample of texts looks like.

    Attributes:
        not_english: Share of the judged letters in texts that are not English, 0 to 1; 0 where none was judged.
        judged: Texts that could be judged.
        texts: Texts in the sample.
    """

    not_english: float
    judged: int
    texts: int

    @property
    def is_largely_not_english(self) -> bool:
        """Whether a model for many languages should be offered."""
        return self.not_english >= LARGELY


def judge_language(texts: Iterable[str]) -> LanguageJudgement:
    """Judge a sample of texts.

    A text is not English where most of its letters are of another script than Latin, or where it has more small words
    of other languages than of English. Code in fences and addresses do not count. A text weighs by its letters.

    Args:
        texts: The sample; some hundred texts suffice.

    Returns:
        Shares and counts.
    """
    weights = {True: 0, False: 0}
    total = judged = 0
    for text in texts:
        total += 1
        plain = _CODE.sub(" ", text)
        verdict = _is_english(plain)
        if verdict is not None:
            judged += 1
            weights[verdict] += _weight(plain)
    whole = sum(weights.values())
    return LanguageJudgement(weights[False] / whole if whole else 0.0, judged, total)


def _weight(text: str) -> int:
    return len(_LETTER.findall(text)) + (DENSE_FACTOR - 1) * len(_DENSE.findall(text))


def _is_english(text: str) -> bool | None:
    """Whether one text is English; None where nothing tells."""
    latin = len(_LATIN.findall(text))
    if _weight(text) > 2 * latin:
        return False
    words = _WORDS.findall(text.lower())
    english, others = (sum(word in small for word in words) for small in (ENGLISH, OTHERS))
    if english + others < LEAST_SMALL_WORDS:
        return None
    return english >= others
