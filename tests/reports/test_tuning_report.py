"""Studies of a home: reported as a page with its numbers, and made again from their manifests."""

import json
import re
import shutil
from datetime import UTC, datetime
from hashlib import sha256

import msgspec
import polars as pl
import pytest
from browsing import Visit, chromium
from in_process import runner
from reading_sessions import write_reading_sessions, write_telling_sessions
from report_pages import HOSTILE, Page
from transcripts import jsonl, prompt

import workbench as wb
from workbench.errors import BadInputError, NotFoundError
from workbench.experiments.study.result import Bounds, StudyResult
from workbench.experiments.study_job import READ
from workbench.reports import tuning
from workbench.reports.tuning_numbers import numbers_frame, sensitivity_rows, short, signed
from workbench.reports.tuning_parts import study_page

NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)
SMALL = {"trials": 16, "learning_trials": 1, "permutations": 2, "budget": 500}
CONFIG = {"study": {"seeds": 1, "bootstrap_draws": 200}}
ALWAYS = ["overview", "weights", "dropped", "counting"]
SECTIONS = [
    "overview", "policies", "recall", "null", "beside", "rules", "weights", "sensitivity", "sessions", "dropped",
    "counting",
]  # fmt: skip


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuning")
    bench = wb.open(folder / "home", **CONFIG)
    bench.ingest(write_telling_sessions(folder / "sessions", 12))
    return bench


@pytest.fixture(scope="module")
def study(bench):
    return bench.tune(**SMALL)


@pytest.fixture(scope="module")
def written(bench, study, tmp_path_factory):
    return bench.tuning_report(tmp_path_factory.mktemp("out"), study.study_id)


@pytest.fixture(scope="module")
def html(written):
    return written.path.read_text("utf-8")


@pytest.fixture
def copied(written, tmp_path):
    for path in (written.path, written.manifest, written.numbers):
        shutil.copy(path, tmp_path)
    return tmp_path / written.manifest.name


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    return runner(capsys, monkeypatch, tmp_path)


def session_of(number):
    return f"00000000-0000-4000-8000-{number:012}"


def told(manifest):
    return json.loads(manifest.read_text("utf-8"))


def change(manifest, **fields):
    manifest.write_text(json.dumps({**told(manifest), **fields}), "utf-8")


# -- the page ----------------------------------------------------------------------------------------------------------


def test_the_study_is_one_that_has_every_part(study):
    """Or the tests below would look for nothing."""
    assert study.verdict == "no verdict"
    parts = ("policies", "groups", "rules", "beside", "seeds", "fold_weights", "sensitivity", "sessions", "warnings")
    assert [name for name in parts if not getattr(study, name)] == []
    assert {each.kind for each in study.policies} == {"hand-set", "tuned", "bound", "learned"}
    assert len({round(each.lift, 6) for each in study.policies}) > 5
    assert study.gain.low > 0.1


def test_the_sections_come_in_order(html):
    found = re.findall(r'<section id="([^"]+)"', html)
    assert [name for name in found if name in SECTIONS] == SECTIONS


def test_every_figure_of_the_study_is_on_the_page(study, html):
    page = Page(html)
    words = {name: page.text(name) for name in SECTIONS}
    missing = []

    def look(section, *figures):
        missing.extend((section, figure) for figure in figures if figure not in words[section])

    look("overview", study.verdict, signed(study.gain.low), signed(study.in_search_gain), *study.warnings, *study.lacks)
    look("overview", f"{study.minimum_detectable_effect:.3f}", signed(study.null.mean), f"{study.trials} evenly spread")
    for policy in study.policies:
        gains = (policy.lift_over_seed, policy.lift_over_best, policy.matched_over_repaired)
        look("policies", policy.name, policy.kind, signed(policy.lift))
        look("policies", *(signed(value) for gain in gains for value in msgspec.structs.astuple(gain)))
        known = (policy.recall, policy.share, policy.lift, policy.matched, policy.ndcg)
        look("recall", policy.name, *(f"{value:.3f}" for value in known))
    look("null", *(signed(gain) for gain in (*study.null.gains, *study.seeds)), f"{study.null.standard_error:.4f}")
    for row in (*study.groups, *study.beside):
        look("beside", str(row.sessions), row.name if hasattr(row, "name") else row.level)
    look("rules", *(signed(row.gain.estimate) for row in study.rules))
    for name, value in study.weights.items():
        look("weights", short(name), f"{value:.3f}", f"{study.default_weights[name]:.3f}")
    look("weights", *study.not_identifiable.values())
    look("sensitivity", *(signed(row["change"]) for row in sensitivity_rows(study)))
    look("dropped", *(str(study.dropped[f"{of}{kind}"]) for of in ("sessions_", "moments_") for kind in ("scored",)))
    assert missing == []


