"""Whether arms got the units that were planned for them: the sample-ratio check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ALARM_BELOW: Final = 0.001
"""The p value under which something took units away, and no comparison can be trusted; the usual bar of this check,
low because it is made in every experiment (Fabijan et al. 2019, "Diagnosing sample ratio mismatch")."""

LEAST_EXPECTED: Final = 5.0
"""Units that chi-square wants to be expected in each arm (Cochran 1954)."""


@dataclass(frozen=True)
class RatioCheck:
    """What came of the check.

    Attributes:
        chi2: Chi-square of observed against planned; None where the check was not made.
        p: Its p value, one degree of freedom less than there are arms; None where the check was not made.
        alarm: Whether p is below `ALARM_BELOW`; None where the check was not made.
        note: In words.
    """

    chi2: float | None
    p: float | None
    alarm: bool | None
    note: str


def sample_ratio_check(observed: Mapping[str, int], planned: Mapping[str, float] | None) -> RatioCheck:
    """Compare units per arm with the plan.

    Args:
        observed: Units by arm.
        planned: Shares by arm, in any unit: `{"a": 2, "b": 1}` plans twice as many in a. None where nothing was
            planned, as for arms that were told apart afterwards: equal shares would mean nothing there.

    Returns:
        The check; not made without a plan, without units or with a single arm.

    Raises:
        ValueError: The plan names other arms, or a share is not above 0.
    """
    if planned is None:
        return RatioCheck(None, None, None, "no planned ratio, check not made")
    if set(planned) != set(observed):
        named, there = (", ".join(sorted(names)) for names in (planned, observed))
        raise ValueError(f"the plan is for the arms {named}, but there are {there}")
    if not all(0 < share < float("inf") for share in planned.values()):
        raise ValueError(f"planned shares are above 0, got {dict(planned)}")
    units, whole = sum(observed.values()), sum(planned.values())
    if not units or len(observed) < 2:  # noqa: PLR2004
        return RatioCheck(None, None, None, "nothing to compare with the plan, check not made")
    expected = {arm: units * share / whole for arm, share in planned.items()}
    chi2 = sum((observed[arm] - expected[arm]) ** 2 / expected[arm] for arm in expected)
    return _judged(chi2, len(observed) - 1, min(expected.values()))


def _judged(chi2: float, degrees: int, least_expected: float) -> RatioCheck:
    from scipy.special import chdtrc  # type: ignore[import-untyped]  # noqa: PLC0415

    p = float(chdtrc(degrees, chi2))
    said = "units per arm do not fit the plan" if p < ALARM_BELOW else "units per arm fit the plan"
    rough = f"; rough, since only {least_expected:.1f} units are expected in an arm"
    return RatioCheck(chi2, p, p < ALARM_BELOW, said + (rough if least_expected < LEAST_EXPECTED else ""))
