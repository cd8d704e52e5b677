"""Labels and corrections set beside the items of a study: what is refused, what is counted, and coverage through a study."""

import json

import numpy as np
import pandas as pd
import pytest

from evalbench.core.measures import mean_of
from evalbench.core.notes import Note
from evalbench.errors import BadInput
from evalbench.judge.criteria import Criterion
from evalbench.kit.judging import Heard
from evalbench.kit.labelled import figure_of, given
from evalbench.label.items import read_items
from evalbench.label.marks import Marks
from evalbench.label.merged import merge
from evalbench.label.page import page_and_key
from evalbench.label.plan import plan_labels
from evalbench.label.saved import Key, read_saved
from evalbench.readers.corrections import Learnt, written
from evalbench.report.rows import csv_text
from evalbench.studies import load, rag_generation

nan = np.nan
P1, P2, P3 = "a" * 64, "b" * 64, "c" * 64  # as hashes of prompts
RIGHT = (mean_of("right", title="right answers"), mean_of("kind"))
ITEMS = pd.DataFrame({"id": ["a", "b", "c"] * 2, "model": ["fern"] * 3 + ["oak"] * 3, "right": [1.0, 0, 1, 1, 1, nan]})
ONE = ITEMS.head(3)


def file(tmp_path, text, name="labels.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def columns(tmp_path, text, items=ITEMS, **options):
    found = given(RIGHT, ITEMS, labels=file(tmp_path, text), **options).on(items)
    return {c: found.items[c].tolist() for c in found.items if c not in items}, found.notes


def test_labels_are_set_beside_the_item_and_model_that_they_name(tmp_path):
    text = "doc_id,system,annotator,criterion,score\nb,fern,ann,right,1\nb,oak,ann,right,0\nc,fern,ann,right,1\n"
    added, notes = columns(tmp_path, text)
    assert added == {"label:right": pytest.approx([nan, 1, 1, nan, 0, nan], nan_ok=True)}
    assert notes == ("Labels of right: 3 items labelled.",)


def test_a_criterion_named_as_the_title_is_that_figures_and_each_of_several_its_own(tmp_path):
    text = "id,criterion,mark\na,Right answers,1\nb,kind,0\n"
    added, _ = columns(tmp_path, text, ONE)
    assert set(added) == {"label:right", "label:kind"}
    assert figure_of("rightness", {"right": RIGHT[0]}) == ""


def test_majority_ties_skipped_and_unjudged_are_counted(tmp_path):
    text = (
        "id,model,annotator,criterion,mark,skipped\na,fern,ann,right,1,\na,fern,bob,right,0,\nb,fern,ann,right,1,\nb,fern,bob,right,1,\n"
        "b,fern,eve,right,0,\nc,fern,ann,right,,too long\na,elm,ann,right,1,\n"
    )
    added, notes = columns(tmp_path, text)
    assert added["label:right"][:3] == pytest.approx([nan, 1, nan], nan_ok=True)
    assert notes == (
        "1 label of model 'elm' or others not judged here.",
        "Labels of right: 1 item labelled; 2 by several people, whose majority counts; 1 item left out, since as many said "
        "the one as the other; 1 item skipped by those who labelled.",
    )


def test_a_scale_of_its_own_becomes_that_of_the_figure(tmp_path):
    text = "id,annotator,mark\na,ann,4\nb,ann,1\nb,bob,2\n"
    added, notes = columns(tmp_path, text, ONE, labels_of="right", labels_scale=[0, 4])
    assert added["label:right"] == pytest.approx([1, 0.375, nan], nan_ok=True)
    assert "whose mean counts" in notes[0]


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("id,mark\na,1\n", {}, "of which figure are the labels? no criterion is named; name it with labels_of: right, kind"),
        ("id,criterion,mark\na,x,1\na,y,1\n", {"labels_of": "right"}, "the criteria are x, y"),
        ("id,mark\nzz,1\n", {"labels_of": "right"}, "column id: 'zz' there is no such item (row 2)"),
        ("id,mark\na,3\nzz,1\n", {"labels_of": "right"}, "column mark: 3 is off the scale 0–1 of right (labels_scale) (row 2)"),
        ("id,mark\na,1\n", {"labels_of": "right"}, "column model: 2 models are judged, and labels do not say whose"),
        ("id,model,mark\na,elm,1\n", {"labels_of": "right"}, "all labels are of model 'elm' or others that are not judged"),
        ("id,mark\na,1\n", {"labels_of": "wrong"}, "labels_of must be one of right, kind; got 'wrong'"),
        ("id,mark\na,1\n", {"labels_of": "right", "labels_drawn": "luck"}, "labels_drawn must be one of random, by_mark, by_class"),
        ("id,mark\na,1\n", {"labels_of": "right", "labels_scale": [4, 0]}, "labels_scale must be two numbers"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(tmp_path, text, options, said):
    with pytest.raises(BadInput) as error:
        columns(tmp_path, text, **options)
    assert said in str(error.value)


def test_options_without_their_file_are_refused():
    with pytest.raises(BadInput, match="labels_of and labels_scale need labels"):
        given(RIGHT, labels_of="right")


def test_without_labels_the_items_are_as_they_were():
    found = given(RIGHT, ITEMS).on(ITEMS)
    assert found.items.equals(ITEMS)
    assert (found.options, found.notes) == ({"correction_fit": None}, ())


# -- corrections -----------------------------------------------------------------------------------


def correction(tmp_path, **changes):
    marks = (0.0, 0.0, 1.0, 1.0) * 10
    own = {
        "judge": "acme/judge",
        "criterion": "right",
        "judged": marks,
        "human": (0.0, 0.0, 1.0, 0.0) * 10,
        "prompts": ("p1",),
    }
    path = tmp_path / "correction.json"
    path.write_bytes(written([Learnt(**(own | changes))]))
    return str(path)


def heard(judge="acme/judge", prompts=(P1, P2)):
    return Heard(judge, (), (pd.DataFrame({"prompt_hash": list(prompts)}),), {})


def test_a_correction_is_fitted_and_its_error_is_that_of_its_labels(tmp_path):
    """Marked 0: 20 labels, none good; marked 1: 20, half of them good. s² over all: 20 · ¼ / 40 = 1/8."""
    found = given(RIGHT, correction=correction(tmp_path, population={"name": "arena"})).on(ONE, heard())
    fit = found.options["correction_fit"]
    assert (fit["marks"], fit["expected"], fit["block"], fit["learnt_on"]) == ([0, 1], [0, 0.5], [0, 1], "arena")
    expected = [np.sqrt(2 / 8 / 22 / 20), np.sqrt((20 / 4 + 2 / 8) / 22 / 20)]
    assert fit["error"] == pytest.approx(expected)
    json.dumps(fit, allow_nan=False)


def test_another_scale_of_the_correction_becomes_that_of_the_figure(tmp_path):
    marks = tuple(4 * m for m in (0.0, 0.0, 1.0, 1.0) * 10)
    path = correction(tmp_path, judged=marks, human=tuple(4 * m for m in (0.0, 0.0, 1.0, 0.0) * 10), scale=(0.0, 4.0))
    assert given(RIGHT, correction=path).on(ONE, heard()).options["correction_fit"]["expected"] == [0, 0.5]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"judge": "acme/other"}, "learnt for the judge acme/other, and the judge here is acme/judge"),
        ({"prompts": (P3,)}, "learnt with another prompt (hash cccccccccccc) than the judge was asked with here (aaaaaaaaaaaa, bbbbbbbbbbbb)"),
        ({"criterion": "polite"}, "its criteria are polite (acme/judge); name the figure with labels_of, one of right, kind"),
    ],
)  # fmt: skip
def test_a_correction_of_something_else_is_refused_with_its_reason(tmp_path, changes, said):
    with pytest.raises(BadInput) as error:
        given(RIGHT, correction=correction(tmp_path, **changes)).on(ONE, heard())
    assert said in str(error.value)
    assert "correction.json" in str(error.value)


