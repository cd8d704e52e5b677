"""A finished run in the shared schema of Every Eval Ever (EvalEval): a file of figures per model, and one of its answers.

The fields are those of ``eval.schema.json`` and ``instance_level_eval.schema.json``, version 0.2.2.  The schema has no place for a
score that is missing: such answers are in the counts of their figure (``details``), and in no record of their own.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.runs.export import Finished, file_name, refuse_keys, staged, tables

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = "0.2.2"
LIBRARY = "evalbench"
NOT_NAMED = "not named"
TEXTS = "texts"
_SCALE = re.compile(r"(-?\d+(?:\.\d+)?)\s*–\s*(-?\d+(?:\.\d+)?)")
_ASKED, _ANSWERED, _RIGHT = (
    ("question", "prompt", "request", "input"),
    ("answer", "output", "response"),
    ("reference", "ground_truth", "expected", "gold_answer"),
)


class Written(NamedTuple):
    """The files, and what is not in them."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


class _Model(NamedTuple):
    """One compared group: its name, its figures and its rows."""

    name: str
    group: Mapping[str, str]
    figures: Sequence[Mapping[str, Any]]


def to_every_eval_ever(run: Finished, target: Path, *, organisation: str = "") -> Written:
    """Write ``data/STUDY/DEVELOPER/MODEL/ID.json`` for each compared group, and ``ID_samples.jsonl`` where answers are kept.

    - ``target``: The folder that gets ``data/``; files of the same run are replaced.
    - ``organisation``: Who publishes the results.

    Raises ``BadInput`` if no figure can be written, or the files would hold the value of a key.
    """
    notes: list[str] = []
    figures = list(_figures(run.results, notes))
    if not figures:
        raise BadInput.listing(f"{run.folder}: no figure can be written in this schema:", notes)
    frames = dict(tables(run))
    texts = _texts(frames, str(run.results["id"]))
    if texts is None:
        notes.append("the run keeps no table of questions and answers, so that there are no records of single answers")
    with staged(target / "data") as folder:
        made: list[Path] = []
        for model in figures:
            made += _model_files(run, model, frames["items"], texts, folder, organisation)
        refuse_keys(folder)
        final = []
        for file in made:  # the answers before the figures that name them
            place = target / "data" / file.relative_to(folder)
            place.parent.mkdir(parents=True, exist_ok=True)
            file.replace(place)
            final.append(place)
    return Written(tuple(final), tuple(notes))


def _figures(results: Mapping[str, Any], notes: list[str]) -> Iterator[_Model]:
    """The compared groups with the figures that the schema has a place for."""
    groups: dict[tuple[tuple[str, str], ...], list[Mapping[str, Any]]] = {}
    left: dict[str, int] = {}
    for row in results["summary"]:
        why = (
            "no value" if row["value"] is None else "no better direction" if row.get("higher_is_better") is None else ""
        )
        if why:
            left[why] = left.get(why, 0) + 1
            continue
        group = tuple((c, str(row[c])) for c in results["by"] if row.get(c) is not None)
        groups.setdefault(group, []).append(row)
    notes += [f"left out: {counted(n, 'figure')} with {why}, which the schema requires" for why, n in left.items()]
    for group, rows in groups.items():
        named = dict(group)
        name = named.get("model") or ", ".join(named.values()) or str(results["judged"])
        yield _Model(name, named, rows)


def _texts(frames: Mapping[str, pd.DataFrame], unit: str) -> pd.DataFrame | None:
    """The table that holds what was asked and answered; the texts, where the run has a table of them."""
    for frame in [frames[TEXTS]] if TEXTS in frames else frames.values():
        has = set(map(str, frame.columns))
        if unit in has and (has & set(_ASKED)) - {unit} and has & set(_ANSWERED):
            return frame.drop(columns=unit) if unit in _ASKED and "id" in has else frame
    return None


