"""An online experiment: covariate, planned split, one run against itself; on the page, in JSON, in words; refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from toy_runs import MEASURES, items, run

from evalbench.compare.experiment import Experiment, experiment, refuse_experiment
from evalbench.compare.matrix import Pairs, compare_pairs
from evalbench.compare.sides import Side, with_names
from evalbench.core.measures import mean_of
from evalbench.errors import BadInput
from evalbench.report.compare_experiment import experiment_lines
from evalbench.report.compare_files import to_json
from evalbench.report.compare_page import page

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "comparison.schema.json").read_text(encoding="utf-8"))


def side(name: str, n: int, seed: int, shift: float = 0.0, **more: object) -> Side:
    frame = items({"elm": shift}, seed=seed, n=n).assign(**more)
    frame["id"] = f"{name}-" + frame["id"]
    return replace(run(frame, name, sha=name * 64), name=name)


def asked(sides: tuple[Side, ...], *, paired: bool = False, **wanted: object) -> tuple[Pairs, Experiment]:
    found = (
        compare_pairs(sides, MEASURES, paired=paired, n_resamples=200, n_summaries=0)
        if len(sides) > 1
        else Pairs(sides, ())
    )
    made = experiment(sides, found.found, MEASURES, paired=paired, seed=0, **wanted)
    assert made is not None
    pairs = found._replace(experiment=made)
    jsonschema.validate(json.loads(json.dumps(to_json(pairs), allow_nan=False)), SCHEMA)
    return pairs, made


@pytest.fixture(scope="module")
def two() -> tuple[Side, Side]:
    return side("a", 90, 1), side("b", 110, 2, 0.02)


def test_a_covariate_out_of_the_items_narrows_the_interval_of_a_mean(two: tuple[Side, Side]) -> None:
    pairs, found = asked(two, covariate="truth")
    assert [one.metric for one in found.covaried] == ["score", "right"]
    score = found.covaried[0].found
    assert score.correlation > 0.8
    assert score.narrower > 0.4
    assert score.adjusted.p < 0.05 < score.plain.p
    assert score.plain.value == pytest.approx(pairs.found[0].rows[0].comparison.difference)
    line = experiment_lines(found)[0]
    assert line.startswith("elm: score, b against a: +0.0")
    assert f"the interval is {score.narrower:.0%} narrower, correlation 0." in line
    assert found.notes == ("Only means take a covariate, not f1, power.",)
    text = page(pairs, {})
    assert 'id="experiment"' in text
    assert "With the covariate truth" in text
    assert "narrower by" in text


def test_a_covariate_out_of_a_file(two: tuple[Side, Side], tmp_path: Path) -> None:
    rows = [f"{i},{t}" for s in two for i, t in zip(s.items["id"], s.items["truth"], strict=True)]
    file = tmp_path / "before.csv"
    file.write_text("\n".join(["id,<b>", *rows[:-5], f"{rows[-1].split(',')[0]},"]), encoding="utf-8")
    pairs, found = asked(two, covariate=f"{file}:<b>")
    assert found.covaried[0].n_left_out == 5
    assert "5 of 200 scored items, without" in experiment_lines(found)[0]
    assert "<b>:" not in page(pairs, {})


def test_a_covariate_that_the_experiment_changed_is_said() -> None:
    moved = tuple(
        replace(s, items=s.items.assign(moved=s.items["truth"] + by))
        for s, by in ((side("a", 90, 1), 0), (side("b", 90, 2), 1))
    )
    _, found = asked(moved, covariate="moved")
    assert "The covariate itself differs between the sides" in experiment_lines(found)[0]


def test_a_split_that_does_not_fit_is_said_first_and_one_that_fits_too(two: tuple[Side, Side]) -> None:
    pairs, found = asked(two, planned=(1, 3))
    assert not found.ratio.fits
    assert experiment_lines(found)[0].startswith(
        "Sample ratio: 90 (a) and 110 (b) units do not fit the planned 1:3, of which 50 and 150 were expected (χ² 42.7, p < 0.001)"
    )
    text = page(pairs, {})
    assert "the split does not fit the plan" in text
    assert (
        "no difference between them can be believed" in text[text.index('id="verdict"') : text.index('id="experiment"')]
    )
    _, fits = asked(two, planned=(1, 1))
    assert experiment_lines(fits) == ["Sample ratio: 90 (a) and 110 (b) units fit the planned 1:1 (χ² 2, p = 0.16)."]


def test_clusters_are_what_was_split(two: tuple[Side, Side]) -> None:
    clustered = tuple(replace(s, items=s.items.assign(cluster=s.items["id"].str[:5])) for s in two)
    _, found = asked(clustered, planned=(1, 1), covariate="truth")
    assert found.counted == "cluster"
    assert found.ratio.counts == (9, 11)
    assert found.covaried[0].found.n_a == 11


@pytest.mark.slow
def test_one_run_against_itself() -> None:
    alone = replace(run(items({"elm": 0.0, "oak": 0.1}, n=60), "r1"), name="r1")
    pairs, found = asked((alone,), paired=True, aa=True)
    assert [(s.group["checker"], s.metric) for s in found.aa][:2] == [("elm", "score"), ("elm", "right")]
    assert all(s.found.splits == 200 and s.found.tests <= 22 for s in found.aa)
    lines = experiment_lines(found)
    assert len(lines) == len(found.aa) == 8
    assert lines[0].startswith("A/A, elm: score: ")
    assert "of 200 random splits of r1 show a difference at p ≤ 0.05" in lines[0]
    text = page(pairs, {})
    assert "r1 against itself" in text
    assert 'id="figures"' not in text
    assert 'id="verdict"' not in text


def test_nothing_asked_for_is_nothing(two: tuple[Side, Side]) -> None:
    assert experiment(two, (), MEASURES, paired=False, seed=0) is None
    assert "experiment" not in to_json(compare_pairs(two, MEASURES, paired=False, n_resamples=200, n_summaries=0))


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"planned": (1, 1, 1)}, "--ratio names 3 sizes for 2 sides"),
        ({"covariate": "score"}, "is the score itself"),
        ({"covariate": "score_recall"}, "is a part of the score score"),
        ({"covariate": "nothing"}, "neither items nor tables of b have this column.*there are: id, checker"),
        ({"covariate": "checker"}, "expected numbers, found 'elm'"),
        ({"covariate": "nowhere.csv:x"}, "nowhere.csv"),
    ],
)
def test_refused(two: tuple[Side, Side], wanted: dict, why: str) -> None:
    with pytest.raises(BadInput, match=f"(?s){why}"):
        asked(two, **wanted)


def test_all_faults_of_what_was_asked_for_in_one_message() -> None:
    with pytest.raises(BadInput) as error:
        refuse_experiment(1, paired=True, planned=(1, 1), covariate="x")
    for fault in (
        "--ratio goes with --unpaired",
        "--covariate goes with --unpaired",
        "--covariate needs a second side",
        "names 2 sizes",
    ):
        assert fault in str(error.value)


def test_a_covariate_of_other_units_is_refused(two: tuple[Side, Side], tmp_path: Path) -> None:
    file = tmp_path / "before.csv"
    file.write_text("user,x\n1,2\n", encoding="utf-8")
    with pytest.raises(BadInput, match="no column id or id that names a unit|no column id"):
        asked(two, covariate=f"{file}:x")
    file.write_text("id,x\n1,2\n", encoding="utf-8")
    with pytest.raises(BadInput, match="none of the units of b has a value"):
        asked(two, covariate=f"{file}:x")


def test_what_lacks_a_covariate_is_in_neither_figure(two: tuple[Side, Side], tmp_path: Path) -> None:
    file = tmp_path / "before.csv"
    rows = "".join(f"{i},{n % 7}\n" for one in two for n, i in enumerate(one.items["id"]) if n % 2)
    file.write_text("id,x\n" + rows, encoding="utf-8")
    _, found = asked(two, covariate=f"{file}:x")
    assert (found.covaried[0].n_left_out, found.covaried[0].n_scored) == (100, 200)
    assert f"100 of 200 scored items, without {file}:x, are in neither" in experiment_lines(found)[0]


def test_a_study_without_means_is_refused(two: tuple[Side, Side]) -> None:
    hooks = MEASURES._replace(measures=lambda: [replace(mean_of("score"), value=lambda s, n: s / n)])
    found = compare_pairs(two, hooks, paired=False, n_resamples=200, n_summaries=0)
    with pytest.raises(BadInput, match="none of the headline figures is a mean"):
        experiment(two, found.found, hooks, paired=False, covariate="truth", seed=0)
    with pytest.raises(BadInput, match="--aa: none of this study's figures"):
        experiment(two, found.found, hooks._replace(measures=None), paired=False, aa=True, seed=0)


def test_a_run_that_stopped_early_is_said() -> None:
    one = run(items({"elm": 0.0}), "first")
    told = {"asked": 40, "items": 90, "not_asked": 50}
    other = run(items({"elm": 0.1}), "second", limit=1)
    early = replace(other, results={**other.results, "stopping": told})
    found = compare_pairs(with_names([one, early]), MEASURES, n_resamples=200, n_summaries=0).found[0]
    assert any(
        "stopped early, after 40 of 90 items: what was not asked is not compared" in note for note in found.notes
    )
