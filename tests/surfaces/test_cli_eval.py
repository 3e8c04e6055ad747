"""`workbench eval retrieval` on a made set of forty documents: what it prints, what it writes, what it refuses."""

import json
import re
import sys

import polars as pl
import pytest

from workbench.surfaces.cli import main

TOPICS = {
    "cat": "whiskers purr kitten feline paw",
    "dog": "bark leash puppy canine kennel",
    "boat": "sail anchor harbour keel mast",
    "bread": "flour yeast oven loaf crust",
    "piano": "keys pedal melody chord sonata",
    "garden": "soil seed rake tulip compost",
    "train": "rail station engine wagon ticket",
    "star": "telescope orbit comet galaxy lens",
}


@pytest.fixture
def judged(tmp_path):
    """Eight topics of five documents; a query has the words of one document, which is the answer."""
    folder = tmp_path / "data" / "small"
    folder.mkdir(parents=True)
    corpus, queries, judgements = [], [], []
    for topic, words in TOPICS.items():
        parts = words.split()
        for number, word in enumerate(parts):
            others = " ".join(part for part in parts if part != word)
            text = f"{topic} {word} {word}, with {others[:12]}. Number {number}."
            corpus.append({"id": f"{topic}{number}", "text": text})
            queries.append({"id": f"q-{topic}{number}", "text": f"{topic} {word}"})
            judgements.append(f"q-{topic}{number}\t{topic}{number}\t1\n")
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "qrels.tsv").write_text("".join(judgements))
    return folder


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    def called(*arguments):
        words = ["workbench", "eval", "retrieval", *map(str, arguments), "--home", str(tmp_path / "home")]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return ended.value.code, shown.out, shown.err

    return called


def test_methods_are_compared_and_written_with_intervals(run, judged, tmp_path):
    out = tmp_path / "reports"
    code, shown, _ = run(judged, "--embedder", "lsa", "--out", out, "--json")
    assert code == 0
    numbers = json.loads(shown)
    assert numbers["set"] == "small"
    assert numbers["command"] == "workbench eval retrieval data/small --embedder lsa"
    (only,) = numbers["evaluations"]
    assert only["counts"] == {
        "documents": 40,
        "chunks": 40,
        "queries": 40,
        "tuning": only["counts"]["tuning"],
        "reporting": 40 - only["counts"]["tuning"],
        "candidates": 50,
    }
    assert list(only["methods"]) == [
        "grep",
        "keyword",
        "semantic",
        "hybrid, tuned",
        "hybrid, default",
        "min-max sum, meaning 0.50",
        "reciprocal rank, k 60",
    ]
    for method in only["methods"].values():
        for estimate, low, high in method["measures"].values():
            assert 0 <= low <= estimate <= high <= 1
        assert method["tokens"] > 0
        assert 0 < method["p50_ms"] <= method["p95_ms"]
    # the words of a query stand in its document and, together, nowhere else
    assert only["methods"]["keyword"]["measures"]["recall_any@5"] == [1.0, 1.0, 1.0]
    assert only["verdict"] in {"above", "level", "below"}
    assert only["gain"]["ndcg@10"][0] >= 0
    assert len(only["grid"]) == 22

    assert sorted(path.name for path in out.iterdir()) == ["README.md", "small.json", "small.md", "small.parquet"]
    assert json.loads((out / "small.json").read_text()) == numbers
    rows = pl.read_parquet(out / "small.parquet")
    assert rows.height == 40 * 7
    reporting = rows.filter(method="semantic", half="reporting")
    assert reporting["ndcg@10"].mean() == pytest.approx(only["methods"]["semantic"]["measures"]["ndcg@10"][0], abs=1e-6)


def test_the_pages_say_plainly_whether_mixing_is_worth_it_and_name_no_path(run, judged, tmp_path):
    out = tmp_path / "reports"
    run(judged, "--embedder", "lsa", "--out", out)
    page, overview = ((out / name).read_text() for name in ("small.md", "README.md"))
    assert re.search(
        r"\*\*Hybrid search is (better than|NOT (shown to be )?better than) (keyword|semantic) alone", page
    )
    assert "workbench eval retrieval data/small --embedder lsa" in page
    assert "[small](small.md)" in overview
    assert "## The default" in overview
    assert str(tmp_path) not in page + overview


