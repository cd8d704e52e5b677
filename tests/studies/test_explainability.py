import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from evalbench import citation, cot_levels, explainability, load
from evalbench.draw.html import escape
from evalbench.errors import BadInput
from evalbench.runs.record import record

KEYS = ["XAI_overall_score", "overall_pass", "overall_threshold", "cot", "citation", "weights"]


@pytest.fixture(scope="module")
def sample():
    return load("explained_answers@1.1.0", study="explainability")


@pytest.fixture(scope="module")
def result(sample):
    return explainability.evaluate(sample)


def finished(folder, study, scores, judge=""):
    """A run's folder with given final scores, as `record` writes one."""
    folder.mkdir()
    items = pd.DataFrame(
        {
            "id": [f"i{n}" for n in range(len(scores))],
            "model": "llama3.1:8b",
            "final": scores,
            "unscored": "",
            "undefined": "",
        }
    )
    items.to_parquet(folder / "items.parquet")
    data = {"name": study, "version": "1", "sha256": "0" * 64, "synthetic": False}
    parameters = {"threshold": 0.8} | ({"judge": judge} if judge else {})
    texts = dict.fromkeys(("question", "judged", "sentence", "light_rule"), "")
    rest = {
        "id": "id",
        "by": ["model"],
        "light": "unlit",
        "light_stability": None,
        "items": {"n": len(scores), "unscored": 0},
    }
    lists = {"summary": [], "notes": [], "method": [], "tables": {}}
    content = {"schema_version": 3, "study": study, "data": data, "parameters": parameters, **texts, **rest, **lists}
    (folder / "results.json").write_text(json.dumps(content))
    return str(folder)


def with_mean(mean, n):
    """n scores between 0 and 1 with this mean."""
    spread = np.linspace(-1, 1, n) * min(mean, 1 - mean)
    return (mean + spread).tolist()


def content(result):
    return json.loads(next(iter(result.files.values())))


def test_refusals(sample, tmp_path):
    with pytest.raises(BadInput, match="weight_cot, weight_citation must be non-negative and not all zero"):
        explainability.evaluate(sample, weight_cot=0, weight_citation=0)
    with pytest.raises(BadInput, match="threshold must be between 0 and 1, got 3"):
        explainability.evaluate(sample, threshold=3)
    with pytest.raises(BadInput, match="no folder of a finished run of cot_levels"):
        explainability.evaluate(sample, cot_run=str(tmp_path))
    wrong = finished(tmp_path / "wrong", "citation", [1.0])
    with pytest.raises(BadInput, match="a run of citation, expected one of cot_levels"):
        explainability.evaluate(sample, cot_run=wrong)
    with pytest.raises(
        BadInput, match=r"(?s)cot_levels has elm-13b, fern-1b, oak-7b; answered_by is 'nobody': .*citation has oak-7b"
    ):
        explainability.evaluate(sample, answered_by="nobody")


def test_both_missing_halves_are_named():
    data = load({"sources": pd.DataFrame({"url": ["u"], "text": ["t"]})}, study="explainability")
    with pytest.raises(BadInput, match=r"(?s)no table items .*no table answers"):
        explainability.evaluate(data)


def test_the_worked_check(sample, tmp_path):
    """cot 0.808 and citation 0.8375 → 0.823, pass at 0.8."""
    cot = finished(tmp_path / "cot", "cot_levels", with_mean(0.808, 30))
    cited = finished(tmp_path / "cited", "citation", with_mean(0.8375, 5), judge="gpt-4o")
    result = explainability.evaluate(sample, cot_run=cot, citation_run=cited)
    assert list(result.files) == [next(iter(result.files))]
    assert re.fullmatch(r"FINAL_RESULTS_\d{8}\.json", next(iter(result.files)))
    got = content(result)
    assert list(got) == [*KEYS, "intervals"]
    got.pop("intervals")
    assert got == {
        "XAI_overall_score": 0.823,
        "overall_pass": True,
        "overall_threshold": 0.8,
        "cot": {"model": "llama3.1:8b", "avg_score": 0.808, "count": 30, "pass": True, "threshold": 0.8},
        "citation": {
            "response_model": "llama3.1:8b", "judge_model": "gpt-4o", "avg_score": 0.8375, "count": 5, "pass": True, "threshold": 0.8,
        },
        "weights": {"weight_cot": 0.5, "weight_citation": 0.5},
    }  # fmt: skip
    assert (result.light, result.verdict.would_be) == ("grey", "green")
    assert "of the cited answers only 5 have a value and a light needs 20" in result.sentence.casefold()
    assert result.data.name == "cot_levels@1 + citation@1"


def test_halves_of_two_models_and_missing_right_answers_are_told(sample):
    tables = dict(sample.tables)
    tables["answers"] = tables["answers"].drop(columns="reference").assign(model="reed-2")
    tables["items"] = tables["items"][lambda t: t["model"] == "oak-7b"]
    result = explainability.evaluate(replace(sample, tables=tables), n_resamples=50)
    notes = " ".join(result.notes)
    assert "Two models are taken as one: the chains of thought of oak-7b and the cited answers of reed-2." in notes
    assert "30 of 30 cited answers have no right answer to compare with" in notes
    assert result.judged == "model oak-7b and reed-2"
    assert "two models" not in " ".join(explainability.evaluate(sample, n_resamples=50).notes)


