"""From a vault to the files of its report."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, Final, NamedTuple

from workbench.errors import BadInputError, StoreError
from workbench.reports.render.manifest import Manifest, write_report
from workbench.reports.render.numbers import Clock
from workbench.reports.sessions_job import ATTEMPTS
from workbench.reports.vault import held_out, vault_report
from workbench.reports.vault_frames import AskedVault, VaultFrames, read_vault

FILE: Final = "vault.html"

READ: Final = ("vault_runs", "notes", "note_links", "note_tags", "note_aliases", "note_issues")
"""Tables that the report is made from."""


class WrittenVaultReport(NamedTuple):
    """A report on disk.

    Attributes:
        path: The page.
        manifest: What it was made from.
        notes: Notes it tells of.
        score: The health score; None of a vault without notes.
        size_bytes: Of the page.
    """

    path: Path
    manifest: Path
    notes: int
    score: int | None
    size_bytes: int


def write_vault_report(
    vault: AskedVault,
    out: Path,
    versions: Callable[[], Mapping[str, int | None]],
    *,
    similarity: float | None = None,
    about: Sequence[str] = (),
    holdout: Path | None = None,
    created_at: datetime | None = None,
    zone: tzinfo | None = None,
) -> WrittenVaultReport:
    """Write the report, and beside it `<name>.manifest.json`.

    Args:
        vault: An indexed one.
        out: The file, or a folder for `vault.html`.
        versions: Tells the Delta version of each table now.
        similarity: From which two notes are of one theme; as configured unless given.
        about: Further lines for the page's foot.
        holdout: The JSON file of a hold-out check, by `workbench eval links`.
        created_at: The time it bears, with a zone; now unless given.
        zone: Of its times; None is the local one.

    Raises:
        NotFoundError: The vault was never indexed.
        BadInputError: The hold-out file is none.
        StoreError: The tables cannot be read, runs never paused, or the file cannot be written.
    """
    frames, read = _read(vault, versions, similarity)
    told = None if holdout is None else _holdout(holdout)
    made_at = datetime.now(UTC) if created_at is None else created_at
    html = vault_report(frames, created_at=made_at, zone=zone, about=about, holdout=told)
    parameters = {
        "vault": str(vault.root),
        "run_id": frames.status["run_id"],
        "vector_model": frames.status["vector_model"],
        "similarity": similarity,
        "holdout": None if holdout is None else str(holdout),
        "zone": Clock.of(zone, [made_at]).name,
    }
    path = out if out.suffix.lower() in (".html", ".htm") else out / FILE
    try:
        manifest = write_report(path, html, Manifest("vault", made_at, read, parameters))
    except OSError as error:
        why = error.strerror or error
        raise StoreError(f"the report {path} cannot be written ({why}); name another place for it") from error
    return WrittenVaultReport(path, manifest, frames.notes.height, frames.health.score, len(html.encode()))


def _holdout(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_bytes())
        held_out(told)
    except OSError as error:
        raise BadInputError(f"the hold-out file {path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInputError(f"{path} is no hold-out check; `workbench eval links --out FOLDER` writes one") from error
    return dict(told)


def _read(
    vault: AskedVault, versions: Callable[[], Mapping[str, int | None]], similarity: float | None
) -> tuple[VaultFrames, dict[str, int | None]]:
    """The vault, and the versions that it was read at: again where an index run landed in between."""
    for _ in range(ATTEMPTS):
        before = {name: version for name, version in versions().items() if name in READ}
        frames = read_vault(vault, similarity=similarity)
        if {name: version for name, version in versions().items() if name in READ} == before:
            return frames, before
    raise StoreError("index runs finish faster than the report can be made; try again in a moment")
