"""Frames of a vault written by hand: `notes` and `links` as the operations take them."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import polars as pl

from workbench.vault.graph import NoteGraph
from workbench.vault.note_vectors import NoteVectors

NOW = datetime(2026, 3, 1, tzinfo=UTC)

_LINKS = {
    "source_path": pl.String,
    "place": pl.Int64,
    "line": pl.Int64,
    "syntax": pl.String,
    "raw": pl.String,
    "target_path": pl.String,
    "target_kind": pl.String,
    "link_class": pl.String,
}


def notes_of(*paths, tags=None, at=None, titles=None):
    """Notes of these paths; a title is the name unless given."""
    times = [(at or {}).get(path, NOW) for path in paths]
    return pl.DataFrame(
        {
            "path": paths,
            "title": [(titles or {}).get(path, path.rsplit("/", 1)[-1].removesuffix(".md")) for path in paths],
            "folder": [path.split("/")[0] if "/" in path else None for path in paths],
            "tags": [(tags or {}).get(path, []) for path in paths],
            "modified_at": times,
            "indexed_at": times,
            "size_bytes": [10] * len(paths),
        },
        schema_overrides={
            "path": pl.String,
            "title": pl.String,
            "folder": pl.String,
            "tags": pl.List(pl.String),
            "modified_at": pl.Datetime("us", "UTC"),
            "indexed_at": pl.Datetime("us", "UTC"),
        },
    )


def links_of(*rows):
    """Links from (source, target) or (source, target, class); a target that starts with `?` is broken."""
    places, made = {}, []
    for source, target, *kind in rows:
        place = places[source] = places.get(source, -1) + 1
        broken, itself = target.startswith("?"), target == source
        made.append(
            {
                "source_path": source,
                "place": place,
                "line": place + 1,
                "syntax": "wikilink",
                "raw": target.removeprefix("?").removesuffix(".md"),
                "target_path": None if broken else target,
                "target_kind": None if broken else "self" if itself else "note",
                "link_class": None if broken or itself else (kind or ["associative"])[0],
            }
        )
    return pl.DataFrame(made, schema=_LINKS)


def vault_of(text, **more):
    """Notes and links from `A>B A>C D`: an arrow is a link, a lone name a note; every name is a note, in order."""
    pairs = [word.split(">") for word in text.split()]
    paths = sorted({f"{name}.md" for pair in pairs for name in pair if not name.startswith("?")})
    links = links_of(*[(f"{a}.md", f"{b}.md") for a, b in (pair for pair in pairs if len(pair) > 1)])
    notes = notes_of(*paths, **more)
    return notes, links, NoteGraph.from_frames(notes, links)


def vectors_of(rows):
    """Vectors by path."""
    return NoteVectors(tuple(rows), np.array(list(rows.values()), dtype=np.float32), "by hand")
