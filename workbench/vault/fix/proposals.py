"""What could be repaired in a vault, with how sure each repair is."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

import polars as pl

from workbench.vault.fix.closest import Close, ClosestNames, loose
from workbench.vault.graph import NoteGraph
from workbench.vault.names import name_key, stem
from workbench.vault.zettel.health import is_attachment
from workbench.vault.zettel.suggest import wikilink

FixKind = Literal["broken_link", "path_alias", "missing_parent", "orphan"]
KINDS: Final[tuple[FixKind, ...]] = get_args(FixKind)

MOVED: Final = 0.98
"""Confidence of a link to the path that a note had before: only a note that took its name since could be meant."""

SAME_NAME: Final = 0.95
"""Confidence of a name that differs in case, punctuation and white space alone."""

LEAST_SIMILARITY: Final = 0.7
"""Of names that are proposed at all; below it the closest name is most often another thing."""

CERTAIN: Final = 1.0

ARCHIVE: Final = "_archive/"
"""Nothing below it is written; PAI specification, 19."""

EXEMPT: Final = re.compile(r"(?:^|/)(?:_index|MEMORY|\d{4}-\d{2}-\d{2}[^/]*|\d{4} - \d{4}-\d{2}-\d{2}[^/]*)\.md$")
"""Orphans that need no parent: daily notes, session notes, index pages; PAI specification, 19."""

_NUMBERED: Final = re.compile(r"^(\d+)\b")

SCHEMA: Final = {
    "kind": pl.String,
    "path": pl.String,
    "place": pl.Int64,
    "line": pl.Int64,
    "found": pl.String,
    "proposed_path": pl.String,
    "proposed_link": pl.String,
    "confidence": pl.Float64,
    "rule": pl.String,
    "is_writable": pl.Boolean,
}

SuggestParent = Callable[[str], tuple[str, float] | None]
"""From an orphan to the note that suits best as its parent, and the score of `suggest`."""


@dataclass(frozen=True, eq=False)
class VaultNames:
    """By what names notes go.

    Attributes:
        titles: Path to title.
        aliases: Path to the aliases of the front matter.
        other_paths: Another path of the same file, to the note's own.
        moved: A path that a note had before, to its present one.
    """

    titles: Mapping[str, str]
    aliases: Mapping[str, Collection[str]]
    other_paths: Mapping[str, str]
    moved: Mapping[str, str]


class _Found(NamedTuple):
    path: str
    confidence: float
    rule: str


def propose(
    links: pl.DataFrame,
    graph: NoteGraph,
    names: VaultNames,
    *,
    suggest_parent: SuggestParent | None = None,
    kinds: Collection[FixKind] = KINDS,
    most: int | None = None,
) -> pl.DataFrame:
    """List repairs, the surest first.

    broken_link: the link's name is replaced by that of a note which moved (0.98), or whose name differs in case,
        punctuation
    and white space alone (0.95), or comes closest: confidence is 1 - edit distance / length, halved where another note
    comes as close. path_alias: the link names another path of the same file (1). missing_parent: a folder note does
    not link to the one above (1). orphan: the best suggested parent, with the score of `suggest`.

    Args:
        links: `source_path`, `place`, `line`, `syntax`, `raw`, `target`, `target_path`, `target_kind`.
        graph: Of the vault.
        names: What notes are called.
        suggest_parent: Asked for each orphan; none are proposed without it.
        kinds: The kinds wanted.
        most: Rows of a kind at most; the surest stay.

    Returns:
        `kind`, `path` (the file to edit), `place` and `line` (of the link; null where one is added), `found` (the raw
        text of the link), `proposed_path`, `proposed_link` (of a replaced link the name alone), `confidence`, `rule`,
        `is_writable` (not under `_archive/`).

    Source: PAI specification, 19.
    """
    makers: dict[FixKind, Callable[[], Iterator[dict[str, Any]]]] = {
        "broken_link": lambda: _broken(links, graph, names),
        "path_alias": lambda: _aliased(links, graph, names),
        "missing_parent": lambda: _parentless(graph),
        "orphan": lambda: _orphans(graph, suggest_parent),
    }
    rows = []
    for kind in KINDS:
        if kind in kinds:
            made = sorted(makers[kind](), key=lambda row: (-row["confidence"], row["path"], row["place"] or 0))
            rows += [{"kind": kind, **row} for row in made[:most]]
    frame = pl.DataFrame(rows, schema={name: kind for name, kind in SCHEMA.items() if name != "is_writable"})
    return frame.with_columns((~is_archived(pl.col("path"))).alias("is_writable")).select(*SCHEMA)


def is_archived(path: pl.Expr) -> pl.Expr:
    """Whether a path lies under a folder `_archive`."""
    return path.str.starts_with(ARCHIVE) | path.str.contains(f"/{ARCHIVE}", literal=True)


def short_name(path: str, graph: NoteGraph) -> str:
    """The name by which a link means this note and no other, without brackets."""
    name = posixpath.basename(stem(path))
    return name if graph.names.get(name.lower(), 0) < 2 else stem(path)  # noqa: PLR2004


def _broken(links: pl.DataFrame, graph: NoteGraph, names: VaultNames) -> Iterator[dict[str, Any]]:
    broken = links.filter(pl.col("target_path").is_null()).to_dicts()
    broken = [row for row in broken if not is_attachment(row["target"])]
    targets = list(dict.fromkeys(row["target"] for row in broken))
    known = [(posixpath.basename(stem(path)), path) for path in graph.paths]
    known += [(names.titles[path], path) for path in graph.paths if path in names.titles]
    known += [(alias, path) for path in graph.paths for alias in names.aliases.get(path, ())]
    wanted = [posixpath.basename(stem(target)) for target in targets]
    nearest = dict(zip(targets, ClosestNames(known).find(wanted), strict=True))
    moved = {name_key(stem(old)): new for old, new in names.moved.items() if graph.place(new) is not None}
    moved |= {key: path for key, path in _by_basename(moved).items() if key not in moved}
    for row in broken:
        found = _meant(row["target"], nearest[row["target"]], moved)
        if found is not None and found.path != row["source_path"]:
            yield _replaced(row, found, graph)


def _by_basename(moved: Mapping[str, str]) -> dict[str, str]:
    """The last part of each former path to the note that had it, where only one did."""
    groups: dict[str, set[str]] = {}
    for old, new in moved.items():
        groups.setdefault(posixpath.basename(old), set()).add(new)
    return {name: next(iter(paths)) for name, paths in groups.items() if len(paths) == 1}


def _meant(target: str, close: Close | None, moved: Mapping[str, str]) -> _Found | None:
    """The note that a broken link most likely means."""
    former = moved.get(name_key(stem(target)))
    if former is not None:
        return _Found(former, MOVED, "the note moved")
    if close is None or close.similarity < LEAST_SIMILARITY:
        return None
    if loose(close.name) == loose(posixpath.basename(stem(target))):
        sure = SAME_NAME if close.is_alone else SAME_NAME / 2
        return _Found(close.path, sure, "the same name but for case, punctuation and blanks")
    sure = close.similarity if close.is_alone else close.similarity / 2
    rule = "the closest name" if close.is_alone else "the closest name, as close as another note's"
    return _Found(close.path, sure, rule)


def _aliased(links: pl.DataFrame, graph: NoteGraph, names: VaultNames) -> Iterator[dict[str, Any]]:
    """Links that name another path of the same file."""
    others = {name_key(stem(other)): path for other, path in names.other_paths.items()}
    canonical = {name_key(stem(path)) for path in graph.paths}
    for row in links.filter(pl.col("target_kind").is_in(["note", "self"])).iter_rows(named=True):
        key = name_key(stem(row["target"].strip("/")))
        if key not in canonical and others.get(key) == row["target_path"]:
            yield _replaced(row, _Found(row["target_path"], CERTAIN, "another path of the same file"), graph)


def _replaced(row: Mapping[str, Any], found: _Found, graph: NoteGraph) -> dict[str, Any]:
    return {
        "path": row["source_path"],
        "place": row["place"],
        "line": row["line"],
        "found": row["raw"],
        "proposed_path": found.path,
        "proposed_link": short_name(found.path, graph),
        "confidence": found.confidence,
        "rule": found.rule,
    }


def _parentless(graph: NoteGraph) -> Iterator[dict[str, Any]]:
    """Folder notes that do not link to the folder note of the folder above."""
    of_folder = {folder: path for path in graph.paths if (folder := _own_folder(path)) is not None}
    for folder, path in of_folder.items():
        above = posixpath.dirname(folder)
        parent = of_folder.get(above) if above else None
        if parent is not None and not graph.directed[graph.place(path), graph.place(parent)]:
            yield _added(path, parent, CERTAIN, "a folder note without a link to the one above", graph)


def _own_folder(path: str) -> str | None:
    """The folder that a note is about: it has the folder's name, or the number that the name begins with."""
    folder, name = posixpath.dirname(path), posixpath.basename(stem(path))
    called = posixpath.basename(folder)
    number = _NUMBERED.match(called)
    is_about = bool(called) and (name_key(name) == name_key(called) or (number is not None and name == number[1]))
    return folder if is_about else None


def _orphans(graph: NoteGraph, suggest_parent: SuggestParent | None) -> Iterator[dict[str, Any]]:
    for path, into, out in zip(graph.paths, graph.inbound.tolist(), graph.outbound.tolist(), strict=True):
        if suggest_parent is None or into or out or EXEMPT.search(path):
            continue
        parent = suggest_parent(path)
        if parent is not None:
            yield _added(path, parent[0], min(parent[1], CERTAIN), "the best suggested link", graph)


def _added(path: str, parent: str, confidence: float, rule: str, graph: NoteGraph) -> dict[str, Any]:
    return {
        "path": path,
        "place": None,
        "line": None,
        "found": None,
        "proposed_path": parent,
        "proposed_link": wikilink(parent, graph.names),
        "confidence": confidence,
        "rule": rule,
    }
