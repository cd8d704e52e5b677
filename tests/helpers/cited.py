"""Cited answers, sources and a scripted judge for the tests of the study ``citation``."""

import pandas as pd

from evalbench import citation, load

SOURCES = [
    {"url": "https://lexica.example/a", "title": "A", "text": "The bridge fell on 3 March 1908."},
    {"url": "s2", "title": "B", "text": "Of the dead, 41 were counted."},
]


def entails_if_contained(item):
    """A scripted judge, in process: a premise entails what it holds word for word; a gold answer likewise."""
    if "gold" in item:
        return {"label": "CORRECT" if any(g in item["answer"] for g in item["gold"]) else "INCORRECT"}
    if "fails" in item["hypothesis"]:
        return {"unscored": "unparsed", "detail": "no label"}
    return "ENTAILMENT" if item["hypothesis"].rstrip(".") in item["premise"] else "NEUTRAL"


def row(answer, citations, **more):
    return {"id": "q", "question": "when?", "reference": "1908", "answer": answer, "citations": citations} | more


def judged(*rows, sources=SOURCES, **options):
    tables = {"answers": pd.DataFrame(rows)} | ({"sources": pd.DataFrame(sources)} if sources else {})
    return citation.evaluate(load(tables, study="citation"), judge=entails_if_contained, n_resamples=50, **options)
