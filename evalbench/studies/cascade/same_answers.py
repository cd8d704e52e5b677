"""Stages 2 and 3: answers that say the same, questions that ask the same, and people's labels carried between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.models.similarity.embed import JACCARD, embed, pair_similarities, similarity_matrix
from evalbench.models.similarity.search import exact_nearest
from evalbench.studies.cascade import state
from evalbench.text.numbers import find_numbers
from evalbench.text.words import words

SAME = "same-answer"
MOST_DUPLICATES = 20
"""So many nearest questions are looked at for duplicates of one."""


def tied(cases: Sequence[state.Case], desk: state.Desk) -> state.Found:
    """Answers that are nearly equal are ties: no judging could find a difference that matters."""
    same = alike([case.a for case in cases], [case.b for case in cases], desk)
    kept = {
        case.id: state.Decision("tie", SAME, f"the answers agree, similarity {s:.2f}")
        for case, s in zip(cases, same, strict=True)
        if s
    }
    return state.Found(decided=kept)


def overruled(
    items: pd.DataFrame, every: Mapping[str, state.Case], returned: Mapping[str, state.Preference]
) -> list[core.Note]:
    """The note on questions of which people found one answer better, and which are ties since the answers nearly equal each other.

    - ``returned``: What people said in the table that came back; else what their labels say.
    """
    same = items.loc[items["label"] == SAME, "id"]
    said = {name: returned.get(name) or every[name].people for name in same}
    found = [name for name, people in said.items() if people is not None and people.outcome in state.SIDES]
    if not found:
        return []
    how = "counts as a tie" if len(found) == 1 else "count as ties"
    which = core.wording.listed(found)
    short = f"{core.counted(len(found), 'preference')} of people {how}, since the answers are nearly equal"
    return [core.Note("labels", short, f"{short}: {which}; run_stages without 2 keeps what people said.")]


def alike(left: Sequence[str], right: Sequence[str], desk: state.Desk) -> list[float]:
    """The similarity of each pair that says the same: equal words, or ``same_from`` on with equal numbers; else 0."""
    if not left:
        return []
    cosines = pair_similarities(desk.options["embed"], left, right)
    return [
        1.0
        if _folded(x) == _folded(y)
        else float(cosine)
        if cosine >= desk.options["same_from"] and _numbers(x) == _numbers(y)
        else 0.0
        for x, y, cosine in zip(left, right, cosines, strict=True)
    ]


def _folded(text: str) -> tuple[str, ...]:
    return tuple(word for word in words(text, lower=True) if any(map(str.isalnum, word))) or (text.strip(),)


def _numbers(text: str) -> list[str]:
    return sorted(str(number.value) for number in find_numbers(text))


def duplicates(cases: Sequence[state.Case], desk: state.Desk) -> dict[str, list[str]]:
    """Of each question the others that ask the same, from ``duplicates_from`` on; in the order of the ids."""
    if len(cases) < 2:
        return {}
    questions, least = [case.question for case in cases], desk.options["duplicates_from"]
    k = min(len(cases), MOST_DUPLICATES + 1)
    if desk.options["embed"] == JACCARD:
        table = similarity_matrix(JACCARD, questions, questions)
        places = np.argsort(-table, axis=1, kind="stable")[:, :k]
        scores = np.take_along_axis(table, places, 1)
    else:
        vectors = embed(questions, desk.options["embed"])
        places, scores = exact_nearest(vectors, vectors, k)
    found: dict[str, set[str]] = {}
    for i, (near, cosines) in enumerate(zip(places, scores, strict=True)):
        for j, cosine in zip(near.tolist(), cosines.tolist(), strict=True):
            if j != i and cosine >= least and _numbers(questions[i]) == _numbers(questions[j]):
                found.setdefault(cases[i].id, set()).add(cases[j].id)
                found.setdefault(cases[j].id, set()).add(cases[i].id)
    return {name: sorted(others) for name, others in sorted(found.items())}


def propagated(
    cases: Sequence[state.Case], desk: state.Desk, every: Mapping[str, state.Case], same: Mapping[str, Sequence[str]]
) -> state.Found:
    """People's marks of an answer hold for a similar answer to a duplicate of its question.

    A question is decided where both its answers have a mark by way of its duplicates; one that has labels of its own, where these
    agree.  Where duplicates, or a question's own labels, contradict each other, the question goes on and is listed.
    """
    found = state.Found()
    wanted = [(case, every[other]) for case in cases for other in same.get(case.id, ()) if every[other].marks]
    texts = [(case, side, other, theirs) for case, other in wanted for side in state.SIDES for theirs in other.marks]
    similar = alike(
        [case.answer(side) for case, side, _, _ in texts], [other.answer(t) for _, _, other, t in texts], desk
    )
    marks: dict[str, dict[str, dict[str, float]]] = {}  # question → duplicate → side → mark
    for (case, side, other, theirs), cosine in zip(texts, similar, strict=True):
        own = marks.setdefault(case.id, {}).setdefault(other.id, {})
        if cosine and (side not in own or theirs == side):
            own[side] = other.marks[theirs]
    for case in cases:
        of = marks.get(case.id, {})
        each = {name: state.compared(m["a"], m["b"]) for name, m in of.items() if len(m) == len(state.SIDES)}
        pooled = {side: [m[side] for m in of.values() if side in m] for side in state.SIDES}
        if not each and all(pooled.values()):
            means = {side: float(np.mean(values)) for side, values in pooled.items()}
            each = {", ".join(sorted(of)): state.compared(means["a"], means["b"])}
        if not each:
            continue
        said = set(each.values()) | ({case.people.outcome} if case.people else set())
        if len(said) > 1:
            words_of = ", ".join(f"{name}: {outcome}" for name, outcome in sorted(each.items()))
            own_words = f", its own: {case.people.outcome}" if case.people else ""
            found.contradictions.append((case.id, f"labels of duplicates differ ({words_of}{own_words})"))
            continue
        (outcome,) = said
        assert outcome in state.SCORES
        found.decided[case.id] = state.Decision(
            outcome, "labels-of-duplicates", f"people's labels of {', '.join(sorted(each))}"
        )
    return found
