"""Human correlation: refusals, published figures, agreement with peers, and what the pages say of undefined values."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalbench.errors import BadInput
from evalbench.readers.dataset import load
from evalbench.studies import human_correlation as study

OPTIONS = {"n_resamples": 60}


def evaluate(frame, ratings=None, **options):
    tables = {"items": frame} if ratings is None else {"items": frame, "ratings": ratings}
    return study.evaluate(load(tables, study.SCHEMA), **{**OPTIONS, **options})


def panel(documents=8, systems=4, seed=0):
    """Rows of a made-up panel: a good metric, a bad one, one of which less is better; three annotators."""
    rng = np.random.default_rng(seed)
    rows, ratings = [], []
    for d in range(documents):
        for s in range(systems):
            quality = s + rng.normal(0, 1)
            keys = {"doc_id": f"d{d}", "system": f"s{s}"}
            rows.append(
                {**keys, "good": quality + rng.normal(0, 0.3), "bad": rng.normal(), "errors": -quality}
            )
            for a in range(3):
                score = round(float(np.clip(quality + rng.normal(0, 0.5), -2, 6)))
                ratings.append({**keys, "annotator": f"a{a}", "criterion": "quality", "score": score})
                ratings.append({**keys, "annotator": f"a{a}", "criterion": "complete", "score": 1})
    return pd.DataFrame(rows), pd.DataFrame(ratings)


def value(result, **wanted):
    table = result.tables["correlations"]
    for name, content in wanted.items():
        table = table[table[name] == content]
    assert len(table) == 1
    return table.iloc[0]


class TestRefusals:
    def test_criteria_must_be_named_where_each_is_a_column(self):
        frame, _ = panel()
        with pytest.raises(
            BadInput, match="name the criteria: the table has neither criterion and score columns"
        ):
            evaluate(frame, metrics=["good"])

    def test_all_faults_at_once(self):
        frame = pd.DataFrame({"doc_id": ["a", "b"], "m": ["1", "x"], "h": ["2", "high"]})
        with pytest.raises(BadInput) as caught:
            evaluate(frame, metrics=["m"], criteria=["h", "g"])
        message = str(caught.value)
        assert "column m: 1 cells are not numbers, first 'x' (row 2 of the data)" in message
        assert "column h: 1 cells are not numbers, first 'high' (row 2 of the data)" in message
        assert "criterion g: no such column; there are doc_id, m, h, system" in message

    def test_repeated_rows_and_scores(self):
        frame, ratings = panel()
        with pytest.raises(BadInput, match="2 rows share doc_id and system, first d0"):
            evaluate(pd.concat([frame, frame.iloc[:1]]), ratings, metrics=["good"])
        with pytest.raises(
            BadInput,
            match="2 scores stand twice for the same document, system, criterion and annotator, first d0",
        ):
            evaluate(frame, pd.concat([ratings, ratings.iloc[:1]]), metrics=["good"])
        with pytest.raises(BadInput, match="1 documents and systems are not in items, first"):
            evaluate(frame.iloc[1:], ratings, metrics=["good"])

    def test_unknown_metrics_and_options(self):
        frame, ratings = panel()
        with pytest.raises(BadInput, match="no metric 'roug1'; did you mean rouge1"):
            evaluate(frame, ratings, metrics=["roug1"])
        with pytest.raises(BadInput, match="level: 'sentence'; one of auto, summary, dataset, system"):
            evaluate(frame, ratings, metrics=["good"], level="sentence")
        with pytest.raises(BadInput, match="trusted: zeal not among the criteria complete, quality"):
            evaluate(frame, ratings, metrics=["good"], trusted=["zeal"])
        with pytest.raises(
            BadInput, match=r"yellow_at and green_at must ascend within −1 to 1, got 0\.7 and 0\.4"
        ):
            evaluate(frame, ratings, metrics=["good"], yellow_at=0.7, green_at=0.4)
        with pytest.raises(BadInput, match="metrics must be a list"):
            evaluate(frame, ratings, metrics="good")

    def test_options_out_of_range_and_lists_that_are_texts(self):
        frame, ratings = panel()
        for options, said in (
            ({"trusted": "quality"}, r"trusted: a list of names, e\.g\. \['quality'\]"),
            ({"criteria": "quality"}, "criteria: a list of names"),
            ({"lower_is_better": ["typo"]}, "lower_is_better: typo not among good"),
            ({"n_resamples": 0}, "n_resamples is 0; at least 2"),
            ({"max_unscored": 7}, "max_unscored is 7; it lies between 0 and 1"),
        ):
            with pytest.raises(BadInput, match=said):
                evaluate(frame, ratings, metrics=["good"], **options)

    def test_a_column_cannot_be_metric_and_criterion(self):
        with pytest.raises(BadInput, match="column good is named as a metric and as a criterion"):
            evaluate(panel()[0], metrics=["good"], criteria=["good"])

    def test_a_reference_list_that_is_no_json(self, tmp_path):
        (tmp_path / "items.csv").write_text(
            'doc_id,system,output,reference,h\n1,a,x,"[""a"", b]",3\n2,a,x,y,4\n'
        )
        with pytest.raises(
            BadInput, match=r"column reference: expected a text, or a JSON list of texts.*row 2"
        ):
            load(tmp_path / "items.csv", study.SCHEMA)


class TestFigures:
    def test_levels_agree_with_scipy(self):
        frame, ratings = panel()
        result = evaluate(frame, ratings, metrics=["good", "bad"])
        human = ratings[ratings.criterion == "quality"].groupby(["doc_id", "system"])["score"].mean()
        both = frame.set_index(["doc_id", "system"]).assign(human=human)
        peers = {"spearman": stats.spearmanr, "kendall": stats.kendalltau, "pearson": stats.pearsonr}
        for kind, peer in peers.items():
            within = [peer(g["good"], g["human"]).statistic for _, g in both.groupby("doc_id")]
            means = both.groupby("system").mean()
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
        figure = result.figure("spearman_summary", scorer="good", criterion="complete")
        assert (figure.value, figure.n_undefined, figure.light) == (None, 8, "grey")
        agreement = result.tables["agreement"].set_index("criterion")
        assert agreement["trusted"].to_dict() == {"complete": False, "quality": True}
        assert agreement.loc["complete", "note"].startswith("all ratings are equal")
        assert "mean over quality (ordinal alpha of the annotators ≥ 0.4)" in result.sentence
        assert "8 documents, 32 outputs, so few that the interval is too narrow" in result.sentence

    def test_less_is_better_is_stated_and_judged_so(self):
        result = evaluate(*panel(), metrics=["errors"], lower_is_better=["errors"])
        figure = result.figure("spearman_summary", scorer="errors", criterion="quality")
        assert figure.value < -0.5
        assert figure.light in ("green", "yellow")
        assert "lower is better: agreement is negative" in figure.note
        plain = evaluate(*panel(), metrics=["errors"])
        assert plain.figure("spearman_summary", scorer="errors", criterion="quality").light == "red"

    def test_the_ceiling_is_one_annotator_against_the_others(self):
        frame, ratings = panel()
        result = evaluate(frame, ratings, metrics=["good"])
        wide = ratings[ratings.criterion == "quality"].pivot(
            index=["doc_id", "system"], columns="annotator", values="score"
        )
        per_annotator = []
        for name in wide:
            others = wide.drop(columns=name).mean(axis=1)
            within = [
                stats.spearmanr(wide[name].loc[d], others.loc[d]).statistic
                for d in wide.index.unique("doc_id")
                if np.ptp(wide[name].loc[d]) and np.ptp(others.loc[d])
            ]
            per_annotator.append(np.mean(within))
        assert result.figure("ceiling", criterion="quality").value == pytest.approx(
            np.mean(per_annotator), abs=1e-9
        )

    def test_kappa_is_scikit_learn_s(self):
        metrics = pytest.importorskip("sklearn.metrics", reason="peer not importable: sklearn")
        frame, ratings = panel()
        result = evaluate(frame, ratings, metrics=["good"])
        wide = ratings[ratings.criterion == "quality"].pivot(
            index=["doc_id", "system"], columns="annotator", values="score"
        )
        pairs = [("a0", "a1"), ("a0", "a2"), ("a1", "a2")]
        expected = np.mean([metrics.cohen_kappa_score(wide[a], wide[b]) for a, b in pairs])
        assert result.figure("kappa", criterion="quality").value == pytest.approx(expected, abs=1e-9)

    def test_named_criteria_are_the_headline(self):
        result = evaluate(*panel(), metrics=["good", "bad"], trusted=["quality"])
        best = result.figure("trusted_mean", scorer="good")
        assert best.value == result.figure("spearman_summary", scorer="good", criterion="quality").value
        assert "named beforehand" in result.sentence
        assert result.summary[0].group == {"scorer": "good"}

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
        assert (
            table.loc[table["test"] == "Williams", "verdict"] == "no comparison: fewer than four systems"
        ).all()

    def test_a_level_without_comparisons_says_why(self):
        shown = study.best_comparisons(evaluate(*panel(systems=3), metrics=["good", "bad"]), "system")
        assert shown.to_dict("list") == {
            "why": ["no comparison: fewer than four systems"], "pairs of metrics × criteria": [2]
        }  # fmt: skip
        alone = study.best_comparisons(evaluate(*panel(), metrics=["good"]))
        assert alone["note"].tolist() == ["one metric: nothing to compare"]

    def test_labels_needed_are_the_worked_ones(self):
        from evalbench.core.planning import units_for_correlation

        result = evaluate(*panel(), metrics=["good"])
        row = result.tables["label_plan"].set_index("criterion").loc["quality"]
        assert row["items_needed"] == units_for_correlation(row["agreement"], against=0.4)
        assert row["items_here"] == 32

    def test_the_order_of_rows_changes_nothing(self):
        frame, ratings = panel()
        one = evaluate(frame, ratings, metrics=["good", "bad"])
        other = evaluate(frame.iloc[::-1], ratings.sample(frac=1, random_state=1), metrics=["good", "bad"])
        assert [e.row() for e in one.summary] == [e.row() for e in other.summary]
        pd.testing.assert_frame_equal(one.items, other.items)
        for name in ("correlations", "comparisons", "agreement", "label_plan", "system_plan"):
            pd.testing.assert_frame_equal(one.tables[name], other.tables[name])

    def test_the_summary_follows_from_the_items(self, tmp_path):
        result = evaluate(*panel(), metrics=["good", "bad"], trusted=["quality"])
        result.items.to_parquet(tmp_path / "items.parquet")
        again = study.summarise(pd.read_parquet(tmp_path / "items.parquet"), trusted=["quality"], **OPTIONS)
        assert again == result.figures


class TestShapes:
    def test_wide_long_and_separate_say_the_same(self):
        frame, ratings = panel()
        ratings = ratings[ratings.criterion == "quality"]
        separate = evaluate(frame, ratings, metrics=["good"])
        long = evaluate(frame.merge(ratings, on=["doc_id", "system"]), metrics=["good"])
        by_annotator = frame.merge(
            ratings.rename(columns={"score": "quality"}).drop(columns="criterion"), on=["doc_id", "system"]
        )
        wide = evaluate(by_annotator, metrics=["good"], criteria=["quality"])
        assert (
            [e.row() for e in separate.summary]
            == [e.row() for e in long.summary]
            == [e.row() for e in wide.summary]
        )

    def test_one_annotator_only(self):
        frame, ratings = panel()
        result = evaluate(frame, ratings[ratings.annotator == "a0"], metrics=["good"])
        assert (
            result.figure("alpha_ordinal", criterion="quality").note
            == "one annotator only: nothing to agree with"
        )
        assert result.figure("ceiling", criterion="quality").note == "one annotator only: no ceiling"
        assert result.light == "grey"
        assert result.sentence.startswith(
            "No criterion is trusted (one annotator only, so agreement is unknown: name criteria in trusted)"
        )
        study.figure_criterion(result, "quality")
        study.figure_agreement(result)

    def test_without_systems_the_level_is_dataset(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"doc_id": [f"{i}" for i in range(30)], "m": rng.normal(size=30)})
        frame["h"] = frame["m"] + rng.normal(0, 0.1, 30)
        result = evaluate(frame, metrics=["m"], criteria=["h"], trusted=["h"])
        assert "at dataset level" in result.sentence
        assert (
            value(result, level="summary", coefficient="spearman")["note"] == "each document has one output"
        )
        assert value(result, level="system", coefficient="spearman")["note"] == "fewer than three systems"
        assert "no column system: no system level, no partial correlation" in result.notes

    def test_ten_thousand_identical_rows(self):
        frame = pd.DataFrame(
            {"doc_id": [f"{i:05d}" for i in range(10_000)], "output": "same", "reference": "same", "h": 3}
        )
        result = evaluate(
            frame, metrics=["rougeL", "f1_score"], criteria=["h"], trusted=["h"], n_resamples=20
        )
        assert result.light == "grey"
        assert result.tables["correlations"]["value"].isna().all()
        assert "constant human score: every output got 3" in result.sentence

    def test_many_annotators_take_places(self):
        frame, ratings = panel()
        ratings = ratings.assign(annotator=[f"w{i}" for i in range(len(ratings))])
        result = evaluate(frame, ratings, metrics=["good"])
        assert any("the k-th rating of each output" in note for note in result.notes)
        assert result.figure("alpha_ordinal", criterion="quality").value > 0.4

    def test_gaps_in_metric_and_scores(self):
        frame, ratings = panel()
        frame.loc[0, "good"] = np.nan
        ratings = ratings.drop(ratings[(ratings.doc_id == "d1") & (ratings.system == "s1")].index)
        result = evaluate(frame, ratings, metrics=["good"])
        assert value(result, criterion="quality", level="dataset", coefficient="spearman")["n"] == 30
        counted = result.items[result.items.criterion == "quality"]["undefined"].value_counts().to_dict()
        assert counted == {"": 30, "no human score": 1, "the metric has no value": 1}

    def test_a_metric_that_is_not_installed_is_unscored_and_the_others_go_on(self):
        frame, ratings = panel()
        frame = frame.assign(output="a b", reference="a b")
        result = evaluate(frame, ratings, metrics=["good", "bertscore"])
        figure = result.figure("spearman_summary", scorer="bertscore", criterion="quality")
        assert (figure.light, figure.n_unscored) == ("grey", 32)
        assert "bertscore needs" in figure.note
        assert result.figure("spearman_summary", scorer="good", criterion="quality").value > 0.5

    def test_empty_outputs_are_wrong_answers(self):
        frame, ratings = panel()
        frame = frame.assign(
            output=["" if s == "s0" else "red apple" for s in frame["system"]], reference="red apple"
        )
        result = evaluate(frame, ratings, metrics=["f1_score"])
        assert (result.items.loc[result.items.system == "s0", "score"] == 0).all()


def test_the_metric_that_agrees_most_stands_on_top_of_the_heat_map():
    frame, ratings = panel()
    frame = frame.assign(against=frame["errors"] * 2)
    result = evaluate(
        frame, ratings, metrics=["errors", "against", "bad", "good"], lower_is_better=["errors"]
    )
    shown = [label.get_text() for label in study.figure_heat_map(result)[0].axes[0].get_yticklabels()]
    assert set(shown[:2]) == {"good", "errors"}
    assert shown[-1] == "against"


def test_one_output_only():
    frame, ratings = panel(documents=1, systems=1)
    result = evaluate(frame, ratings, metrics=["good"], trusted=["quality"])
    assert result.sentence.startswith(
        "No metric has a correlation on quality: only one output has both scores"
    )


@pytest.mark.parametrize(("documents", "light"), [(2, "grey"), (3, "grey"), (19, "grey"), (20, "green")])
def test_few_documents_that_all_agree_are_no_evidence(documents, light):
    rank = np.arange(documents)
    frame = pd.DataFrame({"doc_id": rank.astype(str), "m": rank, "h": rank * 2})
    result = evaluate(frame, metrics=["m"], criteria=["h"], trusted=["h"], n_resamples=200)
    assert result.light == light
    assert {e.light for e in result.summary if e.metric in ("trusted_mean", "spearman_dataset")} == {light}
    if documents == 2:
        assert "two always correlate perfectly" in result.sentence
    else:
        assert result.verdict.would_be == (None if light == "green" else "green")
        assert "has no width on fewer than 20 documents" in result.verdict.rule


def test_a_correlation_counts_the_documents_that_it_rests_on():
    frame, ratings = panel(documents=30)
    # Only in five documents does the metric vary.
    frame["some"] = np.where(frame["doc_id"].isin([f"d{i}" for i in range(5)]), frame["good"], 1.0)
    result = evaluate(frame, ratings, metrics=["some"], trusted=["quality", "complete"], n_resamples=300)
    for figure in (result.figure("trusted_mean", scorer="some"),
                   result.figure("spearman_summary", scorer="some", criterion="quality")):  # fmt: skip
        assert (figure.n, figure.n_undefined) == (5, 25)
        assert "fewer than 20 units: the interval is too narrow" in figure.note
    assert "mean over quality (named beforehand, without complete, where it has no value)" in result.sentence
    assert result.sentence.endswith(
        "30 documents, 120 outputs, 5 documents with a value, so few that the interval is too narrow."
    )


def test_a_difference_without_spread_is_not_tested_and_says_so():
    rank = np.arange(30)
    frame = pd.DataFrame(
        {"doc_id": rank.astype(str), "m": rank, "against": -rank, "copy": rank * 3, "h": rank}
    )
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
    assert labels["never", "quality"] == "no output has both scores"
    systems = result.tables["system_plan"].set_index("scorer")
    assert systems["note"].to_dict() == {
        "flat": "the two do not differ", "good": "", "never": "fewer than two systems have a value"
    }  # fmt: skip
    assert systems["documents_needed"].isna().to_dict() == {"flat": True, "good": False, "never": True}


def test_pictures_and_tables_say_what_they_show():
    result = evaluate(*panel(), metrics=["good", "bad"])
    for figure, alt in (
        study.figure_heat_map(result), study.figure_criterion(result, "quality"), study.figure_agreement(result),
        study.figure_scatter(result, "good", "quality"), study.figure_heat_map(result, "dataset", "kendall"),
    ):  # fmt: skip
        assert figure.axes
        assert len(alt) > 40
    assert study.matrix(result)["complete"].tolist() == ["–", "–"]
    assert study.undefined(result)["why"].tolist() == ["constant human score: every output got 1"] * 3
    assert study.agreement(result)["criterion"].tolist() == ["complete", "quality"]
    assert len(study.best_comparisons(result)) == 1


@pytest.mark.external
class TestPublished:
    """UniEval's nine rows (pooled), and Topical-Chat by dialogue."""

    @pytest.fixture(scope="class")
    def folder(self, external_data):
        return external_data("unieval_meta_eval")

    @staticmethod
    def rows(folder, name):
        documents: dict = {}
        for i, item in enumerate(json.loads((folder / f"{name}_result.json").read_text("utf-8"))):
            key = (item["source"], item["context"]) if "context" in item else i
            yield {
                "doc_id": f"d{documents.setdefault(key, len(documents)):04d}",
                "system": item.get("system_id", ""),
                **{f"human_{k}": v for k, v in item["scores"].items()},
                **{f"unieval_{k}": v for k, v in item["predict_scores"].items()},
            }

    @pytest.mark.parametrize("name", ["topical_chat", "sfres"])
    def test_the_published_rows_to_six_decimals(self, folder, name):
        frame = pd.DataFrame(self.rows(folder, name))
        if (frame["system"] == "").all():
            frame = frame.drop(columns="system")
        published = json.loads((folder / "expected.json").read_text())["files"][f"{name}_result.json"]["dims"]
        result = evaluate(
            frame,
            metrics=[f"unieval_{k}" for k in published],
            criteria=[f"human_{k}" for k in published],
            n_resamples=2,
        )
        checked = 0
        for criterion, row in published.items():
            for kind, figure in zip(("pearson", "spearman", "kendall"), row["published"], strict=True):
                found = value(
                    result,
                    scorer=f"unieval_{criterion}",
                    criterion=f"human_{criterion}",
                    level="dataset",
                    coefficient=kind,
                )
                assert round(found["value"], 6) == figure
                checked += 1
        assert checked == {"topical_chat": 18, "sfres": 9}[name]

    def test_topical_chat_by_dialogue(self, folder):
        frame = pd.DataFrame(self.rows(folder, "topical_chat"))
        result = evaluate(
            frame, metrics=["unieval_overall"], criteria=["human_overall"], trusted=["human_overall"]
        )
        assert frame["doc_id"].nunique() == 60
        assert result.figure("trusted_mean", scorer="unieval_overall").value == pytest.approx(
            0.6780, abs=5e-5
        )
        pooled = value(result, level="dataset", coefficient="spearman")
        assert round(pooled["value"], 6) == 0.662583


