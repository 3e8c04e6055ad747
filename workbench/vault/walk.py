"""Finding the files of a vault.

Symbolic links are followed, since a vault may be made of them; where one leads is noted. A folder that is met again on
the way down to it is not entered: that would be a circle. One that was met elsewhere is read again, because its files
then have several paths, but no link inside it is followed a second time.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from workbench.vault.note_text import NoteIssue

FileKind = Literal["note", "canvas", "base", "attachment", "folder"]

BUILD_FOLDERS: Final = frozenset({"node_modules", "__pycache__", "bower_components", "site-packages"})
"""Folders that tools fill, by names that no person gives to a folder of notes; they are named in the issues. Those that
begin with a full stop (.obsidian, .trash, .git, .venv) are no part of a vault, as for Obsidian."""

_KINDS: Final[dict[str, FileKind]] = {".md": "note", ".canvas": "canvas", ".base": "base"}

OnFound = Callable[[int], None]


class FoundFile(NamedTuple):
    """A file or folder.

    Attributes:
        path: Below the vault, with `/`, spelled as on disk.
        kind: What it is, by its ending.
        size_bytes: Its size; 0 for a folder.
        mtime_ns: When it was changed; 0 for a folder.
        inode: With `device` it tells the file.
        device: See `inode`.
        link_target: Where it lies, if a symbolic link leads to it.
    """

    path: str
    kind: FileKind
    size_bytes: int
    mtime_ns: int
    inode: int
    device: int
    link_target: str | None


@dataclass
class Listing:
    """What there is in a vault.

    Attributes:
        files: Files and folders, in order of their paths.
        issues: Path and issue of what could not be looked at.
    """

    files: list[FoundFile] = field(default_factory=list)
    issues: list[tuple[str, NoteIssue]] = field(default_factory=list)


class _Folder(NamedTuple):
    path: Path
    prefix: str
    above: frozenset[tuple[int, int]]
    link_target: str | None
    may_follow: bool


def list_files(
    root: Path, *, max_files: int | None = None, max_depth: int | None = None, on_found: OnFound = lambda _: None
) -> Listing:
    """Find the files of a vault.

    Args:
        root: Its folder.
        max_files: Files beyond this number are left out, and that is an issue; no limit unless given.
        max_depth: So are folders deeper than this.
        on_found: Told now and then how many files were found.

    Raises:
        OSError: The folder itself cannot be read.
    """
    return _Walk(max_files, max_depth, on_found).run(root)


class _Walk:
    def __init__(self, max_files: int | None, max_depth: int | None, on_found: OnFound) -> None:
        self._max_files, self._max_depth, self._on_found = max_files, max_depth, on_found
        self._listing = Listing()
        self._count = 0
        self._left_out = 0
        self._seen: set[tuple[int, int]] = set()
        self._later: list[_Folder] = []

    def run(self, root: Path) -> Listing:
        about = root.stat()
        os.scandir(root).close()
        folders = [_Folder(root, "", frozenset({_identity(about)}), None, may_follow=True)]
        self._seen.add(_identity(about))
        while folders or self._later:
            folder = folders.pop() if folders else self._entered_late(self._later.pop(0))
            folders += self._read(folder)
        if self._left_out:
            detail = f"{self._left_out:,} files more than vault.max_files ({self._max_files:,}) were left out"
            self._note("", "left_out", detail)
        self._listing.files.sort()
        return self._listing

    def _entered_late(self, folder: _Folder) -> _Folder:
        """A folder that a link leads to, when all that needs no link has been read: was it seen meanwhile?"""
        try:
            identity = _identity(folder.path.stat())
        except OSError:  # it went while we looked; reading it will say so
            return folder
        may_follow = folder.may_follow and identity not in self._seen
        self._seen.add(identity)
        return folder._replace(may_follow=may_follow)

    def _read(self, folder: _Folder) -> list[_Folder]:
        below: list[_Folder] = []
        try:
            with os.scandir(folder.path) as entries:
                for entry in sorted(entries, key=lambda each: each.name):
                    if not entry.name.startswith("."):
                        below += self._met(folder, entry)
        except OSError as error:
            self._note(folder.prefix.rstrip("/"), "unreadable_folder", f"{error.strerror or error}")
        return below[::-1]

    def _met(self, folder: _Folder, entry: os.DirEntry[str]) -> Iterator[_Folder]:
        path = folder.prefix + entry.name
        if not _is_utf8(path):
            shown = path.encode("utf-8", "backslashreplace").decode()
            self._note(shown, "file_name", "the name is no UTF-8; rename the file")
            return
        try:
            about = entry.stat()
            is_link = entry.is_symlink()
        except OSError as error:
            if entry.is_symlink():
                self._note(
                    path, "broken_symlink", f"it leads to {Path(entry.path).readlink()}, where nothing can be read"
                )
            elif not isinstance(error, FileNotFoundError):  # else it went while we looked
                self._note(path, "unreadable_file", f"{error.strerror or error}")
            return
        target = os.path.realpath(entry.path) if is_link else _below(folder.link_target, entry.name)
        if stat.S_ISDIR(about.st_mode):
            yield from self._met_folder(folder, entry, path, about, target)
        elif stat.S_ISREG(about.st_mode):
            suffix = os.path.splitext(entry.name)[1]  # noqa: PTH122  (a Path for every file took a third of the walk)
            self._add(path, _KINDS.get(suffix.lower(), "attachment"), about, target)

    def _met_folder(
        self, folder: _Folder, entry: os.DirEntry[str], path: str, about: os.stat_result, target: str | None
    ) -> Iterator[_Folder]:
        identity = _identity(about)
        if entry.name in BUILD_FOLDERS:
            self._note(path, "skipped_folder", "a folder that tools fill is no part of the vault")
        elif identity in folder.above:
            self._note(path, "symlink_circle", f"it leads back to {target}, a folder that it lies in")
        elif self._max_depth is not None and path.count("/") >= self._max_depth:
            self._note(path, "left_out", f"deeper than vault.max_depth ({self._max_depth})")
        else:
            self._listing.files.append(FoundFile(path, "folder", 0, 0, about.st_ino, about.st_dev, target))
            found = _Folder(Path(entry.path), path + "/", folder.above | {identity}, target, folder.may_follow)
            if not entry.is_symlink():
                self._seen.add(identity)
                yield found
            elif folder.may_follow:
                self._later.append(found)

    def _add(self, path: str, kind: FileKind, about: os.stat_result, target: str | None) -> None:
        if self._max_files is not None and self._count >= self._max_files:
            self._left_out += 1
            return
        self._count += 1
        self._on_found(self._count)
        self._listing.files.append(
            FoundFile(path, kind, about.st_size, about.st_mtime_ns, about.st_ino, about.st_dev, target)
        )

    def _note(self, path: str, kind: str, detail: str) -> None:
        self._listing.issues.append((path, NoteIssue(kind, None, detail)))


def _identity(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


def _below(folder: str | None, name: str) -> str | None:
    return None if folder is None else os.path.join(folder, name)  # noqa: PTH118


def _is_utf8(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def one_path_each(files: list[FoundFile]) -> dict[str, str]:
    """The other paths of files that have several: path to the file's own path.

    A file's own path is the one with the fewest folders, then the shortest, then the first found.

    Source: PAI, Vault Index.
    """
    groups: dict[tuple[int, int], list[FoundFile]] = {}
    for file in files:
        if file.kind == "note" and file.inode:
            groups.setdefault((file.device, file.inode), []).append(file)
    others: dict[str, str] = {}
    for group in groups.values():
        if len(group) > 1:
            own, *rest = sorted(group, key=lambda each: (each.path.count("/"), len(each.path)))
            others |= {each.path: own.path for each in rest}
    return others
