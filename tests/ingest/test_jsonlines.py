"""JSON lines of foreign files: what ends a record, and what is still read of a damaged one."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.ingest.jsonlines import decode_tolerant, is_blank, lines


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a\n", [(1, b"a", True)]),
        (b"a\nb", [(1, b"a", True), (2, b"b", False)]),
        (b"a\n\nb\n", [(1, b"a", True), (2, b"", True), (3, b"b", True)]),
        (b"a\r\nb\r\n", [(1, b"a\r", True), (2, b"b\r", True)]),
        (b"a\rb\n", [(1, b"a\rb", True)]),
        ("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n".encode(), [(1, "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg".encode(), True)]),
        (b"\xef\xbb\xbfa\nb\n", [(1, b"a", True), (2, b"b", True)]),
        (b"a\n\0\0\0\0", [(1, b"a", True), (2, b"", False)]),
        (b"a\n\0\0\0b\n", [(1, b"a", True), (2, b"b", True)]),
        (b"a\0\0\nb\n", [(1, b"a", True), (2, b"b", True)]),
        (b"\xef\xbb\xbf", []),
    ],
)
def test_a_line_ends_at_lf_and_nowhere_else(data, expected):
    assert list(lines(data)) == expected


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line and b"\0" not in line)))
def test_lines_that_were_joined_come_apart_again(parts):
    data = b"".join(part + b"\n" for part in parts)
    if not data.startswith(b"\xef\xbb\xbf"):
        assert list(lines(data)) == [(number, part, True) for number, part in enumerate(parts, start=1)]


@pytest.mark.parametrize(
    ("line", "blank"), [(b"", True), (b" \t\r", True), (b"{}", False), (b"\x00", False), (b" x", False)]
)
def test_blank_lines(line, blank):
    assert is_blank(line) is blank


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'"half \\ud83d of a pair"', "half \N{REPLACEMENT CHARACTER} of a pair"),
        (b'"\\ude00\\ud83d"', "\N{REPLACEMENT CHARACTER}" * 2),
        (b'"a whole pair \\ud83d\\ude00"', "a whole pair \N{GRINNING FACE}"),
        (b'{"\\ud83d":["\\udc00"]}', {"\N{REPLACEMENT CHARACTER}": ["\N{REPLACEMENT CHARACTER}"]}),
        (b'"not \xff UTF-8"', "not \N{REPLACEMENT CHARACTER} UTF-8"),
        ('"cut in a character \u4e16'.encode()[:-1] + b'"', "cut in a character \N{REPLACEMENT CHARACTER}"),
        (b'"latin \xe9"', "latin \N{REPLACEMENT CHARACTER}"),
        (b"[NaN,Infinity,-Infinity]", [None, None, None]),
        (b"[1e400,-1e400,1e-400,2.5]", [None, None, 0.0, 2.5]),
        (b"[" + b"9" * 30 + b"]", [int("9" * 30)]),
        (b'"a control \x01 character"', "a control \x01 character"),
        (b'{"a":1}\r', {"a": 1}),
    ],
    ids=str,
)
def test_what_a_strict_decoder_refuses_is_still_read(line, value):
    assert decode_tolerant(line) == value


def test_a_number_with_more_digits_than_python_converts_costs_only_itself():
    assert decode_tolerant(b'{"a":' + b"9" * 5000 + b',"b":"text"}')["b"] == "text"


@pytest.mark.parametrize(
    "line", [b"{", b"", b'{"a":}', b"junk", b"\x89PNG\r", b'"open', b"{}{}", '{"a":1}'.encode("utf-16")], ids=str
)
def test_what_is_no_json_is_refused(line):
    with pytest.raises(ValueError):
        decode_tolerant(line)


@pytest.mark.parametrize("depth", [400, 600, 900, 1500, 3000, 100_000])
@pytest.mark.parametrize("inner", [b"", b"NaN", b'"\\ud83d"'], ids=["empty", "nan", "surrogate"])
def test_deep_nesting_is_read_or_refused_and_never_crashes(depth, inner):
    line = b"[" * depth + inner + b"]" * depth
    try:
        value = decode_tolerant(line)
    except RecursionError:
        pytest.fail("neither a value nor a ValueError", pytrace=False)
    except ValueError:
        return
    for _ in range(depth - 1):
        (value,) = value
    assert isinstance(value, list)


def test_a_line_of_twenty_megabytes_is_read_at_once():
    line = json.dumps({"text": "x" * 20_000_000, "odd": float("nan")}).encode()
    started = time.perf_counter()
    assert len(decode_tolerant(line)["text"]) == 20_000_000
    assert time.perf_counter() - started < 10


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(JSON_VALUES)
def test_sound_json_is_read_as_it_is(value):
    assert decode_tolerant(json.dumps(value, ensure_ascii=False).encode()) == value
    assert decode_tolerant(json.dumps(value).encode()) == value
