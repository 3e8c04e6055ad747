"""Made sessions for studies: random features, and labels that hang on one of them as much as is asked."""

import numpy as np

from workbench.config.context import Scoring
from workbench.experiments.frames import FEATURES, SessionFrame
from workbench.experiments.labels.rules import RULES
from workbench.experiments.study.null import NullRules
from workbench.experiments.study.settings import StudySettings

NEED = 1 << RULES.index("b_ref")


def made_frame(random, *, moments=4, units=30, signal=0.0, column="last_step", tokens=200):
    """A session whose units are needed by chance, the more a feature is worth to them the more often."""
    starts = np.arange(moments + 1, dtype=np.int64) * units
    features = random.random((moments * units, len(FEATURES))).astype(np.float32)
    for name in ("pinned", "hydrate", "seed_hydrate"):
        features[:, FEATURES.index(name)] = 0
    features[:, FEATURES.index("semantic")] = np.nan
    order = np.tile(np.arange(units) / (units - 1), moments)
    features[:, FEATURES.index("order")] = order
    features[:, FEATURES.index("recency")] = 1 / (1 + np.floor((1 - order) * 5))
    worth = signal * features[:, FEATURES.index(column)] + (1 - signal) * random.random(moments * units)
    labels = np.zeros(moments * units, dtype=np.uint16)
    for start in starts[:-1]:
        labels[start + np.argsort(-worth[start : start + units])[:2]] = NEED
    return SessionFrame(
        turns=np.arange(1, moments + 1, dtype=np.int32),
        steps=np.ones(moments, dtype=np.int32),
        starts=starts,
        units=np.tile(np.arange(units, dtype=np.int32), moments),
        features=features,
        labels=labels,
        unit_tokens=np.full(units, tokens, dtype=np.int32),
        unit_classes=(np.arange(units, dtype=np.int32) % 3),
    )


def made_frames(sessions, *, seed=0, **about):
    random = np.random.default_rng(seed)
    return {f"s{number:03}": made_frame(random, **about) for number in range(sessions)}


def made_settings(**changes):
    told = {
        "level": "step",
        "need": "b_ref",
        "budget": 2000,
        "scoring": Scoring(),
        "seed": 0,
        "trials": 64,
        "learning_trials": 2,
        "folds": 3,
        "search_steps": 10,
        "seeds": 1,
        "draws": 500,
        "min_sessions": 30,
        "window_age": 3,
        "null": NullRules(20, 60, 0.004, 0.01),
    }
    return StudySettings(**(told | changes))
