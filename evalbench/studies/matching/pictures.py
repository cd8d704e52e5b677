"""Pictures and tables of a matching result, from its items and tables alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.metrics.matching import Thresholds, admissible, greedy
from evalbench.studies.matching import summary


def picture_checkers(result: core.Result, metric: str = summary.LIGHT_ON) -> draw.Drawn:
    """The headline figure of every checker with its interval."""
    rows = [e for e in result.summary.estimates if e.metric == metric and e.group]
    name = rows[0].title if rows else metric
    return draw.pictures.estimate_bars(
        [e.group["model"] for e in rows],
        rows,
        title=f"{name[:1].upper()}{name[1:]} of each checker",
        xlabel=f"{name} (0–1)",
        domain=(0, 1),
    )


def split(result: core.Result) -> pd.DataFrame:
    """What was judged: how many texts and violations in which languages, and what the data's own card says of them."""
    return result.tables["split"]


def checkers(result: core.Result) -> pd.DataFrame:
    """Each checker with the number of its predictions and, where there are descriptions, its own."""
    table = result.tables["checkers"].drop(columns="model").rename(columns={"llm": "model"})
    return table if (table["description"] != "").any() else table.drop(columns="description")


def comparisons(result: core.Result) -> pd.DataFrame:
    """Every pair of checkers on the headline figures: difference, interval, Holm's p-value, the verdict in a word."""
    return kit.comparing.shown(result.tables.get("comparisons"), "model", called="checker")


@kit.trials.each_trial
def picture_precision_recall(result: core.Result) -> draw.Drawn:
    """Precision against recall of each checker as the score threshold moves from 0.3 to 0.9.

    The std assignment is made anew (greedily) at each threshold.
    """
    pairs = result.tables["pairs"]
    options = result.parameters
    series = {}
    for checker, rows in pairs.groupby("model", sort=True):
        items = result.items[result.items["model"] == checker]
        truths, predicted = int(items["n_truth"].sum()), int(items["n_predicted"].sum())
        t = rows.groupby(["id", "truth_id"], sort=True).ngroup().to_numpy().astype(np.int64)
        p = rows.groupby(["id", "prediction_id"], sort=True).ngroup().to_numpy().astype(np.int64)
        score, overlap = rows["std_score"].to_numpy(), rows["text_overlap"].to_numpy()
        rule = rows["rule_similarity"].fillna(0).to_numpy()
        recall, precision = [], []
        for threshold in np.arange(0.3, 0.91, 0.05):
            limits = Thresholds(options["overlap_threshold"], options["rule_threshold"], float(threshold))
            good = np.flatnonzero(admissible(overlap, rule, score, limits))
            tp = int(greedy(score[good], overlap[good], t[good], p[good]).sum())
            recall.append(tp / truths if truths else np.nan)
            precision.append(tp / predicted if predicted else np.nan)
        series[str(checker)] = draw.pictures.Line(np.array(recall), np.array(precision))
    return draw.pictures.lines(
        series,
        title="Precision against recall as the score threshold moves from 0.30 (right) to 0.90 (left)",
        xlabel="Recall (share of true violations found)",
        ylabel="Precision (share of predictions right)",
        domain=(0, 1),
    )


@kit.trials.each_trial
def picture_score_matrix(result: core.Result, sample: str = "", checker: str = "") -> draw.Drawn | None:
    """The std scores of every true against every predicted violation of one sample; by default the one with most pairs.

    None where no text has both a true and a predicted violation.
    """
    pairs = result.tables["pairs"]
    if pairs.empty:
        return None
    if not sample:
        counts = pairs.groupby(["id", "model"], sort=True).size()
        sample, checker = counts.index[int(counts.argmax())]
    rows = pairs[(pairs["id"] == sample) & (pairs["model"] == checker)]
    matrix = rows.pivot(index="truth_id", columns="prediction_id", values="std_score")
    taken = rows.pivot(index="truth_id", columns="prediction_id", values="std_match").to_numpy()
    text = [
        [f"{v:.2f}{' ✓' if t else ''}" for v, t in zip(vs, ts, strict=True)]
        for vs, ts in zip(matrix.to_numpy(), taken, strict=True)
    ]
    return draw.pictures.heat_map(
        matrix.to_numpy(),
        [f"true {i}" for i in matrix.index],
        [f"predicted {i}" for i in matrix.columns],
        title=f"Std score of every pair in text {sample}, {checker} (✓ matched)",
        text=text,
        unit="score (0–1)",
    )


def _harmonic(p_tp: Any, p_fp: Any, tp: Any, fn: Any) -> Any:
    precision, recall = core.ratio(p_tp, p_tp + p_fp), core.ratio(tp, tp + fn)
    both_zero = (precision == 0) & (recall == 0)
    return np.where(both_zero, 0.0, core.ratio(2 * precision * recall, precision + recall))


# A match may join two categories, so matched truths and matched predictions of one category are counted apart.
_HARMONIC = core.Measure("f1", ("p_tp", "p_fp", "tp", "fn"), _harmonic, undefined="no precision or no recall")


