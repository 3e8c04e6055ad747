"""Stand-ins for what is not installed here: two libraries and two servers, bags of words behind the real interface.

The modules imitate what fastembed 0.7 and sentence-transformers 5 offer, as far as it is used: names, arguments,
shapes, and that texts are cut after so many tokens without a word.
"""

import json
import threading
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

DIMENSION = 16
LIMIT = 12


def bag(text, dimension=DIMENSION):
    """A vector of the words of a text; never zero."""
    vector = np.full(dimension, 0.01)
    for word in text.lower().split():
        vector[sha256(word.encode()).digest()[0] % dimension] += 1.0
    return vector


FASTEMBED = f"""
import sys
sys.path.insert(0, {str(__file__.rsplit("/", 1)[0])!r})
from fake_embedders import LIMIT, bag
from onnx_models import tokenizer

class _Model:
    def __init__(self):
        self.tokenizer = tokenizer()
        self.tokenizer.enable_truncation(LIMIT)
        self.tokenizer.enable_padding()

class TextEmbedding:
    def __init__(self, model_name):
        if model_name != "snowflake/tiny":
            raise ValueError(f"Model {{model_name}} is not supported in TextEmbedding.")
        self.model = _Model()

    def passage_embed(self, texts, batch_size=256):
        for text in texts:
            yield bag(" ".join(text.split()[: LIMIT - 2])).astype("float32")

    def query_embed(self, query):
        for text in [query] if isinstance(query, str) else query:
            yield bag("query " + " ".join(text.split()[: LIMIT - 2])).astype("float32")
"""

SENTENCE_TRANSFORMERS = f"""
import sys
sys.path.insert(0, {str(__file__.rsplit("/", 1)[0])!r})
import numpy as np
from fake_embedders import LIMIT, bag

class SentenceTransformer:
    max_seq_length = LIMIT

    def __init__(self, name, trust_remote_code):
        assert trust_remote_code is False
        if name != "tiny":
            raise OSError(f"{{name}} is not a local folder and is not a valid model identifier")

    def tokenizer(self, text, truncation):
        return {{"input_ids": [0, *range(len(text.split())), 0]}}

    def encode_document(self, texts, batch_size, convert_to_numpy, show_progress_bar):
        assert convert_to_numpy and not show_progress_bar
        return np.stack([bag(" ".join(text.split()[: LIMIT - 2])) for text in texts]).astype("float32")

    def encode_query(self, texts, batch_size, convert_to_numpy, show_progress_bar):
        return self.encode_document(
            ["query " + text for text in texts], batch_size, convert_to_numpy, show_progress_bar
        )
"""


class FakeServer:
    """Answers as Ollama and OpenAI do; what went in is kept, and troubles can be put before the answers.

    Attributes:
        url: Where it is.
        asked: Path, headers and body of each request.
        troubles: Taken from the front, one a request: a status, (status, headers, body), or a function of the handler.
    """

    def __init__(self):
        self.asked = []
        self.troubles = []
        self.vector = bag
        self.url = ""

    def answer(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.asked.append((handler.path, dict(handler.headers), body))
        trouble = self.troubles.pop(0) if self.troubles else None
        if callable(trouble):
            trouble(handler)
            return
        if trouble is not None:
            status, headers, content = trouble if isinstance(trouble, tuple) else (trouble, {}, "trouble")
            self.send(handler, status, content, headers)
            return
        vectors = [self.vector(text).tolist() for text in body["input"]]
        if handler.path == "/api/embed":
            answer = {"model": body["model"], "embeddings": vectors}
        else:
            data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(vectors)]
            answer = {"object": "list", "data": data[::-1], "model": body["model"]}
        self.send(handler, 200, json.dumps(answer))

    @staticmethod
    def send(handler, status, content, headers=()):
        data = content.encode()
        handler.send_response(status)
        for name, value in dict(headers).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


@contextmanager
def serving():
    """A server on a free port of this machine."""
    fake = FakeServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            fake.answer(self)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
