"""What the recorders counted while they wrote: the figures that an import has to meet."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OPENING: Final = """\
# Written by make_samples.py from what its recorders counted while they wrote, not by reading the files again.
#
# prompts               what a person typed on the main chain: no results, interrupts, meta records or summaries
# responses             distinct message ids of the main chain, the agent's own error messages included
# responses_all         the same, sub-agents included
# tool_calls_main       tool calls of the main chain
# tool_calls_all        the same, sub-agents included, each once
# errors                results marked as errors, sub-agents included; rejected calls among them
# images                pictures in prompts; those that tools read are not counted
# *_tokens              each response once, sub-agents included
# records               lines written for the session; copies of another session's lines are not counted again
# [lines]               all lines of each file, copies included
"""


@dataclass
class Truth:
    """The figures of one session."""

    session_id: str
    scenario: str
    format: str
    project: str
    prompts: int = 0
    responses: int = 0
    responses_all: int = 0
    tool_calls_main: int = 0
    tool_calls_all: int = 0
    errors: int = 0
    rejected: int = 0
    interrupts: int = 0
    compactions: int = 0
    subagents: int = 0
    images: int = 0
    context_actions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    records: int = 0
    models: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def count_response(self, model: str, tokens: Mapping[str, int], *, sidechain: bool) -> None:
        """One response of a model: `tokens` has input, output, cache_read, cache_write."""
        self.responses_all += 1
        self.responses += not sidechain
        self.input_tokens += tokens["input"]
        self.output_tokens += tokens["output"]
        self.cache_read_tokens += tokens["cache_read"]
        self.cache_write_tokens += tokens["cache_write"]
        if model not in self.models:
            self.models.append(model)

    def count_call(self, *, sidechain: bool, is_error: bool) -> None:
        """One tool call with its result."""
        self.tool_calls_all += 1
        self.tool_calls_main += not sidechain
        self.errors += is_error


def as_toml(truths: Sequence[Truth], lines: Mapping[str, int], versions: Mapping[str, str]) -> str:
    """All figures as one TOML document: tools, totals, lines of each file, sessions in the order given."""
    rows = [asdict(truth) for truth in truths]
    counted = [name for name, value in rows[0].items() if isinstance(value, int)]
    parts = [
        OPENING,
        _table("[made_with]", versions),
        _table("[totals]", {"sessions": len(rows)} | {name: sum(row[name] for row in rows) for name in counted}),
        _table("[lines]", {json.dumps(path): count for path, count in sorted(lines.items())}),
        *(_table("[[sessions]]", row) for row in rows),
    ]
    return "\n".join(parts)


def _table(heading: str, values: Mapping[str, Any]) -> str:
    return "\n".join([heading, *(f"{key} = {json.dumps(value)}" for key, value in values.items())]) + "\n"
