import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_lake import derive_from, land_all, landing, shown, small_lake, state, stored_rows, stores

from workbench.errors import ConflictError
from workbench.store.delta import DeltaStore
from workbench.store.landing import land, landed
from workbench.store.landing_key import LandingKey

HERE = Path(__file__).parent

OLD = {"s1": "abc!", "s2": "cc"}
NEW = {"s1": "abc!cd", "s2": "ccc", "s3": "n!"}
OTHER = {"s1": "other!", "s2": "o", "s3": "oc"}
COMMITS = 7
"""Of a landing of NEW over OLD: rows of three tables, the sessions, and three deletions."""


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    root = tmp_path_factory.mktemp("prepared")
    land_all(root, OLD)
    return root


@pytest.fixture
def home(prepared, tmp_path):
    """A home in which OLD has landed."""
    return shutil.copytree(prepared, tmp_path / "home")


class StopError(Exception):
    """Stands for the death of the process."""


def stopping_store(after):
    """A store whose process dies right after its commit number `after`, counted over all tables."""
    commits = count(1)

    class StoppingStore(DeltaStore):
        def _write(self, *args, **kwargs):
            number = next(commits)
            if number > after:
                raise StopError
            version = super()._write(*args, **kwargs)
            if number == after:
                raise StopError
            return version

    return StoppingStore


def interrupted_store(at, act):
    """A store that calls `act` right before its commit number `at`: another machine, at a bad moment."""
    commits = count(1)

    class InterruptedStore(DeltaStore):
        def _write(self, *args, **kwargs):
            if next(commits) == at:
                act()
            return super()._write(*args, **kwargs)

    return InterruptedStore


def states(contents):
    return {session_id: state(content) for session_id, content in contents.items()}


# -- what landing does -------------------------------------------------------------------------------------------------


def test_a_landed_session_is_there_with_all_its_rows(tmp_path):
    assert land_all(tmp_path, {"s1": "abc", "s2": "xc!"}) == ["s1", "s2"]
    assert shown(tmp_path) == {"s1": state("abc"), "s2": state("xc!")}


def test_the_same_landing_twice_writes_nothing(tmp_path):
    land_all(tmp_path, {"s1": "abc"})
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert land_all(tmp_path, {"s1": "abc"}) == []
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_only_what_is_missing_is_derived(tmp_path):
    land_all(tmp_path, {"s1": "abc"})
    asked = []
    contents = [landing("s1", "abc"), landing("s2", "x")]

    def derive(keys):
        asked.append([key.session_id for key in keys])
        return derive_from(contents)(keys)

    assert land(stores(tmp_path), [key for key, _ in contents], derive) == [contents[1][0]]
    assert asked == [["s2"]]


def test_a_grown_session_takes_the_place_of_its_old_rows(tmp_path):
    land_all(tmp_path, {"s1": "abc!", "s2": "cc"})
    assert land_all(tmp_path, {"s1": "abcdc", "s2": "cc"}) == ["s1"]
    assert shown(tmp_path) == {"s1": state("abcdc"), "s2": state("cc")}
    assert stored_rows(tmp_path) == {"sessions": 2, "events": 7, "calls": 4, "issues": 0}


def test_a_session_may_have_no_rows_in_a_table_and_get_some_later(tmp_path):
    land_all(tmp_path, {"s1": ""})
    assert shown(tmp_path) == {"s1": (0, 0, None, 0, None)}
    land_all(tmp_path, {"s1": "ac!"})
    assert shown(tmp_path) == {"s1": state("ac!")}
    land_all(tmp_path, {"s1": ""})
    assert shown(tmp_path) == {"s1": (0, 0, None, 0, None)}
    assert stored_rows(tmp_path) == {"sessions": 1, "events": 0, "calls": 0, "issues": 0}


def test_a_session_that_returns_to_an_earlier_state_is_landed_again(tmp_path):
    for content in ("abc", "abcd", "abc"):
        assert land_all(tmp_path, {"s1": content}) == ["s1"]
        assert shown(tmp_path) == {"s1": state(content)}


def test_landing_nothing_asks_for_nothing(tmp_path):
    def derive(keys):
        raise AssertionError(keys)

    assert land(stores(tmp_path), [], derive) == []


def test_what_rows_refer_to_is_written_before_they_are_shown(tmp_path):
    contents = [landing("s1", "abc")]
    seen = []
    land(stores(tmp_path), [contents[0][0]], derive_from(contents), beside=lambda: seen.append(shown(tmp_path)))
    assert seen == [{}]
    assert shown(tmp_path) == {"s1": state("abc")}


def test_nothing_is_shown_where_that_cannot_be_written(home):
    contents = [landing("s3", "abc")]

    def full_disk():
        raise StopError

    with pytest.raises(StopError):
        land(stores(home), [contents[0][0]], derive_from(contents), beside=full_disk)
    assert shown(home) == {name: state(content) for name, content in OLD.items()}


