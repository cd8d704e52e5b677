"""The generated table of README.md (the studies) and docs/glossary.md.

``python scripts/readme_tables.py`` rewrites them; a test fails where they are stale.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
GLOSSARY = ROOT / "docs" / "glossary.md"


def studies_table() -> str:
    """Name, question, sample data of every study."""
    from evalbench import studies
    from evalbench.readers.catalog import entries

    catalogued = entries(ROOT)
    rows = ["| study | question | sample data |", "|---|---|---|"]
    for name in studies.names():
        labels = ", ".join(f"`{label}`" for label, entry in catalogued.items() if name in entry.studies)
        rows.append(f"| [`{name}`](notebooks/{name}.ipynb) | {studies.study(name).QUESTION} | {labels} |")
    return "\n".join(rows)


TABLES = {"studies": studies_table}


def with_tables(text: str) -> str:
    """The README's text with all tables made anew."""
    for name, make in TABLES.items():
        block = f"<!-- table: {name} -->\n{make()}\n<!-- end -->"
        text, count = re.subn(rf"<!-- table: {name} -->\n.*?<!-- end -->", lambda _, b=block: b, text, flags=re.DOTALL)
        if count != 1:
            raise SystemExit(f"README.md has {count} markers for the table {name}")
    return text


def glossary() -> str:
    """The terms of the pages."""
    from evalbench.report.glossary import glossary_markdown

    return glossary_markdown()


if __name__ == "__main__":
    made = {README: with_tables(README.read_text(encoding="utf-8")), GLOSSARY: glossary()}
    stale = any(not path.is_file() or text != path.read_text(encoding="utf-8") for path, text in made.items())
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
    sys.exit(0 if "--check" not in sys.argv else int(stale))
