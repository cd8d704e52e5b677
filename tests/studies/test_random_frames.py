"""Whatever frames a study is handed, it evaluates them or raises BadInput: never another exception; and its page can be drawn."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from generated import one_in_twenty
from random_frames import broken

import evalbench
from evalbench import studies
from evalbench.draw.html import Html
from evalbench.draw.show import shown
from evalbench.errors import BadInput
from evalbench.readers.dataset import read

ROOT = Path(__file__).resolve().parents[2]
FAST = {"n_resamples": 100}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "human_correlation": {"metrics": ["juniper_judge", "f1_score", "length"]},
    "matching": {"embed": "jaccard", "yellow_from": 0.3, "green_from": 0.6},
    "matching_calibration": {"embed": "jaccard", "n_folds": 2, "thresholds": ["score"]},
    "text_metrics": {
        "metrics": ["f1_score", "rougeL", "chrf", "knowledge_f1_score", "verbosity_ratio"],
        "lights": {"f1_score": [0.3, 0.6]},
    },
}
DRAWN = 12  # of one in so many evaluated cases everything that the notebook shows is drawn


@pytest.fixture(scope="module", params=studies.names())
def sample(request: pytest.FixtureRequest) -> tuple[str, Mapping[str, pd.DataFrame]]:
    """A study and its sample's tables as its own reader finds them."""
    name = request.param
    module = studies.study(name)
    raw = read(studies.defaults(name)["data"], module.SCHEMA, root=ROOT).frames
    adapted = module.adapt(raw) if module.adapt else raw
    return name, dict(adapted)


def shows(name: str, result: Any) -> list[Any]:
    """What the study's notebook shows of a result: the arguments of its calls of ``show``."""
    cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    sources = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    names = {name: getattr(evalbench, name), "result": result, "hub": evalbench.hub}
    calls = [
        node.args[0]
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "show"
    ]
    drawn = [ast.unparse(call) for call in calls if "hub." not in ast.unparse(call)]
    return [eval(source, names) for source in drawn]


@pytest.mark.generated
def test_frames_are_evaluated_or_refused(sample: tuple[str, Mapping[str, pd.DataFrame]]) -> None:
    name, frames = sample
    module, evaluated, wrong = studies.study(name), 0, []
    for number in one_in_twenty(range(600)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data = studies.load(broken(frames, number), study=name)
                result = module.evaluate(data, **FAST, **OPTIONS.get(name, {}))
        except BadInput:
            continue
        except Exception as error:  # what this test is about
            wrong.append(f"{number}: {type(error).__name__}: {error}")
            continue
        evaluated += 1
        try:
            json.dumps(result.to_json(), allow_nan=False)
            if evaluated % DRAWN == 1:
                assert all(isinstance(shown(thing).html, Html) for thing in shows(name, result))
        except Exception as error:
            wrong.append(f"{number}, drawn: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
    assert evaluated > 0
