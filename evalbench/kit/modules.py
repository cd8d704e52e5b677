"""Modules of Hugging Face ``evaluate`` as text metrics: ``evaluate:NAME``, ``evaluate:FOLDER``, ``evaluate:FILE.py``.

A module that is named is run: code of somebody else's in this process, as a library is.  Files and folders are taken as they
are; a name of the hub only from the cache of this machine, since code is never downloaded here.

Every number that a module returns is a metric of its own, ``evaluate:MODULE`` where it has the module's name and else
``evaluate:MODULE.KEY``.  It is a score per text where the module gives a list of them, or where its figure is the mean of what
it gives for each text alone; else it is a corpus figure.  Then a text has its contribution to it, θ + (n − 1)(θ̄ − θ₋ᵢ): the
mean of these is the figure θ, and their spread that of the jackknife, so that intervals and comparisons hold for it too.
What a module is like is found out on three invented pairs, before anything is asked or scored.

References
----------
Efron & Tibshirani (1993), An Introduction to the Bootstrap, sections 11.5 and 20.6, for values that stand for each item.
"""

from __future__ import annotations

import ast
import hashlib
import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from evalbench.core.arrays import Floats
from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.hub import import_evaluate
from evalbench.metrics.registry import MODULE, Card, made

LEFT_OUT_ONE_BY_ONE = 300
"""Of a corpus figure of more texts, groups of texts are left out instead, as many as this."""
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_KEY = re.compile(r"[^\w]+")
# The columns of a module → those that metrics are given.
_COLUMNS = {"predictions": "outputs", "references": "references", "contexts": "contexts", "requests": "requests"}
_NEEDS = {"references": "reference", "contexts": "context", "requests": "request"}
_PROBE = ("one two three four", "a", "the red apple"), ("one two three five", "a b", "the red apple")
_CLOSE = 1e-9


@dataclass(frozen=True)
class Module:
    """A module that was loaded.

    Attributes
    ----------
    spec : str
        As it was named, behind ``evaluate:``.
    compute : callable
        Columns, lists of texts by the module's names → what it returns.
    columns : mapping of str to bool
        Its columns, and whether a text of one may be a list.
    sha256 : str
        Of its files.
    """

    spec: str
    name: str
    compute: Callable[..., Any]
    columns: Mapping[str, bool]
    description: str
    citation: str
    sha256: str


def source_of(spec: str, base: Path | None = None) -> Path | None:
    """The file or folder of a module; None for a name of the hub.

    Parameters
    ----------
    spec : str
        As behind ``evaluate:``.
    base : Path, optional
        Where relative paths start; the current folder by default.

    Raises
    ------
    BadInput
        If there is no such file, or it is neither a path nor a name.
    """
    path = (base or Path.cwd()) / Path(spec).expanduser()
    if spec.endswith(".py"):
        if path.is_file():
            return path.resolve()
        raise BadInput(f"{MODULE}{spec}: no such file")
    if path.is_dir() and (path / f"{path.name}.py").is_file():
        return path.resolve()
    if path.is_dir() and ("/" in spec or not _HUB_NAME.fullmatch(spec)):
        raise BadInput(f"{MODULE}{spec}: the folder of a module holds a file of its name, {path.name}.py")
    if not _HUB_NAME.fullmatch(spec) or spec.startswith("."):
        raise BadInput(f"{MODULE}{spec}: neither a file, nor the folder of a module, nor a name of the hub")
    return None


def files_of(source: Path) -> list[Path]:
    """The files of a local module: a folder's Python files, or a file and what it imports from beside it."""
    if source.is_dir():
        return [file for file in sorted(source.rglob("*.py")) if "__pycache__" not in file.parts]
    found = [source]
    for file in found:
        for name in _imports(file):
            beside = source.parent / f"{name}.py"
            if beside.is_file() and beside not in found:
                found.append(beside)
    return found


