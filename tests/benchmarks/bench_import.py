"""The importer, from the start of the process to its end, against plain programs in the same run.

Run as `python tests/benchmarks/bench_import.py [--data DIR] [--runs 5] [--only many,small,unchanged,grown,help]`.

many       the real transcripts of `transcripts/claude-code-many.tar.xz` in DIR (or `WORKBENCH_DATA`), into a new home:
           at least 50 MB/s, below 2 GB. Against a plain `json.loads` of the same lines that writes nothing.
small      made-up sessions of 60,000 lines of about 1 kB: at least 40,000 events a second. Against the same.
unchanged  1,000 files that landed before: below 1 s, and none of them opened. Against a program that looks at each.
grown      one exchange more in a session of 1,500 lines. Against the same command when nothing changed.
help       `workbench --help`: below 0.3 s. Against `python -c pass`.

The bars are those of design, section 13. Files are read once before, so that the disk does not count.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from made_sessions import grow_session, write_session

ROOT = Path(__file__).resolve().parents[2]
WORKBENCH = Path(sys.executable).with_name("workbench")
MB = 1_000_000

PARSE = """
import json, sys
from pathlib import Path
for path in Path(sys.argv[1]).rglob("*.jsonl"):
    with path.open("rb") as file:
        for line in file:
            try:
                json.loads(line)
            except ValueError:
                pass
"""
LOOK = """
import os, sys
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        os.stat(os.path.join(folder, name))
"""
WATCHED = """
import sys
folder, opened = sys.argv[-1], []
def watch(event, arguments):
    if event == "open" and str(arguments[0]).startswith(folder):
        opened.append(arguments[0])
sys.argv = ["workbench", *sys.argv[1:-1]]
from workbench.surfaces.cli import main
sys.addaudithook(watch)
try:
    main()
finally:
    print(len([path for path in opened if str(path).endswith(".jsonl")]), file=sys.stderr)
"""

say = sys.stdout.write


class Memory(threading.Thread):
    """The most that a process and all that it started had in memory together, in bytes; looked at while they run."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak, self.is_over = pid, 0, threading.Event()
        self.start()

    def run(self):
        while not self.is_over.wait(0.02):
            self.peak = max(self.peak, sum(map(resident, family(self.pid))))


