"""Which settings of a study may be written into the configuration."""

from __future__ import annotations

from typing import Final

from workbench.errors import BadInputError
from workbench.experiments.study.plain import SpaceResult
from workbench.experiments.study.result import StudyResult

DIGITS: Final = 6
"""Decimals of a weight that is written."""


def weights_to_apply(result: StudyResult | SpaceResult) -> dict[str, float]:
    """The weights that a study found, rounded.

    Only where the lower bound of the held-out gain over the best hand-set policy is above 0, the null holds, and there
    are enough sessions, or of another study enough groups.

    Raises:
        BadInputError: The study does not show that they are better; the message says why.
    """
    if not result.may_apply:
        raise BadInputError(f"nothing was applied: {refusal(result)}")
    found = result.weights if isinstance(result, StudyResult) else result.found
    return {name: round(value, DIGITS) for name, value in found.items()}


def refusal(result: StudyResult | SpaceResult) -> str:
    """Why the weights of a study may not be applied."""
    if result.verdict == "better":
        return "the weights found on everything are those in use"
    return f"{result.verdict}: {result.why}"
