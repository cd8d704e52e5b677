"""The figures of entities: over all classes, as mean over classes, of each class, and its confusions with others."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

import numpy as np

from evalbench import core
from evalbench.metrics.entities import MODES
from evalbench.studies.ner_quality.items import confused_column, own_column

CONFUSION, OWN, STRICT, DECIDING = "largest_confusion", "confusion_of_", "strict_f1", "deciding_confusion"
NOTHING_FOUND = "no true entity was found, so that none can be taken for another class"
ONE_CLASS = "of a single class none can be taken for another"
_NOTHING = "neither a true nor a predicted entity"


def measures() -> tuple[core.Measure, ...]:
    """The figures over all classes together."""
    return (
        _f1("strict", STRICT),
        _share("strict", "precision"),
        _share("strict", "recall"),
        *(_f1(mode, f"{mode}_f1") for mode in MODES[1:]),
    )


def _f1(mode: str, metric: str) -> core.Measure:
    columns = (mode, "n_true", "n_predicted")
    return core.Measure(metric, columns, _harmonic, title=f"{mode} F1", interval="counts", undefined=_NOTHING)


def _share(mode: str, figure: str) -> core.Measure:
    total, why = (
        ("n_predicted", "nothing was predicted") if figure == "precision" else ("n_true", "there is no true entity")
    )
    title = f"{mode} {figure}"
    return core.Measure(f"{mode}_{figure}", (mode, total), core.ratio, title=title, interval="counts", undefined=why)


def _harmonic(hits: core.Floats, true: core.Floats, predicted: core.Floats) -> core.Floats:
    return core.ratio(2 * hits, true + predicted)


def class_id(name: str) -> str:
    """A class as a part of a metric's name: itself in lower case, or where that loses something with a mark of its own.

    Examples
    --------
    >>> class_id("PER"), class_id("ЛИЦО").startswith("class_"), class_id("Per") == class_id("PER")
    ('per', True, False)
    """
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if name in (plain.upper(), plain):
        return plain if name == plain.upper() else f"{plain}_"
    return f"{plain or 'class'}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def macro_of(classes: Sequence[str], mode: str, figure: str = "f1") -> core.Measure:
    """The mean of a figure over the classes of the gold that have it."""
    columns = [_columns(name, mode, figure) for name in classes]
    width = len(columns[0]) if columns else 1

    def value(*sums: core.Floats) -> core.Floats:
        parts = [sums[i : i + width] for i in range(0, len(sums), width)]
        each = np.stack([_harmonic(*part) if figure == "f1" else core.ratio(*part) for part in parts])
        if figure == "f1":  # a class that was not drawn has no recall, whatever was predicted
            each = np.where(np.stack([part[1] for part in parts]) > 0, each, np.nan)
        known = np.isfinite(each)
        return core.ratio(np.where(known, each, 0).sum(axis=0), known.sum(axis=0).astype(float))

    flat = tuple(column for own in columns for column in own)
    name = {"f1": "F1"}.get(figure, figure)
    return core.Measure(
        f"macro_{mode}_{figure}",
        flat,
        value,
        title=f"{mode} {name}, mean over classes",
        interval="counts",
        undefined=_NOTHING,
    )


def _columns(name: str, mode: str, figure: str) -> tuple[str, ...]:
    hits = own_column("strict" if mode == "exact" else mode, name)
    sides = {"f1": ("true", "predicted"), "precision": ("predicted",), "recall": ("true",)}[figure]
    return (hits, *(own_column(side, name) for side in sides))


def class_measure(name: str, mode: str, figure: str) -> core.Measure:
    """A figure of one class, among entities of that class alone."""
    columns = _columns(name, mode, figure)
    metric, title = f"{mode}_{figure}_of_{class_id(name)}", f"{mode} {'F1' if figure == 'f1' else figure} of {name}"
    if figure == "f1":
        return core.Measure(metric, columns, _harmonic, title=title, interval="counts", undefined=_NOTHING)
    return core.Measure(
        metric, columns, core.ratio, title=title, interval="counts", undefined=f"no {figure}: nothing to divide by"
    )


def confusion_of(
    name: str, classes: Sequence[str], pairs: Sequence[tuple[str, str]], bands: core.verdict.Bands | None = None
) -> core.Measure:
    """The largest share of a class's true entities that was taken for one other class; undefined where none was found."""
    columns = [confused_column(*pair) for pair in pairs if pair[0] == name]
    alone = len(classes) == 1 and not columns

    def value(total: core.Floats, missed: core.Floats, *others: core.Floats) -> core.Floats:
        share = core.ratio(np.max(others, axis=0) if others else np.zeros_like(total), total)
        return np.where((total > missed) & (not alone), share, np.nan)

    return core.Measure(
        f"{OWN}{class_id(name)}",
        (own_column("true", name), own_column("missed", name), *columns),
        value,
        title=f"largest confusion of {name}",
        higher_is_better=False,
        interval="counts",
        undefined=ONE_CLASS if alone else f"no true {name} was found",
        bands=bands,
    )


def deciding_confusion(
    classes: Sequence[str], pairs: Sequence[tuple[str, str]], bands: core.verdict.Bands
) -> core.Measure:
    """The largest confusion of any class where it is red, else the second largest: what the light is that of.

    The light over it is the test's: red with one red class, yellow with two yellow ones, else green.
    """

    def value(each: core.Floats) -> core.Floats:
        first, second = _two_largest(each)
        return np.where(bands.lights(first) == "red", first, second)

    return _over_classes(DECIDING, "largest confusion of a class", classes, pairs, value, bands)


def largest_confusion(classes: Sequence[str], pairs: Sequence[tuple[str, str]]) -> core.Measure:
    """The largest confusion of any class."""
    return _over_classes(
        CONFUSION, "largest confusion of a class", classes, pairs, lambda each: _two_largest(each)[0], None
    )


def _over_classes(
    metric: str,
    title: str,
    classes: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    value: Callable[[core.Floats], core.Floats],
    bands: core.verdict.Bands | None,
) -> core.Measure:
    own = [confusion_of(name, classes, pairs) for name in classes]
    ends = np.cumsum([0, *(len(m.sums) for m in own)]).tolist()

    def of_sums(*sums: core.Floats) -> core.Floats:
        if not own:
            return np.full(1, np.nan)
        each = np.stack([m.value(*sums[a:b]) for m, a, b in zip(own, ends[:-1], ends[1:], strict=True)])
        return np.where(np.isfinite(each).any(axis=0), value(each), np.nan)

    return core.Measure(
        metric,
        tuple(column for m in own for column in m.sums) or ("n_true",),
        of_sums,
        title=title,
        higher_is_better=False,
        interval="counts",
        undefined=NOTHING_FOUND,
        bands=bands,
    )


def _two_largest(each: core.Floats) -> tuple[core.Floats, core.Floats]:
    """Of each column of ``(classes, resamples)``; a class without a value has none, and 0 stands for what is not there."""
    ordered = np.sort(np.where(np.isfinite(each), each, 0.0), axis=0)
    return ordered[-1], ordered[-2] if len(ordered) > 1 else np.zeros_like(ordered[-1])
