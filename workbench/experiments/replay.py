"""What the context engine would have put into each prompt of a recorded session. No model is called.

The recorded events drive the same functions that a live session calls. By exchange there is one prompt an exchange; by
step one a model call, of the last `STEPS_SCORED` model calls of a session at most.

Source: design, "Replay"; PRAANA, "Runtime Architecture (Turn Flow)".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from workbench.context.classic import Said, compile_classic, history_lines
from workbench.context.frame import Frame
from workbench.context.pressure import pressure_ratio, usable_budget
from workbench.context.recorder import Call, last_lines
from workbench.context.session import EngineSession, Policy
from workbench.context.verbatim import AGENT, compact_json
from workbench.errors import NotFoundError
from workbench.experiments.foreign_plans import ForeignPlans, announced_plan
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from workbench.context.compile import Compiled, Moment
    from workbench.context.hydrate import Hydrated
    from workbench.context.pool import Embed
    from workbench.context.session import Ended
    from workbench.experiments.recorded import RecordedCall, RecordedExchange, RecordedSession, RecordedStep

Mode = Literal["engine", "classic"]
STEPS_SCORED: Final = 60
"""Model calls of one session that are compiled by step. Source: design, "Replay" (tuning: at most 60)."""
LAST_STEP_CHARS: Final = 2_000
"""Characters of the last model call that count as its text."""


@dataclass(frozen=True, slots=True)
class ReplayedPrompt:
    """One prompt.

    Attributes:
        turn: The exchange, from 1.
        step: The model call in it, from 1; 0 by exchange.
        compiled: The engine's prompt; None in classic mode.
        classic_tokens: What the whole history would have cost at this point.
        classic_pressure: That over the usable budget.
        hydrated: State objects that came back.
    """

    turn: int
    step: int
    compiled: Compiled | None
    classic_tokens: int
    classic_pressure: float
    hydrated: Sequence[Hydrated]


@dataclass(slots=True)
class SessionReplay:
    """A replayed session: its prompts, and what the engine kept of each exchange."""

    session: RecordedSession
    policy: Policy
    prompts: list[ReplayedPrompt] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    engine: EngineSession | None = None

    @property
    def usable(self) -> int:
        """Tokens a prompt may have."""
        compiler = self.policy.compiler
        return usable_budget(compiler.token_budget, self.policy.window, compiler.reserved_output_tokens)


OnPrompt = Callable[[int, int], None]
"""Called with exchanges done and exchanges in all."""


def replay(
    session: RecordedSession,
    policy: Policy,
    *,
    mode: Mode = "engine",
    embed: Embed | None = None,
    on_exchange: OnPrompt | None = None,
) -> SessionReplay:
    """Replay one session.

    Args:
        session: What happened.
        policy: How prompts are made; its level decides whether by exchange or by step.
        mode: `engine`, or `classic` for the costs of the whole history alone.
        embed: Makes vectors; without it words alone tell relevance.
        on_exchange: Hears of the progress.

    Returns:
        One prompt an exchange or a model call; the same for the same session and policy.
    """
    made = SessionReplay(session, policy)
    run = _Run(session, policy, mode, embed, made.usable)
    for done, exchange in enumerate(session.exchanges, 1):
        made.prompts += run.exchange(exchange)
        made.ended.append(run.ended)
        if on_exchange:
            on_exchange(done, len(session.exchanges))
    made.engine = run.engine
    return made


@dataclass(frozen=True, slots=True)
class Halted:
    """A replay that stopped before one model call.

    Attributes:
        prompt: The prompt of the engine.
        compiled: The same, whole.
        moment: All that it depends on, configuration apart.
        policy: How it was made.
        engine: The session as it is at this point.
    """

    prompt: ReplayedPrompt
    compiled: Compiled
    moment: Moment
    policy: Policy
    engine: EngineSession


def replay_until(
    session: RecordedSession, policy: Policy, turn: int, step: int = 0, *, embed: Embed | None = None
) -> Halted:
    """Replay one session up to one prompt, so that this prompt can be made again in other ways.

    Args:
        session: What happened.
        policy: How prompts are made.
        turn: The exchange, from 1.
        step: The model call in it, from 1; 0 by exchange.
        embed: As for `replay`.

    Returns:
        The very prompt that `replay` makes there.

    Raises:
        NotFoundError: A replay at the policy's level has no such prompt.
    """
    run = _Run(session, policy, "engine", embed, SessionReplay(session, policy).usable)
    for exchange in session.exchanges:
        for prompt in run.exchange(exchange):
            if (prompt.turn, prompt.step) == (turn, step) and prompt.compiled is not None:
                return Halted(prompt, prompt.compiled, run.moment(), policy, run.engine)
    where = f"{turn}.{step}" if step else str(turn)
    raise NotFoundError(f"session {session.session_id} has no prompt {where} by {policy.level}")


def moments(
    session: RecordedSession, policy: Policy, *, steps_scored: int = STEPS_SCORED, embed: Embed | None = None
) -> Iterator[tuple[int, int, Moment]]:
    """What every prompt of a session would be made from; none is made, which takes most of a replay's time.

    Args:
        session: What happened.
        policy: Its level decides whether by exchange or by step.
        steps_scored: Model calls at the session's end that count, by step.
        embed: As for `replay`.

    Yields:
        Exchange, model call in it (0 by exchange), and the moment. Its pool grows with the next one: read it at once.
    """
    run = _Run(session, policy, None, embed, 0, steps_scored)
    for exchange in session.exchanges:
        for prompt in run.exchange(exchange):
            yield prompt.turn, prompt.step, run.moment()


class _Run:
    """A replay under way; without a mode no prompt is made and none is counted."""

    ended: Ended

    def __init__(
        self,
        session: RecordedSession,
        policy: Policy,
        mode: Mode | None,
        embed: Embed | None,
        usable: int,
        steps_scored: int = STEPS_SCORED,
    ) -> None:
        frame = Frame(session_id=session.session_id, cwd=session.cwd or "")
        self.engine = EngineSession(session.session_id, policy, frame=frame, embed=embed)
        self._policy, self._mode, self._usable = policy, mode, usable
        self._plans = ForeignPlans(session.session_id)
        empty = compile_classic((), "", frame, policy.compiler, policy.engine.density, window=policy.window)
        self._history = empty.raw_tokens
        self._last_step = ""
        steps = sum(len(exchange.steps) for exchange in session.exchanges)
        self._unscored = max(0, steps - steps_scored)

    def exchange(self, exchange: RecordedExchange) -> Iterator[ReplayedPrompt]:
        """The prompts of one exchange."""
        hydrated = self.engine.begin(exchange.turn, exchange.user_text, exchange.started_at)
        self._told("user_message", text=exchange.user_text)
        by_step = self._policy.level == "step"
        if not by_step:
            yield self._prompt(exchange, 0, hydrated)
        for step in exchange.steps:
            if by_step:
                self._unscored -= 1
                if self._unscored < 0:
                    yield self._prompt(exchange, step.number, hydrated)
            self._take(step)
        plans = [
            plan for step in exchange.steps for call in step.calls if (plan := announced_plan(call.tool, call.args))
        ]
        self.ended = self.engine.end(exchange.answer, plan=plans[-1] if plans else None)

    def moment(self) -> Moment:
        """All that the prompt at hand depends on."""
        return self.engine.moment(self._last_step)

    def _prompt(self, exchange: RecordedExchange, step: int, hydrated: Sequence[Hydrated]) -> ReplayedPrompt:
        compiled = self.engine.prompt(last_step=self._last_step) if self._mode == "engine" else None
        pressure = pressure_ratio(self._history, self._usable)
        return ReplayedPrompt(exchange.turn, step, compiled, self._history, pressure, hydrated)

    def _take(self, step: RecordedStep) -> None:
        self.engine.step()
        if step.text:
            self._told("agent_message", text=step.text)
        for call in step.calls:
            self._call(call)
        for each in step.actions:
            self.engine.act(each.action, each.occurred_at)
        self._last_step = _step_text(step)

    def _call(self, call: RecordedCall) -> None:
        self.engine.call(
            Call(
                tool=call.our_tool,
                args=call.our_args,
                result=call.result,
                is_error=call.is_error,
                error=(last_lines(call.result or "") or "tool error") if call.is_error else None,
                call_id=call.call_id,
            )
        )
        for action in self._plans.actions(call.tool, call.args, call.result):
            self.engine.act(action, call.called_at)
        self._told("tool_call", tool=call.tool, args=call.args)
        self._told("tool_result", tool=call.tool, result=call.result or "")

    def _told(self, kind: str, **payload: Any) -> None:
        """Count what the classic history says of an event, without writing the whole history anew."""
        if self._mode is None:
            return
        lines = history_lines(Said(kind, payload), AGENT, {})
        self._history += sum(estimate_tokens(line + "\n") for line in lines)


def _step_text(step: RecordedStep) -> str:
    told = [step.text, *(f"{call.our_tool} {compact_json(call.our_args)}\n{call.result or ''}" for call in step.calls)]
    share = LAST_STEP_CHARS // max(1, len(told))
    return "\n".join(text[:share] for text in told if text)
