"""Our metrics as evaluate.Metric."""

import subprocess
import sys

import pytest

from evalbench import hub
from evalbench.errors import BadInput

pytestmark = pytest.mark.model


def test_unknown_metrics_and_scripts_are_refused():
    with pytest.raises(BadInput, match="no metric 'rougel1'; did you mean"):
        hub.metric("rougel1")
    with pytest.raises(BadInput, match="metric script /no/such.py: no such file"):
        hub.load_script("/no/such.py")


def test_options_are_checked_before_anything_is_computed():
    with pytest.raises(BadInput) as refused:
        hub.metric("f1_score", foo=1, langage="ru")
    assert str(refused.value).split("\n") == [
        "f1_score:",
        "  - no option foo; there are normalise, language",
        "  - no option langage; there are normalise, language",
    ]
    with pytest.raises(BadInput, match="sentence_transformers_similarity:\n  - embed is needed: embed=…"):
        hub.metric("sentence_tranformers_similarity")
    with pytest.raises(BadInput, match="bert_model is needed"):
        hub.metric("bertscore")
    with pytest.raises(BadInput, match="no option x; there are none"):
        hub.metric("exact_match", x=1)


def test_an_embedding_model_goes_by_its_name():
    found = hub.metric("sentence_transformers_similarity", embed="use-multilingual").compute(
        predictions=["red apple"], references=["red apple"]
    )
    assert found["sentence_transformers_similarity"] == pytest.approx(1.0)


def test_one_text_or_several_references():
    metric = hub.metric("f1score", language="ru")
    expected = {"f1_score": 1.0, "f1_score_precision": 1.0, "f1_score_recall": 1.0, "f1_score_n": 1}
    assert metric.compute(predictions=["кот спит"], references=["кот спит"]) == expected
    assert metric.compute(predictions=["кот спит"], references=[["нет", "кот спит"]]) == expected


def test_columns_that_a_metric_needs_besides():
    metric = hub.metric("knowledge_f1_score")
    assert metric.compute(predictions=["red apple"], contexts=["red apple"])["knowledge_f1_score"] == 1.0


def test_combined_with_a_script_of_one_s_own(root):
    script = hub.load_script(str(root / "scripts/metrics/last_word.py"))
    evaluate = sys.modules["evaluate"]
    both = evaluate.combine([hub.metric("rougeL"), hub.metric("sacrebleu"), script])
    found = both.compute(predictions=["a b c d", "x y"], references=["a b c d", "x z"])
    assert found["rougeL"] == pytest.approx(0.75)
    assert found["last_word"] == 0.5
    assert 0 < found["sacrebleu_corpus"] < 100
    assert not any("correct" in name for name in found)


def test_a_metric_loads_neither_torch_nor_transformers():
    code = (
        "import sys; from evalbench import hub; hub.metric('f1_score'); "
        "print({'torch', 'transformers'} & set(sys.modules)); import transformers"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
