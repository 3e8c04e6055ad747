"""Telling the shapes of judged sets apart."""

from __future__ import annotations

from pathlib import Path

import msgspec

from workbench.errors import BadInputError, NotFoundError
from workbench.ingest.retrieval.conversations import (
    is_locomo,
    is_longmemeval,
    read_locomo,
    read_longmemeval,
    refuse,
)
from workbench.ingest.retrieval.folder import read_folder
from workbench.ingest.retrieval.judged import JudgedSet


def open_judged_set(path: Path, corpus: Path | None = None) -> JudgedSet:
    """Read a judged set, whatever its shape.

    Args:
        path: A folder with `queries.jsonl` and `qrels.tsv`, or LoCoMo's or LongMemEval's JSON file.
        corpus: For a folder without `corpus.jsonl`: a folder of Markdown notes.

    Returns:
        The set, named after the folder or file.

    Raises:
        NotFoundError: It is not there.
        BadInputError: It has no known shape, or nothing in it can be used.
    """
    if path.is_dir():
        if corpus is not None and not corpus.exists():
            raise NotFoundError(f"there is no corpus {corpus}; --corpus takes a folder of notes or a .jsonl file")
        return read_folder(path, corpus, path.resolve().name)
    if not path.is_file():
        raise NotFoundError(
            f"there is no judged set {path}; give a folder with queries.jsonl and qrels.tsv, or the file of LoCoMo or "
            "LongMemEval"
        )
    try:
        content = msgspec.json.decode(path.read_bytes())
    except msgspec.DecodeError as error:
        raise BadInputError(f"{path} is not JSON: {error}") from error
    if is_locomo(content):
        return read_locomo(content, path.stem)
    if is_longmemeval(content):
        return read_longmemeval(content, path.stem)
    raise refuse(str(path))
