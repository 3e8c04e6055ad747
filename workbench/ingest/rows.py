"""Rows of a batch of sessions, gathered table by table and made into Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from workbench.ingest.derive.exchanges import Row
from workbench.ingest.derive.session import derive
from workbench.ingest.merge import SessionSource, merge
from workbench.ingest.sources import Content
from workbench.store.landing_key import LandingKey
from workbench.store.schema import LANDING_ID
from workbench.store.tables import DERIVED, TABLES


class BatchRows:
    """Gathers the rows of sessions that will land together, as columns: turned while they are still in the cache."""

    def __init__(self) -> None:
        self._columns: dict[str, list[list[Any]]] = {table.name: [[] for _ in table.columns] for table in DERIVED}
        self._blobs: dict[str, str] = {}

    def add(self, key: LandingKey, contents: Sequence[Content], older: Sequence[SessionSource]) -> None:
        """Merge and derive one session.

        Args:
            key: Its landing.
            contents: The newest content of every source that has records of it.
            older: Older contents of the same sources that still tell something.
        """
        session_id = key.session_id
        sources = [SessionSource(content.entry.source_id, 0, content.parsed) for content in contents]
        events = merge(session_id, [*sources, *older])
        credit = {source.source_id: (source.parsed.role != "subagent", source.source_id) for source in sources}
        owned = [content for content in contents if content.entry.session_id == session_id]
        issues = [row for content in owned for row in _issue_rows(content)]
        agent = (owned or contents)[0].entry.format
        derived = derive(session_id, agent, events, credit, len(issues))
        self._blobs.update(derived.blobs)
        own: dict[str, list[Row]] = {"sources": [_source_row(content) for content in owned], "import_issues": issues}
        for name, rows in (derived.rows | own).items():
            *columns, landings = self._columns[name]
            landings += [key.landing_id] * len(rows)
            for column, values in zip(columns, zip(*rows, strict=True), strict=bool(rows)):
                column.extend(values)

    def tables(self) -> dict[str, pa.Table]:
        """Arrow tables of all derived tables, and of `blobs`."""
        made = {table.name: table.from_columns(self._columns[table.name]) for table in DERIVED}
        blobs = [(sha256, text, len(text.encode())) for sha256, text in self._blobs.items()]
        return {**made, "blobs": TABLES["blobs"].from_rows(blobs)}


def only(tables: Mapping[str, pa.Table], keys: Sequence[LandingKey]) -> dict[str, pa.Table]:
    """The rows of some landings; tables that belong to no session stay whole."""
    import pyarrow.compute as pc  # noqa: PLC0415  (80 ms that a process which only prepares does not need)

    ids = pa.array([key.landing_id for key in keys], pa.int64())
    return {
        name: rows.filter(pc.is_in(rows[LANDING_ID], ids)) if LANDING_ID in rows.column_names else rows
        for name, rows in tables.items()
    }


def _source_row(content: Content) -> Row:
    entry = content.entry
    return (
        entry.source_id,
        entry.session_id,
        entry.session_ids,
        entry.path,
        entry.format,
        entry.role,
        entry.parent_source_id,
        content.sha256 if content.archived else None,
        list(content.older),
        entry.size_bytes,
        entry.mtime_ns,
        entry.inode,
        content.parsed.lines,
        len(content.parsed.records),
        entry.imported_at if content.archived else None,
    )


def _issue_rows(content: Content) -> list[Row]:
    entry = content.entry
    return [
        (entry.session_id, entry.source_id, issue.line, issue.issue, issue.detail, issue.count)
        for issue in content.parsed.issues
    ]
