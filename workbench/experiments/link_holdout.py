"""Does `suggest` find links that were there? Hide some of a vault's links, and see which rankings bring them back.

Links are hidden by pair of notes, so that a link back does not give one away; they are cut out of the notes' texts too,
before the notes are embedded again, since a vector made of `[[Tide Gauge]]` knows where the link leads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]

from workbench.experiments.statistics import Interval, bootstrap_interval, paired_bootstrap_interval
from workbench.text.tokens import estimate_tokens
from workbench.vault.graph import NoteGraph
from workbench.vault.note_chunks import note_chunks
from workbench.vault.note_vectors import NoteVectors
from workbench.vault.operations import Operations
from workbench.vault.parser import parse_note
from workbench.vault.zettel.suggest import PARTS, SuggestWeights, suggest_terms

BASELINES: Final = (*PARTS, "common_neighbours", "inbound")
"""Each term of `suggest` alone; notes linked with both, either way (Liben-Nowell and Kleinberg 2007); inbound links."""

METHODS: Final = ("suggest", *BASELINES)

Embed = Callable[[Mapping[str, str]], Mapping[str, NDArray[np.float32]]]
"""From the texts of notes, by path, to their vectors."""

Progress = Callable[[int, int, str], None]


class Embedder(Protocol):
    """What turns texts into vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text."""
        ...


@dataclass(frozen=True)
class HoldoutSettings:
    """How links are hidden.

    Attributes:
        share: Of the linked pairs of notes, hidden at a time.
        repeats: Times that other links are hidden.
        first: Suggestions looked at.
        seed: Of the draws, and of the bootstrap.
    """

    share: float = 0.1
    repeats: int = 5
    first: int = 10
    seed: int = 20260301


@dataclass(frozen=True, eq=False)
class Holdout:
    """How well hidden links were found.

    Attributes:
        settings: How they were hidden.
        per_note: One row a repeat and note with hidden links: `repeat`, `path`, `hidden`, and the recall of each
            method.
        recall: By method: mean over notes, each note's repeats averaged first, with an interval over notes.
        gain: By baseline: recall of `suggest` minus its own, paired by note.
        spread: By method: the least and the largest mean of a repeat.
        notes: In the vault.
        pairs: Linked pairs of notes there are.
        hidden: Links hidden in all repeats together.
        model_id: Of the vectors; empty where there are none.
        are_texts_cut: Whether the hidden links were cut out of the texts before these were embedded.
    """

    settings: HoldoutSettings
    per_note: pl.DataFrame
    recall: dict[str, Interval]
    gain: dict[str, Interval]
    spread: dict[str, tuple[float, float]]
    notes: int
    pairs: int
    hidden: int
    model_id: str
    are_texts_cut: bool


def link_holdout(
    read: Operations,
    texts: Mapping[str, str],
    embed: Embed | None,
    settings: HoldoutSettings,
    *,
    progress: Progress | None = None,
) -> Holdout:
    """Hide links and look for them among the first suggestions of the notes that had them.

    The recall of a note is the share of its hidden links found; where other notes have the same score as the hidden
    one, the chance that a fair draw among them is among the first counts. A score of 0 suggests nothing.

    Args:
        read: The vault.
        texts: Path to text.
        embed: Embeds notes anew, their hidden links cut out; without it the stored vectors are used, which have seen
            them.
        settings: How links are hidden.
        progress: Called with repeats done, repeats in all and what is at hand.
    """
    rows: list[dict[str, object]] = []
    pairs = _pairs(read.graph)
    chosen = read.settings.suggest
    weights = SuggestWeights(chosen.semantic_weight, chosen.tag_weight, chosen.neighbor_weight)
    for repeat in range(settings.repeats if len(pairs) else 0):
        if progress is not None:
            progress(repeat, settings.repeats, "hidden links")
        hidden = _hide(pairs, settings.share, np.random.default_rng((settings.seed, repeat)))
        rows += [{"repeat": repeat, **row} for row in _found(read, texts, embed, hidden, settings.first, weights)]
    schema = {"repeat": pl.Int64, "path": pl.String, "hidden": pl.Int64, **dict.fromkeys(METHODS, pl.Float64)}
    per_note = pl.DataFrame(rows, schema=schema)
    values = per_note.group_by("path").agg(pl.col(METHODS).mean()).sort("path")
    repeats = per_note.group_by("repeat").agg(pl.col(METHODS).mean())
    seed = settings.seed
    return Holdout(
        settings,
        per_note,
        {method: bootstrap_interval(values[method].to_numpy(), seed=seed) for method in METHODS},
        {
            method: paired_bootstrap_interval(values["suggest"].to_numpy(), values[method].to_numpy(), seed=seed)
            for method in BASELINES
        },
        {method: _ends(repeats[method]) for method in METHODS},
        len(read.graph),
        len(pairs),
        int(per_note["hidden"].sum()),
        read.vectors.model_id,
        embed is not None,
    )


def note_embedder(
    notes: pl.DataFrame, aliases: Mapping[str, Sequence[str]], embedder: Embedder, chunk_tokens: int
) -> Embed:
    """What embeds notes with other texts as the index embeds them: cut into chunks, the mean of these.

    Args:
        notes: `path`, `title`, `modified_at`.
        aliases: Path to aliases.
        embedder: The model.
        chunk_tokens: Estimated tokens of a chunk.
    """

    def embed(texts: Mapping[str, str]) -> dict[str, NDArray[np.float32]]:
        changed = pl.DataFrame(
            {
                "path": list(texts),
                "text": list(texts.values()),
                "aliases": [list(aliases.get(path, ())) for path in texts],
            },
            schema={"path": pl.String, "text": pl.String, "aliases": pl.List(pl.String)},
        )
        rows = changed.join(notes.select("path", "title", "modified_at"), on="path", maintain_order="left")
        chunks = note_chunks(rows, estimate_tokens, chunk_tokens)
        vectors = np.asarray(embedder.embed(chunks["text"].to_list()))
        owners = chunks["owner"].to_numpy()
        return {path: vectors[owners == path].mean(axis=0) for path in texts if (owners == path).any()}

    return embed


def _ends(values: pl.Series) -> tuple[float, float]:
    return (float(values.to_numpy().min()), float(values.to_numpy().max())) if len(values) else (np.nan, np.nan)


def _pairs(graph: NoteGraph) -> NDArray[np.int64]:
    """Linked pairs of places, each once, (pairs, 2)."""
    upper = sparse.coo_array(sparse.triu(graph.undirected, k=1))
    return np.column_stack([upper.row, upper.col]).astype(np.int64)


def _hide(pairs: NDArray[np.int64], share: float, chance: np.random.Generator) -> NDArray[np.int64]:
    """Some of the pairs, at least one."""
    count = max(1, round(share * len(pairs)))
    return pairs[np.sort(chance.choice(len(pairs), count, replace=False))]


def _found(
    read: Operations,
    texts: Mapping[str, str],
    embed: Embed | None,
    hidden: NDArray[np.int64],
    first: int,
    weights: SuggestWeights,
) -> list[dict[str, object]]:
    """The recall of each method for every note with a hidden link."""
    paths = read.graph.paths
    couples = pl.DataFrame(
        {
            "source_path": [paths[place] for place in [*hidden[:, 0], *hidden[:, 1]]],
            "target_path": [paths[place] for place in [*hidden[:, 1], *hidden[:, 0]]],
        }
    )
    gone = read.links.join(couples, on=["source_path", "target_path"], how="semi")
    graph = NoteGraph.from_frames(read.notes, read.links.join(couples, on=["source_path", "target_path"], how="anti"))
    vectors = read.vectors if embed is None else _reembedded(read.vectors, embed(_cut(gone, texts)))
    joined = _once(graph.undirected)
    rows: list[dict[str, object]] = []
    for (path,), links in gone.group_by("source_path", maintain_order=True):
        place = int(graph.places([str(path)])[0])
        targets = graph.places(links["target_path"].unique(maintain_order=True))
        scores = _scores(place, read.notes, graph, vectors, joined, weights)
        chances = {method: _chances(scores[method], place, targets, graph, first) for method in METHODS}
        rows.append(
            {"path": path, "hidden": len(targets), **{name: float(each.mean()) for name, each in chances.items()}}
        )
    return rows


def _cut(gone: pl.DataFrame, texts: Mapping[str, str]) -> dict[str, str]:
    """The texts of the notes with hidden links, without these."""
    found = {}
    for (path,), links in gone.group_by("source_path", maintain_order=True):
        text = texts[str(path)]
        placed = parse_note(text, str(path)).links
        for place in sorted(links["place"].to_list(), reverse=True):
            link = placed[place].link
            text = text[: link.start] + text[link.end :]
        found[str(path)] = text
    return found


def _reembedded(vectors: NoteVectors, fresh: Mapping[str, NDArray[np.float32]]) -> NoteVectors:
    """The vectors with those of some notes replaced; what has none keeps having none."""
    matrix = vectors.matrix.copy()
    for path, vector in fresh.items():
        row = vectors.place(path)
        if row is not None:
            matrix[row] = vector
    return NoteVectors(vectors.paths, matrix, vectors.model_id)


def _once(counted: sparse.csr_array) -> sparse.csr_array:
    joined = counted.copy()
    joined.data[:] = 1
    return joined


def _scores(
    place: int,
    notes: pl.DataFrame,
    graph: NoteGraph,
    vectors: NoteVectors,
    joined: sparse.csr_array,
    weights: SuggestWeights,
) -> dict[str, NDArray[np.float64]]:
    terms = suggest_terms(place, notes, graph, vectors)
    common = np.asarray((joined[[place], :] @ joined).toarray(), dtype=np.float64).reshape(-1)
    weighted = sum((terms[part] * weights.of(part) for part in PARTS), start=np.zeros(len(graph)))
    parts = {part: terms[part] for part in PARTS}
    return {"suggest": weighted, **parts, "common_neighbours": common, "inbound": graph.inbound.astype(np.float64)}


def _chances(
    scores: NDArray[np.float64], place: int, targets: NDArray[np.int64], graph: NoteGraph, first: int
) -> NDArray[np.float64]:
    """The chance of each target to be among the first candidates, ties drawn fairly."""
    is_candidate = np.ones(len(scores), dtype=bool)
    is_candidate[place] = False
    is_candidate[graph.linked_from(place)] = False
    kept = scores[is_candidate]
    wanted = scores[targets]
    better = (kept[None, :] > wanted[:, None]).sum(axis=1)
    equal = (kept[None, :] == wanted[:, None]).sum(axis=1)
    return np.where(wanted > 0, np.clip((first - better) / np.maximum(equal, 1), 0, 1), 0.0)
