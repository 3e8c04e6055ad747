"""How a vault grew: notes and links over time, read from the history of the git repository that it lies in."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import polars as pl

from workbench.errors import BadInputError

_SEPARATOR: Final = "\x1e"
_LINK: Final = re.compile(r"\[\[[^\[\]\n]+\]\]|\[[^\[\]\n]*\]\((?!\w+:|#)[^()\s]+\)")
"""Links as a line of a diff shows them: wikilinks, embeds, Markdown links that are no address. A line alone does not
say whether it lies in a code block, so that links in code count here, unlike in the index."""

_SCHEMA: Final[dict[str, Any]] = {
    "committed_at": pl.Datetime("us", "UTC"),
    "commit": pl.String,
    "notes_added": pl.Int64,
    "notes_removed": pl.Int64,
    "links_added": pl.Int64,
    "links_removed": pl.Int64,
    "notes": pl.Int64,
    "links": pl.Int64,
}


@dataclass(frozen=True, eq=False)
class Growth:
    """Notes and links over time.

    Attributes:
        commits: Oldest first, one row a commit that touched a note: `committed_at`, `commit`, `notes_added`,
            `notes_removed`, `links_added`, `links_removed`, and the running `notes` and `links`.
        lack: Why there is no history; None where there is one.
    """

    commits: pl.DataFrame
    lack: str | None = None


def growth(root: Path, *, run: Callable[[list[str]], str | None] | None = None) -> Growth:
    """Read how a vault grew along the first parents of the checked-out commit.

    A merge counts as the one step that it was for the branch. Renames are no growth. The counts are those of lines in
    diffs: close to the index, not equal to it (links in code count). Nothing is written; no hook, filter or external
        diff of the
    repository runs.

    Args:
        root: The vault.
        run: From arguments to what git prints, None where it fails; git itself unless given.

    Raises:
        BadInputError: git's output is not of the form that was asked for.
    """
    ask = run or (lambda arguments: _git(root, arguments))
    if ask(["rev-parse", "--is-inside-work-tree"]) is None:
        return Growth(pl.DataFrame(schema=_SCHEMA), f"no history: {root} is in no git repository, or there is no git")
    told = ask(_log_arguments())
    if not told:
        return Growth(pl.DataFrame(schema=_SCHEMA), "no history: the repository has no commit that touches a note")
    rows = pl.DataFrame(list(_commits(told)), schema=dict(list(_SCHEMA.items())[:6]), orient="row")
    running = rows.with_columns(
        (pl.col("notes_added") - pl.col("notes_removed")).cum_sum().alias("notes"),
        (pl.col("links_added") - pl.col("links_removed")).cum_sum().alias("links"),
    )
    return Growth(running.select(*_SCHEMA))


def _log_arguments() -> list[str]:
    form = f"--format={_SEPARATOR}%H %cI"
    return [
        "-c", "core.quotePath=false", "log", "--reverse", "--first-parent", "--diff-merges=first-parent",
        "--find-renames",
        "--no-ext-diff", "--no-textconv", "--no-color", "--unified=0", "--relative", form, "-p", "--", "*.md",
    ]  # fmt: skip


def _git(root: Path, arguments: list[str]) -> str | None:
    """What git prints, None where it fails or is not there."""
    command = ["git", "-C", str(root), "--no-pager", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603
    except OSError:
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def _commits(told: str) -> Iterator[tuple[datetime, str, int, int, int, int]]:
    """One row a commit, in the order told."""
    for entry in told.split(_SEPARATOR)[1:]:
        head, _, body = entry.partition("\n")
        commit, _, moment = head.partition(" ")
        try:
            when = datetime.fromisoformat(moment.strip())
        except ValueError as error:
            raise BadInputError(f"git log told {head!r} where a commit and its time belong") from error
        yield when, commit, *_counted(body)


def _counted(body: str) -> tuple[int, int, int, int]:
    """Notes added and removed, links added and removed, in the diff of one commit."""
    notes_added = notes_removed = links_added = links_removed = 0
    in_hunk = False
    for line in body.split("\n"):
        if line.startswith("diff --git "):
            in_hunk = False
        elif line.startswith("@@"):
            in_hunk = True
        elif in_hunk and line.startswith("+"):
            links_added += len(_LINK.findall(line))
        elif in_hunk and line.startswith("-"):
            links_removed += len(_LINK.findall(line))
        elif not in_hunk:
            notes_added += line.startswith("new file mode")
            notes_removed += line.startswith("deleted file mode")
    return notes_added, notes_removed, links_added, links_removed
