"""Sub-agents of Claude Code: conversations in a file of their own, or wrapped into records of the session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sample_maker.claude_chain import Chain, Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sample_maker.claude_chain import Call, Part, Task
    from sample_maker.claude_code import Session


def as_line(record: dict[str, Any]) -> str:
    """A record as Claude Code writes it: compact JSON, text as it is."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


class Agent(Chain):
    """A sub-agent's conversation."""

    sidechain = True

    def __init__(self, session: Session, task: Task, agent_id: str, tail: str | None) -> None:
        """Begin it for `task` in `session`."""
        super().__init__(session.stage, task.model, tail)
        self.agent_id = agent_id
        self.report = ""
        self._session = session
        self._task = task

    def prompt(self) -> None:
        """Write down what the sub-agent is asked."""
        content = [{"type": "text", "text": self._task.prompt}] if self._task.nested else self._task.prompt
        self.tail = self.emit("user", {"message": {"role": "user", "content": content}}, self.tail)
        self.meter.add(self._task.prompt)

    def speak(self, parts: Sequence[Part]) -> list[Call]:
        """As every conversation does; the last thing said is the report."""
        self.report = "\n".join(part.text for part in parts if isinstance(part, Say)) or self.report
        return super().speak(parts)


class FileAgent(Agent):
    """A sub-agent whose records lie in a file of their own."""

    def __init__(self, session: Session, task: Task, agent_id: str) -> None:
        """Begin its file."""
        super().__init__(session, task, agent_id, tail=None)
        self.lines: list[str] = []

    def emit(self, kind: str, fields: dict[str, Any], parent: str | None) -> str:
        """Write a record into the sub-agent's file."""
        record_id = self.stage.dice.uuid()
        fields.pop("toolUseResult", None)
        shell = {**self._session.envelope(parent), "isSidechain": True, "agentId": self.agent_id, "type": kind}
        self.lines.append(as_line({**shell, **fields, "uuid": record_id, "timestamp": self.stage.clock.stamp}))
        return record_id


class NestedAgent(Agent):
    """A sub-agent whose records lie in `progress` records of the session."""

    def __init__(self, session: Session, task: Task, agent_id: str, call: Call) -> None:
        """Begin after the record of the call that started it."""
        super().__init__(session, task, agent_id, tail=call.record)
        self._call = call

    def emit(self, kind: str, fields: dict[str, Any], parent: str | None) -> str:
        """Wrap a record of the sub-agent; the wrappers are a chain of their own, whatever `parent` is."""
        del parent
        fields.pop("toolUseResult", None)
        fields.pop("sourceToolAssistantUUID", None)
        inner = {"type": kind, **fields, "uuid": self.stage.dice.uuid(), "timestamp": self.stage.clock.stamp}
        data = {
            "message": inner,
            "normalizedMessages": [],
            "type": "agent_progress",
            "prompt": self._task.prompt,
            "agentId": self.agent_id,
        }
        outer = {
            "data": data,
            "toolUseID": self.stage.dice.token("agent_msg_01", 22),
            "parentToolUseID": self._call.call_id,
        }
        return self._session.emit("progress", outer, self.tail)
