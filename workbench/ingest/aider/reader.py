"""Reads a history: blocks to chats, chats to records."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

from workbench.ingest.aider.blocks import START, Block, blocks
from workbench.ingest.aider.usage import add_cost, usage_payload
from workbench.ingest.markdown import text_lines
from workbench.ingest.record_ids import RecordIds
from workbench.ingest.records import Draft, Environment, Issue, ParsedSource, Record
from workbench.ingest.times import from_iso

NAME: Final = "aider"

FILE_NAME: Final = "aider.chat.history.md"

_VERSION: Final = re.compile(r"Aider v(\S+)")
_MODEL: Final = re.compile(r"(?:Main model|Models?): ([^\s,]+)")
_EDIT: Final = re.compile(r"Applied edit to (.+)")
_INTERRUPT: Final = "^C"
_TO_THE_MODEL: Final = ("/ask ", "/code ", "/architect ", "/context ", "/help ")
"""Commands whose words a model answers; all others are done by Aider."""


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is a history: its first line starts a chat, or, in a file of the usual name, some line does.

    Args:
        head: The first bytes of the file.
        name: The file's name.
    """
    if not name.endswith(".md"):
        return False
    lines = text_lines(head)
    if not name.endswith(FILE_NAME):
        lines = [line for line in lines if line.strip()][:1]
    return any(START.fullmatch(line) for line in lines)


def read(data: bytes, path: str) -> ParsedSource:
    """Read a whole history; each chat is a session.

    Args:
        data: Its bytes, redacted.
        path: Where it was found; it does not matter.

    Returns:
        Its records and what is wrong with it; never raises for what is in the file.
    """
    del path
    lines = text_lines(data)
    found = list(blocks(lines))
    first = next((block for block in found if block.kind == "start"), None)
    reader = _Reader(None if first is None else session_id(first.text, 1))
    for block in found:
        reader.block(block)
    return reader.finish(len(lines))


class _Chat:
    """A chat while it is read.

    Attributes:
        name: Its session.
        has_begun: Whether its start or a prompt was seen; text before that is the end of an answer that was cut off.
        model: The model that answers.
        is_waiting: Whether the model is at work on the last prompt.
        answer: Message id of the last answer to it.
        unbilled: The same until its usage is told.
        stopped: An interrupt of which it is not clear yet whether it stopped the model.
        usage: The last usage that was told.
    """

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.has_begun = False
        self.model: str | None = None
        self.is_waiting = False
        self.answer: str | None = None
        self.unbilled: str | None = None
        self.stopped: Draft | None = None
        self.usage: dict[str, Any] | None = None
        self.ids = RecordIds()

    def record(self, block: Block, *drafts: Draft) -> Record:
        """Make the record of a block, of which no time is told; its id is its own over all sessions."""
        record_id = self.ids.of(f"{self.name}\0{block.kind}\0{block.text}".encode())
        return Record(record_id, self.name, None, "missing", block.line, None, list(drafts))


