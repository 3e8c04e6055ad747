from __future__ import annotations

from datetime import UTC, datetime

from workbench.context.event_turns import records_of_events
from workbench.events import Event

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def log(*entries):
    return [
        Event(f"e{seq}", "s", seq, NOON, kind, "agent", 0, None, payload)
        for seq, (kind, payload) in enumerate(entries, start=1)
    ]


def test_results_belong_to_the_call_of_their_id_else_to_the_next_call_of_their_tool():
    (record,) = records_of_events(
        log(
            ("agent_message", {"text": "stray"}),
            ("user_message", {"text": "go"}),
            ("tool_call", {"tool": "shell", "args": {"command": "a"}, "tool_call_id": "1"}),
            ("tool_call", {"tool": "shell", "args": {"command": "b"}, "tool_call_id": "2"}),
            ("tool_result", {"tool_call_id": "2", "result": "of b"}),
            ("tool_result", {"tool_call_id": "1", "result": {"ok": False, "error": "of a"}}),
            ("tool_call", {"tool": "read_file", "args": {"path": "x.py"}}),
            ("tool_result", {"tool": "read_file", "result": "of x"}),
            ("agent_message", {"text": "part 1"}),
            ("agent_message", {"text": "part 2"}),
        )
    )
    assert [(call.result_text, call.is_error) for call in record.tool_calls] == [
        ('{"ok":false,"error":"of a"}', True),
        ("of b", False),
        ("of x", False),
    ]
    assert (record.assistant_message, record.files_read, record.errors) == ("part 1\npart 2", ("x.py",), ("of a",))
    assert (record.turn, record.occurred_at) == (1, NOON)