def test_a_half_without_weight_holds_nothing_back(sample, tmp_path):
    cot = finished(tmp_path / "cot", "cot_levels", with_mean(0.9, 30))
    cited = finished(tmp_path / "cited", "citation", [*with_mean(0.9, 5), None], judge="baseline/lexical")
    both = explainability.evaluate(sample, cot_run=cot, citation_run=cited)
    assert both.light == "grey"
    assert "compares words" in both.sentence
    alone = explainability.evaluate(sample, cot_run=cot, citation_run=cited, weight_citation=0)
    assert alone.light == "green"
    assert "compares words" not in alone.sentence
    assert alone.estimate("score", part="citation").light == "grey"


def test_a_half_that_fails_shows_and_a_low_whole_is_red(sample, tmp_path):
    cot = finished(tmp_path / "cot", "cot_levels", with_mean(0.5, 20))
    cited = finished(tmp_path / "cited", "citation", with_mean(0.9, 20), judge="gpt-4o")
    result = explainability.evaluate(sample, cot_run=cot, citation_run=cited)
    assert result.light == "red"
    assert content(result)["cot"]["pass"] is False
    assert content(result)["citation"]["pass"] is True
    heavy = explainability.evaluate(sample, cot_run=cot, citation_run=cited, weight_cot=0, weight_citation=2)
    assert heavy.estimate("XAI_overall_score").value == pytest.approx(0.9)
    assert heavy.light == "green"


def test_the_interval_is_that_of_two_independent_samples(sample, tmp_path):
    cot = finished(tmp_path / "cot", "cot_levels", with_mean(0.5, 40))
    cited = finished(tmp_path / "cited", "citation", with_mean(0.5, 40), judge="gpt-4o")
    result = explainability.evaluate(sample, cot_run=cot, citation_run=cited, n_resamples=4000)
    halves = [result.estimate("score", part=p) for p in ("cot", "citation")]
    widths = [h.ci_high - h.ci_low for h in halves]
    overall = result.estimate("XAI_overall_score")
    assert overall.ci_high - overall.ci_low == pytest.approx(0.5 * np.hypot(*widths), rel=0.08)


def test_runs_of_both_studies_give_what_running_them_here_gives(sample, result, tmp_path):
    data = {
        name: load(f"{name}@1.1.0", study=study)
        for name, study in (("word_problems", "cot_levels"), ("cited_answers", "citation"))
    }
    record(cot_levels.evaluate(data["word_problems"]), out=tmp_path / "cot")
    record(citation.evaluate(data["cited_answers"]), out=tmp_path / "cited")
    again = explainability.evaluate(
        sample, cot_run=str(tmp_path / "cot"), citation_run=str(tmp_path / "cited"), answered_by="oak-7b"
    )
    assert again.summary == result.summary
    assert content(again) == content(result)


def test_the_lexical_judge_is_at_best_grey(result):
    assert result.light == "grey"
    assert result.verdict.would_be == "green"
    assert result.estimate("score", part="cot").light == "green"
    assert result.estimate("score", part="citation").light == "grey"


def test_a_pass_beside_a_grey_light_says_why(result):
    assert content(result)["overall_pass"] is True
    assert any(note.startswith("overall_pass of FINAL_RESULTS_YYYYMMDD.json is true while") for note in result.notes)


def test_no_pass_no_word_of_it(sample):
    strict = explainability.evaluate(sample, threshold=1.0, n_resamples=2)
    assert not any("overall_pass" in note for note in strict.notes)


def test_an_empty_half_has_no_overall_score(result):
    summary = explainability.summarise(result.items[result.items["part"] == "cot"], judge="gpt-4o")
    assert summary.estimate("XAI_overall_score").value is None
    assert summary.verdict.light == "grey"


def test_the_file_lies_in_the_runs_folder(result, tmp_path):
    record(result, out=tmp_path / "run")
    files = list((tmp_path / "run").glob("FINAL_RESULTS_*.json"))
    assert len(files) == 1
    assert json.loads(files[0].read_text())["cot"]["model"] == "oak-7b"


def test_tables_of_the_page(result):
    table = explainability.final_results_table(result)
    assert set(table["key"]) >= {"XAI_overall_score", "citation.judge_model"}
    assert dict(zip(table["key"], table["value"], strict=True))["overall_pass"] in ("true", "false")
    assert explainability.worst(result)["score"].is_monotonic_increasing
    assert explainability.worst(result).columns.tolist() == ["id", "part", "score", "question", "the model's answer"]
    texts = result.tables["texts"].set_index(["id", "part"])
    for row in explainability.worst(result).itertuples():
        assert escape(texts.loc[(row.id, row.part), "question"][:40]) in row.question


