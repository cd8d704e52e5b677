"""Builds the folder of a run as the runner leaves it: invented checkers, real figures, real outputs of draw."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from evalbench.core.measures import estimate, f1_of, mean_of
from evalbench.core.result import DataLabel, Result, Summary
from evalbench.core.verdict import Bands, Verdict
from evalbench.draw.marks import digest
from evalbench.draw.pictures import heat_map, interval_bars
from evalbench.draw.show import shown
from evalbench.draw.tables import Document, Span, documents

HOSTILE = (
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "from $5 to $6 … $x^2$",
    "abc\u202edef",
    "007",
    "None",
    "NA",
    '"><svg onload=alert(1)>',
    "{{ 7 * 7 }}",
    "Пейте Физл каждый день — и врачи не понадобятся",
    "每天喝一瓶，健康一整年",
    "اشرب كل يوم",
)
CHECKERS = ("fern@1.0.0|oak-7b", "moss@0.3.1|elm-70b", "reed@2.1.0|pine-1b")


@functools.cache
def result(hostile: str = "") -> Result:
    """A Result with three groups, two unscored items and one figure that is undefined."""
    rng = np.random.default_rng(1)
    items, figures = [], []
    for i, checker in enumerate(CHECKERS):
        n = 40
        frame = pd.DataFrame(
            {
                "id": [f"s-{k:03d}" for k in range(n)],
                "checker": checker,
                "tp": rng.binomial(2, 0.75 - 0.18 * i, n).astype(float),
                "fp": rng.binomial(1, 0.2 + 0.1 * i, n).astype(float),
                "fn": rng.binomial(1, 0.15 + 0.1 * i, n).astype(float),
                "score": rng.uniform(0.2, 1, n),
                "unscored": ["the reply does not parse"] * (i == 1) * 2 + [""] * (n - 2 * (i == 1)),
                "undefined": "",
            }
        )
        frame.loc[frame["unscored"] != "", ["tp", "fp", "fn", "score"]] = np.nan
        items.append(frame)
        made = [
            f1_of("tp", "fp", "fn", bands=Bands.cut("red", 0.4, "yellow", 0.75, "green")),
            mean_of("score", "match_score"),
        ]
        columns = {c: frame[c].to_numpy() for c in frame}
        figures += estimate(columns, made, units=frame["id"], seed=0, group={"checker": checker}).estimates
    sentence = f"F1 0.71 [0.63, 0.78], 85 violations in 40 texts; 2 could not be scored {hostile}".strip()
    return Result(
        study="matching",
        question="How good are the violations that a checker found, against the ground truth?",
        judged=f"three checkers {hostile}".strip(),
        parameters={"data": "house_style_curated@1.1.0", "threshold": 0.5, "backend": "jaccard", "note": hostile},
        data=DataLabel("house_style_curated", "1.1.0", "5f" * 32, synthetic=True),
        id="id",
        by=("checker",),
        items=pd.concat(items, ignore_index=True),
        summary=Summary(
            tuple(figures), Verdict("yellow", sentence, "red: ≤ 0.4; yellow: (0.4, 0.75]; green: > 0.75", 0.87)
        ),
        notes=(
            "fern is better than moss in F1 by 0.09 [0.02, 0.16], p = .02 (paired bootstrap, Holm).",
            f"Columns were taken as they are named. {hostile}".strip(),
        ),
        method=("F1 = 2tp / (2tp + fp + fn), counts summed over samples", "text overlap = |A ∩ B| / |A ∪ B| (Jaccard)"),
    )


def output(x: Any, caption: str = "") -> Any:
    """What ``show`` leaves in a notebook."""
    data, metadata = shown(x, caption)._repr_mimebundle_()
    return new_output("display_data", data=data, metadata=metadata)


def notebook(res: Result, hostile: tuple[str, ...] = ()) -> Any:
    """An executed notebook with prose, pictures, cases and one printed line."""
    f1 = [e for e in res.summary.estimates if e.metric == "f1"]
    bars = interval_bars(
        [e.group["checker"] for e in f1] + list(hostile[:3]),
        [e.value for e in f1] + [None] * len(hostile[:3]),
        [e.ci_low for e in f1] + [None] * len(hostile[:3]),
        [e.ci_high for e in f1] + [None] * len(hostile[:3]),
        title=f"Fern finds most, reed least {hostile[2] if hostile else ''}".strip(),
        xlabel="F1 (0–1)",
        domain=(0, 1),
    )
    grid = heat_map(
        np.random.default_rng(2).uniform(0, 1, (5, 6)),
        [f"truth {i}" for i in range(5)],
        [f"found {i}" for i in range(6)],
        title="One prediction competes for two truths in s-007",
        unit="ha score, 0–1",
    )
    cases = pd.DataFrame(
        {
            "id": [f"s-{i:03d}" for i in range(24)],
            "score": np.linspace(0, 0.4, 24),
            "text": [
                (hostile or HOSTILE[9:])[i % len(hostile or HOSTILE[9:])]
                + " Fizzle tastes of summer and asks nothing of you." * (i % 7)
                for i in range(24)
            ],
            "reason": ["no overlap", "rule too far", None, "its partner was taken"] * 6,
        }
    )
    text = "Drink Fizzle and you will be healthy: it cures all that ails you, and the taste is unbeatable."
    docs = documents(
        [
            Document(
                "s-003, fern@1.0.0|oak-7b",
                text,
                [
                    Span(0, 12, "truth", "no commands to the reader", 1),
                    Span(0, 16, "prediction", "imperative", 1),
                    Span(26, 36, "truth", "no health claims", 2),
                    Span(26, 53, "prediction", "health claim", 2),
                    Span(74, 93, "prediction", "superlative"),
                ],
            ),
            Document(
                "s-011, fern@1.0.0|oak-7b",
                HOSTILE[9] + ". " + HOSTILE[10],
                [Span(0, 22, "truth", "без приказов", 1), Span(0, 22, "prediction", "без приказов", 1)],
            ),
        ]
    )
    return new_notebook(
        cells=[
            new_markdown_cell(
                "# Violation matching\n\nHow good are the violations that a checker found?\n\n"
                "**How to read the light**: green above 0.75, red at or below 0.4; the interval says how sure that is."
            ),
            new_code_cell(
                'data: str = "house_style_curated@1.1.0"  # the table to judge\n'
                "threshold: float = 0.4  # score from which a pair matches\n"
                'backend: str = "jaccard"  # how rules are compared\nnote: str = ""',
                metadata={"tags": ["parameters"]},
            ),
            new_code_cell("threshold = 0.5", metadata={"tags": ["injected-parameters"]}),
            new_code_cell("result = matching.evaluate(load(data, study='matching'))  # scores every pair"),
            new_markdown_cell("## The pictures\n\nEach dot is a checker, each line its interval."),
            new_code_cell("show(matching.figure_f1(result))", outputs=[output(bars, "F1 of each checker, 40 texts.")]),
            new_code_cell(
                "show(matching.picture_scores(result))", outputs=[output(grid, "Scores of a crowded sample.")]
            ),
            new_markdown_cell("## The cases to look at\n\nThe worst first.\n\n### Texts with their marks"),
            new_code_cell("show(docs)", outputs=[output(docs)]),
            new_markdown_cell("### The lowest scores"),
            new_code_cell(
                "show(cases)",
                outputs=[
                    new_output("stream", name="stdout", text="24 cases\n"),
                    output(cases, "The twenty lowest scores."),
                ],
            ),
            new_code_cell("record(result)", outputs=[output(res)]),
        ]
    )


@functools.cache
def notebook_text(hostile: tuple[str, ...]) -> str:
    """The notebook as its file's text; its pictures are drawn once."""
    return nbformat.writes(notebook(result(" ".join(hostile)), hostile))


