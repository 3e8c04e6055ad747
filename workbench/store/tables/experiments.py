"""The experiments group: what was tried, and what came of it. All recorded: nothing here is made anew from a log."""

from __future__ import annotations

from typing import Final

from workbench.store.schema import BOOL, FLOAT, INT, STRING, STRINGS, TIME, Column, Table

COMPARISONS: Final = Table(
    "comparisons",
    "experiments",
    "recorded",
    "one metric of one arm against the baseline, in one comparison",
    ("comparison_id", "arm", "metric"),
    (
        Column("comparison_id", STRING, "ULID.", required=True),
        Column("design", STRING, "arms: different sessions; pairs: the same, or cells of both.", required=True),
        Column("baseline", STRING, "Name of the arm that the others are compared with.", required=True),
        Column("arm", STRING, "Name of the other arm.", required=True),
        Column("metric", STRING, "The metric; see scorecards.", required=True),
        Column("compared", STRING, "What was compared: the rate where there is one."),
        Column("unit", STRING, "Of the metric."),
        Column("n_baseline", INT, "Units of the baseline that know it."),
        Column("n_arm", INT, "Units of the arm that know it."),
        Column("mean_baseline", FLOAT, "Mean of the baseline."),
        Column("mean_arm", FLOAT, "Mean of the arm."),
        Column("median_baseline", FLOAT, "Median of the baseline."),
        Column("median_arm", FLOAT, "Median of the arm."),
        Column("difference", FLOAT, "Mean of the arm minus mean of the baseline."),
        Column("low", FLOAT, "Lower end of its bootstrap-t interval; null where there is none."),
        Column("high", FLOAT, "Upper end of it."),
        Column("p", FLOAT, "Permutation test of t, of pairs by swapping them."),
        Column("p_adjusted", FLOAT, "Benjamini-Hochberg over all tests of the comparison."),
        Column("p_rank", FLOAT, "Mann-Whitney, of pairs Wilcoxon."),
        Column("minimum_detectable", FLOAT, "True difference that is found with power 80 % at 5 %."),
        Column("sequential_low", FLOAT, "Lower end of the interval that holds however often one looks."),
        Column("sequential_high", FLOAT, "Upper end of it."),
        Column("cuped_difference", FLOAT, "The difference with the pre-period taken out; null without one."),
        Column("cuped_low", FLOAT, "Lower end of its interval."),
        Column("cuped_high", FLOAT, "Upper end of its interval."),
        Column("verdict", STRING, "better, worse, differs, not shown, not tested; dropped where it was left out."),
        Column("notes", STRINGS, "What is to be said of the metric; why it was dropped.", required=True),
        Column("ratio_p", FLOAT, "Of the sample-ratio check; null where it was not made."),
        Column("ratio_alarm", BOOL, "Whether units per arm do not fit the plan; null where that was not checked."),
        Column("settings", STRING, "Arms, plan, seed, draws, and the version of each table that was read: JSON."),
        Column("code_version", STRING, "Version of workbench.", required=True),
        Column("recorded_at", TIME, "When it was made.", required=True),
    ),
    "design 8, Comparison",
)

VERDICTS: Final = Table(
    "verdicts",
    "experiments",
    "recorded",
    "what a person says of one pair of a unit and a moment; of several on one pair the newest counts",
    ("session_id", "level", "turn", "step", "unit_id", "recorded_by", "recorded_at"),
    (
        Column("session_id", STRING, "The session.", required=True),
        Column("level", STRING, "exchange or step.", required=True),
        Column("turn", INT, "The exchange, from 1.", required=True),
        Column("step", INT, "The model call in it; 0 by exchange.", required=True),
        Column("unit_id", STRING, "The unit that was on offer there.", required=True),
        Column("drawn_for", STRING, "The rule that it was drawn for, whose precision it tells of.", required=True),
        Column("rules", STRINGS, "Rules that fired on the pair when it was judged.", required=True),
        Column("opinion", STRING, "needed, not_needed or unclear.", required=True),
        Column("code_version", STRING, "Version of workbench, and so of the rules.", required=True),
        Column("recorded_by", STRING, "Who says so.", required=True),
        Column("recorded_at", TIME, "When.", required=True),
    ),
    "design 6 and 8, Labels",
)

STUDIES: Final = Table(
    "studies",
    "experiments",
    "recorded",
    "one finished study",
    ("study_id",),
    (
        Column("study_id", STRING, "Hash of all that it depends on: data, settings, seed, version.", required=True),
        Column("kind", STRING, "What was studied: scoring.", required=True),
        Column("level", STRING, "exchange or step.", required=True),
        Column("need", STRING, "Name of the label: vis, core, b_ref, c_vis, c_strict or a_ref.", required=True),
        Column("budget_tokens", INT, "Tokens that a policy may select.", required=True),
        Column("embedder", STRING, "Model that judged meaning; null where words alone told."),
        Column("seed", INT, "Of everything random.", required=True),
        Column("sessions", INT, "Sessions looked at.", required=True),
        Column("sessions_scored", INT, "Those with a scored moment.", required=True),
        Column("moments_scored", INT, "Moments whose pool exceeds the budget and holds a needed unit.", required=True),
        Column("best_hand_set", STRING, "The hand-set policy of the highest lift; null where nothing was held out."),
        Column("gain", FLOAT, "Lift of the tuned weights over it, held out."),
        Column("gain_low", FLOAT, "Lower end of its interval."),
        Column("gain_high", FLOAT, "Upper end of its interval."),
        Column("minimum_detectable", FLOAT, "True gain that is found with power 80 % at 5 %."),
        Column("null_mean", FLOAT, "Mean gain on permuted labels."),
        Column("null_standard_error", FLOAT, "Of that mean."),
        Column("null_holds", BOOL, "Whether it is precise and near 0."),
        Column("verdict", STRING, "better, worse, no difference, null does not hold or no verdict.", required=True),
        Column("weights", STRING, "Weights found on all sessions, JSON by setting.", required=True),
        Column("result", STRING, "The whole result, and as `recipe` what it was made from; JSON.", required=True),
        Column("config_hash", STRING, "Hash of the configuration.", required=True),
        Column("code_version", STRING, "Version of workbench.", required=True),
        Column("recorded_at", TIME, "When it ended.", required=True),
    ),
    "design 8, Study",
)

TRIALS: Final = Table(
    "trials",
    "experiments",
    "recorded",
    "one point that a study judged or chose, or one permutation of labels; kept as it is made, for a study to go on",
    ("study_id", "stage", "run", "part", "number"),
    (
        Column("study_id", STRING, "The study, whether or not it ended.", required=True),
        Column("stage", STRING, "bulk, learnt (proposed by the sampler), chosen or permutation.", required=True),
        Column("run", STRING, "main, terms of the original, seed 1, ...; null for a permutation.", required=True),
        Column("part", INT, "The part that was held out; -1 where none was.", required=True),
        Column("number", INT, "Position, from 0.", required=True),
        Column("settings", STRING, "The point, JSON by setting.", required=True),
        Column("value", FLOAT, "Mean lift in the search; of a permutation the held-out gain.", required=True),
        Column("recorded_at", TIME, "When.", required=True),
    ),
    "design 8, Study",
)

TABLES: Final = (STUDIES, TRIALS, COMPARISONS, VERDICTS)
