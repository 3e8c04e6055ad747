"""A judged set as a folder: `queries.jsonl`, `qrels.tsv`, and `corpus.jsonl` or a folder of Markdown notes.

Notes go through the index of vaults (`notes`), without what would give answers away: their aliases, which are asked
for, and the lines with a link that shows the text of a query of kind `anchor`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from workbench.errors import BadInputError, NotFoundError
from workbench.ingest.retrieval.judged import JudgedSet, judged_set
from workbench.ingest.retrieval.notes import read_notes, searched_texts

QUERIES_FILE: Final = "queries.jsonl"
JUDGEMENTS_FILE: Final = "qrels.tsv"
CORPUS_FILE: Final = "corpus.jsonl"
ANCHOR: Final = "anchor"

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
    asked = [(row["id"], row["text"]) for row in queries]
    source = corpus or _needed(folder / CORPUS_FILE, "or name a folder of Markdown notes: --corpus FOLDER")
    if not source.is_dir():
        documents = ((row["id"], row["text"]) for row in _json_lines(_needed(source), notes))
        return judged_set(name, asked, documents, judgements, left_out=notes)
    anchors = {query["text"] for query in queries if query.get("kind") == ANCHOR}
    found = read_notes(source, anchors, notes)
    judged = judged_set(name, asked, searched_texts(found), judgements, left_out=notes)
    return replace(judged, notes=found)


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
