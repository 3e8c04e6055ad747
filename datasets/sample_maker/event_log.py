"""Writes sessions that ran here: `sessions/<session>/events.jsonl`, one event a line, no line without its event id."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from sample_maker.chance import Clock, Dice
from sample_maker.claude_chain import Meter, Say, Think
from sample_maker.log_tools import LogTool, StateCall
from sample_maker.truth import Truth
from workbench.events import Event

if TYPE_CHECKING:
    from sample_maker.shelf import Shelf
    from sample_maker.workshop import Workshop


class EventLog:
    """One session in our own event log."""

    def __init__(self, shop: Workshop, scenario: str, start: str, model: str) -> None:
        """Begin a session in `shop`."""
        self._dice = Dice(scenario)
        self._clock = Clock(start, self._dice)
        self._shop = shop
        self._model = model
        self._meter = Meter(self._dice, self._dice.between(2_500, 4_000))
        self._events: list[Event] = []
        self._turn = 0
        self._prompt_id: str | None = None
        self._objects: dict[str, str] = {}
        self.session_id = self._dice.ulid(self._clock.now)
        self._truth = Truth(self.session_id, scenario, "event-log", shop.cwd)
        self.note("environment", agent="workbench", cwd=shop.cwd, git_branch=shop.branch, agent_version="0.1.0")

    def ask(self, text: str) -> None:
        """A person types a prompt: the next turn."""
        self._clock.read(text)
        self._turn += 1
        self._prompt_id = None
        self._prompt_id = self._append("user_message", "user", {"text": text})
        self._truth.prompts += 1
        self._meter.add(text)

    def answer(self, *parts: Think | Say | LogTool | StateCall) -> None:
        """One response: thinking, text, calls with their results, and what it cost."""
        ids = {
            "message_id": self._dice.token("msg_01", 22),
            "request_id": self._dice.token("req_011C", 20),
            "model": self._model,
        }
        for part in parts:
            self._clock.wait(600, 3_000)
            match part:
                case Think(text):
                    self._append("agent_message", "agent", {"thinking": text, **ids})
                case Say(text):
                    self._append("agent_message", "agent", {"text": text, **ids})
                case StateCall():
                    self._change_state(part, ids)
                case _:
                    self._use(part, ids)
        self._charge(ids, "".join(map(str, parts)))

    def promote(self, label: str, method: str) -> None:
        """The kernel brings an object back because the prompt speaks of it."""
        reason = {"reason": "auto_hydrate", "hydrate_method": method}
        self._act({"action": "setTier", "tier": "active", **reason}, self._objects[label], self._prompt_id)

    def note(self, kind: str, **fields: Any) -> None:
        """The harness writes something down."""
        self._append("system_note", "kernel", {"type": kind, **fields})

    def show(self, text: str) -> None:
        """The person sees something that the model does not."""
        self._append("ui_transcript", "kernel", {"type": "notice", "text": text})

    def interrupt(self, partial: str) -> None:
        """The person stops the agent in the middle of a sentence."""
        self.note("turn_interrupted", partial=partial)
        self._truth.interrupts += 1

    def compact(self, summary: str) -> None:
        """The history was replaced by a summary."""
        payload = {"trigger": "auto", "pre_tokens": self._meter.context, "summary": summary}
        self._append("compaction", "kernel", payload)
        self._meter.restart(3_000)
        self._meter.add(summary)
        self._truth.compactions += 1

    def close(self, shelf: Shelf) -> None:
        """Put the log on the shelf."""
        lines = [msgspec.json.encode(event).decode() for event in self._events]
        self._truth.records = len(lines)
        shelf.put(self._truth, f"event-log/sessions/{self.session_id}/events.jsonl", lines)

    def _append(self, kind: str, actor: str, payload: dict[str, Any], parent: str | None = None) -> str:
        self._clock.wait(2, 40)
        event = Event(
            event_id=self._dice.ulid(self._clock.now),
            session_id=self.session_id,
            seq=len(self._events) + 1,
            occurred_at=self._clock.now,
            kind=kind,
            actor=actor,
            turn=self._turn,
            parent_event_id=parent or self._prompt_id,
            payload=payload,
        )
        self._events.append(event)
        return event.event_id

    def _use(self, part: LogTool, ids: dict[str, str]) -> None:
        call_id = self._dice.token("call_", 16)
        call = {"tool": part.tool, "args": part.arguments(), "tool_call_id": call_id, **ids}
        call_event = self._append("tool_call", "agent", call)
        self._clock.wait(30, 900)
        self._give_back(part.tool, call_id, part.use(self._shop, self._clock.now), call_event)

    def _change_state(self, part: StateCall, ids: dict[str, str]) -> None:
        call_id = self._dice.token("call_", 16)
        is_new = part.label not in self._objects
        if is_new:
            self._objects[part.label] = self._dice.ulid(self._clock.now)
        object_id = self._objects[part.label]
        arguments = part.given if is_new else {"id": object_id, **part.given}
        call = {"tool": part.tool, "args": arguments, "tool_call_id": call_id, **ids}
        call_event = self._append("tool_call", "agent", call)
        for change in part.changes:
            self._act(change, object_id, call_event)
        self._give_back(part.tool, call_id, {"ok": True, "id": object_id}, call_event)

    def _act(self, change: dict[str, Any], object_id: str, parent: str | None) -> None:
        self._append("context_action", "kernel", {"action": change["action"], "id": object_id, **change}, parent)
        self._truth.context_actions += 1

    def _give_back(self, tool: str, call_id: str, result: dict[str, Any], call_event: str) -> None:
        payload = {"tool_call_id": call_id, "result": result, "is_error": not result["ok"], "tool": tool}
        self._append("tool_result", "tool", payload, call_event)
        self._truth.count_call(sidechain=False, is_error=not result["ok"])
        self._meter.add(json.dumps(result, ensure_ascii=False))

    def _charge(self, ids: dict[str, str], said: str) -> None:
        tokens = self._meter.call(said)
        self._append("usage", "kernel", {**ids, **{f"{name}_tokens": count for name, count in tokens.items()}})
        self._truth.count_response(self._model, tokens, sidechain=False)
