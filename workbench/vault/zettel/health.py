"""Health: the structural audit of a vault."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]

from workbench.vault.graph import NoteGraph, by_size
from workbench.vault.note_vectors import NoteVectors

Scope = Literal["full", "project", "recent"]
Check = Literal[
    "broken_links",
    "missing_attachments",
    "orphans",
    "dead_ends",
    "no_embedding",
    "isolated_clusters",
    "low_connectivity",
]
CHECKS: Final[tuple[Check, ...]] = get_args(Check)

ATTACHMENT_SUFFIXES: Final = frozenset(
    [
        "avif",
        "bmp",
        "gif",
        "jpeg",
        "jpg",
        "png",
        "svg",
        "webp",
        "flac",
        "m4a",
        "mp3",
        "ogg",
        "wav",
        "webm",
        "3gp",
        "mkv",
        "mov",
        "mp4",
        "ogv",
        "pdf",
        "canvas",
        "base",
    ]
)
"""What a link with no target must end in to be a missing attachment, not a missing note.

Source: Obsidian help, "Accepted file formats".
"""

_NOTES: Final = {"path": pl.String, "title": pl.String, "inbound": pl.Int64, "outbound": pl.Int64}
_LINKS: Final = {"source_path": pl.String, "line": pl.Int64, "syntax": pl.String, "raw": pl.String, "target": pl.String}


@dataclass(frozen=True)
class HealthCounts:
    """What the score is made of.

    Attributes:
        notes: Notes in scope.
        links: Links from them to notes, alive and broken, every occurrence: the one count that the score uses. A link
            of a note to itself is alive; links to attachments and folders are not in it.
        broken: Those whose note is not there.
        missing_attachments: Links to files that are not there; not part of the score.
        orphans: Notes that no other note links to and that link to no other.
        dead_ends: Notes that link to no other note.
        no_inbound: Notes that no other note links to.
        low_connectivity: Notes with at most `low_links` live links, in and out.
        no_embedding: Notes without a vector.
        clusters: Components of the link graph within the scope, notes alone included.
        isolated_clusters: Components of two notes or more, the largest apart.
    """

    notes: int
    links: int
    broken: int
    missing_attachments: int
    orphans: int
    dead_ends: int
    no_inbound: int
    low_connectivity: int
    no_embedding: int
    clusters: int
    isolated_clusters: int


@dataclass(frozen=True, eq=False)
class HealthReport:
    """The audit.

    Attributes:
        scope: What was audited.
        score: 0 to 100; None where the scope has no notes, which is neither sound nor ill.
        terms: One row a factor of the score: `term`, `count`, `of`, `share`, `weight`, `factor`.
        counts: The figures, whatever lists were asked for.
        broken_links: `source_path`, `line`, `syntax`, `raw`, `target`.
        missing_attachments: Likewise.
        orphans: `path`, `title`, `inbound`, `outbound`; so are `dead_ends`, `no_embedding` and `low_connectivity`.
        dead_ends: Notes without a live link to another, orphans among them.
        no_embedding: Notes without a vector.
        low_connectivity: Notes hardly linked.
        isolated_clusters: `cluster`, `size`, `paths`; larger ones first.
        included: The lists that were asked for; the others are empty.
    """

    scope: Scope
    score: int | None
    terms: pl.DataFrame
    counts: HealthCounts
    broken_links: pl.DataFrame
    missing_attachments: pl.DataFrame
    orphans: pl.DataFrame
    dead_ends: pl.DataFrame
    no_embedding: pl.DataFrame
    low_connectivity: pl.DataFrame
    isolated_clusters: pl.DataFrame
    included: tuple[Check, ...]


def health(
    notes: pl.DataFrame,
    links: pl.DataFrame,
    graph: NoteGraph,
    vectors: NoteVectors,
    *,
    now: datetime,
    scope: Scope = "full",
    prefix: str = "",
    recent_days: float = 30.0,
    include: Collection[Check] = CHECKS,
    orphan_weight: float = 0.5,
    low_weight: float = 0.3,
    low_links: int = 1,
) -> HealthReport:
    """Audit a vault, or part of it.

    score = round(100 (1 - broken/links) (1 - 0.5 orphans/notes) (1 - 0.3 low/notes)), halves up; 0 of 0 is 0, but no
    notes have no score.
    Whether a note is linked is asked of the whole vault, whatever the scope; only live links between two notes count.

    Args:
        notes: `path`, `title`, `indexed_at`; the frame that the graph was made of.
        links: `source_path`, `place`, `line`, `syntax`, `raw`, `target_path`, `target_kind`, and `target` (the name
            without heading or block; `raw` where there is no such column).
        graph: Of the vault.
        vectors: Of its notes.
        now: The end of the window of scope `recent`.
        scope: `full`, `project` (notes whose path begins with `prefix`) or `recent`.
        prefix: Of scope `project`.
        recent_days: Notes of scope `recent` were indexed later than so many days ago.
        include: The lists wanted; score and counts do not depend on it.
        orphan_weight: What a vault of orphans loses.
        low_weight: What a vault of hardly linked notes loses.
        low_links: Links up to which a note is hardly linked.

    Source: PAI specification, 18.5. There the count of links leaves broken ones out in one scope, so that the score can
    be negative, and leaving a check out raises it.
    """
    in_scope = _in_scope(notes, scope, prefix, now - timedelta(days=recent_days))
    kept = links.filter(pl.col("source_path").is_in(notes.filter(in_scope)["path"].implode()))
    to_notes, broken, missing = _links(kept)
    table = _note_table(notes, graph, vectors, low_links).filter(in_scope)
    labels = _component_labels(graph, np.flatnonzero(in_scope.to_numpy()))
    islands = _islands(labels, table["path"])
    lists = {
        "broken_links": broken,
        "missing_attachments": missing,
        **{
            check: table.filter(pl.col(check)).select(*_NOTES).sort("path")
            for check in ("orphans", "dead_ends", "no_embedding", "low_connectivity")
        },
        "isolated_clusters": islands,
    }
    counts = HealthCounts(
        notes=table.height,
        links=to_notes,
        broken=broken.height,
        missing_attachments=missing.height,
        orphans=lists["orphans"].height,
        dead_ends=lists["dead_ends"].height,
        no_inbound=int((table["inbound"] == 0).sum()),
        low_connectivity=lists["low_connectivity"].height,
        no_embedding=lists["no_embedding"].height,
        clusters=len(np.unique(labels)),
        isolated_clusters=islands.height,
    )
    terms = _terms(counts, orphan_weight, low_weight)
    shown = {check: frame if check in include else frame.clear() for check, frame in lists.items()}
    included = tuple(check for check in CHECKS if check in include)
    score = score_of(terms) if counts.notes else None
    return HealthReport(scope, score, terms, counts, **shown, included=included)


def score_of(terms: pl.DataFrame) -> int:
    """The score that the factors make, 0 to 100, halves rounded up."""
    product: float = math.prod(terms["factor"].to_list())
    return math.floor(100 * product + 0.5)


def is_attachment(target: str) -> bool:
    """Tell whether a name ends as an attachment's does; `Release v1.2` does not."""
    return "." in target and target.rsplit(".", 1)[-1].lower() in ATTACHMENT_SUFFIXES


