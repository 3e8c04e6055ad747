"""Imports of made-up sessions that are killed, and a look at what they left: shared by the test and the benchmark."""

import hashlib
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from made_sessions import grow_session, session_id, session_path, write_sessions

import workbench as wb
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.schema import LANDING_ID
from workbench.store.tables import DERIVED

SESSIONS, EXCHANGES = 24, 6

SMALL_LANDINGS = """
import sys
from workbench.ingest import importer
from workbench.surfaces.cli import main
importer.BATCH_BYTES, importer.LANDING_BYTES = 20_000, 40_000
sys.argv[0] = "workbench"
main()
"""
"""The command line, with landings of a few sessions each, so that kills meet the time between two landings too."""


def command(folder, home, *, small_landings):
    program = (
        [sys.executable, "-c", SMALL_LANDINGS] if small_landings else [Path(sys.executable).with_name("workbench")]
    )
    return [*map(str, program), "ingest", str(folder), "--home", str(home), "--json"]


def digests(home):
    """A hash over all rows of each session in all views, and what is wrong with those that are shown.

    When a content was first archived depends on the clock, so that column does not count.
    """
    rows, errors = defaultdict(list), []
    connection = Lake(Home.open(home, create=False)).connection()
    for table in DERIVED:
        columns = [name for name in table.schema.names if name not in (LANDING_ID, "imported_at")]
        found = connection.sql(f"select {', '.join(columns)} from {table.name} order by all").pl()
        for row in found.iter_rows(named=True):
            rows[row["session_id"]].append((table.name, *row.values()))
    for name, query in CHECKS.items():
        errors += [f"{name}: {row}" for row in connection.sql(query).pl().rows()]
    connection.close()
    return {session: hashlib.sha256(repr(told).encode()).hexdigest() for session, told in rows.items()}, errors


CHECKS = {
    "events are not those that the session tells": """
        select session_id, s.events, count(e.seq), max(e.seq) from sessions s left join events e using (session_id)
        group by all having count(e.seq) != s.events or max(e.seq) != s.events or count(distinct e.seq) != s.events""",
    "turns are not those that the session tells": """
        select session_id, s.turns, count(t.seq) from sessions s left join turns t using (session_id)
        group by all having count(t.seq) != s.turns""",
    "calls are not those that the session tells": """
        select session_id, s.tool_calls, count(c.seq) from sessions s left join tool_calls c using (session_id)
        group by all having count(c.seq) != s.tool_calls""",
    "a source is missing": """
        select session_id from sessions where session_id not in (select session_id from sources)""",
    "an artifact has no text": """
        select session_id, artifact_id from artifacts where artifact_id not in (select sha256 from blobs)""",
}


def clean_import(folder, home):
    """What an import that nobody disturbs gives."""
    wb.open(home).ingest(folder)
    found, errors = digests(home)
    assert errors == []
    return found


class Killer:
    """Imports a folder again and again, killing the process each time, and notes every error and loss.

    Args:
        root: A folder of its own.
        seed: Decides when to kill.
    """

    def __init__(self, root, *, seed=1):
        self.root = root
        self.folder, self.home = root / "transcripts", root / "home"
        self.chance = random.Random(seed)
        self.kills = self.runs = self.truths = 0
        self.errors, self.losses = [], []
        self.writing = dict.fromkeys((False, True), 0.5)  # seconds from the first byte written to the end, at least
        write_sessions(self.folder, SESSIONS, EXCHANGES)
        self.old, self.new = {}, self._truth()

    def _truth(self):
        self.truths += 1
        return clean_import(self.folder, self.root / f"truth{self.truths}")

    def begin_anew(self):
        """An empty home, the transcripts as they are."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.old = {}

    def grow(self):
        """Let a third of the sessions grow, and a new one appear in the midst."""
        self.old = self.new
        for number in range(0, SESSIONS, 3):
            lines = session_path(self.folder, number).read_text().count("\n")
            grow_session(self.folder, number, lines // 4, lines // 4 + 1 + self.chance.randrange(3))
        self.new = self._truth()

    def kill_once(self, *, small_landings):
        """Start an import, kill it at some moment, and look; returns whether it had ended before."""
        self.runs += 1
        with subprocess.Popen(
            command(self.folder, self.home, small_landings=small_landings),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            before = self._footprint()
            while self._footprint() == before and process.poll() is None:  # it is still reading
                time.sleep(0.005)
            begun = time.perf_counter()
            try:
                process.wait(self.chance.random() * self.writing[small_landings])
            except subprocess.TimeoutExpired:
                ended = False
            else:
                ended, self.writing[small_landings] = True, time.perf_counter() - begun
            process.send_signal(signal.SIGKILL)
            self._note(process.communicate()[1])
        self.kills += not ended
        if ended and process.returncode != 0:
            self.errors.append(f"exit code {process.returncode}")
        self.check()
        return ended

    def _footprint(self):
        """Changes with the first byte that an import writes."""
        archive = self.home / "archive"
        return archive.stat().st_mtime_ns if archive.exists() else None

    def _note(self, stderr):
        if stderr:
            self.errors.append(stderr)

    def complete(self):
        """Run the same command to its end; afterwards all must be as after a clean import."""
        self.runs += 1
        done = subprocess.run(
            command(self.folder, self.home, small_landings=False), capture_output=True, text=True, check=False
        )
        self._note(done.stderr)
        found = self.check()
        if done.returncode != 0 or found != self.new:
            self.losses.append(f"not complete: exit code {done.returncode}, {len(found)} of {len(self.new)} sessions")

    def check(self):
        """Every session that is shown is whole: as it was, or as it is to be; none that was there is gone."""
        try:
            found, errors = digests(self.home) if (self.home / "home.json").exists() else ({}, [])
        except wb.WorkbenchError as error:
            self.errors.append(str(error))
            return {}
        self.losses += errors
        for session in self.old.keys() - found.keys():
            self.losses.append(f"{session} is gone")
        for session, digest in found.items():
            if digest not in (self.old.get(session), self.new.get(session)):
                self.losses.append(f"{session} is neither as it was nor as it is to be")
        return found


def known_sessions():
    return sorted(session_id(number) for number in range(SESSIONS))
