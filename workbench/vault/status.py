"""What is known of the vaults that were indexed, and what has changed in a folder since."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.store.lake import Lake
from workbench.vault.changes import KnownVault
from workbench.vault.landing import read_known
from workbench.vault.walk import FoundFile, list_files, one_path_each

if TYPE_CHECKING:
    import polars as pl

_COUNTS: Final = """
select
    count(*) filter (target_path is not null) as links_that_lead_somewhere,
    count(*) filter (target_path is null) as links_to_nothing,
    count(*) filter (not anchor_found) as links_to_missing_anchors,
    count(*) filter (link_class = 'sequential') as sequential,
    count(*) filter (link_class = 'associative') as associative
from note_links
where vault_id = $1
"""


def vaults_df(lake: Lake) -> pl.DataFrame:
    """All vaults, the one indexed last first: the rows of the view `vaults`.

    Raises:
        StoreError: The tables cannot be read.
    """
    return lake.sql("select * from vaults order by recorded_at desc, vault_id")


def status_of(lake: Lake, vault_id: str) -> dict[str, Any]:
    """What is known of one vault.

    Args:
        lake: The tables.
        vault_id: A vault that was indexed.

    Returns:
        The columns of `vaults`, counts of links, issues by kind, and what has changed in the folder since.

    Raises:
        StoreError: The tables cannot be read.
    """
    (about,) = lake.sql("select * from vaults where vault_id = $1", [vault_id]).to_dicts()
    (counts,) = lake.sql(_COUNTS, [vault_id]).to_dicts()
    asked = "select kind, count(*) as n from note_issues where vault_id = $1 group by kind order by n desc, kind"
    kinds = lake.sql(asked, [vault_id]).rows()
    return {**about, **counts, "issue_kinds": dict(kinds), "since": changes_since(lake, vault_id, Path(about["root"]))}


def changes_since(lake: Lake, vault_id: str, root: Path) -> dict[str, Any]:
    """What has changed in a vault's folder since it was indexed, by size, time and inode alone; nothing is opened.

    Returns:
        `is_there`, and the number of notes that are `new`, `changed` and `gone`.
    """
    try:
        files = list_files(root).files
    except OSError:
        return {"is_there": False, "new": 0, "changed": 0, "gone": 0}
    others = one_path_each(files)
    own = [file for file in files if file.kind == "note" and file.path not in others]
    return {"is_there": True, **_compared(read_known(lake, vault_id), own)}


def _compared(known: KnownVault, notes: Iterable[FoundFile]) -> dict[str, int]:
    found = {file.path: file for file in notes}
    changed = (path for path, file in found.items() if path in known.notes and not known.looks_unchanged(file))
    return {
        "new": len(found.keys() - known.notes.keys()),
        "changed": sum(1 for _ in changed),
        "gone": len(known.notes.keys() - found.keys()),
    }
