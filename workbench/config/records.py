"""What is told about a configuration besides its values: warnings, rows of the explanation, origins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

MASK: Final = "********"
_SECRET_NAME: Final = re.compile(r"(key|key_?id|token|password|passwd|passphrase|secret|credentials?)$", re.IGNORECASE)
_USER_INFO: Final = re.compile(r"//[^/\s]*@")
_SHOWN_CHARS: Final = 80


@dataclass(frozen=True, slots=True)
class ConfigWarning:
    """Something in a configuration that was not taken as written.

    Attributes:
        file: The file, the variable's name, or `argument`.
        key: The dotted key; empty where the whole file is meant.
        message: What was found, what is allowed, and what happens instead.
    """

    file: str
    key: str
    message: str

    def __str__(self) -> str:
        """One line for a person."""
        return f"{self.file}: {self.key}: {self.message}" if self.key else f"{self.file}: {self.message}"


@dataclass(frozen=True, slots=True)
class ExplainRow:
    """One setting, its value and where that comes from.

    Attributes:
        key: Dotted key.
        value: The value in force, as JSON would hold it; secrets are masked.
        default: The value without any configuration.
        origin: `default`, a file's path, a variable's name, `argument`, or the key that a default follows from.
        meaning: One line.
        source: The document or source file that the default comes from.
    """

    key: str
    value: Any
    default: Any
    origin: str
    meaning: str
    source: str


@dataclass(frozen=True, slots=True)
class Sourced:
    """A value as one layer gives it.

    Attributes:
        value: As written, read into Python.
        origin: As in `ExplainRow`.
    """

    value: Any
    origin: str


def is_secret_name(key: str) -> bool:
    """Whether a key sounds like a credential: `..._key`, `token`, `password`, and the like.

    >>> is_secret_name("postgres.password"), is_secret_name("compiler.reserved_output_tokens")
    (True, False)
    """
    return _SECRET_NAME.search(key) is not None


def masked(key: str, value: Any, *, secret: bool = False) -> Any:
    """The value as it may be shown: credentials become asterisks, also inside tables, lists and addresses."""
    if value is None or value == "":
        return value
    if secret or is_secret_name(key):
        return MASK
    if isinstance(value, Mapping):
        return {name: masked(str(name), inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked(key, inner) for inner in value]
    return _USER_INFO.sub(f"//{MASK}@", value) if isinstance(value, str) else value


def shown(key: str, value: Any, *, secret: bool = False) -> str:
    """A value inside a sentence: masked, and cut when it is long."""
    text = repr(masked(key, value, secret=secret))
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
