"""Statistics that hold, usable alone: arrays in, frozen records out; nothing is read, drawn or printed.

Two arms are compared by the difference of their means. `welch` and `paired_t` give the figure and its standard error;
`difference_interval` and `paired_interval` say how far it may be off; `permutation_test` and `sign_flip_test` how often
chance alone does as much; `sequential_interval` holds however often one looks. All of these take many metrics at once,
a column each. What holds when was measured (`simulation`).
"""

from workbench.experiments.statistics.bootstrap import (
    CONFIDENCE,
    RESAMPLES,
    Interval,
    Statistic,
    bootstrap_interval,
    paired_bootstrap_interval,
    unpaired_bootstrap_interval,
)
from workbench.experiments.statistics.correction import benjamini_hochberg
from workbench.experiments.statistics.cuped import Adjusted, cuped
from workbench.experiments.statistics.means import Difference, paired_t, welch
from workbench.experiments.statistics.permutation import PermutationTest, permutation_test, sign_flip_test
from workbench.experiments.statistics.power import minimum_detectable_effect
from workbench.experiments.statistics.ranks import mann_whitney, wilcoxon
from workbench.experiments.statistics.ratio import RatioCheck, sample_ratio_check
from workbench.experiments.statistics.sequential import sequential_interval
from workbench.experiments.statistics.studentised import Intervals, difference_interval, paired_interval

__all__ = [
    "CONFIDENCE",
    "RESAMPLES",
    "Adjusted",
    "Difference",
    "Interval",
    "Intervals",
    "PermutationTest",
    "RatioCheck",
    "Statistic",
    "benjamini_hochberg",
    "bootstrap_interval",
    "cuped",
    "difference_interval",
    "mann_whitney",
    "minimum_detectable_effect",
    "paired_bootstrap_interval",
    "paired_interval",
    "paired_t",
    "permutation_test",
    "sample_ratio_check",
    "sequential_interval",
    "sign_flip_test",
    "unpaired_bootstrap_interval",
    "welch",
    "wilcoxon",
]
