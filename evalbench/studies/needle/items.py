"""Replies to items: whether each holds what was expected, by every scorer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.metrics import needle as metrics
from evalbench.studies.needle import haystack, inputs
from evalbench.text.odd_texts import is_error_text, says_yes_and_no
from evalbench.text.refusals import is_refusal
from evalbench.text.words import words

KEYS = ("id", "model")
JUDGE = "judge"
MOST_CANDIDATES = 50
SCORERS = ("contains", "first_number", "word", "fuzzy")
COLUMNS = {name: name for name in SCORERS} | {JUDGE: "judged"}
"""The column of each scorer."""
NO_NUMBER = "the expected answer is not one number"


def _echoes(reply: str, question: str) -> bool:
    """Whether a reply is its question and nothing else."""
    return bool(question.strip()) and words(reply.casefold()) == words(question.casefold())


def _lists_others(texts: Sequence[str], expected: Sequence[Sequence[str]], right: np.ndarray) -> np.ndarray:
    """Whether each right reply holds, beside its own, most of the answers that other questions expect."""
    out = np.zeros(len(texts), dtype=bool)
    every = [*dict.fromkeys(metrics.normal(text) for wanted in expected for text in wanted)]
    if not 2 <= len(every) <= MOST_CANDIDATES:
        return out
    at = np.flatnonzero(right)
    held = metrics.word([texts[i] for i in at.tolist()], [every] * len(at)) * len(every)
    for i, n in zip(at.tolist(), np.rint(held).tolist(), strict=True):
        own = {metrics.normal(text) for text in expected[i]}
        others = [text for text in every if text not in own]
        if others and n - len(own) >= (len(others) if len(others) < 3 else len(others) / 2):
            out[i] = not any(metrics.denied(texts[i], text) for text in others)
    return out


def items_of(
    rows: pd.DataFrame, scorer: str, fuzzy_from: float, docket: kit.judging.Docket | None
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Score the replies.

    - ``rows``: ``id``, ``model``, ``answer``, ``reference``, ``unscored`` and, optionally, ``needle``, ``haystack``,
      ``length``, ``depth``, ``question``, ``lang``, ``tokens``, ``placed``.
    - ``scorer``: Whose score is the recall.
    - ``docket``: The judge.
    - Returns ``items``: One row per reply, sorted by id and model.
    - Returns ``replies``: Their texts.
    """
    rows = rows.sort_values([*KEYS], kind="stable", ignore_index=True)
    scored = (rows["unscored"] == "").to_numpy()
    expected = [[text for text in texts if text.strip()] for texts in rows["reference"]]
    known = np.array([bool(texts) for texts in expected], dtype=bool)
    texts = ["" if text is None or text != text else str(text) for text in rows["answer"]]
    items = rows[[*KEYS]].copy()
    items["needle"] = rows["needle"].where(rows["needle"] != "", rows["id"]) if "needle" in rows else rows["id"]
    items["haystack"] = rows.get("haystack", "")
    notes = []
    for name, most in (("length", inputs.MOST_LENGTHS), ("depth", inputs.MOST_DEPTHS)):
        values = rows[name].astype(float) if name in rows else pd.Series(np.nan, rows.index)
        items[name], groups = inputs.gathered(values, most)
        if groups:
            notes.append(
                f"The {core.counted(values.nunique(), name)} are gathered into {groups} groups, each named by its median."
            )
    for name in SCORERS:
        options = {"fuzzy_from": fuzzy_from} if name == "fuzzy" else {}
        items[name] = np.where(scored, getattr(metrics, name)(texts, expected, **options), np.nan)
    unscored = rows["unscored"].astype(object)
    if docket is not None:
        judged, lost = _judged(rows, texts, expected, scored & known, docket)
        items["judged"] = judged
        if scorer == JUDGE:
            unscored = unscored.mask(lost != "", lost)
    items["recall"] = items[COLUMNS[scorer]]
    asked = rows["question"].fillna("") if "question" in rows else [""] * len(rows)
    items["in_question"] = [
        float(any(metrics.word([q], [[text]])[0] == 1 for text in wanted)) if q and wanted else np.nan
        for q, wanted in zip(asked, expected, strict=True)
    ]
    counted = ((items["recall"] > 0) & (scorer != JUDGE)).to_numpy()
    items["declined"] = [
        float(
            several
            or is_refusal(reply)
            or is_error_text(reply)
            or says_yes_and_no(reply)
            or _echoes(reply, asked_by)
            or any(metrics.denied(reply, text) for text in wanted)
        )
        if right
        else np.nan
        for reply, asked_by, wanted, right, several in zip(
            texts, asked, expected, counted, _lists_others(texts, expected, counted), strict=True
        )
    ]
    unscored_now = (unscored != "").to_numpy()
    items.loc[unscored_now, "recall"] = np.nan
    for kind in haystack.KINDS:
        items[f"recall_{kind}"] = items["recall"].where(items["haystack"] == kind)
    items["unscored"] = unscored
    items["undefined"] = np.select(
        [unscored_now, ~known, items["recall"].isna().to_numpy()], ["", kit.answers.NO_REFERENCE, NO_NUMBER], default=""
    )
    shown = {name: rows[name] for name in ("question", "lang", "tokens", "placed") if name in rows}
    replies = rows[[*KEYS]].assign(**shown, reference=["; ".join(e) for e in expected], answer=rows["answer"])
    return items, replies, notes


def _judged(
    rows: pd.DataFrame,
    texts: Sequence[str],
    expected: Sequence[Sequence[str]],
    asked: np.ndarray,
    docket: kit.judging.Docket,
) -> tuple[np.ndarray, np.ndarray]:
    """The judge's value of each reply, and why there is none; a reply without words is wrong."""
    values, lost = np.full(len(rows), np.nan), np.full(len(rows), "", dtype=object)
    questions, places = [], []
    for i in np.flatnonzero(asked).tolist():
        if not texts[i].strip():
            values[i] = 0.0
            continue
        question = str(rows["question"].iloc[i] or "") if "question" in rows else ""
        lang = str(rows["lang"].iloc[i] or "en") if "lang" in rows else "en"
        fields = {"question": question, "gold": ["; ".join(expected[i])], "answer": texts[i]}
        questions.append(kit.judging.Question(fields, lang, unit=str(rows["id"].iloc[i])))
        places.append(i)
    for i, judgement in zip(places, docket.ask("correctness", questions), strict=True):
        values[i] = np.nan if judgement.unscored else judgement.value
        lost[i] = judgement.unscored
    return values, lost
