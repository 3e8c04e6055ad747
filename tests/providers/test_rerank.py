import numpy as np
import pytest
from onnx_models import WORDS, encoder, scorer, write_folder

from workbench.errors import RerankerUnavailableError
from workbench.providers.rerank import CrossEncoder, load_cross_encoder

WORTH = {"cat": 5.0, "dog": 2.0, "one": -1.0}


def table(*columns):
    return np.array([[column.get(word, 0.0) for column in columns] for word in WORDS])


@pytest.fixture
def reranker(tmp_path):
    return load_cross_encoder(write_folder(tmp_path / "tiny", scorer(table(WORTH))))


def test_query_and_text_are_scored_together(reranker):
    assert reranker.score("one", ["cat dog", "two", "dog dog dog"]).tolist() == [6.0, -1.0, 5.0]


def test_no_text_has_no_score(reranker):
    assert reranker.score("one", []).shape == (0,)


def test_many_texts_come_back_in_their_order(reranker):
    texts = [" ".join(["two"] * (number % 7) + ["cat"] * number) for number in range(40)]
    assert reranker.score("two", texts).tolist() == [5.0 * number for number in range(40)]


def test_the_best_part_of_a_text_that_is_too_long_counts(tmp_path):
    folder = write_folder(tmp_path / "tiny", scorer(table(WORTH)))
    contents = [(folder / name).read_bytes() for name in ("model.onnx", "tokenizer.json")]
    short = CrossEncoder("tiny", *contents, max_tokens=10)
    # three marks and a word of the query leave six words for a part
    assert short.score("two", ["three " * 30 + "cat dog " + "three " * 30]).tolist() == [7.0]
    assert short.score("two", ["cat " * 6 + "dog " * 6]).tolist() == [30.0]


def test_of_two_classes_the_lead_of_the_second_is_the_score(tmp_path):
    folder = write_folder(tmp_path / "tiny", scorer(table({"cat": 1.0}, {"cat": 4.0})))
    assert load_cross_encoder(folder).score("one", ["cat"]).tolist() == [3.0]


def test_odd_characters_are_read(reranker):
    assert reranker.score("\0", ["\ud800", "", "cat"]).tolist() == [0.0, 0.0, 5.0]


def test_the_id_tells_an_exchanged_model(tmp_path):
    one = load_cross_encoder(write_folder(tmp_path / "tiny", scorer(table(WORTH))))
    other = load_cross_encoder(write_folder(tmp_path / "tiny", scorer(table({"cat": 1.0}))))
    assert one.model_id.startswith("tiny-")
    assert one.model_id != other.model_id


def test_a_model_that_gives_no_score_a_pair_is_refused(tmp_path):
    with pytest.raises(RerankerUnavailableError, match=r"1 x 5 x 1 .*trained to rank"):
        load_cross_encoder(write_folder(tmp_path / "tiny", encoder(table(WORTH))))


def test_a_model_of_three_classes_is_refused(tmp_path):
    with pytest.raises(RerankerUnavailableError, match="expected is one number a pair"):
        load_cross_encoder(write_folder(tmp_path / "tiny", scorer(table(WORTH, WORTH, WORTH))))


def test_what_is_missing_or_broken_is_named(tmp_path):
    with pytest.raises(RerankerUnavailableError, match=r"model\.onnx: No such file.*rerank\.model_path"):
        load_cross_encoder(tmp_path / "nowhere")
    folder = write_folder(tmp_path / "tiny", b"no model")
    with pytest.raises(RerankerUnavailableError, match="not a model that onnxruntime reads"):
        load_cross_encoder(folder)
    write_folder(folder, scorer(table(WORTH)))
    (folder / "tokenizer.json").write_text("[]")
    with pytest.raises(RerankerUnavailableError, match=r"tokenizer\.json is not a tokenizer"):
        load_cross_encoder(folder)


def test_a_model_with_other_inputs_is_refused(tmp_path):
    with pytest.raises(RerankerUnavailableError, match="takes input_ids, pixels"):
        load_cross_encoder(write_folder(tmp_path / "tiny", encoder(table(WORTH), ("input_ids", "pixels"))))
