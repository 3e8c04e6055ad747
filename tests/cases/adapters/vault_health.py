"""Field cases of vault health: index the case's folder, audit it, compare all that it expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cases.landed import PROSE
from workbench import open as open_bench


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Every figure and list that the case names."""
    expected = {key: value for key, value in case["expected"].items() if key not in {*PROSE, "reason", "verified"}}
    vault = open_bench(home).vault(folder)
    vault.index()
    report, links = vault.health(), vault.links
    linked = vault.graph.inbound
    told = {
        "score": report.score,
        "orphans": report.orphans["path"].to_list(),
        "dead_ends": report.dead_ends["path"].to_list(),
        "no_inbound": [path for path, count in zip(vault.graph.paths, linked, strict=True) if not count],
        "counts": {"notes": report.counts.notes, "links": report.counts.links, "dead": report.counts.broken},
        "missing_attachments": report.missing_attachments["target"].unique(maintain_order=True).to_list(),
        "broken_note_links": report.broken_links["target"].to_list(),
        "resolved": {row["target"]: row["target_path"] for row in links.to_dicts() if row["target_path"]},
    }
    for key, value in expected.items():
        if key == "broken":
            pairs = report.broken_links.select("source_path", "target").rows()
            assert pairs == [(each["source"], each["target"]) for each in value]
        elif key == "not_orphans":
            assert not set(value) & set(told["orphans"])
        elif key == "resolved":
            assert {name: told[key].get(name) for name in value} == value
        elif isinstance(value, list):
            assert sorted(told[key]) == sorted(value), key
        else:
            assert told[key] == value, key
