"""README.md and the other pages: generated parts are not stale, links lead somewhere, the README stays short."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from documents import pages

ROOT = Path(__file__).resolve().parents[1]
MOST_LINES = 200
LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def test_the_table_is_not_stale(script: Callable[[str], ModuleType]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert script("readme_tables").with_tables(text) == text, "stale: python scripts/readme_tables.py"


def test_the_terms_are_not_stale(script: Callable[[str], ModuleType]) -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert script("readme_tables").glossary() == text, "stale: python scripts/readme_tables.py"


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub and the site give to the headings of a page."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: str) -> list[str]:
    out = []
    for link in LINK.findall(_CODE.sub("", (ROOT / page).read_text(encoding="utf-8"))):
        if re.match(r"https://", link):
            continue
        target, _, anchor = link.partition("#")
        path = ((ROOT / page).parent / target).resolve() if target else ROOT / page
        if not path.exists():
            out.append(f"{link} does not exist")
        elif anchor and path.suffix == ".md" and anchor not in made_at_build(path) | anchors(path):
            out.append(f"{link} has no such heading")
    return out


def made_at_build(path: Path) -> set[str]:
    """Headings that a study's page has from scripts/docs_pages.py."""
    return {"options", "the-light"} if "<!-- generated: study" in path.read_text(encoding="utf-8") else set()


@pytest.mark.parametrize("page", [*pages(), "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    assert broken(page) == []


def test_broken_links_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "a.md").write_text("# One two\n[x](b.md) [y](#one-two) [z](#three) `[w](c.md)`\n")
    assert broken("a.md") == ["b.md does not exist", "#three has no such heading"]
