"""What a citation result says of its method, and the notes on what was judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import kit
from evalbench.judge.entail import holds_back
from evalbench.studies.citation import sources
from evalbench.studies.citation.items import CONSISTENCY, FINAL_WEIGHTS, NO_QUOTE, WEIGHTS
from evalbench.text.odd_texts import odd_text_notes
from evalbench.text.quotations import SHORTEST


def counted(citations: pd.DataFrame) -> dict[str, int]:
    """What :func:`notes` counts of all citations."""
    return {
        "citations": len(citations),
        "unknown": int(citations["support"].isna().sum()),
        "unquoted": int((citations["verification_label"] == NO_QUOTE).sum()),
        "long": int((citations["source_text"].str.len() > sources.MAX_PASSAGE).sum()),
    }


def notes(made: kit.parts.Made, items: pd.DataFrame, *, model: str, check_urls: bool, max_unscored: float) -> list[str]:
    """What a reader should know of this run's answers and citations."""
    uncited = int(((items["n_citations"] == 0) & (items["unscored"] == "")).sum())
    unknown, unquoted, long = (made.sums[name] for name in ("unknown", "unquoted", "long"))
    said = (
        (uncited, f"Answers that cite nothing, so that support and verification count 0: {uncited}."),
        (
            unknown,
            "Citations without a support verdict, since no text of their source is at hand or the judge gave none: "
            f"{unknown}. The mean of the others counts.",
        ),
        (
            unquoted,
            f"Citations without a quote that could be looked for in their supplied source: {unquoted} of "
            f"{made.sums['citations']}. Their verification is undefined and not averaged with support, which it would only repeat.",
        ),
        (
            long,
            f"Citations whose source has more than {sources.MAX_PASSAGE} characters: {long}. The judge read that many, around "
            "the quote or where most of the claim is found; quotes were looked for in the whole source.",
        ),
        (check_urls, "Pages were fetched from the live web: another day may give other figures (table pages)."),
    )
    collected = [f"Answers of {model} were collected with the prompt cited_answer."] if model else []
    words = odd_text_notes(made.sampled["answer"], max_unscored, "sampled answer" if made.is_sample else "answer")
    return [*collected, *words, *kit.answers.remarks(items), *(text for holds, text in said if holds)]


def described(options: Mapping[str, Any]) -> tuple[str, ...]:
    """How every figure is computed, with its source."""
    support, verification = _in_order(options["weights"], WEIGHTS)
    interpretability, correctness = _in_order(options["final_weights"], FINAL_WEIGHTS)
    judge = options["judge"]
    blind = ", which never says 'contradicted': support is at least 0.5 wherever the source has a text"
    complete = "; a source that was not supplied is likely fabricated"
    return (
        f"Interpretability per citation = {support:g} × support + {verification:g} × verification, divided by the sum "
        "of the weights of what has a value; per answer the mean of its citations. "
        f"Final = {interpretability:g} × interpretability + {correctness:g} × correctness, divided likewise; passed "
        f"from {options['threshold']:g} on.",
        "Support per citation: the source against the claim, supported 1, not shown 0.5, contradicted 0, by "
        f"{judge}{blind if holds_back(judge) else ''}; a source that does not exist gives 0. In the score: "
        f"{options['support_on']}.",
        f"{CONSISTENCY}: the claim against the model's own answer, as explainability (docs/methods.md) defines support. The "
        "claim comes from that answer, so it shows little.",
        "Citation recall: share of statements that their joined citations entail. Citation precision: share of "
        "citations whose statement is recalled and that are not needless (Gao et al. 2023, section 4.3).",
        f"Verification: verified 1, uncertain 0.5, likely fabricated 0. A quote of at least {SHORTEST} letters is "
        f"looked for in its source at similarity ≥ {options['quote_threshold']:g} with the same numbers: found, it is "
        "verified (uncertain where the source contradicts the claim); not found, likely fabricated (uncertain where the "
        "source supports the claim all the same). Without a quote, a page that exists is verified, and a supplied "
        "source is not: there is nothing to look for in it, and what it says about the claim is support already. "
        "404, 410 and unknown hosts are likely fabricated; time-outs, refusals and sources whose text is not at hand "
        f"uncertain{complete if options['sources_complete'] else ''}.",
        "Fabricated citations: of those whose source or quote could be checked, the share that is likely fabricated.",
        "Correctness: correct 1, partially correct 0.5, incorrect 0, against the gold answers; undefined without one: "
        "then final is interpretability.",
        "An answer that cites nothing scores 0 on support and verification.",
        "Labels and threshold: explainability (docs/methods.md), Citation Support to Answer Correctness; the values of "
        "verification and correctness and the default weights are ours. Intervals resample questions.",
    )


def _in_order(weights: Mapping[str, float], names: Sequence[str]) -> list[float]:
    return [float(weights[name]) for name in names]
