"""Writing settings into the user's own configuration, without touching what else stands there."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.config.layers import file_layer
from workbench.config.tree import specs
from workbench.errors import ConfigError


def write_settings(home: Path, values: Mapping[str, Any], *, dry_run: bool = False) -> Path:
    """Set values in `<home>/config.json`; it is made where it is missing.

    Args:
        home: The home folder.
        values: By dotted key.
        dry_run: Only check whether they could be written.

    Returns:
        The file.

    Raises:
        ConfigError: Nobody knows a key, `config.toml` sets one of them and would win, or the file cannot be read or
            written.
    """
    unknown = sorted(set(values) - set(specs()))
    if unknown:
        raise ConfigError(f"There are no settings {', '.join(unknown)}.")
    stronger = sorted(set(file_layer(home / "config.toml").known) & set(values))
    if stronger:
        raise ConfigError(
            f"{home / 'config.toml'} sets {', '.join(stronger)}, and wins over config.json: take them out there, "
            "or set them there by hand."
        )
    path = home / "config.json"
    tree = _tree(path)
    for key, value in values.items():
        _set(tree, key, value, path)
    if not dry_run:
        _write(path, json.dumps(tree, indent=2, ensure_ascii=False) + "\n")
    return path


def _tree(path: Path) -> dict[str, Any]:
    try:
        tree = json.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read, so nothing was written into it: {error}") from error
    if not isinstance(tree, dict):
        raise ConfigError(f"{path} holds {type(tree).__name__} instead of a table; nothing was written into it.")
    return tree


def _set(tree: dict[str, Any], key: str, value: Any, path: Path) -> None:
    """Set a dotted key; one that the file writes dotted itself is taken out, so that it stands there once."""
    tree.pop(key, None)
    *groups, name = key.split(".")
    for group in groups:
        inner = tree.setdefault(group, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{path}: {group} is no group of settings there; nothing was written into it.")
        tree = inner
    tree[name] = value


def _write(path: Path, text: str) -> None:
    """Whole or not at all; the packages that read and write our data stand above this one."""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
