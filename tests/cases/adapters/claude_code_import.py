"""Field cases of importing Claude Code's files; `landed.Landed` looks up what a case expects.

Folders `1/`, `2/`, ... hold the files at successive moments: each is copied over one place and imported there, and
`after_1`, `after_2` say what must hold then; other keys hold at the end. Without such folders all files are imported at
once, and one by one in both orders into homes of their own, which must show the same.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Any

from command import workbench
from views import views

import workbench as wb
from cases.landed import Landed

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.bench import Workbench

OF_THE_COMMAND = ("exit_status", "skipped", "errors")
"""Keys that only the command can answer; of files left out a case may expect the number or the names."""

Answers = dict[str, Any]


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Import the case's files and compare all that it expects."""
    words = re.search(r"search for ['\"](.+?)['\"]", case["do"])
    searched = words[1] if words else ""
    states = sorted((each for each in folder.iterdir() if each.name.isdigit()), key=lambda each: int(each.name))
    if states:
        check_states(case["expected"], searched, states, home)
    else:
        check_now(case["expected"], searched, folder, home)
        check_orders(folder, wb.open(home))


def check_states(expected: Answers, words: str, states: list[Path], home: Path) -> None:
    """Import the files as they were at each moment, at the same place."""
    place = home.parent / "place"
    at_end = {key: value for key, value in expected.items() if key not in {f"after_{state.name}" for state in states}}
    for state in states:
        shutil.copytree(state, place, dirs_exist_ok=True)
        wanted = expected.get(f"after_{state.name}", {})
        check_now(wanted | at_end if state == states[-1] else wanted, words, place, home)


def check_now(expected: Answers, words: str, place: Path, home: Path) -> None:
    """Import a folder and compare."""
    told = ingest_by_command(place, home, expected) if expected.keys() & set(OF_THE_COMMAND) else {}
    if not told:
        wb.open(home).ingest(place)
    assert {key: expected[key] for key in told} == told
    Landed.now(wb.open(home), words=words).check({key: value for key, value in expected.items() if key not in told})


def ingest_by_command(place: Path, home: Path, expected: Answers) -> Answers:
    """Run the command and give what it says to the keys that are expected of it."""
    done = workbench("ingest", place, "--home", home, "--json", cwd=home.parent)
    said = done.json
    found: Answers = {"exit_status": done.code}
    for key in ("skipped", "errors"):
        left_out = [item["path"].rpartition("/")[2] for item in said.get(key, [])]
        found[key] = left_out if isinstance(expected.get(key), list) else len(left_out)
    return {key: found[key] for key in OF_THE_COMMAND if key in expected}


def check_orders(folder: Path, together: Workbench) -> None:
    """Import file by file in both orders: the same rows, ids and all."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if len(files) < 2:
        return
    for name, order in (("forwards", files), ("backwards", files[::-1])):
        bench = wb.open(together.home.root.parent / name)
        for file in order:
            bench.ingest(file)
        assert views(bench) == views(together), f"files one by one, {name}"