def _imports(file: Path) -> Iterator[str]:
    """The first names of the modules that a file imports."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError) as error:
        raise BadInput(f"{MODULE}{file.name}: not Python ({error})") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from [(node.module or "").partition(".")[0]] if node.module else [alias.name for alias in node.names]


def sha256_of(files: Sequence[Path]) -> str:
    """SHA-256 of files with their names."""
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda each: each.name):
        digest.update(f"{file.name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def cards_of(spec: str) -> list[Card]:
    """The metrics of a module, found out by three invented pairs.

    Parameters
    ----------
    spec : str
        As behind ``evaluate:``.

    Raises
    ------
    BadInput
        If ``evaluate`` or the module is missing, the module asks for what tables do not have, or it fails.
    """
    module = _load(spec)
    probe = {name: [[text] if listed else text for text in _invented(name)] for name, listed in module.columns.items()}
    try:
        found = module.compute(**probe)
        figures = _figures(found, len(_PROBE[0]))
        alone = [_figures(module.compute(**_at(probe, [i])), 1) for i in range(len(_PROBE[0]))]
    except Exception as error:
        raise BadInput(f"{MODULE}{spec}: fails on three short texts ({type(error).__name__}: {error})") from error
    if not figures:
        raise BadInput(f"{MODULE}{spec}: returns no number ({', '.join(map(str, found)) or 'nothing'})")
    left_out = sorted({str(key) for key in found} - set(figures))
    return [_card(module, key, value, alone, len(figures) == 1, left_out) for key, value in figures.items()]


def _card(
    module: Module, key: str, value: Any, alone: Sequence[Mapping[str, Any]], only: bool, left_out: Sequence[str]
) -> Card:
    each = [figures.get(key) for figures in alone]
    per_text = np.ndim(value) == 1 or _is_mean(each, value)
    kind = "a score per text" if per_text else "a corpus figure, per text its contribution to it"
    more = f"; its {', '.join(left_out)} left out, not numbers" if left_out else ""
    summary = " ".join(module.description.split()).rstrip(".")[:300] or f"{key} of the module {module.name}"
    name = MODULE + (module.name if only or key == module.name else f"{module.name}.{_KEY.sub('_', key).strip('_')}")
    return made(
        Card(
            name=name,
            function=lambda outputs, groups=None, **columns: _scores(module, key, per_text, outputs, columns, groups),
            kind="texts",
            range=(-math.inf, math.inf),
            higher_is_better=None,
            needs=tuple(_NEEDS[column] for column in module.columns if column in _NEEDS),
            reference=f"evaluate module {Path(module.spec).name}, SHA-256 {module.sha256[:12]}",
            summary=f"{summary} ({kind}{more})",
            unit="",
            category="",
            languages="as the module has it",
            limitations="a module of Hugging Face evaluate: its direction and range are not known",
            values=kind,
            source=module.sha256,
        )
    )


def _load(spec: str) -> Module:
    if find_spec("evaluate") is None:
        raise BadInput(f"{MODULE}{spec}: needs the package evaluate: pip install evaluate")
    source = source_of(spec)
    evaluate = import_evaluate()
    with _offline(evaluate):
        try:
            loaded = evaluate.load(str(source or spec), keep_in_memory=True)
        except FileNotFoundError as error:
            if source is not None:
                raise BadInput(f"{MODULE}{spec}: cannot be loaded ({error})") from error
            raise BadInput(
                f"{MODULE}{spec}: not on this machine, and code is not downloaded in a run; once, where you trust it: "
                f"python -c 'import evaluate; evaluate.load(\"{spec}\")'"
            ) from error
        except Exception as error:
            raise BadInput(f"{MODULE}{spec}: cannot be loaded ({type(error).__name__}: {error})") from error
    import sys

    name = str(source.stem if source else spec.rpartition("/")[2])
    own = Path(str(sys.modules[type(loaded).__module__].__file__))
    files = files_of(source) if source else files_of(own.parent)
    return Module(
        spec,
        _KEY.sub("_", name).strip("_") or "module",
        loaded._compute,
        _columns(spec, loaded),
        str(loaded.description or ""),
        str(loaded.citation or ""),
        sha256_of(files),
    )


_LOCK = threading.Lock()


@contextmanager
def _offline(evaluate: Any) -> Iterator[None]:
    """Whatever the environment says: a module is code, and none is fetched."""
    import logging

    logger = logging.getLogger("evaluate.loading")
    with _LOCK:
        before, level = evaluate.config.HF_EVALUATE_OFFLINE, logger.level
        evaluate.config.HF_EVALUATE_OFFLINE = True
        logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            evaluate.config.HF_EVALUATE_OFFLINE = before
            logger.setLevel(level)


def _columns(spec: str, loaded: Any) -> dict[str, bool]:
    """The columns of a module, and whether a text of one may be a list; texts only, and those that tables have."""
    several = loaded.features if isinstance(loaded.features, list) else [loaded.features]
    kinds = [{name: _kind(feature) for name, feature in features.items()} for features in several]
    fitting = [one for one in kinds if "" not in one.values() and set(one) <= set(_COLUMNS) and "predictions" in one]
    if not fitting:
        names = ", ".join(f"{name} ({_kind(feature) or feature})" for name, feature in several[0].items())
        raise BadInput(
            f"{MODULE}{spec}: takes {names}; a metric of texts takes texts as predictions, and as references, contexts "
            "or requests"
        )
    lists = next((one for one in fitting if "texts" in one.values()), None)
    return {name: kind == "texts" for name, kind in (lists or fitting[0]).items()}


def _kind(feature: Any) -> str:
    """``text``, ``texts`` for lists of them, else nothing."""
    if getattr(feature, "dtype", "") == "string":
        return "text"
    inner = feature[0] if isinstance(feature, list) and len(feature) == 1 else getattr(feature, "feature", None)
    return "texts" if getattr(inner, "dtype", "") == "string" else ""


def _invented(column: str) -> Sequence[str]:
    return _PROBE[0] if column == "predictions" else _PROBE[1]


def _at(columns: Mapping[str, Sequence[Any]], rows: Sequence[int]) -> dict[str, list[Any]]:
    return {name: [values[i] for i in rows] for name, values in columns.items()}


def _figures(found: Any, n: int) -> dict[str, Any]:
    """The numbers, and the lists of a number for each text, that a module returned."""
    if not isinstance(found, Mapping):
        raise TypeError(f"expected a mapping of names to numbers, got {type(found).__name__}")
    out: dict[str, Any] = {}
    for key, value in found.items():
        if isinstance(value, (list, tuple, np.ndarray)) and len(value) == n and all(map(_is_number, value)):
            out[str(key)] = np.asarray(value, dtype=float)
        elif _is_number(value):
            out[str(key)] = float(value)
    return out


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.number, np.bool_))


def _is_mean(each: Sequence[Any], whole: Any) -> bool:
    if any(value is None or np.ndim(value) for value in each) or not np.isfinite([*each, whole]).all():
        return False
    return bool(abs(float(np.mean(each)) - whole) <= _CLOSE * max(1.0, abs(whole)))


def _scores(
    module: Module, key: str, per_text: bool, outputs: Sequence[str], given: Mapping[str, Any], groups: Any
) -> Floats:
    """Of every text its score, or its contribution to the figure of its group."""
    columns = {"predictions": list(outputs), **{n: list(given[n]) for n in module.columns if n != "predictions"}}
    columns = {name: _as_taken(module, name, values) for name, values in columns.items()}
    labels = np.asarray(groups if groups is not None else [""] * len(outputs), dtype=str)
    out = np.full(len(outputs), np.nan)
    for label in sorted(set(labels)):
        rows = np.flatnonzero(labels == label)
        out[rows] = _of_group(module, key, per_text, _at(columns, rows.tolist()), len(rows))
    return out


def _as_taken(module: Module, name: str, values: list[Any]) -> list[Any]:
    """Lists of texts where the module takes lists, else the one text of each."""
    if name == "predictions":
        return [[value] for value in values] if module.columns[name] else values
    lists = [[value] if isinstance(value, str) else list(value) for value in values]
    if module.columns[name]:
        return lists
    if several := sum(len(texts) != 1 for texts in lists):
        raise BadInput(
            f"{MODULE}{module.spec}: takes one of the {name} for each text; several: {several} of {counted(len(lists), 'text')}"
        )
    return [texts[0] for texts in lists]


def _of_group(module: Module, key: str, per_text: bool, columns: Mapping[str, list[Any]], n: int) -> Floats:
    def figure(rows: Sequence[int] | None = None) -> Any:
        taken = columns if rows is None else _at(columns, rows)
        return _figures(module.compute(**taken), n if rows is None else len(rows)).get(key, math.nan)

    whole = figure()
    if np.ndim(whole):
        return np.asarray(whole, dtype=float)
    if not math.isfinite(whole):
        return np.full(n, np.nan)
    if per_text:
        each = [figure([i]) for i in range(n)]
        if _is_mean(each, whole):
            return np.asarray(each, dtype=float)
    return contributions(whole, n, figure)


def contributions(whole: float, n: int, figure: Callable[[Sequence[int]], float]) -> Floats:
    """What stands for each text in a figure that is not a mean; their mean is the figure.

    θ + (n − 1)(θ̄ − θ₋ᵢ), where θ₋ᵢ is the figure without text i and θ̄ the mean of these.  Of more than
    :data:`LEFT_OUT_ONE_BY_ONE` texts so many groups are left out instead (text i is in group i modulo their number), and the
    deviations are multiplied by √(n / groups), so that the spread of the mean is that of the jackknife by groups.

    Parameters
    ----------
    whole : float
        The figure of all texts.
    figure : callable
        Rows → the figure of these texts.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([0.0, 1.0, 5.0])
    >>> contributions(2.0, 3, lambda rows: values[list(rows)].mean()).tolist()  # of a mean they are the values
    [0.0, 1.0, 5.0]
    >>> contributions(0.5, 1, lambda rows: 0.0).tolist()
    [0.5]
    """
    if n < 2:
        return np.full(n, whole)
    groups = min(n, LEFT_OUT_ONE_BY_ONE)
    member = np.arange(n) % groups
    without = np.array([figure(np.flatnonzero(member != g).tolist()) for g in range(groups)], dtype=float)
    if not np.isfinite(without).all():  # a figure that one text can take away has no spread that could be known
        return np.full(n, np.nan)
    moves = (groups - 1) * (without.mean() - without) * math.sqrt(n / groups)
    shifted = moves[member]
    out: Floats = whole + (shifted - shifted.mean())
    return out
