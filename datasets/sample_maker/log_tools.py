"""The tools of a session that runs here: a shell, files, a search, and the state graph.

Names, arguments and results follow PRAANA's tool table. A tool that works on files has `use`; a `StateCall` changes the
state graph, and the recorder writes its changes as `context_action` events.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from sample_maker.workshop import Workshop


class LogTool(Protocol):
    """Something the model may call: a name, arguments, and a result with `ok`."""

    @property
    def tool(self) -> str:
        """Its name."""
        ...

    def arguments(self) -> dict[str, Any]:
        """The arguments of the call."""
        ...

    def use(self, shop: Workshop, at: datetime) -> dict[str, Any]:
        """Do it."""
        ...


@dataclass(frozen=True)
class Shell:
    """Run a command."""

    command: str
    tool: str = "shell"

    def arguments(self) -> dict[str, Any]:
        """The command."""
        return {"command": self.command}

    def use(self, shop: Workshop, at: datetime) -> dict[str, Any]:
        """Run it; any status but 0 is not ok."""
        output = shop.run(self.command, at)
        streams = {"stdout": output.stdout, "stderr": output.stderr}
        return {"ok": output.exit_code == 0, **streams, "exitCode": output.exit_code}


@dataclass(frozen=True)
class ReadFile:
    """Read a file."""

    path: str
    tool: str = "read_file"

    def arguments(self) -> dict[str, Any]:
        """The file."""
        return {"path": self.path}

    def use(self, shop: Workshop, at: datetime) -> dict[str, Any]:
        """Read it, if it is there."""
        del at
        if not shop.real(self.path).is_file():
            return {"ok": False, "error": f"File not found: {self.path}"}
        return {"ok": True, "content": shop.read(self.path)}


@dataclass(frozen=True)
class WriteFile:
    """Write a file."""

    path: str
    content: str
    tool: str = "write_file"

    def arguments(self) -> dict[str, Any]:
        """The file and its text."""
        return {"path": self.path, "content": self.content}

    def use(self, shop: Workshop, at: datetime) -> dict[str, Any]:
        """Write it."""
        del at
        shop.write(self.path, self.content)
        return {"ok": True, "path": self.path}


@dataclass(frozen=True)
class EditFile:
    """Replace one passage of a file."""

    path: str
    old: str
    new: str
    tool: str = "edit_file"

    def arguments(self) -> dict[str, Any]:
        """The passage and what to put there."""
        return {"path": self.path, "oldText": self.old, "newText": self.new}

    def use(self, shop: Workshop, at: datetime) -> dict[str, Any]:
        """Replace it, if it is there exactly once."""
        del at
        text = shop.read(self.path)
        if text.count(self.old) != 1:
            return {"ok": False, "error": f"oldText occurs {text.count(self.old)} times in {self.path}, expected once"}
        shop.write(self.path, text.replace(self.old, self.new))
        return {"ok": True, "path": self.path}


@dataclass(frozen=True)
class SearchCode:
    """Search the project's files; `git grep` does the work."""

    pattern: str
    path: str = "."
    tool: str = "search_code"

    def arguments(self) -> dict[str, Any]:
        """The pattern and where to look."""
        return {"pattern": self.pattern, "path": self.path}

    def use(self, shop: Workshop, at: datetime) -> dict[str, Any]:
        """Search, untracked files included."""
        command = f"git -c core.quotepath=false grep --untracked -n --column -I -E -e {shlex.quote(self.pattern)}"
        found = shop.run(f"{command} -- {shlex.quote(self.path)}", at).stdout
        matches = [_match(line) for line in found.split("\n") if line]
        files = len({match["file"] for match in matches})
        stats = {"totalMatches": len(matches), "filesWithMatches": files, "truncated": False, "dropped": 0}
        return {"ok": True, **self.arguments(), "matches": matches, "stats": stats}


def _match(line: str) -> dict[str, Any]:
    file, number, column, text = line.split(":", 3)
    return {"file": file, "line": int(number), "column": int(column), "text": text}


@dataclass(frozen=True)
class StateCall:
    """A call that changes the state graph.

    Attributes:
        tool: Name of the tool.
        label: What the scenario calls the object; the recorder knows its id.
        given: The arguments, without the id.
        changes: The `context_action` payloads it causes, without the id.
    """

    tool: str
    label: str
    given: dict[str, Any] = field(default_factory=dict)
    changes: tuple[dict[str, Any], ...] = ()


def _create(tool: str, label: str, kind: str, given: dict[str, Any], state: dict[str, Any]) -> StateCall:
    return StateCall(tool, label, given, ({"action": "create", "kind": kind, "tier": "active", "statePayload": state},))


def create_task(label: str, title: str, description: str) -> StateCall:
    """A new task."""
    given = {"title": title, "description": description}
    return _create("create_task", label, "task", given, {**given, "status": "todo"})


def decide(label: str, summary: str, rationale: str) -> StateCall:
    """A decision with its reason."""
    given = {"summary": summary, "rationale": rationale}
    return _create("decide", label, "decision", given, given)


def add_constraint(label: str, text: str) -> StateCall:
    """Something that must hold."""
    return _create("add_constraint", label, "constraint", {"text": text}, {"text": text})


def add_note(label: str, text: str) -> StateCall:
    """Something worth keeping."""
    return _create("add_note", label, "note", {"text": text}, {"text": text})


def focus_task(label: str) -> StateCall:
    """This task is being worked on."""
    doing = {"action": "update", "statePayload": {"status": "doing"}}
    return StateCall("focus_task", label, {}, ({"action": "setFocus"}, doing))


def complete_task(label: str) -> StateCall:
    """The task is done and leaves the foreground."""
    done = {"action": "update", "statePayload": {"status": "done"}}
    return StateCall("complete_task", label, {}, (done, {"action": "setTier", "tier": "soft"}))


def soft_unload(label: str) -> StateCall:
    """Out of the foreground; its title stays in sight."""
    return StateCall("soft_unload", label, {}, ({"action": "setTier", "tier": "soft"},))


def hard_unload(label: str) -> StateCall:
    """Out of sight; only its id stays."""
    return StateCall("hard_unload", label, {}, ({"action": "setTier", "tier": "hard"},))


def hydrate(label: str) -> StateCall:
    """Back into the foreground."""
    return StateCall("hydrate", label, {}, ({"action": "setTier", "tier": "active"},))


def retract_task(label: str) -> StateCall:
    """It was a mistake."""
    return StateCall("retract_task", label, {}, ({"action": "retract"},))
