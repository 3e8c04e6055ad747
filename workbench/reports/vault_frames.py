"""What report and notebook tell of a vault: its rows and the answers of the operations, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import polars as pl

from workbench.reports.note_map import NoteMap, NoteText, note_map
from workbench.reports.render.numbers import plural

if TYPE_CHECKING:
    from workbench.vault.analytics import GraphFigures
    from workbench.vault.growth import Growth
    from workbench.vault.zettel.health import HealthReport
    from workbench.vault.zettel.themes import Themes


class AskedVault(Protocol):
    """What is needed of a vault: `bench.vault(path)` gives one."""

    root: Path

    @property
    def notes(self) -> pl.DataFrame:
        """Its notes."""

    @property
    def links(self) -> pl.DataFrame:
        """Its links."""

    def text(self, path: str) -> str:
        """The text of a note."""

    def status(self) -> dict[str, Any]:
        """What is known of it."""

    def figures(self) -> GraphFigures:
        """Figures of its link graph."""

    def growth(self) -> Growth:
        """Its history."""

    def health(self, **options: Any) -> HealthReport:
        """The audit."""

    def themes(self, **options: Any) -> Themes:
        """Groups by meaning."""


@dataclass(frozen=True, eq=False)
class VaultFrames:
    """A vault as its last index run left it.

    Attributes:
        name: Of its folder.
        status: See `vault.status.status_of`; with `vector_model` and `notes_without_vector`.
        notes: As `bench.vault(path).notes`.
        links: As `bench.vault(path).links`.
        figures: Of the link graph.
        health: The audit of the whole vault.
        themes: Over the whole vault.
        growth: From git.
    """

    name: str
    status: Mapping[str, Any]
    notes: pl.DataFrame
    links: pl.DataFrame
    figures: GraphFigures
    health: HealthReport
    themes: Themes
    growth: Growth

    @property
    def lacks(self) -> tuple[str, ...]:
        """What is missing, a sentence each."""
        without, model = self.status["notes_without_vector"], self.status["vector_model"]
        told = []
        if model is None:
            told.append("No note has a vector, so there are no themes: workbench vault index --embed makes them.")
        elif without:
            told.append(f"{plural(without, 'note has', 'notes have')} no vector and are in no theme.")
        since = self.status["since"]
        changed = since["new"] + since["changed"] + since["gone"]
        if not since["is_there"]:
            told.append("The folder is gone; this is what was last known of it.")
        elif changed:
            told.append(f"{plural(changed, 'note has', 'notes have')} changed since the last index run.")
        if self.figures.pivots < self.notes.height:
            told.append(f"Betweenness is estimated from {plural(self.figures.pivots, 'note')}.")
        return tuple(told)


def read_vault(vault: AskedVault, *, similarity: float | None = None) -> VaultFrames:
    """Ask a vault for everything that is told of it.

    Args:
        vault: An indexed one.
        similarity: From which two notes are of one theme; as configured unless given.

    Raises:
        NotFoundError: It was never indexed.
    """
    options = {} if similarity is None else {"similarity_threshold": similarity}
    return VaultFrames(
        vault.root.name,
        vault.status(),
        vault.notes,
        vault.links,
        vault.figures(),
        vault.health(),
        vault.themes(**options),
        vault.growth(),
    )


def picture_of(frames: VaultFrames) -> NoteMap:
    """The vault as a picture, with themes, communities and PageRank."""
    ranked = frames.figures.notes.select("path", "pagerank", "community")
    in_themes = frames.themes.notes.join(_theme_names(frames.themes), on="theme").select("path", "name")
    notes = (
        frames.notes.select("path", "title", "folder")
        .join(ranked, on="path", how="left", maintain_order="left")
        .join(in_themes.rename({"name": "theme"}).unique("path"), on="path", how="left", maintain_order="left")
    )
    if not in_themes.height:
        notes = notes.drop("theme")
    links = frames.links.filter(pl.col("target_kind") == "note").select("source_path", "target_path", "link_class")
    return note_map(notes, links, title=frames.name, remarks=frames.lacks)


def _theme_names(themes: Themes) -> pl.DataFrame:
    """`theme` and its `name`: the label, numbered where two themes have the same."""
    label = pl.col("label")
    number = pl.format("{} ({})", label, pl.col("theme") + 1)
    named = pl.when(label.is_duplicated()).then(number).otherwise(label).alias("name")
    return themes.themes.select("theme", named)


FACTS: Final = ("modified_at", "created_at", "words")
"""Columns of a note that are told beside its text, if known."""


def note_text(vault: AskedVault, notes: pl.DataFrame, path: str) -> NoteText:
    """A note to read: its text as indexed, its tags and dates.

    Args:
        vault: An indexed one.
        notes: Its notes.
        path: Of the note.

    Raises:
        NotFoundError: There is no such note.
    """
    text = vault.text(path)
    facts: list[tuple[str, str]] = []
    for row in notes.filter(pl.col("path") == path).head(1).to_dicts():
        facts += [("tags", " ".join(f"#{tag}" for tag in row["tags"]))] if row["tags"] else []
        for name in FACTS:
            value = row[name]
            if value is not None:
                facts.append((name.removesuffix("_at"), f"{value:%Y-%m-%d}" if name.endswith("_at") else f"{value:,}"))
    return NoteText(path, tuple(facts), text)
