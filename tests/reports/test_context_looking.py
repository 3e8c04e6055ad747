"""What the notebook on the context engine shows of one session: charts, what moves, what is kept in mind."""

import polars as pl
import pytest
from hostile_sessions import HOSTILE, HOSTILE_SESSION, write_hostile_sessions
from report_pages import Page

import workbench as wb
from workbench.config.context import Pressure
from workbench.experiments.recorded import read_recorded
from workbench.experiments.replay import replay, replay_until
from workbench.experiments.replay_job import policy_of
from workbench.experiments.what_if import CHANGES, recompile, unit_changes
from workbench.reports.context_looking import kept_html, moves_html, prompt_charts, prompt_rows, slider_steps
from workbench.reports.render.html import ELEMENTS
from workbench.reports.render.text import one_line
from workbench.surfaces.shipped import sample_sessions

CURRENCIES = "895dc31c-6255-4222-94eb-1eb6c03087e3"


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looking")
    bench = wb.open(folder / "home")
    bench.ingest(*sample_sessions(), write_hostile_sessions(folder))
    return bench


@pytest.fixture(scope="module")
def halted(bench):
    return replay_until(read_recorded(bench, CURRENCIES), policy_of(bench.config, "step"), 4, 13)


def rows_of(bench, level, session_id=CURRENCIES):
    return prompt_rows(replay(read_recorded(bench, session_id), policy_of(bench.config, level)))


def test_prompts_have_a_place_and_a_name_by_exchange_and_by_step(bench):
    by_exchange, by_step = rows_of(bench, "exchange"), rows_of(bench, "step")
    assert [(row["turn"], row["name"], row["where"]) for row in by_exchange][:2] == [
        (1, "1", "exchange 1"),
        (2, "2", "exchange 2"),
    ]
    assert (len(by_step), by_step[-1]["name"], by_step[-1]["where"]) == (40, "4.13", "exchange 4, model call 13")
    assert [row["turn"] for row in by_step] == list(range(1, 41))


def test_the_charts_tell_the_sums_and_the_thresholds(bench):
    rows = rows_of(bench, "exchange")
    page = Page(prompt_charts(rows, Pressure()))
    assert page.ids() >= {"prompt-tokens", "prompt-pressure"}
    assert "tokens by the engine in all" in page.text("prompt-tokens")
    assert "above 70% a prompt is compact, above 85% an emergency" in page.text("prompt-pressure")


def test_thresholds_are_drawn_when_a_prompt_comes_near(bench):
    rows = rows_of(bench, "exchange")
    full = [{**row, "pressure": 0.6} for row in rows]
    assert "compact above 70%" not in Page(prompt_charts(rows, Pressure())).text("prompt-pressure")
    assert "compact above 70%" in Page(prompt_charts(full, Pressure())).text("prompt-pressure")


def test_what_moves_is_told_in_a_sentence_and_a_table(halted):
    after = recompile(halted, budgets={"recent_tokens": 0})
    page = Page(moves_html(halted.compiled, after, unit_changes(halted.compiled.scores, after.scores)))
    out = int(halted.compiled.scores.included.sum() - after.scores.included.sum())
    told = page.text("moves")
    assert told.startswith(f"No units come in; {out} units go out (")
    assert f"{halted.compiled.raw_tokens:,} tokens before, {after.raw_tokens:,} now" in told
    assert page.text("moves-table").count("▼ out") == out


def test_where_nothing_moves_there_is_no_table(halted):
    page = Page(moves_html(halted.compiled, halted.compiled, pl.DataFrame(schema=CHANGES)))
    assert page.text("moves").startswith("No units come in; no units go out.")
    assert "moves-table" not in page.ids()


def test_what_is_kept_is_the_checkpoint_and_the_state(halted):
    page = Page(kept_html(halted, halted.compiled))
    checkpoint = next(section.text for section in halted.compiled.sections if section.name == "checkpoint")
    assert " ".join(checkpoint.split()) in page.text("kept")
    assert "done: Read rates from a file" in page.text("state-objects")


def test_hostile_text_is_only_text(bench):
    policy = policy_of(bench.config, "exchange")
    recorded = read_recorded(bench, HOSTILE_SESSION)
    halted = replay_until(recorded, policy, recorded.exchanges[-1].turn)
    numbers = dict.fromkeys(CHANGES, 1) | {"unit_type": "turn_digest", "moved": "in"}
    changes = pl.DataFrame([{**numbers, "unit_id": text} for text in HOSTILE], schema=CHANGES)
    moves = Page(moves_html(halted.compiled, halted.compiled, changes))
    assert one_line(HOSTILE[1]) in moves.text("moves-table")
    for page in (moves, Page(kept_html(halted, halted.compiled))):
        assert page.tags <= ELEMENTS | {"style"}


@pytest.mark.parametrize(
    ("most", "step", "value", "steps"),
    [(1.0, 0.5, 0.5, [0, 0.5, 1]), (1.0, 0.5, 0.33, [0, 0.33, 0.5, 1]), (400, 200, 3000, [0, 200, 400, 3000])],
)
def test_a_slider_can_stand_at_the_value_that_is_configured(most, step, value, steps):
    assert slider_steps(most, step, value) == steps
