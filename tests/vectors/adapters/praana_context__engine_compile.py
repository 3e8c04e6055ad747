"""The engine's prompt. The wording of the frame is each system's own, so what depends on its length is no contract."""

from __future__ import annotations

import json
import math
import re

from workbench.config.context import Compiler, ContextEngine, TaskType
from workbench.context.caps import SHARES
from workbench.context.compile import Moment, compile_prompt
from workbench.context.frame import Frame
from workbench.context.pool import UnitPool
from workbench.context.pressure import usable_budget
from workbench.context.task_type import classify_task
from workbench.context.units import activity_units, units_of_turn

from ._praana_context_records import activity_of, record_of
from .praana_context__task_classify import allocation, verdict

AGENT = "PRAANA"
ENGINE = ContextEngine()
SMALL = 5_000
"""Budgets up to here are filled by the frame: whose frame it is decides the pressure."""
ADDED_DIGITS = 4


def run(case_input):
    records = [record_of(record) for record in case_input["turnRecords"]]
    activity = [activity_of(entry) for entry in case_input.get("activityEntries", ())]
    now = case_input["currentTurn"]
    found = classify_task(case_input["userInput"], records, activity, now, TaskType())
    pool = UnitPool(method="seed")
    for record in records:
        if now - record.turn > ENGINE.bands.verbatim_max_age:
            pool.extend(units_of_turn(record, ENGINE.bands, order=len(pool)))
    old_activity = [entry for entry in activity if now - entry.turn > ENGINE.bands.verbatim_max_age]
    pool.extend(activity_units(old_activity, order=len(pool)))
    verbatim = [record for record in records if 0 <= now - record.turn <= ENGINE.bands.verbatim_max_age]
    moment = Moment(
        current_turn=now,
        user_input=case_input["userInput"],
        pool=pool,
        verbatim=verbatim,
        frame=Frame(),
        task_type=found.task_type,
        hydrated=case_input.get("hydratedTexts", ()),
        agent=AGENT,
    )
    settings = Compiler(
        token_budget=case_input["tokenBudget"], reserved_output_tokens=case_input.get("reservedOutputTokens", 0)
    )
    compiled = compile_prompt(moment, settings, ENGINE, window=case_input["contextWindowTokens"])
    sections = {section.name: section.text for section in compiled.sections}
    return {
        "headings": re.findall(r"^# .*", compiled.text, re.MULTILINE),
        "verbatimSection": sections["verbatim"],
        "scoredSection": sections["scored"] or None,
        "scoreRecords": [score_record(compiled.scores, place, now + 1) for place in by_band(compiled.scores)],
        "excludedScoredUnits": int((~compiled.scores.included).sum()),
        "taskType": found.task_type,
        "taskClassification": verdict(found),
        "budgetAllocation": allocation(found.task_type),
        "pressureMode": compiled.mode,
    }


def by_band(scores):
    return sorted(range(len(scores.units)), key=lambda place: (scores.band[place], scores.rank[place]))


def score_record(scores, place, turn):
    unit, terms = scores.units[place], scores.terms
    names = ("pin", "recency", "bm25", "semantic", "relevance", "hydrate_boost")
    return {
        "turn": turn,
        "unitId": unit.id,
        "type": unit.type,
        "score": round(float(terms.score[place]), ADDED_DIGITS),
        "included": bool(scores.included[place]),
        "band": int(scores.band[place]),
        "tokens": unit.tokens,
        "breakdown": {name: round(float(getattr(terms, name)[place]), ADDED_DIGITS) for name in names},
    }


def compare(actual, expected):
    for name, value in expected.items():
        if name != "peerTokens":
            assert name in actual, name
            assert actual[name] == value, name


# -- where the right answer differs ------------------------------------------------------------------------------------


def usable(case_input):
    return usable_budget(
        case_input["tokenBudget"], case_input["contextWindowTokens"], case_input.get("reservedOutputTokens", 0)
    )


def the_frame_decides(case_input):
    return usable(case_input) <= SMALL


def without_pressure(case_input):
    """What holds at any pressure."""
    task = run(case_input)["taskType"]
    return {
        "verbatimSection": verbatim_section(case_input),
        "taskType": task,
        "budgetAllocation": dict(
            zip(
                ("errors", "verbatimTurns", "decisions", "artifacts", "narrative"),
                getattr(TaskType(), task)[: len(SHARES)],
                strict=True,
            )
        ),
    }


def has_older_exchanges(case_input):
    oldest = min((record["turn"] for record in case_input["turnRecords"]), default=case_input["currentTurn"])
    return case_input["currentTurn"] - oldest > ENGINE.bands.recent_max_age


