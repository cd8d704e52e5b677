"""Small tables for the study of text metrics, and the study over them."""

import pandas as pd

from evalbench.studies import text_metrics as study

OPTIONS = {"n_resamples": 100}


def frame(**columns):
    base = {
        "id": ["1", "2", "3"], "answer": ["a red apple", "", "кот спит"],
        "reference": ["a red apple", "a pear", '["кот ест", "кот спит"]'],
    }  # fmt: skip
    return pd.DataFrame({**base, **columns})


def evaluate(table, metrics, **options):
    return study.evaluate({"items": table}, metrics=metrics, **{**OPTIONS, **options})
