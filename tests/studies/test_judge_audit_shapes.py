"""Tables that are not ours: other names, words for marks, labels beside verdicts, cells that are empty, absent or hostile."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from generated import one_in_twenty
from studied import page, sample

from evalbench import BadInput, judge_audit, load
from evalbench.core.notes import first_rank

OPTIONS = {"n_resamples": 30}


def rows(n=60, wrong=0.15, seed=4):
    """Ids, a judge's marks, and labels of three annotators."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 2, n)
    mark = np.where(draw.random(n) < wrong, 1 - truth, truth)
    people = [np.where(draw.random(n) < 0.1, 1 - truth, truth) for _ in range(3)]
    return [f"a{i:03}" for i in range(n)], mark, people


def audited(verdicts, labels=None, **options):
    tables = {"verdicts": pd.DataFrame(verdicts)} | ({} if labels is None else {"labels": pd.DataFrame(labels)})
    return judge_audit.evaluate(load(tables, study="judge_audit"), **{**OPTIONS, **options})


def file_of(tmp_path, frame, name="verdicts.csv"):
    path = tmp_path / name
    frame.to_csv(path, index=False)
    return path


# -- other names ----------------------------------------------------------------------------------


def test_question_id_rater_score_alone(tmp_path):
    ids, mark, _ = rows()
    path = file_of(tmp_path, pd.DataFrame({"question_id": ids, "rater": "oak", "score": mark}))
    result = judge_audit.evaluate(load(path, study="judge_audit"), **OPTIONS)
    assert result.judged == "judge oak"
    assert result.light == "grey"
    assert result.summary.estimate("passed", judge="oak").value == pytest.approx(mark.mean())
    assert any("column question_id was read as id" in note for note in result.notes)
    page("judge_audit", result)


@pytest.mark.parametrize("names", [("answer_a", "answer_b"), ("model_a", "model_b"), ("A", "B")])
def test_the_winner_of_a_pair(tmp_path, names):
    first, second = names
    frame = pd.DataFrame({"question_id": range(100, 140), "judge": "oak", "winner": [first, first, second, "tie"] * 10})
    frame[f"answer_{first[-1].lower()}"], frame[f"answer_{second[-1].lower()}"] = "Bonn.", "Berlin."
    items = audited(load(file_of(tmp_path, frame), study="judge_audit")["verdicts"]).items
    assert items["mark"].tolist() == [1.0, 1.0, 0.0, 0.5] * 10


def test_people_among_the_raters_are_named(tmp_path):
    ids, mark, people = rows()
    said = {"oak": mark, **dict(zip(("ada", "bo", "cy"), people, strict=True))}
    long = pd.DataFrame(
        [{"question_id": i, "rater": r, "score": m} for r, ms in said.items() for i, m in zip(ids, ms, strict=True)]
    )
    data = load(file_of(tmp_path, long), study="judge_audit")
    result = judge_audit.evaluate(data, humans=["ada", "bo", "cy"], **OPTIONS)
    assert result.judged == "judge oak"
    assert result.summary.estimate("kappa", judge="oak").n == 60
    with pytest.raises(BadInput, match="humans: no verdict is by eve"):
        judge_audit.evaluate(data, humans=["eve"], **OPTIONS)
    with pytest.raises(BadInput, match="no judge is left"):
        judge_audit.evaluate(data, humans=["oak", "ada", "bo", "cy"], **OPTIONS)


def test_one_judge_without_a_name_and_a_column_human(tmp_path):
    ids, mark, people = rows()
    frame = pd.DataFrame({"id": ids, "mark": mark, "human": people[0]})
    frame.loc[40:, "human"] = None
    result = judge_audit.evaluate(load(file_of(tmp_path, frame), study="judge_audit"), **OPTIONS)
    assert result.judged == "a judge that the table does not name"
    assert result.summary.estimate("kappa", judge="judge not named").n == 40
    assert any("One annotator labelled" in note for note in result.notes)


def test_columns_of_several_annotators(tmp_path):
    ids, mark, people = rows()
    frame = pd.DataFrame({"id": ids, "judge": "oak", "mark": mark, "human_ada": people[0], "human_bo": people[1]})
    result = judge_audit.evaluate(load(file_of(tmp_path, frame), study="judge_audit"), **OPTIONS)
    assert result.tables["agreement"]["annotators"].tolist() == [2]
    assert any("human_ada, human_bo" in note for note in result.notes)


def test_marks_in_words(tmp_path):
    ids, mark, people = rows()
    words = np.where(mark == 1, "Pass", "Fail")
    frame = pd.DataFrame({"item_id": ids, "verdict": words, "human_label": people[0]})
    result = judge_audit.evaluate(load(file_of(tmp_path, frame), study="judge_audit"), **OPTIONS)
    assert result.items["mark"].tolist() == mark.tolist()
    assert any("fail as 0, pass as 1" in note for note in result.notes)


