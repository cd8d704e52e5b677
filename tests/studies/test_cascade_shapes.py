"""Tables of other shapes go through the cascade, and what it says of them is so."""

from __future__ import annotations

import inspect
import json

import pandas as pd
import pytest

from evalbench import load
from evalbench.core import dry
from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.models.chat.collect import collect
from evalbench.studies import cascade
from evalbench.studies.cascade import cost

QUESTIONS = ["When does it open?", "How much is a ticket?", "May I bring a dog?", "Who painted the ceiling?"]
FERN = ["At 9.", "12 crowns.", "No dogs.", "Anna Holm."]
OAK = ["At 10.", "It costs 13 crowns.", "Yes, dogs are welcome.", ""]
WIDE = pd.DataFrame({"question": QUESTIONS, "answer_a": FERN, "answer_b": OAK})


def below_each_other(**more: object) -> pd.DataFrame:
    rows = [
        {"prompt": question, "model": model, "response": text}
        for question, *both in zip(QUESTIONS, OAK, FERN, strict=True)
        for model, text in zip(("oak", "fern"), both, strict=True)
    ]
    return pd.DataFrame(rows).assign(**more)


def run(rows: pd.DataFrame, **options: object) -> Result:
    return cascade.evaluate(load(rows, study="cascade"), n_resamples=20, **options)


def test_answers_below_each_other_need_no_ids():
    result = run(below_each_other())
    assert len(result.items) == len(QUESTIONS)
    assert result.tables["texts"]["answer_a"].tolist() == FERN
    assert "A is fern, B is oak." in result.notes
    assert any("rows share a number where question is the same, q0001 to q0004" in note for note in result.notes)


def test_a_question_asked_twice_of_a_model_is_refused():
    rows = below_each_other()
    with pytest.raises(BadInput, match="several answers of one model to a question, first q0001"):
        load(pd.concat([rows, rows.iloc[:1]]), study="cascade")


def test_labels_that_name_questions_are_not_matched_to_numbers():
    labels = pd.DataFrame({"id": ["x"], "model": ["oak"], "mark": [1.0]})
    with pytest.raises(BadInput, match="id"):
        load({"items": below_each_other(), "labels": labels}, study="cascade")


def test_failed_answers_alone_are_no_measure_of_a_model():
    result = run(WIDE)
    of = {e.metric: e for e in result.summary.estimates}
    assert result.items["label"].tolist().count("one-failed") == 1
    assert (of["quality_a"].n, of["quality_b"].n) == (0, 0)
    both = run(WIDE.assign(reference=FERN))
    of = {e.metric: e for e in both.summary.estimates}
    assert of["quality_a"].n == of["quality_b"].n == 3


def test_an_interval_without_zero_beside_no_difference_is_explained():
    result = run(pd.DataFrame({"question": QUESTIONS[:4], "answer_a": FERN[:4], "answer_b": [""] * 4}))
    assert result.summary.estimates[0].ci_low > 0
    assert "No difference is shown" in result.sentence
    assert "p is never below 0.12" in result.sentence


def test_undecided_questions_are_counted_and_the_way_on_is_named():
    result = run(WIDE.iloc[:2])
    assert result.sentence.endswith("nothing can be said of A and B. 2 questions are open.")
    assert any("-p strong=MODEL" in note for note in result.notes)


