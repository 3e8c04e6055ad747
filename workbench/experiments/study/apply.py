"""Which settings of a study may be written into the configuration."""

from __future__ import annotations

from typing import Final

from workbench.errors import BadInputError
from workbench.experiments.study.result import StudyResult

DIGITS: Final = 6
"""Decimals of a weight that is written."""


def weights_to_apply(result: StudyResult) -> dict[str, float]:
    """The weights that a study found, rounded.

    Only where the lower bound of the held-out gain over the best hand-set policy is above 0, the null holds, and there
    are enough sessions.

    Raises:
        BadInputError: The study does not show that they are better; the message says why.
    """
    if not result.may_apply:
        raise BadInputError(f"nothing was applied: {refusal(result)}")
    return {name: round(value, DIGITS) for name, value in result.weights.items()}


def refusal(result: StudyResult) -> str:
    """Why the weights of a study may not be applied."""
    if result.verdict == "better":
        return "the weights found on all sessions are those in use"
    return f"{result.verdict}: {result.why}"
