"""The README's tables are the generated ones; what it links to is there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_tables_are_not_stale() -> None:
    spec = importlib.util.spec_from_file_location("readme_tables", ROOT / "scripts" / "readme_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert module.with_tables(text) == text, "stale: python scripts/readme_tables.py"


def test_links_lead_somewhere() -> None:
    for page in ("README.md", "CONTRIBUTING.md", "docs/recipes.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            assert ((ROOT / page).parent / target).exists(), f"{page}: {target}"
