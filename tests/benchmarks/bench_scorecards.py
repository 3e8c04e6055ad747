"""Scorecards and patterns of 1,000 imported sessions, against a plain query over the same Parquet files.

Run as `python tests/benchmarks/bench_scorecards.py [--sessions 1000] [--exchanges 24] [--home HOME] [--runs 3]`.

The home is made of `made_sessions` unless one is named. Each row is a process of its own, from its start to its end:

scorecards    `workbench scorecard --json`: every metric and rate, cost and kind of task
patterns      `workbench patterns --json` for the first time: every large output is read
patterns 2    the same again
duckdb        `python -c "import duckdb"` and the number of calls and of failures by session
python        `python -c pass`

Wall time, medians; `patterns` is measured once. Bar: scorecards below 10 s for 1,000 sessions.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import made_sessions

WORKBENCH = Path(sys.executable).with_name("workbench")
BAR_SECONDS = 10.0
BAR_SESSIONS = 1000

COUNT = """
import sys, duckdb
files = sys.argv[1:]
counts = "select session_id, count(*), count(*) filter (is_error) from read_parquet($files) group by all"
print(len(duckdb.connect().execute(counts, {"files": files}).fetchall()))
"""

say = sys.stdout.write


def run(*command):
    """Seconds of wall time, and what was printed."""
    started = time.perf_counter()
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command[:3]))}: exit code {done.returncode}: {done.stderr[-500:]}")
    return seconds, done.stdout


def made_home(work, sessions, exchanges):
    """A home with made sessions of up to that many exchanges each; every fifth call fails."""
    made_sessions.write_sessions(work / "files", sessions, exchanges, size=(200, 4000))
    run(WORKBENCH, "ingest", work / "files", "--home", work / "home", "--json")
    return work / "home"


def measure(home, runs):
    """Seconds by name, the sessions, and the calls that they made."""
    scorecard = (WORKBENCH, "scorecard", "--json", "--home", home)
    patterns = (WORKBENCH, "patterns", "--json", "--home", home)
    files = sorted((home / "tables" / "tool_calls").glob("*.parquet"))
    rows = json.loads(run(*scorecard)[1])
    seconds = {
        "scorecards": [run(*scorecard)[0] for _ in range(runs)],
        "patterns": [run(*patterns)[0]],
        "patterns 2": [run(*patterns)[0] for _ in range(runs)],
        "duckdb": [run(sys.executable, "-c", COUNT, *files)[0] for _ in range(runs)],
        "python": [run(sys.executable, "-c", "pass")[0] for _ in range(runs)],
    }
    medians = {name: round(statistics.median(each), 3) for name, each in seconds.items()}
    return medians, len(rows), sum(row["tool_calls"] or 0 for row in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=BAR_SESSIONS)
    parser.add_argument("--exchanges", type=int, default=24)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the figures there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        home = options.home or made_home(Path(work), options.sessions, options.exchanges)
        medians, sessions, calls = measure(home, options.runs)
    for name, seconds in medians.items():
        say(f"{name}: {seconds:.3f} s\n")
    met = "OK" if medians["scorecards"] < BAR_SECONDS * max(1.0, sessions / BAR_SESSIONS) else "MISSED"
    ratio = medians["scorecards"] / medians["duckdb"]
    say(
        f"{sessions:,} sessions, {calls:,} tool calls; scorecards {ratio:.1f} x the plain query; "
        f"bar {BAR_SECONDS:.0f} s for {BAR_SESSIONS:,} sessions: {met}\n"
    )
    if options.json:
        told = {"sessions": sessions, "tool_calls": calls, "seconds": medians, "bar": met}
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
