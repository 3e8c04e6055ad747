import json
import os
import resource
import shutil
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from small_lake import BLOBS, EVENTS, LABELS, SESSIONS, filled

from workbench.errors import ConflictError, SchemaError, StoreError
from workbench.store import delta as delta_module
from workbench.store.delta import LONG_LIST, NOTHING, DeltaStore, in_list, quote
from workbench.store.tables import TABLES

HERE = Path(__file__).parent


def store_of(folder, table=BLOBS):
    return DeltaStore(folder / table.name, table)


def blobs(*names, text="text"):
    return BLOBS.from_rows([(name, text) for name in names])


def names(store):
    return sorted(store.read(["sha256"])[1]["sha256"].to_pylist())


def log(store):
    return store.folder / "_delta_log"


@pytest.fixture
def store(tmp_path):
    return store_of(tmp_path)


@pytest.fixture
def synced(monkeypatch):
    """Files and folders in the order in which they were synced."""
    paths = []
    for name in ("sync_file", "sync_folder"):
        real = getattr(delta_module, name)

        def recorded(path, real=real):
            paths.append(Path(path))
            real(path)

        monkeypatch.setattr(delta_module, name, recorded)
    return paths


# -- reading and writing -----------------------------------------------------------------------------------------------


def test_a_table_that_was_never_written_is_empty(store):
    version, rows = store.read(["sha256", "text"])
    assert (version, rows.num_rows, store.version(), store.handle()) == (NOTHING, 0, NOTHING, None)
    assert store.snapshot().dataset().schema == BLOBS.schema
    assert not store.folder.exists()


def test_appended_rows_are_read_back(store):
    assert store.append(blobs("a")) == 1
    assert store.append(blobs("b", "c")) == 2
    assert names(store) == ["a", "b", "c"]
    assert store.read(["sha256"], pc.field("sha256") == "b")[1].to_pylist() == [{"sha256": "b"}]


def test_rows_are_cast_to_the_declaration(store):
    store.append(pa.table({"text": pa.array(["x"], pa.string_view()), "sha256": pa.array(["a"], pa.large_string())}))
    assert store.read(["sha256", "text"])[1].to_pylist() == [{"sha256": "a", "text": "x"}]
    with pytest.raises(SchemaError, match=r"blobs.text is required and missing"):
        store.append(pa.table({"sha256": ["a"]}))


def test_a_created_table_keeps_its_old_versions_and_says_what_it_is(store):
    store.append(blobs("a"))
    about = store.handle().metadata()
    assert about.configuration == {
        "delta.logRetentionDuration": "interval 36500 days",
        "delta.enableExpiredLogCleanup": "false",
        "delta.dataSkippingStatsColumns": "sha256",
    }
    assert (about.name, about.description) == ("blobs", "one text")
    assert store.handle().protocol()[:2] == (1, 2)


def test_old_log_entries_outlive_the_checkpoints(store):
    """Every hundredth commit makes one, and by default drops what is older than thirty days."""
    for number in range(103):
        store.append(blobs(str(number)))
        for entry in log(store).iterdir():
            os.utime(entry, (1_000_000_000, 1_000_000_000))
    assert len(list(log(store).glob("*.checkpoint.parquet"))) == 1
    assert len(list(log(store).glob("*.json"))) == 104
    assert DeltaTable(store.folder, version=3).to_pyarrow_dataset().count_rows() == 3


def test_upsert_replaces_rows_of_the_same_value_and_adds_the_others(store):
    store.append(blobs("a", "b", text="old"))
    store.upsert(blobs("b", "c", text="new"), "sha256")
    assert sorted(store.read(["sha256", "text"])[1].to_pylist(), key=lambda row: row["sha256"]) == [
        {"sha256": "a", "text": "old"},
        {"sha256": "b", "text": "new"},
        {"sha256": "c", "text": "new"},
    ]


