"""Evidence and judgements to citations, statements and items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import kit, readers
from evalbench.judge.verdicts import Judgement
from evalbench.metrics import citation as metrics
from evalbench.metrics.reasoning import weighted_mean
from evalbench.studies.citation import inputs, sources
from evalbench.text.fragments import with_question
from evalbench.text.quotations import SHORTEST

KEYS = ["id", "model"]
TEXTS = [*KEYS, "lang", "question", "reference", "answer", "correctness", "reason"]
CONSISTENCY = "claim_consistency_explainability"
WEIGHTS = ("support", "verification")
FINAL_WEIGHTS = ("interpretability", "correctness")
NO_QUOTE = "NO QUOTE"
_UNJUDGED = Judgement(id="")
_NO_VALUE = {
    "support": "no text of any cited source is at hand, support has no value",
    "verification": "no citation has a quote to look for, verification has no value",
}
_TYPES = {
    "str": "id model claim url title quote support_label support_reason consistency_label verification_label "
    "verification_reason source_kind source_text located unscored",
    "int": "n located_start located_end read_start read_characters",
    "float": f"support {CONSISTENCY} verification source_credibility",
    "bool": "marked",
}


class Judged(NamedTuple):
    """Everything that was found out.

    - ``citations``, ``statements``: A row per citation and per statement.
    - ``answers``: A row per answer, in the order of the evidence: what the judge said of it, citation recall and
      precision.
    """

    citations: pd.DataFrame
    statements: pd.DataFrame
    answers: pd.DataFrame


def judged(
    evidence: sources.Evidence, docket: kit.judging.Docket, credibility: readers.credibility.Credibility
) -> Judged:
    """Ask the judge about every citation, statement and answer."""
    citations = _citations(evidence, docket, credibility)
    statements, scores = _statements(evidence, docket)
    return Judged(citations, statements, _answers(evidence.answers, docket).assign(**scores))


def _citations(
    evidence: sources.Evidence, docket: kit.judging.Docket, credibility: readers.credibility.Credibility
) -> pd.DataFrame:
    entries = {(a.id, a.model, c.n): (a, c) for a in evidence.answers for c in a.citations}
    readable = {key: evidence.found[key].passage for key in entries if evidence.sources[key].text}
    shown = [(passage, *entries[key]) for key, passage in readable.items()]
    supports = docket.ask("entailment", [_entails(p, with_question(c.claim, a.question), a) for p, a, c in shown])
    support = dict(zip(readable, supports, strict=True))
    claims = docket.ask("entailment", [_entails(a.plain, c.claim, a) for a, c in entries.values()])
    rows = []
    for (key, (a, c)), claim in zip(entries.items(), claims, strict=True):
        source, found, says = evidence.sources[key], evidence.found[key], support.get(key, _UNJUDGED)
        label, reason = _verified(c, source, found, says)
        kind = credibility.kind(c.url, source.kind)
        place = found.location
        row = {
            "id": a.id,
            "model": a.model,
            **asdict(c),
            "title": c.title or source.title,
            "marked": c.n in a.marked,
            "support_label": says.label or ("NO SOURCE" if source.text == "" else ""),
            "support": 0.0 if source.text == "" else says.value,
            "support_reason": says.reason or source.origin,
            "consistency_label": claim.label,
            CONSISTENCY: claim.value,
            "verification_label": label,
            "verification": metrics.VERIFICATION.get(label, math.nan),
            "verification_reason": reason,
            "source_kind": kind,
            "source_credibility": credibility.kinds[kind],
            "source_text": source.text or "",
            "located": "" if place is None else place.how,
            "located_start": -1 if place is None else place.start,
            "located_end": -1 if place is None else place.end,
            "read_start": found.start,
            "read_characters": len(found.passage),
            "unscored": source.unscored or says.unscored or claim.unscored,
        }
        rows.append(row)
    types = {name: kind for kind, names in _TYPES.items() for name in names.split()}
    return pd.DataFrame(rows, columns=None if rows else list(types)).astype(types)


def _entails(premise: str, hypothesis: str, answer: inputs.Answer) -> kit.judging.Question:
    return kit.judging.Question({"premise": premise, "hypothesis": hypothesis}, answer.lang, unit=answer.id)


def _verified(
    citation: inputs.Citation, source: sources.Source, found: sources.Found, says: Judgement
) -> tuple[str, str]:
    """Label and reason; an empty label where the judge gave no verdict, or had no text to read."""
    if source.unscored:
        return "", source.origin
    if source.text is None:
        return "UNCERTAIN", source.origin
    if source.text == "":
        return "LIKELY_FABRICATED", source.origin
    if not citation.quotes:
        quoted = f"a quote of under {SHORTEST} letters" if citation.quote.strip() else "no quote"
        # That an address leads to a page was found out; that a supplied source is there was known before.
        if source.origin == "web":
            return "VERIFIED", f"the page is there; {quoted} to look for in it"
        return NO_QUOTE, f"{quoted} to look for in the source"
    if says.unscored:
        return "", says.unscored
    return metrics.source_verdict(located=found.location is not None, judged=says.label)


def _statements(evidence: sources.Evidence, docket: kit.judging.Docket) -> tuple[pd.DataFrame, dict[str, pd.Series]]:
    """Every statement with what it cites, its recall and how many of its citations are precise; each answer's figures."""
    units = [(place, i, s) for place, a in enumerate(evidence.answers) for i, s in enumerate(a.statements, 1)]
    failures: dict[int, str] = {}

    def entails(asked: Sequence[tuple[tuple[int, ...], int]]) -> list[float]:
        """1 or 0 for joined texts and a statement; NaN without a verdict or where a text is not at hand."""
        values = [math.nan] * len(asked)
        questions = {}
        for place, (numbers, unit) in enumerate(asked):
            answer, statement = evidence.answers[units[unit][0]], units[unit][2]
            keys = [(answer.id, answer.model, n) for n in numbers]
            texts = [evidence.sources[k].text if k in evidence.sources else "" for k in keys]
            passages = [evidence.found[k].passage for k, text in zip(keys, texts, strict=True) if text]
            if None not in texts and passages:
                hypothesis = with_question(statement.text, answer.question)
                questions[place] = _entails("\n\n".join(passages), hypothesis, answer)
            elif None not in texts:
                values[place] = 0.0
        for place, says in zip(questions, docket.ask("entailment", list(questions.values())), strict=True):
            if says.unscored:
                failures.setdefault(asked[place][1], says.unscored)
            else:
                values[place] = float(says.label == "ENTAILMENT")
        return values

    got = metrics.cited([s.numbers for _, _, s in units], entails)
    precise = got.precise()
    known, n = ~np.isnan(precise), len(units)
    of = np.array([place for place, _, _ in units], dtype=int)
    answers = [evidence.answers[place] for place in of]
    table = pd.DataFrame(
        {
            "id": pd.Series([a.id for a in answers], dtype="str"),
            "model": pd.Series([a.model for a in answers], dtype="str"),
            "statement": np.array([i for _, i, _ in units], dtype=int),
            "text": pd.Series([s.text for _, _, s in units], dtype="str"),
            "cites": pd.Series([", ".join(map(str, s.numbers)) for _, _, s in units], dtype="str"),
            "recalled": got.joined,
            "n_citations": np.bincount(got.statement, minlength=n),
            "n_judged": np.bincount(got.statement[known], minlength=n),
            "n_precise": np.bincount(got.statement[known], weights=precise[known], minlength=n),
            "unscored": pd.Series([failures.get(u, "") for u in range(n)], dtype="str"),
        }
    )
    scores = {
        "citation_recall": pd.Series(got.joined).groupby(of).agg(metrics.citation_recall),
        "citation_precision": pd.Series(precise).groupby(of[got.statement]).agg(metrics.citation_precision),
    }
    return table, scores


