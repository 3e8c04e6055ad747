"""What the notebook on a vault shows of the operations: answers in, markup in which no text can act out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from workbench.reports.render.embedded import embedded, section
from workbench.reports.render.html import Html, el, fragment
from workbench.reports.render.numbers import UNKNOWN, count, plural
from workbench.reports.render.tables import Column, table
from workbench.reports.render.text import one_line
from workbench.reports.vault import broken, health, orphans, overview, themes
from workbench.reports.vault_frames import VaultFrames
from workbench.vault.zettel.converse import named_domains

if TYPE_CHECKING:
    from workbench.vault.zettel.converse import Conversation
    from workbench.vault.zettel.explore import Exploration
    from workbench.vault.zettel.suggest import Suggestions
    from workbench.vault.zettel.surprise import Surprises

ROWS: Final = 60
"""Rows of a table in the notebook."""

_NOTE: Final = Column("title", "note", is_wide=True)
_PATH: Final = Column("path", "path", kind="code", is_wide=True)


def _three(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3f}"


def overview_html(frames: VaultFrames) -> str:
    """Sums of the vault, and what is missing."""
    lacks = el("ul", [el("li", text) for text in frames.lacks], class_="findings") if frames.lacks else None
    return embedded(el("section", overview(frames).body, lacks, id="vault-overview"))


def explore_html(found: Exploration) -> str:
    """Notes met on a walk."""
    columns = [
        _NOTE,
        Column("depth", "steps", count, "number"),
        Column("link_class", "reached by a link that is"),
        Column("inbound", "links to it", count, "number"),
        Column("outbound", "links from it", count, "number"),
        Column("is_branching", "", lambda value: "branching point" if value else ""),
        _PATH,
    ]
    rows = found.nodes.head(ROWS).to_dicts()
    more = " There may be more beyond." if found.max_depth_reached else ""
    lead = f"{plural(found.nodes.height, 'note')} within {plural(found.depth, 'step')} of {one_line(found.root)}.{more}"
    return _answer("explore", lead, rows, columns)


def surprise_html(found: Surprises) -> str:
    """Notes alike in meaning and far apart by links, with every term."""
    columns = [
        _NOTE,
        Column("score", "score", _three, "number", bar=True),
        Column("cosine", "cosine", _three, "number"),
        Column("distance", "steps by links", lambda value: "no way" if value is None else count(value)),
        Column("snippet", "nearest passage", is_wide=True),
    ]
    lead = found.lack or f"Of {plural(found.compared, 'note')} compared; score = cosine × log2(steps + 1)."  # noqa: RUF001
    return _answer("surprise", lead, found.notes.head(ROWS).to_dicts(), columns)


def suggest_html(found: Suggestions) -> str:
    """Links that a note could have, with the reason and every part of the score."""
    columns = [
        _NOTE,
        Column("score", "score", _three, "number", bar=True),
        Column("semantic_part", "by meaning", _three, "number"),
        Column("tag_part", "by tags", _three, "number"),
        Column("neighbor_part", "by neighbours", _three, "number"),
        Column("reason", "reason", is_wide=True),
        Column("wikilink", "to paste", kind="code", is_wide=True),
    ]
    lead = "; ".join(found.lacks) or f"Links that {one_line(found.note)} does not have yet."
    return _answer("suggest", lead, found.links.head(ROWS).to_dicts(), columns)


def converse_html(found: Conversation, lacks: Sequence[str]) -> str:
    """Notes that bear on a question, and links between their domains."""
    columns = [
        _NOTE,
        Column("domain", "domain"),
        Column("origin", "found by"),
        Column("score", "score", _three, "number"),
        Column("snippet", "passage", is_wide=True),
    ]
    named = named_domains(found.notes)
    rows = named.head(ROWS).to_dicts()
    joined = [
        Column("source_path", "from", kind="code", is_wide=True),
        Column("target_path", "to", kind="code", is_wide=True),
        Column("strength", "links", count, "number"),
    ]
    across = found.connections.head(ROWS).to_dicts()
    told = table(across, joined, id="connections", label="Connections") if across else el("p", "None.")
    lead = f"{plural(found.notes.height, 'note')} in {plural(named['domain'].n_unique(), 'domain')}."
    missing = el("ul", [el("li", text) for text in lacks], class_="findings") if lacks else fragment()
    prompt = el("details", el("summary", "The prompt for a model"), el("pre", found.prompt))
    return _answer("converse", lead, rows, columns, missing, el("h3", "Links across domains"), told, prompt)


def themes_html(frames: VaultFrames) -> str:
    """Groups by meaning."""
    return section(themes(frames))


def health_html(frames: VaultFrames) -> str:
    """The audit: score, broken links, orphans."""
    parts = (health(frames.health), broken(frames.health), orphans(frames.health))
    return "".join(section(part) for part in parts)


def _answer(name: str, lead: str, rows: Sequence[dict[str, Any]], columns: Sequence[Column], *more: Html) -> str:
    body = table(rows, columns, id=f"{name}-table", label=name) if rows else el("p", "Nothing was found.")
    return embedded(el("section", el("p", lead, class_="lead"), fragment(body, *more), id=name))
