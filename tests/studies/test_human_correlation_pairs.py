"""Human correlation: pairs of which people prefer one, a metric against its own criterion, annotators without a metric."""

import numpy as np
import pandas as pd
import pytest
from rated_panels import evaluate, panel

from evalbench.errors import BadInput
from evalbench.readers.dataset import load
from evalbench.studies import human_correlation as study


def row(result, scorer, criterion="preference", level="document"):
    table = result.tables["pairs"].set_index(["scorer", "criterion", "level"])
    return table.loc[(scorer, criterion, level)]


def compared(**columns):
    """Five comparisons over three documents of three systems: the metric is right in three, ties in one, wrong in one."""
    keys = [("d1", "a", 3.0), ("d1", "b", 2.0), ("d1", "c", 2.0), ("d2", "a", 1.0), ("d2", "b", 5.0), ("d3", "a", 0.0),
            ("d3", "c", 1.0)]  # fmt: skip
    items = pd.DataFrame(keys, columns=["id", "model", "m"]).assign(**columns)
    pairs = pd.DataFrame(
        [("d1", "a", "b"), ("d1", "a", "c"), ("d1", "b", "c"), ("d2", "a", "b"), ("d3", "c", "a")],
        columns=["id", "better", "worse"],
    )
    return items, pairs


def judged(items, pairs, **options):
    dataset = load({"items": items, "pairs": pairs}, study.SCHEMA)
    return study.evaluate(dataset, **{"metrics": ["m"], "n_resamples": 60, **options})


def test_pairs_are_counted_as_by_hand():
    result = judged(*compared())
    found = row(result, "m")
    assert found[["concordant", "discordant", "tied", "unscored", "pairs"]].tolist() == [3, 1, 1, 0, 5]
    assert (found["accuracy"], found["tau"]) == (pytest.approx(3 / 5), pytest.approx((3 - 1 - 1) / 5))
    assert found["tau_without_ties"] == pytest.approx((3 - 1) / 4)
    assert found["ci_low"] < found["accuracy"] < found["ci_high"]
    # The share of its comparisons that an output won is its human score.
    human = result.items.set_index(["id", "model"])["human"]
    assert human.to_dict() == {
        ("d1", "a"): 1, ("d1", "b"): 0.5, ("d1", "c"): 0, ("d2", "a"): 1, ("d2", "b"): 0, ("d3", "a"): 0, ("d3", "c"): 1,
    }  # fmt: skip
    assert study.preferred(result)["pairs"].tolist() == [5]
    assert study.preferred(result, "system")["pairs"].tolist() == [3]


def test_an_output_without_a_score_or_an_empty_output_is_a_pair_without_a_score():
    items, pairs = compared()
    items.loc[0, "m"] = np.nan
    found = row(judged(items, pairs), "m")
    assert found[["concordant", "discordant", "tied", "unscored", "pairs"]].tolist() == [1, 1, 1, 2, 3]


def test_of_a_metric_of_which_less_is_better_less_is_preferred():
    items, pairs = compared()
    found = row(judged(items, pairs, lower_is_better=["m"]), "m")
    assert found[["concordant", "discordant", "tied"]].tolist() == [1, 3, 1]


def test_a_ranking_set_of_two_texts_a_row():
    frame = pd.DataFrame(
        {
            "id": ["1", "2", "3"], "better": ["red apple", "green pear", "x"], "worse": ["blue", "green pear", "x y"],
            "reference": ["red apple", "green pear", "x y"], "mark_better": [1.0, 2, 3], "mark_worse": [0.0, 3, 1],
        }
    )  # fmt: skip
    result = evaluate(frame, metrics=["f1_score", "mark"])
    assert row(result, "f1_score")[["concordant", "discordant", "tied"]].tolist() == [1, 1, 1]
    assert row(result, "mark")[["concordant", "discordant", "tied"]].tolist() == [2, 1, 0]
    assert set(result.tables["texts"]["model"]) == {"better", "worse"}
    assert "p, Holm" not in result.sentence
    assert 'trusted=["preference"]' in result.sentence


