"""A session under the context engine, exchange by exchange: what it keeps in mind, and the prompt it would send.

A live session and a replay of a recorded one call the same functions in the same order: `begin` with what the person
says, `prompt` for a model call, `act` and `call` for what the model does, `end` with what it answers.

Source: PRAANA, "Runtime Architecture (Turn Flow)"; PRAANA src/turn.ts; specification A, 22.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from workbench.context.activity import activity_of, rolling
from workbench.context.artifacts import Ingested, Shelf
from workbench.context.cards import command_of
from workbench.context.checkpoint import SessionCheckpoint, reconcile
from workbench.context.checkpoint_text import render_checkpoint
from workbench.context.compile import Compiled, Moment, RenderedCheckpoint, compile_prompt
from workbench.context.digest import digest_turn
from workbench.context.error_tracker import Errors, track_errors
from workbench.context.feed import ExchangeFeed, StepFeed
from workbench.context.frame import Frame
from workbench.context.hydrate import Hydrated, find_hydrated, hydrate
from workbench.context.ledger import TurnLedger
from workbench.context.payload import payload_text
from workbench.context.recorder import Call, record_turn
from workbench.context.records import ActivityEntry, TurnDigest, TurnRecord
from workbench.context.state import StateGraph, apply_action, demotions, next_turn
from workbench.context.state_text import render_active, render_peripheral
from workbench.context.task_type import Classification, classify_task

if TYPE_CHECKING:
    from workbench.config.context import Compiler, ContextEngine, Tiers
    from workbench.context.caps import Caps
    from workbench.context.distillers import Distilled
    from workbench.context.pool import Embed, UnitPool
    from workbench.context.records import PressureMode, StateObject

Level = Literal["exchange", "step"]
"""One prompt an exchange, or one a model call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How prompts are made: everything of the configuration that they depend on.

    Attributes:
        compiler: Token budgets.
        tiers: How state sinks.
        engine: Weights, bands, caps, distillers.
        window: Context window of the model in tokens.
        level: At which level units are offered.
    """

    compiler: Compiler
    tiers: Tiers
    engine: ContextEngine
    window: int
    level: Level = "exchange"


@dataclass(frozen=True, slots=True)
class Ended:
    """What a finished exchange left behind."""

    record: TurnRecord
    digest: TurnDigest
    activity: Sequence[ActivityEntry]
    demoted: Sequence[Mapping[str, Any]]
    evicted: Sequence[str]


@dataclass(slots=True)
class _Open:
    """The exchange under way."""

    turn: int
    user_input: str
    occurred_at: datetime | None
    before: Sequence[StateObject]
    hydrated: Sequence[Hydrated]
    calls: list[Call] = field(default_factory=list)
    step: int = 0


class EngineSession:
    """One session.

    Args:
        session_id: Its id.
        policy: How prompts are made.
        frame: What the beginning of a prompt is made of.
        embed: Makes vectors; None where there is no embedder.

    Attributes:
        graph: What is kept in mind.
        checkpoint: The rolling summary.
        ledger: All finished exchanges.
        shelf: The session's artifacts.
        activity: The last entries.
        runs: Distillers that ran: turn, tool and result.
    """

    def __init__(
        self, session_id: str, policy: Policy, *, frame: Frame | None = None, embed: Embed | None = None
    ) -> None:
        self.session_id, self.policy = session_id, policy
        self.graph, self.checkpoint = StateGraph(), SessionCheckpoint()
        self.ledger, self.shelf = TurnLedger(), Shelf(policy.engine)
        self.activity: tuple[ActivityEntry, ...] = ()
        self.runs: list[tuple[int, str, Distilled]] = []
        self._errors = Errors()
        self._frame = frame or Frame(session_id=session_id)
        self._embed = embed
        method = policy.engine.relevance.method
        self._exchanges = ExchangeFeed(policy.engine.bands, method)
        self._steps = StepFeed(policy.engine.bands, method)
        self._steps_made = 0
        self._open: _Open | None = None

    def begin(self, turn: int, user_input: str, occurred_at: datetime | None = None) -> Sequence[Hydrated]:
        """The person says something; state objects that it is about come back.

        Args:
            turn: Number of the exchange, higher than those before.
            user_input: What was said.
            occurred_at: When.

        Returns:
            The objects that came back.
        """
        before = self.graph.snapshot()
        found = find_hydrated(self.graph, user_input, self.policy.engine.relevance, embed=self._embed)
        self.graph = hydrate(self.graph, found, occurred_at)
        self._open = _Open(turn, user_input, occurred_at, before, found)
        return found

    def prompt(self, *, last_step: str = "") -> Compiled:
        """The prompt for the next model call.

        Args:
            last_step: What the last model call did, as text.

        Raises:
            RuntimeError: No exchange is under way.
        """
        policy = self.policy
        return compile_prompt(self.moment(last_step), policy.compiler, policy.engine, window=policy.window)

    def moment(self, last_step: str = "") -> Moment:
        """All that the next prompt depends on."""
        now = self._now()
        by_step = self.policy.level == "step"
        return Moment(
            current_turn=now.turn,
            user_input=now.user_input,
            pool=self._pool(now),
            verbatim=self._steps.verbatim() if by_step else self._exchanges.verbatim(),
            frame=self._frame,
            task_type=self.task(now.turn, now.user_input).task_type,
            checkpoint=self._rendered,
            active_state=render_active(self.graph),
            peripheral_state=render_peripheral(self.graph),
            hydrated=[each.text for each in now.hydrated],
            current_cards=() if by_step else self._exchanges.cards(),
            last_step=last_step,
            embed=self._embed,
            now=now.occurred_at,
        )

    def task(self, turn: int, user_input: str) -> Classification:
        """The kind of task at hand."""
        settings = self.policy.engine.task_type
        records = self.ledger.newest(settings.turns_back + 1)
        return classify_task(user_input, records, self.activity, turn, settings)

    def act(self, action: Mapping[str, Any], occurred_at: datetime | None = None) -> None:
        """The model changes the state."""
        self.graph = apply_action(self.graph, action, occurred_at)

    def step(self) -> int:
        """A model call begins.

        Returns:
            Its number in the exchange, from 1.
        """
        now = self._now()
        now.step += 1
        self._steps_made += 1
        return now.step

    def call(self, call: Call) -> Ingested:
        """A tool call came back; a large result becomes an artifact.

        Args:
            call: The call with its result; of an envelope, what it carries becomes the artifact.

        Returns:
            What the model sees of it.
        """
        now = self._now()
        text = payload_text(call.result)
        found = self.shelf.ingest(call.tool, text, now.turn, command=command_of(call.args))
        if found.distilled is not None:
            self.runs.append((now.turn, call.tool, found.distilled))
        artifact_id = found.artifact.id if found.artifact else None
        kept = msgspec.structs.replace(call, artifact_id=artifact_id, step=now.step)
        now.calls.append(kept)
        if self.policy.level == "step":
            exchange = TurnRecord(turn=now.turn, user_message=now.user_input)
            recorded = record_turn(now.turn, "", [kept], "").tool_calls[0]
            self._steps.add_call(self._steps_made, exchange, recorded, found.artifact.card if found.artifact else None)
        return found

    def end(self, answer: str, *, token_count: int = 0, plan: str | None = None) -> Ended:
        """The model has answered: the exchange is written down, summed up and folded into the summary.

        Args:
            answer: The last thing it said.
            token_count: Tokens of prompt and answer.
            plan: A plan it announced by a tool, if it did.
        """
        now, engine = self._now(), self.policy.engine
        self.runs += [(now.turn, artifact.source_tool, made) for artifact, made in self.shelf.finish() if made]
        said = f"{answer}\n\n{plan}" if plan else answer
        record = record_turn(
            now.turn, now.user_input, now.calls, said, token_count=token_count, occurred_at=now.occurred_at
        )
        news = track_errors(self._errors, record, engine.digest.error_chars)
        digest = digest_turn(
            record,
            now.before,
            self.graph.snapshot(),
            engine.digest,
            errors_new=news.new,
            errors_fixed=news.fixed,
        )
        happened = activity_of(record, digest, test_was_failing=self._errors.test_failed)
        self._errors = news.errors
        self.activity = rolling(self.activity, happened, engine.activity_log_max_entries)
        self.checkpoint = reconcile(
            self.checkpoint, digest, news.errors.open, self.activity, engine.checkpoint, engine.digest
        )
        self._remember(record)
        demoted = self._next_turn()
        evicted = self.shelf.evict(now.turn)
        self._open = None
        return Ended(record, digest, happened, demoted, evicted)

    def _remember(self, record: TurnRecord) -> None:
        self.ledger.append(record)
        if self.policy.level == "step":
            self._steps.end_exchange(record)
        else:
            self._exchanges.add(record, self.shelf.cards(record.artifact_ids), self.activity)

    def _next_turn(self) -> Sequence[Mapping[str, Any]]:
        self.graph = next_turn(self.graph)
        demoted = demotions(self.graph, self.policy.tiers)
        for action in demoted:
            self.graph = apply_action(self.graph, action)
        return demoted

    def _pool(self, now: _Open) -> UnitPool:
        return (
            self._steps.offer(self._steps_made + 1) if self.policy.level == "step" else self._exchanges.offer(now.turn)
        )

    def _rendered(self, mode: PressureMode, caps: Caps) -> RenderedCheckpoint:
        engine = self.policy.engine
        if not engine.checkpoint_enabled:
            return RenderedCheckpoint()
        return render_checkpoint(self.checkpoint, mode, engine.checkpoint, engine.density, caps)

    def _now(self) -> _Open:
        if self._open is None:
            raise RuntimeError("no exchange is under way; call begin() first")
        return self._open
