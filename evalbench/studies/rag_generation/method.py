"""What a result says of its method, and the notes on what was judged."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evalbench import core, kit
from evalbench.judge.entail import holds_back
from evalbench.studies.rag_generation import inputs, judged
from evalbench.text.odd_texts import LEAST, ONE_TEXT_FROM, odd_text_notes
from evalbench.text.sentences import splitter


def counted(cases: Sequence[judged.Case]) -> dict[str, Any]:
    """What :func:`notes` counts of all answers."""
    given = [case.answer.contexts for case in cases if case.answer.contexts]
    return {
        "answers": len(cases),
        "without contexts": len(cases) - len(given),
        "same contexts": dict(Counter(map(_digest, given)).most_common(_MOST_CONTEXTS)),
        "without a passage": sum(
            says.label == "SUPPORTED" and not says.parts["passages"]
            for case in cases
            for says in (*case.supported, *case.carried)
        ),
        "no claim": sum(says.label == "NO_CLAIM" for case in cases for says in case.supported),
        "crowded": sum(
            bool(numbers and partner < 0)
            for case in cases
            if case.pairs is not None
            for numbers, partner in zip(judged.stating(case), case.pairs.truth, strict=True)
        ),
        "languages": dict(Counter(case.answer.lang for case in cases)),
    }


_MOST_CONTEXTS = 1000
"""So many lists of contexts of each part are counted, the most frequent: one that nearly all answers have is among them."""


def _digest(contexts: Sequence[str]) -> str:
    return hashlib.blake2b("\x1f".join(contexts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def notes(made: kit.parts.Made, items: Any, options: Mapping[str, Any]) -> list[str]:
    """What a reader should know of this run's answers and verdicts."""
    n = made.sums
    without, idle, crowded, unnamed = (
        n[name] for name in ("without contexts", "no claim", "crowded", "without a passage")
    )
    finer = "" if options["split"] == "claims" else "; split=claims would part them, with a judge that writes"
    said = (
        (
            without,
            f"Answers without contexts (none recorded, or nothing retrieved): {without} of {n['answers']}. Faithfulness and "
            "the metrics of contexts are undefined there.",
        ),
        (
            idle,
            f"Statements that claim nothing (a greeting, a question, words that the answer is not known), left out: {idle}.",
        ),
        (
            crowded,
            f"Facts that an answer states in one statement with another fact, so that one of them has no partner and counts as FN: {crowded}{finer}.",
        ),
        (unnamed, f"Verdicts of support for which the judge named no passage: {unnamed}."),
    )
    cutters = sorted({f"{splitter(lang)} ({lang})" for lang in n["languages"]})
    before = "The verdicts came with the data set (table verdicts): no judge was asked in this run."
    given = [before] if options["judge"] == kit.judging.OWN_TABLE else []
    noun = "sampled answer" if made.is_sample else "answer"
    written = odd_text_notes(made.sampled["answer"], options["max_unscored"], noun)
    return [
        *given,
        *written,
        *_odd_contexts(n, items),
        *kit.answers.remarks(items),
        *(text for holds, text in said if holds),
        f"Sentences were cut by {', '.join(cutters)}.",
    ]


def _odd_contexts(n: Mapping[str, Any], items: Any) -> list[core.Note]:
    """Contexts that are the same for nearly all answers, and answers that are one of their own contexts."""
    given = n["answers"] - n["without contexts"]
    if given < LEAST:
        return []
    notes, of, most = [], core.counted(given, "answer"), max(n["same contexts"].values())
    if most >= ONE_TEXT_FROM * given:
        notes.append(core.Note("mixed", f"{most} of {of} have the same contexts"))
    own = int(items["own_context"].sum())
    if own > given / 2:
        notes.append(
            core.Note("instrument", f"{own} of {of} are one of their contexts word for word, which supports itself")
        )
    return notes


def judge_words(judge: str) -> str:
    """Who judged, in words."""
    return "the verdicts that came with the data set" if judge == kit.judging.OWN_TABLE else judge


def described(options: Mapping[str, Any]) -> tuple[str, ...]:
    """How every figure is computed, with its source."""
    judge, n = options["judge"], options["n_questions"]
    compares = inputs.only_compares(judge)
    claims = options["split"] == "claims"
    light = "a light that rests on it is at best grey"
    if not options["lights"]:
        light = f"there is no light, since no thresholds are set; with them {light}"
    blind = f" It never says contradicted; {light}." if holds_back(judge) else ""
    lines = {
        "": (
            f"Texts are split into {options['split']}{', by the judge' if claims else ''}; each is one statement of an "
            "answer, or one fact of a ground truth. A statement that claims nothing counts nowhere. Judged by "
            f"{judge_words(judge)}.{blind}"
        ),
        "faithfulness": (
            "Faithfulness = statements that the contexts support / all statements. What an answer leaves out does not "
            "lower it. An answer that states nothing has no value."
        ),
        "noncommittal": (
            "Non-committal answers: those that say that the answer is not known, decline, or are nothing but nan or None, "
            "by words."
        ),
        "answer_relevance": (
            f"Answer relevance = mean cosine ({options['embed']}) of the question with {n} questions that the judge "
            "writes from the answer without seeing the question. Non-committal answers are flagged and keep their value; an "
            "empty answer has 0."
        ),
        "context_recall": (
            "Context recall = facts of the ground truth that can be attributed to the contexts / all facts."
        ),
        "context_precision": (
            "Context precision = Σ precision@k · v_k / relevant contexts, k = 1 … all; 1 where the relevant ones come "
            "first, 0 where none is relevant. "
            + (
                "A context is relevant if it entails a fact of the ground truth."
                if compares
                else "v_k is 1 for a relevant context; a partially relevant one counts 0."
            )
            + " Relevant share: the same verdicts without their ranks (RAGChecker's context precision)."
        ),
        "answer_correctness": (
            "Answer correctness = TP / (TP + ½(FP + FN)): statements and facts are paired one to one, as many as possible; TP are "
            "pairs, FP statements alone, FN facts alone. Claim precision = statements that the ground truth states / all; "
            "claim recall = facts that a statement states / all, without pairing (RAGChecker asks the second the other way round, each "
            "fact against the whole answer)."
        ),
        "invented": (
            "Claims invented: neither stated by the ground truth nor supported by the contexts, of all claims with both "
            "verdicts (RAGChecker: hallucination). A true detail that the ground truth leaves out counts too. Facts lost by the retriever: neither "
            "in the answer nor in the contexts."
        ),
    }
    by_words = [] if "answer_relevance" in options["metrics"] else ["noncommittal"]
    computed = {
        "",
        *options["metrics"],
        *by_words,
        *(["invented"] if "answer_correctness" in options["metrics"] else []),
    }
    order = ("", *inputs.METRICS, "noncommittal", "invented")
    sources = (
        "Formulas: ragnotes (docs/methods.md); Es et al. 2024, RAGAS; Ru et al. 2024, RAGChecker. Means are over answers, "
        "intervals resample questions."
    )
    return (*(lines[name] for name in order if name in computed), sources)