def test_rows_of_better_and_worse_are_no_systems_and_agreement_of_all_has_an_interval():
    items = {
        "id": [str(i) for i in range(10)], "better": ["red apple"] * 10, "worse": ["blue"] * 10,
        "reference": ["red apple"] * 10,
    }  # fmt: skip
    pairs = evaluate(pd.DataFrame(items), metrics=["f1_score"]).tables["pairs"]
    assert list(pairs["level"]) == ["document"]
    assert pairs["accuracy"].iloc[0] == 1
    # Wilson's interval of 10 of 10: 1 / (1 + 1.96² / 10).
    assert pairs[["ci_low", "ci_high"]].iloc[0].tolist() == pytest.approx([0.7225, 1.0], abs=1e-4)


def test_ratings_make_pairs_as_well():
    frame, ratings = panel(documents=12)
    result = evaluate(frame, ratings, metrics=["good", "errors"], lower_is_better=["errors"])
    human = ratings[ratings.criterion == "quality"].groupby(["id", "model"])["mark"].mean()
    counts = dict.fromkeys(("concordant", "discordant", "tied", "undecided"), 0)
    both = frame.set_index(["id", "model"]).assign(human=human)
    for _, group in both.groupby("id"):
        for i in range(len(group)):
            for j in range(i):
                people = np.sign(round(group["human"].iloc[i] - group["human"].iloc[j], 9))
                metric = np.sign(group["good"].iloc[i] - group["good"].iloc[j])
                name = "undecided" if people == 0 else {1: "concordant", -1: "discordant", 0: "tied"}[people * metric]
                counts[name] += 1
    found = row(result, "good", "quality")
    assert {name: found[name] for name in counts} == counts
    systems = row(result, "good", "quality", "system")
    assert (systems["pairs"], systems["accuracy"]) == (6, 1.0)
    assert systems["ci_low"] == pytest.approx(0.2065, abs=1e-4)  # Wilson: all pairs of one unit are right
    assert row(result, "good", "complete")["note"] == "no pair with a preference and two scores"
    assert row(result, "errors", "quality")["accuracy"] > 0.7


def test_the_interval_is_that_of_resampled_documents():
    frame, ratings = panel(documents=40)
    result = evaluate(frame, ratings, metrics=["bad"], n_resamples=1000)
    found = row(result, "bad", "quality")
    assert 0.35 < found["ci_low"] < 0.5 < found["ci_high"] < 0.65


def test_faults_of_pairs():
    items, pairs = compared()
    with pytest.raises(BadInput, match="in 1 the better and the worse are one output, first d1"):
        judged(items, pd.concat([pairs, pd.DataFrame([{"id": "d1", "better": "a", "worse": "a"}])]))
    with pytest.raises(BadInput, match="1 documents and systems are not in items, first \\('d9', 'a'\\)|2 documents"):
        judged(items, pd.concat([pairs, pd.DataFrame([{"id": "d9", "better": "a", "worse": "b"}])]))
    both = pd.DataFrame({"id": ["1"], "better": ["x"], "worse": ["y"], "answer": ["z"]})
    with pytest.raises(BadInput, match="column answer beside better and worse"):
        evaluate(both, metrics=["length"])


def test_a_difference_that_its_interval_shows_and_many_tests_hide_says_so():
    frame, ratings = panel(documents=10, seed=3)
    rng = np.random.default_rng(0)
    noisy = {f"m{k}": frame["good"] + rng.normal(0, 1 + k / 4, len(frame)) for k in range(10)}
    result = evaluate(frame.assign(**noisy), ratings, metrics=["good", *noisy], n_resamples=300)
    table = result.tables["comparisons"]
    hidden = table[(table["ci_low"] * table["ci_high"] > 0) & (table["p_holm"] >= 0.05)]
    assert len(hidden)
    alone = r"alone it has p \S.*, but Holm's adjustment for 55 tests decides"
    test = r"the interval excludes 0, but the test, p \S.*, decides"
    assert hidden["verdict"].str.fullmatch(f"no difference shown: (?:{alone}|{test})").all()
    assert hidden["verdict"].str.contains("55 tests").any()
    plain = table[(table["ci_low"] * table["ci_high"] <= 0) & (table["p"] > 0.05)]
    assert (plain["verdict"] == "no difference shown").all()


