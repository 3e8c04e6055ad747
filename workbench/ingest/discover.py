"""Which files there are to import: those that were named, or those where agents keep their own."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from workbench.text.redaction import redact


class Found(NamedTuple):
    """A file that might be a source, as its folder shows it; it has not been opened."""

    path: str
    size_bytes: int
    mtime_ns: int
    inode: int


class Unreadable(NamedTuple):
    """A path that cannot be looked at, and why."""

    path: str
    reason: str


def agent_folders(
    claude_config_dir: Path | None, codex_home: Path | None, xdg_config_dir: Path | None, user_home: Path
) -> list[Path]:
    """Folders in which agents keep their sessions, whether they exist or not.

    Args:
        claude_config_dir: Claude Code's own setting (`CLAUDE_CONFIG_DIR`); several may be joined by commas.
        codex_home: Codex's own setting (`CODEX_HOME`).
        xdg_config_dir: `XDG_CONFIG_HOME`; `.config` in the user's home unless given.
        user_home: The user's home folder.

    Returns:
        The folders, without repeats.
    """
    named = [Path(part.strip()).expanduser() for part in str(claude_config_dir or "").split(",") if part.strip()]
    xdg = xdg_config_dir or user_home / ".config"
    roots = named or [user_home / ".claude", xdg / "claude"]
    codex = codex_home or user_home / ".codex"
    others = (
        codex / "sessions",
        codex / "archived_sessions",
        user_home / ".pi" / "agent" / "sessions",
        user_home / ".gemini" / "tmp",
        user_home / ".praana" / "sessions",
    )
    return list(dict.fromkeys([*(root / "projects" for root in roots), *others]))


def spelled(path: str) -> str:
    """A path as text: bytes of a name that are no text become escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def told(path: str) -> str:
    """A path as it is written into tables and messages, credentials in its names replaced."""
    text = spelled(path)
    if redact.text(text) == text:
        return text
    return _without_credentials(os.sep.join(map(_without_credentials, text.split(os.sep))))


def _without_credentials(name: str) -> str:
    """Two bytes of a hash tell names apart that differ in nothing but a credential; more would help to guess it."""
    clean = redact.text(name)
    return name if clean == name else f"{clean}#{blake2b(name.encode(), digest_size=2).hexdigest()}"


def walk(paths: Iterable[Path]) -> Iterator[Found | Unreadable]:
    """All regular files under the given paths, sorted by path within each.

    Links are followed; a folder that was seen already, by device and inode, is not entered again.

    Yields:
        Files, and paths that cannot be looked at.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        yield from _walk(os.path.realpath(path.expanduser()), seen)


def _walk(path: str, seen: set[tuple[int, int]]) -> Iterator[Found | Unreadable]:
    try:
        about = os.stat(path)
        key = (about.st_dev, about.st_ino)
        if key in seen:
            return
        seen.add(key)
        if stat.S_ISREG(about.st_mode):
            yield Found(path, about.st_size, about.st_mtime_ns, about.st_ino)
            return
        if not stat.S_ISDIR(about.st_mode):
            yield Unreadable(path, "neither a file nor a folder")
            return
        names = sorted(os.listdir(path))
    except OSError as error:
        yield Unreadable(path, error.strerror or str(error))
        return
    for name in names:
        yield from _walk(os.path.join(path, name), seen)
