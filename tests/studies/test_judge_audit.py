"""What the study of judges finds: the sample's planted judges by name, worked examples, corrections by formula."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from studied import page, whole

from evalbench import judge_audit, load
from evalbench.core.judged_rates import post_stratified_rate, rogan_gladen_rate
from evalbench.core.leanings import length_bias
from evalbench.core.ppi import corrected_mean
from evalbench.errors import BadInput
from evalbench.readers.corrections import read_corrections
from evalbench.studies.judge_audit.figures import around, lights_of


def audited(verdicts, labels=None, **options):
    tables = {"verdicts": pd.DataFrame(verdicts)} | ({} if labels is None else {"labels": pd.DataFrame(labels)})
    return judge_audit.evaluate(load(tables, study="judge_audit"), **{"n_resamples": 60, **options})


def zero_one(n=80, labelled=40, wrong=0.2, seed=3):
    """Verdicts of a judge that is wrong on a share, one annotator on some."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, 2, n).astype(float)
    mark = np.where(draw.random(n) < wrong, 1 - truth, truth)
    ids = [f"a{i:03}" for i in range(n)]
    verdicts = [{"id": i, "judge": "oak", "mark": m} for i, m in zip(ids, mark, strict=True)]
    labels = [{"id": i, "annotator": "ada", "mark": t} for i, t in zip(ids[:labelled], truth[:labelled], strict=True)]
    return verdicts, labels, mark, truth


def figure(result, metric, judge="oak"):
    return result.summary.estimate(metric, judge=judge)


# -- the sample -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("judge", "finding"),
    [
        ("birch: helpful", "prefers longer answers"),
        ("birch: complete", "prefers longer answers"),
        ("birch: helpful", "gameable: rewards a constant text"),
        ("cedar: helpful", "prefers the answer shown first"),
    ],
)
def test_the_planted_judges_are_caught_by_name(judge, finding):
    result = whole("judge_audit")
    rows = result.tables["agreement"].set_index("judge")
    assert finding in rows.loc[judge, "found"]
    drawn = page("judge_audit", result)
    assert finding in drawn
    assert "alder-mini and alder are nearly the same judge" in drawn


def test_the_good_judges_pass_all_probes():
    result = whole("judge_audit")
    rows = result.tables["agreement"].set_index("judge")
    good = ["alder: helpful", "alder: complete", "alder-mini: helpful"]
    assert (rows.loc[good, "found"] == "").all()
    assert (rows.loc[good, "may_replace"] == "may replace").all()
    assert rows.loc[good, "use"].str.contains("may take the place of an annotator").all()
    assert rows.loc[["birch: helpful", "cedar: helpful"], "use"].str.contains("not to be used in place of people").all()
    assert (
        "To be used in place of an annotator: alder-mini: helpful, alder: complete, alder: helpful" in result.sentence
    )


def test_every_probe_has_a_figure_or_a_reason():
    probes = whole("judge_audit").tables["probes"]
    assert probes.groupby("judge").size().eq(8).all()
    without = probes["value"].isna()
    assert (probes.loc[without, "why"] != "").all()
    assert probes.loc[~without, "light"].isin(["green", "yellow", "red", "grey"]).all()


def test_the_page_has_both_bars_the_comment_and_the_method():
    result = whole("judge_audit")
    drawn = page("judge_audit", result)
    for text in (
        "judge says",
        "→ corrected",
        "60 labels",
        "points too kind",
        "With twice the labels",
        "pairwise, both orders",
    ):
        assert text in drawn, text
    assert "Seems to reward length" in drawn
    assert "4 judges, worth" in drawn


def test_the_null_answer_is_in_no_other_figure():
    result = whole("judge_audit")
    for e in result.summary.estimates:
        assert e.n <= 120, e.place
    assert {e.n for e in result.summary.estimates if e.metric == "null_answer"} == {40}
    assert "120 items" in result.sentence


def test_a_green_probe_whose_interval_reaches_further_does_not_acquit():
    rows = whole("judge_audit").tables["probes"]
    wide = rows[(rows["probe"] == "length") & (rows["light"] == "green")]
    inside = (wide["low"] >= -0.2) & (wide["high"] <= 0.2)
    assert (wide.loc[inside, "finding"] == "no liking for length").all()
    assert (wide.loc[~inside, "finding"] == "nothing shown, and the interval reaches out of the green").all()
    assert (~inside).any()
    assert (rows[(rows["probe"] == "place") & (rows["light"] == "green")]["finding"] == "no liking for a place").all()


