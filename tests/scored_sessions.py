"""Sessions whose scorecards are known: one of each thing that a metric counts, and formats that cannot show some.

| session | what is in it |
| --- | --- |
| BUSY | Claude Code: re-reads, a command that fails twice, tests, a refused edit, a skill twice, a sub-agent, a stop |
| CUT | Claude Code: one call without a result, as the file of a session that died |
| OWN | our own log: artifacts, searches, recalls, a skill, reads of relative and absolute paths |
| AIDER | Aider: an edit; it records neither reads nor failures |
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transcripts import (
    CWD,
    OTHER,
    SESSION,
    Line,
    call,
    jsonl,
    logged,
    prompt,
    response,
    result,
    sidechain,
    text,
    tokens,
)

BUSY, CUT = SESSION, OTHER
OWN = "01KJQ00000000000000000000A"
AIDER = "aider-20260302-100000"

REFUSED = "The user doesn't want to proceed with this tool use."
LARGE = "a line of a large output, which is long enough\n" * 60
FILE = f"{CWD}/a.py"


def write_sessions(folder: Path) -> None:
    """Write the four files."""
    contents = {
        folder / f"projects/-srv-work-demo/{BUSY}.jsonl": jsonl(*_busy()),
        folder / f"projects/-srv-work-demo/{BUSY}/subagents/agent-a1.jsonl": jsonl(*map(sidechain, _subagent())),
        folder / f"projects/-srv-work-demo/{CUT}.jsonl": jsonl(*_cut()),
        folder / f"sessions/{OWN}/events.jsonl": jsonl(*own_log()),
        folder / "aider/.aider.chat.history.md": _aider(),
    }
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _busy() -> list[Line]:
    calls = [
        (call("t1", "Read", file_path=FILE), result("t1", "one")),
        (call("t2", "Read", file_path="a.py"), result("t2", "one again")),
        (call("t3", "Read", file_path=f"{CWD}/gone.py"), result("t3", "no such file", is_error=True)),
        (call("t4", "Read", file_path=f"{CWD}/gone.py"), result("t4", "two")),
        (call("t5", command="pytest -q"), result("t5", "1 failed", is_error=True)),
        (call("t6", command="pytest -q"), result("t6", "1 failed", is_error=True)),
        (call("t7", "Edit", file_path=FILE, old_string="1", new_string="2"), result("t7", "edited")),
        (
            call("t8", "Write", file_path=f"{CWD}/b.py", content="x"),
            result("t8", REFUSED, is_error=True),
        ),
        (call("t9", command="pytest -q"), result("t9", LARGE)),
        (call("t10", "Skill", skill="review"), result("t10", "Launching skill: review")),
        (call("t11", "Skill", skill="review"), result("t11", "Launching skill: review")),
        (call("t12", "Task", prompt="Look."), result("t12", "Looked.")),
    ]
    lines = [prompt("u0", "Fix the failing test.")]
    for place, (made, came) in enumerate(calls):
        at = 2 * place + 1
        lines.append(response(f"r{place}", f"msg_{place}", made, usage=tokens(10, 2, read=100), seconds=at))
        lines.append(prompt(f"c{place}", [came], seconds=at + 1))
    return [
        *lines,
        response("r90", "msg_90", text("Fixed."), usage=tokens(30, 2), seconds=30),
        prompt("u1", "Now add a test.", seconds=100),
        response("r91", "msg_91", text("I begin"), usage=tokens(5, 2), seconds=110),
        prompt("u2", [text("[Request interrupted by user]")], seconds=111),
    ]


def _subagent() -> list[Line]:
    return [
        prompt("s0", "Look.", seconds=24),
        response("s1", "msg_s1", call("ts1", "Read", file_path=FILE), usage=tokens(7, 1), seconds=25),
        prompt("s2", [result("ts1", "one")], seconds=26),
        response("s3", "msg_s2", text("Looked."), usage=tokens(3, 1), seconds=27),
    ]


def _cut() -> list[Line]:
    return [
        prompt("x0", "Run it.", session=CUT, seconds=200),
        response("x1", "msg_x1", call("tx1", command="make"), session=CUT, seconds=201),
    ]


def own_log(session: str = OWN) -> list[Line]:
    """The lines of our own log, under a session's id."""
    told: list[tuple[str, dict[str, Any]]] = [
        ("system_note", {"type": "environment", "agent": "workbench", "cwd": CWD, "agent_version": "1.0"}),
        ("user_message", {"text": "Review how lines are read."}),
        *_ran("c1", "read_file", {"path": "a.py"}, "one"),
        *_ran("c2", "read_file", {"path": FILE}, "one"),
        *_ran("c3", "shell", {"command": "git diff"}, LARGE),
        *_ran("c4", "retrieve_artifact", {"id": "art_1"}, LARGE),
        *_ran("c5", "search_turn_events", {"query": "x"}, "none"),
        *_ran("c6", "recall", {"query": "x"}, "nothing"),
        *_ran("c7", "load_skill", {"skill_id": "review"}, "How to review, in some words."),
        ("agent_message", {"text": "Reviewed.", "message_id": "m8"}),
    ]
    return [
        logged(place, kind, session=session, seconds=300 + place, payload=payload)
        for place, (kind, payload) in enumerate(told, 1)
    ]


def _ran(call_id: str, tool: str, args: dict[str, Any], came: str) -> list[tuple[str, dict[str, Any]]]:
    about = {"tool_call_id": call_id, "tool": tool}
    return [
        ("tool_call", {**about, "args": args, "message_id": f"m{call_id}"}),
        ("tool_result", {**about, "result": came, "is_error": False}),
    ]


def _aider() -> bytes:
    edit = "a.py\n```\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n```\n"
    start = "\n# aider chat started at 2026-03-02 10:00:00\n\n\n#### Change it.  \n\n"
    return f"{start}{edit}\n> Applied edit to a.py  \n".encode()
