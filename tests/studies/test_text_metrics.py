"""Text metrics: refusals, figures, several models."""

import numpy as np
import pandas as pd
import pytest
from text_tables import OPTIONS, evaluate, frame

import evalbench
from evalbench.errors import BadInput
from evalbench.kit.choosing import allowed
from evalbench.readers.dataset import load
from evalbench.studies import text_metrics as study
from tests.helpers.lights import of_figures


class TestRefusals:
    def test_unknown_metrics_all_at_once(self):
        with pytest.raises(BadInput) as caught:
            evaluate(frame(), ["rougel1", "f1", "exactmatch"])
        assert "no metric 'rougel1'; did you mean" in str(caught.value)
        assert "no metric 'f1'" in str(caught.value)
        with pytest.raises(BadInput, match="metrics must be a list of names"):
            evaluate(frame(), "rougeL")

    def test_columns_that_a_metric_needs(self):
        with pytest.raises(BadInput) as caught:
            evaluate(frame().drop(columns="answer"), ["knowledge_f1_score", "request_similarity", "rouge1"])
        message = str(caught.value)
        assert "there are no answers to score" in message
        assert "knowledge_f1_score needs the column contexts" in message
        assert "request_similarity needs the column question" in message
        assert "rouge1" not in message
        with pytest.raises(
            BadInput, match=r"""others can be computed: -p 'metrics=\["rouge1", "chrf"\]' or -p metrics=auto$"""
        ):
            evaluate(frame(), ["rouge1", "request_similarity", "chrf"])

    def test_lights(self):
        with pytest.raises(BadInput) as caught:
            evaluate(
                frame(), ["rougeL", "rouge1", "verbosity_ratio"],
                lights={
                    "rougeL": {"green_from": 0.3, "yellow_from": 0.5}, "verbosity_ratio": {"green_to": 1, "yellow_to": 2},
                    "rouge1": {"green_from": 0.3}, "rouge2": {"green_from": 0.2, "yellow_from": 0.1},
                },
            )  # fmt: skip
        message = str(caught.value)
        assert "lights: rougeL: green_from must be above yellow_from, got 0.3 and 0.5" in message
        assert "lights: verbosity_ratio: no light, because it has no better and worse" in message
        assert "lights: rouge1: green_from and yellow_from are set together or not at all" in message
        assert "lights must be one of rougeL, rouge1" in message

    def test_options_out_of_range(self):
        for options, said in (
            (
                {"lights": {"rougeL": [0.3, 0.5]}},
                r'rougeL: thresholds are named: {"yellow_from": 0.3, "green_from": 0.5}; got \[0.3, 0.5\]',
            ),
            (
                {"lights": {"rougeL": {"green_from": 1.5, "yellow_from": 0}}},
                "green_from must be between 0 and 1, got 1.5",
            ),
            ({"n_resamples": 1}, "n_resamples must be at least 2, got 1"),
            ({"max_unscored": -1}, "max_unscored must be between 0 and 1, got -1"),
        ):
            with pytest.raises(BadInput, match=said):
                evaluate(frame(), ["rougeL"], **options)
        with pytest.raises(BadInput, match="tokenize='zz' is not one of sacrebleu's none, zh, 13a"):
            evaluate(frame(), ["sacrebleu"], bleu_tokenize="zz")

    def test_a_prompt_wants_a_model_and_known_columns(self):
        with pytest.raises(BadInput, match="set both prompt and model, or neither"):
            evaluate(frame(), ["rougeL"], prompt="{{ id }}")
        with pytest.raises(BadInput, match="prompt: 'question' is undefined; the table has id, answer, reference"):
            evaluate(frame(), ["rougeL"], prompt="{{ question }}", model="http://127.0.0.1:9/v1#none")

    def test_a_reference_list_that_is_not_of_texts(self, tmp_path):
        (tmp_path / "t.jsonl").write_text('{"id": "1", "answer": "x", "reference": ["a", ["b"]]}\n')
        with pytest.raises(BadInput, match=r"column reference: expected a text, or a JSON list of texts.*row 1"):
            evalbench.evaluate(str(tmp_path / "t.jsonl"), metrics=["rougeL"])

    def test_ids_that_stand_twice(self):
        with pytest.raises(
            BadInput,
            match=r'column id: is duplicated; a column model or trial would tell them apart, found "1" \(rows 1, 2\)',
        ):
            evaluate(frame(id=["1", "1", "3"]), ["rougeL"])

    def test_an_empty_table(self):
        with pytest.raises(BadInput, match="frame items: it has no rows"):
            evaluate(frame().iloc[:0], ["rougeL"])


