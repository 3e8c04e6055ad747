"""Telling formats apart by the beginning of a file."""

from __future__ import annotations

import pytest
from transcripts import jsonl, logged, prompt

from workbench.ingest.formats import FORMATS, HEAD_BYTES, recognise


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (jsonl(prompt("u1", "Hi")), "s.jsonl", "claude-code"),
        (jsonl(logged(1)), "events.jsonl", "workbench"),
        (jsonl(b"torn", logged(2)), "events.jsonl", "workbench"),
        (jsonl(b"\0" * 64, logged(2)), "events.jsonl", "workbench"),
        (b"\xef\xbb\xbf" + jsonl(logged(1)), "events.jsonl", "workbench"),
        (jsonl(b"torn", prompt("u1", "Hi")), "s.jsonl", "claude-code"),
        (b"# a heading\n", "README.md", None),
        (b'{"type":"session","version":3}\n', "pi.jsonl", None),
        (b'{"messages":[]}', "gemini.json", None),
        (b"", "empty.jsonl", None),
        (b"\xfd7zXZ\0", "many.tar.xz", None),
        (b"[" * 60_000, "deep.jsonl", None),
        (b'{"a":' * 20_000 + b"\n", "deep.jsonl", None),
        (jsonl({"event_id": "e", "session_id": "s", "kind": "user_message", "payload": []}), "x.jsonl", None),
        (jsonl({"event_id": "e", "session_id": "s", "kind": "hologram", "payload": {}}), "x.jsonl", None),
    ],
)
def test_the_format_of_a_file(data, name, expected):
    found = recognise(data[: HEAD_BYTES[0]], name)
    assert (found.NAME if found else None) == expected


def test_every_format_bears_the_name_under_which_it_is_found():
    assert [known.NAME for known in FORMATS.values()] == list(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"\0" * 99, b"\xff\xfe{\0}\0", bytes(range(256)), b"[" * 9999, b'{"a":' * 9999, b"null\n", b"1\n"],
)
def test_every_format_looks_at_any_file_and_reads_it_without_raising(name, data):
    known = FORMATS[name]
    assert name == known.NAME
    assert not known.sniff(data, "x.jsonl")
    known.read(data, "x.jsonl")
