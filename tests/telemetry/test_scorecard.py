"""Scorecards: what each metric counts, what formats cannot show, and the one list that defines them."""

from __future__ import annotations

import polars as pl
import pytest
from scored_sessions import AIDER, BUSY, CUT, OWN, own_log, write_sessions
from transcripts import jsonl, moment, prompt, response, text

import workbench as wb
from workbench.errors import NotFoundError
from workbench.experiments.foreign_tools import _OURS
from workbench.reports.scorecards import scorecards_frame
from workbench.store.sql import query
from workbench.store.tables.metrics import BY_NAME, METRICS, NOT_SHOWN, not_applicable
from workbench.store.tables.telemetry import SCORECARDS
from workbench.telemetry.scorecard import card_lines, comparable, figures, metric, read_scorecards, with_rates


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scorecards")
    write_sessions(folder / "files")
    bench = wb.open(folder / "home")
    bench.ingest(folder / "files")
    return bench


@pytest.fixture(scope="module")
def cards(bench):
    return {card["session_id"]: card for card in bench.scorecards().iter_rows(named=True)}


def counts(card, *names):
    return {name: card[name] for name in names}


def test_every_metric_of_a_busy_session_is_what_one_counts_by_hand(cards):
    wanted = {
        "total_turns": 2,
        "tool_calls": 13,
        "failed_calls": 3,
        "rejected_calls": 1,
        "file_reads": 4,
        "repeat_file_reads": 1,
        "edits": 1,
        "repeat_failed_commands": 1,
        "test_runs": 3,
        "failed_test_runs": 2,
        "subagent_calls": 1,
        "interruptions": 1,
        "compactions": 0,
        "model_calls": 16,
        "input_tokens": 30,
        "output_tokens": 165,
        "cache_read_tokens": 1200,
        "cache_write_tokens": 0,
        "duration_ms": 111_000,
        "skills_loaded": 1,
        "skill_load_events": 2,
        "skill_reload_count": 1,
        "artifact_retrieve_calls": None,
        "artifact_cards_produced": None,
        "turn_event_searches": None,
        "recall_calls": None,
        "skill_tokens_consumed": None,
        "compiled_prompts": None,
        "pressure_events": None,
        "compaction_triggers": None,
    }
    assert counts(cards[BUSY], *wanted) == wanted


def test_a_session_says_what_it_is(cards):
    names = ("agent", "format", "model", "version", "final", "config_hash", "arm", "replay_id", "policy_id")
    assert counts(cards[BUSY], *names) == {
        "agent": "claude-code",
        "format": "claude-code",
        "model": "claude-sonnet-4-5-20250929",
        "version": "2.1.40",
        "final": True,
        "config_hash": None,
        "arm": None,
        "replay_id": None,
        "policy_id": None,
    }


def test_an_interrupted_exchange_is_final_and_one_that_waits_for_a_result_is_not(cards):
    assert {name: cards[name]["final"] for name in (BUSY, CUT, OWN, AIDER)} == {
        BUSY: True,
        CUT: False,
        OWN: True,
        AIDER: True,
    }


def test_the_engines_own_tools_count_in_our_own_log(cards):
    wanted = {
        "artifact_retrieve_calls": 1,
        "artifact_cards_produced": 1,
        "turn_event_searches": 1,
        "recall_calls": 1,
        "skills_loaded": 1,
        "skill_load_events": 1,
        "skill_reload_count": 0,
        "file_reads": 2,
        "repeat_file_reads": 1,
        "retrieval_rate": 1.0,
        "rejected_calls": None,
        "input_tokens": None,
        "cost_usd": None,
    }
    assert counts(cards[OWN], *wanted) == wanted
    assert cards[OWN]["skill_tokens_consumed"] > 0


def test_what_a_format_cannot_show_is_null_and_named_and_never_zero(cards):
    hidden = cards[AIDER]["not_applicable"]
    assert hidden == not_applicable("aider")
    assert {"tool_calls", "failed_calls", "file_reads", "compactions", "recall_calls"} <= set(hidden)
    assert {cards[AIDER][name] for name in hidden} == {None}
    assert counts(cards[AIDER], "edits", "interruptions", "total_turns") == {
        "edits": 1,
        "interruptions": 0,
        "total_turns": 1,
    }


def test_a_session_without_usage_has_unknown_tokens_and_cost(cards):
    names = ("model_calls", "input_tokens", "output_tokens", "cost_usd", "output_tokens_per_turn")
    assert set(counts(cards[CUT], *names).values()) == {None}
    assert not set(names) & set(cards[CUT]["not_applicable"])


