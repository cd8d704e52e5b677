"""The code of CONTRIBUTING.md does what the page says, in a copy of the house to which it is added as the page says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from some_studies import CHANGED

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
METRIC, STUDY, ANSWER = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
SUITES = re.search(r"`python -m pytest (tests/studies/test_laws.py [^`]*)`", PAGE)[1].split()
MOST_LINES = 60

USE_OF_METRIC = """
from evalbench.kit.choosing import allowed
from evalbench.metrics.registry import card
from evalbench.metrics.text import score

entry = card("first_word")
given, expected = entry.example
assert score(entry, **given)["first_word"].tolist() == expected
assert "first_word" in allowed(["answer", "reference"], {"judge": "", "bert_model": "", "embed": ""})[0]
assert score(entry, ["No", "да, да"], references=["yes", ["нет", "Да"]])["first_word"].tolist() == [0.0, 1.0]
"""
USE_OF_STUDY = """
import pandas as pd

from evalbench.draw.show import shown
from evalbench.kit.collecting import UNNAMED
from evalbench.readers.dataset import load

frame = pd.DataFrame({"id": ["c", "a", "b", "d"], "answer": ["I cannot say.", "Yes.", "", "No."]})
result = evaluate(load({"items": frame}, SCHEMA))
assert result.estimate("refused", model=UNNAMED).value == 0.25
assert (result.light, result.verdict.would_be) == ("grey", "red")  # a light rests on 20 units
assert summarise(result.items).estimates == result.summary.estimates
assert worst(result)["id"].iloc[0] == "c"
assert "<svg" in shown(picture_share(result)).html
with_null = evaluate(load({"items": frame.assign(answer=["I cannot say.", None, "", "No."])}, SCHEMA))
assert with_null.estimate("refused", model=UNNAMED).value == 1 / 3
assert with_null.notes == ("Unscored: 1 of 4 items (1 no output).",)
without = evaluate(load({"items": frame.assign(answer=None)}, SCHEMA))
assert (without.light, without.summary.estimates[0].n_unscored) == ("grey", 4)
assert "<svg" in shown(picture_share(without)).html
"""
USE_OF_ANSWER = """
import pandas as pd

from evalbench.readers.dataset import load

few = pd.DataFrame({"id": ["a", "b"], "answer": ["I cannot say.", "Yes."]})
said = evaluate(load({"items": few}, SCHEMA)).answer
assert (said.answer, said.next.text) == (
    "How often the models refuse is not known yet.", "Missing for a light: 18 more items (20 are needed)."
)
many = pd.DataFrame({"id": [f"q{i}" for i in range(40)], "answer": ["I cannot say."] * 30 + ["Yes."] * 10, "model": "oak"})
assert evaluate(load({"items": many}, SCHEMA)).answer.answer == "Refusals are too many of oak: up to 75% of answers."
"""
NOTEBOOK = (
    ("markdown", "# Refusals\n\nHow often does a model refuse? **How to read the light.** Green up to 5 %, red from 20 % on."),
    ("parameters", ""),
    ("code", "from evalbench import explore, load, record, refusals, show\n\ndataset = load()\nresult = refusals.evaluate()"),
    ("code", 'show(refusals.picture_share(result), "Shares of refusals.")'),
    ("code", 'show(refusals.worst(result), "Outputs that refuse, then others.")'),
    ("code", "record(result)"),
    ("code", "explore(result)"),
)  # fmt: skip


def run(*command: str, at: Path) -> str:
    own = {"PYTHONPATH": str(at), "EVALBENCH_ROOT": str(at), CHANGED: "refusals"}
    environment = os.environ | {**own, "PYTEST_XDIST_WORKER": ""}
    done = subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [METRIC + USE_OF_METRIC, STUDY + USE_OF_STUDY, STUDY + ANSWER + USE_OF_ANSWER],
    ids=["metric", "study", "answer"],
)
def test_the_example_works(code: str) -> None:
    run(sys.executable, "-c", code, at=ROOT)


def test_a_study_takes_no_more_than_a_page() -> None:
    assert len(STUDY.splitlines()) <= MOST_LINES
    for part in ("worst_group", "measures()", "worst_cases", "picture_"):  # verdict, comparison, worst cases, picture
        assert part in STUDY


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the house with the page's study in it: module, notebook and data, by the commands of the page."""
    copy = tmp_path_factory.mktemp("house")
    for name in ("evalbench", "tests", "scripts", "notebooks", "data"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "benchmarks"))
    for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, copy / name)
    (copy / "evalbench" / "studies" / "refusals.py").write_text(STUDY, encoding="utf-8")
    data = copy / "data" / "polite_answers" / "1.0.0"
    data.mkdir(parents=True)
    outputs = {"fern": ["I cannot say."] * 6 + ["Yes, <b>we</b> do."] * 24, "oak": ["I cannot."] + ["No, thanks."] * 29}
    rows = [f"q{i:02},{model},{text!r}" for model, texts in outputs.items() for i, text in enumerate(texts)]
    (data / "items.csv").write_text("id,model,answer\n" + "\n".join(rows).replace("'", '"') + "\n", encoding="utf-8")
    (data / "README.md").write_text("# polite_answers 1.0.0\n\nSynthetic.\n", encoding="utf-8")
    add = re.search(r"`python -m (evalbench.readers.catalog add .*?)`", PAGE)[1]
    named = add.replace("NAME", "polite_answers").replace("VERSION", "1.0.0").replace('"…"', "Polite")
    run(sys.executable, "-m", *named.split(), at=copy)
    metadata = re.search(r'`("evalbench": \{"reads".*?\}\})`', PAGE)[1].replace("NAME@VERSION", "polite_answers@1.0.0")
    cells = [
        {"cell_type": "markdown", "id": str(number), "metadata": {}, "source": text}
        if kind == "markdown"
        else {
            "cell_type": "code",
            "execution_count": None,
            "id": str(number),
            "metadata": {"tags": ["parameters"]} if kind == "parameters" else {},
            "outputs": [],
            "source": text,
        }
        for number, (kind, text) in enumerate(NOTEBOOK)
    ]
    kernel = json.loads((ROOT / "notebooks" / "cot_levels.ipynb").read_text(encoding="utf-8"))["metadata"]
    notebook = {"cells": cells, "metadata": kernel | json.loads(f"{{{metadata}}}"), "nbformat": 4, "nbformat_minor": 5}
    (copy / "notebooks" / "refusals.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    run(sys.executable, "scripts/notebooks.py", at=copy)
    return copy


def passed(house: Path, suites: list[str], which: str) -> int:
    """How many tests of these suites pass for the page's study."""
    out = run(sys.executable, "-m", "pytest", "-q", *suites, "-k", "refusals", "-m", which, at=house)
    return int(re.search(r"(\d+) tests passed", out)[1])


@pytest.mark.slow
def test_every_law_of_a_study_holds_for_it_unasked(house: Path) -> None:
    suites = [suite for suite in SUITES if suite != "tests/test_studies.py"]  # which needs a golden file
    assert passed(house, suites, "not slow") >= 15


@pytest.mark.slow
def test_it_runs_as_every_study_does(house: Path) -> None:
    run(sys.executable, "-m", "evalbench.cli", "check", "--accept", "refusals", at=house)
    assert passed(house, SUITES, "not browser") >= 30


def test_the_page_says_what_each_file_at_the_root_is_for() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    kept = {name for name in listed if name and "/" not in name} or {p.name for p in ROOT.iterdir() if p.is_file()}
    assert [name for name in sorted(kept) if f"`{name}`" not in PAGE] == []
