"""What a data set's own card says: the lines ``- Key: text`` of its ``README.md``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from evalbench.errors import BadInput
from evalbench.readers import catalog
from evalbench.workbench import root as find_root

CARD = "README.md"
_LINE = re.compile(r"^- ([A-Z][^:`*|\n]{0,40}): +(\S.*(?:\n {2,}\S.*)*)", re.MULTILINE)


def card_of(data: str | Path, root: Path | None = None) -> dict[str, str]:
    """The lines of the card of a data set, or of the ``README.md`` in a folder; empty where there is no card."""
    path = card_path(data, root)
    try:
        return facts(path.read_text(encoding="utf-8")) if path else {}
    except (OSError, UnicodeDecodeError):
        return {}


def says_synthetic(card: Mapping[str, str]) -> bool:
    """Whether a card has a line ``- Synthetic: …`` that does not begin with *no*.

    Examples
    --------
    >>> says_synthetic({"Synthetic": "the questions are a model's."}), says_synthetic({"Synthetic": "No."}), says_synthetic({})
    (True, False, False)
    """
    return not re.match(r"no\b|$", card.get("Synthetic", "").strip(), re.IGNORECASE)


def card_path(data: str | Path, root: Path | None = None) -> Path | None:
    """Where the card of a data set or a folder is, if it has one."""
    path = Path(data).expanduser()
    if path.is_dir():
        return path / CARD
    if path.exists() or not catalog.NAME.match(str(data)):
        return None
    base = (find_root(root) / "data").resolve()
    try:
        written = catalog.entry(str(data), root).card
    except BadInput:
        return None
    card = (base / written).resolve()
    return card if written and card.is_relative_to(base) else None


def facts(text: str) -> dict[str, str]:
    """The lines ``- Key: text`` of a card, each with what is indented below it.

    Examples
    --------
    >>> facts("# x\\n\\n- Texts: letters,\\n  one a row.\\n- Licence: CC0-1.0.\\n- Others have no key.")
    {'Texts': 'letters, one a row.', 'Licence': 'CC0-1.0.'}
    """
    return {key: " ".join(words.split()).replace("**", "").replace("`", "") for key, words in _LINE.findall(text)}
