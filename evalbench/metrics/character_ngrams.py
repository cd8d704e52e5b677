"""chrF: the F-score of character n-grams, of many texts at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Floats, Ints
from evalbench.metrics.registry import metric
from evalbench.metrics.text import References, Texts, best_pair, pairs

ORDER = 6
BETA = 2.0
Codes = npt.NDArray[np.uint64]

# What is sorted at once fits a processor's cache. A key is a pair's number, 49 bits of an n-gram's hash, and the side.
_CHARACTERS_AT_ONCE = 1 << 17
_PAIRS_AT_ONCE = 1 << 14
FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(50)
_HASH = np.uint64((1 << 50) - 2)


@metric(
    kind="texts",
    range=(0, 100),
    higher_is_better=True,
    needs=("reference",),
    unit="0–100",
    example=({"outputs": ["кот спит"], "references": ["кот спит"]}, [100.0]),
    reference="Popović 2015, chrF: character n-gram F-score for automatic MT evaluation, section 2; equal to sacrebleu's",
    category="syntactic",
    limitations="characters in common are not meaning",
    values="0: no n-gram of characters in common; 100: identical",
)
def chrf(outputs: Texts, references: References) -> Floats:
    """Character n-gram F-score, n = 1..6, β = 2: the best lexical metric for inflected languages.

    Whitespace does not count; the mean over n runs over the orders that both texts have.

    Parameters
    ----------
    outputs : sequence of str
    references : sequence of str or of sequences of str
        The best reference counts.

    Returns
    -------
    (n,) array in [0, 100]

    Notes
    -----
    n-grams are compared by 49 bits of a hash within a pair of texts: of pairs of 1 000 characters fewer than one in 10⁷ counts
    a match too many.

    Examples
    --------
    >>> chrf(["кошка спит"], ["кошки спят"]).round(2)
    array([30.69])
    """
    flat = pairs(outputs, references)
    scores = np.concatenate([np.zeros(0), *(_of_pairs(a, b) for a, b in _portions(flat.outputs, flat.references))])
    return scores if len(scores) == len(flat.first) - 1 else scores[best_pair(scores, flat.first)]


def _portions(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Pairs without whitespace, as many at once as memory should hold."""
    ours: list[str] = []
    theirs: list[str] = []
    held = 0
    for one, other in zip(left, right, strict=True):
        ours.append("".join(one.split()))
        theirs.append("".join(other.split()))
        held += len(ours[-1]) + len(theirs[-1])
        if held >= _CHARACTERS_AT_ONCE or len(ours) == _PAIRS_AT_ONCE:
            yield ours, theirs
            ours, theirs, held = [], [], 0
    if ours:
        yield ours, theirs


def _of_pairs(left: list[str], right: list[str]) -> Floats:
    texts = [*left, *right]
    n = len(left)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    characters = np.frombuffer("\0".join([*texts, ""]).encode("utf-32-le", "surrogatepass"), np.uint32).astype(
        np.uint64
    )
    # What ends a text is a code of its own, so that no n-gram that runs beyond a text equals another.
    characters[np.cumsum(lengths + 1) - 1] = np.arange(1 << 32, (1 << 32) + len(texts), dtype=np.uint64)
    side = np.repeat(np.concatenate([np.arange(n) << 50, (np.arange(n) << 50) + 1]).astype(np.uint64), lengths + 1)
    code = scrambled(characters) << np.uint64(1)
    grams = np.zeros_like(code)
    precision, recall, orders = np.zeros(n), np.zeros(n), np.zeros(n)
    for order in range(1, ORDER + 1):
        # The hash of an n-gram: Σ code · factor^(n − k), modulo 2⁶⁴; its last bit is free for the side.
        grams = grams[: len(code) - order + 1]
        np.multiply(grams, FACTOR, out=grams)
        np.add(grams, code[order - 1 :], out=grams)
        keys = grams & _HASH
        keys += side[: len(grams)]
        matches = _matches(keys, n)
        ours, theirs = (np.maximum(size - order + 1, 0) for size in (lengths[:n], lengths[n:]))
        both = (ours > 0) & (theirs > 0)
        precision += np.divide(matches, ours, out=np.zeros(n), where=both)
        recall += np.divide(matches, theirs, out=np.zeros(n), where=both)
        orders += both
    precision, recall = (np.divide(v, orders, out=np.zeros(n), where=orders > 0) for v in (precision, recall))
    below = BETA**2 * precision + recall
    return 100 * np.divide((1 + BETA**2) * precision * recall, below, out=np.zeros(n), where=below > 0)


def scrambled(codes: Codes) -> Codes:
    """64 bits of each code point that look random (splitmix64)."""
    mixed = (codes + np.uint64(1)) * FACTOR
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _matches(keys: Codes, n: int) -> Ints:
    """How many n-grams of each pair both sides have: the smaller of the counts of each."""
    keys.sort()
    grams = keys >> np.uint64(1)
    starts = np.flatnonzero(np.concatenate([np.ones(min(1, len(keys)), bool), grams[1:] != grams[:-1]]))
    bounds = np.append(starts, len(keys))
    right = np.concatenate([[0], np.cumsum(keys & np.uint64(1), dtype=np.int64)])
    theirs = np.diff(right[bounds])
    ours = np.diff(bounds) - theirs
    shared = np.flatnonzero((ours > 0) & (theirs > 0))
    pair = (keys[starts[shared]] >> _SHIFT).astype(np.int64)
    found: Ints = np.bincount(pair, weights=np.minimum(ours, theirs)[shared], minlength=n).astype(np.int64)
    return found
