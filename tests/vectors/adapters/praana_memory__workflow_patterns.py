"""Patterns of work: key, extraction, rendering, and what is left after some sessions.

Days of the script become session ends; the table after the last of them is the fold at the day of pruning.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import duckdb
import polars as pl

from workbench.config.study import Workflow
from workbench.store.tables.telemetry import workflow_patterns_sql
from workbench.telemetry.patterns import (
    Pattern,
    artifact_types,
    pattern_id,
    pattern_key,
    render_patterns,
    tool_sequence,
)

SETTINGS = Workflow()
START = datetime(2026, 1, 1, tzinfo=UTC)
LISTS = {"tool_sequence": pl.List(pl.String), "artifact_types": pl.List(pl.String)}


def run(case_input):
    return globals()[f"_{case_input['fn']}"](case_input)


def _pattern_key(case):
    return pattern_key(case["task_type"], case["tool_sequence"], case.get("artifact_types", ()))


def _tool_sequence(case):
    calls = [(call["tool"], call["is_error"]) for turn in case["turns"] for call in turn]
    return tool_sequence(calls, SETTINGS.max_tools)


def _artifact_types(case):
    return artifact_types(case["content_types"], SETTINGS.max_artifact_types)


def _render_workflow(case):
    patterns = [
        Pattern(case["task_type"], tuple(each["tool_sequence"]), tuple(each["artifact_types"]), each["hit_count"])
        for each in case["patterns"]
    ]
    return render_patterns(case["task_type"], patterns, SETTINGS)


def _persist_patterns(case):
    told = [
        (pattern_id(one["task_type"], one["tools"], one.get("artifact_types", ())), one) for one in case["sessions"]
    ]
    last = max([one["day"] for one in case["sessions"]], default=0)
    rows = _fold(told, max(last, case["prune_at_day"]))
    patterns = [
        Pattern(row["task_type"], tuple(row["tool_sequence"]), tuple(row["artifact_types"]), row["hit_count"])
        for row in rows
        if row["task_type"] == case["render_for"]
    ]
    expired = {name for name, _ in told if name} - {row["id"] for row in rows}
    return {
        "persisted": [name is not None for name, _ in told],
        "pruned": len(expired),
        "rows": rows,
        "rendered": render_patterns(case["render_for"], patterns, SETTINGS),
    }


def _fold(told, day):
    seen = [
        {
            "session_id": str(place),
            "state": "",
            "rules": "",
            "task_type": one["task_type"],
            "tool_sequence": one["tools"],
            "artifact_types": one.get("artifact_types", []),
            "pattern_id": name,
            "seen_at": START + timedelta(days=one["day"]),
            "recorded_at": START,
        }
        for place, (name, one) in enumerate(told)
    ]
    if not seen:
        return []
    with duckdb.connect() as connection:
        connection.register("session_patterns", pl.DataFrame(seen, schema_overrides=LISTS).to_arrow())
        connection.execute("set TimeZone='UTC'")
        connection.execute("create temp view session_states as select distinct session_id, state from session_patterns")
        asked = {"keep_days": SETTINGS.keep_days, "as_of": START + timedelta(days=day)}
        found = connection.sql(workflow_patterns_sql(), params=asked).pl()
    return [
        {
            "id": row["pattern_id"],
            "task_type": row["task_type"],
            "tool_sequence": row["tool_sequence"],
            "artifact_types": row["artifact_types"],
            "hit_count": row["hit_count"],
            "last_seen_day": (row["last_seen_at"] - START).days,
            "created_day": (row["created_at"] - START).days,
        }
        for row in found.iter_rows(named=True)
    ]


def comes_back_after_expiry(case_input):
    """A pattern recurs more than the days it is kept after it was last seen."""
    last = {}
    for one in case_input.get("sessions", ()):
        key = (one["task_type"], *one["tools"])
        if one["day"] - last.get(key, one["day"]) > SETTINGS.keep_days:
            return True
        last[key] = one["day"]
    return False


def folded_by_hand(case_input):
    """The table as a dictionary, pruned whenever a session ends."""
    rows, persisted = {}, []
    for one in case_input["sessions"]:
        _prune(rows, one["day"])
        is_kept = one["task_type"] != "general" and bool(one["tools"])
        persisted.append(is_kept)
        if is_kept:
            name = pattern_key(one["task_type"], one["tools"])
            row = rows.setdefault(
                name,
                {
                    "id": name,
                    "task_type": one["task_type"],
                    "tool_sequence": one["tools"],
                    "artifact_types": [],
                    "hit_count": 0,
                    "created_day": one["day"],
                },
            )
            row |= {"hit_count": row["hit_count"] + 1, "last_seen_day": one["day"]}
    _prune(rows, case_input["prune_at_day"])
    order = sorted(rows.values(), key=lambda row: (-row["hit_count"], -row["last_seen_day"]))
    wanted = case_input["render_for"]
    kept = [one for one, is_kept in zip(case_input["sessions"], persisted, strict=True) if is_kept]
    patterns = [
        Pattern(wanted, tuple(row["tool_sequence"]), (), row["hit_count"])
        for row in order
        if row["task_type"] == wanted
    ]
    return {
        "persisted": persisted,
        "pruned": len({pattern_key(one["task_type"], one["tools"]) for one in kept} - {*rows}),
        "rows": order,
        "rendered": render_patterns(wanted, patterns, SETTINGS),
    }


def _prune(rows, day):
    for name in [name for name, row in rows.items() if row["last_seen_day"] < day - SETTINGS.keep_days]:
        del rows[name]


def names_look_like_integers(case_input):
    """Names that JavaScript puts before all others."""
    return any(name.isdecimal() for name in case_input.get("content_types", ()))


def types_by_count(case_input):
    """Names by count, ties by first use."""
    kinds = case_input["content_types"]
    return sorted(dict.fromkeys(kinds), key=lambda kind: -kinds.count(kind))[: SETTINGS.max_artifact_types]
