"""Reads a trajectory: entries of the history and steps to records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec

from workbench.ingest import jsonlines
from workbench.ingest.objects import UnknownTypes, bad_json
from workbench.ingest.record_ids import RecordIds
from workbench.ingest.records import Draft, Environment, Issue, ParsedSource, Record
from workbench.ingest.swe_agent.actions import calls
from workbench.ingest.swe_agent.document import (
    Document,
    Item,
    Json,
    Run,
    instance,
    is_answer,
    is_demonstration,
    model_of,
    parse,
    run_name,
    text_of,
    version_of,
)
from workbench.ingest.swe_agent.steps import Steps, state_of
from workbench.ingest.swe_agent.usage import usage_payload

NAME: Final = "swe-agent"

_FIRST_NAMES: Final = (b'"trajectory"', b'"history"', b'"environment"', b'"attempts"', b'"info"', b'"replay_config"')
_EXITS: Final = ("Exit due to ", "Exiting due to ")
"""How the harness begins the step with which it gives up; no model said it."""
_LONGEST_S: Final = 1e9
"""Thirty years; what took longer is no time."""
_EDITED: Final = "edited_files"
"""Excerpts of the files that the submission changes; the archive keeps them."""


def sniff(head: bytes, name: str) -> bool:
    """Whether a file is a trajectory: it has the ending, and an object begins with a name that this format has.

    Args:
        head: The first bytes of the file.
        name: The file's name.
    """
    if not name.endswith(".traj"):
        return False
    begin = head.removeprefix(jsonlines.BOM).lstrip()
    return begin.startswith(b"{") and begin[1:].lstrip().startswith(_FIRST_NAMES)


def read(data: bytes, path: str) -> ParsedSource:
    """Read a whole file; each attempt of a run that was retried is a session.

    Args:
        data: Its bytes, redacted.
        path: Where it was found; it does not matter.

    Returns:
        Its records and what is wrong with it; never raises for what is in the file.
    """
    del path
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    try:
        document = parse(data)
    except ValueError as error:
        return ParsedSource(None, [], "main", lines, [], [bad_json(getattr(error, "lineno", 0), data, error)])
    except TypeError as error:
        return ParsedSource(None, [], "main", lines, [], [Issue(0, "not_an_object", f"{error}; left out")])
    return _all_runs(document, lines)


def _all_runs(document: Document, lines: int) -> ParsedSource:
    records: list[Record] = []
    issues: list[Issue] = []
    sessions: list[str] = []
    for run in document.runs:
        name = run_name(run)
        if name is None:
            continue
        while name in sessions:
            name += "-again"
        sessions.append(name)
        reader = _Reader(run, name)
        reader.read()
        if document.retry and len(sessions) == 1:
            reader.outcome("retry", document.retry, document.retry.get("rloop_model_stats"))
        records += reader.records
        issues += reader.issues()
    if not sessions:
        issues.append(Issue(0, "empty_run", "nothing happened in it"))
    return ParsedSource(sessions[0] if sessions else None, sorted(sessions), "main", lines, records, issues)


class _Pending(NamedTuple):
    """A call without its result: the provider's id, and the one that it has here."""

    told: str | None
    own: str


