"""Answers, sources and verdicts to citations, statements and items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.judge.verdicts import Judgement
from evalbench.kit.answers import NO_REFERENCE
from evalbench.metrics.citation import VERIFICATION, Cited, cited, interpretability, source_verdict
from evalbench.metrics.reasoning import weighted_mean
from evalbench.studies.citation.answers import Answer, Citation
from evalbench.studies.citation.judging import Bench, Question
from evalbench.studies.citation.sources import SHORTEST_QUOTE, Credibility, Found, Source, find_passage, quotes

if TYPE_CHECKING:
    import pandas as pd

Key = tuple[str, str, int]
NO_VERDICT = Judgement(id="")
NO_QUOTE = "NO QUOTE"


class Options(NamedTuple):
    """What shapes an item's score."""

    support_on: str
    weights: tuple[float, float]
    final_weights: tuple[float, float]
    quote_threshold: float


class Judged(NamedTuple):
    """Everything that was found out about the citations and statements."""

    citations: pd.DataFrame
    statements: pd.DataFrame
    correctness: Mapping[tuple[str, str], Judgement]


def judged(
    answers: Sequence[Answer], sources: Mapping[Key, Source], bench: Bench, options: Options, credibility: Credibility
) -> Judged:
    """Ask the judge about every citation, statement and answer."""
    found = {
        (a.id, a.model, c.n): find_passage(c, sources[a.id, a.model, c.n], options.quote_threshold)
        for a in answers
        for c in a.citations
    }
    return Judged(
        _citations(answers, sources, found, bench, credibility),
        _statements(answers, sources, found, bench),
        _correctness(answers, bench),
    )


def _citations(
    answers: Sequence[Answer],
    sources: Mapping[Key, Source],
    found: Mapping[Key, Found],
    bench: Bench,
    credibility: Credibility,
) -> pd.DataFrame:
    import pandas as pd

    entries = [(a, c, (a.id, a.model, c.n)) for a in answers for c in a.citations]
    readable = [(a, c, key) for a, c, key in entries if sources[key].text]
    supports = bench.ask(
        "entailment",
        [Question(a.lang, {"premise": found[key].passage, "hypothesis": c.claim}) for a, c, key in readable],
    )
    support = {key: verdict for (_, _, key), verdict in zip(readable, supports, strict=True)}
    claims = bench.ask(
        "entailment", [Question(a.lang, {"premise": a.plain, "hypothesis": c.claim}) for a, c, _ in entries]
    )
    rows = []
    for (a, c, key), claim in zip(entries, claims, strict=True):
        source, verdict = sources[key], support.get(key, NO_VERDICT)
        label, reason = _verified(c, source, found[key], verdict)
        kind = credibility.kind(c.url, source.kind)
        location = found[key].location
        rows.append(
            {
                "id": a.id, "model": a.model, "n": c.n, "claim": c.claim, "quote": c.quote, "url": c.url,
                "title": c.title or source.title, "marked": c.n in a.marked,
                "support_label": verdict.label or ("NO SOURCE" if source.text == "" else ""),
                "support": 0.0 if source.text == "" else verdict.value,
                "support_reason": verdict.reason or source.origin,
                "consistency_label": claim.label, "claim_consistency_seed": claim.value,
                "verification_label": label, "verification": VERIFICATION.get(label, math.nan),
                "verification_reason": reason,
                "source_kind": kind, "source_credibility": credibility.kinds[kind],
                "source_text": source.text or "",
                "located": "" if location is None else location.how,
                "located_start": -1 if location is None else location.start,
                "located_end": -1 if location is None else location.end,
                "read_start": found[key].start, "read_characters": len(found[key].passage),
                "unscored": verdict.unscored or claim.unscored,
            }
        )  # fmt: skip
    columns = [
        "id", "model", "n", "claim", "quote", "url", "title", "marked", "support_label", "support", "support_reason",
        "consistency_label", "claim_consistency_seed", "verification_label", "verification", "verification_reason",
        "source_kind", "source_credibility", "source_text", "located", "located_start", "located_end",
        "read_start", "read_characters", "unscored",
    ]  # fmt: skip
    numbers = {
        "n": int, "marked": bool, "support": float, "claim_consistency_seed": float, "verification": float,
        "source_credibility": float, "located_start": int, "located_end": int, "read_start": int, "read_characters": int,
    }  # fmt: skip
    return pd.DataFrame(rows, columns=columns).astype({c: numbers.get(c, str) for c in columns})


