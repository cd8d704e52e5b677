"""Metrics over a table, whatever the study: refusals, options handed over, reasons as data."""

import pandas as pd
import pytest

from evalbench.core.unscored import REASONS
from evalbench.errors import BadInput
from evalbench.kit import metric_options
from evalbench.kit.metric_options import arguments_of, lines_note, methods_of, metrics_of, name_of, ways_of
from evalbench.kit.scoring import Scored, accounting_of, calls_of, score_all
from evalbench.metrics.registry import card, options_of

OPTIONS = {
    "language": "en", "normalise": "full", "references": "best", "stem": False, "sentence_split": "newline",
    "meteor_synonyms": False, "bleu_tokenize": "13a", "embed": "use-multilingual", "bert_model": "", "bert_layers": None,
    "judge": "",
}  # fmt: skip


def frame(**columns):
    base = {"id": ["1", "2", "3"], "answer": ["red apple", "", None], "reference": [["red apple", "pear"], [], ["x"]]}
    return pd.DataFrame({**base, **columns})


def scored(names, table=None, **options):
    chosen = {**OPTIONS, **options}
    return score_all(frame() if table is None else table, metrics_of(names, chosen), chosen)


class TestOptions:
    def test_all_faults_at_once(self):
        with pytest.raises(BadInput) as refused:
            metrics_of(
                ["f1", "steps_ratio_score", "chrf"],
                {**OPTIONS, "stem": True, "normalise": "sqad", "references": "worst", "meteor_synonyms": True},
            )
        assert len(refused.value.faults) == 6
        for fault in (
            "no metric 'f1'",
            "steps_ratio_score is a metric of counts, not of texts",
            "meteor_synonyms=True has no effect: meteor is not among the metrics",
            "references must be one of best, mean; got 'worst'",
            "stem=True has no effect: none of the metrics takes it",
            "normalise='sqad' is not one of full, squad, none",
        ):
            assert fault in str(refused.value)

    def test_one_text_is_not_a_list_of_names(self):
        with pytest.raises(BadInput, match=r"metrics must be a list of names, e.g. \['rougeL'\]"):
            metrics_of("rougeL", OPTIONS)

    def test_aliases_once_each_in_order(self):
        names = [entry.name for entry in metrics_of(["rougel", "f1score", "rougeL"], OPTIONS)]
        assert names == ["rougeL", "f1_score"]
        assert metrics_of([], OPTIONS) == []

    def test_synonyms_have_a_name_of_their_own(self, monkeypatch, tmp_path):
        monkeypatch.setattr(metric_options, "wordnet_folder", lambda: tmp_path)
        wanted = {**OPTIONS, "meteor_synonyms": True}
        assert name_of("meteor", wanted) == "meteor_synonyms"
        assert [entry.name for entry in metrics_of(["meteor"], wanted)] == ["meteor_synonyms"]
        assert [entry.name for entry in metrics_of(["meteor"], OPTIONS)] == ["meteor"]

    def test_a_metric_gets_what_it_takes_under_its_own_names(self):
        given = {**OPTIONS, "references": "mean", "bert_layers": 9, "bert_model": "folder", "bleu_tokenize": "zh"}
        assert arguments_of(card("sacrebleu"), given) == {"tokenize": "zh"}
        assert arguments_of(card("bertscore"), given) == {"bert_model": "folder", "num_layers": 9}
        assert arguments_of(card("rouge1"), given) == {"several": "mean", "stem": False, "language": "en"}
        assert arguments_of(card("exact_match"), given) == {}

    def test_every_option_of_a_text_metric_is_known(self):
        # A new option of a metric must be reachable from a study, or stay at its default on purpose.
        left = {"contradict", "batch_size"}
        for entry in (
            card(name) for name in ("bertscore", "chrf", "meteor", "rougeLsum", "sacrebleu", "selfcheck_nli")
        ):
            assert set(options_of(entry)) - set(arguments_of(entry, OPTIONS)) <= left

    def test_what_is_stated_of_the_ways(self):
        names, options = ["rouge1", "rougeLsum"], {**OPTIONS, "references": "mean", "stem": True}
        assert ways_of(names, options) == (
            "rouge1, rougeLsum: words of more than three characters as stems (porter).",
            "rouge1, rougeLsum: of several references, the mean over all.",
            "rougeLsum: sentences cut by line ends.",
        )
        assert ways_of(["chrf"], OPTIONS) == ()
        assert methods_of([card("exact_match")], OPTIONS)[0].startswith("exact_match: ")
        assert lines_note(["rougeLsum"], OPTIONS, ["one", None, "two\n"]) == [
            'Every text is one line, so rougeLsum equals rougeL; sentence_split "sentences" compares sentences.'
        ]
        assert lines_note(["rougeLsum"], OPTIONS, ["one\ntwo"]) == lines_note(["rouge1"], OPTIONS, ["one"]) == []


