"""Repairs of one vault: what is proposed, which of it is sure enough, and what becomes of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import polars as pl

from workbench.vault.fix.apply import FixResult, KeepCopies, apply_fixes
from workbench.vault.fix.proposals import KINDS, FixKind, VaultNames, propose
from workbench.vault.operations import Operations

MIN_CONFIDENCE: Final = 0.9
"""From which a proposal is applied: a name of ten characters with one of them wrong."""


@dataclass(frozen=True)
class FixOptions:
    """What is to be repaired.

    Attributes:
        kinds: The kinds wanted.
        min_confidence: Proposals below it are shown and left.
        only: Only proposals for this file, if given.
        is_dry_run: Write nothing.
    """

    kinds: Collection[FixKind] = KINDS
    min_confidence: float = MIN_CONFIDENCE
    only: str | None = None
    is_dry_run: bool = True


def fix_vault(
    read: Operations, root: Path, moved: Mapping[str, str], keep: KeepCopies, options: FixOptions
) -> FixResult:
    """Propose repairs, and apply those that are sure enough.

    Args:
        read: The vault as its last run left it.
        root: Its folder, links resolved.
        moved: A path that a note had before, to its present one.
        keep: Keeps copies of what is about to be edited.
        options: What is wanted.

    Returns:
        Every proposal with its `outcome`, `left` for those not sure enough.

    Raises:
        OSError: The copies cannot be kept; then nothing was written.
    """

    def parent_of(orphan: str) -> tuple[str, float] | None:
        best = read.suggest(orphan, limit=1).links
        return (best["path"][0], best["score"][0]) if best.height else None

    names = VaultNames(read.titles, read.other_names, read.other_paths, moved)
    most = read.settings.issues_max
    proposals = propose(read.links, read.graph, names, suggest_parent=parent_of, kinds=options.kinds, most=most)
    if options.only is not None:
        proposals = proposals.filter(pl.col("path") == options.only)
    is_sure = pl.col("confidence") >= options.min_confidence
    hashes = dict(read.notes.select("path", "content_hash").iter_rows())
    done = apply_fixes(root, proposals.filter(is_sure), hashes, keep, is_dry_run=options.is_dry_run)
    reason = pl.lit(f"less sure than {options.min_confidence:g}", pl.String).alias("reason")
    left = proposals.filter(~is_sure).with_columns(reason, pl.lit("left").alias("outcome"))
    return replace(done, proposals=pl.concat([done.proposals, left]))
