"""The engine's prompt for one moment of a session: bands under budgets, and why each unit is in it or not.

The order of sections: frame, skills, workflow, checkpoint, verbatim, scored, memory, active state, peripheral state,
current input with the time. A compile is tried at normal pressure; where what it weighs, or what it costs raw, is too
much for the usable budget, it is done again tighter, three times at most; at the end, what is still too long is cut.
So what is sent never costs more than the usable budget.

Source: PRAANA, "Engine mode"; PRAANA src/context-engine/engine-compiler.ts; specification A, 9 and D3 to D6, W7 to W10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

from workbench.context.caps import Caps, caps_for
from workbench.context.frame import Frame, engine_frame, now_line
from workbench.context.pressure import effective, mode_of, pressure_ratio, tightest, usable_budget
from workbench.context.prompt import JOINT, Cut, Section, fit, join, make_section
from workbench.context.selection import Selection, UnitScores
from workbench.context.trim import trim_lines
from workbench.context.verbatim import AGENT, render_verbatim
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from workbench.config.context import Compiler, ContextEngine
    from workbench.context.pool import Embed, UnitPool
    from workbench.context.records import ContextUnit, PressureMode, TurnRecord
    from workbench.context.records import TaskType as TaskTypeName

SCORED_HEADING: Final = "# Scored Context"
SKILLS_SHARE: Final = 0.2
"""Share of the budget for the skills catalog. Source: PRAANA, Configuration (skills.max_token_budget_ratio)."""
LEAST_NEEDED: Final = ("workflow", "peripheral", "memory", "skills", "scored", "verbatim", "checkpoint", "active_state")
"""What is cut first where the tightest prompt still costs too much: what other sessions know, then what can be asked
for again, then this session's own state. The frame and the input go last."""


@dataclass(frozen=True, slots=True)
class RenderedCheckpoint:
    """The session checkpoint as text, and what its tokens weigh."""

    text: str = ""
    weighted: float = 0.0


RenderCheckpoint = Callable[["PressureMode", Caps], RenderedCheckpoint]


def _no_checkpoint(_mode: PressureMode, _caps: Caps) -> RenderedCheckpoint:
    return RenderedCheckpoint()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """All that a prompt depends on, configuration apart.

    Attributes:
        current_turn: The exchange that the prompt belongs to.
        user_input: What the person asked.
        pool: Units of the past outside the verbatim exchanges.
        verbatim: The last exchanges, oldest first.
        frame: What the beginning is made of.
        task_type: The kind of task.
        checkpoint: Renders the session checkpoint for a pressure.
        active_state: Rendered active state.
        peripheral_state: Rendered soft and hard state.
        hydrated: Texts of state objects brought back by this input.
        current_cards: Cards of artifacts of the verbatim exchanges, kept in an emergency.
        last_step: Text of the last model call.
        embed: Makes vectors; None where there is no embedder.
        now: Stands at the end of the prompt.
        agent: The name the agent speaks under.
    """

    current_turn: int
    user_input: str
    pool: UnitPool
    verbatim: Sequence[TurnRecord] = ()
    frame: Frame = field(default_factory=Frame)
    task_type: TaskTypeName = "general"
    checkpoint: RenderCheckpoint = _no_checkpoint
    active_state: str = "# Active State\nNo active state."
    peripheral_state: str = ""
    hydrated: Sequence[str] = ()
    current_cards: Sequence[ContextUnit] = ()
    last_step: str = ""
    embed: Embed | None = None
    now: datetime | None = None
    agent: str = AGENT


@dataclass(frozen=True)
class Compiled:
    """One prompt and how it came about.

    Attributes:
        text: What is sent.
        sections: Its parts.
        selection: The units it chose from.
        mode: The tightest pressure that was found.
        task_type: The kind of task that widened or narrowed the parts.
        pressure: Weighted tokens over the usable budget, before anything was cut at the end.
        raw_tokens: Estimated tokens of the text, at most `usable`.
        weighted_tokens: What they weigh, before anything was cut at the end.
        usable: The budget.
        caps: Of the parts.
        cuts: What was shortened at the end because the tightest prompt still cost too much.
    """

    text: str
    sections: Sequence[Section]
    selection: Selection
    mode: PressureMode
    task_type: TaskTypeName
    pressure: float
    raw_tokens: int
    weighted_tokens: float
    usable: int
    caps: Caps
    cuts: Sequence[Cut]

    @cached_property
    def scores(self) -> UnitScores:
        """Its units and their terms: made when asked for, since a prompt that is sent needs no ranking of all."""
        scored = next(section.text for section in self.sections if section.name == "scored")
        return self.selection.scores(self.mode, scored)


