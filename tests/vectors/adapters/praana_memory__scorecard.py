"""The counters of a session that runs here: a script of what it did, and what they add up to.

A resumed session counts again from its first event, so `resume` changes nothing; whether a row had been written by then
is all that the script asks of it.
"""

from __future__ import annotations

from itertools import takewhile

from workbench.telemetry.counters import Averages, Signal, count, counter_lines

CAMEL = {
    "artifactRetrieveCalls": "artifact_retrieved",
    "artifactCardsProduced": "artifact_card",
    "decisionContradictions": "decision_contradicted",
    "turnEventSearches": "turn_events_searched",
    "totalTurns": "turn",
    "recallCalls": "recalled",
    "recallUsedCount": "recall_used",
}
COUNTERS = (
    "artifact_retrieve_calls", "artifact_cards_produced", "repeat_file_reads", "decision_contradictions",
    "turn_event_searches", "total_turns", "pressure_events", "compaction_triggers", "recall_calls", "recall_used_count",
    "skills_loaded", "skill_load_events", "skills_used", "skill_underload_events", "skill_reload_count",
    "skill_tokens_consumed",
)  # fmt: skip


def run(case_input):
    script = _Script(case_input)
    for op in case_input["ops"]:
        script.take(op)
    counters = script.counters
    return {
        "counters": _camel(counters),
        "has_data": counters.has_data,
        "snaps": script.snaps,
        "row": script.row,
        "lines": counter_lines(counters, engine_on=case_input["engine_on"]),
    }


class _Script:
    def __init__(self, case_input):
        self.engine_on, self.is_null = case_input["engine_on"], case_input["null_db"]
        self.averages = iter(case_input["memory_averages_returned_in_order"])
        self.signals, self.snaps, self.row = [], [], None

    @property
    def counters(self):
        return count(self.signals)

    def take(self, op):
        if self.is_null:
            return
        self.signals += self._signals(op)
        if "resume" in op:
            self.snaps.append({"restored": self.row is not None})
        if "snap" in op:
            self.snaps.append({"counters": _camel(self.counters), "memory": _memory(self.counters)})
        if op.keys() & {"turn", "flush"}:
            self.row = {"session_id": "S", "context_engine_on": int(self.engine_on), **_row(self.counters)}

    def _signals(self, op):
        made = {
            "compile": lambda: [Signal("compiled", op["compile"], op.get("dropped", 0))],
            "read": lambda: [Signal("file_read", op["read"])],
            "skill": lambda: [Signal("skill_loaded", op["skill"], op["tokens"])],
            "inc": lambda: [Signal(CAMEL[op["inc"]], amount=op.get("by", 1))],
            "turn": lambda: [Signal("turn")],
            "start": lambda: self._start(op["start"]),
            "flush": lambda: [
                Signal("recall_used", amount=op["recall_used"]),
                *self._memory("memory_at_end", op["flush"]),
            ],
        }
        return next((make() for name, make in made.items() if name in op), [])

    def _start(self, path):
        return self._memory("memory_at_start", path) if self.counters.at_start == Averages() else []

    def _memory(self, what, path):
        found = next(self.averages, None) if path else None
        return [Signal(what, averages=Averages(found["validityAvg"], found["usefulnessAvg"]))] if found else []


def has_skill_with_comma(case_input):
    """A name that the peer's comma list tears into two."""
    return any("," in op.get("skill", "") for op in case_input["ops"])


def resumes_before_a_write(case_input):
    """Something happened after the last write when the session was resumed: the peer has lost it."""
    since = []
    for op in case_input["ops"]:
        if "resume" in op and any(each.keys() & {"read", "skill", "inc", "compile"} for each in since):
            return True
        since = [] if op.keys() & {"turn", "flush"} else [*since, op]
    return False


def counted_by_hand(case_input):
    """What a reader of the script counts: loads, reads and turns; the rest is as without a resume."""
    ops = case_input["ops"]
    loads = [op for op in ops if "skill" in op]
    names = list(dict.fromkeys(op["skill"] for op in loads))
    reads = [op["read"] for op in ops if "read" in op]
    by_hand = {
        "repeat_file_reads": len(reads) - len({*reads}),
        "total_turns": sum("turn" in op for op in ops),
        "skills_loaded": len(names),
        "skills_used": len(names),
        "skill_load_events": len(loads),
        "skill_reload_count": len(loads) - len(names),
        "skill_tokens_consumed": sum(op["tokens"] for op in loads),
    }
    right = run({**case_input, "ops": [op for op in ops if "resume" not in op]})
    right["counters"] |= {_camel_name(name): value for name, value in by_hand.items()}
    if right["row"]:
        right["row"] |= {**by_hand, "skills_ever_loaded": ",".join(names)}
    skills = (
        f"  Skills     unique: {len(names)}  load_events: {len(loads)}  reloads: {len(loads) - len(names)}  "
        f"underloads: 0  tokens: ~{by_hand['skill_tokens_consumed']}"
    )
    right["lines"] = [skills if "  Skills " in line else line for line in right["lines"]]
    before = [list(takewhile(lambda one, stop=op: one is not stop, ops)) for op in ops if "resume" in op]
    right["snaps"] = [{"restored": any(op.keys() & {"turn", "flush"} for op in some)} for some in before]
    return right


def _camel(counters):
    return {_camel_name(name): getattr(counters, name) for name in COUNTERS}


def _camel_name(name):
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def _memory(counters):
    start, end = counters.at_start, counters.at_end
    return {
        "validityAvgStart": start.validity,
        "validityAvgEnd": end.validity,
        "usefulnessAvgStart": start.usefulness,
        "usefulnessAvgEnd": end.usefulness,
    }


def _row(counters):
    start, end = counters.at_start, counters.at_end
    return {name: getattr(counters, name) for name in COUNTERS} | {
        "validity_avg_start": start.validity,
        "validity_avg_end": end.validity,
        "usefulness_avg_start": start.usefulness,
        "usefulness_avg_end": end.usefulness,
        "read_path_digests": ",".join(counters.read_path_digests),
        "skills_ever_loaded": ",".join(counters.skill_ids),
    }
