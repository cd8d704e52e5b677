"""Any study on the sample of its notebook: its tables, its result, everything that the notebook shows of a result."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

import evalbench
from evalbench import studies
from evalbench.core.result import Result
from evalbench.draw import style
from evalbench.draw.html import Html, escape
from evalbench.draw.show import shown
from evalbench.readers.dataset import by_roles, read
from evalbench.readers.schema import Column

ROOT = Path(__file__).resolve().parents[2]
Tables = dict[str, pd.DataFrame]
# Lights that a study has only where it is asked for them, and less to compute than on its page.
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "drift": {"n_permutations": 19},
    "human_correlation": {"metrics": ["f1_score", "length"]},
    "matching": {"embed": "jaccard", "yellow_from": 0.3, "green_from": 0.6},
    "matching_calibration": {"embed": "jaccard", "n_folds": 2, "thresholds": ["score"]},
    "rag_retrieval": {"lights": {"ndcg": {"green_from": 0.8, "yellow_from": 0.5}}},
    "rag_tuning": {"most_k": 5, "chunk_sizes": [120, 240], "overlaps": [0]},
    "needle": {"yellow_from": 0.7, "green_from": 0.9},
    "text_metrics": {
        "metrics": ["f1_score", "rougeL", "sacrebleu", "knowledge_f1_score", "verbosity_ratio"],
        "lights": {"f1_score": {"green_from": 0.6, "yellow_from": 0.3}},
    },
}


# A sample that is large for what it shows, of which every so-manieth row does here.
EVERY: Mapping[str, int] = {"drift": 8}


@cache
def sample(name: str) -> Mapping[str, pd.DataFrame]:
    """The tables of a study's sample as its own reader finds them; to be copied, not changed."""
    own = studies.study(name)
    raw = read(studies.defaults(name)["data"], own.SCHEMA, root=ROOT)
    tables, _ = by_roles(raw, own.SCHEMA, {}, own.adapt)
    every = EVERY.get(name, 1)
    return (
        tables if every == 1 else {table: frame.iloc[::every].reset_index(drop=True) for table, frame in tables.items()}
    )


def options(name: str, **more: Any) -> dict[str, Any]:
    """The notebook's values of a study's options, with lights, and little to compute."""
    known = studies.study(name).options()
    own = {key: value for key, value in studies.defaults(name).items() if key in known}
    return {**own, **OPTIONS.get(name, {}), "n_resamples": 60, **more}


def evaluated(name: str, tables: Mapping[str, pd.DataFrame], **more: Any) -> Result:
    """A study's result on these tables, read and checked as a notebook reads them."""
    return studies.study(name).evaluate(studies.load(dict(tables), study=name), **options(name, **more))


@cache
def whole(name: str) -> Result:
    """A study's result on its sample."""
    return evaluated(name, sample(name))


def columns(name: str, wanted: Callable[[Column], object]) -> list[tuple[str, str]]:
    """Table and column of those of the schema that are wanted and in the sample."""
    return [
        (table, column.name)
        for table, shape in studies.study(name).SCHEMA.items()
        for column in shape.columns
        if table in sample(name) and column.name in sample(name)[table] and wanted(column)
    ]


def answers(name: str) -> list[tuple[str, str]]:
    """Where a study's answers are: what is null there is no answer."""
    return columns(name, lambda column: column.keep_null)


def references(name: str) -> list[tuple[str, str]]:
    """Where a study's references are, by the name that they have in every study; none where a null one is refused, or others decide."""
    if name in ("cascade", "needle"):
        return []
    right = ("reference", *(("mark",) if name == "matching_calibration" else ()))
    return columns(name, lambda column: column.name in right)


def changed(name: str, at: list[tuple[str, str]], cell: Callable[[int, Any], Any]) -> Tables:
    """The sample's tables with other cells in some columns: ``cell(number of the row, old value)``."""
    tables = dict(sample(name))
    for table, column in at:
        new = [cell(i, value) for i, value in enumerate(tables[table][column])]
        tables[table] = tables[table].assign(**{column: pd.Series(new, index=tables[table].index, dtype=object)})
    return tables


def page(name: str, result: Result, drawn: bool = True) -> str:
    """The HTML of everything that the study's notebook shows of a result; of pictures the texts alone if they are not drawn."""
    if not drawn:
        with patch.object(style, "to_svg", texts_of):
            return page(name, result)
    cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    names = {name: getattr(evalbench, name), "result": result}
    calls = [
        node.args[0]
        for cell in cells
        if cell["cell_type"] == "code"
        for node in ast.walk(ast.parse("".join(cell["source"])))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "show"
    ]
    sources = [ast.unparse(call) for call in calls if "hub." not in ast.unparse(call)]
    things = [shown(result).html, *(shown(eval(source, names)).html for source in sources)]
    assert all(isinstance(thing, Html) for thing in things)
    return "\n".join(things)


def texts_of(figure: Figure, alt: str) -> Html:
    """In place of a picture, which takes a third of a second to draw, all that is written in it."""
    assert style.faults(figure, alt) == []
    return Html(f"<svg>{''.join(f'<text>{escape(text.get_text())}</text>' for text in figure.findobj(Text))}</svg>")
