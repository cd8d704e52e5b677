"""Comparison of invented runs: what is refused, what is found, what the page says."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from toy_runs import MEASURES, N, differences, items, one, run, summarise

from evalbench.compare.matrix import Pairs
from evalbench.compare.runs import Hooks, compare
from evalbench.compare.sides import Side, with_names
from evalbench.core.measures import Measure, estimate
from evalbench.core.result import Summary
from evalbench.core.verdict import Verdict
from evalbench.core.wording import rounded_parts
from evalbench.errors import BadInput
from evalbench.report.compare_page import page
from evalbench.report.compare_words import judged_by, outcome, plain, sentences, told_otherwise


@pytest.fixture(scope="module")
def two() -> Side:
    return run(items({"elm": 0.0, "oak": 0.15}))


# -- refused ----------------------------------------------------------------------------------------


def test_other_studies_are_refused_even_unpaired(two: Side) -> None:
    for paired in (True, False):
        with pytest.raises(BadInput, match="r2 is a run of other, r1 one of toy"):
            differences(two, run(two.items, "r2", study="other"), paired=paired)


def test_other_data_are_refused_with_the_way_out(two: Side) -> None:
    with pytest.raises(BadInput, match=r"r2 read other data \(set@1, sha256 ffffffff\).*--unpaired"):
        differences(two, run(two.items, "r2", sha="f" * 64))


def test_groups_without_a_match_are_listed(two: Side) -> None:
    with pytest.raises(
        BadInput, match=r"(?s)--left and --right.*r1: checker=elm, checker=oak.*r2: checker=fig, checker=yew"
    ):
        differences(two, run(items({"fig": 0.0, "yew": 0.1}), "r2"))


def test_unknown_figures_and_margins_are_refused(two: Side) -> None:
    with pytest.raises(
        BadInput, match="(?s)metrics score, right, f1, power, r:.*--metric: no metric 'f2' in both runs"
    ) as said:
        differences(two, two, metric="f2", margins={"skore": 0.1})
    assert said.value.faults[1] == "--margin: no metric 'skore' in both runs; did you mean score?"


def test_a_title_is_no_name_and_is_answered_with_the_metric(two: Side) -> None:
    summary = [
        {**row, "title": "level 1 (ours)"} if row["metric"] == "score" else row for row in two.results["summary"]
    ]
    titled = replace(two, results={**two.results, "summary": summary})
    with pytest.raises(BadInput, match=r"no metric 'level 1 \(ours\)' in both runs; did you mean score\?"):
        differences(titled, titled, metric="level 1 (ours)")


def test_a_metric_that_only_one_run_states_is_named(two: Side) -> None:
    summary = [
        {**row, "metric": "level 1 answer"} if row["metric"] == "right" else row for row in two.results["summary"]
    ]
    old = replace(two, run_id="r0", results={**two.results, "summary": summary})
    notes = differences(old, two).notes
    assert "Only in A, so not compared: level 1 answer." in notes
    assert "Only in B, so not compared: right." in notes


def test_a_metric_that_only_older_code_computed_is_not_said_to_be_without_a_value(two: Side) -> None:
    summary = [
        {**row, "metric": "level 1 answer"} if row["metric"] == "right" else row for row in two.results["summary"]
    ]
    old = replace(two, results={**two.results, "summary": summary})
    found = differences(one(old, "elm"), one(old, "oak"))
    assert "Of an older version, so not compared: level 1 answer; run the study anew." in found.notes
    assert "level 1 answer" not in {row.comparison.metric for row in found.rows}


def test_runs_without_a_metric_in_common_are_refused(two: Side) -> None:
    summary = [{**row, "metric": f"old {row['metric']}"} for row in two.results["summary"]]
    old = replace(two, run_id="r0", results={**two.results, "summary": summary})
    with pytest.raises(BadInput, match="r1 and r0 have no metric in common"):
        differences(old, two)


def test_no_common_unit_is_refused(two: Side) -> None:
    other = run(two.items.assign(id="x" + two.items["id"]), "r2")
    with pytest.raises(BadInput, match="r2 and r1 have no id in common"):
        differences(two, other)


def test_items_of_older_code_are_refused_with_the_column(two: Side) -> None:
    with pytest.raises(BadInput, match="r2: the items lack tp, fp, which today's code reads; run it anew"):
        differences(two, replace(two, run_id="r2", items=two.items.drop(columns=["tp", "fp"])))
    with pytest.raises(BadInput, match="the items lack 'truth', which today's code reads"):
        differences(two, replace(two, run_id="r2", items=two.items.drop(columns="truth")))


# -- found ------------------------------------------------------------------------------------------


def test_a_run_with_itself_says_so_with_difference_0(two: Side) -> None:
    found = differences(two, two)
    assert found.same
    assert all(row.comparison.difference == 0 and row.comparison.outcome == "same" for row in found.rows)
    assert sentences(found) == ["Both sides are the same run, r1: every difference is 0."]
    assert found.parameters == ()
    assert set(found.changes.counts) == {"same"}
    assert "every difference is 0" in page(Pairs.against_the_first([found]), {})


def test_two_runs_with_equal_items_are_told_apart_from_the_same_run(two: Side) -> None:
    found = differences(two, replace(two, run_id="r2"))
    assert not found.same
    assert sentences(found) == ["B and A agree on every one of 40 units: every difference is 0."]


def test_the_page_begins_with_who_is_better_by_how_much_and_whether_that_is_shown(two: Side) -> None:
    found = differences(one(two, "elm"), one(two, "oak"))
    assert plain(found) == "oak is better than elm by 0.14 in score, more than chance explains."
    assert plain(differences(one(two, "oak"), one(two, "elm"))).startswith("elm is worse than oak by 0.14 in score")
    text = page(Pairs.against_the_first([found]), {})
    assert f'<p class="eb-sentence">{plain(found)}</p>' in text
    assert "score: oak is better than elm: +0.135" in text


def test_what_is_not_shown_is_not_claimed_and_groups_are_named(two: Side) -> None:
    same = differences(one(two, "elm"), one(run(items({"elm": 0.001}, seed=3), "r2"), "elm"))
    assert plain(same) == "No difference between B and A is shown in score."
    groups = differences(two, run(items({"elm": 0.0, "oak": 0.3}, seed=1), "r2"))
    assert plain(groups) == "In score B is better than A for oak and is not shown to differ from it for elm."


@pytest.mark.parametrize(
    ("outcome_", "said"),
    [
        ("higher", "oak is higher than elm by 0.14 in score, more than chance explains; neither is better for that."),
        ("equivalent", "oak and elm are as good as each other in score: they differ by less than 0.2."),
        ("same", "oak and elm are the same in score."),
        ("another judge", "Whether oak or elm is better in score cannot be said: the runs had different judges."),
        ("undefined", "Whether oak or elm is better in score cannot be said: no unit has a value."),
    ],
)
def test_every_outcome_has_a_plain_sentence(two: Side, outcome_: str, said: str) -> None:
    found = differences(one(two, "elm"), one(two, "oak"))
    first, *others = found.rows
    c = replace(first.comparison, outcome=outcome_, margin=0.2, note="no unit has a value")
    rest = [row._replace(comparison=replace(row.comparison, outcome="no difference shown")) for row in others]
    assert plain(replace(found, rows=(first._replace(comparison=c), *rest))) == said


def test_further_figures_that_differ_are_counted(two: Side) -> None:
    found = differences(one(two, "elm"), one(two, "oak"))
    first, *others = found.rows
    none = first._replace(comparison=replace(first.comparison, outcome="no difference shown"))
    said = plain(replace(found, rows=(none, *others)))
    n = len(told_otherwise(replace(found, rows=(none, *others))))
    assert n
    assert said.endswith(f"In {n} other figure{'s' if n > 1 else ''} a difference is shown.")


def test_groups_within_a_run(two: Side) -> None:
    found = differences(one(two, "elm"), one(two, "oak"))
    by = {row.comparison.metric: row.comparison for row in found.rows}
    elm, oak = (two.rows({"checker": c})["score"].to_numpy() for c in ("elm", "oak"))
    assert by["score"].difference == pytest.approx(np.mean(oak - elm))
    assert by["score"].ci_low < by["score"].difference < by["score"].ci_high
    assert by["score"].outcome == "better"
    assert by["score"].words.startswith("score: oak is better than elm: +0.1")
    assert by["right"].p_mcnemar is not None
    assert found.side.name == "oak"


@pytest.mark.slow
def test_a_figure_that_is_no_sum_is_compared_by_summarise(two: Side) -> None:
    noisy = two.items.copy()
    generator = np.random.default_rng(5)
    noisy["score"] = np.clip(noisy["score"] + generator.normal(0, 0.4, len(noisy)), 0, 1)
    found = differences(two, run(noisy, "r2"), n_summaries=40)
    rows = {row.group["checker"]: row.comparison for row in found.rows if row.comparison.metric == "r"}
    assert rows["elm"].difference < 0
    assert rows["elm"].ci_high < 0
    assert 1 / 41 <= rows["elm"].p <= 0.05


@pytest.mark.slow
def test_resampled_and_summed_figures_agree(two: Side) -> None:
    right = one(two, "oak")
    summed = differences(one(two, "elm"), right)
    only_summaries = Hooks(None, summarise)
    a, b = with_names([one(two, "elm"), right])
    slow = compare(a, [b], only_summaries, n_summaries=40)[0]
    for x, y in zip(summed.rows, slow.rows, strict=True):
        assert x.comparison.metric == y.comparison.metric
        assert x.comparison.difference == pytest.approx(y.comparison.difference)
        if x.comparison.metric != "r":
            assert x.comparison.ci_low == pytest.approx(y.comparison.ci_low, abs=0.03)
            assert (x.comparison.p <= 0.05) == (y.comparison.p <= 0.05)


def test_one_family_of_tests_for_headline_figures_and_one_for_the_rest(two: Side) -> None:
    found = differences(two, run(items({"elm": 0.02, "oak": 0.17}, seed=3), "r2"))
    head = [row.comparison for row in found.rows if row.headline]
    assert [c.metric for c in head] == [m for _ in range(2) for m in ("score", "right", "f1", "power")]
    assert min(c.p_holm for c in head) == pytest.approx(min(min(1, 8 * c.p) for c in head))
    rest = [row.comparison for row in found.rows if not row.headline]
    assert [c.metric for c in rest] == ["r", "r"]
    assert all(c.p <= c.p_holm <= 2 * c.p for c in rest)


def test_figures_that_are_not_compared_take_no_place_among_the_headline_ones(two: Side) -> None:
    found = differences(two, run(two.items, "r2", power=2.0), metric="power", n_summaries=4)
    assert {row.comparison.metric for row in found.rows if row.headline} == {"score", "right", "f1", "r"}


def test_no_difference_beside_an_interval_without_zero_says_what_made_it_so() -> None:
    frame = items({"elm": 0.0}).assign(right=1.0)
    other = frame.assign(right=(frame.index >= 4).astype(float))
    found = differences(run(other, "r2"), run(frame), metric="right", n_resamples=2000)
    row = next(r.comparison for r in found.rows if r.comparison.metric == "right")
    assert row.ci_low is not None
    assert row.ci_high is not None
    assert row.ci_low > 0 or row.ci_high < 0
    assert (row.p, row.outcome) == (0.125, "no difference shown")
    why = "the two differ on 4 units only, and over so few p is never below 0.12"
    assert any(why in said for said in sentences(found, "right"))
    assert f"{why}</span>" in page(Pairs.against_the_first([found]), {})


def test_a_value_on_the_page_has_the_digits_that_tell_it_from_its_threshold(two: Side) -> None:
    other = run(items({"elm": 0.0, "oak": 0.15}, seed=5), "r2")
    plain = differences(two, other)
    c = next(row.comparison for row in plain.rows if row.comparison.metric == "score")
    usual = rounded_parts(c.value_b, c.ci_low, c.ci_high)[0]
    summary = [{**row, "cuts": [float(usual)] if row["metric"] == "score" else []} for row in two.results["summary"]]
    lit = replace(two, results={**two.results, "summary": summary})
    longer = rounded_parts(c.value_b, c.ci_low, c.ci_high, cuts=[float(usual)])[0]
    assert (float(longer) > float(usual)) == (c.value_b > float(usual))
    assert len(longer) > len(usual)
    assert f'<td class="n">{longer}</td>' in page(Pairs.against_the_first([differences(lit, other)]), {})
    assert f'<td class="n">{longer}</td>' not in page(Pairs.against_the_first([plain]), {})


def test_units_of_one_side_alone_are_counted(two: Side) -> None:
    part = two.items[~(two.items["id"] == "t003")]
    found = differences(two, run(part, "r2"))
    assert (found.n_shared, found.only_reference, found.only_side) == (39, 1, 0)
    assert "1 only in A" in page(Pairs.against_the_first([found]), {})


def test_changed_units_are_ordered_and_say_what_moved(two: Side) -> None:
    changed = two.items.copy()
    at = changed.index[(changed["checker"] == "elm") & (changed["id"] == "t005")]
    changed.loc[at, ["tp", "fp", "fn"]] = [0.0, 7.0, 2.0]
    found = differences(two, run(changed, "r2"), metric="f1")
    first = found.changes.table.iloc[0]
    assert (first["id"], first["checker"], first["verdict"]) == ("t005", "elm", "worse")
    assert "tp 2 → 0" in first["what"]
    assert found.changes.counts["worse"] == 1
    assert len(found.changes.table) == 2 * N


@pytest.mark.parametrize(
    ("outcomes", "one"),
    [
        (["better", "better"], "better"),
        (["better", "same"], "mixed"),
        (["better", "worse"], "mixed"),
        (["same", "no difference shown"], "no difference shown"),
        (["same", "undefined"], "same"),
        (["undefined", "undefined"], "undefined"),
    ],
)
def test_one_word_for_the_groups_of_the_first_figure(two: Side, outcomes, one) -> None:
    found = differences(two, run(two.items, "r2"), n_summaries=0)
    rows = [row for row in found.rows if row.comparison.metric == "score"]
    rows = [
        row._replace(comparison=replace(row.comparison, outcome=said)) for row, said in zip(rows, outcomes, strict=True)
    ]
    assert outcome(replace(found, rows=tuple(rows))) == one


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [(["same", "better", "worse"], 2), (["better", "better", "no difference shown"], 0), (["same", "undefined"], 0)],
)
def test_a_difference_that_the_first_figure_does_not_tell_is_told_beside_it(two: Side, outcomes, told) -> None:
    found = differences(two, run(two.items, "r2"), n_summaries=0)
    one_each = {row.comparison.metric: row for row in found.rows}.values()
    rows = [
        row._replace(group={}, headline=True, comparison=replace(row.comparison, outcome=said, words=said))
        for row, said in zip(one_each, outcomes, strict=False)
    ]
    changed = replace(found, rows=tuple(rows))
    assert len(rows) == len(outcomes)
    assert told_otherwise(changed) == outcomes[1:][:told]
    assert judged_by(changed) == rows[0].comparison.metric


def test_a_lower_is_better_figure_turns_the_words() -> None:
    frame = items({"elm": 0.0, "oak": 0.2})
    errors = Measure("errors", ("fp", "#fp"), lambda s, n: s / n, higher_is_better=False)

    def few(rows: pd.DataFrame, *, seed: int = 0, n_resamples: int = 100) -> Summary:
        done = [
            estimate(r, [errors], units=r["id"], seed=seed, group={"checker": c}, n_resamples=n_resamples).estimates[0]
            for c, r in rows.groupby("checker")
        ]
        return Summary(tuple(done), Verdict("unlit", ""))

    side = run(frame)
    side.results["summary"] = [e.row() for e in few(frame).estimates]
    a, b = with_names([one(side, "elm"), one(side, "oak")])
    found = compare(a, [b], Hooks(lambda: [errors], few))[0]
    assert found.rows[0].comparison.difference < 0
    assert found.rows[0].comparison.outcome == "better"
    assert "better" in found.changes.counts
    assert "worse" not in found.changes.counts


def test_parameters_and_surroundings_that_differ(two: Side) -> None:
    other = replace(
        run(two.items, "r2", limit=5), run={"status": "ok", "git": {"commit": "abc"}, "versions": {"numpy": "2"}}
    )
    found = differences(two, other)
    assert found.parameters == (("limit", None, 5),)
    assert ("commit", None, "abc") in found.surroundings
    assert found.side.name == "limit=5"
    assert any("a difference is one of measuring" in note for note in found.notes)


def test_a_figure_whose_definition_moved_is_not_compared(two: Side) -> None:
    found = differences(two, run(two.items, "r2", power=2.0))
    assert "power" not in {row.comparison.metric for row in found.rows}
    assert any(note.startswith("power: not compared: r2 recorded 0.") for note in found.notes)


def test_unpaired_runs_on_other_data(two: Side) -> None:
    other = run(items({"elm": 0.15, "oak": 0.15}, seed=9, n=60), "r2", sha="f" * 64)
    found = differences(two, other, paired=False)
    elm = next(row.comparison for row in found.rows if row.group["checker"] == "elm")
    assert (elm.n_a, elm.n_b) == (60, 40)
    assert elm.outcome == "better"
    assert "independent percentile bootstrap" in elm.method
    assert found.changes is None


def test_equivalence_only_inside_a_stated_margin(two: Side) -> None:
    near = two.items.copy()
    near["score"] = near["score"] + np.where(np.arange(len(near)) % 2, 0.001, -0.001)
    plain = differences(two, run(near, "r2")).rows[0].comparison
    stated = differences(two, run(near, "r2"), margins={"score": 0.05}).rows[0].comparison
    assert (plain.outcome, stated.outcome) == ("no difference shown", "equivalent")
    assert "would have been shown with 80 % power" in plain.words


def test_several_runs_against_the_first(two: Side) -> None:
    sides = with_names(
        [run(two.items, "r1", power=1.0), *(run(items({"elm": s, "oak": s}), f"r{k}") for k, s in ((2, 0.1), (3, 0.2)))]
    )
    found = compare(sides[0], sides[1:], MEASURES, n_resamples=200, n_summaries=8)
    assert [d.side.name for d in found] == ["B", "C"]
    text = page(Pairs.against_the_first(found), {})
    assert "C against A" in text


# -- the page ---------------------------------------------------------------------------------------


def test_more_than_twenty_changes_are_counted_not_drawn() -> None:
    side = run(items({"elm": 0.0, "oak": 0.15}, n=120))
    found = differences(one(side, "elm"), one(side, "oak"))
    text = page(Pairs.against_the_first([found]), {})
    assert re.search(r"first 20 of 1\d\d rows, the rest is in changes.parquet", text)
