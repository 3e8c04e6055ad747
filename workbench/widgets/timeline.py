"""The session timeline: exchanges, responses and calls as lanes; choosing one shows its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Protocol

import anywidget
import traitlets

from workbench.errors import WorkbenchError
from workbench.reports.event_text import EventText, read_event
from workbench.reports.timeline import SCALES, Timeline, read_timeline
from workbench.widgets.scripts import script, style

if TYPE_CHECKING:
    import polars as pl

Read = Callable[[str, str], EventText]
"""Reads an item's text, given its event's id and its kind."""


class Asked(Protocol):
    """What a timeline needs of a workbench: `wb.open()` gives one."""

    def sql(self, query: str, parameters: Mapping[str, Any]) -> pl.DataFrame:
        """Run a query with named parameters."""

    def resolve_session(self, name: str) -> str:
        """The id that a prefix or `last` stands for."""


class SessionTimeline(anywidget.AnyWidget):
    """A session to look through.

    Click an item, or walk with the arrow keys and press Enter, and its whole text appears below; its id is `chosen`
    here. `+`, `-` and `0` zoom, `e` goes to the next failure, `t` changes between time and tokens.

    Args:
        timeline: What to draw.
        read: Where an item's text comes from; without it only the beginning of each is shown.

    Attributes:
        data: `timeline` as plain values.
        chosen: Id of the chosen item, `<kind>:<event id>`; empty where none is. Setting it chooses.
        scale: `time` or `tokens`.
        zoom: 1 shows all.
        detail: The text of the chosen item, from `read`.
    """

    _esm = script("timeline")
    _css = style("timeline")

    data = traitlets.Dict().tag(sync=True)
    chosen = traitlets.Unicode("").tag(sync=True)
    scale = traitlets.Enum(SCALES, default_value="time").tag(sync=True)
    zoom = traitlets.Float(1.0, min=1.0, max=200.0).tag(sync=True)
    detail = traitlets.Dict().tag(sync=True)

    def __init__(self, timeline: Timeline, read: Read | None = None) -> None:
        self._read = read
        first = "time" if "time" in timeline.lengths else "tokens"
        super().__init__(data=timeline.plain(), scale=first)
        self.observe(self._choose, "chosen")

    @classmethod
    def of(cls, bench: Asked, session: str, *, zone: tzinfo | None = None) -> SessionTimeline:
        """The timeline of one session.

        Args:
            bench: A workbench.
            session: Id, prefix or `last`.
            zone: Of the times that are told; None is the local one.

        Raises:
            NotFoundError, AmbiguousError: As for `bench.resolve_session`.
        """
        session_id = bench.resolve_session(session)
        return cls(
            read_timeline(bench.sql, session_id, zone=zone),
            lambda event_id, kind: read_event(bench.sql, session_id, event_id, kind),
        )

    @property
    def event_id(self) -> str | None:
        """The event of the chosen item; None where none is chosen."""
        return self.chosen.partition(":")[2] or None

    def _choose(self, _: object) -> None:
        """Read the chosen item; what goes wrong is told in the place of its text."""
        kind, _, event_id = self.chosen.partition(":")
        if not event_id or self._read is None:
            self.detail = {}
            return
        try:
            self.detail = {"id": self.chosen, **self._read(event_id, kind).plain()}
        except WorkbenchError as error:
            told = {"event_id": event_id, "title": f"{kind} cannot be read", "facts": [], "parts": []}
            self.detail = {"id": self.chosen, **told, "problem": str(error)}
