"""Field cases of links in notes: the vault is indexed, and every link is asked for in the tables."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import workbench as wb
from cases.landed import PROSE

KEYS = {
    "links",
    "broken",
    "inbound_of",
    "link_targets",
    "heading_of",
    "not_links",
    "external",
    "notes",
    "resolves",
    "file_names_on_disk",  # says how the files were written
    "verified",
    "reason",
}


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Index the folder and compare all that the case expects."""
    expected = {key: value for key, value in case["expected"].items() if key not in PROSE}
    assert expected.keys() <= KEYS, f"no rule looks up {sorted(expected.keys() - KEYS)}"
    vault = wb.open(home).vault(folder)
    run = vault.index()
    links = vault.links.to_dicts()
    assert run.notes == expected.get("notes", run.notes)
    if "broken" in expected:
        assert [link["raw"] for link in links if link["target_path"] is None] == expected["broken"]
    if "link_targets" in expected:
        assert [link["target"] for link in links] == expected["link_targets"]
    for path, count in expected.get("inbound_of", {}).items():
        assert sum(link["target_path"] == path for link in links) == count
    check_links(expected, links)
    check_resolves(expected, links)


def check_links(expected: dict[str, Any], links: list[dict[str, Any]]) -> None:
    """Links in order with all they say; or, of Markdown, by what they show."""
    wanted = expected.get("links", [])
    if isinstance(wanted, list):
        for link, each in zip(links, wanted, strict=bool(wanted)) if wanted else ():
            assert {**each, "resolves_to": link["target_path"]} == each
            assert {key: link[key] for key in each if key != "resolves_to"} == {
                key: value for key, value in each.items() if key != "resolves_to"
            }
        return
    shown = {link["display"]: link for link in links}
    assert {name: link["target_path"] for name, link in shown.items()} == wanted
    assert shown.keys().isdisjoint([*expected.get("not_links", []), *expected.get("external", [])])
    for name, heading in expected.get("heading_of", {}).items():
        assert (shown[name]["heading"], shown[name]["anchor_found"]) == (heading, True)


def check_resolves(expected: dict[str, Any], links: list[dict[str, Any]]) -> None:
    """`source -> name (typed decomposed)` to the note it means; the path is compared as a name, not by code points."""
    found = {(nfc(link["source_path"]), nfc(link["raw"].split("#")[0])): link["target_path"] for link in links}
    for told, path in expected.get("resolves", {}).items():
        source, _, name = told.split(" (")[0].partition(" -> ")
        assert nfc(found[nfc(source), nfc(name)]) == nfc(path), told


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
