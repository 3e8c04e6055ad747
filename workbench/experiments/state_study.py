"""Studies of how state sinks and comes back: idle turns, and the threshold of hydration; see `state_objective`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, get_args

import msgspec
import numpy as np

from workbench.config.context import Relevance, Tiers
from workbench.config.study import Study
from workbench.errors import BadInputError
from workbench.experiments import recorded
from workbench.experiments.setting_studies import SettingRecipe
from workbench.experiments.state_objective import StateObjective, StateSettings, What, moments_of
from workbench.experiments.state_traces import state_trace
from workbench.experiments.study.plain import plain_settings, study_space
from workbench.experiments.study.space import Parameter, Space
from workbench.experiments.study_job import groups_of, settled_versions
from workbench.store.pinned import pinned_lake

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.experiments.study.plain import Progress, SpaceResult
    from workbench.store.lake import Lake

IDLE_SOFT: Final = "tiers.idle_soft_after_turns"
THRESHOLD: Final = "context_engine.relevance.hydrate_threshold"
LONGEST_IDLE: Final = 60
"""Turns beyond which few sessions go."""
LEAST_THRESHOLD: Final = 0.02
NEVER: Final = 1_000_000
"""Turns that no session has; as a threshold, more than any relevance."""
TRIALS: Final = 64
"""Points tried: one setting alone, of idle turns most whole numbers."""

_HAND_SET: Final[Mapping[What, Mapping[str, float]]] = {
    "idle-turns": {"after 1 turn": 1, "after 5 turns": 5, "after 10 turns": 10, "never": NEVER},
    "hydration": {"by keyword alone": NEVER, "from 0.05 on": 0.05, "from 0.3 on": 0.3, "from 0.6 on": 0.6},
}


class StateAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a study of state is asked.

    Attributes:
        what: `idle-turns` or `hydration`.
        session_ids: Whole ids; None for all sessions.
        trials: Points tried; `TRIALS` unless given.
        learning_trials: Further points of each search.
        permutations: Studies on permuted labels, at least; `study.null_permutations_min` unless given.
        seed: Of everything random.
    """

    what: What
    session_ids: list[str] | None = None
    trials: int | None = None
    learning_trials: int = 0
    permutations: int | None = None
    seed: int = 0


def run_state_study(
    lake: Lake, config: Config, asked: StateAsked, *, progress: Progress | None = None
) -> tuple[SpaceResult, SettingRecipe]:
    """Study idle turns or the threshold of hydration on recorded sessions.

    Args:
        lake: The tables.
        config: Settings in use, and how a study is made.
        asked: What is asked.
        progress: Called with things done, things in all and what they are.

    Returns:
        The study, and what it was made from.

    Raises:
        BadInputError: A number makes no sense, or too few sessions keep a state of which something was used.
    """
    tables = settled_versions(lake)
    settings = StateSettings(config.tiers, config.context_engine.relevance, config.study)
    trials = TRIALS if asked.trials is None else asked.trials
    least = config.study.null_permutations_min if asked.permutations is None else asked.permutations
    resolved = msgspec.structs.replace(asked, trials=trials, permutations=least)
    result = _study(pinned_lake(lake, tables), settings, resolved, progress)
    recipe = SettingRecipe(
        what=asked.what, asked=msgspec.to_builtins(resolved), settings=msgspec.to_builtins(settings), tables=tables
    )
    return result, recipe


def state_study_again(lake: Lake, recipe: SettingRecipe, *, progress: Progress | None = None) -> SpaceResult:
    """Make a study again: every point, part and permutation anew.

    Args:
        lake: At the versions of the recipe.
        recipe: What the study was made from.
        progress: As for `run_state_study`.
    """
    settings = msgspec.convert(recipe.settings, StateSettings)
    return _study(lake, settings, msgspec.convert(recipe.asked, StateAsked), progress)


def state_settings(found: Mapping[str, float], tiers: Tiers) -> dict[str, float]:
    """What was found as the configuration has it.

    Args:
        found: By setting.
        tiers: In use; objects become hard later than soft in any case.
    """
    if IDLE_SOFT not in found:
        return {THRESHOLD: round(found[THRESHOLD], 4)}
    after = StateSettings(tiers, Relevance(), Study()).tiers_after(found[IDLE_SOFT])
    changed = {IDLE_SOFT: after.idle_soft_after_turns, "tiers.idle_hard_after_turns": after.idle_hard_after_turns}
    return {name: value for name, value in changed.items() if name == IDLE_SOFT or value != tiers.idle_hard_after_turns}


def _study(lake: Lake, settings: StateSettings, asked: StateAsked, progress: Progress | None) -> SpaceResult:
    if asked.what not in get_args(What):
        raise BadInputError(f"a study of state is one of {', '.join(get_args(What))}, not {asked.what!r}")
    if (asked.trials or 0) < 1 or (asked.permutations or 0) < 1 or asked.learning_trials < 0:
        raise BadInputError("trials and permutations must be at least 1, and trials that learn at least 0")
    groups = groups_of(lake, asked.session_ids)
    traces = []
    for session in recorded.read_each(lake, list(groups)):
        traces.append(state_trace(session))
        if progress:
            progress(len(traces), len(groups), session.session_id)
    moments = moments_of(traces)
    if not moments.sessions:
        raise BadInputError(
            f"none of {len(groups)} sessions kept a state of which an exchange used some and left some: nothing can be "
            "judged; sessions run by workbench or PRAANA keep one, those of other agents where they announce tasks"
        )
    space = _space(asked.what, settings)
    objective = StateObjective(asked.what, settings, traces, moments)
    by_hand = {name: objective.report_values(np.array([[value]]))[0] for name, value in _HAND_SET[asked.what].items()}
    plain = plain_settings(
        settings.study,
        measure="lift",
        of="sessions",
        seed=asked.seed,
        trials=asked.trials or TRIALS,
        learning_trials=asked.learning_trials,
        permutations=asked.permutations or 1,
    )
    shared = [groups[each] for each in moments.sessions]
    return study_space(space, objective, by_hand, shared, plain, looked_at=len(groups), progress=progress)


def _space(what: What, settings: StateSettings) -> Space:
    if what == "idle-turns":
        now = settings.tiers.idle_soft_after_turns
        return Space(
            "idle turns until state sinks", [Parameter(IDLE_SOFT, now, 1, max(LONGEST_IDLE, now), log=True, step=1)]
        )
    threshold = settings.relevance.hydrate_threshold
    low = min(LEAST_THRESHOLD, threshold or LEAST_THRESHOLD)
    return Space("threshold of hydration", [Parameter(THRESHOLD, threshold, low, 1.0, log=True, step=0.01)])
