"""One prompt taken apart: what the widget is given, over prompts made of literal units."""

import json

import pytest
from msgspec.structs import replace

from workbench.config.context import Compiler, ContextEngine
from workbench.context.compile import Moment, compile_prompt
from workbench.context.pool import UnitPool
from workbench.context.records import ContextUnit
from workbench.reports import anatomy as module
from workbench.reports.anatomy import TERM_NAMES, anatomy
from workbench.reports.render.text import one_line, visible
from workbench.text.tokens import estimate_tokens

HOSTILE = "<img src=x onerror=window.pwned=1>\x1b[31mred\x1b[0m\u202e </script>"


def unit(number, content, turn, **more):
    told = {"id": f"turn_{number}", "type": "turn_digest", "content": content, "source_turn": turn, "order": number}
    return ContextUnit(**{**told, "tokens": estimate_tokens(content), **more})


def prompt(units, *, asked="how does the parser read dates", budget=100_000, **bands):
    moment = Moment(current_turn=12, user_input=asked, pool=UnitPool(units), active_state="# Active State\n\nnothing")
    engine = replace(ContextEngine(), bands=replace(ContextEngine().bands, **bands))
    return compile_prompt(moment, Compiler(token_budget=budget), engine, window=200_000)


UNITS = [
    unit(1, "the parser reads dates", 2),
    unit(2, "colour red green blue " * 20, 9),
    unit(3, "words " * 4000, 10),
    unit(4, "kept by a person", 1, pinned=True, type="artifact_card"),
]


@pytest.fixture(scope="module")
def compiled():
    return prompt(UNITS)


@pytest.fixture(scope="module")
def made(compiled):
    return anatomy(compiled, turn=12, title="A session", session_id="s", facts=[("task", "general")])


def test_the_parts_are_those_of_the_prompt_against_the_budget(made, compiled):
    sections = [section for section in compiled.sections if section.text]
    assert [(part.id, part.tokens) for part in made.parts] == [(f"section:{s.name}", s.tokens) for s in sections]
    assert made.parts[0].part == sections[0].tokens / 100_000
    assert made.parts[0].name == "fixed beginning"
    assert (made.tokens, made.usable) == (compiled.raw_tokens, 100_000)
    assert made.where == "exchange 12"
    assert dict(made.facts)["units"] == "3 of 4 in it"
    assert made.facts[-1] == ("task", "general")


def test_units_stand_by_band_and_rank_and_say_why(made):
    assert [(each.id, each.band, each.rank, each.is_in) for each in made.units] == [
        ("unit:turn_3", "recent", 1, False),
        ("unit:turn_2", "recent", 2, True),
        ("unit:turn_4", "older", 1, True),
        ("unit:turn_1", "older", 2, True),
    ]
    assert made.units[0].why == "left out: the band's budget was spent on units that score higher"
    assert made.units[3].says == (
        f"digest of exchange 2, 10 exchanges old, {made.units[3].tokens} tokens, score {made.units[3].score:.3f}, "
        "rank 2 of the older band, in the prompt"
    )


def test_the_terms_of_a_unit_add_up_to_its_score(made):
    for each in made.units:
        assert sum(each.terms) == pytest.approx(each.score, abs=1e-12)
    pinned = next(each for each in made.units if each.id == "unit:turn_4")
    assert dict(zip(TERM_NAMES, pinned.terms, strict=True))["pin"] == 1000


def test_a_choice_has_the_text_and_the_terms(made, compiled):
    detail = made.details["unit:turn_1"]
    assert (detail["title"], detail["text"]) == ("digest of exchange 2", "the parser reads dates")
    assert [name for name, _ in detail["terms"]] == [*TERM_NAMES.values(), "score"]
    assert ["id", "turn_1"] in detail["facts"]
    assert made.details["section:input"]["text"] == compiled.sections[-1].text


def test_what_moved_against_another_compile_is_marked():
    before, after = prompt(UNITS[:3]), prompt(UNITS[:3], recent_tokens=0)
    moved = {each.id: each.moved for each in anatomy(after, turn=12, before=before.scores).units}
    was = {unit.id for unit, is_in in zip(before.scores.units, before.scores.included, strict=True) if is_in}
    now = {unit.id for unit, is_in in zip(after.scores.units, after.scores.included, strict=True) if is_in}
    assert {name for name, word in moved.items() if word == "out"} == {f"unit:{name}" for name in was - now} != set()
    back = {each.id: each.moved for each in anatomy(before, turn=12, before=after.scores).units}
    assert {name for name, word in back.items() if word == "in"} == {f"unit:{name}" for name in was - now}
    assert {each.moved for each in anatomy(before, turn=12).units} == {""}


def test_a_part_that_was_cut_says_from_what():
    made = anatomy(prompt([], asked="why " * 3000, budget=1_100), turn=12)
    cut = next(part for part in made.parts if part.was_tokens is not None)
    assert cut.tokens < cut.was_tokens
    assert f"cut from {cut.was_tokens:,}" in cut.says


def test_of_many_units_the_included_are_drawn_and_the_rest_is_told(monkeypatch):
    monkeypatch.setattr(module, "MOST_UNITS", 5)
    units = [unit(number, f"words of {number} " * 60, 1 + number % 9) for number in range(60)]
    compiled = prompt(units)
    made = anatomy(compiled, turn=12)
    assert len(made.units) == 5
    assert all(each.is_in for each in made.units)
    assert made.notes == ("55 more units with low scores are not drawn.",)


def test_a_prompt_without_units_says_why():
    made = anatomy(prompt([]), turn=1)
    assert made.units == ()
    assert made.notes == ("No unit was on offer: all that there was stands in the prompt word for word.",)


def test_hostile_text_is_made_visible():
    made = anatomy(prompt([unit(1, HOSTILE, 3, id=HOSTILE)]), turn=12, title=HOSTILE, session_id=HOSTILE)
    (only,) = made.units
    assert (only.label, made.title, made.session_id) == (one_line(HOSTILE),) * 3
    assert made.details[only.id]["text"] == visible(HOSTILE)
    assert made.details[only.id]["facts"][0] == ["id", one_line(HOSTILE)]


def test_it_is_plain_json(made):
    plain = made.plain()
    assert json.loads(json.dumps(plain)) == plain
    assert "details" not in plain
    assert json.loads(json.dumps(made.details)) == made.details
