"""Corrections that a person makes in passing, and messages that were pasted."""

import time

import pytest

from workbench.context.implied import implied_constraints


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Use not npm, pnpm.", ["Use pnpm, not npm"]),
        ("not npm , but actually pnpm", ["Use pnpm, not npm"]),
        ("it is not broken, just slow", []),
        (f"not {'a' * 300}, b", []),
    ],
)
def test_a_pair_of_names_is_a_correction(message, told):
    assert [each.text for each in implied_constraints(message)] == told


@pytest.mark.parametrize("piece", ["x", "not ", "not a ", "a ", "not\t\n"])
@pytest.mark.parametrize("before", ["", "not ", "not a"])
def test_a_long_message_takes_no_longer_than_reading_it(before, piece):
    started = time.process_time()
    implied_constraints(before + piece * 50_000)
    implied_constraints(before + " " * 50_000 + piece)
    assert time.process_time() - started < 2
