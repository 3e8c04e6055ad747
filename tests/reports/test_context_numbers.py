"""The numbers of the context report, over literal frames."""

import pytest

from workbench.reports import context_numbers as numbers
from workbench.reports.context_frames import ContextFrames


def prompt(session_id, turn, engine, classic, **more):
    told = {"pressure": 0.1, "pressure_mode": "normal", "usable_tokens": 1000, "units": 0, "units_included": 0}
    told |= {"session_id": session_id, "turn": turn, "raw_tokens": engine, "classic_tokens": classic}
    return {**told, "cuts": 0, "hydrated": 0, **more}


FRAMES = ContextFrames.of(
    replays=[
        {"session_id": "a", "title": "First", "exchanges": 3, "replay_id": "ra"},
        {"session_id": "b", "title": None, "exchanges": 1, "replay_id": "rb"},
    ],
    prompts=[
        prompt("a", 1, 50, 20, frame_tokens=40, input_tokens=10, pressure=0.05),
        prompt("a", 2, 100, 900, frame_tokens=40, input_tokens=20, scored_tokens=40, units=4, units_included=3),
        prompt("a", 3, 200, 1500, frame_tokens=40, input_tokens=160, pressure=0.9, pressure_mode="emergency", cuts=1),
        prompt("b", 1, 70, 30, frame_tokens=70, hydrated=2, pressure=0.15),
    ],
    units=[
        {"unit_type": "turn_digest", "age_turns": 3, "why": "included", "units": 3, "tokens": 30},
        {"unit_type": "turn_digest", "age_turns": 6, "why": "over_budget", "units": 1, "tokens": 90},
        {"unit_type": "turn_digest", "age_turns": 4, "why": "included", "units": 1, "tokens": 10},
        {"unit_type": "artifact_card", "age_turns": 80, "why": "cut", "units": 5, "tokens": 500},
    ],
    distillers=[
        {"distiller": "log", "intensity": "full", "runs": 2, "input_tokens": 1000, "output_tokens": 100},
        {"distiller": "log", "intensity": "lite", "runs": 3, "input_tokens": 500, "output_tokens": 300},
        {"distiller": "json", "intensity": "lite", "runs": 1, "input_tokens": 100, "output_tokens": 120},
    ],
)
EMPTY = ContextFrames.of()


def test_totals_sum_up_every_prompt():
    total = numbers.totals(FRAMES)
    assert (total.sessions, total.prompts, total.engine_tokens, total.classic_tokens) == (2, 4, 420, 2450)
    assert (total.saved_tokens, total.over_full, total.dearer) == (2030, 1, 2)
    assert total.modes == {"normal": 3, "compact": 0, "emergency": 1}
    assert (total.cut, total.hydrated, total.units, total.included, total.most_pressure) == (1, 2, 4, 3, 0.9)


def test_without_prompts_everything_is_nothing():
    total = numbers.totals(EMPTY)
    assert (total.prompts, total.engine_tokens, total.most_pressure) == (0, 0, None)
    assert numbers.by_turn(EMPTY.prompts) == numbers.by_session(EMPTY) == numbers.section_rows(EMPTY.prompts) == []
    assert numbers.inclusion(EMPTY) == numbers.reasons(EMPTY) == numbers.distiller_rows(EMPTY) == []
    assert numbers.dearest(EMPTY, 3) == numbers.missing(EMPTY) == []


def test_what_is_sent_at_each_exchange_is_summed_over_sessions():
    rows = numbers.by_turn(FRAMES.prompts)
    assert [(row["turn"], row["sessions"], row["engine_tokens"], row["classic_tokens"]) for row in rows] == [
        (1, 2, 120, 50),
        (2, 1, 100, 900),
        (3, 1, 200, 1500),
    ]
    assert (rows[0]["engine_median"], rows[0]["pressure_median"], rows[0]["pressure_most"]) == (60, 0.1, 0.15)