@pytest.fixture
def prices(tmp_path, monkeypatch):
    file = tmp_path / "models.toml"
    file.write_text(
        '[cheap]\nname = "openai/a"\nprice = {input = 1.0, output = 2.0}\n'
        '[dear]\nname = "openai/b"\nprice = {input = 10.0, output = 20.0}\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("EVALBENCH_MODELS", str(file))


def planned(**options: object) -> pd.DataFrame:
    return cascade.plan(load(WIDE.iloc[:3].assign(facts=[["At 9."]] * 3), study="cascade"), **options).set_index(
        "stage"
    )


def test_the_plan_shows_money(prices):
    plan = planned(judge="cheap", strong="dear")
    for stage, (price_in, price_out) in {9: (10, 20), 11: (1, 2)}.items():
        row = plan.loc[stage]
        for end in ("low", "high"):
            tokens = row[f"input_tokens_{end}"], row[f"output_tokens_{end}"]
            assert row[f"cost_{end}"] == pytest.approx((price_in * tokens[0] + price_out * tokens[1]) / 1e6)
    assert plan.loc[9, "cost_low"] > 0
    assert plan.loc[[1, 2, 3, 13], "cost_high"].eq(0).all()
    promised = {"judge": "cheap", "strong": "dear", "promise": 0.9, "run_stages": [9]}
    assert planned(**promised).loc[9, "calls_high"] == 0  # without labels nothing can be promised, and nobody is asked
    marks = pd.DataFrame(
        [{"id": "0", "model": model, "annotator": "ada", "mark": mark} for model, mark in (("A", 1), ("B", 0))]
    )
    labelled = load({"items": WIDE.assign(id=[*"0123"]), "labels": marks}, study="cascade")
    both = cascade.plan(labelled, **promised).set_index("stage").loc[9]
    assert both["cost_high"] > both["cost_low"] >= 0


def test_a_list_of_forbidden_words_leaves_fewer_questions_to_ask_about(tmp_path):
    file = tmp_path / "criteria.yaml"
    each = "{{name: {}, definition: It is {}., scale: {{0: bad, 1: good}}, needs_basis: none}}"
    file.write_text(f"- {each.format('polite', 'polite')}\n- {each.format('brief', 'brief')}\n", encoding="utf-8")
    options = {"judge": "openai/none", "criteria_file": str(file), "criteria": ["polite", "brief"], "run_stages": [4]}
    both, alone = planned(**options, forbidden=["welcome"]).loc[4], planned(**options).loc[4]
    assert 0 < both["calls_low"] < alone["calls_low"] == 2 * 2 * 3
    assert alone["why"] == "polite, 6–36 calls; brief, 6–36 calls"
    assert both["why"].startswith("forbidden words, a list, no calls; polite, ")


def test_repeated_questions_are_in_the_most(prices):
    row, each = planned(judge="cheap").loc[9], inspect.signature(collect).parameters["max_reasks"].default
    assert each == cost.REPEATS
    assert row["output_tokens_high"] == (1 + each) * 1024 * row["calls_high"]
    assert any("repeated 2 times" in note for note in cost.NOTES)


@pytest.mark.parametrize(("judge", "said"), [("dear", "0.0"), ("openai/none", "price unknown")])
def test_a_dry_run_prints_money_or_that_no_price_is_known(judge, said, prices):
    frame = planned(judge=judge).reset_index()
    found = dry.plan_of_table(json.loads(frame.to_json(orient="records")), frame.attrs["notes"])
    last = next(line for line in str(found).splitlines() if line.startswith("all"))
    assert said in last
    assert "Cached calls are those" in str(found).replace("\n", " ")


def test_former_names_are_read_and_give_the_same_figures():
    own = WIDE.assign(reference=FERN, contexts=[["At 9."]] * 4)
    before = own.rename(
        columns={"answer_a": "output_a", "answer_b": "output_b", "reference": "truth", "contexts": "chunks"}
    )
    former = run(before.assign(reference="Nobody knows."))
    assert former.summary.estimates == run(own).summary.estimates
    assert any(
        "column truth was read as reference; the column reference beside it is not used" in n for n in former.notes
    )


def test_answers_below_each_other_may_be_called_output_beside_an_answer_of_another_kind():
    rows = below_each_other().rename(columns={"response": "output"}).assign(answer="Nobody knows.")
    assert run(rows).tables["texts"]["answer_a"].tolist() == FERN


def test_a_list_of_right_answers_is_not_used_and_a_note_says_so():
    result = run(WIDE.assign(reference=[["At 9.", "9"]] * 4))
    assert any("column reference lists right answers" in note for note in result.notes)
    assert result.summary.estimates == run(WIDE).summary.estimates


@pytest.mark.parametrize("names", [("alpha", "zeta"), ("zeta", "alpha")])
def test_the_answer_names_who_wins_whatever_the_order_of_names(names: tuple[str, str]) -> None:
    questions = [f"Question {i}?" for i in range(25)]
    right = [f"word{i}" for i in range(25)]
    rows = pd.DataFrame(
        {
            "question": questions,
            "reference": right,
            f"response_{names[0]}": right,
            f"response_{names[1]}": [text if i % 3 else "" for i, text in enumerate(right)],
        }
    )
    result = run(rows)
    assert result.answer is not None
    assert result.answer.answer.startswith(f"{names[0].capitalize()} is better than {names[1]}: it wins 9 questions")
    assert result.sentence.startswith(f"{names[0]} is better than {names[1]}")


def test_models_that_share_no_question_are_refused():
    rows = pd.DataFrame(
        {"question": [f"{i}?" for i in range(6)], "model": ["oak", "fern"] * 3, "answer": "Yes, that is so."}
    )
    with pytest.raises(BadInput, match="fern and oak share no question"):
        load(rows, study="cascade")
    shared = load(pd.concat([rows, rows[:1].assign(model="fern")]), study="cascade")
    assert len(shared["items"]) == 6
    assert "cascade" not in [offer.study for offer in load(rows).ready]
