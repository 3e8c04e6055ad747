"""What a study says, as it is kept and printed."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Verdict = Literal["no verdict", "no difference", "better", "worse", "null does not hold"]


class Bounds(msgspec.Struct, frozen=True):
    """A figure and how far it may be off (95 %, paired bootstrap over sessions)."""

    estimate: float
    low: float
    high: float


class PolicyResult(msgspec.Struct, frozen=True, kw_only=True):
    """One policy, over all scored moments: means over sessions of means over moments.

    Attributes:
        name: As in a report.
        kind: `hand-set`, `tuned` (each session judged by weights found without it), `bound` or `learned`.
        recall: Share of the needed units taken.
        share: Share of the pool's units taken.
        lift: recall - share: the headline.
        matched: Recall above chance within units of like kind and size.
        ndcg: Order, all grades.
        weak: Recall of grade 1.
        lift_over_seed: Gain in lift over the seed default.
        lift_over_best: Gain in lift over the best hand-set policy.
        matched_over_repaired: Gain in matched recall over the repaired default.
    """

    name: str
    kind: str
    recall: float
    share: float
    lift: float
    matched: float
    ndcg: float
    weak: float | None
    lift_over_seed: Bounds
    lift_over_best: Bounds
    matched_over_repaired: Bounds


class NullRow(msgspec.Struct, frozen=True, kw_only=True):
    """The gains on permuted labels; see `null`."""

    permutations: int
    most: int
    mean: float | None
    standard_error: float | None
    tolerance: float
    standard_error_asked: float
    is_precise: bool
    holds: bool
    gains: list[float]


class GroupRow(msgspec.Struct, frozen=True, kw_only=True):
    """The gain over the best hand-set policy, each group held out whole.

    Attributes:
        by: developer or project.
        name: The group.
        sessions: Scored ones in it.
        gain: In lift.
    """

    by: str
    name: str
    sessions: int
    gain: Bounds


class RuleRow(msgspec.Struct, frozen=True, kw_only=True):
    """Weights tuned on one label, judged held out on another: gain in lift over the repaired default."""

    tuned_on: str
    judged_on: str
    sessions: int
    gain: Bounds


class BesideRow(msgspec.Struct, frozen=True, kw_only=True):
    """Another level, searched the same way.

    Attributes:
        level: `step`, `exchange`, or `window` (by exchange, units at least so many exchanges old as the original has).
        sessions: Scored ones.
        moments: Scored ones.
        lift_over_seed: Held-out gain of the tuned weights.
        lift_over_repaired: The same over the repaired default.
        repaired_over_seed: What the repair alone gains.
    """

    level: str
    sessions: int
    moments: int
    lift_over_seed: Bounds | None
    lift_over_repaired: Bounds | None
    repaired_over_seed: Bounds | None


class SensitivityRow(msgspec.Struct, frozen=True):
    """The change of lift when one weight of the tuned ones is multiplied; in the data that they were found on."""

    weight: str
    factor: float
    change: float


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One scored session: lift by policy."""

    session_id: str
    project_id: str | None
    developer: str | None
    fold: int
    moments: int
    lift: dict[str, float]


class StudyResult(msgspec.Struct, frozen=True, kw_only=True):
    """A study.

    Attributes:
        study_id: Hash of all it depends on: the same study has the same id and goes on where it was broken off.
        level: step or exchange.
        need: Name of the label; see `labels.rules.NEEDS`.
        budget_tokens: What a policy may select.
        embedder: Model behind `semantic`; None where words alone tell.
        seed: Of everything random.
        trials: Points judged in bulk.
        learning_trials: Further points of each search.
        folds: Parts of the cross-validation.
        dropped: What was looked at, scored and left out, with reasons.
        policies: All policies, the hand-set ones first.
        best_hand_set: The one to beat: the hand-set policy of the highest lift.
        gain: Lift of the tuned weights over it, held out; None where there are too few sessions to hold any out.
        in_search_gain: The same where they were searched: how much too good that looks.
        minimum_detectable_effect: The true gain that such a study finds four times in five.
        null: Gains on permuted labels.
        seeds: The held-out gain again under other seeds.
        groups: Whole developers and projects held out.
        rules: Tuned on one label, judged on another.
        beside: Other levels.
        default_weights: In use now, of the weights searched.
        weights: Found on all sessions.
        fold_weights: Found without each part: how far they differ says how well weights are identified.
        not_identifiable: Weights that were not searched, and why.
        sensitivity: What single weights do.
        sessions: Every scored session.
        evaluations: Points judged, bulk trials on true labels.
        evaluations_per_second: Of these.
        verdict: One of `Verdict`.
        why: In words.
        may_apply: Whether `--apply` would write the weights.
        warnings: What to be careful about.
        lacks: What is missing.
    """

    study_id: str
    level: str
    need: str
    budget_tokens: int
    embedder: str | None
    seed: int
    trials: int
    learning_trials: int
    folds: int
    dropped: dict[str, int]
    policies: list[PolicyResult]
    best_hand_set: str | None
    gain: Bounds | None
    in_search_gain: float | None
    minimum_detectable_effect: float | None
    null: NullRow | None
    seeds: list[float]
    groups: list[GroupRow]
    rules: list[RuleRow]
    beside: list[BesideRow]
    default_weights: dict[str, float]
    weights: dict[str, float]
    fold_weights: list[dict[str, float]]
    not_identifiable: dict[str, str]
    sensitivity: list[SensitivityRow]
    sessions: list[SessionRow]
    evaluations: int
    evaluations_per_second: float | None
    verdict: Verdict
    why: str
    may_apply: bool
    warnings: list[str]
    lacks: list[str]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain
