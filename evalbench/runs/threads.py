"""How many threads a kernel computes with."""

from __future__ import annotations

import os


def one_thread() -> dict[str, str]:
    """Environment that has linear algebra compute with one thread: more threads sum in another order, and the last bits differ.

    ``EVALBENCH_THREADS`` in the environment takes another number, for all runs that are to give the same bytes.
    """
    n = os.environ.get("EVALBENCH_THREADS", "1")
    return dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), n)
