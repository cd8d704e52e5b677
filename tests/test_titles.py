"""Metrics are identifiers; people read titles, on every surface."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from evalbench.commands.printed import headline as printed
from evalbench.compare.matrix import Pairs
from evalbench.compare.runs import Hooks, compare
from evalbench.compare.sides import Side, with_names
from evalbench.core.measures import estimate, mean_of
from evalbench.core.result import Summary
from evalbench.core.verdict import Verdict
from evalbench.draw.verdict import headline_table
from evalbench.report.compare_page import page
from evalbench.report.compare_words import sentences
from evalbench.report.history import headline
from evalbench.report.index import sparkline

GOLDENS = sorted((Path(__file__).parent / "golden").glob("*.json"))
IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")
# What published files and packages call so.
PUBLISHED = re.compile(r"XAI_overall_score|rougeL(sum)?(_precision|_recall)?")
TITLE = "citation recall (ALCE)"


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_every_metric_of_a_study_is_an_identifier(path: Path) -> None:
    metrics = {row["metric"] for row in json.loads(path.read_text(encoding="utf-8"))["summary"]}
    prose = sorted(m for m in metrics if not IDENTIFIER.fullmatch(m) and not PUBLISHED.fullmatch(m))
    assert prose == []


def summarise(items: pd.DataFrame, *, seed: int = 0) -> Summary:
    found = estimate(items, [mean_of("recall", "citation_recall", title=TITLE)], units=items["id"], seed=seed)
    return Summary(found.estimates, Verdict("unlit", "No thresholds set, so there is no light."))


def side(recall: list[float]) -> Side:
    items = pd.DataFrame({"id": [f"q{i}" for i in range(len(recall))], "recall": recall})
    results = {
        "study": "toy", "question": "?", "judged": "answers", "by": [], "id": "id", "light": "unlit", "parameters": {"seed": 0},
        "summary": [e.row() for e in summarise(items).estimates],
        "data": {"name": "set", "version": "1", "sha256": "0" * 64, "synthetic": True},
    }  # fmt: skip
    return Side("r1", results, {"status": "ok"}, items)


def test_tables_lines_index_and_comparisons_show_the_title() -> None:
    left, right = with_names([side([1.0, 0.0] * 10), replace(side([1.0] * 20), run_id="r2")])
    hooks = Hooks(lambda: [mean_of("recall", "citation_recall", title=TITLE)], summarise)
    (found,) = compare(
        left, [right], hooks, n_resamples=200, metric="citation_recall", margins={"citation_recall": 0.01}
    )
    whole = page(Pairs.against_the_first([found]), {})
    assert all(line.startswith(TITLE) for line in sentences(found))
    assert f"<p>{TITLE} of single units" in whole
    assert f"({TITLE} ±0.01)" in whole
    assert printed(left.results)[0].startswith(f"  {TITLE}")
    table = str(headline_table(left.results["summary"]))
    assert f'{TITLE} <span class="eb-small">citation_recall, 0–1' in table
    first = headline(left.results)
    assert first is not None
    assert (first.metric, first.title) == ("citation_recall", TITLE)
    assert f'aria-label="{TITLE} over 2 runs' in str(sparkline([first, first]))
