"""Labels of sessions: what is not named stays, secrets stay out, and no writer's change is lost."""

from __future__ import annotations

import multiprocessing

import pytest
from transcripts import SESSION, jsonl, small_session

import workbench as wb
from workbench.errors import BadInputError, NotFoundError
from workbench.telemetry import session_labels

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def bench(tmp_path):
    path = tmp_path / "agent" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    path.write_bytes(jsonl(*small_session()))
    bench = wb.open(tmp_path / "home")
    bench.ingest(path)
    return bench


def test_what_is_not_named_stays_and_none_or_blank_takes_it_away(bench):
    bench.label(SESSION, title="One", arm="new", tags=["a"])
    assert bench.label(SESSION, add_tags=["b", "a", " "]) == {
        "title": "One",
        "tags": ["a", "b"],
        "arm": "new",
        "project": None,
    }
    assert bench.label("last", title=None, arm=" ", remove_tags=["a"]) == {
        "title": None,
        "tags": ["b"],
        "arm": None,
        "project": None,
    }


def test_every_version_is_kept(bench):
    bench.label(SESSION, arm="old", recorded_by="ann")
    bench.label(SESSION, arm="new", recorded_by="bob")
    history = bench.sql("select arm, recorded_by from session_labels_history order by recorded_at")
    assert history.rows() == [("old", "ann"), ("new", "bob")]


def test_credentials_are_replaced_before_anything_is_written(bench):
    told = bench.label(SESSION, title=f"with {SECRET}", arm=SECRET, tags=[SECRET], project=SECRET)
    assert SECRET not in str(told)
    files = [path for path in (bench.home.tables / "session_labels").rglob("*") if path.is_file()]
    assert files
    assert not any(SECRET.encode() in path.read_bytes() for path in files)
    assert SECRET not in str(bench.sql("select * from session_labels_history").to_dicts())


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"colour": "red"}, "there is no label 'colour'"),
        ({"title": 3}, "title is a text"),
        ({"tags": "one"}, "tags are a list"),
        ({"tags": ["a", 2]}, "a tag is a text"),
    ],
)
def test_what_is_no_label_is_refused_and_nothing_is_written(bench, labels, said):
    with pytest.raises(BadInputError, match=said):
        bench.label(SESSION, **labels)
    assert bench.sql("select * from session_labels_history").height == 0


def test_a_label_is_one_line(bench):
    told = bench.label(SESSION, arm=" a\n\tb ", tags=["x\r\ny", "x y"])
    assert (told["arm"], told["tags"]) == ("a b", ["x y"])


def test_a_private_key_is_told_by_its_lines_before_they_are_joined(bench):
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----"
    assert "MIIEvQ" not in str(bench.label(SESSION, title=f"with {key}"))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"title": "x" * 501}, "title has 501 characters, and a label has 500 at most"),
        ({"add_tags": ["y" * 10_240]}, "a tag has 10,240 characters"),
        ({"arm": "\udcff"}, "arm is no valid Unicode"),
    ],
)
def test_what_no_line_of_a_table_can_show_is_refused(bench, labels, said):
    with pytest.raises(BadInputError, match=said):
        bench.label(SESSION, **labels)
    assert bench.sql("select count(*) from session_labels_history").item() == 0
    assert bench.label(SESSION, title="x" * 500)["title"] == "x" * 500


def test_a_session_that_is_not_there_cannot_be_labelled(bench):
    with pytest.raises(NotFoundError):
        bench.label("nobody", arm="x")


def test_a_change_that_meets_another_one_is_made_again_on_top_of_it(bench, monkeypatch):
    other, real = wb.open(bench.home.root), session_labels.record
    calls = []

    def interrupted(store, rows, **options):
        calls.append(options["at"])
        if len(calls) == 1:
            monkeypatch.setattr(session_labels, "record", real)
            other.label(SESSION, title="Theirs")
            monkeypatch.setattr(session_labels, "record", interrupted)
        return real(store, rows, **options)

    bench.label(SESSION, project="p")
    monkeypatch.setattr(session_labels, "record", interrupted)
    told = bench.label(SESSION, arm="mine")
    assert told == {"title": "Theirs", "tags": None, "arm": "mine", "project": "p"}
    assert len(calls) == 2


def _tag(home, tags):
    bench = wb.open(home)
    for tag in tags:
        bench.label(SESSION, add_tags=[tag])


def test_two_processes_that_tag_one_session_lose_no_tag(bench):
    spawn = multiprocessing.get_context("spawn")
    wanted = [[f"{name}{number}" for number in range(5)] for name in "ab"]
    writers = [spawn.Process(target=_tag, args=(bench.home.root, tags)) for tags in wanted]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert sorted(bench.sql("select tags from session_labels").item()) == sorted([*wanted[0], *wanted[1]])
