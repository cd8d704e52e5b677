"""Find a quoted context in its text: exactly, up to white space, or by the best fuzzy alignment."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalbench.core.arrays import Ints

# A search of every window costs about the context's length twice times the text's; up to here it takes 0.15 s at most.
EXHAUSTIVE = 10**10
# Characters of an n-gram: long ones are found less often by chance, short ones live through more changes.
GRAM, LONG_GRAM, LONG = 5, 8, 1000
PLACES = 32
PLACES_IN_CONTEXT = 4
CANDIDATES = 4
# Of contexts longer than two parts only the first and the last are aligned.
PART = 10_000
# A part, or a window whose ends are not yet moved, may be this much less similar than the whole.
EASED = 0.8
PASSES = 6
_INK = re.compile(r"\S+")
Hashes = npt.NDArray[np.uint64]


class Location(NamedTuple):
    """Where a context is.

    - ``start``, ``end``: Code points, end exclusive.
    - ``how``: ``"exact"``, ``"white space"`` or ``"fuzzy"``.
    - ``score``: Similarity of the found passage to the context, 0–1.
    - ``occurrences``: How often the context occurs in the text; the first is taken.
    """

    start: int
    end: int
    how: str
    score: float
    occurrences: int


def locate(context: str, text: str, threshold: float = 0.8) -> Location | None:
    """Find ``context`` in ``text``.

    Short ones are compared with every window of the text.  Where that would take long, the windows that share most
    n-grams with the context are tried, rare n-grams first; then both ends are moved to where the score is highest.

    - ``threshold``: The least similarity (0–1, normalised indel) of a fuzzy alignment.

    Returns: None where nothing is similar enough, and for a blank context.

    Examples
    --------
    >>> locate("sip  slowly", "You may sip slowly.")
    Location(start=8, end=18, how='white space', score=1.0, occurrences=1)
    >>> locate("dance all night", "You may sip slowly.") is None
    True
    """
    if not context.strip():
        return None
    start = text.find(context)
    if start >= 0:
        return Location(start, start + len(context), "exact", 1.0, text.count(context))
    return _but_for_white_space(context, text) or _fuzzy(context, text, threshold)


def likeliest_place(context: str, text: str, width: int) -> int:
    """Middle of the stretch of a text that shares most n-grams with a context, rare ones first; 0 where it shares none.

    - ``context``, ``text``: The context need not be in the text, nor its words in the same order.
    - ``width``: About how long the stretch is.
    """
    known, grams = np.unique(_grams(context, GRAM)), _grams(text, GRAM)
    places = _members(known, grams) if len(known) else known
    if not len(places):
        return 0
    which = np.searchsorted(known, grams[places])
    weights = 1.0 / np.bincount(which)[which]
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    ends = np.searchsorted(places, places + width)
    best = int(np.argmax(sums[ends] - sums[:-1]))
    return int(places[best] + places[ends[best] - 1]) // 2


def _but_for_white_space(context: str, text: str) -> Location | None:
    bare, stripped = "".join(context.split()), "".join(text.split())
    at = stripped.find(bare)
    if at < 0:
        return None
    inked = np.concatenate([np.arange(*m.span()) for m in _INK.finditer(text)])
    ends = int(inked[at]), int(inked[at + len(bare) - 1]) + 1
    return Location(*ends, "white space", 1.0, stripped.count(bare))


def _fuzzy(context: str, text: str, threshold: float) -> Location | None:
    if 2 * len(text) < threshold * (len(context) + len(text)):
        return None
    if len(context) > 2 * PART:
        return _by_head_and_tail(context, text, threshold)
    window = _best_window(context, text, EASED * threshold)
    return window and _with_best_ends(context, text, window, threshold)


def _by_head_and_tail(context: str, text: str, threshold: float) -> Location | None:
    """A very long context begins where its first part does and ends where its last part does."""
    from rapidfuzz.distance import Indel

    head = _fuzzy(context[:PART], text, EASED * threshold)
    if head is None:
        return None
    rest = text[head.start : head.start + int(len(context) * (2 / max(threshold, 0.5) - 1)) + 1]
    tail = _fuzzy(context[-PART:], rest, EASED * threshold)
    if tail is None:
        return None
    score = Indel.normalized_similarity(context, rest[: tail.end], score_cutoff=threshold)
    return Location(head.start, head.start + tail.end, "fuzzy", score, 1) if score >= threshold else None


def _best_window(context: str, text: str, threshold: float) -> tuple[int, int] | None:
    """Where about the text is most like the context; None where nothing is like it."""
    from rapidfuzz import fuzz

    if len(context) ** 2 * len(text) > EXHAUSTIVE:
        return _anchored_window(context, text)
    best = fuzz.partial_ratio_alignment(context, text, score_cutoff=100 * threshold)
    return (best.dest_start, best.dest_end) if best and best.dest_start < best.dest_end else None


def _anchored_window(context: str, text: str) -> tuple[int, int] | None:
    from rapidfuzz.distance import Indel

    size = len(context)
    n = GRAM if size < LONG else LONG_GRAM
    starts = _likely_starts(_grams(context, n), _grams(text, n), size)
    windows = [(max(0, s), min(len(text), s + size)) for s in starts if s < len(text) and s + size > 0]
    return max(windows, key=lambda w: Indel.normalized_similarity(context, text[slice(*w)]), default=None)


def _grams(text: str, n: int) -> Hashes:
    """A number for every run of n characters; equal runs have equal numbers."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    count = max(0, len(points) - n + 1)
    out = np.zeros(count, dtype=np.uint64)
    for i in range(n):
        out = (out + points[i : i + count]) * np.uint64(0x9E3779B97F4A7C15)
    return out


