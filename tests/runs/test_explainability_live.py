"""The call of the method document's main.py: two files, samples of 30 and 5, three models, one command."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from chat import chat_endpoint, solve

from evalbench import explainability, load
from evalbench.errors import BadInput
from evalbench.runs.run import plan
from evalbench.runs.tables import refuse_tables

ROOT = Path(__file__).parents[2]
PROBLEM = "Ann packs 6 boxes of 9 pens and sells 14, day {}. How many are left?"


def cited(prompt: str) -> str:
    entry = {"n": 1, "claim": "It is Lexica.", "url": "https://lexica.example/1", "quote": ""}
    return json.dumps({"answer": "It is Lexica [1].", "citations": [entry]})


def judging(prompt: str) -> str:
    return json.dumps({"reason": "so", "label": "ENTAILMENT" if "ENTAILMENT" in prompt else "CORRECT"})


@pytest.fixture
def files(tmp_path, monkeypatch):
    """GSM8K's and Natural Questions' published forms as Parquet, in a folder."""
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "data"
    folder.mkdir()
    solution = "6 x 9 = <<6*9=54>>54. Then 54 - 14 = <<54-14=40>>40.\n#### 40"
    problems = pd.DataFrame({"question": [PROBLEM.format(i) for i in range(40)], "answer": solution})
    problems.to_parquet(folder / "gsm8k.parquet")
    questions = pd.DataFrame({"query": [f"what is town {i}" for i in range(9)], "answer": "Lexica"})
    questions.to_parquet(folder / "nq.parquet")
    return folder


@pytest.mark.slow
def test_the_documents_call_is_one_command(files, tmp_path):
    with chat_endpoint(solve) as cot, chat_endpoint(cited) as cite, chat_endpoint(judging) as judge:
        names = {"cot_model": cot.name, "citation_model": cite.name, "judge": judge.name}
        options = {
            "cot_data": "gsm8k.parquet", "citation_data": "nq.parquet",
            "cot_sample_method": "random", "cot_n_samples": 30, "cot_random_state": 50,
            "citation_sample_method": "random", "citation_n_samples": 5, "citation_random_state": 50,
            "temperature": 0.3,
        }  # fmt: skip
        words = [word for name, value in (options | names).items() for word in ("-p", f"{name}={value}")]
        places = ["--out", str(tmp_path / "out"), "--root", str(ROOT)]
        done = subprocess.run(
            [sys.executable, "-m", "evalbench.cli", "run", "explainability", *words, *places],
            capture_output=True, text=True, cwd=files, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert (len(cot.answered), len(cite.answered)) == (30, 5)
        assert judge.answered
    (written,) = (tmp_path / "out").rglob("FINAL_RESULTS_*.json")
    content = json.loads(written.read_text())
    assert (content["cot"]["model"], content["cot"]["count"]) == (cot.name, 30)
    assert content["citation"]["response_model"] == cite.name
    assert (content["citation"]["judge_model"], content["citation"]["count"]) == (judge.name, 5)
    assert cot.name != cite.name
    results = json.loads((written.parent / "results.json").read_text())
    assert (results["data"]["name"], results["data"]["synthetic"]) == ("gsm8k.parquet + nq.parquet", False)
    assert f"Two models are taken as one: the chains of thought of {cot.name}" in " ".join(results["notes"])
    assert results["parameters"]["temperature"] == 0.3


@pytest.mark.slow
def test_options_reach_the_half_that_they_are_of(files):
    data = load(files, study="explainability")
    own = files / "own.en.jinja"
    own.write_text("My own: {{ question }}")
    with chat_endpoint(solve) as cot, chat_endpoint(cited) as cite:
        result = explainability.evaluate(
            data, model=cite.name, cot_model=cot.name, cot_prompt=str(own), temperature=0.3, max_tokens=77,
            cot_weights={"answer": 1, "steps": 0, "similarity": 0, "coherence": 0}, cot_n_samples=3, citation_n_samples=2,
            citation_final_weights={"interpretability": 0, "correctness": 1}, n_resamples=50,
        )  # fmt: skip
    assert {prompt.split(":")[0] for prompt in cot.answered} == {"My own"}
    assert not any(prompt.startswith("My own") for prompt in cite.answered)
    assert {
        (body["temperature"], body.get("max_tokens", body.get("max_completion_tokens"))) for body in cot.bodies
    } == {(0.3, 77)}
    assert {body["temperature"] for body in cite.bodies} == {0.3}
    assert {"response", "cited answer", "correctness"} <= set(result.tables["calls"]["purpose"])
    assert result.judged == f"model {cot.name} and {cite.name}"
    assert result.tables["cot_items"]["final"].tolist() == [1, 1, 1]
    assert result.tables["citation_items"]["final"].isin([0, 0.5, 1]).all()


def test_a_bad_file_of_one_half_is_refused_before_the_run(files, tmp_path):
    (files / "bad.csv").write_text("id,answer\n1,2\n")
    planned = plan("explainability", {"cot_data": "bad.csv", "citation_data": "nq.parquet"}, base=files)
    assert planned.dataset == ""
    with pytest.raises(BadInput, match=r"bad\.csv: .*question"):
        refuse_tables(planned)


def test_a_file_alone_is_read_instead_of_the_data_set(files):
    data = load("explained_answers@1.1.0", study="explainability", cot_data=files / "gsm8k.parquet", citation_data="")
    assert (str(data.label), list(data.tables)) == ("gsm8k.parquet", ["items"])
    with pytest.raises(BadInput, match="no table answers .*; give one with citation_data, or a finished run with"):
        explainability.evaluate(data)
    with pytest.raises(BadInput, match="unknown table cot_date; this study has items, .*, cot_data, citation_data"):
        load(files, study="explainability", cot_date="x.csv")


@pytest.mark.parametrize(("study", "table"), [("cot_levels", "items"), ("citation", "answers")])
def test_a_folder_of_the_published_files_is_understood(files, study, table):
    assert list(load(files, study=study).tables) == [table]


def test_options_of_both_halves_are_refused_before_anything_is_asked(files):
    with pytest.raises(BadInput) as caught:
        explainability.evaluate(
            load(files, study="explainability"), model="nobody/asks", max_tokens=0, temperature=-1,
            cot_weights={"answer": 1}, citation_weights={"support": -1, "verification": 2},
        )  # fmt: skip
    assert [line.split(" must")[0] for line in str(caught.value).splitlines()] == [
        "explainability: invalid options:", "  - temperature", "  - max_tokens", "  - cot_weights", "  - citation_weights"
    ]  # fmt: skip
