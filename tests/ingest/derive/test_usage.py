"""Usage: each model call of a session once, told by the line with the most output tokens."""

from __future__ import annotations

import pytest
from transcripts import MODEL, SESSION, happened, moment

from workbench.ingest.derive.usage import model_calls, total_tokens


def told(seq, message_id, request_id, output, **more):
    figures = {"input_tokens": 3, "output_tokens": output, "cache_read_tokens": 20, "cache_write_tokens": 40}
    about = {"message_id": message_id, "request_id": request_id, "model": MODEL}
    return happened(seq, "usage", figures | about | more.pop("figures", {}), **more)


def calls(*events):
    return [(call.call_id, call.request_id, call.output_tokens) for call in model_calls(events)]


def test_a_call_with_every_column():
    event = told(4, "m1", "r1", 9, seconds=2, figures={"cache_write_1h_tokens": 10, "reasoning_tokens": 5})
    (call,) = model_calls([event])
    assert call._asdict() == {
        "session_id": SESSION,
        "call_id": "m1",
        "turn": 1,
        "event_id": "e4",
        "occurred_at": moment(2),
        "message_id": "m1",
        "request_id": "r1",
        "model": MODEL,
        "input_tokens": 3,
        "output_tokens": 9,
        "cache_read_tokens": 20,
        "cache_write_tokens": 40,
        "cache_write_1h_tokens": 10,
        "reasoning_tokens": 5,
        "source_id": "s1",
        "agent_id": None,
        "is_sidechain": False,
    }


@pytest.mark.parametrize("outputs", [(2, 340), (340, 2), (2, 340, 340), (None, 340), (340, None)])
def test_of_growing_snapshots_the_one_with_the_most_output_counts(outputs):
    events = [told(seq, "m1", "r1", output) for seq, output in enumerate(outputs, start=1)]
    assert calls(*events) == [("m1", "r1", 340)]


def test_two_calls_are_two_rows_in_the_order_of_first_telling():
    assert calls(told(1, "m2", "r2", 5), told(2, "m1", "r1", 9), told(3, "m2", "r2", 8)) == [
        ("m2", "r2", 8),
        ("m1", "r1", 9),
    ]


def test_without_a_request_id_the_message_id_names_the_call():
    assert calls(told(1, "chat-1", None, 1), told(2, "chat-1", None, 45), told(3, "chat-2", None, 10)) == [
        ("chat-1", None, 45),
        ("chat-2", None, 10),
    ]


@pytest.mark.parametrize("events", [(None, "r1"), ("r1", None)])
def test_a_line_that_lacks_the_request_id_belongs_to_the_call_of_its_message(events):
    found = calls(*(told(seq, "m1", request, seq) for seq, request in enumerate(events, start=1)))
    assert found == [("m1", "r1", 2)]


def test_one_message_id_with_two_request_ids_is_two_calls():
    assert calls(told(1, "m1", "r1", 5), told(2, "m1", "r2", 7)) == [("m1/r1", "r1", 5), ("m1/r2", "r2", 7)]


def test_what_has_no_message_id_counts_each_time():
    assert calls(told(1, None, None, 5), told(2, None, None, 5)) == [("e1", None, 5), ("e2", None, 5)]


def test_sums_of_figures_that_nobody_told_are_unknown():
    some = model_calls([told(1, "m1", "r1", 5, figures={"cache_read_tokens": None}), told(2, "m2", "r2", 7)])
    none = model_calls([happened(1, "usage", {"message_id": "m1"})])
    assert total_tokens(some) == (6, 12, 20, 80)
    assert total_tokens(none) == (None, None, None, None)
    assert total_tokens([]) == (None, None, None, None)
