"""Field cases of the prompt's budget: what is sent is what is paid for, and a picture is not its encoding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.config.context import Compiler, ContextEngine
from workbench.context.compile import Compiled, Moment, compile_prompt
from workbench.context.pool import UnitPool
from workbench.context.records import ContextUnit
from workbench.experiments.replay_job import policy_of, replay_sessions
from workbench.text.tokens import estimate_tokens

PROSE = {"reason", "judgement", "verified", "note"}
WINDOW = 128_000
LEAST_BUDGET = 1_001
"""The smallest that a configuration may set; below it the window is what binds."""
AGE = 5
"""Exchanges between the units and the prompt, so that none stands word for word."""


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Compile files of units, import files of sessions."""
    expected = {key: value for key, value in case["expected"].items() if key not in PROSE}
    if sorted(folder.rglob("*.jsonl")):
        check_pictures(expected, folder, home)
    else:
        check_budgets(expected, folder)


def check_budgets(expected: dict[str, Any], folder: Path) -> None:
    """The estimate of the text as sent is within the budget, and every unit that is not in it has a reason."""
    bounds = expected.pop("rendered_tokens_at_most")
    assert expected.keys() <= {"left_out_is_named", "no_exception"}, expected.keys()
    for name, bound in bounds.items():
        given = json.loads((folder / name).read_text(encoding="utf-8"))
        made = compiled(given)
        assert estimate_tokens(made.text) == made.raw_tokens <= min(bound, given["budget"]), name
        unsaid = [
            unit.id
            for unit, why in zip(made.scores.units, made.scores.why, strict=True)
            if unit.content not in made.text and why == "included"
        ]
        assert unsaid == [], name
        assert {unit.id for unit in made.scores.units} == {unit["id"] for unit in given["units"]}, name


def compiled(given: dict[str, Any]) -> Compiled:
    """The engine's prompt of a case's units."""
    units = [
        ContextUnit(
            id=unit["id"],
            type="artifact_card",
            content=unit["text"],
            tokens=estimate_tokens(unit["text"]),
            source_turn=1,
            order=order,
        )
        for order, unit in enumerate(given["units"])
    ]
    moment = Moment(current_turn=1 + AGE, user_input="", pool=UnitPool(units))
    budget = given["budget"]
    compiler = Compiler(token_budget=max(budget, LEAST_BUDGET))
    return compile_prompt(moment, compiler, ContextEngine(), window=min(WINDOW, budget))


def check_pictures(expected: dict[str, Any], folder: Path, home: Path) -> None:
    """Import the sessions, estimate their results, replay them, and look for the encoding everywhere."""
    payloads = {path.name: encoded(path) for path in sorted(folder.rglob("*.jsonl"))}
    bench = wb.open(home)
    bench.ingest(folder)
    rows = bench.sql(
        "select s.path, c.session_id, c.result_tokens, c.result from tool_calls c join sources s using (session_id)"
    ).rows(named=True)
    tokens = {Path(row["path"]).name: row["result_tokens"] for row in rows}
    ids = sorted({row["session_id"] for row in rows})
    replay_sessions(bench._lake, ids, policy_of(bench.config, "step"))
    stored = " ".join(row["result"] for row in rows)
    least = min(tokens.values())
    assert bench.search("plot", mode="keyword").height > 0
    found = {
        "estimate_equal": [name for name, count in tokens.items() if count == least],
        "estimate_greater_than": min(expected["estimate_greater_than"], least - 1),
        "search_finds_base64": any(bench.search(text[:40], mode="keyword").height for text in payloads.values()),
        "card_contains_base64": any(text[:40] in stored for text in payloads.values()),
    }
    found["estimate_equal"].sort(key=expected["estimate_equal"].index)
    assert found == expected


def encoded(path: Path) -> str:
    """The first encoded picture of a session."""
    return path.read_text(encoding="utf-8").partition('"data": "')[2].partition('"')[0]
