"""Rows of a vault's derived tables: of notes that were read now, beside those of notes that did not change."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from workbench.store.schema import LANDING_ID, Table
from workbench.store.tables import vault
from workbench.vault.anchors import has_block, has_heading, heading_key
from workbench.vault.link_class import LinkClasses
from workbench.vault.names import NamedFiles, NameIndex, Target
from workbench.vault.note_text import NoteIssue
from workbench.vault.parser import ParsedNote
from workbench.vault.walk import FoundFile

DERIVE_VERSION: Final = 2
"""Raised when the same files give other rows; the next run then takes every note apart anew."""

OF_NOTES: Final = (vault.NOTE_TAGS, vault.NOTE_ALIASES, vault.NOTE_HEADINGS, vault.NOTE_BLOCKS, vault.NOTE_FIELDS)
"""Tables whose rows are of one note and nothing else, aliases by path apart."""

NOTE_ISSUES: Final = frozenset({"encoding", "zero_byte", "front_matter"})
"""Kinds of issues that are of a note's content, and stay as long as it does."""

AS_WRITTEN: Final = (
    "source_path",
    "place",
    "line",
    "syntax",
    "raw",
    "target",
    "heading",
    "block",
    "display",
    "in_front_matter",
    "field",
)
"""Columns of a link that its note alone tells; the others depend on all notes."""

_WRAP: Final = 1 << 63

Columns = dict[str, list[Any]]


def note_rows(notes: Mapping[str, ParsedNote]) -> dict[str, list[tuple[Any, ...]]]:
    """Rows of the tables `OF_NOTES`, and `note_links` as written, without vault and landing.

    Args:
        notes: Path to what the note says.

    Returns:
        Table name to rows.
    """
    rows: dict[str, list[tuple[Any, ...]]] = {table.name: [] for table in (*OF_NOTES, vault.NOTE_LINKS)}
    for path, note in notes.items():
        rows["note_tags"] += [(path, at, *each[:1], each.origin, each.line) for at, each in enumerate(note.tags)]
        rows["note_aliases"] += [(path, alias, "front_matter") for alias in note.aliases]
        rows["note_headings"] += [(path, at, *each) for at, each in enumerate(note.headings)]
        rows["note_blocks"] += [(path, at, *each) for at, each in enumerate(note.blocks)]
        rows["note_fields"] += [
            (path, at, each.key, json.dumps(each.value, ensure_ascii=False), each.origin, each.line)
            for at, each in enumerate(note.fields)
        ]
        rows["note_links"] += [
            (path, at, each.line, *each.link[2:], each.in_front_matter, each.key) for at, each in enumerate(note.links)
        ]
    return rows


def file_rows(
    files: Iterable[FoundFile], other_paths: Mapping[str, str], hashes: Mapping[str, str]
) -> list[tuple[Any, ...]]:
    """Rows of `vault_files`, without vault and landing."""
    return [
        (
            file.path,
            file.kind,
            other_paths.get(file.path, file.path) if file.kind == "note" else None,
            file.size_bytes,
            file.mtime_ns,
            _integer(file.inode),
            _integer(file.device),
            file.link_target,
            hashes.get(file.path),
        )
        for file in files
    ]


def _integer(number: int) -> int:
    return (number + _WRAP) % (2 * _WRAP) - _WRAP


def issue_rows(issues: Iterable[tuple[str, NoteIssue]], first: Mapping[str, int]) -> list[tuple[Any, ...]]:
    """Rows of `note_issues`, without vault and landing.

    Args:
        issues: Path and issue.
        first: Path to the place of its first issue, where it has rows already.
    """
    places = dict(first)
    rows = []
    for path, issue in issues:
        place = places.get(path, 0)
        places[path] = place + 1
        rows.append((path, place, *issue))
    return rows


def to_table(table: Table, rows: Sequence[tuple[Any, ...]], vault_id: str, landing_id: int) -> pa.Table:
    """The Arrow table of rows that lack vault and landing."""
    return table.from_rows([(vault_id, *row, landing_id) for row in rows])


def carried(rows: pa.Table, column: str, paths: Sequence[str], landing_id: int) -> pa.Table:
    """The rows of notes that did not change, under the new landing."""
    kept = rows.filter(pc.is_in(rows[column], pa.array(paths, pa.string())))
    place = kept.schema.get_field_index(LANDING_ID)
    return kept.set_column(place, kept.schema.field(place), pa.array([landing_id] * kept.num_rows, pa.int64()))


class Surroundings:
    """What all notes of a vault tell about the links of each.

    Args:
        names: What there is.
        tags: Rows of `note_tags`.
        headings: Rows of `note_headings`.
        blocks: Rows of `note_blocks`.
    """

    def __init__(self, names: NamedFiles, tags: pa.Table, headings: pa.Table, blocks: pa.Table) -> None:
        self._names = NameIndex(names)
        self._headings = {path: [heading_key(each) for each in texts] for path, texts in _grouped(headings, "text")}
        self._blocks = {path: {each.casefold() for each in ids} for path, ids in _grouped(blocks, "block_id")}
        folded = {path: {each.casefold() for each in own} for path, own in _grouped(tags, "tag")}
        self._classes = LinkClasses(names.notes, folded)
        self._known: dict[tuple[str, str, bool], Target | None] = {}

    def resolved(self, written: Columns) -> Columns:
        """The columns of links that depend on all notes.

        Args:
            written: The columns `AS_WRITTEN`.

        Returns:
            target_path, target_kind, anchor_found, link_class, class_reason.
        """
        found: Columns = {name: [] for name in RESOLVED}
        sources, targets, syntaxes = written["source_path"], written["target"], written["syntax"]
        anchors = zip(written["heading"], written["block"], written["field"], strict=True)
        for source, target, syntax, anchor in zip(sources, targets, syntaxes, anchors, strict=True):
            for name, value in zip(RESOLVED, self._row(source, target, syntax, *anchor), strict=True):
                found[name].append(value)
        return found

    def _row(
        self, source: str, name: str, syntax: str, heading: str | None, block: str | None, key: str | None
    ) -> tuple[Any, ...]:
        target = self._find(name, source, is_markdown=syntax.startswith("md_"))
        if target is None:
            return None, None, None, None, None
        path, kind = target
        is_note = kind in ("note", "self")
        has_anchor = self._has_anchor(path, heading, block) if is_note else None
        classed = self._classes.classed(source, path, key) if kind == "note" else (None, None)
        return path, kind, has_anchor, *classed

    def _find(self, name: str, source: str, *, is_markdown: bool) -> Target | None:
        """As `NameIndex.find`, whose answer depends on the folder of the source alone."""
        key = (name, posixpath.dirname(source), is_markdown)
        if key not in self._known:
            found = self._names.find(name, source, is_markdown=is_markdown)
            self._known[key] = found._replace(kind="note") if found and found.kind == "self" else found
        target = self._known[key]
        return target._replace(kind="self") if target and target == (source, "note") else target

    def _has_anchor(self, path: str, heading: str | None, block: str | None) -> bool | None:
        if heading is None and block is None:
            return None
        is_there = heading is None or has_heading(heading, self._headings.get(path, ()))
        return is_there and (block is None or has_block(block, self._blocks.get(path, ())))


RESOLVED: Final = ("target_path", "target_kind", "anchor_found", "link_class", "class_reason")


def _grouped(rows: pa.Table, column: str) -> Iterable[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for path, value in zip(rows["path"].to_pylist(), rows[column].to_pylist(), strict=True):
        groups.setdefault(str(path), []).append(str(value))
    return groups.items()