def _verified(citation: Citation, source: Source, found: Found, verdict: Judgement) -> tuple[str, str]:
    """Label and reason; an empty label where the judge gave no verdict."""
    if source.text is None:
        return "UNCERTAIN", source.origin
    if source.text == "":
        return "LIKELY_FABRICATED", source.origin
    if not quotes(citation):
        quoted = f"a quote of under {SHORTEST_QUOTE} letters" if citation.quote.strip() else "no quote"
        # That an address leads to a page was found out; that a supplied source is there was known before.
        if source.origin == "web":
            return "VERIFIED", f"the page is there; {quoted} to look for in it"
        return NO_QUOTE, f"{quoted} to look for in the source"
    if verdict.unscored:
        return "", verdict.unscored
    return source_verdict(located=found.location is not None, judged=verdict.label)


def _statements(
    answers: Sequence[Answer], sources: Mapping[Key, Source], found: Mapping[Key, Found], bench: Bench
) -> pd.DataFrame:
    """Every statement with what it cites, its recall, and how many of its citations are precise."""
    import pandas as pd

    units = [(a, i, s) for a in answers for i, s in enumerate(a.statements, 1)]
    failures: dict[int, str] = {}

    def entails(asked: Sequence[tuple[tuple[int, ...], int]]) -> list[float]:
        """1 or 0 for joined texts and a statement; NaN without a verdict or where a text is not at hand."""
        values = [math.nan] * len(asked)
        questions, places = [], []
        for place, (numbers, unit) in enumerate(asked):
            answer, _, statement = units[unit]
            keys = [(answer.id, answer.model, n) for n in numbers]
            texts = [sources[k].text if k in sources else "" for k in keys]
            if any(t is None for t in texts):
                continue
            passages = [found[k].passage for k, t in zip(keys, texts, strict=True) if t]
            if not passages:
                values[place] = 0.0
                continue
            fields = {"premise": "\n\n".join(passages), "hypothesis": statement.text}
            questions.append(Question(answer.lang, fields))
            places.append(place)
        for place, verdict in zip(places, bench.ask("entailment", questions), strict=True):
            if verdict.unscored:
                failures.setdefault(asked[place][1], verdict.unscored)
            else:
                values[place] = float(verdict.label == "ENTAILMENT")
        return values

    got = cited([s.numbers for _, _, s in units], entails)
    return pd.DataFrame(
        {
            "id": pd.Series([a.id for a, _, _ in units], dtype="str"),
            "model": pd.Series([a.model for a, _, _ in units], dtype="str"),
            "statement": np.array([i for _, i, _ in units], dtype=int),
            "text": pd.Series([s.text for _, _, s in units], dtype="str"),
            "cites": pd.Series([", ".join(map(str, s.numbers)) for _, _, s in units], dtype="str"),
            "recalled": got.joined,
            **_precise_counts(got, len(units)),
            "unscored": pd.Series([failures.get(u, "") for u in range(len(units))], dtype="str"),
        }
    )


def _precise_counts(got: Cited, n: int) -> dict[str, np.ndarray]:
    precise = got.precise()
    known = ~np.isnan(precise)
    return {
        "n_citations": np.bincount(got.statement, minlength=n),
        "n_judged": np.bincount(got.statement[known], minlength=n),
        "n_precise": np.bincount(got.statement[known], weights=precise[known], minlength=n),
    }


def _correctness(answers: Sequence[Answer], bench: Bench) -> dict[tuple[str, str], Judgement]:
    spoken = [a for a in answers if a.gold and a.plain.strip() and not a.unscored]
    verdicts = bench.ask(
        "correctness",
        [Question(a.lang, {"question": a.question, "gold": list(a.gold), "answer": a.plain}) for a in spoken],
    )
    return {(a.id, a.model): v for a, v in zip(spoken, verdicts, strict=True)}


def items_of(answers: Sequence[Answer], found: Judged, options: Options) -> pd.DataFrame:
    """One row per answer, sorted by id and model."""
    import pandas as pd

    by_answer = dict(iter(found.citations.groupby(["id", "model"], sort=False)))
    statements = dict(iter(found.statements.groupby(["id", "model"], sort=False)))
    records = [
        _item(a, by_answer.get((a.id, a.model)), statements.get((a.id, a.model)), found.correctness, options)
        for a in sorted(answers, key=lambda a: (a.id, a.model))
    ]
    items = pd.DataFrame(records)
    both = items[["interpretability", "correctness"]].to_numpy()
    items["final"] = weighted_mean(both, options.final_weights)
    # A right answer says nothing about its sources: the score is never correctness alone, unless the weights say so.
    if options.final_weights[0] > 0:
        items.loc[items["interpretability"].isna(), "final"] = np.nan
    items.loc[items["unscored"] != "", ["interpretability", "final"]] = np.nan
    first = ["id", "model", "final", "interpretability", "correctness", "support", "verification"]
    return items[[*first, *(c for c in items.columns if c not in first)]]


