"""Answers from retrieved contexts: what each metric finds, and what it does not; a scripted judge, a fake, gives the verdicts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from chat import chat_endpoint
from retrieved import (
    BESIDE,
    CLEAN,
    EVASIVE,
    OTHER,
    SOURCE,
    TRUTH,
    WITHOUT_QUESTIONS,
    judged,
    moved,
    row,
    scripted_judge,
)
from studied import page

import evalbench
from evalbench import load, rag_generation
from evalbench.kit.collecting import UNNAMED
from evalbench.studies.rag_generation.inputs import METRICS

# -- a planted fault is found by the metric that should find it, and by no other ------------------------


def test_the_clean_answer_has_no_fault() -> None:
    clean = row()
    assert [clean[name] for name in WITHOUT_QUESTIONS] == [1, 1, 1, 1]
    assert (clean["claim_precision"], clean["claim_recall"], clean["noncommittal"]) == (1, 1, 0)
    assert clean["context_relevant_share"] == pytest.approx(1 / 3)
    assert (clean["unscored"], clean["undefined"]) == ("", "")


def test_an_unsupported_sentence() -> None:
    found = moved(answer=f"{TRUTH} The permit needs a photo.")
    assert found == {
        "faithfulness": pytest.approx(2 / 3),
        "claim_precision": pytest.approx(2 / 3),
        "answer_correctness": pytest.approx(2 / 2.5),
    }


def test_an_unsupported_sentence_that_is_right_is_found_by_faithfulness_and_by_the_contexts_recall() -> None:
    more = f"{TRUTH} The permit needs a photo."
    found = judged({"answer": more, "reference": more}).items.iloc[0]
    assert (found["faithfulness"], found["context_recall"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert (found["answer_correctness"], found["claim_precision"], found["claim_recall"]) == (1, 1, 1)
    assert found["n_right_unsupported"] == 1


def test_a_missing_fact() -> None:
    found = moved(answer="The permit costs 80 crowns.")
    assert found == {"claim_recall": 0.5, "answer_correctness": pytest.approx(1 / 1.5)}


def test_a_wrong_number() -> None:
    found = moved(answer=TRUTH.replace("80", "90"))
    assert found == {"faithfulness": 0.5, "claim_precision": 0.5, "claim_recall": 0.5, "answer_correctness": 0.5}
    table = judged({"answer": TRUTH.replace("80", "90")}).tables["statements"]
    assert table["support_label"].tolist() == table["truth_label"].tolist() == ["CONTRADICTED", "SUPPORTED"]


def test_a_detail_of_the_source_that_was_not_asked_for_is_faithful() -> None:
    found = moved(answer=f"{TRUTH} The permit is blue.")
    assert set(found) == {"claim_precision", "answer_correctness"}
    assert row(answer=f"{TRUTH} The permit is blue.")["n_wrong_supported"] == 1


@pytest.mark.parametrize("split", ["sentences", "claims"])
def test_an_evasive_answer_is_flagged_and_claims_nothing(split: str) -> None:
    found = judged({"answer": EVASIVE}, split=split).items.iloc[0]
    assert (found["noncommittal"], found["answer_correctness"], found["claim_recall"]) == (1, 0, 0)
    assert math.isnan(found["faithfulness"])
    assert found["undefined"] == "no claim"
    assert (found["context_recall"], found["context_precision"]) == (1, 1)
    assert found["answer_relevance"] < row()["answer_relevance"]
    assert found["FP"] == []


def test_a_relevant_context_at_the_end() -> None:
    assert moved(contexts=[BESIDE, OTHER, SOURCE]) == {"context_precision": pytest.approx(1 / 3)}


def test_a_source_that_was_not_retrieved() -> None:
    found = moved(contexts=[BESIDE, OTHER])
    assert found == {"faithfulness": 0, "context_recall": 0, "context_precision": 0, "context_relevant_share": 0}
    lost = row(contexts=[BESIDE, OTHER], answer="The permit costs 80 crowns.")
    assert (lost["n_missed_uncarried"], lost["n_stated_uncarried"], lost["n_truths"]) == (1, 1, 2)


def test_a_similar_job_for_the_same_job_is_flagged_in_its_sentence() -> None:
    """The method document's example of what the enhanced faithfulness is for."""
    source = "After leave the employee returns to the same job or a suitable alternative."

    def lawyer(item: dict[str, Any]) -> Any:  # a fake
        narrows = "similar job" in item["statement"]
        return {"label": "NOT_SUPPORTED" if narrows else "SUPPORTED", "reason": "", "passages": [] if narrows else [1]}

    answer = "After leave the employee returns to work. The employee gets a similar job."
    result = judged({"answer": answer, "contexts": [source]}, judge=lawyer, metrics=["faithfulness"])
    flagged = result.tables["statements"].query("support_label == 'NOT_SUPPORTED'")
    assert flagged[["sentence", "statement"]].to_numpy().tolist() == [[2, "The employee gets a similar job."]]
    assert result.items["faithfulness"].tolist() == [0.5]


