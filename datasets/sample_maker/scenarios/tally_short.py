"""Short sessions in `tally`: a fix, a look around with parallel calls, two sub-agents, and a resumed session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sample_maker.claude_chain import NEWER, Chain, Say, Task, Think
from sample_maker.claude_code import HAIKU, OPUS, SONNET, Session
from sample_maker.claude_tools import Bash, Edit, Glob, Grep, Read

if TYPE_CHECKING:
    from sample_maker.shelf import Shelf
    from sample_maker.workshop import Workshop

_OLD_SPLIT = '''\
    """Divide an amount among people."""
    share = round(float(amount) / people, 2)
    return [Decimal(str(share)).quantize(Decimal("0.01"))] * people
'''

_NEW_SPLIT = '''\
    """Divide an amount among people; the first ones carry the cents that are left over."""
    cents = int(amount * 100)
    share, left = divmod(cents, people)
    return [Decimal(share + (position < left)).scaleb(-2) for position in range(people)]
'''


def lost_cents(shop: Workshop, shelf: Shelf) -> Session:
    """A failing test, the fix, a commit: the plainest session there is."""
    session = Session(shop, "lost_cents", "2026-03-02T09:12:00", SONNET)
    session.ask(
        "The report for our trip is a cent off. One of the tests should show it, can you find out why and fix it?"
    )
    session.answer(
        Think("A cent off smells of float rounding in a split. Run the tests before reading anything."),
        Say("I'll run the tests first."),
        Bash("python -m pytest -q", "Run the tests"),
    )
    session.answer(Grep(r"def split|split\("))
    session.answer(Read("tally/money.py"))
    session.answer(
        Think("round(float) loses what does not divide: 10.00 / 3 gives 3.33 three times. Work in whole cents."),
        Say(
            "`split` rounds each share by itself, so 10.00 among three gives 9.99. I'll share out whole cents instead."
        ),
        Edit("tally/money.py", _OLD_SPLIT, _NEW_SPLIT),
    )
    session.answer(Bash("python -m pytest -q", "Run the tests again"))
    session.answer(Bash("python -m tally trip.csv", "Print the report of the trip"))
    session.answer(Say("All tests pass, and the balances of the trip add up to zero now. Shall I commit it?"))
    session.ask("Yes, commit please.")
    session.answer(
        Bash("git diff --stat && git commit -qam 'Lose no cent in a split' && git log --oneline -3", "Commit the fix"),
    )
    session.answer(Say("Committed as `Lose no cent in a split`."))
    session.close(shelf)
    return session


def who_owes_whom(shop: Workshop, shelf: Shelf) -> None:
    """Four calls on separate lines of one response; results come in another order, one of them is an error."""
    session = Session(shop, "who_owes_whom", "2026-03-03T16:40:00", OPUS, release=NEWER)
    session.ask("How does tally decide who pays whom? Read only, no changes. I want to explain it to Ana.")
    session.answer(
        Think("Ledger, report and the tests. All of them at once."),
        Say("I'll look at the ledger, its tests and who calls it."),
        Read("tally/ledger.py"),
        Read("tally/settle.py"),
        Grep("settle", files_only=True),
        Bash("python -m tally trip.csv", "See what it prints for the trip"),
        results=reversed,
    )
    session.answer(Read("tests/test_ledger.py"), Read("tally/report.py"), results=reversed)
    session.answer(
        Say(
            "`settle` in `tally/ledger.py` takes the largest credit and the largest debt, pays the smaller of the two, "
            "and goes on with what is left. Each payment brings one person to zero, so there is at most one payment "
            "less than there are people. It is greedy: the number of payments is small, not always the smallest.\n\n"
            "`tests/test_ledger.py` has an assertion with `or` in it that would pass for almost any two payments."
        )
    )
    session.ask("Good eye. What would the strict assertion be?")
    session.answer(
        Say(
            "```python\nassert payments == [('cho', 'ana', Decimal('10.00')), ('ben', 'ana', Decimal('10.00'))]\n```\n"
            "Both owe the same, and `sorted` puts `ben` before `cho`, so I should check the order before promising it."
        ),
        Bash(
            'python -c "from decimal import Decimal as D; from tally.ledger import settle; '
            "print(settle({'ana': D(20), 'ben': D(-10), 'cho': D(-10)}))\"",
            "See the real order",
        ),
    )
    session.answer(Say("`ben` comes first. With the two swapped the assertion is strict and true."))
    session.close(shelf)


def _look_for_floats(agent: Chain) -> None:
    agent.answer(Grep(r"float|round\(", "tally"), Glob("tally/*.py"))
    agent.answer(Read("tally/money.py"), Read("tally/report.py"))
    agent.answer(Say("No float is left in `tally/`. `parse` quantizes, `show` formats, `split` works in whole cents."))


def _look_at_the_tests(agent: Chain) -> None:
    agent.answer(Say("I'll see what the tests cover."), Bash("python -m pytest --collect-only -q", "List the tests"))
    agent.answer(Read("tests/test_money.py"))
    agent.answer(Bash("python -m pytest -q tests/test_cli.py", "Run the tests of the command line"))
    agent.answer(Grep("^def ", "tally"))
    agent.answer(
        Say(
            "Untested: `tally/cli.py` (no test file at all), `report.lines`, `split` with nobody to share with "
            "(`ZeroDivisionError`), and amounts below zero."
        )
    )


def two_helpers(shop: Workshop, shelf: Shelf) -> None:
    """Two sub-agents: the first inside `progress` records, the second with a file of its own."""
    session = Session(shop, "two_helpers", "2026-03-05T10:05:00", OPUS)
    session.ask("Before we add currencies: check that no floats are left, and tell me what the tests do not cover.")
    session.answer(
        Think("Two independent questions, a helper for each."),
        Say("I'll have two helpers look at these in parallel."),
        Task(
            "Look for floats",
            "Search the package tally/ for any use of float or round. Name files and lines. Change nothing.",
            HAIKU,
            _look_for_floats,
            nested=True,
        ),
        Task(
            "Find untested code",
            "Find out which functions of tally/ no test covers. Run the tests if that helps. Change nothing.",
            HAIKU,
            _look_at_the_tests,
            nested=False,
        ),
    )
    session.answer(
        Say("No floats are left. The command line is not tested, and a split among nobody fails with a bare error."),
        Edit(
            "tally/money.py",
            "    cents = int(amount * 100)\n",
            '    if people < 1:\n        raise MoneyError(f"cannot split among {people} people")\n'
            "    cents = int(amount * 100)\n",
        ),
    )
    session.answer(
        Edit(
            "tests/test_money.py",
            "def test_an_even_split():",
            'def test_a_split_needs_people():\n    with pytest.raises(MoneyError, match="among 0"):\n'
            '        split(Decimal("1.00"), 0)\n\n\ndef test_an_even_split():',
        ),
        Bash("python -m pytest -q", "Run the tests"),
    )
    session.answer(Bash("git commit -qam 'Refuse to split among nobody' && git status --short", "Commit"))
    session.answer(Say("Done: a clear error, and a test for it. The command line still has no tests."))
    session.close(shelf)


def lost_cents_again(shop: Workshop, shelf: Shelf, first: Session) -> None:
    """A resumed session: its file begins with a copy of the first one's records, under the first one's id."""
    session = Session(shop, "lost_cents_again", "2026-03-10T08:30:00", SONNET, resumes=first)
    session.ask("One more thing about the cents: does the order of people decide who pays the extra one?")
    session.answer(Read("tally/money.py"), Grep("shared_by", "tally"))
    session.answer(
        Say(
            "Yes. The first ones in `shared_by` carry what is left over, so with the trip file that is always Ana. "
            "Over many expenses she pays a few cents more than the others."
        )
    )
    session.ask("Fine for a trip. Write that down in the README.")
    session.answer(
        Bash("printf '\\nCents that do not divide go to the first people listed.\\n' >> README.md", "Add a line")
    )
    session.answer(Bash("git commit -qam 'Say who carries the cents' && git log --oneline | head -3", "Commit"))
    session.answer(Say("It is in the README."))
    session.close(shelf)
