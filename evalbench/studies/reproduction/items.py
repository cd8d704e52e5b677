"""Generations to items: how much the answers to each question differ, and how many of them are right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, kit
from evalbench.metrics import diversity, overlap, pairs_of_texts
from evalbench.studies.reproduction import inputs
from evalbench.text.normalise import normalised_ids
from evalbench.text.odd_texts import is_error_text

ONE = "one generation only"
FEW = "fewer than two generations with a text"
NO_MARK = "no generation is marked right or wrong"


def graded(rows: pd.DataFrame) -> pd.DataFrame:
    """The generations with ``correct``: the table's own marks, else whether they equal a reference after normalising.

    An empty answer is wrong; one that is lost has no mark.  A reference is that of its question: it need not be in every row.
    """
    if "correct" in rows or "reference" not in rows:
        return rows.assign(correct=rows["correct"].where(rows["unscored"] == "")) if "correct" in rows else rows
    listed = rows["reference"].map(_listed)
    own = listed.where(listed.map(bool)).to_frame("reference").assign(test_set=rows["test_set"], id=rows["id"])
    references = own["reference"].fillna(own.groupby(["test_set", "id"])["reference"].transform("first"))
    known = (rows["unscored"] == "") & references.notna()
    correct = np.full(len(rows), np.nan)
    correct[known] = overlap.normalized_exact_match(
        rows.loc[known, "answer"].tolist(), references[known].tolist(), normalise=diversity.NORMALISED, language=""
    )
    return rows.assign(correct=correct)


def _listed(reference: Any) -> list[str]:
    texts = reference if isinstance(reference, list) else [reference]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def items_of(
    rows: pd.DataFrame, embed: Callable[[Sequence[str]], Any] | None
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """One row per question of a test set and model; the generations with ``answer_no``: which of them are the same; notes.

    - ``rows``: Of :func:`evalbench.studies.reproduction.inputs.generations_of`, graded.
    - ``embed``: Texts to vectors; None leaves the meaning out.
    """

    number, keys = _questions(rows)
    n = len(keys)
    lost = (rows["unscored"] != "").to_numpy()
    empty = ~lost & np.array([not isinstance(text, str) or not text.strip() for text in rows["answer"].tolist()])
    spoken = ~lost & ~empty
    errors = spoken & np.array([is_error_text(text) for text in rows["answer"].tolist()])
    totals, n_lost, n_empty, n_errors, sizes = (
        np.bincount(number, weights=kind, minlength=n).astype(np.int64)
        for kind in (np.ones(len(rows)), lost, empty, errors, spoken)
    )
    texts = rows.loc[spoken, "answer"].tolist()
    ends = np.cumsum(sizes)
    several = sizes > 1
    tokens = normalised_ids(texts, diversity.NORMALISED, "")
    by_ngrams = pairs_of_texts.ngram_diversity(tokens, sizes)
    answer, counts, of = diversity.answer_counts(tokens, sizes)
    n_answers = np.bincount(of, minlength=n)
    n_texts = _distinct(texts, sizes)
    # Answers that differ in case or punctuation alone have one meaning, which a model would not say of short ones.
    first = _first_texts(texts, answer, len(counts))
    alike = [first[a] for a in answer.tolist()]
    groups = [alike[end - size : end] for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)]
    meaning, why, notes = _meaning(groups, several, embed)
    failed = np.where(totals == n_lost, _first_reason(rows, number, n), "")
    undefined = np.select([failed != "", several, totals == 1], ["", "", ONE], default=FEW)
    figures = {
        "lexical_diversity": by_ngrams.dice,
        **({} if embed is None else {"semantic_diversity": meaning}),
        "changed": _known(n_answers > 1, several),
        "answer_disagreement": pairs_of_texts.mean_of_groups(
            _pairs(sizes) - np.bincount(of, _pairs(counts), n), _pairs(sizes)
        ),
        "changed_text": _known(n_texts > 1, several),
        "distinct_ngrams_set": by_ngrams.distinct_set,
        "distinct_ngrams_pairs_handbook": by_ngrams.distinct_pairs,
    }
    sizes_of = {
        "n_generations": totals,
        "n_lost": n_lost,
        "n_empty": n_empty,
        "n_errors": n_errors,
        "n_answers": n_answers,
    }
    items = keys.assign(**sizes_of, **figures, **(_marks(rows, number, n) if "correct" in rows else {}))
    if why:
        items["semantic_diversity_unscored"] = np.where(several, why, "")
    same = np.full(len(rows), -1)
    same[spoken] = answer
    return items.assign(unscored=failed, undefined=undefined), rows.assign(answer_no=same), notes


def trials_of(generations: pd.DataFrame, by: Sequence[str]) -> dict[str, pd.DataFrame]:
    """The table ``trials``: right answers of every trial, with Wilson's interval; empty without marks."""
    if "correct" not in generations or "trial" not in generations or generations["correct"].isna().all():
        return {}
    found = []
    marked = generations.groupby([*by])["correct"].transform("count") > 0
    for names, rows in generations[marked].groupby([*by, "trial"], sort=False):
        columns = {
            "correct": rows["correct"].to_numpy(dtype=float),
            "unscored": rows["unscored"].to_numpy(dtype=object),
        }
        (e,) = core.measures.estimate(columns, [core.share_of("correct")], units=rows["id"], seed=0).estimates
        numbers = (np.nan if x is None else x for x in (e.value, e.ci_low, e.ci_high))
        keys = dict(zip([*by, "trial"], names, strict=True))
        found.append({**keys, **dict(zip(("correct", "low", "high"), numbers, strict=True)), "n": e.n})
    return {"trials": pd.DataFrame(found)}


