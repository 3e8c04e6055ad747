"""Studies of settings: kept, reported as a page with its numbers, and made again from their manifests."""

import json
import shutil

import polars as pl
import pytest
from browsing import SCREENSHOTS, Visit, chromium
from in_process import runner
from report_pages import Page

import workbench as wb
from workbench.errors import AmbiguousError, NotFoundError

WORDS = ("otter", "heron", "maple", "basalt", "violin", "quartz", "lantern", "saddle")
CONFIG = {"embedding": {"model": "lsa"}, "study": {"seeds": 1, "bootstrap_draws": 200}}
SMALL = {"trials": 4, "permutations": 2}
SECTIONS = ["overview", "settings", "null", "values", "counting"]


def write_judged(folder):
    documents = [{"id": f"d{n}", "text": f"On the {word}: a {word} by river {n}."} for n, word in enumerate(WORDS)]
    queries = [{"id": f"q{n}", "text": f"where is the {word}"} for n, word in enumerate(WORDS)]
    folder.mkdir()
    for name, rows in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    (folder / "qrels.tsv").write_text("".join(f"q{n}\td{n}\t1\n" for n in range(len(WORDS))), "utf-8")
    return folder


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    return write_judged(tmp_path_factory.mktemp("set") / "judged")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return wb.open(tmp_path_factory.mktemp("settings") / "home", **CONFIG)


@pytest.fixture(scope="module")
def study(bench, judged):
    return bench.tune_fusion(judged, **SMALL)


@pytest.fixture(scope="module")
def written(bench, study, tmp_path_factory):
    return bench.tuning_report(tmp_path_factory.mktemp("out"), study.study_id)


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    return runner(capsys, monkeypatch, tmp_path)


def test_a_study_is_kept_once_with_what_it_was_made_from(bench, study, judged):
    again = bench.tune_fusion(judged, **SMALL)
    assert again == study
    (row,) = bench.sql("select * from setting_studies").to_dicts()
    assert (row["study_id"], row["what"], row["measure"]) == (study.study_id, "fusion", "ndcg@10")
    assert (row["grouped_by"], row["groups"], row["verdict"]) == ("queries", 8, "no verdict")
    assert json.loads(row["settings"]) == study.found
    recipe = json.loads(row["result"])["recipe"]
    assert (recipe["asked"]["judged_set"], recipe["asked"]["embedder"]) == (str(judged), "lsa")
    assert recipe["settings"]["search"]["semantic_weight"] == 0.6


def test_the_page_says_what_the_study_says(study, written):
    html = written.path.read_text("utf-8")
    page = Page(html)
    assert [name for name in SECTIONS if name in page.texts] == SECTIONS
    assert page.text("settings-table").split()[:3] == ["setting", "ndcg@10", "over"]
    assert f"Study {study.study_id} of" in html
    assert "No verdict: 8 queries, at least 30 are needed" in html
    assert "gain in ndcg@10" in html
    numbers = pl.read_parquet(written.numbers)
    tuned = numbers.row(by_predicate=(pl.col("name") == "tuned") & (pl.col("figure") == "ndcg@10"), named=True)
    assert tuned["value"] == next(row.mean for row in study.rows if row.name == "tuned")


def test_the_same_numbers_come_again(bench, written):
    told = bench.reproduce(written.manifest)
    assert (told.equal, told.different, told.shape, told.report_file) == (True, 0, [], "same")
    assert told.numbers > 100


def test_a_judged_set_that_was_changed_is_no_base_for_the_same_numbers(run, tmp_path):
    judged = write_judged(tmp_path / "judged")
    bench = wb.open(tmp_path / "home", **CONFIG)
    written = bench.tuning_report(tmp_path / "out", bench.tune_fusion(judged, **SMALL).study_id)
    (judged / "qrels.tsv").write_text("".join(f"q{n}\td{7 - n}\t1\n" for n in range(8)), "utf-8")
    done = run("reproduce", written.manifest, "--home", tmp_path / "home")
    assert done.code == 2
    assert f"{judged} is not what the study was made from" in done.err
    shutil.rmtree(judged)
    done = run("reproduce", written.manifest, "--home", tmp_path / "home")
    assert done.code == 3
    assert f"there is no judged set {judged}" in done.err


def test_the_newest_study_of_any_kind_is_reported_unless_one_is_named(run, bench, study, tmp_path):
    told = json.loads(run("report", "tuning", "--home", bench.home.root, "--out", tmp_path / "a", "--json").out)
    assert (told["study_id"], told["verdict"]) == (study.study_id, "no verdict")
    assert told["headline"].startswith("No verdict: 8 queries")
    with pytest.raises(NotFoundError, match="no study begins with 'zz'"):
        bench.tuning_report(tmp_path, "zz")


def test_the_beginning_of_an_id_must_tell_which_study_is_meant(tmp_path, judged):
    bench = wb.open(tmp_path / "home", **CONFIG)
    ids = [bench.tune_fusion(judged, **SMALL, seed=seed).study_id for seed in range(2)]
    assert bench.tuning_report(tmp_path / "out", ids[0][:6]).result.study_id == ids[0]
    with pytest.raises(AmbiguousError, match="fits several studies"):
        bench.tuning_report(tmp_path / "out", "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_it_shows_all_and_is_never_wider_than_the_window(browser, written, scheme):
    visit = Visit(browser, written.path.as_uri(), scheme=scheme)
    visit.page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    assert visit.missing({"ids": SECTIONS, "texts": ["reciprocal rank", "the one to beat"]}) == []
    assert visit.page.locator("svg.chart").count() == 3
    assert (visit.strangers, visit.complaints) == ([], [])
    visit.page.screenshot(path=SCREENSHOTS / f"report-fusion-{scheme}.png", full_page=True)
    for width in (360, 800, 1100, 1600):
        visit.page.set_viewport_size({"width": width, "height": 900})
        assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"at {width}"
    visit.context.close()