def test_where_the_noise_of_a_rate_comes_from():
    draw = np.random.default_rng(9)
    steady = [{"id": f"a{i:02}", "judge": "oak", "repeat": r, "mark": float(i % 2)} for i in range(60) for r in (1, 2)]
    wavers = [{**row, "judge": "reed", "mark": float(draw.integers(0, 2))} for row in steady]
    result = audited([*steady, *wavers])
    noise = {one["judge"]: one for one in result.trials["noise"]}
    shares = {judge: {c["component"]: c["share"] for c in one["components"]} for judge, one in noise.items()}
    assert shares["oak"] == {"items": 1.0, "judging": 0.0}
    assert shares["reed"]["judging"] > 0.5
    assert noise["reed"]["sentence"].startswith("Two verdicts an answer shrink the interval from ")
    assert "Where the noise comes from" in page("judge_audit", result)
    assert audited([row for row in steady if row["repeat"] == 1]).trials == {}


def test_ties_of_a_panel_are_said():
    panel = whole("judge_audit").tables["panel"].set_index("criterion")
    assert "ties counted as wrong" in panel.loc["complete", "words"]


# -- worked examples ------------------------------------------------------------------------------


def test_kappa_of_one_annotator_is_that_of_another_library():
    verdicts, labels, mark, truth = zero_one()
    result = audited(verdicts, labels)
    assert figure(result, "kappa").value == pytest.approx(cohen_kappa_score(mark[:40], truth[:40]), abs=1e-12)
    assert figure(result, "kappa").n == 40


def test_kappa_of_ordered_marks_is_weighted():
    draw = np.random.default_rng(5)
    truth = draw.integers(1, 6, 60)
    mark = np.clip(truth + draw.integers(-1, 2, 60), 1, 5)
    ids = [f"a{i:02}" for i in range(60)]
    verdicts = [{"id": i, "judge": "oak", "mark": float(m)} for i, m in zip(ids, mark, strict=True)]
    labels = [{"id": i, "annotator": "ada", "mark": float(t)} for i, t in zip(ids, truth, strict=True)]
    found = figure(audited(verdicts, labels), "weighted_kappa")
    assert found.value == pytest.approx(cohen_kappa_score(mark, truth, weights="quadratic"), abs=1e-12)


def test_agreement_by_hand():
    """Two annotators, four answers: the pairs (judge, annotator) are 1-1 1-1, 1-1 1-0, 0-0 0-0, 0-0 0-1."""
    labels = {"a": (1, 1), "b": (1, 0), "c": (0, 0), "d": (0, 1)}
    marks = {"a": 1, "b": 1, "c": 0, "d": 0}
    result = audited(
        [{"id": i, "judge": "oak", "mark": m} for i, m in marks.items()],
        [
            {"id": i, "annotator": n, "mark": y}
            for i, ys in labels.items()
            for n, y in zip(("ada", "bo"), ys, strict=True)
        ],
    )
    # 6 of 8 pairs agree, by chance half of them: (0.75 − 0.5) / (1 − 0.5)
    assert figure(result, "kappa").value == pytest.approx(0.5)
    # of the annotators 2 of 4 agree, by chance half: 0
    assert figure(result, "ceiling").value == pytest.approx(0.0)
    assert result.light == "grey"
    assert "4 labelled answers, and under 20 there is no light" in result.sentence


def test_corrected_rates_are_those_of_core():
    verdicts, labels, mark, truth = zero_one()
    human = np.where(np.arange(80) < 40, truth, np.nan)
    for drawn, formula in (("random", post_stratified_rate), ("elsewhere", rogan_gladen_rate)):
        found, expected = figure(audited(verdicts, labels, labels_drawn=drawn), "corrected"), formula(mark, human)
        assert (found.value, found.ci_low, found.ci_high) == pytest.approx(
            (expected.value, expected.ci_low, expected.ci_high)
        )