def test_marks_of_a_criterion_stand_beside_its_pairs():
    items, pairs = compared(q=[3, 2, 2, 1, 5, 1, 1])
    result = judged(items, pairs.assign(criterion="q"), criteria=["q"])
    assert result.items["human"].tolist() == [3, 2, 2, 1, 5, 1, 1]
    assert row(result, "m", "q")["pairs"] == 5
    both = judged(items, pairs, criteria=["q"])
    assert set(both.items["criterion"]) == {"preference", "q"}
    # Of q there are no comparisons: its marks make pairs, of which d1's b and c and d3's are even.
    assert row(both, "m", "q")[["pairs", "undecided"]].tolist() == [3, 2]


def test_a_table_of_pairs_without_rows_is_refused():
    items, pairs = compared()
    with pytest.raises(BadInput, match="frame pairs: it has no rows"):
        judged(items, pairs.iloc[:0])


# -- a metric against its own criterion ------------------------------------------------------------------------------


def test_a_metric_against_its_own_criterion_only():
    frame, ratings = panel(documents=24)
    tone = ratings[ratings.criterion == "quality"].assign(criterion="tone")
    ratings = pd.concat([ratings, tone])
    options = {"metrics": ["good", "bad", "errors"], "own_criterion": {"good": "quality", "errors": "tone"}}
    result = evaluate(frame, ratings, **options, lower_is_better=["errors"], trusted=["quality"])
    found = {
        (e.group["scorer"], e.group["criterion"]) for e in result.summary.estimates if e.metric == "spearman_summary"
    }
    assert found == {
        ("good", "quality"), ("errors", "tone"), ("bad", "complete"), ("bad", "quality"), ("bad", "tone")
    }  # fmt: skip
    for name in ("correlations", "label_plan", "pairs"):
        assert set(map(tuple, result.tables[name][["scorer", "criterion"]].to_numpy())) == found
    comparisons = result.tables["comparisons"]
    assert set(comparisons["criterion"]) == {"quality", "tone"}
    other = result.estimate("trusted_mean", scorer="errors")
    assert (other.value, other.note) == (
        None,
        "its own criterion is not trusted; lower is better: agreement is negative",
    )
    assert other.n + other.n_unscored + other.n_undefined == 24
    assert result.sentence.startswith("good, the best of 2")
    assert study.matrix(result).set_index("scorer").loc["good", "tone"] == ""
    figure, _ = study.picture_heat_map(result)
    assert "" in [t.get_text() for t in figure.axes[0].texts]
    everything = evaluate(frame, ratings, metrics=options["metrics"], trusted=["quality"])
    assert result.estimate("trusted_mean", scorer="good") == everything.estimate("trusted_mean", scorer="good")
    kernel = study.weighted(result.items, trusted=["quality"])
    keys = set(kernel(result.items, np.ones((1, 24))))
    assert keys == {(e.metric, tuple(sorted(e.group.items()))) for e in result.summary.estimates}


def test_own_criteria_that_do_not_exist_are_refused_at_once():
    with pytest.raises(BadInput) as caught:
        evaluate(*panel(), metrics=["good"], own_criterion={"godo": "quality", "good": "tone"})
    assert "godo is not a metric here; there are good" in str(caught.value)
    assert "own_criterion of good must be one of complete, quality; got 'tone'" in str(caught.value)


# -- annotators without a metric -------------------------------------------------------------------------------------


def test_the_agreement_of_annotators_alone():
    frame, ratings = panel(documents=24)
    alone = evaluate(frame, ratings, metrics=[])
    beside = evaluate(frame, ratings, metrics=["good"])
    agreement = [e for e in beside.summary.estimates if "scorer" not in e.group]
    assert [e.row() for e in alone.summary.estimates] == [e.row() for e in agreement]
    assert alone.light == "unlit"
    alpha = alone.estimate("alpha_ordinal", criterion="quality").value
    assert alone.sentence.startswith("Ordinal alpha of 3 annotators, without a metric: complete: no alpha (all ratings")
    assert f"quality {alpha:.2f} [" in alone.sentence
    assert set(alone.tables) == {"agreement", "texts"}
    assert alone.by == ("criterion",)
    again = study.summarise(alone.items, n_resamples=60)
    assert again == alone.summary
    assert set(study.weighted(alone.items)(alone.items, np.ones((1, 24)))) == {
        (e.metric, tuple(e.group.items())) for e in alone.summary.estimates
    }


