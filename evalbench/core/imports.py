"""Importing a package without the heavy libraries that it would use if they are there."""

from __future__ import annotations

import importlib
import sys
import threading
from types import ModuleType

_LOCK = threading.Lock()


def import_without(name: str, *optional: str) -> ModuleType:
    """Import ``name`` as if the libraries ``optional`` were not installed.

    For packages whose ``__init__`` imports every optional companion that it finds, used or not: what they lose is lost
    until the process ends.  A library that is loaded already stays, and all can be imported afterwards.

    Parameters
    ----------
    name : str
    *optional : str
        Modules that ``name`` can do without.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If ``name`` is not there, or cannot do without one of them.

    Examples
    --------
    >>> import_without("json", "simplejson").__name__
    'json'
    """
    if name in sys.modules:
        return importlib.import_module(name)
    with _LOCK:
        absent = [library for library in optional if library not in sys.modules]
        sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
        try:
            return importlib.import_module(name)
        finally:
            for library in absent:
                del sys.modules[library]
