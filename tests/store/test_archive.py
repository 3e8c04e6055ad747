import json
import os
import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import NotFoundError, StoreError
from workbench.store import files as files_module
from workbench.store.archive import Archive, Arrival, Manifest, SourceEntry
from workbench.text.ids import content_hash

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def entry(source_id="source", **changes):
    made = SourceEntry(
        source_id=source_id,
        path=f"/somewhere/{source_id}.jsonl",
        format="claude-code",
        role="main",
        session_id="s1",
        session_ids=["s1", "s2"],
        parent_source_id=None,
        size_bytes=11,
        mtime_ns=1_772_452_800_123_456_789,
        inode=7,
        imported_at=NOON,
    )
    return msgspec.structs.replace(made, **changes)


def arrival(content=b"hello world", of=None, redaction=1):
    return Arrival(content_hash(content), content, redaction, of or entry())


@pytest.fixture
def archive(tmp_path):
    return Archive(tmp_path / "archive")


HELLO = content_hash(b"hello world")
OTHER = content_hash(b"other")


def files(archive):
    return sorted(path.name for path in archive.folder.iterdir())


def test_a_content_comes_back_as_it_was(archive):
    archive.put([arrival()])
    assert archive.read(HELLO) == b"hello world"
    assert archive.manifest(HELLO) == Manifest(11, 1, [entry()])
    assert list(archive.entries()) == [(HELLO, entry())]
    assert files(archive) == [f"{HELLO}.json", f"{HELLO}.zst"]


@settings(max_examples=20, deadline=None)
@given(st.binary(max_size=3000) | st.text(max_size=3000).map(str.encode))
def test_any_content_comes_back_as_it_was(tmp_path_factory, content):
    archive = Archive(tmp_path_factory.mktemp("archive"))
    archive.put([arrival(content)])
    assert archive.read(content_hash(content)) == content


def test_a_manifest_can_be_read_by_eye_and_by_other_programs(archive):
    archive.put([arrival()])
    text = (archive.folder / f"{HELLO}.json").read_text()
    assert text.endswith("}\n")
    assert json.loads(text)["sources"][0] == {
        "source_id": "source",
        "path": "/somewhere/source.jsonl",
        "format": "claude-code",
        "role": "main",
        "session_id": "s1",
        "session_ids": ["s1", "s2"],
        "parent_source_id": None,
        "size_bytes": 11,
        "mtime_ns": 1772452800123456789,
        "inode": 7,
        "imported_at": "2026-03-02T12:00:00Z",
        "age": 0,
    }


def test_contents_are_packed(archive):
    content = b'{"type":"user"}\n' * 10_000
    archive.put([arrival(content)])
    packed = (archive.folder / f"{content_hash(content)}.zst").read_bytes()
    assert len(packed) < len(content) / 100
    assert zstandard.decompress(packed) == content


def test_the_same_again_writes_nothing(archive):
    archive.put([arrival()])
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in archive.folder.iterdir()}
    archive.put([arrival(), arrival()])
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in archive.folder.iterdir()} == before


def test_a_content_of_several_sources_is_stored_once(archive):
    archive.put([arrival(of=entry("b")), arrival(of=entry("a"))])
    archive.put([arrival(of=entry("c"))])
    assert archive.manifest(HELLO).sources == [entry("a"), entry("b"), entry("c")]
    assert files(archive) == [f"{HELLO}.json", f"{HELLO}.zst"]


def test_what_is_told_anew_of_a_source_takes_the_place_of_the_old(archive):
    archive.put([arrival(of=entry("a")), arrival(of=entry("b"))])
    archive.put([arrival(of=entry("a", mtime_ns=9))])
    assert archive.manifest(HELLO).sources == [entry("a", mtime_ns=9), entry("b")]


def test_many_at_once(archive):
    contents = [f"content {number}".encode() for number in range(50)]
    archive.put([arrival(content, entry(f"source {number:02}")) for number, content in enumerate(contents)])
    assert [archive.read(content_hash(content)) for content in contents] == contents
    assert sorted(told.source_id for _, told in archive.entries()) == [f"source {number:02}" for number in range(50)]


def test_nothing_is_no_archive(archive):
    archive.put([])
    assert list(archive.entries()) == []
    assert Archive(archive.folder.parent / "none").manifest(HELLO) is None
    assert list(Archive(archive.folder.parent / "none").entries()) == []


def test_a_content_that_is_not_there_is_not_found(archive):
    with pytest.raises(NotFoundError, match=f"the archive has no content {HELLO}"):
        archive.read(HELLO)
    assert archive.manifest(HELLO) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda packed: packed[:-3],
        lambda _: b"junk",
        lambda _: zstandard.compress(b"others"),
    ],
    ids=["empty", "cut", "junk", "other content"],
)
def test_a_damaged_content_is_told_and_not_read(archive, damage):
    archive.put([arrival()])
    path = archive.folder / f"{HELLO}.zst"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StoreError, match=f"{HELLO}.zst is damaged: "):
        archive.read(HELLO)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"size_bytes": "x"}', b"\xff"])
def test_a_damaged_manifest_is_told(archive, damage):
    archive.put([arrival()])
    (archive.folder / f"{HELLO}.json").write_bytes(damage)
    for act in (lambda: archive.manifest(HELLO), lambda: archive.put([arrival()]), lambda: list(archive.entries())):
        with pytest.raises(StoreError, match=f"{HELLO}.json is damaged: "):
            act()


