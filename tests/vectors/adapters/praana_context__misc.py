"""Odds and ends; what belongs to the running agent has no adapter yet."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.context.embedding_cache import EmbeddingCache


def run(case_input):
    if case_input["op"] != "embeddingCache":
        pytest.skip(f"no adapter for {case_input['op']}: it comes with the live runtime")
    cache = EmbeddingCache(case_input["maxSize"])
    for step in case_input["ops"]:
        what, text = step.split(" ", 1)
        if what == "set":
            cache.put(text, np.ones(2, dtype=np.float32))
        else:
            cache.get(text)
    return list(cache)
