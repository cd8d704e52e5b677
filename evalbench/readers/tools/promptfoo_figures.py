"""The figures that promptfoo keeps for each prompt and provider, beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalbench.readers.tools.safe import mapping, objects
from evalbench.readers.tools.shapes import Figure, number_of
from evalbench.readers.tools.tally import Cell, Tally


def figures(body: Mapping[str, Any], names: Mapping[tuple[str, Any], str], tally: Tally) -> Iterator[Figure]:
    """Mean score, pass rate and named scores of each prompt and provider, and the pass rate over all."""
    head = mapping(mapping(body.get("table")).get("head"))
    for place, entry in enumerate(objects(body.get("prompts") or head.get("prompts"))):
        provider = str(entry.get("provider") or "")
        label = str(entry.get("label") or entry.get("display") or "")
        model = names.get((provider, place)) or names.get((provider, label))
        if model is not None:
            yield from _of(mapping(entry.get("metrics")), model, tally)
    stats = mapping(body.get("stats"))
    counts = [number_of(stats.get(key)) or 0.0 for key in ("successes", "failures", "errors")]
    if sum(counts):
        cell = tally.of("pass")
        yield Figure(
            "pass",
            "stats.successes / (successes + failures + errors)",
            counts[0] / sum(counts),
            cell.mean,
            cell.n,
            *_why(cell),
        )


def _of(metrics: Mapping[str, Any], model: str, tally: Tally) -> Iterator[Figure]:
    counts = [number_of(metrics.get(f"test{kind}Count")) or 0.0 for kind in ("Pass", "Fail", "Error")]
    rows, score = sum(counts), number_of(metrics.get("score"))
    if rows and score is not None:
        cell = tally.of("score", model)
        where = "results.prompts[].metrics.score / (pass + fail + error)"
        yield Figure("score", where, score / rows, cell.mean, cell.n, *_why(cell), model=model)
        cell = tally.of("pass", model)
        where = "testPassCount / (pass + fail + error)"
        yield Figure("pass", where, counts[0] / rows, cell.mean, cell.n, *_why(cell), model=model)
    for name, total in mapping(metrics.get("namedScores")).items():
        n = number_of(mapping(metrics.get("namedScoresCount")).get(name))
        cells = [
            cell for (metric, of), cell in tally.by_model.items() if of == model and metric.partition(" (")[0] == name
        ]
        ours = sum(cell.n for cell in cells)
        value = number_of(total)
        if n and value is not None:
            mean = sum(cell.total for cell in cells) / ours if ours else None
            missing = next((cell for cell in cells if cell.missing), Cell())
            reason = _why(missing) if value / n != mean else ("", "")
            yield Figure(name, "namedScores / namedScoresCount", value / n, mean, ours, *reason, model=model)


def _why(cell: Cell) -> tuple[str, str]:
    """The reason of a difference: what the tool counts and ours leaves unscored."""
    if not cell.missing:
        return "", ""
    whole = cell.n + cell.missing
    shown = "; ".join(f"{n} × {words}" for words, n in cell.words.most_common(3))
    unchecked = cell.words.get("No assertions", 0)
    if unchecked == cell.missing:
        return (
            "unchecked-as-1",
            f"{unchecked} of {whole} rows have no assertion; the tool gives them score 1, ours leaves them unscored",
        )
    return (
        "errors-as-0",
        f"{cell.missing} of {whole} rows have no score ({shown}); the tool counts an error, or a verdict that failed, as 0",
    )
