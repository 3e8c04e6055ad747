"""Sessions in our own event log: a state graph at work, a long evening with forgetting, a short one in Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sample_maker.claude_chain import Say, Think
from sample_maker.claude_code import OPUS, SONNET
from sample_maker.event_log import EventLog
from sample_maker.log_tools import (
    EditFile,
    ReadFile,
    SearchCode,
    Shell,
    WriteFile,
    add_constraint,
    add_note,
    complete_task,
    create_task,
    decide,
    focus_task,
    hard_unload,
    hydrate,
    retract_task,
    soft_unload,
)

if TYPE_CHECKING:
    from sample_maker.shelf import Shelf
    from sample_maker.workshop import Workshop


def strict_settling(shop: Workshop, shelf: Shelf) -> None:
    """Tasks, a decision and a constraint, in the order in which an agent makes and finishes them."""
    log = EventLog(shop, "strict_settling", "2026-03-23T09:00:00", OPUS)
    log.ask(
        "The ledger test has an assertion that is always true. Make it strict, and say in the code why the order holds."
    )
    log.answer(
        Think("Two pieces of work. Keep them as tasks."),
        create_task("strict", "Make the settling test strict", "tests/test_ledger.py, the assertion with or"),
        create_task("order", "Say why the order holds", "docstring of settle"),
        add_constraint("no_behaviour", "settle must not change what it returns"),
        focus_task("strict"),
    )
    log.answer(ReadFile("tests/test_ledger.py"), ReadFile("tally/ledger.py"))
    log.answer(
        decide("sorted_names", "Equal debts are paid in order of name", "sorted() compares (amount, name) pairs"),
        EditFile(
            "tests/test_ledger.py",
            '[("cho", "ana", Decimal("10.00")), ("ben", "ana", Decimal("10.00"))] or len(payments) == 2',
            '[("ben", "ana", Decimal("10.00")), ("cho", "ana", Decimal("10.00"))]',
        ),
        Shell("python -m pytest -q tests/test_ledger.py"),
    )
    log.answer(Say("The assertion is strict and passes."), complete_task("strict"))
    log.ask("And the docstring.")
    log.answer(
        focus_task("order"),
        EditFile("tally/ledger.py", "largest debt first.", "largest debt first, equal ones by name."),
    )
    log.answer(
        EditFile(
            "tally/ledger.py",
            ': (from, to, amount), largest debt first, equal ones by name."""',
            ": (from, to, amount).\n\n"
            '    Largest debt first, equal ones by name: `sorted` compares pairs of amount and name.\n    """',
        ),
        Shell("python -m pytest -q && git commit -qam 'Make the settling test strict' && git log --oneline -1"),
    )
    log.answer(Say("Docstring written, tests pass, committed."), complete_task("order"))
    log.ask("Does the same hold for credits?")
    log.answer(
        SearchCode(r"sorted\(", "tally"),
        add_note("reverse", "Credits are sorted in reverse, so equal credits go by name from Z to A"),
    )
    log.answer(Say("Not quite: credits are sorted in reverse, so equal credits come from Z to A."))
    log.close(shelf)


_OLD_FLUSH: Final = """\
        waiting = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        sent = 0
        for message in waiting:
            retry(lambda: send(message), 3, sleep)
            sent += 1
        self.path.write_text("", encoding="utf-8")
        return sent
"""

_NEW_FLUSH: Final = """\
        waiting = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        sent = 0
        try:
            for message in waiting:
                retry(lambda: send(message), 3, sleep)
                sent += 1
        finally:
            rest = "".join(json.dumps(message) + "\\n" for message in waiting[sent:])
            self.path.write_text(rest, encoding="utf-8")
        return sent
"""

_TEST_OUTBOX: Final = """\
import pytest

from courier.outbox import Outbox


def test_what_was_sent_is_not_sent_again(tmp_path):
    outbox, sent = Outbox(tmp_path / "out.jsonl"), []
    for name in ("a", "b", "c"):
        outbox.put({"name": name})

    def send(message):
        if message["name"] == "b":
            raise OSError("no route")
        sent.append(message["name"])

    with pytest.raises(OSError, match="no route"):
        outbox.flush(send, lambda seconds: None)
    assert outbox.flush(lambda message: sent.append(message["name"]), lambda seconds: None) == 2
    assert sent == ["a", "b", "c"]
"""


def long_evening(shop: Workshop, shelf: Shelf) -> None:
    """Many turns: objects leave the foreground, a prompt brings one back, one answer is stopped, one summary made."""
    log = EventLog(shop, "long_evening", "2026-03-25T18:30:00", SONNET)
    log.ask("Messages are sent twice when one in the middle fails. Find out why before changing anything.")
    log.answer(
        create_task("twice", "Messages are sent twice after a failure", "courier/outbox.py, flush"),
        focus_task("twice"),
        ReadFile("courier/outbox.py"),
        ReadFile("courier/retry.py"),
    )
    log.answer(
        add_note("cause", "flush rewrites the file only at the very end, so a failure keeps messages that were sent"),
        Say("`flush` empties the file only when all went out. After a failure the first ones are still in it."),
    )
    log.ask("Write a failing test for it.")
    log.answer(WriteFile("tests/test_outbox.py", _TEST_OUTBOX), Shell("python -m pytest -q tests/test_outbox.py"))
    log.answer(Say("The test fails as it should: `a` is sent twice."))
    log.ask("Fix it. Never lose a message, sending one twice is the lesser evil.")
    log.answer(
        add_constraint("never_lose", "Never lose a message; sending one twice is the lesser evil"),
        decide("keep_rest", "Keep what was not sent, in a finally block", "survives any error that Python can see"),
        EditFile("courier/outbox.py", _OLD_FLUSH, _NEW_FLUSH),
        Shell("python -m pytest -q"),
    )
    log.answer(Say("Fixed, all tests pass."), complete_task("twice"))
    _middle(log)
    _end(log)
    log.close(shelf)


