"""A run packed into a folder that opens in a browser from disk: the explorer's page, the items, and no server.

The page's modules become one classic script, since a page that is opened from a folder may load no modules, and the data scripts of
columns and of what belongs to the items, which the page loads when it needs them.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.explorer import answers
from evalbench.explorer.conditions import CALL_ID, condition
from evalbench.explorer.database import PLACE, quoted
from evalbench.explorer.page_parts import css, script, source
from evalbench.explorer.rows import Rows
from evalbench.readers.runs import PAGE

MOST_ITEMS = 200_000
CHUNK = 2_000
"""Items whose texts and calls are in one file."""
_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"


def pack(rows: Rows, folder: Path, where: str = "") -> Path:
    """Write the folder.

    - ``folder``: New, or empty.
    - ``where``: Only the items of this filter; the pack says so.

    Returns: ``folder/index.html``.

    Raises ``BadInput`` for a filter that cannot be read, more than 200 000 items or none, or a folder with files; nothing
    half-written stays.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(f"{folder}: exists and is not empty; give a new folder")
    if not folder.parent.is_dir():
        raise BadInput(f"{folder.parent}: no such folder")
    n = rows.count(where)
    if not 0 < n <= MOST_ITEMS:
        hint = "; --items FILTER packs some of them" if n else ""
        raise BadInput(f"a pack holds from 1 to {MOST_ITEMS} items, not {n}{hint}")
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        _write(rows, made, where)
        made.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        os.rename(made, folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return folder / "index.html"


def _write(rows: Rows, made: Path, where: str) -> None:
    items = _items(rows, where)
    (made / "data").mkdir()
    for i, column in enumerate(rows.columns_of("items")):
        _part(made, f"column-{i}", [item[column.name] for item in items])
    chunks = 0
    for chunks, chunk in enumerate(_behind(rows, items), start=1):
        _part(made, f"behind-{chunks - 1}", chunk)
    run = f"{rows.folder.parent.name}/{rows.folder.name}"
    index = {
        "about": {**answers.about(run, rows), "n": len(items), "packed": _packed(rows, len(items), where)},
        "standing": answers.stands(rows, where, ""),
        "linked": rows.linked,
        "texts": {
            table: [c.name for c in rows.columns_of(table) if c.kind in ("text", "list")] for table in rows.linked
        },
        "chunk": CHUNK,
        "chunks": chunks,
    }
    said = json.dumps(json.dumps(index, allow_nan=False))
    (made / "data" / "index.js").write_text(f"globalThis.evalbenchPack = JSON.parse({said});\n", encoding="utf-8")
    (made / "view.js").write_text(script("packed", "main"), encoding="utf-8")
    (made / "index.html").write_text(_page(), encoding="utf-8")
    (made / "view.css").write_text(css(), encoding="utf-8")
    if (rows.folder / PAGE).is_file() and not (rows.folder / PAGE).is_symlink():
        shutil.copyfile(rows.folder / PAGE, made / PAGE)


def _packed(rows: Rows, n: int, where: str) -> str:
    return f"{n} of {counted(rows.n, 'item')}, those of {where}" if where.strip() else counted(n, "item")


def _items(rows: Rows, where: str) -> list[dict[str, Any]]:
    sql, values = condition(rows, where)
    return rows.database.records(f"SELECT * EXCLUDE ({PLACE}) FROM items i WHERE {sql} ORDER BY {PLACE}", values)


def _behind(rows: Rows, items: list[dict[str, Any]]) -> Iterator[dict[str, dict[str, list[Any]]]]:
    """What belongs to each id, in chunks by the place of its first item."""
    first: dict[str, int] = {}
    for place, item in enumerate(items):
        first.setdefault(_text(item[rows.id]), place)
    found: list[dict[str, dict[str, list[Any]]]] = [{} for _ in range((len(items) - 1) // CHUNK + 1)]
    for table, keys in rows.linked.items():
        for row in rows.database.records(f"SELECT * EXCLUDE ({PLACE}) FROM {quoted(table)} ORDER BY {PLACE}"):
            for id_ in _ids(_text(row[keys[0]]), keys == [CALL_ID]):
                if id_ in first:
                    found[first[id_] // CHUNK].setdefault(id_, {}).setdefault(table, []).append(row)
    yield from found


def _ids(key: str, of_a_call: bool) -> Iterator[str]:
    """The ids that a key may be of: a call's begins with the id, up to a bar."""
    yield key
    if of_a_call:
        yield from (key[: bar.start()] for bar in re.finditer(r"\|", key))


def _text(value: Any) -> str:
    """A value as the database and the page write it."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _part(made: Path, name: str, content: Any) -> None:
    packed = base64.b64encode(gzip.compress(json.dumps(content, allow_nan=False).encode(), 6, mtime=0)).decode()
    (made / "data" / f"{name}.js").write_text(f'evalbenchPart("{name}", "{packed}");\n', encoding="utf-8")


def _page() -> str:
    """``view.html`` for a folder: no server's paths, and scripts that are no modules."""
    changed: Mapping[str, str] = {
        '<meta charset="utf-8">': f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<link rel="stylesheet" href="static/style.css">\n': "",
        "static/": "",
        '<script type="module" src="main.js"></script>': '<script defer src="data/index.js"></script>\n<script defer src="view.js"></script>',
    }
    text = source("view.html")
    for old, new in changed.items():
        text = text.replace(old, new)
    return text