class TestWhatTheTableAllows:
    def test_everything_is_asked_and_the_rest_listed_with_its_reason(self):
        result = study.evaluate({"items": frame()}, **OPTIONS)
        assert result.parameters["metrics"][0] == "f1_score"
        assert {"rougeLsum", "sentence_transformers_similarity", "length"} <= set(result.parameters["metrics"])
        assert "Not asked: context_contradiction, knowledge_f1_score, rouge_for_context (needs a column contexts)." in (
            result.notes
        )
        assert "Not asked: bertscore (needs a model: -p bert_model=FOLDER -p bert_layers=LAYER)." in result.notes
        assert (result.items["unscored"] == "").all()

    def test_a_table_of_outputs_alone(self):
        result = study.evaluate({"items": frame().drop(columns="reference")}, **OPTIONS)
        assert result.parameters["metrics"] == ["length"]

    def test_a_judge_and_the_columns_bring_their_metrics(self):
        options = {"judge": lambda item: "CONTRADICTION", "embed": "none/such-model", "meteor_synonyms": False}
        names, notes = allowed(["answer", "contexts", "samples", "question"], {**options, "bert_model": ""})
        assert names[-5:] == ["knowledge_f1_score", "rouge_for_context", "selfcheck_nli", "language_match", "length"]
        assert not any("judge" in note for note in notes)

    def test_what_is_not_installed_is_not_asked(self, monkeypatch):
        monkeypatch.setattr("evalbench.kit.choosing.find_spec", lambda name: None if name == "nltk" else name)
        names, notes = allowed(
            ["answer", "reference"], {"judge": "baseline/lexical", "bert_model": "", "embed": "jaccard"}
        )
        assert "meteor" not in names
        assert "Not asked: meteor, meteor_synonyms (needs a package: pip install nltk)." in notes

    def test_the_first_argument_is_dataset_also_called_data(self):
        for first in ("dataset", "data"):
            result = evalbench.evaluate(**{first: {"items": frame()}}, metrics=["exactmatch"], n_resamples=2)
            assert result.parameters["metrics"] == ["exact_match"]
        with pytest.raises(TypeError, match="data"):
            evalbench.evaluate({"items": frame()}, data={"items": frame()})


