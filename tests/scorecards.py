"""Scorecards made by hand, as `bench.scorecards()` gives them."""

from datetime import UTC, datetime, timedelta

import polars as pl

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def cards(rows, **shared):
    """A frame of scorecards; each row gives what matters, the rest is as of an ordinary session."""
    made = []
    for place, row in enumerate(rows):
        begun = BEGIN + timedelta(days=place)
        ordinary = {
            "session_id": f"s{place:03}",
            "agent": "claude-code",
            "format": "claude-code",
            "project_id": "p1",
            "arm": None,
            "model": "m",
            "version": "1",
            "config_hash": None,
            "policy_id": None,
            "task_type": "general",
            "compile_level": None,
            "started_at": begun,
            "ended_at": begun + timedelta(hours=1),
            "final": True,
            "total_turns": 2,
            "not_applicable": [],
        }
        made.append({**ordinary, **shared, **row})
    texts = dict.fromkeys(("arm", "config_hash", "policy_id", "compile_level", "project_id", "task_type"), pl.String)
    return pl.DataFrame(made, schema_overrides={**texts, "not_applicable": pl.List(pl.String)})
