"""The steps of a run, found by what the history says of the same response; and the state of the shell after one."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.ingest.swe_agent.document import Item, Json, decoded, text_of


class Steps:
    """The steps in order, each given out once.

    There may be more of them than responses in the history: a response that could not be used was asked for again and
    is told of by its step alone. So as many steps may be passed over, and no more.

    Args:
        items: The steps.
        answers: The responses in the history.
    """

    def __init__(self, items: Sequence[Item], answers: Sequence[Json]) -> None:
        self._items = items
        self._keys = [_key(item.value, "response") if isinstance(item.value, dict) else None for item in items]
        self._answers = len(answers)
        self._next = 0

    def next(self, answer: Json) -> tuple[Sequence[Item], Json]:
        """Take the step of the next response.

        Returns:
            The steps passed over, and the step; an empty one where there is none.
        """
        start = self._next
        surplus = len(self._items) - start - self._answers
        self._answers -= 1
        try:
            place = self._keys.index(_key(answer, "content"), start, start + max(surplus, 0) + 1)
        except ValueError:
            if surplus < 0 or start == len(self._items):
                return [], {}
            place = start
        self._next = place + 1
        value = self._items[place].value
        return self._items[start:place], value if isinstance(value, dict) else {}

    def rest(self) -> Sequence[Item]:
        """Steps behind the last response of the history."""
        return self._items[self._next :]


def _key(told: Json, said: str) -> tuple[str, str]:
    return text_of(told.get(said)).strip(), text_of(told.get("action")).strip()


def state_of(step: Json) -> Json:
    """The shell's state after a step, in older versions JSON in a string."""
    state = decoded(step.get("state"))
    told = state if isinstance(state, dict) else {}
    return {name: value for name, value in told.items() if isinstance(value, str) and value != "n/a"}
