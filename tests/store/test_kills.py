from killing import Killer, known_sessions


def test_an_import_killed_at_any_moment_leaves_whole_sessions_and_can_be_completed(tmp_path):
    """The short form of `tests/benchmarks/bench_kills.py`: five kills of a first import, five while sessions grow."""
    killer = Killer(tmp_path)
    assert sorted(killer.new) == known_sessions()
    for phase in (killer.begin_anew, killer.grow):
        phase()
        kills = killer.kills
        while killer.kills < kills + 5:
            if killer.kill_once(small_landings=killer.kills % 2 == 0):
                phase()
        killer.complete()
    assert (killer.errors, killer.losses) == ([], [])
