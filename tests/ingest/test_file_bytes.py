"""Bytes of foreign files before anything looks at them."""

from __future__ import annotations

import json

import pytest
from credentials import fill

from workbench.ingest.file_bytes import as_utf8, without_half_word
from workbench.text.redaction import RULES, redact


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_mark_becomes_utf_8(encoding):
    assert as_utf8("\ufeff{'é字😀'}\r\n".encode(encoding)) == "{'é字😀'}\r\n".encode()


def test_the_first_bytes_of_utf_16_are_read_as_far_as_they_go():
    data = "\ufeffab😀".encode("utf-16-le")
    texts = [as_utf8(data[:end]).decode() for end in range(2, len(data) + 1)]
    assert texts == ["", "\ufffd", "a", "a\ufffd", "ab", "ab\ufffd", "ab\ufffd", "ab\ufffd", "ab😀"]


@pytest.mark.parametrize("data", [b"", b"{}", b"\xef\xbb\xbf{}", b"\xff", b"\x00\xff\xfe", "ß".encode("latin-1")])
def test_other_bytes_stay(data):
    assert as_utf8(data) is data


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (b'{"a": 1}\n{"text": "see ghp_abcdef', b'{"a": 1}\n{"text": "see '),
        (b'{"text": "key\\nghp_abcdef', b'{"text": "key\\'),
        (b'{"text":"abc', b'{"text":"'),
        (b'{"text":"abc\\', b'{"text":"'),
        (b'{"n":1,"tok', b'{"n":1,"'),
        (b'{"a": 1}\nabcdef', b'{"a": 1}\n'),
        (b"abcdef", b""),
        (b'{"text": "see abc\x00\x00', b'{"text": "see '),
    ],
)
def test_the_last_word_of_a_record_that_is_being_written_goes(data, kept):
    assert without_half_word(data) == kept


@pytest.mark.parametrize(
    "data", [b"", b'{"a": 1}\n', b'{"a": 1}', b'{"a": 1}\n{"b": "c"}', b'{"a": 1}\n\x00\x00', b'{"a": 1}\n  ', b"x y\n"]
)
def test_what_is_whole_stays(data):
    assert without_half_word(data) is data


@pytest.mark.parametrize("form", [form for rule in RULES for form in rule.taken])
def test_wherever_a_line_breaks_off_nothing_of_a_credential_is_left(form):
    made, secrets = fill(form)
    whole = json.dumps({"text": f"see {made}", "n": 1}).encode() + b"\n"
    starts = [secret[:10].encode() for secret in secrets]
    for end in range(len(whole)):
        clean = redact(without_half_word(whole[:end]))
        assert [start for start in starts if start in clean] == [], whole[:end]
