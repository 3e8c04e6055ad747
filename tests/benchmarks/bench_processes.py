"""Eight processes at one home for a minute: two import growing files, three write logs, three read.

Run as `python tests/benchmarks/bench_processes.py [--seconds 60] [--folder DIR]`. A reader checks at every read that
each session is whole and has lost nothing; one lands the logs first, and checks that all that was acknowledged before
is there. The bar: no error, nothing lost (design, section 13).
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from crowd import ROLES, run, shortened, summary

say = sys.stdout.write


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk that is meant; default: a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        durations, errors, losses = run(Path(folder), options.seconds)
    kinds = summary(durations)
    say(f"{len(ROLES)} processes, {options.seconds:g} s\n{'':8}{'operations':>11}{'p50 ms':>10}{'p99 ms':>10}\n")
    for kind, row in kinds.items():
        say(f"{kind:8}{row['operations']:>11,}{row['p50_ms']:>10.1f}{row['p99_ms']:>10.1f}\n")
    for told in (*shortened(errors), *shortened(losses)):
        say(f"{told}\n")
    passed = not errors and not losses
    bar = "OK" if passed else "MISSED"
    say(f"{len(errors)} errors, {len(losses)} losses; bar: none of either: {bar}\n")
    row = {"benchmark": "processes", "seconds": options.seconds, "errors": len(errors), "losses": len(losses), **kinds}
    say(json.dumps(row) + "\n")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
