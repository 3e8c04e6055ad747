from __future__ import annotations

from collections import Counter

import numpy as np

from workbench.text.fusion import minmax_sum


def run(case_input):
    """Join the two lists as hybrid search does: a chunk is itself, whatever other chunk has its lines."""
    lists = {mode: dict(zip(chunk_ids(case_input[mode]), case_input[mode], strict=True)) for mode in MODES}
    every = list(dict.fromkeys([*lists["keyword"], *lists["semantic"]]))
    keyword, semantic = ([lists[mode].get(chunk, {}).get("score", np.nan) for chunk in every] for mode in MODES)
    # the peer's weights are two; ours is the share of meaning, and both of its recorded pairs add up to 1
    scores = minmax_sum(np.array(keyword, float), np.array(semantic, float), case_input["weights"][1])
    order = sorted(range(len(every)), key=lambda place: -scores[place])[: case_input["max_results"]]
    return [
        {**(lists["semantic"].get(every[place]) or lists["keyword"][every[place]]), "score": float(scores[place])}
        for place in order
    ]


MODES = ("keyword", "semantic")


def chunk_ids(rows):
    """A chunk is named by its place and, among those of the same lines, by its number in the list."""
    seen = Counter()
    ids = []
    for row in rows:
        place = lines(row)
        ids.append((*place, seen[place]))
        seen[place] += 1
    return ids


def lines(row):
    return row["projectId"], row["path"], row["startLine"], row["endLine"]


def has_chunks_of_the_same_lines(case_input):
    return any(len({lines(row) for row in case_input[mode]}) < len(case_input[mode]) for mode in MODES)


def each_chunk_for_itself(case_input):
    """The formula of the specification, written out: no two chunks collapse."""
    totals, shown = {}, {}
    for mode, weight in zip(MODES, case_input["weights"], strict=True):
        rows = case_input[mode]
        scores = [row["score"] for row in rows]
        span = max(scores, default=0) - min(scores, default=0)
        for chunk, row in zip(chunk_ids(rows), rows, strict=True):
            scaled = (row["score"] - min(scores)) / span if span else 1.0
            totals[chunk] = totals.get(chunk, 0.0) + weight * scaled
            shown[chunk] = row
    ranked = sorted(totals, key=lambda chunk: -totals[chunk])[: case_input["max_results"]]
    return [{**shown[chunk], "score": totals[chunk]} for chunk in ranked]
