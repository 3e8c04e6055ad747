"""What a durable append costs beyond writing and syncing the same bytes.

Run as `python tests/benchmarks/bench_eventlog.py [--records 2000] [--folder DIR]`, the folder on the disk meant. Both
sides take turns, record by record, in changing order, so that a disk that is slow for a moment is slow for both. The
bar: p50 at most 0.3 ms above write + fsync, redaction included (design, section 13).
"""

import argparse
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from workbench.store.eventlog import EventLog, session_folder

BAR_MS = 0.3
SEED = 20260302
SECRET = re.compile(r"(?:sk|ghp|xox[bp])[-_][A-Za-z0-9]{16,}")
WORDS = (
    "the agent",
    "reads",
    "src/app.py,",
    "then pytest -q:",
    "3 passed",
    "\u00e9t\u00e9",
    "sk-AAAAAAAAAAAAAAAAAAAA",
    "\n",
)


def redact(text: str) -> str:
    """A stand-in for the product's rules: one expression over every string."""
    return SECRET.sub("[redacted]", text)


def payloads(records: int, chance: random.Random) -> list[dict[str, object]]:
    """Tool results of up to 4 kB, of every size alike."""
    made: list[dict[str, object]] = []
    for number in range(records):
        text = ""
        size = chance.randrange(50, 3700)
        while len(text) < size:
            text += chance.choice(WORDS) + " "
        result = {"ok": True, "stdout": text, "exit_code": 0}
        made.append({"tool_call_id": f"call_{number}", "tool": "shell", "result": result, "is_error": False})
    return made


def timed_ms(call: Callable[[], object]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def measure(folder: Path, records: int) -> tuple[list[float], list[float], list[int]]:
    """Milliseconds of each append, of each plain write + fsync of the same bytes, and the sizes of the lines."""
    appends, plains, sizes = [], [], []
    fd = os.open(folder / "plain.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def plain(data: bytes) -> None:
        os.write(fd, data)
        os.fsync(fd)

    with EventLog(session_folder(folder, "bench"), "bench", redact=redact) as log:
        previous = log.append("system_note", "kernel", {"type": "warm up"}, turn=0)
        with log.path.open("rb") as written:
            written.readline()
            last = written.readline() or b"x" * 2000
            for number, payload in enumerate(payloads(records, random.Random(SEED))):
                parent = previous.event_id

                def append(payload: dict[str, object] = payload, parent: str = parent) -> None:
                    log.append("tool_result", "tool", payload, turn=1, parent_event_id=parent)

                if number % 2:  # the plain side writes the line before, so that its bytes exist
                    plains.append(timed_ms(lambda data=last: plain(data)))
                    appends.append(timed_ms(append))
                    last = written.readline()
                else:
                    appends.append(timed_ms(append))
                    last = written.readline()
                    plains.append(timed_ms(lambda data=last: plain(data)))
                sizes.append(len(last))
    os.close(fd)
    return appends, plains, sizes


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of the values lies."""
    return statistics.quantiles(values, n=1000, method="inclusive")[round(share * 1000) - 1]


def main() -> None:
    """Measure, print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk that is meant; default: a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        appends, plains, sizes = measure(Path(folder), options.records)
    paired = statistics.median(append - plain for append, plain in zip(appends, plains, strict=True))
    row = {
        "benchmark": "eventlog_append",
        "records": options.records,
        "line_bytes_p50": int(statistics.median(sizes)),
        "line_bytes_max": max(sizes),
        "above_ms_paired_p50": round(paired, 4),
    }
    table = [
        f"{options.records} records, line {row['line_bytes_p50']} bytes in the median, {max(sizes)} at most",
        f"{'':6}{'append ms':>12}{'write+fsync ms':>16}{'above ms':>10}{'ratio':>8}",
    ]
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        append, plain = percentile(appends, share), percentile(plains, share)
        table.append(f"{name:6}{append:12.3f}{plain:16.3f}{append - plain:10.3f}{append / plain:8.2f}")
        row |= {
            f"append_ms_{name}": round(append, 4),
            f"plain_ms_{name}": round(plain, 4),
            f"above_ms_{name}": round(append - plain, 4),
            f"ratio_{name}": round(append / plain, 3),
        }
    met = "met" if row["above_ms_p50"] <= BAR_MS else "MISSED"
    table.append(f"median of the paired differences {paired:.3f} ms; bar: p50 at most {BAR_MS} ms above: {met}")
    sys.stdout.write("\n".join([*table, json.dumps(row)]) + "\n")


if __name__ == "__main__":
    main()