class TestReasons:
    def test_columns_that_are_missing(self):
        with pytest.raises(BadInput) as refused:
            scored(["knowledge_f1_score", "rouge1"], frame().drop(columns="answer"))
        assert refused.value.faults == (
            "there are no answers to score: either the table has them, in a column answer; or a model is asked for them: "
            "--model NAME -p 'prompt={{ question }}'",
            "knowledge_f1_score needs the column contexts",
        )

    def test_a_long_table_of_codes_and_details(self):
        found = scored(["rouge1", "bertscore", "context_contradiction", "length"], frame(contexts=[["c"]] * 3))
        table = found.reasons(frame()[["id"]])
        assert [tuple(row) for row in table.itertuples(index=False)] == [
            ("3", "rouge1", "unscored", "no-output", ""),
            ("2", "rouge1", "undefined", "no-reference", ""),
            ("1", "bertscore", "unscored", "not-installed", table["detail"][2]),
            ("3", "bertscore", "unscored", "no-output", ""),
            ("2", "bertscore", "undefined", "no-reference", ""),
            ("1", "context_contradiction", "unscored", "no-judge", table["detail"][5]),
            ("2", "context_contradiction", "unscored", "no-judge", table["detail"][5]),
            ("3", "context_contradiction", "unscored", "no-output", ""),
            ("3", "length", "unscored", "no-output", ""),
        ]
        assert table["detail"][2].startswith("bertscore needs")
        assert "judge = a chat model" in table["detail"][5]
        assert set(table.loc[table["kind"] == "unscored", "reason"]) <= set(REASONS)

    def test_nothing_is_missing(self):
        table = frame(answer="a", reference=[["a"]] * 3)
        found = scored(["rouge1"], table).reasons(table[["id"]])
        assert found.empty
        assert list(found) == ["id", "metric", "kind", "reason", "detail"]

    def test_an_embedding_endpoint_that_fails_is_not_a_model_that_is_not_installed(self):
        def why(name):
            found = scored(["sentence_transformers_similarity"], frame().head(1), embed=name)
            return found.unscored["sentence_transformers_similarity"].tolist()

        assert why("/no/such/folder") == ["not-installed"]
        assert why("http://127.0.0.1:9/v1#e") == ["connection"]

    def test_a_judge_that_gave_nothing(self):
        found = scored(
            ["context_contradiction"], frame(contexts=[["c"]] * 3), judge=lambda item: {"unscored": "timeout"}
        )
        assert found.unscored["context_contradiction"].tolist() == ["timeout", "", "no-output"]
        assert found.undefined["context_contradiction"].tolist() == ["", "the output has no sentence", ""]
        assert accounting_of(found, OPTIONS)["calls"] == 1
        assert set(calls_of(found)) == {"calls", "contradictions"}

    def test_nothing_asked_costs_nothing(self):
        assert accounting_of(Scored(), OPTIONS) == {"models": {}}
        assert calls_of(Scored()) == {}
