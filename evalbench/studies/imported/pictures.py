"""Pictures and tables of imported scores."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.imported import inputs, summary
from evalbench.studies.imported.theirs import SAME

MOST_PANELS = 16
MOST_SPREADS = 8


def picture_metrics(result: core.Result) -> draw.Drawn | None:
    """The mean of every metric of each model with its interval, a panel per metric; hollow: the tool's figure where it differs."""
    names = [m for m in result.parameters["metrics"] if any(_of(result, m))][:MOST_PANELS]
    if not names:
        return None
    table = result.tables.get("theirs")
    marks = {}
    for row in () if table is None else table[(table["agrees"] == "no") & (table["part"] == "")].to_dict("records"):
        marks[row["metric"], row["model"]] = row["theirs"]
    scales, _ = summary.fitting(result.items, result.parameters["scales"])
    return draw.panels.estimate_panels(
        {m: [e for e in result.summary.estimates if e.metric == m] for m in names},
        "model",
        {m: scales[m] for m in names if m in scales},
        title="Every metric of each model" if _several(result) else "Every metric",
        xlabel="mean over questions, on each metric's own scale",
        marks=marks,
        mark="the tool's own figure where it differs",
    )


def _of(result: core.Result, metric: str) -> list[bool]:
    return [e.value is not None for e in result.summary.estimates if e.metric == metric]


def _several(result: core.Result) -> bool:
    return result.items["model"].nunique() > 1


def picture_spread(result: core.Result, metric: str = "") -> draw.Drawn | None:
    """How the scores of a metric are spread over the answers of each model; by default the first that is more than 0 and 1."""
    graded = [m for m in result.parameters["metrics"] if result.items[inputs.column_of(m)].nunique() > 2]
    name = metric or next(iter(graded), "")
    if not name:
        return None
    models = [str(m) for m in sorted(result.items["model"].unique())][:MOST_SPREADS]
    groups = {m: result.items.loc[result.items["model"] == m, inputs.column_of(name)].to_numpy(float) for m in models}
    scale = summary.fitting(result.items, result.parameters["scales"])[0].get(name)
    repeated = "n_trials" in result.items
    return draw.pictures.distribution(
        groups,
        title=f"{name} of the single questions" if repeated else f"{name} of the single answers",
        xlabel=f"{name} of a question, the mean of its trials" if repeated else f"{name} of an answer",
        domain=scale,
        behind=draw.bars.of_groups(inputs.column_of(name), "model", models),
    )


def comparison(result: core.Result) -> pd.DataFrame:
    """Every two models on every metric; empty where there is one model."""
    return kit.comparing.shown(result.tables.get("comparison"), "model")


def theirs(result: core.Result) -> pd.DataFrame:
    """The tool's own figures beside ours, and why they differ; those that differ first."""
    table = result.tables.get("theirs")
    if table is None:
        return pd.DataFrame({"note": ["The file holds no figures of the tool's own"]})
    table = table.assign(_order=table["agrees"] != "no").sort_values("_order", kind="stable")
    estimates = {(e.metric, e.group.get("model", "")): e for e in result.summary.estimates}
    rows = []
    for row in table.to_dict("records"):
        e = estimates.get((row["metric"], row["model"])) if not row["part"] else None
        ours = _figure(row["ours"], e.ci_low if e else None, e.ci_high if e else None)
        rows.append(
            {
                "metric": row["metric"] or "whole tests",
                **({"model": row["model"]} if _several(result) else {}),
                **({"of": row["part"] or "all"} if table["part"].any() else {}),
                "the tool's": _figure(row["theirs"]),
                "ours": ours,
                "scores": row["n"] if row["metric"] else None,
                "missing": row["n_lost"] if row["metric"] else None,
                "why they differ": row["why"] if row["agrees"] != "yes" or row["why"] else SAME,
                "called there": row["tool_figure"],
            }
        )
    out = pd.DataFrame(rows)
    return out.drop(columns=[c for c in ("called there",) if c in out and not out[c].any()])


def _figure(value: Any, low: Any = None, high: Any = None) -> str:
    if value is None or value != value:
        return "–"
    if low is None:
        return core.wording.signed(f"{value:.4g}" if abs(value) > 1e-9 else "0")
    return core.wording.aligned([value], [low], [high])[0]


def unscored(result: core.Result) -> pd.DataFrame:
    """How many scores are missing, by metric, model, reason and the tool's own words."""
    table = result.tables.get("reasons")
    if table is None:
        return pd.DataFrame({"note": ["Every answer has every score"]})
    said = table.assign(reason=[_reason(r) for r in table["reason"]])
    said = said.rename(columns={"detail": "in the tool's words", "n": "scores"}).drop(columns="kind")
    return said if _several(result) else said.drop(columns="model")