def test_what_an_agent_writes_in_a_models_place_is_no_model_call(tmp_path):
    usage = {"input_tokens": 3, "output_tokens": 4}
    made_up = {
        "id": "msg_e",
        "role": "assistant",
        "model": "<synthetic>",
        "content": [text("API Error")],
        "usage": usage,
    }
    about = {"session": "00000000-0000-4000-8000-00000000000a"}
    lines = [
        prompt("u1", "Hello", **about),
        response("r1", "msg_1", text("Hi."), usage=usage, seconds=1, **about),
        response("r2", "msg_e", message=made_up, seconds=2, **about),
    ]
    (tmp_path / "s.jsonl").write_bytes(jsonl(*lines))
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "s.jsonl")
    assert bench.sql("select count(*) from usage").item() == 2
    assert bench.scorecard("last")["model_calls"] == 1


def test_a_session_that_is_forgotten_meanwhile_has_no_scorecard(bench, monkeypatch):
    rest = bench.scorecards().filter(pl.col("session_id") != BUSY)
    monkeypatch.setattr(bench, "scorecards", lambda: rest)
    with pytest.raises(NotFoundError, match="has no scorecard"):
        bench.scorecard(BUSY)
    assert bench.scorecard(AIDER)["session_id"] == AIDER


def test_cost_is_that_of_the_usage_command(bench, cards):
    usage = dict(bench.usage("session").select("session_id", "cost_usd").rows())
    assert cards[BUSY]["cost_usd"] == usage[BUSY] > 0


def test_rates_divide_by_their_denominator_and_are_null_where_it_is_zero_or_unknown(cards):
    busy, cut = cards[BUSY], cards[CUT]
    assert busy["tool_error_rate"] == pytest.approx(3 / 13)
    assert busy["repeat_read_rate"] == pytest.approx(1 / 4)
    assert busy["test_failure_rate"] == pytest.approx(2 / 3)
    assert busy["interruptions_per_turn"] == pytest.approx(1 / 2)
    assert (cut["file_reads"], cut["repeat_read_rate"]) == (0, None)
    assert busy["retrieval_rate"] is None


def test_labels_are_joined_in_the_view(bench):
    bench.label(CUT, arm="new", tags=["x"], project="theirs", title="Mine")
    names = ("arm", "tags", "project_id", "title")
    assert counts(bench.scorecard(CUT), *names) == {
        "arm": "new",
        "tags": ["x"],
        "project_id": "theirs",
        "title": "Mine",
    }
    assert bench.sql("select session_id from scorecards where arm = 'new'").rows() == [(CUT,)]


def test_a_replay_shows_pressure_with_its_policy(bench):
    replayed = bench.replay(BUSY)
    card = bench.scorecard(BUSY)
    assert (card["policy_id"], card["compile_level"], card["compiled_prompts"]) == (replayed.policy_id, "exchange", 2)
    assert (card["pressure_events"], card["compaction_triggers"]) == (0, 0)
    assert card["config_hash"] is None
    assert bench.scorecard(OWN)["compiled_prompts"] is None


PRESSED = {
    "01KJQ0000000000000000000P0": (["normal", "normal"], 0),
    "01KJQ0000000000000000000P1": (
        ["normal", "compact", "compact", "emergency", "emergency", "compact", "normal", "emergency"],
        3,
    ),
    "01KJQ0000000000000000000P2": (["emergency"], 1),
    "01KJQ0000000000000000000P3": (["compact", "normal", "compact"], 2),
}
"""Pressure of the prompts of sessions that ran here, and how often it rose."""


def test_pressure_of_a_session_run_here_counts_when_it_rises(tmp_path):
    for session in PRESSED:
        log = tmp_path / "logs" / session / "events.jsonl"
        log.parent.mkdir(parents=True)
        log.write_bytes(jsonl(*own_log(session)))
    bench = wb.open(tmp_path / "home")
    bench.ingest(tmp_path / "logs")
    store = bench._lake.stores["compiles"]
    prompts = [
        _compiled(session, place, mode)
        for session, (modes, _) in PRESSED.items()
        for place, mode in enumerate(modes, 1)
    ]
    store.append(store.table.from_dicts(prompts))
    cards = {card["session_id"]: card for card in bench.scorecards().iter_rows(named=True)}
    assert {name: card["pressure_events"] for name, card in cards.items()} == {
        name: events for name, (_, events) in PRESSED.items()
    }
    assert {name: (card["compiled_prompts"], card["compaction_triggers"]) for name, card in cards.items()} == {
        name: (len(modes), len(modes) - modes.count("normal")) for name, (modes, _) in PRESSED.items()
    }
    assert {(card["config_hash"], card["replay_id"], card["task_type"]) for card in cards.values()} == {
        ("p", None, "testing")
    }