@pytest.mark.parametrize("size", [LONG_LIST - 1, LONG_LIST, 20_000])
def test_any_number_of_rows_can_be_replaced_and_deleted(store, size):
    """An `in (...)` of some ten thousand values ends the process by a stack overflow."""
    many = [f"{number:06}" for number in range(size)]
    store.append(blobs("kept", *many, text="old"))
    store.upsert(blobs("new", *many, text="new"), "sha256")
    assert Counter(store.read(["text"])[1]["text"].to_pylist()) == {"old": 1, "new": size + 1}
    store.delete_where("sha256", many)
    assert names(store) == ["kept", "new"]


def test_texts_of_rewritten_files_can_be_compared(store):
    """deltalake writes string_view when it rewrites, which pyarrow's own filters refuse."""
    store.append(blobs("a", "b", "c"))
    store.delete_where("sha256", ["a"])
    store.upsert(blobs("c", text="new"), "sha256")
    assert store.read(["sha256", "text"], pc.field("sha256") == "c")[1].to_pylist() == [{"sha256": "c", "text": "new"}]
    assert store.read(["sha256"], pc.field("sha256").isin(["a", "b"]))[1].to_pylist() == [{"sha256": "b"}]
    assert store.read(["sha256", "text"])[1].schema == BLOBS.schema


def test_deleting_nothing_makes_no_commit(store):
    store.append(blobs("a"))
    assert store.delete_where("sha256", []) is None
    assert store.version() == 1
    store.delete_where("sha256", ["b"])
    assert names(store) == ["a"]


ODD = [
    "o'k",
    "''",
    "a\\b",
    'a"b',
    "x') or (1=1",
    "\n",
    "\t",
    "-- ",
    "/*",
    "%",
    "_",
    "?",
    "$1",
    "{}",
    "é🎉\u2028",
    "null",
]


def test_values_are_no_part_of_a_query(store):
    store.append(blobs(*ODD, "other"))
    store.upsert(blobs(*ODD, text="new"), "sha256")
    assert names(store) == sorted([*ODD, "other"])
    store.delete_where("sha256", ODD)
    assert names(store) == ["other"]


def test_quoting():
    assert quote("o'k") == "'o''k'"
    assert in_list("name", ["a", "b'", 3]) == "name in ('a', 'b''', 3)"


def test_folders_with_odd_names_hold_tables(tmp_path):
    for name in ("sp ace", "é日本🎉", "100%", "a#b?c", "a&b=c+d;e", "it's", "{x}", "~", "a:b"):
        store = store_of(tmp_path / name)
        store.append(blobs("a"))
        store.upsert(blobs("a"), "sha256")
        assert names(store_of(tmp_path / name)) == ["a"]


# -- what statistics keep ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_the_log_has_no_text_that_was_written(tmp_path, table):
    """Statistics outlive a delete, and checkpoints repeat them."""
    store = store_of(tmp_path, table)
    store.append(table.from_dicts([filled(table, number) for number in (1, 2, 3)]))
    store.upsert(table.from_dicts([filled(table, 1)]), table.key[0])
    store.handle().create_checkpoint()
    (checkpoint,) = log(store).glob("*.checkpoint.parquet")
    entries = [path.read_text() for path in log(store).glob("*.json")]
    kept = "".join(entries) + str(pq.read_table(checkpoint).to_pylist())
    assert "SECRET" not in kept
    assert "shown" in kept


# -- durability --------------------------------------------------------------------------------------------------------


def test_a_commit_syncs_its_data_the_folder_its_log_entry_and_the_folder_of_the_log(store, synced):
    store.append(blobs("a"))
    synced.clear()
    store.append(blobs("b"))
    data = newest_file(store)
    assert synced == [data, store.folder, log(store) / f"{2:020}.json", log(store)]


def newest_file(store):
    entry = max(log(store).glob("*.json"))
    (added,) = [json.loads(line)["add"]["path"] for line in entry.read_text().splitlines() if '"add"' in line]
    return store.folder / added


