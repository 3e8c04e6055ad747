"""Field cases of search: documents in a chunk index, asked as `workbench search` asks the sessions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cases.landed import PROSE
from workbench.config.knowledge import Embedding, Search
from workbench.providers.embedding import load_embedder
from workbench.search.index import ChunkIndex
from workbench.search.query import Answer, Question, ask
from workbench.search.rank import scored
from workbench.search.refresh import embed_missing, refresh

NOW = datetime(2026, 3, 2, tzinfo=UTC)
KEYS = {"must_find", "should_find", "rank_first", "empty_not_error"}


def check(case: dict[str, Any], folder: Path, home: Path) -> None:
    """Index the case's documents, ask, and compare all that it expects."""
    expected = {key: value for key, value in case["expected"].items() if key not in {*PROSE, "reason"}}
    {"fusion_by_rank": check_fusion, "gone_and_back_again": check_return}.get(case["name"], check_words)(
        expected, folder, home
    )


def check_words(expected: dict[str, Any], folder: Path, home: Path) -> None:
    """Queries in keyword mode: the document each must find, or rank first; or nothing, and why."""
    assert expected.keys() <= KEYS, f"no rule looks up {sorted(expected.keys() - KEYS)}"
    index = ChunkIndex(home / "vectors")
    index.upsert(pl.DataFrame([_row(**json.loads(line)) for line in (folder / "docs.jsonl").read_text().splitlines()]))
    wanted = expected.get("must_find", {}) | expected.get("should_find", {})
    found = {query: ids(asked(index, query, "keyword")) for query in wanted}
    assert {query: document for query, document in wanted.items() if document not in found[query]} == {}
    for query, first in expected.get("rank_first", {}).items():
        assert found[query][0] == first
    for query in expected.get("empty_not_error", []):
        answer = asked(index, query, "keyword")
        assert (ids(answer), len(answer.notices)) == ([], 1), query


def check_fusion(expected: dict[str, Any], folder: Path, _: Path) -> None:
    """Reciprocal ranks of two lists; a document that one list holds twice counts with its best place."""
    lists = json.loads((folder / "lists.json").read_text())
    found = fused(lists["keyword"], lists["semantic"], lists["k"])
    scores = expected["scores"]
    assert found == pytest.approx(scores, abs=1e-9)
    assert [scores[name] for name in found] == pytest.approx([scores[name] for name in expected["order"]])
    ((name, told),) = expected["with_duplicate"].items()
    terms = told.split(",")[0].split(" + ")
    again = fused(lists["keyword"], ["X", "Y", "a", "Y"], lists["k"])
    assert again[name] == pytest.approx(float(sum(map(Fraction, terms))), abs=1e-12)


def fused(keyword: list[str], semantic: list[str], k: float) -> dict[str, float]:
    """Documents to their scores, best first; every place in a list is a chunk of its own."""
    chunks = [(name, -place, None) for place, name in enumerate(keyword)]
    chunks += [(name, None, -place) for place, name in enumerate(semantic)]
    columns = {"session_id": pl.String, "kind": pl.String, "turn": pl.Int64, "occurred_at": pl.Datetime("us", "UTC")}
    frame = pl.DataFrame(
        {
            "chunk_id": [f"{name}/{number}" for number, (name, _, _) in enumerate(chunks)],
            "id": [name for name, _, _ in chunks],
            "keyword": pl.Series([words for _, words, _ in chunks], dtype=pl.Float64),
            "semantic": pl.Series([meaning for _, _, meaning in chunks], dtype=pl.Float64),
        }
    ).with_columns(pl.lit(None, dtype).alias(name) for name, dtype in columns.items())
    hits = scored(frame, "hybrid", Search(fusion="rrf", rrf_k=k), NOW)
    return dict(hits.select("id", "score").iter_rows())


def check_return(expected: dict[str, Any], folder: Path, home: Path) -> None:
    """A note that is deleted, comes back with the same text, and moves."""
    index, embedder = ChunkIndex(home / "vectors"), load_embedder(Embedding(), home)

    def brought_up_to_date() -> tuple[list[str], list[str]]:
        refresh(index, Notes(folder))
        embed_missing(index, embedder)
        answers = (asked(index, "vanishing cat", "semantic", embedder), asked(index, "grin", "keyword"))
        assert [answer.degraded for answer in answers] == [None, None]
        return ids(answers[0]), ids(answers[1])

    cat = folder / "v/Cat.md"
    text = cat.read_text()
    assert brought_up_to_date()[0][0] == "v/Cat.md"
    cat.unlink()
    semantic, keyword = brought_up_to_date()
    gone = {"semantic_contains_Cat": "v/Cat.md" in semantic, "keyword_contains_Cat": "v/Cat.md" in keyword}
    assert gone == expected["after_delete"]
    cat.write_text(text)
    semantic, keyword = brought_up_to_date()
    assert expected["after_restore"]["semantic_contains"] in semantic
    assert expected["after_restore"]["keyword_contains"] in keyword
    (folder / "v/sub").mkdir()
    cat.rename(folder / "v/sub/Cat.md")
    for found in brought_up_to_date():
        assert expected["after_move"]["contains"] in found
        assert expected["after_move"]["not"] not in found


class Notes:
    """The Markdown files of a folder, each a chunk."""

    def __init__(self, folder: Path) -> None:
        self._texts = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.md")}

    def states(self) -> dict[str, str]:
        return self._texts

    def chunks(self, owners: list[str]) -> pl.DataFrame:
        return pl.DataFrame([_row(owner, self._texts[owner]) for owner in owners])


def _row(id: str, text: str) -> dict[str, str]:  # noqa: A002
    return {"chunk_id": f"{id}/0", "kind": "document", "id": id, "text": text}


def asked(index: ChunkIndex, query: str, mode: Any, embedder: Any = None) -> Answer:
    """What the index answers."""
    return ask(index, Question(query, mode, 10), Search(), embedder=lambda: embedder, now=NOW)


def ids(answer: Answer) -> list[str]:
    """The documents found, best first."""
    return answer.hits["id"].to_list()
