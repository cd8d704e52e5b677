"""The files of a comparison: ``comparison.json`` (``docs/comparison.schema.json``), the changes of all units, the page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

from evalbench.compare.answers import Answered
from evalbench.compare.matrix import Pairs
from evalbench.compare.runs import Differences
from evalbench.compare.sides import Side
from evalbench.errors import BadInput
from evalbench.readers.runs import PAGE as REPORT
from evalbench.readers.runs import write_text
from evalbench.report.compare_changes import CHANGES
from evalbench.report.compare_experiment import experiment_lines
from evalbench.report.compare_overall import overall, standings
from evalbench.report.compare_page import page
from evalbench.report.compare_words import outcome, plain, sentences

PAGE, FIGURES = "comparison.html", "comparison.json"
SCHEMA_VERSION = 2  # 2: every pair names both of its runs; runs and not_compared are listed


def to_json(pairs: Pairs) -> dict[str, Any]:
    """The comparison as JSON: the same inputs give the same content."""
    return {
        "schema_version": SCHEMA_VERSION,
        "study": pairs.sides[0].results["study"],
        "runs": [_side_json(side) for side in pairs.sides],
        **({"answer": overall(pairs)} if pairs.found else {}),
        **({"standings": [one.to_json() for one in found]} if (found := standings(pairs)) else {}),
        "comparisons": [_pair_json(d, own) for d, own in zip(pairs.found, pairs.answers or repeat(()), strict=False)],
        "not_compared": [
            {"reference": pair.reference.name, "side": pair.side.name, "reason": pair.reason} for pair in pairs.refused
        ],
        **(
            {"experiment": {**pairs.experiment.to_json(), "sentences": experiment_lines(pairs.experiment)}}
            if pairs.experiment
            else {}
        ),
    }


def _pair_json(d: Differences, answers: Sequence[Answered]) -> dict[str, Any]:
    changes = d.changes
    return {
        "reference": d.reference.name,
        "side": d.side.name,
        "outcome": outcome(d),
        "answer": plain(d),
        "sentences": sentences(d),
        "rows": [{**row.group, "headline": row.headline, **row.comparison.row()} for row in d.rows],
        "changes": {"metric": changes.metric, "title": changes.title, "counts": dict(changes.counts)}
        if changes
        else None,
        "parameters": {n: [a, b] for n, a, b in d.parameters},
        "surroundings": {n: [a, b] for n, a, b in d.surroundings},
        "units": {"shared": d.n_shared, "only_reference": d.only_reference, "only_side": d.only_side},
        "notes": list(d.notes),
        **({"judging": d.judging.to_json()} if d.judging else {}),
        **({"slices": [v.row() for v in d.slices]} if d.slices else {}),
        **({"answers": [{"kind": a.kind, **a.comparison.row()} for a in answers]} if answers else {}),
    }


def _side_json(side: Side) -> dict[str, Any]:
    return {"name": side.name, "run_id": side.run_id, "selected": dict(side.selected), "data": side.results["data"]}


def write(pairs: Pairs, folder: Path, links: Mapping[str, str], *, keep: bool = False) -> Path:
    """Write page, JSON and the changes of all units into a folder; returns the page's path.

    - ``links``: Where the page of a run is, relative to the folder.
    - ``keep``: Refuse a folder that holds another comparison.

    Raises ``BadInput``: With ``keep``, if the folder holds another comparison.
    """
    import pandas as pd

    text = json.dumps(to_json(pairs), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    kept = folder / FIGURES
    if keep and kept.is_file() and kept.read_text(encoding="utf-8", errors="replace") != text:
        raise BadInput(f"{folder} holds another comparison, which is kept: name another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    tables = [d.changes.table.assign(against=d.reference.name, compared=d.side.name) for d in pairs.found if d.changes]
    if tables:
        pd.concat(tables, ignore_index=True).to_parquet(folder / CHANGES, index=False)
    write_text(folder / FIGURES, text)
    anchors = {side.run_id: _anchors(side.folder / REPORT) for side in pairs.sides if side.folder}
    return write_text(folder / PAGE, page(pairs, links, anchors))


def _anchors(page: Path) -> frozenset[str]:
    """The names of the cases that a report's page shows."""
    if not page.is_file():
        return frozenset()
    return frozenset(re.findall(r'id="(case-[^"]+)"', page.read_text(encoding="utf-8", errors="replace")))
