"""Lights of small tables."""

from __future__ import annotations

from typing import Any


def of_figures(found: Any) -> str:
    """The light that the figures of a result or verdict alone give: on fewer than twenty units they get none."""
    verdict = getattr(found, "verdict", found)
    return str(verdict.would_be or verdict.light)
