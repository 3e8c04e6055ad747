"""Options of the vector and case harnesses, and their tables at the end of a run."""

from __future__ import annotations

from collections import Counter, defaultdict

from ci_skips import pytest_make_collect_report, pytest_runtest_makereport

__all__ = ["pytest_make_collect_report", "pytest_runtest_makereport"]

HARNESSES = ("vectors", "cases")
OUTCOMES = ("passed", "deviating", "failed", "skipped")


def pytest_addoption(parser):
    group = parser.getgroup("workbench")
    group.addoption("--vectors", metavar="DIR", help="vectors to run, laid out as tests/vectors/data, the default")
    group.addoption("--deviations", metavar="FILE", help="rules to use in place of tests/vectors/deviations.toml")
    group.addoption("--cases", metavar="DIR", help="field cases to run, laid out as tests/cases/data, the default")


def pytest_terminal_summary(terminalreporter):
    """Print one table a harness: what became of each topic. The tests note topic and reason as user properties."""
    found = {}  # the last word on each test: a failing teardown comes after a passed call
    for reports in terminalreporter.stats.values():
        for report in reports:
            noted = dict(getattr(report, "user_properties", ()))
            if noted.get("harness") in HARNESSES and (report.when == "call" or report.failed):
                found[report.nodeid] = (noted, "failed" if report.failed else noted.get("outcome", "skipped"))
    for harness in HARNESSES:
        rows = [(noted, outcome) for noted, outcome in found.values() if noted["harness"] == harness]
        if rows:
            print_table(terminalreporter, harness, rows)


def print_table(terminal, harness, rows):
    counts = defaultdict(Counter)
    for noted, outcome in rows:
        counts[noted["topic"]][outcome] += noted["cases"]
    width = max(len(topic) for topic in counts)
    terminal.section(harness)
    terminal.line(f"{'topic':{width}}  " + "  ".join(f"{outcome:>10}" for outcome in OUTCOMES))
    for topic, count in [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]:
        terminal.line(f"{topic:{width}}  " + "  ".join(f"{count[outcome] or '-':>10}" for outcome in OUTCOMES))
    for noted, outcome in rows:
        if outcome == "deviating":
            terminal.line(f"deviating by rule: {noted['case']}: {noted['reason']}")
