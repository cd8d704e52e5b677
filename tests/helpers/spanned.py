"""Entities as spans, and ner_quality on them."""

from __future__ import annotations

import pandas as pd

from evalbench import load, ner_quality

SPAN = ["id", "start", "end", "entity_class"]


def spans(*rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=SPAN)


def result_of(gold, predictions, texts=None, **options):
    tables = {"gold": gold, "predictions": predictions, **({"texts": texts} if texts is not None else {})}
    return ner_quality.evaluate(load(tables, study="ner_quality"), n_resamples=20, **options)
