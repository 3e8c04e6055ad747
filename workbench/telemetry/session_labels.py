"""What people say of a session: title, tags, arm of a comparison, project.

A label has one version for each change, and several writers may change different words of one session at the same
moment: each reads the newest version, changes its own words, and is refused where another committed in between; then
it reads again. So no change is lost. Of two changes of the same word the later one counts, and the earlier one stays
in the history.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import pyarrow.compute as pc

from workbench.errors import BadInputError, ConflictError
from workbench.store.delta import DeltaStore
from workbench.store.entities import record

WORDS: Final = ("title", "tags", "arm", "project")
TRIES: Final = 20
"""How often a change is made anew because others committed; a commit takes some 10 ms."""

MOST_CHARS: Final = 500
"""Of one label, after which it is no label: tables and charts show it on one line. Ours."""

Clean = Callable[[str], str]
"""Takes secrets out of a text."""


def label_session(
    store: DeltaStore,
    session_id: str,
    changes: Mapping[str, Any],
    *,
    add_tags: Collection[str] = (),
    remove_tags: Collection[str] = (),
    recorded_by: str,
    clean: Clean,
) -> dict[str, Any]:
    """Change what is said of a session; what is not named stays.

    Args:
        store: The table `session_labels`.
        session_id: Whole id.
        changes: `title`, `arm`, `project` (None or blank takes it away), `tags` (a list in the place of the old one).
        add_tags: Tags to add.
        remove_tags: Tags to take away.
        recorded_by: Who says so.
        clean: Is given every word before it is stored.

    Returns:
        The four labels as they are now.

    Raises:
        BadInputError: There is no such label, or one is no text, no Unicode or too long.
        ConflictError: Others kept changing labels.
        StoreError: The table cannot be read or written.
    """
    unknown = sorted(changes.keys() - set(WORDS))
    if unknown:
        raise BadInputError(f"there is no label {unknown[0]!r}; there are {', '.join(WORDS)}")
    wanted = {name: _cleaned(name, value, clean) for name, value in changes.items()}
    added = _tags(add_tags, clean)
    removed = {*_tags(remove_tags, clean)}
    last: ConflictError | None = None
    for _ in range(TRIES):
        version, known = _newest(store, session_id)
        row = {**known, **wanted}
        tags = [tag for tag in dict.fromkeys([*(row["tags"] or ()), *added]) if tag not in removed]
        row["tags"] = tags or None
        try:
            record(store, [{"session_id": session_id, **row}], recorded_by=recorded_by, at=version)
        except ConflictError as error:
            last = error
        else:
            return row
    raise ConflictError(f"others kept changing labels while those of {session_id} were changed; try again") from last


def _newest(store: DeltaStore, session_id: str) -> tuple[int, dict[str, Any]]:
    version, rows = store.read(
        ["session_id", *WORDS, "recorded_at", "row_id", "deleted"], pc.field("session_id") == session_id
    )
    versions = sorted(rows.to_pylist(), key=lambda row: (row["recorded_at"], row["row_id"]))
    known = versions[-1] if versions and not versions[-1]["deleted"] else {}
    return version, {name: known.get(name) for name in WORDS}


def _cleaned(name: str, value: Any, clean: Clean) -> Any:
    if name == "tags":
        if isinstance(value, str):
            raise BadInputError(f"tags are a list of texts, got {value!r}")
        return _tags(value or (), clean)
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadInputError(f"{name} is a text, got {value!r}")
    return _line(name, value, clean) or None


def _tags(tags: Collection[str], clean: Clean) -> list[str]:
    odd = next((tag for tag in tags if not isinstance(tag, str)), None)
    if odd is not None:
        raise BadInputError(f"a tag is a text, got {odd!r}")
    return list(dict.fromkeys(_line("a tag", tag, clean) for tag in tags if tag.strip()))


def _line(name: str, text: str, clean: Clean) -> str:
    """A label on one line: white space of any kind is one blank. Secrets of several lines must be told before that."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise BadInputError(f"{name} is no valid Unicode")
    line = clean(" ".join(clean(text).split()))
    if len(line) > MOST_CHARS:
        raise BadInputError(f"{name} has {len(line):,} characters, and a label has {MOST_CHARS} at most")
    return line
