"""Pictures and tables of a confidence result, and the answers to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.metrics import confidence, discrimination
from evalbench.readers import where as where_of
from evalbench.studies.confidence import figures, inputs, items, resampled

MOST_MODELS = 4
"""So many models at most are drawn in one picture, those with the most answers."""
_POINTS = 100
_SAMPLES_SHOWN = 12


def _models(result: core.Result) -> list[str]:
    counts = result.items.groupby("model", sort=True)["wrong"].count()
    busiest = counts.sort_values(ascending=False, kind="stable").head(MOST_MODELS).index
    return sorted(str(model) for model in busiest)


def _own(result: core.Result, model: str) -> pd.DataFrame:
    return result.items[result.items["model"].astype(str) == model]


def _scores(result: core.Result) -> list[str]:
    there = {e.metric.removeprefix("auroc_") for e in result.summary.estimates if e.metric.startswith("auroc_")}
    return [name for name in items.SCORES if name in there]


def _distribution(result: core.Result, score: str) -> draw.Drawn | None:
    groups, behind = {}, {}
    for model in _models(result):
        own = _own(result, model)
        for right, word in ((1.0, "right"), (0.0, "wrong")):
            values = own.loc[own["correct"] == right, score].dropna().to_numpy(float)
            if len(values):
                groups[f"{model}, {word}"] = values
                where = where_of.of_group({"model": model, "correct": f"{right:g}"}, ["model", "correct"])
                behind[f"{model}, {word}"] = draw.bars.Behind(score, where)
    if not groups:
        return None
    words, highest = items.SCORES[score], max(float(values.max()) for values in groups.values())
    nats = "entropy" in score or "log" in score
    end = max(highest, 1e-9) if nats else 1.0
    return draw.pictures.distribution(
        groups,
        title=f"{words[:1].upper()}{words[1:]} of right and of wrong answers",
        xlabel=f"{words} ({'nats' if nats else '0–1'})",
        domain=(-0.025 * end, 1.025 * end),
        bins=21,
        behind=behind,
    )


def picture_uncertainty(result: core.Result) -> draw.Drawn | None:
    """1 − p of right and of wrong answers."""
    return _distribution(result, figures.FIRST)


def picture_neg_p_log_p(result: core.Result) -> draw.Drawn | None:
    """The document's entropy of right and of wrong answers."""
    return _distribution(result, "neg_p_log_p_handbook")


def picture_binary_entropy(result: core.Result) -> draw.Drawn | None:
    """The binary entropy of right and of wrong answers."""
    return _distribution(result, "binary_entropy")


def picture_cluster_entropy(result: core.Result) -> draw.Drawn | None:
    """The cluster entropy of right and of wrong answers."""
    return _distribution(result, "cluster_entropy")


def picture_dissimilarity(result: core.Result) -> draw.Drawn | None:
    """1 − similarity of right and of wrong answers; None without an embedding model."""
    return _distribution(result, "dissimilarity") if "dissimilarity" in _scores(result) else None


def picture_auroc(result: core.Result) -> draw.Drawn | None:
    """AUROC of every score."""
    models = _models(result)
    rows = [result.estimate(f"auroc_{score}", model=model) for model in models for score in _scores(result)]
    if not rows:
        return None
    names = [f"{e.group['model']}, {_words(e)}" if len(models) > 1 else _words(e) for e in rows]
    return draw.pictures.estimate_bars(
        names,
        rows,
        title="How well each score tells wrong answers from right ones",
        xlabel="AUROC (0–1; 0.5 as by chance)",
        domain=(0, 1),
    )


def _words(e: core.Estimate) -> str:
    return items.SCORES[e.metric.partition("_")[2]]


