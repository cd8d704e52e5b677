"""Pictures of a result's estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evalbench.draw.pictures import interval_bars

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from evalbench.core.result import Estimate


def estimate_bars(labels: Sequence[str], rows: Sequence[Estimate], **words: Any) -> tuple[Picture, str]:
    """One row per estimate: a dot for its value, a line for its interval; ``words`` as of ``interval_bars``."""
    return interval_bars(labels, [e.value for e in rows], [e.ci_low for e in rows], [e.ci_high for e in rows], **words)
