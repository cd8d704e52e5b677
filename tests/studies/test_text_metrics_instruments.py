"""Text metrics whose instruments are models, judges or packages: what they give, and what happens where one fails."""

import importlib.util
import json
import sys

import numpy as np
import pandas as pd
import pytest
from chat import chat_endpoint
from text_tables import evaluate, frame

from evalbench.errors import BadInput
from evalbench.kit import metric_options
from evalbench.metrics.translation import wordnet_folder
from evalbench.studies import text_metrics as study
from tests.helpers.lights import of_figures


class TestInstruments:
    def test_what_is_missing_is_unscored_and_the_others_go_on(self):
        result = evaluate(
            frame(samples=["[]"] * 3),
            ["bertscore", "selfcheck_nli", "rougeL"],
            lights={"rougeL": {"green_from": 0.2, "yellow_from": 0.1}},
        )
        assert result.estimate("rougeL").value is not None
        assert (result.items["bertscore"].isna()).all()
        assert result.items["bertscore_unscored"].tolist() == ["not-installed"] * 3
        assert (result.items["unscored"] == "").all()
        assert result.estimate("bertscore").n_unscored == 3
        assert result.items["selfcheck_nli_undefined"].tolist() == ["no-samples"] * 3
        assert "rougeL_unscored" not in result.items
        reasons = result.tables["reasons"]
        assert list(reasons.columns) == ["id", "metric", "kind", "reason", "detail"]
        assert reasons.groupby(["metric", "kind", "reason"], sort=True).size().to_dict() == {
            ("bertscore", "unscored", "not-installed"): 3,
            ("selfcheck_nli", "undefined", "no-samples"): 3,
        }
        assert reasons["detail"][0].startswith("bertscore needs")
        assert study.unscored(result)["texts"].tolist() == [3, 3]

    def test_a_missing_package_stops_only_the_metrics_that_need_it(self, monkeypatch):
        present = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "nltk" else present(name))
        monkeypatch.setitem(sys.modules, "nltk", None)
        result = evaluate(frame(), ["meteor", "rouge1"])
        assert result.estimate("meteor").n_unscored == 3
        assert result.estimate("rouge1").n == 3
        assert "meteor is unscored: meteor needs the package nltk: pip install nltk" in result.notes

    def test_synonyms_only_on_request_and_refused_where_they_cannot_be_had(self, monkeypatch):
        monkeypatch.setattr(metric_options, "wordnet_folder", lambda: None)
        refused = "^text_metrics: invalid options:\n  - meteor_synonyms"
        with pytest.raises(BadInput, match=refused + ": WordNet is not in .*apt-get install"):
            evaluate(frame(), ["meteor", "rouge1"], meteor_synonyms=True)
        with pytest.raises(BadInput, match=refused + ": WordNet is not in"):
            evaluate(frame(), ["meteor_synonyms"])
        with pytest.raises(BadInput, match=refused + "=True has no effect: meteor is not among the metrics$"):
            evaluate(frame(), ["rouge1"], meteor_synonyms=True)
        both = ": WordNet is English, and language is 'ru'\n  - meteor_synonyms: WordNet is not in"
        with pytest.raises(BadInput, match=refused + both):
            evaluate(frame(), ["meteor"], meteor_synonyms=True, language="ru")

    def test_what_is_installed_changes_no_figure_and_the_method_names_the_stages(self, tmp_path, monkeypatch):
        without = evaluate(frame(), ["meteor"])
        for kind in ("noun", "verb", "adj", "adv"):
            for name in (f"data.{kind}", f"index.{kind}", f"{kind}.exc"):
                (tmp_path / name).write_text("  1 WordNet 3.0\n")
        monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
        assert wordnet_folder() == tmp_path
        assert evaluate(frame(), ["meteor"]).summary == without.summary
        assert without.parameters["meteor_synonyms"] is False
        assert without.method[-1] == "meteor matched words in these stages: exact, stem."
        assert "stages: exact." in evaluate(frame(), ["meteor"], language="zh").method[-1]

    @pytest.mark.wordnet
    def test_a_figure_by_synonyms_has_a_name_of_its_own(self):
        table = frame(answer=["a car", "a car", "a car"], reference=["an auto"] * 3)
        result = evaluate(
            table, ["meteor"], meteor_synonyms=True, lights={"meteor": {"green_from": 0.02, "yellow_from": 0.01}}
        )
        assert result.parameters["metrics"] == ["meteor_synonyms"]
        assert result.estimate("meteor_synonyms").value > 0
        assert of_figures(result) == "green"
        assert result.method[-1].startswith(
            "meteor_synonyms matched words in these stages: exact, stem, synonym (WordNet 3."
        )
        assert evaluate(table, ["meteor"]).estimate("meteor").value == 0

    def test_an_unscored_metric_s_light_is_grey(self):
        result = evaluate(frame(), ["bertscore"], lights={"bertscore": {"green_from": 0.7, "yellow_from": 0.5}})
        assert result.light == "grey"
        assert "bertscore has no value (every item is unscored: 3 not installed)" in result.sentence
        assert any(note.startswith("bertscore is unscored: bertscore needs") for note in result.notes)

    def test_an_embedding_model_that_is_not_there(self):
        result = evaluate(frame(), ["sentence_transformers_similarity", "rougeL"], embed="/no/such/model")
        assert result.estimate("sentence_transformers_similarity").value is None
        assert any("sentence_transformers_similarity is unscored" in note for note in result.notes)
        assert result.estimate("rougeL").value is not None

    def test_a_failing_judge_is_told_from_an_empty_output(self):
        table = frame(contexts=["x", "y", "z"])
        result = evaluate(table, ["context_contradiction"], judge=lambda item: {"unscored": "timeout"})
        assert result.items["unscored"].tolist() == ["timeout", "", "timeout"]
        assert result.tables["reasons"]["detail"].tolist() == [
            "the judge gave no judgement",
            "the judge gave no judgement",
            "",
        ]
        assert result.items["undefined"].tolist()[1] == "the output has no sentence"
        assert set(result.tables["contradictions"]["unscored"]) == {"timeout"}

    def test_an_unexpected_fault_of_a_judge_is_no_score(self):
        def broken(item):
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            evaluate(frame(contexts=["x", "y", "z"]), ["context_contradiction"], judge=broken)

    def test_without_a_judge_it_says_how_to_get_one(self):
        result = evaluate(frame(contexts=["x", "y", "z"]), ["context_contradiction", "rougeL"])
        assert result.items["context_contradiction_unscored"].tolist() == ["no-judge", "no-judge", "no-judge"]
        assert "judge = a chat model (openai/MODEL" in result.tables["reasons"]["detail"][0]
        assert "calls" not in result.tables

    def test_a_judge_is_asked_each_pair_once_whatever_the_metric(self):
        asked = []

        def judge(item):
            asked.append((item["premise"], item["hypothesis"]))
            return "CONTRADICTION" if "green" in item["premise"] else "NEUTRAL"

        table = pd.DataFrame(
            {
                "id": ["1", "2"],
                "answer": ["It is red. It is big.", "It is red."],
                "contexts": ["It is green.", "It is green."],
                "samples": ['["It is green.", "It is blue."]'] * 2,
            }
        )
        result = evaluate(table, ["selfcheck_nli", "context_contradiction"], judge=judge)
        assert len(asked) == len(set(asked)) == 4
        assert result.items["selfcheck_nli"].tolist() == [0.5, 0.5]
        assert result.items["context_contradiction"].tolist() == [1.0, 1.0]
        calls, said = result.tables["calls"], result.tables["contradictions"]
        assert set(calls["item_id"]) == set(said["call"])
        assert study.contradictions(result)["p_contradiction"].tolist() == [1.0, 1.0, 0.0, 0.0]


