"""Judges of categories: marks that are kinds, without an order or with a stated one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors

KINDS = "kinds"
"""The verdicts' column of all kinds, as JSON, the same in every row: a mark is a kind's place among them."""
MOST_KINDS = 24
_JUDGE, _PEOPLE, _AMONG = "judge_is_", "people_are_", "among_are_"
EQUAL, AMONG_EQUAL = "kinds_equal", "among_equal"
NONE = "no answer has both a mark and a label, or all are of one kind"


# -- reading ----------------------------------------------------------------------------------------


def coded(frames: Mapping[str, pd.DataFrame], label_column: Callable[[str], object]) -> Mapping[str, pd.DataFrame]:
    """Tables whose marks are words of several kinds, with each kind's place among all, in order of their names.

    - ``label_column``: Whether a column of the verdicts holds labels of people, by its name.
    """
    verdicts, labels = frames["verdicts"], frames.get("labels")
    if "mark" not in verdicts or not verdicts.columns.is_unique or KINDS in verdicts:
        return frames
    words = _words(verdicts["mark"])
    if words is None or words.nunique() < 2 or words.nunique() > min(MOST_KINDS, len(words) // 2):
        return frames
    beside = [str(c) for c in verdicts if label_column(str(c)) and _words(verdicts[c]) is not None]
    columns = [verdicts["mark"], *(verdicts[c] for c in beside)]
    if labels is not None and "mark" in labels and (_words(labels["mark"]) is not None):
        columns.append(labels["mark"])
        labels = labels.assign(mark=labels["mark"])
    said = [words_ for own in columns if (words_ := _words(own)) is not None]
    spelt = {_folded(cell): cell.strip() for own in said for cell in reversed([*own])}
    kinds = sorted(spelt.values())
    if len(kinds) > MOST_KINDS:
        return frames
    place = {_folded(kind): float(k) for k, kind in enumerate(kinds)}

    def codes(column: pd.Series) -> pd.Series:
        return column.map(lambda cell: place.get(_folded(cell)) if isinstance(cell, str) else None).astype(float)

    out = verdicts.assign(**{c: codes(verdicts[c]) for c in ("mark", *beside)}, **{KINDS: json.dumps(kinds)})
    shown = ", ".join(kinds[:9]) + (f" and {len(kinds) - 9} more" if len(kinds) > 9 else "")
    notes = [*verdicts.attrs.get("notes", ()), f"marks are {len(kinds)} kinds without an order: {shown}"]
    out.attrs = {**verdicts.attrs, "notes": tuple(notes)}
    found = {**frames, "verdicts": out}
    if len(columns) > 1 + len(beside) and labels is not None:
        found["labels"] = labels.assign(mark=codes(labels["mark"]))
        found["labels"].attrs = frames["labels"].attrs
    return found


def _words(column: pd.Series) -> pd.Series | None:
    """The cells that are there, where all of them are words and none a number."""
    there = column[column.notna()]
    there = there[there.map(lambda cell: not (isinstance(cell, str) and cell.strip() == ""))]
    if not len(there) or not there.map(lambda cell: isinstance(cell, str) and not _is_number(cell)).all():
        return None
    return there


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _folded(cell: str) -> str:
    return " ".join(cell.casefold().split())


def kinds_of(verdicts: pd.DataFrame) -> list[str]:
    """The kinds of a table of verdicts; empty where marks are numbers."""
    if KINDS not in verdicts:
        return []
    there = verdicts.loc[verdicts[KINDS] != "", KINDS]
    return list(json.loads(str(there.iloc[0]))) if len(there) else []


def in_order(verdicts: pd.DataFrame, labels: pd.DataFrame, order: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Verdicts and labels whose marks are places in a stated order: ordered marks like any others.

    Raises ``BadInput`` for kinds that the order lacks, and for an order of marks that are numbers.
    """
    kinds = kinds_of(verdicts)
    if not kinds:
        raise errors.BadInput("kinds_in_order: marks are numbers, which have an order")
    place = {_folded(kind): float(k) for k, kind in enumerate(order)}
    lacking = [kind for kind in kinds if _folded(kind) not in place]
    if lacking:
        raise errors.BadInput(
            f"kinds_in_order: {', '.join(lacking)} lacking; the kinds are {json.dumps(kinds, ensure_ascii=False)}"
        )
    of_code = {float(k): place[_folded(kind)] for k, kind in enumerate(kinds)}
    told = verdicts.assign(mark=verdicts["mark"].map(of_code)).drop(columns=KINDS)
    return told, labels.assign(mark=labels["mark"].map(of_code))


# -- what is summed ---------------------------------------------------------------------------------


def most_common(given: pd.DataFrame, key: Sequence[str]) -> pd.Series:
    """The kind that most verdicts of an answer name, by answer; none for a tie."""
    counts = given.groupby([*key, "mark"]).size().unstack("mark", fill_value=0)
    clear = counts.eq(counts.max(axis=1), axis=0).sum(axis=1) == 1
    return counts.idxmax(axis=1).astype(float).where(clear)


