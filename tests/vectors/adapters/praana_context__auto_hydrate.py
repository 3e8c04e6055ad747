"""Auto-hydration. The recorded values are those of the baseline `seed`: one document, stop words and all."""

from __future__ import annotations

from workbench.config.context import Relevance
from workbench.context.hydrate import find_hydrated, hydrate

from .praana_context__state_graph import graph_of

SEED = Relevance(method="seed", hydrate_max=1_000)


def run(case_input):
    graph = graph_of(case_input["objects"])
    found = find_hydrated(graph, case_input["query"], SEED)
    after = hydrate(graph, found)
    return {
        "hydrated": [{"id": each.id, "text": each.text, "method": each.method} for each in found],
        "tiersAfter": {each.id: each.state_tier for each in after.objects.values()},
    }
