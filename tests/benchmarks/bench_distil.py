"""The cost of making tool output short, and what it saves on recorded output.

    python tests/benchmarks/bench_distil.py [FOLDER]

Bars: 1 MB of log under 100 ms, 20 MB of any kind under 3 s. The baseline beside each is cutting the text into lines.
Times are of the processor, the best of some rounds. FOLDER holds recorded outputs with a `manifest.jsonl` (`file`,
`command`): tokens before and after, by distiller and intensity.
"""

from __future__ import annotations

import json
import random
import sys
import time
import tracemalloc
from pathlib import Path

from workbench.config.context import Distiller
from workbench.context.classify import content_type_of
from workbench.context.distillers import distil

MEGABYTE = 1_000_000
SETTINGS = Distiller()
CHANCE = random.Random(5)


def say(line):
    sys.stdout.write(line + "\n")


def repeated(line_of, size):
    lines, length, number = [], 0, 0
    while length < size:
        number += 1
        lines.append(line_of(number))
        length += len(lines[-1]) + 1
    return "\n".join(lines)


def log_line(number):
    chance, level = CHANCE.random(), CHANCE.choice(("INFO", "INFO", "INFO", "WARN", "ERROR"))
    clock = (
        f"2026-03-02T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.{CHANCE.randrange(1000):03d}Z"
    )
    return (
        f"{clock} {level} worker-{number % 64} request {int(chance * 1e9):08x} took {int(chance * 900)} ms status=200"
    )


def pytest_line(number):
    outcome = "FAILED" if number % 1_000 == 0 else "PASSED"
    return f"tests/test_mod{number % 77}.py::TestThing::test_case_{number} {outcome}      [ 50%]"


def go_line(number):
    outcome = "FAIL" if number % 1_000 == 0 else "PASS"
    said = f"    thing_test.go:{number}: value {number}"
    return f"=== RUN   TestThing{number}\n{said}\n--- {outcome}: TestThing{number} (0.00s)"


def cargo_line(number):
    return f"test module::tests::case_number_{number} ... {'FAILED' if number % 1_000 == 0 else 'ok'}"


def jest_line(number):
    if number % 500:
        return f"PASS src/mod{number}.test.js"
    return f"FAIL src/mod{number}.test.js\n  ● suite \u203a case {number}\n\n    Error: value {number} is off\n"


def tsc_line(number):
    if number % 3 == 0:
        return f"[{number}/9999] Compiling a module of the project"
    message = f"Type 'string' is not assignable to type 'T{number % 90}'."
    return f"src/file{number % 500}.ts({number},5): error TS2322: {message}"


def diff_line(number):
    if number % 40:
        return f"{' +-'[number % 3]}    value_{number} = compute({number}, {number % 7})"
    return f"diff --git a/f{number}.py b/f{number}.py\n--- a/f{number}.py\n+++ b/f{number}.py\n@@ -1,26 +1,26 @@"


def hit_line(number):
    return f"src/module_{number % 300}.py:{number}:    import thing_{number} as other"


KINDS = {
    "log": (log_line, "log"),
    "pytest -v": (pytest_line, "test_output"),
    "go test -v": (go_line, "test_output"),
    "cargo test": (cargo_line, "test_output"),
    "jest": (jest_line, "test_output"),
    "tsc": (tsc_line, "build_output"),
    "git diff": (diff_line, "diff"),
    "rg": (hit_line, "search_results"),
    "prose": (log_line, "prose"),
}


def seconds(function, rounds):
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        function()
        best = min(best, time.process_time() - started)
    return best


def measure(name, megabytes, rounds):
    line_of, kind = KINDS[name]
    text = repeated(line_of, megabytes * MEGABYTE)
    made = distil(text, kind, SETTINGS)
    spent = seconds(lambda: distil(text, kind, SETTINGS), rounds)
    plain = seconds(text.splitlines, rounds)
    told = f"{name:10} {megabytes:3} MB: {spent * 1e3:7.1f} ms; lines alone {plain * 1e3:6.1f} ms"
    say(f"{told}, ratio {spent / plain:5.1f}; {made.input_tokens:,} -> {made.output_tokens:,} tokens")
    return spent


def peak_megabytes(name, megabytes):
    line_of, kind = KINDS[name]
    text = repeated(line_of, megabytes * MEGABYTE)
    tracemalloc.start()
    distil(text, kind, SETTINGS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / MEGABYTE


def savings(folder):
    rows = {}
    for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        about = json.loads(line)
        text = (folder / about["file"]).read_text(encoding="utf-8")
        kind = content_type_of("shell", about["command"], text)
        for how in ("lite", "full"):
            made = distil(text, kind, SETTINGS, intensity=how)
            row = rows.setdefault((made.distiller, how), [0, 0, 0])
            rows[made.distiller, how] = [row[0] + 1, row[1] + made.input_tokens, row[2] + made.output_tokens]
    say(f"{'distiller':12} {'how':5} {'texts':>5} {'tokens in':>10} {'out':>8} {'saved':>6}")
    for (name, how), (texts, before, after) in sorted(rows.items()):
        say(f"{name:12} {how:5} {texts:5} {before:10,} {after:8,} {1 - after / before:6.0%}")


def main():
    log = measure("log", 1, 5)
    large = {name: measure(name, 20, 1) for name in KINDS}
    worst = max(large, key=large.__getitem__)
    say(f"1 MB of log: {log * 1e3:.0f} ms (bar 100: {'met' if log < 0.1 else 'missed'})")
    say(f"20 MB, the slowest ({worst}): {large[worst]:.1f} s (bar 3: {'met' if large[worst] < 3 else 'missed'})")
    say(f"20 MB of log: {peak_megabytes('log', 20):.0f} MB of memory at the peak, beside the text")
    if len(sys.argv) > 1:
        savings(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
