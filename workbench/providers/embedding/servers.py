"""Embedders behind HTTP: Ollama, and servers that speak OpenAI's `/embeddings`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from workbench.errors import EmbedderUnavailableError
from workbench.providers.embedding.embedder import in_windows, readable, unit_rows
from workbench.providers.http import Endpoint, RequestError, post_json
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Dialect(NamedTuple):
    """How one kind of server is spoken to.

    Attributes:
        name: As in `embedding.model`.
        url: Where it is unless the configuration says otherwise.
        path: Of the call.
        extra: What a request says besides model and input.
    """

    name: str
    url: str
    path: str
    extra: dict[str, Any]


# `truncate` false: a text that is too long is refused instead of cut. Source: Ollama's API page, "Generate embeddings".
OLLAMA: Final = Dialect("ollama", "http://127.0.0.1:11434", "/api/embed", {"truncate": False})
# Source: OpenAI's API reference, "Create embeddings".
OPENAI: Final = Dialect("openai", "https://api.openai.com/v1", "/embeddings", {"encoding_format": "float"})
DIALECTS: Final = {dialect.name: dialect for dialect in (OLLAMA, OPENAI)}

MARGIN: Final = 1.5
"""Tokens are estimated from characters, since a server tells no count beforehand: the estimate of prose, half as much
again, since code has fewer characters a token."""


class ServerEmbedder:
    """A model behind a server; its dimension is asked for once, when it is made.

    Args:
        dialect: Kind of server.
        name: Of the model there.
        endpoint: Address, key, patience.
        max_tokens: Tokens of a text that is sent.
        batch_size: Texts in a request.
        dimension: Numbers that vectors should have; whatever the server gives unless said.
    """

    def __init__(
        self,
        dialect: Dialect,
        name: str,
        endpoint: Endpoint,
        *,
        max_tokens: int,
        batch_size: int,
        dimension: int | None = None,
    ) -> None:
        self._dialect = dialect
        self._name = name
        self._endpoint = endpoint
        self._batch_size = batch_size
        self.model_id = f"{dialect.name}:{name}"
        self.max_tokens = max_tokens
        self.dimension = dimension if dimension is not None else self._asked(["a"]).shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, some in each request; see `Embedder.embed`."""
        import numpy as np  # noqa: PLC0415  # providers are described without it

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        # servers differ on the empty text, and some refuse it
        sent = [readable(text) if text.strip() else " ." for text in texts]
        return unit_rows(in_windows(sent, self._asked, self.count_tokens, self.max_tokens), self.model_id)

    def embed_query(self, text: str) -> Vectors:
        """Embed a query, as any text."""
        row: Vectors = self.embed([text])[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Estimate tokens, rather too many than too few."""
        return int(estimate_tokens(text) * MARGIN) + 1

    def _asked(self, texts: list[str]) -> NDArray[np.floating]:
        """Ask the server, a batch at a time."""
        import numpy as np  # noqa: PLC0415  # as above

        size = self._batch_size
        return np.concatenate([self._batch(texts[first : first + size]) for first in range(0, len(texts), size)])

    def _batch(self, texts: list[str]) -> NDArray[np.floating]:
        import numpy as np  # noqa: PLC0415  # as above

        where = f"the embedder {self.model_id} at {self._endpoint.url}"
        request = {"model": self._name, "input": texts, **self._dialect.extra}
        try:
            answer = post_json(self._endpoint, self._dialect.path, request, sleep=time.sleep)
        except RequestError as error:
            raise EmbedderUnavailableError(f"{where} {error}; {_remedy(error, self._dialect)}") from error
        try:
            rows = np.array(_vectors(answer, self._dialect), dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise EmbedderUnavailableError(
                f"{where} answered something else than vectors; does embedding.url name a server that speaks "
                f"{self._dialect.name}'s {self._dialect.path}?"
            ) from error
        if rows.ndim != _MATRIX or len(rows) != len(texts):
            raise EmbedderUnavailableError(f"{where} gave {len(rows)} vectors for {len(texts)} texts; try it again")
        dimension = getattr(self, "dimension", None)
        return unit_rows(rows, self.model_id, dimension=dimension)


_MATRIX: Final = 2
_UNAUTHORISED: Final = (401, 403)
_NO_SUCH: Final = 404
_REFUSED: Final = (400, 413, 422)


def _vectors(answer: Any, dialect: Dialect) -> list[list[float]]:
    """The vectors of an answer, in the order of the texts."""
    if dialect is OLLAMA:
        found: list[list[float]] = answer["embeddings"]
        return found
    entries = sorted(answer["data"], key=lambda entry: entry["index"])
    return [entry["embedding"] for entry in entries]


def _remedy(error: RequestError, dialect: Dialect) -> str:
    if error.status in _UNAUTHORISED:
        return "set embedding.api_key in the user's configuration, or WORKBENCH_EMBEDDING__API_KEY"
    if error.status == _NO_SUCH:
        get = ", and if it was fetched there: ollama pull NAME" if dialect is OLLAMA else ""
        return f"check the model's name in embedding.model and the address in embedding.url{get}"
    if error.status in _REFUSED:
        return "if a text was too long for the model, lower embedding.max_tokens"
    return "is the server running? embedding.url names it, embedding.timeout_seconds is the patience with it"
