"""Human correlation: what is counted, what has no score, and what is said where no light can be given."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from rated_panels import evaluate, panel, value

from evalbench.draw.band import verdict_html
from evalbench.draw.verdict import headline_table
from evalbench.readers.parameters import notebook_parameters
from evalbench.runs.parameters import checked_values
from evalbench.studies import human_correlation as study

LEVELS = {"summary": "documents", "dataset": "outputs", "system": "systems"}


def totals(result):
    texts = result.tables["texts"]
    return {
        "documents": texts["id"].nunique(), "outputs": len(texts), "systems": texts["model"].nunique()
    }  # fmt: skip


def gappy(rng, documents, systems, metric_gaps, human_gaps):
    """A panel with empty cells in a ready-made metric and in the human marks."""
    frame, ratings = panel(documents, systems, seed=int(rng.integers(1000)))
    frame.loc[rng.uniform(size=len(frame)) < metric_gaps, "good"] = np.nan
    marked = frame.loc[rng.uniform(size=len(frame)) >= human_gaps, ["id", "model"]]
    return frame, ratings.merge(marked, on=["id", "model"])


@pytest.mark.parametrize(("metric_gaps", "human_gaps"), [(0, 0), (0.3, 0), (0, 0.3), (0.5, 0.5), (0.9, 0.2)])
@pytest.mark.parametrize("level", LEVELS)
def test_everything_is_counted_once(level, metric_gaps, human_gaps):
    rng = np.random.default_rng(round(10 * metric_gaps + 100 * human_gaps))
    frame, ratings = gappy(rng, 12, 4, metric_gaps, human_gaps)
    result = evaluate(frame, ratings, metrics=["good", "bad"], level=level, trusted=["quality"])
    total = totals(result)
    for e in result.summary.estimates:
        if "scorer" in e.group:
            assert e.n_of == LEVELS[level]
            assert e.n + e.n_unscored + e.n_undefined == total[e.n_of], e
    table = result.tables["correlations"]
    assert (table["n_of"] == table["level"].map(LEVELS)).all()
    counted = table[["n", "n_unscored", "n_undefined"]].sum(axis=1)
    assert (counted == table["n_of"].map(total)).all()
    for _, rows in result.items.groupby(["scorer", "criterion"]):
        scored = (rows["unscored"] == "") & (rows["undefined"] == "")
        assert (scored == rows["score"].notna() & rows["human"].notna()).all()
        assert not ((rows["unscored"] != "") & (rows["undefined"] != "")).any()
        assert scored.sum() + (rows["unscored"] != "").sum() + (rows["undefined"] != "").sum() == len(rows)


def test_empty_cells_of_a_ready_made_metric_are_unscored_and_hold_the_light_back():
    frame, ratings = panel(documents=60)
    full = evaluate(frame, ratings, metrics=["good"], trusted=["quality"])
    assert full.light == "green"
    frame.loc[frame["id"].str[-1] != "0", "good"] = np.nan
    result = evaluate(frame, ratings, metrics=["good"], trusted=["quality"])
    assert (result.light, result.verdict.would_be) == ("grey", "green")
    assert set(result.items["unscored"]) == {"", "no-value"}
    assert "good has no score for 216 of 240 outputs (the table has no value): more than 5%" in result.sentence
    figure = result.estimate("trusted_mean", scorer="good")
    assert (figure.n, figure.n_unscored, figure.n_undefined, figure.n_of) == (6, 54, 0, "documents")
    assert "432 of 480 items (outputs × metrics × criteria) could not be scored" in verdict_html(result.to_json())


def test_a_metric_without_any_cell_says_so():
    frame, ratings = panel()
    result = evaluate(frame.assign(good=np.nan), ratings, metrics=["good"], trusted=["quality"])
    assert result.sentence.startswith(
        "No metric has a correlation on quality: unscored: the table has no value; 8 documents, 32 outputs"
    )
    assert result.light == "grey"


def test_empty_human_marks_are_undefined_and_the_sentence_says_how_many_outputs_have_marks():
    frame, ratings = panel(documents=60)
    some = ratings[ratings["id"].str[-1] == "0"]
    result = evaluate(frame, some, metrics=["good"], trusted=["quality"])
    assert set(result.items["undefined"]) == {"", "no-reference"}
    assert "60 documents, 240 outputs, 24 of them with human marks, 6 documents with a value" in result.sentence
    figure = result.estimate("trusted_mean", scorer="good")
    assert (figure.n, figure.n_unscored, figure.n_undefined) == (6, 0, 54)
    partly = ratings[(ratings["criterion"] == "complete") | (ratings["id"].str[-1] == "0")]
    result = evaluate(frame, partly, metrics=["good"], trusted=["quality", "complete"])
    assert "with human marks: 24 on quality, 240 on complete" in result.sentence


# -- one mean human score --------------------------------------------------------------------------------------------


def published(criteria=("quality",)):
    """As most published tables are: a mean human score for each output, and no annotators."""
    frame, ratings = panel(documents=40)
    mean = ratings[ratings.criterion == "quality"].groupby(["id", "model"])["mark"].mean()
    frame = frame.merge(mean.rename("quality").reset_index(), on=["id", "model"])
    return frame.assign(**{name: -frame["quality"] for name in criteria if name != "quality"})


def test_without_annotators_the_correlations_are_the_headline():
    frame = published()
    result = evaluate(frame, metrics=["good", "bad"], criteria=["quality"])
    first = result.summary.estimates[0]
    assert (first.metric, first.group["scorer"]) == ("spearman_summary", "bad")
    assert not [e for e in result.summary.estimates if e.metric == "trusted_mean"]
    assert all(e.n == 40 for e in result.summary.estimates if "scorer" in e.group)
    assert {e.light for e in result.summary.estimates} == {"grey"}
    good = result.estimate("spearman_summary", scorer="good", criterion="quality")
    assert (
        f"{good.value:.2f} [{good.ci_low:.2f}, {good.ci_high:.2f}] with quality (good, the best of 2)"
        in result.sentence
    )
    assert result.light == "grey"
    study.picture_heat_map(result)
    study.disagreements(result)


@pytest.mark.parametrize("criteria", [("quality",), ("it's 'odd'", "quality"), ('a "b"', "質", "quality")])
def test_the_line_that_trusts_a_criterion_can_be_copied(root, criteria):
    source = json.loads((root / "notebooks" / "human_correlation.ipynb").read_text("utf-8"))
    frame = published(criteria)
    grey = evaluate(frame, metrics=["good"], criteria=list(criteria))
    line = shlex.split(grey.sentence[grey.sentence.index("-p ") :])
    assert line[0] == "-p"
    name, _, text = line[1].partition("=")
    trusted = checked_values(notebook_parameters(source, "study"), {name: text}, "command line")["trusted"]
    assert trusted == sorted(criteria)
    assert evaluate(frame, metrics=["good"], criteria=list(criteria), trusted=trusted).light != "grey"


def test_annotators_who_agree_on_nothing_say_so():
    frame, ratings = panel()
    noise = ratings.assign(mark=np.random.default_rng(0).integers(5, size=len(ratings)))
    result = evaluate(frame, noise[noise.criterion == "quality"], metrics=["good"])
    assert "no criterion is trusted: the annotators' ordinal alpha is not shown to reach 0.4" in result.sentence
    assert result.summary.estimates[0].metric == "spearman_summary"


# -- few systems -----------------------------------------------------------------------------------------------------


def test_under_ten_systems_no_interval_is_printed():
    few = evaluate(*panel(documents=30, systems=9), metrics=["good"], level="system", trusted=["quality"])
    for e in (few.estimate("trusted_mean", scorer="good"), few.estimate("ceiling", criterion="quality"),
              few.estimate("spearman_system", scorer="good", criterion="quality")):  # fmt: skip
        assert (e.ci_low, e.ci_high, e.method) == (None, None, "")
        assert "under 10 systems no interval is worth printing" in e.note
    assert few.light == "grey"
    assert "9 systems, 30 documents, 270 outputs. The light stays grey: it rests on 9 systems" in few.sentence
    row = value(few, criterion="quality", level="system", coefficient="kendall")
    assert np.isnan(row["ci_low"])
    enough = evaluate(*panel(documents=30, systems=12), metrics=["good"], level="system", trusted=["quality"])
    e = enough.estimate("trusted_mean", scorer="good")
    assert e.method == "percentile bootstrap over systems and documents, 60 resamples"
    assert (e.n, e.n_of) == (12, "systems")
    assert "too narrow" not in e.note


def test_system_level_intervals_count_the_systems():
    """Fourteen systems whose order is mostly chance: certain where only documents are drawn, wide as they should be."""
    rng = np.random.default_rng(5)
    document, system = np.divmod(np.arange(14 * 100), 14)
    quality = rng.normal(size=(14, 2))
    frame = pd.DataFrame(
        {
            "id": document.astype(str), "model": [f"s{s:02}" for s in system],
            "m": quality[system, 0] + rng.normal(0, 0.5, len(system)),
            "h": quality[system, 1] + rng.normal(0, 0.5, len(system)),
        }
    )  # fmt: skip
    result = evaluate(frame, metrics=["m"], criteria=["h"], trusted=["h"], level="system", n_resamples=500)
    e = result.estimate("spearman_system", scorer="m", criterion="h")
    assert e.ci_high - e.ci_low > 0.8
    assert result.light == "grey"


# -- definitions and units -------------------------------------------------------------------------------------------


def test_both_partial_spearmans_and_partial_pearson_have_their_definitions():
    result = evaluate(*panel(), metrics=["good"])
    table = result.tables["correlations"].set_index(["criterion", "coefficient"]).loc["quality"]
    for kind, said in {
        "partial_spearman": "ranks first", "residual_spearman": "values first", "partial_pearson": "left of the values"
    }.items():  # fmt: skip
        assert said in table.loc[kind, "definition"]
        assert np.isfinite(table.loc[kind, "value"])
    shown = study.partials(result)
    assert [c for c in shown if "partial" in c] == [
        "partial Spearman, ranks first", "partial Spearman, values first", "partial Pearson"
    ]  # fmt: skip


def test_every_n_of_the_headline_has_its_unit():
    result = evaluate(*panel(documents=24), metrics=["good"])
    assert {e.metric: e.n_of for e in result.summary.estimates} == {
        "trusted_mean": "documents", "spearman_summary": "documents", "ceiling": "annotators",
        "kappa": "pairs of marks", **{f"alpha_{name}": "outputs" for name in ("ordinal", "interval", "nominal")},
    }  # fmt: skip
    html = headline_table([e.row() for e in result.summary.estimates], by=result.by)
    assert html.count("n: documents") == 2
    assert html.count("n: annotators") == 1


# -- what a light may rest on ----------------------------------------------------------------------------------------


def doubly_marked(n, outputs=240):
    """One annotator marks every output, another ``n`` of them, and they agree."""
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"id": [f"d{k // 4}" for k in range(outputs)], "model": [f"s{k % 4}" for k in range(outputs)]})
    marks = draw.integers(0, 5, outputs)
    frame["good"] = marks + draw.normal(0, 0.5, outputs)
    own = frame[["id", "model"]].assign(criterion="quality", mark=marks)
    return frame, pd.concat([own.assign(annotator="a"), own.iloc[:n].assign(annotator="b")], ignore_index=True)


def test_annotators_who_both_marked_6_of_240_outputs_are_not_trusted_and_the_sentence_says_so():
    result = evaluate(*doubly_marked(6), metrics=["good"], n_resamples=200)
    assert result.light == "grey"
    assert "no criterion is trusted: the annotators' ordinal alpha is not shown to reach 0.4" in result.sentence
    assert "rests on 6 of 240 outputs, 20 are needed" in result.sentence
    assert not result.tables["agreement"]["trusted"].any()


def test_where_some_outputs_are_marked_by_two_the_sentence_says_on_how_many_trust_rests():
    result = evaluate(*doubly_marked(60), metrics=["good"], n_resamples=200)
    assert result.light == "green"
    assert "(ordinal alpha of the annotators ≥ 0.4 on 60 of 240 outputs)" in result.sentence
    named = evaluate(*doubly_marked(6), metrics=["good"], trusted=["quality"], n_resamples=200)
    assert "(named beforehand); one annotator against the others: 1.00 on 6 of 240 outputs" in named.sentence


def test_an_alpha_whose_interval_reaches_below_the_threshold_is_not_trusted():
    frame, ratings = doubly_marked(24)
    other = ratings["annotator"].eq("b")
    marks = ratings.loc[other, "mark"]
    ratings.loc[other, "mark"] = [mark if k % 3 else 4 - mark for k, mark in enumerate(marks)]
    result = evaluate(frame, ratings, metrics=["good"], n_resamples=200, trust_from=0.3)
    alpha = result.estimate("alpha_ordinal", criterion="quality")
    assert alpha.ci_low < 0.3 < alpha.value
    assert result.light == "grey"
    assert "the lower end of alpha" in result.sentence


def test_fewer_than_20_documents_give_no_light_and_the_sentence_says_why():
    result = evaluate(*panel(documents=19), metrics=["good"], trusted=["quality"], n_resamples=200)
    assert result.light == "grey"
    assert result.sentence.endswith("The light stays grey: it rests on 19 documents, and a light needs 20.")
    assert evaluate(*panel(documents=20), metrics=["good"], trusted=["quality"], n_resamples=200).light == "green"


def test_outputs_of_one_document_that_two_marked_are_no_ground_for_trust():
    frame, ratings = doubly_marked(24)
    crowded = frame.assign(
        id=[*["d0"] * 24, *frame["id"][24:]], model=[*[f"s{k}" for k in range(24)], *frame["model"][24:]]
    )
    keys = crowded[["id", "model"]].reset_index(drop=True)
    both = [ratings[ratings["annotator"] == a].reset_index(drop=True) for a in ("a", "b")]
    moved = pd.concat([own.assign(**{c: keys[c].iloc[: len(own)].to_numpy() for c in keys}) for own in both])
    result = evaluate(crowded, moved, metrics=["good"], n_resamples=200)
    assert result.light == "grey"
    assert "rests on 24 of 240 outputs of 1 document, 5 are needed" in result.sentence


@pytest.mark.parametrize("seed", range(3))
def test_an_interval_near_one_holds_its_estimate(seed):
    draw = np.random.default_rng(seed)
    quality = draw.normal(size=240)
    frame = pd.DataFrame({"id": [f"d{k // 4}" for k in range(240)], "model": [f"s{k % 4}" for k in range(240)]})
    frame = frame.assign(m=quality + draw.normal(0, 0.01, 240), h=quality)
    e = evaluate(frame, metrics=["m"], criteria=["h"], level="dataset").estimate(
        "spearman_dataset", scorer="m", criterion="h"
    )
    assert e.ci_low <= e.value <= e.ci_high
