"""What to label next: who is drawn and how likely, estimates that stay unbiased, and widths that promise nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from evalbench.cli import group
from evalbench.core.ppi import corrected_mean, sampled_mean
from evalbench.errors import BadInput
from evalbench.judge.criteria import Criterion
from evalbench.label.existing import Labels, read_labels
from evalbench.label.items import read_items
from evalbench.label.marks import Marks, read_marks
from evalbench.label.plan import allocation, expected, plan_labels, saving


def labelled(human) -> Labels:
    human = np.asarray(human, dtype=float)
    return Labels(human, np.full(len(human), np.nan), np.full(len(human), ""))


def marks_of(f: np.ndarray, **more: float) -> Marks:
    scale = {"low": 0.0, "high": 1.0, "threshold": 0.5, **more}
    items = pd.DataFrame({"id": [f"i{k:05d}" for k in range(len(f))], "answer": "x"})
    return Marks(items, f if f.ndim == 2 else f[:, None], "mark", **scale)


def population(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A judge that is too kind: people's 0/1 marks are rarer than it says, most where it is unsure."""
    rng = np.random.default_rng(seed)
    f = rng.beta(2, 1.2, n).round(2)
    return f, (rng.random(n) < f**2).astype(float)


def drawn(f: np.ndarray, y: np.ndarray, n: int, seed: int, **options) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    plan = plan_labels(marks_of(f), n, seed=seed, **options)
    at = plan.table["id"].str[1:].astype(int).to_numpy()
    human, probability, stratum = np.full(len(f), np.nan), np.full(len(f), np.nan), np.full(len(f), "", dtype=object)
    human[at], probability[at], stratum[at] = y[at], plan.table["probability"], plan.table["stratum"]
    return human, probability, stratum


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 80])
def test_estimates_from_a_plan_are_unbiased_and_their_intervals_cover(n: int) -> None:
    """400 populations of 600: the mean error is within its own noise, and 95 % intervals hold the truth in 92–97 %."""
    f0, _ = population(0, 600)
    truth = float((f0**2).mean())
    errors, plain, covered, widths = [], [], [], []
    for seed in range(400):
        rng = np.random.default_rng(10_000 + seed)
        y = (rng.random(600) < f0**2).astype(float)
        human, probability, stratum = drawn(f0, y, n, seed)
        out = sampled_mean(f0, human, probability, stratum)
        errors.append(out.value - y.mean())
        plain.append(np.nanmean(human) - y.mean())
        covered.append(out.ci_low <= truth <= out.ci_high)
        widths.append(out.ci_high - out.ci_low)
    noise = np.std(errors) / np.sqrt(len(errors))
    assert abs(np.mean(errors)) < 3 * noise
    assert abs(np.mean(plain)) > 10 * noise  # the labels' own mean is not that of the items
    assert 0.92 <= np.mean(covered) <= 0.975
    alone = 2 * 1.96 * np.sqrt(truth * (1 - truth) / n)
    assert np.mean(widths) < alone


def test_a_few_populations_are_unbiased_too() -> None:
    f, y = population(1, 300)
    errors = [sampled_mean(f, *drawn(f, y, 40, seed)).value - y.mean() for seed in range(150)]
    assert abs(np.mean(errors)) < 3.5 * np.std(errors) / np.sqrt(len(errors))


def test_equal_probabilities_give_the_ordinary_estimate() -> None:
    f, y = population(2, 200)
    human = np.where(np.arange(200) < 50, y, np.nan)
    probability = np.where(np.arange(200) < 50, 0.25, np.nan)
    out = sampled_mean(f, human, probability)
    # Weighted: mean of all marks + mean residual; PPI with trust 1 compares labelled and unlabelled parts.
    assert out.value == pytest.approx(f.mean() + (y - f)[:50].mean())
    ordinary = corrected_mean(f, human, trust=1.0)
    assert out.ci_high - out.ci_low == pytest.approx(ordinary.ci_high - ordinary.ci_low, rel=0.15)


def test_all_labelled_is_the_mean_itself() -> None:
    f, y = population(3, 60)
    out = sampled_mean(f, y, np.ones(60))
    assert out.value == pytest.approx(y.mean())
    assert out.ci_high - out.value == pytest.approx(1.959964 * y.std() / np.sqrt(60))


