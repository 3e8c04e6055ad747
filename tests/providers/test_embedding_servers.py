"""Ollama and OpenAI's dialect against a server of this machine: what is sent, what goes wrong, what is said of it."""

import threading

import msgspec
import numpy as np
import pytest
from fake_embedders import DIMENSION, bag, serving

from workbench.config import Config
from workbench.errors import EmbedderUnavailableError
from workbench.providers.embedding import load_embedder

KEY = "sk-very-secret"


@pytest.fixture
def server():
    with serving() as fake:
        yield fake


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """Seconds that were waited between two tries."""
    waited = []
    monkeypatch.setattr("workbench.providers.embedding.servers.time.sleep", waited.append)
    return waited


def load(server, folder, model="ollama:tiny", **changes):
    changes = {"url": server.url, "max_tokens": 12, **changes}
    return load_embedder(msgspec.structs.replace(Config().embedding, model=model, **changes), folder)


def test_ollama_is_told_not_to_cut_and_gets_no_key_unless_there_is_one(server, tmp_path):
    load(server, tmp_path).embed(["cat"])
    path, headers, body = server.asked[-1]
    assert path == "/api/embed"
    assert body == {"model": "tiny", "input": ["cat"], "truncate": False}
    assert "Authorization" not in headers


def test_openai_is_shown_the_key_and_its_answers_are_put_in_order(server, tmp_path):
    rows = load(server, tmp_path, "openai:tiny", api_key=KEY).embed(["cat", "one two", "dog"])
    path, headers, body = server.asked[-1]
    assert path == "/embeddings"
    assert body == {"model": "tiny", "input": ["cat", "one two", "dog"], "encoding_format": "float"}
    assert headers["Authorization"] == f"Bearer {KEY}"
    wanted = np.stack([bag(text) for text in ("cat", "one two", "dog")])
    assert rows == pytest.approx(wanted / np.linalg.norm(wanted, axis=1, keepdims=True), abs=1e-6)


def test_texts_go_in_batches(server, tmp_path):
    embedder = load(server, tmp_path, batch_size=3)
    before = len(server.asked)
    embedder.embed(["cat"] * 8)
    assert [len(body["input"]) for _, _, body in server.asked[before:]] == [3, 3, 2]


def test_the_dimension_is_asked_for_once_unless_it_is_known(server, tmp_path):
    assert load(server, tmp_path).dimension == DIMENSION
    assert len(server.asked) == 1
    assert load(server, tmp_path, dimension=DIMENSION).dimension == DIMENSION
    assert len(server.asked) == 1


def test_a_model_of_another_dimension_than_agreed_is_refused(server, tmp_path):
    with pytest.raises(EmbedderUnavailableError, match="vectors of 16 numbers where 8 were expected"):
        load(server, tmp_path, dimension=8).embed(["cat"])


def test_a_model_that_is_exchanged_while_running_is_refused(server, tmp_path):
    embedder = load(server, tmp_path)
    server.vector = lambda text: bag(text, 4)
    with pytest.raises(EmbedderUnavailableError, match="vectors of 4 numbers where 16 were expected"):
        embedder.embed(["cat"])


def test_passing_troubles_are_tried_again_with_growing_waits(server, tmp_path, waits):
    server.troubles = [503, 429, 500]
    assert load(server, tmp_path).dimension == DIMENSION
    assert waits == [0.5, 1.0, 2.0]


def test_a_server_that_says_how_long_to_wait_is_obeyed(server, tmp_path, waits):
    server.troubles = [(429, {"Retry-After": "7"}, "slow down"), (429, {"Retry-After": "Thu, 01 Jan 2026"}, "")]
    load(server, tmp_path)
    assert waits == [7.0, 1.0]


def test_troubles_that_stay_end_after_the_tries_allowed(server, tmp_path, waits):
    server.troubles = [503] * 9
    with pytest.raises(
        EmbedderUnavailableError, match=r"ollama:tiny at http://127.* answered 503: trouble; is the server"
    ):
        load(server, tmp_path, tries=3)
    assert len(server.asked) == 3
    assert len(waits) == 2


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (
            401,
            '{"error": {"message": "bad key sk-very-secret"}}',
            r"answered 401: bad key \*\*\*; set embedding.api_key",
        ),
        (404, '{"error": "model not found"}', "answered 404: model not found; check the model's name"),
        (400, '{"error": "input exceeds the context"}', "exceeds the context; if a text was too long.*max_tokens"),
        (400, "<html>\x1b[31m", r"answered 400: <html> \[31m"),
    ],
)
def test_a_refusal_is_final_and_told_with_its_remedy_but_never_with_the_key(
    server, tmp_path, waits, status, body, said
):
    server.troubles = [(status, {}, body)]
    with pytest.raises(EmbedderUnavailableError, match=said) as raised:
        load(server, tmp_path, "openai:tiny", api_key=KEY)
    assert KEY not in str(raised.value)
    assert waits == []


def test_a_redirect_is_not_followed(server, tmp_path):
    server.troubles = [(307, {"Location": "http://127.0.0.1:1/steal"}, "")]
    with pytest.raises(EmbedderUnavailableError, match="answered 307"):
        load(server, tmp_path, "openai:tiny", api_key=KEY)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "answer", ["nonsense", '{"data": 3}', '{"embeddings": [["a"]]}', "[]", '{"embeddings": [[1], [1, 2]]}']
)
def test_an_answer_without_vectors_is_refused(server, tmp_path, answer):
    server.troubles = [(200, {}, answer)]
    with pytest.raises(EmbedderUnavailableError, match=r"not JSON|something else than vectors"):
        load(server, tmp_path, tries=1)


@pytest.mark.parametrize(
    ("answer", "said"), [('{"embeddings": []}', "0 vectors for 1"), ('{"embeddings": [[0, 0]]}', "zero or not finite")]
)
def test_vectors_that_cannot_be_used_are_refused(server, tmp_path, answer, said):
    server.troubles = [(200, {}, answer)]
    with pytest.raises(EmbedderUnavailableError, match=said):
        load(server, tmp_path)


def test_a_server_that_never_answers_is_given_up(server, tmp_path):
    release = threading.Event()
    server.troubles = [lambda _: release.wait(10)] * 2
    embedder = load(server, tmp_path, dimension=DIMENSION, timeout_seconds=1, tries=1)
    with pytest.raises(EmbedderUnavailableError, match="did not answer within 1 s"):
        embedder.embed(["cat"])
    release.set()


def test_a_connection_that_breaks_is_tried_again(server, tmp_path, waits):
    server.troubles = [lambda handler: handler.connection.close()]
    assert load(server, tmp_path).dimension == DIMENSION
    assert waits == [0.5]


def test_a_server_that_is_not_there_is_named(tmp_path):
    with serving() as gone:
        pass
    with pytest.raises(EmbedderUnavailableError, match=r"cannot be reached: .*refused.*embedding\.url"):
        load(gone, tmp_path, tries=1)


@pytest.mark.parametrize("url", ["ftp://example.org", "file:///etc/passwd", "nowhere"])
def test_an_address_that_is_no_web_address_is_refused(server, tmp_path, url):
    server.url = url
    with pytest.raises(EmbedderUnavailableError, match="begins with http"):
        load(server, tmp_path)
