"""The counters of a live session: a fold that a resume cannot disturb."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.telemetry.counters import Averages, Counters, Signal, count, counter_lines, signal_of_call

SIGNALS = st.lists(
    st.one_of(
        st.builds(Signal, st.just("file_read"), st.sampled_from(["/a", "/b", "/c,d"])),
        st.builds(Signal, st.just("skill_loaded"), st.sampled_from(["x", "x,y"]), st.integers(0, 50)),
        st.builds(Signal, st.just("compiled"), st.sampled_from(["normal", "compact", "emergency"]), st.integers(0, 3)),
        st.builds(Signal, st.sampled_from(["turn", "recalled", "artifact_retrieved"])),
    )
)


def test_reads_of_one_path_are_repeats_and_paths_leave_as_hashes():
    counters = count([Signal("file_read", path) for path in ("/w/a", "/w/b", "/w/a", "/w/A")])
    assert counters.repeat_file_reads == 1
    assert counters.read_path_digests[0] == "2d00e6ed0f99628437238afccb18160155451f692533cc1b0600bbcba7ee37cf"
    assert len(counters.read_path_digests) == 3


@pytest.mark.parametrize(
    ("modes", "events"),
    [([], 0), (["normal"], 0), (["compact", "emergency", "compact", "emergency"], 3), (["emergency", "normal"], 1)],
)
def test_pressure_counts_when_it_rises(modes, events):
    assert count([Signal("compiled", mode, 0) for mode in modes]).pressure_events == events


def test_a_compile_that_left_something_out_counts_once_however_much():
    assert count([Signal("compiled", "normal", left) for left in (0, 1, 9)]).compaction_triggers == 2


def test_underload_is_loaded_minus_used_where_residency_is_told():
    signals = [
        Signal("skill_loaded", "a"),
        Signal("skill_loaded", "b"),
        Signal("skill_used", "b"),
        Signal("skill_used", "z"),
    ]
    told, classic = count(signals, tells_residency=True), count(signals)
    assert (told.skills_used, told.skill_underload_events) == (1, 1)
    assert (classic.skills_used, classic.skill_underload_events) == (2, 0)


def test_a_start_average_is_taken_again_only_while_it_is_zero():
    first, second = Averages(0.5, 0.0), Averages(0.9, 0.9)
    starts = [Signal("memory_at_start", averages=each) for each in (Averages(), first, second)]
    assert count(starts).at_start == first


@given(SIGNALS, SIGNALS)
def test_loads_are_unique_ones_and_reloads_and_more_signals_never_lower_a_counter(before, after):
    first, whole = count(before), count([*before, *after])
    for counters in (first, whole):
        assert counters.skill_load_events == counters.skills_loaded + counters.skill_reload_count
    names = [name for name in Counters.__struct_fields__ if isinstance(getattr(first, name), int)]
    assert all(getattr(first, name) <= getattr(whole, name) for name in names)


@pytest.mark.parametrize(
    ("tool", "args", "is_error", "wanted"),
    [
        ("read_file", {"path": "/a"}, False, [Signal("file_read", "/a")]),
        ("read_file", {"path": "/a"}, True, []),
        ("retrieve_artifact", {}, False, [Signal("artifact_retrieved")]),
        ("retrieve_artifact", {}, True, []),
        ("recall", {}, True, [Signal("recalled")]),
        ("search_turn_events", {}, False, [Signal("turn_events_searched")]),
        ("load_skill", {"skill_id": "s"}, False, [Signal("skill_loaded", "s", 7)]),
        ("shell", {"command": "ls"}, False, []),
    ],
)
def test_what_a_call_counts_as(tool, args, is_error, wanted):
    assert signal_of_call(tool, args, is_error=is_error, result_tokens=7) == wanted


def test_a_result_that_becomes_a_card_counts_besides():
    assert signal_of_call("shell", {}, is_error=False, is_card=True) == [Signal("artifact_card")]


def test_the_share_of_used_recalls_rounds_half_up():
    lines = counter_lines(count([Signal("recalled", amount=8), Signal("recall_used", amount=1)]), engine_on=True)
    assert lines[4] == "  Memory     recalls: 8  used: 1 (13%)"


def test_nothing_to_show_is_told_as_such():
    assert not count([Signal("file_read", "/a"), Signal("compiled", "compact", 1)]).has_data
    assert count([Signal("turn")]).has_data