def _model_files(
    run: Finished, model: _Model, items: pd.DataFrame, texts: pd.DataFrame | None, folder: Path, organisation: str
) -> list[Path]:
    results = run.results
    stamp = _epoch(run.about.get("finished"))
    own_id = f"{results['study']}/{model.name}/{stamp}"
    name = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{LIBRARY}/{run.folder.name}/{model.name}"))
    developer, _, short = model.name.rpartition("/")
    place = folder / file_name(results["study"]) / file_name(developer or "unknown") / file_name(short)
    place.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": own_id,
        **({"evaluation_timestamp": str(run.about["started"])} if run.about.get("started") else {}),
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": f"{LIBRARY}: {results['study']}",
            "source_type": "evaluation_run",
            "source_organization_name": organisation or NOT_NAMED,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": LIBRARY, "version": str((run.about.get("versions") or {}).get(LIBRARY, "unknown"))},
        "model_info": {"name": model.name, "id": model.name},
        "evaluation_results": [_result(row, results, model) for row in model.figures],
    }
    files = []
    if texts is not None:
        records = list(_records(model, items, texts, results, own_id))
        if records:
            samples = place / f"{name}_samples.jsonl"
            raw = "".join(json.dumps(one, ensure_ascii=False, allow_nan=False) + "\n" for one in records).encode(
                "utf-8", "replace"
            )
            samples.write_bytes(raw)
            files.append(samples)
            content["detailed_evaluation_results"] = {
                "format": "jsonl", "file_path": samples.name, "hash_algorithm": "sha256",
                "checksum": hashlib.sha256(raw).hexdigest(), "total_rows": len(records),
            }  # fmt: skip
    path = place / f"{name}.json"
    path.write_bytes(
        (json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode("utf-8", "replace")
    )
    return [*files, path]


def _result(row: Mapping[str, Any], results: Mapping[str, Any], model: _Model) -> dict[str, Any]:
    """One figure with its interval."""
    data = results["data"]
    low, high, source = _scale(row)
    config = {
        "evaluation_description": results["question"],
        "metric_id": row["metric"],
        "metric_name": row["title"],
        **({"metric_unit": row["unit"]} if row.get("unit") else {}),
        "lower_is_better": row["higher_is_better"] is False,
        "score_type": "continuous",
        "min_score": low,
        "max_score": high,
        "additional_details": {"scale": source},
    }
    counts = {name: str(row.get(name) or 0) for name in ("n", "n_unscored", "n_undefined")}
    more = {name: str(row[name]) for name in ("light", "note", "n_of") if row.get(name)}
    bounds = row.get("ci_low") is not None and row.get("ci_high") is not None
    interval = {"lower": row["ci_low"], "upper": row["ci_high"], "confidence_level": 0.95, "method": row.get("method") or ""} if bounds else None  # fmt: skip
    uncertainty = {**({"confidence_interval": interval} if interval else {}), "num_samples": row["n"]}
    return {
        "evaluation_result_id": _result_id(row, model),
        "evaluation_name": f"{results['study']}: {row['title']}",
        "source_data": {
            "dataset_name": "@".join(filter(None, [data["name"], data["version"]])),
            "source_type": "other",
            "additional_details": {"sha256": data["sha256"], "synthetic": str(bool(data.get("synthetic"))).lower()},
        },
        "metric_config": config,
        "score_details": {"score": row["value"], "details": {**counts, **more}, "uncertainty": uncertainty},
    }


def _result_id(row: Mapping[str, Any], model: _Model) -> str:
    return "/".join([row["metric"], *(v for k, v in model.group.items() if k != "model")])


def _scale(row: Mapping[str, Any]) -> tuple[float, float, str]:
    """Both ends of a figure's scale; where it is not known, of what was seen, since the schema wants some."""
    if match := _SCALE.fullmatch(str(row.get("unit") or "")):
        return float(match[1]), float(match[2]), "stated"
    seen = [row[name] for name in ("value", "ci_low", "ci_high") if row.get(name) is not None]
    return float(min([0.0, *seen])), float(max([0.0, *seen])), "not known: 0 and the ends of what was seen"


def _records(
    model: _Model, items: pd.DataFrame, texts: pd.DataFrame, results: Mapping[str, Any], own_id: str
) -> Iterator[dict[str, Any]]:
    """A record per answer and figure that is a mean of the items' scores."""
    unit = str(results["id"])
    rows = _of(items, model.group)
    said = _of(texts, model.group)
    keys = [c for c in ("id", unit) if c in rows and c in said][:1]
    if not keys:
        return
    groups = dict(iter(said.groupby(said[keys[0]].astype(str), sort=False)))
    for row in model.figures:
        column = next((c for c in (row["metric"], f"{row['metric']} (score)") if c in rows), "")
        if not column or rows[column].dtype.kind not in "biuf":
            continue
        _, best, source = _scale(row) if row["higher_is_better"] else (0.0, _scale(row)[0], _scale(row)[2])
        for own_key, score in zip(rows[keys[0]].astype(str), rows[column].to_numpy(float), strict=True):
            if math.isfinite(score) and own_key in groups:
                answered = groups[own_key]
                right = source == "stated" and bool(np.isclose(score, best))
                yield _record(row, model, answered, own_key, float(score), right, results, own_id)


def _of(frame: pd.DataFrame, group: Mapping[str, str]) -> pd.DataFrame:
    kept = np.ones(len(frame), dtype=bool)
    for column, value in group.items():
        if column in frame:
            names = frame[column].astype(str)
            # Texts of trials name their group before the trial.
            kept &= ((names == value) | names.str.startswith(f"{value}, trial ")).to_numpy()
    return frame[kept]


def _record(
    row: Mapping[str, Any], model: _Model, answered: pd.DataFrame, key: str, score: float, right: bool,
    results: Mapping[str, Any], own_id: str,
) -> dict[str, Any]:  # fmt: skip
    asked, outputs = _first(answered, _ASKED), _all(answered, _ANSWERED)
    reference = _list(_first(answered, _RIGHT))
    digest = hashlib.sha256(_text(asked).encode("utf-8", "surrogatepass"))
    digest.update("".join(reference).encode("utf-8", "surrogatepass"))
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": own_id,
        "model_id": model.name,
        "evaluation_name": f"{results['study']}: {row['title']}",
        "evaluation_result_id": _result_id(row, model),
        "sample_id": key,
        "sample_hash": digest.hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": _text(asked), "reference": reference},
        "output": {"raw": outputs},
        "answer_attribution": [
            {"turn_idx": 0, "source": "output.raw", "extracted_value": (outputs or [""])[0], "extraction_method": "custom", "is_terminal": True}
        ],
        "evaluation": {"score": score, "is_correct": right},
        "metadata": {"is_correct": "whether the score is the best of its scale"},
    }  # fmt: skip


def _first(rows: pd.DataFrame, names: Sequence[str]) -> Any:
    return next((rows[name].iloc[0] for name in names if name in rows), None)


def _all(rows: pd.DataFrame, names: Sequence[str]) -> list[str]:
    name = next((name for name in names if name in rows), "")
    return [_text(cell) for cell in rows[name] if not _absent(cell)] if name else []


def _list(cell: Any) -> list[str]:
    value = cell.tolist() if hasattr(cell, "tolist") and not isinstance(cell, str) else cell
    if isinstance(value, (list, tuple)):
        return [_text(each) for each in value]
    return [] if _absent(value) else [_text(value)]


def _absent(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _text(cell: Any) -> str:
    if _absent(cell):
        return ""
    value = cell.tolist() if hasattr(cell, "tolist") and not isinstance(cell, str) else cell
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _epoch(stamp: Any) -> str:
    try:
        return str(int(datetime.datetime.fromisoformat(str(stamp)).timestamp()))
    except ValueError:
        return "0"
