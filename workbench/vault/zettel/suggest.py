"""Suggest: links that a note could have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from workbench.vault.graph import NoteGraph
from workbench.vault.note_vectors import NoteVectors

PARTS: Final = ("semantic", "tag", "neighbor")
"""The terms of the score, before their weights."""

UNLINKABLE: Final = frozenset("#|^[]")
"""Characters with a meaning inside a wikilink."""

_COLUMNS: Final = {
    "path": pl.String,
    "title": pl.String,
    "score": pl.Float64,
    **dict.fromkeys(PARTS, pl.Float64),
    "shared_tags": pl.Int64,
    "mutual_links": pl.Int64,
    **dict.fromkeys((f"{part}_part" for part in PARTS), pl.Float64),
    "reason": pl.String,
    "wikilink": pl.String,
}


@dataclass(frozen=True)
class SuggestWeights:
    """Weights of the three terms; the seed's unless given (PAI, "Zettelkasten Intelligence": 0.5, 0.2, 0.3)."""

    semantic: float = 0.5
    tag: float = 0.2
    neighbor: float = 0.3

    def of(self, part: str) -> float:
        """The weight of a term of `PARTS`."""
        return {"semantic": self.semantic, "tag": self.tag, "neighbor": self.neighbor}[part]


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Links that a note could have.

    Attributes:
        note: The note.
        links: Best first: `path`, `title`, `score`, the terms `semantic`, `tag`, `neighbor` (each 0 to 1),
            `shared_tags`, `mutual_links`, the weighted `semantic_part`, `tag_part`, `neighbor_part`, whose sum is the
            score, `reason`, and `wikilink`, ready to paste: by name where only one note has it, else by path.
        lacks: What could not be judged: `the note has no vector`, or `no such note`.
    """

    note: str
    links: pl.DataFrame
    lacks: tuple[str, ...] = ()


def suggest(
    note: str,
    notes: pl.DataFrame,
    graph: NoteGraph,
    vectors: NoteVectors,
    *,
    limit: int = 5,
    exclude_linked: bool = True,
    weights: SuggestWeights | None = None,
) -> Suggestions:
    """Rank the notes that a note could link to.

    score = 0.5 max(0, cosine) + 0.2 Jaccard(tags) + 0.3 c / max(1, largest c), c being the number of ways from the note
    along two links to the candidate, every occurrence counted, and the largest is taken over all other notes.

    Args:
        note: Path of a note of the graph.
        notes: `path`, `title`, `tags` (list of strings), the frame that the graph was made of.
        graph: Of the vault.
        vectors: Of its notes; a note without one has 0 for its semantic term.
        limit: Rows at most.
        exclude_linked: Leave out what the note already links to.
        weights: Of the three terms.

    Returns:
        Rows with a score above 0; ties by path.

    Source: PAI specification, 18.6. PAI's code removes the note's own vector before reading it, so that its semantic
    term is always 0; and it proposes `[[name]]` even where two notes have the name.
    """
    place = graph.place(note)
    if place is None:
        return Suggestions(note, pl.DataFrame(schema=_COLUMNS), ("no such note",))
    lacks = (
        () if vectors.place(note) is not None else ("the note has no vector: links are judged by tags and links only",)
    )
    used = weights or SuggestWeights()
    terms = suggest_terms(place, notes, graph, vectors)
    scores = sum((terms[part] * used.of(part) for part in PARTS), start=np.zeros(len(graph)))
    scores[place] = 0
    if exclude_linked:
        scores[graph.linked_from(place)] = 0
    best = best_places(scores, graph, limit)
    best = best[scores[best] > 0]
    return Suggestions(note, _told(best, scores, terms, notes, graph, used), lacks)


def suggest_terms(
    place: int, notes: pl.DataFrame, graph: NoteGraph, vectors: NoteVectors
) -> dict[str, NDArray[np.float64]]:
    """The terms of the score for every note of the graph; the note's own entry is there, and says nothing.

    Args:
        place: Of the note.
        notes: `tags`, rows in the order of the graph's places.
        graph: Of the vault.
        vectors: Of its notes.

    Returns:
        `semantic`, `tag`, `neighbor` within [0, 1], and the counts `shared_tags` and `mutual_links`, each (notes,).
    """
    ways = mutual_links(place, graph)
    shared, tag = shared_tags(place, notes["tags"])
    semantic = np.maximum(0.0, graph.cosines(place, vectors))
    return {
        "semantic": np.nan_to_num(semantic, nan=0.0),
        "tag": tag,
        "neighbor": ways / max(1.0, ways.max(initial=0)),
        "shared_tags": shared,
        "mutual_links": ways,
    }


def mutual_links(place: int, graph: NoteGraph) -> NDArray[np.float64]:
    """Ways of two links from a note to every other, every occurrence counted; 0 for the note itself, (notes,)."""
    ways = np.asarray((graph.directed[[place], :] @ graph.directed).toarray(), dtype=np.float64).reshape(-1)
    ways[place] = 0
    return ways


def shared_tags(place: int, tags: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many tags each note shares with one, and the Jaccard of the two sets, 0 where one is empty; each (notes,)."""
    own = tags[place]
    if own is None or not len(own):
        return np.zeros(len(tags)), np.zeros(len(tags))
    column = pl.col("tags")
    counted = (
        tags.alias("tags")
        .to_frame()
        .select(
            column.list.set_intersection(own.to_list()).list.len().fill_null(0).alias("shared"),
            column.list.n_unique().fill_null(0).alias("size"),
        )
    )
    shared = counted["shared"].to_numpy().astype(np.float64)
    return shared, shared / (counted["size"].to_numpy() + own.n_unique() - shared)


