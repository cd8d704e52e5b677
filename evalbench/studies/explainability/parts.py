"""The two halves of the score: fresh results or finished runs, one model of each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.core.result import DataLabel, Result
from evalbench.errors import BadInput
from evalbench.readers.dataset import Dataset
from evalbench.studies.cot_levels.summary import unmarked

if TYPE_CHECKING:
    import pandas as pd

PARTS = ("cot", "citation")
STUDY_OF = {"cot": "cot_levels", "citation": "citation"}
# What a half shows of an item: its table, and there the question, the right answer, what the model said.
_TEXTS = {
    "cot": ("solutions", ("question", "reference", "response")),
    "citation": ("answers", ("question", "gold_answer", "answer")),
}


class Part(NamedTuple):
    """One half of the score: the items of a finished study, of one model.

    Attributes
    ----------
    items : DataFrame
        ``id, final, unscored, undefined``.
    model, judge : str
    data : DataLabel
    threshold : float
    unmarked : str
        Why the final answers of its chains of thought were not found rather than wrong; else empty.
    """

    items: pd.DataFrame
    model: str
    judge: str
    data: DataLabel
    threshold: float
    unmarked: str


class Finished(NamedTuple):
    """What a finished run's folder holds, under the names that a Result has for it."""

    items: pd.DataFrame
    parameters: Mapping[str, Any]
    data: DataLabel
    tables: Mapping[str, pd.DataFrame]


def finished(folder: str, study: str) -> Finished | None:
    """A finished run's folder; None where none is named.

    Raises
    ------
    BadInput
        If it holds no finished run of this study.
    """
    import pandas as pd

    if not folder:
        return None

    path = Path(folder).expanduser()
    try:
        results = json.loads((path / "results.json").read_text(encoding="utf-8"))
        items = pd.read_parquet(path / "items.parquet")
        tables = {
            name: pd.read_parquet(path / file)
            for name, file in results.get("tables", {}).items()
            if name in ("solutions", "answers")
        }
    except (OSError, ValueError) as error:
        raise BadInput(f"{folder}: no folder of a finished run of {study} ({error})") from error
    if results.get("study") != study:
        raise BadInput(f"{folder}: a run of {results.get('study')}, expected one of {study}")
    return Finished(items, results["parameters"], DataLabel(**results["data"]), tables)


def check_tables(data: Dataset, cot_run: str, citation_run: str) -> None:
    needed = {
        "items": ("word problems", cot_run, "cot_run"),
        "answers": ("cited answers", citation_run, "citation_run"),
    }
    missing = [
        f"no table {table} ({what}); give one, or a finished run with {option}"
        for table, (what, run, option) in needed.items()
        if not run and data.get(table) is None
    ]
    if missing:
        raise BadInput.listing("explainability needs both halves:", missing)


def chosen_models(models: Mapping[str, Sequence[str]], answered_by: str) -> dict[str, str]:
    """The model of each half that is judged: the named one, the only one, or the one that both have.

    Raises
    ------
    BadInput
        If that leaves a choice, or none; lists the models of both halves.
    """
    common = sorted(set(models["cot"]) & set(models["citation"]))
    chosen = {}
    for name in PARTS:
        if answered_by:
            wanted = [answered_by] if answered_by in models[name] else []
        else:
            wanted = list(models[name]) if len(models[name]) == 1 else common
        if len(wanted) == 1:
            chosen[name] = wanted[0]
    if len(chosen) < len(PARTS):
        lists = "; ".join(f"{STUDY_OF[name]} has {', '.join(found)}" for name, found in models.items())
        raise BadInput(f"answered_by is {answered_by!r}: name one model that both halves have ({lists})")
    return chosen


def models_of(frame: pd.DataFrame | None, model: str) -> list[str]:
    """The models of a table that is run here: the one that is collected, else those of its column."""
    if model or frame is None or "model" not in frame:
        return [model or "response"]
    return sorted(frame["model"].unique())


def only(data: Dataset, table: str, model: str) -> Dataset:
    """The data with one model's rows in a table."""
    frame = data.get(table)
    if frame is None or "model" not in frame or model not in set(frame["model"]):
        return data
    return replace(data, tables={**data.tables, table: frame[frame["model"] == model].reset_index(drop=True)})


def part_of(source: Result | Finished, model: str) -> Part:
    """One model's items of a result or a finished run."""
    rows = source.items[source.items["model"] == model]
    return Part(
        rows[["id", "final", "unscored", "undefined"]],
        model,
        str(source.parameters.get("judge", "")),
        source.data,
        float(source.parameters["threshold"]),
        unmarked(rows) if source.parameters.get("answer_extractor") == "strict" and "marked" in rows else "",
    )


def texts_of(sources: Mapping[str, Result | Finished], chosen: Mapping[str, str]) -> pd.DataFrame:
    """Question, right answer and the model's answer of every item: ``id, part, question, right, said``.

    Halves whose run kept no texts have no rows.
    """
    import pandas as pd

    names = ["id", "part", "question", "right", "said"]
    found = [pd.DataFrame(columns=names, dtype=str)]
    for part, (table, columns) in _TEXTS.items():
        frame = sources[part].tables.get(table)
        if frame is not None:
            own = frame[frame["model"] == chosen[part]]
            found.append(own[["id", *columns]].set_axis(["id", *names[2:]], axis=1).assign(part=part)[names])
    return pd.concat(found, ignore_index=True).sort_values(["id", "part"], kind="stable", ignore_index=True)


def items_of(parts: Mapping[str, Part]) -> pd.DataFrame:
    import pandas as pd

    frames = [part.items.rename(columns={"final": "score"}).assign(part=name) for name, part in parts.items()]
    items = pd.concat(frames)[["id", "part", "score", "unscored", "undefined"]]
    return items.sort_values(["id", "part"], kind="stable", ignore_index=True)


def label_of(data: Dataset, parts: Mapping[str, Part], finished: bool) -> DataLabel:
    """The data set's own label, or that of the two runs' data."""
    if not finished:
        return data.label
    labels = [parts[name].data for name in PARTS]
    digest = sha256("\n".join(label.sha256 for label in labels).encode()).hexdigest()
    return DataLabel(" + ".join(map(str, labels)), "", digest, any(label.synthetic for label in labels))
