"""The six operations and the graph's figures over one vault as its last run left it, under its settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from workbench.config.vault import Vault as VaultSettings
from workbench.errors import NotFoundError
from workbench.vault.analytics import GraphFigures, analyse
from workbench.vault.fix.closest import ClosestNames
from workbench.vault.graph import NoteGraph
from workbench.vault.names import NamedFiles, NameIndex, name_key, stem
from workbench.vault.note_vectors import NoteVectors
from workbench.vault.zettel.clusters import Linkage
from workbench.vault.zettel.converse import Conversation, SearchNotes, converse
from workbench.vault.zettel.explore import Direction, Exploration, Mode, explore
from workbench.vault.zettel.health import CHECKS, Check, HealthReport, Scope, health
from workbench.vault.zettel.suggest import Suggestions, SuggestWeights, suggest
from workbench.vault.zettel.surprise import SurpriseMode, Surprises, surprise
from workbench.vault.zettel.themes import Clock, Themes, themes

NEAR: Final = 0.5
"""Similarity from which a name is worth telling to a person who mistyped one."""

NEAR_MATCHES: Final = 3


@dataclass(frozen=True, eq=False)
class Operations:
    """One state of a vault, and what can be asked of it.

    Attributes:
        notes: `path`, `title`, `tags`, `modified_at`, `indexed_at`.
        links: The rows of `note_links`.
        aliases: `path`, `alias`, `kind`, the rows of `note_aliases`.
        settings: `vault` of the configuration.
        read_vectors: Asked once, by the first operation that needs vectors.
    """

    notes: pl.DataFrame
    links: pl.DataFrame
    aliases: pl.DataFrame
    settings: VaultSettings
    read_vectors: Callable[[], NoteVectors]

    @cached_property
    def graph(self) -> NoteGraph:
        """The link graph."""
        return NoteGraph.from_frames(self.notes, self.links)

    @cached_property
    def vectors(self) -> NoteVectors:
        """The notes' vectors."""
        return self.read_vectors()

    @cached_property
    def titles(self) -> dict[str, str]:
        """Path to title."""
        return dict(self.notes.select("path", "title").iter_rows())

    @cached_property
    def other_names(self) -> dict[str, list[str]]:
        """Path to the aliases of the front matter."""
        rows = self.aliases.filter(pl.col("kind") == "front_matter").group_by("path").agg("alias")
        return dict(rows.iter_rows())

    @cached_property
    def other_paths(self) -> dict[str, str]:
        """Another path of the same file, to the note's own."""
        rows = self.aliases.filter(pl.col("kind") == "path")
        return dict(rows.select("alias", "path").iter_rows())

    def resolve(self, name: str) -> str:
        """The path of the note that a person means: by path, another path, name, title or alias, in this order.

        Raises:
            NotFoundError: There is none; the message names what comes close.
        """
        if name in self.titles:
            return name
        files = NamedFiles(self.graph.paths, titles=self.titles, aliases=self.other_names, other_paths=self.other_paths)
        found = NameIndex(files).find(name, "")
        if found is not None and found.kind in ("note", "self"):
            return found.path
        near = self._near(name)
        close = f"; close to it: {', '.join(near)}" if near else ""
        raise NotFoundError(f"there is no note {name!r} in this vault{close}")

    def namesakes(self, name: str) -> list[str]:
        """The other notes that a name could mean, where it names a file and is no path from the top."""
        if name in self.titles:
            return []
        wanted, meant = "/" + name_key(stem(name.strip().strip("/"))), self.resolve(name)
        alike = [path for path in self.graph.paths if ("/" + name_key(stem(path))).endswith(wanted)]
        return [path for path in alike if path != meant] if meant in alike else []

    def explore(
        self, note: str, *, depth: int | None = None, direction: Direction = "both", mode: Mode = "all"
    ) -> Exploration:
        """Walk from a note along its links; see `zettel.explore.explore`."""
        chosen = self.settings.explore
        steps = chosen.depth if depth is None else depth
        return explore(
            self.resolve(note),
            self.notes,
            self.links,
            self.graph,
            depth=steps,
            direction=direction,
            mode=mode,
            branching_above=chosen.branching_above,
        )

    def surprise(
        self,
        note: str,
        *,
        limit: int | None = None,
        min_similarity: float | None = None,
        min_graph_distance: int | None = None,
        mode: SurpriseMode = "formula",
        snippets: Callable[[NDArray[np.float32], Sequence[str]], Mapping[str, str]] | None = None,
    ) -> Surprises:
        """Notes alike in meaning and far apart by links; see `zettel.surprise.surprise`.

        Args:
            note: Named in any way.
            limit: As configured unless given; so the next two.
            min_similarity: Least cosine.
            min_graph_distance: Least steps.
            mode: Which reading.
            snippets: From the note's vector and paths to the piece of each note that is closest to the vector.
        """
        given = {"limit": limit, "min_similarity": min_similarity, "min_graph_distance": min_graph_distance}
        options = _options(self.settings.surprise, (*given, "unreachable_distance"), given)
        reference = self.resolve(note)
        row = self.vectors.place(reference)
        if snippets is not None and row is not None:
            options["snippets"] = partial(snippets, self.vectors.matrix[row])
        return surprise(reference, self.notes, self.graph, self.vectors, mode=mode, **options)

    def suggest(self, note: str, *, limit: int | None = None, exclude_linked: bool = True) -> Suggestions:
        """Links that a note could have; see `zettel.suggest.suggest`."""
        chosen = self.settings.suggest
        weights = SuggestWeights(chosen.semantic_weight, chosen.tag_weight, chosen.neighbor_weight)
        return suggest(
            self.resolve(note),
            self.notes,
            self.graph,
            self.vectors,
            limit=chosen.limit if limit is None else limit,
            exclude_linked=exclude_linked,
            weights=weights,
        )

    def themes(
        self,
        *,
        now: datetime,
        lookback_days: float | None = None,
        clock: Clock = "indexed_at",
        linkage: Linkage = "single",
        min_cluster_size: int | None = None,
        max_themes: int | None = None,
        similarity_threshold: float | None = None,
    ) -> Themes:
        """Groups of notes that mean much the same, over the whole vault unless days are given; see `zettel.themes`."""
        given = {
            "min_cluster_size": min_cluster_size,
            "max_themes": max_themes,
            "similarity_threshold": similarity_threshold,
        }
        options = _options(self.settings.themes, (*given, "index_linked_below", "index_min_size"), given)
        return themes(
            self.notes,
            self.graph,
            self.vectors,
            now=now,
            lookback_days=lookback_days,
            clock=clock,
            linkage=linkage,
            **options,
        )

    def health(
        self,
        *,
        now: datetime,
        scope: Scope = "full",
        prefix: str = "",
        recent_days: float | None = None,
        include: Collection[Check] = CHECKS,
    ) -> HealthReport:
        """The structural audit; see `zettel.health.health`."""
        given = {"recent_days": recent_days}
        options = _options(self.settings.health, (*given, "orphan_weight", "low_weight", "low_links"), given)
        return health(
            self.notes,
            self.links,
            self.graph,
            self.vectors,
            now=now,
            scope=scope,
            prefix=prefix,
            include=include,
            **options,
        )

    def converse(
        self,
        question: str,
        search: SearchNotes,
        *,
        depth: int | None = None,
        limit: int | None = None,
        domains: Mapping[str, str] | None = None,
        texts: pl.DataFrame | None = None,
    ) -> Conversation:
        """Notes that bear on a question, and what connects their domains; see `zettel.converse.converse`.

        Args:
            question: In plain words.
            search: Over the vault's chunks.
            depth: Links to follow; as configured unless given.
            limit: Notes at most; as configured unless given.
            domains: Domain by path, as of `domains_by_theme`; the top folder unless given.
            texts: `path`, `text`, where notes reached by links shall show how they begin.
        """
        options = _options(
            self.settings.converse, ("depth", "limit", "snippet_chars"), {"depth": depth, "limit": limit}
        )
        notes = self.notes if texts is None else self.notes.join(texts, on="path", how="left", maintain_order="left")
        return converse(question, notes, self.graph, search, domains=domains, **options)

    def domains_by_theme(self, *, now: datetime) -> dict[str, str]:
        """Path to the label and number of its theme, of all themes of the vault."""
        found = self.themes(now=now, max_themes=max(1, len(self.graph)))
        labels = dict(found.themes.select("theme", "label").iter_rows())
        rows = found.notes.select("path", "theme").iter_rows()
        return {path: f"{labels[theme]} ({theme})" for path, theme in rows}

    def figures(self) -> GraphFigures:
        """Figures of the link graph; see `analytics.analyse`."""
        return analyse(self.notes, self.graph)

    def _near(self, name: str) -> list[str]:
        """Notes whose names come closest, and those that hold the name."""
        wanted = name.rsplit("/", 1)[-1].casefold()
        holding = [path for path in self.graph.paths if wanted in path.casefold()] if wanted else []
        named = [(stem(path.rsplit("/", 1)[-1]), path) for path in self.graph.paths]
        named += [(title, path) for path, title in self.titles.items()]
        (close,) = ClosestNames(named).find([stem(name.rsplit("/", 1)[-1])])
        paths = [*([close.path] if close and close.similarity >= NEAR else []), *holding]
        return list(dict.fromkeys(paths))[:NEAR_MATCHES]


def _options(settings: Any, names: Collection[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by name, what is given in their place."""
    return {name: getattr(settings, name) if given.get(name) is None else given[name] for name in names}