def _item(
    answer: Answer,
    citations: pd.DataFrame | None,
    statements: pd.DataFrame | None,
    correctness: Mapping[tuple[str, str], Judgement],
    options: Options,
) -> dict[str, Any]:
    verdict = correctness.get((answer.id, answer.model), NO_VERDICT)
    silent = bool(answer.gold) and not answer.unscored and not verdict.unscored
    out: dict[str, Any] = {
        "id": answer.id,
        "model": answer.model,
        "correctness": verdict.value if verdict.label else 0.0 if silent else math.nan,
        "correctness_label": verdict.label or ("INCORRECT" if silent else ""),
        "n_citations": len(answer.citations),
        "n_statements": len(answer.statements),
        "n_dangling": len(answer.dangling),
        "n_unmarked": sum(c.n not in answer.marked for c in answer.citations),
    }
    if answer.unscored:
        out |= dict.fromkeys((name for name in out if name.startswith("n_")), math.nan)
    out |= _of_citations(citations, answer, options) | _of_statements(statements, answer)
    failed = [answer.unscored, verdict.unscored]
    if citations is not None:
        failed += [u for u in citations["unscored"] if u]
    if statements is not None:
        failed += [u for u in statements["unscored"] if u]
    out["unscored"] = next((f"{f}" for f in failed if f), "")
    out["undefined"] = "" if out["unscored"] else "; ".join(_undefined(out, answer))
    return out


def _undefined(item: Mapping[str, Any], answer: Answer) -> list[str]:
    """Why parts of a scored answer have no value."""
    without = {
        "support": "no text of any cited source is at hand",
        "verification": "no citation has a quote to look for",
    }
    lacking = [f"{why}, {name} has no value" for name, why in without.items() if math.isnan(item[name])]
    return [NO_REFERENCE, *lacking] if not answer.gold else lacking


_CITATION_SCORES = ("support", "verification", "claim_consistency_seed", "source_credibility")


def _of_citations(citations: pd.DataFrame | None, answer: Answer, options: Options) -> dict[str, float]:
    if citations is None:
        # The system was to cite and did not: that is a score of 0, not a missing one.
        score = math.nan if answer.unscored else 0.0
        count = math.nan if answer.unscored else 0
        nothing = dict.fromkeys(("n_verified", "n_uncertain", "n_fabricated", "n_checked"), count)
        means = dict.fromkeys(("interpretability", "support", "verification"), score)
        means["claim_consistency_seed"] = math.nan
        return {**means, "source_credibility": math.nan, **nothing}
    means = {name: float(citations[name].mean()) for name in _CITATION_SCORES}
    # Citation by citation: what of a citation could not be verified is not averaged with its support.
    by_citation = interpretability(citations[options.support_on], citations["verification"], options.weights)
    known = by_citation[~np.isnan(by_citation)]
    means["interpretability"] = float(known.mean()) if known.size else math.nan
    if options.support_on != "support":
        means["support"] = means[options.support_on]
    labels = citations["verification_label"].value_counts()
    counts = {"n_verified": "VERIFIED", "n_uncertain": "UNCERTAIN", "n_fabricated": "LIKELY_FABRICATED"}
    # A source whose text is not at hand was not found to be real, nor to be none.
    looked_at = (citations["verification_label"] != "UNCERTAIN") | (citations["source_text"] != "")
    known = looked_at & citations["verification"].notna()
    return means | {name: int(labels.get(label, 0)) for name, label in counts.items()} | {"n_checked": int(known.sum())}


def _of_statements(statements: pd.DataFrame | None, answer: Answer) -> dict[str, float]:
    if statements is None:
        return {"alce_recall": math.nan if answer.unscored else 0.0, "alce_precision": math.nan}
    judged_ = int(statements["n_judged"].sum())
    return {
        "alce_recall": float(statements["recalled"].mean()),
        "alce_precision": float(statements["n_precise"].sum()) / judged_ if judged_ else math.nan,
    }
