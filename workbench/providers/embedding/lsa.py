"""Latent semantic analysis: vectors out of a corpus' own words, without any weights; the fast baseline.

Words are weighed by tf-idf, and the matrix of texts and words is cut down to its largest singular vectors. What it was
fitted on belongs to the model's id, so vectors of two fits are never compared. A fit is two files, JSON and NPZ (no
pickle), and the same texts give the same fit on the same machine.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from workbench.errors import BadInputError, EmbedderUnavailableError
from workbench.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    Vectors = NDArray[np.float32]

LSA: Final = "lsa"
DIMENSION: Final = 256
"""Singular vectors kept, fewer where the corpus has fewer; source: 100 to 300 are usual (Deerwester et al. 1990)."""

MOST_WORDS: Final = 50_000
"""Words kept, the most frequent ones; rarer ones hardly move the largest singular vectors."""

LEAST_TEXTS: Final = 3
UNLIMITED: Final = 1_000_000_000
"""No text is too long for a bag of words."""

SEED: Final = 0
LSA_FILE: Final = "lsa.json"
_WORD: Final = re.compile(r"[^\W_]+")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_RUN: Final = re.compile(r"[぀-ヿ㐀-䶿一-鿿가-힯豈-﫿]+")


def lsa_words(text: str) -> list[str]:
    """Words of a text in small letters: whole ones, parts of identifiers, pairs of neighbours in CJK runs."""
    words: list[str] = []
    for word in _WORD.findall(text):
        runs = _RUN.findall(word)
        words += [run[place : place + 2] for run in runs for place in range(max(len(run) - 1, 1))]
        rest = _RUN.sub(" ", word).split() if runs else [word]
        for piece in rest:
            words.append(piece.lower())
            parts = _PARTS.findall(piece)
            if len(parts) > 1:
                words += [part.lower() for part in parts]
    return words


class LsaEmbedder:
    """A fit, ready to embed. Made by `fit_lsa` or `load_lsa`.

    Args:
        words: The vocabulary, in the order of the columns.
        idf: Weight of each word (words,).
        components: Singular vectors (dimension - 1, words).
        fitted_on: SHA-256 of the texts.
    """

    max_tokens = UNLIMITED

    def __init__(
        self, words: Sequence[str], idf: NDArray[np.float64], components: NDArray[np.float32], fitted_on: str
    ) -> None:
        self._words = list(words)
        self._idf = idf
        self._components = components
        # laid out as the product wants it and in its type: else every query would copy some 50 MB
        self._projection = components.T.astype("float32", order="C")
        self._vectorizer = _vectorizer({word: place for place, word in enumerate(self._words)})
        self.fitted_on = fitted_on
        self.model_id = f"{LSA}-{fitted_on[:16]}"
        # one more, for texts without a known word: alike among themselves, unlike all others, and of length 1 too
        self.dimension = len(components) + 1

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see `Embedder.embed`."""
        import numpy as np  # noqa: PLC0415  # providers are described without it

        rows = np.zeros((len(texts), self.dimension))
        if texts:
            weighed = _weighed(self._vectorizer.transform(texts), self._idf)
            rows[:, :-1] = weighed.astype(np.float32) @ self._projection
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        known = lengths > np.finfo(np.float32).eps
        rows[:, -1:] = np.where(known, 0.0, 1.0)
        rows[~known[:, 0], :-1] = 0.0
        unit: Vectors = (rows / np.where(known, lengths, 1.0)).astype(np.float32)
        return unit

    def embed_query(self, text: str) -> Vectors:
        """Embed a query, as any text."""
        row: Vectors = self.embed([text])[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Estimate tokens; any number will do."""
        return estimate_tokens(text)

    def files(self) -> dict[str, bytes]:
        """The fit as files by name, to be written in this order: the last one makes it what `load_lsa` finds."""
        import numpy as np  # noqa: PLC0415  # as above

        arrays = io.BytesIO()
        np.savez_compressed(arrays, idf=self._idf, components=self._components)
        name = f"{self.model_id}.npz"
        about = {"fitted_on": self.fitted_on, "arrays": name, "words": self._words}
        return {name: arrays.getvalue(), LSA_FILE: json.dumps(about).encode("ascii")}


def fit_lsa(texts: Sequence[str], dimension: int = DIMENSION) -> LsaEmbedder:
    """Fit on a corpus.

    Args:
        texts: The corpus, at least three texts; their order does not matter.
        dimension: Singular vectors to keep.

    Returns:
        The embedder; its `files` are to be stored.

    Raises:
        BadInputError: There are fewer than three texts or words.
    """
    import numpy as np  # noqa: PLC0415  # as above
    from sklearn.utils.extmath import randomized_svd  # type: ignore[import-untyped]  # noqa: PLC0415  (1,200 ms)

    ordered = sorted(set(texts))
    counts = _vectorizer(None)
    try:
        matrix = counts.fit_transform(ordered)
    except ValueError:
        matrix = None  # no word at all
    if matrix is None or min(matrix.shape) < LEAST_TEXTS:
        raise BadInputError(
            f"latent semantic analysis needs {LEAST_TEXTS} texts and words to find any pattern; there are "
            f"{len(ordered)} different texts here: choose another model in embedding.model"
        )
    holding = np.asarray((matrix > 0).sum(axis=0)).ravel()
    idf = np.log((1 + len(ordered)) / (1 + holding)) + 1
    wanted = min(dimension, min(matrix.shape) - 1)
    _, _, components = randomized_svd(_weighed(matrix, idf), wanted, random_state=SEED, n_iter=7)
    hashed = sha256()
    for text in ordered:
        encoded = text.encode("utf-8", "surrogatepass")
        hashed.update(len(encoded).to_bytes(8, "big") + encoded)
    hashed.update(dimension.to_bytes(8, "big"))
    words = counts.get_feature_names_out().tolist()
    return LsaEmbedder(words, idf, components.astype(np.float32), hashed.hexdigest())


def load_lsa(folder: Path) -> LsaEmbedder:
    """Load the fit that was stored last.

    Raises:
        EmbedderUnavailableError: There is none, or its files cannot be read.
    """
    import numpy as np  # noqa: PLC0415  # as above

    remedy = "`workbench embed` fits it on what is indexed, or choose another model in embedding.model"
    try:
        about = json.loads((folder / LSA_FILE).read_bytes())
        with np.load(folder / about["arrays"], allow_pickle=False) as arrays:
            return LsaEmbedder(about["words"], arrays["idf"], arrays["components"], about["fitted_on"])
    except FileNotFoundError:
        raise EmbedderUnavailableError(f"the embedder {LSA} has not been fitted on a corpus yet; {remedy}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderUnavailableError(
            f"the embedder {LSA} cannot be read from {folder / LSA_FILE}: {error}; delete that file, then {remedy}"
        ) from error


def is_fitted(folder: Path) -> bool:
    """Whether a fit is stored there."""
    return (folder / LSA_FILE).is_file()


def _vectorizer(vocabulary: dict[str, int] | None) -> Any:
    from sklearn.feature_extraction.text import (  # type: ignore[import-untyped]  # noqa: PLC0415  (1,200 ms)
        CountVectorizer,
    )

    return CountVectorizer(
        analyzer=lsa_words, vocabulary=vocabulary, max_features=None if vocabulary is not None else MOST_WORDS
    )


def _weighed(counts: csr_matrix, idf: NDArray[np.float64]) -> csr_matrix:
    """(1 + ln count) * idf, each row scaled to length 1."""
    import numpy as np  # noqa: PLC0415  # as above
    from sklearn.preprocessing import normalize  # type: ignore[import-untyped]  # noqa: PLC0415  (as above)

    weighed = counts.astype(np.float64)
    weighed.data = 1 + np.log(weighed.data)
    return normalize(weighed.multiply(idf[None, :]).tocsr())
