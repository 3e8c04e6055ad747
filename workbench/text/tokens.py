"""How many tokens a text costs, estimated from its characters.

The estimate is a ceiling over a sum of doubles taken left to right, so it depends on rounding: eight thousand CJK
characters weigh 5,336 on paper and a hair more in the machine, which makes 5,337. It is asked for every text of every
import, tens of megabytes at a time, so the sum is done on integers (thousandths of a token) wherever that provably
gives the same ceiling, and as floats in order only where it may not.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, lru_cache
from math import ceil
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Weights in thousandths of a token. Source of these and of the ranges: PRAANA src/token-estimate.ts.
COMBINER: Final = 0
EMOJI: Final = 1000
CJK: Final = 667
OTHER: Final = 250
_WEIGHTS: Final = (COMBINER, EMOJI, CJK, OTHER)

# First and last code point, ascending; what lies between is OTHER. They do not overlap, so no order of checks matters.
_RANGES: Final = (
    (0x200D, 0x200D, COMBINER),  # zero width joiner
    (0x2600, 0x27BF, EMOJI),  # symbols, dingbats
    (0x3000, 0x303F, CJK),  # punctuation
    (0x3040, 0x309F, CJK),  # hiragana
    (0x30A0, 0x30FF, CJK),  # katakana
    (0x3400, 0x4DBF, CJK),  # ideographs, extension A
    (0x4E00, 0x9FFF, CJK),  # ideographs
    (0xAC00, 0xD7AF, CJK),  # hangul syllables
    (0xF900, 0xFAFF, CJK),  # compatibility ideographs
    (0xFE00, 0xFE0F, COMBINER),  # variation selectors
    (0xFF00, 0xFFEF, CJK),  # half and full width forms
    (0x1F000, 0x1FAFF, EMOJI),  # tiles, pictographs
    (0x1FB00, 0x1FBFF, EMOJI),  # legacy computing
    (0x20000, 0x2FA1F, CJK),  # ideographs, extensions B and later
)
_FIRSTS: Final = [first for first, _, _ in _RANGES]
_CODE_POINTS: Final = 0x110000
_ASCII_BYTES: Final = bytes(range(0x80))
_THOUSAND: Final = 1000
_ASCII_PER_TOKEN: Final = _THOUSAND // OTHER

# A sum of n doubles in order is off by at most n * 2**-53 * sum; doubled here, to cover the rounding of 0.667 itself.
_ROUNDING: Final = 2.0**-52
# From so many non-ASCII characters on, numpy (11 us a call) beats the loop (0.15 us a character); measured.
_VECTORISE_FROM: Final = 64


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text.

    tokens = ceil(sum of w(c) over the code points, left to right in doubles), with w = 0 for joiners and variation
    selectors, 1 for emoji and symbols, 0.667 for CJK, 0.25 for all else; 0 for the empty text.

    All weights but 0.667 are multiples of a quarter, so the sum is exact in any order without CJK. With CJK the exact
    sum in thousandths has the same ceiling unless it lies within rounding error of an integer; only then is it summed
    again in order.

    Args:
        text: Any text; half surrogates count as any other character.

    Returns:
        Whole tokens, at least 0.

    Source: PRAANA src/token-estimate.ts; the seed gives no calibration against a real tokenizer.
    """
    if text.isascii():
        return -(-len(text) // _ASCII_PER_TOKEN)
    rest = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_BYTES).decode("utf-8", "surrogatepass")
    thousandths, cjk = _weigh(rest)
    thousandths += OTHER * (len(text) - len(rest))
    whole, part = divmod(thousandths, _THOUSAND)
    to_integer = min(part, _THOUSAND - part) / _THOUSAND
    error = len(text) * (thousandths / _THOUSAND) * _ROUNDING
    if cjk and error >= to_integer / 2:
        return _ceiling_in_order(text)
    return whole + (part > 0)


def _weigh(text: str) -> tuple[int, int]:
    """Sum the weights in thousandths and count the CJK characters."""
    if len(text) < _VECTORISE_FROM:
        weights = [_weight(char) for char in text]
        return sum(weights), weights.count(CJK)
    import numpy as np  # noqa: PLC0415  # not for every caller: 100 ms to import

    numbers = _class_numbers(text)
    counts = {weight: int(np.count_nonzero(numbers == number)) for number, weight in enumerate(_WEIGHTS)}
    return sum(weight * count for weight, count in counts.items()), counts[CJK]


def _ceiling_in_order(text: str) -> int:
    """Sum the weights as doubles from left to right; `accumulate` adds in order where `sum` adds in pairs."""
    import numpy as np  # noqa: PLC0415  # not for every caller: 100 ms to import

    weights = np.array(_WEIGHTS) / float(_THOUSAND)
    return ceil(float(np.add.accumulate(weights[_class_numbers(text)])[-1]))


@lru_cache(maxsize=4096)
def _weight(char: str) -> int:
    """Weight of one character, in thousandths."""
    code = ord(char)
    place = bisect_right(_FIRSTS, code) - 1
    if place < 0:
        return OTHER
    _, last, weight = _RANGES[place]
    return weight if code <= last else OTHER


def _class_numbers(text: str) -> NDArray[np.uint8]:
    """Place in `_WEIGHTS` of each character."""
    import numpy as np  # noqa: PLC0415  # not for every caller: 100 ms to import

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return _class_table().take(codes.astype(np.intp))  # half the time of indexing with the unsigned codes


@cache
def _class_table() -> NDArray[np.uint8]:
    """Place in `_WEIGHTS` of every code point: 1 MB, made once."""
    import numpy as np  # noqa: PLC0415  # not for every caller: 100 ms to import

    table = np.full(_CODE_POINTS, _WEIGHTS.index(OTHER), dtype=np.uint8)
    for first, last, weight in _RANGES:
        table[first : last + 1] = _WEIGHTS.index(weight)
    return table
