"""The rules in the order in which they name what several of them take: the more telling first."""

from __future__ import annotations

from typing import Final

from workbench.text.redaction.by_name import BY_NAME
from workbench.text.redaction.by_place import BY_PLACE
from workbench.text.redaction.by_prefix import BY_PREFIX
from workbench.text.redaction.by_shape import BY_SHAPE
from workbench.text.redaction.entropy import ENTROPY
from workbench.text.redaction.rule import Rule

__all__ = ["ENTROPY", "RULES", "Rule"]

RULES: Final = (*BY_PREFIX, *BY_SHAPE, *BY_PLACE, *BY_NAME)
