"""Pairs of texts whose words are as frequent as in a language."""

import numpy as np


def texts(n, seed=0, low=15, high=60):
    """English-like texts: words by Zipf's law, a third of each pair shared."""
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"word{i}" for i in range(20_000)])

    def some(size):
        return vocabulary[np.minimum(rng.zipf(1.3, size), len(vocabulary)) - 1].tolist()

    outputs, references = [], []
    for _ in range(n):
        shared = some(int(rng.integers(low, high)) // 3)
        outputs.append(" ".join(some(int(rng.integers(low, high)) * 2 // 3) + shared))
        references.append(" ".join(shared + some(int(rng.integers(low, high)) * 2 // 3)))
    return outputs, references
