import csv
import json
from collections import Counter

import pandas as pd
import pytest

from evalbench import cot_levels, load
from evalbench.errors import BadInput
from tests.helpers.lights import of_figures


@pytest.fixture(scope="module")
def sample():
    return load("word_problems@1.1.0", study="cot_levels")


@pytest.fixture(scope="module")
def result(sample):
    return cot_levels.evaluate(sample)


def frames(rows):
    return load({"items": pd.DataFrame(rows)}, study="cot_levels")


PROBLEM = {"id": "1", "question": "Two and 3 apples?", "reference": "<<2+3=5>>5\n#### 5"}


def test_faulty_options_are_listed_at_once(sample):
    with pytest.raises(BadInput) as error:
        cot_levels.evaluate(
            sample,
            answer_extractor="last",
            weights={"answer": 1},
            common_constants="some",
            answer_markers=[],
            relative_tolerance=2,
        )
    message = str(error.value)
    for part in (
        "answer_extractor must be one of strict, flexible; got 'last'",
        "weights must have exactly the keys answer, steps, similarity, coherence; got answer",
        "common_constants must be none, everyday or numbers separated by commas; got 'some'",
        "answer_markers must be one text or more",
        "relative_tolerance must be between 0 and 1, got 2",
    ):
        assert part in message
    for constants in ("nan", "1, inf"):
        with pytest.raises(BadInput, match=f"common_constants .* got '{constants}'"):
            cot_levels.evaluate(sample, common_constants=constants)
    endless = dict.fromkeys(cot_levels.DEFAULT_WEIGHTS, float("inf"))
    with pytest.raises(BadInput, match="weights must be non-negative"):
        cot_levels.evaluate(sample, weights=endless)


def test_references_without_an_answer_are_listed():
    rows = [PROBLEM | {"id": str(i), "reference": "no idea", "answer": "#### 5"} for i in (1, 2)]
    with pytest.raises(BadInput, match=r"(?s)2 references have no number behind a marker .####, .*id 1.*id 2"):
        cot_levels.evaluate(frames(rows))


def test_without_responses_and_model_it_says_what_is_missing():
    with pytest.raises(BadInput, match="no column answer; give one, or a model"):
        cot_levels.evaluate(frames([PROBLEM]))


def test_planted_faults_show_on_their_levels(result, root):
    with (root / "data/word_problems/1.1.0/faults.csv").open() as file:
        planted = {(row["id"], row["model"]): row["fault"] for row in csv.DictReader(file)}
    items = result.items.assign(
        fault=[planted[i, m] for i, m in zip(result.items["id"], result.items["model"], strict=True)]
    )
    by = items.groupby("fault")
    assert (by["correct"].mean()[["none", "skipped step", "verbose", "inline equations"]] == 1).all()
    assert (by["correct"].mean()[["wrong arithmetic", "verbose and wrong", "unsupported constant", "empty"]] == 0).all()
    assert by["answer_strict"].mean()["no marker"] == 0
    assert by["answer_flexible"].mean()["no marker"] == 1
    assert (by["accuracy"].max()[["wrong arithmetic", "verbose and wrong"]] < 1).all()
    assert by["sourced"].max()["unsupported constant"] < 1
    assert by["steps"].max()["verbose"] < 0.7
    assert items.loc[items["fault"] == "words only", "coherence"].isna().all()
    assert items.loc[items["fault"] == "words only", "undefined"].str.contains("no equation").all()
    assert (items.loc[items["fault"] == "empty", "final"] == 0).all()
    assert Counter(planted.values())["empty"] == 3


def test_the_sample_separates_its_models(result):
    value = {m: result.estimate("final", model=m).value for m in ("fern-1b", "elm-13b", "oak-7b")}
    assert value["fern-1b"] < value["elm-13b"] < 0.8 < value["oak-7b"]
    assert result.light == "red"
    assert result.estimate("reference_coherence").value < 1