def test_sessions_that_changed_are_listed_the_largest_change_first(study, html):
    best, tuned = study.best_hand_set, "tuned, all terms"
    gains = {each.session_id: each.lift[tuned] - each.lift[best] for each in study.sessions}
    shown = re.findall(r"00000000-0000-4000-8000-\d{12}", Page(html).text("sessions"))
    assert sorted(shown) == sorted(name for name, gain in gains.items() if gain)
    assert [abs(gains[name]) for name in shown] == sorted((abs(gains[name]) for name in shown), reverse=True)


def test_a_study_of_too_few_sessions_says_no_verdict_and_what_was_left_out(tmp_path):
    bench = wb.open(tmp_path / "home", **CONFIG)
    bench.ingest(write_reading_sessions(tmp_path / "sessions", 2))
    bench.tune(**SMALL)
    written = bench.tuning_report(tmp_path / "out")
    page = Page(written.path.read_text("utf-8"))
    assert [name for name in SECTIONS if name in page.ids()] == ALWAYS
    assert "No verdict: 2 scored sessions, at least 30 are needed." in page.text("top")
    assert "Nothing was searched." in page.text("weights")
    assert "2 sessions and " in page.text("dropped")
    assert bench.reproduce(written.manifest).equal


@pytest.mark.parametrize(
    ("verdict", "gain", "said"),
    [
        ("no verdict", Bounds(0.1, 0.05, 0.15), "No verdict: 12 scored sessions"),
        ("better", Bounds(0.05, 0.01, 0.09), "Better: held out, the tuned weights gain +0.050 (+0.010 to +0.090)"),
        ("worse", Bounds(-0.05, -0.09, -0.01), "Worse: held out, the tuned weights gain -0.050 (-0.090 to -0.010)"),
        ("no difference", Bounds(0.0, -0.04, 0.04), "No difference shown: held out, the tuned weights gain 0.000"),
        ("null does not hold", Bounds(0.1, 0.05, 0.15), "no gain of this study means anything"),
    ],
)
def test_each_verdict_is_one_plain_sentence(study, verdict, gain, said):
    assert said in tuning.headline(msgspec.structs.replace(study, verdict=verdict, gain=gain))


def test_a_weight_of_0_has_no_line_and_times_1_changes_nothing(study):
    none = msgspec.structs.replace(study, weights=dict.fromkeys(study.weights, 0.0))
    assert sensitivity_rows(none) == []
    assert "Every weight found is 0." in "".join(map(str, tuning.sensitivity(none).body))
    rows = sensitivity_rows(study)
    for weight in {row["weight"] for row in rows}:
        mine = [row for row in rows if row["weight"] == weight]
        assert [row["factor"] for row in mine] == ["0", "0.25", "0.5", "1", "2", "4"]
        assert mine[3]["change"] == 0


def test_hostile_names_are_text(study):
    text = HOSTILE[1]
    named = [msgspec.structs.replace(each, developer=text, project_id=text) for each in study.sessions]
    groups = [msgspec.structs.replace(each, name=text) for each in study.groups]
    hostile = msgspec.structs.replace(study, sessions=named, groups=groups, warnings=[text, HOSTILE[0]], why=HOSTILE[3])
    made = study_page(tuning.told_by(hostile), made_at=NOON, created_at=NOON, about=[text])
    page = Page(made)
    assert page.tags.isdisjoint({"script", "img", "iframe", "a"} - {"a"})
    assert text in page.text("beside")


# -- numbers and manifest ----------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_the_study(study, written):
    numbers = pl.read_parquet(written.numbers)
    assert numbers.equals(numbers_frame(study))
    assert numbers.select("part", "name", "figure").is_unique().all()

    def value(part, name, figure):
        return numbers.row(
            by_predicate=(pl.col("part") == part) & (pl.col("name") == name) & (pl.col("figure") == figure)
        )

    oracle = next(each for each in study.policies if each.name == "oracle")
    assert value("policies", "oracle", "recall")[3] == oracle.recall
    assert value("overview", "study", "gain")[3:6] == msgspec.structs.astuple(study.gain)
    lifts = numbers.filter(part="sessions")
    assert lifts.height == len(study.sessions) * len(study.policies)
    assert lifts.filter(figure="lift of oracle")["value"].mean() == pytest.approx(oracle.lift)


