"""Objects read by name and type; lines that are none."""

from __future__ import annotations

import pytest
from transcripts import jsonl, moment

from workbench.ingest.objects import DEEPEST, Fields, ObjectLines, UnknownTypes, as_text, decode, first_objects, picture
from workbench.ingest.times import MISSING, UNREADABLE, Moment

VALUE = {
    "text": "words",
    "empty": "",
    "number": 7,
    "whole": 7.0,
    "huge": 2**48,
    "below": -1,
    "yes": True,
    "inner": {"list": [1, {"text": 2}, {"text": "in"}]},
    "nothing": None,
    "at": "2026-03-02T09:00:05Z",
    "ms": 1772442005000,
    "far": 1e300,
}


@pytest.mark.parametrize(
    ("ask", "name", "expected", "odd"),
    [
        (Fields.text, "text", "words", []),
        (Fields.text, "empty", None, []),
        (Fields.text, "absent", None, []),
        (Fields.text, "nothing", None, []),
        (Fields.text, "number", None, ["number"]),
        (Fields.whole, "number", 7, []),
        (Fields.whole, "whole", 7, []),
        (Fields.whole, "huge", None, ["huge"]),
        (Fields.whole, "yes", None, ["yes"]),
        (Fields.whole, "below", -1, []),
        (Fields.count, "below", None, ["below"]),
        (Fields.count, "number", 7, []),
        (Fields.count, "absent", None, []),
        (Fields.arguments, "text", "words", []),
        (Fields.arguments, "nothing", {}, []),
        (Fields.flag, "yes", True, []),
        (Fields.flag, "number", None, ["number"]),
        (Fields.items, "text", [], ["text"]),
        (Fields.moment, "at", Moment(moment(5), "recorded"), []),
        (Fields.moment, "number", UNREADABLE, ["number"]),
        (Fields.moment, "absent", MISSING, []),
        (Fields.epoch, "ms", Moment(moment(5), "recorded"), []),
        (Fields.epoch, "far", UNREADABLE, []),
        (Fields.epoch, "yes", UNREADABLE, ["yes"]),
        (Fields.epoch, "absent", MISSING, []),
    ],
)
def test_a_field_of_another_type_is_absent_and_noted(ask, name, expected, odd):
    noted: list[str] = []
    assert ask(Fields(VALUE, noted), name) == expected
    assert noted == odd


def test_odd_fields_are_named_by_where_they_lie():
    noted: list[str] = []
    inner = Fields(VALUE, noted).inner("inner")
    assert [each.text("text") for each in inner.objects("list")] == [None, "in"]
    assert Fields(VALUE, noted).inner("text").value == {}
    assert noted == ["inner.list", "inner.list.text", "text"]


def test_every_line_is_an_object_or_an_issue():
    lines = ObjectLines(jsonl({"a": 1}, b"", b"[1]", b"{", {"b": 2}) + b'{"c"')
    found = [(line.number, line.raw, line.fields.text("a")) for line in lines]
    assert found == [(1, b'{"a": 1}', None), (5, b'{"b": 2}', None)]
    assert [(each.line, each.issue) for each in lines.issues] == [
        (1, "odd_field"),
        (3, "not_an_object"),
        (4, "bad_json"),
        (6, "unfinished_line"),
    ]
    assert lines.lines == 6


def test_what_is_nested_too_deeply_is_no_record():
    assert decode(b"[" * DEEPEST + b"]" * DEEPEST)
    assert decode(b'{"a":"' + b"[" * 1000 + b'"}')
    for levels in (DEEPEST + 1, 100_000):
        with pytest.raises(ValueError, match="deeply"):
            decode(b"[" * levels + b"]" * levels)


def test_unknown_types_are_one_issue_each():
    unknown = UnknownTypes()
    for kind, line in (("x", 3), ("y", 4), ("x", 9)):
        unknown.add(kind, line)
    assert [(each.line, each.issue, each.count) for each in unknown.issues()] == [
        (3, "unknown_record", 2),
        (4, "unknown_record", 1),
    ]


def test_a_line_that_is_cut_off_tells_no_format():
    assert list(first_objects(jsonl(b"torn", [1], {"a": 1}) + b'{"b":')) == [{"a": 1}]
    assert list(first_objects(jsonl({"a": 1}, {"b": 2}), 1)) == [{"a": 1}]


def test_values_and_pictures_as_text():
    assert [as_text("a"), as_text(None), as_text({"a": 1})] == ["a", "", '{"a":1}']
    assert [picture("image/png", 2000), picture(None, 0)] == [
        "[image/png, 2,000 characters of base64]",
        "[picture, 0 characters of base64]",
    ]
