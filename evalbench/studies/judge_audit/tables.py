"""The tables behind the page: agreement, rates, replacing, probes, panel, costs, what has no mark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core
from evalbench.studies.judge_audit import figures, inputs, kinds, live, summary
from evalbench.studies.judge_audit.corrected import WAYS, stratified_rate, way_of, with_twice
from evalbench.studies.judge_audit.items import (
    GRADED,
    NOMINAL,
    NULL_ANSWER,
    ZERO_ONE,
    annotators_of,
    correctable,
    labelled_models,
)

MOST_COMPARED = 40
"""Of more judges no pairs are compared."""
NEARLY = 0.7
"""Two judges whose errors correlate from here on are nearly the same judge."""
PROBES: Mapping[str, tuple[str, str]] = {
    "first_slot": ("place", "no pair was shown in both orders (column order: ab, ba)"),
    "inconsistent": ("both orders", "no pair was shown in both orders (column order: ab, ba)"),
    "length_bias": ("length", "no answer has a mark, a label and a length (column length or answer)"),
    "repeat_equal": ("asked again", "nothing was asked twice (column repeat)"),
    "null_answer": ("null answer", "no constant answer was judged (null_model names its system)"),
    "raised": ("orders in answers", "no answer carries an order to the judge (column probe)"),
    "family_gap": ("own family", "no labelled answer is by a model of the judge's family, by their names"),
    "unparsed": ("no mark", ""),
}
PASSED: Mapping[str, str] = {
    "first_slot": "no liking for a place",
    "inconsistent": "keeps to its winner",
    "length_bias": "no liking for length",
    "repeat_equal": "repeats itself",
    "null_answer": "not gameable by it",
    "raised": "does not obey",
    "family_gap": "no favour",
    "unparsed": "marks nearly all",
}


def tables_of(
    items: pd.DataFrame,
    overall: core.Summary,
    readings: inputs.Readings,
    *,
    epsilon: float,
    labels_drawn: str,
    seed: int,
    n_resamples: int,
) -> dict[str, pd.DataFrame]:
    """Every table of the result."""
    resampling = {"seed": seed, "n_resamples": n_resamples}
    uses = summary.uses_of(items, overall.estimates, epsilon)
    agreement, replacing, rates, probes = [], [], [], []
    for name, rows in items.groupby("judge", sort=True):
        own = summary.figures_of(overall, str(name))
        test = summary.alternative(rows, epsilon)
        agreement.append({**_agreement(rows, own, readings), **_replaces(test), "use": uses[str(name)]})
        replacing += [{**one._asdict(), "judge_agrees": one.judge, "judge": name} for one in test.annotators]
        rates += [] if not figures.has_rates(rows) else [_rates(rows, own, labels_drawn, resampling)]
        probes += _probes(rows, own, resampling)
    panel, alike = _panels(items, resampling)
    return {
        "agreement": pd.DataFrame(agreement),
        "replacing": pd.DataFrame(replacing, columns=None if replacing else ["judge", "annotator"]),
        "rates": pd.DataFrame(rates, columns=None if rates else RATES),
        "probes": pd.DataFrame(probes),
        **_of_kinds(items, readings, labels_drawn),
        "panel": pd.DataFrame(panel, columns=PANEL),
        "alike": pd.DataFrame(alike, columns=ALIKE),
        "tried": live.tried_of(readings.verdicts, **resampling),
        "costs": pd.DataFrame(_costs(items, resampling), columns=COSTS),
        "unparsed": _unparsed(readings.verdicts),
        "texts": _texts(readings.verdicts),
        "reasons": _reasons(readings.verdicts),
    }


def _of_kinds(items: pd.DataFrame, readings: inputs.Readings, labels_drawn: str) -> dict[str, pd.DataFrame]:
    """The confusion of judges and people, and each kind's share, of marks that are kinds; else nothing."""
    named = kinds.kinds_of(readings.verdicts)
    if not named:
        return {}
    of_kind = stratified_rate if labels_drawn == "random" else lambda mark, human: core.ppi.Corrected(None)
    return {"confusion": kinds.confusion(items, named), "kinds": kinds.shares(items, named, of_kind)}


