"""Where CI runs, everything that tests need is installed, so a skipped test is a failed one.

`tests/conftest.py` takes the two hooks over by name:

    from ci_skips import pytest_make_collect_report, pytest_runtest_makereport

They act only when `WORKBENCH_CI=1` is set, as `.ci/run` does. A skip stays one when its reason begins with one of
`ALLOWED`: what is not built yet, and real data that is no part of a clone.
"""

import os

import pytest

ALLOWED = ("no adapter for", "not in this clone:")


def reason_of(report):
    """Why a report says "skipped"; None if it does not, or if it is an expected failure."""
    if report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return None
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


def fail_skip(report):
    """Turn a skip that CI does not allow into a failure that tells its reason."""
    reason = reason_of(report)
    if os.environ.get("WORKBENCH_CI") == "1" and reason is not None and not reason.startswith(ALLOWED):
        report.outcome = "failed"
        report.longrepr = f"skipped, which fails where WORKBENCH_CI=1: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """A test, its set-up and its tear-down."""
    return fail_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """A whole module that skips itself while it is collected."""
    return fail_skip((yield))
