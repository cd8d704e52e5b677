"""The table of texts, and what a run refuses of it before anything is asked or computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from evalbench import kit, readers
from evalbench.metrics.registry import card
from evalbench.readers import Column, Table

SAMPLED = 20_000
"""Rows of a table that is read in parts on which notes on how texts are written rest."""

SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("id", "id"),
            Column(
                "answer",
                "text",
                former=("output",),
                required=False,
                empty_ok=True,
                keep_null=True,
                help="needed unless prompt and model are given; null: unscored",
            ),
            Column(
                "reference",
                "texts",
                required=False,
                empty_ok=True,
                help="a text, or a JSON list: the best counts (ROUGE: see references)",
                perhaps=("answer",),
            ),
            Column("contexts", "texts", required=False, empty_ok=True, former=("context",)),
            Column("question", "text", required=False, empty_ok=True, help="the request", former=("prompt",)),
            Column("samples", "texts", required=False, empty_ok=True, help="further answers of the same model"),
            Column("model", "id", groups=True, required=False),
        ),
        unique=("id", "model"),
        trials="model",
        sampled=SAMPLED,
        dealt=True,
        help="one row per answer; several models may answer one id",
    )
}


def needs(data: readers.Dataset, *, prompt: str, metrics: Sequence[str] | str = kit.choosing.AUTO) -> None:
    """Refuse a table without answers where no model is asked for them, and without columns that the metrics need."""
    rows = data["items"].assign(answer="", question="") if prompt else data["items"]
    entries = {}
    for name in () if isinstance(metrics, str) else metrics:
        with suppress(KeyError):  # an unknown name is refused with the other options
            entries[card(name).name] = card(name)
    kit.scoring.check_columns(rows, list(entries.values()))


def are_labels(data: readers.Dataset) -> bool:
    """Whether the answers are labels that a model predicted, beside true ones."""
    items = data["items"]
    return "answer" in items and readers.roles.are_labels(data.read_as.get("items", {}), items["answer"])