class TestFigures:
    def test_means_over_texts_the_best_reference_counting(self):
        result = evaluate(frame(), ["exactmatch", "rouge1"])
        assert result.items["exact_match"].tolist() == [1.0, 0.0, 1.0]
        assert result.estimate("exact_match").value == pytest.approx(2 / 3)
        assert result.estimate("rouge1").n == 3
        assert result.light == "unlit"
        assert "No thresholds set, so there is no light." in result.sentence

    def test_an_empty_output_is_a_wrong_answer(self):
        items = evaluate(frame(), ["f1_score", "rougeL", "chrf", "sacrebleu"]).items
        assert items.loc[1, ["f1_score", "rougeL", "chrf", "sacrebleu"]].tolist() == [0.0] * 4
        assert (items["unscored"] == "").all()

    def test_nulls_are_left_out_by_name_and_count(self):
        table = frame(answer=["a", None, ""], reference=["a"] * 3, contexts=[None, "a", "a"])
        result = evaluate(table, ["rougeL", "knowledge_f1_score", "length"])
        assert result.items["unscored"].tolist() == ["", "no-output", ""]
        assert result.items["knowledge_f1_score_undefined"].tolist() == ["no-contexts", "", ""]
        assert result.estimate("rougeL").value == 0.5
        assert result.notes == (
            "Unscored: 1 of 3 items (1 no output).",
            "No contexts: 1 of 3 texts; undefined there: knowledge_f1_score.",
            "1 of 2 outputs is empty.",
        )
        assert "1 of 3 could not be scored (1 no output)." in result.sentence

    def test_a_text_without_reference_is_undefined(self):
        result = evaluate(frame(reference=["a", "", "b"]), ["rougeL", "length"])
        assert result.items["rougeL_undefined"].tolist() == ["", "no-reference", ""]
        assert (result.items["undefined"] == "").all()
        assert (result.estimate("rougeL").n, result.estimate("rougeL").n_undefined) == (2, 1)
        assert result.estimate("length").n == 3

    def test_corpus_bleu_stands_beside_the_mean(self):
        peer = pytest.importorskip("sacrebleu", reason="peer not importable: sacrebleu")
        table = frame(
            answer=["the cat sat on the mat", "a b c d", "x"], reference=["the cat sat on a mat", "a b c e", "y"]
        )
        result = evaluate(table, ["sacrebleu"])
        expected = peer.corpus_bleu(table["answer"].tolist(), [table["reference"].tolist()]).score
        assert result.estimate("sacrebleu_corpus").value == pytest.approx(expected, abs=1e-9)
        assert result.estimate("sacrebleu_corpus").unit == "0–100"

    def test_lights_and_their_stability(self):
        result = evaluate(
            frame(),
            ["rouge1", "f1_score"],
            lights={
                "rouge1": {"green_from": 0.5, "yellow_from": 0.3},
                "f1score": {"green_from": 0.95, "yellow_from": 0.9},
            },
        )
        assert of_figures(result) == "red"
        assert result.verdict.decided_by == {"metric": "f1_score"}
        assert 0.5 < result.verdict.stability <= 1
        assert result.sentence.startswith("f1_score 0.7 [0.0, 1.0]; 3 texts.")

    def test_stability_is_that_of_the_worst_of_all_models(self):
        # Either model alone stays at or above its share in about half of the resamples, both together in a quarter.
        draw = np.random.default_rng(0)
        right = np.stack([draw.permutation(np.arange(400) < 200) for _ in range(2)])
        table = pd.DataFrame({"id": [f"{i:03d}" for i in range(400)] * 2, "model": ["m"] * 400 + ["n"] * 400,
                              "answer": np.where(right.ravel(), "a", "b"), "reference": "a"})  # fmt: skip
        result = evaluate(
            table, ["exact_match"], lights={"exact_match": {"green_from": 0.9, "yellow_from": 0.5}}, n_resamples=2000
        )
        drawn = draw.integers(400, size=(2000, 400))
        both = (np.stack([r[drawn].mean(axis=1) for r in right]) >= 0.5).all(axis=0).mean()
        assert result.light == "yellow"
        assert result.verdict.stability == pytest.approx(both, abs=0.04)
        assert both < 0.35

    def test_the_worst_model_of_the_worst_light_is_named(self):
        table = pd.DataFrame({"id": ["1", "2"] * 2, "model": ["m", "m", "n", "n"], "answer": ["a b x", "a y z", "x", "y"],
                              "reference": "a b c"})  # fmt: skip
        result = evaluate(table, ["rouge1"], lights={"rouge1": {"green_from": 0.8, "yellow_from": 0.6}})
        assert result.sentence.startswith("rouge1 0.00 [0.00, 0.66] (n); ")
        assert result.verdict.decided_by == {"metric": "rouge1", "model": "n"}

    def test_less_is_better_turns_the_bands(self):
        table = frame(contexts=["x", "y", "z"])
        result = evaluate(
            table,
            ["context_contradiction"],
            lights={"context_contradiction": {"green_to": 0.1, "yellow_to": 0.3}},
            judge=lambda item: "CONTRADICTION",
        )
        assert of_figures(result) == "red"

    def test_the_summary_follows_from_the_items(self, tmp_path):
        options = {
            "metrics": ["rouge1", "sacrebleu", "bertscore"],
            "lights": {"rouge1": {"green_from": 0.5, "yellow_from": 0.3}},
        }
        result = evaluate(frame(model=["m", "m", "n"]), **options)
        result.items.to_parquet(tmp_path / "items.parquet")
        assert study.summarise(pd.read_parquet(tmp_path / "items.parquet"), **options, **OPTIONS) == result.summary

    def test_ten_thousand_identical_rows(self):
        n = 10_000
        table = pd.DataFrame({"id": [str(i) for i in range(n)], "answer": "same", "reference": "same"})
        result = evaluate(table, ["rougeL", "jaccard_similarity"])
        assert result.estimate("rougeL").value == 1.0
        study.picture_distributions(result)
        _, alt = study.picture_agreement(result)
        assert "no values" in alt