def _interval(name: str, e: core.Estimate | None) -> dict[str, Any]:
    value, low, high = (None, None, None) if e is None else (e.value, e.ci_low, e.ci_high)
    return {name: _number(value), f"{name}_low": _number(low), f"{name}_high": _number(high)}


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _agreement(rows: pd.DataFrame, own: Mapping[str, core.Estimate], readings: inputs.Readings) -> dict[str, Any]:
    scale, name = str(rows["scale"].iloc[0]), str(rows["judge"].iloc[0])
    asked, criterion = str(rows["asked"].iloc[0]), str(rows[inputs.CRITERION].iloc[0])
    e = own[figures.AGREEMENT[scale]]
    verdicts = readings.verdicts
    mine = verdicts[(verdicts["judge"] == asked) & (verdicts[inputs.CRITERION] == criterion)]
    both = rows[rows["mark"].notna() & rows["human"].notna()]
    kappa, equal = math.nan, math.nan
    if scale in (ZERO_ONE, NOMINAL) and len(both):
        kappa = _number(
            core.agreement.cohen_kappa(both["mark"].to_numpy(), both["human"].to_numpy(), n_resamples=1).value
        )
        equal = float((both["mark"] == both["human"]).mean())
    known = rows[[*annotators_of(rows)]].notna().any(axis=0)
    findings = summary.found_in(own)
    return {
        "judge": name,
        "asked": asked,
        inputs.CRITERION: criterion,
        "method": _said(mine["method"]),
        "figure": e.title,
        **_interval("agreement", e),
        **_interval("ceiling", next((own[name] for name in figures.CEILINGS if name in own), None)),
        "n": e.n,
        "annotators": int(known.sum()),
        "majority_kappa": kappa,
        "majority_equal": equal,
        "light": e.light,
        "note": e.note,
        "found": "; ".join(finding for _, finding in findings.values()),
        "comment": _said(mine["comment"]),
        "prompt": _said(mine["prompt"]),
    }


def _said(cells: pd.Series) -> str:
    """What the rows of a judge and criterion say, each text once."""
    return "; ".join(sorted({str(c).strip() for c in cells.unique() if str(c).strip()}))


def _replaces(test: Any) -> dict[str, Any]:
    return {
        "winning_rate": _number(test.winning_rate),
        "advantage": _number(test.advantage),
        "may_replace": {None: "not tested", True: "may replace", False: "may not replace"}[test.may_replace],
        "left_out": test.note,
    }


RATES = [
    "judge", "of", "unit", *(f"{name}{end}" for name in ("naive", "corrected", "too_kind") for end in ("", "_low", "_high")),
    "labels", "items", "way", "sentence", "more", "narrower",
]  # fmt: skip


def _rates(
    rows: pd.DataFrame, own: Mapping[str, core.Estimate], labels_drawn: str, resampling: Mapping[str, Any]
) -> dict[str, Any]:
    scale = str(rows["scale"].iloc[0])
    naive, corrected, kind = (own.get(of[scale]) for of in (figures.NAIVE, figures.CORRECTED, figures.TOO_KIND))
    only = labelled_models(rows)
    if only:
        rows = correctable(rows)
        named = [m for m in figures.unlit("random") if m.metric == figures.NAIVE[scale]]
        (naive,) = core.measures.estimate(rows, named, units=rows["id"], **resampling).estimates
    narrower = with_twice(rows, labels_drawn)
    sentence = ""
    if kind is not None and kind.value is not None and kind.ci_low is not None and kind.ci_high is not None:
        labels = int((rows["mark"].notna() & rows["human"].notna()).sum())
        few = f"Only {core.counted(labels, 'label')}, too few to rest on. " if labels < summary.LEAST else ""
        sentence = few + summary.kindness_with_interval(kind)
    elif corrected is not None and corrected.value is None:
        sentence = corrected.note
    more = (
        ""
        if narrower is None
        else f"With twice the labels the interval would be about {100 * narrower:.0f}\N{NO-BREAK SPACE}% narrower"
    )
    return {
        "judge": rows["judge"].iloc[0],
        "of": ", ".join(only),
        "unit": "0–1" if scale == ZERO_ONE else "marks",
        **_interval("naive", naive),
        **_interval("corrected", corrected),
        **_interval("too_kind", kind),
        "labels": int((rows["mark"].notna() & rows["human"].notna()).sum()),
        "items": int(rows["mark"].notna().sum()),
        "way": WAYS[way_of(rows, labels_drawn)],
        "sentence": sentence,
        "more": more,
        "narrower": _number(narrower),
    }


