"""The peak memory of this very process.

``ru_maxrss`` will not do: on Linux a process that was started from a large one begins with that one's peak.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_bytes() -> int:
    """Largest resident size so far."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
