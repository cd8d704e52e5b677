"""Longest common subsequences, bit-parallel (Hyyrö 2004)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from evalbench.core.arrays import Floats
from evalbench.text.words import TokenIds


def lcs_lengths(tokens: TokenIds, n_pairs: int) -> Floats:
    """Length of the longest common subsequence of texts ``i`` and ``n_pairs + i``, ``(n_pairs,)``."""
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cpdist

    if not n_pairs:
        return np.zeros(0)
    # A token is written as one character, so that the comparison runs over plain strings.
    characters = tokens.ids.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    texts = [characters[a:b] for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]
    lengths: Floats = cpdist(texts[:n_pairs], texts[n_pairs:], scorer=LCSseq.similarity, dtype=np.float64)
    return lengths


def union_lcs_hits(output: Sequence[Sequence[str]], reference: Sequence[Sequence[str]]) -> int:
    """Reference tokens in the union of each reference sentence's LCS with every output sentence.

    Clipped so that no token counts more often than either side holds it (ROUGE-1.5.5).
    """
    left = Counter(token for sentence in output for token in sentence)
    right = Counter(token for sentence in reference for token in sentence)
    hits = 0
    for sentence in reference:
        for position in sorted(set().union(*(lcs_positions(sentence, other) for other in output))):
            token = sentence[position]
            if left[token] > 0 and right[token] > 0:
                hits += 1
                left[token] -= 1
                right[token] -= 1
    return hits


def lcs_positions(reference: Sequence[str], output: Sequence[str]) -> set[int]:
    """Positions in the reference of one longest common subsequence.

    Of several, the one that the table's backtracking in rouge-score reads out: up where that is no loss.

    Examples
    --------
    >>> lcs_positions("a b c".split(), "a c b".split())
    {0, 1}
    """
    full = (1 << len(output)) - 1
    places: dict[str, int] = {}
    for j, token in enumerate(output):
        places[token] = places.get(token, 0) | 1 << j
    # Row i of the table as bits: a zero at j where the LCS grows from column j to j + 1.
    rows = [full]
    for token in reference:
        row = rows[-1]
        matched = row & places.get(token, 0)
        rows.append(((row + matched) | (row - matched)) & full)

    found, i, j = set(), len(reference), len(output)
    while i and j:
        if reference[i - 1] == output[j - 1]:
            i, j = i - 1, j - 1
            found.add(i)
        elif (rows[i] & ((1 << j - 1) - 1)).bit_count() + 1 < (rows[i - 1] & ((1 << j) - 1)).bit_count():
            # The zeros are the LCS's length, so fewer ones before column j - 1 mean a longer one.
            j -= 1
        else:
            i -= 1
    return found