def test_skipped_items_are_taken_for_like_the_rest_of_their_stratum() -> None:
    f, y, pi = (
        np.array([0.1] * 4 + [0.9] * 4),
        np.array([0, 0, np.nan, np.nan, 1, 1, np.nan, np.nan]),
        np.full(8, np.nan),
    )
    pi[[0, 1, 2, 4, 5, 6]] = 0.75
    out = sampled_mean(f, y, pi, ["a"] * 4 + ["b"] * 4)
    assert out.value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("f", "y", "pi"),
    [
        ([0.5], [1.0], [np.nan]),
        ([0.5], [1.0], [0.0]),
        ([0.5], [1.0], [1.5]),
        ([0.5], [1.0, 0.0], [1.0]),
        ([np.inf], [1.0], [1.0]),
    ],
)
def test_what_is_no_sample(f: list, y: list, pi: list) -> None:
    with pytest.raises(ValueError):
        sampled_mean(f, y, pi)


def test_strata_without_labels_give_no_value_and_single_labels_no_interval() -> None:
    pi = [0.5, 0.5, 0.25, np.nan, np.nan, np.nan]
    assert sampled_mean([0.5] * 6, [1, 0, np.nan, np.nan, np.nan, np.nan], pi).value is None
    out = sampled_mean([0.5] * 6, [1, 0, 1, np.nan, np.nan, np.nan], pi)
    assert (out.value is not None, out.ci_low) == (True, None)


def test_most_are_drawn_near_the_threshold_and_where_judges_disagree() -> None:
    f = np.repeat([0.0, 0.5, 1.0], 100)
    plan = plan_labels(marks_of(f), 60)
    counts = {s.name: s.drawn for s in plan.strata}
    assert counts["mark 0.5"] > 2 * counts["mark 0"]
    two = np.column_stack([np.r_[np.zeros(150), np.ones(50)], np.r_[np.zeros(100), np.ones(100)]])
    plan = plan_labels(marks_of(two), 40)
    rate = {s.name: s.drawn / s.size for s in plan.strata}
    apart = next(name for name in rate if "disagree" in name)
    assert rate[apart] == max(rate.values())
    near = plan_labels(marks_of(np.repeat([0.1, 0.5, 0.9], 100), threshold=0.9), 60)
    assert max(near.strata, key=lambda s: s.drawn).name == "mark 0.9"


def test_every_item_has_its_chance_and_the_order_of_rows_changes_nothing() -> None:
    f, _ = population(4, 400)
    plan = plan_labels(marks_of(f), 40, random_share=0.5, seed=3)
    assert all(s.drawn / s.size >= 0.5 * 0.5 * 40 / 400 for s in plan.strata)
    assert sum(1 / p for p in plan.table["probability"]) == pytest.approx(400)
    assert len(plan.table) == 40
    again = plan_labels(marks_of(f), 40, random_share=0.5, seed=3)
    assert again.table.equals(plan.table)
    assert not plan_labels(marks_of(f), 40, random_share=0.5, seed=4).table.equals(plan.table)


def test_labels_of_a_plan_are_corrected_by_its_probabilities_those_of_two_are_not() -> None:
    f, y = population(7, 300)
    human, probability, stratum = drawn(f, y, 40, 0)
    width = plan_labels(marks_of(f), 20, labels=Labels(human, probability, stratum.astype(str))).width
    assert width.now == sampled_mean(f, human, probability, stratum)
    assert plan_labels(marks_of(f), 20, labels=labelled(human)).width.now == corrected_mean(f, human)
    halved = Labels(human, probability / 2, stratum.astype(str))
    assert plan_labels(marks_of(f), 20, labels=halved).width.now is None


def test_the_correlation_is_that_of_all_items_though_the_unsure_ones_are_labelled_more() -> None:
    f, y = population(8, 20_000)
    human, probability, stratum = drawn(f, y, 4_000, 0, random_share=0.1)
    width = plan_labels(marks_of(f), 20, labels=Labels(human, probability, stratum.astype(str))).width
    assert width.r_low < np.corrcoef(f, y)[0, 1] < width.r_high
    assert width.r_high - width.r_low < 0.07


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 11, 39, 40])
def test_any_n_draws_so_many_with_known_chances(n: int) -> None:
    f, _ = population(5, 40)
    f[:3] = np.nan
    plan = plan_labels(marks_of(f), n)
    assert len(plan.table) == n
    assert sum(1 / p for p in plan.table["probability"]) == pytest.approx(40)
    assert sum(s.drawn for s in plan.strata) == n


def test_labelled_items_are_not_drawn_again_and_teach() -> None:
    f = np.repeat([0.2, 0.5, 0.8], 60).astype(float)
    human = np.full(180, np.nan)
    human[60:90] = 0.5  # people agree with the judge where it is unsure …
    human[120:150] = np.tile([0.0, 1.0], 15)  # … and not where it is sure
    plan = plan_labels(marks_of(f), 40, labels=labelled(human))
    ids = set(plan.table["id"])
    assert not {f"i{k:05d}" for k in (*range(60, 90), *range(120, 150))} & ids
    rate = {s.name: s.deviation for s in plan.strata}
    assert rate["mark 0.8"] > rate["mark 0.5"]
    assert (plan.n_labelled, plan.width.r is not None) == (60, True)


def test_allocation_keeps_to_sizes_and_sums() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        size = rng.integers(1, 30, rng.integers(1, 8))
        n = int(rng.integers(1, size.sum() + 1))
        found = allocation(n, size, rng.uniform(0.01, 1, len(size)), float(rng.uniform(0.05, 1)))
        assert found.sum() == n
        assert (found <= size).all()
        assert (found >= 0).all()


def test_the_saving_is_stated_honestly() -> None:
    assert round(saving(0.39), 2) == 1.18
    f, _ = population(6, 100_000)
    none = np.full(len(f), np.nan)
    width = expected(marks_of(f), none, 40, np.array([len(f)]), np.array([40]), np.array([0.4]))
    for r, value in width.random.items():
        assert (width.alone / value) ** 2 == pytest.approx(saving(r), rel=0.001)


@pytest.mark.external
def test_the_judge_of_cje_arena_saves_little(external_data) -> None:
    """Judge and people correlate at .39: a factor of 1.18 at most, 1.09 with the 480 labels of its items."""
    frame = pd.read_csv(external_data("cje_arena") / "scores.csv")
    base = frame[(frame["policy"] == "base") & (frame["slice"] == "fresh")]
    judged, oracle = base["judge_score"].to_numpy(float), base["oracle_label"].to_numpy(float)
    plan = plan_labels(marks_of(judged), 40, labels=labelled(oracle))
    assert plan.width.r == pytest.approx(0.390, abs=0.001)
    assert saving(plan.width.r) == pytest.approx(1.18, abs=0.005)
    now, known = plan.width.now, oracle[~np.isnan(oracle)]
    alone = 2 * 1.959964 * known.std(ddof=1) / np.sqrt(len(known))
    assert (alone / (now.ci_high - now.ci_low)) ** 2 == pytest.approx(1.09, abs=0.01)
    assert (round(now.naive, 4), round(now.value, 4)) == (0.8413, 0.7552)


def faults_of(error: pytest.ExceptionInfo) -> str:
    return str(error.value)


