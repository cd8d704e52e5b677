"""Fit and measure ``baseline/lexical``; write its card.

Usage: ``EVALBENCH_EXTERNAL_DATA=DIR python scripts/card_lexical.py``; DIR holds ``natural_questions``, ``ragchecker`` and
``unieval_meta_eval``.  Needs scikit-learn.

Equivalence: EfficientQA's human verdicts on system answers (definitely correct against definitely incorrect).  Half of the
questions (by hash) fit its coefficients, on answers that are not opposed, as they are and wrapped in a sentence; the other half gives the
figures.  Entailment: the weights of the score are set by reason; slope and intercept are fitted on half of the oracle
passages (question and answer, right or swapped, against the passage).  Every AUROC has a 95 % bootstrap interval over
questions (passages, dialogues).  Beside it: of the claims called supported the share that is, and of the supported claims
the share that is called so.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from scipy.stats import rankdata

from evalbench.core.seeds import rng
from evalbench.judge.lexical import support
from evalbench.judge.lexical.card import CARD_FILE
from evalbench.judge.lexical.equivalence import OPPOSED, EquivalenceFeatures, equivalence, equivalence_table
from evalbench.text.words import words

DATA = Path(os.environ.get("EVALBENCH_EXTERNAL_DATA", "../shared/data"))
SEED = 0
RESAMPLES = 2000
WRAPPINGS = ("{answer}", "The answer is {answer}.", "{question}? It is {answer}.")


class Judged(NamedTuple):
    """One pair with its human (or constructed) label."""

    unit: str
    premise: str
    claim: str
    label: int


class Answered(NamedTuple):
    """One system answer with its human verdict."""

    question: str
    golds: list[str]
    answer: str
    label: int


def in_first_half(unit: str) -> bool:
    return hashlib.sha256(unit.encode()).digest()[0] % 2 == 0


def json_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def auroc(labels: np.ndarray, scores: np.ndarray) -> float:
    """Probability that a positive outranks a negative, ties count half."""
    ranks = rankdata(scores)
    n_pos = labels.sum()
    n_neg = len(labels) - n_pos
    return float((ranks[labels == 1].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg))


def with_interval(units: list[str], labels: list[int], *scores: np.ndarray) -> list[dict[str, float]]:
    """AUROC of each score with a percentile interval; units are drawn whole."""
    y = np.array(labels)
    of_unit: dict[str, list[int]] = {}
    for i, unit in enumerate(units):
        of_unit.setdefault(unit, []).append(i)
    groups = [np.array(rows) for _, rows in sorted(of_unit.items())]
    draws = rng(SEED, "card").integers(0, len(groups), (RESAMPLES, len(groups)))
    out = []
    for score in scores:
        values = []
        for draw in draws:
            rows = np.concatenate([groups[g] for g in draw])
            if 0 < y[rows].sum() < len(rows):
                values.append(auroc(y[rows], score[rows]))
        low, high = np.percentile(values, [2.5, 97.5])
        out.append({"auroc": round(auroc(y, score), 3), "low": round(float(low), 3), "high": round(float(high), 3)})
    return out


# Equivalence -------------------------------------------------------------------------------------------------------


def efficient_qa() -> list[Answered]:
    rows = []
    for item in json_lines(DATA / "natural_questions" / "NQ-open.efficientqa.test.1.1.jsonl"):
        for key, label in (("def_correct_predictions", 1), ("def_incorrect_predictions", 0)):
            rows += [Answered(item["question"], item["answer"], answer, label) for answer in item[key]]
    return rows


def token_f1(answer: str, gold: str) -> float:
    """SQuAD's: lower case, no punctuation, no articles."""

    def tokens(text: str) -> Counter[str]:
        bare = "".join(c for c in text.lower() if c not in string.punctuation)
        return Counter(re.sub(r"\b(a|an|the)\b", " ", bare).split())

    a, b = tokens(answer), tokens(gold)
    shared = (a & b).total()
    return 2 * shared / (a.total() + b.total()) if shared else 0.0


def logistic(features: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, float]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1.0, class_weight="balanced", max_iter=5000).fit(features, labels, weights)
    return model.coef_[0], float(model.intercept_[0])


