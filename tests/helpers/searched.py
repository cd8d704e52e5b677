"""Two searches over three judged queries, in small, and the study of them."""

from __future__ import annotations

import pandas as pd

from evalbench import load, rag_retrieval


def frame(text, *names):
    rows = [line.split() for line in text.strip().splitlines()]
    return pd.DataFrame(rows, columns=list(names))


QRELS = frame("a p 1\na q 0\nb p 2\nb r 1\nc p 0", "id", "doc_id", "relevance")
RUN = frame(
    """a q 3 one
    a p 2 one
    b r 5 one
    b x 4 one
    z p 1 one
    a p 2 two
    b x 2 two
    b p 2 two
    b r 2 two""",
    "id", "doc_id", "score", "model",
)  # fmt: skip


def evaluated(run=RUN, qrels=QRELS, **options):
    tables = {"run": run, "qrels": qrels, **options.pop("tables", {})}
    options = {"metrics": ["mrr", "ndcg"], "k": 2, "ks": [1, 2], "n_resamples": 50, **options}
    return rag_retrieval.evaluate(load(tables, study="rag_retrieval"), **options)
