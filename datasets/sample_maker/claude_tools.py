"""The tools of Claude Code that the sample sessions call; each really does what it says.

A tool has a `name`, tells its `arguments`, and is used once: `use` gives the text for the model and the details that
Claude Code records beside it (`toolUseResult`).
"""

from __future__ import annotations

import base64
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from sample_maker.patches import around, hunks, numbered

if TYPE_CHECKING:
    from datetime import datetime

    from sample_maker.workshop import Workshop

OUTPUT_LIMIT: Final = 30_000
"""Characters of a command's output that Claude Code shows to the model."""

REJECTION: Final = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)


@dataclass(frozen=True)
class Outcome:
    """What a call brought: `content` for the model, `detail` for the record, as the agent writes them."""

    content: str | list[dict[str, Any]]
    detail: Any
    is_error: bool = False


class Tool(Protocol):
    """Something the model may call."""

    @property
    def name(self) -> str:
        """What the agent calls it."""
        ...

    def arguments(self, shop: Workshop) -> dict[str, Any]:
        """The input of the call."""
        ...

    def use(self, shop: Workshop, at: datetime) -> Outcome:
        """Do it."""
        ...


def refused(reason: str) -> Outcome:
    """A call that the agent itself turned down."""
    return Outcome(f"<tool_use_error>{reason}</tool_use_error>", f"Error: {reason}", is_error=True)


def rejected() -> Outcome:
    """A call that the person did not allow."""
    return Outcome(REJECTION, f"Error: {REJECTION}", is_error=True)


@dataclass(frozen=True)
class Bash:
    """Run a command. With `seconds` it takes that long, and progress records tell of it."""

    command: str
    description: str
    seconds: int = 0
    name: str = "Bash"

    def arguments(self, shop: Workshop) -> dict[str, Any]:
        """The command and what it is for."""
        del shop
        return {"command": self.command, "description": self.description}

    def use(self, shop: Workshop, at: datetime) -> Outcome:
        """Run it; a status other than 0 is an error."""
        output = shop.run(self.command, at)
        if output.exit_code:
            content = _shortened(f"Exit code {output.exit_code}\n{output.text}".rstrip())
            return Outcome(content, f"Error: {content}", is_error=True)
        detail = {
            "stdout": _shortened(output.stdout),
            "stderr": output.stderr,
            "interrupted": False,
            "isImage": False,
        }
        return Outcome(_shortened(output.text), detail)


def _shortened(text: str) -> str:
    if len(text) <= OUTPUT_LIMIT:
        return text
    half = OUTPUT_LIMIT // 2
    return f"{text[:half]}\n\n... [{len(text) - 2 * half} characters truncated] ...\n\n{text[-half:]}"


@dataclass(frozen=True)
class Read:
    """Read a file or some lines of it; a picture comes back as a picture."""

    path: str
    offset: int = 1
    limit: int = 2_000
    name: str = "Read"

    def arguments(self, shop: Workshop) -> dict[str, Any]:
        """The file, and the lines where not all are wanted."""
        given = {"file_path": shop.shown(self.path)}
        return given if self.offset == 1 else {**given, "offset": self.offset, "limit": self.limit}

    def use(self, shop: Workshop, at: datetime) -> Outcome:
        """Read it."""
        del at
        if not shop.real(self.path).is_file():
            return refused("File does not exist.")
        if self.path.endswith(".png"):
            return _picture(shop.real(self.path).read_bytes())
        lines = shop.read(self.path).split("\n")
        part = lines[self.offset - 1 : self.offset - 1 + self.limit]
        file = {
            "filePath": shop.shown(self.path),
            "content": "\n".join(part),
            "numLines": len(part),
            "startLine": self.offset,
            "totalLines": len(lines),
        }
        return Outcome(numbered(part, self.offset), {"type": "text", "file": file})


def _picture(data: bytes) -> Outcome:
    encoded = base64.b64encode(data).decode()
    source = {"type": "base64", "data": encoded, "media_type": "image/png"}
    file = {"base64": encoded, "type": "image/png", "originalSize": len(data)}
    return Outcome([{"type": "image", "source": source}], {"type": "image", "file": file})


