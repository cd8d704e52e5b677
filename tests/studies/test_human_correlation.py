"""Human correlation: figures, agreement with peers, and what the pages say of undefined values."""

import numpy as np
import pandas as pd
import pytest
from rated_panels import evaluate, panel, value
from scipy import stats

from evalbench.draw.style import faults
from evalbench.errors import BadInput
from evalbench.kit import metric_options
from evalbench.studies import human_correlation as study


class TestFigures:
    def test_levels_agree_with_scipy(self):
        frame, ratings = panel()
        result = evaluate(frame, ratings, metrics=["good", "bad"])
        human = ratings[ratings.criterion == "quality"].groupby(["id", "model"])["mark"].mean()
        both = frame.set_index(["id", "model"]).assign(human=human)
        peers = {"spearman": stats.spearmanr, "kendall": stats.kendalltau, "pearson": stats.pearsonr}
        for kind, peer in peers.items():
            within = [peer(g["good"], g["human"]).statistic for _, g in both.groupby("id")]
            means = both.groupby("model").mean()
            expected = {
                "summary": np.mean(within),
                "dataset": peer(both["good"], both["human"]).statistic,
                "system": peer(means["good"], means["human"]).statistic,
            }
            for level, figure in expected.items():
                found = value(result, scorer="good", criterion="quality", level=level, coefficient=kind)
                assert found["value"] == pytest.approx(figure, abs=1e-9)
                assert found["ci_low"] <= found["value"] <= found["ci_high"] or level == "system"

    def test_a_constant_criterion_is_undefined_with_its_reason_and_never_trusted(self):
        result = evaluate(*panel(), metrics=["good"])
        for level in ("summary", "dataset", "system"):
            found = value(result, scorer="good", criterion="complete", level=level, coefficient="spearman")
            assert np.isnan(found["value"])
            assert found["note"] == "constant human score: every output got 1"
        figure = result.estimate("spearman_summary", scorer="good", criterion="complete")
        assert (figure.value, figure.n_undefined, figure.light) == (None, 8, "grey")
        agreement = result.tables["agreement"].set_index("criterion")
        assert agreement["trusted"].to_dict() == {"complete": False, "quality": True}
        assert agreement.loc["complete", "note"].startswith("all ratings are equal")
        assert "mean over quality (ordinal alpha of the annotators ≥ 0.4)" in result.sentence
        assert (
            "8 documents, 32 outputs. The light stays grey: it rests on 8 documents, and a light needs 20."
            in result.sentence
        )

    def test_less_is_better_is_stated_and_judged_so(self):
        result = evaluate(*panel(20), metrics=["errors"], lower_is_better=["errors"])
        figure = result.estimate("spearman_summary", scorer="errors", criterion="quality")
        assert figure.value < -0.5
        assert figure.light in ("green", "yellow")
        assert "lower is better: agreement is negative" in figure.note
        plain = evaluate(*panel(20), metrics=["errors"])
        assert plain.estimate("spearman_summary", scorer="errors", criterion="quality").light == "red"

    def test_the_ceiling_is_one_annotator_against_the_others(self):
        frame, ratings = panel()
        result = evaluate(frame, ratings, metrics=["good"])
        wide = ratings[ratings.criterion == "quality"].pivot(index=["id", "model"], columns="annotator", values="mark")
        per_annotator = []
        for name in wide:
            others = wide.drop(columns=name).mean(axis=1)
            within = [
                stats.spearmanr(wide[name].loc[d], others.loc[d]).statistic
                for d in wide.index.unique("id")
                if np.ptp(wide[name].loc[d]) and np.ptp(others.loc[d])
            ]
            per_annotator.append(np.mean(within))
        assert result.estimate("ceiling", criterion="quality").value == pytest.approx(np.mean(per_annotator), abs=1e-9)

    def test_kappa_is_scikit_learn_s(self):
        metrics = pytest.importorskip("sklearn.metrics", reason="peer not importable: sklearn")
        frame, ratings = panel()
        result = evaluate(frame, ratings, metrics=["good"])
        wide = ratings[ratings.criterion == "quality"].pivot(index=["id", "model"], columns="annotator", values="mark")
        pairs = [("a0", "a1"), ("a0", "a2"), ("a1", "a2")]
        expected = np.mean([metrics.cohen_kappa_score(wide[a], wide[b]) for a, b in pairs])
        assert result.estimate("kappa", criterion="quality").value == pytest.approx(expected, abs=1e-9)

    def test_named_criteria_are_the_headline(self):
        result = evaluate(*panel(), metrics=["good", "bad"], trusted=["quality"])
        best = result.estimate("trusted_mean", scorer="good")
        assert best.value == result.estimate("spearman_summary", scorer="good", criterion="quality").value
        assert "named beforehand" in result.sentence
        assert result.summary.estimates[0].group == {"scorer": "good"}

    def test_a_wide_interval_is_grey_and_says_what_it_would_be(self):
        result = evaluate(*panel(), metrics=["good"], max_ci_width=0.001)
        assert result.light == "grey"
        assert result.verdict.would_be in ("green", "yellow")
        assert result.verdict.stability is None

    def test_comparisons_name_the_better_metric(self):
        result = evaluate(*panel(documents=30), metrics=["good", "bad"], n_resamples=300)
        table = result.tables["comparisons"].set_index(["criterion", "level"])
        row = table.loc[("quality", "summary")]
        assert (row["scorer_a"], row["scorer_b"], row["test"]) == ("bad", "good", "paired bootstrap")
        assert row["verdict"] == "good agrees better"
        assert row["ci_high"] < 0
        assert table.loc[("quality", "system")]["test"] == "Williams"
        assert table.loc[("complete", "dataset")]["verdict"].startswith("no comparison: constant human score")

    def test_williams_is_only_asked_of_four_systems_or_more(self):
        result = evaluate(*panel(systems=3), metrics=["good", "bad"])
        table = result.tables["comparisons"]
        assert (table.loc[table["test"] == "Williams", "verdict"] == "no comparison: fewer than four systems").all()

    def test_a_level_without_comparisons_says_why(self):
        result = evaluate(*panel(systems=3), metrics=["good", "bad"])
        assert study.best_comparisons(result, "system") is None
        lost = study.uncompared(result).set_index(["level", "why"])["pairs of metrics × criteria"].to_dict()
        assert lost["system", "no comparison: fewer than four systems"] == 2
        assert study.best_comparisons(evaluate(*panel(), metrics=["good"])) is None

    def test_labels_needed_are_the_worked_ones(self):
        from evalbench.core.planning import units_for_correlation

        result = evaluate(*panel(), metrics=["good"])
        row = result.tables["label_plan"].set_index("criterion").loc["quality"]
        assert row["items_needed"] == units_for_correlation(row["agreement"], against=0.4)
        assert row["items_here"] == 32