@pytest.mark.external
def test_ragchecker_s_meta_evaluation(external_data):
    """Differences of two answers' marks against the preferences of two annotators, pooled."""
    folder = external_data("ragchecker")
    lines = [json.loads(line) for line in (folder / "meta_eval.jsonl").read_text("utf-8").splitlines()]
    expected = json.loads((folder / "expected.json").read_text())["meta"]
    for label in ("correctness_label", "completeness_label", "overall_label"):
        difference = [line["ragchecker2"][label] - line["ragchecker1"][label] for line in lines]
        rows = [
            {"doc_id": f"q{i:03d}", "system": f"label {k}", "delta": d, "preference": float(human[label])}
            for i, (line, d) in enumerate(zip(lines, difference, strict=True))
            for k, human in enumerate(line["human"])
        ]
        result = evaluate(
            pd.DataFrame(rows), metrics=["delta"], criteria=["preference"], level="dataset", n_resamples=2
        )
        found = [
            100 * value(result, level="dataset", coefficient=c)["value"] for c in ("pearson", "spearman")
        ]
        assert found == pytest.approx(expected[label]["ragchecker_vs_human"], abs=0.05)


class TestJudges:
    BRIEF = {"definition": "Is it short?", "scale": {"0": "long", "1": "a few words", "2": "one word"}}

    @staticmethod
    def table():
        frame, ratings = panel()
        words = {"s0": "a b c d", "s1": "a b c", "s2": "a b", "s3": "a"}
        return frame.assign(output=frame["system"].map(words), reference="a", prompt="Say a."), ratings

    def test_all_faults_at_once_before_anyone_is_asked(self):
        frame, ratings = panel()
        criteria = {
            "a": {"definition": "", "scale": {"0": "x", "1": "y"}},
            "b": {"definition": "d", "scale": {"0": "x", "half": "y"}, "basis": "context"},
            "c": {"definition": "d", "scale": {"0": "x", "1": "y"}, "basis": "output"},
            "d": {"meaning": "d"},
        }
        with pytest.raises(BadInput) as error:
            evaluate(frame, ratings, judges=["baseline/lexical"], judge_criteria=criteria)
        for fault in (
            "no column output", "baseline/lexical compares texts and gives no marks", "the definition is empty",
            "mark 'half' is no whole number", "b: the table has no column context",
            "c: basis is 'output'; one of reference, context", "d: expected basis, definition, examples, scale",
        ):  # fmt: skip
            assert fault in str(error.value)

    def test_judges_need_criteria(self):
        frame, ratings = self.table()
        with pytest.raises(BadInput, match="judges mark by judge_criteria, and there are none"):
            evaluate(frame, ratings, judges=[lambda item: 1])

    def test_marks_are_a_metric_and_the_calls_are_kept(self, tmp_path):
        frame, ratings = self.table()
        shown = []

        def short(item):
            shown.append(item)
            return {"mark": 2 - min(item["answer"].count(" "), 2), "reason": "counted"}

        result = evaluate(
            frame, ratings, metrics=["good"], judges=[short], judge_criteria={"brevity": self.BRIEF | {"basis": "reference"}}
        )  # fmt: skip
        marks = result.items[result.items["scorer"] == "short: brevity"]
        assert set(marks["score"]) == {0.0, 1.0, 2.0}
        assert value(
            result, scorer="short: brevity", criterion="quality", level="system", coefficient="spearman"
        )["value"] > 0.9  # fmt: skip
        calls = result.tables["calls"]
        assert len(calls) == len(frame) == len(shown)
        assert calls["item_id"][0] == "d0/s0"
        assert {(i["question"], i["basis"]) for i in shown} == {("Say a.", "a")}
        assert all("system" not in item for item in shown)
        assert result.accounting["models"] == {"judging": "function:short"}
        again = study.summarise(result.items, **OPTIONS)
        assert again == result.figures

    def test_what_a_judge_cannot_mark_is_unscored(self):
        frame, ratings = self.table()

        def fails_on_two(item):
            return (
                {"unscored": "timeout"}
                if item["id"] in ("d0/s0", "d1/s1")
                else {"mark": item["answer"].count("b")}
            )

        result = evaluate(
            frame, ratings, metrics=[], judges=[fails_on_two], judge_criteria={"b": self.BRIEF}
        )  # fmt: skip
        figure = result.figure("spearman_summary", scorer="fails_on_two: b", criterion="quality")
        assert (figure.n_unscored, figure.light) == (2, "grey")
        failed = result.items[(result.items["unscored"] != "") & (result.items["criterion"] == "quality")]
        assert failed["unscored"].tolist() == ["timeout", "timeout"]

    def test_recorded_marks_stand_for_a_judge(self, tmp_path):
        frame, ratings = self.table()
        file = tmp_path / "marks.csv"
        ids = frame["doc_id"] + "/" + frame["system"]
        pd.DataFrame({"id": ids, "mark": frame["output"].str.len() % 3}).to_csv(file, index=False)
        result = evaluate(
            frame, ratings, metrics=[], judges=[f"recorded:{file}"], judge_criteria={"brevity": self.BRIEF}
        )
        assert result.judged == f"metric recorded:{file}: brevity"
        assert set(result.items["unscored"]) == {""}

    def test_calls_of_a_judge_of_contradiction_are_kept_too(self):
        frame, ratings = self.table()
        frame = frame.assign(context="It is a.")
        result = evaluate(frame, ratings, metrics=["context_contradiction"], judge="baseline/lexical")
        assert len(result.tables["calls"]) == len(result.tables["contradictions"]) == 4
