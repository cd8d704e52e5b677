"""Find a quoted context in its text: exactly, up to white space, or by the best fuzzy alignment."""

from __future__ import annotations

from typing import NamedTuple


class Location(NamedTuple):
    """Where a context stands.

    Attributes
    ----------
    start, end : int
        Code points, end exclusive.
    how : str
        ``"exact"``, ``"white space"`` or ``"fuzzy"``.
    score : float
        Similarity of the found passage to the context, 0–1.
    occurrences : int
        How often the context stands in the text; the first is taken.
    """

    start: int
    end: int
    how: str
    score: float
    occurrences: int


def locate(context: str, text: str, threshold: float = 0.8) -> Location | None:
    """Find ``context`` in ``text``.

    Parameters
    ----------
    context, text : str
    threshold : float
        The least similarity (0–1, normalised indel) of a fuzzy alignment.

    Returns
    -------
    Location or None
        None where nothing is similar enough, and for a blank context.

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
    bare = "".join(context.split())
    inked = [i for i, character in enumerate(text) if not character.isspace()]
    stripped = "".join(text[i] for i in inked)
    start = stripped.find(bare)
    if start >= 0:
        return Location(
            inked[start], inked[start + len(bare) - 1] + 1, "white space", 1.0, stripped.count(bare)
        )
    from rapidfuzz import fuzz

    best = fuzz.partial_ratio_alignment(context, text, score_cutoff=threshold * 100)
    if best is None or best.dest_start >= best.dest_end or len(context) > len(text) / threshold:
        return None
    return Location(best.dest_start, best.dest_end, "fuzzy", best.score / 100, 1)
