from __future__ import annotations

import pytest

from workbench.config.context import Distiller
from workbench.context.distillers.log import distil_log, mask


@pytest.mark.parametrize(
    ("line", "template"),
    [
        ("2026-03-02T10:00:00.123Z INFO took 31 ms", "<time> INFO took <n> ms"),
        ("2026-03-02 10:00:00 up", "<time> up"),
        ("user 550e8400-e29b-41d4-a716-446655440000 left", "user <id> left"),
        ("read /srv/app/a.json in 1,024 bytes", "read <path> in <n> bytes"),
        ("at 0xdeadbeef, commit 1a2b3c4d5e", "at <hex>, commit <hex>"),
        (r"open C:\data\a.txt", "open <path>"),
        ("/srv/app/a.json", "/srv/app/a.json"),  # a list of paths is no log
        ("decade facade", "decade facade"),
    ],
)
def test_what_differs_between_lines_of_a_kind_is_masked(line, template):
    assert mask(line) == template


def test_errors_are_shown_however_rare_they_are():
    lines = [f"step {word} done" for word in (f"{a}{b}" for a in "abcdefgh" for b in "stuvwxyz") for _ in range(9)]
    text = "\n".join([*lines[:100], "ERROR disk is full", *lines[100:]])
    shown = distil_log(text, "full", Distiller())
    assert "ERROR disk is full" in shown
    assert shown.startswith("Log: 577 lines, 65 unique patterns\n")
