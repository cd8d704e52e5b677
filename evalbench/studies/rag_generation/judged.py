"""Everything that the judge is asked, in rounds: statements, their support, the contexts' relevance, questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from evalbench import core, errors, kit
from evalbench.judge import rag
from evalbench.judge.verdicts import Judgement
from evalbench.metrics.rag import Paired, paired
from evalbench.studies.rag_generation import inputs
from evalbench.text.refusals import is_noncommittal
from evalbench.text.sentences import sentences

OUT_OF_RANGE = "it names a {what} that was not shown"
NOT_NAMED = "it does not say which fact of the ground truth"


class Statement(NamedTuple):
    """A sentence or a claim, and the number of its sentence."""

    sentence: int
    text: str


class Statements(NamedTuple):
    """The statements of a text, or why it could not be split."""

    all: tuple[Statement, ...]
    unscored: str = ""


_NONE = Statements(())


@dataclass
class Case:
    """What was found out about one answer; empty where it was not asked.

    - ``statements``, ``facts``: Of the answer and of the ground truth.
    - ``supported``, ``right``, ``carried``: A statement against the contexts and against the facts; a fact against the
      contexts.
    - ``relevant``: Of each context.
    - ``questions``: What the judge wrote from the answer.
    - ``vectors``: Of the question that was asked, then of the written ones.
    - ``relevance_unscored``: Why there are no questions or no cosines.
    - ``pairs``: Statements and facts one to one.
    """

    answer: inputs.Answer
    statements: Statements = _NONE
    facts: Statements = _NONE
    supported: list[Judgement] = field(default_factory=list)
    right: list[Judgement] = field(default_factory=list)
    carried: list[Judgement] = field(default_factory=list)
    relevant: list[Judgement] = field(default_factory=list)
    questions: tuple[str, ...] = ()
    cosines: tuple[float, ...] = ()
    vectors: Any = None
    noncommittal: bool | None = None
    relevance_unscored: str = ""
    pairs: Paired | None = None
    pairs_unscored: str = ""


def cases_of(
    answers: Sequence[inputs.Answer],
    docket: kit.judging.Docket,
    metrics: Sequence[str],
    *,
    split: str,
    n_questions: int,
) -> list[Case]:
    """Ask the judge what these metrics need, each distinct question once.

    - ``split`` ({"sentences", "claims"})

    Returns: In the order of the answers; the cosines are not known yet, see :func:`compared`.
    """
    wanted, cases = set(metrics), [Case(answer) for answer in answers]
    told = [case for case in cases if case.answer.text is not None]
    held = [case for case in cases if case.answer.truth]
    if wanted & {"faithfulness", "answer_correctness"}:
        core.progress.at("splitting answers")
        found = _split(told, [case.answer.text or "" for case in told], docket, split)
        for case, statements in zip(told, found, strict=True):
            case.statements = statements
    if wanted & {"context_recall", "context_precision", "answer_correctness"}:
        for case, facts in zip(held, _split(held, [case.answer.truth for case in held], docket, split), strict=True):
            case.facts = facts
    if "faithfulness" in wanted:
        core.progress.at("statements against contexts")
        for case, found_ in zip(
            told, _supported([(c, c.statements, c.answer.contexts) for c in told], docket), strict=True
        ):
            case.supported = found_
    if "answer_correctness" in wanted:
        both = [case for case in told if case.answer.truth]
        asked = [(case, case.statements, [fact.text for fact in case.facts.all]) for case in both]
        core.progress.at("statements against the ground truth")
        for case, found_ in zip(both, _supported(asked, docket, "fact"), strict=True):
            case.right = found_
            _pair(case)
    if "context_recall" in wanted:
        core.progress.at("the ground truth against contexts")
        for case, found_ in zip(held, _supported([(c, c.facts, c.answer.contexts) for c in held], docket), strict=True):
            case.carried = found_
    if "context_precision" in wanted:
        core.progress.at("the relevance of contexts")
        _relevance([case for case in held if case.facts.all], docket)
    if "answer_relevance" in wanted:
        core.progress.at("questions from answers")
        _questions(told, docket, n_questions)
    else:
        for case in told:
            case.noncommittal = not (case.answer.text or "").strip() or is_noncommittal(case.answer.text or "")
    return cases


def _split(cases: Sequence[Case], texts: Sequence[str], docket: kit.judging.Docket, split: str) -> list[Statements]:
    cut = [sentences(text, case.answer.lang) for case, text in zip(cases, texts, strict=True)]
    if split == "sentences":
        return [Statements(tuple(Statement(i, text) for i, text in enumerate(parts, 1))) for parts in cut]
    spoken = [i for i, parts in enumerate(cut) if parts]
    asked = [
        kit.judging.Question(
            {"question": cases[i].answer.question, "sentences": cut[i]}, cases[i].answer.lang, unit=cases[i].answer.id
        )
        for i in spoken
    ]
    out = [Statements(())] * len(cases)
    for i, says in zip(spoken, docket.ask(rag.CLAIMS, asked), strict=True):
        claims = says.parts.get("claims", ())
        strange = any(not 1 <= claim["sentence"] <= len(cut[i]) for claim in claims)
        found = [Statement(claim["sentence"], claim["claim"].strip()) for claim in claims if claim["claim"].strip()]
        out[i] = Statements((), "unparsed") if strange else Statements(tuple(found), says.unscored)
    return out


def _supported(
    asked: Sequence[tuple[Case, Statements, Sequence[str]]], docket: kit.judging.Docket, what: str = "passage"
) -> list[list[Judgement]]:
    """A judgement per statement of each case; none where there is nothing to support it."""
    questions = [
        kit.judging.Question(
            rag.support_fields(passages, statement.text, case.answer.question, facts=what == "fact"),
            case.answer.lang,
            unit=case.answer.id,
        )
        for case, statements, passages in asked
        if passages
        for statement in statements.all
    ]
    said = iter(docket.ask(rag.SUPPORT, questions))
    return [
        [_sound(next(said), len(passages), what) for _ in statements.all] if passages else []
        for _, statements, passages in asked
    ]


def _sound(says: Judgement, n: int, what: str) -> Judgement:
    """The judgement, unparsed where it rests on what was not shown."""
    if says.label != "SUPPORTED" or all(1 <= number <= n for number in says.parts["passages"]):
        return says
    return Judgement(id=says.id, reason=says.reason, unscored="unparsed", detail=OUT_OF_RANGE.format(what=what))


def _pair(case: Case) -> None:
    """Statements and facts one to one; a statement of no claim is none of the answer's facts."""
    n = len(case.facts.all)
    if case.statements.unscored or case.facts.unscored or not n:
        case.pairs_unscored = case.statements.unscored or case.facts.unscored
        return
    same = np.zeros((len(case.right), n), dtype=bool)
    for i, says in enumerate(case.right):
        if says.label == "SUPPORTED":
            named = says.parts["passages"] or [1] * (n == 1)
            same[i, [number - 1 for number in named]] = True
            if not named:
                case.right[i] = replace(says, label="", value=np.nan, unscored="unparsed", detail=NOT_NAMED)
    case.pairs_unscored = next((says.unscored for says in case.right if says.unscored), "")
    if not case.pairs_unscored:
        case.pairs = paired(same)


