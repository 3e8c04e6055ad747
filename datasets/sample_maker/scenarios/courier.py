"""A session in `courier`: the provider is overloaded, a program is missing, a prompt waits in the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sample_maker.claude_chain import NEWER, Say, Think
from sample_maker.claude_code import SONNET, Session
from sample_maker.claude_tools import Bash, Edit, Read

if TYPE_CHECKING:
    from sample_maker.shelf import Shelf
    from sample_maker.workshop import Workshop


def overloaded(shop: Workshop, shelf: Shelf) -> None:
    """Errors of every kind: from the provider, from the shell, from a tool."""
    session = Session(shop, "overloaded", "2026-03-20T06:55:00", SONNET, release=NEWER)
    session.ask("Run the linter and the tests of courier, and fix what is small.")
    session.answer(Bash("pylint-of-the-future courier", "Run the linter"))
    session.answer(
        Say("That linter is not installed here; I'll go on with the tests."),
        Bash("python -m pytest -q", "Run the tests", seconds=4),
    )
    session.ask_meanwhile("Forget the linter, I have not set it up yet.")
    session.fail(529, "overloaded_error", "Overloaded", retries=3)
    session.ask("continue")
    session.answer(Read("courier/retry.py"), Read("courier/retries.py"))
    session.answer(
        Think("delays multiplies before the first yield, so the first wait is 2 s instead of 1 s."),
        Edit("courier/retry.py", "    while True:\n", "    while true:\n"),
    )
    session.answer(Bash("python -m pytest -q -x", "Run the tests"))
    session.answer(
        Say("I wrote `true` for `True`, and the real fault is one line below: it multiplies before the first wait."),
        Edit(
            "courier/retry.py",
            "    while true:\n        delay = delay * factor\n        yield min(delay, limit)\n",
            "    while True:\n        yield min(delay, limit)\n        delay = delay * factor\n",
        ),
    )
    session.answer(Bash("python -m pytest -q", "Run the tests"))
    session.type_command("cost", "Total cost: $0.31")
    session.ask("Looks good, commit it.")
    session.answer(Bash("git commit -qam 'Wait one second first' && git push", "Commit and push"))
    session.answer(
        Say("It is committed. There is no remote to push to: `git push` says that no destination is configured.")
    )
    session.close(shelf)
