"""PAI specification, section 18, written out over dictionaries: what the vectors' cases should give by it."""

from __future__ import annotations

import math
import re
from collections import Counter

STOP = {"the", "and", "for", "one", "two", "untitled", "from", "with", "into", "this", "that"}


def living(vault):
    """Links between two notes: source, target, class."""
    return [(source, target, kind) for source, target, kind in vault.edges() if source != target]


def cosine(first, second):
    a, b = [float(x) for x in first], [float(x) for x in second]
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0


def steps_from(vault, start):
    near = {}
    for source, target, _ in living(vault):
        near.setdefault(source, set()).add(target)
        near.setdefault(target, set()).add(source)
    found, waiting = {start: 0}, [start]
    while waiting:
        here = waiting.pop(0)
        for there in near.get(here, ()):
            if there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    return found


def explore(vault, asked):
    start = vault.other_paths.get(asked["startNote"], asked["startNote"])
    if start not in vault.files:
        return {"root": start, "nodes": [], "edges": [], "branchingPoints": [], "maxDepthReached": False}
    depth = min(max(asked.get("depth", 3), 1), 10)
    kinds = {}
    for source, target, kind in living(vault):
        known = kinds.get((source, target))
        kinds[source, target] = "sequential" if "sequential" in (kind, known) else "associative"
    if asked.get("mode", "all") != "all":
        kinds = {pair: kind for pair, kind in kinds.items() if kind == asked["mode"]}
    direction = asked.get("direction", "both")
    inbound = Counter(target for _, target, _ in living(vault))
    outbound = Counter(source for source, _, _ in living(vault))
    met, waiting, edges = {start: (0, None)}, [start], {}
    while waiting:
        here = waiting.pop(0)
        if met[here][0] == depth:
            continue
        ways = [(b, (a, b)) for a, b in kinds if a == here] if direction != "backward" else []
        ways += [(a, (a, b)) for a, b in kinds if b == here] if direction != "forward" else []
        for there, pair in ways:
            edges.setdefault(pair, kinds[pair])
            if there not in met:
                met[there] = (met[here][0] + 1, kinds[pair])
                waiting.append(there)
    return {
        "root": start,
        "nodes": [
            {
                "path": path,
                "title": vault.titles[path],
                "depth": far,
                "linkType": kind,
                "inbound": inbound[path],
                "outbound": outbound[path],
            }
            for path, (far, kind) in met.items()
            if path != start
        ],
        "edges": [{"from": a, "to": b, "type": kind} for (a, b), kind in edges.items()],
        "branchingPoints": [path for path in met if outbound[path] > 2],
        "maxDepthReached": any(far == depth for path, (far, _) in met.items()),
    }


def surprise(vault, asked):
    reference = asked["referencePath"]
    steps, rows = steps_from(vault, reference), []
    for path, vector in vault.means.items():
        close, far = cosine(vault.means[reference], vector), steps.get(path, math.inf)
        if path != reference and close >= asked.get("minSimilarity", 0.3) and far >= asked.get("minGraphDistance", 3):
            row = {
                "path": path,
                "title": vault.titles[path],
                "cosineSimilarity": close,
                "graphDistance": "Infinity" if far == math.inf else far,
                "surpriseScore": close * math.log2(min(far, 20) + 1),
            }
            rows.append(row)
    return sorted(rows, key=lambda row: (-row["surpriseScore"], row["path"]))[: asked.get("limit", 10)]


