"""Themes: groups of notes that mean much the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]

from workbench.text.stop_words import STOP_WORDS
from workbench.vault.graph import NoteGraph, by_size
from workbench.vault.note_vectors import NoteVectors
from workbench.vault.zettel.clusters import ALONE, Linkage, clusters, cohesion, silhouette

Clock = Literal["indexed_at", "modified_at"]

LABEL_WORDS: Final = 3
SHORTEST_WORD: Final = 3
_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER_WORDS: Final = frozenset(("one", "two", "untitled"))
"""Words of titles that name nothing, beside the stop words of English; PAI src/zettelkasten/themes.ts."""

_THEMES: Final[dict[str, Any]] = {
    "theme": pl.Int64,
    "label": pl.String,
    "size": pl.Int64,
    "folder_diversity": pl.Float64,
    "avg_recency": pl.Datetime("us", "UTC"),
    "recency_share": pl.Float64,
    "rank_score": pl.Float64,
    "linked_ratio": pl.Float64,
    "suggest_index_note": pl.Boolean,
    "cohesion": pl.Float64,
    "silhouette": pl.Float64,
}
_NOTES: Final[dict[str, Any]] = {"theme": pl.Int64, "path": pl.String, "title": pl.String, "closeness": pl.Float64}


@dataclass(frozen=True, eq=False)
class Themes:
    """The themes of a vault.

    Attributes:
        themes: The highest ranked first: `theme` (number from 0), `label`, `size`, `folder_diversity`, `avg_recency`,
            `recency_share`, `rank_score`, `linked_ratio`, `suggest_index_note`, `cohesion` (mean cosine of its pairs),
            `silhouette` (mean over its notes, against all themes of at least the least size).
        notes: The notes of these themes: `theme`, `path`, `title`, `closeness` (cosine to the middle), closest first.
        linkage: The rule.
        analyzed: Notes in the window that have a vector.
        without_vector: Notes in the window that have none.
        found: Themes of at least the least size, shown or not.
        silhouette: Mean over the notes of all themes found; None with fewer than two.
        window: From and to, or None: all notes.
    """

    themes: pl.DataFrame
    notes: pl.DataFrame
    linkage: Linkage
    analyzed: int
    without_vector: int
    found: int
    silhouette: float | None
    window: tuple[datetime, datetime] | None


def themes(
    notes: pl.DataFrame,
    graph: NoteGraph,
    vectors: NoteVectors,
    *,
    now: datetime,
    lookback_days: float | None = None,
    clock: Clock = "indexed_at",
    min_cluster_size: int = 3,
    max_themes: int = 10,
    similarity_threshold: float = 0.65,
    linkage: Linkage = "single",
    index_linked_below: float = 0.3,
    index_min_size: int = 5,
) -> Themes:
    """Group the notes of a vault by meaning.

    Single linkage: connected components of "cosine > similarity_threshold" (strict). Rank: size * folder_diversity *
    avg_recency / now, times in seconds since 1970. `folder_diversity` = top folders / size (a root note is its own);
    `linked_ratio` = pairs of the theme that are linked, either way, / all its pairs.

    Args:
        notes: `path`, `title`, and the column of `clock`; the frame that the graph was made of.
        graph: Of the vault.
        vectors: Of its notes; those without one are counted and left out.
        now: The end of the window.
        lookback_days: Only notes later than this; all notes unless given.
        clock: The time of a note, for window and recency.
        min_cluster_size: Notes of a theme at least.
        max_themes: Themes shown at most.
        similarity_threshold: Of single and centroid linkage.
        linkage: The rule.
        index_linked_below: An index note is proposed where fewer pairs are linked than this...
        index_min_size: ... and the theme has as many notes.

    Source: PAI specification, 18.4. There a link one way counts half of a pair: two notes are linked or not, so here it
    counts whole. A label keeps words of any script, where PAI's takes only a-z and 0-9.
    """
    kept = notes if lookback_days is None else notes.filter(pl.col(clock) > now - timedelta(days=lookback_days))
    places = np.array([place for path in kept["path"] if (place := graph.place(path)) is not None], dtype=np.int64)
    rows = graph.rows_of(vectors)[places]
    places, rows = places[rows >= 0], rows[rows >= 0]
    unit = vectors.matrix[rows] if len(rows) else np.zeros((0, 0), dtype=np.float32)
    labels = _large(clusters(unit, linkage, similarity_threshold, min_cluster_size), min_cluster_size)
    inside = labels != ALONE
    found = int(labels.max(initial=ALONE)) + 1
    group = _Grouping(places[inside], unit[inside], labels[inside], found)
    ranked, numbers = _ranked(group, notes, graph, now, clock, max_themes)
    shown = ranked.with_columns(
        ((pl.col("linked_ratio") < index_linked_below) & (pl.col("size") >= index_min_size)).alias("suggest_index_note")
    )
    widths = group.widths
    return Themes(
        shown.select(*_THEMES),
        _members(group, notes, graph, numbers),
        linkage,
        len(places),
        kept.height - len(places),
        found,
        float(widths.mean()) if found > 1 else None,
        None if lookback_days is None else (now - timedelta(days=lookback_days), now),
    )


def domain(path: str) -> str:
    """The first segment of a path: the top folder; a note at the root is its own domain (PAI specification, 18.3)."""
    return path.split("/", 1)[0]


def label_of(titles: Sequence[str]) -> str | None:
    """The most frequent words of some titles, joined by " / ", ties to the first; None where no word says anything."""
    words = [
        word
        for title in titles
        for word in _WORD.findall(title.lower())
        if len(word) >= SHORTEST_WORD and word not in STOP_WORDS and word not in _NUMBER_WORDS
    ]
    return " / ".join(word for word, _ in Counter(words).most_common(LABEL_WORDS)) or None


def _large(labels: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Groups of a least size numbered by size from 0; `ALONE` for what is in no such group."""
    grouped = labels != ALONE
    if not grouped.any():
        return np.full(len(labels), ALONE, dtype=np.int64)
    dense = by_size(labels[grouped])
    sizes = np.bincount(dense)
    numbers = np.full(len(labels), ALONE, dtype=np.int64)
    numbers[grouped] = np.where(sizes[dense] >= least, dense, ALONE)
    return numbers


