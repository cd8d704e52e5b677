"""The defaults of all studies' parameters, ``evalbench/studies/defaults.json``, from the notebooks of this checkout.

``python scripts/notebook_defaults.py`` rewrites it; a test fails where it is stale.  Runs compare a notebook's
parameters cell with it, so that a default that somebody edited is reported.
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "evalbench" / "studies" / "defaults.json"


def text() -> str:
    """The file's text."""
    from evalbench import studies
    from evalbench.runs.run import known_parameters

    made = {name: {p.name: p.default for p in known_parameters(name, ROOT).values()} for name in studies.names()}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
