"""Every result file of the external collection: counts, means and the tools' own figures, against values worked out from the files."""

import json

import pytest

from evalbench.readers.tools.known import NAMES, imported

TOOLS = {"inspect_ai": "inspect"}
FILES = (
    *("ragas_0.4.3_to_pandas.csv", "ragas_0.4.3_to_pandas.jsonl", "deepeval_4.3.1_test_run.json"),
    *("promptfoo_0.120.5_v3.json", "promptfoo_0.120.5.jsonl", "inspect_0.3.285.eval", "inspect_0.3.285.json"),
    *("public/inspect/data_arc_sonnet.json", "public/inspect/data_pubmedqa_gpt4o_mini.json"),
    *("lm_eval_0.4.13_samples_mini_gen.jsonl", "lm_eval_0.4.13_samples_mini_mc.jsonl"),
    *("mlflow_3.17.2_genai_result_df.json", "mlflow_3.17.2_legacy_eval_results_table.json"),
    "public/helm/narrative_qa-model=openai_gpt2",
    "public/lm_eval/samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl",
)
pytestmark = pytest.mark.external


@pytest.fixture(scope="module")
def expected(external_data):
    return json.loads((external_data("imports") / "expected.json").read_text(encoding="utf-8"))["files"]


@pytest.mark.parametrize("name", FILES)
def test_counts(external_data, expected, name):
    want, found = expected[name], imported(external_data("imports") / name)
    about, items, scores = found.about, found.frames["items"], found.frames["scores"]
    assert TOOLS.get(want["tool"], want["tool"]) in NAMES
    assert about["tool_version"] == want["tool_version"]
    assert about["format_version"] == want.get("format_version")
    assert len(items) == about["rows"] == want["rows"]
    assert about["questions"] == want["questions"] == items["question_hash"].nunique()
    assert about["trials"] == want["trials_per_question"]
    assert sorted(about["models"]) == sorted(want["models"])
    if isinstance(want.get("ids"), list):
        assert sorted(set(items["id"])) == sorted(map(str, want["ids"]))
    assert set(about["metrics"]) == set(want["metrics"])
    for metric, facts in want["metrics"].items():
        ours, own = about["metrics"][metric], scores[scores["metric"] == metric]
        assert ours["n"] == own["value"].notna().sum() == facts["n"]
        assert ours["missing"] == (own["unscored"] == "imported").sum() == facts["missing"]
        assert ours["missing_words"] == facts.get("missing_words", {}) or not facts["missing"]
        assert ours["not_applicable"] == facts.get("not_applicable", 0)
        assert ours["mean_scored"] == pytest.approx(facts["mean_scored"], abs=1e-9)
        assert ours["scale"] == facts["scale"]
        assert ours["higher_is_better"] == (facts["direction"] == "higher")
        for model, part in facts.get("by_model", {}).items():
            rows = own[own["model"] == model]
            assert (rows["value"].notna().sum(), rows["value"].isna().sum()) == (part["n"], part["missing"])
            if part["n"]:
                assert rows["value"].astype(float).mean() == pytest.approx(part["mean_scored"], abs=1e-9)
    verdicts = found.frames.get("judgements")
    assert (0 if verdicts is None else len(verdicts)) == want["verdicts"]["rows"] == about["judgements"]["rows"]
    assert about["judgements"]["unscored"] == want["verdicts"].get("unscored", 0)
    assert about["judgements"]["judges"] == want["verdicts"].get("judges", [])
    assert about["labels"] == want["human_labels"]


@pytest.mark.parametrize("name", FILES)
def test_figures_of_the_tool_are_reproduced_or_the_difference_explained(external_data, expected, name):
    want, about = expected[name], imported(external_data("imports") / name).about
    wanted = {
        (metric, model): part["tool_mean"]
        for metric, facts in want["metrics"].items()
        for model, part in (facts.get("by_model") or {"": facts}).items()
        if part["tool_mean"] is not None
    }
    by_model = any(facts.get("by_model") for facts in want["metrics"].values())
    figures = {(f["metric"], f["model"] if by_model else ""): f for f in about["figures"] if not f["slice"]}
    for key, value in wanted.items():
        assert figures[key]["tool_value"] == pytest.approx(value, abs=1e-9), key
    for figure in about["figures"]:
        assert figure["agrees"] or (figure["reason"] and figure["words"]), figure


def test_both_forms_of_ragas_give_the_same_tables(external_data):
    folder = external_data("imports")
    one, other = (imported(folder / f"ragas_0.4.3_to_pandas.{form}") for form in ("csv", "jsonl"))
    for table in ("items", "scores"):
        assert one.frames[table].to_dict("records") == other.frames[table].to_dict("records")


def test_pass_rate_of_deepeval(external_data, expected):
    name = "deepeval_4.3.1_test_run.json"
    headline, about = expected[name]["headline"], imported(external_data("imports") / name).about
    (overall,) = [f for f in about["figures"] if not f["metric"]]
    assert (overall["tool_value"], overall["ours"]) == (
        headline["pass_rate"],
        headline["pass_rate_on_scored_metrics_only"],
    )
    assert overall["reason"] == "errors-counted-failed"
    assert {k: about["headline"][k] for k in ("testPassed", "testFailed")} == {"testPassed": 0, "testFailed": 2}
