"""The two halves of the score: studies that are run here, or finished runs; one model of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.studies import citation, cot_levels


class Half(NamedTuple):
    """The study of a half, its main table, what it scores in words, and the table of its result with an item's texts."""

    study: ModuleType
    table: str
    words: str
    texts: str

    @property
    def name(self) -> str:
        """The study's."""
        return self.study.__name__.rpartition(".")[2]


HALVES = {
    "cot": Half(cot_levels, "items", "chains of thought", "solutions"),
    "citation": Half(citation, "answers", "cited answers", "answers"),
}
PARTS = tuple(HALVES)
TEXTS = ("question", "reference", "answer")


class Finished(NamedTuple):
    """What a finished run's folder holds, under the names that a Result has for it."""

    items: pd.DataFrame
    parameters: Mapping[str, Any]
    data: core.result.DataLabel
    tables: Mapping[str, pd.DataFrame]


class Part(NamedTuple):
    """One model's half of the score.

    - ``rows``: Its items, with all their columns.
    - ``items``: ``id, final, unscored, undefined``.
    - ``texts``: ``id, question, reference, answer``; no rows where the run kept no texts.
    - ``unmarked``: Why the final answers of its chains of thought were not found rather than wrong; else empty.
    - ``trials``: ``id, trial, final, unscored, undefined``, where its answers were repeated.
    """

    source: core.Result | Finished
    model: str
    rows: pd.DataFrame
    items: pd.DataFrame
    texts: pd.DataFrame
    unmarked: str
    trials: pd.DataFrame | None = None

    @property
    def judge(self) -> str:
        """Who judged it; empty where nobody did."""
        return str(self.source.parameters.get("judge", ""))


class Halves(NamedTuple):
    """What both halves are made of: finished runs by half, the model of each, the options of each."""

    read: Mapping[str, Finished]
    models: Mapping[str, str]
    options: Mapping[str, Mapping[str, Any]]


def halves_of(data: readers.Dataset, options: Mapping[str, Any]) -> Halves:
    """The halves before anything is asked or computed.

    - ``options``: Of this study: ``cot_…`` and ``citation_…`` are those of one half, others of both.

    Raises ``BadInput`` for missing tables, folders that hold no such run, or halves without a common model.
    """
    runs = {name: str(options[f"{name}_run"]) for name in HALVES}
    missing = [
        f"no table {half.table} ({half.words}); give one with {name}_data, or a finished run with {name}_run"
        for name, half in HALVES.items()
        if not runs[name] and data.get(half.table) is None
    ]
    if missing:
        raise errors.BadInput.listing("explainability needs both halves:", missing)
    own = {name: _options(name, options) for name in HALVES}
    read = {name: _finished(folder, HALVES[name].name) for name, folder in runs.items() if folder}
    models = {
        name: sorted(read[name].items["model"].unique()) if name in read else _models(data.get(half.table), own[name])
        for name, half in HALVES.items()
    }
    named = {name: "" if own[name]["model"] and name not in read else str(options["answered_by"]) for name in HALVES}
    return Halves(read, _chosen(models, named), own)


def parts_of(data: readers.Dataset, halves: Halves) -> dict[str, Part]:
    """Both halves: read from the folder of a run where one is named, else run on the tables."""
    parts = {}
    for name, half in HALVES.items():
        source = halves.read.get(name) or half.study.evaluate(
            _only(data, half.table, halves.models[name]), **kit.taken(half.study.evaluate, halves.options[name])
        )
        parts[name] = _part(source, half, halves.models[name])
    return parts


def needs(
    data: readers.Dataset,
    *,
    cot_run: str = "",
    citation_run: str = "",
    model: str = "",
    cot_model: str = "",
    citation_model: str = "",
    answered_by: str = "",
    cot_n_samples: int = 0,
    citation_n_samples: int = 0,
) -> None:
    """Refuse what :func:`halves_of` refuses, and tables that the study of a half refuses.

    Raises ``BadInput``: Of the first half that is refused.
    """
    options = {name: value for name, value in locals().items() if name != "data"}
    halves = halves_of(data, options)
    for name, half in HALVES.items():
        if name not in halves.read and half.study.needs is not None:
            known = {**defaults_of(half.study.evaluate), **halves.options[name]}
            half.study.needs(_only(data, half.table, halves.models[name]), **kit.taken(half.study.needs, known))


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The defaults of a function's options."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of one half: its own before those of both; what is None is left to the study."""
    own = {key.removeprefix(f"{name}_"): value for key, value in options.items() if key.startswith(f"{name}_")}
    own["model"] = own["model"] or options["model"]
    both = {key: value for key, value in options.items() if key not in kit.labelled.OPTIONS}
    return {key: value for key, value in {**both, **own}.items() if value is not None}


