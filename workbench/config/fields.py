"""How one setting is declared: type, default, meaning, source, who may set it, and how it relates to its neighbour.

The groups are msgspec structs. Loading a configuration takes some 90 ms with them, msgspec's own import included, which
the events need anyway; the same groups as pydantic models took 450 ms, and pydantic-settings 250 ms more (measured with
compiled bytecode on two busy cores). msgspec also refuses one value at a time, as the warnings want it.
"""

from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from workbench.config.records import is_secret_name, masked


class About(Struct, frozen=True):
    """What is known of a setting besides its type and default; stands in its annotation.

    Attributes:
        meaning: One line.
        source: Where the default comes from.
        seed_key: The dotted key under which a seed knows it, where that differs from ours; both are read.
        local_only: Not taken from a project's file, which comes with a cloned repository: URLs, paths, permissions.
        no_effect: Why it is accepted and does nothing here; empty for all that have effect.
        secret: Never shown, never hashed.
        variable: A variable of another program that sets it too.
        above: The neighbour in the same group that it must be greater than.
        below: The neighbour that it must be less than.
        whole: Whether its entries must add up to 1.
        hashed: Whether it is part of `config_hash`.
    """

    meaning: str
    source: str
    seed_key: str = ""
    local_only: bool = False
    no_effect: str = ""
    secret: bool = False
    variable: str = ""
    above: str = ""
    below: str = ""
    whole: bool = False
    hashed: bool = True


class Settings(Struct, frozen=True):
    """Base of every group."""

    def __repr__(self) -> str:
        """Fields with credentials masked, so that none reaches a traceback or a notebook."""
        fields = ((name, getattr(self, name)) for name in self.__struct_fields__)
        shown = ", ".join(
            f"{name}={masked(name, value) if is_secret_name(name) else value!r}" for name, value in fields
        )
        return f"{type(self).__name__}({shown})"


Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Amount = Annotated[float, Meta(ge=0)]
Ratio = Annotated[float, Meta(ge=0, le=1)]
Texts = tuple[str, ...]
Paths = tuple[Path, ...]
Pair = tuple[Count, Count]
Seconds = tuple[Amount, ...]
Shares = tuple[Ratio, Ratio, Ratio, Ratio, Ratio]