class TestBaselineJudge:
    TABLE = pd.DataFrame(
        {
            "id": ["1", "2"],
            "answer": ["It makes 12 juices.", "It makes 15 juices."],
            "contexts": ["It makes twelve juices."] * 2,
        }
    )

    def test_probabilities_are_of_contradiction_against_entailment(self, monkeypatch):
        from evalbench.judge import offline
        from evalbench.judge.entail import Entailer

        def scripted(premises, hypotheses):
            return np.array([[0.2, 0.2, 0.6] if "15" in h else [0.9, 0.1, 0.0] for h in hypotheses])

        monkeypatch.setattr(offline, "entailer", lambda name: Entailer(name, {}, scripted))
        result = evaluate(self.TABLE, ["context_contradiction"], judge="a-folder")
        assert result.items["context_contradiction"].tolist() == pytest.approx([0.0, 0.75])
        assert set(result.tables["calls"]["model"]) == {"a-folder"}
        assert result.accounting["models"] == {"judging": "a-folder"}

    @pytest.mark.parametrize("metric", ["context_contradiction", "selfcheck_nli"])
    def test_what_never_says_contradiction_gives_no_figure_of_it(self, metric):
        table = self.TABLE.assign(samples=[["It makes 11 juices."]] * 2)
        result = evaluate(
            table, [metric], judge="baseline/lexical", lights={metric: {"green_to": 0.8, "yellow_to": 0.9}}
        )
        assert result.items[metric].isna().all()
        assert result.light == "grey"
        figure = result.estimate(metric)
        assert (figure.value, figure.light, figure.n_unscored) == (None, "grey", 2)
        assert figure.note == "every item is unscored: 2 no judge"
        assert "never says that a text contradicts another: judge = a chat model" in result.notes[-1]
        assert "calls" not in result.tables

    def test_other_metrics_keep_their_lights(self):
        table = self.TABLE.assign(reference=self.TABLE["answer"])
        lights = {"rougeL": {"green_from": 0.7, "yellow_from": 0.5}}
        result = evaluate(table, ["rougeL", "context_contradiction"], judge="baseline/lexical", lights=lights)
        assert of_figures(result) == "green"
        assert "no judge" in result.estimate("context_contradiction").note


def reply_to(prompt):
    """The prompt in capitals; a judge's prompt gets a verdict by a word of it."""
    if "claim follows from a source" not in prompt:
        return prompt.upper()
    label = "CONTRADICTION" if "GREEN" in prompt else "ENTAILMENT"
    return json.dumps({"reason": "so it says", "label": label})


def test_outputs_are_collected_and_judged_by_models():
    table = pd.DataFrame(
        {"id": ["1", "2"], "question": ["red", "green"], "reference": ["RED", "BLUE"], "contexts": ["c", "c"]}
    )
    with chat_endpoint(reply_to) as chat:
        result = evaluate(
            table, ["exact_match", "context_contradiction"], prompt="{{ question }}", model=chat.name, judge=chat.name
        )
    assert result.tables["texts"]["answer"].tolist() == ["RED", "GREEN"]
    assert result.items["exact_match"].tolist() == [1.0, 0.0]
    assert result.items["context_contradiction"].tolist() == [0.0, 1.0]
    assert result.accounting["models"] == {"answering": chat.name, "judging": chat.name}
    assert set(result.tables["calls"]["purpose"]) == {"answer", "entailment"}
    assert result.accounting["calls"] == 4


def test_a_model_that_does_not_answer_leaves_its_texts_unscored(monkeypatch):
    from evalbench.models.chat import collect
    from evalbench.models.exchange import Reply

    def first_one_fails(requests, model):
        failed = Reply(request=requests[0], model=model, host="h", unscored="timeout")
        return [failed, *(Reply(request=r, model=model, host="h", text="a pear") for r in requests[1:])]

    monkeypatch.setattr(collect, "collect", first_one_fails)
    result = evaluate(frame().drop(columns="answer"), ["rougeL"], prompt="{{ reference[0] }}", model="fake/one")
    assert result.items["unscored"].tolist() == ["timeout", "", ""]
    figure = result.estimate("rougeL", model="fake/one")
    assert (figure.n, figure.n_unscored) == (2, 1)


def test_a_null_cell_is_nothing_in_a_prompt():
    table = pd.DataFrame({"id": ["1", "2"], "answer": ["a draft", None], "reference": ["X", "Y"]})
    with chat_endpoint(reply_to) as chat:
        evaluate(table, ["exact_match"], prompt="Improve: {{ answer }}", model=chat.name)
    assert sorted(chat.answered) == ["Improve: ", "Improve: a draft"]


def test_a_question_in_the_rows_of_several_models_is_asked_and_scored_once():
    table = pd.DataFrame(
        {
            "id": ["1", "1", "2"],
            "model": ["m", "n", "m"],
            "answer": "old",
            "question": ["red", "red", "green"],
            "reference": ["RED", "RED", "BLUE"],
        }
    )
    with chat_endpoint(reply_to) as chat:
        result = evaluate(table, ["exact_match"], prompt="{{ question }}", model=chat.name)
    assert sorted(chat.answered) == ["green", "red"]
    assert result.items[["id", "model", "exact_match"]].to_dict("list") == {
        "id": ["1", "2"],
        "model": [chat.name] * 2,
        "exact_match": [1.0, 0.0],
    }
    assert result.estimate("exact_match", model=chat.name).n == 2
