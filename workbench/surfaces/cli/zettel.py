"""`workbench zettel`: the six operations on a vault."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.reports.render.numbers import plural
from workbench.surfaces.cli.app import HomeOption, JsonOption, app, open_bench
from workbench.surfaces.cli.output import local, plain, print_json, print_table
from workbench.surfaces.exits import say

if TYPE_CHECKING:
    import polars as pl

    from workbench.vault.zettel.converse import Conversation
    from workbench.vault.zettel.health import HealthReport
    from workbench.vault.zettel.themes import Themes
    from workbench.vault_face import Vault

zettel_app = typer.Typer(
    help="Think with an indexed vault: walk it, find surprises, ask it, see its themes, its health, missing links.",
    no_args_is_help=True,
)
app.add_typer(zettel_app, name="zettel")

VaultOption = Annotated[
    Path | None,
    typer.Option(
        "--vault", help="The folder of notes; vault.path of the configuration unless given.", show_default=False
    ),
]
NoteArgument = Annotated[str, typer.Argument(metavar="NOTE", help="Path, name, title or alias of a note.")]
LimitOption = Annotated[
    int | None, typer.Option("--limit", "-n", help="Most rows; as configured unless given.", min=1, show_default=False)
]


class Direction(StrEnum):
    """Along links, against them, or both."""

    BOTH = "both"
    FORWARD = "forward"
    BACKWARD = "backward"


class EdgeMode(StrEnum):
    """Which links are followed."""

    ALL = "all"
    SEQUENTIAL = "sequential"
    ASSOCIATIVE = "associative"


class Reading(StrEnum):
    """Which reading of surprise."""

    FORMULA = "formula"
    BRIDGE = "bridge"


class Domain(StrEnum):
    """What connections are looked for across."""

    FOLDER = "folder"
    THEME = "theme"


class Linkage(StrEnum):
    """How notes are joined to themes."""

    SINGLE = "single"
    CENTROID = "centroid"
    HDBSCAN = "hdbscan"


class Clock(StrEnum):
    """Which time of a note counts."""

    INDEXED = "indexed_at"
    MODIFIED = "modified_at"


class Check(StrEnum):
    """The lists of the audit."""

    BROKEN_LINKS = "broken_links"
    MISSING_ATTACHMENTS = "missing_attachments"
    ORPHANS = "orphans"
    DEAD_ENDS = "dead_ends"
    NO_EMBEDDING = "no_embedding"
    ISOLATED_CLUSTERS = "isolated_clusters"
    LOW_CONNECTIVITY = "low_connectivity"


@zettel_app.command("explore")
def explore(
    context: typer.Context,
    note: NoteArgument,
    vault: VaultOption = None,
    depth: Annotated[
        int | None, typer.Option("--depth", help="Steps, 1 to 10; as configured unless given.", show_default=False)
    ] = None,
    direction: Annotated[Direction, typer.Option("--direction", help="Which way links are followed.")] = Direction.BOTH,
    mode: Annotated[EdgeMode, typer.Option("--mode", help="Which links are followed.")] = EdgeMode.ALL,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Walk from a note along its links."""
    asked = open_bench(context, home).vault(vault)
    found = asked.explore(note, depth=depth, direction=direction.value, mode=mode.value)
    _say_namesakes(asked, note, found.root)
    if json:
        print_json(
            {
                "root": found.root,
                "depth": found.depth,
                "nodes": found.nodes.to_dicts(),
                "edges": found.edges.to_dicts(),
                "branching_points": found.branching_points,
                "max_depth_reached": found.max_depth_reached,
            }
        )
        return
    _table(found.nodes, ("depth", "link_class", "inbound", "outbound", "path", "title"))
    print(
        plain(
            f"{plural(found.nodes.height, 'note')} and {plural(found.edges.height, 'edge')} within "
            f"{plural(found.depth, 'step')} of {found.root}; {plural(len(found.branching_points), 'branching point')}"
        )
    )


