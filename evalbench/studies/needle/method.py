"""What a reader must know of the replies, and how the figures were computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.needle.items import COLUMNS, JUDGE, NO_NUMBER, SCORERS
from evalbench.text.digits_in_words import number_word_notes
from evalbench.text.odd_texts import odd_text_notes

_LISTED = 8
A_FEW = 0.05
"""A larger share of replies is said in the sentence."""


def notes(items: pd.DataFrame, replies: pd.DataFrame, fallen: pd.DataFrame, scorer: str) -> list[str]:
    """Where recall falls, where scorers part, and what has no score."""
    out = []
    if len(fallen):
        shown = fallen[fallen["shown"]]
        for row in shown.head(_LISTED).to_dict("records"):
            out.append(
                f"{place(row)}: recall falls from {row['before']:.2f} to {row['recall']:.2f} at depth {interval(row)}."
            )
        if len(shown) > _LISTED:
            out.append(f"Further lines of the table in which recall falls: {len(shown) - _LISTED}.")
    own = items[COLUMNS[scorer]]
    others = [name for name in SCORERS if name != scorer]
    if scorer != JUDGE:
        differ = [(name, int((items[name].notna() & own.notna() & (items[name] != own)).sum())) for name in others]
        said = [f"{name} on {n}" for name, n in differ if n]
        n = int(own.notna().sum())
        short = f"of {core.counted(n, 'scored reply', 'scored replies')} other scorers than {scorer} differ: {', '.join(said)}"
        if said:
            many = max(count for _, count in differ) > A_FEW * n
            out.append(core.Note("disagreement", short) if many else f"O{short[1:]}.")
    if repeated := int(items["in_question"].sum()):
        short = (
            f"the question holds the expected answer of {core.counted(repeated, 'reply', 'replies')}, so that one which "
            "repeats it counts as right"
        )
        out.append(core.Note("instrument", short) if repeated > A_FEW * len(items) else f"T{short[1:]}.")
    if without := int((items["undefined"] == NO_NUMBER).sum()):
        out.append(
            f"Replies whose expected answer is not one number, so that first_number has no value: {without} of {len(items)}."
        )
    if items["depth"].isna().all() or items["length"].isna().all():
        missing = " and ".join(name for name in ("length", "depth") if items[name].isna().all())
        out.append(f"Without {missing} in the table, a grid of both cannot be drawn.")
    if "placed" in replies and len(replies):
        off = float(np.abs(replies["placed"] - items["depth"]).max())
        least, most = int(replies["tokens"].min()), int(replies["tokens"].max())
        out.append(
            f"Contexts have {least} to {most} tokens; needles are between sentences, at most {off:.2f} from the asked depth."
        )
    expected = [text.split("; ") for text in replies["reference"]]
    in_words = number_word_notes(list(replies["answer"]), expected, A_FEW, "answer")
    words = odd_text_notes(replies["answer"].dropna(), A_FEW, "reply")
    return [*out, *kit.answers.remarks(items), *words, *in_words]


def place(row: Mapping[Any, Any]) -> str:
    """The line of a fall in words."""
    length = "all lengths" if row["length"] != row["length"] else f"length {row['length']:g}"
    return ", ".join(filter(None, [str(row["model"]), str(row["haystack"]), length]))


def interval(row: Mapping[Any, Any]) -> str:
    """The depth of a fall with its interval."""
    return f"{row['depth']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def described(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The scorers, the grid and their sources."""
    lines = [
        f"Recall = share of replies that hold the expected answer, by the scorer {options['scorer']}; of several expected texts "
        "the share that is found. A reply without text is unscored, an empty one is wrong.",
        "contains: the expected text appears anywhere, numbers whole. word: as whole words, so that 4217 is not in 14217. first_number: the "
        f"first run of digits is the expected number. fuzzy: a passage at least {options['fuzzy_from']:g} similar (numbers whole, "
        "as word). All four: case, white space and the script of digits do not count.",
        "word and first_number are the scorers of InfiniteBench (Zhang et al. 2024) for key–value pairs and for numbers.",
        f"Recall falls at the first depth where it is {options['least_fall']:g} or more below its best at a shallower one (ours). "
        "Shown where p ≤ 0.05: as large a fall anywhere, when each needle's replies are dealt to its depths at random, Holm over a "
        "model's lines; those of a cluster are dealt together. The interval: the middle 95 % of the depths at which recall falls in resamples of needles.",
        "Intervals resample needles, or replies where needles are not named. Those of cells and depths are Wilson's; where several "
        "replies are about one needle, or of one cluster, with the effective number of replies and Student's t (Dean & Pagano 2015), "
        "and none where all are about one.",
        "Source: handbook (docs/methods.md), «Спецификация Extract: «Иголка в стоге сена»»: a haystack that has nothing to do "
        "with the question (vanilla) tests attention, a related one is closer to a product.",
    ]  # fmt: skip
    if options["model"]:
        several = options["needles_per_context"] > 1
        lines.insert(
            3,
            f"A context has whole sentences of the haystack from its beginning, at most as many tokens ({options['tokenizer']}) as "
            "its length with the needle; the needle comes before the sentence nearest to its depth"
            + (", further ones at even distances from there to the end." if several else "."),
        )
    if options["judge"]:
        lines.append(
            f"The judge {options['judge']} compares each reply with the expected answer: 1, 0.5, 0; an empty reply is 0."
        )
    return tuple(lines)
