"""`workbench tune`, on six sessions: too few for a verdict, and so nothing to apply."""

import json
import shutil

import pytest
from in_process import runner
from reading_sessions import write_reading_sessions, write_telling_sessions

import workbench as wb

SMALL = ("--trials", "8", "--learning-trials", "1", "--permutations", "1", "--budget", "500")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tune")
    wb.open(folder / "home").ingest(write_reading_sessions(folder / "sessions", 6))
    return folder / "home"


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    return runner(capsys, monkeypatch, tmp_path)


def test_few_sessions_give_figures_and_no_verdict(run, home):
    done = run("tune", "--home", home, "--json", *SMALL)
    told = json.loads(done.out)
    assert (done.code, told["verdict"], told["may_apply"], told["applied"]) == (0, "no verdict", False, None)
    left_out = ("sessions_scored", "sessions_without_moments", "sessions_within_budget", "sessions_without_need")
    assert sum(told["dropped"][name] for name in left_out) == told["dropped"]["sessions"] > 0
    names = [each["name"] for each in told["policies"]]
    assert names[:3] == ["seed default", "repaired default", "repaired default, scaled by the pool's maximum"]
    assert {"recency", "relevance", "everything", "random", "oracle", "tuned, all terms"} <= set(names)
    assert "cosine" not in names
    assert told["lacks"] == ["closeness of meaning: no vectors were asked for (--semantic)"]


def test_the_same_study_is_kept_once_and_its_frames_are_not_made_again(run, home):
    first = json.loads(run("tune", "--home", home, "--json", *SMALL).out)
    cached = sorted((home / "cache" / "study").iterdir())
    times = [path.stat().st_mtime_ns for path in cached]
    again = json.loads(run("tune", "--home", home, "--json", *SMALL).out)
    bench = wb.open(home)
    rows = bench.sql("select study_id, verdict, sessions_scored from studies where study_id = ?", [first["study_id"]])
    assert rows.rows() == [(first["study_id"], "no verdict", first["dropped"]["sessions_scored"])]
    assert [path.stat().st_mtime_ns for path in cached] == times
    assert again == first
    twice = "select stage, run, part, number from trials where study_id = ? group by all having count(*) > 1"
    assert bench.sql(twice, [first["study_id"]]).height == 0


def test_a_study_that_ended_is_told_without_a_frame_or_a_trial_until_its_sessions_change(
    run, home, tmp_path, monkeypatch
):
    shutil.copytree(home, tmp_path / "home")
    first = json.loads(run("tune", "--home", tmp_path / "home", "--json", *SMALL).out)
    with monkeypatch.context() as broken:
        broken.setattr("workbench.experiments.study_job.read_frames", None)
        assert json.loads(run("tune", "--home", tmp_path / "home", "--json", *SMALL).out) == first
    wb.open(tmp_path / "home").ingest(write_telling_sessions(tmp_path / "more", 7))
    grown = json.loads(run("tune", "--home", tmp_path / "home", "--json", *SMALL).out)
    assert grown["study_id"] != first["study_id"]
    assert grown["dropped"]["sessions"] > first["dropped"]["sessions"]


def test_nothing_is_applied_without_a_verdict(run, home):
    done = run("tune", "--home", home, "--apply", *SMALL)
    assert done.code == 1
    assert "workbench: nothing was applied: no verdict: " in done.err
    assert not (home / "config.json").exists()


def test_a_person_reads_policies_null_and_verdict(run, home):
    lines = run("tune", "--home", home, *SMALL).out.splitlines()
    assert lines[0].endswith("step level, 500 tokens, label vis")
    assert any(line.startswith("repaired default  ") for line in lines)
    assert any(line.startswith("permuted labels: 1 permutations") for line in lines)
    assert lines[-1].startswith("verdict: no verdict: ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--dry-run",), "--dry-run belongs to --apply"),
        (("--label", "x"), "there is no label 'x'"),
        (("--budget", "0"), "budget must be at least 1"),
        (("--budget", "99999"), "at most 65,000 tokens"),
        (("--learning-trials", "999"), "trials that learn are 0 to 300"),
    ],
)
def test_what_makes_no_sense_is_refused(run, home, options, said):
    done = run("tune", "--home", home, *options)
    assert done.code == 2
    assert said in done.err


def test_a_home_without_sessions_has_nothing_to_say(run, tmp_path):
    told = json.loads(run("tune", "--home", tmp_path / "new", "--json").out)
    assert (told["verdict"], told["dropped"]["sessions"], told["policies"]) == ("no verdict", 0, [])
