"""Which files an import would bring."""

import os

from made_sessions import grow_session, session_id, session_path, write_sessions

import workbench as wb
from workbench.ingest.outstanding import look
from workbench.store.home import Home
from workbench.store.lake import Lake
from workbench.store.tombstones import bury


def test_new_and_changed_transcripts_are_told_and_other_files_are_not(tmp_path):
    files, home = tmp_path / "files", tmp_path / "home"
    write_sessions(files, 3, 2)
    wb.open(home).ingest(files)
    lake = Lake(Home.open(home))
    assert look(lake, files) == (3, [], [])
    grow_session(files, 0, 5, 6)
    (new,) = write_sessions(tmp_path / "more", 1, 1)
    new.rename(files / "new.jsonl")
    (files / "notes.md").write_text("# Notes\n")
    (files / "empty.jsonl").touch()
    found = look(lake, files)
    assert (found.transcripts, found.unreadable) == (4, [])
    assert {(each.path, each.is_new) for each in found.outstanding} == {
        (str(session_path(files, 0)), False),
        (str(files / "new.jsonl"), True),
    }
    assert {each.size_bytes for each in found.outstanding if each.is_new} == {(files / "new.jsonl").stat().st_size}


def test_a_file_of_a_forgotten_session_is_not_asked_for_again(tmp_path):
    files, home = tmp_path / "files", tmp_path / "home"
    write_sessions(files, 2, 1)
    lake = Lake(Home.open(home))
    bury(lake, [session_id(0)], recorded_by="user")
    found = look(lake, files)
    assert (found.transcripts, [each.path for each in found.outstanding]) == (1, [str(session_path(files, 1))])


def test_what_cannot_be_looked_at_is_told(tmp_path):
    lake = Lake(Home.open(tmp_path / "home"))
    assert look(lake, tmp_path / "gone") == (0, [], [str(tmp_path / "gone")])
    os.mkfifo(tmp_path / "pipe")
    assert look(lake, tmp_path / "pipe") == (0, [], [str(tmp_path / "pipe")])
