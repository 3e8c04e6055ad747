"""Logs of tables: what a power loss tears, what somebody deletes."""

import shutil

import pytest

from workbench.store.aside import ASIDE
from workbench.store.tables import TABLES
from workbench.store.verify.delta_logs import check_log


def log_of(home, table):
    return home / "tables" / table / "_delta_log"


def entries(home, table):
    return sorted(log_of(home, table).glob("*.json"))


def next_entry(home, table):
    last = entries(home, table)[-1]
    return last.with_name(f"{int(last.stem) + 1:020}.json")


def found(home, table):
    return [(p.what, p.where, p.repairable) for p in check_log(home, home / "tables" / table, TABLES[table])]


def test_sound_logs_and_tables_that_do_not_exist_have_no_problem(home):
    assert [found(home, table) for table in TABLES] == [[]] * len(TABLES)
    shutil.rmtree(home / "tables")
    assert [found(home, table) for table in TABLES] == [[]] * len(TABLES)


@pytest.mark.parametrize("torn", [b"", b'{"commitInfo":{"time', b"\x00\x00\x00"], ids=["empty", "half", "zeros"])
@pytest.mark.parametrize("table", ["turns", "session_labels"])
def test_a_torn_last_commit_is_told_and_left_where_it_is(home, torn, table):
    entry = next_entry(home, table)
    entry.write_bytes(torn)
    assert found(home, table) == [("torn_commit", f"tables/{table}/_delta_log/{entry.name}", True)]
    assert entry.read_bytes() == torn


def test_torn_commits_are_moved_aside_and_never_deleted(home, problems, repair, rows):
    before = rows()
    torn = {"turns": b"", "sessions": b'{"commitInfo":{"time', "session_labels": b"\x00"}
    for table, data in torn.items():
        next_entry(home, table).write_bytes(data)
    done = repair()
    assert sorted(problem.what for problem in done.repaired) == ["torn_commit"] * 3
    assert (done.problems, problems()) == ([], [])
    kept = {path.parts[-3]: path.read_bytes() for path in (home / ASIDE).rglob("*.json")}
    assert kept == torn
    assert rows() == before


def damage_a_commit(home, table):
    entry = entries(home, table)[1]
    entry.write_bytes(b"")
    return "damaged_commit", f"tables/{table}/_delta_log/{entry.name}"


def remove_a_commit(home, table):
    entries(home, table)[1].unlink()
    return "unreadable_log", f"tables/{table}"


def remove_the_log(home, table):
    shutil.rmtree(log_of(home, table))
    return "missing_log", f"tables/{table}"


DAMAGES = (damage_a_commit, remove_a_commit, remove_the_log)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(("table", "is_repairable"), [("turns", True), ("sources", True), ("session_labels", False)])
def test_damage_in_the_midst_is_told_and_only_what_can_be_made_again_is_set_aside(home, damage, table, is_repairable):
    told = damage(home, table)
    assert found(home, table) == [(*told, is_repairable)]


def test_tables_with_a_damaged_log_are_made_again_from_the_archive(home, problems, repair, rows):
    before = rows()
    told = {damage(home, table) for damage, table in zip(DAMAGES, ("turns", "usage", "tool_calls"), strict=True)}
    assert set(problems()) == told
    done = repair()
    assert {(problem.what, problem.where) for problem in done.repaired} == told
    assert done.problems == []
    assert rows() == before
    assert {path.name for path in (home / ASIDE).glob("*/tables/*")} == {"turns", "usage", "tool_calls"}


def test_a_last_commit_of_which_nothing_was_left_loses_no_session(home, repair, rows):
    """deltalake accepts an empty entry, and the rows that it brought are gone without an error."""
    before = rows()
    entries(home, "events")[-1].write_bytes(b"")
    assert "torn_commit" in {problem.what for problem in repair().repaired}
    import workbench as wb

    wb.open(home).rebuild()
    assert rows() == before