def test_labels_of_names_the_figure_of_a_correction_too(tmp_path):
    path = correction(tmp_path, criterion="polite")
    fit = given(RIGHT, correction=path, labels_of="kind").on(ONE.assign(kind=1.0), heard()).options["correction_fit"]
    assert fit["figure"] == "kind"


def test_what_cannot_be_checked_is_said(tmp_path):
    recorded = given(RIGHT, correction=correction(tmp_path)).on(ONE, heard("recorded:FILE", ()))
    assert recorded.notes == (
        "The verdicts are recorded, so whether the judge is acme/judge cannot be checked.",
        "Whether the correction was learnt with this prompt cannot be checked: this run has no hash of its prompt.",
    )
    version = given(RIGHT, correction=correction(tmp_path, prompts=("right-v1",))).on(ONE, heard())
    assert version.notes[0].endswith("cannot be checked: the correction has no hash of its prompt.")


# -- from plan to page to labels to figure -----------------------------------------------------------


def answers(n):
    return pd.DataFrame(
        {
            "id": [f"q{i:03}" for i in range(n)],
            "question": "How far may it go?",
            "answer": ["At most 5 km." if i % 3 else "At most 5 km. It is red." for i in range(n)],
            "contexts": [["A boat goes at most 5 km."]] * n,
        }
    )


