"""Search over the sessions of a home, from import to hit."""

from __future__ import annotations

import shutil
from datetime import timedelta

import pytest
from transcripts import (
    CWD,
    OTHER,
    SESSION,
    call,
    jsonl,
    logged,
    moment,
    prompt,
    response,
    result,
    text,
    tokens,
)

import workbench as wb
from search.word_embedder import WordEmbedder
from workbench.errors import BadInputError, EmbedderUnavailableError, NotFoundError
from workbench.search.sessions import SessionSearch


def first_session():
    """A prompt, an edit, a failing run of the tests, and the last word."""
    edit = call("toolu_edit", "Edit", file_path="/srv/work/demo/src/pump.py", new_string="def primePumpNow(): ...")
    run = call("toolu_run", "Bash", command="pytest -q tests/test_pump.py")
    return [
        prompt("a1", "Why does the failing test of the pump hang?"),
        response("a2", "msg_a1", edit, usage=tokens(20), seconds=2),
        prompt("a3", [result("toolu_edit", "The file has been updated.")], seconds=3),
        response("a4", "msg_a2", run, usage=tokens(20), seconds=4),
        prompt("a5", [result("toolu_run", "\x1b[31m1 failed\x1b[0m: o'clock assertion", is_error=True)], seconds=5),
        response("a6", "msg_a3", text("The valve was closed. 数据库连接失败了"), usage=tokens(8), seconds=6),
    ]


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    """A folder with the files of two sessions of two projects."""
    folder = tmp_path_factory.mktemp("agent")
    (folder / "one.jsonl").write_bytes(jsonl(*first_session()))
    other = prompt("b1", "Draw the gauge.", session=OTHER, seconds=90_000, cwd="/srv/work/other")
    (folder / "two.jsonl").write_bytes(jsonl(other))
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory, agent):
    """A home with both, indexed and embedded; read only."""
    folder = tmp_path_factory.mktemp("search") / "home"
    with_words(wb.open(folder), agent).embed()
    return folder


def with_words(bench, *paths):
    """The bench with a small embedder, after an import of these paths."""
    if paths:
        bench.ingest(*paths)
    bench._search.__dict__["embedder"] = WordEmbedder()
    return bench


@pytest.fixture
def bench(home):
    return with_words(wb.open(home))


@pytest.fixture
def own(tmp_path, agent):
    """A home of one's own, to be changed."""
    shutil.copytree(agent, tmp_path / "agent")
    return with_words(wb.open(tmp_path / "home"), tmp_path / "agent")


def found(frame):
    return frame.select("session_id", "kind", "id").rows()


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize(
    ("query", "kind", "text_of_it"),
    [
        ("pump hang", "turn", "Why does the failing test of the pump hang?"),
        (
            "prime pump",
            "tool_result",
            "/srv/work/demo/src/pump.py\ndef primePumpNow(): ...\n\nThe file has been updated.",
        ),
        ("o'clock", "tool_result", "pytest -q tests/test_pump.py\n\n1 failed: o'clock assertion"),
        ("据库连", "turn", "The valve was closed. 数据库连接失败了"),
        ("tests/test_pump.py", "tool_result", "pytest -q tests/test_pump.py\n\n1 failed: o'clock assertion"),
    ],
)
def test_what_was_said_and_done_is_found(bench, query, kind, text_of_it, mode):
    hit = bench.search(query, mode=mode).row(0, named=True)
    assert (hit["session_id"], hit["kind"], hit["text"]) == (SESSION, kind, text_of_it)
    assert bench.notices == []


def test_a_session_is_found_by_its_folder_and_its_prompts(bench):
    hit = bench.search("gauge other", kind="session").row(0, named=True)
    assert (hit["session_id"], hit["id"], hit["text"]) == (
        OTHER,
        OTHER,
        "/srv/work/other\n\nDraw the gauge.",
    )


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ({"tool": "Bash"}, {(SESSION, "tool_result")}),
        ({"tool": "o'brien"}, set()),
        ({"role": "assistant"}, {(SESSION, "turn")}),
        ({"session": OTHER}, {(OTHER, "turn"), (OTHER, "session")}),
        ({"session": "last", "kind": "turn"}, {(OTHER, "turn")}),
        ({"project": CWD, "kind": "session"}, {(SESSION, "session")}),
        ({"project": "nowhere"}, set()),
        ({"agent": "claude-code", "since": moment(80_000)}, {(OTHER, "turn"), (OTHER, "session")}),
        ({"until": moment(3), "kind": "turn"}, {(SESSION, "turn")}),
        ({"agent": "pi"}, set()),
    ],
)
def test_filters_confine_the_hits(bench, filters, kept):
    query = "pump test gauge valve assertion"
    assert {pair[:2] for pair in found(bench.search(query, limit=50, **filters))} == kept
    assert {pair[:2] for pair in found(bench.search(query, mode="hybrid", limit=50, **filters))} == kept


def test_hits_tell_where_they_stand(bench):
    hit = bench.search("failing test", kind="turn").row(0, named=True)
    assert (hit["turn"], hit["role"], hit["agent"]) == (1, "user", "claude-code")
    assert hit["occurred_at"] == moment(0)
    event = bench.sql("select event_id, seq from events where kind = 'user_message' and session_id = ?", [SESSION])
    assert (hit["id"], hit["position"]) == event.row(0)


