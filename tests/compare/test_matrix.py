"""Each two of several runs: one family of tests, what could not be compared, the page and its file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from toy_runs import MEASURES, items, run

from evalbench.commands.compare import compare
from evalbench.compare.matrix import MOST_SIDES, Pairs, compare_pairs
from evalbench.compare.sides import Side, with_names
from evalbench.core.significance import holm
from evalbench.errors import BadInput
from evalbench.report.compare_files import to_json, write
from evalbench.report.compare_page import page

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "comparison.schema.json").read_text(encoding="utf-8"))
SIZES = {"n_resamples": 200, "n_summaries": 4}


@pytest.fixture(scope="module")
def three() -> tuple[Side, ...]:
    """Runs that differ in two parameters, so that they are called A, B and C."""
    shifts = (0.0, 0.1, 0.2)
    return with_names([run(items({"elm": s, "oak": s}), f"r{s}", limit=s, note=str(s)) for s in shifts])


@pytest.fixture(scope="module")
def pairs(three: tuple[Side, ...]) -> Pairs:
    return compare_pairs(three, MEASURES, **SIZES)


def test_every_pair_is_compared_once_each_against_the_one_named_before(pairs: Pairs) -> None:
    assert [(d.reference.name, d.side.name) for d in pairs.found] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert not pairs.refused


def test_holm_goes_over_all_pairs(pairs: Pairs) -> None:
    for headline in (True, False):
        tested = [
            r.comparison for d in pairs.found for r in d.rows if r.headline is headline and r.comparison.p is not None
        ]
        assert [c.p_holm for c in tested] == pytest.approx(holm([c.p for c in tested]))
        assert {c.n_tests for c in tested} == {len(tested)}


def test_a_pair_that_cannot_be_compared_says_why_and_the_others_go_on(three: tuple[Side, ...], tmp_path: Path) -> None:
    other = replace(three[2], results={**three[2].results, "data": {**three[2].results["data"], "sha256": "f" * 64}})
    found = compare_pairs([*three[:2], other], MEASURES, **SIZES)
    assert [(d.reference.name, d.side.name) for d in found.found] == [("A", "B")]
    assert [(p.reference.name, p.side.name) for p in found.refused] == [("A", "C"), ("B", "C")]
    assert "read other data" in found.refused[0].reason
    text = page(found, {})
    assert 'id="refused"' in text
    assert "2 pairs could not be compared" in text
    assert text.count("not compared</span>") >= 4  # C's row and column, of each matrix
    content = json.loads((write(found, tmp_path, {}).parent / "comparison.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, SCHEMA)
    assert [p["side"] for p in content["not_compared"]] == ["C", "C"]


def test_where_no_two_can_be_compared_each_reason_is_said(three: tuple[Side, ...]) -> None:
    alone = [
        replace(s, results={**s.results, "data": {**s.results["data"], "sha256": str(i) * 64}})
        for i, s in enumerate(three)
    ]
    with pytest.raises(BadInput, match="no two of these runs can be compared") as refused:
        compare_pairs(alone, MEASURES, **SIZES)
    assert len(refused.value.faults) == 3
    with pytest.raises(BadInput, match=f"at most {MOST_SIDES} are compared"):
        compare_pairs(three * 5, MEASURES, **SIZES)


def test_a_cell_is_the_row_minus_the_column(pairs: Pairs) -> None:
    text = page(pairs, {})
    table = re.search(r'<table class="eb-table eb-matrix">.*?</table>', text, re.DOTALL)[0]
    rows = re.findall(r'<tr><th scope="row">(.)</th>(.*?)</tr>', table)
    cells = {
        (name, column): re.sub("<[^>]+>", " ", cell)
        for name, row in rows
        for column, cell in zip("ABC", re.findall(r"<td.*?</td>", row), strict=True)
    }
    assert cells["A", "A"].strip() == ""
    assert re.match(r" *\+0\.\d+ +\[0\.\d+, 0\.\d+\] +↑ +better", cells["B", "A"])
    assert re.match(r" *−0\.\d+ +\[−0\.\d+, −0\.\d+\] +↓ +worse", cells["A", "B"])


def test_the_title_names_what_differs(pairs: Pairs, three: tuple[Side, ...]) -> None:
    assert "<h1>A, B and C: what differs is limit, note</h1>" in page(pairs, {})
    two = compare_pairs(three[:2], MEASURES, **SIZES)
    assert "<h1>B against A: what differs is limit, note</h1>" in page(two, {})


def test_the_file_is_as_documented_and_holds_the_changes_of_every_pair(pairs: Pairs, tmp_path: Path) -> None:
    jsonschema.validate(to_json(pairs), SCHEMA)
    changes = pd.read_parquet(write(pairs, tmp_path, {}).parent / "changes.parquet")
    assert changes[["against", "compared"]].drop_duplicates().to_numpy().tolist() == [
        ["A", "B"],
        ["A", "C"],
        ["B", "C"],
    ]


@pytest.fixture(scope="module")
def of_one_checker() -> tuple[Side, ...]:
    return with_names([run(items({"elm": s}), f"r{s}", limit=s, note=str(s)) for s in (0.0, 0.1, 0.2)])


def test_the_answer_names_best_worst_and_those_not_shown_to_differ(of_one_checker: tuple[Side, ...]) -> None:
    pairs = compare_pairs(of_one_checker, MEASURES, **SIZES)
    found = to_json(pairs)
    (own,) = found["standings"]
    assert (own["metric"], own["order"], own["not_shown_to_differ_from_best"]) == ("score", ["C", "B", "A"], [])
    assert re.fullmatch(r"C \(0\.\d+\) is best in score \(elm\), A \(0\.\d+\) worst\.", found["answer"])
    assert f'<p class="eb-sentence">{found["answer"]}</p>' in page(pairs, {})
    first, second, _ = of_one_checker
    near = replace(run(items({"elm": 0.101}, seed=3), "r3", limit=0.2, note="0.2"), name="C")
    alike = to_json(compare_pairs([first, second, near], MEASURES, **SIZES))
    (last,) = alike["standings"][0]["not_shown_to_differ_from_best"]
    assert {last, alike["standings"][0]["order"][0]} == {"B", "C"}
    assert alike["answer"].endswith(f"A (0.476) worst. No difference from the best is shown for {last}.")
    copies = [replace(first, name=name, run_id=name) for name in "ABC"]
    assert to_json(compare_pairs(copies, MEASURES, **SIZES))["answer"] == "All 3 runs are the same in score (elm)."


def test_without_every_pair_there_is_no_standing_and_two_runs_have_their_sentence(
    of_one_checker: tuple[Side, ...],
) -> None:
    first, second, third = of_one_checker
    other = replace(third, results={**third.results, "data": {**third.results["data"], "sha256": "f" * 64}})
    left = to_json(compare_pairs([first, second, other], MEASURES, **SIZES))
    assert "standings" not in left
    assert left["answer"] == "score: 1 of 1 pair shows a difference. 2 pairs could not be compared."
    two = to_json(compare_pairs([first, second], MEASURES, **SIZES))
    assert two["answer"] == two["comparisons"][0]["answer"]
    assert two["answer"].startswith("B is better than A by 0.1")


def test_of_groups_without_a_whole_the_answer_names_the_groups() -> None:
    runs = with_names([run(items({"elm": s, "oak": 0.0}), f"g{s}", limit=s, note=str(s)) for s in (0.0, 0.2, 0.1)])
    found = to_json(compare_pairs(runs, MEASURES, **SIZES))
    assert [one["group"] for one in found["standings"]] == [{"checker": "elm"}, {"checker": "oak"}]
    assert found["answer"] == "In score B is best for elm and no run is shown to be better than the others for oak."


def test_models_and_prompts_that_differ_are_in_the_first_table(three: tuple[Side, ...]) -> None:
    asked = [
        replace(s, run={**s.run, "models": {"judge": m}, "prompt_hashes": [m * 64]})
        for s, m in zip(three, "abc", strict=True)
    ]
    text = page(compare_pairs(asked[:2], MEASURES, **SIZES), {})
    first = re.search(r'<table class="eb-table eb-sides">.*?</table>', text, re.DOTALL)[0]
    for name in ("limit", "note", "model, judge", "prompts, SHA-256"):
        assert f'<th scope="row">{name}</th>' in first
    assert text.index("eb-table eb-sides") < text.index("eb-table eb-headline eb-compare")


# -- texts ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs of text_metrics on one data set, whose model answered differently."""
    from evalbench.runs.record import record
    from evalbench.studies import load, text_metrics

    folder = tmp_path_factory.mktemp("runs")
    rows = [{"id": f"q{i}", "prompt": f"Question {i}", "reference": f"Tea at {i} o'clock"} for i in range(12)]
    for name, said in (
        ("first", "Tea at {} o'clock"),
        ("second", "Coffee, <img src=x onerror=alert(1)> at {} o'clock"),
    ):
        frame = pd.DataFrame([{**r, "output": said.format(i)} for i, r in enumerate(rows)])
        result = text_metrics.evaluate(load(frame, study="text_metrics"), metrics=["f1_score"], n_resamples=100)
        record(replace(result, data=replace(result.data, sha256="5" * 64)), out=folder / name)
    return folder / "first", folder / "second"


