"""What agents' calls are worth: matched with the expected ones, in order, repeated, in loops, recovered from.

A call is a tool's name and its arguments.  The functions take one array entry per call, the calls of one trajectory behind each other in
their order, with ``runs`` naming the trajectory of each; names and arguments come as keys that :func:`call_key` makes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from evalbench.errors import BadInput

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
LONGEST_CYCLE = 4
TURNS = 3
"""A loop is a cycle of at most so many calls that is gone through at least so many times."""
_DEEPEST = 100


class Arguments(NamedTuple):
    """Arguments of a call as a model wrote them.

    - ``value``: A JSON object; empty where there is none.
    - ``fault``: Why they cannot be read; empty where they can.
    """

    value: Mapping[str, Any]
    fault: str = ""


def arguments_of(given: Any) -> Arguments:
    """The arguments of a call: an object, its JSON text, or nothing.

    Parameters
    ----------
    given : mapping, str or None
        None and a text of white space are no arguments.

    Examples
    --------
    >>> arguments_of('{"id": 7}').value, arguments_of(None).value
    ({'id': 7}, {})
    >>> arguments_of('{"id": 7').fault, arguments_of("[7]").fault
    ('not JSON', 'not an object')
    """
    if given is None or (isinstance(given, str) and not given.strip()):
        return Arguments({})
    flat = isinstance(given, str) and given.count("{") + given.count("[") < _DEEPEST
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return Arguments({}, "not JSON")
    if not isinstance(given, Mapping):
        return Arguments({}, "not an object")
    return Arguments(given) if flat or _depth_is_sane(given) else Arguments({}, "nested too deeply")


def _depth_is_sane(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, Mapping | list)
            for inner in (one.values() if isinstance(one, Mapping) else one)
        ]
        if not level:
            return True
    return False


def call_key(name: str, arguments: Mapping[str, Any], ignore: Collection[str] = ()) -> str:
    """One text for all calls that are equal: same name, arguments equal as JSON, numbers by value.

    Parameters
    ----------
    ignore : collection of str
        Arguments that do not count.

    Examples
    --------
    >>> call_key("book", {"b": 1.0, "a": "x"}) == call_key("book", {"a": "x", "b": 1})
    True
    >>> call_key("book", {"seats": 1}) == call_key("book", {"seats": "1"})
    False
    >>> call_key("book", {"seats": 1, "note": "?"}, ignore=["note"]) == call_key("book", {"seats": 1})
    True
    """
    # Neither part holds a NUL: older pandas takes texts for equal that are so up to one.
    kept = {k: v for k, v in arguments.items() if k not in ignore} if ignore else arguments
    plain = all(type(v) in _PLAIN and type(k) is str for k, v in kept.items())
    return f"{encode_basestring_ascii(name)}{_AS_KEY(kept if plain else _by_value(kept))}"


_AS_KEY = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
_PLAIN = frozenset({str, int, bool, type(None)})


def _by_value(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {str(k): v if type(v) in _PLAIN else _by_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_by_value(v) for v in value]
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    return value


def matched(
    runs: npt.ArrayLike, keys: npt.ArrayLike, expected_runs: npt.ArrayLike, expected_keys: npt.ArrayLike
) -> Bools:
    """Which calls are expected ones, as multisets: of a key that is expected m times the first m calls of a trajectory.

    The number of matches of a trajectory is Σ over keys of min(calls, expected); divided by its calls that is the precision, divided by
    the expected ones the recall.

    Parameters
    ----------
    runs, keys : (n,) arrays
        The trajectory and the key of each call.
    expected_runs, expected_keys : (m,) arrays
        Those of each expected call.

    Returns
    -------
    (n,) array of bool

    Raises
    ------
    BadInput
        Where arrays that belong together have different lengths.

    Examples
    --------
    >>> matched([0, 0, 0, 1], ["a", "a", "b", "a"], [0, 0, 0], ["a", "b", "c"]).tolist()
    [True, False, True, False]
    """
    runs, keys, expected_runs, expected_keys = map(_column, (runs, keys, expected_runs, expected_keys))
    _same_length(runs, keys)
    _same_length(expected_runs, expected_keys)
    pairs = _codes(np.concatenate([runs, expected_runs]), np.concatenate([keys, expected_keys]))
    made, wanted = pairs[: len(runs)], pairs[len(runs) :]
    allowed = np.bincount(wanted, minlength=int(pairs.max(initial=-1)) + 1)
    return _earlier(made) < allowed[made]


def in_order(keys: Sequence[Any], expected: Sequence[Any]) -> int:
    """How many expected calls were made in the order in which they are expected: the longest common subsequence.

    Examples
    --------
    >>> in_order(["find", "pay", "book"], ["find", "book", "pay"]), in_order([], ["find"])
    (2, 0)
    """
    return int(LCSseq.similarity(list(keys), list(expected)))


def repeated(runs: npt.ArrayLike, keys: npt.ArrayLike) -> Bools:
    """Which calls are the same as an earlier one of their trajectory.

    Examples
    --------
    >>> repeated([0, 0, 0, 1], ["a", "b", "a", "a"]).tolist()
    [False, False, True, False]
    """
    runs, keys = map(_column, (runs, keys))
    _same_length(runs, keys)
    return _earlier(_codes(runs, keys)) > 0


def looping(runs: npt.ArrayLike, keys: npt.ArrayLike, *, longest: int = LONGEST_CYCLE, turns: int = TURNS) -> Ints:
    """The length of the cycle that each call is part of: 0 where it is in no loop.

    A loop is a cycle of at most ``longest`` calls that follows on itself at least ``turns`` times; of several lengths the shortest counts.

    Examples
    --------
    >>> looping([0] * 7, list("aaabcbc")).tolist(), looping([0] * 6, list("bcbcbc")).tolist()
    ([1, 1, 1, 0, 0, 0, 0], [2, 2, 2, 2, 2, 2])
    """
    runs, keys = map(_column, (runs, keys))
    _same_length(runs, keys)
    if longest < 1 or turns < 2:
        raise BadInput(f"a loop needs a cycle of at least 1 call and 2 turns; got {longest} and {turns}")
    codes, run = _codes(runs, keys), _codes(runs)
    out = np.zeros(len(codes), dtype=np.int64)
    for period in range(longest, 0, -1):
        same = np.zeros(len(codes), dtype=bool)
        same[period:] = (codes[period:] == codes[:-period]) & (run[period:] == run[:-period])
        edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if end - start >= (turns - 1) * period:
                out[start - period : end] = period
    return out


def recovered(runs: npt.ArrayLike, names: npt.ArrayLike, failed: npt.ArrayLike) -> Bools:
    """Which failed calls are made good: a later call of the same tool in the same trajectory does not fail.

    Examples
    --------
    >>> recovered([0, 0, 0, 1], ["a", "b", "a", "a"], [True, True, False, True]).tolist()
    [True, False, False, False]
    """
    runs, names = map(_column, (runs, names))
    failing = np.asarray(failed, dtype=bool)
    _same_length(runs, names, failing)
    codes, places = _codes(runs, names), np.arange(len(runs))
    last = np.full(int(codes.max(initial=-1)) + 1, -1)
    last[codes[~failing]] = places[~failing]  # of places that are written twice the last one stays
    return failing & (last[codes] > places)


class Parting(NamedTuple):
    """Where a trajectory leaves the way of another one.

    - ``at``: The first call that differs, from 0; the number of calls where one ends there.
    - ``of``: Which of the others: the one that it follows longest.
    """

    at: int
    of: int


def parting(keys: Sequence[Any], others: Sequence[Sequence[Any]]) -> Parting:
    """The first call in which a trajectory differs from the one of the others that it follows longest.

    Of others that it follows equally long the first counts; without others nothing can be said.

    Examples
    --------
    >>> parting(["find", "pay"], [["book"], ["find", "book"]])
    Parting(at=1, of=1)
    """
    if not others:
        raise BadInput("a trajectory parts from others; there are none")
    shared = [_shared(keys, other) for other in others]
    of = max(range(len(shared)), key=lambda i: shared[i])
    return Parting(shared[of], of)


def _shared(a: Sequence[Any], b: Sequence[Any]) -> int:
    n = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        n += 1
    return n


def met_with_needs(met: Mapping[str, bool], needs: Mapping[str, Sequence[str]]) -> dict[str, bool]:
    """Which requirements are met together with all that they need, and with what these need in turn.

    Parameters
    ----------
    met : mapping of str to bool
        Requirement → whether it is met for itself.
    needs : mapping of str to sequence of str
        Requirement → those that come before it; one that is not there needs none, and one that names itself does not count as its own need.

    Raises
    ------
    BadInput
        Where a requirement needs one that does not exist, or, over others, itself.

    Examples
    --------
    >>> met_with_needs({"data": False, "model": True, "plot": True}, {"model": ["data"], "plot": []})
    {'data': False, 'model': False, 'plot': True}
    """
    try:
        before = {name: [need for need in needs.get(name, ()) if need != name] for name in met}
        order = list(TopologicalSorter(before).static_order())
    except CycleError as error:
        raise BadInput(f"requirements need each other in a circle: {', '.join(map(str, error.args[1]))}") from None
    if strangers := [name for name in order if name not in met]:
        raise BadInput(f"requirements that are needed and do not exist: {', '.join(strangers)}")
    found: dict[str, bool] = {}
    for name in order:
        found[name] = met[name] and all(found[need] for need in before[name])
    return {name: found[name] for name in met}


def _column(values: npt.ArrayLike) -> npt.NDArray[Any]:
    out = np.asarray(values, dtype=object)
    return out if out.ndim == 1 else out.reshape(-1)


def _same_length(*columns: npt.NDArray[Any]) -> None:
    if len({len(column) for column in columns}) > 1:
        raise BadInput(f"columns of different lengths: {', '.join(str(len(c)) for c in columns)}")


def _codes(*columns: npt.NDArray[Any]) -> Ints:
    """A number for each row, the same for equal rows."""
    import pandas as pd

    out = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        own, known = pd.factorize(column)
        out = pd.factorize(out * max(len(known), 1) + own)[0].astype(np.int64)
    return out


def _earlier(codes: Ints) -> Ints:
    """How many earlier rows have the same code."""
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=int(codes.max(initial=-1)) + 1)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    out = np.empty(len(codes), dtype=np.int64)
    out[order] = np.arange(len(codes)) - starts[codes[order]] if len(codes) else 0
    return out
