"""Reads one rollout: lines to records, records to drafts of events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final

from workbench.ingest.codex import items, wire
from workbench.ingest.codex.harness import directory, typed_by_person
from workbench.ingest.codex.lineage import CopiedHistory, Thread, id_in_name
from workbench.ingest.codex.pairing import Log, Pairing
from workbench.ingest.codex.usage import RunningTotals
from workbench.ingest.objects import Fields, ObjectLine, ObjectLines, UnknownTypes
from workbench.ingest.record_ids import RecordIds
from workbench.ingest.records import Draft, Environment, Issue, ParsedSource, Record

NAME: Final = "codex"

_EVENTS_OF_AGENT: Final = {
    "agent_message": ("assistant", "message"),
    "agent_reasoning": ("thinking", "text"),
    "agent_reasoning_raw_content": ("thinking", "text"),
}
"""Events that mirror what the model said: whose role, and the field of the words."""


def read(data: bytes, path: str) -> ParsedSource:
    """Read a whole file.

    Args:
        data: Its bytes, redacted.
        path: Where it was found; its name holds the thread's id, in case its header cannot be read.

    Returns:
        Its records and what is wrong with it; never raises for what is in the file.
    """
    reader = _Reader()
    lines = ObjectLines(data)
    for line in lines:
        reader.line(line)
    return reader.finish(path, lines)


class _Reader:
    """State of one pass over one file."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._unknown_types = UnknownTypes()
        self._ids = RecordIds()
        self._thread: Thread | None = None
        self._copy: CopiedHistory | None = None
        self._copied = 0
        self._environment = Environment(NAME, None, None, None)
        self._model: str | None = None
        self._totals = RunningTotals()
        self._pairing = Pairing()
        self._record_id = ""
        self._response: str | None = None
        self._unbilled: str | None = None
        self._readers: dict[str, Callable[[Fields], list[Draft]]] = {
            "session_meta": self._header,
            "turn_context": self._turn_context,
            "token_usage_record": self._usage_record,
            "compacted": self._compacted,
            "state": lambda _: [],
        }

    def line(self, line: ObjectLine) -> None:
        """Read one line; one of a copied history is only counted."""
        kind, payload = wire.unwrapped(line.fields)
        moment = line.fields.moment("timestamp")
        if kind == "session_meta" and self._thread is None:
            self._begin(payload, moment.at)
        elif self._copy is not None and self._copy.holds(kind, payload, moment.at):
            return
        self._record_id = self._ids.of(line.raw)
        before = self._environment
        drafts = [*self._copied_note(), *self._drafts(kind, payload, line)]
        environment = self._environment if self._environment != before else None
        self._records.append(
            Record(self._record_id, None, moment.at, moment.source, line.number, None, drafts, environment)
        )

    @property
    def _place(self) -> int:
        return len(self._records)

    def _begin(self, header: Fields, at: datetime | None) -> None:
        self._thread = Thread.of(header)
        if self._thread is not None:
            self._copy = CopiedHistory(self._thread, at)

    def _copied_note(self) -> list[Draft]:
        """How much was copied, told with the first record after it."""
        if self._copy is None or self._copy.records == self._copied:
            return []
        self._copied, copied = self._copy.records, self._copy.records - self._copied
        payload = {"type": "history_copied", "session_id": self._copy.parent, "records": copied}
        return [Draft("system_note", "kernel", payload)]

    def _drafts(self, kind: str, payload: Fields, line: ObjectLine) -> list[Draft]:
        if kind == "response_item":
            return self._item(payload, line.number)
        if kind == "event_msg":
            return self._event(payload, line.number)
        if kind in self._readers:
            return self._readers[kind](payload)
        if kind in wire.OTHER_ENVELOPES:
            return [_note(kind, payload)]
        return [self._unknown(kind, line.fields, line.number)]

    def _unknown(self, kind: str, found: Fields, number: int) -> Draft:
        self._unknown_types.add(kind, number)
        return Draft("unknown", "kernel", {"record": found.value})

    # -- where and with what ---------------------------------------------------------------------------------------

    def _header(self, header: Fields) -> list[Draft]:
        branch = header.inner("git").text("branch")
        cwd = header.text("cwd") or self._environment.cwd
        self._environment = Environment(NAME, cwd, branch, header.text("cli_version"))
        return [_note("session", header, "id", "cwd", "timestamp", "cli_version", *wire.INSTRUCTIONS)]

    def _turn_context(self, context: Fields) -> list[Draft]:
        """A turn's settings, told at its beginning or, in some versions, right after its prompt."""
        self._pairing.next_turn(after=self._place - 1)
        self._model = context.text("model") or self._model
        self._move_to(context.text("cwd"))
        return [_note("turn_context", context, "cwd", *wire.INSTRUCTIONS)]

    def _move_to(self, cwd: str | None) -> None:
        if cwd is not None:
            self._environment = self._environment._replace(cwd=cwd)

    def _compacted(self, compacted: Fields) -> list[Draft]:
        self._response = None
        summary = compacted.text("message") or ""
        return [
            Draft("compaction", "kernel", {"type": "boundary", "trigger": None, "pre_tokens": None, "summary": summary})
        ]

    # -- responses and their usage ---------------------------------------------------------------------------------

    def _about(self) -> dict[str, Any]:
        """The response that the record belongs to: nothing names it, so it is named after its first record.

        It is over when an output, a prompt or its usage follows.
        """
        if self._response is None:
            self._response = self._unbilled = self._record_id
        return {"message_id": self._response, "model": self._model}

    def _usage_record(self, record: Fields) -> list[Draft]:
        return self._usage(self._totals.recorded(record), record.text("response_id"))

    def _usage(self, tokens: dict[str, Any] | None, response_id: str | None = None) -> list[Draft]:
        """The usage of the last response that has none yet, else of a call that left no other trace."""
        if tokens is None:
            return []
        about = {"message_id": self._response or self._unbilled or self._record_id, "model": self._model}
        if response_id is not None:
            about["request_id"] = response_id
        self._response = self._unbilled = None
        return [Draft("usage", "kernel", {**tokens, **about})]

    # -- what was said ---------------------------------------------------------------------------------------------

    def _said_by_user(self, log: Log, texts: Iterable[str], images: int) -> list[Draft]:
        """A prompt, or notes of the harness."""
        drafts: list[Draft] = []
        words: list[str] = []
        for text in texts:
            typed = typed_by_person(text)
            if typed.note is not None and not self._pairing.is_told(self._place, log, typed.note, text):
                if typed.note == "environment_context":
                    self._move_to(directory(text))
                drafts.append(Draft("system_note", "kernel", {"type": typed.note, "text": text}))
            words.append(typed.words)
        prompt = "\n\n".join(word for word in words if word)
        if (prompt or images) and not self._pairing.is_told(self._place, log, "user", prompt):
            self._response = None
            payload = {"text": prompt, "images": images} if images else {"text": prompt}
            drafts.append(Draft("user_message", "user", payload))
        return drafts

    def _said_by_agent(self, log: Log, role: str, texts: Iterable[str]) -> list[Draft]:
        """Words (`assistant`) or thoughts (`thinking`) of a response."""
        name = "text" if role == "assistant" else role
        return [
            Draft("agent_message", "agent", {name: text, **self._about()})
            for text in texts
            if text and not self._pairing.is_told(self._place, log, role, text)
        ]

    # -- the log of the model --------------------------------------------------------------------------------------

    def _item(self, item: Fields, number: int) -> list[Draft]:
        kind = item.text("type")
        if kind == "message":
            return self._message(item)
        if kind == "reasoning":
            return self._said_by_agent("item", "thinking", items.thoughts(item))
        if kind in items.CALLS:
            drafts = [Draft("tool_call", "agent", {**items.call(item, kind), **self._about()})]
            drawn = items.drawn(item) if kind == "image_generation_call" else None
            return [*drafts, Draft("tool_result", "tool", drawn)] if drawn else drafts
        if kind in items.OUTPUTS:
            self._response = None
            return [Draft("tool_result", "tool", items.output(item))]
        if kind in items.NOTES:
            return [_note(kind, item, "encrypted_content")]
        return [self._unknown(f"item {kind}", item, number)]

    def _message(self, item: Fields) -> list[Draft]:
        role = item.text("role")
        if role == "user":
            return self._said_by_user("item", *items.content(item))
        texts, _ = items.content(item, named=True)
        if role == "assistant":
            return self._said_by_agent("item", "assistant", ["\n".join(texts)])
        return [Draft("system_note", "kernel", {"type": role or "message", "text": "\n\n".join(texts)})]

    # -- the log of the person -------------------------------------------------------------------------------------

    def _event(self, event: Fields, number: int) -> list[Draft]:
        kind = event.text("type") or ""
        if kind == "user_message":
            images = len(event.items("images")) + len(event.items("local_images"))
            return self._said_by_user("event", [event.text("message") or ""], images)
        if kind in _EVENTS_OF_AGENT:
            role, name = _EVENTS_OF_AGENT[kind]
            return self._said_by_agent("event", role, [event.text(name) or ""])
        if kind == "token_count":
            return self._usage(self._totals.counted(event.inner("info")))
        if kind in wire.TURN_MARKS:
            self._pairing.next_turn()
            self._response = None
        if kind == "thread_settings_applied":
            self._model = event.inner("thread_settings").text("model") or self._model
        return [self._noted(kind, event, number)]

    def _noted(self, kind: str, event: Fields, number: int) -> Draft:
        if kind == "turn_aborted" and event.text("reason") == "interrupted":
            return Draft("system_note", "user", {**event.value, "type": "turn_interrupted"})
        if kind in wire.ITEM_EVENTS:
            shown = {**event.value, "item": event.inner("item").without(*wire.LONG)}
            return Draft("ui_transcript", "kernel", shown)
        if kind in wire.EVENT_NOTES:
            return _note(kind, event)
        if wire.SHOWN.match(kind):
            return Draft("ui_transcript", "kernel", event.without(*wire.LONG))
        return self._unknown(f"event {kind}", event, number)

    def finish(self, path: str, lines: ObjectLines) -> ParsedSource:
        """Close the pass: which session the file is about, and for a sub-agent's that all of it is its doing."""
        thread = self._thread
        session_id = thread.session_id if thread is not None else id_in_name(path) if self._records else None
        sessions = [] if session_id is None else [session_id]
        issues: list[Issue] = sorted([*lines.issues, *self._unknown_types.issues()], key=lambda issue: issue.line)
        if thread is None or thread.agent_id is None:
            return ParsedSource(session_id, sessions, "main", lines.lines, self._records, issues)
        for draft in (draft for record in self._records for draft in record.drafts):
            draft.agent_id, draft.is_sidechain = thread.agent_id, True
            draft.actor = "agent" if draft.kind == "user_message" else draft.actor
        return ParsedSource(session_id, sessions, "subagent", lines.lines, self._records, issues)


def _note(kind: str, found: Fields, *leaving_out: str) -> Draft:
    return Draft("system_note", "kernel", {**found.without("type", *leaving_out), "type": kind})
