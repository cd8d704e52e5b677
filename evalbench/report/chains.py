"""How a judge that looks things up came to its verdicts: the steps of some items, each to be opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalbench.draw.html import Html, escape
from evalbench.readers.runs import CALLS

MOST_CHAINS, MOST_OF_EACH = 20, 5
LONGEST = 1500
_COLUMNS = ["item_id", "sample", "purpose", "reply", "detail", "model", "step", "result"]


def chains_html(folder: Path) -> Html:
    """A fold with the steps of the first items; of each cause of failure some first.  Empty where no judge looked anything up."""
    try:
        frame = _steps(folder / CALLS)
    except (OSError, ValueError) as error:  # pyarrow's own are both
        return Html(f"<p>{escape(f'{CALLS} cannot be read: {error}'[:LONGEST])}</p>")
    if frame is None or not len(frame):
        return Html("")
    keys = ["model", "purpose", "item_id", "sample"]
    chains = [(key, rows.sort_values("step")) for key, rows in frame.groupby(keys, sort=True)]
    shown = list(_chosen(chains))
    inner = "".join(_chain_html(key, rows.to_dict("records")) for key, rows in shown)
    more = (
        "" if len(shown) == len(chains) else f"<p>{len(shown)} of {len(chains):,} items; all are in calls.parquet.</p>"
    )
    return Html(f"<details><summary>How the judge came to its verdicts, step by step</summary>{inner}{more}</details>")


def _steps(file: Path) -> Any:
    """The rows of steps; None where the table has none."""
    from pyarrow import parquet

    if not file.is_file() or not {*_COLUMNS} <= set(parquet.read_schema(file).names):
        return None
    table = parquet.read_table(file, columns=_COLUMNS, filters=[("step", ">=", 1)])
    return table.to_pandas().fillna({"detail": "", "result": "", "reply": ""})


def _chosen(chains: list[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """The chains to show: some of each way to end, those that failed first."""
    by_end: dict[str, list[tuple[Any, Any]]] = {}
    for chain in chains:
        by_end.setdefault(_end(str(chain[1]["detail"].iloc[-1])), []).append(chain)
    failed = [chain for end in sorted(by_end) if end for chain in by_end[end][:MOST_OF_EACH]]
    yield from [*failed, *by_end.get("", [])][:MOST_CHAINS]


def _end(detail: str) -> str:
    return detail.partition(":")[0]


def _chain_html(key: tuple[Any, ...], rows: list[Mapping[Any, Any]]) -> str:
    _, purpose, item, sample = key
    name = f"{item}, {purpose}" + (f", sample {sample}" if sample else "")
    end = str(rows[-1]["detail"])
    steps = "".join(
        f"<li><code>{escape(_short(row['reply']))}</code>{_result(str(row['result']))}</li>" for row in rows
    )
    failed = f"<p>{escape(_short(end))}</p>" if end else ""
    return f"<details><summary>{escape(name)}: {len(rows)} steps{' (no verdict)' if end else ''}</summary><ol>{steps}</ol>{failed}</details>"


def _result(text: str) -> str:
    return f"<pre>{escape(_short(text))}</pre>" if text else ""


def _short(text: Any) -> str:
    shown = str(text)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