def test_unscored_responses_make_the_light_grey(result):
    items = result.items.copy()
    items.loc[items.index[:30], "unscored"] = "timeout"
    items.loc[items.index[:30], ["final", "correct", "steps", "similarity", "coherence"]] = float("nan")
    summary = cot_levels.summarise(items)
    assert summary.verdict.light == "grey"
    assert "30 of 180 could not be scored" in summary.verdict.sentence
    assert "if every unscored item were the worst" in summary.estimate("final", model="oak-7b").note


def test_random_sample_depends_on_its_state_alone(sample):
    from dataclasses import replace

    def ids(data, state):
        return set(cot_levels.evaluate(data, sample_method="random", n_samples=10, random_state=state).items["id"])

    backwards = replace(sample, tables={"items": sample["items"].iloc[::-1]})
    assert ids(sample, 50) == ids(backwards, 50)
    assert len(ids(sample, 50)) == 10
    assert ids(sample, 50) != ids(sample, 51)


def test_hostile_responses_are_scored_and_escaped():
    rows = [
        PROBLEM | {"model": "m", "answer": "<script>alert(1)</script> <<9**9**9=1>> <<1/0=2>>\n#### 5"},
        PROBLEM | {"id": "2", "model": "m", "answer": "<<" + "(" * 10_000 + ">>"},
    ]
    result = cot_levels.evaluate(frames(rows))
    assert result.items["unscored"].tolist() == ["unparsed", "unparsed"]
    assert "division by zero" in result.tables["faults"]["detail"].tolist()
    assert "<script>" not in cot_levels.annotated(result)


def test_a_very_long_step_is_folded_in_the_annotated_solution():
    response = "It makes " + "very " * 5000 + "<<9*9=1>>1.\n#### 5"
    page = cot_levels.annotated(cot_levels.evaluate(frames([{**PROBLEM, "answer": response}])))
    assert "whole text, 25" in page
    assert "<summary>" in page.partition("very")[0]


def test_annotated_solutions_say_what_is_wrong(result):
    page = cot_levels.annotated(result, n=6)
    assert "has no source" in page
    assert "is wrong" in page
    assert 'title="no source"' in page
    assert "&amp;lt;" not in page


def test_tables_of_the_page(result):
    assert cot_levels.worst(result)["final"].iloc[0] == 0
    assert cot_levels.reasons(result)["steps"].is_monotonic_decreasing


@pytest.mark.external
def test_gsm8k_files_are_read_as_they_are(external_data):
    data = load(external_data("gsm8k") / "example_model_solutions.jsonl", study="cot_levels")
    result = cot_levels.evaluate(data, n_resamples=200)
    right = result.items.groupby("model")["correct"].sum().to_dict()
    assert right == {"175b_finetuning": 458, "175b_verification": 742, "6b_finetuning": 286, "6b_verification": 515}
    expected = json.loads((external_data("gsm8k") / "expected.json").read_text())["methods"]
    for model, rows in result.items.groupby("model"):
        within = (rows["steps"] == 1).sum()
        assert abs(within - expected[model]["ratio_in_0p8_1p2"]) <= 25, model
    ceiling = result.estimate("reference_coherence")
    assert 0.93 < ceiling.value < 0.96
    assert ceiling.n + ceiling.n_undefined == 1319


