"""Random numbers that depend on what they are for, never on the order of work."""

from __future__ import annotations

import hashlib

import numpy as np


def rng(seed: int, purpose: str, item_id: str = "") -> np.random.Generator:
    """A generator of its own for one purpose and one item.

    Parameters
    ----------
    seed : int
        The study's one seed.
    purpose : str
        What the numbers are for, e.g. ``"bootstrap"``.
    item_id : str, optional
        The item they are for; the order in which items are handled then changes nothing.

    Returns
    -------
    numpy.random.Generator
        PCG64 seeded by the SHA-256 of the three.

    Examples
    --------
    >>> bool(rng(7, "sample", "a").integers(100) == rng(7, "sample", "a").integers(100))
    True
    """
    digest = hashlib.sha256(f"{int(seed)}\x1f{purpose}\x1f{item_id}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))