def _in_scope(notes: pl.DataFrame, scope: Scope, prefix: str, since: datetime) -> pl.Series:
    if scope == "project":
        return notes["path"].str.starts_with(prefix)
    if scope == "recent":
        return (notes["indexed_at"] > since).fill_null(value=False)
    return pl.repeat(value=True, n=notes.height, eager=True, dtype=pl.Boolean)


def _links(links: pl.DataFrame) -> tuple[int, pl.DataFrame, pl.DataFrame]:
    """How many links go to notes, those of them that are broken, and links to attachments that are not there."""
    target = pl.col("target") if "target" in links.columns else pl.col("raw").alias("target")
    lost = links.filter(pl.col("target_path").is_null()).with_columns(target).sort("source_path", "place")
    suffix = pl.col("target").str.extract(r"\.([^./\\]+)$").str.to_lowercase()
    to_file = (pl.col("target_kind") == "attachment").fill_null(value=False) | suffix.is_in(
        sorted(ATTACHMENT_SUFFIXES)
    ).fill_null(value=False)
    columns = [pl.col(name).cast(dtype) for name, dtype in _LINKS.items()]
    broken, missing = lost.filter(~to_file).select(columns), lost.filter(to_file).select(columns)
    alive = links.filter(pl.col("target_path").is_not_null(), pl.col("target_kind").is_in(["note", "self"])).height
    return alive + broken.height, broken, missing


def _note_table(notes: pl.DataFrame, graph: NoteGraph, vectors: NoteVectors, low_links: int) -> pl.DataFrame:
    """One row a note: its live links, and which checks it fails."""
    inbound, outbound = pl.col("inbound"), pl.col("outbound")
    return notes.select(
        "path",
        "title",
        pl.Series("inbound", graph.inbound),
        pl.Series("outbound", graph.outbound),
        pl.Series("no_embedding", graph.rows_of(vectors) < 0),
    ).with_columns(
        ((inbound == 0) & (outbound == 0)).alias("orphans"),
        (outbound == 0).alias("dead_ends"),
        (inbound + outbound <= low_links).alias("low_connectivity"),
    )


def _component_labels(graph: NoteGraph, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The component of each note of a scope, by links within it; 0 is the largest."""
    if len(places) == len(graph):
        return graph.components
    if not len(places):
        return np.zeros(0, dtype=np.int64)
    within = graph.undirected[places, :][:, places]
    return by_size(sparse.csgraph.connected_components(within, directed=False)[1])


def _islands(labels: NDArray[np.int64], paths: pl.Series) -> pl.DataFrame:
    """Components of two notes or more, the largest apart."""
    return (
        pl.DataFrame({"cluster": labels, "path": paths})
        .group_by("cluster")
        .agg(pl.len().cast(pl.Int64).alias("size"), pl.col("path").sort().alias("paths"))
        .filter(pl.col("cluster") > 0, pl.col("size") > 1)
        .sort("cluster")
        .cast({"cluster": pl.Int64, "size": pl.Int64})
    )


def _terms(counts: HealthCounts, orphan_weight: float, low_weight: float) -> pl.DataFrame:
    rows = [
        ("broken_links", counts.broken, counts.links, 1.0),
        ("orphans", counts.orphans, counts.notes, orphan_weight),
        ("low_connectivity", counts.low_connectivity, counts.notes, low_weight),
    ]
    schema = {"term": pl.String, "count": pl.Int64, "of": pl.Int64, "weight": pl.Float64}
    share = pl.when(pl.col("of") > 0).then(pl.col("count") / pl.col("of")).otherwise(0.0)
    return (
        pl.DataFrame(rows, schema=schema, orient="row")
        .with_columns(share.alias("share"))
        .with_columns((1 - pl.col("weight") * pl.col("share")).alias("factor"))
        .select("term", "count", "of", "share", "weight", "factor")
    )
