"""Embedders: texts to vectors, by models that work offline and by servers that are asked.

`load_embedder` gives the one that the configuration names, `describe` says which that would be without loading it.
Follows the design, "Models that work offline"; PAI's embedding model is one of the choices.
"""

from workbench.providers.embedding.choice import Description, better_model, describe, load_embedder
from workbench.providers.embedding.embedder import Embedder
from workbench.providers.embedding.lsa import fit_lsa

__all__ = ["Description", "Embedder", "better_model", "describe", "fit_lsa", "load_embedder"]
