"""What a held-out gain and the gains on permuted labels come to, in one word and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.experiments.study.null import NullResult
    from workbench.experiments.study.result import Bounds, Verdict


def verdict_of(
    gain: Bounds,
    null: NullResult,
    over: str,
    groups: int,
    *,
    least: int,
    measure: str = "lift",
    of: str = "scored sessions",
) -> tuple[Verdict, str]:
    """The verdict of a study, and why.

    Args:
        gain: Held out, over the best that a person could have set.
        null: Gains on permuted labels.
        over: The name of that best.
        groups: How many groups were held out in turn.
        least: Groups under which there is no verdict.
        measure: What the gain is a gain in.
        of: What the groups are.
    """
    told = f"{measure} {gain.estimate:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}) over {over}, held out"
    if groups < least:
        return "no verdict", f"{groups} {of}, at least {least} are needed; {told}"
    if not null.holds:
        reason = "is not known well enough" if not null.is_precise else "is not near 0"
        return "null does not hold", f"the gain on permuted labels {reason} ({null.mean:+.3f}); {told}"
    if gain.low > 0:
        return "better", told
    if gain.high < 0:
        return "worse", told
    return "no difference", f"{told}: the interval holds 0"
