"""What repeated answers show, as HTML: where the noise comes from, pass@k and pass^k, items that flicker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalbench.core.wording import count, counted, group_of, percent, rounded
from evalbench.draw.html import Html, attribute, escape, language_attributes
from evalbench.draw.tables import clamped, html_table

MOST_BARS = 12
MOST_KS = 8
CLUSTERED = (
    '<p class="eb-small">The intervals of this section take items as drawn one by one; those of the headline figures draw the items '
    "of one cluster together, and may be wider or narrower.</p>"
)
FILE = "flickering.parquet"
PARTS = {"items": "which items were drawn", "answers": "repeated answers", "judging": "repeated judging"}


def trials_html(trials: Mapping[str, Any], by: Sequence[str]) -> Html:
    """The part of a page about repeated answers.

    - ``trials``: ``trials`` of ``results.json``.
    - ``by``: The columns of groups.
    """
    noise, curves, flickering = (list(trials.get(name) or ()) for name in ("noise", "pass_k", "flickering"))
    parts = [
        CLUSTERED if trials.get("clustered") and (noise or curves) else "",
        _noise(noise, by),
        _curves(curves, by),
        _flickering(flickering, by),
    ]
    return Html("".join(parts))


# -- noise ----------------------------------------------------------------------------------------


def _noise(noise: Sequence[Mapping[str, Any]], by: Sequence[str]) -> str:
    if not noise:
        return ""
    first = [one for one in noise if one["metric"] == noise[0]["metric"]]
    bars = "".join(_bar(one, by) for one in first[:MOST_BARS])
    more = (
        f'<p class="eb-small">{len(first) - MOST_BARS} further groups are in the table.</p>'
        if len(first) > MOST_BARS
        else ""
    )
    legend = "".join(
        f'<span class="eb-split-key eb-split-{attribute(name)}"><i aria-hidden="true"></i>{escape(words)}</span>'
        for name, words in PARTS.items()
        if any(part["component"] == name for one in first for part in one["components"])
    )
    said = [(group_of(one, by), one["sentence"]) for one in first[:MOST_BARS]]
    sentences = "".join(f"<li>{f'<b>{escape(name)}</b>: ' if name else ''}{escape(text)}</li>" for name, text in said)
    return (
        f"<h3>Where the noise comes from</h3>"
        f'<figure class="eb-figure"><figcaption>Variance of the mean of {escape(noise[0]["title"])}, by its source</figcaption>'
        f'<div class="eb-split-keys">{legend}</div>{bars}</figure>{more}<ul class="eb-plain">{sentences}</ul>'
        f"{_folded('The variances with their intervals', _components(noise, by))}"
    )


def _bar(one: Mapping[str, Any], by: Sequence[str]) -> str:
    shares = [(part["component"], part["share"]) for part in one["components"]]
    name = group_of(one, by)
    head = f"<b>{escape(name)}</b> " if name else ""
    if any(share is None for _, share in shares):
        return f'<p class="eb-split-name">{head}has the same score for every answer: there is no noise to split</p>'
    words = [f"{PARTS[part]} {percent(share)}" for part, share in shares]
    label = f'<p class="eb-split-name">{head}{escape(", ".join(words))}</p>'
    alt = f"{name + ': ' if name else ''}{'; '.join(words)} of the variance"
    pieces = "".join(
        f'<span class="eb-split-{attribute(part)}" style="flex-grow:{share:.4f}"></span>'
        for part, share in shares
        if share > 0
    )
    return f'{label}<div class="eb-split" role="img" aria-label="{attribute(alt)}">{pieces}</div>'


def _components(noise: Sequence[Mapping[str, Any]], by: Sequence[str]) -> Html:
    import pandas as pd

    rows = [
        {
            **{name: one[name] for name in by if name in one},
            "figure": one["title"],
            "source": PARTS[part["component"]],
            "variance [95 %]": rounded(part["variance"], part["ci_low"], part["ci_high"])
            + (" (estimate negative)" if part["negative"] else ""),
            "share": "–" if part["share"] is None else percent(part["share"]),
            "interval now": f"±{one['half_width']:.3g}",
        }
        for one in noise
        for part in one["components"]
    ]
    return html_table(pd.DataFrame(rows), rows=30, file="noise.parquet")


# -- pass@k ---------------------------------------------------------------------------------------


def _curves(curves: Sequence[Mapping[str, Any]], by: Sequence[str]) -> str:
    import pandas as pd

    if not curves:
        return ""
    rows = []
    for one in curves:
        for point in _some(one["curve"]):
            at = rounded(point["pass_at_k"], point["at_low"], point["at_high"])
            hat = rounded(point["pass_hat_k"], point["hat_low"], point["hat_high"])
            named = {name: one[name] for name in by if name in one}
            rows.append(
                {**named, "figure": one["title"], "k": point["k"], "pass@k": at, "pass^k": hat, "n": one["n_items"]}
            )
    left = max(one["left_out"] for one in curves)
    out = f" Items with too few scored trials are left out: {left} at most in a group." if left else ""
    note = (
        f"pass@k: at least one of k answers is right; pass^k: all k are. Unbiased, with 95 % intervals over items.{out}"
    )
    table = html_table(pd.DataFrame(rows), rows=40, file="pass_k.parquet")
    return f"<h3>Right at least once, right every time</h3><p>{escape(note)}</p>{table}"


def _some(curve: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first few values of k, then doubling ones, and the last."""
    wanted = {1, 2, 3, 4, 5, *(2**i for i in range(3, 20)), len(curve)}
    kept = [point for point in curve if point["k"] in wanted]
    return kept if len(kept) <= MOST_KS else [*kept[: MOST_KS - 1], kept[-1]]