def family(pid):
    """A process and its descendants."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(each for child in children for each in family(int(child)))]


def resident(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


class Run:
    """One run of a command: seconds, what it printed, and the peak of its memory.

    `largest` is that of the largest process, as the system tells; `together` that of all at once, as it was seen.
    """

    def __init__(self, *command):
        started = time.perf_counter()
        process = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        memory = Memory(process.pid)
        with process.stdout, process.stderr:
            self.out, self.err = process.stdout.read(), process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        self.seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        memory.is_over.set()
        self.largest, self.together = used.ru_maxrss * 1024, memory.peak
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit code {process.returncode}: {self.err}")


def ingest(folder, home):
    run = Run(WORKBENCH, "ingest", folder, "--home", home, "--json")
    run.told = json.loads(run.out)
    return run


def median(runs):
    return statistics.median(run.seconds for run in runs)


def bytes_of(folder):
    """How many bytes there are; reading them brings them into the cache."""
    return sum(len(path.read_bytes()) for path in folder.rglob("*.jsonl"))


def verdict(*met):
    return "OK" if all(met) else "MISSED"


def first_imports(folder, work, runs):
    """Import a folder into new homes, and parse the same lines, in turns."""
    size, imports, parses = bytes_of(folder), [], []
    for number in range(runs):
        parses.append(Run(sys.executable, "-c", PARSE, folder))
        imports.append(ingest(folder, work / f"home{number}"))
    seconds, told = median(imports), imports[-1].told
    return {
        "bytes": size,
        "events": told["events"],
        "sessions": told["sessions"],
        "seconds": round(seconds, 3),
        "seconds_of_runs": [round(run.seconds, 3) for run in imports],
        "mb_per_second": round(size / MB / seconds, 1),
        "events_per_second": round(told["events"] / seconds),
        "peak_mb_largest_process": round(max(run.largest for run in imports) / MB),
        "peak_mb_together": round(max(run.together for run in imports) / MB),
        "json_loads_seconds": round(median(parses), 3),
        "ratio": round(seconds / median(parses), 2),
    }


def many(work, options):
    packed = options.data / "transcripts" / "claude-code-many.tar.xz"
    if not packed.is_file():
        say(f"many: skipped: there is no {packed.name} under {options.data}; name its folder with --data\n")
        return {"skipped": True}
    with tarfile.open(packed) as archive:
        archive.extractall(work / "many", filter="data")
    row = first_imports(work / "many", work, options.runs)
    met = verdict(row["mb_per_second"] >= 50, row["peak_mb_together"] < 2000)
    say(
        f"many: {row['bytes'] / MB:.0f} MB, {row['events']:,} events in {row['seconds']:.2f} s: "
        f"{row['mb_per_second']:.1f} MB/s, {row['events_per_second']:,} events/s, peak {row['peak_mb_together']:,} MB; "
        f"{row['ratio']:.2f} x json.loads; bar 50 MB/s, 2 GB: {met}\n"
    )
    return row | {"bar": met}


def small(work, options):
    for number in range(300):
        write_session(work / "small", number, 50 if number % 4 != 3 else 25, size=(700, 1300))
    sizes = [len(line) for path in (work / "small").rglob("*.jsonl") for line in path.open("rb")]
    row = first_imports(work / "small", work, options.runs)
    row |= {"lines": len(sizes), "line_bytes_median": statistics.median(sizes), "line_bytes_most": max(sizes)}
    met = verdict(row["events_per_second"] >= 40_000)
    say(
        f"small: {len(sizes):,} lines, median {row['line_bytes_median']:.0f} bytes, {row['events']:,} events in "
        f"{row['seconds']:.2f} s: {row['events_per_second']:,} events/s, {row['mb_per_second']:.1f} MB/s, "
        f"peak {row['peak_mb_together']:,} MB; {row['ratio']:.2f} x json.loads; bar 40,000 events/s: {met}\n"
    )
    return row | {"bar": met}


def unchanged(work, options):
    for number in range(1000):
        write_session(work / "files", number if number % 4 != 3 else number + 100_001, 1)
    ingest(work / "files", work / "home")
    again = [ingest(work / "files", work / "home") for _ in range(options.runs)]
    looks = [Run(sys.executable, "-c", LOOK, work / "files") for _ in range(options.runs)]
    command = ("ingest", work / "files", "--home", work / "home", "--json", work / "files")
    opened = int(Run(sys.executable, "-c", WATCHED, *command).err)
    row = {
        "files": again[-1].told["unchanged"],
        "seconds": round(median(again), 3),
        "opened": opened,
        "look_seconds": round(median(looks), 3),
        "ratio": round(median(again) / median(looks), 2),
    }
    met = verdict(row["seconds"] < 1, opened == 0, row["files"] == 1000)
    say(
        f"unchanged: {row['files']:,} files in {row['seconds']:.2f} s, {opened} opened; "
        f"{row['ratio']:.1f} x a look at each; bar 1 s, none opened: {met}\n"
    )
    return row | {"bar": met}


def grown(work, options):
    for number in range(0, 40, 4):
        write_session(work / "files", number, 375, size=(700, 1300))
    ingest(work / "files", work / "home")
    still = [ingest(work / "files", work / "home") for _ in range(options.runs)]
    runs = []
    for number in range(options.runs):
        grow_session(work / "files", 4, 375 + number, 376 + number, size=(700, 1300))
        runs.append(ingest(work / "files", work / "home"))
    row = {
        "events": runs[-1].told["events"],
        "sessions": runs[-1].told["sessions"],
        "seconds": round(median(runs), 3),
        "unchanged_seconds": round(median(still), 3),
        "landing_seconds": round(median(runs) - median(still), 3),
        "ratio": round(median(runs) / median(still), 2),
    }
    met = verdict(row["sessions"] == 1)
    say(
        f"grown: a session of {row['events']:,} events, one exchange more, in {row['seconds']:.2f} s; "
        f"{row['ratio']:.2f} x the same without a change; no bar: {met}\n"
    )
    return row | {"bar": met}


def shown_help(_, options):
    helps, passes = [], []
    for _ in range(2 * options.runs):
        helps.append(Run(WORKBENCH, "--help"))
        passes.append(Run(sys.executable, "-c", "pass"))
    row = {"seconds": round(median(helps), 3), "python_seconds": round(median(passes), 3)}
    row["ratio"] = round(row["seconds"] / row["python_seconds"], 2)
    met = verdict(row["seconds"] < 0.3)
    say(f"help: {row['seconds']:.3f} s; {row['ratio']:.2f} x python -c pass; bar 0.3 s: {met}\n")
    return row | {"bar": met}


PARTS = {"many": many, "small": small, "unchanged": unchanged, "grown": grown, "help": shown_help}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("WORKBENCH_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=default, help="folder with transcripts/claude-code-many.tar.xz")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--folder", type=Path, default=None, help="on the disk that is meant; default: a temporary one")
    options = parser.parse_args()
    options.data = Path(options.data)
    rows = {}
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            rows[name] = PARTS[name](Path(folder), options)
        sys.stdout.flush()
    say(json.dumps({"benchmark": "import", "load": round(os.getloadavg()[0], 1), **rows}) + "\n")


if __name__ == "__main__":
    main()
