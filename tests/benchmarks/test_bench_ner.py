"""A hundred thousand texts with entities, from their files: conflicts of strings, quality of spans, and another library as peer."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import nervaluate
import numpy as np
import pandas as pd
import pytest
from benchmark_table import against, at_most
from timing import Race, alone, least, race

from evalbench import load, ner_conflicts, ner_quality
from evalbench.metrics.entities import MODES, Entities, matched

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

TEXTS, SPANS, PEERS_TEXTS = 100_000, 250_000, 4_000
CONFLICTS_SECONDS, QUALITY_SECONDS, TIMES_NERVALUATE = 5, 8, 4
CLASSES = np.array(["LOC", "MISC", "ORG", "PER"], dtype=object)


def tables(n_texts: int, n_spans: int) -> dict[str, pd.DataFrame]:
    """Texts of forty words, some of which recur; true spans of one to three words; predictions that miss, shift and confuse."""
    draw = np.random.default_rng(5)
    vocabulary = np.array([f"w{i}" for i in range(2000)] + ["Paris", "Лондон"] * 20)
    words = vocabulary[draw.integers(len(vocabulary), size=(n_texts, 40))]
    sizes = np.char.str_len(words)
    start = np.cumsum(sizes + 1, axis=1) - sizes - 1
    ids = np.array([f"t{i:06d}" for i in range(n_texts)], dtype=object)
    text = np.sort(draw.integers(n_texts, size=n_spans))
    first = draw.integers(37, size=n_spans)
    last = first + draw.integers(3, size=n_spans)
    kind = draw.integers(4, size=n_spans)
    gold = frame(ids, text, start[text, first], (start + sizes)[text, last], kind)
    seen = draw.random(n_spans) < 0.9
    shifted = np.where(draw.random(n_spans) < 0.15, np.maximum(first - 1, 0), first)
    named = np.where(draw.random(n_spans) < 0.1, draw.integers(4, size=n_spans), kind)
    predictions = frame(ids, text, start[text, shifted], (start + sizes)[text, last], named)[seen]
    return {
        "texts": pd.DataFrame({"id": ids, "text": [" ".join(row) for row in words]}),
        "gold": gold,
        "predictions": predictions,
    }


def frame(ids: Any, text: Any, start: Any, end: Any, kind: Any) -> pd.DataFrame:
    return pd.DataFrame({"id": ids[text], "start": start, "end": end, "entity_class": CLASSES[kind]})


def written(made: dict[str, pd.DataFrame], folder: Path) -> Path:
    folder.mkdir()
    for name, table in made.items():
        table.to_parquet(folder / f"{name}.parquet")
    return folder


def from_files() -> dict[str, float]:
    """Processor seconds from files to Result, intervals included."""
    with tempfile.TemporaryDirectory() as place:
        made = tables(TEXTS, SPANS)
        texts = dict(zip(made["texts"]["id"], made["texts"]["text"], strict=True))
        both = pd.concat([made["gold"], made["predictions"]])
        cut = [texts[i][a:b] for i, a, b in zip(both["id"], both["start"], both["end"], strict=True)]
        strings = {"texts": made["texts"], "predictions": both[["id", "entity_class"]].assign(entity=cut)}
        of_spans, of_strings = written(made, Path(place) / "spans"), written(strings, Path(place) / "strings")

        def quality() -> object:
            return ner_quality.evaluate(load(of_spans, study="ner_quality"))

        def conflicts() -> object:
            return ner_conflicts.evaluate(load(of_strings, study="ner_conflicts"))

        return {"quality": least(quality, QUALITY_SECONDS), "conflicts": least(conflicts, CONFLICTS_SECONDS)}


@pytest.mark.large
def test_from_files(record):
    found = alone(from_files)
    record(at_most("conflicts in 100 000 texts, file to Result", found["conflicts"], CONFLICTS_SECONDS, "s"))
    record(at_most("quality of 500 000 spans in 100 000 texts, file to Result", found["quality"], QUALITY_SECONDS, "s"))


def same_as_nervaluate() -> Any:
    """Four modes and confusions against its four strategies, over all classes and each class, on the same spans."""
    made = tables(PEERS_TEXTS, SPANS * PEERS_TEXTS // TEXTS)
    ids = pd.Index(made["texts"]["id"])
    sides = [
        Entities(
            ids.get_indexer(pd.Index(t["id"])),
            *(t[c].to_numpy(np.int64) for c in ("start", "end")),
            np.searchsorted(CLASSES, t["entity_class"].to_numpy(dtype=object)),
        )
        for t in (made["gold"], made["predictions"])
    ]
    listed: list[list[list[dict[str, Any]]]] = []
    for side in sides:
        documents: list[list[dict[str, Any]]] = [[] for _ in ids]
        for text, start, end, kind in zip(*(column.tolist() for column in side), strict=True):
            documents[text].append({"label": CLASSES[kind], "start": start, "end": end - 1})
        listed.append(documents)

    def theirs(_: int) -> Any:
        return nervaluate.Evaluator(*listed, tags=CLASSES.tolist(), loader="dict").evaluate()["overall"]

    found, other = matched(*sides), theirs(0)
    for mode in MODES:
        of_it = other["ent_type" if mode == "type" else mode].correct
        assert found.correct[mode].sum() >= of_it >= 0.97 * found.correct[mode].sum(), mode
    return race(lambda _: matched(*sides), theirs, goal=TIMES_NERVALUATE)


def test_faster_than_nervaluate(record):
    took = Race(*alone(same_as_nervaluate))
    record(against("four modes by assignment, 4 000 texts", took, "nervaluate 1.2", TIMES_NERVALUATE))