def test_the_lowest_scores_of_runs_that_kept_no_texts_stand_alone(tmp_path):
    cot = finished(tmp_path / "cot", "cot_levels", with_mean(0.9, 4))
    cited = finished(tmp_path / "citation", "citation", with_mean(0.7, 3), "openai/gpt-4o")
    found = explainability.evaluate(load({}, study="explainability"), cot_run=cot, citation_run=cited)
    assert explainability.worst(found).columns.tolist() == ["id", "part", "score"]


def test_answers_that_were_not_found_make_the_light_grey(sample, tmp_path):
    problems = load("word_problems@1.1.0", study="cot_levels")
    unmarked = problems["items"].assign(
        answer=problems["items"]["answer"].str.replace("####", "so", regex=False), model="oak-7b"
    )
    table = unmarked.drop_duplicates("id")
    record(cot_levels.evaluate(load({"items": table}, study="cot_levels"), n_resamples=50), out=tmp_path / "cot")
    cited = finished(tmp_path / "cited", "citation", with_mean(0.9, 40), judge="gpt-4o")
    result = explainability.evaluate(
        sample, cot_run=str(tmp_path / "cot"), citation_run=cited, answered_by="", n_resamples=50
    )
    assert result.light == "grey"
    assert result.estimate("score", part="cot").light == "grey"
    assert "mark their final answer" in result.sentence


def test_few_items_are_named_and_a_crowded_half_is_lit_nowhere(sample):
    items = sample.tables["items"]
    few = items[items["id"].isin(items["id"].unique()[:4])].copy()
    few.loc[few["id"] == few["id"].iloc[0], "answer"] = None
    result = explainability.evaluate(
        replace(sample, tables={**sample.tables, "items": few}), weight_citation=0, n_resamples=50
    )
    assert "of the chains of thought only 3 have a value and a light needs 20" in result.sentence
    assert result.light == "grey"
    assert result.estimate("XAI_overall_score").light == "grey"
    assert result.estimate("score", part="cot").light == "grey"


def test_two_models_taken_as_one_are_in_the_sentence(sample):
    items = sample.tables["items"]
    fern = items[items["model"] == "fern-1b"]
    halves = explainability.evaluate(replace(sample, tables={**sample.tables, "items": fern}), n_resamples=50)
    names = content(halves)
    assert (names["cot"]["model"], names["citation"]["response_model"]) == ("fern-1b", "oak-7b")
    said = "Two models are taken as one: the chains of thought of fern-1b and the cited answers of oak-7b."
    assert said in halves.sentence
    cased = replace(sample, tables={**sample.tables, "items": fern.assign(model="OAK-7B")})
    assert "names differ in case or blanks alone" in explainability.evaluate(cased, n_resamples=50).sentence
    both = explainability.evaluate(sample, answered_by="oak-7b", n_resamples=50)
    assert content(both)["cot"]["model"] == "oak-7b"
    with pytest.raises(BadInput, match="citation has oak-7b; answered_by is 'fern-1b'"):
        explainability.evaluate(sample, answered_by="fern-1b")


def test_what_evaluate_refuses_is_refused_before_anything_is_computed(sample, tmp_path):
    from evalbench.studies import refuse, study

    defaults = {name: option.default for name, option in study("explainability").options().items()}
    refuse(sample, "explainability", defaults)
    answers = sample.tables["answers"]
    for options, tables, said in (
        ({"answered_by": "nobody"}, {}, "answered_by is 'nobody'"),
        ({"cot_run": str(tmp_path)}, {}, "no folder of a finished run of cot_levels"),
        ({}, {"answers": None}, "no table answers"),
        ({}, {"answers": answers.drop(columns="answer")}, "answer"),
        ({}, {"answers": answers.assign(citations=[[{"n": 0, "claim": "x"}]] * len(answers))}, "citation 1: n is 0"),
    ):
        kept = {name: frame for name, frame in {**sample.tables, **tables}.items() if frame is not None}
        with pytest.raises(BadInput) as early:
            refuse(replace(sample, tables=kept), "explainability", defaults | options)
        with pytest.raises(BadInput) as late:
            explainability.evaluate(replace(sample, tables=kept), **options)
        assert said in str(early.value)
        assert str(early.value) == str(late.value)
    asked = {**sample.tables, "answers": answers.drop(columns="answer")}
    refuse(
        replace(sample, tables=asked),
        "explainability",
        defaults | {"citation_model": "openai/m", "answered_by": "oak-7b"},
    )


def test_a_citation_run_that_a_function_judged_is_a_half(sample, tmp_path):
    def kind(item):
        return "CORRECT" if "gold" in item else "ENTAILMENT"

    tables = {name: sample.tables[name] for name in ("answers", "sources")}
    record(citation.evaluate(load(tables, study="citation"), judge=kind, n_resamples=50), out=tmp_path / "cited")
    found = explainability.evaluate(sample, citation_run=str(tmp_path / "cited"), answered_by="oak-7b", n_resamples=50)
    assert content(found)["citation"]["judge_model"] == "function:kind"