def _likely_starts(context: Hashes, text: Hashes, size: int) -> list[int]:
    """Starts of windows by the n-grams that they share with the context, the likeliest first.

    An n-gram at place p of the context and t of the text votes for the start t − p, with less weight the more often it
    appears in either.  Of what repeats itself only some places vote: the votes are at most :data:`PLACES` in the text times
    :data:`PLACES_IN_CONTEXT` for each n-gram of the context.
    """
    order = np.argsort(context, kind="stable")
    ordered = context[order]
    hits = _members(ordered, text)
    first = np.searchsorted(ordered, text[hits])
    in_text = np.bincount(first, minlength=len(ordered))[first]
    drawn = (hits * 2654435761 >> 8) % np.maximum(in_text, 1) < PLACES
    hits, first, in_text = hits[drawn], first[drawn], in_text[drawn]
    in_context = np.searchsorted(ordered, text[hits], side="right") - first
    starts, weights = [np.empty(0, dtype=np.int64)], [np.empty(0)]
    for i in range(PLACES_IN_CONTEXT):
        voting = np.flatnonzero(in_context > i)
        of = np.minimum(in_context[voting], PLACES_IN_CONTEXT)
        starts.append(hits[voting] - order[first[voting] + i * in_context[voting] // of])
        weights.append(1.0 / (in_text[voting] * of))
    return _peaks(np.concatenate(starts), np.concatenate(weights), max(16, size // 8))


def _members(ordered: Hashes, text: Hashes) -> Ints:
    """Where the text has one of the context's n-grams."""
    marked = np.zeros(1 << 20, dtype=bool)
    marked[ordered >> np.uint64(44)] = True
    maybe = np.flatnonzero(marked[text >> np.uint64(44)])
    place = np.minimum(np.searchsorted(ordered, text[maybe]), len(ordered) - 1)
    found: Ints = maybe[ordered[place] == text[maybe]]
    return found


def _peaks(starts: Ints, weights: npt.NDArray[np.float64], width: int) -> list[int]:
    """Where votes are dense: the weighted mean start of the heaviest bins, which reach half over the next ones."""
    if not len(starts):
        return []
    low = int(starts.min())
    bins = (starts - low) // width
    votes = np.bincount(bins, weights)
    sums = np.bincount(bins, weights * (starts - low))
    votes, sums = (np.append(v, 0.0)[:-1] + np.append(v, 0.0)[1:] for v in (votes, sums))
    best = np.argsort(-votes, kind="stable")[:CANDIDATES]
    return [low + round(float(sums[b] / votes[b])) for b in best if votes[b] > 0]


def _with_best_ends(context: str, text: str, window: tuple[int, int], threshold: float) -> Location | None:
    """Move one end after the other to where the similarity is highest, until neither moves.

    None where no window is found that is similar enough.
    """
    start, end = window
    size = len(context)
    # Windows that are shorter or longer cannot be similar enough; at a low threshold, three times the length must do.
    least, reach = int(size * threshold / (2 - threshold)), int(size * (2 / max(threshold, 0.5) - 1)) + 1
    score = 0.0
    for turn in range(PASSES):
        before = start, end
        if turn % 2:
            length, score = _best_prefix(context[::-1], text[max(0, end - reach) : end][::-1], least)
            start = end - length
        else:
            length, score = _best_prefix(context, text[start : start + reach], least)
            end = start + length
        if turn and (start, end) == before:
            break
    return Location(start, end, "fuzzy", score, 1) if score >= threshold and start < end else None


def _best_prefix(context: str, text: str, least: int) -> tuple[int, float]:
    """Length of the prefix of the text, of at least some length, that is most similar to the context, and its similarity.

    The longest common subsequence of the context and every prefix: one column of its table is one whole number, a bit
    for each character of the context (Hyyrö 2004, Bit-parallel LCS-length computation revisited).
    """
    size = len(context)
    column = everything = (1 << size) - 1
    places = dict.fromkeys(context, 0)
    for i, character in enumerate(context):
        places[character] |= 1 << i
    best = (0, 0.0)
    for length, character in enumerate(text, 1):
        matched = column & places.get(character, 0)
        column = (column + matched | column - matched) & everything
        if length >= least:
            similarity = 2 * (size - column.bit_count()) / (size + length)
            if similarity > best[1]:
                best = length, similarity
    return best
