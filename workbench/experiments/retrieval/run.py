"""From the names of a judged set and of embedders to evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from workbench.experiments.retrieval.build import PACKED
from workbench.experiments.retrieval.evaluation import Evaluation, evaluate
from workbench.experiments.retrieval.searches import grep_all
from workbench.experiments.retrieval.tuning import Mixture
from workbench.ingest.retrieval import JudgedSet, open_judged_set
from workbench.providers.embedding import fit_lsa, load_embedder
from workbench.search.refresh import Progress

if TYPE_CHECKING:
    from workbench.config import Config
    from workbench.config.knowledge import Search
    from workbench.providers.embedding import Embedder

LSA: Final = "lsa"
FOLDER: Final = "evaluations"


def configured_mixture(settings: Search) -> Mixture:
    """The mixture that hybrid search uses."""
    if settings.fusion == "rrf":
        return Mixture("rrf", settings.rrf_k)
    whole = settings.keyword_weight + settings.semantic_weight
    return Mixture("minmax", settings.semantic_weight / whole if whole else 0.5)


def run_evaluation(
    path: Path,
    corpus: Path | None,
    models: Sequence[str],
    config: Config,
    home_vectors: Path,
    progress: Progress | None = None,
    chunkings: Sequence[str] = (PACKED,),
) -> list[Evaluation]:
    """Evaluate a judged set under one embedder after the other.

    Args:
        path: The set; see `open_judged_set`.
        corpus: Its documents, where they are elsewhere.
        models: Names as `embedding.model` takes them; the configured one where there are none.
        config: Candidates, the default mixture, and how embedders are reached.
        home_vectors: Where indices are kept; in a folder `evaluations`, which may be deleted.
        progress: Told about embedding.
        chunkings: How documents are cut; see `build.CHUNKINGS`.

    Returns:
        An evaluation an embedder and way to cut, in their order.

    Raises:
        NotFoundError, BadInputError: The set cannot be read.
        EmbedderUnavailableError: An embedder is not there.
    """
    judged = open_judged_set(path, corpus)
    grepped = grep_all(judged)
    embedders = [
        (model, named_embedder(model, judged, config, home_vectors)) for model in models or [config.embedding.model]
    ]
    return [
        evaluate(
            judged,
            embedder,
            home_vectors / FOLDER,
            model=model,
            default=configured_mixture(config.search),
            candidates=config.search.candidates,
            chunking=chunking,
            grepped=grepped,
            progress=progress,
        )
        for model, embedder in embedders
        for chunking in chunkings
    ]


def named_embedder(model: str, judged: JudgedSet, config: Config, home_vectors: Path) -> Embedder:
    """The embedder of that name; one that is fitted is fitted on the set's own documents."""
    if model == LSA:
        return fit_lsa(judged.documents["text"].to_list())
    settings = config.embedding
    if model != settings.model:
        settings = msgspec.structs.replace(settings, model=model, model_path=None)
    return load_embedder(settings, home_vectors)