def _middle(log: EventLog) -> None:
    log.ask("What happens on kill -9 between a send and the rewrite?")
    log.answer(
        create_task("kill", "Survive kill -9 while flushing", "write the rest to a new file and rename"),
        Say("Then one message is sent twice, which your rule allows. A half-written file would be worse."),
    )
    log.ask("Can the file be half written?")
    log.answer(
        focus_task("kill"),
        SearchCode("write_text|rename|replace"),
        Say("Yes. `write_text` truncates first. Writing beside it and renaming closes the gap."),
    )
    log.answer(
        EditFile(
            "courier/outbox.py",
            '            self.path.write_text(rest, encoding="utf-8")\n',
            '            beside = self.path.with_suffix(".new")\n'
            '            beside.write_text(rest, encoding="utf-8")\n            beside.replace(self.path)\n',
        ),
        Shell("python -m pytest -q && git add -A && git commit -qm 'Keep what was not sent' && git log --oneline -2"),
        complete_task("kill"),
    )
    log.answer(Say("Done and committed."))
    log.ask("Another thing: how would I add a limit on the size of the outbox?")
    log.answer(
        create_task("limit", "Limit the outbox", "refuse messages beyond a size"),
        create_task("wrong", "Rename the outbox to mailbox", "misread"),
        soft_unload("cause"),
        soft_unload("keep_rest"),
    )
    log.answer(retract_task("wrong"), Say("In `put`: look at the size and raise an error that names the limit."))
    log.show("Context is 12 % full.")
    log.ask("Not tonight. Explain exponential backoff to me in two sentences.")
    log.answer(
        hard_unload("limit"), Say("After each failure you wait longer, by a constant factor. A limit keeps it sane.")
    )


def _end(log: EventLog) -> None:
    log.ask("And why do people add jitter?")
    log.answer(
        Think("They know the answer; keep it short."), Say("So that many clients do not come back all at once and")
    )
    log.interrupt(partial="So that many clients do not come back all at once and")
    log.ask("ok, clear. Show me the commits of today.")
    log.answer(Shell("git log --since=2026-03-25T00:00:00Z --stat --format='%h %s'"))
    log.answer(Say("One commit today: `Keep what was not sent`."))
    log.compact(
        "Messages were sent twice after a failure; flush now keeps the rest and renames it into place, with a test. "
        "Open: a limit on the outbox. Rule of the user: never lose a message."
    )
    log.ask("Back to the limit on the outbox: 1,000 messages.")
    log.promote("limit", "substring")
    log.promote("cause", "bm25")
    log.answer(
        focus_task("limit"),
        EditFile(
            "courier/outbox.py",
            "    def put(self, message: dict[str, str]) -> None:\n",
            "    def put(self, message: dict[str, str]) -> None:\n        if self.size() >= LIMIT:\n"
            '            raise OutboxFullError(f"the outbox holds {LIMIT} messages already")\n',
        ),
        Shell("python -m pytest -q"),
    )
    log.answer(
        Say("`size`, `LIMIT` and the error are still missing."),
        EditFile(
            "courier/outbox.py",
            "class Outbox:\n    def __init__(self, path: Path) -> None:\n        self.path = path\n",
            "LIMIT = 1_000\n\n\nclass OutboxFullError(RuntimeError):\n    pass\n\n\n"
            "class Outbox:\n    def __init__(self, path: Path) -> None:\n        self.path = path\n\n"
            "    def size(self) -> int:\n"
            '        return len(self.path.read_text(encoding="utf-8").splitlines()) if self.path.exists() else 0\n',
        ),
        Shell("python -m pytest -q"),
        EditFile("courier/outbox.py", "return sent\n\n\n", "return sent\n"),
    )
    log.answer(
        hydrate("keep_rest"),
        Shell("git commit -qam 'Limit the outbox' && git show --stat --format=%s"),
        complete_task("limit"),
    )
    log.answer(Say("The outbox refuses message 1,001, and says why."))


def chinese_notes(shop: Workshop, shelf: Shelf) -> None:
    """A short session in Chinese."""
    log = EventLog(shop, "chinese_notes", "2026-03-27T08:05:00", OPUS)
    log.ask("请读一下 content/茶.md、告诉我绿茶用多少度的水。")
    log.answer(ReadFile("content/茶.md"))
    log.answer(Say("八十度、泡两分钟。"), add_note("green", "绿茶: 八十度、两分钟"))
    log.ask("乌龙茶呢? 没有的话、加一段。")
    log.answer(SearchCode("乌龙", "content"))
    log.answer(
        create_task("oolong", "写乌龙茶", "content/茶.md"),
        EditFile("content/茶.md", "红茶用开水", "乌龙茶用九十五度的水、泡三分钟。\n\n红茶用开水"),
        Shell("python -m folio content build && git -c core.quotepath=false diff --stat"),
        complete_task("oolong"),
    )
    log.answer(
        Say("加好了: 乌龙茶用九十五度的水、泡三分钟。"), Shell("git commit -qam '乌龙茶' && git log --format=%s -1")
    )
    log.ask("谢谢。")
    log.answer(Say("不客气。"))
    log.close(shelf)
