"""Modules of Hugging Face evaluate as text metrics: invented ones, in files of the test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalbench import human_correlation, load, text_metrics
from evalbench.errors import BadInput
from evalbench.kit import modules
from evalbench.kit.modules import cards_of, contributions, files_of, sha256_of, source_of
from evalbench.metrics.registry import card
from evalbench.metrics.text import score
from evalbench.runs.parcel import pack, unpack
from evalbench.runs.run import plan

pytestmark = pytest.mark.model
ROOT = Path(__file__).resolve().parents[2]
HEAD = """import datasets
import evaluate


class Invented(evaluate.Metric):
    def _info(self):
        text = datasets.Value("string")
        return evaluate.MetricInfo(description="An invented metric.", citation="", features={features})

"""
BOTH = 'datasets.Features({"predictions": text, "references": text})'
SEVERAL = 'datasets.Features({"predictions": text, "references": datasets.Sequence(text)})'
ERRORS = """    def _compute(self, predictions, references):
        pairs = [(p.split(), r.split()) for p, r in zip(predictions, references)]
        wrong = sum(sum(a != b for a, b in zip(p, r)) + abs(len(p) - len(r)) for p, r in pairs)
        return {"errors": wrong / sum(len(r) for _, r in pairs), "lengths": [len(p) for p, _ in pairs], "code": "x1"}
"""
SAME = """    def _compute(self, predictions, references):
        return {"%s": sum(p == r for p, r in zip(predictions, references)) / len(predictions)}
