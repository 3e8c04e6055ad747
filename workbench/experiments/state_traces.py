"""What recorded sessions kept in mind at each prompt, and what of it they went on to use. Pure.

A *moment* is the beginning of an exchange with the objects of the state that are known by then. An object is needed
there when a rule fires:

    acted   the exchange changes it: its status, its words, the focus, or takes it back
    named   what the agent writes in the exchange, said or handed to a tool, holds its id or an identifier of its words

Calls of plan and todo tools are no naming: they repeat the whole list.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import polars as pl

from workbench.context.hydrate import find_hydrated, hydrate
from workbench.context.state import StateGraph, apply_action, demote, next_turn, text_of
from workbench.experiments.foreign_plans import ForeignPlans, keeps_tasks
from workbench.experiments.labels.identifiers import identifiers
from workbench.experiments.recorded import RecordedAction

if TYPE_CHECKING:
    from workbench.config.context import Relevance, Tiers
    from workbench.experiments.recorded import RecordedCall, RecordedExchange, RecordedSession

LEAST_ID: Final = 8
"""Characters from which an id is none by accident in a text."""

_TEXTS: Final = {"place": pl.Int64, "object_id": pl.String, "text": pl.String}
_WRITTEN: Final = {"place": pl.Int64, "written": pl.String}
_PAIRS: Final = {"place": pl.Int64, "object_id": pl.String, "acted": pl.Boolean, "named": pl.Boolean}


class StateExchange(NamedTuple):
    """An exchange, as far as the state is concerned."""

    user_text: str
    started_at: datetime | None
    changes: tuple[RecordedAction, ...]
    written: str


class StateTrace(NamedTuple):
    """A session, as far as the state is concerned."""

    session_id: str
    exchanges: tuple[StateExchange, ...]


def state_trace(session: RecordedSession) -> StateTrace:
    """What of a session concerns the state: what it recorded itself, and what its plan and todo tools say."""
    plans = ForeignPlans(session.session_id)
    return StateTrace(session.session_id, tuple(_exchange(each, plans) for each in session.exchanges))


def pairs(trace: StateTrace) -> pl.DataFrame:
    """The known objects of each moment, and the rules that fire.

    Returns:
        `place` of the exchange from 0, `object_id`, `acted`, `named`.
    """
    rows, texts, graph = [], [], StateGraph()
    for place, exchange in enumerate(trace.exchanges):
        acted = {each.action.get("id") for each in exchange.changes}
        for known in graph.listed():
            by_id = len(known.id) >= LEAST_ID and known.id in exchange.written
            rows.append((place, known.id, known.id in acted, by_id))
            texts.append((place, known.id, text_of(known)))
        graph = _changed(graph, exchange)
    found = pl.DataFrame(rows, schema=_PAIRS, orient="row")
    named = _named(trace, pl.DataFrame(texts, schema=_TEXTS, orient="row"))
    both = found.join(named, on=["place", "object_id"], how="left", maintain_order="left")
    return both.with_columns(named=pl.col("named") | pl.col("shared").fill_null(value=False)).drop("shared")


def in_full(trace: StateTrace, tiers: Tiers, relevance: Relevance) -> Iterator[frozenset[str]]:
    """The objects that each prompt holds in full: active ones, those that it brings back among them.

    Args:
        trace: The session.
        tiers: When objects sink.
        relevance: What brings them back; words alone tell.

    Yields:
        Ids, an exchange each; the same as in an `EngineSession` that goes through it.
    """
    graph = StateGraph()
    for exchange in trace.exchanges:
        back = find_hydrated(graph, exchange.user_text, relevance)
        graph = hydrate(graph, back, exchange.started_at)
        yield frozenset(each.id for each in graph.active())
        graph = demote(next_turn(_changed(graph, exchange)), tiers)


def _exchange(exchange: RecordedExchange, plans: ForeignPlans) -> StateExchange:
    changes: list[RecordedAction] = []
    written = []
    for step in exchange.steps:
        written += [step.text, *map(_handed, step.calls)]
        for call in step.calls:
            planned = plans.actions(call.tool, call.args, call.result)
            changes += [RecordedAction(action, call.called_at) for action in planned]
        changes += step.actions
    return StateExchange(exchange.user_text, exchange.started_at, tuple(changes), "\n".join(filter(None, written)))


def _handed(call: RecordedCall) -> str:
    return "" if keeps_tasks(call.tool) else msgspec.json.encode(call.args).decode()


def _changed(graph: StateGraph, exchange: StateExchange) -> StateGraph:
    for each in exchange.changes:
        graph = apply_action(graph, each.action, each.occurred_at)
    return graph


def _named(trace: StateTrace, texts: pl.DataFrame) -> pl.DataFrame:
    """Pairs that share an identifier: `place`, `object_id`, `shared`."""
    different = texts.select("text").unique(maintain_order=True).with_row_index("text_id")
    of_texts = identifiers(different, "text_id", "text").join(different, on="text_id").select("text", "token")
    rows = list(enumerate(exchange.written for exchange in trace.exchanges))
    written = pl.DataFrame(rows, schema=_WRITTEN, orient="row")
    of_exchanges = identifiers(written, "place", "written")
    shared = texts.join(of_texts, on="text").join(of_exchanges, on=["place", "token"])
    return shared.select("place", "object_id", shared=pl.lit(value=True)).unique(maintain_order=True)