def test_corrected_means_are_those_of_core():
    draw = np.random.default_rng(8)
    truth = draw.random(90)
    mark = np.clip(truth + 0.1 + draw.normal(0, 0.1, 90), 0, 1)
    ids = [f"a{i:02}" for i in range(90)]
    verdicts = [{"id": i, "judge": "oak", "mark": float(m)} for i, m in zip(ids, mark, strict=True)]
    labels = [{"id": i, "annotator": "ada", "mark": float(t)} for i, t in zip(ids[:40], truth[:40], strict=True)]
    result = audited(verdicts, labels)
    expected = corrected_mean(mark, np.where(np.arange(90) < 40, truth, np.nan))
    found = figure(result, "corrected_mean")
    assert (found.value, found.ci_low, found.ci_high) == pytest.approx(
        (expected.value, expected.ci_low, expected.ci_high)
    )
    assert figure(result, "too_kind_mean").value == pytest.approx(mark.mean() - expected.value)


@pytest.mark.parametrize("labelled", [20, 60, 98])
def test_twice_the_labels_of_marks_make_the_interval_narrower(labelled):
    draw = np.random.default_rng(4)
    truth = draw.random(200)
    mark = np.clip(0.4 * truth + 0.5 + draw.normal(0, 0.2, 200), 0, 1)
    verdicts = [{"id": f"a{i:03}", "judge": "oak", "mark": float(m)} for i, m in enumerate(mark)]
    labels = [{"id": f"a{i:03}", "annotator": "ada", "mark": float(t)} for i, t in enumerate(truth[:labelled])]
    assert 0.1 < audited(verdicts, labels).tables["rates"]["narrower"].iloc[0] <= 0.3


def test_labels_with_probabilities_are_weighted_by_them():
    verdicts, labels, *_ = zero_one()
    for i, label in enumerate(labels):
        label["probability"] = 0.25 if i % 2 else 0.5
    result = audited(verdicts, labels)
    assert result.parameters["labels_drawn"] == "probability"
    assert figure(result, "corrected").method == "weighted by the probability of being drawn"


def test_labels_of_items_that_somebody_looked_for_are_left_out_unless_it_is_said_how_they_were_chosen():
    verdicts, labels, *_ = zero_one()
    without = audited(verdicts, labels[:20])
    looked_for = [label | {"selected_by": "light=red" if i >= 20 else ""} for i, label in enumerate(labels)]
    result = audited(verdicts, looked_for)
    assert [e.row() for e in result.summary.estimates] == [e.row() for e in without.summary.estimates]
    assert any(str(note).startswith("20 labels left out, given to items found with a filter") for note in result.notes)
    with pytest.raises(BadInput, match="all 20 labels were given to items found with a filter"):
        audited(verdicts, looked_for[20:])
    taken = audited(verdicts, looked_for, labels_drawn="elsewhere")
    assert figure(taken, "corrected") == figure(audited(verdicts, labels, labels_drawn="elsewhere"), "corrected")


def test_the_leaning_to_length_is_that_of_core():
    draw = np.random.default_rng(6)
    truth, length = draw.integers(0, 2, 70).astype(float), draw.integers(10, 500, 70).astype(float)
    mark = np.where(length > 250, 1.0, truth)
    ids = [f"a{i:02}" for i in range(70)]
    verdicts = [{"id": i, "judge": "oak", "mark": m, "length": n} for i, m, n in zip(ids, mark, length, strict=True)]
    labels = [{"id": i, "annotator": "ada", "mark": t} for i, t in zip(ids, truth, strict=True)]
    result = audited(verdicts, labels)
    expected = length_bias(mark, length, truth, n_resamples=50)
    assert figure(result, "length_bias").value == pytest.approx(expected.partial.value)
    row = result.tables["probes"].set_index("probe").loc["length"]
    assert row["finding"] == "prefers longer answers"
    assert f"of a judge by length alone {expected.yardstick.value:.2f}" in row["why"]
    assert (
        "Spearman of mark and length is" in audited(verdicts).tables["probes"].set_index("probe").loc["length", "why"]
    )


def test_a_judge_that_favours_its_family_is_named():
    draw = np.random.default_rng(9)
    truth = draw.integers(0, 2, 120).astype(float)
    models = np.where(np.arange(120) % 2, "openai/gpt-4o-mini", "mistralai/Mistral-7B-Instruct")
    mark = np.where((np.arange(120) % 2 == 1) & (draw.random(120) < 0.6), 1.0, truth)
    ids = [f"a{i:03}" for i in range(120)]
    verdicts = [
        {"id": i, "judge": "openai/gpt-4o", "model": m, "mark": x} for i, m, x in zip(ids, models, mark, strict=True)
    ]
    result = audited(verdicts, [{"id": i, "annotator": "ada", "mark": t} for i, t in zip(ids, truth, strict=True)])
    assert result.tables["agreement"]["found"].str.contains("favours its own family").all()
    assert figure(result, "family_gap", "openai/gpt-4o").value == pytest.approx(
        (mark - truth)[1::2].mean() - (mark - truth)[::2].mean()
    )


