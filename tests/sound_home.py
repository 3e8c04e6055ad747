"""A real home with something of everything: what `verify` and `maintain` are tried on."""

import shutil
from pathlib import Path

from made_sessions import grow_session, session_id, write_sessions
from transcripts import jsonl, prompt, response, result, small_session, text

import workbench as wb
from workbench.store.eventlog import EventLog, session_folder
from workbench.store.home import Home
from workbench.store.lake import Lake

LIVE = "live-session"
BIG = "b0000000-0000-4000-8000-000000000001"
REWRITTEN = "b0000000-0000-4000-8000-000000000002"
SESSIONS = 5


def build(root: Path) -> Path:
    """A home in `root / "home"`, its transcripts in `root / "agent"`.

    Sessions with sub-agents, one that grew, one with a large result (an artifact and its blob) and a bad line, a source
    that was rewritten and has an older content, labels.
    """
    home, agent = root / "home", root / "agent"
    write_sessions(agent, SESSIONS, 3)
    (agent / "big.jsonl").write_bytes(jsonl(*_big(), b'{"broken'))
    (agent / "rewritten.jsonl").write_bytes(jsonl(*small_session(REWRITTEN, "r")))
    bench = wb.open(home)
    bench.ingest(agent)
    grow_session(agent, 0, 1, 3)
    (agent / "rewritten.jsonl").write_bytes(
        jsonl(*small_session(REWRITTEN, "r")[2:], prompt("r9", "And?", session=REWRITTEN))
    )
    bench.ingest(agent)
    bench.label(session_id(1), title="first")
    bench.label(session_id(1), title="second", tags=["kept"])
    return home


def _big():
    answer = result("toolu_big", "\n".join(f"line {number} of a long listing" for number in range(400)))
    lines = small_session(BIG, "big")
    lines[2] = prompt("big3", [answer], session=BIG, seconds=3, parentUuid="big2")
    return [*lines, response("big5", "msg_big5", text("Enough."), session=BIG, seconds=9)]


def append(home: Path, events: int, *, session: str = LIVE) -> Path:
    """Append prompts to an event log of our own; returns the log."""
    with EventLog(session_folder(home, session), session) as log:
        for number in range(events):
            log.append("user_message", "user", {"text": f"prompt {number}"}, turn=number + 1)
        return log.path


def copy(template: Path, root: Path) -> Path:
    """A copy of a home that a test may damage."""
    home = root / "home"
    shutil.copytree(template, home)
    home.chmod(0o700)
    return home


def newest_file(home: Path, table: str) -> Path:
    """The largest of the data files that a table has now."""
    files = map(Path, Lake(Home.open(home)).stores[table].snapshot().files)
    return max(files, key=lambda file: file.stat().st_size)
