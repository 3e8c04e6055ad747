"""A browser for each module: while Playwright has one open, its event loop counts as running in this thread."""

import pytest
from browsing import chromium


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened
