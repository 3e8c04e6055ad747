"""Plan and todo tools of other agents, as actions on the state graph where they say the same thing.

A list that replaces the one before (TodoWrite, update_plan, write_todos) is compared with it: new entries become tasks,
changed ones are updated, missing ones are taken back. Single steps (TaskCreate, TaskUpdate) act on their task. A task
that is done sinks to soft, as our own `complete_task` lets it; the one in progress has the focus.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from workbench.text.ids import derived_id

_STATUS: Final = {
    "pending": "todo", "todo": "todo", "not_started": "todo",
    "in_progress": "doing", "inprogress": "doing", "doing": "doing",
    "completed": "done", "complete": "done", "done": "done", "cancelled": "gone", "deleted": "gone",
}  # fmt: skip
_LISTS: Final = {"todowrite": "todos", "write_todos": "todos", "todo_write": "todos", "update_plan": "plan"}
_SINGLE: Final = ("taskcreate", "taskupdate", "tasklist", "taskget")
_TITLES: Final = ("content", "step", "subject", "title", "task", "description")
_NUMBER: Final = re.compile(r"#([0-9]+)")

Action = dict[str, Any]


class ForeignPlans:
    """The tasks of one recorded session, followed through its plan and todo calls.

    Args:
        session_id: Goes into the ids of the tasks, so that two replays give the same.
    """

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._listed: dict[str, tuple[str, str]] = {}
        self._numbered: dict[str, str] = {}
        self._made = 0

    def actions(self, tool: str, args: Mapping[str, Any], result: str | None) -> list[Action]:
        """What a call does to the state; nothing for tools that keep no tasks.

        Args:
            tool: As the agent writes it.
            args: Its arguments.
            result: What came back; a created task's number stands in it.
        """
        name = tool.lower()
        if name in _LISTS:
            entries = args.get(_LISTS[name])
            return self._replaced(entries if isinstance(entries, list) else [])
        if name == "taskcreate":
            return self._created(args, result)
        return self._updated(args) if name == "taskupdate" else []

    def _replaced(self, entries: Iterable[Any]) -> list[Action]:
        told = dict(filter(None, (_entry(entry) for entry in entries)))
        actions: list[Action] = []
        for title, status in told.items():
            known = self._listed.get(title)
            if known is None:
                key = self._new_id(title)
                actions.append(_create(key, title, None, status))
                actions += _moved(key, status)
            else:
                key = known[0]
                actions += _changed(key, status) if status != known[1] else []
            self._listed[title] = (key, status)
        for title in [title for title in self._listed if title not in told]:
            actions.append({"action": "retract", "id": self._listed.pop(title)[0]})
        return actions

    def _created(self, args: Mapping[str, Any], result: str | None) -> list[Action]:
        title = _title(args)
        if not title:
            return []
        key = self._new_id(title)
        number = _NUMBER.search(result or "")
        self._numbered[number[1] if number else str(len(self._numbered) + 1)] = key
        description = args.get("description")
        return [_create(key, title, description if isinstance(description, str) else None, "todo")]

    def _updated(self, args: Mapping[str, Any]) -> list[Action]:
        key = self._numbered.get(str(args.get("taskId", args.get("task_id"))))
        status = _STATUS.get(str(args.get("status", "")).lower())
        return _changed(key, status) if key and status else []

    def _new_id(self, title: str) -> str:
        self._made += 1
        return derived_id(None, self._session_id, str(self._made), title)


def keeps_tasks(tool: str) -> bool:
    """Whether a tool of another agent keeps tasks: a list of them, or one after the other."""
    return tool.lower() in _LISTS or tool.lower() in _SINGLE


def announced_plan(tool: str, args: Mapping[str, Any]) -> str | None:
    """The plan that a call hands to the person, if it does (Claude Code's ExitPlanMode)."""
    plan = args.get("plan") if tool.lower() in {"exitplanmode", "exit_plan_mode"} else None
    return plan if isinstance(plan, str) and plan.strip() else None


def _entry(entry: Any) -> tuple[str, str] | None:
    if not isinstance(entry, Mapping):
        return None
    title, status = _title(entry), _STATUS.get(str(entry.get("status", "pending")).lower(), "todo")
    return (title, status) if title and status != "gone" else None


def _title(args: Mapping[str, Any]) -> str:
    return next((args[name].strip() for name in _TITLES if isinstance(args.get(name), str) and args[name].strip()), "")


def _create(key: str, title: str, description: str | None, status: str) -> Action:
    payload = {"title": title, "status": status} | ({"description": description} if description else {})
    return {"action": "create", "id": key, "kind": "task", "statePayload": payload}


def _changed(key: str, status: str) -> list[Action]:
    if status == "gone":
        return [{"action": "retract", "id": key}]
    return [{"action": "update", "id": key, "statePayload": {"status": status}}, *_moved(key, status)]


def _moved(key: str, status: str) -> list[Action]:
    if status == "done":
        return [{"action": "setTier", "id": key, "tier": "soft"}]
    return [{"action": "setFocus", "id": key}] if status == "doing" else []
