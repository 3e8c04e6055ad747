"""Made-up Claude Code sessions of any number and size, the same ones for the same arguments.

Every exchange is four lines: a prompt, a response that calls a tool, the result, a closing response. Every fourth
session has a sub-agent's file beside it, with one exchange for each of its own.
"""

import json
import random
from datetime import UTC, datetime, timedelta
from uuid import UUID

START = datetime(2026, 3, 2, 8, tzinfo=UTC)
MODEL = "claude-sonnet-4-5-20250929"
WORDS = (  # noqa: SIM905  (three lines rather than forty)
    "the parser reads a line and asks whether it ends where the last one ended "
    "then tests fail in src/app.py because value error was raised at import time "
    "run pytest -q again fix branch merge commit token budget window table row schema"
).split()


def session_id(number):
    return str(UUID(int=random.Random(number).getrandbits(128), version=4))


def session_path(folder, number):
    return folder / "projects" / f"-home-dev-project{number % 3}" / f"{session_id(number)}.jsonl"


def subagent_path(folder, number):
    return session_path(folder, number).with_suffix("") / "subagents" / f"agent-{number:06x}.jsonl"


def has_subagent(number):
    return number % 4 == 3


def lines(number, first, last, *, size=200, agent=None):
    """The lines of the exchanges from `first` up to and without `last`.

    Each is padded to `size` bytes where it has less; a pair of sizes is a range, in which all sizes are alike often.
    """
    low, high = size if isinstance(size, tuple) else (size, size)
    session = session_id(number)
    for exchange in range(first, last):
        chance = random.Random(f"{number} {exchange} {agent}")
        parent = None
        for step, record in enumerate(_exchange(number, exchange, chance, agent)):
            uuid = str(UUID(int=chance.getrandbits(128), version=4))
            at = START + timedelta(hours=number, minutes=exchange, seconds=step)
            record |= {
                "uuid": uuid,
                "parentUuid": parent,
                "sessionId": session,
                "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "cwd": f"/home/dev/project{number % 3}",
                "gitBranch": "main",
                "version": "2.1.9",
                "userType": "external",
                "isSidechain": agent is not None,
            }
            if agent is not None:
                record["agentId"] = agent
            parent = uuid
            yield _padded(record, chance.randint(low, high), chance)


def _exchange(number, exchange, chance, agent):
    call, message = f"toolu_{chance.getrandbits(64):016x}", f"msg_{chance.getrandbits(64):016x}"
    usage = {"input_tokens": 4, "output_tokens": 90 + exchange, "cache_read_input_tokens": 1000 * exchange}
    command = {"command": f"pytest -q tests/test_{exchange}.py", "description": "run the tests"}
    yield _user([{"type": "text", "text": f"exchange {exchange} of session {number}: please go on"}])
    yield _assistant(message, [{"type": "tool_use", "id": call, "name": "Bash", "input": command}], usage)
    failed = exchange % 5 == 4
    yield _user([{"type": "tool_result", "tool_use_id": call, "content": f"{exchange} passed", "is_error": failed}])
    yield _assistant(f"{message}b", [{"type": "text", "text": f"done with {exchange} ({agent or 'main'})"}], usage)


def _user(content):
    return {"type": "user", "message": {"role": "user", "content": content}}


def _assistant(message_id, content, usage):
    message = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "usage": usage,
    }
    return {"type": "assistant", "requestId": f"req_{message_id[4:]}", "message": message}


def _padded(record, size, chance):
    """The record as a line; its text is made longer, with words, until the line has about `size` bytes."""
    block = record["message"]["content"][0]
    where = "command" if block["type"] == "tool_use" else "content" if block["type"] == "tool_result" else "text"
    holder = block["input"] if block["type"] == "tool_use" else block
    lacking = size - len(json.dumps(record, separators=(",", ":"))) - 1
    if lacking > 0:
        more = " ".join(chance.choices(WORDS, k=lacking // 4 + 1))
        holder[where] += " " + more[: max(lacking - 1, 0)]
    return json.dumps(record, separators=(",", ":")) + "\n"


def write_session(folder, number, exchanges, *, size=200):
    """Write one session, and its sub-agent's file where it has one; returns the paths."""
    paths = {session_path(folder, number): None}
    if has_subagent(number):
        paths[subagent_path(folder, number)] = f"{number:06x}"
    for path, agent in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines(number, 0, exchanges, size=size, agent=agent)))
    return list(paths)


def write_sessions(folder, count, exchanges, *, size=200):
    """Write sessions 0 to `count`, of up to `exchanges` exchanges each; returns the paths."""
    return [
        path
        for number in range(count)
        for path in write_session(folder, number, 1 + number % exchanges if exchanges > 1 else 1, size=size)
    ]


def grow_session(folder, number, first, last, *, size=200):
    """Append exchanges to a session's main file, as an agent does: line by line at its end."""
    with session_path(folder, number).open("a") as file:
        for line in lines(number, first, last, size=size):
            file.write(line)
            file.flush()