def picture_risk_coverage(result: core.Result) -> draw.Drawn | None:
    """Errors among the answers that are given, as the least sure ones are held back."""
    series = {}
    for model in _models(result):
        own = _own(result, model)
        of = resampled.column(own[figures.FIRST].to_numpy(float), own["wrong"].to_numpy(float))
        if of.n_levels:
            right, wrong = (each[0] for each in resampled.counts_of(np.ones((1, len(own))), of))
            at = np.unique(np.maximum(1, np.rint(np.linspace(0, 1, _POINTS + 1) * of.there.sum()))) / of.there.sum()
            series[model] = draw.pictures.Line(at, discrimination.risk_at(right, wrong, at))
    if not series:
        return None
    return draw.pictures.lines(
        series,
        title="Errors that are left when the least sure answers are held back",
        xlabel="answered share of the questions (0–1), the surest first",
        ylabel="share of errors (0–1)",
        domain=(-0.02, 1.02),
        mark_points=False,
    )


def reliability(result: core.Result) -> pd.DataFrame:
    """Share of right answers by the value of p, with Wilson's interval; empty where p is a similarity."""
    columns = ["model", "p", "answers", "right", "95 % interval"]
    if result.parameters["p_by"] != items.MATCH:
        return pd.DataFrame(columns=columns)
    table = _reliability(result)
    low, high = core.stats.wilson(table["right"], table["n"])
    return pd.DataFrame(
        {
            "model": table["model"],
            "p": table["p"].round(3),
            "answers": table["n"],
            "right": [core.percent(value) for value in table["right"] / table["n"]],
            "95 % interval": [f"[{a:.2f}, {b:.2f}]" for a, b in zip(low, high, strict=True)],
        },
        columns=columns,
    )


def _reliability(result: core.Result) -> pd.DataFrame:
    known = result.items[result.items["correct"].notna() & result.items["p"].notna()]
    most = float(known["n_samples"].max()) if len(known) else 1.0
    bins = known.assign(p=(known["p"] * most).round() / most, n=1, right=known["correct"].astype(int))
    return bins.groupby(["model", "p"], sort=True)[["n", "right"]].sum().reset_index()


def picture_reliability(result: core.Result) -> draw.Drawn | None:
    """The share of right answers at each p, beside p itself; None where p is a similarity."""
    if result.parameters["p_by"] != items.MATCH:
        return None
    table = _reliability(result)
    series: dict[str, draw.pictures.Line] = {}
    for model in _models(result):
        own = table[table["model"].astype(str) == model]
        if len(own):
            low, high = core.stats.wilson(own["right"], own["n"])
            series[model] = draw.pictures.Line(own["p"].to_numpy(), (own["right"] / own["n"]).to_numpy(), low, high)
    if not series:
        return None
    figure, alt = draw.pictures.lines(
        series,
        title="Share of right answers by confidence p",
        xlabel="p, the share of samples that repeat the answer",
        ylabel="share of right answers (0–1)",
        domain=(-0.02, 1.02),
    )
    figure.axes[0].plot([0, 1], [0, 1], color=draw.pictures.MUTED, linewidth=1, linestyle="--", zorder=0)
    return figure, f"{alt} A dashed diagonal is where p is the share of right answers."


def scores(result: core.Result) -> pd.DataFrame:
    """Every score of every model: AUROC, AUPRC and risk–coverage area beside what chance and a perfect score would have."""
    models = sorted({e.group["model"] for e in result.summary.estimates})
    rows = []
    for model in models:
        own = _own(result, model)
        n_wrong, n = float(own["wrong"].sum()), float(own["wrong"].notna().sum())
        best = (
            float(discrimination.risk_area_kernel(np.array([n - n_wrong, 0.0]), np.array([0.0, n_wrong])))
            if n
            else float("nan")
        )
        for score in _scores(result):
            area = {name: result.estimate(f"{name}_{score}", model=model) for name in ("auroc", "auprc", "risk_area")}
            rows.append(
                {
                    "model": model,
                    "score": items.SCORES[score],
                    "AUROC (chance 0.5)": core.wording.estimate_text(area["auroc"]),
                    "AUPRC": core.wording.estimate_text(area["auprc"]),
                    "risk–coverage area": core.wording.estimate_text(area["risk_area"]),
                    "both by chance": f"{n_wrong / n:.2f}" if n else "–",
                    "best possible area": f"{best:.3f}" if best == best else "–",
                }
            )
    return pd.DataFrame(rows)


