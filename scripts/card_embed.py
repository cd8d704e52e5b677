"""Measure the similarity backends that come with the workbench; write ``evalbench/models/similarity/embed_measured.yaml``.

Usage: ``OMP_NUM_THREADS=1 python scripts/card_embed.py``.

``card_embed_pairs.yaml`` holds sentences in three languages, each with one of the same meaning and one that is near but
says another thing; a backend is measured on the languages that it is made for.  ``unrelated`` is the 95th percentile over
pairs of different rows, ``same_meaning`` the threshold with the largest Youden index between same and near-but-different,
``accuracy`` the share that it gets right, ``cosine_range`` from the 5th percentile of unrelated to the 95th of same.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from evalbench.models.similarity.embed import embed, embedder, known_models, pair_similarities, similarity_matrix
from evalbench.models.similarity.encoders import MEASURED_FILE, card_of

PAIRS = yaml.safe_load(Path(__file__).with_name("card_embed_pairs.yaml").read_text("utf-8"))


def measured(name: str) -> dict[str, Any]:
    made_for = card_of(name).languages
    languages = [code for code in PAIRS if "*" in made_for or code in made_for]
    rows = [row for code in languages for row in PAIRS[code]]
    base, same, near = ([row[i] for row in rows] for i in range(3))
    by = embedder(name, cache=False)
    equal, other = pair_similarities(by, base, same), pair_similarities(by, base, near)
    matrix = similarity_matrix(by, base, base)
    unrelated = matrix[~np.eye(len(base), dtype=bool) & _same_language(languages)]
    cuts = np.unique(np.concatenate([equal, other]))
    youden = [(equal >= c).mean() - (other >= c).mean() for c in cuts]
    cut = float(cuts[int(np.argmax(youden))])
    figures = {
        "unrelated": float(np.percentile(unrelated, 95)),
        "same_meaning": cut,
        "accuracy": float(((equal >= cut).mean() + (other < cut).mean()) / 2),
        "cosine_range": [float(np.percentile(unrelated, 5)), float(np.percentile(equal, 95))],
    }
    rounded = {k: [round(x, 3) for x in v] if isinstance(v, list) else round(v, 3) for k, v in figures.items()}
    return {"measured_on": languages, **rounded, "sentences_per_second": _speed(name, base + same + near)}


def _same_language(languages: list[str]) -> np.ndarray:
    """Pairs of different languages are left out: a translation is not unrelated."""
    of_row = np.repeat(np.arange(len(languages)), [len(PAIRS[code]) for code in languages])
    return of_row[:, None] == of_row


def _speed(name: str, texts: list[str]) -> int | None:
    """Sentences per second on one core of the machine that wrote the file, two figures."""
    if name == "jaccard":
        return None
    start = time.perf_counter()
    embed(texts, embedder(name, cache=False))
    per_second = len(texts) / (time.perf_counter() - start)
    return int(float(f"{per_second:.2g}"))


def main() -> None:
    found = {name: measured(name) for name in known_models()}
    text = yaml.safe_dump(found, sort_keys=False, allow_unicode=True)
    MEASURED_FILE.write_text(f"# Written by scripts/card_embed.py; do not edit.\n{text}", "utf-8")
    print(text)


if __name__ == "__main__":
    main()
