"""A home with its backup, and ways to compare homes: shared by the tests of backup and restore."""

import hashlib
from datetime import UTC, datetime

from made_sessions import session_id, write_sessions

import workbench as wb
from workbench.store.eventlog import EventLog, session_folder
from workbench.store.home import Home
from workbench.store.lake import Lake

OWN = "01M8Q000000000000000000000"
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)

DYING = """
import os, signal, sys
import workbench as wb

total = int(sys.argv[3])

def progress(done, whole, name):
    if done >= whole * total // 100:
        os.kill(os.getpid(), signal.SIGKILL)

wb.restore(sys.argv[1], sys.argv[2], progress=progress)
"""


def make_place(root):
    """A home with imported sessions, labels and a session run here, its sources, and a backup."""
    write_sessions(root / "agent", 5, 4, size=3000)
    bench = wb.open(root / "home")
    bench.ingest(root / "agent")
    bench.label(session_id(0), title="one")
    bench.label(session_id(0), title="two")
    folder = session_folder(bench.home.root, OWN)
    with EventLog(folder, OWN) as log:
        log.append("user_message", "user", {"text": "hello"}, turn=1)
    (folder / "state.json").write_text("{}")
    bench.land_logs()
    (root / "home" / "config.toml").write_text("")
    vectors = root / "home" / "vectors" / "turns.lance"
    vectors.mkdir(parents=True)
    (vectors / "data.lance").write_bytes(b"vectors")
    bench.backup(root / "b.zip")
    return root


def hashes(home):
    """A hash of the sorted rows of every table, versions that no view shows included."""
    lake = Lake(Home.open(home, create=False))
    found = {}
    for name, store in lake.stores.items():
        rows = sorted(map(repr, store.snapshot().dataset().to_table().to_pylist()))
        found[name] = hashlib.sha256("\n".join(rows).encode()).hexdigest(), len(rows)
    return found


def files(root):
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }
