"""Every pair of groups compared: order, pairs on shared units, one family of tests, and what a reader is shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evalbench.core import measures as measures_of_core
from evalbench.core.compared import MOST_COMPARED
from evalbench.core.measures import mean_of, share_of
from evalbench.core.significance import holm
from evalbench.kit.comparing import compare_groups, in_words, shown
from evalbench.kit.verdicts import by_group


def table(scores: dict[str, list[float]], **more: object) -> pd.DataFrame:
    rows = [{"id": f"q{i:02}", "model": m, "score": s} for m, own in scores.items() for i, s in enumerate(own)]
    return pd.DataFrame(rows).assign(**more)


def drawn(n_models: int, n: int = 30) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    return table({f"m{k:02}": list(draw.random(n) + 0.1 * k) for k in range(n_models)})


def test_the_better_group_is_first_and_holm_goes_over_the_whole_table():
    items = drawn(3).assign(half=lambda d: (d["score"] > 0.5).astype(float))
    found = compare_groups(items, [mean_of("score"), share_of("half")], "model", rank_by="score", n_resamples=50)
    assert found["metric"].tolist() == ["score"] * 3 + ["half"] * 3
    assert found[["model_a", "model_b"]].drop_duplicates().to_numpy().tolist() == [
        ["m02", "m01"],
        ["m02", "m00"],
        ["m01", "m00"],
    ]
    means = items.groupby("model")["score"].mean()
    first = found[found["metric"] == "score"]
    assert first["difference"].to_numpy() == pytest.approx(
        [means[a] - means[b] for a, b in zip(first["model_a"], first["model_b"], strict=True)]
    )
    np.testing.assert_allclose(found["p_holm"], holm(found["p"]))
    assert set(found["n_tests"]) == {6}


def test_groups_are_paired_on_the_units_that_both_have():
    items = drawn(2).iloc[:-10]
    found = compare_groups(items, [mean_of("score")], "model", n_resamples=50).iloc[0]
    assert (found["n_a"], found["n_b"]) == (20, 20)
    wide = items.pivot(index="id", columns="model", values="score").dropna()
    assert found["difference"] == pytest.approx((wide["m00"] - wide["m01"]).mean())


@pytest.mark.slow
@pytest.mark.parametrize(("higher", "best"), [(True, "m29"), (False, "m00")])
def test_of_many_groups_the_best_are_compared_and_the_note_says_so(higher, best):
    items = table({f"m{k:02}": [k / 30, (k + 1) / 30] for k in range(30)})
    found = compare_groups(items, [mean_of("score", higher_is_better=higher)], "model", rank_by="score", n_resamples=20)
    assert len(found) == MOST_COMPARED * (MOST_COMPARED - 1) // 2
    assert found["model_a"].iloc[0] == best
    words = in_words(found, "model", "score", 30)
    assert len(words) == MOST_COMPARED
    assert "of 30 models the best 25 by score are compared in pairs" in words[-1]


def test_every_measure_picks_its_own_best():
    items = table({f"m{k:02}": [k / 30, (k + 1) / 30] for k in range(30)}).assign(less=lambda d: -d["score"])
    found = compare_groups(items, [mean_of("score"), mean_of("less")], "model", n_resamples=20)
    of = {metric: {*own["model_a"], *own["model_b"]} for metric, own in found.groupby("metric")}
    assert of["score"] == {f"m{k:02}" for k in range(5, 30)}
    assert of["less"] == {f"m{k:02}" for k in range(25)}
    assert (found["model_a"] < found["model_b"]).all()


def test_of_many_pairs_those_of_neighbouring_rank_are_told():
    found = compare_groups(drawn(5), [mean_of("score")], "model", rank_by="score", n_resamples=50)
    words = in_words(found, "model", "score", 5)
    assert len(words) == 4
    assert all(
        a in w and b in w
        for w, (a, b) in zip(words, [("m04", "m03"), ("m03", "m02"), ("m02", "m01"), ("m01", "m00")], strict=True)
    )
    assert (
        len(in_words(compare_groups(drawn(3), [mean_of("score")], "model", n_resamples=50), "model", "score", 3)) == 3
    )


def test_a_single_group_has_nothing_to_compare():
    found = compare_groups(drawn(1), [mean_of("score")], "model")
    assert found.empty
    assert in_words(found, "model", "score", 1) == []
    assert shown(found, "model").columns.tolist()[:3] == ["figure", "model", "against"]
    assert shown(None, "model").empty


def test_what_is_undefined_is_shown_as_a_dash_and_counts_for_no_test():
    items = drawn(3)
    items.loc[items["model"] == "m02", "score"] = np.nan
    found = compare_groups(items, [mean_of("score")], "model", rank_by="score", n_resamples=50)
    assert found["outcome"].tolist()[1:] == ["undefined"] * 2
    assert set(found["n_tests"]) == {1}
    page = shown(found, "model")
    assert page["difference"].tolist()[1:] == ["–", "–"]
    assert page["verdict"].tolist()[1:] == ["undefined: no unit has a value on both sides"] * 2
    assert page["80 % power for"].tolist()[1:] == ["–", "–"]
    assert page["difference"][0].startswith("+")


def test_the_page_says_why_no_difference_is_shown():
    items = drawn(2)
    found = compare_groups(items, [mean_of("score")], "model", rank_by="score", n_resamples=50)
    found = found.assign(outcome="no difference shown", held_back="the interval excludes 0", p_holm=0.2, smallest=99.0)
    row = shown(found, "model").iloc[0]
    assert (row["verdict"], row["units"]) == ("no difference shown: the interval excludes 0", items["id"].nunique())
    assert row["80 % power for"] == "99"
    assert shown(found.assign(smallest=1e-9), "model")["80 % power for"].tolist() == ["–"]


def disjoint(n_models: int, n_metrics: int = 2) -> pd.DataFrame:
    """Models that share no text, but for the first two, which share all of theirs."""
    frames = [
        pd.DataFrame(
            {
                "id": [f"{max(m, 1)}-{i}" for i in range(8)],
                "model": f"m{m}",
                **{f"x{k}": [0.1 * m] * 8 for k in range(n_metrics)},
            }
        )
        for m in range(n_models)
    ]
    return compare_groups(pd.concat(frames), [mean_of(f"x{k}") for k in range(n_metrics)], "model", n_resamples=100)


def test_a_pair_without_a_common_unit_is_one_row() -> None:
    table = shown(disjoint(3), "model")
    assert table["figure"].tolist() == ["x0", "x1", "all 2 figures", "all 2 figures"]
    assert table["verdict"].tolist()[2:] == ["undefined: no unit has a value on both sides"] * 2


def test_many_pairs_without_a_common_unit_are_one_row() -> None:
    table = shown(disjoint(5), "model")
    assert table[["figure", "model", "against"]].to_numpy().tolist()[2:] == [["all 2 figures", "9 pairs", ""]]


def test_where_no_pair_can_be_compared_a_sentence_takes_the_place_of_the_table() -> None:
    found = disjoint(3)
    table = shown(found[~((found["model_a"] == "m0") & (found["model_b"] == "m1"))], "model")
    assert table["note"].tolist() == ["No two of m0, m1, m2 can be compared: no unit has a value on both sides"]


def test_groups_that_lack_units_are_compared_on_what_both_have():
    ids = [f"q{i}" for i in range(40)]
    items = pd.DataFrame({"id": ids * 2, "model": ["a"] * 40 + ["late"] * 40, "score": [1.0] * 43 + [0.0] * 37})
    items["row_absent"] = [False] * 43 + [True] * 37
    (found,) = compare_groups(items, [mean_of("score")], "model", n_resamples=50).to_dict("records")
    assert (found["outcome"], found["n_a"]) == ("same", 3)
    assert found["words"].endswith(" Compared on 3 of 40 units, those that both have.")
    (counted,) = compare_groups(items, [mean_of("score")], "model", absent_counts=True, n_resamples=50).to_dict(
        "records"
    )
    assert (counted["outcome"], counted["n_a"]) == ("better", 40)


def test_a_difference_beside_many_unscored_items_says_that_it_may_be_theirs():
    items = table({"fern": [0.1] * 30, "oak": [0.9] * 30}, unscored="")
    words = compare_groups(items, [mean_of("score")], "model", n_resamples=50)["words"].iloc[0]
    assert "could not be scored" not in words
    items.loc[items.index[:9], ["score", "unscored"]] = [np.nan, "no-output"]
    words = compare_groups(items, [mean_of("score")], "model", n_resamples=50)["words"].iloc[0]
    assert words.endswith(" 9 of 30 of fern could not be scored: the difference may be theirs.")


def test_figures_of_a_crowd_are_drawn_one_by_one_with_the_same_values(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(0)
    items = drawn(2, 40).assign(half=lambda d: d["score"].round(1), unscored=["", "no reply"] * 40, undefined="")
    items = items.sample(frac=1, random_state=1).assign(third=draw.random(80))
    measures = [mean_of("score"), mean_of("half"), mean_of("third")]

    def found() -> tuple[pd.DataFrame, pd.DataFrame]:
        estimates = by_group(items, measures, "model", whole=True, n_resamples=2000)
        return compare_groups(items, measures, "model", n_resamples=2000), pd.DataFrame([e.row() for e in estimates])

    together = found()
    monkeypatch.setattr(measures_of_core, "CROWD", 10)
    for one, other in zip(together, found(), strict=True):
        numbers = list(one.select_dtypes("number"))
        drawn_ones = [name for name in numbers if name.startswith(("ci_", "p", "smallest"))]
        assert drawn_ones
        same = [name for name in one if name not in (*drawn_ones, "words")]
        pd.testing.assert_frame_equal(one[same], other[same], check_exact=True)
        np.testing.assert_allclose(one[drawn_ones], other[drawn_ones], rtol=0, atol=0.04)