def test_exchanges_of_a_long_session_share_the_places_of_a_chart():
    frames = ContextFrames.of(prompts=[prompt("a", turn, 10, 10 * turn) for turn in range(1, 131)])
    rows = numbers.by_turn(frames.prompts)
    assert len(rows) == 44 <= numbers.MOST_STEPS
    assert [(row["turn"], row["last_turn"]) for row in (rows[0], rows[1], rows[-1])] == [(1, 3), (4, 6), (130, 130)]
    assert sum(row["engine_tokens"] for row in rows) == 1300


def test_sessions_stand_by_what_they_save():
    first, second = numbers.by_session(FRAMES)
    assert (first["session_id"], first["title"], first["saved_tokens"], first["over_full"]) == ("a", "First", 2070, 1)
    assert (second["session_id"], second["title"], second["saved_tokens"]) == ("b", None, -40)
    assert first["turns"][1] == {"turn": 2, "engine": 100, "classic": 900}


def test_parts_have_their_share_and_those_that_never_are_there_are_left_out():
    rows = numbers.section_rows(FRAMES.prompts)
    assert [(row["section"], row["prompts"], row["tokens"], row["most"]) for row in rows] == [
        ("frame", 4, 190, 70),
        ("scored", 1, 40, 40),
        ("input", 3, 190, 160),
    ]
    assert rows[1]["mean"] == 10
    assert sum(row["part"] for row in rows) == pytest.approx(1)
    by_turn = {(row["turn"], row["section"]): row["tokens"] for row in numbers.sections_by_turn(FRAMES.prompts)}
    assert by_turn == {
        (1, "frame"): 55, (1, "input"): 5, (2, "frame"): 40, (2, "scored"): 40, (2, "input"): 20, (3, "frame"): 40,
        (3, "input"): 160,
    }  # fmt: skip


def test_distillers_stand_by_what_they_save_and_one_may_cost():
    log, json = numbers.distiller_rows(FRAMES)
    assert (log["distiller"], log["runs"], log["lite"], log["full"], log["saved_tokens"]) == ("log", 5, 3, 2, 1100)
    assert (json["distiller"], json["saved_tokens"]) == ("json", -20)


def test_units_are_told_by_kind_and_age():
    assert numbers.inclusion(FRAMES) == [
        {"unit_type": "artifact_card", "age": "over 50", "offered": 5, "included": 0, "part": 0},
        {"unit_type": "turn_digest", "age": "up to 3", "offered": 3, "included": 3, "part": 1},
        {"unit_type": "turn_digest", "age": "4–6", "offered": 2, "included": 1, "part": 0.5},  # noqa: RUF001
    ]
    assert [(row["why"], row["units"], row["tokens"]) for row in numbers.reasons(FRAMES)] == [
        ("cut", 5, 500),
        ("included", 4, 40),
        ("over_budget", 1, 90),
    ]


def test_every_age_has_one_place():
    for age in range(200):
        assert sum(low <= age <= (age if high is None else high) for low, high in numbers.AGES) == 1


def test_the_dearest_prompts_have_the_titles_of_their_sessions():
    rows = numbers.dearest(FRAMES, 2)
    assert [(row["session_id"], row["turn"], row["title"]) for row in rows] == [("a", 3, "First"), ("a", 2, "First")]


@pytest.mark.parametrize(
    ("replays", "told"),
    [
        (
            [{"replay_id": "r", "exchanges": 1}],
            ["All sessions were replayed by words alone: no embedder judged meaning, the semantic term is 0."],
        ),
        (
            [{"replay_id": "r", "exchanges": 1, "embedder": "m"}, {"replay_id": "s", "exchanges": 1}],
            [
                "1 of the sessions were replayed by words alone: no embedder judged meaning, the semantic term is 0.",
                "In 1 of the sessions m judged meaning too.",
            ],
        ),
        ([{"exchanges": 0}], ["1 of the sessions have no exchange, so no prompt."]),
        ([{"exchanges": 2}], ["1 of the sessions have not been replayed and are left out."]),
    ],
)
def test_what_is_missing_is_named(replays, told):
    assert numbers.missing(ContextFrames.of(replays=replays)) == told
