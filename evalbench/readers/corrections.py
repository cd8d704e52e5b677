"""Corrections of judges, learnt where people labelled what a judge marked: the file ``correction.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evalbench.core.transport import Correction, fitted_correction
from evalbench.errors import BadInput
from evalbench.readers.runs import read_json

FORMAT, VERSION = "evalbench correction", 1


@dataclass(frozen=True)
class Learnt:
    """What people said where one judge gave its marks for one criterion, and whose answers these were.

    - ``prompts``: SHA-256 of the prompts that the judge was asked with; empty where none are known.
    - ``population``: What was judged: ``name``, ``version`` and ``sha256`` of the data set, ``models``.
    - ``judged``, ``human``: The judge's mark and people's of each labelled item.
    - ``scale`` ((float, float)): The ends of the scale of both.
    - ``annotators``: 0 where it is not known.
    """

    judge: str
    criterion: str
    judged: tuple[float, ...]
    human: tuple[float, ...]
    prompts: tuple[str, ...] = ()
    population: Mapping[str, Any] = field(default_factory=dict)
    scale: tuple[float, float] = (0.0, 1.0)
    annotators: int = 0

    def __post_init__(self) -> None:
        (low, high), marks = self.scale, (*self.judged, *self.human)
        if len(self.judged) != len(self.human) or not self.judged:
            raise ValueError(f"one human mark for each of the judge's: {len(self.judged)} and {len(self.human)}")
        if not (math.isfinite(low) and math.isfinite(high) and low < high and all(low <= m <= high for m in marks)):
            raise ValueError(f"marks are not within the scale {low:g}–{high:g}")

    @property
    def fit(self) -> Correction:
        """The human mark expected at each of the judge's, see :func:`evalbench.core.transport.fitted_correction`."""
        found = fitted_correction(self.judged, self.human)
        assert found is not None
        return found

    @property
    def where(self) -> str:
        """The population in words."""
        name, version = (str(self.population.get(key) or "") for key in ("name", "version"))
        return (f"{name}@{version}" if version else name) or "data without a name"


def written(learnts: Sequence[Learnt]) -> bytes:
    """The file's bytes: one correction for each judge and criterion, labels as ``[mark, human mark, how many]``.

    Examples
    --------
    >>> print(written([Learnt("acme/judge", "faithful", (0, 1, 1), (0, 1, 0))]).decode().partition('"labels": ')[2][:41])
    [[0.0, 0.0, 1], [1.0, 0.0, 1], [1.0, 1.0,
    """
    order = sorted(learnts, key=lambda one: (one.judge, one.criterion))
    parts = ",\n".join(_entry(one) for one in order)
    return f'{{\n"format": "{FORMAT}",\n"schema_version": {VERSION},\n"corrections": [\n{parts}\n]\n}}\n'.encode()


def _entry(one: Learnt) -> str:
    pairs, n = np.unique(np.array([one.judged, one.human], dtype=float), axis=1, return_counts=True)
    fit = one.fit
    content = {
        "judge": one.judge,
        "criterion": one.criterion,
        "prompts": sorted(one.prompts),
        "population": {key: one.population[key] for key in sorted(one.population)},
        "scale": [float(end) for end in one.scale],
        "annotators": one.annotators,
        "n_labels": len(one.judged),
        "labels": [[*map(float, pair), int(k)] for *pair, k in zip(*pairs.tolist(), n.tolist(), strict=True)],
        "fit": [[mark, round(expected, 12)] for mark, expected in zip(fit.marks, fit.expected, strict=True)],
    }
    lines = ",\n  ".join(
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}" for key, value in content.items()
    )
    return f" {{\n  {lines}\n }}"


def read_corrections(path: Path) -> tuple[Learnt, ...]:
    """The corrections of a file.

    Raises ``BadInput`` if it is not such a file, was cut or changed; with all faults.
    """
    if not path.exists():
        raise BadInput(f"{path}: no such file")
    if path.is_dir():
        raise BadInput(f"{path}: is a folder, expected the correction.json that judge_audit writes")
    content = read_json(path)
    if content.get("format") != FORMAT:
        raise BadInput(f"{path}: is not a correction that judge_audit wrote (no format {FORMAT!r})")
    if content.get("schema_version") != VERSION:
        raise BadInput(f"{path}: schema_version is {content.get('schema_version')!r:.40}; this version reads {VERSION}")
    entries = content.get("corrections")
    if not isinstance(entries, list) or not entries:
        raise BadInput(f"{path}: has no corrections")
    faults: list[str] = []
    found = []
    for place, entry in enumerate(entries, 1):
        try:
            found.append(_learnt(entry))
        except (ValueError, TypeError, KeyError) as error:
            why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            faults.append(f"correction {place}: {why:.200}")
    keys = [(one.judge, one.criterion) for one in found]
    faults += [f"judge {j}, criterion {c}: twice" for j, c in sorted({key for key in keys if keys.count(key) > 1})]
    if faults:
        raise BadInput.listing(f"{path}: cannot be used:", faults)
    return tuple(found)


def _learnt(entry: Any) -> Learnt:
    if not isinstance(entry, dict):
        raise ValueError("expected an object")
    for name in ("judge", "criterion"):
        if not isinstance(entry[name], str) or (name == "judge" and not entry[name]):
            raise ValueError(f"{name} is {entry[name]!r:.60}, not a text")
    prompts, population = entry["prompts"], entry["population"]
    if not isinstance(prompts, list) or not all(isinstance(p, str) for p in prompts):
        raise ValueError("prompts is not a list of texts")
    if not isinstance(population, dict):
        raise ValueError("population is not an object")
    scale = entry["scale"]
    if not isinstance(scale, list) or len(scale) != 2 or not all(map(_is_number, scale)):
        raise ValueError(f"scale is {scale!r:.60}, not two numbers")
    labels = entry["labels"]
    if not isinstance(labels, list) or not all(_is_counted(row) for row in labels):
        raise ValueError("labels is not a list of [mark, human mark, how many]")
    if sum(row[2] for row in labels) != entry["n_labels"]:
        raise ValueError(f"n_labels is {entry['n_labels']!r:.20}, the labels are {sum(row[2] for row in labels)}")
    if entry["n_labels"] > _MOST:
        raise ValueError(f"n_labels is {entry['n_labels']}; at most {_MOST}")
    judged, human = ([float(row[side]) for row in labels for _ in range(row[2])] for side in (0, 1))
    annotators = entry.get("annotators", 0)
    one = Learnt(
        entry["judge"], entry["criterion"], tuple(judged), tuple(human), tuple(prompts), population,
        (float(scale[0]), float(scale[1])), annotators if type(annotators) is int else 0,
    )  # fmt: skip
    stated, fit = entry["fit"], one.fit
    own = list(zip(fit.marks, fit.expected, strict=True))
    same = isinstance(stated, list) and len(stated) == len(own)
    if not same or not all(_is_close(a, b) for a, b in zip(stated, own, strict=True)):
        raise ValueError("fit is not that of the labels: the file was changed or cut")
    return one


_MOST = 1_000_000


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_counted(row: object) -> bool:
    return isinstance(row, list) and len(row) == 3 and all(map(_is_number, row)) and type(row[2]) is int and row[2] > 0


def _is_close(stated: object, own: tuple[float, float]) -> bool:
    pair = isinstance(stated, list) and len(stated) == 2 and all(map(_is_number, stated))
    return pair and all(abs(a - b) < 1e-6 for a, b in zip(stated, own, strict=True))  # type: ignore[call-overload]
