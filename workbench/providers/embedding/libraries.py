"""Models of two libraries that are extras: fastembed (ONNX) and sentence-transformers (PyTorch).

Both fetch the weights of a model when it is first used and keep them in their own cache; PAI's model,
`snowflake/snowflake-arctic-embed-m-v1.5`, is served by the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from workbench.errors import EmbedderUnavailableError
from workbench.providers.embedding.embedder import in_windows, readable, unit_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

FASTEMBED: Final = "fastembed"
SENTENCE_TRANSFORMERS: Final = "sentence-transformers"


class LibraryEmbedder:
    """What both have in common: a way to embed texts, one for queries, and a tokenizer.

    Args:
        model_id: Name of the vector space.
        dimension: Numbers in a vector.
        max_tokens: Tokens read at once.
        embed_texts: Rows for texts that fit.
        embed_queries: Rows for queries that fit.
        count_tokens: Tokens of a text, marks included.
    """

    def __init__(
        self,
        model_id: str,
        dimension: int,
        max_tokens: int,
        *,
        embed_texts: Callable[[list[str]], NDArray[np.floating]],
        embed_queries: Callable[[list[str]], NDArray[np.floating]],
        count_tokens: Callable[[str], int],
    ) -> None:
        self.model_id = model_id
        self.dimension = dimension
        self.max_tokens = max_tokens
        self._embed_texts = embed_texts
        self._embed_queries = embed_queries
        self._count = count_tokens

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see `Embedder.embed`."""
        return self._embed(texts, self._embed_texts)

    def embed_query(self, text: str) -> Vectors:
        """Embed a query, with the prefix that the model wants."""
        row: Vectors = self._embed([text], self._embed_queries)[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Count tokens, marks included."""
        return self._count(readable(text))

    def _embed(self, texts: Sequence[str], embed: Callable[[list[str]], NDArray[np.floating]]) -> Vectors:
        import numpy as np  # noqa: PLC0415  # providers are described without it

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        rows = in_windows(list(map(readable, texts)), embed, self._count, self.max_tokens)
        return unit_rows(rows, self.model_id, dimension=self.dimension)


def load_fastembed(name: str, max_tokens: int, batch_size: int) -> LibraryEmbedder:
    """Load a model of fastembed.

    Args:
        name: As the library lists it, such as `snowflake/snowflake-arctic-embed-m`.
        max_tokens: Tokens read at once, at most what the model's tokenizer keeps.
        batch_size: Texts at once.

    Raises:
        EmbedderUnavailableError: The library is not installed, does not know the model or cannot fetch it.
    """
    library = _imported("fastembed", FASTEMBED)
    try:
        model = library.TextEmbedding(model_name=name)
        tokenizer = model.model.tokenizer
    except Exception as error:  # the library raises ValueError, OSError and those of its downloader
        raise _unloadable(FASTEMBED, name, error) from error
    kept = tokenizer.truncation["max_length"] if tokenizer.truncation else max_tokens

    def count(text: str) -> int:
        encoding = tokenizer.encode(text)
        return sum(sum(window.attention_mask) for window in (encoding, *encoding.overflowing))

    def rows(texts: list[str]) -> NDArray[np.floating]:
        return _stacked(model.passage_embed(texts, batch_size=batch_size))

    def query_rows(texts: list[str]) -> NDArray[np.floating]:
        return _stacked(model.query_embed(texts))

    dimension = query_rows(["a"]).shape[1]
    return LibraryEmbedder(
        f"{FASTEMBED}:{name}",
        dimension,
        min(max_tokens, kept),
        embed_texts=rows,
        embed_queries=query_rows,
        count_tokens=count,
    )


def load_sentence_transformer(name: str, max_tokens: int, batch_size: int) -> LibraryEmbedder:
    """Load a model of sentence-transformers; code that a model brings along is not run.

    Args:
        name: Of a model on its hub, or the path of a folder.
        max_tokens: Tokens read at once, at most what the model reads.
        batch_size: Texts at once.

    Raises:
        EmbedderUnavailableError: The library is not installed, does not know the model or cannot fetch it.
    """
    library = _imported("sentence_transformers", SENTENCE_TRANSFORMERS)
    try:
        model = library.SentenceTransformer(name, trust_remote_code=False)
    except Exception as error:  # the library raises ValueError, OSError and those of its downloader
        raise _unloadable(SENTENCE_TRANSFORMERS, name, error) from error
    options: dict[str, Any] = {"batch_size": batch_size, "convert_to_numpy": True, "show_progress_bar": False}

    def count(text: str) -> int:
        return len(model.tokenizer(text, truncation=False)["input_ids"])

    def rows(texts: list[str]) -> NDArray[np.floating]:
        given: NDArray[np.floating] = model.encode_document(texts, **options)
        return given

    def query_rows(texts: list[str]) -> NDArray[np.floating]:
        given: NDArray[np.floating] = model.encode_query(texts, **options)
        return given

    return LibraryEmbedder(
        f"{SENTENCE_TRANSFORMERS}:{name}",
        query_rows(["a"]).shape[1],
        min(max_tokens, model.max_seq_length or max_tokens),
        embed_texts=rows,
        embed_queries=query_rows,
        count_tokens=count,
    )


def _stacked(rows: Any) -> NDArray[np.floating]:
    import numpy as np  # noqa: PLC0415  # as above

    return np.stack([np.asarray(row, dtype=np.float64) for row in rows])


def _imported(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise EmbedderUnavailableError(
            f"the embedder {extra} needs the package {extra}, which cannot be imported ({error}); install it: "
            f"pip install 'workbench[{extra}]', or choose another model in embedding.model"
        ) from error


def _unloadable(library: str, name: str, error: Exception) -> EmbedderUnavailableError:
    return EmbedderUnavailableError(
        f"{library} cannot load the model {name}: {error}; is the name right, and can its files be fetched? "
        "embedding.model names another one"
    )
