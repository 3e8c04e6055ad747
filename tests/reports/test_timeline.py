"""The layout of a session's timeline: lanes, rows, places along time and tokens."""

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.reports.timeline import MOST_ITEMS, PAUSE_PART, Lane, Place, Tick, timeline

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)


def at(seconds):
    return None if seconds is None else NINE + timedelta(seconds=seconds)


def row(event_id, seq, kind, began, ended=None, *, turn=1, chain=None, tokens=0, name="", said="", status="ok"):
    return {
        "event_id": event_id, "seq": seq, "turn": turn, "chain": chain, "kind": kind, "began_at": at(began),
        "ended_at": at(began if ended is None else ended), "tokens": tokens, "name": name, "said": said,
        "is_failed": status in ("error", "rejected"), "status": status,
    }  # fmt: skip


def draw(*rows):
    return timeline(pl.DataFrame(list(rows), infer_schema_length=None), session_id="s", title="A session", zone=UTC)


def by_id(drawn):
    return {item.id: item for item in drawn.items}


SESSION = (
    row("p1", 1, "prompt", 0, tokens=5, name="prompt", said="Fix the build"),
    row("r1", 2, "response", 10, tokens=20, name="some-model"),
    row("t1", 3, "tool", 10, 14, tokens=100, name="Bash", said="make", status="error"),
    row("t2", 4, "tool", 10, 12, tokens=30, name="Read", said="a.py"),
    row("r2", 5, "response", 20, tokens=7, name="some-model", said="Done."),
    row("c1", 6, "compaction", 21, name="compaction", said="auto"),
    row("p2", 7, "prompt", 1000, turn=2, tokens=3, name="prompt", said="Thanks"),
)


def test_a_session_becomes_lanes_of_items():
    drawn = draw(*SESSION)
    assert drawn.lanes == [Lane("Exchanges", 1), Lane("Model", 1), Lane("Tools", 2), Lane("Marks", 1)]
    assert [(item.id, item.lane, item.row, item.label, item.is_failed) for item in drawn.items] == [
        ("exchange:p1", 0, 0, "Fix the build", False),
        ("exchange:p2", 0, 0, "Thanks", False),
        ("response:r1", 1, 0, "some-model", False),
        ("response:r2", 1, 0, "some-model", False),
        ("tool:t1", 2, 0, "Bash", True),
        ("tool:t2", 2, 1, "Read", False),
        ("compaction:c1", 3, 0, "compaction", False),
    ]
    assert (drawn.title, drawn.session_id, drawn.zone, drawn.notes) == ("A session", "s", "UTC", [])


def test_a_response_began_when_what_came_before_it_was_over():
    items = by_id(draw(*SESSION))
    assert items["response:r1"].places["time"] == Place(0, 10_000), "since the prompt"
    assert items["response:r2"].places["time"] == Place(14_000, 6_000), "since the last result"


def test_a_long_pause_is_drawn_short_and_tells_its_length():
    drawn = draw(*SESSION)
    pause = 21_000 * PAUSE_PART
    assert drawn.pauses == [Tick(21_000, "16 min 19 s")]
    assert drawn.lengths["time"] == pytest.approx(21_000 + pause)
    assert by_id(drawn)["exchange:p2"].places["time"] == Place(pytest.approx(21_000 + pause), 0)


def test_along_tokens_items_follow_one_another():
    drawn = draw(*SESSION)
    assert drawn.lengths["tokens"] == 165
    items = by_id(drawn)
    assert items["tool:t1"].places["tokens"] == Place(25, 100)
    assert items["tool:t2"].places["tokens"] == Place(125, 30)
    assert items["exchange:p1"].places["tokens"] == Place(0, 162)
    assert drawn.ticks["tokens"] == [Tick(0, "0"), Tick(162, "162")]
    assert drawn.ticks["time"][0] == Tick(0, "2 Mar 09:00")


def test_an_item_says_everything_in_a_line():
    items = by_id(draw(*SESSION))
    assert items["tool:t1"].says == "Bash, failed, 09:00:10, 4.0 s, 100 tokens: make"
    assert items["exchange:p1"].says == "exchange 1, 09:00:00, 21.0 s, 162 tokens, 2 calls, 1 failed: Fix the build"
    assert items["compaction:c1"].says == "compaction, 09:00:21: auto"


