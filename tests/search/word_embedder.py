"""A small embedder that is the same everywhere: words that two texts share bring them together."""

from hashlib import blake2b

import numpy as np

from workbench.text.parts import parts, query_terms


class WordEmbedder:
    """A text is the sum of its words, each a direction of its own.

    Args:
        model_id: Its name.
        dimension: Of the vectors.
        also: Word to words that mean the same.
    """

    def __init__(self, model_id="words", dimension=64, also=None):
        self.model_id = model_id
        self.dimension = dimension
        self.max_tokens = 256
        self.texts = []
        self._also = also or {}

    def embed(self, texts):
        self.texts += texts
        return np.stack([self.embed_query(text) for text in texts]).reshape(len(texts), self.dimension)

    def embed_query(self, text):
        words = query_terms(f"{text} {parts(text)}", most=10_000).words
        meant = [self._also.get(word, word) for word in words] or [""]
        total = np.sum([self._direction(word) for word in meant], axis=0)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def count_tokens(self, text):
        return len(text)

    def _direction(self, word):
        seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
        return np.random.default_rng(seed).normal(size=self.dimension)
