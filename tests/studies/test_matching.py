"""The study: worked checks of its page, faults of tables, order of rows, weights without embedding again."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from evalbench import BadInput, load, matching

RULE = "Do not promise health."


def frames(truth, predictions, texts=None):
    """Rows written (sample, id, start, end) and (sample, id, checker, start, end), all under one rule."""
    texts = texts or {row[0]: "x" * 100 for row in [*truth, *predictions]}
    return {
        "truth": pd.DataFrame([(*row, RULE) for row in truth], columns=["id", "violation_id", "start", "end", "rule"]),
        "predictions": pd.DataFrame(
            [(*row, RULE) for row in predictions], columns=["id", "violation_id", "model", "start", "end", "rule"]
        ),
        "documents": pd.DataFrame(texts.items(), columns=["id", "text"]),
    }


A = "fir@1|oak"


def judged(data, **options):
    return matching.evaluate(load(data, study="matching"), embed="jaccard", n_resamples=200, **options)


def test_three_of_four_predictions_right_and_three_of_five_truths_found():
    truth = [("s1", "1", 0, 10), ("s1", "2", 20, 30), ("s2", "1", 0, 10), ("s2", "2", 40, 50), ("s3", "1", 0, 5)]
    predictions = [("s1", "a", A, 0, 10), ("s1", "b", A, 20, 30), ("s2", "a", A, 0, 10), ("s3", "a", A, 50, 60)]
    result = judged(frames(truth, predictions))
    assert result.estimate("precision", model=A).value == 3 / 4
    assert result.estimate("recall", model=A).value == 3 / 5
    assert result.estimate("f1", model=A).value == pytest.approx(0.667, abs=5e-4)
    assert result.estimate("match_score", model=A).value == pytest.approx(3 / 5)
    assert result.estimate("match_quality", model=A).value == pytest.approx(1)


def test_a_sample_with_neither_counts_in_n_and_contributes_nothing():
    data = frames([("s1", "1", 0, 10)], [("s1", "a", A, 0, 10)], {"s1": "x" * 20, "clean": "y" * 20})
    result = judged(data)
    assert result.estimate("f1", model=A).n == 2
    assert result.estimate("f1", model=A).value == 1
    assert result.estimate("macro_f1", model=A).n_undefined == 1


def test_weights_change_without_scoring_pairs_again():
    pairs = matching.score_pairs(matching.prepare(load("house_style_curated@1.1.0", study="matching")), embed="jaccard")
    plain = matching.match(pairs)
    spans_only = matching.match(pairs, weights={"text_overlap": 1.0})
    assert spans_only.matched.sum() != plain.matched.sum()


def test_the_seeds_reading_lets_an_inadmissible_pair_block_its_row():
    # Without overlap, but alike in all else: the best pair under ha weights, and not admissible.
    texts = {"s": "x" * 100}
    data = frames([("s", "1", 0, 10)], [("s", "a", A, 5, 15), ("s", "b", A, 50, 60)], texts)
    data["truth"] = data["truth"].assign(category="c", explanation="why so", correction="do so")
    data["predictions"] = data["predictions"].assign(
        category=["d", "c"], explanation=["else", "why so"], correction=["other", "do so"]
    )
    weights = {
        "text_overlap": 0.3,
        "rule_similarity": 0.3,
        "category_match": 0.1,
        "explanation_similarity": 0.2,
        "correction_similarity": 0.1,
    }
    options = {"std_weights": weights, "score_threshold": 0.35}
    assert judged(data, filter="before", **options).estimate("f1", model=A).value == pytest.approx(2 / 3)
    assert judged(data, filter="after", **options).estimate("f1", model=A).value == 0


def test_light_with_thresholds_and_its_stability():
    result = matching.evaluate(
        load("house_style_curated@1.1.0", study="matching"),
        embed="jaccard",
        n_resamples=200,
        yellow_from=0.5,
        green_from=0.8,
    )
    assert result.light == "red"
    assert 0.9 <= result.verdict.stability <= 1


def test_a_predicted_context_that_is_not_in_the_text_is_a_row_and_a_false_positive():
    data = frames([("s", "1", 0, 10)], [("s", "a", A, 0, 10)], {"s": "Drink this and feel well for ever."})
    data["predictions"]["context"] = ""
    data["predictions"] = pd.concat(
        [
            data["predictions"],
            pd.DataFrame(
                [{"id": "s", "violation_id": "b", "model": A, "rule": RULE, "context": "Wholly invented passage"}]
            ),
        ]
    )
    result = judged(data)
    assert result.tables["faults"]["violation_id"].tolist() == ["b"]
    assert result.estimate("fp", model=A).value == 1
    assert any("are not in their text" in note for note in result.notes)


def test_contexts_are_located_exactly_by_white_space_and_fuzzily():
    text = "Drink this and  feel well for ever, my friend."
    data = frames([("s", "1", 0, 5)], [("s", "a", A, 0, 5)], {"s": text})
    more = [("b", "feel well"), ("c", "and feel well"), ("d", "feel weII for ever, my friend")]
    data["predictions"] = pd.concat(
        [
            data["predictions"],
            pd.DataFrame([{"id": "s", "violation_id": i, "model": A, "rule": RULE, "context": c} for i, c in more]),
        ]
    )
    rows = judged(data).tables["violations"].set_index("violation_id")
    assert rows.loc["b", "located"] == "exact"
    assert rows.loc["c", "located"] == "white space"
    assert rows.loc["d", "located"] == "fuzzy"
    start, end = json.loads(rows.loc["c", "spans"])[0]
    assert text[start:end] == "and  feel well"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d["truth"].drop(columns="rule", inplace=True), "column rule: is missing"),
        (lambda d: d["truth"].__setitem__("end", [500]), "span 0–500 is not inside its text of 20 characters"),
        (
            lambda d: d["truth"].__setitem__("start", ["zero"]),
            'expected a whole number, at least 0 (may be empty), found "zero"',
        ),
        (lambda d: d["predictions"].__setitem__("id", ["t"]), "sample t has no text in documents"),
        (lambda d: d.__setitem__("truth", pd.concat([d["truth"], d["truth"]])), "are duplicated together"),
        (
            lambda d: d["truth"].drop(columns=["start", "end"], inplace=True),
            "neither start and end nor spans nor a context",
        ),
        (
            lambda d: d.__setitem__(
                "truth", d["truth"].drop(columns=["start", "end"]).assign(context="not there at all")
            ),
            "its context is not in the text: 'not there at all'",
        ),
    ],
)
def test_faults_of_tables_are_told(change, said):
    data = frames([("s", "1", 0, 10)], [("s", "a", A, 0, 10)], {"s": "Drink this, be well."})
    change(data)
    with pytest.raises(BadInput) as error:
        judged(data)
    assert said in str(error.value)


def test_faults_of_the_schema_and_of_the_study_come_in_one_message():
    truth = [("s", "1", 0, 10), ("s", "2", 3, 99), ("t", "1", "x", 10), ("u", "1", 0, 3), ("u", "1", 0, 3)]
    predicted = [("s", "a", "fir", 0, 10), ("s", "b", A, 0, 500), ("t", "a", A, 0, 5), ("v", "a", A, 0, 5)]
    data = frames(truth, predicted, {"s": "Drink this, be well.", "t": "Be well.", "u": "Well."})
    data["documents"] = data["documents"].assign(text=["Drink this, be well.", "", "Well."])
    with pytest.raises(BadInput) as error:
        load(data, study="matching")
    assert list(error.value.faults) == [
        'frame truth: column start: expected a whole number, at least 0 (may be empty), found "x" (row 3)',
        'frame truth: column id, violation_id: are duplicated together, found "u|1" (rows 4, 5)',
        "frame documents: column text: empty; expected a text (row 2)",
        "predictions: sample v has no text in documents",
        "truth: violation 2 of sample s: span 3–99 is not inside its text of 20 characters",
        "predictions: violation b of sample s: span 0–500 is not inside its text of 20 characters",
    ]


@pytest.mark.parametrize(
    "change",
    [lambda d: d["truth"].drop(columns="rule"), lambda d: d["truth"].assign(rule="")],
    ids=["a column is missing", "no row is left"],
)
def test_a_table_that_cannot_be_read_brings_no_further_faults(change):
    data = frames([("s", "1", 0, 10)], [("s", "a", "fir", 0, 500)], {"s": "Drink this, be well."})
    data["truth"] = change(data)
    with pytest.raises(BadInput) as error:
        load(data, study="matching")
    assert len(error.value.faults) == 1


@pytest.mark.parametrize("place", [{"start": [0], "end": [9]}, {"spans": [[[0, 9]]]}, {"context": ["Drink this"]}])
def test_a_sample_without_a_text_is_one_fault(place):
    data = frames([("s", "1", 0, 10)], [("s", "a", A, 0, 10)], {"s": "Drink this, be well."})
    lost = data["truth"].drop(columns=["start", "end"]).assign(id="t", violation_id="2", **place)
    data["truth"] = pd.concat([data["truth"], lost])
    with pytest.raises(BadInput) as error:
        judged(data)
    assert str(error.value).splitlines()[1:] == ["  - truth: sample t has no text in documents"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"std_weights": {"text_overlap": 0.5}}, "std_weights must sum to 1, got 0.5"),
        ({"std_weights": {"overlap": 1.0}}, "component must be one of text_overlap"),
        (
            {"std_weights": {"text_overlap": 1.5, "rule_similarity": -0.5}},
            "rule_similarity must be at least 0, got -0.5",
        ),
        ({"assignment": "best"}, "assignment must be one of greedy, optimal; got 'best'"),
        ({"yellow_from": 0.5}, "green_from and yellow_from are set together or not at all; got yellow_from alone"),
        ({"light_on": "bleu"}, "light_on must be one of f1, match_score, ha_f1; got 'bleu'"),
        ({"weights_file": "/nowhere.json"}, "weights_file /nowhere.json"),
    ],
)
def test_options_that_cannot_be_taken(options, said):
    data = frames([("s", "1", 0, 10)], [("s", "a", A, 0, 10)])
    with pytest.raises(BadInput) as error:
        judged(data, **options)
    assert said in str(error.value)


def test_a_weights_file_with_a_doubled_key_is_refused(tmp_path):
    (tmp_path / "w.json").write_text('{"parameters": {"score_threshold": 0.1, "score_threshold": 0.9}}')
    data = frames([("s", "1", 0, 10)], [("s", "a", A, 0, 10)])
    with pytest.raises(BadInput, match='key "score_threshold" more than once'):
        judged(data, weights_file=str(tmp_path / "w.json"))


def test_nested_documents_read_as_flat_tables(root):
    nested = load(root / "tests" / "data" / "house_style_nested.jsonl", study="matching")
    assert len(nested["documents"]) == 5
    result = matching.evaluate(nested, embed="jaccard", n_resamples=50)
    assert result.estimate("tp", model=result.items["model"].iloc[0]).value is not None


def test_texts_come_out_as_they_went_in():
    odd = ["None", "NA", "007", "<script>alert(1)</script>", "a\u202eb", 'x" onerror="y']
    rows = [(f"{i:03d}", "1", 0, 3) for i in range(len(odd))]
    data = frames(rows, [(*r[:2], A, *r[2:]) for r in rows], {f"{i:03d}": t + "   " for i, t in enumerate(odd)})
    data["truth"]["explanation"] = odd
    result = judged(data)
    assert sorted(result.items["id"]) == [f"{i:03d}" for i in range(len(odd))]
    truth = result.tables["violations"].query("side == 'truth'").sort_values("id")
    assert truth["explanation"].tolist() == odd


def test_the_worst_texts_are_shown_of_every_checker_in_turn():
    truth = [(name, "t", 0, 10) for name in "abc"]
    worse = [(name, f"f{i}", "worse@1|oak", 50, 60) for i, name in enumerate("abc")]
    data = frames(truth, [*worse, ("b", "g1", "better@1|oak", 0, 10)])
    shown = matching.documents(judged(data), rows=2)
    titles = ["a, better@1|oak", "a, worse@1|oak"]
    assert [title in shown for title in titles] == [True, True]
    assert shown.count("worse@1|oak") == shown.count("better@1|oak")
    assert "better@1|oak" not in matching.documents(judged(data), checker="worse@1|oak")
