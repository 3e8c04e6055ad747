"""When a piece of the past becomes a unit of the pool: what stands word for word in the prompt is not on offer.

By exchange, an exchange is word for word for `verbatim_max_age` turns, then it is offered as units. By step, the last
two model calls are word for word; every earlier tool call is offered by itself, every finished exchange as a digest.

Source: PRAANA, "Engine mode" (bands 2, 4, 5); design, "Replay" (steps).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from workbench.context.pool import UnitPool
from workbench.context.records import ContextUnit, ToolCallRecord, TurnRecord
from workbench.context.units import activity_units, call_unit, digest_unit, units_of_turn

if TYPE_CHECKING:
    from workbench.config.context import Bands
    from workbench.context.pool import Method
    from workbench.context.records import ActivityEntry

VERBATIM_STEPS: Final = 2
"""Model calls that stand word for word in a prompt by step. Source: design, "Replay"."""


class ExchangeFeed:
    """A pool fed by whole exchanges.

    Args:
        bands: How long an exchange stands word for word.
        method: Whose word statistics count.
    """

    def __init__(self, bands: Bands, method: Method) -> None:
        self.pool = UnitPool(method=method)
        self._bands = bands
        self._waiting: deque[tuple[TurnRecord, list[ContextUnit]]] = deque()
        self._activity: dict[str, ContextUnit] = {}
        self._offered: set[str] = set()

    def add(self, record: TurnRecord, cards: Mapping[str, str], activity: Sequence[ActivityEntry]) -> None:
        """Take in a finished exchange and the activity entries that are kept after it."""
        self._waiting.append((record, units_of_turn(record, self._bands, cards=cards)))
        self._activity = {unit.id: unit for unit in activity_units(activity)}

    def verbatim(self) -> list[TurnRecord]:
        """The exchanges that stand word for word, oldest first."""
        return [record for record, _ in self._waiting]

    def cards(self) -> list[ContextUnit]:
        """Cards of the artifacts of those exchanges."""
        return [unit for _, units in self._waiting for unit in units if unit.type == "artifact_card"]

    def offer(self, turn: int) -> UnitPool:
        """The pool for the prompt that begins an exchange."""
        while self._waiting and turn - self._waiting[0][0].turn > self._bands.verbatim_max_age:
            self._extend(self._waiting.popleft()[1])
        self._offer_activity(turn)
        return self.pool

    def _offer_activity(self, turn: int) -> None:
        old = {key for key, unit in self._activity.items() if turn - unit.source_turn > self._bands.verbatim_max_age}
        self.pool.retire(self._offered - old)
        new = [self._activity[key] for key in self._activity if key in old - self._offered]
        self._extend(new)
        self._offered = old

    def _extend(self, units: Sequence[ContextUnit]) -> None:
        """Add units to the pool, in their place in the session."""
        start = len(self.pool)
        self.pool.extend(msgspec.structs.replace(unit, order=start + place) for place, unit in enumerate(units))


class StepFeed:
    """A pool fed by tool calls, a model call at a time.

    Args:
        bands: How much of a call is shown.
        method: Whose word statistics count.
    """

    def __init__(self, bands: Bands, method: Method) -> None:
        self.pool = UnitPool(method=method)
        self._bands = bands
        self._waiting: deque[tuple[int, TurnRecord, ToolCallRecord, str | None]] = deque()

    def add_call(self, step: int, exchange: TurnRecord, call: ToolCallRecord, card: str | None) -> None:
        """Take in a call that came back.

        Args:
            step: Number of the model call that made it, counted through the session.
            exchange: The exchange it belongs to, as far as it got.
            call: The call.
            card: Its card, where its result is an artifact.
        """
        self._waiting.append((step, exchange, call, card))

    def end_exchange(self, record: TurnRecord) -> None:
        """Offer a finished exchange as a digest."""
        self.pool.extend([digest_unit(record, self._bands, order=len(self.pool))])

    def offer(self, step: int) -> UnitPool:
        """The pool for one model call: every call of more than two model calls ago."""
        while self._waiting and step - self._waiting[0][0] > VERBATIM_STEPS:
            _, exchange, call, card = self._waiting.popleft()
            order = len(self.pool)
            self.pool.extend([call_unit(exchange.turn, call, self._bands, card=card, order=order)])
        return self.pool

    def verbatim(self) -> list[TurnRecord]:
        """The calls that stand word for word, in the exchanges they belong to, oldest first."""
        shown: dict[int, TurnRecord] = {}
        for _, exchange, call, _ in self._waiting:
            known = shown.get(exchange.turn) or msgspec.structs.replace(exchange, tool_calls=())
            shown[exchange.turn] = msgspec.structs.replace(known, tool_calls=(*known.tool_calls, call))
        return list(shown.values())
