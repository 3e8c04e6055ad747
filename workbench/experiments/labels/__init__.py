"""Which units of the past an agent turned out to need at a step, as one column a rule (`docs/experiments.md`).

Imitation of what the agent did, not proof that the unit would have helped.

Source: design, "Labels"; measured precision of each rule: the prototype of the study.
"""

from workbench.experiments.labels.rules import DEFAULT_NEED, NEEDS, RULES, label_pairs
from workbench.experiments.labels.trace import Trace, trace_session

__all__ = ["DEFAULT_NEED", "NEEDS", "RULES", "Trace", "label_pairs", "trace_session"]
