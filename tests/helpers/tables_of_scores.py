"""Tables of the scores of another tool with what is hard to read part by part."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

Tables = Mapping[str, pd.DataFrame]
CELLS = {
    "correct": ("yes", "no", "No", "partly", ""),
    "faithfulness": (0.25, 0.5, 1.0, 1e9, None),
    "rating": ("4", "5", "-1", "n/a", "x"),
    "kind": ("long", "short", "other", "odd", "none"),
    "n_tokens": (10, 20, 30, 40, 50),
}


def beside(n: int = 30, trials: int = 0) -> Tables:
    """Columns of scores with words, empty cells and other things than numbers, of models that lack questions; questions that come twice; in no order."""
    rng = np.random.default_rng(5)
    rows = [
        {
            "id": f"q{i:03}",
            "model": model,
            "trial": str(trial),
            "question": f"Why {i % 27}?",
            "answer": (f"Since {i}.", f"No {i}.", None)[rng.integers(3)],
            "topic": f"t{i % 3}",
            **{name: cells[rng.integers(len(cells))] for name, cells in CELLS.items()},
            "late": 0.5
            if i % 3
            else "none"
            if i < 25
            else f"word {i}",  # numbers in most cells, though not in those of some parts
            "mostly": "yes" if i % 3 else f"word {i} {model}",  # words of marks alone, but too many others
            "recent": f"word {i}" if i < 20 else 0.5,  # the other way round
        }
        for i in range(n)
        for model in ("oak", "fern", "yew")
        for trial in range(trials or 1)
        if not (model == "fern" and i % 4 == 0) and not (model == "yew" and (i != 5 or trial))
    ]
    frame = pd.DataFrame(rows).astype({"rating": str, "late": str, "recent": str})
    return {"items": (frame if trials else frame.drop(columns="trial")).sample(frac=1, random_state=1)}


def unasked(n: int = 30, trials: int = 0) -> Tables:
    """As :func:`beside`, but one question is not known."""
    items = beside(n, trials)["items"]
    return {"items": items.assign(question=items["question"].mask(items["id"] == "q007", " "))}


def apart(n: int = 30, trials: int = 0) -> Tables:
    """Scores in a table of their own, of which most parts lack a metric; scores that failed, that nobody asked for, that are of all trials together."""
    rng = np.random.default_rng(6)
    items = beside(n, trials)["items"][[*(["trial"] if trials else []), "id", "model", "question", "answer", "topic"]]
    scores = [
        {
            **row,
            "metric": metric,
            "value": value,
            "unscored": "" if value is not None else "no idea",
            "detail": "It failed." * (value is None),
        }
        for row in items[["id", "model", *(["trial"] if trials else [])]].to_dict("records")
        for metric in ("right", "manner", "rare")
        if (value := (None, 0.0, 0.5, 1.0)[rng.integers(4)]) != 0.5 or metric == "right"
        if metric != "rare" or row["id"] == "q011"
    ]
    frame = pd.DataFrame(scores)
    if trials:
        together = frame["id"] < "q012"
        frame = frame[~together | (frame["trial"] == "0")].assign(trial=lambda f: f["trial"].mask(together, ""))
    known = pd.DataFrame(
        {"metric": ["right", "manner"], "low": [0.0, 1.0], "high": [1.0, 5.0], "direction": ["higher", ""]}
    )
    figures = [("right", "oak", "", 0.5), ("right", "", '{"topic": "t1"}', 0.123), ("manner", "fern", "", 0.75)]
    verdicts = pd.DataFrame({"id": ["q001", "q002"], "model": "oak", "judge": "elm", "label": ["good", "bad"]})
    return {
        "items": items,
        "scores": frame.sample(frac=1, random_state=1),
        "metrics": known,
        "figures": pd.DataFrame(figures, columns=["metric", "model", "slice", "tool_value"]),
        "judgements": verdicts,
    }


def long(n: int = 30, trials: int = 0) -> Tables:
    """A table with a score a row and no answers."""
    tables = apart(n, trials)
    answers = tables["items"].drop(columns=["answer", "question"])
    scores = tables["scores"].rename(columns={"value": "score"})
    if trials:
        scores = scores.assign(trial=scores["trial"].where(scores["trial"] != "", "0"))
    return {"items": scores.merge(answers, on=[c for c in ("id", "model", "trial") if c in answers])}


def bare(n: int = 30, trials: int = 0) -> Tables:
    """Columns of scores without questions and answers."""
    return {"items": beside(n, trials)["items"].drop(columns=["answer", "question"])}


def of_scores(n: int = 30, trials: int = 0) -> Tables:
    """Scores that alone say whose answers they are of."""
    tables = apart(n, trials)
    known = ["id", *(["model"] if trials else []), "topic"]
    scores = tables["scores"]
    if trials:
        scores = scores.assign(trial=scores["trial"].where(scores["trial"] != "", "0"))
    answers = tables["items"][known].drop_duplicates()
    return {**tables, "items": answers.assign(answer="Since " + answers["id"]), "scores": scores}