def test_the_planted_faults_of_the_sample(root: Path) -> None:
    folder = root / "data" / "rule_book_answers" / "1.1.0"
    planted = pd.read_csv(folder / "faults.csv").groupby(["id", "model"])["fault"].agg(set)
    data = load(folder, study="rag_generation")
    items = rag_generation.evaluate(data, judge="recorded", split="claims", n_resamples=50).items.set_index(
        ["id", "model"]
    )
    of = {name: [name in planted.get(key, set()) for key in items.index] for name in set().union(*planted)}
    of = {name: pd.Series(there, index=items.index) for name, there in of.items()}
    numbers = of["wrong number"] | of["wrong country"]
    pd.testing.assert_series_equal(items["noncommittal"] == 1, of["non-committal"], check_names=False)
    told = items[~of["non-committal"]]
    lost = (told["claim_recall"] < 1) == (of["missing fact"] | numbers | (items["fp"] > 0) & (items["fn"] > 0))[
        told.index
    ]
    assert lost.all()
    more = of["unsupported sentence"] | numbers | (items["n_wrong_supported"] > 0)
    assert ((told["claim_precision"] < 1) == more[told.index]).all()
    retrieved = told[told["context_recall"] == 1]
    invented = (of["unsupported sentence"] | of["wrong number"])[retrieved.index]
    assert ((retrieved["faithfulness"] < 1) == invented).all()
    assert (items.xs("fern", level="model")[["context_recall", "context_precision"]] == 1).all(axis=None)


# -- an instrument that fails is never a number ------------------------------------------------------------


def failing(where: str, says: Any) -> Any:
    def judge(item: dict[str, Any]) -> Any:  # a fake
        return says if where in item and "years" in str(item[where]) else scripted_judge(item)

    return judge


@pytest.mark.parametrize(
    "says", [{"unscored": "unparsed"}, {"label": "SUPPORTED", "passages": [9]}, {"label": "SUPPORTED", "passages": [0]}]
)
def test_an_unparsed_verdict_makes_its_metric_unscored_and_no_other(says: Any) -> None:
    result = judged({}, {"answer": "The permit costs 80 crowns."}, judge=failing("statement", says))
    first, second = result.items.to_dict("records")
    assert math.isnan(first["faithfulness"])
    assert math.isnan(first["answer_correctness"])
    assert first["faithfulness_unscored"] == first["answer_correctness_unscored"] == first["unscored"] == "unparsed"
    assert first["context_precision"] == 1
    assert math.isnan(second["context_recall"])
    assert (second["faithfulness"], second["context_recall_unscored"]) == (1, "unparsed")
    e = result.estimate("faithfulness", model=UNNAMED)
    assert (e.n, e.n_unscored, e.n_undefined, e.value) == (1, 1, 0, 1)


def test_a_text_that_could_not_be_split_is_unscored() -> None:
    for says in ({"unscored": "unparsed"}, {"claims": [{"sentence": 7, "claim": "x"}]}):
        found = judged({}, judge=failing("sentences", says), split="claims").items.iloc[0]
        assert {found[f"{name}_unscored"] for name in WITHOUT_QUESTIONS} == {"unparsed"}
        assert found[WITHOUT_QUESTIONS].isna().all()


def test_a_fact_that_is_stated_without_saying_which_cannot_be_paired() -> None:
    def judge(item: dict[str, Any]) -> Any:  # a fake
        return {"label": "SUPPORTED", "passages": []} if "statement" in item else scripted_judge(item)

    found = judged({}, judge=judge).items.iloc[0]
    assert (found["faithfulness"], found["context_recall"]) == (1, 1)
    assert found["answer_correctness_unscored"] == "unparsed"
    alone = judged({"reference": "The permit costs 80 crowns."}, judge=judge)
    assert alone.items["tp"].tolist() == [1]
    assert any("named no passage: 3" in note for note in alone.notes)


def test_a_judge_that_writes_too_few_questions_is_unscored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    with chat_endpoint(lambda _: json.dumps({"questions": ["One?", " "], "noncommittal": False})) as server:
        found = judged({}, judge=server.name, metrics=["answer_relevance"], n_questions=2).items.iloc[0]
    assert found["unscored"] == "unparsed"
    assert math.isnan(found["answer_relevance"])


# -- what is absent ------------------------------------------------------------------------------------------


def test_null_and_empty_answers_contexts_and_truths() -> None:
    rows = [{}, {"answer": None}, {"answer": ""}, {"contexts": []}, {"contexts": [" "]}, {"reference": None}]
    result = judged(*rows)
    items = result.items.set_index("id")
    assert items.loc["q2", "unscored"] == "no-output"
    assert items.loc["q2", ["faithfulness", "answer_relevance", "answer_correctness"]].isna().all()
    assert items.loc["q2", ["context_recall", "context_precision"]].tolist() == [1, 1]
    assert items.loc["q3", ["answer_relevance", "noncommittal", "answer_correctness", "claim_recall"]].tolist() == [
        0,
        1,
        0,
        0,
    ]
    assert items.loc["q3", "undefined"] == "no claim"
    for name in ("q4", "q5"):
        assert items.loc[name, ["faithfulness", "context_recall", "context_precision"]].isna().all()
        assert items.loc[name, "answer_correctness"] == 1
        assert items.loc[name, "undefined"] == "no contexts"
    assert items.loc["q6", "undefined"] == "no-reference"
    assert items.loc["q6", "faithfulness"] == 1
    assert items.loc["q6", ["context_recall", "context_precision", "answer_correctness"]].isna().all()
    assert any("without contexts (none recorded, or nothing retrieved): 2 of 6" in note for note in result.notes)
    assert "2 answers without contexts." in result.sentence
    page("rag_generation", result)


