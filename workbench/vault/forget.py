"""Forgetting a vault: what a home holds of it, and its erasure; the folder of notes itself is never touched.

Rows of every table of the vault, current and past; its search index with texts and vectors; copies of notes that a fix
edited; reports inside the home. The run's rows go first, so that from then on nothing of the vault is shown; what is
left of a forget that was killed is found by the vault's id and goes with the next one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import NotFoundError
from workbench.store.aside import ABOUT, ASIDE
from workbench.store.delta import NOTHING
from workbench.store.forget import Step, remove_left_overs, reports_about, size_of
from workbench.store.lake import Lake
from workbench.store.landing_key import VAULT_HEAD
from workbench.store.scrub import scrub

if TYPE_CHECKING:
    from workbench.vault.note_search import NoteSearch


@dataclass
class VaultForgotten:
    """What was forgotten of a vault, or would be.

    Attributes:
        dry_run: Whether nothing was changed.
        vault_id: The vault.
        root: Its folder, which stays as it is.
        rows: Table name to rows that went, of all runs and versions.
        chunks: Pieces of notes in the search index that went, with their vectors.
        copies: Folders of copies that fixes kept; with these a fix can no longer be undone.
        reports: Reports inside the home that told of the vault, with their manifests.
        bytes: Size of copies and reports.
        left: Data files that a writer at work may need and that were left; forget once more to remove them.
    """

    dry_run: bool
    vault_id: str
    root: str
    rows: dict[str, int]
    chunks: int
    copies: list[str]
    reports: list[str]
    bytes: int
    left: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known of the vault."""
        return not (self.rows or self.chunks or self.copies or self.reports)


def known_rows(lake: Lake, vault_id: str) -> dict[str, int]:
    """Rows of a vault in the newest version of each table, hidden ones included; only tables that have any.

    Raises:
        StoreError: The tables cannot be read.
    """
    counted = {}
    for name in _tables(lake):
        _, rows = lake.stores[name].read(["vault_id"])
        counted[name] = rows.filter(pc.equal(rows["vault_id"], pa.scalar(vault_id))).num_rows
    return {name: count for name, count in counted.items() if count}


def forget_vault(
    lake: Lake,
    search: NoteSearch,
    vault_id: str,
    root: Path,
    *,
    dry_run: bool = False,
    step: Step = lambda _: None,
    wait_seconds: float = 600,
) -> VaultForgotten:
    """Remove everything of a vault from a home, for good.

    Args:
        lake: The home's tables.
        search: Over the vault's notes.
        vault_id: The vault.
        root: Its folder; it need not be there any more.
        dry_run: Change nothing.
        step: Told what comes next.
        wait_seconds: How long to wait for a run over the vault, an import or a backup.

    Raises:
        NotFoundError: Nothing is known of the vault.
        BusyError: Another process is at work and does not end; nothing was changed.
        StoreError: The home cannot be read or written to.
    """
    home = lake.home
    with ExitStack() as held:
        held.enter_context(home.copying_lock(wait_seconds=wait_seconds))
        held.enter_context(home.vault_lock(vault_id, wait_seconds=wait_seconds))
        held.enter_context(home.landing_lock(wait_seconds=wait_seconds, is_import=False))
        about = _plan(lake, search, vault_id, root, dry_run=dry_run)
        if about.is_empty:
            raise NotFoundError(f"nothing is known of a vault {root}; `workbench vault status` lists all vaults")
        if dry_run:
            return about
        for name in _tables(lake):
            step(name)
            if name in about.rows:
                lake.stores[name].delete_where("vault_id", [vault_id])
        step("search index")
        search.forget()
        for folder in about.copies:
            shutil.rmtree(folder)
        for report in about.reports:
            Path(report).unlink(missing_ok=True)
        remove_left_overs(home)
        for name in _tables(lake):
            step(name)
            if lake.stores[name].version() != NOTHING:
                about.left += map(str, scrub(lake.stores[name], is_locked=name != VAULT_HEAD))
    return about


def _tables(lake: Lake) -> list[str]:
    """The tables of vaults, that of the runs first."""
    names = [name for name, table in lake.tables.items() if "vault_id" in table.schema.names]
    return sorted(names, key=lambda name: (name != VAULT_HEAD, name))


def is_known(lake: Lake, vault_id: str) -> bool:
    """Whether any row of a vault is stored, shown or not.

    Raises:
        StoreError: The tables cannot be read.
    """
    return bool(known_rows(lake, vault_id))


def _plan(lake: Lake, search: NoteSearch, vault_id: str, root: Path, *, dry_run: bool) -> VaultForgotten:
    copies = list(_copies(lake.home.root, str(root)))

    def is_about(parameters: Mapping[str, Any]) -> bool:
        return parameters.get("vault") == str(root)

    reports = list(reports_about(lake.home, is_about))
    return VaultForgotten(
        dry_run,
        vault_id,
        str(root),
        known_rows(lake, vault_id),
        search.stored_chunks(),
        list(map(str, copies)),
        list(map(str, reports)),
        sum(map(size_of, [*copies, *reports])),
    )


def _copies(home: Path, root: str) -> Iterator[Path]:
    """Folders of copies that a fix of this vault kept."""
    for about in sorted((home / ASIDE).glob(f"*/{ABOUT}")):
        try:
            told = json.loads(about.read_bytes())["about"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # of something else, or torn: what keeps copies writes this last
        if isinstance(told, dict) and told.get("root") == root:
            yield about.parent