def _probes(
    rows: pd.DataFrame, own: Mapping[str, core.Estimate], resampling: Mapping[str, int]
) -> list[dict[str, Any]]:
    found, out = summary.found_in(own), []
    for metric, (title, why) in PROBES.items():
        e = own.get(metric)
        if e is None or e.value is None:
            reason = why if e is None else e.note
            if metric == "null_answer" and (rows["undefined"] == NULL_ANSWER).any():
                reason = "marks are not within 0–1, so that there is no win rate"
            if metric == "length_bias" and not rows["human"].notna().any():
                reason = "; ".join(filter(None, [reason, _without_labels(rows, resampling)]))
            row = {"figure": why and "", "value": math.nan, "low": math.nan, "high": math.nan, "n": 0, "light": "grey"}
            out.append({"judge": rows["judge"].iloc[0], "probe": title, **row, "finding": "", "why": reason})
            continue
        finding = found[metric][1] if metric in found else _passed(e) if e.light == "green" else ""
        note = (
            f"{e.n} answers, and under {summary.LEAST} there is no light"
            if e.light == "grey" and e.n < summary.LEAST
            else e.note
        )
        row = {"figure": e.title, "value": e.value, "low": _number(e.ci_low), "high": _number(e.ci_high), "n": e.n}
        more = _yardstick(rows) if metric == "length_bias" else ""
        said = "; ".join(filter(None, [note, more]))
        out.append(
            {"judge": rows["judge"].iloc[0], "probe": title, **row, "light": e.light, "finding": finding, "why": said}
        )
    return out


def _passed(e: core.Estimate) -> str:
    """What is said of a green probe: nothing where its interval reaches out of the green."""
    if e.ci_low is None or e.ci_high is None or len(e.cuts) < 2:
        return ""
    if e.higher_is_better is None:
        inside = e.cuts[1] <= e.ci_low and e.ci_high <= e.cuts[2]
    else:
        inside = e.ci_low >= e.cuts[-1] if e.higher_is_better else e.ci_high <= e.cuts[0]
    return PASSED[e.metric] if inside else "nothing shown, and the interval reaches out of the green"


def _yardstick(rows: pd.DataFrame) -> str:
    """How well a judge that looks at length alone agrees with people, beside this one."""
    mark, length, human = (rows[c].to_numpy(dtype=float) for c in ("mark", "length", "human"))
    found = core.leanings.length_bias(mark, length, human, pairs=bool((length < 0).any()), n_resamples=2)
    if found.yardstick.value is None or found.judge.value is None:
        return ""
    return f"agreement with people {found.judge.value:.2f}, of a judge by length alone {found.yardstick.value:.2f}"


def _without_labels(rows: pd.DataFrame, resampling: Mapping[str, int]) -> str:
    """How marks go with length where no person's label says which answers are better."""
    mark, length = rows["mark"].to_numpy(dtype=float), rows["length"].to_numpy(dtype=float)
    n_resamples = min(resampling["n_resamples"], 500)
    options: dict[str, Any] = {"units": rows["id"].to_numpy(), "seed": resampling["seed"], "n_resamples": n_resamples}
    mean, low, high = core.leanings.length_within(mark, length, rows["model"].to_numpy(dtype=str), **options)
    if mean.value is None:
        return ""
    said = core.wording.interval_text(mean.value, mean.ci_low, mean.ci_high)
    if mean.n > 1:
        said += f", the mean of {mean.n} models ({low:.2f} to {high:.2f}), each by itself".replace("-", "−")
    return f"Spearman of mark and length is {said}; without labels longer answers may simply be better"


PANEL = [
    inputs.CRITERION, "judges", "items", "effective", "effective_low", "effective_high", "correlation", "best", "best_equal",
    "panel_equal", "left_out", "words",
]  # fmt: skip
ALIKE = [inputs.CRITERION, "judge", "other", "errors_correlate", "equal", "items", "words"]


