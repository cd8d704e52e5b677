"""Regular expressions that every Python reads alike: Debian's 3.11.2 matches possessive groups of ``re`` wrongly."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from evalbench.text.numbers import find_numbers

PACKAGE = Path(__file__).resolve().parents[2] / "evalbench"
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9]*,?[0-9]*\}{1,2})\+")


def texts(tree: ast.AST) -> str:
    return "\n".join(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def test_no_module_of_re_repeats_a_group_possessively() -> None:
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not POSSESSIVE_GROUP.search(text):  # in no text of it either: most files need not be parsed
            continue
        tree = ast.parse(text)
        of_re = any(isinstance(n, ast.Import) and any(a.name == "re" for a in n.names) for n in ast.walk(tree))
        wrong += [str(path)] * bool(of_re and POSSESSIVE_GROUP.search(texts(tree)))
    assert not wrong, "import regex as re"


def test_it_finds_such_groups() -> None:
    found = [bool(POSSESSIVE_GROUP.search(p)) for p in ("(?:a{1,3}b)++", "(a|b){2,}+", "[ab]++", r"\(++", "(a)+")]
    assert found == [True, True, False, False, False]


def test_groups_of_thousands_that_another_digit_follows_are_none() -> None:
    """As Python 3.11.2 once did not see, in Cyrillic text."""
    assert [str(n.value) for n in find_numbers("1,234,5 рубля")] == ["1234", "5"]