def test_a_table_of_label_merge_is_one_of_labels():
    ids, mark, people = rows()
    merged = pd.DataFrame(
        [
            {
                "doc_id": i, "system": "heron", "annotator": name, "criterion": "good", "score": y, "skipped": "", "comment": "",
                "seconds": 4.0, "stratum": "",
            }
            for name, ys in zip(("ada", "bo", "cy"), people, strict=True)
            for i, y in zip(ids, ys, strict=True)
        ]
    )  # fmt: skip
    merged.loc[0, ["score", "skipped"]] = [np.nan, "unclear"]
    verdicts = [
        {"id": i, "judge": "oak", "model": "heron", "criterion": "good", "mark": m}
        for i, m in zip(ids, mark, strict=True)
    ]
    result = audited(verdicts, merged)
    assert result.tables["agreement"]["annotators"].tolist() == [3]
    assert any("1 label without a mark, left out" in note for note in result.notes)


def test_labels_of_what_was_not_judged_are_counted():
    ids, mark, people = rows()
    labels = [
        {"id": f"{i}x" if k < 5 else i, "annotator": "ada", "mark": y}
        for k, (i, y) in enumerate(zip(ids, people[0], strict=True))
    ]
    result = audited([{"id": i, "mark": m} for i, m in zip(ids, mark, strict=True)], labels)
    assert any("5 labels of what no judge was asked about" in note for note in result.notes)
    assert result.summary.estimate("kappa", judge="judge not named").n == 55


def test_two_labels_of_one_annotator_are_refused():
    ids, mark, people = rows()
    labels = [{"id": i, "annotator": "ada", "mark": y} for y_s in people[:2] for i, y in zip(ids, y_s, strict=True)]
    with pytest.raises(BadInput, match="120 labels of one annotator for the same, first id a000, annotator ada"):
        audited([{"id": i, "mark": m} for i, m in zip(ids, mark, strict=True)], labels)


# -- cells ----------------------------------------------------------------------------------------

TEXTS = ("question", "answer", "answer_other", "lang", "reason", "comment", "method", "prompt")
NUMBERS = ("length", "length_other", "tokens", "seconds", "cost")
KEYS = ("model", "criterion", "mark", "order", "repeat", "judge", "unscored", "human")
REFUSED = ("mark", "order", "repeat", "judge", "model", "criterion")
HOSTILE = "<script>alert(1)</script> $5 \u202eabc\u202c =1+1"


def small():
    """The sample's verdicts of two judges on 24 pairs."""
    found = dict(sample("judge_audit"))
    keep = sorted(set(found["verdicts"]["id"]))[40:64]
    verdicts = found["verdicts"]
    verdicts = verdicts[
        verdicts["id"].isin(keep) & verdicts["judge"].isin(["alder", "cedar"]) & (verdicts["criterion"] == "helpful")
    ]
    return {"verdicts": verdicts.reset_index(drop=True), "labels": found["labels"][found["labels"]["id"].isin(keep)]}


ODD = [(columns, cell) for columns in (TEXTS, NUMBERS, *((c,) for c in KEYS)) for cell in (None, "", "absent")]


@pytest.mark.generated
@pytest.mark.parametrize(
    ("columns", "cell"), one_in_twenty(ODD), ids=lambda v: v[0] if isinstance(v, tuple) else str(v)
)
def test_cells_that_are_null_empty_or_absent(columns, cell):
    tables = small()
    frame = tables["verdicts"].copy()
    for column in columns:
        values = frame[column].astype(object) if column in frame else pd.Series([1.0] * len(frame), dtype=object)
        frame[column] = [cell if i % 2 else value for i, value in enumerate(values)]
    frame = frame.drop(columns=[*columns]) if cell == "absent" else frame
    refused = (BadInput,) if columns[0] in REFUSED else ()  # required columns, and those that identify rows
    try:
        result = judge_audit.evaluate(load({**tables, "verdicts": frame}, study="judge_audit"), **OPTIONS)
    except refused:
        return
    json.dumps(result.to_json(), allow_nan=False)
    for e in result.summary.estimates:
        own = result.items[result.items["judge"] == e.group["judge"]]
        assert e.n + e.n_unscored + e.n_undefined == len(own), e.place