def test_a_judge_that_contradicts_itself_is_named():
    draw = np.random.default_rng(9)
    verdicts = [
        {"id": f"a{i:02}", "judge": "oak", "repeat": r, "mark": float(draw.integers(0, 2))}
        for i in range(50)
        for r in (1, 2)
    ]
    result = audited(verdicts)
    assert result.tables["agreement"]["found"].tolist() == ["contradicts itself when asked again"]
    assert "for single verdicts" in result.sentence


def test_an_order_in_an_answer_that_is_obeyed_is_named():
    plain = [{"id": f"a{i:02}", "judge": "oak", "mark": float(i % 2)} for i in range(50)]
    ordered = [{**row, "probe": "injected", "mark": 1.0} for row in plain]
    result = audited([*plain, *ordered])
    assert figure(result, "raised").value == pytest.approx(0.5)
    assert figure(result, "passed").value == pytest.approx(0.5)
    assert result.tables["agreement"]["found"].tolist() == ["obeys orders written into answers"]


def test_an_annotator_with_few_items_is_named():
    draw = np.random.default_rng(2)
    truth = draw.integers(0, 2, 60).astype(float)
    verdicts = [{"id": f"a{i:02}", "judge": "oak", "mark": t} for i, t in enumerate(truth)]
    labels = [
        {"id": f"a{i:02}", "annotator": name, "mark": t if draw.random() > 0.1 else 1 - t}
        for name, n in (("ada", 60), ("bo", 60), ("cy", 60), ("dee", 12))
        for i, t in enumerate(truth[:n])
    ]
    row = audited(verdicts, labels).tables["agreement"].iloc[0]
    assert "dee (12)" in row["left_out"]
    assert row["may_replace"] == "may replace"


def test_the_correction_can_be_read_again(tmp_path):
    result = whole("judge_audit")
    (tmp_path / "correction.json").write_bytes(result.files["correction.json"])
    found = {(one.judge, one.criterion): one for one in read_corrections(tmp_path / "correction.json")}
    assert set(found) == {(r.asked, r.criterion) for r in result.tables["agreement"].itertuples()}
    one = found["birch", "helpful"]
    assert (len(one.judged), one.annotators, one.prompts) == (60, 3, ("helpful-v1",))
    assert one.population["models"] == ["heron-2b"]


# -- lights ---------------------------------------------------------------------------------------


def test_lights_around_a_centre_have_no_gap():
    bands = around(0.5, {"green_to": 0.05, "yellow_to": 0.1})
    assert bands.lights([0.0, 0.4, 0.45, 0.5, 0.55, 0.6, 0.61]).tolist() == [
        "red", "yellow", "green", "green", "green", "yellow", "red",
    ]  # fmt: skip


def test_lights_can_be_set():
    verdicts, labels, *_ = zero_one()
    assert audited(verdicts, labels, green_from=0.2, yellow_from=0.1).light == "green"
    assert lights_of(0.6, 0.4, {"unparsed": {"green_to": 0.2, "yellow_to": 0.3}})["unparsed"].light(0.1) == "green"


def test_a_judge_that_gives_one_mark_is_named():
    verdicts, labels, *_ = zero_one()
    result = audited([{**row, "mark": 1} for row in verdicts], labels)
    assert any("oak gave every answer the same mark, 1" in note for note in result.notes)


def test_a_judge_without_labels_is_grey_and_says_so():
    verdicts, *_ = zero_one()
    result = audited(verdicts)
    assert result.light == "grey"
    assert "oak cannot be judged yet: 0 labelled answers, and at least 20 are needed" in result.sentence
    assert "is not known, since no answer has both" in result.sentence
    assert result.sentence.count("0 labelled") == 1
    assert any("No answer is labelled by people" in note for note in result.notes)
    assert result.files == {}
    json.dumps(result.to_json(), allow_nan=False)
    assert "no value" in page("judge_audit", result)
