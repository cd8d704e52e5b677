"""Tables of the study of stability: scores, or answers, before and after augmentations."""

from __future__ import annotations

import pandas as pd

from evalbench.studies import load, stability


def tables(before, after, augmentation="butter_finger", **more):
    """A score of each item before, and after each augmentation."""
    ids = [f"q{i:03}" for i in range(len(before))]
    afters = after if isinstance(after, dict) else {augmentation: after}
    variants = [
        {"id": i, "augmentation": name, "score": score}
        for name, scores in afters.items()
        for i, score in zip(ids, scores, strict=False)
    ]
    return {"items": pd.DataFrame({"id": ids, "score": before}), "variants": pd.DataFrame(variants), **more}


def judged(frames, **options):
    return stability.evaluate(load(frames, study="stability"), **{"n_resamples": 500, **options})


def answers():
    """Four questions and their answers under one augmentation."""
    items = pd.DataFrame(
        {
            "id": list("abcd"),
            "question": ["is it red", "is it old", "is it far", "is it wet"],
            "answer": ["yes", "yes", "yes", "no"],
            "reference": ["yes"] * 4,
        }
    )
    variants = pd.DataFrame(
        {
            "id": list("abcd"),
            "augmentation": "butter_finger",
            "question": ["is it rwd", "is it ild", "is ut far", "os it wet"],
            "answer": ["yes", "no", "no", "yes"],
        }
    )
    return {"items": items, "variants": variants}