def best_places(scores: NDArray[np.float64], graph: NoteGraph, limit: int) -> NDArray[np.int64]:
    """Places of the highest scores, best first, ties by path."""
    if limit < len(scores):
        least = np.partition(scores, -limit)[-limit]
        candidates = np.flatnonzero(scores >= least)
    else:
        candidates = np.arange(len(scores))
    ordered = sorted(candidates.tolist(), key=lambda place: (-scores[place], graph.paths[place]))
    return np.array(ordered[:limit], dtype=np.int64)


def _told(
    best: NDArray[np.int64],
    scores: NDArray[np.float64],
    terms: dict[str, NDArray[np.float64]],
    notes: pl.DataFrame,
    graph: NoteGraph,
    weights: SuggestWeights,
) -> pl.DataFrame:
    """The rows of some places, with every term and the reason."""
    paths = [graph.paths[place] for place in best]
    frame = pl.DataFrame(
        {
            "path": paths,
            "title": notes["title"].gather(best),
            "score": scores[best],
            **{part: terms[part][best] for part in PARTS},
            **{count: terms[count][best].astype(np.int64) for count in ("shared_tags", "mutual_links")},
            **{f"{part}_part": terms[part][best] * weights.of(part) for part in PARTS},
            "wikilink": [wikilink(path, graph.names) for path in paths],
        },
        schema_overrides={"path": pl.String, "wikilink": pl.String},
    )
    reasons = [_reason(row) for row in frame.iter_rows(named=True)]
    return frame.with_columns(pl.Series("reason", reasons, dtype=pl.String)).select(*_COLUMNS)


def wikilink(path: str, names: dict[str, int]) -> str:
    """The link to paste: `[[name]]` where only one note has the name, else `[[path]]`, both without `.md`.

    A name that a wikilink cannot hold (`#`, `|`, `^`, `[`, `]`) becomes a Markdown link from the top of the vault.

    Args:
        path: Of the note.
        names: How many notes have a name, as `NoteGraph.names`.
    """
    bare = path.removesuffix(".md")
    name = bare.rsplit("/", 1)[-1]
    if UNLINKABLE & set(bare):
        shown = name.replace("[", "\\[").replace("]", "\\]")
        return f"[{shown}](/{quote(path)})"
    return f"[[{name if names.get(name.lower(), 0) < 2 else bare}]]"  # noqa: PLR2004


def _reason(row: dict[str, float]) -> str:
    """The largest weighted part, told with the figure behind it."""
    largest = max(PARTS, key=lambda part: row[f"{part}_part"])
    shared, mutual = int(row["shared_tags"]), int(row["mutual_links"])
    return {
        "semantic": f"Semantically similar ({row['semantic']:.2f})",
        "tag": f"Shares {shared} {'tag' if shared == 1 else 'tags'}",
        "neighbor": f"Linked by {mutual} mutual {'connection' if mutual == 1 else 'connections'}",
    }[largest]