def stating(case: Case) -> list[list[int]]:
    """For each fact of the ground truth the numbers of the statements that state it."""
    found: list[list[int]] = [[] for _ in case.facts.all]
    for i, says in enumerate(case.right, 1):
        if says.label == "SUPPORTED":
            for number in dict.fromkeys(says.parts["passages"] or [1]):
                found[number - 1].append(i)
    return found


def _relevance(cases: Sequence[Case], docket: kit.judging.Docket) -> None:
    questions = [
        kit.judging.Question(
            {"question": case.answer.question, "facts": [fact.text for fact in case.facts.all], "passage": passage},
            case.answer.lang,
            unit=case.answer.id,
        )
        for case in cases
        for passage in case.answer.contexts
        if passage.strip()
    ]
    said = iter(docket.ask(rag.RELEVANCE, questions))
    empty = Judgement(id="", label="IRRELEVANT", value=0.0, reason="the context is empty")
    for case in cases:
        case.relevant = [next(said) if passage.strip() else empty for passage in case.answer.contexts]


def _questions(cases: Sequence[Case], docket: kit.judging.Docket, n: int) -> None:
    """An empty answer answers no question, and evades every one."""
    spoken = [case for case in cases if (case.answer.text or "").strip()]
    asked = [
        kit.judging.Question({"answer": case.answer.text or ""}, case.answer.lang, unit=case.answer.id)
        for case in spoken
    ]
    for case in cases:
        case.noncommittal = True
    for case, says in zip(spoken, docket.ask(rag.questions(n), asked), strict=True):
        case.relevance_unscored = says.unscored
        case.noncommittal = None if says.unscored else says.parts["noncommittal"]
        case.questions = tuple(says.parts.get("questions", ()))


def compared(cases: Sequence[Case], embed: str) -> list[str]:
    """The cosine of each written question with the one that was asked; notes, where the model is not at hand."""
    from evalbench.models.similarity import embed as similarity

    asking = [case for case in cases if case.questions]
    texts = [text for case in asking for text in (case.answer.question, *case.questions)]
    if not texts:
        return []
    try:
        vectors = similarity.embed(texts, embed)
    except errors.ModelUnavailable as error:
        for case in asking:
            case.relevance_unscored, case.questions = "not-installed", ()
        return [f"answer_relevance is unscored: {error}"]
    start = 0
    for case in asking:
        case.vectors = vectors[start : start + 1 + len(case.questions)]
        start += len(case.vectors)
        own = np.asarray(case.vectors, dtype=float)
        case.cosines = tuple(np.clip(own[1:] @ own[0], -1, 1).tolist())
    return [note] if (note := similarity.language_warning(similarity.card_of(embed), texts)) else []
