"""Field cases of front matter and tags: the vault is indexed, and the tables are asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import workbench as wb
from cases.landed import PROSE
from workbench.vault.front_matter import block_of
from workbench.vault.tags import parents

KEYS = {
    "notes",
    "links_to_Home_in_body",
    "links_to_Home_in_front_matter",
    "tags",
    "issues_name_at_least",
    "exit",  # a run that raises nothing and has read all files
    "properties",
    "body_contains",
    "parents",
    "not_tags",
    "count_of",
    "reason",
}


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Index the folder and compare all that the case expects."""
    expected = {key: value for key, value in case["expected"].items() if key not in PROSE}
    assert expected.keys() <= KEYS, f"no rule looks up {sorted(expected.keys() - KEYS)}"
    vault = wb.open(home).vault(folder)
    run = vault.index()
    assert (run.notes, run.unread) == (expected.get("notes", run.notes), 0)
    for place, in_front_matter in (("body", False), ("front_matter", True)):
        if f"links_to_Home_in_{place}" in expected:
            asked = "select distinct source_path from note_links where target_path = 'Home.md' and in_front_matter = $1"
            found = set(vault.sql(asked, [in_front_matter])["source_path"])
            assert found == set(expected[f"links_to_Home_in_{place}"])
    named = set(vault.sql("select distinct path from note_issues")["path"])
    assert named >= set(expected.get("issues_name_at_least", []))
    check_tags(expected, vault)
    for path, properties in expected.get("properties", {}).items():
        asked = "select key, value from note_fields where path = $1 and origin = 'front_matter'"
        assert {key: json.loads(value) for key, value in vault.sql(asked, [path]).rows()} == properties, path
    for path, texts in expected.get("body_contains", {}).items():
        text = vault.text(path)
        assert [each for each in texts if each not in text[block_of(text).body :]] == [], path


def check_tags(expected: dict[str, Any], vault: Any) -> None:
    """Tags of one note, or of each note that is named; their parents; what is none; how often one occurs."""
    rows = vault.sql("select path, tag from note_tags order by path, place").rows()
    wanted = expected.get("tags", {})
    if isinstance(wanted, list):
        assert list(dict.fromkeys(tag for _, tag in rows)) == wanted
    else:
        assert {path: [tag for at, tag in rows if at == path] for path in wanted} == wanted
    tags = {tag for _, tag in rows}
    assert tags.isdisjoint(expected.get("not_tags", []))
    for tag, above in expected.get("parents", {}).items():
        assert parents(tag) == above
    for tag, told in expected.get("count_of", {}).items():
        assert told.startswith("one tag, two occurrences"), told
        assert [each for _, each in rows if each.casefold() == tag] == [tag, tag]
