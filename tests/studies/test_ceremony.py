"""How much of a study is not about that study."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2] / "evalbench" / "studies"
PACKAGES = sorted(path.parent for path in ROOT.glob("*/__init__.py"))
MOST, MOST_LINES = 0.10, 560
CHECKED = ("checked", "check_options", "_checked")


class Share(NamedTuple):
    """Lines of ceremony, and all lines."""

    name: str
    ceremony: int
    lines: int

    @property
    def share(self) -> float:
        return self.ceremony / self.lines


def ceremony_of(tree: ast.Module) -> set[int]:
    """The lines of a file that are ceremony; each counts once.

    Imports
        Every line of an import, in functions too, and of a block ``if TYPE_CHECKING``.
    Exports
        ``__all__``.
    Signatures
        Of ``evaluate`` and ``summarise``, from ``def`` to the line before the docstring.
    Docstrings of options
        Their section *Parameters*: its heading, the line below it and every line of it.
    Parameter dicts
        In ``evaluate``: what is assigned from ``stated(…)``, every other dict that is assigned, and the options that a result is given.
    Option checks
        Statements ``checks.…(…)`` and ``checks = …``, and whole functions ``checked`` and ``check_options`` that make checks.
    """
    return {line for found in (_imports(tree), _signatures(tree), _dicts(tree), _checks(tree)) for line in found}


def _lines(node: ast.AST) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)  # type: ignore[attr-defined]


def _functions(tree: ast.Module, *names: str) -> list[ast.FunctionDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in names]


def _imports(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        typed = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        exported = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        if typed or exported or isinstance(node, ast.Import | ast.ImportFrom):
            yield from _lines(node)


def _signatures(tree: ast.Module) -> Iterator[int]:
    for function in _functions(tree, "evaluate", "summarise"):
        doc = function.body[0]
        yield from range(function.lineno, doc.lineno)
        section = re.search(r"Parameters\n-+\n(?:.*\n)*?(?=\n\S.*\n---|\Z)", f"{ast.get_docstring(function) or ''}\n")
        if section:
            text = ast.get_docstring(function) or ""
            first = doc.lineno + text[: section.start()].count("\n")
            yield from range(first, first + section[0].count("\n"))


def _dicts(tree: ast.Module) -> Iterator[int]:
    for function in _functions(tree, "evaluate"):
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                stated = isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith("stated")
                if stated or isinstance(node.value, ast.Dict):
                    yield from _lines(node)
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Result", "result_of")):
                given = [*node.args[2:3], *(k.value for k in node.keywords if k.arg == "parameters")]
                for value in given:
                    yield from _lines(value)


def _checks(tree: ast.Module) -> Iterator[int]:
    for function in _functions(tree, *CHECKED):
        if "Checks" in ast.unparse(function):
            yield from _lines(function)
    for node in ast.walk(tree):
        called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if (called and ast.unparse(node).startswith("checks.")) or (  # one statement, or what gathers them
            isinstance(node, ast.Assign) and ast.unparse(node).startswith("checks =")
        ):
            yield from _lines(node)


def _sources(package: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))]


def _share(package: Path) -> Share:
    sources = _sources(package)
    return Share(
        package.name,
        sum(len(ceremony_of(ast.parse(source))) for source in sources),
        sum(len(source.splitlines()) for source in sources),
    )


@pytest.mark.slow
def test_less_than_a_tenth_of_the_studies_is_ceremony() -> None:
    """Of the lines of all packages of studies together, blank lines and comments too; see :func:`ceremony_of`."""
    found = [_share(package) for package in PACKAGES]
    whole = sum(each.ceremony for each in found) / sum(each.lines for each in found)
    worst = sorted(found, key=lambda each: each.share, reverse=True)[:5]
    named = ", ".join(f"{each.name} {100 * each.share:.1f} % of {each.lines} lines" for each in worst)
    assert len(found) > 20
    assert whole < MOST, f"{100 * whole:.2f} % of the studies is ceremony; most of {named}"


def test_a_small_study_is_small() -> None:
    """All lines of the package of cot_levels, docstrings and blank lines too, but for the words of its answer."""
    words = (ROOT / "cot_levels" / "answer.py").read_text(encoding="utf-8")
    rest = [source for source in _sources(ROOT / "cot_levels") if source != words]
    assert sum(len(source.splitlines()) for source in rest) < MOST_LINES


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import os\nfrom json import (\n    dumps,\n    loads,\n)\nx = 1\n", {1, 2, 3, 4, 5}),
        ("if TYPE_CHECKING:\n    import os\n__all__ = [\n    'a',\n]\n", {1, 2, 3, 4, 5}),
        ("def f():\n    import os\n    return os\n", {2}),
        (
            'def evaluate(\n    data,\n    *,\n    k=1,\n):\n    """Do.\n\n    Parameters\n    ----------\n    k : int\n'
            '        How many.\n\n    Returns\n    -------\n    int\n    """\n    return k\n',
            {1, 2, 3, 4, 5, 8, 9, 10, 11},
        ),
        ('def summarise(items, *, k=1):\n    """Do; options as of ``evaluate``."""\n    return k\n', {1}),
        (
            'def evaluate(data, *, k=1):\n    """Do."""\n    options = kit.stated(evaluate, locals())\n'
            "    options |= {\n        'k': 2,\n    }\n    checks = kit.Checks(options)\n    checks.share(\n        'k'\n    )\n"
            "    return kit.result_of(evaluate, data, options | {'a': 1}, items)\n",
            {1, 3, 4, 5, 6, 7, 8, 9, 10, 11},
        ),
        ("def checked(options):\n    checks = kit.Checks()\n    return checks\n", {1, 2, 3}),
    ],
)
def test_what_is_counted(source: str, lines: set[int]) -> None:
    assert ceremony_of(ast.parse(source)) == lines
