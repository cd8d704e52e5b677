"""``evalbench metrics``: what each metric is, from its card; no network, no model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from evalbench.commands import completion
from evalbench.errors import BadInput

if TYPE_CHECKING:
    from evalbench.metrics.registry import Card

_DIRECTION = {True: "higher is better", False: "lower is better", None: "no better direction"}


@click.group("metrics")
def metrics() -> None:
    """List the metrics."""


@metrics.command("list")
@click.option("--all", "everything", is_flag=True, help="Also list metrics that do not score texts.")
def list_metrics(everything: bool) -> None:
    """List the text metrics by category: name and aliases, unit, direction, what each needs, a line on what it is."""
    import evalbench.metrics
    from evalbench.metrics.registry import CATEGORIES, cards

    entries = cards() if everything else evalbench.metrics.cards()
    of_texts = {name: [entry for entry in entries if entry.category == name] for name in CATEGORIES}
    for category, own in (of_texts | {"not of texts": [entry for entry in entries if not entry.category]}).items():
        if own:
            click.echo(f"{category}:")
        _list(own)


def _list(entries: Iterable[Card]) -> None:
    for entry in entries:
        aliases = f" ({', '.join(entry.aliases)})" if entry.aliases else ""
        needs = f"; needs {', '.join(entry.needs)}" if entry.needs else ""
        click.echo(f"  {entry.name}{aliases}  [{entry.unit}; {_DIRECTION[entry.higher_is_better]}{needs}]")
        click.echo(f"      {entry.summary}")


@metrics.command("show")
@click.argument("name", shell_complete=completion.metrics)
def show_metric(name: str) -> None:
    """Show the whole card of one metric, with its golden example; of evaluate:FILE.py, which is then run, those of its numbers."""
    from evalbench.metrics.registry import MODULE

    if name.startswith(MODULE):
        from evalbench.kit.modules import cards_of

        click.echo("\n".join(map(card_text, cards_of(name.removeprefix(MODULE)))))
    else:
        click.echo(card_text(found(name)))


def found(name: str) -> Card:
    """A card by name or alias.

    Raises ``BadInput`` if there is none; the message names the nearest.
    """
    from evalbench.metrics.registry import card

    try:
        return card(name)
    except KeyError as error:
        raise BadInput(str(error.args[0])) from error


def card_text(entry: Card) -> str:
    """A card as lines of text."""
    low, high = entry.range
    lines = [
        entry.name,
        f"  what it is   {entry.summary}",
        f"  aliases      {', '.join(entry.aliases) or 'none'}",
        f"  range        {f'{low:g} to {high:g} ({entry.unit})' if entry.unit else 'not known'}, {_DIRECTION[entry.higher_is_better]}",
        f"  needs        {', '.join(entry.needs) or 'nothing but the output'}",
        f"  languages    {entry.languages}",
        *([f"  category     {entry.category}"] if entry.category else []),
        *([f"  values       {entry.values}"] if entry.values else []),
        *([f"  limitations  {entry.limitations}"] if entry.limitations else []),
        f"  source       {entry.reference}",
    ]
    given, value = entry.example
    if given and not any(callable(v) for v in given.values()):
        lines.append(f"  example      {', '.join(f'{k}={v!r}' for k, v in given.items())} → {value}")
    return "\n".join(lines)