def _questions(rows: pd.DataFrame) -> tuple[core.Ints, pd.DataFrame]:
    """The number of each row's question, questions in the order of their names; and the questions."""
    first = ~rows.duplicated([*inputs.QUESTION])
    keys = rows.loc[first, [*inputs.QUESTION, "task"]].reset_index(drop=True)
    return np.cumsum(first.to_numpy()) - 1, keys


def _distinct(texts: Sequence[str], sizes: core.Ints) -> core.Ints:
    """How many different texts each group has."""
    pairs = set(zip(np.repeat(np.arange(len(sizes)), sizes).tolist(), texts, strict=True))
    counts: core.Ints = np.bincount(np.array([group for group, _ in pairs], np.int64), minlength=len(sizes))
    return counts


def _first_texts(texts: Sequence[str], answer: core.Ints, n: int) -> list[str]:
    """The first text of each answer by alphabet."""
    found = [""] * n
    for text, a in sorted(zip(texts, answer.tolist(), strict=True), reverse=True):
        found[a] = text
    return found


def _first_reason(rows: pd.DataFrame, number: core.Ints, n: int) -> Any:
    """Why the first lost generation of each question is lost; empty where none is."""
    lost = np.flatnonzero(rows["unscored"].to_numpy() != "")
    out = np.full(n, "", dtype=object)
    out[number[lost][::-1]] = rows["unscored"].to_numpy(dtype=object)[lost][::-1]
    return out


def _meaning(
    groups: Sequence[Sequence[str]], several: Any, embed: Callable[[Sequence[str]], Any] | None
) -> tuple[core.Floats, str, list[str]]:
    """Diversity of meaning; where the model is not at hand, the reason and a note."""
    nothing = np.full(len(groups), np.nan)
    if embed is None:
        return nothing, "", []
    asked = [group if known else [] for group, known in zip(groups, several.tolist(), strict=True)]
    try:
        return diversity.semantic_diversity(asked, embed=embed), "", []
    except errors.ModelUnavailable as error:
        return nothing, error.unscored, [f"Diversity of meaning is unscored: {error}"]


def _marks(rows: pd.DataFrame, number: core.Ints, n: int) -> dict[str, Any]:
    """How many generations are marked, their mean mark, and whether they are neither all right nor all wrong."""
    mark = rows["correct"].to_numpy(dtype=float)
    known = np.isfinite(mark)
    n_marked = np.bincount(number[known], minlength=n)
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, number[known], mark[known])
    np.maximum.at(high, number[known], mark[known])
    answered = np.bincount(number[(rows["unscored"] == "").to_numpy()], minlength=n) > 0
    why = kit.answers.NO_REFERENCE if "reference" in rows else NO_MARK
    return {
        "correct": pairs_of_texts.mean_of_groups(
            np.bincount(number[known], weights=mark[known], minlength=n), n_marked
        ),
        "n_marked": n_marked,
        "flickers": _known(high > low, n_marked > 1),
        "correct_undefined": np.where((n_marked == 0) & answered, why, ""),
    }


def _pairs(counts: core.Ints) -> core.Floats:
    return np.asarray(counts * (counts - 1.0) / 2)


def _known(holds: Any, known: Any) -> core.Floats:
    return np.where(known, np.asarray(holds, dtype=float), np.nan)
