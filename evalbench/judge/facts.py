"""Does an answer state the facts that it must, and nothing beside them?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.judge.rag import CLAIMS, SUPPORT, support_fields
from evalbench.judge.rows import Judgement, Judgements
from evalbench.judge.verdicts import InProcess, Recording, judge

if TYPE_CHECKING:
    import pandas as pd

By = str | Recording | InProcess


@dataclass(frozen=True, kw_only=True)
class FactCheck:
    """One answer beside its must-have facts.

    Attributes
    ----------
    facts : tuple of str
        The must-have facts, given or drawn from the reference.
    missing : tuple of str
        Those that the answer does not state: with any, it is incomplete.
    contradicted : tuple of str
        Those of the missing that it denies.
    extra : tuple of str
        What the answer claims and no fact supports: with any, it is unreliable.
    recall : float
        Share of the facts that it states, 0–1; NaN where unscored.
    unscored, detail : str
        Why it was not checked; empty where it was.
    """

    id: str
    facts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    recall: float = math.nan
    unscored: str = ""
    detail: str = ""

    @property
    def incomplete(self) -> bool | None:
        """Whether a fact is missing; None where unscored."""
        return None if self.unscored else bool(self.missing)

    @property
    def unreliable(self) -> bool | None:
        """Whether something was added; None where unscored."""
        return None if self.unscored else bool(self.extra)


@dataclass(frozen=True)
class FactChecks:
    """All answers, in the order of the items, and everything that was asked."""

    rows: tuple[FactCheck, ...]
    asked: tuple[Judgements, ...]

    def frame(self) -> pd.DataFrame:
        """One row per answer: the fields of :class:`FactCheck`, incomplete, unreliable."""
        import pandas as pd

        rows = [{**vars(row), "incomplete": row.incomplete, "unreliable": row.unreliable} for row in self.rows]
        return pd.DataFrame(rows, columns=[*FactCheck.__dataclass_fields__, "incomplete", "unreliable"])


def facts_of(
    texts: Mapping[str, tuple[str, str]], *, by: By, **options: Any
) -> tuple[dict[str, tuple[str, ...]], dict[str, Judgement], Judgements | None]:
    """The facts that texts state, by the judge: by id, the text's question and the text.

    Returns
    -------
    facts : dict of str to tuple of str
        Of the texts that the judge could split.
    lost : dict of str to Judgement
        Of the others, with the reason.
    asked : Judgements or None
        None where there was nothing to ask.
    """
    from evalbench.text.sentences import sentences

    if not texts:
        return {}, {}, None
    items = [
        {"id": name, "question": question, "sentences": sentences(text) or [text]}
        for name, (question, text) in texts.items()
    ]
    found = judge(items, by=by, task=CLAIMS, **options)
    said = {row.id: row for row in found.rows if row.sample == 0}
    facts = {name: tuple(one["claim"] for one in row.parts["claims"]) for name, row in said.items() if not row.unscored}
    return facts, {name: row for name, row in said.items() if row.unscored}, found


def check_facts(items: Sequence[Mapping[str, Any]], *, by: By, **options: Any) -> FactChecks:
    """Which must-have facts an answer leaves out, and what it adds to them.

    A fact is stated if the judge finds it supported by the answer; a claim of the answer is extra if no fact supports it.  A
    missing fact makes an answer incomplete, an extra claim unreliable.

    Parameters
    ----------
    items : sequence of mapping
        ``id``, ``question``, ``answer``, and ``facts`` (a list of texts), or a ``reference`` from which the judge draws them.
    by : str, Recording or callable
        As in :func:`evalbench.judge.verdicts.judge`; it splits texts into claims and says what supports what.  Recorded verdicts
        have the ids ``ID/reference``, ``ID/answer`` (task ``claims``), ``ID/fact/N`` and ``ID/claim/N`` (task ``support``), N from 1.
    options
        As in :func:`evalbench.judge.verdicts.judge`.

    Returns
    -------
    FactChecks
        An answer of which any verdict is missing is unscored.

    Raises
    ------
    BadInput
        For an item without facts and reference, or as :func:`evalbench.judge.verdicts.judge` does.

    Examples
    --------
    >>> def scripted(item):
    ...     if "statement" in item:
    ...         said = any(item["statement"] in passage for passage in item["passages"])
    ...         return {"label": "SUPPORTED" if said else "NOT_SUPPORTED", "passages": []}
    ...     return {"claims": [{"sentence": 1, "claim": text} for text in item["sentences"]]}
    >>> item = {"id": "1", "question": "When?", "answer": "At noon. Bring a hat.", "facts": ["At noon.", "By the gate."]}
    >>> found = check_facts([item], by=scripted).rows[0]
    >>> found.recall, found.missing, found.extra
    (0.5, ('By the gate.',), ('Bring a hat.',))
    """
    faults = [
        f"item {item.get('id')!r}: needs facts, a list of texts, or a reference"
        for item in items
        if not _facts(item) and not str(item.get("reference") or "").strip()
    ]
    if faults:
        raise BadInput.listing("answers cannot be checked for facts:", faults)
    drawn = {f"{i['id']}/reference": (str(i.get("question", "")), i["reference"]) for i in items if not _facts(i)}
    spoken = {f"{i['id']}/answer": (str(i.get("question", "")), i["answer"]) for i in items}
    claims, lost, asked = facts_of({**drawn, **spoken}, by=by, **options)
    of = {i["id"]: _facts(i) or claims.get(f"{i['id']}/reference", ()) for i in items}
    whole = [i for i in items if f"{i['id']}/answer" not in lost and (_facts(i) or f"{i['id']}/reference" not in lost)]
    asked_of = [
        {"id": f"{i['id']}/fact/{n}", **support_fields([i["answer"]], fact, str(i.get("question", "")), facts=True)}
        for i in whole
        for n, fact in enumerate(of[i["id"]], start=1)
    ]
    asked_of += [
        {"id": f"{i['id']}/claim/{n}", **support_fields(of[i["id"]], claim, str(i.get("question", "")), facts=True)}
        for i in whole
        if of[i["id"]]
        for n, claim in enumerate(claims[f"{i['id']}/answer"], start=1)
    ]
    found = judge(asked_of, by=by, task=SUPPORT, **options) if asked_of else None
    said = {row.id: row for row in found.rows if row.sample == 0} if found else {}
    rows = tuple(_checked(i, of[i["id"]], claims.get(f"{i['id']}/answer", ()), lost, said) for i in items)
    return FactChecks(rows, tuple(one for one in (asked, found) if one))


def _facts(item: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(fact) for fact in item.get("facts") or () if str(fact).strip())


def _checked(
    item: Mapping[str, Any],
    facts: Sequence[str],
    claims: Sequence[str],
    lost: Mapping[str, Judgement],
    said: Mapping[str, Judgement],
) -> FactCheck:
    name = item["id"]
    split = lost.get(f"{name}/answer") or lost.get(f"{name}/reference")
    if split is not None:
        return FactCheck(id=name, facts=tuple(facts), unscored=split.unscored, detail=f"{split.id}: {split.detail}")
    if not facts:
        return FactCheck(id=name, unscored="no-value", detail="the reference states no fact")
    of_facts = [said[f"{name}/fact/{n}"] for n in range(1, len(facts) + 1)]
    of_claims = [said[f"{name}/claim/{n}"] for n in range(1, len(claims) + 1)]
    silent = next((one for one in (*of_facts, *of_claims) if one.unscored), None)
    if silent is not None:
        return FactCheck(id=name, facts=tuple(facts), unscored=silent.unscored, detail=f"{silent.id}: {silent.detail}")
    missing = [fact for fact, one in zip(facts, of_facts, strict=True) if one.label != "SUPPORTED"]
    denied = [fact for fact, one in zip(facts, of_facts, strict=True) if one.label == "CONTRADICTED"]
    extra = [
        claim for claim, one in zip(claims, of_claims, strict=True) if one.label in ("NOT_SUPPORTED", "CONTRADICTED")
    ]
    return FactCheck(
        id=name,
        facts=tuple(facts),
        missing=tuple(missing),
        contradicted=tuple(denied),
        extra=tuple(extra),
        recall=1 - len(missing) / len(facts),
    )