def test_contexts_as_a_plain_text_are_one_context() -> None:
    assert judged({"contexts": SOURCE}).items["context_recall"].tolist() == [1]


def test_contexts_that_are_no_texts_are_refused_with_their_row() -> None:
    with pytest.raises(
        evalbench.BadInput, match=r"column contexts: expected a text, or a JSON list of texts .*\(row 2\)"
    ):
        judged({}, {"contexts": [{"text": SOURCE}]})


def test_without_any_ground_truth_the_rest_is_judged() -> None:
    table = pd.DataFrame([{k: v for k, v in CLEAN.items() if k != "reference"}])
    data = load(table, study="rag_generation")
    result = rag_generation.evaluate(data, judge=scripted_judge, n_resamples=50)
    assert result.estimate("faithfulness", model=UNNAMED).value == 1
    assert {e.metric for e in result.summary.estimates} == {"faithfulness", "answer_relevance", "noncommittal"}
    assert any("context_recall, context_precision, answer_correctness" in note for note in result.notes)
    page("rag_generation", result)
    asked = rag_generation.evaluate(data, judge=scripted_judge, metrics=list(METRICS), n_resamples=50)
    assert asked.estimate("context_recall", model=UNNAMED).note == "there is no ground truth beside contexts"
    assert rag_generation.picture_confusion(asked) is rag_generation.picture_fates(asked) is None
    for picture in (rag_generation.picture_scores, rag_generation.picture_groups):
        alt = picture(asked)[1]
        assert "faithfulness" in alt
        assert "recall" not in alt
        assert "correctness" not in alt
    texts = str(rag_generation.annotated(asked))
    assert "What was retrieved" in texts
    assert not any(word in texts for word in ("recall", "no verdict", "precision"))
    page("rag_generation", asked)


def test_without_thresholds_the_words_for_a_judge_that_compares_words_are_those_of_no_light() -> None:
    data = load(pd.DataFrame([CLEAN]), study="rag_generation")
    plain = rag_generation.evaluate(data, metrics=["faithfulness"], n_resamples=50)
    lit = rag_generation.evaluate(
        data, metrics=["faithfulness"], lights={"faithfulness": {"green_from": 0.9, "yellow_from": 0.7}}, n_resamples=50
    )
    assert (plain.light, lit.light) == ("unlit", "grey")
    assert "there is no light, since no thresholds are set" in plain.method[0]
    assert "there is no light" not in lit.method[0]
    assert "grey" not in plain.sentence


# -- short ground truths, refusals, and answers that say nothing ------------------------------------


def capitals(n_right=45):
    """Sixty answers beside a ground truth of one word: the right ones, nan, refusals, echoes, wrong ones."""
    places = [("Rome", "Italy"), ("Paris", "France"), ("Madrid", "Spain"), ("Vienna", "Austria"), ("Oslo", "Norway")]
    rows = []
    for i in range(60):
        (city, land), (other, _) = places[i % 5], places[(i + 1) % 5]
        question = f"What is the capital of {land}?"
        rest = {45: "nan", 46: "I don't know.", 47: "The text does not say.", 48: question}
        answer = f"The capital of {land} is {city if i < n_right else other}."
        rows.append(
            {
                "id": f"q{i:02}",
                "question": question,
                "answer": rest.get(i, answer),
                "contexts": [f"{city} is the capital of {land} and lies on a river.", "Boats leave at noon."],
                "reference": city,
            }
        )
    return rag_generation.evaluate(load(pd.DataFrame(rows), study="rag_generation"), n_resamples=50)


def figure(result, metric):
    return next(e.value for e in result.summary.estimates if e.metric == metric)


def test_right_answers_beside_a_ground_truth_of_one_word_are_right():
    result = capitals()
    assert figure(result, "answer_correctness") == 0.75
    assert figure(result, "claim_recall") == 0.75
    assert figure(result, "context_recall") == 1
    wrong = result.items.set_index("id").loc["q55"]
    assert (wrong["faithfulness"], wrong["answer_correctness"]) == (0, 0)


def test_refusals_missing_values_and_echoes_claim_nothing_and_have_a_row_of_their_own():
    result = capitals()
    own = result.items.set_index("id").loc[["q45", "q46", "q47", "q48"]]
    assert own["faithfulness"].isna().all()
    assert set(own["undefined"]) == {"no claim"}
    assert own["answer_correctness"].eq(0).all()
    assert own["noncommittal"].tolist() == [1, 1, 1, 0]
    assert figure(result, "noncommittal") == 3 / 60
    assert any(note.startswith("1 of 60 answers is the word nan, None or null") for note in result.notes)