def by_category(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """Precision, recall and F1 per checker and category, the most frequent categories first."""
    return _by(result, "category", rows)


def by_rule(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """Recall per checker and rule, as the truth words it, the most frequent rules first.

    A prediction words its rule freely, so precision per rule does not exist.
    """
    return _by(result, "rule", rows)


@kit.trials.each_trial
def _by(result: core.Result, column: str, limit: int) -> pd.DataFrame:
    v, drawn = result.tables["violations"], {name: result.parameters[name] for name in ("seed", "n_resamples")}
    true, matched = v["side"] == "truth", v["std_partner"] != ""
    counted = v.assign(tp=true & matched, fn=true & ~matched, p_tp=~true & matched, p_fp=~true & ~matched)
    index = pd.MultiIndex.from_frame(result.items[["model", "id"]])
    common = v.loc[true & (v[column] != ""), column].value_counts() // result.items["model"].nunique()
    common = common.sort_index().sort_values(ascending=False, kind="stable").head(limit)
    own = (
        [core.measures.recall_of("tp", "fn")]
        if column == "rule"
        else [core.measures.precision_of("p_tp", "p_fp"), core.measures.recall_of("tp", "fn"), _HARMONIC]
    )
    out: dict[tuple[Any, str], dict[str, Any]] = {}
    for value, n in common.items():
        sums = counted[v[column] == value].groupby(index.names)[list(_HARMONIC.sums)].sum()
        rows = sums.reindex(index, fill_value=0).reset_index()
        for e in kit.verdicts.by_group(rows, own, "model", units="id", **drawn):
            checker = e.group["model"]
            row = out.setdefault((str(value), checker), {column: value, "checker": checker, "true": n})
            row |= {e.metric: e.value, f"{e.metric} 95 %": _interval(e.ci_low, e.ci_high)}
    return pd.DataFrame(list(out.values()))


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else core.wording.rounded_parts(low, low, high)[1]


def unmatched(result: core.Result, assignment: str = "std") -> pd.DataFrame:
    """Why violations stayed unmatched, counted per checker and side."""
    v = result.tables["violations"]
    why = f"{assignment}_why_unmatched"
    lost = v[v[why] != ""].rename(columns={why: "why"})
    table = lost.groupby(["model", "side", "why"], sort=True).size().rename("violations").reset_index()
    table = table.rename(columns={"model": "checker"})
    table["side"] = table["side"].map({"truth": "true, missed", "prediction": "predicted, wrong"})
    return table


def worst_samples(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """The texts with most false alarms and misses, the worst first."""
    names = {
        "text": "id",
        "checker": "model",
        "true": "n_truth",
        "predicted": "n_predicted",
        "matched": "tp",
        "false alarms": "fp",
        "missed": "fn",
        "F1 of the text": "sample_f1",
    }
    return _worst(result, n=rows, show=names)


def _worst(result: core.Result, **options: Any) -> pd.DataFrame:
    items = result.items.assign(wrong=result.items["fp"] + result.items["fn"])
    wrong = items[items["wrong"] > 0]
    return kit.cases.worst_cases(wrong, ["wrong", "sample_f1"], keys=["id", "model"], highest=["wrong"], **options)


@kit.trials.each_trial
def documents(result: core.Result, checker: str = "", rows: int = 6) -> draw.Html:
    """The worst texts with truth and prediction marked and matched pairs linked by number.

    - ``checker``: Only of this one; by default the checkers take turns.
    """
    worst = _worst(result, n=None)
    chosen = kit.cases.in_turn(worst[worst["model"] == checker] if checker else worst, "model", rows)
    texts = result.tables["documents"].set_index("id")["text"]
    of = dict(tuple(result.tables["violations"].groupby(["id", "model"])))
    return draw.spans.documents(
        [_document(s, texts[s], of[s, c], c) for s, c in zip(chosen["id"], chosen["model"], strict=True)]
    )


def _rules(rows: pd.DataFrame, number: Mapping[str, int]) -> str:
    """The rules of violations without a place, with the numbers of matched pairs."""
    pairs = [number.get(i, number.get(p)) for i, p in zip(rows["violation_id"], rows["std_partner"], strict=True)]
    return "; ".join(f"{rule} [{n}]" if n else str(rule) for rule, n in zip(rows["rule"], pairs, strict=True))


def _document(sample: str, text: str, rows: pd.DataFrame, checker: str) -> draw.spans.Document:
    truth = rows[rows["side"] == "truth"]
    number = {tid: i for i, tid in enumerate(truth.loc[truth["std_partner"] != "", "violation_id"], start=1)}
    marks = []
    for row in rows.to_dict("records"):
        pair = number.get(row["violation_id" if row["side"] == "truth" else "std_partner"])
        words = " — ".join(filter(None, [row["rule"], row["std_why_unmatched"]]))
        marks += [draw.spans.Span(start, end, row["side"], words, pair) for start, end in json.loads(row["spans"])]
    lost = rows[rows["located"] == "not found"]
    note = f"{len(lost)} predicted contexts are not in this text." if len(lost) else ""
    if (rows["located"] == "").all():
        sides = {"True": truth, "Predicted": rows[rows["side"] == "prediction"]}
        note = " ".join(f"{side}: {_rules(own, number) or 'none'}." for side, own in sides.items())
    return draw.spans.Document(f"{sample}, {checker}", text, marks, note)
