"""Are the sources that the model cites real, do they support what it says, and is the answer right?

Input: questions, with gold answers where there are any; answers with marks such as ``[1]`` and a list of citations; the texts of the
sources where they are at hand; or a model, then its cited answers are collected with the shipped prompt.  NQ-open, EfficientQA and Natural
Questions are read as they are published.

Figures (fourth document of the seeds; Gao et al. 2023): support and source verification per citation, their weighted mean
(interpretability), correctness per answer, and the final score; ALCE's citation recall and precision beside them.  Without a
gold answer correctness is undefined and the final score is interpretability; without a quote there is nothing to verify in a
supplied source, and interpretability is support.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.judge.entail import holds_back
from evalbench.kit.answers import remarks
from evalbench.models.accounting import merged
from evalbench.readers.dataset import Dataset
from evalbench.readers.nq import questions
from evalbench.readers.schema import Column, Table
from evalbench.studies._passing import check_shares
from evalbench.studies.citation.answers import Answer, Collected, collected, given, sampled
from evalbench.studies.citation.judging import Bench
from evalbench.studies.citation.pictures import annotated, faulty_citations, picture_labels, picture_scores, worst
from evalbench.studies.citation.scoring import NO_QUOTE, Judged, Options, items_of, judged
from evalbench.studies.citation.sources import MAX_PASSAGE, SHORTEST_QUOTE, Shelf, read_credibility, sources_of
from evalbench.studies.citation.summary import measures, summarise, with_sums

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.web.fetch import Page

__all__ = [
    "QUESTION",
    "SCHEMA",
    "adapt",
    "annotated",
    "evaluate",
    "faulty_citations",
    "measures",
    "picture_labels",
    "picture_scores",
    "summarise",
    "with_sums",
    "worst",
]  # fmt: skip

QUESTION = "Are the sources that the model cites real, do they support what it says, and is the answer right?"
SUPPORTS = ("support", "claim_consistency_seed")

SCHEMA: Mapping[str, Table] = {
    "answers": Table(
        (
            Column("id", "id", help="the question"),
            Column("question", "text"),
            Column(
                "gold_answer",
                "texts",
                required=False,
                empty_ok=True,
                help="one right answer or several; without, correctness is undefined",
            ),
            Column(
                "model_answer",
                "text",
                required=False,
                empty_ok=True,
                keep_null=True,
                help="with marks such as [1]; null: unscored",
            ),
            Column("citations", "json", required=False, empty_ok=True, help="[{n, claim, url?, title?, quote?}, …]"),
            Column("model", "id", groups=True, required=False, help="who answered, where there are several"),
            Column("lang", "text", required=False, empty_ok=True, help="ISO 639-1 code"),
        ),
        unique=("id", "model"),
        help="one row per question and model",
    ),
    "sources": Table(
        (
            Column("url", "id", help="address or name by which citations name it"),
            Column("text", "text"),
            Column("title", "text", required=False, empty_ok=True),
            Column("kind", "text", required=False, empty_ok=True, help="encyclopaedia, press, official, …"),
            Column("id", "id", required=False, empty_ok=True, help="the question that it was supplied for"),
        ),
        unique=("url",),
        required=False,
        help="one row per supplied source",
    ),
}


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Natural Questions' published files as our tables; see :mod:`evalbench.readers.nq`."""
    return questions(frames)


