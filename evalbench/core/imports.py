"""Imports on one's own terms: without heavy libraries, or only once a module is used."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from types import ModuleType

_LOCK = threading.Lock()


def import_without(name: str, *optional: str) -> ModuleType:
    """Import ``name`` as if the libraries ``optional`` were not installed.

    For packages whose ``__init__`` imports every optional companion that it finds, used or not: what they lose is lost
    until the process ends.  A library that is loaded already stays, and all can be imported afterwards.

    Parameters
    ----------
    *optional : str
        Modules that ``name`` can do without.

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


def modules_of(package: str, **everyday: str) -> Callable[[str], object]:
    """A package's ``__getattr__``: its modules, and names of them that are used every day, loaded when they are first used.

    For ``from evalbench import kit``, then ``kit.cases.worst_cases`` and ``kit.Checks``.  Type checkers read the package's own
    list of both.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    **everyday : str
        Module → names of it that the package has too, parted by spaces.

    Examples
    --------
    >>> get = modules_of("json", decoder="JSONDecodeError")
    >>> get("encoder").__name__, get("JSONDecodeError").__name__
    ('json.encoder', 'JSONDecodeError')
    >>> get("worst")
    Traceback (most recent call last):
    AttributeError: module 'json' has no attribute 'worst'
    """
    home = {name: module for module, names in everyday.items() for name in names.split()}

    def get(name: str) -> object:
        module = home.get(name, name)
        if not name.startswith("_"):
            try:
                found = importlib.import_module(f"{package}.{module}")
            except ModuleNotFoundError as error:
                if error.name != f"{package}.{module}":
                    raise
            else:
                return getattr(found, name) if name in home else found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get
