"""How many labels and questions a light of the cascade rests on, and what its sentence says of them."""

from __future__ import annotations

import pandas as pd
import pytest
from cascaded import NINE, many, run, says


def votes(n: int, marks: tuple[int, int] = (1, 0), annotators: tuple[str, ...] = ("ann", "bob")) -> pd.DataFrame:
    """What annotators say of the first questions: every second one the other way round."""
    rows = [
        {"id": f"q{i:03}", "model": model, "mark": mark, "annotator": who}
        for i in range(n)
        for who in annotators
        for model, mark in zip(("A", "B"), marks if i % 2 else marks[::-1], strict=True)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("n", "serve"), [(6, False), (40, True)])
def test_labels_of_few_questions_do_not_serve_as_ground_truth_and_the_sentence_says_so(n: int, serve: bool) -> None:
    result = run(many(40, 40), [5], {"labels": votes(n)})
    assert (result.items["label"] == "labels-as-truth").sum() == (n if serve else 0)
    short = "labels do not serve as ground truth: alpha of the labels 1.00"
    assert (short in result.sentence.casefold()) == (not serve)
    assert serve or "rests on 6 of 40 questions, 20 are needed" in result.sentence


@pytest.mark.parametrize(("n", "light"), [(19, "grey"), (20, "green")])
def test_fewer_than_20_decided_questions_have_no_light(n: int, light: str) -> None:
    result = run(many(n, n), [9], strong=says(first=lambda item: "FIRST" if item["first"] == NINE else "SECOND"))
    assert result.light == light
    assert ("Only 19 questions are decided and a light needs 20" in result.sentence) == (light == "grey")


def test_questions_of_one_outcome_leave_the_advantage_an_interval_with_a_width() -> None:
    for differ, value in ((0, 0.0), (40, 1.0)):
        by = says(first=lambda item: "FIRST" if item["first"] == NINE else "SECOND")
        e = run(many(40, differ), [1, 2, 9], strong=by).estimate("advantage")
        assert e.value == value
        assert e.ci_high - e.ci_low > 0.05


def test_words_that_12_labels_confirm_are_not_confirmed() -> None:
    rows = many(40, 40) | {"reference": [NINE] * 40}
    labels = votes(40, annotators=("ann",)).assign(mark=lambda frame: (frame["model"] == "A").astype(int))
    few, enough = (run(rows, [5], {"labels": labels[: 2 * n]}) for n in (12, 40))
    assert few.light == "grey"
    assert "(labels agree on 12 of 12)" in few.sentence
    assert enough.light == "green"


def test_labels_of_questions_in_another_case_and_of_other_models_are_named() -> None:
    labels = votes(30).assign(id=lambda frame: frame["id"].str.upper(), model=lambda frame: frame["model"].str.lower())
    sentence = run(many(40, 40), [5], {"labels": labels}).sentence
    assert (
        "30 of 30 questions of the table labels are not among the items: they differ from known ones by case"
        in sentence
    )
    assert "Labels of a, b are of neither A nor B: they differ from known ones by case alone" in sentence


def test_a_stage_that_few_labels_contradict_is_in_the_sentence() -> None:
    rows = many(40, 40) | {"reference": [NINE] * 40}
    labels = votes(4, annotators=("ann",)).assign(mark=lambda frame: (frame["model"] == "B").astype(int))
    sentence = run(rows, [5], {"labels": labels}).sentence
    assert "Stage 5, ground truth: agrees with people on 0% of 4 labelled questions" in sentence


def test_what_people_prefer_of_nearly_equal_answers_is_named_where_it_counts_as_a_tie() -> None:
    rows = {
        "id": ["q1", "q2"],
        "question": ["Open?", "Dear?"],
        "answer_a": ["It opens at 9.", "No."],
        "answer_b": ["it opens at 9", "Yes, very."],
    }
    said = {**rows, "winner": ["a", "a"]}
    result = run(said, [*range(1, 14)])
    assert result.items["outcome"].tolist() == ["tie", "a"]
    assert "1 preference of people counts as a tie, since the answers are nearly equal: q1" in "".join(result.notes)
    assert run(said, [13]).items["outcome"].tolist() == ["a", "a"]
    assert not any(
        "preference of people" in note for note in run({**rows, "winner": ["tie", "a"]}, [*range(1, 14)]).notes
    )
