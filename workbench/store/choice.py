"""Which sessions are meant by a project or by a text, for commands that cannot be undone: exact, nothing guessed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from workbench.store.lake import Lake, identifier
from workbench.store.schema import STRING, STRINGS, Table

JSON_COLUMNS: Final = frozenset({"payload", "input"})
"""Columns whose texts are JSON."""

PROJECT_SQL: Final = """
select session_id from sessions
where project_id = $project or cwd in (select unnest($paths::varchar[]))
   or exists (select 1 from unnest($paths::varchar[]) as p(path) where starts_with(cwd, path || '/'))
"""


def of_project(lake: Lake, project: str) -> set[str]:
    """Sessions of a project.

    Args:
        lake: The tables.
        project: Its id, or a folder: sessions that began in it or below it.

    Raises:
        StoreError: The tables cannot be read.
    """
    folder = Path(project).expanduser()
    paths = {project.rstrip("/"), str(folder), str(folder.absolute())} - {""}
    frame = lake.sql(PROJECT_SQL, {"project": project, "paths": sorted(paths)})
    return set(frame["session_id"].to_list())


def matching(lake: Lake, text: str) -> set[str]:
    """Sessions of which any text, path, title or label, present or past, contains a text; case counts.

    Args:
        lake: The tables.
        text: What is looked for; in JSON in the form that it has there.

    Raises:
        StoreError: The tables cannot be read.
    """
    escaped = json.dumps(text, ensure_ascii=False)[1:-1]
    query = " union ".join(_queries(lake))
    return set(lake.sql(query, {"text": text, "escaped": escaped})["session_id"].to_list())


def _queries(lake: Lake) -> Iterator[str]:
    for table in lake.tables.values():
        if "session_id" in table.schema.names:
            name = table.name + ("_history" if table.kind == "entity" else "")
            yield f"select session_id from {identifier(name)} where {_contains(table)}"
    if {"blobs", "artifacts"} <= lake.tables.keys():
        yield (
            "select session_id from artifacts join blobs on sha256 = artifact_id "
            f"where {_contains(lake.tables['blobs'], 'blobs.')}"
        )


def _contains(table: Table, prefix: str = "") -> str:
    """The condition that one of the columns of texts contains the text."""
    conditions = []
    for column in table.declared:
        name = prefix + identifier(column.name)
        shown = f"array_to_string({name}, chr(10))" if column.type == STRINGS else name
        if column.type in (STRING, STRINGS):
            conditions.append(f"contains({shown}, {'$escaped' if column.name in JSON_COLUMNS else '$text'})")
    return " or ".join(conditions)
