"""The counters of a session that runs here, as a fold over what it did.

Nothing is stored between turns but the session's own events: a session that is resumed counts again from its first one,
so that no counter, no path and no skill's name can be lost or torn on the way.

Source: PRAANA src/context-engine/telemetry.ts, scorecard.ts; specification B, 9 and 13.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Final, Literal

import msgspec

What = Literal[
    "artifact_retrieved", "artifact_card", "file_read", "decision_contradicted", "turn_events_searched", "turn",
    "compiled", "recalled", "recall_used", "skill_loaded", "skill_used", "memory_at_start", "memory_at_end",
]  # fmt: skip

_TIGHTNESS: Final = {"normal": 0, "compact": 1, "emergency": 2}


class Averages(msgspec.Struct, frozen=True):
    """Mean validity and usefulness of the memory entries of the session's scope; 0 where there are none."""

    validity: float = 0.0
    usefulness: float = 0.0


class Signal(msgspec.Struct, frozen=True):
    """One thing that a session did.

    Attributes:
        what: Which.
        name: The absolute path of a read, the id of a skill, the pressure mode of a compile.
        amount: How many entries were marked used, tokens of a skill's file, scored units that a compile left out.
        averages: The memory, where it was looked at.
    """

    what: What
    name: str = ""
    amount: int = 1
    averages: Averages = Averages()


class Counters(msgspec.Struct, frozen=True, kw_only=True):
    """What the signals add up to; names are the columns of the seed's table."""

    artifact_retrieve_calls: int = 0
    artifact_cards_produced: int = 0
    repeat_file_reads: int = 0
    decision_contradictions: int = 0
    turn_event_searches: int = 0
    total_turns: int = 0
    pressure_events: int = 0
    compaction_triggers: int = 0
    recall_calls: int = 0
    recall_used_count: int = 0
    skills_loaded: int = 0
    skill_load_events: int = 0
    skills_used: int = 0
    skill_underload_events: int = 0
    skill_reload_count: int = 0
    skill_tokens_consumed: int = 0
    at_start: Averages = Averages()
    at_end: Averages = Averages()
    read_paths: tuple[str, ...] = ()
    skill_ids: tuple[str, ...] = ()

    @property
    def has_data(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.total_turns or self.artifact_retrieve_calls or self.recall_calls or self.skill_load_events)

    @property
    def read_path_digests(self) -> tuple[str, ...]:
        """SHA-256 of each path that was read, by first use: what leaves the session instead of the paths."""
        return tuple(hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest() for path in self.read_paths)


def count(signals: Iterable[Signal], *, tells_residency: bool = False) -> Counters:
    """Add up what a session did.

    Args:
        signals: In order, from the first one of the session, resumes included.
        tells_residency: Whether `skill_used` tells which skills were resident while a tool was called, as under the
            context engine. Without it a loaded skill counts as used, and the figures of the two cannot be compared.

    Returns:
        The counters. A start average is taken again only while both parts of the one before are 0.
    """
    told = list(signals)
    paths = [each.name for each in told if each.what == "file_read"]
    loads = [each for each in told if each.what == "skill_loaded"]
    skills = tuple(dict.fromkeys(each.name for each in loads))
    used = {each.name for each in told if each.what == "skill_used"} & {*skills} if tells_residency else {*skills}
    compiles = [each for each in told if each.what == "compiled"]
    return Counters(
        artifact_retrieve_calls=_sum(told, "artifact_retrieved"),
        artifact_cards_produced=_sum(told, "artifact_card"),
        repeat_file_reads=len(paths) - len({*paths}),
        decision_contradictions=_sum(told, "decision_contradicted"),
        turn_event_searches=_sum(told, "turn_events_searched"),
        total_turns=_sum(told, "turn"),
        pressure_events=_rises([each.name for each in compiles]),
        compaction_triggers=sum(each.amount > 0 for each in compiles),
        recall_calls=_sum(told, "recalled"),
        recall_used_count=_sum(told, "recall_used"),
        skills_loaded=len(skills),
        skill_load_events=len(loads),
        skills_used=len(used),
        skill_underload_events=len(skills) - len(used),
        skill_reload_count=len(loads) - len(skills),
        skill_tokens_consumed=sum(each.amount for each in loads),
        at_start=_first_known(each.averages for each in told if each.what == "memory_at_start"),
        at_end=next((each.averages for each in reversed(told) if each.what == "memory_at_end"), Averages()),
        read_paths=tuple(dict.fromkeys(paths)),
        skill_ids=skills,
    )


