"""What the first lines of an audit say: labels that carry nothing, odd words, pairs without models, labels of one model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from studied import page

from evalbench import judge_audit, load
from evalbench.errors import BadInput


def audited(verdicts, labels=None, **options):
    tables = {"verdicts": pd.DataFrame(verdicts)} | ({} if labels is None else {"labels": pd.DataFrame(labels)})
    return judge_audit.evaluate(load(tables, study="judge_audit"), **{"n_resamples": 200, **options})


def figures(result, judge):
    return {e.metric: e for e in result.summary.estimates if e.group["judge"] == judge}


# -- people who do not agree themselves -----------------------------------------------------------


def divided(n=400, seed=0):
    """Three people who are each wrong on a third, one judge that is wrong on a tenth and one that is on a half."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 2, n)

    def seen(wrong):
        return np.where(draw.random(n) < wrong, 1 - truth, truth)

    ids = [f"a{i:03}" for i in range(n)]
    verdicts = pd.concat(
        pd.DataFrame({"id": ids, "judge": name, "mark": seen(wrong)}) for name, wrong in (("oak", 0.1), ("reed", 0.5))
    )
    labels = pd.concat(pd.DataFrame({"id": ids, "annotator": a, "mark": seen(0.33)}) for a in ("ada", "bo", "cy"))
    return verdicts, labels


def test_where_people_do_not_agree_no_judge_is_red_and_the_sentence_begins_with_that():
    result = audited(*divided())
    assert result.light == "grey"
    assert result.sentence.startswith("People agree at 0.1")
    assert (
        "themselves: no judge can be shown to be good by these labels; oak agrees with them more than they do (0."
        in (result.sentence)
    )
    assert "not to be used in place of people" not in result.sentence
    assert "oak agrees with people more than people among themselves" in result.sentence
    assert {figures(result, judge)["kappa"].light for judge in ("oak", "reed")} == {"grey"}
    beyond = figures(result, "oak")["beyond_people"]
    own = figures(result, "oak")
    assert beyond.value == pytest.approx(own["kappa"].value - own["ceiling"].value)
    assert beyond.ci_low > 0
    assert figures(result, "reed")["beyond_people"].ci_high < 0
    assert "reed agrees with people less than people among themselves" in result.sentence


def test_where_people_agree_a_bad_judge_is_red():
    verdicts, _ = divided()
    draw = np.random.default_rng(4)
    truth = verdicts[verdicts["judge"] == "oak"].set_index("id")["mark"]
    labels = pd.concat(
        pd.DataFrame(
            {"id": truth.index, "annotator": a, "mark": np.where(draw.random(len(truth)) < 0.05, 1 - truth, truth)}
        )
        for a in ("ada", "bo")
    )
    result = audited(verdicts, labels)
    assert result.light == "red"
    assert "no judge can be shown" not in result.sentence


# -- odd words ------------------------------------------------------------------------------------


def test_one_odd_word_among_many_known_ones_is_named_with_its_row_and_the_others_are_read():
    marks = ["yes" if i % 3 else "no" for i in range(120)]
    verdicts = {"id": [f"a{i}" for i in range(120)], "judge": "oak", "mark": marks, "human": marks}
    verdicts["human"] = [*marks[:40], "n/a: not asked", *marks[41:]]
    result = audited(verdicts)
    assert figures(result, "oak")["kappa"].n == 119
    assert '1 of the labels is a word ("n/a: not asked"; row 41), left out' in result.sentence
    with pytest.raises(BadInput, match="expected a finite number"):
        audited({**verdicts, "human": ["n/a"] * 60 + marks[60:]})


# -- pairs without models -------------------------------------------------------------------------


