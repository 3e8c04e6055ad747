"""Comparisons of a home: recorded, reported, and made again from their manifests."""

import json
import re
import shutil
from datetime import UTC, datetime
from hashlib import sha256

import msgspec
import polars as pl
import pytest
from report_pages import Page

import workbench as wb
from workbench.errors import BadInputError, NotFoundError
from workbench.reports.comparing import Question, effects_frame
from workbench.reports.reproduce import reproduce
from workbench.reports.telemetry import telemetry_report
from workbench.surfaces.shipped import sample_sessions

BY_MODEL = Question(
    arms={"sonnet": "model like '%sonnet%'", "opus": "model like '%opus%'"}, planned={"sonnet": 1, "opus": 1}
)
SECTIONS = {"overview", "effects", "forest", "distributions", "dropped", "counting"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    bench = wb.open(tmp_path_factory.mktemp("telemetry") / "home")
    bench.ingest(*sample_sessions())
    return bench


@pytest.fixture(scope="module")
def compared(bench):
    return bench.compare(BY_MODEL)


@pytest.fixture(scope="module")
def written(bench, tmp_path_factory):
    return bench.telemetry_report(tmp_path_factory.mktemp("out"), BY_MODEL, command="workbench report telemetry")


@pytest.fixture
def copied(written, tmp_path):
    for path in (written.path, written.manifest, written.numbers):
        shutil.copy(path, tmp_path)
    return tmp_path / written.manifest.name


def told(manifest):
    return json.loads(manifest.read_text("utf-8"))


def change(manifest, **fields):
    manifest.write_text(json.dumps({**told(manifest), **fields}), "utf-8")


def test_sessions_are_compared_by_rates_over_those_that_ended(bench, compared):
    cards = bench.scorecards()
    ended = cards.filter(pl.col("final") & (pl.col("total_turns") >= 1))
    sonnet = ended.filter(pl.col("model").str.contains("sonnet"))
    effect = next(each for each in compared.comparison.effects if each.metric == "tool_calls")
    assert effect.column == "tool_calls_per_turn"
    assert effect.mean_baseline == pytest.approx(sonnet["tool_calls_per_turn"].mean())
    assert compared.comparison.units == {"sonnet": sonnet.height, "opus": ended.height - sonnet.height}
    assert compared.comparison.ratio["alarm"] is False


def test_every_metric_is_compared_or_named_as_not(compared):
    from workbench.store.tables.metrics import METRICS

    found = [each.metric for each in (*compared.comparison.effects, *compared.comparison.dropped)]
    assert sorted(found) == sorted(metric.name for metric in METRICS)


def test_a_recorded_comparison_can_be_asked_for(bench, compared):
    name = bench.record(compared)
    rows = bench.sql("select * from comparisons where comparison_id = ? order by metric", [name])
    assert rows.height == len(compared.comparison.effects) + len(compared.comparison.dropped)
    row = rows.row(by_predicate=pl.col("metric") == "tool_calls", named=True)
    effect = next(each for each in compared.comparison.effects if each.metric == "tool_calls")
    assert (row["difference"], row["p"], row["verdict"]) == (effect.difference, effect.p, effect.verdict)
    assert rows.filter(pl.col("verdict") == "dropped")["notes"].list.len().min() == 1
    settings = json.loads(row["settings"])
    assert settings["question"] == msgspec.to_builtins(BY_MODEL)
    assert settings["tables"]["sessions"] == bench._lake.stores["sessions"].version()


def test_labels_make_arms(bench):
    ids = bench.list_sessions()["session_id"].to_list()
    for place, session in enumerate(ids):
        bench.label(session, arm="new" if place % 2 else "old")
    found = bench.compare(Question(by="arm", baseline="old")).comparison
    assert (found.baseline, list(found.units)) == ("old", ["old", "new"])


def test_replays_of_the_same_sessions_are_pairs(bench):
    ids = bench.list_sessions(agent="workbench")["session_id"].to_list()
    bench.replay(*ids)
    bench.replay(*ids, mode="classic")
    found = bench.compare(Question(replays_by="mode")).comparison
    assert (found.design, found.units) == ("pairs", {"classic": len(ids), "engine": len(ids)})
    tokens = next(each for each in found.effects if each.metric == "raw_tokens")
    sums = bench.sql(
        "select mode, avg(mean) from (select mode, replay_id, avg(raw_tokens) as mean from compiles group by all) "
        "group by mode order by mode"
    ).rows()
    assert sums == [("classic", pytest.approx(tokens.mean_baseline)), ("engine", pytest.approx(tokens.mean_arm))]


@pytest.mark.parametrize("question", [Question(), Question(by="arm", arms={"a": "true", "b": "false"})])
def test_what_the_arms_are_is_said_once(bench, question):
    with pytest.raises(BadInputError, match="say once what the arms are"):
        bench.compare(question)


def test_a_plan_for_other_arms_is_refused(bench):
    with pytest.raises(BadInputError, match="the plan is for the arms"):
        bench.compare(msgspec.structs.replace(BY_MODEL, planned={"x": 1.0}))


def test_the_page_has_its_sections_and_every_effect(written):
    page = Page(written.path.read_text("utf-8"))
    assert page.ids() >= SECTIONS
    effects = written.compared.comparison.effects
    text = written.path.read_text("utf-8")
    assert all(f">{effect.column}</td>" in text for effect in effects)


def test_the_numbers_are_those_of_the_comparison(written):
    numbers = pl.read_parquet(written.numbers)
    effects = effects_frame(written.compared.comparison)
    assert numbers.select(effects.columns).equals(effects)
    assert (numbers["q25_arm"] <= numbers["q75_arm"]).all()


def test_the_manifest_names_what_it_was_made_from(written):
    found = told(written.manifest)
    assert (found["report"], found["seed"], found["command"]) == ("telemetry", 0, "workbench report telemetry")
    assert found["parameters"]["question"] == msgspec.to_builtins(BY_MODEL)
    assert found["configuration"]["study"] == {"bootstrap_draws": 4000}
    assert {"sessions", "tool_calls", "usage", "session_labels"} <= found["tables"].keys()
    assert {"numpy", "scipy", "genai-prices", "python"} <= found["packages"].keys()


def test_the_same_numbers_come_again(bench, written):
    found = bench.reproduce(written.manifest)
    assert (found.equal, found.different, found.packages, found.report_file) == (True, 0, [], "same")
    assert found.numbers > 100


def test_they_come_from_the_snapshot_whatever_landed_since(tmp_path):
    from made_sessions import write_sessions

    bench = wb.open(tmp_path / "home")
    bench.ingest(*sample_sessions())
    written = bench.telemetry_report(tmp_path / "before.html", BY_MODEL)
    write_sessions(tmp_path / "new", 4, 2)
    bench.ingest(tmp_path / "new")
    bench.label("last", arm="x")
    now = bench.telemetry_report(tmp_path / "after.html", Question(by="agent"))
    assert now.compared.versions != written.compared.versions
    assert bench.reproduce(written.manifest).equal


def test_the_configuration_of_the_manifest_comes_before_that_of_today(bench, written):
    later = wb.open(bench.home.root, study={"bootstrap_draws": 50})
    assert later.reproduce(written.manifest).equal


def test_another_configuration_gives_other_numbers_which_are_listed(bench, copied):
    change(copied, configuration={**told(copied)["configuration"], "study": {"bootstrap_draws": 50}})
    found = bench.reproduce(copied)
    assert not found.equal
    assert 0 < found.different < found.numbers
    assert any(re.fullmatch(r"opus \w+: (low|high)", each.name) for each in found.changes)


def test_other_versions_of_packages_are_named(bench, copied):
    change(copied, packages={**told(copied)["packages"], "numpy": "1.0", "gone": "2"})
    found = bench.reproduce(copied)
    assert found.equal
    names = {each.name: each.before for each in found.packages}
    assert names == {"numpy": "1.0", "gone": "2"}


def test_a_page_that_was_changed_or_is_gone_is_told(bench, copied, written):
    page = copied.with_name(written.path.name)
    page.write_text("other", "utf-8")
    assert bench.reproduce(copied).report_file == "changed"
    page.unlink()
    assert bench.reproduce(copied).report_file == "missing"


def test_numbers_of_other_rows_are_told(bench, copied):
    question = told(copied)["parameters"]["question"]
    change(
        copied,
        parameters={
            "question": {**question, "arms": {"a": "agent = 'workbench'", "b": "agent != 'workbench'"}, "planned": None}
        },
    )
    found = bench.reproduce(copied)
    assert not found.equal
    assert found.shape
    assert "rows then" in found.shape[0]


def test_numbers_that_were_changed_are_refused(bench, copied, written):
    pl.DataFrame({"x": [1]}).write_parquet(copied.with_name(written.numbers.name))
    with pytest.raises(BadInputError, match="is not what the manifest names"):
        bench.reproduce(copied)


def test_what_is_no_manifest_is_refused(bench, copied, tmp_path):
    with pytest.raises(NotFoundError, match="there is no manifest"):
        reproduce(bench._lake, bench.config, tmp_path / "nothing.json")
    copied.with_suffix(".odd").write_text("{", "utf-8")
    with pytest.raises(BadInputError, match="cannot be read as a manifest"):
        bench.reproduce(copied.with_suffix(".odd"))
    (tmp_path / "list.json").write_text("[]", "utf-8")
    with pytest.raises(BadInputError, match="is no manifest"):
        bench.reproduce(tmp_path / "list.json")
    change(copied, report="sessions")
    with pytest.raises(BadInputError, match="'sessions' keeps no numbers"):
        bench.reproduce(copied)


@pytest.mark.parametrize(
    "changed",
    [
        {"tables": {"sessions": -1}},
        {"tables": {"sessions": "x"}},
        {"tables": [1]},
        {"packages": []},
        {"numbers": "x"},
        {"report": ["telemetry"]},
        {"file": None},
        {"parameters": {}},
        {"parameters": {"question": {"by": "agent", "other": 1}}},
        {"configuration": {}},
        {"configuration": {"study": {"bootstrap_draws": -3}, "context_engine": {}}},
    ],
)
def test_a_manifest_that_was_damaged_is_refused_with_the_place(bench, copied, changed):
    change(copied, **changed)
    with pytest.raises(BadInputError, match=rf"{re.escape(str(copied))} .*`"):
        bench.reproduce(copied)


def test_numbers_that_are_no_parquet_are_refused(bench, copied, written):
    file = copied.with_name(written.numbers.name)
    file.write_bytes(b"PAR1 cut short")
    change(copied, numbers={**told(copied)["numbers"], "sha256": sha256(file.read_bytes()).hexdigest()})
    with pytest.raises(BadInputError, match="cannot be read as Parquet"):
        bench.reproduce(copied)


def test_numbers_that_are_not_there_are_told(bench, copied, written):
    copied.with_name(written.numbers.name).unlink()
    with pytest.raises(NotFoundError, match=r"telemetry\.parquet"):
        bench.reproduce(copied)


def test_hostile_names_of_arms_are_text(bench):
    name = "<script>alert(1)</script>"
    compared = bench.compare(Question(arms={name: "agent = 'workbench'", "rest": "agent != 'workbench'"}))
    html = telemetry_report(compared, created_at=datetime(2026, 4, 1, tzinfo=UTC), zone=UTC)
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