def with_older_digests(case_input):
    """The scored bands worked out in plain Python from the input, every exchange of age 3 and more on offer."""
    bands = {4: [], 5: []}
    for unit in offered(case_input):
        age = case_input["currentTurn"] - unit["turn"]
        bands[4 if age <= 6 else 5].append(scored(unit, age, case_input))
    caps = caps_of(run(case_input)["taskType"])
    records, texts = [], []
    for band, units in bands.items():
        left = caps[band]
        for unit in sorted(units, key=lambda unit: (-unit["score"], -unit["order"])):
            included = unit["tokens"] <= left
            left -= unit["tokens"] if included else 0
            texts += [unit["content"]] if included else []
            records.append(as_record(unit, band, included, case_input["currentTurn"] + 1))
    return {
        "scoreRecords": records,
        "scoredSection": "\n".join(["# Scored Context\n", *texts]),
        "excludedScoredUnits": sum(not record["included"] for record in records),
        "verbatimSection": verbatim_section(case_input),
        "headings": ["# System", "# Recent Turns (verbatim)", "# Scored Context", "# Active State"],
        "pressureMode": "normal",
    }


def caps_of(task):
    factor = min(3.0, getattr(TaskType(), task)[3] / TaskType().general[3])
    return {4: math.floor(3000 * factor + 0.5), 5: math.floor(2000 * factor + 0.5)}


def offered(case_input):
    units = []
    for record in case_input["turnRecords"]:
        if case_input["currentTurn"] - record["turn"] >= 3:
            units.append({"id": f"turn_{record['turn']}", "type": "turn_digest", "content": digest_text(record)})
            calls = [call for call in record["toolCalls"] if "resultArtifactId" in call]
            units += [{"id": c["resultArtifactId"], "type": "artifact_card", "content": card_text(c)} for c in calls]
            for unit in units:
                unit.setdefault("turn", record["turn"])
    for entry in case_input.get("activityEntries", ()):
        if case_input["currentTurn"] - entry["turn"] >= 3:
            name = f"activity_{entry['turn']}_{entry['type']}_{entry['summary'][:24]}"
            text = f"[turn {entry['turn']}] {entry['summary']}"
            units.append({"id": name, "type": "activity_entry", "content": text, "turn": entry["turn"]})
    return [{**unit, "order": order, "tokens": math.ceil(len(unit["content"]) / 4)} for order, unit in enumerate(units)]


def digest_text(record):
    tools = ", ".join(dict.fromkeys(call["tool"] for call in record["toolCalls"])) or "no tools"
    text = f"### Turn {record['turn']} digest\nUser: {record['userMessage']}\n"
    text += f"Assistant: {record['assistantMessage'][:400]}\nTools: {tools}"
    files = [*record["filesRead"], *record["filesWritten"]]
    text += f"\nFiles: {', '.join(files)}" if files else ""
    return text + (f"\nErrors: {'; '.join(record['errors'])}" if record["errors"] else "")


def card_text(call):
    name, result = call["resultArtifactId"], call["resultText"]
    head = f"[artifact: {name} | {call['tool']}: {call['args']['command']} | {math.ceil(len(result) / 4):,} tokens raw]"
    return f'{head}\n{result[:600]}\nRetrieve: retrieve_artifact("{name}")'


def scored(unit, age, case_input):
    words = re.findall(r"[a-z0-9_./-]+", unit["content"].lower())

    def seed(query):
        tokens = re.findall(r"[a-z0-9_./-]+", query.lower())
        return sum(math.log(4 / 3) * 2.5 * words.count(t) / (words.count(t) + 1.5) for t in tokens if t in words)

    boost = max((seed(text) for text in case_input.get("hydratedTexts", ())), default=0.0) * 0.2
    terms = {"recency": 0.5 / (1 + age), "bm25": seed(case_input["userInput"]) * 0.3, "hydrate_boost": boost}
    return {**unit, **terms, "score": sum(terms.values())}


def as_record(unit, band, included, turn):
    rounded = {name: round(unit[name], 4) for name in ("recency", "bm25", "hydrate_boost")}
    return {
        "turn": turn,
        "unitId": unit["id"],
        "type": unit["type"],
        "score": round(unit["score"], 4),
        "included": included,
        "band": band,
        "tokens": unit["tokens"],
        "breakdown": {"pin": 0, "semantic": 0, "relevance": rounded["bm25"], **rounded},
    }


def verbatim_section(case_input):
    """The last two exchanges; where they cost more than the cap, the last one, cut at its end."""
    now = case_input["currentTurn"]
    turns = [verbatim_turn(record) for record in case_input["turnRecords"] if 0 <= now - record["turn"] <= 2]
    share = getattr(TaskType(), run(case_input)["taskType"])[1] / TaskType().general[1]
    cap = math.floor(3000 * share + 0.5)
    whole = "\n\n".join(["# Recent Turns (verbatim)", *turns])
    return whole if math.ceil(len(whole) / 4) <= cap else "\n\n".join(["# Recent Turns (verbatim)", turns[-1]])


def verbatim_turn(record):
    lines = [f"### Turn {record['turn']}", f"User: {record['userMessage']}", f"{AGENT}: {record['assistantMessage']}"]
    for call in record["toolCalls"]:
        lines.append(f"Tool call: {call['tool']}({json.dumps(call['args'], separators=(',', ':'))})")
        artifact = call.get("resultArtifactId")
        lines.append(f"Result: [artifact: {artifact}]" if artifact else f"Result: {call['resultText']}")
    return "\n".join(lines)