def test_a_null_mark_is_unscored_and_never_0():
    tables = small()
    frame = tables["verdicts"].copy()
    lost = frame["id"].isin(sorted(set(frame["id"]))[::2])
    result = judge_audit.evaluate(
        load({**tables, "verdicts": frame.assign(mark=frame["mark"].mask(lost))}, study="judge_audit"), **OPTIONS
    )
    rest = judge_audit.evaluate(load({**tables, "verdicts": frame[~lost]}, study="judge_audit"), **OPTIONS)
    for judge in ("alder", "cedar"):
        for metric in ("passed", "kappa", "first_slot"):
            now, then = (r.summary.estimate(metric, judge=judge) for r in (result, rest))
            assert (now.value, now.n) == (then.value, then.n), metric
        assert result.summary.estimate("unparsed", judge=judge).value >= 0.5
    assert result.light == "red"  # of the missing marks; every other figure is grey
    assert {e.light for e in result.summary.estimates if e.metric in ("kappa", "first_slot")} == {"grey"}
    assert result.items.loc[result.items["mark"].isna(), "unscored"].unique().tolist() == ["no-value"]
    assert "24 of 48 could not be scored" in result.sentence


def test_reasons_in_other_words_are_kept():
    ids, mark, _ = rows()
    verdicts = [
        {
            "id": i,
            "mark": None if k < 4 else m,
            "unscored": ("Rate limited", "rate_limited", "JSON <b>broken", "")[k] if k < 4 else "",
        }
        for k, (i, m) in enumerate(zip(ids, mark, strict=True))
    ]
    result = audited(verdicts)
    assert result.items["unscored"].value_counts().to_dict() == {"": 56, "rate-limited": 2, "no-value": 2}
    assert sorted(result.tables["unparsed"]["reason"]) == ["JSON <b>broken", "no value", "rate limited"]
    assert "<b>broken" not in page("judge_audit", result)


def test_hostile_cells_are_escaped():
    tables = small()
    frame = tables["verdicts"].copy()
    for column in (*TEXTS, "model", "criterion", "judge", "repeat", "unscored"):
        frame[column] = frame[column].fillna("").astype(str) + HOSTILE
    for column in ("model", "criterion", "annotator"):
        tables["labels"] = tables["labels"].assign(**{column: tables["labels"][column] + HOSTILE})
    result = judge_audit.evaluate(load({**tables, "verdicts": frame}, study="judge_audit"), **OPTIONS)
    drawn = page("judge_audit", result)
    assert "<script>alert" not in drawn
    assert "\u202e" not in drawn
    assert "alert(1)" in drawn


@pytest.mark.parametrize(("mark", "word"), [("inf", "finite"), ("perhaps", "number"), ([1], "number")])
def test_marks_that_are_no_numbers_are_refused(mark, word):
    with pytest.raises(BadInput, match=word):
        audited([{"id": "a", "mark": 1.0}, {"id": "b", "mark": mark}])


def test_the_same_verdict_twice_is_refused_with_what_tells_rows_apart():
    with pytest.raises(BadInput, match="id"):
        audited([{"id": "a", "mark": 1.0}, {"id": "a", "mark": 0.0}])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_have_a_page(n):
    verdicts = [{"id": f"a{i}", "judge": "oak", "mark": float(i % 2)} for i in range(n)]
    labels = [{"id": f"a{i}", "annotator": "ada", "mark": 1.0} for i in range(n)]
    result = audited(verdicts, labels)
    assert result.light == "grey"
    assert "<svg" in page("judge_audit", result) or n == 1


def test_labels_in_words_beside_verdicts_in_words_are_the_same_as_numbers():
    ids, mark, people = rows()
    words = np.array(["no", "Yes "])
    numbers = audited({"id": ids, "mark": mark, "human": people[0]})
    found = audited({"id": ids, "mark": words[mark], "human": words[people[0]]})
    assert found.summary.estimates == numbers.summary.estimates
    assert sum("labels in words were read as numbers: no as 0, yes as 1" in note for note in found.notes) == 1
    with pytest.raises(BadInput, match="human"):
        audited({"id": ids, "mark": mark, "human": ["perhaps"] * len(ids)})


def test_labels_on_another_scale_are_refused() -> None:
    verdicts = pd.DataFrame({"id": [f"q{n}" for n in range(30)], "mark": [n % 2 for n in range(30)]})
    labels = pd.DataFrame({"id": verdicts["id"], "annotator": "ada", "mark": [1 + n % 5 for n in range(30)]})
    with pytest.raises(BadInput, match="verdicts are between 0 and 1, labels between 1 and 5: not one scale"):
        judge_audit.evaluate(load({"verdicts": verdicts, "labels": labels}, study="judge_audit"), n_resamples=20)


@pytest.mark.parametrize("n", [5, 25])
def test_few_labels_make_no_correction_and_it_is_said(n: int) -> None:
    verdicts = pd.DataFrame(
        {"id": [f"q{k:02}" for k in range(60)], "judge": "j", "mark": [int(k % 3 > 0) for k in range(60)]}
    )
    labels = pd.DataFrame({"id": verdicts["id"][:n], "annotator": "ada", "mark": [k % 2 for k in range(n)]})
    found = judge_audit.evaluate(load({"verdicts": verdicts, "labels": labels}, study="judge_audit"), n_resamples=50)
    (said,) = found.tables["rates"]["sentence"]
    assert ("correction.json" in found.files) == (n >= 20)
    assert said.startswith("Only 5 labels, too few to rest on.") == (n < 20)


