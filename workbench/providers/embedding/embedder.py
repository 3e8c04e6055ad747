"""What every embedder does, and what they share: clean texts, batches of like length, vectors of length 1."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from workbench.errors import EmbedderUnavailableError
from workbench.text.chunking import chunk_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_UNREADABLE: Final = re.compile("[\0\ud800-\udfff]")


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of length 1, so that a dot product is a cosine.

    The same text gives the same vector, up to rounding, whatever stands beside it in a call. A text longer than
    `max_tokens` is never cut off: its vector is the mean over its parts, which says less the longer it is, so cut such
    texts by `chunk_text(text, embedder.count_tokens, embedder.max_tokens)` first.

    Attributes:
        model_id: Names the vector space. Vectors of two ids are never compared.
        dimension: Numbers in a vector.
        max_tokens: Tokens read at once, marks of beginning and end included.
    """

    @property
    def model_id(self) -> str:
        """Name of the vector space."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens read at once, marks of beginning and end included."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that are to be found.

        Args:
            texts: Any number of texts; empty ones have a vector too.

        Returns:
            Array (texts, dimension) of float32, each row of length 1.

        Raises:
            EmbedderUnavailableError: A server does not answer, or not as it should.
        """
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed a text that is searched for; some models treat it differently.

        Returns:
            Array (dimension,) of float32, of length 1.

        Raises:
            EmbedderUnavailableError: As `embed`.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text as the model reads it, marks included; an upper estimate where it is not known."""
        ...


def readable(text: str) -> str:
    """A text without what no tokenizer takes: NUL ends a text in C, and a half surrogate is not UTF-8."""
    return _UNREADABLE.sub("�", text) if _UNREADABLE.search(text) else text


def unit_rows(matrix: NDArray[np.floating], model_id: str, *, dimension: int | None = None) -> Vectors:
    """Scale each row to length 1.

    Args:
        matrix: Array (rows, dimension).
        model_id: For the message.
        dimension: What the rows should have; anything unless given.

    Returns:
        Array of float32.

    Raises:
        EmbedderUnavailableError: The dimension is another one, or a row is zero or not finite.
    """
    import numpy as np  # noqa: PLC0415  # providers are described without it

    rows = np.asarray(matrix, dtype=np.float64)
    if dimension is not None and rows.shape[1:] != (dimension,):
        found = " x ".join(map(str, rows.shape[1:]))
        raise EmbedderUnavailableError(
            f"the embedder {model_id} gave vectors of {found} numbers where {dimension} were expected; "
            "the model behind it was exchanged: give it another name in embedding.model, then embed anew"
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise EmbedderUnavailableError(
            f"the embedder {model_id} gave a vector that is zero or not finite; choose another model in embedding.model"
        )
    unit: Vectors = (rows / lengths).astype(np.float32)
    return unit


def in_batches(
    texts: Sequence[str], embed: Callable[[list[str]], NDArray[np.floating]], dimension: int, batch_size: int
) -> NDArray[np.float32]:
    """Embed texts in batches of like length, so that little is padded, and give the rows in the order of the texts."""
    import numpy as np  # noqa: PLC0415  # as above

    rows = np.empty((len(texts), dimension), dtype=np.float32)
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for first in range(0, len(order), batch_size):
        places = order[first : first + batch_size]
        rows[places] = embed([texts[place] for place in places])
    return rows


def in_windows(
    texts: Sequence[str],
    embed: Callable[[list[str]], NDArray[np.floating]],
    count_tokens: Callable[[str], int],
    max_tokens: int,
) -> NDArray[np.floating]:
    """Embed texts of any length by a model that would cut long ones.

    Args:
        texts: Any texts.
        embed: Gives a row of length 1 for each text that fits.
        count_tokens: As the model counts.
        max_tokens: What it reads at once.

    Returns:
        A row a text: of one that fits its own, of a longer one the mean over its parts, weighted by their tokens.
    """
    import numpy as np  # noqa: PLC0415  # as above

    parts = [[chunk.text for chunk in chunk_text(text, count_tokens, max_tokens)] or [text] for text in texts]
    flat = [part for own in parts for part in own]
    rows = np.asarray(embed(flat), dtype=np.float64)
    if len(flat) == len(texts):
        return rows
    weights = np.array([count_tokens(part) for part in flat], dtype=np.float64)
    starts = np.cumsum([0, *(len(own) for own in parts[:-1])])
    totals = np.add.reduceat(weights, starts)[:, None]
    mean: NDArray[np.floating] = np.add.reduceat(rows * weights[:, None], starts, axis=0) / totals
    return mean