def evaluate(
    data: Dataset,
    *,
    model: str = "",
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int = 1024,
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    judge: str | Callable[[dict[str, Any]], object] = "baseline/lexical",
    judge_prompt: str = "",
    judge_max_tokens: int = 1024,
    check_urls: bool = False,
    allow_hosts: Sequence[str] = (),
    sources_complete: bool = False,
    quote_threshold: float = 0.9,
    credibility_file: str = "",
    support_on: str = "support",
    weights: Mapping[str, float] = {"support": 0.5, "verification": 0.5},
    final_weights: Mapping[str, float] = {"interpretability": 0.5, "correctness": 0.5},
    threshold: float = 0.8,
    max_unscored: float = 0.05,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Result:
    """Judge cited answers.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="citation")``: tables answers, sources.
    model : str
        Collect this model's answers; without it the table's are judged.
    prompt : str
        A prompt file of one's own; by default ``cited_answer`` in the question's language.
    temperature, max_tokens
        Of the collected answers.
    sample_method : {"first", "random"}
    n_samples : int
        Questions; 0 for all.
    random_state : int
    judge : str or callable
        See :func:`evalbench.judge.verdicts.judge`.
    judge_prompt : str
        A folder of one's own prompts ``entailment`` and ``correctness``.
    judge_max_tokens : int
        Longest verdict of a language model.
    check_urls : bool
        Whether addresses without a supplied text are fetched from the web, see :mod:`evalbench.web.fetch`.
    allow_hosts : sequence of str
        Hosts that may lie in a private network; ``host:port`` for a port other than 80 and 443.
    sources_complete : bool
        Whether the supplied sources are all that the model had: an unknown one is then fabricated.
    quote_threshold : float
        Least similarity (0–1) at which a quote or claim counts as found in its source.
    credibility_file : str
        One's own list of kinds and hosts; by default the shipped ``credibility.yaml``.
    support_on : {"support", "claim_consistency_seed"}
        What counts as support in the score: the source against the claim, or (the seed) the answer against the claim.
    weights, final_weights : mapping of str to float
        Of support and verification; of interpretability and correctness.  What is undefined has no weight.
    threshold : float
        A mean final score from here on passes.
    max_unscored : float
    seed, n_resamples : int

    Returns
    -------
    Result
        ``items``: one row per answer.  ``tables``: ``citations``, ``statements``, ``answers``, ``calls``, and ``pages`` where fetched.

    Raises
    ------
    BadInput
        For faults of the options or of lists of citations, all at once.
    """
    options = _options(support_on, weights, final_weights, quote_threshold)
    check_shares(threshold=threshold, max_unscored=max_unscored, quote_threshold=quote_threshold)
    credibility = read_credibility(credibility_file)
    rows = sampled(data["answers"], sample_method, n_samples, random_state)
    settings = {"prompt": prompt, "temperature": temperature, "max_tokens": max_tokens, "seed": seed}
    got = collected(rows, data.get("sources"), model, **settings) if model else given(rows)
    shelf = Shelf(data.get("sources"))
    pages = _pages(got.answers, shelf, allow_hosts) if check_urls else {}
    sources = sources_of(got.answers, shelf, pages, sources_complete=sources_complete)
    bench = Bench(judge, judge_prompt, seed, judge_max_tokens)
    found = judged(got.answers, sources, bench, options, credibility)
    items = items_of(got.answers, found, options)
    judge_name = judge if isinstance(judge, str) else bench.name or "function"
    summary = summarise(
        items, threshold=threshold, max_unscored=max_unscored, judge=judge_name, seed=seed, n_resamples=n_resamples
    )
    models = sorted(items["model"].unique())
    return Result(
        study="citation",
        question=QUESTION,
        judged=f"model {models[0]}" if len(models) == 1 else f"{len(models)} models: {', '.join(models)}",
        parameters={
            "model": model, **settings, "sample_method": sample_method, "n_samples": n_samples, "random_state": random_state,
            "judge": judge_name, "judge_prompt": judge_prompt, "judge_max_tokens": judge_max_tokens, "check_urls": check_urls, "allow_hosts": list(allow_hosts),
            "sources_complete": sources_complete, "quote_threshold": quote_threshold, "credibility_file": credibility_file,
            "support_on": support_on, "weights": dict(weights), "final_weights": dict(final_weights), "threshold": threshold,
            "max_unscored": max_unscored, "n_resamples": n_resamples,
        },
        data=data.label,
        id="id",
        by=("model",),
        items=items,
        summary=summary,
        tables=_tables(got, found, bench, pages),
        notes=(*data.notes, *got.notes, *_remarks(items, found, check_urls)),
        method=_method(options, threshold, judge_name, sources_complete),
        accounting=merged([*got.accounting, *bench.accounting]),
    )  # fmt: skip


def _options(
    support_on: str, weights: Mapping[str, float], final_weights: Mapping[str, float], quote_threshold: float
) -> Options:
    faults = []
    if support_on not in SUPPORTS:
        faults.append(f"support_on is {support_on!r}; one of {', '.join(SUPPORTS)}")
    wanted = {"weights": (weights, ("support", "verification")), "final_weights": (final_weights, ("interpretability", "correctness"))}  # fmt: skip
    for name, (given_, keys) in wanted.items():
        if set(given_) != set(keys):
            faults.append(f"{name} names {', '.join(given_) or 'nothing'}; needed are {', '.join(keys)}")
        elif not all(isinstance(w, int | float) and w >= 0 for w in given_.values()) or not sum(given_.values()):
            faults.append(f"{name}: numbers from 0, not all 0")
    if faults:
        raise BadInput.listing("citation cannot score with these options:", faults)
    return Options(
        support_on,
        (float(weights["support"]), float(weights["verification"])),
        (float(final_weights["interpretability"]), float(final_weights["correctness"])),
        quote_threshold,
    )


def _pages(answers: Sequence[Answer], shelf: Shelf, allow_hosts: Sequence[str]) -> dict[str, Page]:
    from evalbench.web import fetch as webfetch

    wanted = {c.url for a in answers for c in a.citations if c.url and shelf.find(c) is None}
    return webfetch.Fetcher(allow=frozenset(allow_hosts)).fetch_all(wanted)


def _tables(got: Collected, found: Judged, bench: Bench, pages: Mapping[str, Page]) -> dict[str, pd.DataFrame]:
    import pandas as pd

    answers = pd.DataFrame(
        [
            {"id": a.id, "model": a.model, "lang": a.lang, "question": a.question, "gold_answer": "; ".join(a.gold), "answer": a.text,
             "correctness": v.label if (v := found.correctness.get((a.id, a.model))) else "", "reason": v.reason if v else ""}
            for a in got.answers
        ]
    )  # fmt: skip
    tables = {"citations": found.citations, "statements": found.statements, "answers": answers}
    calls = [frame for frame in (*got.calls, *bench.calls) if len(frame)]
    if calls:
        tables["calls"] = pd.concat(calls, ignore_index=True)
    if pages:
        shown = [
            {"url": p.url, "outcome": p.outcome, "detail": p.detail, "hops": " → ".join(p.hops), "characters": len(p.text)}
            for p in pages.values()
        ]  # fmt: skip
        tables["pages"] = pd.DataFrame(shown)
    return tables


def _remarks(items: pd.DataFrame, found: Judged, check_urls: bool) -> list[str]:
    out = remarks(items)
    uncited = int(((items["n_citations"] == 0) & (items["unscored"] == "")).sum())
    if uncited:
        out.append(f"Answers that cite nothing, so that support and verification count 0: {uncited}.")
    unknown = int(found.citations["support"].isna().sum())
    if unknown:
        out.append(
            f"Citations without a support verdict, since no text of their source is at hand or the judge gave none: {unknown}. "
            "The mean of the others counts."
        )
    unquoted = int((found.citations["verification_label"] == NO_QUOTE).sum())
    if unquoted:
        out.append(
            f"Citations without a quote that could be looked for in their supplied source: {unquoted} of {len(found.citations)}. Their "
            "verification is undefined and not averaged with support, which it would only repeat."
        )
    long = int((found.citations["source_text"].str.len() > MAX_PASSAGE).sum())
    if long:
        out.append(
            f"Citations whose source has more than {MAX_PASSAGE} characters: {long}. The judge read so many of them, around the quote or "
            "where most of the claim is found; quotes were looked for in the whole source."
        )
    if check_urls:
        out.append("Pages were fetched from the live web: another day may give other figures (table pages).")
    return out


def _method(options: Options, threshold: float, judge: str, sources_complete: bool) -> tuple[str, ...]:
    w, f = options.weights, options.final_weights
    return (
        f"Interpretability per citation = {w[0]:g} × support + {w[1]:g} × verification, divided by the sum of the weights of what has a "
        "value; per answer the mean of its citations. "
        f"Final = {f[0]:g} × interpretability + {f[1]:g} × correctness, divided likewise; passed from {threshold:g} on.",
        f"Support per citation: the source against the claim, supported 1, not shown 0.5, contradicted 0, by {judge}"
        + (
            ", which never says 'contradicted': support is at least 0.5 wherever the source has a text"
            if holds_back(judge)
            else ""
        )
        + f"; a source that does not exist gives 0. In the score: {options.support_on}.",
        "claim_consistency_seed: the claim against the model's own answer. The claim comes from that answer, so it says little.",
        "Citation recall: share of statements that their joined citations entail. Citation precision: share of citations whose statement "
        "is recalled and that are not needless (Gao et al. 2023, section 4.3).",
        f"Verification: verified 1, uncertain 0.5, likely fabricated 0. A quote of at least {SHORTEST_QUOTE} letters is looked for in its source at "
        f"similarity ≥ {options.quote_threshold:g} with the same numbers: found, it is verified (uncertain where the source contradicts the "
        "claim); not found, likely fabricated (uncertain where the source supports the claim all the same). Without a quote, a page that is "
        "there is verified, and a supplied source is not: there is nothing to look for in it, and what it says about the claim is support "
        "already. 404, 410 and unknown hosts are likely fabricated; time-outs, refusals and sources whose text is not at hand uncertain"
        + ("; a source that was not supplied is likely fabricated." if sources_complete else "."),
        "Fabricated citations: of those whose source or quote could be checked, the share that is likely fabricated.",
        "Correctness: correct 1, partially correct 0.5, incorrect 0, against the gold answers; undefined without one: then final is "
        "interpretability.",
        "An answer that cites nothing scores 0 on support and verification.",
        "Labels, weights and threshold: fourth document of the seeds; intervals resample questions.",
    )