class TestModels:
    def table(self):
        rows = [
            {"id": f"{i:02d}", "model": m, "answer": out, "reference": "a b c d e"}
            for i in range(40)
            for m, out in (("good", "a b c d e"), ("poor", "a b x y z" if i % 3 else "a"), ("same", "a b c d e"))
        ]
        return pd.DataFrame(rows)

    def test_models_are_compared_in_pairs(self):
        result = evaluate(self.table(), ["rougeL", "verbosity_ratio"], n_resamples=300)
        assert result.by == ("model",)
        assert result.estimate("rougeL", model="good").value == 1.0
        found = result.tables["comparison"].set_index(["metric", "model_a", "model_b"])["outcome"]
        assert found["rougeL", "good", "poor"] == "better"
        assert found["rougeL", "poor", "same"] == "worse"
        assert found["rougeL", "good", "same"] == "same"
        assert found["verbosity_ratio", "good", "poor"] == "higher"

    def test_two_models_with_one_text_in_common_are_not_compared(self):
        table = pd.DataFrame({"id": ["1", "2", "3", "3", "4"], "model": ["m", "m", "m", "n", "o"], "answer": "a",
                              "reference": "a"})  # fmt: skip
        result = evaluate(table, ["rouge1"])
        found = result.tables["comparison"].set_index(["model_a", "model_b"])
        assert set(found["outcome"]) == {"undefined"}
        assert found["note"].to_dict() == {
            ("m", "n"): "fewer than two units: no interval and no test",
            ("m", "o"): "no unit has a value on both sides",
            ("n", "o"): "no unit has a value on both sides",
        }

    def test_an_unknown_normalisation_is_refused_even_where_none_is_used(self):
        with pytest.raises(BadInput, match="normalise='sqad' is not one of full, squad, none"):
            evaluate(frame(), ["rouge1"], normalise="sqad")

    def test_steps_of_normalisation_are_switched_by_the_option(self):
        table = pd.DataFrame({"id": ["1", "2"], "answer": ["The cat", "Cat!"], "reference": ["a cat", "cat"]})
        kept = {
            n: evaluate(table, ["normalized_exact_match"], normalise=n).items["normalized_exact_match"].tolist()
            for n in ("full", "full-stop_words", "full-lower", "full-punctuation")
        }
        assert kept == {
            "full": [1, 1], "full-stop_words": [0, 1], "full-lower": [1, 0], "full-punctuation": [1, 0]
        }  # fmt: skip

    def test_a_metric_that_is_0_or_1_has_wilsons_interval(self):
        table = pd.DataFrame({"id": [str(i) for i in range(20)], "answer": "a", "reference": "a"})
        result = evaluate(table, ["exact_match", "normalized_exact_match", "f1_score"])
        for name in ("exact_match", "normalized_exact_match"):
            figure = result.estimate(name)
            assert (figure.value, figure.ci_high, figure.method) == (1.0, 1.0, "Wilson")
            assert figure.ci_low == pytest.approx(0.8389, abs=1e-4)
        assert result.estimate("f1_score").method == "Wilson over units, all agree"
        assert result.sentence.startswith("exact_match 1.00 [0.84, 1.00]; 20 texts.")
        assert result.estimate("exact_match").unit == "0–1"

    def test_tables_of_the_page(self):
        result = evaluate(self.table(), ["rougeL", "f1_score", "length"])
        worst = study.worst_texts(result, "rougeL", rows=3)
        assert worst["model"].tolist() == ["poor"] * 3
        assert worst["answer"].tolist() == ["a"] * 3
        assert len(study.comparison(result)) == 9
        assert study.unscored(result)["note"].tolist() == ["every text has every score"]
        assert study.metric_cards(result)["metric"].tolist() == ["rougeL", "f1_score", "length"]


class TestNothingToDraw:
    @pytest.mark.parametrize("metrics", [["length"], ["verbosity_ratio"], ["bertscore"], ["rougeL"]])
    def test_a_picture_of_several_metrics_is_none_for_one(self, metrics):
        result = evaluate(frame(reference=""), metrics)
        assert study.picture_panels(result) is None
        assert study.picture_agreement(result) is None
        assert (study.picture_distributions(result) is None) == (metrics != ["rougeL"] and metrics != ["bertscore"])
        assert study.worst_texts(result, metrics[0], besides=metrics[0]).empty