def _finished(folder: str, study: str) -> Finished:
    path = Path(folder).expanduser()
    try:
        results, items = readers.runs.read_results(path), readers.runs.read_items(path)
    except errors.BadInput as error:
        raise errors.BadInput(f"{folder}: no folder of a finished run of {study} ({error})") from error
    if results["study"] != study:
        raise errors.BadInput(f"{folder}: a run of {results['study']}, expected one of {study}")
    wanted = (kit.trials.ROWS, *(half.texts for half in HALVES.values()))
    names = [name for name in wanted if name in results["tables"]]
    tables = {name: frame for name in names if (frame := readers.runs.read_table(path, name)) is not None}
    return Finished(items, results["parameters"], core.result.DataLabel(**results["data"]), tables)


def _models(frame: pd.DataFrame | None, options: Mapping[str, Any]) -> list[str]:
    """The models of a half that is run here: the one whose texts are collected, else those of the table's column."""
    if options["model"] or frame is None or "model" not in frame:
        return [options["model"] or kit.collecting.UNNAMED]
    return sorted(frame["model"].unique())


def _chosen(models: Mapping[str, Sequence[str]], answered_by: Mapping[str, str]) -> dict[str, str]:
    """The model of each half that is judged: the named one, the only one, or the one that both have."""
    common = sorted(set.intersection(*map(set, models.values())))
    chosen, faults = {}, []
    for name, known in models.items():
        wanted = known if len(known) == 1 else common
        if answered_by[name]:
            wanted = [answered_by[name]] if answered_by[name] in known else []
        if len(wanted) == 1:
            chosen[name] = wanted[0]
        else:
            faults.append(
                f"{HALVES[name].name} has {', '.join(known)}; answered_by is {answered_by[name]!r}: name one that both halves have"
            )
    if faults:
        raise errors.BadInput.listing("explainability judges one model of each half:", faults)
    return chosen


def _only(data: readers.Dataset, table: str, model: str) -> readers.Dataset:
    """The data with one model's rows in a table."""
    frame = data.get(table)
    if frame is None or "model" not in frame or model not in set(frame["model"]):
        return data
    return replace(data, tables={**data.tables, table: frame[frame["model"] == model].reset_index(drop=True)})


def _part(source: core.Result | Finished, half: Half, model: str) -> Part:
    rows = source.items[source.items["model"] == model]
    strict = source.parameters.get("answer_extractor") == "strict" and "marked" in rows
    final = ["final", "unscored", "undefined"]
    each = source.tables.get(kit.trials.ROWS)
    if each is not None:
        each = each.loc[each["model"] == model, ["id", readers.schema.TRIAL, *final]]
    texts = source.tables.get(half.texts, pd.DataFrame(columns=["model", "id", *TEXTS], dtype=str))
    return Part(
        source,
        model,
        rows,
        rows[["id", *final, *(name for name in kit.trials.COUNTS if name in rows)]],
        texts[texts["model"] == model].drop_duplicates("id")[["id", *TEXTS]],
        kit.extraction.unmarked(rows) if strict else "",
        each,
    )


def label_of(data: readers.Dataset, parts: Mapping[str, Part], *, finished: bool) -> core.result.DataLabel:
    """The data set's own label; of two finished runs that of their data."""
    if not finished:
        return data.label
    labels = [part.source.data for part in parts.values()]
    digest = sha256("\n".join(label.sha256 for label in labels).encode()).hexdigest()
    return core.result.DataLabel(" + ".join(map(str, labels)), "", digest, any(label.synthetic for label in labels))


def with_labels(
    humans: kit.labelled.Given, items: pd.DataFrame, part: Part, seed: int, n_resamples: int
) -> kit.labelled.Labelled:
    """The items with what people said of the cited answers, whose ids and model the labels name."""
    own = items[items["part"] == "citation"].assign(model=part.model)
    calls = part.source.tables.get("calls")
    heard = kit.judging.Heard(part.judge, (), () if calls is None else (calls,), {}) if part.judge else None
    found = humans.on(own, heard, seed=seed, n_resamples=n_resamples)
    added = found.items[[name for name in found.items if name not in own]]
    return found._replace(items=items.join(added))
