"""What a name in a link means: the file that Obsidian would open.

Every file is known by each tail of its path (`c`, `b/c`, `a/b/c`), so that a look-up is one step in any vault. Names
are compared in one normal form and without case; the paths that come back are those on disk.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

TargetKind = Literal["note", "attachment", "folder", "self"]

NOTE_ENDING: Final = ".md"


class Target(NamedTuple):
    """What a link leads to: a path as on disk, and what is there."""

    path: str
    kind: TargetKind


def name_key(name: str) -> str:
    """The form in which names are compared: canonically equivalent spellings, and cases, are one."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


@dataclass(frozen=True)
class NamedFiles:
    """What a vault has names for.

    Attributes:
        notes: Paths of the notes, in the order in which they were found.
        attachments: Paths of all other files.
        folders: Paths of the folders.
        titles: Note to its title.
        aliases: Note to the aliases of its front matter.
        other_paths: Another path of a note, by which it is known too, to the note.
    """

    notes: Sequence[str]
    attachments: Sequence[str] = ()
    folders: Sequence[str] = ()
    titles: Mapping[str, str] | None = None
    aliases: Mapping[str, Sequence[str]] | None = None
    other_paths: Mapping[str, str] | None = None


class NameIndex:
    """Finds what names mean in one vault.

    Where several files have a name, it means the one that shares most folders, from the top, with the note that says
    it; among these the one with the shortest path, then the one spelled exactly so, then the first found. File names
    come before titles, titles before aliases.

    Args:
        files: What there is.

    Source: PAI, Vault Index, resolution; Obsidian's help, "Internal links".
    """

    def __init__(self, files: NamedFiles) -> None:
        canonical = {path: path for path in files.notes} | dict(files.other_paths or {})
        self._canonical = canonical
        self._paths = _Paths((path, stem(path)) for path in canonical)
        self._files = _Paths((path, path) for path in files.attachments)
        self._folders = _Paths((path, path) for path in files.folders)
        titles, aliases = files.titles or {}, files.aliases or {}
        self._titles = _Names((titles[path], path) for path in files.notes if path in titles)
        self._aliases = _Names((alias, path) for path in files.notes for alias in aliases.get(path, ()))

    def find(self, target: str, source: str, *, is_markdown: bool = False) -> Target | None:
        """What a link leads to; None where there is nothing of that name.

        Args:
            target: The name, without heading and block.
            source: The note with the link.
            is_markdown: A destination of Markdown is a path from the note's folder first, a wikilink from the top.
        """
        wanted = target.strip().replace("\\", "/")
        if not wanted.strip("/"):
            return None
        found = self._find(wanted, source, is_markdown=is_markdown)
        return found._replace(kind="self") if found and found.kind == "note" and found.path == source else found

    def _find(self, wanted: str, source: str, *, is_markdown: bool) -> Target | None:
        if wanted.endswith("/"):
            return self._folder(wanted, source)
        is_relative = wanted.startswith(("./", "../"))
        here = _joined(posixpath.dirname(source), wanted)
        from_top = None if is_relative else posixpath.normpath(wanted.lstrip("/"))
        starts = [here] if is_relative else [here, from_top] if is_markdown and wanted[0] != "/" else [from_top]
        exact = next((found for start in starts if start and "/" in wanted and (found := self._exact(start))), None)
        if exact:
            return exact
        tail = _tail(wanted)
        return self._named(tail, source) or self._called(wanted, source) or self._folder(tail, source)

    def _exact(self, path: str) -> Target | None:
        note = self._paths.whole(stem(path), path)
        file = self._files.whole(path, path)
        if file and (note is None or "." in posixpath.basename(path)):
            return Target(file, "attachment")
        return Target(self._canonical[note], "note") if note else None

    def _named(self, tail: str, source: str) -> Target | None:
        """The file whose path ends so."""
        if "." in posixpath.basename(tail) and (file := self._files.nearest(tail, source)):
            return Target(file, "attachment")
        note = self._paths.nearest(stem(tail), source)
        if note:
            return Target(self._canonical[note], "note")
        file = self._files.nearest(tail, source)
        return Target(file, "attachment") if file else None

    def _called(self, wanted: str, source: str) -> Target | None:
        """The note with this title or alias."""
        note = self._titles.nearest(wanted, source) or self._aliases.nearest(wanted, source)
        return Target(note, "note") if note else None

    def _folder(self, wanted: str, source: str) -> Target | None:
        path = _tail(wanted.strip("/"))
        found = self._folders.whole(path, path) or self._folders.nearest(path, source) if path else None
        return Target(found, "folder") if found else None