def test_what_cuts_sentences_is_named():
    table = frame(contexts=["x", "y", "z"])
    said = evaluate(table, ["context_contradiction"], language="ru").method[-1]
    assert said in (f"Sentences of context_contradiction are cut by {name}." for name in ("razdel", "sentencex"))
    assert not any("are cut by" in line for line in evaluate(table, ["rougeL"]).method)


def test_the_front_door_takes_names_files_and_frames(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("id;bot\n".replace(";", ",") + "1,yes\n")
    shaped = load(path, study.SCHEMA, columns={"bot": "output"})
    assert evalbench.evaluate(shaped, metrics=["length"], n_resamples=2).estimate("length").value == 1.0
    assert evalbench.evaluate({"items": frame()}, metrics=["length"], n_resamples=2).items["length"].tolist() == [
        3,
        0,
        2,
    ]


def test_outputs_that_are_the_word_nan_are_in_the_sentence():
    rows = pd.DataFrame({"id": [f"q{i}" for i in range(40)], "answer": ["nan"] * 30 + ["Rome"] * 10})
    result = study.evaluate({"items": rows.assign(reference=rows["answer"])}, metrics=["exact_match"], n_resamples=50)
    assert "30 of 40 outputs are the word nan, None or null." in result.sentence


def test_bleu_of_texts_without_spaces_names_the_tokenizer():
    text = ["北京是中国的首都", "我喜欢喝绿茶"] * 20
    rows = pd.DataFrame({"id": [f"q{i}" for i in range(40)], "answer": text, "reference": text})
    result = study.evaluate({"items": rows}, metrics=["sacrebleu"], n_resamples=50)
    assert "Bleu_tokenize 13a takes 40 of 40 outputs, written without spaces, for few words: bleu_tokenize=zh." in (
        result.sentence
    )
    again = study.evaluate({"items": rows}, metrics=["sacrebleu"], bleu_tokenize="zh", n_resamples=50)
    assert "written without spaces" not in again.sentence


def test_a_blank_reference_is_none():
    rows = pd.DataFrame({"id": ["a", "b"], "answer": ["Rome", "Rome"], "reference": [" ", "Rome"]})
    result = study.evaluate({"items": rows}, metrics=["exact_match"], n_resamples=50)
    assert result.items["undefined"].tolist() == ["no-reference", ""]


def test_columns_under_former_names_give_the_same_figures_with_a_note_of_each():
    rows = frame(question=["Red?", "What?", "Кто?"], contexts=["a red apple", "a pear", "кот"])
    former = rows.rename(columns={"answer": "output", "question": "prompt", "contexts": "context"})
    metrics = ["rougeL", "knowledge_f1_score", "language_match"]
    own, other = (study.evaluate({"items": t}, **{**OPTIONS, "metrics": metrics}) for t in (rows, former))
    assert [e.row() for e in own.summary.estimates] == [e.row() for e in other.summary.estimates]
    assert list(other.tables["texts"]) == list(own.tables["texts"])
    for name, ours in (("output", "answer"), ("prompt", "question"), ("context", "contexts")):
        assert any(f"column {name} was read as {ours}" in note for note in other.notes)


@pytest.mark.parametrize(
    ("true", "predicted"), [("label", "predicted"), ("y_true", "y_pred"), ("true_label", "predicted_label")]
)
def test_predicted_and_true_labels_are_compared_as_a_whole(true, predicted):
    rows = {
        "text": list("abcde"),
        true: ["up", "down", "up", "up", "flat"],
        predicted: ["up", "up", "up", "down", "flat"],
    }
    result = study.evaluate(evalbench.load(pd.DataFrame(rows), study="text_metrics"), n_resamples=50)
    assert result.parameters["metrics"] == ["exact_match", "normalized_exact_match"]
    assert result.estimate("exact_match").value == pytest.approx(3 / 5)
    assert any("Answers are labels: only exact_match" in note for note in result.notes)


def test_predicted_texts_are_no_labels_and_a_mark_called_label_is_no_reference():
    texts = [f"It is {k} of them." for k in range(5)]
    result = study.evaluate(
        evalbench.load(pd.DataFrame({"label": texts, "prediction": texts}), study="text_metrics"), n_resamples=50
    )
    assert "f1_score" in result.parameters["metrics"]
    marked = evalbench.load(
        pd.DataFrame({"question": texts, "prediction": texts, "label": [1, 0, 1, 1, 0]}), study="text_metrics"
    )
    assert "reference" not in marked["items"]
