"""Lines of Markdown logs: which are quoted for certain, and which fences belong together."""

from __future__ import annotations

import pytest

from workbench.ingest.markdown import find_fences, quotations, text_lines

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


def test_fences_that_never_close_cost_no_search_each():
    lines = [f"```{number}" for number in range(50_000)] + ["~" * length for length in range(500, 3, -1)]
    assert quotations(find_fences(lines, range(len(lines))), range(0, len(lines), 7)) == []


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\n\r\n", ["a", ""]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        (b"a\x0bb\xe2\x80\xa8c\n", ["a\x0bb\u2028c"]),
        (b"\xff\n", ["\N{REPLACEMENT CHARACTER}"]),
    ],
)
def test_lines_end_at_a_line_feed_and_nowhere_else(data, lines):
    assert text_lines(data) == lines
