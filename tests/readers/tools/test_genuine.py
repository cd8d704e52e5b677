"""Files that the tools themselves wrote: those of tests/data/imports, and, where asked for, new ones from throw-away environments."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evalbench.readers.tools.known import imported

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "tests" / "data" / "imports"
MAKERS = ROOT / "scripts" / "make_imports"
COUNTS = {
    "ragas.csv": {"exact_match": (3, 0), "non_llm_string_similarity": (3, 0), "courtesy": (2, 1)},
    "ragas.jsonl": {"exact_match": (3, 0), "non_llm_string_similarity": (3, 0), "courtesy": (2, 1)},
    "deepeval.json": {"Exact Match": (2, 0), "Wordiness": (2, 0), "Breaks": (1, 1)},
    "deepeval_dialogue.json": {"Turns": (1, 0)},
    "inspect.eval": {
        "includes": (6, 0),
        "manners/length": (6, 0),
        "manners/politeness": (6, 0),
        "model_graded_qa": (4, 2),
    },
    "inspect.json": {
        "includes": (6, 0),
        "manners/length": (6, 0),
        "manners/politeness": (6, 0),
        "model_graded_qa": (4, 2),
    },
    "lm_eval": {
        "acc": (2, 0),
        "exact_match,strict-match": (2, 0),
        "exact_match,flexible-extract": (2, 0),
        "exact_match": (2, 0),
    },
    "mlflow.json": {"polite": (1, 1), "exact": (2, 0)},
    "mlflow_legacy.json": {"same": (2, 0)},
}
"""File → metric → scored, unscored."""
ROWS = {
    "ragas.csv": 3,
    "ragas.jsonl": 3,
    "deepeval_dialogue.json": 1,
    "inspect.eval": 6,
    "inspect.json": 6,
    "lm_eval": 10,
}
TOOLS = {
    "ragas": "ragas*.*",
    "deepeval": "deepeval*.json",
    "inspect": "inspect.*",
    "lm_eval": "",
    "mlflow": "mlflow*.json",
}


def check(path):
    """Counts of a file that its tool wrote, and each of the tool's figures reproduced or explained."""
    about = imported(path).about
    name = "lm_eval" if path.is_dir() else path.name
    assert {metric: (f["n"], f["missing"]) for metric, f in about["metrics"].items()} == COUNTS[name]
    assert about["rows"] == ROWS.get(name, 2)
    assert all(figure["agrees"] or figure["words"] for figure in about["figures"])
    return about


@pytest.mark.parametrize("path", sorted(KEPT.iterdir()), ids=lambda path: path.name)
def test_kept_files(path):
    check(path)


def test_what_the_kept_files_show():
    assert imported(KEPT / "deepeval.json").about["metrics"]["Wordiness"]["higher_is_better"] is False
    labels = imported(KEPT / "mlflow.json").frames["labels"]
    assert labels[["annotator", "mark"]].values.tolist() == [["ada", 1.0], ["ada", 0.0]]
    repeats = imported(next((KEPT / "lm_eval").glob("samples_mill_repeats*")))
    assert repeats.about["trials"] == 3
    choices = imported(next((KEPT / "lm_eval").glob("samples_mill_choices*"))).frames["items"]
    assert choices[["reference", "reference_choice"]].values.tolist() == [["0", " at six"], ["1", " four of them"]]
    graded = imported(KEPT / "inspect.eval").about
    assert list(graded["metrics"]["model_graded_qa"]["missing_words"]) == [
        "Grade not found in model output: I would rather not say."
    ]


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_files_made_anew(tool, tmp_path):
    """``EVALBENCH_TEST_TOOLS=ragas,mlflow`` (or ``all``) installs these and makes their files; some take a gigabyte."""
    if os.environ.get("EVALBENCH_TEST_TOOLS", "") != "all" and tool not in os.environ.get(
        "EVALBENCH_TEST_TOOLS", ""
    ).split(","):
        pytest.skip("EVALBENCH_TEST_TOOLS does not name the tool")
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    script = MAKERS / f"of_{tool}.py"
    packages = [
        pin.strip('"') for pin in re.search(r"``([^`]+==[^`]+)``", script.read_text(encoding="utf-8"))[1].split()
    ]
    python = tmp_path / "env" / "bin" / "python"
    if uv is None:
        pytest.skip("EVALBENCH_TEST_TOOLS: uv is not installed")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(python.parents[1])], check=True)
    done = subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", str(python), *packages], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"EVALBENCH_TEST_TOOLS: no package registry ({done.stderr.strip()[:200]})")
    made = tmp_path / "made"
    made.mkdir()
    done = subprocess.run([str(python), str(script), str(made)], cwd=made, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    paths = sorted(made.glob(TOOLS[tool])) if TOOLS[tool] else [made]
    assert paths
    for path in paths:
        check(path)
