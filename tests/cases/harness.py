"""Run field cases: small inputs behind faults that people reported of other tools, with the right outcome.

A case file is `<topic>.json` in the cases folder. Its adapter is `adapters/<topic>.py`, every character other than a
letter or digit written as an underscore, found by that name alone:

    check(case, folder, home)   raises unless the product does what the case says; `folder` holds the case's files,
                                `home` is an empty folder
"""

from __future__ import annotations

import base64
import importlib
import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

HERE = Path(__file__).parent
DATA = HERE / "data"
ADAPTERS = HERE / "adapters"


class HarnessError(Exception):
    """The cases folder, or a file that a case describes, cannot be used."""


@dataclass(frozen=True)
class Topic:
    """One case file."""

    name: str
    cases: list[dict[str, Any]]

    def __str__(self) -> str:
        return self.name

    @property
    def slug(self) -> str:
        return slug(self.name)

    def ids(self) -> list[str]:
        """Name each case's test; a name that recurs gets a number."""
        result: list[str] = []
        for case in self.cases:
            name = chosen = f"{self.slug}__{slug(case['name'])}"
            number = 1
            while chosen in result:
                number += 1
                chosen = f"{name}_{number}"
            result.append(chosen)
        return result


def read_topics(folder: Path) -> list[Topic]:
    """Read every case file of a folder, in the order of their names."""
    files = sorted(folder.glob("*.json"))
    if not files:
        raise HarnessError(f"no cases in {folder}: expected files <topic>.json")
    return [Topic(file.stem, json.loads(file.read_text(encoding="utf-8"))["cases"]) for file in files]


def load_adapter(topic: Topic) -> ModuleType | None:
    """Import the adapter of a topic; None where there is none."""
    if not (ADAPTERS / f"{topic.slug}.py").exists():
        return None
    return importlib.import_module(f"{__package__}.adapters.{topic.slug}")


def write_files(files: dict[str, str | dict[str, str]], folder: Path) -> None:
    """Write a case's files: text as UTF-8 byte for byte, `{"base64": ...}` decoded.

    Raises:
        HarnessError: A path that is absolute, names no file or leads out of the folder; content of another form.
    """
    for path, content in files.items():
        parts = PurePosixPath(path).parts
        target = folder.joinpath(*parts)
        if not parts or ".." in parts or target == folder or not target.resolve().is_relative_to(folder.resolve()):
            raise HarnessError(f"unsafe path in files: {path!r}")
        if isinstance(content, str):
            data = content.encode("utf-8")
        elif isinstance(content, dict) and content.keys() == {"base64"}:
            data = base64.b64decode(content["base64"], validate=True)
        else:
            raise HarnessError(f"{path}: expected a text or {{'base64': ...}}, got {content!a}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def slug(text: str) -> str:
    """Write a name with ASCII letters, digits and underscores only."""
    return re.sub(r"[^A-Za-z0-9_]", "_", text)