def test_a_field_that_a_later_version_adds_does_no_harm(archive):
    archive.put([arrival()])
    path = archive.folder / f"{HELLO}.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"more": 1}))
    assert archive.manifest(HELLO) == Manifest(11, 1, [entry()])


# -- contents that a newer one takes the place of ----------------------------------------------------------------------


def test_settling_drops_what_the_new_content_contains_and_numbers_the_rest(archive):
    contents = [b"first", b"second", b"third"]
    for content in contents:
        archive.put([arrival(content)])
    first, second, third = map(content_hash, contents)
    archive.settle("source", [second], [first])
    assert archive.manifest(first) is None
    assert archive.manifest(second).sources == [entry(age=1)]
    assert archive.manifest(third).sources == [entry(age=0)]
    assert files(archive) == sorted(f"{sha}.{kind}" for sha in (second, third) for kind in ("json", "zst"))
    archive.settle("source", [second], [first])
    assert archive.manifest(second).sources == [entry(age=1)]


def test_settling_one_source_leaves_a_content_to_the_others(archive):
    archive.put([arrival(of=entry("a")), arrival(of=entry("b"))])
    archive.settle("a", [], [HELLO])
    assert archive.manifest(HELLO).sources == [entry("b")]
    assert archive.read(HELLO) == b"hello world"
    archive.settle("b", [], [HELLO])
    assert files(archive) == []


# -- crashes and full disks --------------------------------------------------------------------------------------------


def test_what_put_returns_from_is_on_disk(archive, monkeypatch):
    """Each file's bytes before its name, the folder after all, the folder's own name before that."""
    synced, real = [], os.fsync

    def fsync(descriptor):
        about = os.fstat(descriptor)
        synced.append("folder" if stat.S_ISDIR(about.st_mode) else about.st_size)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    folders, real_sync = [], files_module._sync
    monkeypatch.setattr(files_module, "_sync", lambda path, flags: (folders.append(Path(path)), real_sync(path, flags)))
    archive.put([arrival(), arrival(b"other", entry("b"))])
    assert folders == [archive.folder.parent, archive.folder]
    assert synced[0] == synced[-1] == "folder"
    assert sorted(synced[1:-1]) == sorted(path.stat().st_size for path in archive.folder.iterdir())


def test_a_content_whose_manifest_was_never_written_is_taken_up(archive):
    """A kill between the two files."""
    archive.put([arrival()])
    (archive.folder / f"{HELLO}.json").unlink()
    assert archive.manifest(HELLO) is None
    archive.put([arrival()])
    assert archive.manifest(HELLO) == Manifest(11, 1, [entry()])


def test_a_manifest_whose_content_is_gone_gets_it_again(archive):
    archive.put([arrival()])
    (archive.folder / f"{HELLO}.zst").unlink()
    archive.put([arrival()])
    assert archive.read(HELLO) == b"hello world"


def test_files_of_killed_writers_are_no_entries(archive):
    archive.put([arrival()])
    (archive.folder / f".{OTHER}.json.k2j3h4").write_bytes(b'{"size_by')
    (archive.folder / f".{OTHER}.zst.k2j3h4").write_bytes(b"half")
    assert list(archive.entries()) == [(HELLO, entry())]
    assert archive.manifest(OTHER) is None


def test_a_full_disk_is_a_clear_message_and_leaves_nothing_half(archive, monkeypatch):
    archive.put([arrival()])

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"the archive .* cannot be written to: No space left on device"):
        archive.put([arrival(b"other")])
    assert files(archive) == [f"{HELLO}.json", f"{HELLO}.zst"]


def test_a_file_where_the_archive_should_be_is_a_clear_message(archive):
    archive.folder.write_text("mine")
    with pytest.raises(StoreError, match=r"the archive .* cannot be written to: File exists"):
        archive.put([arrival()])


def test_several_threads_may_put_the_same_content(archive):
    threads = [threading.Thread(target=archive.put, args=([arrival()],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert archive.read(HELLO) == b"hello world"
    assert archive.manifest(HELLO) == Manifest(11, 1, [entry()])
    assert files(archive) == [f"{HELLO}.json", f"{HELLO}.zst"]


def test_sources_with_one_content_that_are_put_at_once_are_all_known(archive):
    ids = [f"source{number}" for number in range(12)]
    threads = [threading.Thread(target=Archive(archive.folder).put, args=([arrival(of=entry(each))],)) for each in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.source_id for _, each in archive.entries()) == sorted(ids)


def test_the_same_content_keeps_the_newest_rules_that_it_went_through(archive):
    archive.put([arrival(redaction=2)])
    archive.put([arrival(redaction=0, of=entry("another"))])
    assert archive.manifest(HELLO).redaction == 2


def test_damage_is_set_aside_and_what_is_sound_is_not(archive):
    archive.put([arrival(), arrival(b"other")])
    (archive.folder / f"{HELLO}.zst").write_bytes(zstandard.compress(b"hello worlds"))
    (archive.folder / f"{OTHER}.json").write_bytes(b"{")
    aside = archive.folder.parent / ".aside"
    assert [path.relative_to(aside).parts[1:] for path in archive.set_aside(HELLO)] == [("archive", f"{HELLO}.zst")]
    assert [path.relative_to(aside).parts[1:] for path in archive.set_aside(OTHER)] == [("archive", f"{OTHER}.json")]
    assert archive.set_aside(OTHER) == []
    assert (archive.names(), archive.strays()) == ([HELLO], [OTHER])
    archive.put([arrival(), arrival(b"other")])
    assert (archive.read(HELLO), archive.read(OTHER)) == (b"hello world", b"other")
    assert archive.strays() == []