def _reason(reason: str) -> str:
    return (
        "never asked for: neither scored nor unscored" if reason == "not-applicable" else core.unscored.in_words(reason)
    )


def assumed(result: core.Result) -> pd.DataFrame:
    """Direction and scale of every metric, and where they are from."""
    table = result.tables["metrics"]
    said = table.assign(
        better=table["direction"].map({"higher": "higher", "lower": "lower", "neither": "neither"}),
        scale=[f"{a:g} to {b:g}" if a == a else "not known" for a, b in zip(table["low"], table["high"], strict=True)],
    )
    heads = {
        "metric": "metric",
        "better": "better",
        "direction_from": "direction from",
        "scale": "scale",
        "scale_from": "scale from",
    }
    return kit.cases.shown(said, {head: name for name, head in heads.items()})


@kit.trials.each_trial
def worst(result: core.Result, metric: str = "", rows: int = 10) -> pd.DataFrame:
    """The answers with the worst scores of one metric, by default the first, with texts, verdicts and reasons."""
    name = metric or result.parameters["metrics"][0]
    column = inputs.column_of(name)
    highest = [column] if result.parameters["directions"].get(name) == inputs.LOWER else ()
    found = kit.cases.worst_cases(result.items, column, keys=["id", "model"], n=rows, highest=highest)
    return _cases(result, found, {name: column})


@kit.trials.each_trial
def failed(result: core.Result, rows: int = 10) -> pd.DataFrame:
    """Answers of which some score is missing although it was asked for, with the tool's words."""
    lost = result.tables["scores"]
    lost = lost[lost["unscored"] != ""]
    words = lost.assign(words=lost["detail"].where(lost["detail"] != "", lost["unscored"].map(core.unscored.in_words)))
    keys = ["id", "model"]
    each = words.groupby([*keys, "words"], sort=True)["metric"].agg(", ".join).reset_index()
    said = each.assign(said=each["metric"] + ": " + each["words"]).groupby(keys)["said"].agg("; ".join).reset_index()
    found = (
        kit.cases.held(result.items, result.tables["texts"])
        .merge(said, on=["id", "model"])
        .sort_values(["id", "model"], kind="stable")
        .head(rows)
    )
    return _cases(result, found.reset_index(drop=True), {"in the tool's words": "said"})


def _cases(result: core.Result, found: pd.DataFrame, figures: dict[str, str]) -> pd.DataFrame:
    texts = result.tables["texts"].drop(columns=inputs.UNIT)
    found = found.merge(texts, on=["id", "model"], how="left")
    heads: dict[str, Any] = {"id": "id", **({"model": "model"} if _several(result) else {}), **figures}
    has = [c for c in ("question", "answer") if c in texts and texts[c].astype(bool).any()]
    out = kit.cases.shown(found, {**heads, **{{"question": "request", "answer": "answer"}[c]: _block(c) for c in has}})
    verdicts = _verdicts(result, found)
    return out.assign(**{"verdicts and reasons": kit.cases.cells(verdicts, out.index)}) if any(verdicts) else out


def _block(column: str) -> Any:
    def cell(row: dict[str, Any]) -> draw.Html:
        if row[column] is None:
            error = row.get("error") or ""
            return draw.Html(f"<div><em>no answer</em></div>{draw.tables.text_block(error) if error else ''}")
        more = ""
        if column == "answer" and row.get("reference"):
            reference = row["reference"]
            more = draw.tables.folded(
                "reference", "\n".join(map(str, reference)) if not isinstance(reference, str) else reference
            )
        return draw.Html(f"{draw.tables.text_block(str(row[column]))}{more}")

    return cell


def _verdicts(result: core.Result, found: pd.DataFrame) -> list[draw.Html]:
    """What the judges said of each answer, one click away."""
    table = result.tables.get("judgements")
    if table is None:
        return [draw.Html("")] * len(found)
    wanted = table[table["id"].isin(found["id"])]
    keys = ["id", "model"]
    said: dict[Any, list[draw.Html]] = {}
    for row in wanted.to_dict("records"):
        mark = row.get("label") or ("" if row.get("mark") is None or row["mark"] != row["mark"] else f"{row['mark']:g}")
        head = ": ".join(filter(None, [row.get("criterion") or row.get("judge") or "verdict", mark or "no verdict"]))
        judge, asked = row.get("judge"), row.get("judge_prompt")
        lines = (judge and f"judge {judge}", row.get("reason"), row.get("detail"), asked and f"asked: {asked}")
        body = "\n".join(filter(None, lines))
        said.setdefault(tuple(row[k] for k in keys), []).append(draw.tables.folded(head, body or "no reason given"))
    return [draw.Html("".join(said.get(tuple(case[k] for k in keys), []))) for case in found.to_dict("records")]