def signal_of_call(
    tool: str, args: Mapping[str, Any], *, is_error: bool, result_tokens: int = 0, is_card: bool = False
) -> list[Signal]:
    """What a tool call counts as.

    Args:
        tool: Our name of it.
        args: Its arguments; the path of a read is absolute.
        is_error: Whether it failed.
        result_tokens: Estimated tokens of what came back.
        is_card: Whether the result stands in the prompt as a card.
    """
    found = [Signal("artifact_card")] if is_card else []
    if tool == "read_file" and isinstance(args.get("path"), str) and not is_error:
        found.append(Signal("file_read", args["path"]))
    elif tool == "retrieve_artifact" and not is_error:
        found.append(Signal("artifact_retrieved"))
    elif tool == "search_turn_events":
        found.append(Signal("turn_events_searched"))
    elif tool == "recall":
        found.append(Signal("recalled"))
    elif tool == "load_skill" and isinstance(args.get("skill_id"), str) and not is_error:
        found.append(Signal("skill_loaded", args["skill_id"], result_tokens))
    return found


def counter_lines(counters: Counters, *, engine_on: bool) -> list[str]:
    """The lines of `/scorecard`.

    Args:
        counters: What was counted.
        engine_on: Whether the context engine made the prompts; else it only measured.
    """
    return [
        "Scorecard (this session):",
        f"  Engine     {'on' if engine_on else 'off (measurement)'}",
        _line(
            "Context",
            retrieve_artifact=counters.artifact_retrieve_calls,
            artifact_cards=counters.artifact_cards_produced,
            repeat_reads=counters.repeat_file_reads,
            searches=counters.turn_event_searches,
        ),
        _line(
            "Context",
            pressure=counters.pressure_events,
            compaction=counters.compaction_triggers,
            contradictions=counters.decision_contradictions,
        ),
        _line("Memory", recalls=counters.recall_calls, used=f"{counters.recall_used_count}{_share(counters)}"),
        *_change("validity", counters.at_start.validity, counters.at_end.validity),
        *_change("usefulness", counters.at_start.usefulness, counters.at_end.usefulness),
        *_skills(counters),
        f"  Turns      {counters.total_turns}",
    ]


def _line(title: str, **figures: int | str) -> str:
    return f"  {title:<10} " + "  ".join(f"{name}: {value}" for name, value in figures.items())


def _share(counters: Counters) -> str:
    """Used entries for a hundred recalls, a half rounded up."""
    if not counters.recall_calls:
        return ""
    return f" ({(200 * counters.recall_used_count + counters.recall_calls) // (2 * counters.recall_calls)}%)"


def _sum(signals: Iterable[Signal], what: What) -> int:
    return sum(each.amount for each in signals if each.what == what)


def _rises(modes: list[str]) -> int:
    """How often the pressure left normal or rose from compact to emergency."""
    return sum(after > before for before, after in pairwise([0, *(_TIGHTNESS[mode] for mode in modes)]))


def _first_known(averages: Iterable[Averages]) -> Averages:
    return next((each for each in averages if each != Averages()), Averages())


def _change(name: str, start: float, end: float) -> list[str]:
    if start <= 0:
        return []
    return [f"  Memory     {name}: {start:.2f} → {end:.2f} ({end - start:+.2f})"]


def _skills(counters: Counters) -> list[str]:
    if not counters.skill_load_events:
        return []
    return [
        _line(
            "Skills",
            unique=counters.skills_loaded,
            load_events=counters.skill_load_events,
            reloads=counters.skill_reload_count,
            underloads=counters.skill_underload_events,
            tokens=f"~{counters.skill_tokens_consumed}",
        )
    ]
