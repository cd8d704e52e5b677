"""evalbench: judge language-model systems so that people can trust the judgement.

The names a notebook uses: ``load``, ``record``, ``show``, ``open_run``, ``evaluate`` and every study by its name.
All are loaded when first used.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

_NAMES = {
    "load": "evalbench.asking",
    "record": "evalbench.runs.record",
    "show": "evalbench.draw.show",
    "open_run": "evalbench.explorer.opened",
    "explore": "evalbench.explorer.explored",
    "evaluate": "evalbench.studies.text_metrics",
    "BadInput": "evalbench.errors",
    "budget": "evalbench.core.budget",
    "dry_run": "evalbench.core.dry",
}
_MODULES = ("hub", "metrics")


def _studies() -> list[str]:
    folder = Path(__file__).parent / "studies"
    modules = {p.stem for p in folder.glob("*.py")} | {p.parent.name for p in folder.glob("*/__init__.py")}
    return sorted(name for name in modules if name != "contract" and not name.startswith("_"))


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = importlib.import_module(f"evalbench.{name}")
    elif name in _NAMES:
        value = getattr(importlib.import_module(_NAMES[name]), name)
    elif not name.startswith("_") and name in _studies():
        value = importlib.import_module(f"evalbench.studies.{name}")
    else:
        raise AttributeError(f"module 'evalbench' has no attribute {name!r}")
    if "IPython" in sys.modules:
        importlib.import_module("evalbench.draw.show").register()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    own = [name for name in globals() if name.startswith("__")]
    return sorted([*own, *_MODULES, *_NAMES, *_studies()])