def compile_prompt(moment: Moment, compiler: Compiler, config: ContextEngine, *, window: int) -> Compiled:
    """Make the engine's prompt.

    Args:
        moment: All that it depends on.
        compiler: Token budgets.
        config: Weights, bands, caps, thresholds.
        window: Context window of the model in tokens.

    Returns:
        The prompt; `raw_tokens` is at most the usable budget, whatever comes in.

    Source: PRAANA src/context-engine/engine-compiler.ts, `compileEngineWithMetrics`.
    """
    usable = usable_budget(compiler.token_budget, window, compiler.reserved_output_tokens)
    draft = _Draft(moment, compiler, config, usable)
    mode, sections, raw = draft.settle()
    kept, cuts = fit(sections, usable, LEAST_NEEDED) if raw > usable else (sections, [])
    text = join(kept)
    weighted = sum(section.weighted for section in sections)
    return Compiled(
        text=text,
        sections=kept,
        selection=draft.selection,
        mode=mode,
        task_type=moment.task_type,
        pressure=pressure_ratio(weighted, usable),
        raw_tokens=estimate_tokens(text) if cuts else raw,
        weighted_tokens=weighted,
        usable=usable,
        caps=draft.caps,
        cuts=cuts,
    )


class _Draft:
    """One compile under way; what does not depend on the pressure is made once."""

    def __init__(self, moment: Moment, compiler: Compiler, config: ContextEngine, usable: int) -> None:
        self._moment, self._config, self._usable = moment, config, usable
        self.caps = caps_for(moment.task_type, config)
        features = moment.pool.features(
            moment.user_input,
            moment.current_turn,
            hydrated=moment.hydrated,
            last_step=moment.last_step,
            embed=moment.embed,
        )
        self.selection = Selection(moment.pool, features, config.scoring, config.bands, self.caps)
        self._checkpoints: dict[PressureMode, Section] = {}
        self._first = self._head()
        self._last = self._tail(compiler)

    def settle(self) -> tuple[PressureMode, list[Section], int]:
        """The pressure that holds, the sections at it, and what they cost raw.

        At most three compiles, never looser than the one before.
        """
        mode = self._mode([*self._first[:2], *self._last[:1], self._last[-1], self._checkpoint("normal")])
        sections = self._sections(mode)
        found = tightest(mode, self._mode(sections))
        if found != mode:
            mode, sections = found, self._sections(found)
        raw = estimate_tokens(join(sections))
        if mode != "emergency" and pressure_ratio(raw, self._usable) > self._config.pressure.emergency_at:
            mode, sections = "emergency", self._sections("emergency")
            raw = estimate_tokens(join(sections))
        return mode, sections, raw

    def _mode(self, sections: Sequence[Section]) -> PressureMode:
        weighted = sum(section.weighted for section in sections)
        return mode_of(pressure_ratio(weighted, self._usable), self._config.pressure)

    def _sections(self, mode: PressureMode) -> list[Section]:
        verbatim, *rest = self._last
        return [*self._first, self._checkpoint(mode), verbatim, self._scored(mode), *rest]

    def _head(self) -> list[Section]:
        frame, weight = self._moment.frame, self._config.density.pinned_infra
        skills, _ = trim_lines(frame.skills, int(self._usable * SKILLS_SHARE), "the catalog goes on")
        return [
            make_section("frame", engine_frame(frame), weight),
            make_section("skills", skills, weight),
            make_section("workflow", frame.patterns, weight),
        ]

    def _tail(self, compiler: Compiler) -> list[Section]:
        moment, density = self._moment, self._config.density
        memory, _ = trim_lines(
            moment.frame.memory, int(self._usable * compiler.memories_budget_ratio), "more is remembered"
        )
        verbatim = render_verbatim(moment.verbatim, self.caps.verbatim, moment.agent)
        return [
            make_section("verbatim", verbatim, density.verbatim_turn),
            make_section("memory", memory, density.memory_digest),
            make_section("active_state", moment.active_state, density.active_state),
            make_section("peripheral", moment.peripheral_state, density.peripheral_state),
            make_section("input", _current_input(moment), density.active_request),
        ]

    def _checkpoint(self, mode: PressureMode) -> Section:
        if mode not in self._checkpoints:
            rendered = self._moment.checkpoint(mode, self.caps)
            tokens = estimate_tokens(rendered.text)
            self._checkpoints[mode] = Section("checkpoint", rendered.text, tokens, rendered.weighted)
        return self._checkpoints[mode]

    def _scored(self, mode: PressureMode) -> Section:
        units = self._current_cards() if mode == "emergency" else self.selection.in_order(mode)
        if not units:
            return Section("scored", "", 0, 0.0)
        text = "\n".join([SCORED_HEADING, "", *(unit.content for unit in units)])
        weighted = sum(effective(unit.tokens, unit.type, self._config.density) for unit in units)
        return Section("scored", text, estimate_tokens(text), weighted)

    def _current_cards(self) -> list[ContextUnit]:
        """Cards of the last exchanges' artifacts, the newest first, within the cap of the recent band."""
        kept: list[ContextUnit] = []
        left = self.caps.recent
        for unit in sorted(self._moment.current_cards, key=lambda unit: -unit.order):
            if unit.tokens <= left:
                kept.append(unit)
                left -= unit.tokens
        return kept


def _current_input(moment: Moment) -> str:
    said = f"## Current Input{JOINT}User: {moment.user_input}" if moment.user_input else ""
    return JOINT.join(part for part in (said, now_line(moment.now)) if part)
