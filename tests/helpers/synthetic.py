"""Invented runs for the index: folders with ``run.json`` and ``results.json`` as the runner leaves them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

STUDIES = {
    "matching": ("f1", ("three checkers", "fern@1.0.0"), ("house_style_curated@1.1.0", "harbour_letters@2.1.0")),
    "rag": ("answer_relevance", ("oak-7b", "elm-70b"), ("tea_manual@1.0.0",)),
    "cot_levels": ("accuracy", ("pine-1b",), ("school_sums@1.0.0", "вопросы@1.0.0")),
    "citation": ("citation_precision", ("moss-3b", "白杨-13b"), ("ferry_timetables@0.3.0",)),
    "drift": ("psi", ("answers of November",), ("ledger.csv",)),
}  # fmt: skip


def write_runs(reports: Path, n_runs: int, seed: int = 0) -> None:
    """``n_runs`` folders, one every 37 minutes; one in twenty without a result."""
    rng = np.random.default_rng(seed)
    first = datetime(2026, 9, 1, 6, 0, tzinfo=UTC)
    level = {study: 0.55 + 0.08 * i for i, study in enumerate(STUDIES)}
    for i in range(n_runs):
        study = list(STUDIES)[i % len(STUDIES)]
        metric, judged, data = STUDIES[study]
        started = first + timedelta(minutes=37 * i)
        folder = reports / study / f"{started:%Y%m%dT%H%M%SZ}-{i:08x}"
        folder.mkdir(parents=True)
        status = str(rng.choice(["failed", "died", "timeout", "no-result"])) if rng.random() < 0.05 else "ok"
        label = data[(i // 7) % len(data)]
        name, _, version = label.partition("@")
        record = {
            "schema_version": 1, "study": study, "run_id": folder.name, "status": status,
            "error": "" if status == "ok" else "ValueError: the column 'gold' holds 3 values that are no numbers: <b>'n/a'</b>",
            "started": f"{started:%Y-%m-%dT%H:%M:%SZ}", "seconds": round(float(rng.gamma(3, 9)), 1), "attempt": 1,
            "data": {"name": name, "version": version},
        }  # fmt: skip
        (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
        (folder / "report.html").write_text("<!doctype html>", encoding="utf-8")
        if status == "ok":
            level[study] = float(np.clip(level[study] + rng.normal(0, 0.006), 0.3, 0.93))
            content = results(study, metric, judged[i % len(judged)], label, level[study], 0.05, lower=study == "drift")
            (folder / "results.json").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def results(
    study: str, metric: str, judged: str, label: str, value: float | None, half: float = 0.05, *, lower: bool = False,
    sha256: str = "5f" * 32, parameters: dict | None = None, by: tuple[str, ...] = (), group: dict | None = None,
) -> dict:  # fmt: skip
    """A ``results.json`` with one headline figure."""
    name, _, version = label.partition("@")
    light = "unlit" if value is None else "green" if value > 0.75 else "yellow" if value > 0.6 else "red"
    row = {
        **(group or {}), "metric": metric, "title": metric, "value": value, "ci_low": None if value is None else value - half,
        "ci_high": None if value is None else value + half, "method": "percentile bootstrap", "n": 120, "n_unscored": 0,
        "n_undefined": 0, "unit": "0–1", "higher_is_better": not lower, "light": light,
        "note": "no items" if value is None else "",
    }  # fmt: skip
    return {
        "schema_version": 3, "study": study, "question": "?", "judged": judged, "parameters": parameters or {"k": 5, "seed": 0},
        "data": {"name": name, "version": version, "sha256": sha256, "synthetic": version != ""}, "id": "id",
        "by": list(by), "light": light, "sentence": "…", "light_stability": 0.9, "light_rule": "", "would_be_light": None, "decided_by": None,
        "items": {"n": 120, "unscored": 0, "of": ""},
        "summary": [row], "notes": [], "method": [], "tables": {},
    }  # fmt: skip
