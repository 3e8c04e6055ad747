"""A judged set as a folder: `queries.jsonl`, `qrels.tsv`, and `corpus.jsonl` or a folder of Markdown notes.

Notes are indexed by their title (the file's name) and their text. Their front matter is cut off, since it holds the
aliases that are asked for; for queries of kind `anchor`, whose text is what a link to the note shows, the lines with
such links are taken out as well. Else the answer would stand in the index word for word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from workbench.errors import BadInputError, NotFoundError
from workbench.ingest.retrieval.judged import JudgedSet, judged_set

QUERIES_FILE: Final = "queries.jsonl"
JUDGEMENTS_FILE: Final = "qrels.tsv"
CORPUS_FILE: Final = "corpus.jsonl"
ANCHOR: Final = "anchor"

_FRONT_MATTER: Final = re.compile(r"\A﻿?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_SHOWN: Final = re.compile(r"\[\[[^\[\]|]*\\?\|([^\[\]]*)\]\]")
_GRADED: Final = 3
_NAMED: Final = 3


def read_folder(folder: Path, corpus: Path | None, name: str) -> JudgedSet:
    """Read a folder.

    Args:
        folder: With `queries.jsonl` ({id, text}, perhaps `kind`) and `qrels.tsv` (query, document, grade).
        corpus: A folder of Markdown notes, whose paths are the ids, or a `.jsonl` file of {id, text}; the folder's own
            `corpus.jsonl` unless given.
        name: Names the report.

    Raises:
        NotFoundError: A file is missing.
        BadInputError: Nothing usable is in them.
    """
    notes: list[str] = []
    queries = list(_json_lines(_needed(folder / QUERIES_FILE), notes))
    judgements = list(_judgements(_needed(folder / JUDGEMENTS_FILE), notes))
    source = corpus or _needed(folder / CORPUS_FILE, "or name a folder of Markdown notes: --corpus FOLDER")
    if source.is_dir():
        anchors = {query["text"] for query in queries if query.get("kind") == ANCHOR}
        documents: Iterable[tuple[str, str]] = note_texts(source, anchors, notes)
    else:
        documents = ((row["id"], row["text"]) for row in _json_lines(_needed(source), notes))
    return judged_set(name, [(row["id"], row["text"]) for row in queries], documents, judgements, left_out=notes)


def note_texts(folder: Path, anchors: set[str], notes: list[str]) -> list[tuple[str, str]]:
    """Read the notes of a folder.

    Args:
        folder: Read with all below it; names that begin with a dot are passed over.
        anchors: Texts of links; a line with a link that shows one is left out.
        notes: What cannot be read is appended.

    Returns:
        Path within the folder, with forward slashes, and title and text, by path.
    """
    found = []
    for path in sorted(folder.rglob("*.md")):
        inside = path.relative_to(folder)
        if any(part.startswith(".") for part in inside.parts):
            continue
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            notes.append(f"the note {inside.as_posix()} cannot be read: {error.strerror}")
            continue
        found.append((inside.as_posix(), note_text(path.stem, text, anchors)))
    return found


def note_text(title: str, text: str, anchors: set[str]) -> str:
    """The text of a note as it is indexed: title, then body without front matter and lines that give an answer away."""
    body = _FRONT_MATTER.sub("", text, count=1)
    lines = (line for line in body.splitlines() if not _gives_away(line, anchors))
    return f"{title}\n\n" + "\n".join(lines).strip() + "\n"


def _gives_away(line: str, anchors: set[str]) -> bool:
    return bool(anchors) and any(shown.strip() in anchors for shown in _SHOWN.findall(line))


def _needed(path: Path, otherwise: str = "") -> Path:
    if not path.is_file():
        hint = otherwise or f"a judged set is a folder with {QUERIES_FILE}, {JUDGEMENTS_FILE} and {CORPUS_FILE}"
        raise NotFoundError(f"there is no file {path}; {hint}")
    return path


def _json_lines(path: Path, notes: list[str]) -> Iterator[dict[str, Any]]:
    """Rows with an id and a text; others are named and left out."""
    bad = []
    for number, line in enumerate(_lines(path), start=1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict) and isinstance(row.get("id"), str) and isinstance(row.get("text"), str):
            yield row
        elif line.strip():
            bad.append(number)
    _note_lines(notes, path, bad, 'are not {"id": text, "text": text}')


def _judgements(path: Path, notes: list[str]) -> Iterator[tuple[str, str, float]]:
    """Query, document and grade of each line; a heading is no line."""
    bad = []
    for number, line in enumerate(_lines(path), start=1):
        fields = line.rstrip("\r\n").split("\t")
        try:
            query, document, grade = fields[0], fields[1], float(fields[2])
        except (IndexError, ValueError):
            is_heading = number == 1 and len(fields) == _GRADED
            if line.strip() and not is_heading:
                bad.append(number)
            continue
        yield query, document, grade
    _note_lines(notes, path, bad, "are not query, document, grade with tabs between")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path} is not UTF-8 ({error.reason} at byte {error.start}); convert it") from error


def _note_lines(notes: list[str], path: Path, bad: list[int], what: str) -> None:
    if bad:
        places = ", ".join(map(str, bad[:_NAMED])) + (", ..." if len(bad) > _NAMED else "")
        notes.append(f"{len(bad)} lines of {path.name} {what} (line {places})")
