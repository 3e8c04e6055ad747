"""Patterns of work: which tools and outputs sessions of a kind used, so that the next one of that kind may be told.

A session has one pattern: task type, tools that succeeded, kinds of large output. Sessions with the same one are
counted together (`store/sql/workflow_patterns.sql`: the fold, and the expiry). The most frequent ones of a task type
are told in the prompt.

Source: PRAANA, "Workflow Pattern Tracking"; src/context-engine/workflow-tracker.ts; specification B, 8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from workbench.text.ids import content_hash

if TYPE_CHECKING:
    from workbench.config.study import Workflow

UNTRACKED: Final = "general"
"""The task type of which no pattern is kept. Source: PRAANA src/context-engine/workflow-tracker.ts."""
VERSION: Final = 1
"""Raised when the same session would have another pattern."""
_SEED: Final = 5381


class Pattern(msgspec.Struct, frozen=True):
    """One way of working and how many sessions went so; columns of `workflow_patterns`."""

    task_type: str
    tool_sequence: tuple[str, ...]
    artifact_types: tuple[str, ...] = ()
    hit_count: int = 1


def tool_sequence(calls: Iterable[tuple[str, bool]], most: int) -> list[str]:
    """Tools that succeeded, by first use, each once.

    Args:
        calls: Name and whether it failed, in order, over the whole session.
        most: How many are kept.
    """
    return list(dict.fromkeys(tool for tool, is_error in calls if not is_error))[:most]


def artifact_types(kinds: Iterable[str], most: int) -> list[str]:
    """Kinds of large output by count, ties by first use.

    Args:
        kinds: The kind of each artifact, in order.
        most: How many are kept.
    """
    return [kind for kind, _ in Counter(kinds).most_common(most)]


def pattern_id(task_type: str, tools: Sequence[str], kinds: Sequence[str] = ()) -> str | None:
    """Task type and hash of a pattern; None where there is nothing to keep: no tool, or a task of no kind.

    The hash is that of the source over `type:tool,tool`, and the kinds of output behind another colon where there are
    some: the seed's key has them, the source's has not.
    """
    if task_type == UNTRACKED or not tools:
        return None
    return pattern_key(task_type, tools, kinds)


def pattern_key(task_type: str, tools: Sequence[str], kinds: Sequence[str] = ()) -> str:
    """Task type and hash, whatever they are; see `pattern_id`."""
    text = ":".join([task_type, ",".join(tools), *([",".join(kinds)] if kinds else [])])
    value = _SEED
    units = text.encode("utf-16-le", "surrogatepass")
    for place in range(0, len(units), 2):
        value = (value * 33 & 0xFFFFFFFF) ^ (units[place] | units[place + 1] << 8)
    return f"{task_type}-{value:x}"


def rules_of(settings: Workflow, *more: object) -> str:
    """The name of what patterns are told by: settings and version.

    Args:
        settings: How long a pattern may be.
        more: What else they depend on.
    """
    told = (VERSION, settings.max_tools, settings.max_artifact_types, *more)
    return content_hash(msgspec.json.encode(told, order="sorted").decode())[:16]


def render_patterns(task_type: str, patterns: Sequence[Pattern], settings: Workflow) -> str:
    """How work of a kind went before, as it stands in the prompt.

    Args:
        task_type: The kind; the patterns are of it.
        patterns: The most frequent first.
        settings: How much is told.

    Returns:
        Empty where there is no pattern, or none with a tool.
    """
    shown = patterns[: settings.patterns_shown]
    tools = _heaviest(((each.tool_sequence, each.hit_count) for each in shown), settings.tools_shown)
    if not tools:
        return ""
    kinds = _heaviest(((each.artifact_types, each.hit_count) for each in shown), settings.artifact_types_shown)
    hits = sum(each.hit_count for each in shown)
    lines = [
        "## Workflow Context",
        "",
        f"Based on {hits} past {task_type} session{'' if hits == 1 else 's'}:",
        f"- Tools typically used: {', '.join(tools)}",
        *([f"- Artifact types typically relevant: {', '.join(kinds)}"] if kinds else []),
    ]
    return "\n".join(lines)


def _heaviest(weighted: Iterable[tuple[Sequence[str], int]], most: int) -> list[str]:
    weights: Counter[str] = Counter()
    for names, weight in weighted:
        for name in names:
            weights[name] += weight
    return [name for name, _ in weights.most_common(most)]
