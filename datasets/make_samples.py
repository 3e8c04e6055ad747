"""Make the samples anew: `python datasets/make_samples.py [--out FOLDER]`.

The tools really run, in throw-away repositories in a temporary folder. Times, ids and token counts follow from a fixed
seed, and what varies from machine to machine (temporary paths, durations) is replaced, so that the same tools give the
same bytes. README.md beside this file is the card of the data.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from sample_maker.scenarios import perform_all
from sample_maker.shelf import Shelf
from sample_maker.vault.shelve import counts_toml, shelve
from sample_maker.workshop import tool_versions

HERE = Path(__file__).resolve().parent
MADE = ("claude-code", "event-log", "vault")


def make(out: Path) -> None:
    """Write all samples, `expected.toml` and `vault.toml` below `out`, in place of older ones."""
    out.mkdir(parents=True, exist_ok=True)
    for name in MADE:
        shutil.rmtree(out / name, ignore_errors=True)
    shelf = Shelf(out)
    with tempfile.TemporaryDirectory(prefix="samples-") as root:
        perform_all(Path(root), shelf)
    truths = shelf.close(tool_versions())
    counts = shelve(out / "vault")
    (out / "vault.toml").write_text(counts_toml(counts), encoding="utf-8")
    width = max(len(truth.scenario) for truth in truths)
    for truth in truths:
        calls = f"{truth.prompts:3} prompts {truth.responses_all:3} responses {truth.tool_calls_all:3} calls"
        print(f"{truth.scenario:{width}}  {truth.format:11} {calls} {truth.errors:2} errors  {truth.session_id}")
    print(f"vault: {', '.join(f'{number} {name}' for name, number in counts.items())}")


def main() -> None:
    """Read the arguments and make the samples."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=HERE, help="the folder to write to (default: the one of this script)"
    )
    make(parser.parse_args().out)


if __name__ == "__main__":
    main()
