"""The vault report: numbers, health, themes and the shape of the link graph. Pure: frames in, HTML out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from workbench import __version__
from workbench.reports import vault_charts as draw
from workbench.reports.links import NAMES as METHOD_NAMES
from workbench.reports.note_map import NoteMap
from workbench.reports.render.charts import chart
from workbench.reports.render.html import Child, Html, el, fragment
from workbench.reports.render.numbers import UNKNOWN, Clock, count, plural, share
from workbench.reports.render.page import Figure, Section, figures, page
from workbench.reports.render.tables import Column, table
from workbench.reports.render.text import one_line, shorten
from workbench.reports.vault_frames import VaultFrames, picture_of
from workbench.reports.vault_picture import legend, picture

if TYPE_CHECKING:
    from workbench.vault.zettel.health import HealthReport

LISTED: Final = 60
"""Rows of a list of findings; more are for `workbench zettel health --json`."""
CENTRAL: Final = 15
BRIDGES: Final = 20
LABEL_LETTERS: Final = 34
NEAREST: Final = 4
"""Notes that a theme is told by."""

TERM_NAMES: Final = {"broken_links": "broken links", "orphans": "orphans", "low_connectivity": "hardly linked notes"}

TERMS: Final = (
    ("link", "every occurrence of a wikilink, an embed or a Markdown link, in front matter too, none in code"),
    ("broken", "a link to a note that is not there; a file that is not there is a missing attachment"),
    ("orphan", "a note that no other links to and that links to no other"),
    ("dead end", "a note that links to no other note"),
    ("hardly linked", "at most one live link, in and out together"),
    ("theme", "notes that mean much the same: each is close to another of them, by the cosine of their vectors"),
    ("PageRank", "where one arrives often by following links at random; it follows directions, all below does not"),
    ("betweenness", "share of the shortest ways between other notes that lead through a note"),
    ("community", "notes more linked with each other than with the rest, found by the Louvain method"),
    ("bridge", "two notes whose link alone joins two parts of the vault"),
)

ASK: Final = """\
workbench zettel health
workbench zettel suggest "a note"
workbench vault fix
workbench sql "select source_path, line, raw from note_links where target_path is null"
"""


def vault_report(
    frames: VaultFrames,
    *,
    created_at: datetime,
    zone: tzinfo | None = None,
    about: Sequence[str] = (),
    holdout: Mapping[str, Any] | None = None,
) -> str:
    """The page.

    Args:
        frames: What it tells of.
        created_at: When it was made, with a zone.
        zone: Of its times; None is the local one.
        about: Further lines for its foot.
        holdout: A hold-out check of `suggest` on this vault, as `reports.links.holdout_numbers` has it.

    Returns:
        A self-contained HTML document. Its sections have the ids overview, missing, picture, health, broken, orphans,
        themes, central, bridges, growth and counting, and holdout where there is one; an empty vault has only `empty`.
    """
    clock = Clock.of(zone, [created_at])
    run = frames.status["recorded_at"]
    foot = [
        f"Made {clock.moment(created_at)} by workbench {__version__}, of the index run of {clock.moment(run)}.",
        f"All times are in {clock.name}.",
        *about,
    ]
    title = f"Notes: {frames.name}"
    if not frames.notes.height:
        empty = el("p", "There is no Markdown file in this folder, or none that could be read.")
        return page(title, [Section("empty", "There are no notes", (empty,))], about=foot)
    drawn = picture_of(frames)
    sections = [
        overview(frames),
        *_missing(frames),
        _picture(drawn),
        health(frames.health),
        broken(frames.health),
        orphans(frames.health),
        themes(frames),
        central(frames),
        bridges(frames),
        growth(frames),
        *([] if holdout is None else [held_out(holdout)]),
        _counting(),
    ]
    lead = f"{plural(frames.notes.height, 'note')} and what joins them"
    return page(title, sections, lead=lead, about=foot)


def overview(frames: VaultFrames) -> Section:
    """Sums."""
    counts, status, of = frames.health.counts, frames.status, frames.figures
    words = int(frames.notes["words"].sum() or 0)
    tags = {tag for tags in frames.notes["tags"].to_list() for tag in tags}
    islands = plural(counts.isolated_clusters, "island")
    shown = [
        Figure("notes", count(counts.notes), f"{plural(words, 'word')} in {_folders(frames)}"),
        Figure("links", count(status["links"]), f"{status['links'] / max(1, counts.notes):.1f} a note"),
        Figure("health", *_health(frames.health)),
        Figure("broken links", count(counts.broken), f"{share(counts.broken, counts.links)} of links to notes"),
        Figure("orphans", count(counts.orphans), f"{share(counts.orphans, counts.notes)} of the notes"),
        Figure("sequential links", count(status["sequential"]), f"{count(status['associative'])} associative"),
        Figure("communities", count(of.communities.height), f"modularity {of.modularity:.2f}; {islands}"),
        Figure("tags", count(len(tags)), f"themes: {count(frames.themes.found)}"),
    ]
    return Section("overview", "Overview", (figures(shown),))


def _health(report: HealthReport) -> tuple[str, str]:
    return ("–", "no notes") if report.score is None else (f"{report.score}", "of 100 points")  # noqa: RUF001


def _folders(frames: VaultFrames) -> str:
    return plural(frames.notes["folder"].drop_nulls().n_unique(), "folder")


def _missing(frames: VaultFrames) -> list[Section]:
    told = list(frames.lacks)
    kinds = frames.status["issue_kinds"]
    told += [f"{count(number)} × {one_line(kind)}: see note_issues." for kind, number in kinds.items()]  # noqa: RUF001
    if not told:
        return []
    return [Section("missing", "What is missing", (el("ul", [el("li", text) for text in told], class_="findings"),))]


def _picture(drawn: NoteMap) -> Section:
    lead = "Each circle is a note, larger with more links; notes that are linked stand near each other."
    return Section(
        "picture", "The whole vault", (el("div", picture(drawn), class_="drawing"), legend(drawn)), lead, "Picture"
    )


# -- health ------------------------------------------------------------------------------------------------------------


def health(report: HealthReport) -> Section:
    """The score, factor by factor, and the counts."""
    if report.score is None:
        return Section("health", "Health", (el("p", "There are no notes, so there is no score."),))
    rows, before = [], 100.0
    for row in report.terms.to_dicts():
        after = before * row["factor"]
        rows.append({**row, "name": TERM_NAMES[row["term"]], "before": before, "after": after})
        before = after
    columns = [
        Column("name", "factor"),
        Column("count", "found", count, "number"),
        Column("of", "of", count, "number"),
        Column("share", "share", lambda value: share(value, 1), "number"),
        Column("weight", "weight", lambda value: f"{value:.1f}", "number", title="What a vault of nothing else loses"),
        Column("factor", "factor", lambda value: f"{value:.4f}", "number", title="1 - weight times share"),
        Column("after", "points left", lambda value: f"{value:.1f}", "number"),
    ]
    made = table(rows, columns, id="health-terms", label="Factors of the health score")
    label = f"{report.score} of 100 points are left."
    drawn = chart(draw.factors(rows), id="health-factors", title="What each factor takes", label=label)
    counts = report.counts
    rest = [
        ("notes that no other links to", counts.no_inbound),
        ("dead ends", counts.dead_ends),
        ("missing attachments", counts.missing_attachments),
        ("notes without a vector", counts.no_embedding),
        ("islands: parts of two notes or more apart from the largest", counts.isolated_clusters),
    ]
    listed = el("ul", [el("li", f"{name}: {count(number)}") for name, number in rest])
    lead = f"{report.score} of 100: the product of three factors. What is below them is counted and costs nothing."
    return Section("health", "Health", (drawn, made, listed), lead=lead)


def broken(report: HealthReport) -> Section:
    """Links to notes that are not there, the names most linked to first."""
    rows = report.broken_links.to_dicts()
    if not rows:
        return Section("broken", "Broken links", (el("p", "Every link to a note leads to one."),))
    often = Counter(row["target"] for row in rows)
    rows.sort(key=lambda row: (-often[row["target"]], row["target"], row["source_path"], row["line"]))
    columns = [
        Column("target", "name", is_wide=True),
        Column("source_path", "in the note", kind="code", is_wide=True),
        Column("line", "line", count, "number"),
        Column("syntax", "as"),
    ]
    made = table(rows[:LISTED], columns, id="broken-links", label="Broken links")
    lead = f"{plural(len(rows), 'link')} to {plural(len(often), 'name')} that no note has."
    return Section("broken", "Broken links", (made, _more(len(rows))), lead=lead)


def orphans(report: HealthReport) -> Section:
    """Notes without a link, and dead ends."""
    rows = report.orphans.to_dicts()
    ends = [row for row in report.dead_ends.to_dicts() if row["inbound"]]
    if not rows and not ends:
        return Section("orphans", "Orphans", (el("p", "Every note is linked, both ways."),))
    names = [Column("title", "note", is_wide=True), Column("path", "path", kind="code", is_wide=True)]
    parts: list[Child] = []
    if rows:
        parts += [table(rows[:LISTED], names, id="orphan-notes", label="Orphans"), _more(len(rows))]
    if ends:
        inbound = Column("inbound", "links to it", count, "number")
        parts += [el("h3", "Dead ends that others link to")]
        parts += [table(ends[:LISTED], [*names, inbound], id="dead-ends", label="Dead ends"), _more(len(ends))]
    lead = f"{plural(len(rows), 'note')} without any link; {plural(len(ends), 'dead end')} that others link to."
    return Section("orphans", "Orphans and dead ends", tuple(parts), lead=lead, menu="Orphans")


def _more(number: int) -> Html | None:
    return el("p", f"{count(number - LISTED)} more are not listed.", class_="soft") if number > LISTED else None


# -- themes ------------------------------------------------------------------------------------------------------------


def themes(frames: VaultFrames) -> Section:
    """Groups of notes by meaning."""
    found = frames.themes
    if not found.themes.height:
        return Section("themes", "Themes", (el("p", f"No themes were found among {plural(found.analyzed, 'note')}."),))
    near = {
        theme: "; ".join(titles[:NEAREST])
        for theme, titles in found.notes.group_by("theme", maintain_order=True).agg("title").iter_rows()
    }
    rows = [{**row, "near": near.get(row["theme"], "")} for row in found.themes.to_dicts()]
    columns = [
        Column("label", "theme"),
        Column("near", "notes nearest its middle", is_wide=True),
        Column("size", "notes", count, "number", bar=True),
        Column("linked_ratio", "linked", lambda value: share(value, 1), "number", title="Of its pairs of notes"),
        Column("cohesion", "cohesion", _two, "number", title="Mean cosine of its pairs"),
        Column("silhouette", "silhouette", _two, "number", title="Against the nearest other theme; 1 is best"),
        Column("suggest_index_note", "", lambda value: "needs an index note" if value else ""),
    ]
    made = table(rows, columns, id="themes-table", label="Themes")
    quality = "" if found.silhouette is None else f"; mean silhouette {found.silhouette:.2f}"
    among = f"among {plural(found.analyzed, 'note')} with a vector"
    lead = f"{plural(found.found, 'theme')} {among}, {found.linkage} linkage{quality}."
    return Section("themes", "Themes", (made,), lead=lead)


def _two(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f}"


# -- the graph ---------------------------------------------------------------------------------------------------------


def central(frames: VaultFrames) -> Section:
    """The notes that most lead to or through, and how links are spread."""
    notes = frames.figures.notes
    best = notes.sort("pagerank", "path", descending=[True, False]).head(CENTRAL).to_dicts()
    named = [{**row, "name": name} for row, name in zip(best, _names([row["title"] for row in best]), strict=True)]
    through = notes.filter(pl.col("betweenness") > 0).sort("betweenness", "path", descending=[True, False])
    columns = [
        Column("title", "note", is_wide=True),
        Column("pagerank", "PageRank", lambda value: f"{value:.4f}", "number"),
        Column("betweenness", "betweenness", lambda value: f"{value:.4f}", "number", bar=True),
        Column("inbound", "links to it", count, "number"),
        Column("outbound", "links from it", count, "number"),
        Column("is_articulation", "", lambda value: "holds parts together" if value else ""),
    ]
    degrees = draw.degree_rows((notes["inbound"] + notes["outbound"]).to_list())
    numbers = (degrees, [Column("links", "links"), Column("notes", "notes", count, "number")])
    alone = f"{count(degrees[0]['notes'])} of {plural(notes.height, 'note')} have none."
    body = (
        chart(
            draw.central(named), id="pagerank", title="Notes that links lead to", label="The notes of highest PageRank."
        ),
        el("h3", "Notes that ways lead through"),
        table(through.head(CENTRAL).to_dicts(), columns, id="betweenness-table", label="Notes by betweenness"),
        chart(
            draw.degrees(degrees), id="degrees", title="Notes by their number of links", label=alone, numbers=numbers
        ),
    )
    return Section("central", "What is central", body, menu="Central notes")


def _names(titles: Sequence[str]) -> list[str]:
    """Short names for a chart, each once."""
    made: list[str] = []
    for title in titles:
        name = one_line(title)
        name = name if len(name) <= LABEL_LETTERS else f"{name[: LABEL_LETTERS - 1]}…"
        made.append(name if name not in made else f"{name} ({len(made) + 1})")
    return made


def bridges(frames: VaultFrames) -> Section:
    """Communities, and the links that alone join two parts."""
    titles = dict(frames.notes.select("path", "title").iter_rows())
    groups = [
        {**row, "central": titles.get(row["central_path"], "")}
        for row in frames.figures.communities.sort("size", "community", descending=[True, False]).to_dicts()
    ]
    of_groups = [
        Column("central", "around", is_wide=True),
        Column("size", "notes", count, "number", bar=True),
        Column("pairs_within", "linked pairs within", count, "number"),
        Column("pairs_out", "linked pairs to others", count, "number"),
    ]
    parts: list[Child] = [table(groups[:LISTED], of_groups, id="communities", label="Communities"), _more(len(groups))]
    told = [
        {**row, "first": titles.get(row["first_path"], ""), "second": titles.get(row["second_path"], "")}
        for row in frames.figures.bridges.head(BRIDGES).to_dicts()
    ]
    columns = [
        Column("first", "between", is_wide=True),
        Column("second", "and", is_wide=True),
        Column("smaller_side", "cut off without it", count, "number", bar=True, title="Notes on the smaller side"),
    ]
    parts.append(el("h3", "Bridges"))
    parts.append(
        table(told, columns, id="bridges-table", label="Bridges") if told else el("p", "No link alone joins two parts.")
    )
    number = frames.figures.bridges.height
    lead = f"{plural(len(groups), 'community', 'communities')} by links; {plural(number, 'bridge')}."
    return Section("bridges", "Communities and bridges", tuple(parts), lead=lead, menu="Bridges")


def growth(frames: VaultFrames) -> Section:
    """Notes and links over time, if git knows."""
    commits = frames.growth.commits
    if frames.growth.lack is not None or not commits.height:
        return Section("growth", "Growth", (el("p", _lack(frames)),))
    daily = commits.group_by_dynamic("committed_at", every="1d").agg(pl.col("notes", "links").last())
    rows = [
        {"committed_at": row["committed_at"].isoformat(), "notes": row["notes"], "links": row["links"]}
        for row in _thinned(daily).to_dicts()
    ]
    note = "From the diffs of git's history, so links in code count here."
    label = f"{count(rows[-1]['notes'])} notes and {count(rows[-1]['links'])} links at the end."
    made = chart(draw.growth(rows), id="growth-over-time", title="Notes and links over time", label=label, note=note)
    return Section("growth", "Growth", (made,), lead=f"{plural(commits.height, 'commit')} touched a note.")


MOST_DAYS: Final = 400
"""Points of a drawing; of a longer history every so many days are shown, the last one always."""


def _lack(frames: VaultFrames) -> str:
    """Why there is no history, without the vault's place on this machine."""
    told = (frames.growth.lack or "no history").replace(str(frames.status["root"]), frames.name)
    return shorten(one_line(told), 300)