def labels_by_page(tmp_path, plan, truth):
    """A plan through the page and what an annotator saves of it, merged."""
    path = tmp_path / "plan.jsonl"
    rows = plan.table.assign(answer="x").drop(columns="model", errors="ignore").to_dict("records")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    criterion = Criterion("faithfulness", "The answer keeps to its contexts.", {0: "it does not", 1: "it does"})
    _, content = page_and_key(read_items(path, criterion, seed=1), criterion, seed=1)
    key = Key(content["page"], content["criterion"], content["mode"], tuple(content["marks"]), content["items"])
    said = [
        {
            "page": key.page,
            "criterion": "faithfulness",
            "annotator": "ann",
            "id": name,
            "mark": truth[item["id"]],
            "at": "2026-01-01",
        }
        for name, item in key.items.items()
    ]
    saved = tmp_path / "saved.jsonl"
    saved.write_text("".join(json.dumps(row) + "\n" for row in said))
    labels = tmp_path / "labels.csv"
    labels.write_text(csv_text(merge(read_saved([saved], {key.page: key}), {key.page: key}).labels))
    return str(labels)


def test_labels_of_a_plan_keep_its_probabilities_up_to_the_corrected_figure(tmp_path):
    table = answers(60)
    data = load(table, study="rag_generation")
    run = rag_generation.evaluate(data, metrics=["faithfulness"], n_resamples=50)
    marks = Marks(run.items[["id"]], run.items[["faithfulness"]].to_numpy(), "faithfulness", 0.0, 1.0, 0.5)
    plan = plan_labels(marks, 24, seed=3)
    truth = {name: int(mark == 1) for name, mark in zip(run.items["id"], run.items["faithfulness"], strict=True)}
    labels = labels_by_page(tmp_path, plan, truth)
    found = rag_generation.evaluate(data, metrics=["faithfulness"], n_resamples=50, labels=labels)
    e = next(e for e in found.summary.estimates if e.corrects)
    assert e.method == "weighted by the probabilities with which labels were drawn"
    assert e.value == pytest.approx(np.mean([*truth.values()]))  # within a stratum people all say the same
    assert e.n_labels == 24


def items_of(score):
    n = len(score)
    base = {
        "id": [f"q{i:04}" for i in range(n)],
        "model": "fern",
        "faithfulness": score,
        "unscored": "",
        "undefined": "",
    }
    return pd.DataFrame(base | {"faithfulness_unscored": "", "faithfulness_undefined": ""})


def coverage(draw, n_simulated=600):
    """Share of intervals of ``rag_generation`` that hold the truth, and the mean error over its standard error."""
    held, errors = 0, []
    for seed in range(n_simulated):
        items, truth = draw(np.random.default_rng(seed), seed)
        summary = rag_generation.summarise(items, metrics=["faithfulness"], n_resamples=2)
        e = summary.estimate("faithfulness_corrected", model="fern")
        held += e.ci_low <= truth <= e.ci_high
        errors.append(e.value - truth)
    return held / n_simulated, float(np.mean(errors) / (np.std(errors) / np.sqrt(n_simulated)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "se", "sp", "n", "m"),
    [(0.7, 0.9, 0.8, 1000, 100), (0.9, 0.9, 0.7, 500, 50), (0.5, 0.8, 0.8, 200, 60), (0.95, 0.95, 0.6, 1000, 100)],
)
def test_corrected_rates_of_a_study_cover(p, se, sp, n, m):
    def draw(rng, seed):
        truth = (rng.random(n) < p).astype(float)
        score = np.where(truth == 1, rng.random(n) < se, rng.random(n) >= sp).astype(float)
        label = np.full(n, nan)
        label[rng.choice(n, m, replace=False)] = 1
        return items_of(score).assign(**{"label:faithfulness": np.where(np.isnan(label), nan, truth)}), p

    assert 0.93 <= coverage(draw)[0] <= 0.985


@pytest.mark.slow
def test_corrected_means_of_a_plan_are_unbiased_and_cover():
    def draw(rng, seed):
        score = rng.beta(2, 1.2, 400).round(1)
        truth = (rng.random(400) < score**2).astype(float)
        marks = Marks(pd.DataFrame({"id": items_of(score)["id"]}), score[:, None], "mark", 0.0, 1.0, 0.5)
        table = plan_labels(marks, 60, seed=seed).table.set_index("id")
        items = items_of(score)
        at = items["id"].isin(table.index).to_numpy()
        drawn = table.reindex(items["id"])
        columns = {
            "label:faithfulness": np.where(at, truth, nan),
            "label_probability:faithfulness": drawn["probability"].to_numpy(),
            "label_stratum:faithfulness": drawn["stratum"].fillna("").to_numpy(),
        }
        return items.assign(**columns), float(truth.mean())

    share, bias = coverage(draw)
    assert abs(bias) < 3.5
    assert 0.92 <= share <= 1.0  # of these items, so that the interval, which is for all like them, is wide


