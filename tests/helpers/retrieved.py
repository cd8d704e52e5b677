"""Answers from retrieved contexts and a scripted judge of them, a fake: it compares words and numbers by fixed rules."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from evalbench import load, rag_generation
from evalbench.core.result import Result

TRUTH = "The permit costs 80 crowns. The permit is valid for two years."
SOURCE = "Article 12. The permit costs 80 crowns. The permit is valid for two years. The permit is blue."
BESIDE = "Article 13. Permits are shown at the door."
OTHER = "Article 3. Dogs bathe at two beaches."
EVASIVE = "I do not know."
CLEAN: dict[str, Any] = {
    "id": "q1",
    "question": "What does the permit cost, and how long is it valid?",
    "answer": TRUTH,
    "contexts": [SOURCE, BESIDE, OTHER],
    "reference": TRUTH,
}
_EMPTY = {"the", "a", "is", "are", "for", "at", "of", "and", "in"}


def told(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - _EMPTY


def scripted_judge(item: dict[str, Any]) -> Any:
    """A fake: a passage supports a statement whose words it has; other numbers beside the same words contradict it."""
    if "sentences" in item:
        return {"claims": [{"sentence": n, "claim": s} for n, s in enumerate(item["sentences"], 1) if s != EVASIVE]}
    if "statement" in item:
        words = told(item["statement"])
        if item["statement"] == EVASIVE:
            return {"label": "NO_CLAIM", "reason": "it says nothing", "passages": []}
        carrying = [k for k, passage in enumerate(item["passages"], 1) if words <= told(passage)]
        without = {word for word in words if not word.isdigit()}
        against = words != without and any(without <= told(passage) for passage in item["passages"])
        label = "SUPPORTED" if carrying else "CONTRADICTED" if against else "NOT_SUPPORTED"
        return {"label": label, "reason": f"{len(carrying)} passages have its words", "passages": carrying}
    if "passage" in item:
        whole = any(told(fact) <= told(item["passage"]) for fact in item["facts"])
        about = {word.rstrip("s") for word in told(item["passage"])} & {w.rstrip("s") for w in told(item["facts"][0])}
        return {"label": "RELEVANT" if whole else "PARTIALLY_RELEVANT" if about else "IRRELEVANT", "reason": "words"}
    evasive = item["answer"] == EVASIVE
    about = "anything" if evasive else "the permit" if "permit" in item["answer"] else "something else"
    return {"questions": [f"What holds for {about}, {n}?" for n in "abc"], "noncommittal": evasive}


def judged(*rows: dict[str, Any], judge: Any = scripted_judge, **options: Any) -> Result:
    """The study on rows that differ from the clean answer as stated, with the scripted judge and few resamples."""
    table = pd.DataFrame([{**CLEAN, "id": f"q{n}", **row} for n, row in enumerate(rows or ({},), 1)])
    return rag_generation.evaluate(
        load({"answers": table}, study="rag_generation"), judge=judge, **{"n_resamples": 50, **options}
    )


WITHOUT_QUESTIONS = ["faithfulness", "context_recall", "context_precision", "answer_correctness"]
FIGURES = (
    *("faithfulness", "answer_relevance", "context_recall", "context_precision", "answer_correctness"),
    *("context_relevant_share", "claim_precision", "claim_recall", "noncommittal"),
)


def row(**changed: Any) -> dict[str, Any]:
    """The figures of one answer, as the scripted judge gives them."""
    return judged(changed).items.iloc[0].to_dict()


def moved(**changed: Any) -> dict[str, float]:
    """The figures that are not those of the clean answer."""
    clean, now = row(), row(**changed)
    same = {name: clean[name] == now[name] or clean[name] != clean[name] for name in FIGURES}
    return {name: now[name] for name in FIGURES if not same[name]}
