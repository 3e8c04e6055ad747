"""PAI's operations on one small vault, which the first case holds and the others share.

Links, tags and titles are what our index makes of the files. Where a right value is not the recorded one, it comes from
`_zettelkasten_by_hand`: the specification's formulas written out over dictionaries, without any of the product's code.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pyarrow as pa

from vectors.adapters import _zettelkasten_by_hand as by_hand
from workbench.text.fusion import minmax_sum
from workbench.vault.graph import NoteGraph
from workbench.vault.note_vectors import NoteVectors
from workbench.vault.parser import parse_note
from workbench.vault.rows import AS_WRITTEN, NamedFiles, Surroundings, note_rows
from workbench.vault.zettel.converse import converse
from workbench.vault.zettel.explore import explore
from workbench.vault.zettel.health import health
from workbench.vault.zettel.suggest import suggest
from workbench.vault.zettel.surprise import surprise
from workbench.vault.zettel.themes import themes

CHECKS = {
    "dead_links": "broken_links",
    "orphans": "orphans",
    "disconnected": "isolated_clusters",
    "low_connectivity": "low_connectivity",
}
SHARED = {}


class Vault:
    """The shared input as frames."""

    def __init__(self, case_input, recorded):
        self.input, self.recorded = case_input, recorded
        self.now = datetime.fromtimestamp(case_input["now_ms"] / 1000, UTC)
        files = {path: text for path, text in case_input["files"].items() if not path.startswith(".")}
        self.other_paths = {}
        for made, original in case_input.get("hardlinks", {}).items():
            kept, other = sorted((made, original), key=lambda path: (path.count("/"), len(path)))
            self.other_paths[other] = kept
            files[kept] = files.pop(original)
        self.files = dict(sorted(files.items()))
        parsed = {path: parse_note(text, path) for path, text in self.files.items()}
        self.titles = {path: note.title for path, note in parsed.items()}
        self.tags = {path: list(dict.fromkeys(each.tag for each in note.tags)) for path, note in parsed.items()}
        rows = note_rows(parsed)
        named = NamedFiles(
            list(parsed),
            titles=self.titles,
            aliases={path: note.aliases for path, note in parsed.items()},
            other_paths=self.other_paths,
        )
        tables = {
            "note_tags": ["path", "place", "tag", "origin", "line"],
            "note_headings": ["path", "place", "line", "level", "text"],
            "note_blocks": ["path", "place", "block_id", "line"],
        }
        around = Surroundings(named, *(table(rows[name], columns) for name, columns in tables.items()))
        written = dict(zip(AS_WRITTEN, map(list, zip(*rows["note_links"], strict=True)), strict=True))
        self.links = pl.DataFrame({**written, **around.resolved(written)}, strict=False, infer_schema_length=None)
        ago = case_input.get("indexed_days_ago", {})
        self.indexed_at = {path: self.now - timedelta(days=ago.get(path, 0)) for path in self.files}
        self.notes = pl.DataFrame(
            {
                "path": list(self.files),
                "title": list(self.titles.values()),
                "tags": list(self.tags.values()),
                "indexed_at": list(self.indexed_at.values()),
            },
            schema_overrides={"tags": pl.List(pl.String), "indexed_at": pl.Datetime("us", "UTC")},
        )
        self.graph = NoteGraph.from_frames(self.notes, self.links)
        self.means = {
            path: np.mean(np.array(rows, dtype=np.float32), axis=0)
            for path, chunks in case_input["chunk_embeddings"].items()
            if (rows := [chunk["embedding"] for chunk in chunks if chunk["embedding"] is not None])
        }
        self.vectors = NoteVectors(tuple(self.means), np.array(list(self.means.values())), "recorded")

    def edges(self):
        """Source, target and class of every link between two notes, in document order by source."""
        rows = self.links.filter(pl.col("target_kind") == "note").sort("source_path", "place")
        return rows.select("source_path", "target_path", "link_class").rows()


def table(rows, columns):
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(columns)})


def prepare(cases):
    case = next(case for case in cases if "files" in case["input"])
    SHARED["vault"] = Vault(case["input"], case["expected"])


def run(case_input):
    if "files" in case_input:
        return indexed(SHARED["vault"])
    return OPERATIONS[case_input["op"]](SHARED["vault"], case_input)


def indexed(vault):
    links = vault.links
    syntax = {"md_link": "md-link", "md_embed": "md-embed"}
    dead = links.filter(pl.col("target_path").is_null()).group_by("source_path").len()
    dead_of = dict(dead.iter_rows())
    figures = zip(vault.graph.paths, vault.graph.inbound.tolist(), vault.graph.outbound.tolist(), strict=True)
    return {
        "files": [{"vault_path": path, "title": title} for path, title in vault.titles.items()],
        "aliases": [{"vault_path": other, "canonical_path": kept} for other, kept in vault.other_paths.items()],
        "links": [
            [row["source_path"], row["line"], syntax.get(row["syntax"], row["syntax"]), row["target_path"]]
            for row in links.sort("source_path", "place").iter_rows(named=True)
        ],
        "health": {path: [into, out, dead_of.get(path, 0), into + out == 0] for path, into, out in figures},
    }


def run_explore(vault, asked):
    options = {key: asked[key] for key in ("depth", "direction", "mode") if key in asked}
    start = vault.other_paths.get(asked["startNote"], asked["startNote"])
    found = explore(start, vault.notes, vault.links, vault.graph, **options)
    columns = {"link_class": "linkType"}
    return {
        "root": found.root,
        "nodes": found.nodes.rename(columns).drop("is_branching").to_dicts(),
        "edges": [
            {"from": row["source_path"], "to": row["target_path"], "type": row["link_class"]}
            for row in found.edges.to_dicts()
        ],
        "branchingPoints": list(found.branching_points),
        "maxDepthReached": found.max_depth_reached,
    }


def run_surprise(vault, asked):
    names = {"limit": "limit", "minSimilarity": "min_similarity", "minGraphDistance": "min_graph_distance"}
    options = {ours: asked[theirs] for theirs, ours in names.items() if theirs in asked}
    found = surprise(asked["referencePath"], vault.notes, vault.graph, vault.vectors, **options)
    return [
        {
            "path": row["path"],
            "title": row["title"],
            "cosineSimilarity": row["cosine"],
            "graphDistance": "Infinity" if row["distance"] is None else row["distance"],
            "surpriseScore": row["score"],
        }
        for row in found.notes.to_dicts()
    ]


def run_themes(vault, asked):
    names = {
        "minClusterSize": "min_cluster_size",
        "maxThemes": "max_themes",
        "similarityThreshold": "similarity_threshold",
    }
    options = {ours: asked[theirs] for theirs, ours in names.items() if theirs in asked}
    days = asked.get("lookbackDays", 30)
    found = themes(vault.notes, vault.graph, vault.vectors, now=vault.now, lookback_days=days, **options)
    members = {}
    for row in found.notes.to_dicts():
        members.setdefault(row["theme"], []).append({"path": row["path"], "title": row["title"]})
    return {
        "themes": [
            {
                "label": row["label"],
                "notes": members[row["theme"]],
                "size": row["size"],
                "folderDiversity": row["folder_diversity"],
                "avgRecency": round(row["avg_recency"].timestamp() * 1000, 3),
                "linkedRatio": row["linked_ratio"],
                "suggestIndexNote": row["suggest_index_note"],
            }
            for row in found.themes.to_dicts()
        ],
        "totalNotesAnalyzed": found.analyzed,
        "timeWindow": {
            name: int(moment.timestamp() * 1000) for name, moment in zip(("from", "to"), found.window, strict=True)
        },
    }


def run_health(vault, asked):
    options = {"include": [CHECKS[each] for each in asked["include"] if each in CHECKS]} if "include" in asked else {}
    found = health(
        vault.notes,
        vault.links,
        vault.graph,
        vault.vectors,
        now=vault.now,
        scope=asked.get("scope", "full"),
        prefix=asked.get("projectPath", ""),
        recent_days=asked.get("recentDays", 30),
        **options,
    )
    return {
        "totalFiles": found.counts.notes,
        "totalLinks": found.counts.links,
        "deadLinks": [
            {"sourcePath": row["source_path"], "targetRaw": row["target"], "lineNumber": row["line"]}
            for row in found.broken_links.to_dicts()
        ],
        "orphans": found.orphans["path"].to_list(),
        "disconnectedClusters": found.counts.clusters,
        "lowConnectivity": found.low_connectivity["path"].to_list(),
        "healthScore": found.score,
        "computedAt": int(vault.now.timestamp() * 1000),
    }


def run_suggest(vault, asked):
    names = {"limit": "limit", "excludeLinked": "exclude_linked"}
    options = {ours: asked[theirs] for theirs, ours in names.items() if theirs in asked}
    found = suggest(asked["notePath"], vault.notes, vault.graph, vault.vectors, **options)
    return [
        {
            "path": row["path"],
            "title": row["title"],
            "score": row["score"],
            "semanticScore": row["semantic"],
            "tagScore": row["tag"],
            "neighborScore": row["neighbor"],
            "reason": row["reason"],
            "suggestedWikilink": row["wikilink"],
        }
        for row in found.links.to_dicts()
    ]


def run_converse(vault, asked):
    def search(_question):
        lists = [dict(asked[f"{kind}_hits"]) for kind in ("keyword", "semantic")]
        paths = list(dict.fromkeys([path for hits in lists for path in hits]))
        keyword, semantic = (np.array([hits.get(path, np.nan) for path in paths], dtype=float) for hits in lists)
        scores = minmax_sum(keyword, semantic, 0.5) if paths else np.zeros(0)
        frame = pl.DataFrame({"path": paths, "score": scores, "snippet": [f"snippet of {path}" for path in paths]})
        return frame.sort("score", descending=True, maintain_order=True)

    options = {key: asked[key] for key in ("depth", "limit") if key in asked}
    found = converse(asked["question"], vault.notes, vault.graph, search, **options)
    return {
        "relevantNotes": found.notes.select("path", "title", "snippet", "score", "domain").to_dicts(),
        "connections": [
            {
                "fromPath": row["source_path"],
                "toPath": row["target_path"],
                "fromDomain": row["source_domain"],
                "toDomain": row["target_domain"],
                "strength": row["strength"],
            }
            for row in found.connections.to_dicts()
        ],
        "domains": list(found.domains),
    }


OPERATIONS = {
    "explore": run_explore,
    "surprise": run_surprise,
    "themes": run_themes,
    "health": run_health,
    "suggest": run_suggest,
    "converse": run_converse,
}


def compare(actual, expected, path="$"):
    """Numbers to 1e-6, as float32 vectors allow. Of the index only what an operation reads is compared, of a surprise
    not the chunk that is shown, and of a theme not its number."""
    if isinstance(expected, dict) and "health_rows" in expected:
        expected = as_rows(expected)
    if isinstance(expected, dict):
        assert isinstance(actual, dict), f"{path}: {actual!r}"
        keys = expected.keys() - {"sharedSnippet", "linkConfidence", "id"}
        assert actual.keys() == keys, f"{path}: {sorted(actual.keys() ^ keys)}"
        for key in keys:
            compare(actual[key], expected[key], f"{path}.{key}")
    elif isinstance(expected, list):
        assert isinstance(actual, list), f"{path}: {actual!r}"
        assert len(actual) == len(expected), f"{path}: {actual!r} for {expected!r}"
        for place, (one, other) in enumerate(zip(actual, expected, strict=True)):
            compare(one, other, f"{path}[{place}]")
    elif isinstance(expected, float | int) and not isinstance(expected, bool):
        assert abs(actual - expected) <= 1e-6 * max(1.0, abs(expected)), f"{path}: {actual} for {expected}"
    else:
        assert actual == expected, f"{path}: {actual!r} for {expected!r}"


def as_rows(recorded):
    """The recorded index in the form of `indexed`."""
    links = sorted(recorded["links"], key=lambda row: row["source_path"])
    return {
        "files": recorded["files"],
        "aliases": recorded["aliases"],
        "links": [[row["source_path"], row["line_number"], row["link_type"], row["target_path"]] for row in links],
        "health": {
            row["vault_path"]: [
                row["inbound_count"],
                row["outbound_count"],
                row["dead_link_count"],
                bool(row["is_orphan"]),
            ]
            for row in recorded["health_rows"]
        },
    }


def is_the_vault(case_input):
    return "files" in case_input


def vault_with_living_links(case_input):
    """The recorded rows without links in code, with names that are aliases or titles found, and counted anew."""
    recorded = as_rows(SHARED["vault"].recorded)
    files, aliases = case_input["files"], {}
    for path, text in files.items():
        front = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
        listed = re.search(r"^aliases: \[(.*)\]$", front[1] if front else "", re.MULTILINE)
        for alias in listed[1].split(",") if listed else []:
            aliases[alias.strip(' "').lower()] = path
    raws = sorted(SHARED["vault"].recorded["links"], key=lambda row: row["source_path"])
    links = []
    for (source, line, kind, target), row in zip(recorded["links"], raws, strict=True):
        shown = re.sub(r"```.*?```", lambda found: "\n" * found[0].count("\n"), files[source], flags=re.DOTALL)
        shown = re.sub(r"`[^`\n]*`", "", shown)
        if row["target_raw"].replace(" ", "%20") in shown.split("\n")[line - 1] or row["target_raw"] in shown:
            links.append([source, line, kind, target or aliases.get(row["target_raw"].lower())])
    recorded["links"] = links
    alive = [(source, target) for source, _, _, target in links if target and target != source]
    for path in recorded["health"]:
        into, out = sum(end == path for _, end in alive), sum(start == path for start, _ in alive)
        dead = sum(1 for source, _, _, target in links if source == path and target is None)
        recorded["health"][path] = [into, out, dead, into + out == 0]
    return recorded


def explored(case_input):
    return by_hand.explore(SHARED["vault"], case_input)


def surprised(case_input):
    return by_hand.surprise(SHARED["vault"], case_input)


def themed(case_input):
    return by_hand.themes(SHARED["vault"], case_input)


def audited(case_input):
    return by_hand.health(SHARED["vault"], case_input)


def suggested(case_input):
    return by_hand.suggest(SHARED["vault"], case_input)


def conversed(case_input):
    return by_hand.converse(SHARED["vault"], case_input)
