"""Who says and does what: every sample session, project by project and in the order of time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from sample_maker.projects import courier as courier_project
from sample_maker.projects import folio as folio_project
from sample_maker.projects import tally as tally_project
from sample_maker.scenarios import courier, event_logs, folio, tally_long, tally_short
from sample_maker.workshop import Workshop

if TYPE_CHECKING:
    from pathlib import Path

    from sample_maker.shelf import Shelf


def perform_all(root: Path, shelf: Shelf) -> None:
    """Play every scenario in repositories below `root`; the projects know nothing of each other and go side by side."""
    with ThreadPoolExecutor() as pool:
        for playing in [pool.submit(play, root, shelf) for play in (_tally, _folio, _courier)]:
            playing.result()


def _tally(root: Path, shelf: Shelf) -> None:
    """Sessions of one project go on where the last one ended."""
    shop = Workshop(root, "tally", tally_project.HISTORY)
    first = tally_short.lost_cents(shop, shelf)
    tally_short.who_owes_whom(shop, shelf)
    tally_short.two_helpers(shop, shelf)
    tally_long.currencies(shop, shelf)
    tally_short.lost_cents_again(shop, shelf, first)
    event_logs.strict_settling(shop, shelf)


def _folio(root: Path, shelf: Shelf) -> None:
    shop = Workshop(root, "folio", folio_project.HISTORY)
    folio.broken_build(shop, shelf)
    folio.stopped(shop, shelf)
    folio.crooked_chart(shop, shelf)
    folio.many_pages(shop, shelf)
    event_logs.chinese_notes(shop, shelf)


def _courier(root: Path, shelf: Shelf) -> None:
    shop = Workshop(root, "courier", courier_project.HISTORY)
    courier.overloaded(shop, shelf)
    event_logs.long_evening(shop, shelf)
