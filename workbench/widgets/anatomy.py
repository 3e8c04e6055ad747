"""The prompt anatomy: one prompt's parts against its budget, and every unit with its terms; choosing one shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

import anywidget
import traitlets

from workbench.errors import NotFoundError
from workbench.experiments.recorded import read_recorded
from workbench.experiments.replay import Halted, replay_until
from workbench.experiments.replay_job import policy_of
from workbench.reports.anatomy import Anatomy, anatomy
from workbench.reports.render.numbers import count
from workbench.widgets.scripts import script, style

if TYPE_CHECKING:
    import polars as pl

    from workbench.config import Config
    from workbench.context.compile import Compiled

SHOWN: Final = ("all", "in", "out", "moved")
"""Which units are shown: all, those in the prompt, those left out, those that moved."""


class Asked(Protocol):
    """What an anatomy needs of a workbench: `wb.open()` gives one."""

    @property
    def config(self) -> Config:
        """The configuration."""

    def sql(self, query: str, parameters: Mapping[str, Any]) -> pl.DataFrame:
        """Run a query with named parameters."""

    def resolve_session(self, name: str) -> str:
        """The id that a prefix or `last` stands for."""


class PromptAnatomy(anywidget.AnyWidget):
    """A prompt to look through.

    Click a part or a unit, or walk with the arrow keys and press Enter, and its text and terms appear below; its id is
    `chosen` here. Left and right change between parts and units, `f` between all units and some of them.

    Args:
        anatomy: What to draw.

    Attributes:
        data: `anatomy` as plain values.
        chosen: Id of the chosen part or unit; empty where none is. Setting it chooses.
        show: One of `SHOWN`.
        detail: The terms and the text of what is chosen.
    """

    _esm = script("anatomy")
    _css = style("anatomy")

    data = traitlets.Dict().tag(sync=True)
    chosen = traitlets.Unicode("").tag(sync=True)
    show = traitlets.Enum(SHOWN, default_value="all").tag(sync=True)
    detail = traitlets.Dict().tag(sync=True)

    def __init__(self, anatomy: Anatomy) -> None:
        self._details = anatomy.details
        super().__init__(data=anatomy.plain())
        self.observe(self._choose, "chosen")

    @classmethod
    def of(cls, bench: Asked, session: str, turn: int | None = None, step: int = 0) -> PromptAnatomy:
        """The anatomy of a prompt of a recorded session, as the configuration makes it now, by words alone.

        Args:
            bench: A workbench.
            session: Id, prefix or `last`.
            turn: The exchange, from 1; the last one unless given.
            step: The model call in it, from 1; 0 for the prompt by exchange.

        Raises:
            NotFoundError, AmbiguousError: There is no such session or prompt, or several fit.
        """
        session_id = bench.resolve_session(session)
        recorded = read_recorded(bench, session_id)
        if not recorded.exchanges:
            raise NotFoundError(f"session {session_id} has no exchange, so no prompt")
        policy = policy_of(bench.config, "step" if step else "exchange")
        which = recorded.exchanges[-1].turn if turn is None else turn
        found = bench.sql("select title from sessions where session_id = $id", {"id": session_id})
        return cls.at(replay_until(recorded, policy, which, step), title=found.item() or "")

    @classmethod
    def at(cls, halted: Halted, compiled: Compiled | None = None, *, title: str = "") -> PromptAnatomy:
        """The anatomy of the prompt before which a replay stopped.

        Args:
            halted: From `experiments.replay.replay_until`.
            compiled: The prompt made again in another way, from `experiments.what_if.recompile`; units that moved
                against the first one are marked.
            title: Whose prompt it is.
        """
        prompt = halted.prompt
        told = anatomy(
            halted.compiled if compiled is None else compiled,
            turn=prompt.turn,
            step=prompt.step,
            title=title,
            session_id=halted.engine.session_id,
            facts=(
                ("whole history", f"{count(prompt.classic_tokens)} tokens"),
                ("task", halted.compiled.task_type),
            ),
            before=None if compiled is None else halted.compiled.scores,
        )
        return cls(told)

    def _choose(self, _: object) -> None:
        found = self._details.get(self.chosen)
        self.detail = {} if found is None else {"id": self.chosen, **found}