def test_the_metric_that_agrees_most_stands_on_top_of_the_heat_map():
    frame, ratings = panel()
    frame = frame.assign(against=frame["errors"] * 2)
    result = evaluate(frame, ratings, metrics=["errors", "against", "bad", "good"], lower_is_better=["errors"])
    shown = [label.get_text() for label in study.picture_heat_map(result)[0].axes[0].get_yticklabels()]
    assert set(shown[:2]) == {"good", "errors"}
    assert shown[-1] == "against"


def test_one_output_only():
    frame, ratings = panel(documents=1, systems=1)
    result = evaluate(frame, ratings, metrics=["good"], trusted=["quality"])
    assert result.sentence.startswith("No metric has a correlation on quality: only one output has both scores")


@pytest.mark.parametrize(("documents", "light"), [(2, "grey"), (3, "grey"), (19, "grey"), (20, "green")])
def test_few_documents_that_all_agree_are_no_evidence(documents, light):
    rank = np.arange(documents)
    frame = pd.DataFrame({"id": rank.astype(str), "m": rank, "h": rank * 2})
    result = evaluate(frame, metrics=["m"], criteria=["h"], trusted=["h"], n_resamples=200)
    assert result.light == light
    assert {e.light for e in result.summary.estimates if e.metric in ("trusted_mean", "spearman_dataset")} == {light}
    if documents == 2:
        assert "two always correlate perfectly" in result.sentence
    else:
        assert result.verdict.would_be == (None if light == "green" else "green")
        assert "or on fewer than 20 documents" in result.verdict.rule


def test_a_correlation_counts_the_documents_that_it_rests_on():
    frame, ratings = panel(documents=30)
    # Only in five documents does the metric vary.
    frame["some"] = np.where(frame["id"].isin([f"d{i}" for i in range(5)]), frame["good"], 1.0)
    result = evaluate(frame, ratings, metrics=["some"], trusted=["quality", "complete"], n_resamples=300)
    for figure in (result.estimate("trusted_mean", scorer="some"),
                   result.estimate("spearman_summary", scorer="some", criterion="quality")):  # fmt: skip
        assert (figure.n, figure.n_undefined) == (5, 25)
        assert "fewer than 20 units: the interval is too narrow" in figure.note
    assert "mean over quality (named beforehand, without complete, where it has no value)" in result.sentence
    assert result.sentence.endswith(
        "30 documents, 120 outputs, 5 documents with a value. The light stays grey: it rests on 5 documents, and a light needs 20."
    )