"""


def written(folder: Path, name: str, body: str, features: str = BOTH) -> Path:
    path = folder / f"{name}.py"
    path.write_text(HEAD.replace("{features}", features) + body, encoding="utf-8")
    return path


@pytest.fixture
def errors(tmp_path: Path) -> Path:
    return written(tmp_path, "invented_errors", ERRORS)


def frame(n: int = 40) -> pd.DataFrame:
    said = [f"the {'red' if i % 3 else 'blue'} apple{' is' * (i % 4)}" for i in range(n)]
    return pd.DataFrame({"id": [f"q{i:03}" for i in range(n)], "output": said, "reference": "the red apple is"})


# -- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("no/such.py", "evaluate:no/such.py: no such file"),
        ("a b", "neither a file, nor the folder of a module, nor a name of the hub"),
        ("../..", "the folder of a module holds a file of its name"),
        ("invented_nowhere", "not on this machine, and code is not downloaded in a run"),
    ],
)
def test_what_is_not_there(spec: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        cards_of(spec)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("body", "features", "said"),
    [
        ("    def _compute(self, **k):\n        return {}\n", BOTH, "returns no number (nothing)"),
        ("    def _compute(self, **k):\n        return {'a': 'x'}\n", BOTH, "returns no number (a)"),
        ("    def _compute(self, **k):\n        return 0.5\n", BOTH, "fails on three short texts (TypeError"),
        ("    def _compute(self, **k):\n        raise RuntimeError('no GPU')\n", BOTH, "(RuntimeError: no GPU)"),
        (SAME % "a", 'datasets.Features({"predictions": datasets.Value("int64")})', "takes predictions ("),
        (SAME % "a", 'datasets.Features({"predictions": text, "sources": text})', "takes predictions (text), sources"),
    ],
)
def test_modules_that_cannot_score_texts(tmp_path: Path, body: str, features: str, said: str) -> None:
    path = written(tmp_path, "invented_odd", body, features)
    with pytest.raises(BadInput) as error:
        cards_of(str(path))
    assert said in str(error.value)


def test_a_file_that_is_not_python_is_refused_before_the_start(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def (", encoding="utf-8")
    with pytest.raises(BadInput, match="metrics: evaluate:broken.py: not Python"):
        plan("text_metrics", {"metrics": [f"evaluate:{tmp_path}/broken.py"]}, ROOT)


def test_without_the_package_the_way_out_is_said(monkeypatch, errors: Path) -> None:
    monkeypatch.setattr(modules, "find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"needs the package evaluate: pip install evaluate$"):
        cards_of(str(errors))


def test_nothing_is_downloaded_whatever_the_environment_says(monkeypatch) -> None:
    evaluate = modules.import_evaluate()
    seen = []

    def load(*args: object, **more: object) -> None:
        seen.append(evaluate.config.HF_EVALUATE_OFFLINE)
        raise FileNotFoundError

    monkeypatch.setattr(evaluate, "load", load)
    monkeypatch.setattr(evaluate.config, "HF_EVALUATE_OFFLINE", False)
    with pytest.raises(BadInput, match="where you trust it"):
        cards_of("invented_name")
    assert seen == [True]
    assert evaluate.config.HF_EVALUATE_OFFLINE is False


def test_a_hub_name_is_taken_from_the_cache(tmp_path: Path) -> None:
    cached = tmp_path / "modules" / "evaluate_modules" / "metrics" / "evaluate-metric--invented_hub" / ("a" * 64)
    cached.mkdir(parents=True)
    written(cached, "invented_hub", SAME % "invented_hub")
    for folder in (cached, cached.parent, cached.parents[1], cached.parents[2]):
        (folder / "__init__.py").touch()
    code = "from evalbench.kit.modules import cards_of; e = cards_of('invented_hub')[0]; print(e.name, len(e.source))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_MODULES_CACHE": str(tmp_path / "modules")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["evaluate:invented_hub", "64"], done.stderr


# -- what is found ----------------------------------------------------------------------------------


def test_each_number_is_a_metric_and_says_what_it_is(errors: Path) -> None:
    figure, lengths = cards_of(str(errors))
    assert [figure.name, lengths.name] == ["evaluate:invented_errors.errors", "evaluate:invented_errors.lengths"]
    assert "a corpus figure, per text its contribution to it; its code left out, not numbers" in figure.summary
    assert "a score per text" in lengths.summary
    assert figure.reference == f"evaluate module invented_errors.py, SHA-256 {sha256_of([errors])[:12]}"
    assert card(figure.name) is figure
    assert (figure.needs, figure.higher_is_better) == (("reference",), None)


def test_one_number_of_the_modules_name_has_that_name() -> None:
    (entry,) = cards_of(str(ROOT / "scripts/metrics/last_word.py"))
    assert entry.name == "evaluate:last_word"
    values = score(entry, ["a b", "a c"], references=["x b", "x b"])[entry.name]
    assert values.tolist() == [1.0, 0.0]


def test_the_mean_of_contributions_is_the_figure_of_the_module(errors: Path) -> None:
    figure = cards_of(str(errors))[0]
    table = frame()
    own = score(figure, table["output"], references=table["reference"])[figure.name]
    pairs = [(a.split(), b.split()) for a, b in zip(table["output"], table["reference"], strict=True)]
    wrong = [sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b)) for a, b in pairs]
    assert own.mean() == pytest.approx(sum(wrong) / sum(len(b) for _, b in pairs))
    jackknife = own.std(ddof=1) / np.sqrt(len(own))
    drawn = np.random.default_rng(0).integers(len(wrong), size=(4000, len(wrong)))
    bootstrap = (np.array(wrong)[drawn].sum(axis=1) / (4 * len(wrong))).std()
    assert jackknife == pytest.approx(bootstrap, rel=0.05)


def test_contributions_by_groups_have_the_spread_of_those_one_by_one(monkeypatch) -> None:
    values = np.random.default_rng(1).lognormal(size=600)

    def figure(rows: list[int]) -> float:
        return float(np.sqrt(np.mean(values[rows] ** 2)))

    whole = figure(list(range(600)))
    monkeypatch.setattr(modules, "LEFT_OUT_ONE_BY_ONE", 600)
    exact = contributions(whole, 600, figure)
    monkeypatch.setattr(modules, "LEFT_OUT_ONE_BY_ONE", 150)
    grouped = contributions(whole, 600, figure)
    assert exact.mean() == pytest.approx(whole)
    assert grouped.mean() == pytest.approx(whole)
    assert grouped.std() == pytest.approx(exact.std(), rel=0.25)


def test_several_references_where_the_module_takes_them_else_refused(tmp_path: Path, errors: Path) -> None:
    many = "    def _compute(self, predictions, references):\n        return {'hits': [float(p in r) for p, r in zip(predictions, references)]}\n"
    (entry,) = cards_of(str(written(tmp_path, "invented_many", many, SEVERAL)))
    assert score(entry, ["a", "c"], references=[["b", "a"], ["b"]])[entry.name].tolist() == [1.0, 0.0]
    with pytest.raises(BadInput, match="takes one of the references for each text; several: 1 of 2 texts"):
        score(cards_of(str(errors))[0], ["a", "c"], references=[["b", "a"], ["b"]])


def test_the_bytes_of_what_a_module_imports_count(tmp_path: Path) -> None:
    path = written(tmp_path, "invented_main", "    _compute = None\n")
    (tmp_path / "invented_beside.py").write_text("X = 1\n", encoding="utf-8")
    (tmp_path / "invented_other.py").write_text("Y = 1\n", encoding="utf-8")
    path.write_text("from .invented_beside import X\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert [file.name for file in files_of(path)] == ["invented_main.py", "invented_beside.py"]
    folder = tmp_path / "invented_main"
    folder.mkdir()
    (folder / "invented_main.py").write_text("X = 1\n", encoding="utf-8")
    assert source_of("invented_main", tmp_path) == folder


def test_human_correlation_takes_modules_beside_columns_and_metrics(errors: Path) -> None:
    table = frame(30).rename(columns={"id": "doc_id"}).assign(quality=range(30), own=range(30))
    result = human_correlation.evaluate(
        load({"items": table}, study="human_correlation"),
        metrics=["own", f"evaluate:{errors}", "length"],
        criteria=["quality"],
        n_resamples=100,
    )
    name = "evaluate:invented_errors.errors"
    assert result.parameters["metrics"] == ["own", "length", name, "evaluate:invented_errors.lengths"]
    assert name in set(result.items["scorer"])
    assert set(result.accounting["metric_modules"]) == {name, "evaluate:invented_errors.lengths"}
    assert str(errors.parent) not in str(result.to_json())


# -- in a study, a plan, a parcel -------------------------------------------------------------------


def test_a_study_scores_by_modules_of_each_model_and_lights_give_the_direction(errors: Path) -> None:
    table = pd.concat([frame().assign(model="a"), frame().assign(model="b", output="the red apple is")])
    name = "evaluate:invented_errors.errors"
    result = text_metrics.evaluate(
        {"items": table},
        metrics=["rougeL", f"evaluate:{errors}"],
        lights={name: {"green_to": 0.1, "yellow_to": 0.2}},
        n_resamples=200,
    )
    found = {e.group["model"]: e for e in result.summary.estimates if e.metric == name}
    assert (found["a"].light, found["b"].light, found["b"].value) == ("red", "green", 0.0)
    assert found["a"].higher_is_better is False
    assert result.parameters["metrics"] == ["rougeL", name, "evaluate:invented_errors.lengths"]
    assert set(result.accounting["metric_modules"]) == {name, "evaluate:invented_errors.lengths"}
    shown = text_metrics.metric_cards(result).set_index("metric")
    assert shown.loc[name, "direction"] == "lower is better"
    assert str(errors.parent) not in str(result.to_json())


def test_the_items_say_it_all_where_the_module_was_not_loaded(errors: Path, monkeypatch) -> None:
    """As evalbench compare reads a run."""
    from evalbench.metrics import registry

    name = "evaluate:invented_errors.errors"
    lights = {name: {"green_to": 0.1, "yellow_to": 0.2}}
    result = text_metrics.evaluate({"items": frame()}, metrics=[f"evaluate:{errors}"], lights=lights, n_resamples=100)
    monkeypatch.setattr(registry, "_MADE", {})
    again = text_metrics.summarise(
        result.items, metrics=result.parameters["metrics"], lights=result.parameters["lights"], n_resamples=100
    )
    assert [e.row() for e in again.estimates] == [e.row() for e in result.summary.estimates]
    assert [m.higher_is_better for m in text_metrics.measures(result.parameters["metrics"], lights)] == [False, None]


def test_two_modules_of_one_name_are_refused(tmp_path: Path, errors: Path) -> None:
    (tmp_path / "other").mkdir()
    other = written(tmp_path / "other", "invented_errors", ERRORS.replace("wrong /", "1 - wrong /"))
    with pytest.raises(BadInput, match="another module has the name evaluate:invented_errors"):
        text_metrics.evaluate({"items": frame()}, metrics=[f"evaluate:{errors}", f"evaluate:{other}"])


def test_a_plan_counts_a_module_by_its_content_and_starts_paths_from_the_suite(errors: Path) -> None:
    def planned(metric: str, base: Path | None = None):
        return plan("text_metrics", {"metrics": ["rougeL", metric]}, ROOT, base)

    first = planned(f"evaluate:{errors}")
    assert planned("evaluate:invented_errors.py", errors.parent).identity == first.identity
    assert first.parameters["metrics"] == ["rougeL", f"evaluate:{errors}"]
    errors.write_text(errors.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    assert planned(f"evaluate:{errors}").identity != first.identity


def test_a_worker_gets_the_files_of_a_module(errors: Path, tmp_path: Path) -> None:
    first = plan("text_metrics", {"metrics": [f"evaluate:{errors}"]}, ROOT)
    parcel, sources = pack(first)
    where = tmp_path / "worker"
    where.mkdir()
    there = unpack(parcel, lambda sha256: sources[sha256].read_bytes(), where)
    assert there.identity == first.identity
    (spec,) = there.parameters["metrics"]
    assert spec.startswith(f"evaluate:{where}")
    assert Path(spec.removeprefix("evaluate:")).read_bytes() == errors.read_bytes()
