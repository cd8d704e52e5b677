"""Pictures, tables and annotated answers of a result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core, draw, kit
from evalbench.studies.rag_generation import inputs, method
from evalbench.studies.rag_generation.items import CONFUSION, FATES

_ROWS = 40
_WORDS = {
    "SUPPORTED": "supported",
    "NOT_SUPPORTED": "not supported",
    "CONTRADICTED": "contradicted",
    "NO_CLAIM": "claims nothing",
    "RELEVANT": "relevant",
    "PARTIALLY_RELEVANT": "partially relevant: counts 0",
    "IRRELEVANT": "irrelevant",
    "": "no verdict",
}
_STATED = {**_WORDS, "SUPPORTED": "stated", "NOT_SUPPORTED": "not stated"}
_CARRIED = {**_WORDS, "SUPPORTED": "carried", "NOT_SUPPORTED": "not carried"}
_CLAIMS = dict(
    zip(CONFUSION, ("right, supported", "right, unsupported", "wrong, supported", "wrong, unsupported"), strict=True)
)
_FACTS = dict(zip(FATES, ("stated, carried", "stated, lost", "missed, carried", "missed, lost"), strict=True))


def picture_scores(result: core.Result) -> draw.Drawn:
    """Every figure with its interval, figure by figure, so that the models are side by side."""
    every = result.summary.estimates
    known = {e.metric for e in every if e.value is not None}
    found = [e for e in every if e.metric in known] or every
    order = list(dict.fromkeys(e.metric for e in found))
    rows = sorted(found, key=lambda e: (order.index(e.metric), e.group["model"]))
    several = len({e.group["model"] for e in rows}) > 1
    low = min([0.0, *(x for e in rows for x in (e.value, e.ci_low) if x is not None)])
    return draw.pictures.estimate_bars(
        [f"{e.title}, {e.group['model']}" if several else e.title for e in rows],
        rows,
        title="Answers and what was retrieved for them",
        xlabel="0–1; relevance: cosine; of non-committal, invented and lost less is better",
        domain=(low, 1),
    )


def picture_confusion(result: core.Result) -> draw.Drawn | None:
    """The answers' claims: right or wrong by the ground truth, supported by the contexts or not."""
    return _counts(result, _CLAIMS, "Claims of the answers, by ground truth and by contexts", "claims")


def picture_fates(result: core.Result) -> draw.Drawn | None:
    """What became of the ground truth's facts: in the answer or not, in the contexts or not."""
    return _counts(result, _FACTS, "Facts of the ground truth, by answer and by contexts", "facts")


def _counts(result: core.Result, names: Mapping[str, str], title: str, unit: str) -> draw.Drawn | None:
    table = result.tables["confusion"]
    models = table["model"].tolist()
    found = table.reindex(columns=list(names))
    if found.isna().all(axis=None):
        return None
    matrix = found.to_numpy(float)
    text = [["–" if math.isnan(v) else f"{v:.0f}" for v in row] for row in matrix]
    return draw.pictures.heat_map(
        matrix, models, list(names.values()), title=title, text=text, unit=f"number of {unit}", low=0
    )


def _known(result: core.Result) -> list[str]:
    """The metrics that some answer has; all, where none has one."""
    metrics: list[str] = result.parameters["metrics"]
    return [name for name in metrics if result.items[name].notna().any()] or metrics


def picture_groups(result: core.Result) -> draw.Drawn:
    """The mean of every metric by model and group."""
    metrics, items = _known(result), result.items
    means = items.groupby(["group", "model"], sort=True)[metrics].mean()
    title, total = "Mean scores by group and model", len(means)
    if total > _ROWS:
        lowest = means.mean(axis=1).sort_values(kind="stable").index[:_ROWS]
        means, title = means.loc[sorted(lowest)], f"Mean scores by group and model, the {_ROWS} lowest of {total}"
    names = [", ".join(filter(None, map(str, pair))) for pair in means.index]
    return draw.pictures.heat_map(
        means.to_numpy(float),
        names,
        [name.replace("_", " ") for name in metrics],
        title=title,
        unit="mean over answers; a dash: no value",
        low=0,
        high=1,
    )


def comparison(result: core.Result) -> pd.DataFrame:
    """Every pair of models on every metric, paired by question."""
    return kit.comparing.shown(result.tables.get("comparison"), "model")


