"""The card of ``baseline/lexical``: its coefficients, and what they were measured to be worth."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import yaml

EMBEDDER = "use-multilingual"
CARD_FILE = Path(__file__).with_name("card.yaml")


@functools.cache
def card() -> dict[str, Any]:
    """Coefficients and measured quality, as ``scripts/card_lexical.py`` wrote them."""
    loaded: dict[str, Any] = yaml.safe_load(CARD_FILE.read_text("utf-8"))
    return loaded
