"""Is a short answer stated by a text, in view of the question that both answer?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import regex

from evalbench.core.arrays import Floats
from evalbench.judge.lexical.alignment import denied_words, fold, function_words, match_matrix, terms, values
from evalbench.judge.lexical.equivalence import equivalence
from evalbench.judge.lexical.support import LEFT_BY_CONFLICT, entailment
from evalbench.text.fragments import is_fragment
from evalbench.text.sentences import sentences
from evalbench.text.words import words

_YES = frozenset(["yes", "yeah", "ja", "oui", "si", "sí", "да", "是", "是的"])
_NO = frozenset(["no", "nope", "nein", "non", "нет", "не", "否", "不", "不是"])
_HEDGE = regex.compile(r"\b(?:or|oder|ou|или|либо)\b|或", regex.IGNORECASE)


def in_view(questions: Sequence[str], passages: Sequence[str], statements: Sequence[str]) -> Floats:
    """Probability that each passage supports its statement, one of which is a fragment that answers the question.

    Of two short texts whether they are the same answer, by :func:`equivalence`; a fragment against a longer passage
    is made a claim with the words of its question, and all of its own words must be there.  Another number, name or
    answer, and a denial that question and reference lack, speak against it.

    Examples
    --------
    >>> in_view(["Capital of Italy?"] * 2, ["Rome"] * 2, ["It is Rome.", "It is Milan."]).round(1).tolist()
    [1.0, 0.1]
    """
    out = np.zeros(len(questions))
    short = [is_fragment(p) or len(sentences(p)) < 2 for p in passages]
    same = [i for i, one in enumerate(short) if one]
    if same:
        out[same] = equivalence(
            [questions[i] for i in same], [[passages[i]] for i in same], [statements[i] for i in same]
        )
    long = [i for i, one in enumerate(short) if not one]
    if long:
        claims = [f"{questions[i].rstrip('?？ ')} {statements[i]}" for i in long]
        out[long] = entailment([passages[i] for i in long], claims)[:, 0]
    for i, (question, passage, statement) in enumerate(zip(questions, passages, statements, strict=True)):
        verdict = _yes_or_no(passage, statement) if short[i] else None
        if verdict is not None:
            out[i] = verdict
        elif _says_otherwise(question, passage, statement) if short[i] else not _held(statement, passage):
            out[i] *= LEFT_BY_CONFLICT
    return out


def same_answer(questions: Sequence[str], golds: Sequence[Sequence[str]], answers: Sequence[str]) -> Floats:
    """Probability that each answer is the same as one of its gold answers, of which fragments are held to :func:`in_view`.

    Examples
    --------
    >>> said = ["It is Rome.", "Rome, Milan or Turin."]
    >>> same_answer(["Capital of Italy?"] * 2, [["Rome"]] * 2, said).round(1).tolist()
    [1.0, 0.3]
    """
    out = equivalence(questions, golds, answers)
    asked = [(i, gold) for i, of_item in enumerate(golds) for gold in of_item]
    fragments = [all(map(is_fragment, of_item)) for of_item in golds]
    asked = [(i, gold) for i, gold in asked if fragments[i] and questions[i].strip() and terms(answers[i])]
    if asked:
        found = in_view([questions[i] for i, _ in asked], [g for _, g in asked], [answers[i] for i, _ in asked])
        out[[i for i, _ in asked]] = 0.0
        np.maximum.at(out, [i for i, _ in asked], found)
    return out


def _yes_or_no(reference: str, answer: str) -> float | None:
    """1 or 0 where the reference is a yes or a no, and the answer begins with one."""
    wanted, said = terms(reference), terms(answer)[:1]
    for own, other in ((_YES, _NO), (_NO, _YES)):
        if len(wanted) == 1 and wanted[0] in own and said:
            return 1.0 if said[0] in own else 0.0 if said[0] in other else None
    return None


def _says_otherwise(question: str, reference: str, answer: str) -> bool:
    asked, wanted, said = values(question), values(reference), values(answer)
    if wanted - said - asked and said - wanted - asked:
        return True
    if denied_words(answer) and not denied_words(reference) and not denied_words(question):
        return True
    if _HEDGE.search(answer) and not _HEDGE.search(reference) and not _HEDGE.search(question):
        return True
    new, lost = _names(answer, question, reference), _names(reference, question, answer)
    return bool(new and lost)


def _names(text: str, *known: str) -> list[str]:
    """The capitalised words of a text, but for the first of a sentence, that no other text has."""
    pool = [term for other in known for term in terms(other)]
    cased = words(text) if is_fragment(text) else [w for s in sentences(text) for w in words(s)[1:]]
    own = [t for w in cased if w[0].isupper() and (t := fold(w)) not in function_words()]
    return [t for t in own if not match_matrix([t], pool).any()]


def _held(fragment: str, passage: str) -> bool:
    """Whether a passage has all words and numbers of a fragment."""
    own = [t for t in terms(fragment) if t not in function_words()] or list(terms(fragment))
    return bool(match_matrix(own, terms(passage)).any(axis=1).all()) and values(fragment) <= values(passage)