def test_new_and_known_sessions_land_together(tmp_path):
    land_all(tmp_path, {"s1": "a", "s2": "b"})
    land_all(tmp_path, {"s0": "new", "s1": "a", "s2": "bb", "s3": "c"})
    assert shown(tmp_path) == {"s0": state("new"), "s1": state("a"), "s2": state("bb"), "s3": state("c")}


@settings(max_examples=8, deadline=None)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=4, unique=True))
def test_a_session_id_is_no_part_of_any_query(tmp_path_factory, ids):
    root = tmp_path_factory.mktemp("home")
    ids = [*ids, "o'k", "a\\b", "x') or (1=1", "\n-- ", "%"]
    ids = list(dict.fromkeys(i.encode("utf-8", "replace").decode() for i in ids))
    land_all(root, {"other": "cc"} | dict.fromkeys(ids, "a"))
    land_all(root, dict.fromkeys(ids, "abc"))
    assert shown(root) == {"other": state("cc")} | dict.fromkeys(ids, state("abc"))


def test_thousands_of_sessions_land_and_grow_together(tmp_path):
    ids = [f"session-{number}" for number in range(3000)]
    land_all(tmp_path, dict.fromkeys(ids, "a"))
    land_all(tmp_path, dict.fromkeys(ids, "ac"))
    lake = small_lake(tmp_path)
    assert lake.sql("select count(*), sum(events) from sessions").row(0) == (3000, 6000)
    assert lake.sql("select count(*) from events").item() == 6000
    assert stored_rows(tmp_path) == {"sessions": 3000, "events": 6000, "calls": 3000, "issues": 0}


def test_keys_tell_states_apart():
    key = LandingKey.of("s", 1, ["x", "y"])
    assert key == LandingKey.of("s", 1, ["y", "x"])
    others = [
        LandingKey.of("t", 1, ["x", "y"]),
        LandingKey.of("s", 2, ["x", "y"]),
        LandingKey.of("s", 1, ["x"]),
        LandingKey.of("s", 1, ["x", "y"], generation=1),
    ]
    assert len({key.landing_id, *(other.landing_id for other in others)}) == 5
    assert 0 < key.landing_id < 2**63
    assert key.is_landed_as(key.landing_id + 2**23 - 1)
    assert not key.is_landed_as(key.landing_id + 2**23)
    assert not key.is_landed_as(None)


# -- death in mid-landing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", range(1, COMMITS + 1))
def test_a_landing_that_dies_after_any_commit_shows_the_old_or_the_new_state(home, after):
    with pytest.raises(StopError):
        land_all(home, NEW, stopping_store(after))
    assert shown(home) == (states(OLD) if after <= 3 else states(NEW))
    land_all(home, NEW)
    assert shown(home) == states(NEW)


def test_those_were_all_its_commits(home):
    land_all(home, NEW, stopping_store(COMMITS + 1))


@pytest.mark.parametrize("after", range(1, COMMITS + 1, 2))
def test_leftovers_of_a_killed_landing_are_swept_by_the_next_of_that_session(home, after):
    with pytest.raises(StopError):
        land_all(home, NEW, stopping_store(after))
    land_all(home, {"s1": "abc!cdef", "s2": "ccx", "s3": "n!x"})
    assert shown(home) == states({"s1": "abc!cdef", "s2": "ccx", "s3": "n!x"})
    assert stored_rows(home) == {"sessions": 3, "events": 14, "calls": 4, "issues": 2}


def test_leftovers_of_one_session_stay_hidden_while_others_land(home):
    with pytest.raises(StopError):
        land_all(home, {"s1": "abc!cd"}, stopping_store(2))
    land_all(home, {"s2": "ccc"})
    assert shown(home) == states({"s1": "abc!", "s2": "ccc"})


def test_a_first_landing_that_dies_leaves_no_session(tmp_path):
    for after in range(1, 4):
        with pytest.raises(StopError):
            land_all(tmp_path, {"s1": "abc!"}, stopping_store(after))
        assert shown(tmp_path) == {}
    land_all(tmp_path, {"s1": "abc!"})
    assert shown(tmp_path) == {"s1": state("abc!")}
    assert stored_rows(tmp_path) == {"sessions": 1, "events": 4, "calls": 1, "issues": 1}


KILLED = """
    import sys
    from pathlib import Path
    from small_lake import land_all
    for number in range(int(sys.argv[2]), 1000):
        land_all(Path(sys.argv[1]), {sid: (sid + "c!") * number for sid in ("k1", "k2", "k3")})
        print(number, flush=True)
"""


def test_a_process_killed_at_any_moment_leaves_whole_sessions(home):
    """Real SIGKILL, at other moments of an endless row of landings, over and over in the same home."""
    landed_so_far = 0
    for wait in (0.05, 0.15, 0.3):
        command = [sys.executable, "-c", textwrap.dedent(KILLED), str(home), str(landed_so_far + 1)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE) as process:
            process.stdout.readline()  # the first landing is through, so that the kill meets another one
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
            acknowledged = [landed_so_far + 1, *map(int, process.stdout.readlines())][-1]
        seen = shown(home)
        landed_so_far = seen["k1"][0] // len("k1c!")
        assert landed_so_far in (acknowledged, acknowledged + 1)
        whole = states({sid: (sid + "c!") * landed_so_far for sid in ("k1", "k2", "k3")})
        assert seen == states(OLD) | whole  # one batch is one commit
    land_all(home, dict.fromkeys(("k1", "k2", "k3"), "x"))
    assert stored_rows(home) == {"sessions": 5, "events": 9, "calls": 3, "issues": 1}


