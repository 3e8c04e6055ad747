"""Field cases of distillers: each file distilled, lite and full, and read as a summary."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from workbench.config.context import ContextEngine, Distiller
from workbench.context.artifacts import Shelf
from workbench.context.distillers import distil
from workbench.context.distillers.builds import summarise_build
from workbench.context.distillers.diff_files import summarise_diff
from workbench.context.distillers.test_output import summarise_tests
from workbench.context.terminal import plain_text

SETTINGS = Distiller()
KINDS = (
    ("pytest|go test|cargo (?:nextest|test)|jest|vitest|npm test|unittest", "test_output"),
    ("git (?:diff|show)", "diff"),
    ("tsc|cargo (?:build|clippy|check)|gcc|make|build|lint|compiler", "build_output"),
    ("rg|grep|search", "search_results"),
    ("log", "log"),
)
"""What the instruction names, and the content type that it is."""
PROSE = {"reason", "judgement", "verified", "note"}


def check(case: dict[str, Any], folder: Path, _: Path) -> None:
    """Distil the case's files and compare all that it expects of each."""
    kind = next(kind for pattern, kind in KINDS if re.search(pattern, case["do"]))
    expected = case["expected"]
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        wanted = expected.get(name, expected)
        check_file(path.read_bytes().decode(), kind, wanted)


def check_file(text: str, kind: str, expected: dict[str, Any]) -> None:
    """Every key is answered by a rule; a key that no rule knows fails the case."""
    made = [distil(text, kind, SETTINGS, intensity=how).text for how in ("lite", "full")]
    made.append(card_of(text, kind))
    found = summary_of(plain_text(text), kind)
    for key, wanted in expected.items():
        if key in PROSE:
            continue
        if key == "must_keep":
            assert [part for part in wanted for each in made if part not in each] == []
        elif key in {"must_not_say", "must_not_contain"}:
            assert [part for part in wanted for each in made if part in each] == []
        elif key == "counts":
            assert {name: found[key].get(name, 0) for name in wanted} == wanted
        elif key == "files":
            assert [
                {name: each.get(name, 0) for name in file} for file, each in zip(wanted, found[key], strict=True)
            ] == wanted
        else:
            assert found[key] == wanted, key


def card_of(text: str, kind: str) -> str:
    """What stands in the prompt for it, small or not."""
    shelf = Shelf(msgspec.structs.replace(ContextEngine(), artifact_inline_threshold=0))
    return shelf.ingest("shell", text, 1, content_type=kind).prompt_text


def summary_of(text: str, kind: str) -> dict[str, Any]:
    """What the structured summary says, under the names of the cases."""
    if kind == "diff":
        return {"files": [msgspec.to_builtins(each) for each in summarise_diff(text)]}
    if kind == "build_output":
        build = summarise_build(text)
        counts = {"errors": build.errors, "warnings": build.warnings}
        return {
            "status": build.status,
            "counts": counts,
            "errors": build.errors,
            "warnings": build.warnings,
            "distinct_errors": build.distinct_errors,
        }
    run = summarise_tests(text)
    return {
        "status": run.status,
        "counts": run.counts,
        "packages": {state: list(names) for state, names in run.packages.items()},
        "failures": [failure.name for failure in run.failures],
    }