def fit_equivalence(rows: list[Answered]) -> dict:
    wrapped = [(r, w.format(answer=r.answer, question=r.question)) for w in WRAPPINGS for r in rows]
    features, item = equivalence_table(
        [r.question for r, _ in wrapped], [r.golds for r, _ in wrapped], [text for _, text in wrapped]
    )
    # The gold answer that looks most like the answer stands for the item.
    order = np.lexsort((features[:, :4].sum(axis=1), item))
    best = np.zeros(len(wrapped), dtype=int)
    best[item[order]] = order
    fair = features[best, -1] == 0
    labels = np.array([r.label for r, _ in wrapped])
    weights, intercept = logistic(features[best][fair, :-1], labels[fair])
    names = EquivalenceFeatures._fields
    return {
        "weights": {name: round(float(w), 3) for name, w in zip(names, [*weights, OPPOSED], strict=True)},
        "intercept": round(intercept, 3),
    }


def measure_equivalence(rows: list[Answered]) -> list[dict]:
    figures = []
    for name, wrapping in (("answers as they are", WRAPPINGS[0]), ("answers in a sentence", WRAPPINGS[2])):
        texts = [wrapping.format(answer=r.answer, question=r.question) for r in rows]
        ours = equivalence([r.question for r in rows], [r.golds for r in rows], texts)
        f1 = np.array([max(token_f1(t, g) for g in r.golds) for r, t in zip(rows, texts, strict=True)])
        units, labels = [r.question for r in rows], [r.label for r in rows]
        own, peer = with_interval(units, labels, ours, f1)
        figures.append(
            {
                "data": f"natural_questions, EfficientQA human verdicts, held-out half, {name}",
                "n": len(rows),
                "questions": len(set(units)),
                "correct": sum(labels),
                **own,
                "token_f1": peer,
            }
        )
    return figures


# Entailment --------------------------------------------------------------------------------------------------------


def oracle_passages() -> list[Judged]:
    """Question and answer against the passage: right; another name or number of the passage; another question's."""
    items = json_lines(DATA / "natural_questions" / "nq_open_oracle_head400.jsonl")
    mentioned = re.compile(r"(?:[A-Z][\w’'.-]+\s?)+|\d[\d,.]*\d|\d")
    rows = []
    for item in items:
        question, answer, passage = item["question"], item["answers"][0], item["ctxs"][0]["text"]
        dice = rng(SEED, "oracle", question)
        numeric = any(c.isdigit() for c in answer)
        others = [
            m.strip()
            for m in mentioned.findall(passage)
            if any(c.isdigit() for c in m) == numeric
            and len(m.strip()) > 2
            and not {w.lower() for w in words(m)} & {w.lower() for w in [*words(answer), *words(question)]}
        ]
        stranger = items[int(dice.integers(len(items)))]
        rows.append(Judged(question, passage, f"{question} {answer}", 1))
        if others:
            rows.append(Judged(question, passage, f"{question} {others[int(dice.integers(len(others)))]}", 0))
        if stranger is not item:
            rows.append(Judged(question, passage, f"{question} {stranger['answers'][0]}", 0))
            rows.append(Judged(question, stranger["ctxs"][0]["text"], f"{question} {answer}", 0))
    return rows


def claim_matrices() -> list[Judged]:
    """RAGChecker's worked examples: each claim against an answer or a retrieved chunk."""
    rows = []
    for result in json.loads((DATA / "ragchecker" / "checking_outputs.json").read_text("utf-8"))["results"]:
        chunks = [c["text"] for c in result["retrieved_context"]]
        for claims, whole, text, by_chunk in (
            ("response_claims", "answer2response", "gt_answer", "retrieved2response"),
            ("gt_answer_claims", "response2answer", "response", "retrieved2answer"),
        ):
            for claim, label, labels in zip(result[claims], result[whole], result[by_chunk], strict=True):
                pairs = [(result[text], label), *zip(chunks, labels, strict=True)]
                said = " ".join(claim)
                rows += [Judged(f"{result['query_id']} {said}", p, said, int(v == "Entailment")) for p, v in pairs]
    return rows


