"""Which lines are quoted for certain, and which fences belong together."""

from __future__ import annotations

import time

import pytest

from workbench.ingest.fences import find_fences, quotations

MARK = "#### mark"


def quoted(text):
    """The quoted lines, as text; every line that is `MARK` is a mark."""
    lines = text.split("\n")
    marks = [number for number, line in enumerate(lines) if line == MARK]
    found = quotations(find_fences(lines, range(len(lines))), marks)
    return ["|".join(lines[number] for number in block) for block in found]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("no fence", []),
        ("```\ncode\n```", ["```|code|```"]),
        ("```py\ncode\n```\n\ntext\n\n~~~\ncode\n~~~", ["```py|code|```", "~~~|code|~~~"]),
        ("   ```\ncode\n  ```  ", ["   ```|code|  ```  "]),
        ("    ```\nindented code\n    ```", []),
        ("`` two ``\n\n``` inline ``` code", []),
        ("````\n```\ncode\n```\n````", ["````|```|code|```|````"]),
        ("~~~\n```\n~~~", ["~~~|```|~~~"]),
        ("```\nnever closed", []),
        ("```py\ncode\n```py\ncode\n```", ["```py|code|```py|code|```"]),
    ],
)
def test_a_block_goes_from_a_fence_to_the_next_that_can_close_it(text, blocks):
    assert quoted(text) == blocks


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (f"```\n{MARK}\n```\n\nmore", [f"```|{MARK}|```"]),
        (f"```\n{MARK}\n\n{MARK}\n```", [f"```|{MARK}||{MARK}|```"]),
        (f"```\n{MARK}\n```\n\n```\n{MARK}\n```\n", [f"```|{MARK}|```", f"```|{MARK}|```"]),
        (f"````\n{MARK}\n```\ncode\n```\n````", [f"````|{MARK}|```|code|```|````"]),
    ],
)
def test_a_mark_in_a_block_that_closes_is_quoted(text, blocks):
    assert quoted(text) == blocks


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (f"```py\nbroken o\n\n{MARK}\n\n```py\ncode\n```", ["```py|code|```"]),
        (f"```\nbroken o\n\n{MARK}\n\n```\ncode\n```", ["```|code|```"]),
        (f"```\nbroken o\n\n{MARK}\n\n```\nbroken, too\n\n{MARK}\n\n```\ncode\n```", ["```|code|```"]),
        (f"```\nbroken o\n\n{MARK}\n\nno code", []),
        (f"```\nbroken o\n\n{MARK}\n\n~~~\ncode\n~~~", ["~~~|code|~~~"]),
    ],
)
def test_a_mark_behind_a_block_that_broke_off_is_real(text, blocks):
    assert quoted(text) == blocks


def test_hostile_fences_take_no_time_that_grows_with_their_square():
    lines = [f"```{number}" for number in range(50_000)]
    lines += ["~" * length for length in range(3, 500)]
    begin = time.perf_counter()
    fences = find_fences(lines, range(len(lines)))
    assert quotations(fences, range(0, len(lines), 7)) == []
    assert time.perf_counter() - begin < 5