def compared(*words: object) -> Result:
    return CliRunner().invoke(compare, [*map(str, words), "--n-resamples", "100"], catch_exceptions=False)


def test_changed_items_have_both_texts_with_the_difference_marked(answered: tuple[Path, Path], tmp_path: Path) -> None:
    assert compared(*answered, "--out", tmp_path).exit_code == 0
    text = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    assert text.count('<details class="eb-sheet"') == 5
    sheet = re.search(r'<details class="eb-sheet" open>.*?</div></div>', text, re.DOTALL)[0]
    assert '<mark class="eb-differs">Tea</mark> at 0 o&#x27;clock' in sheet
    assert '<mark class="eb-differs">Coffee, &lt;img src=x onerror=alert(1)&gt;</mark> at 0 o&#x27;clock' in sheet
    assert "2 texts that both sides have" in text
    assert "<img" not in text


def test_changed_items_lead_to_their_cases_in_both_reports(answered: tuple[Path, Path], tmp_path: Path) -> None:
    for folder, cases in zip(answered, (("q0", "q1"), ("q0",)), strict=True):
        (folder / "report.html").write_text("".join(f'<a id="case-{case}"></a>' for case in cases), encoding="utf-8")
    assert compared(*answered, "--out", tmp_path / "out").exit_code == 0
    text = (tmp_path / "out" / "comparison.html").read_text(encoding="utf-8")
    for folder, case, there in ((answered[0], "q1", True), (answered[1], "q0", True), (answered[1], "q1", False)):
        found = re.findall(rf'href="([^"]*{folder.name}/report.html)#case-{case}"', text)
        assert bool(found) is there
        assert all((tmp_path / "out" / link).resolve() == folder / "report.html" for link in found)


def test_the_command_compares_each_two_of_several(answered: tuple[Path, Path], tmp_path: Path) -> None:
    done = compared(*answered, answered[0], "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert done.output.count(" against ") >= 3
    content = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, SCHEMA)
    assert [run["name"] for run in content["runs"]] == ["A", "B", "C"]
    assert [pair["outcome"] for pair in content["comparisons"]] == ["worse", "same", "better"]
    assert compared(*answered, answered[0], "--out", tmp_path, "--fail-on", "worse").exit_code == 3
