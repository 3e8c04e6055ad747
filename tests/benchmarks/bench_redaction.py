"""What redaction costs: bytes a second, beside reading the same bytes and splitting them into lines.

Run as `python tests/benchmarks/bench_redaction.py [--data DIR] [--runs 5]`. `DIR` (or `WORKBENCH_DATA`) holds
transcripts; without it some are made. Both sides run over the same files in the same process, turn by turn; the best of
the runs counts, of CPU time, since a busy machine only adds to it. The bar: 60 MB/s on one core.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from workbench.text.redaction import Redaction, redact

BAR_MB = 60
SEED = 20260302
MADE_BYTES = 40_000_000
TEXT_BYTES = 2000
WORDS = (
    "the agent reads src/app.py,",
    "then runs pytest -q:",
    "3 passed in 0.12s",
    '{"key": "value1", "token": null}',
    "\u00e9t\u00e9 \u5b57",
    "def test_login(user: str, password: str) -> None:",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "https://example.com/docs?page=2#top",
    "\n",
)


def made(folder: Path) -> None:
    """Write transcripts of the shape of an agent's: one record a line, ids and a text in each."""
    chance = random.Random(SEED)
    done = number = 0
    while done < MADE_BYTES:
        lines = []
        for _ in range(400):
            text = " ".join(chance.choices(WORDS, k=chance.randrange(10, 200)))
            record = {
                "uuid": f"{chance.getrandbits(128):032x}",
                "message": {"id": f"msg_01{chance.getrandbits(88):022x}", "content": [{"type": "text", "text": text}]},
                "usage": {"input_tokens": chance.randrange(9999), "output_tokens": chance.randrange(999)},
            }
            lines.append(json.dumps(record))
        data = "\n".join(lines).encode() + b"\n"
        (folder / f"{number:04}.jsonl").write_bytes(data)
        done += len(data)
        number += 1


def read(paths: list[Path]) -> list[bytes]:
    """The bytes of every file."""
    return [path.read_bytes() for path in paths]


def split(paths: list[Path]) -> int:
    """Read and split into lines: what an import cannot do without."""
    return sum(len(data.split(b"\n")) for data in read(paths))


def best(runs: int, *calls: Callable[[], object]) -> list[float]:
    """The least CPU seconds of each call, the calls taking turns."""
    times = [float("inf")] * len(calls)
    for _ in range(runs):
        for place, call in enumerate(calls):
            start = time.process_time()
            call()
            times[place] = min(times[place], time.process_time() - start)
    return times


def main() -> None:
    """Measure, print a table and one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("WORKBENCH_DATA"), help="a folder of transcripts")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.data is None:
            made(Path(folder))
        root = Path(options.data or folder)
        paths = sorted(path for path in root.rglob("*") if path.suffix in {".jsonl", ".json", ".md"} and path.is_file())
        report(paths, options.runs, "made" if options.data is None else str(options.data))


def report(paths: list[Path], runs: int, name: str) -> None:
    """Measure over some files and print."""
    start = time.process_time()
    Redaction()(b" " * 100)  # imports the engine and compiles the rules
    first_ms = (time.process_time() - start) * 1000
    contents = read(paths)
    size = sum(map(len, contents))
    clean, seconds = best(runs, lambda: split(paths), lambda: [redact(data) for data in contents])
    text = contents[0][:TEXT_BYTES].decode("utf-8", "replace")
    (short,) = best(runs, lambda: [redact.text(text) for _ in range(1000)])
    found = sum(len(redact.findings(data)) for data in contents)
    row = {
        "benchmark": "redaction",
        "data": name,
        "files": len(paths),
        "mb": round(size / 1e6, 1),
        "redact_mb_s": round(size / seconds / 1e6),
        "read_split_mb_s": round(size / clean / 1e6),
        "ratio": round(seconds / clean, 2),
        "first_ms": round(first_ms),
        "text_us": round(short * 1000, 1),
        "findings": found,
    }
    met = "met" if size / seconds / 1e6 >= BAR_MB else "MISSED"
    table = [
        f"{len(paths)} files, {size / 1e6:.1f} MB, {found} credentials; best of {runs} runs, CPU time of one core",
        f"{'redact':16}{seconds:8.3f} s{size / seconds / 1e6:8.0f} MB/s",
        f"{'read and split':16}{clean:8.3f} s{size / clean / 1e6:8.0f} MB/s; ratio {row['ratio']}",
        f"first use {first_ms:.0f} ms; a text of {len(text)} characters {row['text_us']} us",
        f"bar: {BAR_MB} MB/s: {met}",
    ]
    sys.stdout.write("\n".join([*table, json.dumps(row)]) + "\n")


if __name__ == "__main__":
    main()
