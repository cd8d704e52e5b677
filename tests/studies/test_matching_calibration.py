"""Calibration: the search finds what was planted, the verdict is honest, its file does what it says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalbench.core.result import Result
from evalbench.core.seeds import rng
from evalbench.errors import BadInput
from evalbench.metrics.matching import Thresholds
from evalbench.readers.dataset import Dataset
from evalbench.studies import load, matching, refuse, study
from evalbench.studies import matching_calibration as calibration
from evalbench.studies.matching_calibration.items import DEFAULTS, HELD_OUT, TRAINED
from evalbench.studies.matching_calibration.search import (
    SCORES,
    Setting,
    Training,
    calls,
    f1_surface,
    fitted,
    folds,
    scores,
    simplex,
    spearman_of,
)
from evalbench.studies.matching_calibration.summary import RULE

COMPONENTS = tuple(matching.pairs.HA_WEIGHTS)
SEED = Setting(tuple(matching.pairs.HA_WEIGHTS.values()), Thresholds())


@pytest.fixture(scope="module")
def sample(root: Path) -> Dataset:
    return load("house_style_curated@1.1.0", study="matching_calibration", root=root)


@pytest.fixture(scope="module")
def result(sample: Dataset) -> Result:
    return calibration.evaluate(sample, embed="jaccard", n_resamples=300)


def planted(n: int = 400, k: int = 5, noise: float = 0.0, seed: int = 1) -> tuple[Training, Setting]:
    """Pairs whose humans follow other weights and another threshold than the defaults."""
    generator = np.random.default_rng(seed)
    parts = generator.uniform(0, 1, (n, k))
    truth = Setting((0.05, 0.15, 0.6, 0.15, 0.05)[:k] if k == 5 else (0.1, 0.9), Thresholds(0.0, 0.01, 0.4))
    data = Training(parts, np.full(n, 0.5), np.full(n, 0.5), np.zeros(n), "renormalise")
    human = calls(data, truth)[1].astype(float)
    flipped = generator.uniform(size=n) < noise
    return data._replace(human=np.where(flipped, 1 - human, human)), truth


def f1(called: np.ndarray, human: np.ndarray) -> float:
    return float(2 * (called * human).sum() / (called.sum() + human.sum()))


# -- refused ----------------------------------------------------------------------------------------


def test_options_are_refused_all_at_once(sample: Dataset) -> None:
    with pytest.raises(BadInput) as caught:
        calibration.evaluate(sample, score="x", objective="y", consensus="z", thresholds=["w"], missing="v")
    assert caught.value.faults == (
        "score must be one of std, ha; got 'x'",
        "objective must be one of f1, spearman; got 'y'",
        "consensus must be one of majority, mean; got 'z'",
        "missing must be one of renormalise, zero; got 'v'",
        "thresholds must be one of score, overlap, rule; got 'w'",
    )


def refused(data: Dataset, **options: object) -> str:
    """What is said before anything is computed, which is what ``evaluate`` says."""
    known = {name: option.default for name, option in study("matching_calibration").options().items()}
    with pytest.raises(BadInput) as early:
        refuse(data, "matching_calibration", known | options)
    with pytest.raises(BadInput) as late:
        calibration.evaluate(data, embed="jaccard", **options)
    assert str(early.value) == str(late.value)
    return str(late.value)


def test_folds_need_texts(sample: Dataset) -> None:
    said = refused(sample, n_folds=43)
    assert "n_folds must be at most 42, the number of texts with verdicts; got 43" in said


def changed(sample: Dataset, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Dataset:
    return Dataset(sample.label, {**sample.tables, "pair_verdicts": change(sample["pair_verdicts"])})


def test_verdicts_on_pairs_that_do_not_exist_are_listed(sample: Dataset) -> None:
    wrong = changed(sample, lambda v: v.assign(truth_id=v["truth_id"].replace("hs-001-t1", "hs-001-t9")))
    said = refused(wrong)
    assert "2 verdicts on pairs that do not exist" in said
    assert "truth_id hs-001-t9" in said


@pytest.mark.parametrize(("column", "value"), [("id", "hs-002"), ("model", "x@1|y"), ("prediction_id", "p")])
def test_a_pair_is_of_one_sample_and_one_checker(sample: Dataset, column: str, value: str) -> None:
    wrong = changed(sample, lambda v: v.assign(**{column: [value, *v[column][1:]]}))
    assert "1 verdicts on pairs that do not exist" in refused(wrong)


def test_verdicts_of_one_kind_teach_nothing(sample: Dataset) -> None:
    assert "nothing to learn from 200 judged pairs" in refused(changed(sample, lambda v: v.assign(mark=1.0)))


def test_the_same_annotator_twice_is_refused(sample: Dataset) -> None:
    frames = {n: t.astype(object) for n, t in sample.tables.items()}
    frames["pair_verdicts"] = pd.concat([frames["pair_verdicts"], frames["pair_verdicts"].head(1)])
    with pytest.raises(BadInput, match="are duplicated together"):
        load({n: t.drop(columns="spans", errors="ignore") for n, t in frames.items()}, study="matching_calibration")


# -- search -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_simplex_is_whole(k: int) -> None:
    lattice = simplex(k)
    np.testing.assert_allclose(lattice.sum(axis=1), 1)
    assert (lattice >= 0).all()
    assert len(np.unique(lattice.round(6), axis=0)) == len(lattice)


def test_scores_are_those_of_matching() -> None:
    from evalbench.metrics.matching import weighted_score

    generator = np.random.default_rng(0)
    parts = generator.uniform(0, 1, (50, 5))
    parts[generator.uniform(size=parts.shape) < 0.3] = np.nan
    weights = simplex(5)[::97]
    for missing in ("renormalise", "zero"):
        fast = scores(parts, weights, missing)
        for row, w in zip(fast, weights, strict=True):
            slow = weighted_score(
                {c: parts[:, j] for j, c in enumerate(COMPONENTS)}, dict(zip(COMPONENTS, w, strict=True)), missing
            )
            np.testing.assert_allclose(row, slow, atol=1e-12)


def test_the_surface_is_f1_counted_one_by_one() -> None:
    data, _ = planted(60, noise=0.2)
    data = data._replace(overlap=np.random.default_rng(3).uniform(0, 1, 60))
    weights = simplex(5)[::211]
    surface = f1_surface(data, weights, 0.2, 0.01, SCORES[::7])
    for i, w in enumerate(weights):
        for j, t in enumerate(SCORES[::7]):
            called = calls(data, Setting(tuple(w), Thresholds(0.2, 0.01, t)))[1]
            assert surface[i, j] == pytest.approx(f1(called, data.human), nan_ok=True)


def test_spearman_is_scipys() -> None:
    from scipy.stats import spearmanr

    data, _ = planted(80, noise=0.2)
    weights = simplex(5)[::301]
    expected = [spearmanr(scores(data.parts, w[None], "zero")[0], data.human)[0] for w in weights]
    np.testing.assert_allclose(spearman_of(data, weights), expected)


@pytest.mark.parametrize("k", [2, 5])
def test_the_search_finds_planted_weights(k: int) -> None:
    data, truth = planted(k=k)
    start = SEED if k == 5 else Setting((0.5, 0.5), Thresholds())
    found = fitted(data, start)
    assert sum(found.weights) == pytest.approx(1, abs=1e-9)
    assert min(found.weights) >= 0
    assert f1(calls(data, found)[1], data.human) >= 0.97 > f1(calls(data, start)[1], data.human)
    assert np.abs(np.array(found.weights) - truth.weights).max() < 0.12


def test_nothing_moves_without_a_reason() -> None:
    data, _ = planted()
    agreed = data._replace(human=calls(data, SEED)[1].astype(float))
    assert fitted(agreed, SEED) == SEED


def test_only_the_thresholds_that_may_change_do() -> None:
    data, _ = planted(noise=0.1)
    data = data._replace(overlap=data.parts[:, 0], rule=data.parts[:, 1])
    assert fitted(data, SEED, searched=()).thresholds == SEED.thresholds
    assert fitted(data, SEED, searched=("score",)).thresholds[:2] == SEED.thresholds[:2]


def test_thresholds_alone_leave_the_weights() -> None:
    data, _ = planted(noise=0.1)
    for objective in ("f1", "spearman"):
        found = fitted(data, SEED, objective, weights=False)
        assert found.weights == SEED.weights
        assert found.thresholds != SEED.thresholds


def test_spearman_searches_by_rank() -> None:
    data, _ = planted(noise=0.05)
    found = fitted(data, SEED, "spearman")
    best, seed = spearman_of(data, np.array([found.weights, SEED.weights]))
    assert best > seed
    assert best >= np.nanmax(spearman_of(data, simplex(5))) - 1e-12


def test_soft_verdicts_count_in_part() -> None:
    data, _ = planted(50)
    half = data._replace(human=np.full(50, 0.5))
    everything = f1_surface(half, np.array([SEED.weights]), -1, -1, [0.0])[0, 0]
    assert everything == pytest.approx(2 * 25 / (50 + 25))


def test_folds_are_whole_texts_and_order_changes_nothing() -> None:
    names = np.array([f"t{i % 17}" for i in range(100)])
    fold = folds(names, 5, rng(0, "folds"))
    assert all(len(set(fold[names == n])) == 1 for n in set(names))
    assert set(fold) == set(range(5))
    order = np.random.default_rng(0).permutation(100)
    assert (folds(names[order], 5, rng(0, "folds")) == fold[order]).all()


# -- the study --------------------------------------------------------------------------------------


def test_calibrated_beats_or_ties_the_defaults_and_says_which(sample: Dataset, result: Result) -> None:
    gain = result.estimate("gain_f1")
    held, defaults = (result.estimate("f1", settings=s) for s in (HELD_OUT, DEFAULTS))
    assert gain.value == pytest.approx(held.value - defaults.value)
    assert gain.ci_high > 0, "never worse than the defaults on held-out texts"
    assert result.light == RULE.light({"gain_low": gain.ci_low, "gain_high": gain.ci_high})
    word = {"green": "a gain of", "yellow": "no difference shown:"}[result.light]
    assert word in result.sentence
    assert f"{held.value:.2f}" in result.sentence


def test_a_gain_on_few_texts_is_grey(sample: Dataset) -> None:
    some = sorted(sample["pair_verdicts"]["id"].unique())[:8]
    few = calibration.evaluate(
        changed(sample, lambda v: v[v["id"].isin(some)]), embed="jaccard", n_folds=4, n_resamples=200
    )
    assert few.light == "grey"
    assert few.verdict.would_be in ("green", "yellow", "red")
    assert "rests on 8 judged texts, 20 are needed, so the light stays grey" in few.sentence


def test_defaults_that_the_humans_follow_give_no_gain(sample: Dataset, result: Result) -> None:
    pairs = result.tables["pairs"].set_index(["id", "model", "truth_id", "prediction_id"])
    agree = pairs["default_match"].astype(float)
    keys = ["id", "model", "truth_id", "prediction_id"]
    follow = changed(
        sample, lambda v: v.assign(mark=agree.loc[list(zip(*(v[k] for k in keys), strict=True))].to_numpy())
    )
    tied = calibration.evaluate(follow, embed="jaccard", n_resamples=200)
    assert tied.estimate("gain_f1").value == 0
    assert tied.light == "yellow"
    assert "no difference shown" in tied.sentence
    assert json.loads(tied.files["weights.json"])["parameters"]["ha_weights"] == dict(matching.pairs.HA_WEIGHTS)


def test_noise_is_shown_as_overfitting(sample: Dataset) -> None:
    generator = np.random.default_rng(2)
    dice = changed(sample, lambda v: v.drop_duplicates(["truth_id", "prediction_id"]).assign(
        mark=lambda f: generator.integers(0, 2, len(f)).astype(float)))  # fmt: skip
    random = calibration.evaluate(dice, embed="jaccard", n_resamples=200)
    assert random.estimate("overfit_f1").value > 0
    assert random.estimate("agreement", settings=TRAINED).value > random.estimate("agreement", settings=HELD_OUT).value


def test_held_out_pairs_were_not_trained_on(result: Result) -> None:
    fits = result.tables["fits"].set_index("fold")
    held = result.items[result.items["settings"] == HELD_OUT]
    assert fits.loc[[str(i) for i in range(1, 6)], "pairs_trained_on"].sum() == 4 * (held["undefined"] == "").sum()
    assert fits.loc["all", "pairs_trained_on"] == (held["undefined"] == "").sum()


def test_split_annotators_are_undefined_not_dropped(sample: Dataset, result: Result) -> None:
    split = result.items[(result.items["settings"] == DEFAULTS) & (result.items["undefined"] != "")]
    assert len(split) == 10
    assert (result.estimate("f1", settings=DEFAULTS).n, result.estimate("f1", settings=DEFAULTS).n_undefined) == (
        190,
        10,
    )
    mean = calibration.evaluate(sample, embed="jaccard", consensus="mean", n_resamples=200)
    assert mean.estimate("f1", settings=DEFAULTS).n == 200
    assert set(mean.items["human"]) == {0.0, 0.5, 1.0}


def test_agreement_of_the_annotators_stands_beside(sample: Dataset, result: Result) -> None:
    from evalbench.core.agreement import krippendorff_alpha

    v = sample["pair_verdicts"]
    units = v[["id", "model", "truth_id", "prediction_id"]].agg("|".join, axis=1)
    expected = krippendorff_alpha(units.to_numpy(), v["mark"].to_numpy(), n_resamples=0)
    alpha = result.estimate("alpha_of_annotators")
    assert alpha.value == pytest.approx(expected.value)
    assert alpha.n == 60


@pytest.mark.parametrize("score", ["ha", "std"])
def test_its_file_changes_the_report_as_predicted(sample: Dataset, root: Path, tmp_path: Path, score: str) -> None:
    made = calibration.evaluate(sample, embed="jaccard", score=score, n_resamples=100)
    path = tmp_path / "weights.json"
    path.write_bytes(made.files["weights.json"])
    data = load("house_style_curated@1.1.0", study="matching", root=root)
    before = matching.evaluate(data, embed="jaccard", n_resamples=50)
    after = matching.evaluate(data, embed="jaccard", n_resamples=50, weights_file=str(path))
    predicted = made.tables["pairs"].set_index(["id", "model", "truth_id", "prediction_id"])
    stated = after.tables["pairs"].set_index(list(predicted.index.names)).loc[predicted.index]
    np.testing.assert_allclose(stated[f"{score}_score"], predicted["calibrated_score"])
    matched = stated[f"{score}_match"].to_numpy()
    assert (predicted["calibrated_match"].to_numpy()[matched]).all(), "only pairs above the calibrated thresholds match"
    assert (
        matched.sum()
        != before.tables["pairs"].set_index(list(predicted.index.names)).loc[predicted.index][f"{score}_match"].sum()
    )
    own, other = ("", "ha_") if score == "std" else ("ha_", "")
    assert before.items[f"{own}tp"].sum() != after.items[f"{own}tp"].sum()
    assert before.items[f"{other}tp"].equals(after.items[f"{other}tp"]), "the other score is left alone"
    assert after.parameters["std_weights"] == (
        made_weights(made) if score == "std" else dict(matching.pairs.STD_WEIGHTS)
    )
    assert any("from a calibration on house_style_curated" in note for note in after.notes)


def made_weights(made: Result) -> dict[str, float]:
    return json.loads(made.files["weights.json"])["parameters"]["std_weights"]


def test_weights_for_another_similarity_warn(sample: Dataset, result: Result, root: Path, tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_bytes(result.files["weights.json"])
    data = load("house_style_curated@1.1.0", study="matching", root=root)
    used = matching.evaluate(data, embed="jaccard", missing="zero", n_resamples=50, weights_file=str(path))
    assert any("calibrated with missing=renormalise, this run has missing=zero" in note for note in used.notes)


def test_matching_refuses_unknown_ha_thresholds(root: Path) -> None:
    data = load("house_style_curated@1.1.0", study="matching", root=root)
    with pytest.raises(BadInput, match="ha_thresholds must be one of overlap, rule, score; got 'scores'"):
        matching.evaluate(data, embed="jaccard", ha_thresholds={"scores": 0.4})


def test_tables_of_the_page(result: Result) -> None:
    assert len(calibration.disagreements(result, 5)) <= 5
    folds = {f"fold {i}" for i in range(1, 6)}
    assert set(calibration.fits(result)) == {"", "defaults", *folds, "all"}