def pairs(n=120):
    """Each third pair is right in both orders, undecided, wrong; decisions are places."""
    first = ["A>B", "A>B", "B>A"] * (n // 3)
    second = ["B>A", "A>B", "A>B"] * (n // 3)
    return pd.DataFrame({"pair_id": [f"p{i:03}" for i in range(n)], "judge": "oak", "label": "A>B"}), first, second


@pytest.mark.parametrize("shape", ["columns", "lists", "json", "brackets", "numbers"])
def test_pairs_in_one_row_with_the_decisions_in_both_orders_are_read_as_they_are(shape):
    frame, first, second = pairs()
    both = list(zip(first, second, strict=True))
    if shape == "columns":
        frame = frame.assign(decision_1=first, decision_2=second)
    elif shape == "lists":
        frame = frame.assign(judgments=[[{"decision": a, "text": "…"}, {"decision": b}] for a, b in both])
    elif shape == "json":
        frame = frame.assign(decisions=[f'["{a}", "{b}"]' for a, b in both])
    else:
        words = {"A>B": "[[A]]", "B>A": "[[B]]"} if shape == "brackets" else {"A>B": "1", "B>A": "2"}
        frame = frame.assign(
            label=words["A>B"], winner_original=[words[a] for a in first], winner_swapped=[words[b] for b in second]
        )
    result = audited(frame)
    own = figures(result, "oak")
    assert [round(own[name].value, 3) for name in ("pairs_right", "pairs_undecided", "pairs_wrong")] == [0.333] * 3
    assert own["inconsistent"].value == pytest.approx(1 / 3)
    assert "Over both orders of 120 pairs oak is right 0.33 [" in result.sentence
    assert "undecided or inconsistent 0.33 [" in result.sentence


def test_of_pairs_without_models_no_rate_of_a_side_is_shown():
    frame, first, second = pairs()
    result = audited(frame.assign(decision_1=first, decision_2=second))
    assert not {"passed", "corrected", "too_kind"} & set(figures(result, "oak"))
    drawn = page("judge_audit", result)
    assert "the judge's own rate" not in drawn
    assert "too kind" not in result.sentence
    assert "correction.json" not in result.files


def test_a_gold_side_that_is_always_the_first_does_not_make_a_good_judge_red():
    draw = np.random.default_rng(6)
    good = draw.random(120) < 0.95
    frame, *_ = pairs()
    first, second = np.where(good, "A>B", "B>A"), np.where(good, "B>A", "A>B")
    always = figures(audited(frame.assign(decision_1=first, decision_2=second)), "oak")["kappa"]
    turned = draw.random(120) < 0.5
    swap = {"A>B": "B>A", "B>A": "A>B"}
    frame = frame.assign(
        label=np.where(turned, "B>A", "A>B"),
        decision_1=[swap[a] if t else a for a, t in zip(first, turned, strict=True)],
        decision_2=[swap[b] if t else b for b, t in zip(second, turned, strict=True)],
    )
    assert always.light == "green"
    assert always.value == pytest.approx(2 * good.mean() - 1)
    assert always.value == pytest.approx(figures(audited(frame), "oak")["kappa"].value)


def test_labels_that_are_all_equal_show_no_agreement_of_any_judge():
    marks = [float(i % 4 > 0) for i in range(80)]
    result = audited({"id": [f"a{i}" for i in range(80)], "judge": "oak", "mark": marks, "human": [1.0] * 80})
    kappa = figures(result, "oak")["kappa"]
    assert (kappa.value, kappa.light) == (None, "grey")
    assert "all labels, are equal" in kappa.note
    assert "not to be used in place of people" not in result.sentence


def test_second_decisions_that_name_answers_are_noticed():
    frame, first, _ = pairs()
    result = audited(frame.assign(decision_1=first, decision_2=first))
    assert "he two orders disagree on 100% of the pairs" in result.sentence


def test_outcomes_of_pairs_by_category():
    frame, first, second = pairs()
    frame = frame.assign(decision_1=first, decision_2=second, category=["math", "code"] * 60)
    data = load({"verdicts": frame}, study="judge_audit", slices=["category"])
    result = judge_audit.evaluate(data, n_resamples=60)
    found = [row for row in result.summary.slices.rows if row.metric == "pairs_right"]
    assert {(row.column, row.name) for row in found} == {("category", "math"), ("category", "code")}


# -- labels of one model --------------------------------------------------------------------------


def test_a_correction_by_labels_of_one_model_is_of_that_model_alone():
    draw = np.random.default_rng(2)
    n = 200
    truth = np.where(np.arange(n) < 100, draw.random(n) < 0.5, draw.random(n) < 0.9).astype(float)
    mark = np.where(draw.random(n) < 0.1, 1 - truth, truth)
    verdicts = pd.DataFrame(
        {
            "id": [f"a{i % 100}" for i in range(n)],
            "judge": "oak",
            "model": ["fern"] * 100 + ["alder"] * 100,
            "mark": mark,
        }
    )
    labels = verdicts[verdicts["model"] == "fern"].assign(mark=truth[:100], annotator="ada").drop(columns="judge")
    result, alone = (
        audited(verdicts, labels.iloc[:60]),
        audited(verdicts[verdicts["model"] == "fern"], labels.iloc[:60]),
    )
    assert "No answer of alder is labelled: corrected figures are of fern alone" in result.sentence
    own, of_fern = figures(result, "oak"), figures(alone, "oak")
    assert own["corrected"].value == pytest.approx(of_fern["corrected"].value)
    assert (own["corrected"].ci_low, own["corrected"].n) == (pytest.approx(of_fern["corrected"].ci_low), 100)
    assert own["corrected"].title == "corrected by labels, fern only"
    assert own["corrected"].corrects == ""
    assert own["passed"].n == 200
    rates = result.tables["rates"].iloc[0]
    assert (rates["of"], rates["items"]) == ("fern", 100)
    assert rates["naive"] == pytest.approx(verdicts.loc[verdicts["model"] == "fern", "mark"].mean())


# -- identifiers ----------------------------------------------------------------------------------


def test_labels_whose_ids_are_only_written_otherwise_are_named_in_the_sentence():
    verdicts, labels = divided(40)
    result = audited(verdicts, labels.assign(id=labels["id"].str.upper()))
    assert "differ from known ones by case alone, such as A000 and a000" in result.sentence


# -- kinds ----------------------------------------------------------------------------------------

RELATIONS = ["PartOf", "Location", "Owner"]


def related(n=240, wrong=0.2, seed=5, **columns):
    """A judge and three people who name one of three kinds; the judge takes Location for Owner."""
    draw = np.random.default_rng(seed)
    truth = draw.choice(RELATIONS, n, p=[0.5, 0.3, 0.2])
    seen = np.where((truth == "Location") & (draw.random(n) < wrong), "Owner", truth)
    verdicts = pd.DataFrame({"id": [f"a{i:03}" for i in range(n)], "judge": "oak", "mark": seen, **columns})
    labels = pd.concat(
        verdicts[["id"]].assign(annotator=a, mark=np.where(draw.random(n) < 0.05, draw.choice(RELATIONS, n), truth))
        for a in ("ada", "bo", "cy")
    )
    return verdicts, labels, truth


def test_kinds_have_nominal_kappa_as_another_library_has_it():
    from sklearn.metrics import cohen_kappa_score

    verdicts, labels, _ = related()
    result = audited(verdicts, labels[labels["annotator"] == "ada"])
    own = figures(result, "oak")
    people = labels.loc[labels["annotator"] == "ada", "mark"]
    assert own["kappa_of_kinds"].value == pytest.approx(cohen_kappa_score(verdicts["mark"], people))
    assert not {"passed", "mean_mark", "corrected", "length_bias"} & set(own)
    assert "Cohen's kappa of kinds with people 0." in result.sentence
    assert "marks are 3 kinds without an order: Location, Owner, PartOf" in " ".join(result.notes)


def test_kinds_have_a_confusion_shares_and_the_test_by_equality():
    verdicts, labels, truth = related(wrong=0.5)
    result = audited(verdicts, labels)
    confusion = judge_audit.confusion(result)
    first = confusion.iloc[0]
    assert (first["judge says"], first["people say"]) == ("Owner", "Location")
    assert confusion["answers"].sum() == result.items[["mark", "human"]].notna().all(axis=1).sum()
    shares = result.tables["kinds"].set_index("kind")
    for kind in RELATIONS:
        assert shares.loc[kind, "says"] == pytest.approx((verdicts["mark"] == kind).mean())
        assert abs(shares.loc[kind, "corrected"] - (truth == kind).mean()) < 0.03
    assert result.tables["replacing"]["judge_agrees"].between(0, 1).all()
    own = figures(result, "oak")
    assert own["beyond_people_kinds"].value == pytest.approx(
        own["kappa_of_kinds"].value - own["ceiling_of_kinds"].value
    )
    assert judge_audit.by_kind(result) is not None
    drawn = page("judge_audit", result)
    assert "Owner" in drawn
    assert result.files == {}
    assert judge_audit.summarise(result.items, n_resamples=200).estimates == result.summary.estimates


def test_a_judge_that_names_kinds_at_random_agrees_by_chance_alone():
    verdicts, labels, _ = related()
    draw = np.random.default_rng(8)
    result = audited(verdicts.assign(mark=draw.choice(RELATIONS, len(verdicts))), labels)
    kappa = figures(result, "oak")["kappa_of_kinds"]
    assert kappa.ci_low < 0 < kappa.ci_high
    assert result.light == "red"


def test_words_in_a_stated_order_are_ordered_marks():
    words = {"PartOf": "unsafe", "Location": "Unclear", "Owner": "safe"}
    verdicts, labels, _ = related()
    verdicts, labels = (frame.assign(mark=frame["mark"].map(words)) for frame in (verdicts, labels))
    order = ["unsafe", "unclear", "safe"]
    result = audited(verdicts, labels, kinds_in_order=order)
    numbers = {word: float(k) for k, word in enumerate(["unsafe", "Unclear", "safe"])}
    expected = audited(
        verdicts.assign(mark=verdicts["mark"].map(numbers)), labels.assign(mark=labels["mark"].map(numbers))
    )
    own = figures(result, "oak")
    assert own["weighted_kappa"].value == pytest.approx(figures(expected, "oak")["weighted_kappa"].value)
    with pytest.raises(BadInput, match="kinds_in_order: unsafe lacking"):
        audited(verdicts, labels, kinds_in_order=["unclear", "safe"])
    with pytest.raises(BadInput, match="marks are numbers"):
        audited({"id": ["a", "b"], "judge": "oak", "mark": [0, 1], "human": [0, 1]}, kinds_in_order=order)


def test_kinds_of_people_in_a_column_beside_the_verdicts():
    verdicts, _, truth = related()
    result = audited(verdicts.assign(human_ada=truth))
    assert figures(result, "oak")["kappa_of_kinds"].n == len(truth)


def test_repeated_kinds_count_by_the_commonest():
    verdicts, labels, _ = related(60)
    thrice = pd.concat(
        [verdicts.assign(repeat="1"), verdicts.assign(repeat="2"), verdicts.assign(repeat="3", mark="PartOf")]
    )
    once, again = audited(verdicts, labels), audited(thrice, labels)
    assert figures(again, "oak")["kappa_of_kinds"].value == figures(once, "oak")["kappa_of_kinds"].value
    assert figures(again, "oak")["repeat_equal"].value < 1
