"""The timeline widget on the side of Python: what it is given, and what a choice brings."""

import json

import polars as pl
import pytest
from traitlets import TraitError

import workbench as wb
from workbench.errors import NotFoundError
from workbench.reports.timeline import timeline
from workbench.surfaces.shipped import sample_sessions
from workbench.widgets import SessionTimeline

CURRENCIES = "895dc31c-6255-4222-94eb-1eb6c03087e3"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = wb.open(tmp_path_factory.mktemp("widget"))
    bench.ingest(*sample_sessions())
    return bench


@pytest.fixture
def widget(bench):
    return SessionTimeline.of(bench, CURRENCIES[:8])


def test_it_is_given_the_session_as_plain_values(widget):
    data = widget.data
    assert data == json.loads(json.dumps(data))
    assert data["session_id"] == CURRENCIES
    assert [lane["name"] for lane in data["lanes"]] == ["Exchanges", "Model", "Tools"]
    counts = {kind: sum(item["kind"] == kind for item in data["items"]) for kind in ("exchange", "response", "tool")}
    assert counts == {"exchange": 4, "response": 40, "tool": 44}
    assert sum(item["is_failed"] for item in data["items"]) == 2
    assert (widget.scale, widget.zoom, widget.chosen, widget.event_id) == ("time", 1.0, "", None)


def test_a_choice_brings_the_text_of_its_event(widget, bench):
    failed = next(item for item in widget.data["items"] if item["is_failed"])
    widget.chosen = failed["id"]
    row = bench.sql("select tool, result from tool_calls where call_event_id = $id", {"id": widget.event_id}).row(0)
    assert widget.detail["id"] == failed["id"]
    assert widget.detail["title"] == f"{row[0]} call"
    assert widget.detail["parts"][-1]["text"].rstrip() == row[1].rstrip()
    widget.chosen = ""
    assert widget.detail == {}


def test_a_choice_that_cannot_be_read_is_told_in_its_place(widget):
    widget.chosen = "tool:nothing"
    assert widget.detail["problem"].endswith("has no event 'nothing'")


def test_a_session_without_times_begins_with_tokens():
    items = pl.DataFrame(
        [
            {
                "event_id": "e", "seq": 1, "turn": 1, "chain": None, "kind": "prompt", "began_at": None,
                "ended_at": None, "tokens": 3, "name": "prompt", "said": "x", "is_failed": False, "status": "ok",
            }
        ]
    )  # fmt: skip
    widget = SessionTimeline(timeline(items, session_id="s"))
    assert widget.scale == "tokens"
    widget.chosen = "exchange:e"
    assert widget.detail == {}, "nobody reads for it"


def test_it_refuses_what_it_does_not_know(widget, bench):
    with pytest.raises(TraitError):
        widget.scale = "pages"
    with pytest.raises(NotFoundError):
        SessionTimeline.of(bench, "no-such-session")