def _thinned(daily: pl.DataFrame) -> pl.DataFrame:
    step = -(-daily.height // MOST_DAYS)
    return daily.reverse().gather_every(step).reverse()


def held_out(found: Mapping[str, Any]) -> Section:
    """How many hidden links each ranking brought back."""
    gains = found["gain_of_suggest"]
    rows = [
        {
            "method": METHOD_NAMES.get(name, name),
            "recall": each["estimate"],
            "interval": _between(each),
            "gain": gains.get(name),
        }
        for name, each in found["recall"].items()
    ]
    columns = [
        Column("method", "ranking", is_wide=True),
        Column("recall", "recall", _three, "number", bar=True),
        Column("interval", "its interval"),
        Column(
            "gain",
            "what suggest gains",
            lambda value: "" if value is None else f"{value['estimate']:+.3f} ({_between(value)})",
        ),
    ]
    settings = found["settings"]
    lead = (
        f"{share(settings['share'], 1)} of {plural(found['pairs'], 'linked pair')} hidden {settings['repeats']} times; "
        f"recall among the first {settings['first']}, with 95 % intervals over notes."
    )
    made = table(rows, columns, id="holdout-table", label="Hidden links found again")
    return Section("holdout", "Hidden links found again", (made,), lead=lead, menu="Hold-out")


def _three(value: float) -> str:
    return f"{value:.3f}"


def _between(interval: Mapping[str, float]) -> str:
    return f"{interval['low']:.3f} to {interval['high']:.3f}"


def _counting() -> Section:
    terms = el("ul", [el("li", el("b", term), f": {meaning}.") for term, meaning in TERMS])
    ask: tuple[Any, ...] = (el("p", "Everything here can be asked again:"), el("pre", el("code", ASK)))
    return Section("counting", "How things are counted", (fragment(terms), *ask), menu="Counting")