def test_tables_of_faults_say_what_is_wrong_in_figures():
    response = "<b> <<2+3=6>>\n<<7*4=28>>\n<<1/0=1>>\n#### 24"
    result = cot_levels.evaluate(frames([PROBLEM | {"answer": response, "model": "m"}]), n_resamples=20)
    faults = result.tables["faults"]
    assert faults[["kind", "equation", "number", "detail"]].to_numpy().tolist() == [
        ["wrong", "2+3=6", "", "5"],
        ["unsourced", "7*4=28", "7", ""],
        ["unsourced", "7*4=28", "4", ""],
        ["unread", "1/0=1", "", "division by zero"],
    ]
    marked = [response.split("\n")[r.step - 1][r.start : r.end] for r in faults.itertuples()]
    assert marked == ["2+3=6", "7", "4", "1/0=1"]
    page = cot_levels.annotated(result)
    for words in ("2+3=6 is wrong: the left side is 5", "7, 4 have no source", "1/0=1: division by zero"):
        assert words in page
    table = cot_levels.reasons(result)
    assert dict(zip(table["what is wrong"], table["steps"], strict=True)) == {
        "4 has no source": 1, "7 has no source": 1, "an equation cannot be read": 1, "an equation is wrong": 1,
    }  # fmt: skip
    lowest = cot_levels.worst(result).iloc[0]
    assert "&lt;b&gt;" in lowest["the response and its levels"]
    assert "answer 0.00, steps 0.50" in lowest["the response and its levels"]
    assert "reference solution" in lowest["the problem"]


def problems(*responses, model="m"):
    return [PROBLEM | {"id": str(i), "answer": r, "model": model} for i, r in enumerate(responses)]


def test_a_marker_that_most_responses_lack_makes_the_light_grey():
    rows = problems(*["So 2 + 3 = 5 it is."] * 11, *["That is 2 + 3 = 5.\n#### 5"] * 9)
    result = cot_levels.evaluate(frames(rows), n_resamples=50)
    assert result.estimate("answer_marked", model="m").value == 9 / 20
    assert result.light == "grey"
    assert result.verdict.would_be == "red"
    assert result.estimate("final", model="m").light == "grey"
    sentence = result.verdict.sentence
    assert "9 of 20 responses mark their final answer" in sentence
    assert "strict extraction finds 9 of 20, flexible finds 20 of 20" in sentence
    flexible = cot_levels.evaluate(frames(rows), n_resamples=50, answer_extractor="flexible")
    assert flexible.light == "green"


def test_one_response_without_the_marker_is_wrong():
    rows = problems("So 2 + 3 = 5 it is.", *["That is 2 + 3 = 5.\n#### 5"] * 19)
    result = cot_levels.evaluate(frames(rows), n_resamples=50)
    assert result.light == "green"
    assert result.estimate("answer", model="m").value == 19 / 20
    assert any("without a marker of the final answer" in n and "1 of 20" in n for n in result.notes)
    assert not any("%" in n for n in result.notes)
    assert any("strict extraction finds 19 of 20, flexible finds 20 of 20" in n for n in result.notes)


def test_empty_responses_do_not_make_the_marker_fail():
    result = cot_levels.evaluate(frames(problems("", "", "", "2 + 3 = 5\n#### 5")), n_resamples=50)
    assert of_figures(result) == "red"
    assert result.estimate("answer_marked", model="m").n == 1
    nothing = cot_levels.evaluate(frames(problems("", "")), n_resamples=50)
    assert of_figures(nothing) == "red"


def test_every_model_has_its_own_marker():
    rows = [*problems(*["2 + 3 = 5\n#### 5"] * 20, model="a"), *problems(*["2 + 3 = 5"] * 20, model="b")]
    result = cot_levels.evaluate(frames(rows), n_resamples=50)
    assert [result.estimate("final", model=m).light for m in "ab"] == ["green", "grey"]
    assert result.light == "grey"
    assert "b: 0 of 20 responses mark" in result.verdict.sentence


def test_equations_that_cannot_be_read_are_left_out_and_counted():
    rows = problems("<<x+2=5>>\n<<2+3=5>>\n#### 5", "<<x+2=5>>\n#### 5", "words\n#### 5", "<<2+3=6>>\n#### 5")
    result = cot_levels.evaluate(frames(rows), n_resamples=50)
    items = result.items.set_index("id")
    assert items["unscored"].tolist() == ["", "unparsed", "", ""]
    assert items["undefined"].tolist() == ["", "", "no equation, level 4 has no value", ""]
    assert items["accuracy"].fillna(-1).tolist() == [1, -1, -1, 0]
    assert items["n_unread"].tolist() == [1, 1, 0, 0]
    assert items["correct"].tolist() == [1, 1, 1, 1]
    assert items.loc["1", ["final", "steps", "similarity", "coherence"]].isna().all()
    assert any("cannot be read" in n and "2 of 4; most often: cannot read 'x' (2)" in n for n in result.notes)
    for name in ("final", "answer", "coherence", "steps"):
        figure = result.estimate(name, model="m")
        assert figure.n + figure.n_unscored + figure.n_undefined == 4, figure
    assert result.estimate("answer", model="m").n_unscored == 0


