"""Reading the layers of a configuration: files and variables become flat tables of dotted keys; later layers win.

What is not understood becomes a warning; only a file that was asked for by name and cannot be read is an error.
"""

from __future__ import annotations

import difflib
import json
import re
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from workbench.config.records import ConfigWarning, Sourced, shown
from workbench.config.tree import groups, specs
from workbench.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

PREFIX: Final = "WORKBENCH_"
HOME_VARIABLE: Final = "WORKBENCH_HOME"
_MAX_BYTES: Final = 1_000_000
_MOST_HINTS: Final = 3
_MOST_SEARCHED: Final = 20  # a hostile file may have thousands of keys, and each search takes milliseconds
_FLAGS: Final = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}
_PLACE: Final = re.compile(r"\(at line (\d+), column (\d+)\)")


@dataclass(frozen=True)
class Layer:
    """What one file, or all variables, or the arguments say.

    Attributes:
        known: Values by dotted key, in the names used here.
        unknown: Values of keys that nobody knows, as they were written.
        warnings: What was not taken as written.
    """

    known: Mapping[str, Sourced] = field(default_factory=dict)
    unknown: Mapping[str, Sourced] = field(default_factory=dict)
    warnings: tuple[ConfigWarning, ...] = ()


def merge(lower: Mapping[str, Sourced], upper: Mapping[str, Sourced]) -> dict[str, Sourced]:
    """The upper layer over the lower one: its values win, tables inside values are merged, lists are replaced."""
    merged = dict(lower)
    for key, given in upper.items():
        below = merged.get(key)
        merged[key] = given if below is None else replace(given, value=_over(below.value, given.value))
    return merged


def _over(lower: Any, upper: Any) -> Any:
    if isinstance(lower, dict) and isinstance(upper, dict):
        return lower | {key: _over(lower[key], value) if key in lower else value for key, value in upper.items()}
    return upper


def file_layer(path: Path, *, project: bool = False, required: bool = False) -> Layer:
    """Read a JSON or TOML file; one that is missing says nothing.

    Args:
        path: The file.
        project: Whether it came with a project, and so may not set everything.
        required: Whether a missing or unreadable file is an error.

    Raises:
        ConfigError: The file is required and cannot be used.
    """
    trouble = ""
    try:
        tree = _parsed(path)
    except (FileNotFoundError, NotADirectoryError):
        if required:
            raise ConfigError(f"There is no configuration file {path}; check the path given.") from None
        return Layer()
    except (OSError, ValueError, RecursionError) as error:
        trouble = _trouble(error)
    else:
        if isinstance(tree, dict):
            return sort_out(tree, str(path), project=project)
        trouble = f"it holds {type(tree).__name__} instead of a table"
    kind = path.suffix.lstrip(".").upper()
    if required:
        raise ConfigError(f"The configuration file {path} cannot be read as {kind}: {trouble}. Correct or remove it.")
    message = f"cannot be read as {kind}: {trouble}; nothing in it is used. Correct or remove it"
    return Layer(warnings=(ConfigWarning(str(path), "", message),))


def _parsed(path: Path) -> Any:
    facts = path.stat()
    if not stat.S_ISREG(facts.st_mode):
        raise ValueError("it is not a file")
    if facts.st_size > _MAX_BYTES:
        raise ValueError(f"it has more than {_MAX_BYTES:,} bytes")
    text = path.read_bytes().decode("utf-8-sig")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def _trouble(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}: {error.msg}"
    if isinstance(error, UnicodeDecodeError):
        line = error.object[: error.start].count(b"\n") + 1
        return f"line {line}: it is not UTF-8"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    place = _PLACE.search(str(error))
    reason = _PLACE.sub("", str(error)).strip()
    return f"line {place[1]}, column {place[2]}: {reason}" if place else reason


def argument_layer(overrides: Mapping[str, Any]) -> Layer:
    """Arguments: a tree, or dotted keys."""
    return sort_out(overrides, "argument")


def variable_layer(environ: Mapping[str, str]) -> Layer:
    """`WORKBENCH_*` variables, two underscores for each dot, over the few variables of other programs that count."""
    layers = [
        sort_out({spec.key: text}, spec.about.variable)
        for spec in specs().values()
        if (text := environ.get(spec.about.variable, "")).strip()
    ]
    layers += [
        _one_variable(name, text)
        for name, text in sorted(environ.items())
        if name.startswith(PREFIX) and name != HOME_VARIABLE and text.strip()
    ]
    return stacked(layers)


def stacked(layers: list[Layer]) -> Layer:
    """Several layers as one, the later over the earlier."""
    whole = Layer()
    for layer in layers:
        whole = Layer(
            merge(whole.known, layer.known), merge(whole.unknown, layer.unknown), whole.warnings + layer.warnings
        )
    return whole


def _one_variable(name: str, text: str) -> Layer:
    key = name.removeprefix(PREFIX).lower().replace("__", ".")
    spec = specs().get(key)
    value: Any = text
    if spec is not None and spec.text_kind == "flag":
        value = _FLAGS.get(text.strip().lower(), text)
    elif key in groups() or (spec is not None and spec.text_kind == "json"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
    return sort_out({key: value}, name)


def sort_out(tree: Mapping[str, Any], origin: str, *, project: bool = False) -> Layer:
    """Flatten a tree along the declared groups, and part known keys from unknown ones.

    Args:
        tree: Nested tables as read; a dotted name means the same as nesting; null counts as not given.
        origin: What the warnings name.
        project: Whether settings marked `local_only` are passed over.
    """
    known: dict[str, Sourced] = {}
    unknown: dict[str, Sourced] = {}
    warnings: list[ConfigWarning] = []

    def warn(key: str, message: str) -> None:
        warnings.append(ConfigWarning(origin, key, message))

    for written, key, value in _leaves(tree, "", warn):
        spec = specs().get(key)
        if spec is None:
            unknown[key] = Sourced(value, origin)
            hint = _hint(key) if len(unknown) <= _MOST_SEARCHED else ""
            warn(written, f"nobody knows this key; it is kept and has no effect{hint}")
        elif project and spec.about.local_only:
            warn(written, "a project's file may not set this; put it into the user's configuration")
        else:
            known[key] = Sourced(value, origin)
            if spec.about.no_effect:
                warn(written, f"has no effect here: {spec.about.no_effect}")
    return Layer(known, unknown, tuple(warnings))


def _leaves(tree: Mapping[str, Any], prefix: str, warn: Callable[[str, str], None]) -> Iterator[tuple[str, str, Any]]:
    """Each leaf as (key as written, key as named here, value)."""
    for name, value in tree.items():
        written = f"{prefix}{name}"
        key = _seed_keys().get(written, written)
        if value is None:
            continue
        if key not in groups() or not name:
            yield written, key, value
        elif isinstance(value, Mapping):
            yield from _leaves(value, f"{key}.", warn)
        else:
            warn(written, f"is a group of settings, so {shown(key, value)} cannot be its value; it is passed over")


@cache
def _seed_keys() -> dict[str, str]:
    return {spec.about.seed_key: key for key, spec in specs().items() if spec.about.seed_key}


def _hint(key: str) -> str:
    near = difflib.get_close_matches(key, [*specs(), *filter(None, groups()), *_seed_keys()], n=1, cutoff=0.8)
    if not near:
        last = key.rpartition(".")[2]
        near = [known for known in specs() if known.rpartition(".")[2] == last]
    return f"; did you mean {' or '.join(near)}?" if 0 < len(near) <= _MOST_HINTS else ""
