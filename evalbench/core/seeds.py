"""Random numbers that depend on what they are for, never on the order of work."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt


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


def keys(seed: int, purpose: str, item_ids: Iterable[str]) -> npt.NDArray[np.uint64]:
    """One number for each item from which :func:`uniforms` draws: for a million items what :func:`rng` is for one.

    Parameters
    ----------
    seed, purpose
        As for :func:`rng`.

    Returns
    -------
    (n,) uint64 array
        The first eight bytes of the SHA-256 of the three.

    Examples
    --------
    >>> bool(keys(7, "typos", ["a", "b"])[1] == keys(7, "typos", ["b"])[0])
    True
    """
    head = f"{int(seed)}\x1f{purpose}\x1f".encode()
    sha256 = hashlib.sha256
    digests = b"".join([sha256(head + item.encode("utf-8", "surrogatepass")).digest() for item in item_ids])
    return np.frombuffer(digests, "<u8")[::4].astype(np.uint64)


def uniforms(keys: npt.NDArray[np.uint64], counters: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Numbers from [0, 1) that depend on the item's key and the counter alone.

    Parameters
    ----------
    keys : uint64 array
        Of :func:`keys`.
    counters : array of int
        Which number of the item this is, not below 0; broadcast with the keys.

    Returns
    -------
    float64 array
        The upper 53 bits of SplitMix64's output (Steele, Lea and Flood 2014, figure 17) at that place of its sequence.

    Examples
    --------
    >>> drawn = uniforms(keys(0, "typos", ["a"]), range(3))
    >>> drawn.shape, bool(((drawn >= 0) & (drawn < 1)).all())
    ((3,), True)
    """
    place = np.asarray(counters).astype(np.uint64) + np.uint64(1)
    mixed = keys + place * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    drawn: npt.NDArray[np.float64] = (mixed >> np.uint64(11)) * 2.0**-53
    return drawn
