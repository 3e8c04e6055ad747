"""Bringing an index up to date, and embedding: only what changed, and whatever is interrupted goes on."""

from __future__ import annotations

import pytest

from search.chunks import chunks
from search.word_embedder import WordEmbedder
from workbench.errors import BusyError
from workbench.search import refresh as module
from workbench.search.index import ChunkIndex
from workbench.search.refresh import embed_missing, refresh


class Folder:
    """Texts by owner, as something that is searched; it notes whose chunks were asked for."""

    def __init__(self, **texts):
        self.texts = texts
        self.asked = []

    def states(self):
        return {name: str(hash(text)) for name, text in self.texts.items()}

    def chunks(self, owners):
        self.asked += owners
        return chunks({owner: self.texts[owner] for owner in owners if self.texts[owner]})


@pytest.fixture
def index(tmp_path):
    return ChunkIndex(tmp_path / "vectors")


def found(index, query):
    return index.keyword(query, 10)["chunk_id"].to_list()


def test_only_what_changed_is_made_anew_and_what_is_gone_leaves(index):
    folder = Folder(a="red pump", b="blue pump", empty="")
    steps = []
    assert refresh(index, folder, progress=lambda *step: steps.append(step))
    assert (folder.asked, steps) == (["a", "b", "empty"], [(0, 3, "a")])
    assert not refresh(index, folder)
    folder.texts = {"a": "red tap", "c": "green pump", "empty": ""}
    folder.asked.clear()
    assert refresh(index, folder)
    assert folder.asked == ["a", "c"]
    assert (found(index, "pump"), found(index, "tap"), found(index, "blue")) == (["c/0"], ["a/0"], [])


def test_an_interrupted_refresh_keeps_its_batches_and_goes_on(index, monkeypatch):
    monkeypatch.setattr(module, "OWNERS_AT_ONCE", 2)
    folder = Folder(**{f"o{number}": f"text t{number}" for number in range(5)})

    def interrupt(done, *_):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refresh(index, folder, progress=interrupt)
    assert sorted(index.states()) == ["o0", "o1", "o2", "o3"]
    assert found(index, "text t3")[0] == "o3/0"
    folder.asked.clear()
    assert refresh(index, folder)
    assert folder.asked == ["o4"]


def test_two_do_not_refresh_at_once(index):
    folder = Folder(a="red pump")
    with index.database.lock("refresh"), pytest.raises(BusyError, match="brings the search index up to date"):
        refresh(index, folder)
    assert refresh(index, folder)


def test_a_deleted_index_comes_back_the_same(index, tmp_path):
    folder = Folder(a="red pump", b="blue pump")
    refresh(index, folder)
    other = ChunkIndex(tmp_path / "again")
    refresh(other, folder)
    assert other.rows(["a/0", "b/0"]).equals(index.rows(["a/0", "b/0"]))


# -- embedding ---------------------------------------------------------------------------------------------------------


def test_a_text_is_embedded_once_however_often_it_occurs(index):
    embedder = WordEmbedder()
    refresh(index, Folder(a="red pump", b="red pump", c="blue pump"))
    done = embed_missing(index, embedder)
    assert (done.model, done.texts, done.embedded, done.shared, done.vectors) == ("words", 3, 2, 1, 3)
    assert sorted(embedder.texts) == ["blue pump", "red pump"]
    refresh(index, Folder(a="red pump", b="red pump", c="blue pump", d="blue pump"))
    again = embed_missing(index, embedder)
    assert (again.embedded, again.shared, again.vectors) == (0, 1, 4)
    assert len(embedder.texts) == 2
    assert embed_missing(index, embedder).vectors == 4


def test_a_text_that_went_and_came_back_has_a_vector_again(index):
    embedder = WordEmbedder()
    for texts in ({"a": "red pump", "b": "x1"}, {"b": "x1"}, {"a": "red pump", "b": "x1"}):
        refresh(index, Folder(**texts))
        assert embed_missing(index, embedder).vectors == len(texts)
    assert index.semantic(embedder.embed_query("red pump"), "words", 1)["chunk_id"].to_list() == ["a/0"]


def test_an_interrupted_embedding_keeps_what_is_stored_and_goes_on(index, monkeypatch):
    monkeypatch.setattr(module, "TEXTS_AT_ONCE", 4)
    refresh(index, Folder(**{f"o{number}": f"text {number}" for number in range(10)}))

    class Interrupted(WordEmbedder):
        def embed(self, texts):
            if len(self.texts) == 8:
                raise KeyboardInterrupt
            return super().embed(texts)

    with pytest.raises(KeyboardInterrupt):
        embed_missing(index, Interrupted())
    assert index.coverage("words") == (8, 10)
    embedder, steps = WordEmbedder(), []
    assert embed_missing(index, embedder, progress=lambda *step: steps.append(step)).vectors == 10
    assert (len(embedder.texts), steps) == (2, [(0, 2, "words")])


def test_two_do_not_embed_at_once(index):
    refresh(index, Folder(a="red pump"))
    with index.database.lock("embed"), pytest.raises(BusyError, match="another process embeds"):
        embed_missing(index, WordEmbedder())


def test_a_text_that_changes_while_it_is_embedded_gets_no_wrong_vector(index):
    refresh(index, Folder(a="red pump"))

    class Slow(WordEmbedder):
        def embed(self, texts):
            refresh(index, Folder(a="blue tap"))
            return super().embed(texts)

    assert embed_missing(index, Slow()).vectors == 0
    assert embed_missing(index, WordEmbedder()).vectors == 1


def test_a_text_that_moves_within_its_owner_or_to_another_one_keeps_its_vector(index):
    embedder = WordEmbedder()
    refresh(index, Folder(a="red pump", b="blue tap"))
    embed_missing(index, embedder)
    before = index.known_vectors("words", list(index.rows(["a/0"])["content_hash"]))[1]
    refresh(index, Folder(moved="red pump", b="blue tap"))
    assert index.coverage("words") == (2, 2)
    rows = chunks({"b": "blue tap"}, start=7, end=15)
    index.upsert(rows, {"b": "shifted"})
    assert index.rows(["b/0"])["start"].to_list() == [7]
    assert index.coverage("words") == (2, 2)
    assert embed_missing(index, embedder).embedded == 0
    after = index.known_vectors("words", list(index.rows(["moved/0"])["content_hash"]))[1]
    assert after.tolist() == before.tolist()
    assert index.semantic(embedder.embed_query("red pump"), "words", 1)["chunk_id"].to_list() == ["moved/0"]
