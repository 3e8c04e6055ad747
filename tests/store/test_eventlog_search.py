"""Search in one session's events."""

import pytest

from workbench.events import Event
from workbench.store.eventlog_search import search_events


def event(seq: int, kind: str, payload: dict) -> Event:
    return Event(
        event_id=str(seq),
        session_id="s",
        seq=seq,
        occurred_at=None,
        kind=kind,
        actor="agent",
        turn=1,
        parent_event_id=None,
        payload=payload,
    )


EVENTS = [
    event(1, "user_message", {"text": "Check the Issue with churn"}),
    event(2, "tool_call", {"tool": "shell", "args": {"command": "pytest -q"}}),
    event(3, "tool_result", {"tool": "shell", "result": {"ok": True, "stdout": "3 passed, é"}}),
    event(4, "agent_message", {"thinking": "  The  churn\n\tis\u2003fixed  "}),
    event(5, "ui_transcript", {"entry": {"text": "hello"}, "other": "unseen"}),
    event(6, "unknown", {"record": {"type": "odd"}}),
    event(7, "tool_call", {"tool": "list_notes"}),
]


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        ("churn", {}, ["Check the Issue with churn", "The churn is fixed"]),
        ("FIXED churn", {}, ["The churn is fixed"]),
        ("issue | passed |", {}, ["Check the Issue with churn", 'shell {"ok":true,"stdout":"3 passed, é"}']),
        ("pytest", {"kinds": ["tool_result"]}, []),
        ("pytest", {"kinds": []}, []),
        ("unseen", {}, []),
        ("odd", {}, ['{"record":{"type":"odd"}}']),
        ("list", {}, ["list_notes {}"]),
        ("churn", {"limit": 1}, ["Check the Issue with churn"]),
        ("churn", {"limit": 0}, []),
        ("churn", {"limit": -1}, []),
        ("", {}, []),
        ("  \n", {}, []),
        ("|", {}, []),
        (" | | ", {}, []),
    ],
)
def test_search(query, options, expected):
    assert [hit.excerpt for hit in search_events(EVENTS, query, **options)] == expected


def test_a_long_text_is_cut_to_400_characters():
    hits = search_events([event(1, "user_message", {"text": n * "z"}) for n in (400, 401)], "z")
    assert [hit.excerpt for hit in hits] == ["z" * 400, "z" * 397 + "..."]
    assert [hit.event.seq for hit in hits] == [1, 1]
