"""Lines of Claude Code's files and of our own logs, and events, so that a test says only what matters to it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from workbench.events import Event

Line = dict[str, Any]

SESSION = "00000000-0000-4000-8000-000000000001"
OTHER = "00000000-0000-4000-8000-000000000002"
CWD = "/srv/work/demo"
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
MODEL = "claude-sonnet-4-5-20250929"


def moment(seconds: float) -> datetime:
    """A time of these sessions, so many seconds after they began."""
    return START + timedelta(seconds=seconds)


def stamp(seconds: float) -> str:
    """The same as agents write it."""
    return moment(seconds).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line(
    kind: str, uuid: str | None = None, *, seconds: float | None = 0, session: str = SESSION, **fields: Any
) -> Line:
    """A record of any type; a field given as `...` is absent."""
    base = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": CWD,
        "sessionId": session,
        "version": "2.1.40",
        "gitBranch": "main",
        "type": kind,
        "uuid": uuid,
        "timestamp": None if seconds is None else stamp(seconds),
    }
    return {name: value for name, value in (base | fields).items() if value is not ...}


def prompt(uuid: str, content: Any, **fields: Any) -> Line:
    """What comes in the role `user`: a text or a list of blocks."""
    return line("user", uuid, **({"message": {"role": "user", "content": content}} | fields))


def response(uuid: str, message_id: str | None, *blocks: Line, usage: Line | None = None, **fields: Any) -> Line:
    """One line of a response; `requestId` follows from the message id unless given."""
    message = {"id": message_id, "type": "message", "role": "assistant", "model": MODEL, "content": list(blocks)}
    if usage is not None:
        message["usage"] = usage
    request = None if message_id is None else message_id.replace("msg", "req")
    return line("assistant", uuid, **({"message": message, "requestId": request} | fields))


def text(words: str) -> Line:
    """A block of words."""
    return {"type": "text", "text": words}


def thinking(words: str) -> Line:
    """A block of thoughts."""
    return {"type": "thinking", "thinking": words, "signature": "signature-removed"}


def call(call_id: str, name: str = "Bash", **arguments: Any) -> Line:
    """A tool call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any = "ok", **fields: Any) -> Line:
    """A tool's result."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def picture(data: str = "aGVsbG8=") -> Line:
    """A picture."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def tokens(output: int, input: int = 3, read: int = 0, written: int = 0) -> Line:  # noqa: A002
    """The usage of a response."""
    return {
        "input_tokens": input,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }


def nested(uuid: str, inner: Line, agent_id: str = "a1", **fields: Any) -> Line:
    """A sub-agent's message inside a progress record, its own envelope cut down as the agent does it."""
    names = ("type", "uuid", "timestamp", "message", "requestId")
    kept = {name: inner[name] for name in names if name in inner}
    data = {"type": "agent_progress", "agentId": agent_id, "prompt": "", "message": kept}
    return line("progress", uuid, **({"data": data, "toolUseID": f"agent_{uuid}"} | fields))


def sidechain(record: Line, agent_id: str = "a1") -> Line:
    """The same record as a sub-agent's own file has it."""
    return record | {"isSidechain": True, "agentId": agent_id}


def jsonl(*lines: Line | bytes) -> bytes:
    """The bytes of a file."""
    encoded = (each if isinstance(each, bytes) else json.dumps(each, ensure_ascii=False).encode() for each in lines)
    return b"".join(each + b"\n" for each in encoded)


def small_session(session: str = SESSION, name: str = "a") -> list[Line]:
    """A prompt, a response with a call, its result, and the last word: four records."""
    ids = [f"{name}{number}" for number in range(1, 5)]
    run = call(f"toolu_{name}", command="make")
    answer = [result(f"toolu_{name}", "built")]
    return [
        prompt(ids[0], f"Build {name}.", session=session),
        response(ids[1], f"msg_{name}1", run, usage=tokens(20), session=session, seconds=2, parentUuid=ids[0]),
        prompt(ids[2], answer, session=session, seconds=3, parentUuid=ids[1]),
        response(ids[3], f"msg_{name}2", text("Done."), usage=tokens(8), session=session, seconds=5, parentUuid=ids[2]),
    ]


def logged(seq: int, kind: str = "user_message", *, session: str = SESSION, seconds: float = 0, **fields: Any) -> Line:
    """An event as our own log has it."""
    base = {
        "event_id": f"01KJQ0000000000000000{seq:05}",
        "session_id": session,
        "seq": seq,
        "occurred_at": stamp(seconds),
        "kind": kind,
        "actor": "user" if kind == "user_message" else "agent",
        "turn": 1,
        "parent_event_id": None,
        "payload": {"text": f"event {seq}"},
    }
    return {name: value for name, value in (base | fields).items() if value is not ...}


def happened(seq: int, kind: str, payload: Line, *, seconds: float | None = 0, **fields: Any) -> Event:
    """An event, as merging makes it; its id is `e` and its place."""
    actors = {"user_message": "user", "tool_result": "tool", "agent_message": "agent", "tool_call": "agent"}
    base = {
        "event_id": f"e{seq}",
        "session_id": SESSION,
        "seq": seq,
        "occurred_at": None if seconds is None else moment(seconds),
        "kind": kind,
        "actor": actors.get(kind, "kernel"),
        "turn": 1,
        "parent_event_id": None,
        "payload": payload,
        "source_id": "s1",
        "source_line": seq,
    }
    return Event(**(base | fields))