def test_faults_are_data_that_parquet_and_json_hold(result, tmp_path):
    faults = result.tables["faults"]
    faults.to_parquet(tmp_path / "faults.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "faults.parquet"), faults)
    json.loads(faults.to_json(orient="records"))
    assert set(faults["kind"]) <= {"wrong", "unsourced", "unread"}
    steps = result.tables["steps"].set_index(["id", "model", "step"])["text"]
    for fault in faults.itertuples():
        shown = steps[fault.id, fault.model, fault.step][fault.start : fault.end]
        assert shown == (fault.number or fault.equation), fault


ANSWER_ALONE = PROBLEM | {"reference": "#### 5", "model": "m"}


def test_a_reference_without_a_step_leaves_levels_2_and_3_without_a_value():
    rows = [ANSWER_ALONE | {"id": str(i), "answer": "Two and 3 make <<2+3=5>>5.\n#### 5"} for i in range(40)]
    result = cot_levels.evaluate(frames(rows), n_resamples=50)
    assert result.light == "green"
    assert result.estimate("final", model="m").value == 1
    for level in ("steps", "similarity"):
        figure = result.estimate(level, model="m")
        assert (figure.value, figure.n_undefined, figure.note) == (None, 40, "no reference has a step")
    assert "40 of 40 references have no step: levels 2 and 3 do not count there." in result.sentence
    empty = cot_levels.evaluate(frames([ANSWER_ALONE | {"answer": ""}]), n_resamples=20).items.iloc[0]
    assert empty["final"] == 0
    assert empty[["steps", "similarity"]].isna().all()


def test_refusals_score_0_on_every_level_and_are_counted():
    result = cot_levels.evaluate(frames(problems(*["I'm sorry, but I cannot help with that."] * 40)), n_resamples=50)
    assert result.light == "red"
    assert {result.estimate(level, model="m").value for level in ("answer", "steps", "similarity", "coherence")} == {0}
    assert "Refusals, which score 0 on every level: 40 of 40." in result.notes


def test_the_sentence_says_where_strict_and_flexible_extraction_are_far_apart():
    rows = problems(*["So <<2+3=5>>5.\n#### 999\nOr rather:\n#### 5"] * 40)
    result = cot_levels.evaluate(frames(rows), n_resamples=50)
    assert "Right answers: strict extraction finds 0 of 40, flexible finds 40 of 40; level 1 counts strict (m)." in (
        result.sentence
    )


def test_a_marker_that_the_references_have_is_named_when_it_is_not_in_the_list():
    marker = "the answer (arabic numerals) is"
    with pytest.raises(BadInput, match=r"behind ####; add it to the list \(-p 'answer_markers=\[.*, \"####\"\]'\)"):
        cot_levels.evaluate(frames(problems("5")), answer_markers=[marker])


def test_a_time_is_no_number():
    result = cot_levels.evaluate(frames([PROBLEM | {"reference": "<<3+4=7>>7\n#### 7", "answer": "A: 7:30"}]))
    assert result.items[["answer_strict", "answer_flexible"]].to_numpy().tolist() == [[0, 0]]


def test_a_reference_that_is_a_number_alone_is_the_answer():
    rows = [ANSWER_ALONE | {"reference": "5", "answer": "Two and 3 make <<2+3=5>>5.\n#### 5"}]
    assert cot_levels.evaluate(frames(rows), n_resamples=20).items["correct"].tolist() == [1]