def test_the_manifest_names_what_it_was_made_from(bench, study, written):
    found = told(written.manifest)
    assert (found["report"], found["seed"], found["command"]) == (
        "tuning",
        0,
        f"workbench report tuning {study.study_id}",
    )
    assert found["tables"].keys() == set(READ)
    assert found["tables"]["events"] == bench._lake.stores["events"].version()
    recipe = found["parameters"]["recipe"]
    assert (recipe["settings"]["trials"], recipe["settings"]["budget"], recipe["embedder"]) == (16, 500, None)
    assert {"numpy", "scipy", "optuna", "scikit-learn", "python"} <= found["packages"].keys()
    assert found["numbers"]["sha256"] == sha256(written.numbers.read_bytes()).hexdigest()


def test_a_result_of_a_study_is_read_as_it_was_kept(bench, study):
    assert bench.study(study.study_id[:6]) == bench.study("last") == study
    assert isinstance(bench.study(), StudyResult)


# -- made again --------------------------------------------------------------------------------------------------------


def test_the_same_numbers_come_again_whatever_landed_since(bench, written, tmp_path):
    shutil.copytree(bench.home.root, tmp_path / "home")
    later = wb.open(tmp_path / "home", study={"seeds": 1, "folds": 2})
    later.ingest(write_reading_sessions(tmp_path / "more", 1))
    seen = []
    found = later.reproduce(written.manifest, progress=lambda *done: seen.append(done))
    assert (found.equal, found.different, found.packages, found.report_file) == (True, 0, [], "same")
    assert found.numbers > 1000
    assert seen
    assert later.sql("select count(*) from studies").item() == 1


def test_the_same_numbers_come_again_though_the_sessions_grew_and_the_cache_is_gone(tmp_path):
    files = write_telling_sessions(tmp_path / "sessions", 6)
    bench = wb.open(tmp_path / "home", **CONFIG)
    bench.ingest(files)
    written = bench.tuning_report(tmp_path / "out", bench.tune(**SMALL).study_id)
    for number, file in enumerate(sorted(files.iterdir())):
        with file.open("ab") as more:
            more.write(jsonl(prompt(f"more{number}", "And now?", session=session_of(number), seconds=900)))
    assert bench.ingest(files).sessions == 6
    shutil.rmtree(bench.home.root / "cache" / "study")
    assert bench.reproduce(written.manifest).equal


def test_numbers_of_other_settings_are_told(bench, copied):
    parameters = told(copied)["parameters"]
    settings = parameters["recipe"]["settings"]
    change(copied, parameters={**parameters, "recipe": {**parameters["recipe"], "settings": {**settings, "seed": 1}}})
    found = bench.reproduce(copied)
    assert not found.equal
    assert 0 < found.different < found.numbers
    assert "study study: says" in {each.name for each in found.changes}


def test_a_number_that_was_changed_with_its_hash_is_found(bench, copied, written):
    file = copied.with_name(written.numbers.name)
    numbers = pl.read_parquet(file)
    better = pl.when(pl.col("figure") == "gain", pl.col("part") == "overview").then(0.5).otherwise("value")
    numbers.with_columns(value=better).write_parquet(file)
    change(copied, numbers={**told(copied)["numbers"], "sha256": sha256(file.read_bytes()).hexdigest()})
    found = bench.reproduce(copied)
    assert (found.equal, found.different) == (False, 1)
    assert (found.changes[0].name, found.changes[0].before) == ("study gain: value", 0.5)


def test_numbers_that_were_changed_are_refused(bench, copied, written):
    pl.DataFrame({"x": [1]}).write_parquet(copied.with_name(written.numbers.name))
    with pytest.raises(BadInputError, match="is not what the manifest names"):
        bench.reproduce(copied)


@pytest.mark.parametrize("parameters", [{}, {"recipe": 3}, {"recipe": {"settings": {}}}])
def test_a_manifest_that_was_damaged_is_refused_with_the_place(bench, copied, parameters):
    change(copied, parameters=parameters)
    with pytest.raises(BadInputError, match="does not tell how the numbers were made"):
        bench.reproduce(copied)


