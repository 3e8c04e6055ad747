"""Surprise: notes that mean much the same and lie far apart by links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from workbench.vault.graph import UNREACHABLE, NoteGraph
from workbench.vault.note_vectors import NoteVectors
from workbench.vault.zettel.suggest import best_places

SurpriseMode = Literal["formula", "bridge"]

_COLUMNS: Final = {
    "path": pl.String,
    "title": pl.String,
    "cosine": pl.Float64,
    "distance": pl.Int64,
    "counted_distance": pl.Int64,
    "log_distance": pl.Float64,
    "score": pl.Float64,
}


@dataclass(frozen=True, eq=False)
class Surprises:
    """Notes that surprise, seen from one note.

    Attributes:
        reference: The note.
        mode: The reading of the formula.
        notes: Best first, one row a note: `path`, `title`, `cosine`, `distance` (null where no way leads),
            `counted_distance` (what the formula takes), `log_distance` (log2 of that plus one), `score`, and `snippet`
            where chunks were asked for.
        compared: Notes that have a vector and were compared.
        lack: Why there is no answer; None where there is one.
    """

    reference: str
    mode: SurpriseMode
    notes: pl.DataFrame
    compared: int
    lack: str | None = None


def surprise(
    reference: str,
    notes: pl.DataFrame,
    graph: NoteGraph,
    vectors: NoteVectors,
    *,
    limit: int = 10,
    min_similarity: float = 0.3,
    min_graph_distance: int = 3,
    unreachable_distance: int = 20,
    mode: SurpriseMode = "formula",
    snippets: Callable[[Sequence[str]], Mapping[str, str]] | None = None,
) -> Surprises:
    """Rank notes by how much closer they are in meaning than by links.

    formula: score = cosine * log2(distance + 1), of notes with cosine >= min_similarity and distance >=
        min_graph_distance; a note to which no way leads, or one beyond it, counts as `unreachable_distance` steps off.
    bridge: score = (1 - cosine) / log2(distance + 1), of notes to which a way leads: near by links and unlike in
        meaning. The two thresholds belong to the formula and do not apply.

    Args:
        reference: Path of a note of the graph.
        notes: `title`, rows in the order of the graph's places.
        graph: Of the vault.
        vectors: Of its notes; those without one are not compared.
        limit: Rows at most.
        min_similarity: Least cosine.
        min_graph_distance: Least steps.
        unreachable_distance: Steps counted where there is no way, and at most.
        mode: The seed's formula, or the inverse reading of its prose.
        snippets: Asked once, with the paths of the answer: the piece of each note that is closest to the reference.

    Source: PAI, "Zettelkasten Intelligence"; PAI specification, 18.2 (formula and prose disagree: 27, row 1).
    """
    place, row = graph.place(reference), vectors.place(reference)
    if place is None or row is None:
        lack = "no such note" if place is None else "the note has no vector: index the vault with an embedder"
        return Surprises(reference, mode, pl.DataFrame(schema=_COLUMNS), 0, lack)
    cosines, steps = graph.cosines(place, vectors), graph.distances(place)
    is_other = ~np.isnan(cosines)
    is_other[place] = False
    counted = np.where(steps == UNREACHABLE, unreachable_distance, np.minimum(steps, unreachable_distance))
    if mode == "bridge":
        kept = is_other & (steps != UNREACHABLE)
        score = (1 - cosines) / np.log2(np.maximum(counted, 1) + 1)
    else:
        is_far = (steps == UNREACHABLE) | (steps >= min_graph_distance)
        kept = is_other & is_far & (np.nan_to_num(cosines, nan=-1.0) >= min_similarity)
        score = cosines * np.log2(counted + 1)
    scores = np.where(kept, score, -np.inf)
    best = best_places(scores, graph, limit)
    best = best[kept[best]]
    found = _told(best, graph, notes, scores, cosines, steps, counted)
    if snippets is not None:
        pieces = snippets(found["path"].to_list())
        found = found.with_columns(pl.Series("snippet", [pieces.get(path) for path in found["path"]], dtype=pl.String))
    return Surprises(reference, mode, found, int(is_other.sum()))


def _told(
    best: NDArray[np.int64],
    graph: NoteGraph,
    notes: pl.DataFrame,
    scores: NDArray[np.float64],
    cosines: NDArray[np.float64],
    steps: NDArray[np.int64],
    counted: NDArray[np.int64],
) -> pl.DataFrame:
    """The rows of some places, with every term."""
    return pl.DataFrame(
        {
            "path": [graph.paths[place] for place in best],
            "title": notes["title"].gather(best),
            "cosine": cosines[best],
            "distance": [None if steps[place] == UNREACHABLE else int(steps[place]) for place in best],
            "counted_distance": counted[best],
            "log_distance": np.log2(counted[best] + 1),
            "score": scores[best],
        },
        schema=_COLUMNS,
    )