@pytest.mark.slow
def test_equal_metrics_on_few_documents_are_rarely_told_apart():
    """Two metrics that are equally good: at ten documents the test at 5 % errs in about 5 %."""
    from evalbench.studies.human_correlation.panels import Panel
    from evalbench.studies.human_correlation.tables import comparison_table

    draw = np.random.default_rng(0)
    document, system = (a.ravel().astype(str) for a in np.divmod(np.arange(60), 6))
    wrong = []
    for seed in range(150):
        quality = draw.normal(size=60)
        x = quality[:, None] + draw.normal(size=(60, 2))
        y = (quality + draw.normal(0, 0.5, 60))[:, None]
        rest = (
            np.full(x.shape, "", dtype=object),
            np.ones((2, 1), dtype=bool),
            np.ones(2),
            "summary",
            "spearman",
            seed,
            200,
        )
        table = comparison_table(Panel(("a", "b"), ("c",), ("",), document, system, x, y, y[:, :, None], *rest))
        wrong.append((table.set_index("level").loc[["summary", "dataset"], "p"] <= 0.05).tolist())
    rates = np.mean(wrong, axis=0)
    assert (rates > 0.01).all()
    assert (rates < 0.08).all()


def test_a_difference_without_spread_is_not_tested_and_says_so():
    rank = np.arange(30)
    frame = pd.DataFrame({"id": rank.astype(str), "m": rank, "against": -rank, "copy": rank * 3, "h": rank})
    result = evaluate(frame, metrics=["m", "against", "copy"], criteria=["h"], trusted=["h"])
    table = result.tables["comparisons"].set_index(["level", "scorer_a", "scorer_b"])
    opposite, equal = table.loc[("dataset", "against", "m")], table.loc[("dataset", "copy", "m")]
    assert opposite["difference"] == pytest.approx(-2)
    assert opposite["verdict"] == "no test: every resample gives the same difference"
    assert (equal["p"], equal["verdict"]) == (1.0, "no difference shown")
    assert "no test: every resample gives the same difference" in set(
        study.best_comparisons(result, "dataset")["verdict"]
    )


def test_plans_without_a_number_say_why():
    frame, ratings = panel()
    frame = frame.assign(flat=1.0, never=np.nan)
    result = evaluate(frame, ratings, metrics=["good", "flat", "never"])
    labels = result.tables["label_plan"].set_index(["scorer", "criterion"])["note"]
    assert labels["good", "quality"] == ""
    assert labels["good", "complete"] == "constant human score: every output got 1"
    assert labels["flat", "quality"] == "constant metric: every output got 1"
    assert labels["never", "quality"] == "unscored: the table has no value"
    systems = result.tables["system_plan"].set_index("scorer")
    assert systems["note"].to_dict() == {
        "flat": "the two do not differ", "good": "", "never": "fewer than two systems have a value"
    }  # fmt: skip
    assert systems["documents_needed"].isna().to_dict() == {"flat": True, "good": False, "never": True}


def test_pictures_and_tables_say_what_they_show():
    result = evaluate(*panel(), metrics=["good", "bad"])
    for figure, alt in (
        study.picture_heat_map(result), study.picture_criterion(result, "quality"), study.picture_agreement(result),
        study.picture_scatter(result, "good", "quality"), study.picture_heat_map(result, "dataset", "kendall"),
    ):  # fmt: skip
        assert faults(figure, alt) == []
    assert study.matrix(result)["complete"].tolist() == ["–", "–"]
    assert study.undefined(result)["why"].tolist() == ["constant human score: every output got 1"] * 3
    assert study.agreement(result)["criterion"].tolist() == ["complete", "quality"]
    assert len(study.best_comparisons(result)) == 1


def test_synonyms_of_meteor_only_on_request_and_never_in_the_place_of_a_column(monkeypatch):
    frame, ratings = panel()
    frame = frame.assign(answer=[f"a car {i}" for i in range(len(frame))], reference="a car 3")
    found = evaluate(frame, ratings, metrics=["meteor", "good"], language="en")
    assert found.parameters["meteor_synonyms"] is False
    assert found.method[-1] == "meteor matched words in these stages: exact, stem."
    monkeypatch.setattr(metric_options, "wordnet_folder", lambda: None)
    with pytest.raises(BadInput, match="WordNet is not in"):
        evaluate(frame, ratings, metrics=["meteor"], language="en", meteor_synonyms=True)
    ready = frame.assign(meteor=frame["good"])
    with pytest.raises(BadInput, match="meteor is not among the metrics"):
        evaluate(ready, ratings, metrics=["meteor"], language="en", meteor_synonyms=True)
