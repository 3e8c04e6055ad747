from __future__ import annotations

from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.text.tokens import estimate_tokens

CJK = (
    *((0x3000, 0x303F), (0x3040, 0x309F), (0x30A0, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF)),
    *((0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x2FA1F)),
)
EMOJI = ((0x2600, 0x27BF), (0x1F000, 0x1FAFF), (0x1FB00, 0x1FBFF))


def weight(char: str) -> float:
    code = ord(char)
    if code == 0x200D or 0xFE00 <= code <= 0xFE0F:
        return 0.0
    if any(first <= code <= last for first, last in EMOJI):
        return 1.0
    if any(first <= code <= last for first, last in CJK):
        return 0.667
    return 0.25


def estimate_by_hand(text: str) -> int:
    """The definition itself: one double, one character after the other."""
    total = 0.0
    for char in text:
        total += weight(char)
    return ceil(total)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("data", 1),
        ("five5", 2),
        ("字字字", 3),  # 2.001
        ("字" * 1000, 667),
        ("字" * 8000, 5337),  # 5336 on paper
        ("é" * 4, 1),
        ("→✓", 2),  # 1.25: an arrow is no emoji, a tick is one
        ("\u200d\ufe0f", 0),
        ("👩\u200d💻", 2),
        ("\ud83d", 1),  # half a surrogate pair
        ("\u2600\u27bf", 2),
        ("\u25ff\u27c0", 1),
        ("\U0002fa1f\U0002fa20", 1),
    ],
)
def test_known_texts(text, tokens):
    assert estimate_tokens(text) == tokens


MIXED = st.text(st.sampled_from("aé字か한→✓\u200d\ufe0f😀\ud83d \n"), max_size=300)


@given(st.one_of(st.text(max_size=200), MIXED))
def test_equals_the_sum_character_by_character(text):
    assert estimate_tokens(text) == estimate_by_hand(text)


@given(st.integers(0, 36), MIXED, st.integers(0, 4), st.sampled_from(["before", "after"]))
@example(5, "", 1, "before")
@example(32, "", 0, "after")
def test_equals_it_where_the_sum_lies_within_rounding_of_an_integer(blocks, text, letters, place):
    text += "a" * letters
    ideographs = "字" * (250 * blocks)
    text = text + ideographs if place == "before" else ideographs + text
    assert estimate_tokens(text) == estimate_by_hand(text)


@pytest.mark.parametrize("count", [*range(0, 20_001, 250), 2_000_003])
def test_equals_it_for_long_runs_of_ideographs(count):
    total = 0.0
    for _ in range(count):
        total += 0.667
    assert estimate_tokens("字" * count) == ceil(total)


def test_every_code_point_has_the_weight_of_its_class():
    edges = {edge + step for ranges in (CJK, EMOJI) for pair in ranges for edge in pair for step in (-1, 0, 1)}
    edges |= {0x200C, 0x200D, 0x200E, 0xFDFF, 0xFE00, 0xFE0F, 0xFE10, 0x7F, 0x80, 0x10FFFF}
    for code in sorted(edges):
        for copies in (3, 300):  # on either side of the switch to numpy
            assert estimate_tokens(chr(code) * copies) == estimate_by_hand(chr(code) * copies), hex(code)
