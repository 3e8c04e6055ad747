"""One prompt taken apart: its parts against the budget, and every unit with the terms of its score. Pure.

What the anatomy widget draws. All text is visible text (`render.text.visible`): transcripts are hostile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from workbench.context.scoring import ADDED
from workbench.context.selection import OLDER, RECENT
from workbench.reports.context import SECTION_NAMES, WHY
from workbench.reports.event_text import PART_CHARACTERS
from workbench.reports.render.numbers import compact, count, plural, share
from workbench.reports.render.text import one_line, shorten, visible

if TYPE_CHECKING:
    from workbench.context.compile import Compiled
    from workbench.context.records import ContextUnit
    from workbench.context.selection import UnitScores

MOST_UNITS: Final = 500
"""Rows of units that a browser lays out without a wait; of more the included and then the highest are drawn."""
LABEL_CHARACTERS: Final = 140

TERM_NAMES: Final = {
    "pin": "pinned", "recency": "recency", "relevance": "relevance", "hydrate_boost": "state that came back",
    "unit_order": "place in the session", "last_step": "last step",
}  # fmt: skip
"""What the terms of `context.scoring.ADDED` are called."""
BANDS: Final = {RECENT: "recent", OLDER: "older"}
KINDS: Final = {"turn_digest": "digest", "artifact_card": "card", "activity_entry": "activity"}
"""What units are called; others by their type."""


class Part(NamedTuple):
    """One section of the prompt.

    Attributes:
        id: `section:<name>`.
        name: For a person.
        tokens: Of its text.
        part: Of the usable budget, 0 to 1.
        was_tokens: Before it was cut at the end; None where it was not.
        says: All of it in a sentence.
    """

    id: str
    name: str
    tokens: int
    part: float
    was_tokens: int | None
    says: str


class Unit(NamedTuple):
    """One unit on offer.

    Attributes:
        id: `unit:<unit id>`.
        kind: For a person.
        label: The beginning of its text, on one line.
        turn: The exchange it comes from.
        tokens: Of its text.
        band: recent or older.
        rank: In its band, from 1.
        terms: Values of `context.scoring.ADDED`, in that order; they add up to the score.
        score: Their sum.
        is_in: Whether it is in the prompt.
        why: The reason, in words.
        moved: `in` or `out` where that is another than before, else empty.
        says: All of it in a sentence.
    """

    id: str
    kind: str
    label: str
    turn: int
    tokens: int
    band: str
    rank: int
    terms: tuple[float, ...]
    score: float
    is_in: bool
    why: str
    moved: str
    says: str


@dataclass(frozen=True)
class Anatomy:
    """A prompt to look through.

    Attributes:
        title: Whose prompt it is.
        session_id: The session.
        where: Which of its prompts.
        facts: Names and values that hold for the whole.
        usable: Tokens that it may have.
        tokens: Tokens that it has.
        parts: Its sections that have a text, in order.
        units: Those that are drawn, the recent band first, each band by rank.
        notes: What is left out.
        details: What is shown of a chosen part or unit, by id: `title`, `facts`, `terms`, `text`.
    """

    title: str
    session_id: str
    where: str
    facts: tuple[tuple[str, str], ...]
    usable: int
    tokens: int
    parts: tuple[Part, ...]
    units: tuple[Unit, ...]
    notes: tuple[str, ...]
    details: Mapping[str, Mapping[str, Any]]

    def plain(self) -> dict[str, Any]:
        """As lists and dictionaries for JSON, without `details`."""
        return {
            "title": self.title,
            "session_id": self.session_id,
            "where": self.where,
            "facts": [list(fact) for fact in self.facts],
            "usable": self.usable,
            "tokens": self.tokens,
            "parts": [part._asdict() for part in self.parts],
            "terms": [TERM_NAMES[name] for name in ADDED],
            "units": [{**unit._asdict(), "terms": list(unit.terms)} for unit in self.units],
            "notes": list(self.notes),
        }


def anatomy(
    compiled: Compiled,
    *,
    turn: int,
    step: int = 0,
    title: str = "",
    session_id: str = "",
    facts: Sequence[tuple[str, str]] = (),
    before: UnitScores | None = None,
) -> Anatomy:
    """Take a prompt apart.

    Args:
        compiled: The prompt.
        turn: Its exchange, from which ages are counted.
        step: Its model call; 0 by exchange.
        title: Whose it is.
        session_id: The session.
        facts: Further names and values that hold for the whole.
        before: The same units in another compile; what is in now and was not then has moved, and the other way round.
    """
    scores = compiled.scores
    was_in = None if before is None else _included(before)
    units = [_unit(scores, place, turn, was_in) for place in range(len(scores.units))]
    drawn = sorted(_drawn(units), key=lambda unit: (list(BANDS.values()).index(unit.band), unit.rank))
    parts = _parts(compiled)
    told = (
        ("tokens", f"{count(compiled.raw_tokens)} of {count(compiled.usable)}"),
        ("pressure", f"{compiled.mode}, {compiled.pressure:.3f}"),
        ("units", f"{count(int(scores.included.sum()))} of {count(len(units))} in it"),
    )
    texts = {f"section:{section.name}": section.text for section in compiled.sections}
    details = {part.id: _part_detail(part, texts[part.id]) for part in parts}
    places = {f"unit:{one.id}": place for place, one in enumerate(scores.units)}
    details |= {unit.id: _unit_detail(scores, places[unit.id], unit, turn) for unit in drawn}
    return Anatomy(
        title=one_line(title) or "no title",
        session_id=one_line(session_id),
        where=f"exchange {turn}" + (f", model call {step}" if step else ""),
        facts=(*told, *((name, one_line(value)) for name, value in facts)),
        usable=compiled.usable,
        tokens=compiled.raw_tokens,
        parts=tuple(parts),
        units=tuple(drawn),
        notes=_notes(len(units), len(drawn)),
        details=details,
    )


# -- parts -------------------------------------------------------------------------------------------------------------


def _parts(compiled: Compiled) -> list[Part]:
    was = {cut.section: cut.tokens for cut in compiled.cuts}
    made: list[Part] = []
    for section in compiled.sections:
        if not section.text and section.name not in was:
            continue
        name = SECTION_NAMES.get(section.name, one_line(section.name))
        of_budget = share(section.tokens, compiled.usable)
        cut = f", cut from {count(was[section.name])}" if section.name in was else ""
        says = f"{name}: {plural(section.tokens, 'token')}, {of_budget} of the usable budget{cut}"
        part = section.tokens / max(1, compiled.usable)
        made.append(Part(f"section:{section.name}", name, section.tokens, part, was.get(section.name), says))
    return made


def _part_detail(part: Part, text: str) -> dict[str, Any]:
    facts = [["tokens", count(part.tokens)], ["of the budget", share(part.part, 1)]]
    if part.was_tokens is not None:
        facts.append(["before it was cut", count(part.was_tokens)])
    return {"title": part.name, "facts": facts, "terms": [], "text": _text(text)}


def _text(text: str) -> str:
    return shorten(visible(text), PART_CHARACTERS)


# -- units -------------------------------------------------------------------------------------------------------------


def _included(scores: UnitScores) -> set[str]:
    return {unit.id for unit, is_in in zip(scores.units, scores.included.tolist(), strict=True) if is_in}


def _unit(scores: UnitScores, place: int, turn: int, was_in: set[str] | None) -> Unit:
    unit, is_in = scores.units[place], bool(scores.included[place])
    moved = "" if was_in is None or is_in == (unit.id in was_in) else "in" if is_in else "out"
    kind, band, rank = KINDS.get(unit.type, unit.type), BANDS[int(scores.band[place])], int(scores.rank[place])
    score = float(scores.terms.score[place])
    verdict = "in the prompt" if is_in else "left out"
    news = {"in": ", was left out before", "out": ", was in before", "": ""}[moved]
    says = (
        f"{kind} of exchange {unit.source_turn}, {_age(unit, turn)}, {plural(unit.tokens, 'token')}, "
        f"score {score:.3f}, rank {rank} of the {band} band, {verdict}{news}"
    )
    return Unit(
        id=f"unit:{unit.id}",
        kind=kind,
        label=one_line(unit.content)[:LABEL_CHARACTERS],
        turn=unit.source_turn,
        tokens=unit.tokens,
        band=band,
        rank=rank,
        terms=tuple(float(getattr(scores.terms, name)[place]) for name in ADDED),
        score=score,
        is_in=is_in,
        why=WHY[scores.why[place]],
        moved=moved,
        says=says,
    )


def _age(unit: ContextUnit, turn: int) -> str:
    return f"{plural(max(0, turn - unit.source_turn), 'exchange')} old"


def _drawn(units: Sequence[Unit]) -> list[Unit]:
    """At most `MOST_UNITS`: what moved, what is in, then the highest."""
    return sorted(units, key=lambda unit: (not unit.moved, not unit.is_in, unit.rank))[:MOST_UNITS]


def _notes(units: int, drawn: int) -> tuple[str, ...]:
    if not units:
        return ("No unit was on offer: all that there was stands in the prompt word for word.",)
    left = units - drawn
    return (f"{count(left)} more units with low scores are not drawn.",) if left else ()


def _unit_detail(scores: UnitScores, place: int, unit: Unit, turn: int) -> dict[str, Any]:
    words, meaning = (float(getattr(scores.terms, name)[place]) for name in ("bm25", "semantic"))
    terms = [[TERM_NAMES[name], value] for name, value in zip(ADDED, unit.terms, strict=True)]
    facts = [
        ["id", one_line(scores.units[place].id)],
        ["exchange", f"{unit.turn}, {_age(scores.units[place], turn)}"],
        ["tokens", compact(unit.tokens)],
        ["rank", f"{unit.rank} of the {unit.band} band"],
        ["by words", f"{words:.4f}"],
        ["by meaning", f"{meaning:.4f}"],
        ["why", unit.why],
    ]
    return {
        "title": f"{unit.kind} of exchange {unit.turn}",
        "facts": facts,
        "terms": [*terms, ["score", unit.score]],
        "text": _text(scores.units[place].content),
    }
