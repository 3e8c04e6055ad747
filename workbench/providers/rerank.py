"""A cross-encoder from a local ONNX folder: it reads a query and a text together and says how well they fit.

A folder holds `model.onnx` and `tokenizer.json`. No package ships such weights, so there is none unless
`rerank.model_path` is set; without it the embedder scores the best hits again (design 11).
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.errors import RerankerUnavailableError
from workbench.providers.embedding.embedder import readable
from workbench.providers.onnx_model import model_inputs, open_session, open_tokenizer, read_model_folder
from workbench.text.chunking import chunk_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding

MAX_TOKENS: Final = 512
"""Tokens of query and text together; places of the MiniLM and BERT cross-encoders."""

BATCH_SIZE: Final = 8
"""As for embedders of this size: larger batches are slower on a processor (spikes 6)."""

_QUERY_SHARE: Final = 2
_TWO_CLASSES: Final = 2


class CrossEncoder:
    """Scores texts for a query; see `load_cross_encoder`.

    Args:
        model_id: Names the model in results.
        model: Content of `model.onnx`.
        tokenizer: Content of `tokenizer.json`.
        max_tokens: Tokens of query and text together.
    """

    def __init__(self, model_id: str, model: bytes, tokenizer: bytes, max_tokens: int = MAX_TOKENS) -> None:
        name = f"the cross-encoder {model_id}"
        self.model_id = model_id
        self._session = open_session(name, model, RerankerUnavailableError)
        self._tokenizer = open_tokenizer(name, tokenizer, RerankerUnavailableError)
        self._max_tokens = max_tokens
        self._logits([self._tokenizer.encode("a", "b")])  # refuses a model of another shape before it is needed

    def score(self, query: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Score texts for a query.

        A text that does not fit beside the query is read in parts, and its best part counts. A query of more than half
        of what the model reads is cut to its beginning.

        Args:
            query: What is looked for.
            texts: Any number of them.

        Returns:
            The model's raw scores (texts,): any numbers, higher is better. They are not comparable between queries.

        Raises:
            RerankerUnavailableError: The model failed.

        Source: PAI, cross-encoder reranking (raw logits).
        """
        import numpy as np  # noqa: PLC0415  # not for every command: 100 ms

        asked = self._beginning(readable(query))
        beside = len(self._tokenizer.encode(asked, "").ids)
        parts: list[tuple[int, str]] = []
        for row, text in enumerate(map(readable, texts)):
            chunks = chunk_text(text, lambda part: beside + self._count(part), self._max_tokens)
            parts += [(row, chunk.text) for chunk in chunks] or [(row, text)]
        scores = np.full(len(texts), -np.inf)
        parts.sort(key=lambda part: len(part[1]))
        for first in range(0, len(parts), BATCH_SIZE):
            batch = parts[first : first + BATCH_SIZE]
            logits = self._logits([self._tokenizer.encode(asked, part) for _, part in batch])
            np.maximum.at(scores, [row for row, _ in batch], logits)
        return scores

    def _count(self, text: str) -> int:
        """Tokens of a text, without marks."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _beginning(self, query: str) -> str:
        chunks = chunk_text(query, self._count, self._max_tokens // _QUERY_SHARE)
        return chunks[0].text if chunks else query

    def _logits(self, encodings: Sequence[Encoding]) -> NDArray[np.float64]:
        """One number a pair: the only one, or of two classes the second's lead."""
        import numpy as np  # noqa: PLC0415  # as above

        try:
            given: Any = self._session.run(None, model_inputs(self._session, encodings))[0]
        except Exception as error:  # onnxruntime has an exception class for every cause and no base of them
            raise RerankerUnavailableError(
                f"the cross-encoder {self.model_id} failed on {len(encodings)} pairs: {error}; rerank.model_path names "
                "another one"
            ) from error
        logits = np.asarray(given, dtype=np.float64)
        if logits.ndim == 1:
            logits = logits[:, None]
        if logits.ndim != _TWO_CLASSES or logits.shape[0] != len(encodings) or logits.shape[1] not in (1, _TWO_CLASSES):
            shape = " x ".join(map(str, logits.shape))
            raise RerankerUnavailableError(
                f"the cross-encoder {self.model_id} gives an array {shape} for {len(encodings)} pairs; expected is one "
                "number a pair, or two (classes unfit and fit): is it a model that was trained to rank?"
            )
        leads: NDArray[np.float64] = logits[:, -1] - (logits[:, 0] if logits.shape[1] == _TWO_CLASSES else 0.0)
        return leads


def load_cross_encoder(folder: Path) -> CrossEncoder:
    """Load a cross-encoder.

    Args:
        folder: With `model.onnx` and `tokenizer.json`; its name and the model's checksum make the id.

    Raises:
        RerankerUnavailableError: A file is missing or not what it should be.
    """
    model, tokenizer = read_model_folder(folder, "the cross-encoder", "rerank.model_path", RerankerUnavailableError)
    return CrossEncoder(f"{folder.name}-{sha256(model).hexdigest()[:12]}", model, tokenizer)