def thresholds(result: core.Result) -> pd.DataFrame:
    """Of every model: the p from which so many questions are answered, how many are, and how many of these are wrong."""
    rows = []
    for model in sorted({e.group["model"] for e in result.summary.estimates}):
        at = {
            name: result.estimate(name, model=model)
            for name in ("threshold", "covered", "error_at_coverage", "error_rate")
        }
        rows.append(
            {
                "model": model,
                "answered from p": core.wording.estimate_text(at["threshold"]),
                "answered": core.wording.estimate_text(at["covered"]),
                "wrong among these": core.wording.estimate_text(at["error_at_coverage"]),
                "wrong among all": core.wording.estimate_text(at["error_rate"]),
            }
        )
    return pd.DataFrame(rows)


def topics(result: core.Result) -> pd.DataFrame:
    """Topics by how often confident answers are wrong; empty without topics."""

    table = result.tables.get("topics")
    if table is None:
        return pd.DataFrame(columns=["model", "topic"])
    order = table.assign(_p=table["p_holm"].fillna(2.0)).sort_values(["_p", "model", "topic"], kind="stable")
    return pd.DataFrame(
        {
            "model": order["model"],
            "topic": order["topic"],
            "answers": order["n"],
            "wrong": order["wrong"],
            "confident": order["confident"],
            "of these wrong": order["confidently_wrong"],
            "wrong elsewhere": [core.percent(v) if v == v else "–" for v in order["elsewhere"]],
            "p, Holm": [core.wording.p_text(None if v != v else v) for v in order["p_holm"]],
        }
    )


def comparisons(result: core.Result) -> pd.DataFrame:
    """Every pair of models; empty for one model."""
    return kit.comparing.shown(result.tables.get("comparisons"), "model")


def worst(result: core.Result, rows: int = 10) -> pd.DataFrame:
    """Wrong answers that the model is surest of, the models in turn, with their samples."""
    wrong = result.items[result.items["wrong"] == 1]
    cases = kit.cases.worst_cases(wrong, figures.FIRST, keys=inputs.KEYS, n=None)
    chosen = kit.cases.in_turn(cases, "model", rows) if len(cases) else cases
    reading = {name: str(result.parameters[name]) for name in ("normalise", "language")}
    show: dict[str, Any] = {
        "id": "id",
        "model": "model",
        **({"topic": "topic"} if "topic" in result.items else {}),
        "p": lambda case: f"{case['p']:.2f}",
        "the question": lambda case: draw.Html(draw.tables.text_block(str(case.get("question") or "–"), 200)),
        "the answer": lambda case: (
            draw.Html(draw.tables.text_block(case["answer"], 200)) if case["answer"] else draw.Html("<i>empty</i>")
        ),
        **({"reference": _reference} if "reference" in result.tables["answers"] else {}),
        "samples": lambda case: _samples(case["samples"], **reading),
    }
    return kit.cases.worst_cases(
        chosen, figures.FIRST, keys=inputs.KEYS, n=rows, texts=result.tables["answers"], show=show
    )


def _reference(case: dict[str, Any]) -> draw.Html:
    return draw.Html(draw.tables.text_block(" / ".join(case["reference"]) or "–", 120))


def _samples(samples: Sequence[str], **reading: str) -> draw.Html:
    """The samples, equal ones once with their number, the most frequent first."""
    counts: dict[int, int] = {}
    first: dict[int, str] = {}
    for code, text in zip(confidence.equal_codes(samples, **reading).tolist(), samples, strict=True):
        counts[code] = counts.get(code, 0) + 1
        first.setdefault(code, text.strip())
    ordered = sorted(counts, key=lambda code: (-counts[code], first[code]))
    said = [f"{counts[code]} × {first[code] or '(empty)'}" for code in ordered[:_SAMPLES_SHOWN]]
    more = len(ordered) - _SAMPLES_SHOWN
    return draw.Html(draw.tables.text_block("; ".join([*said, *([f"{more} others"] if more > 0 else [])]), 300))
