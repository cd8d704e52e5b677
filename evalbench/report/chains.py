"""How a judge that looks things up came to its verdicts: the steps of some items, each to be opened."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalbench.draw.html import Html, escape
from evalbench.readers.runs import CALLS

MOST_CHAINS, MOST_OF_EACH = 20, 5
LONGEST = 1500
_FENCE = re.compile(r"^\[/?\w+ [0-9a-f]{12}\]\n?", re.MULTILINE)
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
    steps = "".join(f"<li>{_said(str(row['reply']))}{_result(str(row['result']))}</li>" for row in rows)
    failed = f"<p>{escape(_short(end))}</p>" if end else ""
    ending = f" (no verdict: {escape(_short(_end(end)))})" if end else ""
    return f"<details><summary>{escape(name)}: {len(rows)} steps{ending}</summary><ol>{steps}</ol>{failed}</details>"


def _said(reply: str) -> str:
    """The calls of a reply in words; a reply that cannot be read as calls is shown as it is."""
    calls = list(_calls(reply))
    if not calls:
        return f"<code>{escape(_short(reply))}</code>"
    return "<br>".join(
        f"<strong>{escape(_short(tool))}</strong> {escape(_short(_words(tool, arguments)))}"
        for tool, arguments in calls
    )


def _calls(reply: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Tool and arguments of each call that a reply holds, whatever the form."""
    try:
        said = json.loads(reply)
    except (ValueError, RecursionError):
        return
    several = said.get("calls", [said, *_listed(said.get("more"))]) if isinstance(said, dict) else said
    for one in _listed(several):
        if not isinstance(one, dict) or not isinstance(one.get("tool"), str):
            return
        inner = one.get("arguments")
        rest = {
            name: value
            for name, value in one.items()
            if name not in ("tool", "arguments", "more") and value is not None
        }
        yield one["tool"], inner if isinstance(inner, dict) else rest


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []


def _words(tool: str, arguments: Mapping[str, Any]) -> str:
    """What a call is given: one value as it is, a verdict's reason and quotes, several by their names."""
    if tool == "verdict":
        inner = arguments.get("verdict")
        own = inner if isinstance(inner, dict) else {k: v for k, v in arguments.items() if k != "evidence"}
        quotes = [
            f"[{one.get('passage')}] “{one.get('quote')}”"
            for one in _listed(arguments.get("evidence"))
            if isinstance(one, dict)
        ]
        answer = own.get("label", own.get("mark", ""))
        told = (
            [str(answer), str(own.get("reason", "")), *quotes]
            if "reason" in own
            else [json.dumps(own, ensure_ascii=False), *quotes]
        )
        return " · ".join(filter(None, told))
    if len(arguments) == 1:
        return str(next(iter(arguments.values())))
    return ", ".join(f"{name}: {value}" for name, value in arguments.items())


def _result(text: str) -> str:
    shown = _FENCE.sub("", text).strip()
    return f'<div class="eb-said">{escape(_short(shown))}</div>' if shown else ""


def _short(text: Any) -> str:
    shown = str(text)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
