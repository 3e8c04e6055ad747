"""Field cases of importing other agents' files; `landed.Landed` looks up what a case expects, but for the keys below.

All files of a case are imported at once, and one by one in both orders where there are several.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import workbench as wb
from cases.adapters.claude_code_import import check_orders
from cases.landed import PROSE, TOKENS, Landed, UnknownKeyError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from workbench.bench import Workbench

USAGE = {
    "model_calls": "model_calls",
    "fresh_input": "input_tokens",
    "cache_read": "cache_read_tokens",
    "output_with_thoughts": "output_tokens",
}
"""Names that cases give to the totals of `sessions`."""

Answers = dict[str, Any]


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Import the case's files and compare all that it expects."""
    bench = wb.open(home)
    bench.ingest(folder)
    landed = Landed.now(bench)
    expected = {key: value for key, value in case["expected"].items() if key not in PROSE}
    found = {key: answer(bench, landed, key, value) for key, value in expected.items()}
    wrong = {key: f"expected {value!r}, found {found[key]!r}" for key, value in expected.items() if found[key] != value}
    assert not wrong, "\n".join(f"{key}: {what}" for key, what in wrong.items())
    check_orders(folder, bench)


def answer(bench: Workbench, landed: Landed, key: str, expected: Any) -> Any:
    """What the home says to a key, in the form in which the case expects it.

    Raises:
        UnknownKeyError: No rule here or of `Landed` fits the key, or the form.
    """
    rule = RULES.get(key)
    return landed.answer(key, expected) if rule is None else rule(bench, expected)


def session_id(bench: Workbench, _: str) -> Any:
    """The one session there is."""
    found = column(bench, "select session_id from sessions")
    return found[0] if len(found) == 1 else found


def answers(bench: Workbench, expected: int) -> int:
    """Responses that say something; one of calls alone is no answer."""
    if type(expected) is not int:
        raise UnknownKeyError(f"answers {expected!r} is no number")
    return len(answer_texts(bench))


def answer_contains(bench: Workbench, expected: list[str]) -> list[str]:
    """Of the expected pieces those that one answer holds, all together."""
    most: list[str] = []
    for text in answer_texts(bench):
        found = [piece for piece in expected if piece in text]
        most = max(most, found, key=len)
    return most


def answer_texts(bench: Workbench) -> list[str]:
    """What the agent said on the main chain."""
    return column(bench, "select text from turns where role = 'assistant' and not is_sidechain and text != ''")


def tool_result(bench: Workbench, _: str) -> Any:
    """The result of the one call there is."""
    found = results(bench)
    return found[0] if len(found) == 1 else found


def second_result(bench: Workbench, _: str) -> Any:
    """The result of the second call; one that never came is None."""
    return results(bench)[1]


def results(bench: Workbench) -> list[str | None]:
    """What the calls gave back, in the order of the calls."""
    return column(bench, "select result from tool_calls order by session_id, seq")


def tool_results(bench: Workbench, _: Answers) -> Answers:
    """Results by call."""
    return dict(bench.sql("select tool_call_id, result from tool_calls").iter_rows())


def tool_lines(bench: Workbench, _: list[str]) -> list[str]:
    """What Aider printed, line by line: shown to the person, or a message that an edit was applied, or of tokens."""
    kinds = "kind in ('ui_transcript', 'tool_result', 'usage')"
    payloads = map(json.loads, column(bench, f"select payload from events where {kinds} order by session_id, seq"))
    texts = [payload["result"] if "result" in payload else payload["text"] for payload in payloads]
    return [line for text in texts for line in text.split("\n")]


def usage(bench: Workbench, expected: Answers | None) -> Answers | None:
    """Totals of tokens; None where no call tells of any, in no table."""
    if expected is None:
        names = [*(f"sum({name})" for name in TOKENS), "nullif(sum(model_calls), 0)"]
        told = bench.sql(f"select {', '.join(names)} from sessions").row(0) + tuple(
            column(bench, "select 0 from usage")
        )
        return None if all(value is None for value in told) else {"told": told}
    if unknown := sorted(expected.keys() - USAGE.keys()):
        raise UnknownKeyError(f"usage has no {unknown}")
    names = ", ".join(f"sum({USAGE[name]})::bigint" for name in expected)
    return dict(zip(expected, bench.sql(f"select {names} from sessions").row(0), strict=True))


def exit_status(bench: Workbench, _: str | None) -> Any:
    """How the one run ended, as its last note says; a note must say it."""
    payloads = map(json.loads, column(bench, "select payload from events where kind = 'system_note'"))
    return next(payload["exit_status"] for payload in payloads if "exit_status" in payload)


def column(bench: Workbench, query: str) -> list[Any]:
    """The values of a query with one column."""
    return bench.sql(query).to_series().to_list()


RULES: dict[str, Callable[[Workbench, Any], Any]] = {
    rule.__name__: rule
    for rule in (
        session_id,
        answers,
        answer_contains,
        tool_result,
        second_result,
        tool_results,
        tool_lines,
        usage,
        exit_status,
    )
}
