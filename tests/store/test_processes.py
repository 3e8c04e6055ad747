from crowd import run, shortened


def test_eight_processes_at_one_home_lose_nothing_and_meet_no_error(tmp_path):
    """The short form of `tests/benchmarks/bench_processes.py`."""
    durations, errors, losses = run(tmp_path, seconds=4)
    assert (shortened(errors), shortened(losses)) == ([], [])
    assert {"import", "append", "read"} <= set(durations)
