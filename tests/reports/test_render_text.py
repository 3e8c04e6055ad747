"""What a transcript holds is shown, and does nothing."""

import time

import pytest

from workbench.reports.render.text import one_line, shorten, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, Überall 茶 👩‍👩‍👧", "plain text, Überall 茶 👩‍👩‍👧"),
        ("\x1b[1m\x1b[31mFAIL\x1b[0m test_a", "FAIL test_a"),
        ("\x1b]8;;https://example.com\x07link\x1b]8;;\x07 end", "link end"),
        ("\x1b]0;title\x1b\\\x1b]52;c;ZmFrZQ==\x07\x1b[2Jend", "end"),
        ("\x1bP1;2|secret\x1b\\end", "end"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x1b]0;a title without an end\nnext line", "0;a title without an end\nnext line"),
        ("\x1b", ""),
        (" 10%\r 50%\r100% done\nnext\r\n", "100% done\nnext\n"),
        ("kept\r", "kept"),
        ("a\x00b\x07c\bd\x7fe", "a␀b␇c␈d␡e"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("abc\u202edef\u2069\u200b\ufeff", "abc[U+202E]def[U+2069][U+200B][U+FEFF]"),
        ("\U000e0041\U000e0042", "[U+E0041][U+E0042]"),
        ("a\u200cb\u200dc", "a\u200cb\u200dc"),
        ("\x85\x9f", "[U+0085][U+009F]"),
        ("\ud800x\uffff", "\N{REPLACEMENT CHARACTER}x\N{REPLACEMENT CHARACTER}"),
        ("a\u2028b", "a\nb"),
    ],
)
def test_text_is_shown_and_its_codes_are_not(text, shown):
    assert visible(text) == shown


def test_what_was_made_visible_stays_as_it_is():
    text = "\x1b[31mFAIL\x00\u202e\ud800"
    assert visible(visible(text)) == visible(text)


@pytest.mark.parametrize("piece", ["\x1b]", "\x9d", "\x1bP", "\x90", "\x1b[", "\x9b", "\r", "\x1b"])
def test_a_megabyte_of_beginnings_takes_no_time(piece):
    started = time.process_time()
    visible(piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 2


def test_lines_become_one():
    assert one_line("  a\n\n\tb\x00 c ") == "a b␀ c"


def test_long_text_says_how_much_more_there_is():
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcdef… (1 more character)"
    assert shorten("x" * 1_000_006, 6) == "xxxxxx… (1,000,000 more characters)"
