"""Bringing state objects back that the person's words are about.

First those that hold a keyword of the message, then those relevant to it by words, then those close to it in meaning
where there is an embedder; `hydrate_max` in all.

Source: PRAANA, "Auto-Hydration"; PRAANA src/state-graph.ts, `autoHydrate`; design, "Relevance"; specification A, D1
and W3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec
import numpy as np

from workbench.context.state import StateGraph, apply_action, text_of
from workbench.text.bm25 import Pool, seed_relevance, tokenize
from workbench.text.similarity import cosine_matrix
from workbench.text.stop_words import STOP_WORDS

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.config.context import Relevance
    from workbench.context.pool import Embed
    from workbench.context.records import StateObject

HydrateMethod = Literal["substring", "bm25", "semantic"]
_WORD: Final = re.compile(r"[a-z0-9]+")


class Hydrated(msgspec.Struct, frozen=True):
    """One object that comes back: its text and what told."""

    id: str
    text: str
    method: HydrateMethod


def keywords(query: str, least_chars: int) -> list[str]:
    """Words of a message that may name a thing: long enough, and no stop word."""
    return [word for word in _WORD.findall(query.lower()) if len(word) >= least_chars and word not in STOP_WORDS]


def find_hydrated(graph: StateGraph, query: str, settings: Relevance, *, embed: Embed | None = None) -> list[Hydrated]:
    """Which peripheral objects a message brings back, in the order in which they come.

    Args:
        graph: The state.
        query: What the person says.
        settings: Thresholds, and whose word statistics count.
        embed: Makes vectors; without it only words tell.

    Returns:
        At most `hydrate_max`.

    Source: PRAANA src/state-graph.ts, `autoHydrate`.
    """
    found: list[Hydrated] = []
    rest = graph.peripheral()
    for method, tells in _signals(query, settings, embed):
        verdicts = tells(rest)
        found += [Hydrated(each.id, text_of(each), method) for each, yes in zip(rest, verdicts, strict=True) if yes]
        rest = [each for each, yes in zip(rest, verdicts, strict=True) if not yes]
    return found[: settings.hydrate_max]


def hydrate(graph: StateGraph, found: Sequence[Hydrated], occurred_at: datetime | None = None) -> StateGraph:
    """The state with these objects active again; coming back touches them."""
    for each in found:
        action = {"action": "setTier", "id": each.id, "tier": "active", "reason": "auto_hydrate"}
        graph = apply_action(graph, action, occurred_at)
    return graph


Tells = Callable[[Sequence["StateObject"]], Sequence[bool]]


def _signals(query: str, settings: Relevance, embed: Embed | None) -> list[tuple[HydrateMethod, Tells]]:
    words = keywords(query, settings.keyword_min_chars)

    def by_keyword(objects: Sequence[StateObject]) -> list[bool]:
        return [any(word in text_of(each).lower() for word in words) for each in objects]

    def by_words(objects: Sequence[StateObject]) -> list[bool]:
        values = _relevance(query, [text_of(each) for each in objects], settings)
        return [value >= settings.hydrate_threshold for value in values]

    def by_meaning(objects: Sequence[StateObject]) -> list[bool]:
        if embed is None or not objects or not query.strip():
            return [False] * len(objects)
        vectors = np.asarray(embed([query, *(text_of(each) for each in objects)]), dtype=np.float64)
        return [bool(value >= settings.hydrate_cosine) for value in cosine_matrix(vectors[:1], vectors[1:])[0]]

    return [("substring", by_keyword), ("bm25", by_words), ("semantic", by_meaning)]


def _relevance(query: str, texts: Sequence[str], settings: Relevance) -> Sequence[float]:
    if settings.method == "seed":
        return [seed_relevance(query, text) for text in texts]
    pool = Pool(_content_words(text) for text in texts)
    return [float(value) for value in pool.relevance(_content_words(query))]


def _content_words(text: str) -> list[str]:
    return [token for token in tokenize(text) if token not in STOP_WORDS]