def test_a_second_run_embeds_nothing_and_finds_the_same(run, judged):
    first, second = (json.loads(run(judged, "--embedder", "lsa", "--json")[1]) for _ in range(2))
    for numbers in (first, second):
        for method in numbers["evaluations"][0]["methods"].values():
            for name in ("p50_ms", "p95_ms"):
                del method[name]
    assert first == second


def test_a_person_reads_a_table_and_the_verdict(run, judged):
    code, shown, _ = run(judged, "--embedder", "lsa")
    assert code == 0
    assert re.search(
        r"small, lsa-[0-9a-f]{16}, packed: 40 documents in 40 chunks, \d+ queries reported, \d+ tuned on", shown
    )
    interval = r"\d\.\d{3} \(\d\.\d{3} to \d\.\d{3}\)"
    for method in ("keyword", "semantic", "hybrid, tuned", "hybrid, default"):
        assert re.search(rf"^{method} +{interval} +{interval} +\d", shown, re.MULTILINE), method
    assert re.search(r"tuned: .*; (above|level|below|level) (keyword|semantic) alone: [+-]0\.\d{3} ndcg@10", shown)


def test_a_query_with_a_pool_is_searched_in_it_alone(run, tmp_path):
    turns = [
        [
            {"speaker": "Ann", "dia_id": f"D1:{number}", "text": f"{topic} {word}"}
            for number, word in enumerate(words.split())
        ]
        for topic, words in TOPICS.items()
    ]
    samples = [
        {
            "sample_id": f"c{place}",
            "conversation": {"session_1": own},
            # asked with a word of another conversation: found there alone if pools did not count
            "qa": [{"question": own[2]["text"] + " whiskers", "evidence": ["D1:2"], "category": 1}],
        }
        for place, own in enumerate(turns)
    ]
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps(samples))
    numbers = json.loads(run(path, "--embedder", "lsa", "--json")[1])
    methods = numbers["evaluations"][0]["methods"]
    assert {methods[name]["measures"]["recall_any@5"][0] for name in ("grep", "keyword", "semantic")} == {1.0}


def test_what_cannot_be_done_is_refused_in_words(run, judged, tmp_path):
    code, _, said = run(tmp_path / "nowhere")
    assert (code, "there is no judged set" in said) == (3, True)
    code, _, said = run(judged, "--embedder", "nonsense")
    assert (code, "names no known embedder" in said) == (2, True)
    code, _, said = run(judged, "--embedder", "fastembed:x")
    assert (code, "pip install 'workbench[fastembed]'" in said) == (3, True)


def test_numbers_of_another_version_are_not_mixed_in(run, judged, tmp_path):
    out = tmp_path / "reports"
    out.mkdir()
    (out / "old.json").write_text('{"shape": 0}')
    code, _, said = run(judged, "--embedder", "lsa", "--out", out)
    assert (code, "old.json has not the shape of this version's numbers" in said) == (2, True)


def test_ways_to_cut_are_compared_under_one_embedder(run, judged, tmp_path):
    corpus = judged / "corpus.jsonl"
    rows = [json.loads(line) for line in corpus.read_text().splitlines()]
    rows[0]["text"] = f"# One\n{rows[0]['text']}\n# Two\nother words\n"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "reports"
    ways = ("--chunking", "packed", "--chunking", "sections")
    code, shown, _ = run(judged, "--embedder", "lsa", *ways, "--out", out, "--json")
    assert code == 0
    numbers = json.loads(shown)
    assert numbers["command"] == "workbench eval retrieval data/small --embedder lsa " + " ".join(ways)
    cut = [(each["chunking"], each["counts"]["chunks"]) for each in numbers["evaluations"]]
    assert cut == [("packed", 40), ("sections", 41)]
    (compared,) = numbers["chunkings"]
    assert (compared["chunking"], compared["against"]) == ("sections", "packed")
    for method in ("keyword", "semantic", "hybrid, default"):
        packed, sections = (each["methods"][method]["measures"]["ndcg@10"][0] for each in numbers["evaluations"])
        assert compared["gain"][method][0] == pytest.approx(sections - packed, abs=2e-6)
    assert "| sections minus packed |" in (out / "small.md").read_text()
    assert "sections minus packed, ndcg@10: keyword" in run(judged, "--embedder", "lsa", *ways)[1]


def test_an_unknown_way_to_cut_is_refused(run, judged):
    code, _, told = run(judged, "--chunking", "slices")
    assert code == 2
    assert "'packed', 'sections'" in told
