"""The JSON of a trajectory: its runs, and the line at which each of their items begins."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

from workbench.ingest import jsonlines, objects

_LISTS: Final = ("history", "trajectory")
_KNOWN: Final = frozenset((*_LISTS, "info", "replay_config", "environment", "attempts"))

_as_object: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_as_list: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode

Json = dict[str, Any]


class Item(NamedTuple):
    """An entry of the history or a step: where it begins, from 1, and what it says."""

    line: int
    value: Any


class Run(NamedTuple):
    """One attempt at a task, as `history`, `trajectory` and what is told of it as a whole."""

    history: list[Item]
    steps: list[Item]
    info: Json
    config: Any
    environment: Any
    unknown: Json


class Document(NamedTuple):
    """A whole file: its runs, and of one with several attempts what is told of all of them."""

    runs: list[Run]
    retry: Json


def parse(data: bytes) -> Document:
    """Read a file.

    Args:
        data: Its bytes.

    Raises:
        ValueError: It is not JSON.
        TypeError: It is JSON, but no trajectory.
    """
    body = data.removeprefix(jsonlines.BOM).strip(b"\x00")
    whole = objects.decode(body)
    if not isinstance(whole, dict):
        raise TypeError(f"a JSON {type(whole).__name__} where an object was expected")
    if isinstance(whole.get("attempts"), list):
        attempts = [each for each in _items(body, "attempts", whole) if isinstance(each.value, dict)]
        runs = [_run(item.value, {name: _plain(item, name) for name in _LISTS}) for item in attempts]
        return Document(runs, _object(whole.get("info")))
    if not any(isinstance(whole.get(name), list) for name in _LISTS):
        raise TypeError("neither a history nor a trajectory in it")
    return Document([_run(whole, {name: _items(body, name, whole) for name in _LISTS})], {})


def _run(whole: Json, lists: dict[str, list[Item]]) -> Run:
    unknown = {name: value for name, value in whole.items() if name not in _KNOWN}
    info, config = _object(whole.get("info")), whole.get("replay_config")
    return Run(lists["history"], lists["trajectory"], info, decoded(config), whole.get("environment"), unknown)


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _plain(item: Item, name: str) -> list[Item]:
    """The items of a list inside an attempt; they are told at the attempt's line."""
    values = item.value.get(name)
    return [Item(item.line, value) for value in values] if isinstance(values, list) else []


def _items(body: bytes, name: str, whole: Json) -> list[Item]:
    """The items of a list of the file, each with its line: an item is found again by its own bytes."""
    values = whole.get(name)
    if not isinstance(values, list):
        return []
    try:
        array = bytes(_as_object(body)[name])
        raws = [bytes(raw) for raw in _as_list(array)]
    except msgspec.DecodeError:  # only the tolerant decoder reads it, which does not tell where it was
        return [Item(1, value) for value in values]
    place = body.find(array)
    line = body.count(b"\n", 0, place) + 1
    items = []
    for raw, value in zip(raws, values, strict=True):
        found = body.find(raw, place)
        line += body.count(b"\n", place, found)
        items.append(Item(line, value))
        place = found
    return items


def decoded(value: Any) -> Any:
    """What some versions write as JSON in a string; another text stays as it is."""
    if isinstance(value, str):
        try:
            return objects.decode(value.encode())
        except ValueError:
            return value
    return value


def text_of(content: Any) -> str:
    """The words of a content: a text, or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [block.get("text") if isinstance(block, dict) else block for block in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return objects.as_text(content)


def is_demonstration(entry: Any) -> bool:
    """Whether an entry of the history shows the model how it is done, and is nothing that happened."""
    return isinstance(entry, dict) and bool(entry.get("is_demo") or entry.get("message_type") == "demonstration")


def is_answer(entry: Any) -> bool:
    """Whether an entry of the history is a response of the model in this run."""
    return isinstance(entry, dict) and entry.get("role") == "assistant" and not is_demonstration(entry)


def run_name(run: Run) -> str | None:
    """The id of a run: the instance, where the file names it, and a hash of what the run began with.

    The first step has a time that was measured, so no two runs begin alike, and it stays as the file grows. Older
    files lack it and are hashed as a whole. Name and folder of the file do not matter: a copy is the same run.

    Args:
        run: The run.

    Returns:
        The id; None for a run in which nothing happened.
    """
    steps = [step.value for step in run.steps if isinstance(step.value, dict)]
    history = [entry.value for entry in run.history]
    if not steps and not history:
        return None
    if steps and steps[0].get("execution_time") is not None:
        first = {name: steps[0].get(name) for name in ("response", "action", "observation", "execution_time")}
        answers = (number for number, entry in enumerate(history, 1) if is_answer(entry))
        began: list[Any] = [first, history[: next(answers, None)]]
    else:
        began = [[{**step, "messages": None, "query": None} for step in steps], history]
    digest = blake2b(msgspec.json.encode(began, order="deterministic"), digest_size=8).hexdigest()
    return f"{instance(run) or 'swe-agent'}-{digest}"


def instance(run: Run) -> str | None:
    """The task of a run, such as `marshmallow-code__marshmallow-1867`, where the file names it."""
    config = _object(run.config)
    agent, problem = _object(config.get("agent")), _object(config.get("problem_statement"))
    for told in (run.info.get("instance_id"), problem.get("id"), agent.get("name")):
        if isinstance(told, str) and told not in ("", "main", "primary"):
            return re.sub(r"[^\w.-]+", "_", told)[:100]
    return None


def model_of(run: Run) -> str | None:
    """The model of a run, where the file names it."""
    agent = _object(_object(run.config).get("agent"))
    for told in (_object(agent.get("model")).get("name"), run.info.get("model_name"), run.info.get("model")):
        if isinstance(told, str) and told:
            return told
    return None


def version_of(run: Run) -> str | None:
    """The version of SWE-agent, where the file names it."""
    told = run.info.get("swe_agent_version")
    return told if isinstance(told, str) and told else None
