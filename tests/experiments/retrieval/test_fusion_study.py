"""A study of the weights of hybrid search: on made candidates with and without an effect, and by the command."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from in_process import runner

import workbench as wb
from workbench.errors import BadInputError
from workbench.experiments.retrieval.fusion_study import FusionObjective, fusion_settings, study_fusion
from workbench.experiments.retrieval.metrics import ndcg
from workbench.experiments.retrieval.tuning import Candidates, Mixture, mix, rank
from workbench.experiments.study.null import NullRules
from workbench.experiments.study.plain import PlainSettings
from workbench.ingest.retrieval import JudgedSet

QUERIES, PLACES = 60, 12


def made_candidates(*, by_words, seed=0):
    """Each query has one right document; words find it as well as is asked, meaning tells nothing."""
    random = np.random.default_rng(seed)
    grades = np.zeros((QUERIES, PLACES))
    grades[np.arange(QUERIES), random.integers(0, PLACES, QUERIES)] = 1.0
    words = by_words * grades + random.random(grades.shape)
    return Candidates(
        documents=np.tile(np.arange(PLACES), (QUERIES, 1)),
        keyword=words,
        semantic=random.random(grades.shape),
        grades=grades,
        ideal=np.ones((QUERIES, 1)),
        chunks=np.tile(np.arange(PLACES), (QUERIES, 1)),
    )


def made_set(rows=None):
    names = [f"q{number:03}" for number in range(QUERIES)]
    rows = [(name, f"d{name}", 1) for name in names] if rows is None else rows
    return JudgedSet(
        "made",
        pl.DataFrame({"query_id": names, "text": names}),
        pl.DataFrame({"document_id": ["d"], "text": ["d"]}),
        pl.DataFrame(rows, schema=["query_id", "document_id", "grade"], orient="row"),
    )


def asked(**changes):
    told = {
        "measure": "ndcg@10", "of": "queries", "seed": 0, "trials": 16, "learning_trials": 0, "folds": 3, "seeds": 1,
        "draws": 500, "least": 30, "null": NullRules(20, 40, 0.01, 0.02),
    }  # fmt: skip
    return PlainSettings(**(told | changes))


def test_values_are_those_of_the_mixture():
    candidates = made_candidates(by_words=0.5)
    objective = FusionObjective([str(number) for number in range(QUERIES)], candidates)
    values = objective.search_values(np.array([[0.0], [0.35], [1.0]]))
    for weight, found in zip((0.0, 0.35, 1.0), values, strict=True):
        expected = ndcg(rank(candidates, mix(candidates, Mixture("minmax", weight))).gains, candidates.ideal)
        assert found.tolist() == expected.tolist()
    assert values[0].mean() > values[2].mean() + 0.2


def test_permuted_judgements_keep_their_number_and_stay_with_documents():
    candidates = made_candidates(by_words=0.5)
    names = ("documents", "keyword", "semantic", "grades", "chunks")
    twice = replace(candidates, **{name: np.tile(getattr(candidates, name), (1, 2)) for name in names})
    permuted = FusionObjective([str(number) for number in range(QUERIES)], twice).permuted(3)._candidates
    assert (permuted.grades.sum(axis=1) == 2).all()
    assert (permuted.grades[:, :PLACES] == permuted.grades[:, PLACES:]).all()
    assert (permuted.grades != twice.grades).any()


def test_a_weight_that_helps_is_found_and_may_be_applied(tmp_path):
    result = study_fusion(made_set(), made_candidates(by_words=0.4), 1.0, asked(least=30))
    means = {row.name: row.mean for row in result.rows}
    assert result.found["search.semantic_weight"] < 0.5
    assert means["tuned"] > means["in use"] + 0.1
    assert result.best_hand_set == "keyword"
    assert result.verdict == "no difference"
    better = wb.open(tmp_path).apply_weights
    with pytest.raises(BadInputError, match="nothing was applied: no difference"):
        better(result)


def test_what_beats_all_that_is_set_by_hand_is_written(tmp_path):
    """One wrong document is best by words, another by meaning; between 0.08 and 0.41 the right one is before both."""
    random = np.random.default_rng(0)
    places = random.permuted(np.tile(np.arange(PLACES), (QUERIES, 1)), axis=1)[:, :3]
    words, meaning, grades = (np.full((QUERIES, PLACES), start) for start in (0.1, 0.3, 0.0))
    for scores, right, by_words, by_meaning in ((words, 0.95, 1.0, 0.7), (meaning, 0.6, 0.0, 1.0), (grades, 1, 0, 0)):
        np.put_along_axis(scores, places, np.array([[right, by_words, by_meaning]]), axis=1)
    words[::6] = np.where(grades[::6] > 0, 1.0, 0.1)
    made = made_candidates(by_words=0.0)
    mixed = replace(made, keyword=words, semantic=meaning, grades=grades)
    result = study_fusion(made_set(), mixed, 0.9, asked(trials=64, null=NullRules(20, 40, 0.02, 0.05)))
    assert (result.verdict, result.may_apply) == ("better", True)
    assert 0.08 < result.found["search.semantic_weight"] < 0.41
    path = wb.open(tmp_path).apply_weights(result)
    written = json.loads(path.read_text("utf-8"))["search"]
    meant = pytest.approx(result.found["search.semantic_weight"], abs=1e-6)
    assert (written["semantic_weight"], 1 - written["keyword_weight"]) == (meant, meant)
    assert wb.open(tmp_path).config.search.semantic_weight == written["semantic_weight"]


def test_where_judgements_mean_nothing_there_is_no_gain():
    result = study_fusion(made_set(), made_candidates(by_words=0.0), 0.5, asked())
    assert result.verdict in ("no difference", "worse")
    assert not result.may_apply
    assert abs(result.null.mean) < 0.02
    assert result.null.permutations >= 20


def test_under_thirty_queries_there_is_no_verdict():
    result = study_fusion(made_set(), made_candidates(by_words=2.0), 1.0, asked(least=100))
    assert (result.verdict, result.may_apply) == ("no verdict", False)
    assert result.why.startswith("60 queries, at least 100 are needed")
    assert result.null.permutations == 20


def test_queries_that_share_a_right_document_are_not_parted():
    rows = [(f"q{number:03}", f"d{number % 3}", 1) for number in range(QUERIES)]
    with pytest.raises(BadInputError, match="60 queries in 3 parts that share nothing are too few"):
        study_fusion(made_set(rows), made_candidates(by_words=1.0), 1.0, asked())


def test_both_weights_are_written_and_add_up():
    assert fusion_settings({"search.semantic_weight": 0.25}) == {
        "search.keyword_weight": 0.75,
        "search.semantic_weight": 0.25,
    }


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    return runner(capsys, monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    words = ["otter", "heron", "maple", "basalt", "violin", "quartz", "lantern", "saddle"]
    documents = [
        {"id": f"d{n}", "text": f"On the {word}: a {word} near the river {n}."} for n, word in enumerate(words)
    ]
    queries = [{"id": f"q{n}", "text": f"where is the {word}"} for n, word in enumerate(words)]
    for name, rows in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    (folder / "qrels.tsv").write_text("".join(f"q{n}\td{n}\t1\n" for n in range(len(words))), "utf-8")
    (folder / "home").mkdir()
    (folder / "home" / "config.json").write_text('{"embedding": {"model": "lsa"}, "study": {"seeds": 1}}', "utf-8")
    return folder


def test_the_command_tells_settings_null_and_verdict(run, judged):
    options = ("tune", "--what", "fusion", "--set", judged, "--home", judged / "home", "--permutations", "2")
    told = json.loads(run(*options, "--trials", "4", "--json").out)
    assert (told["what"], told["groups"], told["verdict"]) == ("weights of hybrid search", 8, "no verdict")
    names = [row["name"] for row in told["rows"]]
    assert names == ["in use", "keyword", "semantic", "even weights", "reciprocal rank", "tuned"]
    assert (told["default"], told["applied"]) == ({"search.semantic_weight": 0.6}, None)
    lines = run(*options, "--trials", "4").out.splitlines()
    assert lines[0] == "weights of hybrid search: 8 queries, 4 trials, 5 folds"
    assert lines[-2].startswith("verdict: no verdict: 8 queries, at least 30 are needed")
    assert lines[-1] == f"report  workbench report tuning {told['study_id']}"
    done = run(*options, "--trials", "4", "--apply")
    assert done.code == 1
    assert "nothing was applied: no verdict" in done.err
    assert "search" not in json.loads((judged / "home" / "config.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--what", "fusion"), "--what fusion needs --set"),
        (("--what", "fusion", "--set", "x", "--level", "step"), "--what fusion takes no level"),
        (("--set", "x"), "--set and --corpus belong to --what fusion"),
        (("--what", "idle-turns", "--budget", "500"), "--what idle-turns takes no level, budget"),
        (("--what", "hydration", "--set", "x"), "--set and --corpus belong to --what fusion"),
        (("--what", "moods"), "Invalid value"),
    ],
)
def test_what_does_not_go_together_is_refused(run, tmp_path, options, said):
    done = run("tune", *options, "--home", tmp_path / "home")
    assert done.code == 2
    assert said in done.err


def test_ranks_have_no_weights(judged):
    bench = wb.open(judged / "home", search={"fusion": "rrf"})
    with pytest.raises(BadInputError, match=r"search\.fusion is rrf, which has no weights"):
        bench.tune_fusion(judged)


def test_embedding_and_asking_are_told_as_they_go(judged, tmp_path):
    told = []
    bench = wb.open(tmp_path / "home", embedding={"model": "lsa"}, study={"seeds": 1})
    bench.tune_fusion(judged, trials=4, permutations=2, progress=lambda *step: told.append(step))
    assert ("queries", 8) in {(what, total) for _, total, what in told}
    assert told[0][2] not in ("queries", "permuted labels")