def unsupported(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """Statements that the contexts contradict or do not support, the models in turn."""
    found = result.tables["statements"]
    found = found[found["support_label"].isin(["CONTRADICTED", "NOT_SUPPORTED"])]
    found = kit.cases.in_turn(found.sort_values(["support_label", *inputs.KEYS, "n"], kind="stable"), "model", rows)
    cells: kit.cases.Show = {
        "id": "id",
        "model": "model",
        "statement": "statement",
        "by the contexts": lambda row: _said(row, "support", _WORDS),
        "by the ground truth": lambda row: _said(row, "truth", _STATED),
    }
    return kit.cases.shown(found, cells)


def missing_facts(result: core.Result, rows: int = 20) -> pd.DataFrame:
    """Facts of the ground truth that the answer lacks, and whether the contexts had them; the models in turn."""
    found = result.tables["facts"]
    asked = result.items.get("answer_correctness")
    if asked is None:
        found = found.head(0)
    else:
        scored = result.items[asked.notna()][inputs.KEYS]
        found = found[found["pair"] == 0].merge(scored, on=inputs.KEYS)
    found = kit.cases.in_turn(found.sort_values([*inputs.KEYS, "n"], kind="stable"), "model", rows)
    cells: kit.cases.Show = {
        "id": "id",
        "model": "model",
        "missing fact": "fact",
        "by the contexts": lambda row: _said(row, "carried", _CARRIED),
        "who lost it": lambda row: _loser(row["carried_label"], row["stated_by"]),
    }
    return kit.cases.shown(found, cells)


def _loser(label: str, stated_by: str) -> str:
    if stated_by:
        return f"nobody: statement {stated_by} states it, and is paired with another fact"
    return "the generator" if label == "SUPPORTED" else "the retriever" if label else "not known"


def _said(row: Mapping[str, Any], name: str, words: Mapping[str, str]) -> draw.Html:
    """A verdict in words, the numbers that it names, and why."""
    label, why = row[f"{name}_label"], "; ".join(filter(None, [row[f"{name}_detail"], row[f"{name}_reason"]]))
    numbers = row.get({"support": "supporting", "truth": "stating", "carried": "carrying"}[name], "")
    named = f" ({draw.escape(('fact ' if name == 'truth' else 'context ') + numbers)})" if numbers else ""
    reason = row[f"{name}_unscored"]
    verdict = f"<strong>{draw.escape(words[label])}</strong>{named}"
    more = ": ".join(filter(None, [reason.replace("-", " "), why]))
    return draw.Html(f"{verdict}{f'<br>{draw.escape(more)}' if more else ''}")


@kit.trials.each_trial
def worst(result: core.Result, rows: int = 10) -> pd.DataFrame:
    """The answers with the lowest scores, by the mean of the metrics that they have."""
    metrics = _known(result)
    mean = result.items[metrics].mean(axis=1)
    texts = {"question": _asked, "the answer and its scores": lambda row: _answered(row, metrics)}
    columns = {"id": "id", "model": "model", "mean": "mean"}
    return kit.cases.worst_cases(
        result.items.assign(mean=mean),
        "mean",
        keys=inputs.KEYS,
        n=rows,
        texts=result.tables["texts"].drop(columns="group"),
        show={**columns, **texts},
    )


def _asked(row: dict[str, Any]) -> draw.Html:
    lang = draw.html.language_attributes(row["question"], row["lang"])
    truth = f"<q>{draw.tables.clamped(row['reference'], 200)}</q>" if row["reference"] else "no ground truth is given"
    return draw.Html(f"<div{lang}>{draw.tables.clamped(row['question'], 200)}<br>{truth}</div>")


def _answered(row: dict[str, Any], metrics: Sequence[str]) -> draw.Html:
    scores = ", ".join(f"{name.replace('_', ' ')} {kit.cases.score_text(row[name])}" for name in metrics)
    return draw.Html(f"{_answer(row['answer'], row['lang'])}<strong>{draw.escape(scores)}</strong>")


def _answer(text: Any, code: str) -> draw.Html:
    return (
        draw.tables.text_block(text, 600, code) if isinstance(text, str) else draw.Html("<div><em>no answer</em></div>")
    )


@kit.trials.each_trial
def annotated(result: core.Result, n: int = 6) -> draw.Html:
    """Answers with everything that was judged of them, the lowest means first, the models in turn."""
    mean = result.items[result.parameters["metrics"]].mean(axis=1)
    rows = kit.cases.held(result.items.assign(mean=mean), result.tables["texts"])
    ordered = kit.cases.worst_cases(rows, "mean", keys=inputs.KEYS, n=None, unscored=True)
    chosen = kit.cases.in_turn(ordered, "model", n)
    return draw.Html("".join(_annotated_one(result, item) for item in chosen.to_dict("records")))


def _annotated_one(result: core.Result, item: dict[Any, Any]) -> draw.Html:
    own = {
        name: kit.cases.rows_of(result.tables[name], item, inputs.KEYS)
        for name in ("statements", "facts", "contexts", "texts")
    }
    text, judge = own["texts"].iloc[0], method.judge_words(result.parameters["judge"])
    metrics = _known(result)
    scores = ", ".join(f"{name.replace('_', ' ')} {kit.cases.score_text(item[name])}" for name in metrics)
    name, code = f"{item['id']}, {item['model']}", text["lang"]
    contexts = dict(zip(own["contexts"]["rank"], own["contexts"]["context"], strict=True))
    missing = "no" if item.get("answer_correctness", math.nan) >= 0 else "not known"
    answer: kit.cases.Show = {
        "n": "n",
        "statement": "statement",
        "by the contexts": lambda row: _with_passage(_said(row, "support", _WORDS), row["supporting"], contexts),
        "by the ground truth": lambda row: _said(row, "truth", _STATED),
        "paired with fact": lambda row: str(row["pair"] or "–"),
    }
    truth: kit.cases.Show = {
        "n": "n",
        "fact": "fact",
        "by the contexts": lambda row: _with_passage(_said(row, "carried", _CARRIED), row["carrying"], contexts),
        "in the answer": lambda row: f"statement {row['pair'] or row['stated_by']}" if row["stated_by"] else missing,
    }
    retrieved: kit.cases.Show = {
        "rank": "rank",
        "context": "context",
        "relevance": lambda row: draw.Html(
            f"<strong>{draw.escape(_WORDS[row['label']])}</strong><br>{draw.escape(row['reason'] or row['detail'])}"
        ),
        "precision@k": "precision_at_k",
    }
    if "answer_correctness" not in metrics:
        del answer["by the ground truth"], answer["paired with fact"], truth["in the answer"]
    if "context_precision" not in metrics:
        del retrieved["relevance"], retrieved["precision@k"]
    said = [
        draw.tables.html_table(
            kit.cases.shown(own["statements"], answer),
            caption=f"Statements of {name}, judged by {judge}",
            lang_columns={"statement": code},
        ),
        draw.tables.html_table(
            kit.cases.shown(own["facts"], truth),
            caption=f"Facts of the ground truth of {name}",
            lang_columns={"fact": code},
        ),
        draw.tables.html_table(
            kit.cases.shown(own["contexts"], retrieved),
            caption=f"What was retrieved for {name}",
            lang_columns={"context": code},
            clamp=200,
        ),
    ]
    filled = [part for part, rows in zip(said, ("statements", "facts", "contexts"), strict=True) if len(own[rows])]
    head = _answer(text["answer"], code)
    return kit.cases.sheet(f"{name}: {scores}", text["question"], head, *filled, *_written(result, item), code=code)


def _with_passage(verdict: draw.Html, numbers: str, contexts: Mapping[int, str]) -> draw.Html:
    passages = [contexts.get(int(number), "") for number in numbers.split(", ") if number]
    return draw.Html(verdict + "".join(draw.tables.folded("its text", text) for text in passages if text))


def _written(result: core.Result, item: dict[Any, Any]) -> list[draw.Html]:
    """The questions that were written from an answer, and the two objects of its facts."""
    parts = []
    if "questions" in result.tables and len(rows := kit.cases.rows_of(result.tables["questions"], item, inputs.KEYS)):
        flag = ", which is non-committal" if item.get("noncommittal") == 1 else ""
        columns: kit.cases.Show = {"question": "question", "cosine with the one that was asked": "cosine"}
        written = kit.cases.shown(rows[rows["kind"] == "written"], columns)
        parts.append(draw.tables.html_table(written, caption=f"Questions written from the answer{flag}"))
    if "correctness" in result.tables:
        for row in kit.cases.rows_of(result.tables["correctness"], item, inputs.KEYS).to_dict("records"):
            parts.append(draw.tables.folded("TP, FP and FN as JSON", f"{row['facts']}\n{row['result']}"))
    return parts