class _Grouping:
    """Notes by place, their vectors, the group of each, and what follows from these."""

    def __init__(
        self, places: NDArray[np.int64], unit: NDArray[np.float32], labels: NDArray[np.int64], groups: int
    ) -> None:
        self.places, self.unit, self.labels, self.groups = places, unit, labels, groups
        self.sizes = np.bincount(labels, minlength=groups)
        self.widths = silhouette(unit, labels, groups)

    def mean(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Mean of a value of each note, by group."""
        return np.bincount(self.labels, weights=values, minlength=self.groups) / self.sizes

    def closeness(self) -> NDArray[np.float64]:
        """Cosine of each note with the middle of its group."""
        members = sparse.csr_array(
            (np.ones(len(self.labels)), (self.labels, np.arange(len(self.labels)))),
            shape=(self.groups, len(self.labels)),
        )
        sums = members @ self.unit.astype(np.float64)
        lengths = np.linalg.norm(sums, axis=1)
        products = np.einsum("nd,nd->n", self.unit, sums[self.labels], optimize=True)
        return np.asarray(products / np.maximum(lengths[self.labels], np.finfo(float).tiny), dtype=np.float64)

    def linked_pairs(self, graph: NoteGraph) -> NDArray[np.float64]:
        """Pairs of notes of one group that are linked, either way, by group."""
        between = sparse.coo_array(sparse.triu(graph.undirected[self.places, :][:, self.places], k=1))
        same = self.labels[between.row] == self.labels[between.col]
        return np.bincount(self.labels[between.row[same]], minlength=self.groups).astype(np.float64)


def _ranked(
    group: _Grouping, notes: pl.DataFrame, graph: NoteGraph, now: datetime, clock: Clock, most: int
) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The themes shown, best first, without their index suggestion, and the group that each is."""
    if not group.groups:
        return pl.DataFrame(schema=_THEMES), np.zeros(0, dtype=np.int64)
    seconds = notes[clock].dt.epoch("ms").to_numpy()[group.places] / 1000
    domains = np.unique([domain(graph.paths[place]) for place in group.places], return_inverse=True)[1]
    diversity = np.bincount(np.unique(np.column_stack([group.labels, domains]), axis=0)[:, 0], minlength=group.groups)
    recency = group.mean(seconds)
    share = recency / now.timestamp()
    score = diversity * share  # size times (folders / size)
    pairs = group.sizes * (group.sizes - 1) / 2
    order = np.lexsort((np.arange(group.groups), -score))[:most]
    labels = _labels(group, notes, order)
    frame = pl.DataFrame(
        {
            "theme": np.arange(len(order)),
            "label": labels,
            "size": group.sizes[order],
            "folder_diversity": (diversity / group.sizes)[order],
            "avg_recency": [datetime.fromtimestamp(value, UTC) for value in recency[order]],
            "recency_share": share[order],
            "rank_score": score[order],
            "linked_ratio": (group.linked_pairs(graph) / np.maximum(pairs, 1))[order],
            "cohesion": cohesion(group.unit, group.labels, group.groups)[order],
            "silhouette": group.mean(group.widths)[order],
        },
        schema={name: dtype for name, dtype in _THEMES.items() if name != "suggest_index_note"},
        nan_to_null=True,
    )
    return frame, order


def _labels(group: _Grouping, notes: pl.DataFrame, order: NDArray[np.int64]) -> list[str]:
    """The label of each group, from the titles of its notes, closest to the middle first."""
    titles, near = notes["title"], group.closeness()
    found = []
    for number, chosen in enumerate(order):
        members = np.flatnonzero(group.labels == chosen)
        members = members[np.argsort(-near[members], kind="stable")]
        found.append(label_of(titles.gather(group.places[members]).to_list()) or f"Theme {number + 1}")
    return found


def _members(group: _Grouping, notes: pl.DataFrame, graph: NoteGraph, order: NDArray[np.int64]) -> pl.DataFrame:
    """The notes of the themes shown."""
    if not len(order):
        return pl.DataFrame(schema=_NOTES)
    numbers = np.full(group.groups, ALONE, dtype=np.int64)
    numbers[order] = np.arange(len(order))
    shown = numbers[group.labels] != ALONE
    return pl.DataFrame(
        {
            "theme": numbers[group.labels][shown],
            "path": [graph.paths[place] for place in group.places[shown]],
            "title": notes["title"].gather(group.places[shown]),
            "closeness": group.closeness()[shown],
        },
        schema=_NOTES,
    ).sort("theme", "closeness", "path", descending=[False, True, False])
