"""`courier`: sends messages and tries again; waits too long after the first failure."""

from __future__ import annotations

from typing import Final

from sample_maker.workshop import Commit

RETRY: Final = '''\
"""When to try again."""

from collections.abc import Callable, Iterator


def delays(first: float = 1.0, factor: float = 2.0, limit: float = 30.0) -> Iterator[float]:
    """Seconds to wait before each further attempt."""
    delay = first
    while True:
        delay = delay * factor
        yield min(delay, limit)


def retry(action: Callable[[], object], attempts: int, sleep: Callable[[float], None]) -> object:
    """Call the action until it succeeds, at most `attempts` times."""
    waits = delays()
    for attempt in range(1, attempts + 1):
        try:
            return action()
        except OSError:
            if attempt == attempts:
                raise
            sleep(next(waits))
    raise ValueError("attempts must be at least 1")
'''

OUTBOX: Final = '''\
"""Messages that wait to be sent."""

import json
from collections.abc import Callable
from pathlib import Path

from courier.retry import retry


class Outbox:
    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, message: dict[str, str]) -> None:
        with self.path.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(message) + "\\n")

    def flush(self, send: Callable[[dict[str, str]], None], sleep: Callable[[float], None]) -> int:
        """Send everything, oldest first; what could not be sent stays."""
        waiting = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        sent = 0
        for message in waiting:
            retry(lambda: send(message), 3, sleep)
            sent += 1
        self.path.write_text("", encoding="utf-8")
        return sent
'''

TEST_RETRY: Final = """\
from itertools import islice

import pytest

from courier.retry import delays, retry


def failing(times):
    calls = []

    def action():
        calls.append(1)
        if len(calls) <= times:
            raise OSError("no route to host")
        return len(calls)

    return action


def test_the_first_wait_is_one_second():
    assert list(islice(delays(), 3)) == [1.0, 2.0, 4.0]


def test_waits_are_limited():
    assert max(islice(delays(), 10)) == 30.0


def test_it_stops_at_the_first_success():
    assert retry(failing(2), 3, lambda seconds: None) == 3


def test_the_last_error_is_raised():
    with pytest.raises(OSError, match="no route"):
        retry(failing(3), 3, lambda seconds: None)
"""

HISTORY: Final = (
    Commit("Try again after a failure", "2026-03-16T07:00:00Z", {"courier/__init__.py": "", "courier/retry.py": RETRY}),
    Commit(
        "Keep an outbox",
        "2026-03-18T07:20:00Z",
        {"courier/outbox.py": OUTBOX, "tests/test_retry.py": TEST_RETRY, ".gitignore": "__pycache__/\n"},
    ),
)
