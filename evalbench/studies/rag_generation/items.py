"""Judged cases to one row per answer, and the finer tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import kit
from evalbench.judge.verdicts import Judgement
from evalbench.metrics import rag
from evalbench.studies.rag_generation import inputs, judged
from evalbench.text.odd_texts import is_error_text
from evalbench.text.words import words

NO_CONTEXTS = "no contexts"
NO_CLAIM = "no claim"
NO_FACT = "no fact"
# Who is at fault for a statement of the answer (right or not, supported or not) and for a fact of the ground truth.
CONFUSION = ("right_supported", "right_unsupported", "wrong_supported", "wrong_unsupported")
FATES = ("stated_carried", "stated_uncarried", "missed_carried", "missed_uncarried")
COUNTS = ("n_statements", "n_supported", "n_facts", "n_carried", "n_contexts", "n_relevant", "n_partial")
Why = tuple[str, str]
"""Why a figure has no value: unscored, undefined."""


def items_of(cases: Sequence[judged.Case], metrics: Sequence[str]) -> pd.DataFrame:
    """One row per answer: the metrics that were computed, their parts, counts, lists of facts, and reasons."""
    return pd.DataFrame([_item(case, metrics) for case in cases])


def _item(case: judged.Case, metrics: Sequence[str]) -> dict[str, Any]:
    answer = case.answer
    parts = [_OF[name](case) for name in inputs.METRICS if name in metrics]
    values = {key: value for scores, _ in parts for key, value in scores.items()}
    why = {name: reasons for name, (_, reasons) in zip([n for n in inputs.METRICS if n in metrics], parts, strict=True)}
    first = {name: values.pop(name) for name in metrics}
    unscored = next((failed for failed, _ in why.values() if failed), "")
    undefined = "" if unscored else "; ".join(dict.fromkeys(lacking for _, lacking in why.values() if lacking))
    return {
        "id": answer.id,
        "model": answer.model,
        "group": answer.group,
        **first,
        "own_context": _own_context(case.answer),
        "error_text": float(is_error_text(answer.text)),
        "noncommittal": math.nan if case.noncommittal is None else float(case.noncommittal),
        **values,
        **_confusion(case, metrics),
        **{f"{name}_{kind}": told for name, both in why.items() for kind, told in zip(_KINDS, both, strict=True)},
        "unscored": unscored,
        "undefined": undefined,
    }


_KINDS = ("unscored", "undefined")


def _own_context(answer: inputs.Answer) -> float:
    """Whether an answer is one of its contexts word for word; NaN without an answer or contexts."""
    if not answer.contexts or not answer.text:
        return math.nan
    return float(words(answer.text) in [words(text) for text in answer.contexts])


def _faithfulness(case: judged.Case) -> tuple[dict[str, Any], Why]:
    found = _verdicts(case.supported)
    why = _why(case, answer=True, contexts=True, of=(case.statements,), said=case.supported)
    if not any(why) and not found.size:
        why = ("", NO_CLAIM)
    known = found if not any(why) else np.empty(0)
    counts = {"n_statements": len(known), "n_supported": known.sum()}
    return {"faithfulness": rag.faithfulness(known), **_unless(why, counts)}, why


def _answer_relevance(case: judged.Case) -> tuple[dict[str, Any], Why]:
    why = (case.answer.unscored or case.relevance_unscored, "")
    silent = not case.questions and not why[0]
    value = 0.0 if silent else rag.answer_relevance(case.cosines)
    return {"answer_relevance": value}, why


def _context_recall(case: judged.Case) -> tuple[dict[str, Any], Why]:
    found = _verdicts(case.carried)
    why = _why(case, truth=True, contexts=True, of=(case.facts,), said=case.carried)
    if not any(why) and not found.size:
        why = ("", NO_FACT)
    known = found if not any(why) else np.empty(0)
    counts = {"n_facts": len(known), "n_carried": known.sum()}
    return {"context_recall": rag.context_recall(known), **_unless(why, counts)}, why


def _context_precision(case: judged.Case) -> tuple[dict[str, Any], Why]:
    why = _why(case, truth=True, contexts=True, of=(case.facts,), said=case.relevant)
    if not any(why) and not case.facts.all:
        why = ("", NO_FACT)
    known = [says.value for says in case.relevant] if not any(why) else []
    counts = {
        "n_contexts": len(known),
        "n_relevant": sum(known),
        "n_partial": sum(says.label == "PARTIALLY_RELEVANT" for says in case.relevant),
    }
    shares = {
        "context_precision": rag.context_precision(known),
        "context_relevant_share": rag.context_relevant_share(known),
    }
    return {**shares, **_unless(why, counts)}, why


def _answer_correctness(case: judged.Case) -> tuple[dict[str, Any], Why]:
    why = _why(case, answer=True, truth=True, of=(case.statements, case.facts), said=case.right)
    if not any(why) and not case.facts.all:
        why = ("", NO_FACT)
    if any(why) or case.pairs is None:
        lists: dict[str, Any] = {"TP": [], "FP": [], "FN": []}
        names = ("answer_correctness", "claim_precision", "claim_recall", "tp", "fp", "fn")
        return {**dict.fromkeys(names, math.nan), **lists}, why
    lists = facts_of(case)
    tp, fp, fn = (len(lists[kind]) for kind in ("TP", "FP", "FN"))
    scores = {
        "answer_correctness": rag.answer_correctness(tp, fp, fn),
        "claim_precision": rag.claim_precision(_verdicts(case.right)),
        "claim_recall": rag.claim_recall([bool(numbers) for numbers in judged.stating(case)]),
        "tp": float(tp),
        "fp": float(fp),
        "fn": float(fn),
    }
    return {**scores, **lists}, why


_OF = dict(
    zip(
        inputs.METRICS,
        (_faithfulness, _answer_relevance, _context_recall, _context_precision, _answer_correctness),
        strict=True,
    )
)


def _verdicts(said: Sequence[Judgement]) -> np.ndarray[Any, Any]:
    """1 and 0, without statements that claim nothing."""
    return np.array([says.value for says in said if says.label != "NO_CLAIM"], dtype=float)


def _why(
    case: judged.Case,
    *,
    of: Sequence[judged.Statements],
    said: Sequence[Judgement],
    answer: bool = False,
    truth: bool = False,
    contexts: bool = False,
) -> Why:
    """Why a metric that needs these has no value."""
    if answer and case.answer.unscored:
        return kit.answers.NO_OUTPUT, ""
    if truth and not case.answer.truth:
        return "", kit.answers.NO_REFERENCE
    if contexts and not case.answer.contexts:
        return "", NO_CONTEXTS
    failed = [part.unscored for part in of if part.unscored] + [says.unscored for says in said if says.unscored]
    return (failed[0] if failed else ""), ""


def _unless(why: Why, counts: Mapping[str, float]) -> dict[str, float]:
    return {name: math.nan if any(why) else float(n) for name, n in counts.items()}


def facts_of(case: judged.Case) -> dict[str, list[str]]:
    """The facts of a paired case as lists: TP and FP in the answer's words, FN in the ground truth's."""
    pairs = case.pairs
    if pairs is None:
        return {"TP": [], "FP": [], "FN": []}
    own = [
        (statement.text, partner)
        for statement, says, partner in zip(case.statements.all, case.right, pairs.answer, strict=True)
        if says.label != "NO_CLAIM"
    ]
    return {
        "TP": [text for text, partner in own if partner >= 0],
        "FP": [text for text, partner in own if partner < 0],
        "FN": [fact.text for fact, partner in zip(case.facts.all, pairs.truth, strict=True) if partner < 0],
    }


def _confusion(case: judged.Case, metrics: Sequence[str]) -> dict[str, float]:
    """How many statements are right or not and supported or not, and what became of the facts; NaN where one is not known."""
    out: dict[str, float] = {}
    if {"faithfulness", "answer_correctness"} <= set(metrics):
        both = [
            (right.value == 1, supported.value == 1)
            for right, supported in zip(case.right, case.supported, strict=False)
            if "NO_CLAIM" not in (right.label, supported.label)
        ]
        known = case.pairs is not None and not any(says.unscored for says in case.supported) and bool(case.supported)
        kinds = [CONFUSION[2 * (not right) + (not supported)] for right, supported in both]
        out |= _counted(kinds, CONFUSION, "n_claims", known=known and bool(both))
    if {"context_recall", "answer_correctness"} <= set(metrics):
        known = case.pairs is not None and not any(says.unscored for says in case.carried) and bool(case.carried)
        said = zip(judged.stating(case), case.carried, strict=False)
        kinds = [FATES[2 * (not here) + (says.value != 1)] for here, says in said if says.label != "NO_CLAIM"]
        out |= _counted(kinds, FATES, "n_truths", known=known and bool(kinds))
    return out


def _counted(kinds: Sequence[str], names: Sequence[str], total: str, *, known: bool) -> dict[str, float]:
    counts = {f"n_{name}": float(kinds.count(name)) for name in names} | {total: float(len(kinds))}
    return counts if known else dict.fromkeys(counts, math.nan)


def confusion_of(items: pd.DataFrame) -> pd.DataFrame:
    """How many claims and facts of each model are of which kind; kinds that were not judged are left out."""
    names = [f"n_{name}" for name in (*CONFUSION, *FATES) if f"n_{name}" in items]
    counts = items.groupby("model", sort=True)[names].sum(min_count=1)
    return counts.rename(columns=lambda name: name.removeprefix("n_")).reset_index()


# -- the finer tables ---------------------------------------------------------------------------------


def tables_of(cases: Sequence[judged.Case], metrics: Sequence[str]) -> dict[str, pd.DataFrame]:
    """``statements``, ``facts``, ``contexts``, ``questions``, ``correctness`` and ``texts``, in the order of the cases."""
    found = {
        "statements": _frame(cases, _statement_rows, _STATEMENTS),
        "facts": _frame(cases, _fact_rows, _FACTS),
        "contexts": _frame(cases, _context_rows, _CONTEXTS),
        "questions": _frame(cases, _question_rows, _QUESTIONS),
        "correctness": _frame(cases, _correctness_rows, _CORRECTNESS),
        "texts": _frame(cases, _text_rows, _TEXTS),
    }
    needs = {"questions": "answer_relevance", "correctness": "answer_correctness"}
    return {name: table for name, table in found.items() if needs.get(name, metrics[0]) in metrics}


_VERDICT = ("label", "reason", "unscored", "detail")
_STATEMENTS = {
    "str": "statement support_label support_reason support_unscored support_detail supporting truth_label truth_reason "
    "truth_unscored truth_detail stating",
    "int": "n sentence pair",
}
_FACTS = {
    "str": "fact carried_label carried_reason carried_unscored carried_detail carrying stated_by",
    "int": "n sentence pair",
}
_CONTEXTS = {"str": "context label reason unscored detail", "int": "rank", "float": "relevant precision_at_k"}
_QUESTIONS = {"str": "kind question", "int": "n", "float": "cosine", "object": "embedding"}
_CORRECTNESS = {"str": "facts result"}
_TEXTS = {"str": "lang group question reference", "int": "n_contexts"}


def _frame(cases: Sequence[judged.Case], rows: Any, types: Mapping[str, str]) -> pd.DataFrame:
    listed = [{"id": c.answer.id, "model": c.answer.model, **row} for c in cases for row in rows(c)]
    kinds = {name: kind for kind, names in types.items() for name in names.split()}
    if not listed:
        listed_columns = [*inputs.KEYS, *kinds]
        return pd.DataFrame(columns=listed_columns).astype({**dict.fromkeys(inputs.KEYS, "str"), **kinds})
    return pd.DataFrame(listed).astype(kinds)


def _verdict(said: Sequence[Judgement], i: int, name: str) -> dict[str, str]:
    says = said[i] if i < len(said) else Judgement(id="")
    return {f"{name}_{key}": getattr(says, key) for key in _VERDICT}


def _numbers(said: Sequence[Judgement], i: int) -> str:
    """The numbers that a verdict of support names."""
    if i >= len(said) or said[i].label != "SUPPORTED":
        return ""
    return ", ".join(map(str, dict.fromkeys(said[i].parts["passages"])))


def _statement_rows(case: judged.Case) -> list[dict[str, Any]]:
    return [
        {
            "n": i + 1,
            "sentence": statement.sentence,
            "statement": statement.text,
            **_verdict(case.supported, i, "support"),
            "supporting": _numbers(case.supported, i),
            **_verdict(case.right, i, "truth"),
            "stating": _numbers(case.right, i),
            "pair": 0 if case.pairs is None else int(case.pairs.answer[i]) + 1,
        }
        for i, statement in enumerate(case.statements.all)
    ]


def _fact_rows(case: judged.Case) -> list[dict[str, Any]]:
    return [
        {
            "n": i + 1,
            "sentence": fact.sentence,
            "fact": fact.text,
            **_verdict(case.carried, i, "carried"),
            "carrying": _numbers(case.carried, i),
            "stated_by": ", ".join(map(str, numbers)),
            "pair": 0 if case.pairs is None else int(case.pairs.truth[i]) + 1,
        }
        for i, (fact, numbers) in enumerate(zip(case.facts.all, judged.stating(case), strict=True))
    ]


def _context_rows(case: judged.Case) -> list[dict[str, Any]]:
    values = [says.value for says in case.relevant] or [math.nan] * len(case.answer.contexts)
    shown = case.relevant or [Judgement(id="")] * len(case.answer.contexts)
    return [
        {
            "rank": k + 1,
            "context": text,
            **{key: getattr(says, key) for key in _VERDICT},
            "relevant": says.value,
            "precision_at_k": precision,
        }
        for k, (text, says, precision) in enumerate(
            zip(case.answer.contexts, shown, rag.precisions(values) if values else (), strict=True)
        )
    ]


def _question_rows(case: judged.Case) -> list[dict[str, Any]]:
    """The question that was asked first, then those that the judge wrote, each with its embedding."""
    if not case.questions:
        return []
    texts = [("asked", case.answer.question, math.nan)]
    texts += [("written", text, cosine) for text, cosine in zip(case.questions, case.cosines, strict=True)]
    return [
        {"n": n, "kind": kind, "question": text, "cosine": cosine, "embedding": vector.astype(np.float32).tolist()}
        for n, ((kind, text, cosine), vector) in enumerate(zip(texts, case.vectors, strict=True))
    ]


def _correctness_rows(case: judged.Case) -> list[dict[str, Any]]:
    if case.pairs is None:
        return []
    lists, scored = rag.correctness_objects(*(facts_of(case)[kind] for kind in ("TP", "FP", "FN")))
    return [{"facts": lists, "result": scored}]


def _text_rows(case: judged.Case) -> list[dict[str, Any]]:
    answer = case.answer
    return [
        {
            "lang": answer.lang,
            "group": answer.group,
            "question": answer.question,
            "answer": answer.text,
            "reference": answer.truth,
            "n_contexts": len(answer.contexts),
        }
    ]
