"""One model's conversation in Claude Code's records: what it says and calls, what comes back, what it costs."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sample_maker.claude_tools import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sample_maker.chance import Clock, Dice
    from sample_maker.claude_tools import Outcome
    from sample_maker.truth import Truth
    from sample_maker.workshop import Workshop

CHARACTERS_A_TOKEN: Final = 4
"""A plain estimate; the figures only have to grow as real ones do."""


@dataclass(frozen=True)
class Release:
    """A version of Claude Code, and how it writes a response.

    Attributes:
        version: As written into every record.
        streams: Older ones write each block as it comes: no stop reason, and all lines but the last tell the output
            tokens so far. Newer ones repeat the final figures on every line.
    """

    version: str
    streams: bool


OLDER: Final = Release("2.1.33", streams=True)
NEWER: Final = Release("2.1.114", streams=False)


@dataclass(frozen=True)
class Think:
    """A thinking block."""

    text: str


@dataclass(frozen=True)
class Say:
    """A text block."""

    text: str


@dataclass(frozen=True)
class Task:
    """A call that starts a sub-agent.

    Attributes:
        description: A few words.
        prompt: What the sub-agent is asked.
        model: The model that it is.
        script: What it does.
        nested: Whether its records lie in `progress` records of the session, instead of in a file of their own.
    """

    description: str
    prompt: str
    model: str
    script: Callable[[Chain], None]
    nested: bool
    name: str = "Task"


Part = Think | Say | Task | Tool


@dataclass(frozen=True)
class Call:
    """A call that was written and waits for its result."""

    part: Tool | Task
    call_id: str
    record: str


@dataclass(frozen=True)
class Stage:
    """What all conversations of one session share."""

    shop: Workshop
    clock: Clock
    dice: Dice
    truth: Truth
    release: Release


class Meter:
    """Counts tokens as a provider would: what was sent before is read from its cache, what is new is written to it."""

    def __init__(self, dice: Dice, opening: int) -> None:
        """Begin with a system prompt of `opening` tokens."""
        self._dice = dice
        self._cached = 0
        self._fresh = opening

    @property
    def context(self) -> int:
        """Tokens in the conversation."""
        return self._cached + self._fresh

    def add(self, text: str) -> None:
        """Something is appended to the conversation."""
        self._fresh += len(text) // CHARACTERS_A_TOKEN + self._dice.between(4, 12)

    def restart(self, opening: int) -> None:
        """The conversation was replaced by a summary; the system prompt is still in the cache."""
        self._fresh, self._cached = 0, opening

    def call(self, said: str) -> dict[str, int]:
        """The usage of one response."""
        output = len(said) // CHARACTERS_A_TOKEN + self._dice.between(20, 90)
        tokens = {
            "input": self._dice.between(3, 14),
            "cache_write": self._fresh,
            "cache_read": self._cached,
            "output": output,
        }
        self._cached += self._fresh
        self._fresh = output
        return tokens


class Chain(ABC):
    """One conversation. `tail` is the id of its newest record."""

    sidechain = False

    def __init__(self, stage: Stage, model: str, tail: str | None = None) -> None:
        """Begin a conversation with `model` after the record `tail`."""
        self.stage = stage
        self.model = model
        self.tail = tail
        self.meter = Meter(stage.dice, stage.dice.between(15_000, 24_000))

    @abstractmethod
    def emit(self, kind: str, fields: dict[str, Any], parent: str | None) -> str:
        """Write a record of this conversation after `parent` and return its id."""

    def perform(self, call: Call) -> Outcome:
        """Do what a call asks for."""
        if isinstance(call.part, Task):
            raise TypeError("a sub-agent starts no sub-agents here")
        self.stage.clock.wait(30, 400)
        return call.part.use(self.stage.shop, self.stage.clock.now)

    def answer(self, *parts: Part, results: Callable[[Sequence[Call]], Iterable[Call]] = list) -> None:
        """One response of the model, one record a part; then the result of each call, in the order of `results`."""
        for call in results(self.speak(parts)):
            self.give_back(call, self.perform(call))

    def speak(self, parts: Sequence[Part]) -> list[Call]:
        """Write the records of one response; its calls wait for their results."""
        blocks = [self._block(part) for part in parts]
        tokens = self.meter.call("".join(json.dumps(block, ensure_ascii=False) for block in blocks))
        self.stage.truth.count_response(self.model, tokens, sidechain=self.sidechain)
        calls_something = any(block["type"] == "tool_use" for block in blocks)
        reason = None if self.stage.release.streams else "tool_use" if calls_something else "end_turn"
        shell = {
            "model": self.model,
            "id": self.stage.dice.token("msg_01", 22),
            "type": "message",
            "role": "assistant",
        }
        request = self.stage.dice.token("req_011C", 20)
        calls = []
        for position, (part, block) in enumerate(zip(parts, blocks, strict=True), 1):
            self.stage.clock.wait(700, 4_000)
            is_last = position == len(blocks)
            usage = usage_record(tokens, is_partial=self.stage.release.streams and not is_last)
            message = {**shell, "content": [block], "stop_reason": reason, "stop_sequence": None, "usage": usage}
            self.tail = self.emit("assistant", {"message": message, "requestId": request}, self.tail)
            if not isinstance(part, Think | Say):
                calls.append(Call(part, block["id"], self.tail))
        return calls

    def give_back(self, call: Call, outcome: Outcome) -> None:
        """Write the result of a call; its parent is the record of the call, as in real files."""
        result: dict[str, Any] = {"tool_use_id": call.call_id, "type": "tool_result", "content": outcome.content}
        if outcome.is_error or call.part.name == "Bash":
            result["is_error"] = outcome.is_error
        fields = {
            "message": {"role": "user", "content": [result]},
            "toolUseResult": outcome.detail,
            "sourceToolAssistantUUID": call.record,
        }
        self.tail = self.emit("user", fields, call.record)
        self.stage.truth.count_call(sidechain=self.sidechain, is_error=outcome.is_error)
        self.meter.add(json.dumps(outcome.content, ensure_ascii=False))

    def _block(self, part: Part) -> dict[str, Any]:
        match part:
            case Think(text):
                return {"type": "thinking", "thinking": text, "signature": "signature-removed"}
            case Say(text):
                return {"type": "text", "text": text}
            case Task():
                arguments = {"description": part.description, "prompt": part.prompt, "subagent_type": "Explore"}
            case _:
                arguments = part.arguments(self.stage.shop)
        return {"type": "tool_use", "id": self.stage.dice.token("toolu_01", 22), "name": part.name, "input": arguments}


def usage_record(tokens: dict[str, int], *, is_partial: bool) -> dict[str, Any]:
    """The usage of a response as Claude Code writes it; while it streams, only the first tokens are out."""
    return {
        "input_tokens": tokens["input"],
        "cache_creation_input_tokens": tokens["cache_write"],
        "cache_read_input_tokens": tokens["cache_read"],
        "cache_creation": {
            "ephemeral_5m_input_tokens": tokens["cache_write"],
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": tokens["output"] % 9 + 1 if is_partial else tokens["output"],
        "service_tier": "standard",
    }