@pytest.mark.usefixtures("study")
def test_a_study_of_an_older_workbench_is_reported_and_cannot_be_made_again(bench, tmp_path):
    """It did not keep what it was made from."""
    shutil.copytree(bench.home.root, tmp_path / "home")
    older = wb.open(tmp_path / "home")
    store = older._lake.stores["studies"]
    row = older.sql("select * from studies").row(0, named=True)
    result = json.loads(row["result"])
    del result["recipe"]
    store.append(
        store.table.from_dicts(
            [row | {"study_id": "0123abcd", "result": json.dumps(result | {"study_id": "0123abcd"})}]
        )
    )
    written = older.tuning_report(tmp_path / "out", "0123")
    assert (told(written.manifest)["parameters"]["recipe"], told(written.manifest)["tables"]) == (None, {})
    with pytest.raises(BadInputError, match="did not keep what it was made from; `workbench tune` makes it anew"):
        older.reproduce(written.manifest)


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("study")
def test_a_person_is_told_the_verdict_and_where_the_page_is(run, bench, tmp_path):
    done = run("report", "tuning", "--home", bench.home.root)
    path = tmp_path / "reports" / "tuning.html"
    lines = done.out.splitlines()
    assert lines[0].startswith("reports/tuning.html: No verdict: 12 scored sessions, at least 30 are needed, ")
    assert lines[1:] == ["reproduce  workbench reproduce reports/tuning.manifest.json", f"open  {path.as_uri()}"]
    assert path.exists()
    done = run("reproduce", "reports/tuning.manifest.json", "--home", bench.home.root)
    assert (done.code, done.out.split(":")[0]) == (0, "equal")


def test_its_json_has_a_stable_shape(run, bench, study, tmp_path):
    done = run("report", "tuning", study.study_id[:8], "--home", bench.home.root, "--out", "my.html", "--json")
    found = json.loads(done.out)
    assert list(found) == ["path", "manifest", "numbers", "size_bytes", "study_id", "verdict", "headline"]
    assert found["path"] == str(tmp_path / "my.html")
    assert found["size_bytes"] == (tmp_path / "my.html").stat().st_size
    assert (found["study_id"], found["verdict"]) == (study.study_id, "no verdict")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["zzz"], 3, "no study begins with 'zzz'; `workbench tune` makes one"),
        (["--out", "/proc/none/x.html"], 4, "cannot be written"),
    ],
)
@pytest.mark.usefixtures("study")
def test_what_cannot_be_done_is_told(run, bench, arguments, code, said):
    done = run("report", "tuning", *arguments, "--home", bench.home.root)
    assert done.code == code
    assert said in done.err


@pytest.mark.parametrize("arguments", [[], ["last"]])
def test_a_home_without_a_study_says_how_to_make_one(run, tmp_path, arguments):
    wb.open(tmp_path / "new")
    done = run("report", "tuning", *arguments, "--home", tmp_path / "new")
    assert done.code == 3
    assert "no study was made in this home yet; `workbench tune` makes one" in done.err
    with pytest.raises(NotFoundError):
        wb.open(tmp_path / "new").study()


# -- in a browser ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_it_shows_all_and_is_never_wider_than_the_window(browser, written, study, scheme):
    visit = Visit(browser, written.path.as_uri(), scheme=scheme)
    visit.page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert visit.missing({"ids": SECTIONS, "texts": [study.best_hand_set, "What the words mean"]}) == []
    assert visit.page.locator("svg.chart").count() == 5
    assert (visit.strangers, visit.complaints) == ([], [])
    for width in (360, 800, 1100, 1600):
        visit.page.set_viewport_size({"width": width, "height": 900})
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    visit.close()


def test_in_a_browser_no_table_and_no_name_of_a_chart_is_cut(browser, written):
    visit = Visit(browser, written.path.as_uri(), width=1100)
    cut = (
        "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.ariaLabel)"
    )
    assert visit.page.evaluate(cut) == []
    outside = """[...document.querySelectorAll('svg.chart')].flatMap((svg) => {
        const frame = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text')].filter((text) => {
            const box = text.getBoundingClientRect();
            return box.left < frame.left - 1 || box.right > frame.right + 1;
        }).map((text) => text.textContent);
    })"""
    assert visit.page.evaluate(outside) == []
    assert "…" not in "".join(visit.page.locator("svg.chart text").all_text_contents())
    visit.close()
