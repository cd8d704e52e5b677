"""What users read keeps out of three habits: *tell* for report, *stand* and *be there* for be or appear, *is no* for is not a."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HABITS = {
    r"cannot be taken": "is invalid, or is not available",
    r"(?<!still )(?<!out)\bstands?\b(?! (?:in for|for)\b)": "is, appears, exists",
    r"\b(?:is|are) not there\b|\b(?:is|are) there (?:already|twice|for|in)\b": "is missing, exists, appears",
    r"(?<!there )(?<!here )\b(?:is|are) no (?!longer|more|less|better|worse|longer)": "is not a",
    r"\b(?:is|are) told\b|\btells?\b(?!.{0,60}\bapart\b)(?!.{0,60}\bfrom\b)": "reports, shows",
    r"\bseeds?['’]s?\b|document of the seeds|seed document|\bthe seeds\b": "the method document's name (docs/methods.md)",
    r"\bof which (?:less|more) is\b|\bunasked\b|\bfrom outside\b": "plain words",
}
# (beginning of the file's path, part of the text): what is said on purpose
ALLOWED = (
    ("evalbench/models/prompts/", "What stands between the marks"),  # another text would be another prompt
    ("evalbench/text/refusals.py", "|say|tell|comply)"),  # a word of the replies that are looked for
)


def python_texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every string literal that is no docstring, with what an f-string says between its values."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(value) for value in node.values}
            yield node.lineno, "".join(v.value if isinstance(v, ast.Constant) else "…" for v in node.values)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def notebook_texts(path: Path) -> Iterator[tuple[int, str]]:
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1):
        text = "".join(cell["source"])
        comments = "\n".join(line.partition("  # ")[2] for line in text.splitlines())
        yield number, text if cell["cell_type"] == "markdown" else comments


def lines(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    if path.name == "CHANGELOG.md":
        text = text.partition("\n## [")[0] if text.startswith("# ") and "Unreleased" not in text else text
    yield from enumerate(text.splitlines(), 1)


def texts() -> list[tuple[str, int, str]]:
    package = ROOT / "evalbench"
    sources = [
        *((path, python_texts) for path in package.rglob("*.py")),
        *((path, lines) for path in package.rglob("*.jinja")),
        *((path, lines) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"))),
        *((path, notebook_texts) for path in ROOT.glob("notebooks/*.ipynb")),
    ]
    return [(str(path.relative_to(ROOT)), n, text) for path, read in sorted(sources) for n, text in read(path)]


def test_no_habit_comes_back() -> None:
    found = [
        f"{name}:{line}: {match.group().strip()!r} ({better}): {text.strip()[max(0, match.start() - 60) : match.end() + 60]!r}"
        for name, line, text in texts()
        for habit, better in HABITS.items()
        for match in re.finditer(habit, text)
        if not any(name.startswith(place) and said in text for place, said in ALLOWED)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "options that cannot be taken",
        "a table stands here",
        "citations is no list",
        "all faults are told",
        "the seed's default",
    ],
)
def test_the_habits_are_seen(text: str) -> None:
    assert any(re.search(habit, text) for habit in HABITS)
