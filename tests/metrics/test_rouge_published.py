"""ROUGE as published tables have it: stems, means over references, recall and precision; rouge-score is the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.metrics.registry import card
from evalbench.metrics.rouge import rouge
from evalbench.metrics.text import score

TYPES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
PARTS = {"precision": "precision", "recall": "recall", "f1": "fmeasure"}
WORDS = [
    "running",
    "runs",
    "ran",
    "flies",
    "fly",
    "dogs",
    "dog",
    "the",
    "a",
    "quickly",
    "relational",
    "conditional",
    "troubles",
    "cats",
    "cat",
    "is",
    "Hopping",
]
sentences = st.lists(st.sampled_from([*WORDS, "\n", "don't", "3.5"]), max_size=14).map(" ".join)
tables = st.lists(st.tuples(sentences, st.lists(sentences, min_size=1, max_size=4)), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def scorer():
    return pytest.importorskip("rouge_score.rouge_scorer", reason="peer not importable: rouge_score")


@settings(max_examples=80)
@given(tables, st.booleans())
def test_stems_and_means_over_references_are_rouge_score_s(scorer, rows, stem):
    peer = scorer.RougeScorer(TYPES, use_stemmer=stem)
    outputs, references = zip(*rows, strict=True)
    mean = rouge(outputs, references, TYPES, several="mean", stem=stem)
    best = rouge(outputs, references, TYPES, several="best", stem=stem)
    for i, (output, several) in enumerate(rows):
        single = [peer.score(reference, output) for reference in several]
        multi = peer.score_multi(several, output)
        for kind in TYPES:
            for ours, theirs in PARTS.items():
                expected = np.mean([getattr(s[kind], theirs) for s in single])
                assert mean[kind][ours][i] == pytest.approx(expected, abs=1e-9)
                assert best[kind][ours][i] == pytest.approx(getattr(multi[kind], theirs), abs=1e-9)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("part", ["recall", "precision"])
@pytest.mark.parametrize("several", ["best", "mean"])
def test_a_part_is_a_metric_of_its_own(kind, part, several):
    outputs = ["the dogs were running\nfast", "a cat"]
    references = [["the dog runs\nfast and far", "dogs"], ["the cat sat", "a cat or two"]]
    options = {"several": several, "stem": True}
    found = score(f"{kind}_{part}", outputs, references=references, **options)
    whole = rouge(outputs, references, [kind], **options)[kind]
    np.testing.assert_array_equal(found[f"{kind}_{part}"], whole[part])
    assert card(f"{kind}_{part}".lower()).name == f"{kind}_{part}"


def test_recall_grows_with_the_output_and_precision_does_not():
    short, long = ["the cat"], ["the cat sat on the mat today"]
    references = ["the cat sat"]
    assert score("rouge1_recall", short, references=references)["rouge1_recall"] == pytest.approx([2 / 3])
    assert score("rouge1_precision", short, references=references)["rouge1_precision"] == [1.0]
    assert score("rouge1_recall", long, references=references)["rouge1_recall"] == [1.0]
    assert score("rouge1_precision", long, references=references)["rouge1_precision"] == pytest.approx([3 / 7])


def test_stems_of_other_languages():
    found = rouge(["собаки бежали"], ["собака бежала"], ["rouge1"], stem=True, language="ru")
    assert found["rouge1"]["f1"][0] == 1.0
    assert rouge(["собаки бежали"], ["собака бежала"], ["rouge1"])["rouge1"]["f1"][0] == 0.0
    with pytest.raises(BadInput, match="no stemmer exists for language 'zh'"):
        rouge(["a"], ["b"], stem=True, language="zh")


def test_an_unknown_way_of_taking_references_is_refused():
    with pytest.raises(ValueError, match="several is 'worst'; best or mean"):
        rouge(["a"], ["b"], several="worst")