def themes(vault, asked):
    days, threshold = asked.get("lookbackDays", 30), asked.get("similarityThreshold", 0.65)
    since = vault.now.timestamp() - days * 86_400
    kept = [path for path in vault.files if path in vault.means and vault.indexed_at[path].timestamp() > since]
    groups = [{path} for path in kept]
    for place, first in enumerate(kept):
        for second in kept[place + 1 :]:
            # equal vectors have a cosine of exactly 1, whatever doubles make of it
            if min(cosine(vault.means[first], vault.means[second]), 1.0) > threshold + 1e-9:
                joined = [group for group in groups if first in group or second in group]
                groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    pairs = {frozenset((source, target)) for source, target, _ in living(vault)}
    found = [theme(vault, group, pairs) for group in groups if len(group) >= asked.get("minClusterSize", 3)]
    # of equal ranks the larger theme, then the one whose first note comes first
    found.sort(
        key=lambda each: (
            -round(each["size"] * each["folderDiversity"] * each["avgRecency"] / (vault.now.timestamp() * 1000), 12),
            -each["size"],
            min(kept.index(note["path"]) for note in each["notes"]),
        )
    )
    found = found[: asked.get("maxThemes", 10)]
    for number, each in enumerate(found):
        each["label"] = each["label"] or f"Theme {number + 1}"
    now = int(vault.now.timestamp() * 1000)
    window = {"from": now - round(days * 86_400_000), "to": now}
    return {"themes": found, "totalNotesAnalyzed": len(kept), "timeWindow": window}


def theme(vault, group, pairs):
    middle = [0.0] * len(next(iter(vault.means.values())))
    for path in group:
        length = math.sqrt(sum(float(x) ** 2 for x in vault.means[path]))
        middle = [total + float(x) / length for total, x in zip(middle, vault.means[path], strict=True)]
    notes = sorted(group, key=lambda path: (-round(cosine(vault.means[path], middle), 6), path))
    words = [word for path in notes for word in re.findall(r"[^\W_]+", vault.titles[path].lower())]
    common = Counter(word for word in words if len(word) > 2 and word not in STOP).most_common(3)
    inside = sum(1 for pair in pairs if pair <= group)
    every = len(group) * (len(group) - 1) / 2
    ratio = inside / every if every else 0
    return {
        "label": " / ".join(word for word, _ in common),
        "notes": [{"path": path, "title": vault.titles[path]} for path in notes],
        "size": len(group),
        "folderDiversity": len({path.split("/")[0] for path in group}) / len(group),
        "avgRecency": sum(vault.indexed_at[path].timestamp() for path in group) * 1000 / len(group),
        "linkedRatio": ratio,
        "suggestIndexNote": ratio < 0.3 and len(group) >= 5,
    }


def health(vault, asked):
    scope, since = asked.get("scope", "full"), vault.now.timestamp() - asked.get("recentDays", 30) * 86_400
    kept = [
        path
        for path in vault.files
        if scope == "full"
        or (scope == "project" and path.startswith(asked["projectPath"]))
        or (scope == "recent" and vault.indexed_at[path].timestamp() > since)
    ]
    edges = [(source, target) for source, target, _ in living(vault)]
    ends = Counter(path for pair in edges for path in pair)
    groups = [{path} for path in kept]
    for source, target in edges:
        if source in kept and target in kept:
            joined = [group for group in groups if source in group or target in group]
            groups = [group for group in groups if group not in joined] + [set().union(*joined)]
    rows = [row for row in vault.links.sort("source_path", "place").to_dicts() if row["source_path"] in kept]
    dead = [
        {"sourcePath": row["source_path"], "targetRaw": row["target"], "lineNumber": row["line"]}
        for row in rows
        if row["target_path"] is None
        and not re.search(r"\.(png|jpe?g|gif|svg|webp|pdf|mp3|mp4)$", row["target"].lower())
    ]
    links = sum(1 for row in rows if row["target_kind"] in ("note", "self")) + len(dead)
    orphans = [path for path in kept if not ends[path]]
    low = [path for path in kept if ends[path] <= 1]
    wanted = asked.get("include", ["dead_links", "orphans", "disconnected", "low_connectivity"])
    shares = [len(dead) / links if links else 0]
    shares += [weight * len(some) / len(kept) if kept else 0 for weight, some in ((0.5, orphans), (0.3, low))]
    return {
        "totalFiles": len(kept),
        "totalLinks": links,
        "deadLinks": dead if "dead_links" in wanted else [],
        "orphans": orphans if "orphans" in wanted else [],
        "disconnectedClusters": len(groups),
        "lowConnectivity": low if "low_connectivity" in wanted else [],
        "healthScore": math.floor(100 * math.prod(1 - share for share in shares) + 0.5),
        "computedAt": int(vault.now.timestamp() * 1000),
    }


