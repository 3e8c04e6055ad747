"""One browser for all of the folder."""

import pytest
from browsing import chromium


@pytest.fixture(scope="package")
def browser():
    with chromium() as opened:
        yield opened