# -- two at once, without the home's lock: tables on an object store ---------------------------------------------------

MOMENTS = (1, 3, 4, 5, 7)
"""Before the first and the last rows, before the sessions, before the first and the last deletion."""


@pytest.mark.parametrize("at", MOMENTS)
def test_two_landers_of_the_same_state_leave_one_copy(home, at):
    land_all(home, NEW, interrupted_store(at, lambda: land_all(home, NEW)))
    assert shown(home) == states(NEW)
    assert stored_rows(home) == {"sessions": 3, "events": 11, "calls": 5, "issues": 2}


@pytest.mark.parametrize("at", MOMENTS)
def test_two_landers_of_different_states_leave_one_of_them_whole(home, at):
    land_all(home, NEW, interrupted_store(at, lambda: land_all(home, OTHER)))
    assert shown(home) in (states(NEW), states(OTHER))
    land_all(home, {"s1": "z", "s2": "z", "s3": "z"})
    assert stored_rows(home) == {"sessions": 3, "events": 3, "calls": 0, "issues": 0}


@pytest.mark.parametrize("at", [1, 3, 4])
def test_two_first_landers_leave_one_copy(tmp_path, at):
    land_all(tmp_path, NEW, interrupted_store(at, lambda: land_all(tmp_path, NEW)))
    assert shown(tmp_path) == states(NEW)
    assert stored_rows(tmp_path) == {"sessions": 3, "events": 11, "calls": 5, "issues": 2}


@pytest.mark.parametrize("at", [1, 2, 3])
def test_landers_of_different_sessions_do_not_disturb_each_other(home, at):
    land_all(home, {"s1": "more"}, interrupted_store(at, lambda: land_all(home, {"s2": "m!"})))
    assert shown(home) == {"s1": state("more"), "s2": state("m!")}
    assert stored_rows(home) == {"sessions": 2, "events": 6, "calls": 0, "issues": 1}


LANDER = """
    import sys
    from pathlib import Path
    from small_lake import land_all
    for number in range(1, 6):
        land_all(Path(sys.argv[1]), {sid: (sid + "c!") * number for sid in ("k1", "k2", "k3")})
"""


def test_landers_in_two_processes_without_the_lock_leave_one_copy(home):
    command = [sys.executable, "-c", textwrap.dedent(LANDER), str(home)]
    processes = [subprocess.Popen(command, cwd=HERE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=120)[1] for process in processes] == ["", ""]
    assert shown(home) == states(OLD | {sid: (sid + "c!") * 5 for sid in ("k1", "k2", "k3")})
    land_all(home, {"k1": "z", "k2": "z", "k3": "z"})
    assert stored_rows(home) == {"sessions": 5, "events": 9, "calls": 3, "issues": 1}


def test_a_landing_that_is_overtaken_again_and_again_gives_up_with_a_clear_message(home):
    contents = (f"other {number}" for number in count())

    class OvertakenStore(DeltaStore):
        def _write(self, *args, **kwargs):
            if self.table.name == "sessions":
                land_all(home, {"s1": next(contents)})
            return super()._write(*args, **kwargs)

    with pytest.raises(ConflictError, match="other machines kept landing the same sessions, among them s1"):
        land_all(home, {"s1": "abc"}, OvertakenStore)
    assert shown(home) == states({"s1": "other 4", "s2": "cc"})
    assert stored_rows(home) == {"sessions": 2, "events": 9, "calls": 2, "issues": 0}


# -- readers -----------------------------------------------------------------------------------------------------------


def test_a_reader_never_sees_half_a_session_while_landings_go_on(home):
    stop = threading.Event()

    def grow():
        for number in count(2):
            if stop.is_set():
                return
            land_all(home, {"s1": "c" * number, "s2": "c" * number})

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        lake, seen = small_lake(home), set()
        deadline = time.monotonic() + 60
        while len(seen) < 5:
            assert time.monotonic() < deadline
            now = shown(home if len(seen) % 2 else lake)
            lengths = {told for told, *_ in now.values()}
            seen |= lengths
            assert now == states(OLD) or now == states(dict.fromkeys(("s1", "s2"), "c" * lengths.pop()))
    finally:
        stop.set()
        writer.join()


def test_landed_tells_which_landing_a_session_has(home):
    head = stores(home)["sessions"]
    key, _ = landing("s1", "abc!")
    found = landed(head, ["s1", "s3"])
    assert list(found) == ["s1"]
    assert key.is_landed_as(found["s1"])
    assert not landing("s1", "abc")[0].is_landed_as(found["s1"])
    assert landed(DeltaStore(home / "nowhere", head.table), ["s1"]) == {}