# -- columns that may be labels, cells that hold more than a text, and a light that is green throughout ------------------


@pytest.mark.parametrize("name", ["эксперт", "разметчик", "expert", "annotator", "专家", "人工"])
def test_a_column_that_people_have_given_holds_labels(name):
    ids, mark, (ada, *_) = rows(20)
    notes = audited({"id": ids, "judge": "oak", "mark": mark, name: ada}).notes
    assert any(f"column {name} was read as human" in note for note in notes)


@pytest.mark.parametrize("column", ["human_score", "label"])
def test_a_column_of_peoples_names_says_who_gave_the_mark_beside_it(column):
    ids, mark, (ada, bob, _) = rows(60)
    wide = audited({"id": ids, "mark": mark, "human_ada": ada, "human_bob": bob})
    long = {
        "id": ids * 2,
        "judge_score": [*mark, *mark],
        "annotator": ["ada"] * 60 + ["bob"] * 60,
        column: [*ada, *bob],
    }
    result = audited(long)
    pd.testing.assert_frame_equal(result.figures, wide.figures)
    assert len(result.items) == 60
    assert any(
        f"the labels in {column} were read as those of the people whom annotator names" in n for n in result.notes
    )


def test_peoples_names_alone_are_no_labels():
    ids, mark, _ = rows(20)
    data = load(pd.DataFrame({"id": ids, "mark": mark, "annotator": ["Ada", "Bob"] * 10}), study="judge_audit")
    assert data.unused["verdicts"] == ("annotator",)


def test_a_column_of_a_named_expert_holds_labels():
    ids, mark, (ada, bob, _) = rows(20)
    result = audited({"id": ids, "judge": "oak", "mark": mark, "эксперт_Анна": ada, "expert_bob": bob})
    assert any("read as labels of people: эксперт_Анна, expert_bob" in note for note in result.notes)


def test_a_reason_that_is_an_object_or_a_list_is_a_text():
    ids, mark, _ = rows(20)
    reasons = [{"почему": "<script>"}, ["a", "b"], "plain", ""] * 5
    result = audited({"id": ids, "judge": "oak", "mark": mark, "reason": reasons})
    assert any("reason: 10 cells with a list or an object, shown as JSON" in note for note in result.notes)
    assert "<script>" not in page("judge_audit", result)


def test_where_every_light_is_green_none_of_them_decides():
    ids, mark, (ada, *_) = rows(200, wrong=0.02)
    result = audited({"id": ids, "judge": "oak", "mark": mark, "human": ada})
    assert result.light == "green"
    assert "Every light is green: Cohen's kappa with people, share without a mark." in result.sentence
    assert "What decides" not in result.sentence


def test_models_without_labels_are_named_since_the_correction_does_not_hold_for_them():
    ids, mark, (ada, *_) = rows(40)
    labels = [label if i % 2 else None for i, label in enumerate(ada)]
    verdicts = {"id": ids, "judge": "oak", "mark": mark, "model": ["fern", "alder"] * 20}
    said = "No answer of fern is labelled: corrected figures are of alder alone."
    assert said in audited({**verdicts, "human": labels}).notes
    assert said not in audited({**verdicts, "human": ada}).notes


def test_answers_under_former_names_give_the_same_figures_with_a_note_of_each():
    own = small()
    former = {"answer": "output", "answer_other": "output_other"}
    assert set(former) <= set(own["verdicts"])
    other = own | {"verdicts": own["verdicts"].rename(columns=former)}
    found, as_before = (judge_audit.evaluate(load(t, study="judge_audit"), **OPTIONS) for t in (own, other))
    assert [e.row() for e in found.summary.estimates] == [e.row() for e in as_before.summary.estimates]
    assert found.tables["texts"].equals(as_before.tables["texts"])
    for ours, name in former.items():
        assert any(f"column {name} was read as {ours}" in note for note in as_before.notes)


def test_a_number_that_may_mean_not_rated_is_pointed_out():
    marks = [99 if i == 0 else 1 + i % 5 for i in range(40)]
    people = [-1 if i < 4 else 1 + i % 5 for i in range(40)]
    result = audited({"id": [f"a{i}" for i in range(40)], "mark": marks, "human": people})
    said = [note.short for note in first_rank(result.notes)]
    assert "1 of 40 marks of the judge is 99, the others 1 to 5: if it means not rated, leave this cell empty" in said
    assert "4 of 40 marks of people are −1, the others 1 to 5: if it means not rated, leave these cells empty" in said
