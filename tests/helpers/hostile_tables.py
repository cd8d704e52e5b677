"""A study's sample with markup, formulas and turned letters in every text and every name of a group."""

from __future__ import annotations

from typing import Any

import pandas as pd
from studied import changed, columns

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> $5 \\frac{1}{2} $6 \u202ecod\u202c "
SYSTEM = "<b onclick=alert(3)>$1$"


def hostile_tables(name: str) -> dict[str, pd.DataFrame]:
    """The tables of a study's sample, changed; what is chosen from a list of words stays."""
    texts = columns(name, lambda c: c.type in ("text", "texts") and not c.choices)
    tables = changed(name, texts, lambda _, old: [HOSTILE + t for t in old] if isinstance(old, list) else _hostile(old))
    systems = {column for _, column in columns(name, lambda c: c.groups)}
    for table, frame in tables.items():
        tables[table] = frame.assign(**{c: frame[c].astype(str) + SYSTEM for c in systems & set(frame.columns)})
    return tables


def _hostile(text: Any) -> Any:
    return HOSTILE + text if isinstance(text, str) and text else text
