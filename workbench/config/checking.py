"""Whether a value fits the declaration of its setting, and in words what would."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import inspect

if TYPE_CHECKING:
    from workbench.config.tree import Spec

_WHOLE_TOLERANCE: Final = 0.01


def checked(spec: Spec, value: Any) -> Any:
    """The value as the setting holds it: lists become tuples, `~` in paths becomes the user's folder.

    Raises:
        ValueError: It does not fit; the message tells what does.
    """
    try:
        fitting = msgspec.convert(value, spec.type, dec_hook=_path)
    except msgspec.ValidationError:
        raise ValueError(allowed(spec)) from None
    parts = fitting if isinstance(fitting, tuple) else (fitting,)
    finite = all(math.isfinite(part) for part in parts if isinstance(part, float))
    if not finite or (spec.about.whole and abs(sum(parts) - 1) > _WHOLE_TOLERANCE):
        raise ValueError(allowed(spec))
    return fitting


def allowed(spec: Spec) -> str:
    """What the setting takes, as in `a whole number above 1000`."""
    words = _words(inspect.type_info(spec.type))
    return f"{words}, together 1" if spec.about.whole else words


def _path(kind: type, value: Any) -> Path:
    if kind is Path and isinstance(value, str | Path) and str(value).strip():
        return Path(os.path.expanduser(value))  # noqa: PTH111 - Path.expanduser raises where there is no such user
    raise ValueError("not a path")


def _words(kind: inspect.Type) -> str:
    words = "a path"
    match kind:
        case inspect.BoolType():
            words = "true or false"
        case inspect.IntType():
            words = f"a whole number{_bounds(kind)}"
        case inspect.FloatType():
            words = f"a number{_bounds(kind)}"
        case inspect.StrType():
            words = "a text that is not empty" if kind.min_length else "a text"
        case inspect.LiteralType():
            words = " or ".join(map(repr, kind.values))
        case inspect.VarTupleType():
            words = f"a list, each entry {_words(kind.item_type)}"
        case inspect.TupleType():
            words = f"a list of {len(kind.item_types)}, each entry {_words(kind.item_types[0])}"
        case inspect.UnionType():
            words = " or ".join(_words(part) for part in kind.types if not isinstance(part, inspect.NoneType))
    return words


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    least = f"above {kind.gt:g}" if kind.gt is not None else f"from {kind.ge:g}" if kind.ge is not None else ""
    most = f"below {kind.lt:g}" if kind.lt is not None else f"to {kind.le:g}" if kind.le is not None else ""
    if least.startswith("from") and not most:
        least = f"of at least {kind.ge:g}"
    return "".join(f" {part}" for part in (least, most) if part)
