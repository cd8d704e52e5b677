"""seaborn, without the half second that ``scipy.stats`` takes to import and that only its density estimates need."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from evalbench.core.imports import import_without


def seaborn() -> ModuleType:
    """The whole of seaborn; ``scipy.stats`` is imported when a density is first estimated.

    Examples
    --------
    >>> seaborn().__name__
    'seaborn'
    """
    if "seaborn" in sys.modules:
        return sys.modules["seaborn"]
    loaded = import_without("seaborn", "scipy.stats")
    for name in ("seaborn._statistics", "seaborn._stats.density"):
        vars(sys.modules[name]).update(gaussian_kde=_gaussian_kde, _no_scipy=False)
    return loaded


def _gaussian_kde(*values: Any, **options: Any) -> Any:
    from scipy.stats import gaussian_kde

    return gaussian_kde(*values, **options)