def sums_of(mark: core.Floats, labels: core.Floats, n_kinds: int) -> dict[str, core.Floats]:
    """What nominal kappa sums: equal marks, and how often judge and people name each kind; the same of people alone."""
    there = ~np.isnan(labels)
    n = there.sum(axis=1)
    both, several = (n > 0) & ~np.isnan(mark), n > 1
    shares = [(labels == k).sum(axis=1) / np.maximum(n, 1) for k in range(n_kinds)]
    equal = (labels == mark[:, None]).sum(axis=1) / np.maximum(n, 1)
    pairs = sum((share * n) * (share * n - 1) for share in shares) / np.maximum(n * (n - 1), 1)
    out = {EQUAL: np.where(both, equal, np.nan), AMONG_EQUAL: np.where(several, pairs, np.nan)}
    for k in range(MOST_KINDS):
        share = shares[k] if k < n_kinds else np.zeros(len(mark))
        out[f"{_JUDGE}{k:02}"] = np.where(both, mark == k, 0.0)
        out[f"{_PEOPLE}{k:02}"] = np.where(both, share, 0.0)
        out[f"{_AMONG}{k:02}"] = np.where(several, share, 0.0)
    return out


def _named(prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{k:02}" for k in range(MOST_KINDS))


SUMS = (f"#{EQUAL}", EQUAL, *_named(_JUDGE), *_named(_PEOPLE))
AMONG = (f"#{AMONG_EQUAL}", AMONG_EQUAL, *_named(_AMONG))


def kappa(n: core.Floats, equal: core.Floats, *each: core.Floats) -> core.Floats:
    """(p − p₀) / (1 − p₀) with p₀ = Σ p_k q_k of judge and people."""
    judge, people = each[:MOST_KINDS], each[MOST_KINDS:]
    chance = sum(
        (core.ratio(a, n) * core.ratio(b, n) for a, b in zip(judge, people, strict=True)), np.zeros(np.shape(n))
    )
    one_kind = sum((core.ratio(b, n) ** 2 for b in people), np.zeros(np.shape(n))) > 1 - 1e-12
    return np.where(one_kind, np.nan, _above(core.ratio(equal, n), chance))


def among(n: core.Floats, equal: core.Floats, *each: core.Floats) -> core.Floats:
    """The same of two people, p₀ = Σ q_k²."""
    return _above(core.ratio(equal, n), sum((core.ratio(a, n) ** 2 for a in each), np.zeros(np.shape(n))))


def _above(observed: core.Floats, chance: core.Floats) -> core.Floats:
    with np.errstate(all="ignore"):
        return np.where(chance < 1 - 1e-12, (observed - chance) / (1 - chance), np.nan)


def beyond(*sums: core.Floats) -> core.Floats:
    return kappa(*sums[: len(SUMS)]) - among(*sums[len(SUMS) :])


# -- tables -----------------------------------------------------------------------------------------

CONFUSION = ["judge", "judge says", "people say", "answers"]
SHARES = ["judge", "kind", "says", "says_low", "says_high", "corrected", "corrected_low", "corrected_high", "labels"]


def confusion(items: pd.DataFrame, kinds: Sequence[str]) -> pd.DataFrame:
    """How often people say what of each kind that a judge named, by the majority of the labels."""
    both = items[items["mark"].notna() & items["human"].notna()]
    counts = both.groupby(["judge", "mark", "human"], sort=True).size().rename("answers").reset_index()
    named = counts.assign(**{"judge says": _names(counts["mark"], kinds), "people say": _names(counts["human"], kinds)})
    return named[CONFUSION]


def _names(codes: pd.Series, kinds: Sequence[str]) -> list[str]:
    return [kinds[int(code)] for code in codes]


def shares(
    items: pd.DataFrame, kinds: Sequence[str], corrected: Callable[[core.Floats, core.Floats], core.ppi.Corrected]
) -> pd.DataFrame:
    """Of every kind the share that a judge names, and the share corrected by labels, each kind against all others."""
    rows: list[dict[str, Any]] = []
    for judge, own in items[items["mark"].notna()].groupby("judge", sort=True):
        for k, kind in enumerate(kinds):
            mark, human = (own[c].to_numpy(dtype=float) for c in ("mark", "human"))
            says = (mark == k).astype(float)
            found = corrected(says, np.where(np.isnan(human), np.nan, (human == k).astype(float)))
            low, high = map(float, core.stats.wilson(float(says.sum()), len(says)))
            ends = [np.nan if end is None else end for end in (found.value, found.ci_low, found.ci_high)]
            row = [judge, kind, says.mean(), low, high, *ends, found.n_labelled]
            rows.append(dict(zip(SHARES, row, strict=True)))
    return pd.DataFrame(rows, columns=SHARES)
