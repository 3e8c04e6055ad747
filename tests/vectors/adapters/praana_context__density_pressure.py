"""Densities, fill, modes, and the hysteresis of classic compaction."""

from __future__ import annotations

import msgspec

from workbench.config.context import Compiler, Density, Pressure
from workbench.context.pressure import (
    AutoCompaction,
    effective,
    mode_of,
    pressure_ratio,
    usable_budget,
    weighted_tokens,
)


def run(case_input):
    return OPERATIONS[case_input["op"]](case_input)


def weights(_):
    return msgspec.to_builtins(Density())


def effective_tokens(case_input):
    return effective(case_input["tokens"], case_input["kind"], Density())


def total(case_input):
    return weighted_tokens([(part["tokens"], part["kind"]) for part in case_input["sections"]], Density())


def ratio(case_input):
    return pressure_ratio(
        case_input["usedTokens"], case_input["contextWindowTokens"] - case_input["reservedOutputTokens"]
    )


def mode(case_input):
    thresholds = Pressure(compact_at=case_input["compact_at"], emergency_at=case_input["emergency_at"])
    return mode_of(case_input["ratio"], thresholds)


def budget(case_input):
    return usable_budget(
        case_input["tokenBudget"], case_input["contextWindowTokens"], case_input["reservedOutputTokens"]
    )


def compiler(config):
    known = {name: value for name, value in config.items() if name in Compiler.__struct_fields__}
    return Compiler(**known)


def thresholds(case_input):
    settings = compiler(case_input["config"])
    return {
        "autoCompactAt": settings.auto_compact_at,
        "autoCompactClearAt": settings.auto_compact_clear_at,
        "compactChunkFraction": settings.compact_chunk_fraction,
        "verbatimOnly": settings.verbatim_only,
    }


def sequence(case_input):
    settings = compiler(case_input["config"])
    compaction = AutoCompaction(
        settings.auto_compact_at,
        settings.auto_compact_clear_at,
        verbatim_only=settings.verbatim_only,
        armed=case_input["initialArmed"],
    )
    return [{"trigger": compaction.fires(ratio), "armed": compaction.armed} for ratio in case_input["ratios"]]


OPERATIONS = {
    "weights": weights,
    "effective": effective_tokens,
    "sum": total,
    "ratio": ratio,
    "mode": mode,
    "effectiveCompileBudget": budget,
    "compactionConfig": thresholds,
    "autoCompactSequence": sequence,
}