def test_a_new_table_is_durable_with_its_folders(tmp_path, synced, monkeypatch):
    made = []
    monkeypatch.setattr(delta_module, "make_folder", lambda path: (made.append(path), path.mkdir(parents=True)))
    store = store_of(tmp_path / "tables")
    store.append(blobs("a"))
    assert made == [store.folder]
    entries = [log(store) / f"{version:020}.json" for version in (0, 1)]
    assert synced == [newest_file(store), store.folder, *entries, log(store)]


def test_a_commit_syncs_what_other_processes_wrote_since(store, synced):
    """Their entries come before ours: one that a power loss takes makes ours useless."""
    store.append(blobs("a"))
    other = store_of(store.folder.parent)
    other.append(blobs("b"))
    theirs = newest_file(store)
    synced.clear()
    store.append(blobs("c"))
    entries = [log(store) / f"{version:020}.json" for version in (2, 3)]
    assert synced == [theirs, newest_file(store), store.folder, *entries, log(store)]


def test_the_first_commit_of_a_process_syncs_all_that_the_table_consists_of(store, synced):
    """Whoever wrote it may have died before the sync, and a checkpoint may have taken the entry's place."""
    written = []
    for number in range(3):
        store.append(blobs(str(number)))
        written.append(newest_file(store))
    store.handle().create_checkpoint()
    synced.clear()
    mine = store_of(store.folder.parent)
    mine.append(blobs("mine"))
    checkpoint = log(store) / f"{3:020}.checkpoint.parquet"
    entries = [log(store) / f"{version:020}.json" for version in (3, 4)]
    assert set(synced[:5]) == {*written, newest_file(store), checkpoint}
    assert synced[5:] == [store.folder, *entries, log(store)]


def test_a_commit_that_cannot_be_synced_is_not_acknowledged(store, monkeypatch):
    store.append(blobs("a"))

    def broken(path):
        raise OSError(5, "Input/output error", str(path))

    monkeypatch.setattr(delta_module, "sync_file", broken)
    with pytest.raises(StoreError, match=r"the table .*blobs cannot be written: .*Input/output error"):
        store.append(blobs("b"))
    monkeypatch.undo()
    store.append(blobs("c"))
    assert names(store)[-1] == "c"


