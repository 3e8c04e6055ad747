"""Where finished sessions are put: files below one folder, and what was counted of each."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sample_maker.truth import Truth, as_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Shelf:
    """The folder of the samples while they are made; projects put their sessions there at the same time."""

    def __init__(self, folder: Path) -> None:
        """Put files below `folder`."""
        self._folder = folder
        self._truths: list[Truth] = []
        self._lines: dict[str, int] = {}

    def put(self, truth: Truth, path: str, lines: Sequence[str]) -> None:
        """Write one file of a session, a line ending each record."""
        target = self._folder / PurePosixPath(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        self._lines[path] = len(lines)
        truth.files.append(path)
        if truth not in self._truths:
            self._truths.append(truth)

    def close(self, versions: Mapping[str, str]) -> list[Truth]:
        """Write `expected.toml`; the truths by name of scenario."""
        truths = sorted(self._truths, key=lambda truth: truth.scenario)
        text = as_toml(truths, self._lines, versions)
        (self._folder / "expected.toml").write_text(text, encoding="utf-8", newline="\n")
        return truths
