"""Reads an export: messages to records."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any, Final

from workbench.ingest import jsonlines
from workbench.ingest.claude_code.typed import typed_by_person
from workbench.ingest.markdown import text_lines
from workbench.ingest.records import Draft, Environment, Issue, ParsedSource, Record
from workbench.ingest.specstory.layout import GENERATED, SESSION, Export, Message, Part, layout
from workbench.ingest.specstory.tools import ToolUse, tool_use
from workbench.ingest.times import MISSING, from_iso

NAME: Final = "specstory"

_AGENTS: Final = {"Claude Code": "claude-code", "Codex CLI": "codex", "Gemini CLI": "gemini-cli"}
"""Agents that have a format of their own here, by the name that SpecStory gives them."""

_THOUGHT: Final = re.compile(r"<think><details>(?:<summary>.*?</summary>)?\s*(.*?)\s*</details></think>", re.DOTALL)


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is an export: its first line says so.

    Args:
        head: The first bytes of the file.
        name: The file's name.
    """
    if not name.endswith(".md"):
        return False
    first = head.removeprefix(jsonlines.BOM).lstrip().split(b"\n", 1)[0]
    return GENERATED.fullmatch(first.decode("utf-8", "replace")) is not None


def read(data: bytes, path: str) -> ParsedSource:
    """Read a whole export.

    Args:
        data: Its bytes, redacted.
        path: Where it was found; it does not matter.

    Returns:
        Its records and what is wrong with it; never raises for what is in the file.
    """
    del path
    lines = text_lines(data)
    export = layout(lines)
    reader = _Reader(export)
    if reader.session_id is None:
        return ParsedSource(None, [], "main", len(lines), [], [Issue(0, "empty_run", "no message in it")])
    reader.read()
    issues = reader.issues(export.broken)
    return ParsedSource(reader.session_id, [reader.session_id], "main", len(lines), reader.records, issues)


class _Reader:
    """State of one pass over one file.

    A message is named by its place: an export is written anew as the session goes on, and a tool use that had no
    result yet, or another time, is the same message later. The newest telling counts.
    """

    def __init__(self, export: Export) -> None:
        self.records: list[Record] = []
        self._export = export
        self._stray: list[int] = []
        session = next((found for line in export.head if (found := SESSION.fullmatch(line))), None)
        self._agent: str | None = session[1] if session else None
        self._own_id: str | None = session[2] if session else None
        self._started: str | None = session[3] if session else None
        self.session_id = _session_id(export, self._own_id)

    def read(self) -> None:
        """Read the export."""
        self._head()
        for place, message in enumerate(self._export.messages):
            moment = from_iso(message.time) if message.time else MISSING
            name = self._name(f"message {place}")
            drafts = self._prompt(message) if message.role == "User" else self._answer(message, name)
            self.records.append(Record(name, self.session_id, moment.at, moment.source, message.line, None, drafts))

    def issues(self, broken: list[int]) -> list[Issue]:
        """What was odd, one issue a kind."""
        issues = []
        if self._stray:
            detail = "text before the first message is kept as it is"
            issues.append(Issue(self._stray[0], "unknown_record", detail, len(self._stray)))
        if broken:
            detail = "a tool use or thought is never closed; it is kept as text"
            issues.append(Issue(broken[0], "unfinished_block", detail, len(broken)))
        return issues

    def _name(self, what: str) -> str:
        """The id of a record, which is also its message id; no other session has it."""
        return blake2b(f"{self.session_id}\0{what}".encode(), digest_size=10).hexdigest()

    def _head(self) -> None:
        """The environment, and whatever else stands above the first message."""
        generated = next((found for line in self._export.head if (found := GENERATED.fullmatch(line))), None)
        told = {
            "type": "export",
            "exported_by": NAME,
            "export_version": generated[1] if generated else None,
            "exported_session_id": self._own_id,
        }
        moment = from_iso(self._started) if self._started else MISSING
        name = self._name("head")
        draft = Draft("system_note", "kernel", told)
        record = Record(name, self.session_id, moment.at, moment.source, 1, None, [draft])
        agent = _AGENTS.get(self._agent or "") or "-".join((self._agent or "").lower().split())
        record.environment = Environment(agent or NAME, None, None, None)
        self.records.append(record)
        for number, line in enumerate(self._export.head, 1):
            known = not line.strip() or line.startswith("# ") or GENERATED.fullmatch(line) or SESSION.fullmatch(line)
            if not known:
                self._stray.append(number)
        if self._stray:
            text = "\n".join(self._export.head[number - 1] for number in self._stray)
            draft = Draft("unknown", "kernel", {"record": {"type": "text", "text": text}})
            record = Record(self._name("stray"), self.session_id, None, "missing", self._stray[0], None, [draft])
            self.records.append(record)

    def _prompt(self, message: Message) -> list[Draft]:
        text = "\n\n".join(part.text for part in message.parts)
        if message.is_sidechain:
            return [Draft("user_message", "agent", {"text": text}, None, is_sidechain=True)]
        if self._agent == "Claude Code":
            typed = typed_by_person(text)
            if typed.note is not None:
                return [Draft("system_note", "kernel", {"type": typed.note, "text": typed.text})]
            text = typed.text
        return [Draft("user_message", "user", {"text": text})]

    def _answer(self, message: Message, name: str) -> list[Draft]:
        """What an agent said, thought and did, all under one message id.

        On a sidechain a message without a model is what the main agent asked.
        """
        if message.is_sidechain and message.model is None:
            return self._prompt(message)
        about = {"message_id": name, "model": message.model}
        drafts: list[Draft] = []
        last: ToolUse | None = None
        for number, part in enumerate(message.parts):
            use = tool_use(part.text) if part.kind == "tool" else None
            if use is None:
                drafts.append(Draft("agent_message", "agent", {**_said(part), **about}))
            elif last is not None and use.is_bare and use.tool == last.tool:
                continue  # some exports tell a use twice, the second time by name alone
            else:
                drafts += _used(use, f"{name}.{number}", about)
            last = use
        for draft in drafts:
            draft.is_sidechain = message.is_sidechain
        return drafts or [Draft("agent_message", "agent", {"text": "", **about}, is_sidechain=message.is_sidechain)]


def _said(part: Part) -> dict[str, Any]:
    if part.kind == "thinking":
        found = _THOUGHT.fullmatch(part.text.strip())
        return {"thinking": found[1] if found else part.text}
    return {"text": part.text}


def _used(use: ToolUse, call_id: str, about: dict[str, Any]) -> list[Draft]:
    named = {"tool": use.tool, "tool_call_id": call_id}
    drafts = [Draft("tool_call", "agent", {**named, "args": use.arguments, **about})]
    if use.result is not None:
        drafts.append(Draft("tool_result", "tool", {**named, "result": use.result, "is_error": use.is_error}))
    return drafts


def _session_id(export: Export, own_id: str | None) -> str | None:
    """The id of the session: its own, marked as an export, since the agent's own file tells of it, too, and otherwise.

    Where the export does not tell it, its head and its first message name it.
    """
    if own_id is None and not export.messages:
        return None
    first = [part.text for message in export.messages[:1] for part in message.parts]
    digest = blake2b("\n".join([*export.head, *first]).encode(), digest_size=8).hexdigest()
    return f"{NAME}-{own_id or digest}"
