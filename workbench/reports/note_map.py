"""A vault as a picture: notes at their places, links between them, groups to colour by and sizes. Pure.

What a widget or a page draws; nothing here knows either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from workbench.errors import BadInputError
from workbench.reports.note_layout import note_layout
from workbench.reports.render.numbers import count, plural
from workbench.reports.render.text import one_line, shorten, visible

COLOURS: Final = ("theme", "folder", "community")
"""What notes can be coloured by: themes by meaning, top folders, communities by links."""
SIZES: Final = ("links", "pagerank")
"""What the size of a note can tell: links in and out, or PageRank."""

MOST_NOTES: Final = 10_000
"""Of a larger vault the best linked notes are drawn, and the picture says so."""
MOST_GROUPS: Final = 10
"""Groups with a colour of their own; the smaller ones share one."""
NAME_CHARACTERS: Final = 120
TEXT_CHARACTERS: Final = 20_000
"""A longer note is cut where it is shown, and says by how much."""

ROOT: Final = "(top of the vault)"
OTHERS: Final = "others"
NOWHERE: Final = {"theme": "in no theme", "folder": ROOT, "community": "alone"}
"""What notes without a group are called."""

NEEDED: Final = ("path", "title", "folder")


@dataclass(frozen=True)
class Grouping:
    """Notes by group.

    Attributes:
        names: Of the groups, the largest first; at most `MOST_GROUPS` and, after them, `OTHERS` and those without one.
        sizes: Notes of each.
        of: (n,) the group of each note.
        coloured: How many of the groups have a colour of their own, from the first.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    of: NDArray[np.int32]
    coloured: int


@dataclass(frozen=True)
class NoteMap:
    """Notes and links as they are drawn.

    Attributes:
        title: Of the vault.
        paths: Of the n notes, in order.
        titles: As a person may see them.
        places: (n, 2) from -1 to 1.
        links: (m, 2) places in `paths` of source and target, each pair of notes once a direction.
        sequential: (m,) whether the target continues the source.
        groupings: By some of `COLOURS`.
        sizes: By some of `SIZES`: (n,) from 0 to 1, the largest 1.
        remarks: What is missing, a sentence each.
    """

    title: str
    paths: tuple[str, ...]
    titles: tuple[str, ...]
    places: NDArray[np.float32]
    links: NDArray[np.int32]
    sequential: NDArray[np.bool_]
    groupings: Mapping[str, Grouping]
    sizes: Mapping[str, NDArray[np.float32]]
    remarks: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """The map as values that JSON has, one list a property."""
        return {
            "title": self.title,
            "paths": list(self.paths),
            "titles": list(self.titles),
            "x": np.round(self.places[:, 0], 4).tolist(),
            "y": np.round(self.places[:, 1], 4).tolist(),
            "links": self.links.ravel().tolist(),
            "sequential": self.sequential.astype(int).tolist(),
            "groupings": {
                name: {"names": list(g.names), "sizes": list(g.sizes), "of": g.of.tolist(), "coloured": g.coloured}
                for name, g in self.groupings.items()
            },
            "sizes": {name: np.round(values, 4).tolist() for name, values in self.sizes.items()},
            "remarks": list(self.remarks),
        }


@dataclass(frozen=True)
class NoteText:
    """A note to read.

    Attributes:
        path: Which.
        facts: Names and values, such as its tags.
        text: As a person may see it, at most `TEXT_CHARACTERS`.
        problem: Why it cannot be read; empty where it can.
    """

    path: str
    facts: tuple[tuple[str, str], ...]
    text: str
    problem: str = ""

    def plain(self) -> dict[str, Any]:
        """As values that JSON has."""
        shown = shorten(visible(self.text), TEXT_CHARACTERS)
        facts = [[name, one_line(value)] for name, value in self.facts]
        return {"path": self.path, "facts": facts, "text": shown, "problem": self.problem}


def note_map(notes: pl.DataFrame, links: pl.DataFrame, *, title: str, remarks: Sequence[str] = ()) -> NoteMap:
    """Lay a vault out.

    Args:
        notes: One row a note: `path`, `title`, `folder` (null at the top), and where known `theme` (a name, null for
            none), `community` (a number, null for none), `pagerank` (Float64).
        links: One row a link between notes: `source_path`, `target_path`, and where known `link_class`. Links to what
            is no note of `notes`, and of a note to itself, are not drawn.
        title: Of the vault.
        remarks: What else is missing in the picture.

    Raises:
        BadInputError: A needed column is absent.
    """
    _check(notes, NEEDED, "notes")
    _check(links, ("source_path", "target_path"), "links")
    pairs = _pairs(notes, links)
    told = list(remarks)
    if notes.height > MOST_NOTES:
        notes, pairs = _best_linked(notes, pairs)
        told.append(f"The {count(MOST_NOTES)} best linked notes are drawn; the search finds no others.")
    ends = pairs.select("source", "target").to_numpy().astype(np.int32).reshape(-1, 2)
    degrees = np.bincount(ends.ravel(), minlength=notes.height)
    sizes = {"links": _scaled(degrees)}
    if "pagerank" in notes.columns:
        sizes["pagerank"] = _scaled(notes["pagerank"].fill_null(0.0).to_numpy())
    return NoteMap(
        title=one_line(title),
        paths=tuple(notes["path"]),
        titles=tuple(_named(name) for name in notes["title"]),
        places=note_layout(ends[:, 0].astype(np.intp), ends[:, 1].astype(np.intp), notes.height),
        links=ends,
        sequential=pairs["is_sequential"].to_numpy().astype(np.bool_),
        groupings={name: _grouping(notes, name) for name in COLOURS if name in notes.columns},
        sizes=sizes,
        remarks=tuple(told),
    )


