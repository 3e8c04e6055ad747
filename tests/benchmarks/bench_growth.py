"""How time and bytes grow with what was imported: 1, 10 and, when asked, 100 copies of the real sessions in one home.

Run as `python tests/benchmarks/bench_growth.py [--data DIR] [--scratch DIR] [--copies 1,10]`; `--copies 1,10,100` needs
some 10 GB below the scratch folder and an hour.

The copies of `transcripts/claude-code-many.tar.xz` in DIR (or `WORKBENCH_DATA`) have session, record, message, request
and call ids of their own, and else the same text. They are made, imported and removed one after the other; each step
goes on with the home of the one before. Baseline: the first copy, into an empty home. What a step says:

copies      in the home after it
seconds     a copy of this step, from the start of the process to its end; and of processor time
ratio       the same against the first copy; up to 1.25 it is called linear
bytes       of tables, archive and blobs, and what a copy of this step added against the first one
usage       seconds of `workbench usage --json` afterwards
"""

import argparse
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bench_usage import ROOT, WORKBENCH, Run

LINEAR = 1.25
MB = 1_000_000
UUID = re.compile(rb"\b([0-9a-f]{4})([0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b")
NAMED = re.compile(rb"\b(?:msg|req|toolu)_[A-Za-z0-9]+")

say = sys.stdout.write


def renamed(data, number):
    """The bytes with other ids, the same ones for the same id."""
    data = UUID.sub(lambda found: b"%04x" % (int(found[1], 16) ^ number) + found[2], data)
    return NAMED.sub(lambda found: found[0] + b"c%d" % number, data)


def write_copy(original, folder, number):
    """A copy with other ids in files and in their names; returns its bytes."""
    size = 0
    for path in sorted(original.rglob("*.jsonl")):
        name = renamed(str(path.relative_to(original)).encode(), number).decode()
        data = renamed(path.read_bytes(), number)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        size += len(data)
    return size


def bytes_below(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def held(home):
    tables, blobs = bytes_below(home / "tables"), bytes_below(home / "tables" / "blobs")
    return {"tables": tables - blobs, "archive": bytes_below(home / "archive"), "blobs": blobs}


def step(original, work, first, last):
    """Import the copies from `first` up to and without `last`, one after the other."""
    home, before, runs, size = work / "home", held(work / "home"), [], 0
    for number in range(first, last):
        folder = work / "copy"
        size += write_copy(original, folder, number)
        run = Run(WORKBENCH, "ingest", folder, "--home", home, "--json")
        runs.append((run, json.loads(run.out)))
        shutil.rmtree(folder)
    now, copies = held(home), last - first
    return {
        "copies": last,
        "sessions": sum(told["sessions"] for _, told in runs),
        "source_bytes": size // copies,
        "seconds": sum(run.seconds for run, _ in runs) / copies,
        "cpu_seconds": sum(run.cpu for run, _ in runs) / copies,
        "held": now,
        "added": {name: (now[name] - before[name]) / copies for name in now},
        "usage_seconds": Run(WORKBENCH, "usage", "--home", home, "--json").seconds,
    }


def tell(row, base):
    ratios = {name: row[name] / base[name] for name in ("seconds", "cpu_seconds")}
    ratios |= {name: row["added"][name] / base["added"][name] for name in row["added"]}
    verdict = {name: "linear" if ratio <= LINEAR else "more than linear" for name, ratio in ratios.items()}
    say(
        f"{row['copies']} copies of {row['source_bytes'] / MB:.0f} MB; this step landed {row['sessions']:,} sessions\n"
        f"  a copy: {row['seconds']:.2f} s, ratio {ratios['seconds']:.2f} ({verdict['seconds']}); processor time "
        f"{row['cpu_seconds']:.2f} s, ratio {ratios['cpu_seconds']:.2f} ({verdict['cpu_seconds']})\n"
    )
    for name in row["added"]:
        say(
            f"  {name}: {row['held'][name] / MB:.1f} MB, a copy added {row['added'][name] / MB:.1f} MB; "
            f"ratio {ratios[name]:.2f} ({verdict[name]})\n"
        )
    say(f"  usage afterwards: {row['usage_seconds']:.2f} s\n")
    return row | {"ratios": ratios, "verdict": verdict}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("WORKBENCH_DATA", ROOT.parent / "shared/data"))
    )
    parser.add_argument("--scratch", type=Path, help="where the home and the copies go; they are removed at the end")
    parser.add_argument("--copies", default="1,10", help="steps, rising, such as 1,10,100")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    options = parser.parse_args()
    packed = options.data / "transcripts" / "claude-code-many.tar.xz"
    if not packed.is_file():
        say(f"skipped: there is no {packed.name} under {options.data}; name its folder with --data\n")
        return
    rows, done = [], 0
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        work = Path(scratch)
        with tarfile.open(packed) as archive:
            archive.extractall(work / "original", filter="data")
        for copies in map(int, options.copies.split(",")):
            row = step(work / "original", work, done, copies)
            rows.append(tell(row, rows[0] if rows else row))
            done = copies
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
