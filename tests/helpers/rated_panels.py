"""Made-up panels of outputs and ratings, and the study of human correlation over them."""

import numpy as np
import pandas as pd

from evalbench.readers.dataset import load
from evalbench.studies import human_correlation as study

OPTIONS = {"n_resamples": 60}


def evaluate(frame, ratings=None, **options):
    tables = {"items": frame} if ratings is None else {"items": frame, "ratings": ratings}
    return study.evaluate(load(tables, study.SCHEMA), **{**OPTIONS, **options})


def panel(documents=8, systems=4, seed=0):
    """Rows of a made-up panel: a good metric, a bad one, one of which less is better; three annotators."""
    rng = np.random.default_rng(seed)
    rows, ratings = [], []
    for d in range(documents):
        for s in range(systems):
            quality = s + rng.normal(0, 1)
            keys = {"id": f"d{d}", "model": f"s{s}"}
            rows.append({**keys, "good": quality + rng.normal(0, 0.3), "bad": rng.normal(), "errors": -quality})
            for a in range(3):
                score = round(float(np.clip(quality + rng.normal(0, 0.5), -2, 6)))
                ratings.append({**keys, "annotator": f"a{a}", "criterion": "quality", "mark": score})
                ratings.append({**keys, "annotator": f"a{a}", "criterion": "complete", "mark": 1})
    return pd.DataFrame(rows), pd.DataFrame(ratings)


def value(result, **wanted):
    table = result.tables["correlations"]
    for name, content in wanted.items():
        table = table[table[name] == content]
    assert len(table) == 1
    return table.iloc[0]