@pytest.mark.slow
def test_a_correction_learnt_elsewhere_covers_where_it_holds():
    rng = np.random.default_rng(0)
    truth = float(np.mean(rng.beta(2, 1.2, 400_000).round(1) ** 2))
    held = 0
    for seed in range(300):
        g = np.random.default_rng(seed)
        judged = g.beta(2, 1.2, 240).round(1)
        human = (g.random(240) < judged**2).astype(float)
        learnt = Learnt("acme/judge", "faithfulness", tuple(judged), tuple(human))
        fit = fit_of_learnt(learnt)
        summary = rag_generation.summarise(
            items_of(g.beta(2, 1.2, 500).round(1)), metrics=["faithfulness"], n_resamples=2, correction_fit=fit
        )
        e = summary.estimate("faithfulness_corrected", model="fern")
        held += e.ci_low <= truth <= e.ci_high
    assert 0.91 <= held / 300 <= 0.985


def fit_of_learnt(learnt):
    from evalbench.kit.corrected_means import fit_of

    fit = fit_of(learnt, "faithfulness", pd.DataFrame(), mean_of("faithfulness"), "", "model", 0, 10)
    return fit | {"checks": {"fern": {"gap": 0.0, "low": -0.1, "high": 0.1, "n": 50}}}


def test_labels_that_count_for_nothing_are_in_the_sentence(tmp_path):
    marks = "".join(f"{i},{who},right,{mark}\n" for i in "abc" for who, mark in (("ann", 1), ("bob", 0)))
    _, notes = columns(tmp_path, f"id,annotator,criterion,mark\n{marks}", ONE)
    assert isinstance(notes[-1], Note)
    assert "3 items left out, since as many said the one as the other" in notes[-1].short


def test_labels_of_items_in_another_writing_are_named(tmp_path):
    labels = file(tmp_path, "id,annotator,criterion,mark\nA,ann,right,1\nB,ann,right,1\n")
    notes = given(RIGHT, labels=labels).on(ONE).notes
    assert isinstance(notes[-1], Note)
    assert "2 labels of items that are not in the sample (they differ from known ones by case alone" in notes[-1].short


LOOKED_FOR = 'id,criterion,mark,selected_by\na,right,1,\nb,right,0,light=red\nc,right,0,"kind=1, sorted by right"\n'


def test_labels_of_items_that_somebody_looked_for_do_not_correct_a_figure(tmp_path):
    added, notes = columns(tmp_path, LOOKED_FOR, ONE)
    assert added["label:right"] == pytest.approx([1, nan, nan], nan_ok=True)
    assert (
        "2 labels left out, given to items found with a filter or in an order (first 'light=red'), which are not"
        in notes[0]
    )
    as_said, notes = columns(tmp_path, LOOKED_FOR, ONE, labels_drawn="by_class")
    assert as_said["label_by_class:right"] == [1, 0, 0]
    assert notes == ("Labels of right: 3 items labelled.",)


def test_labels_of_looked_for_items_alone_are_refused(tmp_path):
    with pytest.raises(
        BadInput, match="right: all 2 labels were given to items found with a filter .* are not a random part"
    ):
        columns(tmp_path, LOOKED_FOR.replace("a,right,1,\n", ""), ONE)


def test_a_plan_draws_also_items_that_somebody_looked_for(tmp_path):
    text = "id,criterion,mark,probability,selected_by\na,right,1,.5,light=red\nb,right,0,.5,light=red\n"
    added, _ = columns(tmp_path, text, ONE)
    assert added["label:right"] == pytest.approx([1, 0, nan], nan_ok=True)


def test_a_criterion_that_everybody_skipped_is_no_fault_of_the_others(tmp_path):
    added, notes = columns(tmp_path, "id,criterion,mark\na,right,1\nb,kind,\n", ONE)
    assert added["label:right"] == pytest.approx([1, nan, nan], nan_ok=True)
    assert "Labels of kind: 0 items labelled; 1 item skipped by those who labelled." in notes


def test_labels_that_were_mostly_looked_for_are_in_the_sentence(tmp_path):
    _, notes = columns(tmp_path, LOOKED_FOR, ONE)
    assert isinstance(notes[0], Note)
    _, notes = columns(tmp_path, LOOKED_FOR.replace("light=red", ""), ONE)
    assert not isinstance(notes[0], Note)
