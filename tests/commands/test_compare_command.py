"""``evalbench compare`` on real runs of matching, written as the runner writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from evalbench.commands.compare import compare
from evalbench.errors import BadInput
from evalbench.runs.folder import update_run
from evalbench.runs.record import record
from evalbench.studies import load, matching


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """Two runs of matching that differ in one parameter, and one that failed."""
    folder = tmp_path_factory.mktemp("runs")
    data = load("house_style_curated@1.1.0", study="matching", root=root)
    for name, threshold in (("low", 0.3), ("high", 0.5)):
        result = matching.evaluate(data, embed="jaccard", score_threshold=threshold, n_resamples=100)
        record(result, out=folder / name)
    (folder / "failed").mkdir()
    (folder / "failed" / "run.json").write_text('{"status": "failed"}')
    return folder


def called(*words: object, out: Path) -> Result:
    arguments = [str(w) for w in words]
    return CliRunner().invoke(compare, [*arguments, "--out", str(out), "--n-resamples", "100"], catch_exceptions=True)


def test_two_groups_of_a_run(reports: Path, tmp_path: Path) -> None:
    done = called(reports / "high", "--left", "checker=reed", "--right", "checker=moss", out=tmp_path)
    assert done.exit_code == 0, done.output
    assert "moss-panel@2.1.0|birch-30b against reed-index@2.2.0|oak-7b" in done.output
    assert (
        "p-values by Holm: adjusted for the 4 headline figures of these two groups; the page of the run adjusts over all "
        "comparisons of its own."
    ) in done.output
    content = json.loads((tmp_path / "comparison.json").read_text())
    assert content["comparisons"][0]["units"] == {"shared": 48, "only_reference": 0, "only_side": 0}
    assert (tmp_path / "comparison.html").is_file()


def test_two_runs_name_the_parameter_that_differs(reports: Path, tmp_path: Path) -> None:
    done = called(reports / "high", reports / "low" / "results.json", "--metric", "match_score", out=tmp_path)
    assert done.exit_code == 0, done.output
    assert "score_threshold=0.3 against score_threshold=0.5" in done.output
    assert "◌ another measure  match score" in done.output
    assert done.output.count("Measured differently (score_threshold: 0.5 → 0.3)") == 1
    assert "match score: no verdict on score_threshold=0.3 against score_threshold=0.5" in done.output


def test_a_run_with_itself(reports: Path, tmp_path: Path) -> None:
    done = called(reports / "high", reports / "high", out=tmp_path)
    assert done.exit_code == 0, done.output
    assert "= same" in done.output
    assert "the same run, high: every difference is 0" in done.output


def test_fail_on_worse(reports: Path, tmp_path: Path) -> None:
    run, groups = reports / "low", ("checker=reed", "checker=fern")
    codes = set()
    for left, right in (groups, groups[::-1]):
        arguments = (run, "--left", left, "--right", right, "--metric", "f1")
        assert called(*arguments, out=tmp_path / left).exit_code == 0
        codes.add(called(*arguments, "--fail-on", "worse", out=tmp_path / left).exit_code)
    assert codes == {0, 3}


def test_another_comparison_in_the_folder_is_kept(reports: Path, tmp_path: Path) -> None:
    assert called(reports / "high", reports / "low", out=tmp_path).exit_code == 0
    before = (tmp_path / "comparison.html").read_bytes()
    done = called(reports / "low", reports / "high", out=tmp_path)
    assert isinstance(done.exception, BadInput)
    assert "holds another comparison, which is kept: name another folder with --out" in str(done.exception)
    assert (tmp_path / "comparison.html").read_bytes() == before
    assert called(reports / "high", reports / "low", out=tmp_path).exit_code == 0


def test_what_differs_comes_before_the_figures(reports: Path, tmp_path: Path) -> None:
    called(reports / "high", reports / "low", out=tmp_path)
    page = (tmp_path / "comparison.html").read_text(encoding="utf-8")
    assert (
        page.index('id="sides"') < page.index('<th scope="row">score_<wbr>threshold</th>') < page.index('id="figures"')
    )


def refused(*words: object, out: Path) -> str:
    done = called(*words, out=out)
    assert isinstance(done.exception, BadInput), done.output
    assert not (out / "comparison.html").exists()
    return str(done.exception)


def test_what_is_refused_and_how(reports: Path, tmp_path: Path) -> None:
    high = reports / "high"
    assert "name two of its groups with --left and --right" in refused(high, out=tmp_path)
    assert "neither a folder nor the id of a run" in refused("nothing", high, out=tmp_path)
    assert "status failed" in refused(high, reports / "failed", out=tmp_path)
    unknown = refused(high, "--left", "checker=elm", "--right", "model=x", out=tmp_path)
    assert "--left model=elm: no such values; there are fern-prompt@1.1.0|oak-7b, " in unknown
    assert "no group column team; there are: model" in refused(
        high, "--left", "checker=reed", "--right", "team=x", out=tmp_path
    )
    assert "go with one or two runs" in refused(high, high, high, "--left", "checker=reed", out=tmp_path)
    assert "--margin f1=-1: expected a positive number" in refused(high, high, "--margin", "f1=-1", out=tmp_path)


def test_other_data_need_unpaired(reports: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for file in (reports / "low").iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    results = json.loads((other / "results.json").read_text())
    results["data"]["sha256"] = "f" * 64
    results["tables"] = {}
    (other / "results.json").write_text(json.dumps(results))
    update_run(other, run_id="other")
    assert "read other data" in refused(reports / "high", other, out=tmp_path / "out")
    done = called(reports / "high", other, "--unpaired", out=tmp_path / "out")
    assert done.exit_code == 0, done.output


def test_the_command_line_answers_2_for_bad_input(
    reports: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from evalbench import cli

    monkeypatch.setattr("sys.argv", ["evalbench", "compare", str(reports / "high")])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("evalbench: only one run given")


@pytest.mark.slow
def test_one_run_against_itself_and_an_experiment(reports: Path, tmp_path: Path) -> None:
    done = called(reports / "high", "--left", "checker=reed", "--aa", out=tmp_path / "aa")
    assert done.exit_code == 0, done.output
    assert "A/A, " in done.output
    assert "of 200 random splits of reed-index@2.2.0|oak-7b show a difference" in done.output
    content = json.loads((tmp_path / "aa" / "comparison.json").read_text())
    assert content["comparisons"] == []
    assert content["experiment"]["aa"]["figures"][0]["splits"] == 200

    alone = refused(reports / "high", "--aa", "--metric", "f1", "--fail-on", "worse", out=tmp_path)
    assert "--metric needs a second side" in alone
    assert "--fail-on needs a second side" in alone

    both = (reports / "high", reports / "low")
    done = called(*both, "--unpaired", "--ratio", "9:1", out=tmp_path / "ratio")
    assert done.exit_code == 0, done.output
    assert "do not fit the planned 9:1" in done.output
    assert "the split does not fit the plan" in (tmp_path / "ratio" / "comparison.html").read_text(encoding="utf-8")
    assert "--ratio goes with --unpaired" in refused(*both, "--ratio", "1:1", out=tmp_path)
    assert "--ratio 1:x: expected positive numbers between colons" in refused(*both, "--ratio", "1:x", out=tmp_path)
    assert "a million times" in refused(*both, "--unpaired", "--ratio", "1:1e308", out=tmp_path)
    assert "neither items nor tables" in refused(*both, "--unpaired", "--covariate", "age", out=tmp_path)
