"""Two hundred kills of an import, at random moments: is each session there wholly or not at all?

Run as `python tests/benchmarks/bench_kills.py [--kills 200] [--seed 1] [--folder DIR]`. A first import into an empty
home and a re-import of sessions that grew take turns; every other process lands a few sessions at a time. After each
kill every session that is shown must be as it was or as it is to be, in every table; after some kills the same command
must complete the work, and then all must be as after an import that nobody disturbed (design, section 13).
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from killing import Killer

say = sys.stdout.write


def work(killer, kills):
    """Kill until there were so many kills, completing the work now and then."""
    growing = False
    while killer.kills < kills:
        phase = killer.grow if growing else killer.begin_anew
        phase()
        until = min(killer.kills + killer.chance.randrange(4, 12), kills)
        while killer.kills < until:
            if killer.kill_once(small_landings=bool(killer.chance.randrange(2))):
                phase()
        killer.complete()
        growing = not growing
        say(f"{killer.kills} kills, {len(killer.errors)} errors, {len(killer.losses)} losses\n")
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk that is meant; default: a temporary one")
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        killer = Killer(Path(folder), seed=options.seed)
        work(killer, options.kills)
    for told in [*killer.errors, *killer.losses]:
        say(f"{told}\n")
    passed = not killer.errors and not killer.losses
    row = {
        "benchmark": "kills",
        "kills": killer.kills,
        "runs": killer.runs,
        "errors": len(killer.errors),
        "losses": len(killer.losses),
        "seconds": round(time.perf_counter() - started, 1),
    }
    found = f"{row['kills']} kills in {row['runs']} runs: {row['errors']} errors, {row['losses']} losses"
    say(f"{found}; bar: none of either: {'OK' if passed else 'MISSED'}\n")
    say(json.dumps(row) + "\n")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