def test_a_full_disk_is_a_clear_message_and_leaves_the_table_whole(store, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python keeps what it could write of a module
    store.append(blobs("a"))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(StoreError, match=r"the table .*blobs cannot be written: .*File too large"):
            store.append(BLOBS.from_rows([(str(n), os.urandom(64).hex()) for n in range(2000)]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert names(store) == names(store_of(store.folder.parent)) == ["a"]
    store.append(blobs("b"))
    assert names(store) == ["a", "b"]


# -- many at once ------------------------------------------------------------------------------------------------------

APPENDER = """
    import sys
    from pathlib import Path
    from small_lake import BLOBS
    from workbench.store.delta import DeltaStore
    store = DeltaStore(Path(sys.argv[1]) / "blobs", BLOBS)
    for number in range(15):
        store.append(BLOBS.from_rows([(f"{sys.argv[2]} {number:02}", "x")]))
"""


def test_four_processes_append_at_once_and_lose_nothing(store):
    command = [sys.executable, "-c", textwrap.dedent(APPENDER), str(store.folder.parent)]
    processes = [subprocess.Popen([*command, str(n)], cwd=HERE, stderr=subprocess.PIPE, text=True) for n in range(4)]
    assert [process.communicate(timeout=120)[1] for process in processes] == [""] * 4
    assert names(store) == [f"{writer} {number:02}" for writer in range(4) for number in range(15)]


def test_threads_share_one_store(store):
    errors = []

    def work(number):
        try:
            for turn in range(5):
                store.append(blobs(f"{number} {turn}"))
                assert f"{number} {turn}" in names(store)
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert names(store) == sorted(f"{number} {turn}" for number in range(4) for turn in range(5))


def test_a_reader_sees_what_others_wrote(store):
    other = store_of(store.folder.parent)
    assert names(other) == []
    store.append(blobs("a"))
    assert names(other) == ["a"]
    store.delete_where("sha256", ["a"])
    assert names(other) == []


def test_what_a_reader_has_stays_as_it_was(store):
    store.append(blobs("a"))
    snapshot = store.snapshot()
    store.upsert(blobs("a", "b", text="new"), "sha256")
    assert snapshot.dataset().to_table().to_pylist() == [{"sha256": "a", "text": "text"}]
    assert store.version() == snapshot.version + 1


def test_a_snapshot_is_made_once_a_version(store):
    store.append(blobs("a"))
    assert store.snapshot() is store.snapshot()


def test_a_commit_for_another_version_is_a_conflict(store):
    store.append(blobs("a"))
    with pytest.raises(ConflictError, match="is at version 1, not at 0 any more"):
        store.append(blobs("b"), at=0)
    with pytest.raises(ConflictError, match="is at version 1, not at 2 any more"):
        store.upsert(blobs("b"), "sha256", at=2)
    assert store.append(blobs("c"), at=1) == 2
    assert names(store) == ["a", "c"]


def test_the_version_of_no_table_is_over_once_it_is_created(store):
    with pytest.raises(ConflictError, match="is at version 0, not at -1 any more"):
        store.append(blobs("a"), at=store.version())
    store.append(blobs("a"), at=store.version())
    assert names(store) == ["a"]


def test_two_commits_of_one_transaction_cannot_be_made_side_by_side(store):
    """Both looked at version 1; the second comes through the look and is refused by the table itself."""
    store.append(blobs("a"))
    other = store_of(store.folder.parent)

    class Slow(DeltaStore):
        def _created(self):
            table = super()._created()
            other.append(blobs("theirs"), transaction="t", at=1)
            return table

    slow = Slow(store.folder, BLOBS)
    with pytest.raises(ConflictError, match=r"another process kept committing to .*: .*transaction failed"):
        slow.append(blobs("mine"), transaction="t", at=1)
    assert names(store) == ["a", "theirs"]


# -- many files --------------------------------------------------------------------------------------------------------


def test_a_scattered_table_is_compacted_and_keeps_its_rows(store, monkeypatch):
    assert not store.compact_if_scattered()
    monkeypatch.setattr(delta_module, "COMPACT_AT_FILES", 5)
    for number in range(6):
        assert not store.compact_if_scattered()
        store.append(blobs(str(number)))
    assert store.compact_if_scattered()
    assert len(store.handle().file_uris()) == 1
    assert names(store) == ["0", "1", "2", "3", "4", "5"]
    assert DeltaTable(store.folder, version=3).to_pyarrow_dataset().count_rows() == 3


def test_a_compaction_that_meets_a_writer_is_left_for_the_next_time(store, monkeypatch):
    monkeypatch.setattr(delta_module, "COMPACT_AT_FILES", 1)
    store.append(blobs("a"))
    store.append(blobs("b"))
    other = store_of(store.folder.parent)

    class Slow(DeltaStore):
        def _created(self):
            table = super()._created()
            other.upsert(blobs("a", text="theirs"), "sha256")
            return table

    assert not Slow(store.folder, BLOBS).compact_if_scattered()
    assert names(store) == ["a", "b"]


# -- what may stand in the folder --------------------------------------------------------------------------------------


def junk_folder(folder):
    folder.mkdir(parents=True)


def junk_log(folder):
    (folder / "_delta_log").mkdir(parents=True)


def junk_files(folder):
    folder.mkdir(parents=True)
    (folder / "readme.txt").write_text("hello")
    (folder / "part-00000.parquet").write_bytes(b"junk")


def junk_temporary(folder):
    """What a writer leaves that was killed before its first commit was through."""
    junk_log(folder)
    (folder / "_delta_log" / "_commit_0e7c.json.tmp").write_bytes(b'{"protocol":{"minRea')


def junk_first_entry(folder):
    junk_log(folder)
    (folder / "_delta_log" / f"{0:020}.json").write_bytes(b'{"protocol":{"minRea')


def junk_empty_first_entry(folder):
    junk_log(folder)
    (folder / "_delta_log" / f"{0:020}.json").write_bytes(b"")


@pytest.mark.parametrize(
    "junk", [junk_folder, junk_log, junk_files, junk_temporary, junk_first_entry, junk_empty_first_entry]
)
def test_a_folder_with_junk_but_no_table_becomes_one(store, junk):
    junk(store.folder)
    assert names(store) == []
    store.append(blobs("a"))
    assert names(store) == names(store_of(store.folder.parent)) == ["a"]


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("torn", [b'{"commitInfo":{"timest', b"\x00\x00\x00", b"\xff\xfe{"])
def test_a_last_commit_that_a_power_loss_tore_is_moved_aside(store, torn, is_open):
    """It was never acknowledged; while it is there, nobody can read or write the table."""
    store.append(blobs("a"))
    (log(store) / f"{2:020}.json").write_bytes(torn)
    other = store if is_open else store_of(store.folder.parent)
    assert names(other) == ["a"]
    assert (store.folder / f"_torn-{2:020}.json").read_bytes() == torn
    store.append(blobs("b"))
    assert names(other) == ["a", "b"]


def test_a_last_commit_of_which_a_power_loss_left_nothing_is_no_obstacle(store):
    store.append(blobs("a"))
    (log(store) / f"{2:020}.json").write_bytes(b"")
    assert names(store_of(store.folder.parent)) == ["a"]
    store_of(store.folder.parent).append(blobs("b"))
    assert names(store) == ["a", "b"]


def test_a_log_with_a_gap_is_refused_with_a_plain_message(store):
    for name in "abc":
        store.append(blobs(name))
    (log(store) / f"{2:020}.json").unlink()
    for act in (lambda s: s.read(["text"]), lambda s: s.append(blobs("d")), lambda s: s.version()):
        with pytest.raises(StoreError, match=r"^the table .*blobs cannot be read: .*gap") as told:
            act(store_of(store.folder.parent))
        assert "\n" not in str(told.value)
        assert "\x1b" not in str(told.value)
    assert sorted(path.name for path in log(store).glob("*.json")) == [f"{v:020}.json" for v in (0, 1, 3)]


def test_a_file_where_the_table_should_be_is_refused(store):
    store.folder.write_text("mine")
    for act in (lambda: store.read(["text"]), lambda: store.append(blobs("a"))):
        with pytest.raises(StoreError, match=r"the table .*blobs cannot be"):
            act()
    assert store.folder.read_text() == "mine"


def test_data_that_is_gone_is_told(store):
    store.append(blobs("a"))
    newest_file(store).unlink()
    with pytest.raises(StoreError, match=r"the table .*blobs cannot be read: .*No such file"):
        store.read(["text"])


def test_a_table_that_was_deleted_is_empty_for_those_that_had_it_open(store):
    store.append(blobs("a"))
    reader = store_of(store.folder.parent)
    assert names(reader) == ["a"]
    shutil.rmtree(store.folder)
    assert names(reader) == names(store) == []
    store.append(blobs("b"))
    assert names(reader) == names(store) == ["b"]


def test_a_table_that_was_deleted_and_made_anew_is_read_and_written_as_the_new_one(store):
    for name in "abcd":
        store.append(blobs(name))
    reader = store_of(store.folder.parent)
    assert reader.version() == 4
    shutil.rmtree(store.folder)
    store_of(store.folder.parent).append(blobs("new"))
    assert names(reader) == ["new"]
    store.append(blobs("newer"))
    assert store.version() == reader.version() == 2
    assert names(reader) == ["new", "newer"]


@pytest.mark.parametrize("table", [SESSIONS, EVENTS, LABELS], ids=lambda table: table.name)
def test_empty_rows_make_a_table_without_any(tmp_path, table):
    store = store_of(tmp_path, table)
    store.append(table.schema.empty_table())
    assert store.snapshot().dataset().schema.names == table.schema.names
    assert store.read([])[1].num_rows == 0