@zettel_app.command("surprise")
def surprise(
    context: typer.Context,
    note: NoteArgument,
    vault: VaultOption = None,
    limit: LimitOption = None,
    min_similarity: Annotated[
        float | None,
        typer.Option("--min-similarity", help="Least cosine; as configured unless given.", show_default=False),
    ] = None,
    min_distance: Annotated[
        int | None, typer.Option("--min-distance", help="Least steps; as configured unless given.", show_default=False)
    ] = None,
    mode: Annotated[
        Reading, typer.Option("--mode", help="formula: alike and far apart; bridge: unlike and near.")
    ] = Reading.FORMULA,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Find notes that mean much the same as one and lie far from it by links."""
    asked = open_bench(context, home).vault(vault)
    thresholds = {"min_similarity": min_similarity, "min_graph_distance": min_distance}
    found = asked.surprise(note, limit=limit, mode=mode.value, **thresholds)
    _say_namesakes(asked, note, found.reference)
    if json:
        print_json(
            {
                "reference": found.reference,
                "mode": found.mode,
                "compared": found.compared,
                "lack": found.lack,
                "notes": found.notes.to_dicts(),
            }
        )
    elif found.lack is None:
        _table(_with_no_way(found.notes), ("score", "cosine", "distance", "path", "title", "snippet"))
        print(plain(f"{found.reference} was compared with {plural(found.compared, 'note')}, by the {found.mode}"))
        if found.notes.is_empty() and found.mode == "formula":
            say("none is both alike and far enough; --min-similarity and --min-distance ask for less")
    if found.lack:
        say(f"{found.reference}: {found.lack}")


def _say_namesakes(vault: Vault, name: str, meant: str) -> None:
    """Where several notes have the name, which one was taken."""
    others = vault.operations.namesakes(name)
    if others:
        shown = ", ".join(others[:_NAMESAKES]) + (", ..." if len(others) > _NAMESAKES else "")
        say(plain(f"{len(others) + 1} notes are called {name!r}; taken was {meant}, not {shown}: give the path"))


_NAMESAKES = 3
"""Other notes of a name that are told."""


def _with_no_way(notes: pl.DataFrame) -> pl.DataFrame:
    """Distances as people read them: where no links lead to a note, that is said."""
    import polars as pl  # noqa: PLC0415  (175 ms)

    return notes.with_columns(pl.col("distance").cast(pl.String).fill_null("no way"))


@zettel_app.command("suggest")
def suggest(
    context: typer.Context,
    note: NoteArgument,
    vault: VaultOption = None,
    limit: LimitOption = None,
    linked: Annotated[bool, typer.Option("--linked", help="Also notes that it links to already.")] = False,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Suggest links that a note could have, with the reason for each."""
    asked = open_bench(context, home).vault(vault)
    found = asked.suggest(note, limit=limit, exclude_linked=not linked)
    _say_namesakes(asked, note, found.note)
    if json:
        print_json({"note": found.note, "lacks": found.lacks, "links": found.links.to_dicts()})
    else:
        _table(found.links, ("score", "semantic", "tag", "neighbor", "wikilink", "reason"))
        print(plain(f"{plural(found.links.height, 'link')} that {found.note} could have"))
    for lack in found.lacks:
        say(f"{found.note}: {lack}")


@zettel_app.command("converse")
def converse(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="In plain words.")],
    vault: VaultOption = None,
    depth: Annotated[
        int | None,
        typer.Option("--depth", help="Links from the hits; as configured unless given.", min=0, show_default=False),
    ] = None,
    limit: LimitOption = None,
    across: Annotated[Domain, typer.Option("--across", help="What connections are looked for across.")] = Domain.FOLDER,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print the prompt for a model, and nothing else.")] = False,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Find the notes that bear on a question, and what connects them across domains. No model is called."""
    told, lacks = (
        open_bench(context, home).vault(vault).converse(question, across=across.value, depth=depth, limit=limit)
    )
    if json:
        print_json(
            {
                "question": told.question,
                "lacks": lacks,
                "notes": told.notes.to_dicts(),
                "connections": told.connections.to_dicts(),
                "domains": told.domains,
                "prompt": told.prompt,
            }
        )
    elif prompt:
        print("\n".join(plain(line) for line in told.prompt.split("\n")))
    else:
        _print_conversation(told)
    for lack in lacks:
        say(plain(lack))


def _print_conversation(told: Conversation) -> None:
    from workbench.vault.zettel.converse import named_domains  # noqa: PLC0415  (--help needs none of it)

    notes = named_domains(told.notes)
    _table(notes, ("score", "origin", "steps", "domain", "path", "title"))
    if told.connections.height:
        print()
        _table(
            named_domains(told.connections),
            ("strength", "source_domain", "target_domain", "source_path", "target_path"),
        )
    print(f"{plural(notes.height, 'note')} of {plural(notes['domain'].n_unique(), 'domain')}")


