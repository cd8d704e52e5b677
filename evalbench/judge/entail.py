"""Does a text follow from another?  Probabilities of entailment, neutrality and contradiction, without a language model.

A cross-encoder by folder or name, or ``baseline/lexical``.  A language model gives labels, not probabilities: it is asked
through :func:`evalbench.judge.verdicts.judge`, as every judge is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import util
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput, ModelUnavailable
from evalbench.models.similarity.encoders import model_folder, quiet_loading

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

BASELINE = "baseline/lexical"
LABELS = ("ENTAILMENT", "NEUTRAL", "CONTRADICTION")
_SPELLINGS = {"entailment": 0, "entail": 0, "neutral": 1, "contradiction": 2, "contradict": 2}
_PAIRS_PER_BATCH = 32


def holds_back(judge: str) -> bool:
    """Whether a verdict that rests on this judge is at best grey.

    Examples
    --------
    >>> holds_back("baseline/lexical"), holds_back("openai/gpt-4o")
    (True, False)
    """
    return judge == BASELINE


@dataclass(frozen=True)
class Entailer:
    """A model of entailment by name.

    Attributes
    ----------
    name : str
        ``baseline/lexical``, or the folder or hub name of a cross-encoder with three labels.
    card : mapping
        What is known of its quality; empty for a cross-encoder.
    """

    name: str
    card: Mapping[str, Any]
    _probabilities: Callable[[Sequence[str], Sequence[str]], Floats]

    def probabilities(self, premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        """Probabilities in the order of :data:`LABELS`.

        Equal pairs are computed once, in sorted order; the order of rows changes nothing.

        Returns
        -------
        (n, 3) float64 array
            Rows sum to 1.

        Raises
        ------
        BadInput
            For unequal lengths or entries that are not texts.
        """
        _check_pairs(premises, hypotheses)
        pairs = list(zip(premises, hypotheses, strict=True))
        distinct = sorted(set(pairs))
        if not distinct:
            return np.zeros((0, len(LABELS)))
        at = {pair: i for i, pair in enumerate(distinct)}
        found = self._probabilities([p for p, _ in distinct], [h for _, h in distinct])
        return found[[at[pair] for pair in pairs]]

    def labels(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[str]:
        """The likeliest label of each pair."""
        return [LABELS[i] for i in self.probabilities(premises, hypotheses).argmax(axis=1)]


def entailer(name: str) -> Entailer:
    """The entailment model of this name; its weights are loaded at once.

    Parameters
    ----------
    name : str
        ``baseline/lexical``, which gives no contradiction any probability; else the folder or the hub name of a sentence-transformers cross-encoder or a
        ``transformers`` sequence classifier whose ``config.json`` names its three labels.

    Raises
    ------
    ModelUnavailable
        If it is not here; the message says how to get it.
    BadInput
        If it does not have exactly the three labels, by name.

    Examples
    --------
    >>> entailer("baseline/lexical").labels(["The firm makes 12 juices."], ["It makes twelve juices."])
    ['ENTAILMENT']
    """
    if name == BASELINE:
        from evalbench.judge.lexical.card import card
        from evalbench.judge.lexical.support import entailment

        return Entailer(name, card(), entailment)
    return Entailer(name, {}, _cross_encoder(name))


def label_order(labels: Mapping[int, str], name: str) -> tuple[int, int, int]:
    """Where a model's outputs for entailment, neutral and contradiction are.

    Raises
    ------
    BadInput
        If its configuration does not name these three and no other: guessing the order would turn verdicts round.

    Examples
    --------
    >>> label_order({0: "CONTRADICTION", 1: "entailment", 2: "neutral"}, "m")
    (1, 2, 0)
    """
    meant = {index: _SPELLINGS.get(label.strip().lower()) for index, label in labels.items()}
    if sorted(m for m in meant.values() if m is not None) != [0, 1, 2] or len(meant) != len(LABELS):
        said = ", ".join(f"{i}: {label}" for i, label in sorted(labels.items()))
        raise BadInput(
            f"{name}: its config.json gives the labels {said}; an entailment model must name entailment, neutral and "
            "contradiction (id2label), or their order is not known"
        )
    order = sorted(meant, key=lambda index: meant[index] or 0)
    return order[0], order[1], order[2]


@functools.lru_cache(maxsize=2)
def _cross_encoder(name: str) -> Callable[[Sequence[str], Sequence[str]], Floats]:
    if util.find_spec("sentence_transformers") is None:
        raise ModelUnavailable(f"cross-encoder {name!r} needs sentence-transformers: pip install 'evalbench[embed]'")
    try:
        folder = str(model_folder(name))
    except ModelUnavailable as error:
        raise ModelUnavailable(
            f"entailment model {name!r} not found: use {BASELINE}, a folder with a cross-encoder in safetensors, or a hub name "
            f"once downloaded with `hf download {name}`"
        ) from error
    import torch
    from sentence_transformers import CrossEncoder

    try:
        with quiet_loading():
            model = CrossEncoder(folder, trust_remote_code=False, model_kwargs={"use_safetensors": True})
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"{name!r} cannot be loaded: {folder} must hold a cross-encoder in safetensors"
        ) from error
    order = list(label_order({int(i): str(v) for i, v in model.model.config.id2label.items()}, name))

    def probabilities(premises: Sequence[str], hypotheses: Sequence[str]) -> Floats:
        pairs = list(zip(premises, hypotheses, strict=True))
        logits = model.predict(
            pairs, batch_size=_PAIRS_PER_BATCH, activation_fn=torch.nn.Identity(), show_progress_bar=False
        )
        scores = np.asarray(logits, dtype=np.float64)[:, order]
        exponents: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares: Floats = exponents / exponents.sum(axis=1, keepdims=True)
        return shares

    return probabilities


def _check_pairs(premises: Sequence[str], hypotheses: Sequence[str]) -> None:
    if len(premises) != len(hypotheses):
        raise BadInput(f"pairs need equally many texts: {len(premises)} premises, {len(hypotheses)} hypotheses")
    faults = [
        f"{what} {i} is {type(text).__name__}, not a text"
        for what, texts in (("premise", premises), ("hypothesis", hypotheses))
        for i, text in enumerate(texts)
        if not isinstance(text, str)
    ]
    if faults:
        raise BadInput.listing("entailment is asked of texts only:", faults)
