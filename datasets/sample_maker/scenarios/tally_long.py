"""The long session in `tally`: currencies, more than forty calls, with a branch, a to-do list and a broken build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sample_maker.claude_chain import Say, Think
from sample_maker.claude_code import SONNET, Session
from sample_maker.claude_tools import Bash, Edit, Glob, Grep, Read, TodoWrite, Write

if TYPE_CHECKING:
    from sample_maker.shelf import Shelf
    from sample_maker.workshop import Workshop

_RATES = '''\
"""Exchange rates, read from a file: ``EUR 1.0842`` a line, each against the same base."""

from decimal import Decimal
from pathlib import Path

from tally.money import MoneyError

BASE = "CHF"


class Rates:
    def __init__(self, table: dict[str, Decimal]) -> None:
        self.table = {BASE: Decimal(1), **table}

    @classmethod
    def load(cls, path: Path) -> "Rates":
        table = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                code, rate = line.split()
                table[code] = Decimal(rate)
        return cls(table)

    def to_base(self, amount: Decimal, code: str) -> Decimal:
        """The amount in the base currency, to the cent."""
        if code not in self.table:
            raise MoneyError(f"no rate for {code}; known: {', '.join(sorted(self.table))}")
        return (amount * self.table[code]).quantize(Decimal("0.01"))
'''

_TEST_RATES = """\
from decimal import Decimal

import pytest

from tally.money import MoneyError
from tally.rates import Rates

RATES = Rates({"EUR": Decimal("0.9412"), "JPY": Decimal("0.0058")})
CASES = [("10.00", "EUR", "9.41"), ("1000", "JPY", "5.80"), ("7.00", "CHF", "7.00")]


@pytest.mark.parametrize(("amount", "code", "base"), CASES)
def test_amounts_are_converted(amount, code, base):
    assert RATES.to_base(Decimal(amount), code) == Decimal(base)


def test_an_unknown_currency_names_the_known_ones():
    with pytest.raises(MoneyError, match="no rate for USD; known: CHF, EUR, JPY"):
        RATES.to_base(Decimal("1.00"), "USD")


def test_rates_are_read_from_a_file(tmp_path):
    path = tmp_path / "rates.txt"
    path.write_text("# March\\nEUR 0.9412\\n\\nJPY 0.0058\\n", encoding="utf-8")
    assert Rates.load(path).table == RATES.table
"""

_TEST_CLI = """\
from tally.cli import main

TRIP = "payer,amount,for,note\\nana,30.00,ana+ben+cho,cabin\\n"
ABROAD = "payer,amount,currency,for,note\\nana,30.00,EUR,ana+ben+cho,cabin\\n"


def test_a_file_without_currencies(tmp_path, capsys):
    path = tmp_path / "trip.csv"
    path.write_text(TRIP, encoding="utf-8")
    assert main([str(path)]) == 0
    assert "ben -> ana  10.00" in capsys.readouterr().out


def test_a_file_with_currencies(tmp_path, capsys):
    trip, rates = tmp_path / "trip.csv", tmp_path / "rates.txt"
    trip.write_text(ABROAD, encoding="utf-8")
    rates.write_text("EUR 0.9000\\n", encoding="utf-8")
    assert main([str(trip), "--rates", str(rates)]) == 0
    assert "ben -> ana  9.00" in capsys.readouterr().out


def test_a_currency_without_rates_is_an_error(tmp_path, capsys):
    path = tmp_path / "trip.csv"
    path.write_text(ABROAD, encoding="utf-8")
    assert main([str(path)]) == 1
    assert "no rate for EUR" in capsys.readouterr().err
