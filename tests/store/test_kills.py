import pytest
from killing import Killer, known_sessions


@pytest.mark.parametrize("kills", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_an_import_killed_at_any_moment_leaves_whole_sessions_and_can_be_completed(tmp_path, kills):
    """The short form of `tests/benchmarks/bench_kills.py`: kills of a first import, and as many while sessions grow."""
    killer = Killer(tmp_path)
    assert sorted(killer.new) == known_sessions()
    for phase in (killer.begin_anew, killer.grow):
        phase()
        before = killer.kills
        while killer.kills < before + kills:
            if killer.kill_once(small_landings=killer.kills % 2 == 0):
                phase()
        killer.complete()
    assert (killer.errors, killer.losses) == ([], [])
