"""How it was computed, and what a reader should know besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.studies.cascade import bases, facts, naive_checks, pairs, people, stages, state, summary
from evalbench.studies.cascade.items import UNDECIDED, saved_in_all
from evalbench.text.odd_texts import odd_text_notes


def described(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The rules of the stages in force."""
    one_fails = "decides for the other answer" if options["naive"] == "decide" else "sets the question aside"
    criteria = ", ".join(options["criteria"]) or "none"
    return (
        "Thirteen stages in the order of the method document handbook (docs/methods.md); each takes the questions that are still undecided, "
        "and is left out, with its reason, where what it needs is missing. Advantage of A = (questions won − questions lost) / questions decided.",
        f"1: an answer fails that is empty, a refusal, in another script than its question, repeats itself (more than {naive_checks.REPEATED:.0%} of its runs of "
        f"four words, from {naive_checks.LEAST_REPEATED} words on), or misses the length, pattern or form that was set; one that fails {one_fails}.",
        f"2: answers of equal words, or with a similarity of {options['same_from']:g} or more ({options['embed']}) and the same numbers, are ties. If fewer than "
        f"{core.percent(options['margin'])} of all questions are left without a tie by then, parity is declared and nobody is asked.",
        f"3: questions with a similarity of {options['duplicates_from']:g} or more are duplicates; people's marks of an answer hold for an answer to a duplicate that says "
        "the same. Duplicates whose labels differ go on.",
        f"4 and 8: criteria {criteria}; G-Eval (Liu et al. 2023), marks weighted by probability, or the mean of {core.counted(options['geval_samples'], 'sample')} where the endpoint has none; or a decision "
        "graph. An answer is better that has a higher mark by one criterion and by none a lower one; equal marks go on.",
        f"5 to 7: each answer is right, partly right or wrong, by {options['truth_by']}; one right and one wrong decides, two of a kind are a tie, partly right goes on.",
        "9: both orders of showing; a winner is one that both orders name, anything else goes on (Zheng et al. 2023).",
        f"10: answers to duplicates are ranked together, in all orders up to four answers, else in {options['n_orders']}; one that is before the other in {pairs.MAJORITY:.0%} of them is better.",
        "11: an answer without a must-have fact is incomplete, one with a claim beside them unreliable; fewer of both is better, and two answers that are neither are a tie.",
        f"12: up to {options['n_questions']} closed questions to each answer, answered by another model; decided from a difference of {facts.LEAST_GAP:g} in agreement on.",
        f"13: what annotators said in the table that came back, else the labels at hand. The rest is in {people.TO_LABEL}.",
        f"From stage 5 to 12 a stage that agrees with people's labels on less than {core.percent(options['min_agreement'])} of {stages.LEAST_LABELLED} or more labelled questions hands all its questions on. Labels serve as ground truth at 5 where "
        f"the whole interval of their alpha, over {core.stats.FEW_UNITS} questions or more, is at least {options['agreement_as_truth']:g}.",
        "p: permutation test that swaps the two answers of a question; intervals resample questions. Light stability uses the test's normal approximation. Calls saved: two a decided question, "
        "less those that the stage made.",
        "Quality: the mean of what the deciding (or last) stage said of each answer by itself, 0–1, over the questions of which both answers have such a mark: stages with different instruments, and not a random part of the questions.",
    )


def notes(
    items: pd.DataFrame,
    cases: Sequence[state.Case],
    course: stages.Course,
    hand: Mapping[str, str],
    options: Mapping[str, Any],
    agreed: core.stats.Measured,
    trusted: kit.evidence.Gate,
) -> list[str]:
    """What was missing, contradicted, handed on or left open."""
    out = kit.answers.remarks(items)
    for side, texts in (("A", [case.a for case in cases]), ("B", [case.b for case in cases])):
        for note in odd_text_notes(texts, kit.MAX_UNSCORED):
            ranked = core.Note(note.kind, f"of {side} {note.short}") if isinstance(note, core.Note) else None
            out.append(ranked or f"{side}: {note}")
    names = summary.names_of(items)
    if names != ("A", "B"):
        out.append(f"A is {names.a}, B is {names.b}.")
    if lacking := bases.missing(hand):
        out.append(f"Must-haves of the method document that are missing: {', '.join(lacking)}.")
    if agreed.value is not None:
        use = "serve as ground truth" if trusted.allowed else "check the stages and decide last"
        said = f"Annotators agree with alpha {agreed.value:.2f} {trusted.basis}: their labels {use}."
        refused = agreed.value >= options["agreement_as_truth"] and not trusted.allowed
        short = f"labels do not serve as ground truth: {trusted.why_not}"
        out.append(core.notes.Note("labels", short, f"{said} {short}.") if refused else said)
    if few := bases.of_few(hand, cases):
        out.append(f"Bases of fewer than {core.stats.FEW_UNITS} questions: {', '.join(few)}.")
    if course.escalated:
        out.append(course.escalated.sentence())
    if course.parity:
        out.append(
            f"Parity after stage 2: the answers differ on fewer than {core.percent(options['margin'])} of the questions."
        )
    for a in course.accounts:
        if a.looked and a.why:
            said = f"Stage {a.number}, {a.title}: {a.why}"
            unsure = a.agreement is not None and a.decided > 0 and a.labelled < stages.LEAST_LABELLED
            out.append(core.notes.Note("labels", said) if unsure else f"{said}.")
    suspects = sum(bool(case.suspect) for case in cases)
    if suspects:
        out.append(f"Questions that a pipeline classified wrongly, so that its answer is suspect: {suspects}.")
    open_ones = int((items["undefined"] == UNDECIDED).sum())
    unasked = any(account.why == stages.NO_STRONG for account in course.accounts)
    if open_ones:
        out.append(
            f"Undecided: {open_ones} of {len(items)}; {people.TO_LABEL} has them side by side. Filled in, it is read by -p annotated={people.TO_LABEL}."
            + (" A judge of pairs could decide of them too: -p strong=MODEL." if unasked else "")
        )
    both_failed = int((items["label"] == naive_checks.BOTH_FAILED).sum())
    if both_failed:
        out.append(f"Ties because both answers failed a naive check: {both_failed}.")
    made, whole = saved_in_all(course)
    if made:
        out.append(f"Calls: {made}; every pair in both orders would take {whole}.")
    return out