class _Reader:
    """State of one pass over one run."""

    def __init__(self, run: Run, session_id: str) -> None:
        self.records: list[Record] = []
        self._run = run
        self._session_id = session_id
        self._ids = RecordIds()
        self._model = model_of(run)
        self._steps = Steps(run.steps, [entry.value for entry in run.history if is_answer(entry.value)])
        self._call_ids: Counter[str] = Counter()
        self._pending: list[_Pending] = []  # calls of the last response whose results are to come
        self._step: Json = {}  # the step of the last response
        self._open_file: str | None = None
        self._is_answered = False
        self._unknown = UnknownTypes()

    def read(self) -> None:
        """Read the run."""
        self._began()
        for item in self._run.history:
            if not isinstance(item.value, dict):
                self._keep(item.line, f"entry: {type(item.value).__name__}", item.value)
            elif is_answer(item.value):
                self._answer(item)
            else:
                self._entry(item)
        self._settle()
        for item in self._steps.rest():
            self._step_alone(item)
        for name, value in self._run.unknown.items():
            self._keep(1, f"field: {name}", {name: value})
        self.outcome("result", self._run.info, self._run.info.get("model_stats"))

    def issues(self) -> list[Issue]:
        """What was not understood, one issue a kind."""
        return self._unknown.issues()

    def _add(self, line: int, content: Any, drafts: list[Draft]) -> None:
        self.records.append(Record(self._name(content), self._session_id, None, "missing", line, None, drafts))

    def _name(self, content: Any) -> str:
        return self._ids.of(msgspec.json.encode([self._session_id, content], order="deterministic"))

    def _keep(self, line: int, kind: str, value: Any) -> None:
        self._unknown.add(kind, line)
        self._add(line, value, [Draft("unknown", "kernel", {"record": value})])

    def _began(self) -> None:
        """Where and with what the run began; a fixed id, since the file is written anew and the newest counts."""
        run = self._run
        first = next((step.value for step in run.steps if isinstance(step.value, dict)), {})
        told = {"type": "run", "instance": instance(run), "environment": run.environment, "replay_config": run.config}
        self._add(1, "run", [Draft("system_note", "kernel", told)])
        self.records[-1].environment = Environment(NAME, state_of(first).get("working_dir"), None, version_of(run))

    def outcome(self, name: str, info: Json, stats: Any) -> None:
        """How the run ended, and what it used as a whole; no step tells of its own tokens."""
        told = {key: value for key, value in info.items() if not key.startswith(_EDITED)}
        drafts = [Draft("system_note", "kernel", {**told, "type": name})] if told else []
        usage = usage_payload(stats)
        if usage is not None:
            drafts.append(Draft("usage", "kernel", {"message_id": None, "model": self._model, **usage}))
        if drafts:
            self._add(1, name, drafts)

    def _entry(self, item: Item) -> None:
        """An entry that is no response: the system's, a demonstration, the task, or what an action gave back."""
        entry, text = item.value, text_of(item.value.get("content"))
        role = entry.get("role")
        if is_demonstration(entry):
            self._note(item, "demonstration", text)
        elif role == "system":
            self._note(item, "system_prompt", text)
        elif role not in ("user", "tool"):
            self._keep(item.line, f"entry: role {role}", entry)
        elif self._pending:
            self._result(item, text)
        elif not self._is_answered and role == "user":
            self._add(item.line, entry, [Draft("user_message", "user", {"text": text})])
        else:
            self._note(item, "harness_message", text)

    def _note(self, item: Item, kind: str, text: str) -> None:
        self._add(item.line, item.value, [Draft("system_note", "kernel", {"type": kind, "text": text})])

    def _answer(self, item: Item) -> None:
        self._settle()
        entry = item.value
        passed_over, step = self._steps.next(entry)
        for missed in passed_over:
            self._step_alone(missed)
        self._step = step
        self._is_answered = True
        self._response(item, text_of(entry.get("content")), entry, step)

    def _step_alone(self, item: Item) -> None:
        """A step that is not in the history: an attempt that was asked for again, or the history is not there."""
        if not isinstance(item.value, dict):
            self._keep(item.line, f"step: {type(item.value).__name__}", item.value)
            return
        step = {key: value for key, value in item.value.items() if key not in ("messages", "query")}
        self._is_answered = True
        self._response(item._replace(value=step), text_of(step.get("response")), step, step)
        self._step = step if step.get("observation") or step.get("execution_time") else {}
        self._settle()

    def _settle(self) -> None:
        """What the history leaves out is told by the step: the result of the last action, or of a failed attempt."""
        observation = self._step.get("observation")
        if self._pending and isinstance(observation, str):
            self._add(
                self.records[-1].line,
                ["result", self.records[-1].record_id],
                self._results(self._pending, observation, None),
            )
        self._pending, self._step = [], {}

    def _response(self, item: Item, text: str, entry: Json, step: Json) -> None:
        """What the model said and called, all under one message id: the record's, since the format has none."""
        name = self._name(item.value)
        record = Record(name, self._session_id, None, "missing", item.line, None, [])
        self.records.append(record)
        self._pending = []
        made = calls(entry.get("tool_calls"), entry.get("action"), self._open_file)
        if not made and text.startswith(_EXITS):
            record.drafts.append(Draft("system_note", "kernel", {"type": "exit", "text": text}))
            return
        about = {"message_id": name, "model": self._model}
        thoughts = _thoughts(entry.get("thinking_blocks")) or _thoughts(step.get("reasoning_content"))
        drafts = [Draft("agent_message", "agent", {"thinking": thought, **about}) for thought in thoughts]
        if text or not made:
            drafts.append(Draft("agent_message", "agent", {"text": text, **about}))
        for number, (tool, arguments, call_id) in enumerate(made):
            own = self._call_id(call_id or f"{name}.{number}")
            self._pending.append(_Pending(call_id, own))
            payload = {"tool": tool, "args": arguments, "tool_call_id": own, **about}
            drafts.append(Draft("tool_call", "agent", payload))
        record.drafts += drafts
        self._open_file = state_of(step).get("open_file") or self._open_file

    def _call_id(self, call_id: str) -> str:
        """The provider's id, counted where it recurs: replayed runs repeat theirs, and each is a call of its own."""
        self._call_ids[call_id] += 1
        times = self._call_ids[call_id]
        return call_id if times == 1 else f"{call_id}#{times}"

    def _result(self, item: Item, text: str) -> None:
        """An entry that answers calls: those that it names, else all that wait."""
        named = item.value.get("tool_call_ids")
        named = named if isinstance(named, list) else []
        answered = [call for call in self._pending if call.told in named] or self._pending
        observation = self._step.get("observation")
        result = observation if isinstance(observation, str) and len(self._pending) == 1 else text
        self._add(item.line, item.value, self._results(answered, result, text))
        self._pending = [call for call in self._pending if call not in answered]

    def _results(self, answered: Sequence[_Pending], result: str, shown: str | None) -> list[Draft]:
        """What came back, as it came; `shown` is what the model saw of it, where that was cut or replaced."""
        told: Json = {"result": result, "is_error": False}
        if shown and (not result or result.strip() not in shown):
            told["shown"] = shown
        taken = self._step.get("execution_time")
        if isinstance(taken, int | float) and not isinstance(taken, bool) and 0 <= taken < _LONGEST_S:
            told["duration_ms"] = round(taken * 1000)
        state = state_of(self._step)
        told.update({name: state[name] for name in ("working_dir", "open_file") if state.get(name)})
        return [Draft("tool_result", "tool", {"tool_call_id": call.own, **told}) for call in answered]


def _thoughts(told: Any) -> list[str]:
    """Thoughts apart from the response: a text, or blocks of the provider."""
    if isinstance(told, str):
        return [told] if told else []
    blocks = told if isinstance(told, list) else []
    return [block["thinking"] for block in blocks if isinstance(block, dict) and isinstance(block.get("thinking"), str)]