@zettel_app.command("themes")
def themes(
    context: typer.Context,
    vault: VaultOption = None,
    days: Annotated[
        float | None, typer.Option("--days", help="Only notes of so many days; all unless given.", show_default=False)
    ] = None,
    recent: Annotated[bool, typer.Option("--recent", help="Only notes of vault.themes.lookback_days.")] = False,
    clock: Annotated[Clock, typer.Option("--clock", help="Which time of a note counts.")] = Clock.INDEXED,
    linkage: Annotated[Linkage, typer.Option("--linkage", help="How notes are joined.")] = Linkage.SINGLE,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="Cosine above which notes join; as configured.", show_default=False),
    ] = None,
    min_size: Annotated[
        int | None, typer.Option("--min-size", help="Notes of a theme; as configured.", min=1, show_default=False)
    ] = None,
    limit: LimitOption = None,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Group the notes by meaning, with figures of how good the groups are."""
    bench = open_bench(context, home)
    found = bench.vault(vault).themes(
        lookback_days=bench.config.vault.themes.lookback_days if recent and days is None else days,
        clock=clock.value,
        linkage=linkage.value,
        similarity_threshold=threshold,
        min_cluster_size=min_size,
        max_themes=limit,
    )
    if json:
        print_json(_themes_shape(found))
        return
    _table(
        found.themes,
        ("theme", "size", "rank_score", "cohesion", "silhouette", "linked_ratio", "suggest_index_note", "label"),
    )
    window = "" if found.window is None else f" since {local(found.window[0])}"
    quality = "" if found.silhouette is None else f"; silhouette {found.silhouette:.3f}"
    how = found.linkage if found.linkage == "hdbscan" else f"{found.linkage} linkage"
    print(f"{plural(found.found, 'theme')} by {how} among {plural(found.analyzed, 'note')}{window}{quality}")
    if found.without_vector:
        say(f"{plural(found.without_vector, 'note')} without a vector left out: workbench embed --vault")


def _themes_shape(found: Themes) -> dict[str, Any]:
    members = found.notes.select("theme", "path", "title", "closeness").to_dicts()
    rows = [
        {
            **row,
            "notes": [
                {k: v for k, v in each.items() if k != "theme"} for each in members if each["theme"] == row["theme"]
            ],
        }
        for row in found.themes.to_dicts()
    ]
    return {
        "linkage": found.linkage,
        "analyzed": found.analyzed,
        "without_vector": found.without_vector,
        "found": found.found,
        "silhouette": found.silhouette,
        "window": found.window,
        "themes": rows,
    }


@zettel_app.command("health")
def health(
    context: typer.Context,
    vault: VaultOption = None,
    prefix: Annotated[
        str | None, typer.Option("--prefix", help="Only notes whose path begins so.", show_default=False)
    ] = None,
    recent: Annotated[bool, typer.Option("--recent", help="Only notes of vault.health.recent_days.")] = False,
    include: Annotated[
        list[Check] | None,
        typer.Option("--include", help="Only this list; give it again for more. The score stays.", show_default=False),
    ] = None,
    home: HomeOption = None,
    json: JsonOption = False,
) -> None:
    """Audit the structure of a vault, with a score from 0 to 100."""
    if recent and prefix is not None:
        raise typer.BadParameter("give --recent or --prefix, not both")
    options: dict[str, Any] = {"include": [each.value for each in include]} if include else {}
    options["scope"] = "recent" if recent else "full" if prefix is None else "project"
    found = open_bench(context, home).vault(vault).health(prefix=prefix or "", **options)
    if json:
        print_json(_health_shape(found))
    else:
        _print_health(found)


def _health_shape(found: HealthReport) -> dict[str, Any]:
    from dataclasses import asdict  # noqa: PLC0415

    return {
        "scope": found.scope,
        "score": found.score,
        "counts": asdict(found.counts),
        "terms": found.terms.to_dicts(),
        **{check: getattr(found, check).to_dicts() for check in found.included},
    }


def _print_health(found: HealthReport) -> None:
    heads = {"broken_links": ("line", "source_path", "target"), "isolated_clusters": ("size", "paths")}
    heads["missing_attachments"] = heads["broken_links"]
    for check in found.included:
        frame = getattr(found, check)
        print(f"{check.replace('_', ' ')}: {frame.height:,}")
        if frame.height:
            _table(frame.head(_SHOWN), heads.get(check, ("inbound", "outbound", "path")))
            if frame.height > _SHOWN:
                print(f"... and {frame.height - _SHOWN:,} more; --json has all")
        print()
    _table(found.terms, ("count", "of", "weight", "factor", "term"))
    if found.score is None:
        print("no notes, so there is no score")
        return
    print(
        f"score {found.score} of 100, over {plural(found.counts.notes, 'note')}"
        f" and {plural(found.counts.links, 'link')}"
    )


_SHOWN = 10
"""Rows of a list of the audit that a person sees."""


def _table(frame: pl.DataFrame, columns: tuple[str, ...]) -> None:
    print_table(columns, frame.select(columns).rows())