@dataclass(frozen=True)
class Edit:
    """Replace one passage of a file."""

    path: str
    old: str
    new: str
    name: str = "Edit"

    def arguments(self, shop: Workshop) -> dict[str, Any]:
        """The passage and what to put there."""
        return {
            "replace_all": False,
            "file_path": shop.shown(self.path),
            "old_string": self.old,
            "new_string": self.new,
        }

    def use(self, shop: Workshop, at: datetime) -> Outcome:
        """Replace it, if it is there exactly once."""
        del at
        before = shop.read(self.path)
        if self.old not in before:
            return refused(f"String to replace not found in file.\nString: {self.old}")
        if before.count(self.old) > 1:
            return refused(
                f"Found {before.count(self.old)} matches of the string to replace, but replace_all is false. "
                "To replace all occurrences, set replace_all to true. To replace only one occurrence, "
                f"please provide more context to uniquely identify the instance.\nString: {self.old}"
            )
        after = before.replace(self.old, self.new)
        shop.write(self.path, after)
        path = shop.shown(self.path)
        detail = {
            "filePath": path,
            "oldString": self.old,
            "newString": self.new,
            "originalFile": before,
            "structuredPatch": hunks(before, after),
            "userModified": False,
            "replaceAll": False,
        }
        opening = (
            f"The file {path} has been updated. Here's the result of running `cat -n` on a snippet of the edited file"
        )
        return Outcome(f"{opening}:\n{around(after, self.new)}", detail)


@dataclass(frozen=True)
class Write:
    """Write a whole file."""

    path: str
    text: str
    name: str = "Write"

    def arguments(self, shop: Workshop) -> dict[str, Any]:
        """The file and its text."""
        return {"file_path": shop.shown(self.path), "content": self.text}

    def use(self, shop: Workshop, at: datetime) -> Outcome:
        """Write it."""
        del at
        path = shop.shown(self.path)
        before = shop.read(self.path) if shop.real(self.path).is_file() else None
        shop.write(self.path, self.text)
        detail = {
            "type": "create" if before is None else "update",
            "filePath": path,
            "content": self.text,
            "structuredPatch": [] if before is None else hunks(before, self.text),
            "originalFile": before,
        }
        return Outcome(f"File created successfully at: {path}", detail)


@dataclass(frozen=True)
class Grep:
    """Search the project's files; `git grep` does the work."""

    pattern: str
    path: str = "."
    files_only: bool = False
    name: str = "Grep"

    def arguments(self, shop: Workshop) -> dict[str, Any]:
        """The pattern, where to look, and how to show it."""
        del shop
        mode = "files_with_matches" if self.files_only else "content"
        return {"pattern": self.pattern, "path": self.path, "output_mode": mode, "-n": True}

    def use(self, shop: Workshop, at: datetime) -> Outcome:
        """Search, untracked files included."""
        flags = "-l" if self.files_only else "-n"
        command = f"git -c core.quotepath=false grep --untracked {flags} -I -E -e {shlex.quote(self.pattern)}"
        found = shop.run(f"{command} -- {shlex.quote(self.path)}", at).stdout
        lines = found.split("\n") if found else []
        if self.files_only:
            content = f"Found {len(lines)} files\n{found}" if lines else "No files found"
            return Outcome(content, {"mode": "files_with_matches", "filenames": lines, "numFiles": len(lines)})
        detail = {"mode": "content", "numFiles": 0, "filenames": [], "content": found, "numLines": len(lines)}
        return Outcome(found or "No matches found", detail)


@dataclass(frozen=True)
class Glob:
    """List files by pattern."""

    pattern: str
    name: str = "Glob"

    def arguments(self, shop: Workshop) -> dict[str, Any]:
        """The pattern."""
        del shop
        return {"pattern": self.pattern}

    def use(self, shop: Workshop, at: datetime) -> Outcome:
        """List them by name."""
        del at
        found = sorted(str(path.relative_to(shop.folder)) for path in shop.folder.glob(self.pattern) if path.is_file())
        paths = [shop.shown(path) for path in found]
        detail = {"filenames": paths, "durationMs": 12, "numFiles": len(paths), "truncated": False}
        return Outcome("\n".join(paths) or "No files found", detail)


@dataclass(frozen=True)
class TodoWrite:
    """Keep the list of tasks: each is (what, status, what is being done)."""

    todos: tuple[tuple[str, str, str], ...]
    name: str = "TodoWrite"

    def arguments(self, shop: Workshop) -> dict[str, Any]:
        """The whole list."""
        del shop
        keys = ("content", "status", "activeForm")
        return {"todos": [dict(zip(keys, todo, strict=True)) for todo in self.todos]}

    def use(self, shop: Workshop, at: datetime) -> Outcome:
        """Nothing but the list changes."""
        del at
        content = (
            "Todos have been modified successfully. Ensure that you continue to use the todo list to track your "
            "progress. Please proceed with the current tasks if applicable"
        )
        return Outcome(content, {"oldTodos": [], "newTodos": self.arguments(shop)["todos"]})