def grounded_replies() -> list[Judged]:
    """Topical-Chat: does the reply use the given fact?  Human marks, more than half of the annotators."""
    items = json.loads((DATA / "unieval_meta_eval" / "topical_chat_result.json").read_text("utf-8"))
    return [
        Judged(x["source"], x["context"], x["system_output"], int(x["scores"]["groundedness"] > 0.5)) for x in items
    ]


def scores_of(rows: list[Judged]) -> np.ndarray:
    return support.support_scores(support.supports([r.premise for r in rows], [r.claim for r in rows]))


def token_coverage(rows: list[Judged]) -> np.ndarray:
    """Share of the claim's words that stand anywhere in the passage."""
    out = []
    for row in rows:
        held, said = set(words(row.premise, lower=True)), words(row.claim, lower=True)
        out.append(np.mean([w in held for w in said]) if said else 0.0)
    return np.array(out)


def fit_entailment(rows: list[Judged]) -> dict:
    labels = np.array([r.label for r in rows])
    slope, intercept = logistic(scores_of(rows)[:, None], labels)
    return {"slope": round(float(slope[0]), 3), "intercept": round(intercept, 3)}


def measure_entailment() -> list[dict]:
    sets: list[tuple[str, Callable[[], list[Judged]]]] = [
        ("natural_questions, oracle passages with right and swapped answers, held-out half", _held_out_passages),
        ("ragchecker, labelled claims of the worked examples", claim_matrices),
        ("unieval_meta_eval, Topical-Chat, human groundedness", grounded_replies),
    ]
    figures = []
    for name, load in sets:
        rows = load()
        units, labels = [r.unit for r in rows], [r.label for r in rows]
        own, peer = with_interval(units, labels, scores_of(rows), token_coverage(rows))
        verdicts = {"called_supported": called_supported(rows)}
        figures.append(
            {"data": name, "n": len(rows), "entailed": sum(labels), **own, **verdicts, "token_coverage": peer}
        )
    return figures


def _held_out_passages() -> list[Judged]:
    return [r for r in oracle_passages() if not in_first_half(r.unit)]


def called_supported(rows: list[Judged]) -> dict[str, float | int]:
    """The claims that the verdict calls supported: how many, the share that is, and the share of all that are."""
    found = support.entailment([r.premise for r in rows], [r.claim for r in rows])
    called, labels = found.argmax(axis=1) == 0, np.array([r.label for r in rows]) == 1
    right = int((called & labels).sum())
    return {
        "claims": int(called.sum()),
        "right": round(right / max(int(called.sum()), 1), 3),
        "found": round(right / int(labels.sum()), 3),
    }


def conflict_rate(rows: list[Judged]) -> dict[str, float]:
    """How often a sentence seems to say otherwise, where the passage entails the claim and where it does not."""
    fired = np.array(
        [any(s.conflict for s in one) for one in support.supports([r.premise for r in rows], [r.claim for r in rows])]
    )
    labels = np.array([r.label for r in rows])
    return {
        "entailed": round(float(fired[labels == 1].mean()), 3),
        "not_entailed": round(float(fired[labels == 0].mean()), 3),
    }


def main() -> None:
    answered = efficient_qa()
    seen = [r for r in answered if in_first_half(r.question)]
    passages = [r for r in oracle_passages() if in_first_half(r.unit)]
    coefficients = {"equivalence": fit_equivalence(seen), "entailment": fit_entailment(passages)}
    CARD_FILE.write_text(yaml.safe_dump(coefficients, sort_keys=False), "utf-8")
    support.card.cache_clear()
    text = yaml.safe_dump(
        {
            "name": "baseline/lexical",
            "languages": "any; function words of English, Russian and Chinese are known; measured on English only",
            **coefficients,
            "measured": {
                "how": "scripts/card_lexical.py; AUROC with 95 % bootstrap interval, units drawn whole",
                "equivalence": measure_equivalence([r for r in answered if not in_first_half(r.question)]),
                "entailment": measure_entailment(),
                "conflict_seen": conflict_rate(_held_out_passages()),
            },
        },
        sort_keys=False,
        allow_unicode=True,
        width=120,
    )
    CARD_FILE.write_text(f"# Written by scripts/card_lexical.py; do not edit.\n{text}", "utf-8")
    print(text)


if __name__ == "__main__":
    main()
