"""`tally`: who owes whom after a trip. Its `split` loses cents, and one of its tests says so."""

from __future__ import annotations

from typing import Final

from sample_maker.workshop import Commit

MONEY: Final = '''\
"""Amounts of money."""

from decimal import Decimal, InvalidOperation


class MoneyError(ValueError):
    """The text is not an amount."""


def parse(text: str) -> Decimal:
    """Read an amount such as ``12.50`` or ``1,200``."""
    cleaned = text.strip().replace(",", "")
    try:
        return Decimal(cleaned).quantize(Decimal("0.01"))
    except InvalidOperation as error:
        raise MoneyError(f"not an amount: {text!r}") from error


def show(amount: Decimal) -> str:
    """Write an amount with two decimals."""
    return f"{amount:,.2f}"


def split(amount: Decimal, people: int) -> list[Decimal]:
    """Divide an amount among people."""
    share = round(float(amount) / people, 2)
    return [Decimal(str(share)).quantize(Decimal("0.01"))] * people
'''

LEDGER: Final = '''\
"""What was paid, by whom, for whom."""

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal

from tally.money import split


@dataclass(frozen=True)
class Expense:
    payer: str
    amount: Decimal
    shared_by: tuple[str, ...]
    note: str = ""


@dataclass
class Ledger:
    expenses: list[Expense] = field(default_factory=list)

    def add(self, expense: Expense) -> None:
        self.expenses.append(expense)

    def balances(self) -> dict[str, Decimal]:
        """What each person is owed (above zero) or owes (below)."""
        totals: dict[str, Decimal] = defaultdict(Decimal)
        for expense in self.expenses:
            totals[expense.payer] += expense.amount
            for person, share in zip(expense.shared_by, split(expense.amount, len(expense.shared_by))):
                totals[person] -= share
        return dict(totals)


def settle(balances: dict[str, Decimal]) -> list[tuple[str, str, Decimal]]:
    """The payments that bring every balance to zero: (from, to, amount), largest debt first."""
    owed = sorted(((v, k) for k, v in balances.items() if v > 0), reverse=True)
    owing = sorted((v, k) for k, v in balances.items() if v < 0)
    payments = []
    while owed and owing:
        (credit, creditor), (debt, debtor) = owed.pop(0), owing.pop(0)
        paid = min(credit, -debt)
        payments.append((debtor, creditor, paid))
        if credit > paid:
            owed.insert(0, (credit - paid, creditor))
        if -debt > paid:
            owing.insert(0, (debt + paid, debtor))
    return payments
'''

REPORT: Final = '''\
"""The ledger as text."""

from tally.ledger import Ledger, settle
from tally.money import show


def lines(ledger: Ledger) -> list[str]:
    out = ["Balances"]
    for person, amount in sorted(ledger.balances().items()):
        out.append(f"  {person:<10}{show(amount):>12}")
    out.append("Payments")
    for debtor, creditor, amount in settle(ledger.balances()):
        out.append(f"  {debtor} -> {creditor}  {show(amount)}")
    return out
'''

CLI: Final = '''\
"""``python -m tally FILE``: print the report of a ledger file."""

import csv
import sys
from pathlib import Path

from tally.ledger import Expense, Ledger
from tally.money import MoneyError, parse
from tally.report import lines


def load(path: Path) -> Ledger:
    ledger = Ledger()
    with path.open(newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            shared_by = tuple(row["for"].split("+"))
            ledger.add(Expense(row["payer"], parse(row["amount"]), shared_by, row["note"]))
    return ledger


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        print("usage: python -m tally FILE", file=sys.stderr)
        return 2
    try:
        ledger = load(Path(argv[0]))
    except (OSError, MoneyError) as error:
        print(f"tally: {error}", file=sys.stderr)
        return 1
    print("\\n".join(lines(ledger)))
    return 0
'''

MAIN: Final = """\
import sys

from tally.cli import main

sys.exit(main(sys.argv[1:]))
"""

TEST_MONEY: Final = """\
from decimal import Decimal

import pytest

from tally.money import MoneyError, parse, show, split


@pytest.mark.parametrize(("text", "value"), [("12.5", "12.50"), ("1,200", "1200.00"), (" 3 ", "3.00")])
def test_amounts_are_read(text, value):
    assert parse(text) == Decimal(value)


def test_a_word_is_not_an_amount():
    with pytest.raises(MoneyError, match="not an amount: 'ten'"):
        parse("ten")


def test_amounts_are_shown_with_two_decimals():
    assert show(Decimal("1234.5")) == "1,234.50"


def test_an_even_split():
    assert split(Decimal("9.00"), 3) == [Decimal("3.00")] * 3
"""

TEST_SPLIT: Final = """\

@pytest.mark.parametrize("people", [3, 6, 7])
def test_a_split_keeps_every_cent(people):
    assert sum(split(Decimal("10.00"), people)) == Decimal("10.00")
"""

TEST_LEDGER: Final = """\
from decimal import Decimal

from tally.ledger import Expense, Ledger, settle

TRIO = ("ana", "ben", "cho")


def test_balances_of_an_even_bill():
    ledger = Ledger()
    ledger.add(Expense("ana", Decimal("30.00"), TRIO))
    assert ledger.balances() == {"ana": Decimal("20.00"), "ben": Decimal("-10.00"), "cho": Decimal("-10.00")}


def test_settling_needs_at_most_one_payment_less_than_people():
    payments = settle({"ana": Decimal("20.00"), "ben": Decimal("-10.00"), "cho": Decimal("-10.00")})
    assert payments == [("cho", "ana", Decimal("10.00")), ("ben", "ana", Decimal("10.00"))] or len(payments) == 2
"""

TRIP: Final = """\
payer,amount,for,note
ana,100.00,ana+ben+cho,cabin
ben,47.50,ana+ben+cho,groceries
cho,10.00,ana+ben+cho,parking
"""

README: Final = """\
# tally

Who owes whom after a trip: `python -m tally trip.csv`.
"""

HISTORY: Final = (
    Commit(
        "Read and show amounts",
        "2026-02-09T18:20:00Z",
        {"tally/__init__.py": '"""Who owes whom."""\n', "tally/money.py": MONEY, "README.md": README},
    ),
    Commit("Keep a ledger and settle it", "2026-02-10T19:05:00Z", {"tally/ledger.py": LEDGER}),
    Commit("Test amounts", "2026-02-11T17:44:00Z", {"tests/test_money.py": TEST_MONEY, ".gitignore": "__pycache__/\n"}),
    Commit(
        "Print a report",
        "2026-02-14T10:12:00Z",
        {"tally/report.py": REPORT, "tally/cli.py": CLI, "tally/__main__.py": MAIN, "trip.csv": TRIP},
    ),
    Commit("Test the ledger", "2026-02-15T11:30:00Z", {"tests/test_ledger.py": TEST_LEDGER}),
    Commit("Say that no cent may be lost", "2026-03-01T20:51:00Z", {"tests/test_money.py": TEST_MONEY + TEST_SPLIT}),
)
