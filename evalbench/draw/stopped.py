"""How far a run came that its budget stopped, as HTML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbench.core.budget import in_words
from evalbench.core.wording import count
from evalbench.draw.html import Html, escape


def stopped_html(budget: Mapping[str, Any]) -> Html:
    """The sentence, and of several steps a bar each; nothing where the run was not stopped.

    - ``budget``: ``budget`` of ``results.json``.

    Examples
    --------
    >>> stopped_html({})
    ''
    """
    said = in_words(budget, steps=False)
    if not said:
        return Html("")
    steps = budget["purposes"]
    rows = "".join(
        _row(name or "other", int(n["asked"]), int(n["asked"]) + int(n["not_asked"])) for name, n in steps.items()
    )
    head = '<tr><th scope="col" colspan="2">calls for</th><th scope="col" class="n">made</th></tr>'
    table = (
        f'<table class="eb-table eb-stopped"><thead>{head}</thead><tbody>{rows}</tbody></table>'
        if len(steps) > 1
        else ""
    )
    return Html(f"<p>{escape(said)}</p>{table}")


def _row(name: str, asked: int, of: int) -> str:
    """The bar repeats the numbers beside it."""
    span = f'<path class="eb-bar-span" d="M4 8H{4 + 152 * asked / of:.1f}"/>' if asked else ""
    bar = f'<svg class="eb-bar" viewBox="0 0 160 16" aria-hidden="true"><path d="M4 8H156"/>{span}</svg>'
    return (
        f'<tr><th scope="row" class="l">{escape(name)}</th><td class="eb-barcell">{bar}</td>'
        f'<td class="n">{count(asked)} of {count(of)}</td></tr>'
    )
