"""What a report was made from, so that it can be made again: a JSON file beside it."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from workbench.store.files import write_atomic

PACKAGES: Final = ("workbench", "deltalake", "duckdb", "polars", "pyarrow", "vl-convert-python")
"""Those that a report's numbers and drawings depend on."""


def package_versions() -> dict[str, str | None]:
    """Versions of Python and `PACKAGES`; None for what is not installed as a package."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


@dataclass(frozen=True)
class Manifest:
    """What a report was made from.

    Attributes:
        report: Which report it is.
        created_at: When, with a zone.
        tables: The Delta version of each table that was read; None for one that did not exist.
        parameters: What was asked for.
        seed: Where chance had a part.
        packages: Versions by package.
    """

    report: str
    created_at: datetime
    tables: Mapping[str, int | None]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    packages: Mapping[str, str | None] = field(default_factory=package_versions)

    def json(self, file: str, content: bytes) -> bytes:
        """The manifest of a written report, which it names by its hash."""
        told = {
            "report": self.report,
            "file": file,
            "sha256": sha256(content).hexdigest(),
            "size_bytes": len(content),
            "created_at": self.created_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
            "parameters": dict(self.parameters),
            "seed": self.seed,
            "tables": dict(self.tables),
            "packages": dict(self.packages),
        }
        return json.dumps(told, indent=1, ensure_ascii=False).encode() + b"\n"


def write_report(path: Path, html: str, manifest: Manifest) -> Path:
    """Write a report and its manifest, each wholly or not at all.

    Args:
        path: The report's file; its folder is made.
        html: The page.
        manifest: What it was made from.

    Returns:
        The manifest's file, `<name>.manifest.json`.

    Raises:
        OSError: The folder cannot be written to.
    """
    content = html.encode()
    beside = path.with_name(f"{path.stem}.manifest.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, content)
    write_atomic(beside, manifest.json(path.name, content))
    return beside
