"""Applying repairs to a vault's files: a copy first, then bytes changed where the repair is, and nowhere else."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from workbench.errors import BadInputError
from workbench.text.ids import content_hash
from workbench.vault.fix.edits import RefusedError, Replacement, replaced, with_link

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

KeepCopies = Callable[[Mapping[str, bytes], Mapping[str, Any]], Path]
"""Keeps files by name, and JSON values beside them; returns the folder they are in."""


@dataclass(frozen=True, eq=False)
class FixResult:
    """What became of proposals.

    Attributes:
        proposals: As given, with `outcome`: `applied`, `proposed` (a dry run), or `refused`, and `reason`.
        files: Files that were written.
        copies: The folder with the files as they were; None where none was written.
    """

    proposals: pl.DataFrame
    files: int
    copies: Path | None


@dataclass(frozen=True)
class _Edit:
    path: str
    file: Path
    before: bytes
    after: bytes


def apply_fixes(
    root: Path, proposals: pl.DataFrame, hashes: Mapping[str, str], keep: KeepCopies, *, is_dry_run: bool
) -> FixResult:
    """Apply proposals, or tell which could be.

    A file is written when it is the one that the index read, lies in the vault, can be decoded, is not under
    `_archive/`, and takes all of its proposals. Encoding, byte-order mark, ends of lines and every other byte stay. A
    file with several names is written in place, so that they stay names of one file; any other is replaced at once.

    Args:
        root: The vault, links resolved.
        proposals: Rows of `propose`.
        hashes: Path to the SHA-256 of the content that the index read.
        keep: Called once, before the first write.
        is_dry_run: Work out every edit, write nothing.

    Raises:
        OSError: The copies cannot be kept; then nothing was written.
    """
    refused: dict[str, str] = {}
    edits = []
    for (path,), rows in proposals.group_by("path", maintain_order=True):
        try:
            edits.append(_edit(root, str(path), rows, hashes))
        except (RefusedError, OSError) as error:
            refused[str(path)] = str(error)
    copies = None
    if edits and not is_dry_run:
        about = {"root": str(root), "after": {edit.path: content_hash(edit.after) for edit in edits}}
        copies = keep({edit.path: edit.before for edit in edits}, about)
    written = 0
    for edit in edits if copies else ():
        try:
            _write(edit.file, edit.before, edit.after)
            written += 1
        except (RefusedError, OSError) as error:
            refused[edit.path] = str(error)
    return FixResult(_told(proposals, refused, is_dry_run=is_dry_run), written, copies)


def put_back(root: Path, about: Mapping[str, Any], copies: Mapping[str, bytes]) -> dict[str, str | None]:
    """Write files back as they were before `apply_fixes`.

    Args:
        root: The vault, links resolved.
        about: What was kept beside the copies.
        copies: Path to content.

    Returns:
        Path to why it was not written back: it was changed since. None where it was.

    Raises:
        BadInputError: The copies are of another vault.
    """
    if about["root"] != str(root):
        raise BadInputError(f"the copies are of the vault {about['root']}, not of {root}")
    outcomes: dict[str, str | None] = {}
    for path, before in copies.items():
        try:
            file = _inside(root, path)
            now = file.read_bytes()
            is_ours = content_hash(now) == about["after"][path]
            if is_ours:
                _write(file, now, before)
            outcomes[path] = None if is_ours else "it was changed since"
        except (RefusedError, OSError) as error:
            outcomes[path] = str(error)
    return outcomes


def _edit(root: Path, path: str, rows: pl.DataFrame, hashes: Mapping[str, str]) -> _Edit:
    if not rows["is_writable"].all():
        raise RefusedError("nothing under _archive/ is written")
    file = _inside(root, path)
    before = file.read_bytes()
    if content_hash(before) != hashes.get(path):
        raise RefusedError("the file changed since it was indexed: index the vault again")
    mark, encoding = next((each for each in _MARKS if before.startswith(each[0])), (b"", "utf-8"))
    try:
        text = before[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        raise RefusedError(f"the file is no {encoding.upper()}: {error.reason}") from error
    return _Edit(path, file, before, mark + _edited(text, path, rows).encode(encoding))


def _edited(text: str, path: str, rows: pl.DataFrame) -> str:
    replacements = [
        Replacement(row["place"], row["found"], row["proposed_link"], row["proposed_path"])
        for row in rows.filter(pl.col("place").is_not_null()).iter_rows(named=True)
    ]
    text = replaced(text, path, replacements)
    for link in rows.filter(pl.col("place").is_null())["proposed_link"].unique(maintain_order=True):
        text = with_link(text, link)
    return text


def _inside(root: Path, path: str) -> Path:
    """The file itself, links followed.

    Raises:
        RefusedError: It lies outside of the vault.
    """
    file = (root / path).resolve()
    if not file.is_relative_to(root):
        raise RefusedError(f"the file lies outside of the vault, at {file}: edit it there")
    return file


def _write(file: Path, before: bytes, after: bytes) -> None:
    """Write a file that has not changed in the meantime, durably."""
    about = file.stat()
    if file.read_bytes() != before:
        raise RefusedError("the file changed while it was being repaired")
    if about.st_nlink > 1:
        with file.open("r+b") as stream:
            stream.write(after)
            stream.truncate()
            stream.flush()
            os.fsync(stream.fileno())
        return
    fresh = file.with_name(f".{file.name}.workbench-{os.getpid()}")
    try:
        with fresh.open("xb") as stream:
            os.fchmod(stream.fileno(), about.st_mode & 0o7777)
            stream.write(after)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def _told(proposals: pl.DataFrame, refused: Mapping[str, str], *, is_dry_run: bool) -> pl.DataFrame:
    reasons = pl.Series("reason", [refused.get(path) for path in proposals["path"]], dtype=pl.String)
    done = "proposed" if is_dry_run else "applied"
    outcome = pl.when(pl.col("reason").is_null()).then(pl.lit(done)).otherwise(pl.lit("refused"))
    return proposals.with_columns(reasons).with_columns(outcome.alias("outcome"))
