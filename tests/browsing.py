"""A browser that reaches nothing but files and this machine, and tells everything that a page tried."""

import os
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

CHROMIUM = Path("/usr/bin/chromium")

_FOR_NOW = TemporaryDirectory(prefix="workbench-screenshots-")
SCREENSHOTS = Path(os.environ.get("SCREENSHOTS") or _FOR_NOW.name)
"""Where pictures of what was looked at go; `make screenshots` names `reports/screenshots`."""

NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"

LOCAL = ("file:", "data:", "blob:", "http://127.0.0.1:", "ws://127.0.0.1:")

HARMLESS = ("preloaded using link preload", "to activate.")
"""Warnings of the notebook servers' own pages: pictures that were not needed in time, parts that were slow to start."""


@contextmanager
def chromium():
    """The browser; a test is skipped, with the reason, where it is not installed."""
    if not CHROMIUM.exists():
        pytest.skip(f"chromium is not installed at {CHROMIUM}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", NO_NETWORK])
        yield browser
        browser.close()


class Visit:
    """A page, what it asked for beyond this machine, and what it complained of."""

    def __init__(self, browser, url, *, scheme="light", width=1200, height=1000):
        self.strangers, self.complaints = [], []
        self.context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
        self.context.set_default_timeout(120_000)
        self.context.route("**/*", self._pass)
        self.page = self.context.new_page()
        self.page.on("websocket", lambda socket: self._look(socket.url))
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.goto(url)

    def _look(self, url):
        if not url.startswith(LOCAL):
            self.strangers.append(url)
            return False
        return True

    def _pass(self, route):
        if self._look(route.request.url):
            route.continue_()
        else:
            route.abort()

    def _hear(self, message):
        if message.type in ("error", "warning") and not any(text in message.text for text in HARMLESS):
            self.complaints.append(message.text)

    @property
    def pwned(self):
        return self.page.evaluate("window.pwned")

    def missing(self, expected):
        """The expected element ids and texts that the page does not show."""
        lost = [name for name in expected["ids"] if not self.page.locator(f"[id='{name}']").count()]
        seen = " ".join(self.page.locator("body").inner_text().split())
        return lost + [text for text in expected["texts"] if text not in seen and not self._has(text)]

    def _has(self, text):
        """Whether a text stands in a part that marimo keeps apart (a shadow root)."""
        return self.page.get_by_text(text).count() > 0

    def close(self):
        self.context.close()