def _panels(items: pd.DataFrame, resampling: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    panels: list[dict[str, Any]] = []
    alike: list[dict[str, Any]] = []
    for criterion, rows in items[items["undefined"] == ""].groupby(inputs.CRITERION, sort=True):
        if rows["asked"].nunique() < 2 or rows["scale"].iloc[0] == GRADED:
            continue
        table = rows.pivot(index=["id", "model", "trial"], columns="asked", values="mark")
        names = [str(n) for n in table.columns]
        labels = rows.drop_duplicates(["id", "model", "trial"]).set_index(["id", "model", "trial"]).loc[table.index]
        marks = table.to_numpy(dtype=float)
        known = labels[[*annotators_of(rows)]].to_numpy(dtype=float).reshape(len(labels), -1)
        truth = core.panels.majority(known) if known.shape[1] else np.full(len(labels), np.nan)
        found = core.panels.effective_judges(marks, truth, names=names, **resampling)
        used = ~np.isnan(truth) & ~np.isnan(marks).any(axis=1)
        panels.append(_panel(str(criterion), names, found, marks[used], truth[used]))
        for i, j in combinations(range(len(names)) if len(names) <= MOST_COMPARED else (), 2):
            alike.append(_pair(str(criterion), names[i], names[j], marks[:, [i, j]], truth))
    return panels, alike


def _panel(criterion: str, names: Sequence[str], found: Any, marks: Any, truth: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        inputs.CRITERION: criterion, "judges": len(names), "items": found.n_items, "effective": _number(found.effective.value),
        "effective_low": _number(found.effective.ci_low), "effective_high": _number(found.effective.ci_high),
        "correlation": _number(found.correlation), "best": "", "best_equal": math.nan, "panel_equal": math.nan,
        "left_out": ", ".join(found.left_out), "words": f"no effective number: {found.effective.note}",
    }  # fmt: skip
    if not len(truth):
        return row
    right = (marks == truth[:, None]).mean(axis=0)
    votes = core.panels.majority(marks)
    together, tied = float((votes == truth).mean()), int(np.isnan(votes).sum())
    best = int(right.argmax())
    row |= {"best": names[best], "best_equal": float(right[best]), "panel_equal": together}
    if found.effective.value is not None:
        row["words"] = (
            f"{core.counted(len(names), 'judge')}, worth {found.effective.value:.1f} independent ones; "
            f"the best alone: {right[best]:.2f} ({names[best]}), the panel: {together:.2f}"
            + (f", its {core.counted(tied, 'tie')} counted as wrong" if tied else "")
        )
    return row


def _pair(criterion: str, one: str, other: str, marks: Any, truth: Any) -> dict[str, Any]:
    both = ~np.isnan(marks).any(axis=1)
    used = both & ~np.isnan(truth)
    errors = (marks[used] != truth[used, None]).astype(float)
    varies = len(errors) > 1 and (errors.std(axis=0) > 0).all()
    r = float(np.corrcoef(errors.T)[0, 1]) if varies else math.nan
    equal = float((marks[both, 0] == marks[both, 1]).mean()) if both.any() else math.nan
    near = used.sum() >= summary.LEAST and r >= NEARLY
    words = f"{other} and {one} are nearly the same judge: they err together" if near else ""
    return {
        inputs.CRITERION: criterion, "judge": one, "other": other, "errors_correlate": r, "equal": equal, "items": int(used.sum()),
        "words": words,
    }  # fmt: skip


COSTS = ["judge", "figure", "mean", "low", "high", "items", "total"]


def _costs(items: pd.DataFrame, resampling: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Tokens, seconds and money per answer, all orders and repeats together."""
    out = []
    for column in ("tokens", "seconds", "cost"):
        if column not in items:
            continue
        for name, rows in items[items[column].notna()].groupby("judge", sort=True):
            values = rows[column].to_numpy(dtype=float)
            (found,) = core.measures.estimate(
                {column: values}, [core.mean_of(column)], units=rows["id"].to_numpy(), **resampling
            ).estimates
            out.append(
                {
                    "judge": name, "figure": column, "mean": _number(found.value), "low": _number(found.ci_low),
                    "high": _number(found.ci_high), "items": len(rows), "total": float(values.sum()),
                }
            )  # fmt: skip
    return out


def _unparsed(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts without a mark, by judge and reason."""
    lost = verdicts[verdicts["mark"].isna()]
    n = verdicts.groupby("judge").size().to_dict()
    counts = lost.groupby(["judge", "unscored", "detail"], sort=True).size()
    rows = [
        {"judge": judge, "reason": detail or core.unscored.in_words(reason), "verdicts": int(k), "share": k / n[judge]}
        for (judge, reason, detail), k in zip(counts.index.tolist(), counts.tolist(), strict=True)
    ]
    return pd.DataFrame(rows, columns=["judge", "reason", "verdicts", "share"])


def _texts(verdicts: pd.DataFrame) -> pd.DataFrame:
    columns = [c for c in ("question", "answer", "answer_other", "lang") if c in verdicts]
    keys = ["id", "model", "trial"]
    return verdicts.groupby(keys, sort=True)[columns].max().reset_index()  # the empty text before any other


def _reasons(verdicts: pd.DataFrame) -> pd.DataFrame:
    """What judges gave as their reasons, the first of an answer."""
    keys = ["judge", *inputs.KEYS]
    given = verdicts if "reason" in verdicts else verdicts.assign(reason="")
    given = given[given["reason"] != ""].sort_values([*keys, "reason"], kind="stable")
    return given.drop_duplicates(keys)[[*keys, "reason"]].rename(columns={"judge": "asked"}).reset_index(drop=True)