class _Reader:
    """State of one pass over one file.

    Args:
        first: The session of its first chat. What stands before that chat's start is the end of one whose start was
            cut off, and stays with it.
    """

    def __init__(self, first: str | None) -> None:
        self._records: list[Record] = []
        self._sessions: list[str] = []
        self._times: Counter[str] = Counter()
        self._stray: list[int] = []
        self._messages: list[Block] = []
        self._before = 0
        self._chat = _Chat(first)

    def block(self, block: Block) -> None:
        """Take in the next block."""
        if block.kind == "tool":
            self._tool(block)
            return
        self._flush()
        record = getattr(self, f"_{block.kind}")(block)
        self._records.append(record)

    def _start(self, block: Block) -> Record:
        if not self._sessions and self._records:
            self._before = block.line - 1
        ids = self._chat.ids
        self._times[block.text] += 1
        self._chat = chat = _Chat(session_id(block.text, self._times[block.text]))
        if not self._sessions:
            chat.ids = ids
        self._sessions.append(str(chat.name))
        chat.has_begun = True
        record = chat.record(block, Draft("system_note", "kernel", {"type": "chat_started"}))
        record.occurred_at, record.time_source = from_iso(block.text)
        record.environment = Environment(NAME, None, None, None)
        return record

    def _prompt(self, block: Block) -> Record:
        chat = self._chat
        chat.has_begun = True
        chat.is_waiting = block.text.startswith(_TO_THE_MODEL) or not block.text.startswith(("/", "!"))
        chat.answer = chat.unbilled = chat.stopped = chat.usage = None
        return chat.record(block, Draft("user_message", "user", {"text": block.text}))

    def _text(self, block: Block) -> Record:
        chat = self._chat
        record = chat.record(block)
        if not chat.has_begun:
            self._stray.append(block.line)
            record.drafts.append(Draft("unknown", "kernel", {"record": {"type": "text", "text": block.text}}))
            return record
        if chat.stopped is not None:
            _interrupts(chat.stopped)
        chat.answer = chat.unbilled = record.record_id
        chat.is_waiting, chat.stopped = False, None
        payload = {"text": block.text, "message_id": record.record_id, "model": chat.model}
        record.drafts.append(Draft("agent_message", "agent", payload))
        return record

    def _tool(self, block: Block) -> None:
        """Messages one after the other are one record, unless they tell something: a traceback has a hundred."""
        chat, text = self._chat, block.text
        if model := _MODEL.match(text):
            chat.model = model[1]
        usage = usage_payload(text)
        edit = _EDIT.fullmatch(text)
        if usage is None and edit is None and not text.startswith(_INTERRUPT):
            if chat.usage is not None:
                add_cost(chat.usage, text)
            if _VERSION.match(text):
                self._flush()
            self._messages.append(block)
            return
        self._flush()
        if usage is not None:
            record = self._usage(block, usage)
        elif edit is not None:
            record = self._edit(block, edit[1])
        else:
            record = self._interrupt(block)
        self._records.append(record)

    def _flush(self) -> None:
        if not self._messages:
            return
        first = self._messages[0]
        block = first._replace(text="\n".join(each.text for each in self._messages))
        self._messages = []
        draft = Draft("ui_transcript", "kernel", {"type": "tool_output", "text": block.text})
        record = self._chat.record(block, draft)
        if version := _VERSION.match(first.text):
            record.environment = Environment(NAME, None, None, version[1])
        self._records.append(record)

    def _usage(self, block: Block, payload: dict[str, Any]) -> Record:
        chat = self._chat
        chat.usage = {"message_id": chat.unbilled, "model": chat.model, **payload}
        chat.is_waiting, chat.unbilled, chat.stopped = False, None, None
        return chat.record(block, Draft("usage", "kernel", chat.usage))

    def _edit(self, block: Block, file: str) -> Record:
        """A file that Aider wrote for the model.

        The model has no tools; it writes edits into its answer, and this message says that one was applied. It is kept
        as a call with the message as its result, since what reads tool calls asks which files were written and when.
        """
        chat = self._chat
        record = chat.record(block)
        named = {"tool": "edit", "tool_call_id": record.record_id}
        about = {"message_id": chat.answer, "model": chat.model}
        record.drafts += [
            Draft("tool_call", "agent", {**named, "args": {"path": file}, **about}),
            Draft("tool_result", "tool", {**named, "result": block.text, "is_error": False}),
        ]
        return record

    def _interrupt(self, block: Block) -> Record:
        """The same keys stop the model and leave the chat: it was at work, or part of an answer follows."""
        chat = self._chat
        draft = Draft("ui_transcript", "user", {"type": "tool_output", "text": block.text})
        if chat.is_waiting:
            _interrupts(draft)
            chat.is_waiting = False
        elif chat.stopped is None:
            chat.stopped = draft
        return chat.record(block, draft)

    def finish(self, lines: int) -> ParsedSource:
        """Close the pass: what was odd is told, one issue a kind."""
        self._flush()
        issues = []
        if self._before:
            detail = f"{self._before:,} lines of a chat whose start is missing are kept with the first chat"
            issues.append(Issue(1, "no_chat_start", detail))
        if self._stray:
            detail = "text before the first chat and prompt is nobody's answer; it is kept as it is"
            issues.append(Issue(self._stray[0], "unknown_record", detail, len(self._stray)))
        owner = self._sessions[0] if self._sessions else None
        return ParsedSource(owner, sorted(self._sessions), "main", lines, self._records, issues)


def _interrupts(draft: Draft) -> None:
    draft.kind, draft.payload["type"] = "system_note", "turn_interrupted"


def session_id(started: str, times: int) -> str:
    """The id of a chat: its start, counted where several chats of a file started in one second.

    The file only grows at its end, so a chat keeps its id; a copy of the file tells of the same chats. The history
    names neither project nor chat, so chats of two projects that started in the same second are told as one.

    Args:
        started: The time in the start line.
        times: How many chats with this start there were so far, itself included.
    """
    digits = re.sub(r"\D", "", started)
    return f"{NAME}-{digits[:8]}-{digits[8:]}" + (f"-{times}" if times > 1 else "")