def test_neither_a_metric_nor_a_second_annotator_is_nothing_to_compare():
    frame, ratings = panel()
    with pytest.raises(BadInput, match="neither a metric nor a judge is there, and there is one human score"):
        evaluate(frame, ratings[ratings.annotator == "a0"], metrics=[])


SHOWN = ("picture_heat_map", "undefined", "picture_criterion", "picture_scatter", "disagreements", "matrix", "partials",
         "best_comparisons", "uncompared", "preferred", "labels_needed", "documents_needed")  # fmt: skip


def test_without_a_metric_every_section_about_metrics_is_empty():
    result = evaluate(*panel(), metrics=[])
    assert [name for name in SHOWN if getattr(study, name)(result) is not None] == []
    assert study.picture_agreement(result) is not None
    assert len(study.agreement(result)) == 2


def test_without_annotators_the_sections_about_them_are_empty_and_no_picture_speaks_of_a_ceiling():
    frame, ratings = panel(documents=24)
    result = evaluate(frame, ratings[ratings.annotator == "a0"], metrics=["good"])
    assert study.picture_agreement(result) is None
    assert study.agreement(result) is None
    assert study.best_comparisons(result) is None
    assert study.uncompared(result) is None
    for name in ("picture_heat_map", "picture_criterion", "picture_scatter"):
        figure, alt = getattr(study, name)(result)
        said = alt + " ".join(t.get_text() for t in figure.findobj(lambda a: hasattr(a, "get_text")))
        for word in ("ceiling", "annotator", "ashed"):
            assert word not in said, (name, word)


# -- what the first lines say ----------------------------------------------------------------------------------------


def test_pairs_that_people_judged_are_the_headline():
    result = judged(*compared())
    assert result.sentence.startswith("m prefers what people prefer in 0.60 [")
    assert "of 5 pairs (tau 0.20; its ties count as wrong)" in result.sentence
    assert "there is one human score for each output" not in result.sentence
    assert "each pair has one verdict of people" in result.sentence
    first, second = result.summary.estimates[:2]
    assert (first.metric, first.value, second.metric, second.value) == (
        "pair_accuracy", pytest.approx(0.6), "pair_tau", pytest.approx(0.2)
    )  # fmt: skip
    table = row(result, "m")
    assert (first.ci_low, second.ci_high) == (pytest.approx(table["ci_low"]), pytest.approx(2 * table["ci_high"] - 1))
    assert study.summarise(result.items, n_resamples=60) == result.summary


def test_a_metric_that_goes_against_people_names_the_option():
    marks = np.arange(40)
    frame = pd.DataFrame({"id": [f"d{k}" for k in marks], "perplexity": -marks, "quality": marks % 7 + marks / 2})
    result = evaluate(frame, metrics=["perplexity"], criteria=["quality"])
    assert "The metric perplexity goes against people" in result.sentence
    assert """-p 'lower_is_better=["perplexity"]'""" in result.sentence
    said = evaluate(frame, metrics=["perplexity"], criteria=["quality"], lower_is_better=["perplexity"])
    assert "goes against" not in said.sentence


def test_stems_without_a_language_name_the_option():
    frame = pd.DataFrame({"id": ["1", "2", "3"], "answer": list("abc"), "reference": list("abd"), "h": [1, 2, 3]})
    with pytest.raises(BadInput, match="name the language of the texts, such as -p language=en"):
        evaluate(frame, metrics=["rouge1"], criteria=["h"], stem=True)


def test_documents_that_differ_by_case_and_blanks_alone_are_named():
    frame, ratings = panel()
    with pytest.raises(BadInput, match="they differ from known ones by case alone, such as D0 and d0"):
        evaluate(frame, ratings.assign(id=ratings["id"].str.upper()), metrics=["good"])
