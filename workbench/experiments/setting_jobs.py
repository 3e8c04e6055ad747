"""Studies of settings, whatever was studied: made again, and written into the configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

from workbench.errors import BadInputError
from workbench.experiments.retrieval.fusion_study import FUSION, SEMANTIC_WEIGHT, fusion_again, fusion_settings
from workbench.experiments.state_objective import What
from workbench.experiments.state_study import state_settings, state_study_again
from workbench.experiments.study.apply import weights_to_apply

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.experiments.setting_studies import SettingRecipe
    from workbench.experiments.study.plain import SpaceResult
    from workbench.store.lake import Lake


def setting_study_again(
    lake: Lake, config: Config, recipe: SettingRecipe, *, progress: Callable[[int, int, str], None] | None = None
) -> SpaceResult:
    """Make a study of settings again: every point, part and permutation anew. Nothing is recorded.

    Args:
        lake: At the versions of the recipe.
        config: Of today; the recipe comes before it.
        recipe: What the study was made from.
        progress: Called with things done, things in all and what they are.

    Raises:
        BadInputError: This version knows no such study, or what it was made from is not what it was.
        NotFoundError: That is gone.
        EmbedderUnavailableError: Vectors are to be made and there is no embedder.
    """
    if recipe.what == FUSION:
        return fusion_again(recipe, config, lake.home.vectors, progress=progress)
    if recipe.what in get_args(What):
        return state_study_again(lake, recipe, progress=progress)
    raise BadInputError(f"this version of workbench knows no study of {recipe.what!r}")


def settings_to_apply(result: SpaceResult, config: Config) -> dict[str, float]:
    """What a study found, as the configuration has it.

    Args:
        result: The study.
        config: In use: what goes with a setting is changed with it.

    Raises:
        BadInputError: The study does not show that it is better.
    """
    found = weights_to_apply(result)
    return fusion_settings(found) if SEMANTIC_WEIGHT in found else state_settings(found, config.tiers)