def test_sub_agents_have_lanes_of_their_own():
    drawn = draw(
        *SESSION[:3],
        row("s1", 10, "prompt", 11, chain="agent-a", said="Look around"),
        row("s2", 11, "response", 12, chain="agent-a"),
        row("s3", 12, "tool", 12, 13, chain="agent-a", name="Grep"),
        row("s4", 13, "response", 13, chain="agent-b"),
    )
    names = [lane.name for lane in drawn.lanes]
    assert names == ["Exchanges", "Model", "Tools", "Sub-agent agent-a", "Sub-agent agent-b"]
    assert [(item.id, item.row) for item in drawn.items if item.lane == 3] == [
        ("prompt:s1", 0), ("response:s2", 0), ("tool:s3", 1),
    ]  # fmt: skip


def test_without_times_there_is_only_the_scale_of_tokens():
    drawn = draw(row("p", 1, "prompt", None, tokens=5), row("r", 2, "response", None, tokens=5))
    assert list(drawn.lengths) == ["tokens"]
    assert drawn.notes == ["The session has no times: only its tokens can be drawn."]


def test_without_times_and_tokens_the_order_is_drawn():
    drawn = draw(row("p", 1, "prompt", None, tokens=None), row("r", 2, "response", None, tokens=None))
    assert drawn.lengths == {"tokens": 2}
    assert [item.places["tokens"] for item in drawn.items] == [Place(0, 2), Place(1, 1)]
    assert drawn.notes[-1] == "Nor does it tell tokens: all items are drawn alike."


def test_an_item_without_a_time_stands_after_the_one_before():
    drawn = draw(*SESSION[:3], row("x", 4, "tool", None, tokens=1, name="Read"))
    assert by_id(drawn)["tool:x"].places["time"] == Place(10_000, 4_000)
    assert drawn.notes == ["1 item without a time stand where the one before ended."]


def test_an_empty_session_says_so():
    drawn = timeline(pl.DataFrame([SESSION[0]]).clear(), session_id="s", title=None)
    assert (drawn.items, drawn.title, drawn.notes) == ((), "s", ["The session has nothing to show."])


def test_of_too_many_items_failures_prompts_and_the_longest_stay():
    rows = [row(f"t{n}", n, "tool", n, n + (2 if n == 7 else 1), name="Bash") for n in range(1, MOST_ITEMS + 10)]
    rows += [row("p", 0, "prompt", 0), row("bad", 9999, "tool", 5000, name="Bash", status="error")]
    drawn = draw(*rows)
    ids = {item.id for item in drawn.items}
    assert len(ids) == MOST_ITEMS
    assert {"exchange:p", "tool:bad", "tool:t7"} <= ids
    assert drawn.notes == [f"11 short items of {MOST_ITEMS + 11:,} left out."]


def test_foreign_text_is_made_visible():
    drawn = draw(row("p", 1, "prompt", 0, said="\x1b[31mred\x1b[0m \u202eabc\nnext"))
    assert drawn.items[0].label == "red [U+202E]abc next"


MOMENTS = st.one_of(st.none(), st.integers(0, 100_000))


@settings(deadline=None)  # the first call loads what Polars needs
@given(
    st.lists(
        st.tuples(st.sampled_from(["prompt", "response", "tool"]), MOMENTS, MOMENTS, st.integers(0, 50)), max_size=30
    )
)
def test_every_item_lies_within_its_scales(events):
    rows = [row(f"e{n}", n, kind, began, ended, tokens=size) for n, (kind, began, ended, size) in enumerate(events)]
    if not rows:
        return
    drawn = draw(*rows)
    ids = [item.id for item in drawn.items]
    assert len(ids) == len(set(ids)) == len(rows)
    for item in drawn.items:
        for scale in drawn.lengths:
            start, length = item.places[scale]
            assert 0 <= start <= start + length <= drawn.lengths[scale] + 1e-6
    for lane, (_, height) in enumerate(drawn.lanes):
        assert {item.row for item in drawn.items if item.lane == lane} <= set(range(height))
