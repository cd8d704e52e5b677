"""Importing a package without what it can do without."""

import sys
from types import ModuleType

import pytest

from evalbench.core.imports import import_without

SOURCE = """
try:
    import {heavy}
    found = True
except ImportError:
    found = False
"""


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A fake package ``light_one`` that uses ``heavy_one`` if it is there."""
    (tmp_path / "heavy_one.py").write_text("")
    (tmp_path / "light_one.py").write_text(SOURCE.format(heavy="heavy_one"))
    (tmp_path / "strict_one.py").write_text("import heavy_one")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in ("heavy_one", "light_one", "strict_one"):
        sys.modules.pop(name, None)


def test_what_is_not_there_or_cannot_do_without_is_refused(packages):
    with pytest.raises(ImportError, match="no_such_package"):
        import_without("no_such_package", "heavy_one")
    with pytest.raises(ImportError, match="heavy_one"):
        import_without("strict_one", "heavy_one")
    assert "heavy_one" not in sys.modules


def test_the_library_is_not_loaded_and_can_be_afterwards(packages):
    assert not import_without("light_one", "heavy_one").found
    assert "heavy_one" not in sys.modules
    import heavy_one

    assert isinstance(heavy_one, ModuleType)


def test_a_library_that_is_loaded_stays(packages):
    import heavy_one

    assert import_without("light_one", "heavy_one").found
    assert sys.modules["heavy_one"] is heavy_one
