"""`workbench usage --json` on a landed home, from the start of the process to its end, against plain programs.

Run as `python tests/benchmarks/bench_usage.py [--data DIR] [--home HOME] [--runs 5]`.

The home is made of `transcripts/claude-code-many.tar.xz` in DIR (or `WORKBENCH_DATA`) unless one is named. In turns:

usage   `workbench usage --home HOME --json`; the first run apart, which loads the price library and keeps its rates
duckdb  `python -c "import duckdb"` and the same sums of tokens out of the Parquet files of the table
python  `python -c pass`

Wall time and processor time (user and system together), medians. Bar: usage below 0.5 s of wall time.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKBENCH = Path(sys.executable).with_name("workbench")
BAR_SECONDS = 0.5

READ = """
import sys, duckdb
files = sys.argv[1:]
sums = "sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens)"
print(duckdb.connect().execute(f"select count(*), {sums} from read_parquet($files)", {"files": files}).fetchall())
"""

say = sys.stdout.write


class Run:
    """One run of a command: seconds of wall and of processor time, and what it printed."""

    def __init__(self, *command):
        started = time.perf_counter()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True, env=environment)
        with process.stdout:
            self.out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        self.seconds, self.cpu = time.perf_counter() - started, used.ru_utime + used.ru_stime
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit code {process.returncode}")


def made_home(data, work):
    """A home with the real sessions, or None where they are not."""
    packed = data / "transcripts" / "claude-code-many.tar.xz"
    if not packed.is_file():
        return None
    with tarfile.open(packed) as archive:
        archive.extractall(work / "many", filter="data")
    Run(WORKBENCH, "ingest", work / "many", "--home", work / "home", "--json")
    return work / "home"


def row(name, runs):
    return {
        "what": name,
        "seconds": round(statistics.median(run.seconds for run in runs), 3),
        "cpu_seconds": round(statistics.median(run.cpu for run in runs), 3),
        "seconds_of_runs": [round(run.seconds, 3) for run in runs],
    }


def measure(home, number):
    """Rows of the first and of the later runs and of the baselines."""
    (home / "cache" / "prices.json").unlink(missing_ok=True)
    usage = (WORKBENCH, "usage", "--home", home, "--json")
    first, files = Run(*usage), sorted((home / "tables" / "usage").glob("*.parquet"))
    runs = {"usage": [], "duckdb": [], "python": []}
    for _ in range(number):
        runs["usage"].append(Run(*usage))
        runs["duckdb"].append(Run(sys.executable, "-c", READ, *files))
        runs["python"].append(Run(sys.executable, "-c", "pass"))
    told = json.loads(runs["usage"][-1].out)["total"]
    return told, [row("first usage", [first]), *(row(name, each) for name, each in runs.items())]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("WORKBENCH_DATA", ROOT.parent / "shared/data"))
    )
    parser.add_argument("--home", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path, help="also write the figures there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        home = options.home or made_home(options.data, Path(work))
        if home is None:
            say(f"skipped: there are no transcripts under {options.data}; name their folder with --data\n")
            return
        told, rows = measure(home, options.runs)
    by_name = {each["what"]: each for each in rows}
    for each in rows:
        say(f"{each['what']}: {each['seconds']:.3f} s, {each['cpu_seconds']:.3f} s of processor time\n")
    usage, base = by_name["usage"], by_name["duckdb"]
    met = "OK" if usage["seconds"] < BAR_SECONDS else "MISSED"
    say(
        f"{told['model_calls']:,} model calls; {usage['seconds'] / base['seconds']:.2f} x duckdb by the clock, "
        f"{usage['cpu_seconds'] / base['cpu_seconds']:.2f} x in processor time; bar {BAR_SECONDS} s: {met}\n"
    )
    if options.json:
        options.json.write_text(json.dumps({"total": told, "rows": rows, "bar": met}, indent=1) + "\n")


if __name__ == "__main__":
    main()