def test_what_cannot_be_planned() -> None:
    with pytest.raises(BadInput) as error:
        plan_labels(marks_of(np.array([0.1, 0.9])), 0, random_share=0.0, labels=labelled([7.0, 1.0]))
    for part in ("n is 0", "the random share is 0", "1 labels are off the scale", "every item is labelled already"):
        assert part in faults_of(error)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run's folder with an outputs' table, two judges and their marks."""
    from evalbench import human_correlation, load, record

    rng = np.random.default_rng(0)
    rows = [
        {"id": f"d{i:02d}", "model": s, "answer": f"{s} {i}", "question": "p", "quality": float(rng.integers(1, 6)),
         "judge_1": float(rng.integers(1, 6)), "judge_2": float(rng.integers(1, 6))}
        for i in range(40) for s in ("oak", "elm")
    ]  # fmt: skip
    data = load(pd.DataFrame(rows), study="human_correlation")
    result = human_correlation.evaluate(data, criteria=["quality"], metrics=["judge_1", "judge_2"], n_resamples=20)
    out = tmp_path_factory.mktemp("runs")
    record(result, out=out)
    return next(path.parent for path in out.rglob("results.json"))


def test_marks_of_two_judges_with_the_texts(run: Path, tmp_path: Path) -> None:
    marks = read_marks(run, judges=("judge_1", "judge_2"))
    assert marks.marks.shape == (80, 2)
    assert (marks.low, marks.high, marks.threshold) == (1, 5, 0.5)
    assert marks.items.loc[0, ["id", "model", "answer", "question"]].tolist() == ["d00", "elm", "elm 0", "p"]
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "doc_id,system,annotator,criterion,score\nd00,elm,A,quality,2\nd00,elm,B,quality,3\nd01,oak,A,quality,\n"
    )
    human = read_labels(labels, marks).human
    labels.write_text(
        labels.read_text().replace("doc_id,system,annotator,criterion,score", "id,model,annotator,criterion,mark")
    )
    assert np.array_equal(read_labels(labels, marks).human, human, equal_nan=True)
    assert (human[0], np.isnan(human[1:]).all()) == (2.5, True)
    assert read_labels(labels, marks, scale=(2, 3)).human[0] == 3
    for text, said in (("doc_id,score\nd00,1\n", "columns model are missing"), ("doc_id,system,score\nx,y,1\n", "no label is of an item"),
                       ("doc_id,system,score\nd00,elm,good\n", "'good' is not a number (row 2)")):  # fmt: skip
        labels.write_text(text)
        with pytest.raises(BadInput) as error:
            read_labels(labels, marks)
        assert said in faults_of(error)


def test_the_command_writes_a_table_that_the_page_takes(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.jsonl"
    words = ["label", "plan", str(run), "--n", "12", "--judge", "judge_1", "--judge", "judge_2", "--out", str(out)]
    done = CliRunner().invoke(group, words)
    assert done.exit_code == 0, done.output
    assert "saves at most a factor 1.33 of labels" in done.output
    items = read_items(out, Criterion("good", "Is it?", {0: "no", 1: "yes"}))
    assert len(items.items) == 12
    assert all({"model", "probability", "stratum"} <= set(item.key) for item in items.items)
    assert "judge_1" not in json.dumps([item.texts for item in items.items])


def test_pairs_of_a_run_of_matching_go_through_plan_and_labels_under_todays_names(root: Path, tmp_path: Path) -> None:
    from evalbench import load, matching, record
    from evalbench.commands.dataset_folder import json_lines

    data = load("house_style_curated@1.1.0", study="matching", root=root)
    record(matching.evaluate(data, embed="jaccard", n_resamples=20), out=tmp_path / "run")
    marks = read_marks(tmp_path / "run")
    plan = tmp_path / "plan.jsonl"
    plan.write_text(json_lines(plan_labels(marks, 6).table), encoding="utf-8")
    items = read_items(plan, Criterion("good", "Is it?", {0: "no", 1: "yes"}))
    assert not items.notes
    of = {"id", "model", "truth_id", "prediction_id"}
    assert all(of <= set(item.key) and set(item.texts) == {"contexts", "reference"} for item in items.items)
    now = pd.read_csv(root / "data/house_style_curated/1.1.0/pair_verdicts.csv", dtype=str)
    now.to_csv(tmp_path / "now.csv", index=False)
    former = {"id": "sample_id", "model": "checker", "mark": "is_match"}
    before = now.rename(columns=former).assign(doc_id=now["id"] + "|x", system=now["model"], score=now["mark"])
    before.to_csv(tmp_path / "before.csv", index=False)
    human, old = (read_labels(tmp_path / f"{name}.csv", marks).human for name in ("now", "before"))
    assert (~np.isnan(human)).sum() == 200
    assert np.array_equal(human, old, equal_nan=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "choose with --judge: judge_1, judge_2"),
        ({"judges": ("judge_3",)}, "no scorer judge_3"),
        ({"judges": ("judge_1",), "mark": "nothing"}, "no column of numbers 'nothing'"),
        ({"judges": ("judge_1",), "table": "nothing"}, "has no table 'nothing'"),
        ({"judges": ("judge_1",), "threshold": 9.0}, "is not within the scale 1–5"),
        ({"judges": ("judge_1",), "scale": (2, 5)}, "marks off the scale 2–5"),
        ({"judges": ("judge_1",), "criterion": "nothing"}, "no criterion nothing"),
    ],
)
def test_what_a_run_has_not(run: Path, options: dict, said: str) -> None:
    with pytest.raises(BadInput) as error:
        read_marks(run, **options)
    assert said in faults_of(error)