def _check(frame: pl.DataFrame, needed: Sequence[str], what: str) -> None:
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise BadInputError(f"{what} lack {', '.join(missing)}; they have {', '.join(frame.columns)}")


def _named(title: str | None) -> str:
    return shorten(one_line(title or ""), NAME_CHARACTERS) or "(no title)"


def _pairs(notes: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """Links between two notes: `source`, `target` (their places) and `is_sequential`, each pair once a direction."""
    if "link_class" not in links.columns:
        links = links.with_columns(pl.lit(None, pl.String).alias("link_class"))
    place = notes.select("path", pl.int_range(pl.len()).alias("place"))
    return (
        links.filter(pl.col("target_path").is_not_null() & (pl.col("source_path") != pl.col("target_path")))
        .join(place.rename({"path": "source_path", "place": "source"}), on="source_path")
        .join(place.rename({"path": "target_path", "place": "target"}), on="target_path")
        .group_by("source", "target")
        .agg((pl.col("link_class") == "sequential").any().fill_null(value=False).alias("is_sequential"))
        .sort("source", "target")
    )


def _best_linked(notes: pl.DataFrame, pairs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The best linked notes in their old order, and the links among them."""
    degrees = np.bincount(pairs.select("source", "target").to_numpy().ravel(), minlength=notes.height)
    kept = np.sort(np.argsort(-degrees, kind="stable")[:MOST_NOTES])
    new = pl.DataFrame({"old": kept, "new": np.arange(len(kept))})
    for end in ("source", "target"):
        joined = pairs.join(new.rename({"old": end, "new": f"{end}_new"}), on=end)
        pairs = joined.drop(end).rename({f"{end}_new": end})
    return notes[kept], pairs.sort("source", "target")


def _scaled(values: NDArray[Any]) -> NDArray[np.float32]:
    most = float(values.max(initial=0.0))
    return (values / most if most > 0 else np.zeros(len(values))).astype(np.float32)


def _grouping(notes: pl.DataFrame, name: str) -> Grouping:
    """Groups by size; those beyond `MOST_GROUPS` are one, and so are notes without a group."""
    named = _group_names(notes, name)
    counted = (
        named.to_frame("group").drop_nulls().group_by("group").len().sort("len", "group", descending=[True, False])
    )
    kept = counted["group"].head(MOST_GROUPS).to_list()
    places = {group: place for place, group in enumerate(kept)}
    rest = len(kept)
    of = np.array([rest + 1 if group is None else places.get(group, rest) for group in named], dtype=np.int32)
    small = counted.height - len(kept)
    names = [*(shorten(one_line(group), NAME_CHARACTERS) for group in kept), f"{OTHERS} ({plural(small, 'group')})"]
    names.append(NOWHERE[name])
    sizes = np.bincount(of, minlength=len(names))
    return Grouping(tuple(names), tuple(sizes.tolist()), of, len(kept))


def _group_names(notes: pl.DataFrame, name: str) -> pl.Series:
    """The group of each note as text; a community bears the title of its best linked note."""
    if name != "community":
        return notes[name].cast(pl.String)
    rank = "pagerank" if "pagerank" in notes.columns else "path"
    lone = notes.group_by("community").agg(pl.len().alias("members"))
    best = (
        notes.drop_nulls("community")
        .sort(rank, "path", descending=[rank == "pagerank", False])
        .group_by("community", maintain_order=True)
        .agg(pl.col("title").first().alias("named"))
        .join(lone, on="community")
        .with_columns(pl.when(pl.col("members") > 1).then(pl.format("{} ({})", "named", "community")).alias("named"))
    )
    return notes.select("community").join(best, on="community", how="left", maintain_order="left")["named"]


def note_names(notes: pl.DataFrame) -> dict[str, str]:
    """Paths by a name for choosing one: the title, and the folder it is in; each name once, in order of name."""
    found: dict[str, str] = {}
    for path, title in notes.select("path", "title").iter_rows():
        folder = one_line(path.rpartition("/")[0])
        name = f"{_named(title)}  ({folder})" if folder else _named(title)
        found[name if name not in found else f"{name} {one_line(path)}"] = path
    return dict(sorted(found.items(), key=lambda item: item[0].casefold()))