def _compiled(session, place, mode):
    return {
        "compile_id": f"{session}{place}",
        "session_id": session,
        "level": "exchange",
        "policy_id": "p",
        "turn": place,
        "step": 0,
        "mode": "engine",
        "pressure_mode": mode,
        "task_type": "testing",
        "usable_tokens": 1,
        "raw_tokens": 1,
        "pressure": 0.0,
        "classic_tokens": 1,
        "units": 4,
        "units_included": 4 if mode == "normal" else 3,
        "hydrated": [],
        "cuts": [],
        "recorded_at": moment(0),
    }


def test_the_views_columns_are_those_of_the_list_of_metrics(bench):
    frame = bench.sql("select * from scorecards")
    assert frame.columns == [column.name for column in SCORECARDS.columns]
    assert {each.name for each in METRICS} - set(frame.columns) == {"cost_usd"}
    assert {str(kind) for name, kind in read_scorecards(bench._lake).schema.items() if name in BY_NAME} == {"Int64"}
    assert set(NOT_SHOWN) & set(frame.columns) == set()


def test_every_denominator_is_a_metric_and_no_two_figures_have_one_name():
    names = [each.name for each in METRICS] + [each.rate for each in METRICS if each.rate]
    assert len(names) == len(set(names))
    assert {each.per for each in METRICS if each.per} <= BY_NAME.keys()
    assert (metric("tool_error_rate").name, metric("edits").name) == ("failed_calls", "edits")
    with pytest.raises(KeyError, match="no_such"):
        metric("no_such")


def test_the_query_knows_tools_by_the_names_of_the_replay(bench):
    text = query("scorecards")
    kinds = text[text.index("kinds as (") : text.index("calls as (")]
    found = bench._lake.sql(
        f"with {kinds.rstrip().rstrip(',')} select kind, list(tool order by tool) from kinds group by kind"
    )
    assert dict(found.rows()) == {kind: sorted(names) for kind, names in _OURS.items() if kind != "search_code"}


def test_an_empty_home_has_no_scorecards_and_nothing_to_compare(tmp_path):
    bench = wb.open(tmp_path / "home")
    cards = bench.scorecards()
    assert (cards.height, comparable(cards)) == (0, [])
    assert set(cards.columns) >= {"session_id", "cost_usd", "tool_error_rate", "task_type"}


def test_only_metrics_that_some_session_shows_are_compared(bench):
    cards = bench.scorecards()
    names = {each.compared for each in comparable(cards.filter(pl.col("session_id") == AIDER))}
    assert "edits_per_turn" in names
    assert not names & {"tool_error_rate", "repeat_read_rate", "pressure_events_per_prompt"}


def test_figures_tell_known_from_unknown_from_not_applicable(cards):
    told = {each.name: each for each in figures(cards[CUT])}
    assert (told["tool_calls"].standing, told["tool_calls"].value, told["tool_calls"].rate) == ("known", 1, 1.0)
    assert (told["cost_usd"].standing, told["recall_calls"].standing) == ("unknown", "not_applicable")
    assert told["failed_calls"].rate_name == "tool_error_rate"


def test_rates_of_a_frame_without_some_metrics_are_left_out():
    frame = pl.DataFrame({"total_turns": [2, 0], "edits": [3, 1]})
    assert with_rates(frame).to_dict(as_series=False) == {
        "total_turns": [2, 0],
        "edits": [3, 1],
        "edits_per_turn": [1.5, None],
    }


def test_the_lines_of_a_session_show_a_dash_for_what_its_records_do_not(cards):
    assert card_lines(cards[BUSY]) == [
        f"Scorecard ({BUSY}):",
        "  Engine     off",
        "  Context    retrieve_artifact: -  artifact_cards: -  repeat_reads: 1  searches: -",
        "  Context    pressure: -  compaction: -  contradictions: -",
        "  Memory     recalls: -  used: -",
        "  Skills     unique: 1  load_events: 2  reloads: 1  underloads: -  tokens: -",
        "  Turns      2",
    ]


def test_scorecards_come_newest_first(bench):
    frame = scorecards_frame(bench._lake, bench.config)
    assert frame["started_at"].drop_nulls().is_sorted(descending=True)