def stem(path: str) -> str:
    """A path without the ending of notes, in whatever case."""
    return path[: -len(NOTE_ENDING)] if path[-len(NOTE_ENDING) :].lower() == NOTE_ENDING else path


def _joined(folder: str, wanted: str) -> str | None:
    """A path from a folder; None where it leads out of the vault."""
    path = posixpath.normpath(posixpath.join(folder, wanted))
    return None if path.startswith(("../", "/")) or path in ("..", ".") else path


def _tail(wanted: str) -> str:
    """A name without what leads to it from somewhere: `../a/b` as `a/b`."""
    return "/".join(part for part in wanted.split("/") if part not in ("", ".", ".."))


class _Group:
    """Files with one name. For each folder above any of them, the best file below it is worked out once."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._best: dict[str, list[str]] | None = None

    def nearest(self, source: str) -> list[str]:
        """The best files below the deepest folder that the source shares with one; several differ in case only."""
        if len(self.paths) == 1:
            return self.paths
        if self._best is None:
            self._best = _best_below(self.paths)
        folder = name_key(posixpath.dirname(source))
        while folder not in self._best:
            folder = posixpath.dirname(folder)
        return self._best[folder]


def _best_below(paths: Iterable[str]) -> dict[str, list[str]]:
    best: dict[str, list[str]] = {}
    for path in paths:
        folder = name_key(posixpath.dirname(path))
        while True:
            known = best.get(folder)
            if known is None or len(path) < len(known[0]):
                best[folder] = [path]
            elif len(path) == len(known[0]) and name_key(path) == name_key(known[0]):
                known.append(path)
            if not folder:
                break
            folder = posixpath.dirname(folder)
    return best


class _Names:
    """Names that are no paths: titles and aliases."""

    def __init__(self, named: Iterable[tuple[str, str]]) -> None:
        self._groups: dict[str, _Group] = {}
        for name, path in named:
            self._add(name_key(name.strip()), path)

    def _add(self, key: str, path: str) -> None:
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group()
        group.paths.append(path)

    def nearest(self, name: str, source: str) -> str | None:
        """The file of this name that is nearest to a note."""
        group = self._groups.get(name_key(name))
        if group is None:
            return None
        best = group.nearest(source)
        return next((path for path in best if stem(path).endswith(stem(name))), best[0]) if len(best) > 1 else best[0]


class _Paths(_Names):
    """Paths, found by each of their tails and as a whole.

    Args:
        named: Path, and the path as links name it: a note's without its ending.
    """

    def __init__(self, named: Iterable[tuple[str, str]]) -> None:
        super().__init__(())
        self._whole: dict[str, list[str]] = {}
        for path, called in named:
            key = name_key(called)
            self._whole.setdefault(key, []).append(path)
            self._add(key, path)
            place = key.find("/")
            while place >= 0:
                self._add(key[place + 1 :], path)
                place = key.find("/", place + 1)

    def whole(self, called: str, spelled: str) -> str | None:
        """The file with exactly this path; of several that differ in case, the one spelled so."""
        paths = self._whole.get(name_key(called), ())
        return next((path for path in paths if path == spelled or stem(path) == spelled), paths[0]) if paths else None