# -- flickering -----------------------------------------------------------------------------------


def _flickering(flickering: Sequence[Mapping[str, Any]], by: Sequence[str]) -> str:
    if not flickering:
        return ""
    figures = list(dict.fromkeys(one["metric"] for one in flickering))
    said = "".join(f"<li>{_share(one, by, named=len(figures) > 1)}</li>" for one in flickering)
    first = [one for one in flickering if one["metric"] == figures[0]]
    return (
        "<h3>Items that flicker</h3><p>An item flickers if it is neither always right nor always wrong.</p>"
        f'<ul class="eb-plain">{said}</ul>{_items(first, by)}'
    )


def _share(one: Mapping[str, Any], by: Sequence[str], *, named: bool) -> Html:
    name = ", ".join(filter(None, [group_of(one, by), one["title"] if named else ""]))
    share = f"{percent(one['share'])} [{percent(one['ci_low'])}, {percent(one['ci_high'])}]"
    return escape(f"{name + ': ' if name else ''}{count(one['n'])} of {counted(one['of'], 'item')}, {share}")


def _items(flickering: Sequence[Mapping[str, Any]], by: Sequence[str]) -> Html:
    import pandas as pd

    rows = [(one, item) for one in flickering for item in one["items"]]
    if not rows:
        return Html("")
    other = {*by, "right", "of", "trials"}
    unit = next(name for name in rows[0][1] if name not in other)
    frame = pd.DataFrame(
        {
            unit: [str(item[unit]) for _, item in rows],
            **{name: [str(one[name]) for one, _ in rows] for name in by if name in rows[0][0]},
            "right": [f"{item['right']} of {item['of']}" for _, item in rows],
            "answers": pd.Series([_answers(item["trials"]) for _, item in rows], dtype=object),
        }
    )
    n = max(len(rows), sum(one["n"] for one in flickering))
    named = ", ".join(name for name in by if name in rows[0][0]) if len(flickering) > 1 else ""
    caption = f"Items that flicker in “{flickering[0]['title']}”: {_listed(len(rows), n, named)}"
    return html_table(frame, rows=8, total=n, file=FILE, caption=caption)


def _listed(shown: int, n: int, by: str) -> str:
    """How many items flicker, how many of them are listed, and where all are."""
    if shown == n:
        return f"{count(n)}; every trial of them is in {FILE}"
    each = f" of each {by}" if by else ""
    return f"{count(shown)} of {count(n)} are listed, those{each} that are nearest to half right; all are in {FILE}"


def _answers(trials: Sequence[Mapping[str, Any]]) -> Html:
    lines = []
    for trial in trials:
        right = trial["right"]
        mark = "– not scored" if right is None else "✓ right" if right else "✗ wrong"
        answer = trial.get("answer")
        said = f": <span{language_attributes(answer)}>{clamped(answer, 120)}</span>" if answer else ""
        lines.append(f"<li>{escape(mark)} (trial {escape(trial['trial'])}){said}</li>")
    return Html(f'<ul class="eb-plain">{"".join(lines)}</ul>')


def _folded(summary: str, body: Html) -> str:
    return f'<details class="eb-fold"><summary>{escape(summary)}</summary>{body}</details>'
