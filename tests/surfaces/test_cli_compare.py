"""`workbench compare`, `report telemetry`, `reproduce` and `eval statistics` over the samples."""

import json
import shlex

import polars as pl
import pytest
from in_process import runner

import workbench as wb
from workbench.surfaces.shipped import sample_sessions

SONNET, OPUS = "sonnet=model like '%sonnet%'", "opus=model like '%opus%'"
ARMS = ("--arm", SONNET, "--arm", OPUS)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("cli-compare") / "home"
    wb.open(home).ingest(*sample_sessions())
    return home


@pytest.fixture
def run(capsys, monkeypatch, tmp_path, home):
    inside = runner(capsys, monkeypatch, tmp_path)
    return lambda *arguments: inside(*arguments, "--home", home)


def test_compare_prints_json_of_a_stable_shape_and_records_it(run, home):
    told = run("compare", *ARMS, "--plan", "sonnet=1", "--plan", "opus=1", "--json").json
    assert list(told) == [
        "comparison_id", "question", "arms", "design", "baseline", "units", "effects", "dropped", "ratio", "notes",
        "confidence", "resamples", "permutations", "seed", "tables",
    ]  # fmt: skip
    assert list(told["effects"][0]) == [
        "metric", "column", "unit", "better", "baseline", "arm", "n_baseline", "n_arm", "mean_baseline", "mean_arm",
        "median_baseline", "median_arm", "difference", "low", "high", "p", "p_adjusted", "p_rank",
        "minimum_detectable", "sequential_low", "sequential_high", "cuped", "verdict", "notes",
    ]  # fmt: skip
    assert (told["baseline"], told["ratio"]["alarm"]) == ("sonnet", False)
    rows = wb.open(home).sql("select count(*) from comparisons where comparison_id = ?", [told["comparison_id"]])
    assert rows.item() == len(told["effects"]) + len(told["dropped"])


def test_compare_prints_a_table_and_what_was_not_compared(run):
    done = run("compare", *ARMS, "--no-record")
    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith("sonnet: 7 sessions  opus: 6 sessions")
    assert lines[1] == "sample ratio: no planned ratio, check not made"
    assert any(line.startswith("tool_calls_per_turn") and line.endswith("not shown") for line in lines)
    (constant,) = (line for line in lines if line.startswith("not compared, it is 0 in every session: "))
    assert "recall_calls" in constant
    (small,) = (line for line in lines if line.startswith("note: fewer than 50 units in an arm: "))
    assert "tool_calls_per_turn" in small
    assert "recorded as" not in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "say once what the arms are"),
        (("--arm", SONNET), "two arms at least"),
        (("--arm", "a=true", "--arm", OPUS), "6 sessions are in both 'a' and 'opus'"),
        (("--arm", "a=modl = 'x'", "--arm", OPUS), 'Referenced column "modl" not found'),
        (("--arm", "a=true; select 1", "--arm", OPUS), "more than one statement"),
        (("--arm", "a=false", "--arm", OPUS), "none fits false"),
        (("--arm-label",), "workbench sessions label SESSION --arm NAME"),
        (("--by", "title"), "cannot be told by 'title'"),
        ((*ARMS, "--baseline", "haiku"), "'haiku' is no arm"),
        ((*ARMS, "--plan", "sonnet=1"), "the plan is for the arms"),
        ((*ARMS, "--plan", "sonnet=1", "--plan", "opus=1", "--pair-by", "project"), "leave out --plan"),
        ((*ARMS, "--pair-by", "title"), "cannot be paired by title"),
        (("--replays-by", "mode"), "have 0 values of mode"),
    ],
)
def test_what_cannot_be_compared_is_told_in_one_line(run, arguments, said):
    done = run("compare", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) == 1


def test_arms_are_paired_by_project(run):
    told = run("compare", *ARMS, "--pair-by", "project", "--no-record", "--json").json
    assert (told["design"], told["question"]["pair_by"], told["comparison_id"]) == ("pairs", ["project_id"], None)
    assert set(told["units"].values()) == {2}


def test_a_report_is_written_and_its_numbers_come_again(run, tmp_path):
    told = run("report", "telemetry", *ARMS, "--plan", "sonnet=2", "--plan", "opus=1", "--out", tmp_path, "--json").json
    assert list(told) == ["path", "manifest", "numbers", "size_bytes", "units", "headline"]
    assert told["units"] == {"sonnet": 7, "opus": 6}
    again = run("reproduce", told["manifest"], "--json").json
    assert list(again) == [
        "report", "equal", "close", "numbers", "different", "changes", "shape", "packages", "report_file", "command",
    ]  # fmt: skip
    assert (again["equal"], again["different"]) == (True, 0)
    done = run("reproduce", told["manifest"])
    assert done.out == f"equal: all {again['numbers']} numbers of the telemetry report are the same\n"


def test_the_command_of_a_manifest_makes_the_same_numbers(run, tmp_path):
    told = run("report", "telemetry", *ARMS, "--out", tmp_path / "one.html", "--json").json
    manifest = json.loads((tmp_path / "one.manifest.json").read_text("utf-8"))
    words = shlex.split(manifest["command"])
    assert words[0] == "workbench"
    run(*words[1:], "--out", tmp_path / "two.html", "--json")
    one, two = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("one", "two"))
    assert one.equals(two)
    assert told["path"].endswith("one.html")


def test_numbers_that_differ_are_listed_and_the_exit_code_says_so(run, tmp_path):
    run("report", "telemetry", *ARMS, "--out", tmp_path)
    manifest = tmp_path / "telemetry.manifest.json"
    told = json.loads(manifest.read_text("utf-8"))
    told["configuration"]["study"]["bootstrap_draws"] = 20
    told["packages"]["scipy"] = "0.1"
    manifest.write_text(json.dumps(told), "utf-8")
    done = run("reproduce", manifest)
    assert done.code == 1
    assert "numbers differ" in done.out
    assert "other version: scipy 0.1 then, " in done.out


def test_a_manifest_that_is_not_there_is_told(run, tmp_path):
    done = run("reproduce", tmp_path / "x.json")
    assert (done.code, done.out) == (3, "")
    assert "there is no manifest" in done.err


def test_the_statistics_are_simulated_and_written(run, tmp_path):
    told = run(
        "eval", "statistics", "--experiments", "10", "--shape", "share 30 %", "--out", tmp_path / "sim", "--json"
    ).json
    assert told["command"] == "workbench eval statistics --seed 0 --experiments 10 --shape 'share 30 %'"
    assert list(told["shares"][0]) == [
        "table", "design", "shape", "first", "second", "effect", "method", "experiments", "share",
    ]  # fmt: skip
    assert pl.read_parquet(tmp_path / "sim" / "simulation.parquet").height == len(told["shares"])
    assert (tmp_path / "sim" / "README.md").is_file()


def test_a_kind_of_metric_that_is_not_known_is_told(run):
    done = run("eval", "statistics", "--shape", "round")
    assert (done.code, done.out) == (2, "")
    assert "there is no kind of metric round; there are normal, counts" in done.err
