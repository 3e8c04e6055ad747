from __future__ import annotations

import pytest

from workbench.context.terminal import plain_text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x07", "link"),
        ("a\r\nb\r\r\n", "a\nb\n"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("10%\rtest_a FAILED\r100%\n", "test_a FAILED\n100%\n"),
        ("50%\r", "50%"),
        ("a\x1b[0m\r\x1b[0m\nb", "a\nb"),
        ("cut off \x1b[", "cut off "),
    ],
)
def test_a_text_is_as_a_terminal_shows_it(written, shown):
    assert plain_text(written) == shown
