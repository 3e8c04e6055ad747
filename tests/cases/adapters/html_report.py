"""Field cases of the sessions report: a session's page in a browser, and the session in a terminal and as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from browsing import Visit, chromium
from command import workbench

import workbench as wb

if TYPE_CHECKING:
    from pathlib import Path

CONTROLS = re.compile(r"[\x1b\x9b\x07\x08]")
"""Bytes that act in a terminal: escape, its one-byte form, bell, backspace."""

Answers = dict[str, Any]


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Import the files, write the report with the session's page, and look at it and at the other views."""
    bench = wb.open(home)
    bench.ingest(folder)
    written = bench.report("sessions", home.parent / "sessions.html")
    with chromium() as browser:
        visit = Visit(browser, written.path.as_uri())
        seen = _seen(visit)
    expected = {key: value for key, value in case["expected"].items() if key not in ("why", "judgement")}
    views = {"report": seen["text"]}
    if "terminal" in case["do"]:
        views |= {
            "terminal": _command("show", "last", "--home", home),
            "markdown": _command("show", "last", "--format", "md", "--home", home),
        }
    for key, value in expected.items():
        KEYS[key](value, seen, views, bench)


def _seen(visit: Visit) -> Answers:
    page = visit.page
    page.wait_for_load_state("networkidle")
    said = [_plain(text) for text in page.locator("details.session .said").all_inner_texts()]
    seen = {
        "text": page.locator("body").inner_text(),
        "pwned": page.evaluate("String(window.pwned)"),
        "prompts": [_plain(text) for text in page.locator("details.session .said.asked").all_inner_texts()],
        "results": [_plain(text) for text in page.locator("details.session .said.result").all_inner_texts()],
        "last": said[-1],
        "complaints": visit.complaints,
        "strangers": visit.strangers,
    }
    visit.close()
    return seen


def _plain(text: str) -> str:
    return " ".join(text.split())


def _command(*arguments: object) -> str:
    done = workbench(*arguments, cwd=arguments[-1].parent)
    assert done.code == 0, done.err
    return done.out


def _pwned(value: str, seen: Answers, *_: object) -> None:
    assert seen["pwned"] == value


def _errors(value: int, seen: Answers, *_: object) -> None:
    assert (len(seen["complaints"]), seen["complaints"]) == (value, [])


def _requests(value: int, seen: Answers, *_: object) -> None:
    assert (len(seen["strangers"]), seen["strangers"]) == (value, [])


def _prompt(value: str, seen: Answers, *_: object) -> None:
    assert seen["prompts"] == [_plain(value)]


def _result(value: str, seen: Answers, *_: object) -> None:
    assert seen["results"] == [_plain(value)]


def _last(value: str, seen: Answers, *_: object) -> None:
    assert seen["last"] == value


def _controls(value: int, _: Answers, views: dict[str, str], __: object) -> None:
    assert {name: CONTROLS.findall(text) for name, text in views.items() if CONTROLS.search(text)} == {}
    assert value == 0


def _contains(value: list[str], seen: Answers, views: dict[str, str], __: object) -> None:
    assert [text for text in value if text not in seen["text"]] == []
    assert [text for text in value if text not in views["markdown"]] == []


def _lacks(value: list[str], _: Answers, views: dict[str, str], __: object) -> None:
    assert [(name, text) for name, shown in views.items() for text in value if text in shown] == []


def _stored(value: str, _: Answers, __: dict[str, str], bench: Any) -> None:
    assert value.startswith("unchanged")
    (result,) = bench.sql("select result from tool_calls")["result"]
    assert result.startswith("\x1b[1m\x1b[31mFAIL\x1b[0m test_a\r\n 10%\r 50%\r100% done\n\x1b]8;;")
    assert result.endswith("\x07\x1b[2J\bbell\x07 c1:\x9b31m end")


KEYS = {
    "window.pwned": _pwned,
    "console_errors": _errors,
    "requests": _requests,
    "visible_prompt_text": _prompt,
    "visible_result_text": _result,
    "last_message_visible": _last,
    "bytes_1b_9b_07_08_in_shown_text": _controls,
    "visible_contains": _contains,
    "visible_does_not_contain": _lacks,
    "stored_text": _stored,
}
"""What checks each key of a case; an unknown one fails as a KeyError."""
