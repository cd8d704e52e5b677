"""The README's tables are the generated ones; what it links to is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def test_the_tables_are_not_stale(script: Callable[[str], ModuleType]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert script("readme_tables").with_tables(text) == text, "stale: python scripts/readme_tables.py"


def test_the_terms_are_not_stale(script: Callable[[str], ModuleType]) -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert script("readme_tables").glossary() == text, "stale: python scripts/readme_tables.py"


def test_links_lead_somewhere() -> None:
    for page in ("README.md", "CONTRIBUTING.md", "docs/recipes.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"