def suggest(vault, asked):
    note, edges = asked["notePath"], [(source, target) for source, target, _ in living(vault)]
    linked = [target for source, target in edges if source == note]
    counts = Counter(end for middle in linked for source, end in edges if source == middle and end != note)
    names = Counter(path.rsplit("/", 1)[-1].lower() for path in vault.files)
    own, rows = set(vault.tags[note]), []
    for path in vault.files:
        tags = set(vault.tags[path])
        both = note in vault.means and path in vault.means
        parts = {
            "semanticScore": max(0.0, cosine(vault.means[note], vault.means[path])) if both else 0.0,
            "tagScore": len(own & tags) / len(own | tags) if own | tags else 0.0,
            "neighborScore": counts[path] / max(1, *counts.values(), 0),
        }
        weighted = [weight * part for weight, part in zip((0.5, 0.2, 0.3), parts.values(), strict=True)]
        if path == note or (asked.get("excludeLinked", True) and path in linked) or sum(weighted) <= 0:
            continue
        reasons = [
            f"Semantically similar ({parts['semanticScore']:.2f})",
            f"Shares {len(own & tags)} tag{'s' * (len(own & tags) != 1)}",
            f"Linked by {counts[path]} mutual connection{'s' * (counts[path] != 1)}",
        ]
        name = path.rsplit("/", 1)[-1]
        link = path if names[name.lower()] > 1 else name
        rows.append(
            {"path": path, "title": vault.titles[path], "score": sum(weighted)}
            | parts
            | {"reason": reasons[weighted.index(max(weighted))], "suggestedWikilink": f"[[{link.removesuffix('.md')}]]"}
        )
    return sorted(rows, key=lambda row: (-row["score"], row["path"]))[: asked.get("limit", 5)]


def converse(vault, asked):
    scores = {}
    for hits in (asked["keyword_hits"], asked["semantic_hits"]):
        values = [score for _, score in hits]
        for path, score in hits:
            span = max(values) - min(values)
            scores[path] = scores.get(path, 0) + 0.5 * ((score - min(values)) / span if span else 1)
    limit, edges = asked.get("limit", 15), [(source, target) for source, target, _ in living(vault)]
    hits = sorted(scores, key=lambda path: -scores[path])[:limit]
    inbound = Counter(target for _, target in edges)
    steps = {}
    for hit in hits:
        for path, far in steps_from(vault, hit).items():
            steps[path] = min(far, steps.get(path, far))
    near = [path for path, far in steps.items() if 0 < far <= asked.get("depth", 2)]
    near.sort(key=lambda path: (-inbound[path], steps[path], path))
    chosen = hits + near[: limit - len(hits)]
    strength = Counter((a, b) for a, b in edges if a in chosen and b in chosen and a.split("/")[0] != b.split("/")[0])
    return {
        "relevantNotes": [
            {
                "path": path,
                "title": vault.titles[path],
                "snippet": f"snippet of {path}" if path in hits else "",
                "score": scores[path] if path in hits else 0,
                "domain": path.split("/")[0],
            }
            for path in chosen
        ],
        "connections": [
            {"fromPath": a, "toPath": b, "fromDomain": a.split("/")[0], "toDomain": b.split("/")[0], "strength": links}
            for (a, b), links in sorted(strength.items(), key=lambda item: (-item[1], item[0]))
        ],
        "domains": sorted({path.split("/")[0] for path in chosen}),
    }
