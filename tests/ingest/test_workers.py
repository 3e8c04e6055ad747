"""Batches prepared here and by another process, whoever is free."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

import pytest
from transcripts import SESSION, jsonl, moment, small_session

from workbench.errors import WorkbenchError
from workbench.ingest import workers
from workbench.ingest.prepare import Prepared, Preparer
from workbench.ingest.sources import KnownSources
from workbench.store.archive import Archive

BATCHES = [[str(number)] for number in range(6)]


class Naming:
    """Says who prepared what; in the process at hand it waits until the other one did, so that both have work."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def prepare(self, paths):
        self.mark.touch()
        return os.getpid(), paths


class Waiting(Naming):
    def prepare(self, paths):
        deadline = time.monotonic() + 30
        while not self.mark.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        return os.getpid(), paths


class Dying(Naming):
    def prepare(self, _):
        self.mark.touch()
        os._exit(7)


class Failing(Naming):
    def prepare(self, paths):
        self.mark.touch()
        raise LookupError(f"no {paths[0]}")


class Make:
    """Makes a preparer in the other process; a class of its own, since what is sent there is pickled."""

    def __init__(self, kind: type[Naming], mark: Path) -> None:
        self.kind, self.mark = kind, mark

    def __call__(self):
        return self.kind(self.mark)


@pytest.fixture(autouse=True)
def _found_by_workers(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*map(str, Path(__file__).parents[:2]), *_python_path()]))


def _python_path():
    return [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]


def prepared(kind, tmp_path, count=2):
    mark = tmp_path / "mark"
    return list(workers.in_workers(Make(kind, mark), Waiting(mark), BATCHES, count))


def test_the_process_at_hand_and_another_one_share_the_batches(tmp_path):
    found = prepared(Naming, tmp_path)
    assert sorted((number, paths) for number, (_, paths) in found) == list(enumerate(BATCHES))
    assert len({pid for _, (pid, _) in found}) == 2
    assert os.getpid() in {pid for _, (pid, _) in found}


def test_one_batch_needs_no_other_process(tmp_path):
    made = workers.in_workers(Make(Dying, tmp_path / "mark"), Naming(tmp_path / "mark"), BATCHES[:1], 2)
    assert list(made) == [(0, (os.getpid(), ["0"]))]


def test_what_another_process_raises_is_raised_here(tmp_path):
    with pytest.raises(LookupError, match="no "):
        prepared(Failing, tmp_path)


def test_a_process_that_dies_is_an_error_that_says_so(tmp_path):
    with pytest.raises(WorkbenchError, match=r"died \(exit code 7\)"):
        prepared(Dying, tmp_path)


def test_whoever_stops_early_leaves_no_process_behind(tmp_path):
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    if not children.exists():
        pytest.skip("this system does not list a process's children")
    others = set(children.read_text().split())
    mark = tmp_path / "mark"
    made = workers.in_workers(Make(Naming, mark), Waiting(mark), BATCHES, 2)
    next(made)
    before = set(children.read_text().split()) - others
    made.close()
    assert len(before) == 1
    assert before & set(children.read_text().split()) == set()


def shouting(data):
    return data.replace(b"Build", b"BUILD")


def test_another_process_redacts_and_archives_as_this_one_does(tmp_path):
    archive = tmp_path / "archive"
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(jsonl(*small_session()))
    make = partial(Preparer, archive, tmp_path / "sessions", KnownSources(), shouting, moment(0))
    found = dict(workers.in_workers(make, Waiting(archive), [[str(path)]] * 2, 2))
    (sha256,) = {sha256 for sha256, _ in Archive(archive).entries()}
    assert b"BUILD" in Archive(archive).read(sha256)
    assert b"Build" not in Archive(archive).read(sha256)
    (theirs,) = [made for made in found.values() if isinstance(made, Prepared)]
    assert theirs.tables["sessions"]["session_id"].to_pylist() == [SESSION]


@pytest.fixture
def _two_cores(tmp_path, monkeypatch):
    """Two cores, and a file that is worth two processes."""
    monkeypatch.setattr(workers, "cores", lambda: 2)
    monkeypatch.setattr(workers, "MANY_BYTES", 2)
    (tmp_path / "session.jsonl").write_bytes(b"{}\n")


@pytest.mark.usefixtures("_two_cores")
def test_a_process_that_was_started_ahead_is_the_one_that_works(tmp_path):
    workers.start_ahead([tmp_path / "session.jsonl"], tmp_path / "tables")
    (ahead,) = workers._ahead
    pids = {pid for _, (pid, _) in prepared(Naming, tmp_path)}
    assert pids == {os.getpid(), ahead.child.pid}
    assert workers._ahead == []


@pytest.mark.usefixtures("_two_cores")
def test_no_process_is_started_ahead_for_little_or_where_most_may_have_landed(tmp_path, monkeypatch):
    workers.start_ahead([tmp_path / "session.jsonl"], tmp_path)
    monkeypatch.setattr(workers, "MANY_BYTES", 4)
    workers.start_ahead([tmp_path / "session.jsonl"], tmp_path / "tables")
    assert workers._ahead == []
