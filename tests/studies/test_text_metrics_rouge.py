"""ROUGE's options from a study: how several references, stems and sentences are taken."""

import json

import numpy as np
import pandas as pd
import pytest

from evalbench import human_correlation, load, text_metrics
from evalbench.errors import BadInput

ROWS = {
    "id": ["1", "2"],
    "answer": ["the dogs were running", "a cat"],
    "reference": [json.dumps(["the dog runs", "dogs"]), json.dumps(["the cat sat", "a cat or two"])],
}


def evaluate(metrics, rows=ROWS, **options):
    data = load({"items": pd.DataFrame(rows)}, study="text_metrics")
    return text_metrics.evaluate(data, metrics=metrics, n_resamples=20, **options)


def oracle(kind, part, several, stem):
    scorer = pytest.importorskip("rouge_score.rouge_scorer", reason="peer not importable: rouge_score")
    peer = scorer.RougeScorer([kind], use_stemmer=stem)
    values = []
    for output, references in zip(ROWS["answer"], map(json.loads, ROWS["reference"]), strict=True):
        if several == "best":
            values.append(getattr(peer.score_multi(references, output)[kind], part))
        else:
            values.append(np.mean([getattr(peer.score(r, output)[kind], part) for r in references]))
    return np.mean(values)


@pytest.mark.parametrize("several", ["best", "mean"])
@pytest.mark.parametrize("stem", [False, True])
def test_figures_are_rouge_score_s(several, stem):
    result = evaluate(["rouge1", "rouge1_recall", "rouge2_precision", "rougeL_recall"], references=several, stem=stem)
    for name, kind, part in (
        ("rouge1", "rouge1", "fmeasure"),
        ("rouge1_recall", "rouge1", "recall"),
        ("rouge2_precision", "rouge2", "precision"),
        ("rougeL_recall", "rougeL", "recall"),
    ):
        assert result.estimate(name).value == pytest.approx(oracle(kind, part, several, stem), abs=1e-9), name
    assert (result.parameters["references"], result.parameters["stem"]) == (several, stem)
    said = " ".join(result.method)
    assert ("the mean over all" in said) == (several == "mean")
    assert ("stems (porter)" in said) == stem


def test_options_that_have_no_effect_or_value_are_refused_together():
    with pytest.raises(BadInput) as refused:
        evaluate(["f1_score"], references="mean", stem=True, sentence_split="sentences")
    for part in (
        "references='mean' has no effect",
        "stem=True has no effect",
        "sentence_split='sentences' has no effect",
    ):
        assert part in str(refused.value)
    with pytest.raises(BadInput) as refused:
        evaluate(["rougeLsum"], references="worst", sentence_split="words", stem=True, language="zh")
    for part in (
        "references must be one of best, mean; got 'worst'",
        "sentence_split must be one of",
        "no stemmer exists for language 'zh'",
    ):
        assert part in str(refused.value)


def test_rouge_lsum_of_texts_on_one_line_is_said_to_be_rouge_l():
    flat = evaluate(["rougeL", "rougeLsum"])
    assert flat.estimate("rougeLsum").value == flat.estimate("rougeL").value
    assert any("rougeLsum equals rougeL" in note for note in flat.notes)
    rows = {"id": ["1"], "answer": ["It rains. It pours."], "reference": ["It pours. It rains."]}
    cut = evaluate(["rougeL", "rougeLsum"], rows, sentence_split="sentences")
    assert cut.estimate("rougeLsum").value == 1.0 > cut.estimate("rougeL").value
    assert not any("equals" in note for note in cut.notes)
    lines = {**rows, "answer": ["It rains.\nIt pours."]}
    assert not any("equals" in note for note in evaluate(["rougeLsum"], lines).notes)


def test_summaries_of_items_do_not_take_parts_for_metrics():
    result = evaluate(["rouge1", "f1_score"])
    assert {e.metric for e in text_metrics.summarise(result.items, n_resamples=20).estimates} == {"rouge1", "f1_score"}


def test_human_correlation_hands_the_options_through():
    data = load("town_desk@1.1.0", study="human_correlation")
    plain, stemmed = (
        human_correlation.evaluate(
            data, metrics=["rouge1", "rouge2_recall"], language="en", stem=stem, references="mean", n_resamples=20
        )
        for stem in (False, True)
    )
    assert stemmed.parameters["stem"] is True
    assert any("stems (porter)" in line for line in stemmed.method)
    assert not np.allclose(*(r.items.loc[r.items["scorer"] == "rouge1", "score"].to_numpy() for r in (plain, stemmed)))
    with pytest.raises(BadInput, match="stem=True has no effect"):
        human_correlation.evaluate(data, metrics=["juniper_judge"], stem=True, n_resamples=20)