"""

_OLD_LOAD: Final = """\
def load(path: Path) -> Ledger:
    ledger = Ledger()
    with path.open(newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            shared_by = tuple(row["for"].split("+"))
            ledger.add(Expense(row["payer"], parse(row["amount"]), shared_by, row["note"]))
    return ledger
"""

_BROKEN_LOAD: Final = """\
def load(path: Path, rates: Rates) -> Ledger:
    ledger = Ledger()
    with path.open(newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            shared_by = tuple(row["for"].split("+"))
            amount = rates.to_base(parse(row["amount"]), row.get("currency", BASE)
            ledger.add(Expense(row["payer"], amount, shared_by, row["note"]))
    return ledger
"""

_OLD_MAIN: Final = """\
    if len(argv) != 1:
        print("usage: python -m tally FILE", file=sys.stderr)
        return 2
    try:
        ledger = load(Path(argv[0]))
"""

_NEW_MAIN: Final = """\
    arguments = parser().parse_args(argv)
    try:
        rates = Rates.load(arguments.rates) if arguments.rates else Rates({})
        ledger = load(arguments.file, rates)
"""

_PARSER: Final = """\
def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="python -m tally")
    result.add_argument("file", type=Path, help="a ledger: payer,amount,for,note and, if needed, currency")
    result.add_argument("--rates", type=Path, help="exchange rates, one a line: EUR 0.9412")
    return result


def main(argv: list[str]) -> int:
"""

_STEPS: Final = (
    ("Read rates from a file", "Reading rates"),
    ("Convert when a ledger is loaded", "Converting amounts"),
    ("Test the command line", "Testing the command line"),
    ("Write it up in the README", "Writing the README"),
)


def _todos(done: int) -> TodoWrite:
    """The list with `done` steps completed and the next one in progress."""
    states = ["completed"] * done + ["in_progress"] + ["pending"] * len(_STEPS)
    return TodoWrite(tuple((what, state, doing) for (what, doing), state in zip(_STEPS, states, strict=False)))


def currencies(shop: Workshop, shelf: Shelf) -> None:
    """Four exchanges and more than forty calls."""
    session = Session(shop, "currencies", "2026-03-09T13:02:00", SONNET)
    session.begin_with_summaries("Cent rounding in split", "Helpers look at floats and tests")
    _plan(session)
    _rates(session)
    _ledger(session)
    _finish(session)
    session.close(shelf)


def _plan(session: Session) -> None:
    session.ask(
        "Expenses can be in other currencies. Add an optional `currency` column and a file of rates, everything is "
        "settled in CHF. Work on a branch, look around first and make a plan."
    )
    session.answer(Bash("git switch -q -c currencies && git status -sb", "Make a branch"))
    session.answer(Glob("**/*.py"), Bash("wc -l tally/*.py tests/*.py", "Count lines"))
    session.answer(Read("tally/cli.py"), Read("tally/ledger.py"), Read("tally/money.py"))
    session.answer(Grep(r"parse\("), Grep("Expense"))
    session.answer(Read("trip.csv"), Bash("git log --stat --oneline -4", "See what changed last"))
    session.answer(
        Think("Convert at the door: when the file is read. Then ledger and settle stay as they are."),
        Say("Plan: amounts become CHF when the file is read, so the ledger and `settle` stay as they are."),
        _todos(0),
    )
    session.answer(Say("The four steps are in the list. Shall I go on?"))


def _rates(session: Session) -> None:
    session.ask("Yes, go on. Rates first, with tests.")
    session.answer(Write("tally/rates.py", _RATES))
    session.answer(Write("tests/test_rates.py", _TEST_RATES))
    session.answer(Bash("python -m pytest -q tests/test_rates.py", "Run the new tests"))
    session.answer(
        Think("The order of construction does not matter for equality. All pass."),
        Bash("python -m pytest", "Run all tests", seconds=3),
    )
    session.answer(
        Bash("git add -A && git commit -qm 'Read exchange rates' && git log --oneline -1", "Commit"),
        _todos(1),
    )
    session.answer(Say("Rates are read and tested."))


def _ledger(session: Session) -> None:
    session.ask("Now the ledger file.")
    session.answer(Edit("tally/cli.py", _OLD_LOAD, _BROKEN_LOAD))
    session.answer(Edit("tally/cli.py", "import csv\nimport sys\n", "import argparse\nimport csv\nimport sys\n"))
    session.answer(Edit("tally/cli.py", "from tally.report import lines\n", "from tally.rates import BASE, Rates\n"))
    session.answer(Bash("python -m compileall -q tally", "Check that it compiles"))
    session.answer(
        Think("A bracket is missing in load. And the import of lines is gone: I replaced it instead of adding to it."),
        Say("A bracket is missing, and I dropped the import of `lines`. Fixing both."),
        Edit("tally/cli.py", 'row.get("currency", BASE)\n', 'row.get("currency", BASE))\n'),
        Edit("tally/cli.py", "import BASE, Rates\n", "import BASE, Rates\nfrom tally.report import lines\n"),
    )
    session.answer(Bash("python -m compileall -q tally && echo fine", "Check again"))
    session.answer(Edit("tally/cli.py", _OLD_MAIN, _NEW_MAIN))
    session.answer(Edit("tally/cli.py", "def main(argv: list[str]) -> int:\n", _PARSER))
    session.answer(Read("tally/cli.py", offset=15, limit=20))
    session.answer(Bash("python -m tally trip.csv", "Run it on the trip"))
    session.answer(Bash("python -m tally", "Run it without a file"))
    session.answer(
        Say("The usage message comes from argparse now, with status 2 as before."),
        Bash("python -m tally nowhere.csv; echo status $?", "Run it on a missing file"),
    )
    session.answer(_todos(2))
    session.answer(Say("Ledgers with and without the column load. Next come the tests of the command line."))


def _finish(session: Session) -> None:
    session.ask("Go on to the end: tests, README, merge into main.")
    session.answer(Write("tests/test_cli.py", _TEST_CLI))
    session.answer(Bash("python -m pytest -q tests/test_cli.py", "Run the new tests"))
    session.answer(Grep("no rate for"), Read("tally/rates.py", offset=26, limit=8))
    session.answer(Bash("python -m pytest -q", "Run all tests", seconds=2))
    session.answer(_todos(3))
    session.answer(Read("README.md"))
    session.answer(
        Edit(
            "README.md",
            "`python -m tally trip.csv`.\n",
            "`python -m tally trip.csv`.\n\n"
            "With other currencies: add a column `currency` and give the rates against CHF, "
            "`python -m tally trip.csv --rates rates.txt`.\n",
        )
    )
    session.answer(Bash("git add -A && git diff --cached", "See what is about to be committed"))
    session.answer(Bash("git commit -qm 'Settle expenses in other currencies' && git switch -q main", "Commit"))
    session.answer(
        Bash("git merge --no-ff -q -m 'Merge currencies' currencies && git log --oneline --graph -8", "Merge")
    )
    session.answer(Bash("python -m pytest -q && git branch -d currencies", "Test main and drop the branch"))
    session.answer(_todos(4))
    session.answer(
        Say(
            "Currencies are on main: an optional `currency` column, `--rates FILE`, 3 tests of rates and 3 of the "
            "command line. A file without the column works as before."
        )
    )