def test_what_does_not_exist_is_an_error(bench):
    for wrong in ({"mode": "graph"}, {"kind": "note"}, {"limit": 0}):
        with pytest.raises(BadInputError, match=r"there (is no|are)|at least 1"):
            bench.search("pump", **wrong)
    with pytest.raises(NotFoundError):
        bench.search("pump", session="nobody")


def test_a_home_without_sessions_has_no_hits(tmp_path):
    bench = with_words(wb.open(tmp_path / "home"))
    assert bench.search("pump", mode="hybrid").rows() == []
    assert bench.notices == []
    done = bench.embed()
    assert (done.texts, done.embedded, done.vectors) == (0, 0, 0)


def test_before_embedding_the_answer_says_so_and_after_it_nothing(own):
    total = own._search.index
    answer = own.answer("pump", mode="hybrid")
    count = total.coverage("words")[1]
    assert answer.degraded == f"no vectors for {count} of {count} texts; run workbench embed"
    assert answer.hits.height > 0
    own.search("pump", mode="hybrid")
    assert own.notices == [answer.degraded]
    done = own.embed()
    assert (done.texts, done.vectors) == (count, count)
    assert own.answer("pump", mode="hybrid").degraded is None


def test_import_leaves_the_index_alone_and_the_next_search_brings_it_up_to_date(own, tmp_path):
    assert not own.home.vectors.exists()
    assert own.search("valve").height > 0
    grown = [*first_session(), prompt("a7", "And the zeppelin?", seconds=60)]
    (tmp_path / "agent/one.jsonl").write_bytes(jsonl(*grown))
    own.ingest(tmp_path / "agent")
    steps = []
    assert {hit[:2] for hit in found(own.answer("zeppelin", progress=lambda *step: steps.append(step)).hits)} == {
        (SESSION, "turn"),
        (SESSION, "session"),
    }
    assert steps == [(0, 1, SESSION)]
    assert own.search("valve").height > 0


def test_events_of_a_session_run_here_are_found_at_once(own):
    folder = own.home.sessions / "00000000-0000-4000-8000-000000000009"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(jsonl(logged(1, session=folder.name, payload={"text": "Find the marmot."})))
    assert (folder.name, "turn") in {hit[:2] for hit in found(own.search("marmot"))}


def test_a_forgotten_session_leaves_the_index(own):
    own.embed()
    assert SESSION in own.search("valve")["session_id"].to_list()
    own.forget(SESSION)
    fresh = with_words(wb.open(own.home.root))
    for mode in ("keyword", "semantic", "hybrid"):
        assert SESSION not in fresh.search("valve pump", mode=mode, limit=50)["session_id"].to_list()
    assert fresh.answer("gauge", mode="hybrid").degraded is None


def test_while_another_process_brings_the_index_up_to_date_the_answer_says_so(own):
    own.search("pump")
    own.ingest(own.home.root.parent / "agent", rehash=True)
    fresh = wb.open(own.home.root)
    fresh.label(SESSION, title="new")
    lock = own._search.index.database.lock("refresh")
    with lock:
        fresh._search._seen_stamp = None
        own._search.index.delete([OTHER])  # so that there is something to be done
        answer = fresh.answer("pump")
    assert answer.hits.height > 0
    assert answer.degraded == (
        "another process is bringing the index up to date; this answer is from what was there before"
    )
    assert fresh.answer("gauge").hits.height > 0


def test_where_the_index_cannot_be_written_the_answer_is_from_what_was_there(own):
    own.search("pump")
    fresh = wb.open(own.home.root)
    own._search.index.delete([OTHER])
    (own.home.vectors / "refresh.lock").unlink()
    (own.home.vectors / "refresh.lock").mkdir()
    answer = fresh.answer("pump")
    assert answer.hits.height > 0
    assert answer.degraded.startswith("the index could not be brought up to date")


def test_the_index_can_be_deleted_and_comes_back(own):
    before = own.search("pump valve", limit=50)
    shutil.rmtree(own.home.vectors)
    after = own.search("pump valve", limit=50)
    assert found(after) == found(before)
    assert after["score"].to_list() == pytest.approx(before["score"].to_list())


def test_a_model_that_is_not_there_is_told_and_words_still_find(home, tmp_path):
    bench = wb.open(home, embedding={"model_path": str(tmp_path / "nowhere")})
    answer = bench.answer("failing test", mode="hybrid")
    assert "nowhere" in answer.degraded
    assert answer.hits.height > 0
    with pytest.raises(EmbedderUnavailableError, match="nowhere"):
        bench.embed()


def test_a_cross_encoder_that_is_not_there_is_told(home, tmp_path):
    bench = wb.open(home, rerank={"model_path": str(tmp_path / "nowhere")})
    answer = bench.answer("failing test")
    assert "nowhere" in answer.degraded
    assert answer.hits.height > 0


def test_lsa_learns_from_the_texts_by_the_first_embed(own):
    bench = wb.open(own.home.root, embedding={"model": "lsa"})
    done = bench.embed()
    assert (done.vectors, done.model[:3]) == (done.texts, "lsa")
    assert wb.open(own.home.root, embedding={"model": "lsa"}).answer("pump", mode="hybrid").degraded is None


def test_a_stale_index_of_another_layout_is_made_anew(own):
    own.search("pump")
    other = SessionSearch(own._lake, wb.open(own.home.root, search={"chunk_tokens": 5}).config)
    hits = other.ask("failing test", now=moment(0) + timedelta(days=1)).hits
    assert max(map(len, hits["text"].to_list())) <= 20
