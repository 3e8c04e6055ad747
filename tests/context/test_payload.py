from __future__ import annotations

import json

import pytest

from workbench.context.payload import payload_text

ENVELOPE = {"ok": False, "stdout": "2 failed\n", "stderr": "warning", "exitCode": 1}


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        (ENVELOPE, "2 failed\nwarning\nexit code 1"),
        (json.dumps(ENVELOPE), "2 failed\nwarning\nexit code 1"),
        ({"ok": True, "stdout": "a\nb\n", "exitCode": 0}, "a\nb\n"),
        ({"ok": True, "rows": [1]}, '{"ok":true,"rows":[1]}'),  # data, no envelope
        ({"ok": True, "stdout": "x", "rows": []}, '{"ok":true,"stdout":"x","rows":[]}'),
        ('{"ok": true, "stdout": "cut o', '{"ok": true, "stdout": "cut o'),
        ([1, "a"], '[1,"a"]'),
    ],
)
def test_of_an_envelope_the_texts_are_taken(result, text):
    assert payload_text(result) == text