def _answers(answers: Sequence[inputs.Answer], docket: kit.judging.Docket) -> pd.DataFrame:
    """Every answer with its correctness; without words it is wrong, and without a right one it has no value."""
    spoken = [i for i, a in enumerate(answers) if a.gold and a.plain.strip() and not a.unscored]
    fields = [{"question": a.question, "gold": list(a.gold), "answer": a.plain} for a in answers]
    asked = docket.ask(
        "correctness", [kit.judging.Question(fields[i], answers[i].lang, unit=answers[i].id) for i in spoken]
    )
    says = dict(zip(spoken, asked, strict=True))
    rows = []
    for i, a in enumerate(answers):
        told = says.get(i, _UNJUDGED)
        silent = bool(a.gold) and not a.unscored and i not in says
        value, label = (0.0, "INCORRECT") if silent else (told.value, told.label)
        texts = (a.id, a.model, a.lang, a.question, "; ".join(a.gold), a.text)
        rows.append((*texts, told.label, told.reason, value, label, told.unscored))
    return pd.DataFrame(rows, columns=[*TEXTS, "value", "label", "unscored"])


def items_of(evidence: sources.Evidence, found: Judged, options: Mapping[str, Any]) -> pd.DataFrame:
    """One row per answer, sorted by id and model."""
    answers, said = evidence.answers, found.answers
    keys = pd.MultiIndex.from_tuples([(a.id, a.model) for a in answers], names=KEYS)
    citations = found.citations
    label = citations["verification_label"]
    # Citation by citation: what of a citation could not be verified is not averaged with its support.
    support = citations[options["support_on"]]
    scores = metrics.interpretability(support, citations["verification"], [options["weights"][w] for w in WEIGHTS])
    # A source whose text is not at hand was not found to be real, nor to be none.
    looked_at = (label != "UNCERTAIN") | (citations["source_text"] != "")
    counts = {
        "n_verified": label == "VERIFIED",
        "n_uncertain": label == "UNCERTAIN",
        "n_fabricated": label == "LIKELY_FABRICATED",
        "n_checked": looked_at & citations["verification"].notna(),
    }
    means = ["interpretability", *WEIGHTS, CONSISTENCY, "source_credibility"]
    by_answer = citations.assign(interpretability=scores, support=support, **counts).groupby(KEYS)
    cites = np.array([len(a.citations) for a in answers])
    scored = np.array([not a.unscored for a in answers])
    mean = by_answer[means].mean().reindex(keys)
    # The system was to cite and did not: that is a score of 0, not a missing one.
    mean.loc[(cites == 0) & scored, ["interpretability", *WEIGHTS]] = 0.0
    texts = np.array([len(a.statements) for a in answers])
    numbers = {
        "n_citations": cites,
        "n_statements": texts,
        "n_dangling": [len(a.dangling) for a in answers],
        "n_unmatched": [sum(bool(evidence.sources[a.id, a.model, c.n].near) for c in a.citations) for a in answers],
        "n_unfound": [sum(c.quotes and _unfound(evidence, (a.id, a.model, c.n)) for c in a.citations) for a in answers],
        "n_unmarked": [sum(c.n not in a.marked for c in a.citations) for a in answers],
        **by_answer[list(counts)].sum().reindex(keys, fill_value=0),
    }
    recall = said["citation_recall"].mask((texts == 0) & scored, 0.0).to_numpy()
    items = mean.assign(
        final=np.nan,
        correctness=said["value"].to_numpy(),
        correctness_label=said["label"].to_numpy(),
        **pd.DataFrame(numbers, index=keys).apply(lambda column: column.where(scored)),
        citation_recall=recall,
        citation_precision=said["citation_precision"].to_numpy(),
        unscored=_unscored(answers, found, keys),
    )
    both = items[list(FINAL_WEIGHTS)].to_numpy()
    importance = [options["final_weights"][name] for name in FINAL_WEIGHTS]
    items["final"] = weighted_mean(both, importance)
    # A right answer says nothing about its sources: the score is never correctness alone, unless the weights say so.
    if importance[0] > 0:
        items.loc[items["interpretability"].isna(), "final"] = np.nan
    items.loc[items["unscored"] != "", ["interpretability", "final"]] = np.nan
    items["undefined"] = [
        "" if row["unscored"] else "; ".join(_undefined(row, a))
        for row, a in zip(items.to_dict("records"), answers, strict=True)
    ]
    first = ["final", "interpretability", "correctness", *WEIGHTS]
    return items[[*first, *(c for c in items if c not in first)]].reset_index()


def _unfound(evidence: sources.Evidence, key: sources.Key) -> bool:
    """Whether a source was read and the quote is not in it."""
    return bool(evidence.sources[key].text) and evidence.found[key].location is None


def _undefined(item: Mapping[Any, Any], answer: inputs.Answer) -> list[str]:
    """Why parts of a scored answer have no value."""
    lacking = [why for name, why in _NO_VALUE.items() if math.isnan(item[name])]
    return lacking if answer.gold else [kit.answers.NO_REFERENCE, *lacking]


def _unscored(answers: Sequence[inputs.Answer], found: Judged, keys: pd.MultiIndex) -> np.ndarray:
    """The first reason that an answer, its correctness, a citation or a statement of it is unscored."""
    reasons = np.array([a.unscored for a in answers], dtype=object)
    reasons = np.where(reasons == "", found.answers["unscored"], reasons)
    for table in (found.citations, found.statements):
        failed = table[table["unscored"] != ""].groupby(KEYS)["unscored"].first().reindex(keys, fill_value="")
        reasons = np.where(reasons == "", failed, reasons)
    return reasons
