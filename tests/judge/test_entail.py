"""Entailment by a cross-encoder: its labels, its refusals. The network is a tiny one of random weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evalbench.errors import BadInput
from evalbench.judge.entail import BASELINE, LABELS, entailer, holds_back, label_order
from evalbench.models.similarity.embed import ModelUnavailable

NLI = {0: "contradiction", 1: "entailment", 2: "neutral"}


def tiny_cross_encoder(folder: Path, labels: dict[int, str], safetensors: bool = True) -> str:
    """A sequence classifier with random weights and ten words."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    from evalbench.models.similarity.encoders import quiet_loading

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "cat", "is", "not"]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(words))
    BertTokenizerFast(str(vocabulary)).save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=10,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=len(labels),
        initializer_range=2.0,
        id2label=labels,
        label2id={v: k for k, v in labels.items()},
    )
    with quiet_loading():
        BertForSequenceClassification(config).save_pretrained(folder)
    if not safetensors:
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    return str(folder)


@pytest.mark.parametrize(
    "labels",
    [
        {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"},
        {0: "entailment", 1: "not_entailment"},
        {0: "entailment", 1: "neutral", 2: "neutral"},
        {0: "entailment", 1: "neutral", 2: "contradiction", 3: "other"},
    ],
)
def test_labels_whose_meaning_is_not_said_are_refused(labels: dict[int, str]) -> None:
    with pytest.raises(BadInput, match="must name entailment, neutral and contradiction") as raised:
        label_order(labels, "m")
    assert labels[1] in str(raised.value)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_label_order_is_read_not_guessed(order: tuple[int, int, int]) -> None:
    assert label_order({place: LABELS[i].title() for i, place in enumerate(order)}, "m") == order


def test_a_missing_cross_encoder_says_how_to_get_it() -> None:
    with pytest.raises(
        ModelUnavailable, match="entailment model 'nobody/nli' not found: use baseline/lexical, a folder"
    ):
        entailer("nobody/nli")


def test_what_is_no_text_is_refused_all_at_once() -> None:
    with pytest.raises(BadInput) as raised:
        entailer(BASELINE).probabilities(["a", None], [3, "b"])  # type: ignore[list-item]
    assert "premise 1 is NoneType" in str(raised.value)
    assert "hypothesis 0 is int" in str(raised.value)
    with pytest.raises(BadInput, match="2 premises, 1 hypotheses"):
        entailer(BASELINE).probabilities(["a", "b"], ["c"])


def test_only_the_baseline_holds_a_light_back() -> None:
    assert holds_back(BASELINE)
    assert not any(holds_back(name) for name in ("openai/gpt-4o", "recorded:x.csv", "cross-encoder/nli"))


@pytest.mark.slow
@pytest.mark.model
def test_a_cross_encoder_gives_probabilities_in_our_order(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = tiny_cross_encoder(tmp_path, NLI)
    pairs = [("a dog", "a cat"), ("a dog is", "not"), ("a dog", "a cat"), ("cat", "cat is not a dog")]
    premises, hypotheses = [p for p, _ in pairs], [h for _, h in pairs]
    found = entailer(folder).probabilities(premises, hypotheses)
    network = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokens = AutoTokenizer.from_pretrained(folder)(premises, hypotheses, padding=True, return_tensors="pt")
    with torch.no_grad():
        expected = network(**tokens).logits.softmax(dim=1).numpy()[:, [1, 2, 0]]
    assert np.allclose(found, expected, atol=1e-5)
    assert found[0].tobytes() == found[2].tobytes()
    assert len(set(found.argmax(axis=1))) > 1, "the tiny network should not be constant"
    backwards = entailer(folder).probabilities(premises[::-1], hypotheses[::-1])
    assert backwards[::-1].tobytes() == found.tobytes()


@pytest.mark.model
def test_a_cross_encoder_with_two_labels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="its config.json gives the labels 0: entailment, 1: not_entailment"):
        entailer(tiny_cross_encoder(tmp_path, {0: "entailment", 1: "not_entailment"}))


@pytest.mark.model
def test_weights_that_are_no_safetensors_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="must hold a cross-encoder in safetensors"):
        entailer(tiny_cross_encoder(tmp_path, NLI, safetensors=False))


@pytest.mark.model
def test_code_in_a_model_folder_is_not_run(tmp_path: Path) -> None:
    folder = Path(tiny_cross_encoder(tmp_path, NLI))
    ran = tmp_path / "ran"
    (folder / "evil.py").write_text(f"open({str(ran)!r}, 'w')")
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "unheard",
        "auto_map": {"AutoModelForSequenceClassification": "evil.Model", "AutoConfig": "evil.Config"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelUnavailable):
        entailer(str(folder))
    assert not ran.exists()
