"""Eight processes at one home: importers of growing files, writers of event logs, and readers.

Shared by the test and the benchmark. Each process is this file, run with a role; it works until its time is over and
prints what it did as one line of JSON. A reader checks at every read that each session is whole and that every event
acknowledged before the read is in it; at the end all that was acknowledged must be there.
"""

import json
import random
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from made_sessions import grow_session, session_id, write_session

import workbench as wb
from workbench.store.eventlog import EventLog, session_folder
from workbench.store.home import Home
from workbench.store.lake import Lake

ROLES = ("importer", "importer", "writer", "writer", "writer", "reader", "reader", "reader")
SESSIONS = 6
"""Of each importer."""
PAUSE_SECONDS = 0.02
"""Between two events of a writer: an agent at work writes far fewer."""

WHOLE = """
    select s.session_id, s.events as told, count(e.seq) as found, count(distinct e.seq) as apart, max(e.seq) as last
    from sessions s left join events e using (session_id) group by all order by all
"""


class Work:
    """What a process did: how long each operation took, and what went wrong."""

    def __init__(self):
        self.seconds = defaultdict(list)
        self.errors = []
        self.losses = []
        self.acknowledged = {}

    def timed(self, kind, act):
        started = time.perf_counter()
        try:
            return act()
        except Exception as error:  # noqa: BLE001
            self.errors.append(f"{kind}: {type(error).__name__}: {error}")
            return None
        finally:
            self.seconds[kind].append(time.perf_counter() - started)


def importer(work, home, place, until):
    """Let sessions grow, and import them, over and over."""
    chance, folder, bench = random.Random(place), home.parent / f"files{place}", wb.open(home)
    own = range(place * 100, place * 100 + SESSIONS)
    exchanges = dict.fromkeys(own, 2)
    for number in own:
        write_session(folder, number, 2)
    while time.time() < until:
        work.timed("import", lambda: bench.ingest(folder, wait_seconds=300))
        for number in chance.sample(own, 2):
            grow_session(folder, number, exchanges[number], exchanges[number] + 1)
            exchanges[number] += 1
    work.timed("import", lambda: bench.ingest(folder, wait_seconds=300))
    work.acknowledged = {session_id(number): count for number, count in exchanges.items()}