RUN = {
    "schema_version": 1,
    "study": "matching",
    "run_id": "20261121T101500Z-0a1b2c3d",
    "status": "ok",
    "error": None,
    "started": "2026-11-21T10:15:00Z",
    "finished": "2026-11-21T10:15:07Z",
    "seconds": 7.2,
    "attempt": 1,
    "git": {"commit": "3c" * 20, "dirty": False},
    "python": "3.12.3",
    "versions": {"evalbench": "0.1.0", "numpy": "2.3.1", "pandas": "3.1.1", "scipy": "1.17.0"},
    "notebook_sha256": "ab" * 32,
    "models": ["jaccard"],
    "endpoint_hosts": [],
    "prompt_hashes": {},
    "calls": 0,
    "cost": None,
}


@dataclass(frozen=True)
class Folder:
    """A run's folder and what was put in it."""

    path: Path
    result: Result | None


def drawn(text: str) -> list[str]:
    """Digests of all marked outputs, as the runner writes them."""
    outputs = [output for cell in json.loads(text)["cells"] for output in cell.get("outputs", ())]
    marks = [(output.get("metadata", {}).get("text/html", {}).get("evalbench"), output) for output in outputs]
    return [digest(kind, "".join(output["data"]["text/html"])) for kind, output in marks if kind]


@pytest.fixture
def run_folder(tmp_path: Path):
    """A function that writes a run's folder."""

    def build(*, hostile: tuple[str, ...] = (), status: str = "ok", cells: Any = None, **run: Any) -> Folder:
        folder = tmp_path / "reports" / "matching" / "20261121T101500Z-0a1b2c3d"
        folder.mkdir(parents=True)
        res = result(" ".join(hostile))
        text = notebook_text(hostile) if cells is None else nbformat.writes(new_notebook(cells=cells))
        record = {**RUN, "status": status, "drawn": drawn(text), **run}
        (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
        if status in ("ok", "interactive"):
            content = {**res.to_json(), "tables": {"pairs": "pairs.parquet"}}
            (folder / "results.json").write_text(json.dumps(content, ensure_ascii=False, allow_nan=False), "utf-8")
            (folder / "items.parquet").write_bytes(b"x" * 12_345)
            (folder / "pairs.parquet").write_bytes(b"x" * 1_234_567)
        (folder / "notebook.ipynb").write_text(text, encoding="utf-8")
        return Folder(folder, res)

    return build
