r"""The files of a diff, whatever their entries hold: a rename, a binary file or a change of mode has no hunk.

Names with other bytes than printable ASCII are quoted by git, with octal escapes of their UTF-8.

Source: git-diff(1), "Generating patch text with -p"; git-config(1), core.quotePath.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_LETTERS: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_HUNK: Final = re.compile(r"@@+ -(?:[0-9]+(?:,([0-9]+))?).* \+[0-9]+(?:,([0-9]+))? @@+")
_BYTE: Final = 0xFF


class FileChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file of a diff.

    Attributes:
        old: Its name before; None where it is new.
        new: Its name after; None where it was deleted.
        change: `modified`, `added`, `deleted`, `renamed`, `copied`, `binary` or `mode A -> B`.
        added: Lines that came.
        removed: Lines that went.
    """

    old: str | None
    new: str | None
    change: str
    added: int = 0
    removed: int = 0


class _Entry:
    """A file under way."""

    def __init__(self, header: str) -> None:
        self.old, self.new = names_of(header)
        self.change = "modified"
        self.old_mode = ""
        self.is_binary = False
        self.added = self.removed = 0

    def take(self, line: str) -> None:
        """Read a line outside of hunks."""
        if line[:1] not in _STARTS:
            return
        for prefix, read in _EXTENDED:
            if line.startswith(prefix):
                read(self, line[len(prefix) :])
                return

    def finish(self) -> FileChange:
        """What it is when its last line is read."""
        change = "binary" if self.is_binary and self.change in {"modified", "added", "deleted"} else self.change
        old = None if change == "added" else self.old
        new = None if change == "deleted" else self.new
        return FileChange(old, new, change, self.added, self.removed)

    def rename(self, *, old: str | None = None, new: str | None = None, change: str) -> None:
        """Read a line that names the file before or after without doubt."""
        self.old, self.new, self.change = old or self.old, new or self.new, change

    def read_new_mode(self, mode: str) -> None:
        """Read the mode after."""
        if self.change == "modified":
            self.change = f"mode {self.old_mode} -> {mode}"

    def read_side(self, name: str, *, old: bool) -> None:
        """Read a `---` or `+++` line."""
        side = _side(name)
        if side is None:
            self.change = "added" if old else "deleted"
        elif self.change not in {"renamed", "copied"}:
            self.old, self.new = (side, self.new) if old else (self.old, side)
        if self.change.startswith("mode "):
            self.change = "modified"


_EXTENDED: Final = (
    ("rename from ", lambda entry, name: entry.rename(old=unquote(name), change="renamed")),
    ("rename to ", lambda entry, name: entry.rename(new=unquote(name), change="renamed")),
    ("copy from ", lambda entry, name: entry.rename(old=unquote(name), change="copied")),
    ("copy to ", lambda entry, name: entry.rename(new=unquote(name), change="copied")),
    ("new file mode", lambda entry, _: setattr(entry, "change", "added")),
    ("deleted file mode", lambda entry, _: setattr(entry, "change", "deleted")),
    ("old mode ", lambda entry, mode: setattr(entry, "old_mode", mode.strip())),
    ("new mode ", lambda entry, mode: entry.read_new_mode(mode.strip())),
    ("Binary files ", lambda entry, _: setattr(entry, "is_binary", True)),
    ("GIT binary patch", lambda entry, _: setattr(entry, "is_binary", True)),
    ("--- ", lambda entry, name: entry.read_side(name, old=True)),
    ("+++ ", lambda entry, name: entry.read_side(name, old=False)),
)


_STARTS: Final = frozenset(prefix[0] for prefix, _ in _EXTENDED)


def summarise_diff(text: str) -> tuple[FileChange, ...]:
    """The files of a diff in their order; nothing for a text that is none.

    Args:
        text: What `git diff`, `git show`, `git log -p` or `diff -u` wrote, cut off or not.
    """
    entries: list[_Entry] = []
    left = (0, 0)
    for line in text.split("\n"):
        if line.startswith(("diff --git ", "diff --cc ", "diff --combined ")):
            entries.append(_Entry(line))
            left = (0, 0)
        elif left != (0, 0) and entries:
            left = _in_hunk(entries[-1], line, left)
        elif line.startswith("@@"):
            left = _hunk_lines(line)
        elif line.startswith("--- ") and (not entries or entries[-1].added or entries[-1].removed):
            entries.append(_Entry(""))
            entries[-1].take(line)
        elif entries:
            entries[-1].take(line)
    return tuple(entry.finish() for entry in entries)


def names_of(header: str) -> tuple[str | None, str | None]:
    """The two names of a `diff --git` line.

    Names with blanks are not quoted; where both are the same, which is told apart from a rename by length, they are
    found all the same.
    """
    rest = header.partition(" ")[2].partition(" ")[2].rstrip()
    if header.startswith(("diff --cc ", "diff --combined ")):
        return unquote(rest), unquote(rest)
    quoted = _QUOTED.match(rest)
    if quoted:
        return _without_prefix(unquote(quoted[0])), _without_prefix(unquote(rest[quoted.end() :].strip()))
    if rest.endswith('"') and ' "' in rest:
        old, _, new = rest.partition(' "')
        return _without_prefix(old), _without_prefix(unquote('"' + new))
    half = len(rest) // 2
    old, new = rest[:half], rest[half + 1 :]
    if _without_prefix(old) != _without_prefix(new):
        old, _, new = rest.partition(" b/")
        new = "b/" + new if new else old
    return (_without_prefix(old), _without_prefix(new)) if rest else (None, None)


def unquote(name: str) -> str:
    """A name as git quotes it, in plain characters.

    Args:
        name: Quoted or not; only a quoted one changes.
    """
    quoted = _QUOTED.fullmatch(name.strip())
    if not quoted:
        return name.strip("\r\n")
    return _ESCAPE.sub(_unescaped, quoted[1].encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


def _unescaped(found: re.Match[bytes]) -> bytes:
    code = found[1]
    return bytes([int(code, 8) & _BYTE]) if code[:1].isdigit() and code[:1] < b"8" else _LETTERS.get(code, code)


def _without_prefix(name: str) -> str:
    return name[2:] if name[:2] in {"a/", "b/", "i/", "w/", "c/", "o/"} else name


def _side(name: str) -> str | None:
    """The name in a `---` or `+++` line; None for no file. A tab begins the time stamp that `diff -u` adds."""
    plain = unquote(name.partition("\t")[0].rstrip())
    return None if plain == "/dev/null" else _without_prefix(plain)


def _hunk_lines(line: str) -> tuple[int, int]:
    found = _HUNK.match(line)
    if found is None:
        return 0, 0
    old, new = (1 if count is None else int(count) for count in found.groups())
    return old, new


def _in_hunk(entry: _Entry, line: str, left: tuple[int, int]) -> tuple[int, int]:
    old, new = left
    if line.startswith("+"):
        entry.added += 1
        return old, max(0, new - 1)
    if line.startswith("-"):
        entry.removed += 1
        return max(0, old - 1), new
    if line.startswith("\\"):
        return left
    if line.startswith("@@"):
        return _hunk_lines(line)
    return max(0, old - 1), max(0, new - 1)