def writer(work, home, place, until):
    """Append to an event log of one's own; each append that returns is acknowledged."""
    session = f"live-{place}"
    events = []
    with EventLog(session_folder(home, session), session) as log:
        turn = 0
        while time.time() < until:
            turn += 1
            kind, actor = ("user_message", "user") if turn % 3 == 1 else ("agent_message", "agent")
            payload = {"text": f"event {turn} of {session}"}
            event = work.timed("append", lambda: log.append(kind, actor, payload, turn=1 + turn // 3))  # noqa: B023
            if event is not None:
                events.append(event.event_id)
            time.sleep(PAUSE_SECONDS)
    work.acknowledged = {session: events}


def lines_of_logs(home):
    """How many whole lines each log has, by the name of its folder, which here is the session's id."""
    return {path.parent.name: path.read_bytes().count(b"\n") for path in home.glob("sessions/*/events.jsonl")}


def reader(work, home, place, until):
    """Ask, over and over, every other time through a lake opened anew; one reader in three lands the logs first."""
    bench, lake, before = wb.open(home), Lake(Home.open(home)), {}
    while time.time() < until:
        acknowledged = lines_of_logs(home) if place % 3 == 0 else {}
        if acknowledged:
            work.timed("land", lambda: bench.land_logs(wait_seconds=300))
        lake = lake if len(work.seconds["read"]) % 2 else Lake(Home.open(home))
        frame = work.timed("read", lambda: lake.sql(WHOLE))  # noqa: B023
        if frame is None:
            continue
        now = {}
        for session, told, found, apart, last in frame.rows():
            now[session] = told
            if not told == found == apart == last:
                work.losses.append(f"reader {place}: {session} tells of {told} events and has {found}, up to {last}")
        for what, least in (("were there", before), ("had been acknowledged", acknowledged)):
            work.losses += [
                f"reader {place}: {session} has {now.get(session)} events; {count} {what}"
                for session, count in least.items()
                if now.get(session, 0) < count
            ]
        before = now


def run(folder, seconds, roles=ROLES):
    """Let all of them work for some time, then look whether everything that was acknowledged is there.

    Returns:
        Seconds of each operation by kind, errors, and losses.
    """
    home = folder / "home"
    wb.open(home)
    processes = [_start(home, role, place) for place, role in enumerate(roles)]
    for process in processes:
        process.stdout.readline()  # it has imported all it needs
    until = time.time() + seconds
    for process in processes:
        process.stdin.write(f"{until}\n")
        process.stdin.flush()
    durations, errors, losses, acknowledged = defaultdict(list), [], [], {}
    for process, role in zip(processes, roles, strict=True):
        out, err = process.communicate(timeout=seconds + 300)
        if process.returncode or err:
            errors.append(f"{role}: exit code {process.returncode}: {err}")
            continue
        told = json.loads(out)
        errors += told["errors"]
        losses += told["losses"]
        acknowledged |= told["acknowledged"]
        for kind, took in told["seconds"].items():
            durations[kind] += took
    return durations, errors, losses + missing(home, acknowledged)


def _start(home, role, place):
    command = [sys.executable, __file__, str(home), role, str(place)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def missing(home, acknowledged):
    """What was acknowledged and is not in the tables."""
    bench, losses = wb.open(home), []
    found = {session: rest for session, *rest in bench.sql(WHOLE).rows()}
    prompts = dict(bench.sql("select session_id, prompts from sessions").rows())
    for session, told in acknowledged.items():
        if session not in found or len(set(found[session])) != 1:
            losses.append(f"{session} is not whole: {found.get(session)}")
        elif isinstance(told, list):
            query = "select event_id from events where session_id = ? order by seq"
            stored = bench.sql(query, [session])["event_id"].to_list()
            losses += [] if stored == told else [f"{session}: {len(told)} acknowledged, {len(stored)} stored"]
        elif prompts[session] != told:
            losses.append(f"{session}: {told} prompts written, {prompts[session]} stored")
    keys = bench.sql("select session_id, seq from events group by all having count(*) > 1")
    return losses + [f"stored twice: {row}" for row in keys.rows()]


def percentile(values, share):
    """The value below which a share of the values lies."""
    if len(values) == 1:
        return values[0]
    return statistics.quantiles(values, n=1000, method="inclusive")[round(share * 1000) - 1]


def summary(durations):
    """Operations, p50 and p99 in milliseconds, by kind."""
    return {
        kind: {
            "operations": len(took),
            "p50_ms": round(percentile(took, 0.5) * 1000, 2),
            "p99_ms": round(percentile(took, 0.99) * 1000, 2),
        }
        for kind, took in sorted(durations.items())
    }


def shortened(told, most=20):
    """The different messages with their number, numbers in them apart."""
    alike = Counter("".join("#" if letter.isdigit() else letter for letter in text) for text in told)
    return [f"{count} x {text}" for text, count in alike.most_common(most)]


def main():
    home, role, place = sys.argv[1:]
    work = Work()
    warm_up(Path(home))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    until = float(sys.stdin.readline())
    {"importer": importer, "writer": writer, "reader": reader}[role](work, Path(home), int(place), until)
    told = {name: getattr(work, name) for name in ("seconds", "errors", "losses", "acknowledged")}
    sys.stdout.write(json.dumps(told))


def warm_up(home):
    """Import what is imported at the first use."""
    wb.open(home).ingest(home / "home.json")
    Lake(Home.open(home)).sql("select 1")


if __name__ == "__main__":
    main()
