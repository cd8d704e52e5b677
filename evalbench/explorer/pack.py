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
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.explorer import answers
from evalbench.explorer.conditions import as_text, condition, lights
from evalbench.explorer.database import PLACE, Column, as_json, quoted
from evalbench.explorer.distributions import distribution
from evalbench.explorer.pack_kept import Belongs, belonging
from evalbench.explorer.page_parts import css, script, source
from evalbench.explorer.rows import MOST_LINKED, Rows
from evalbench.readers.runs import PAGE

MOST_ITEMS = 200_000
CHUNK = 2_000
"""Items whose texts and calls are in one file."""
REASONS = ("unscored", "undefined")
_PLAIN = ("text", "yes/no")
"""Kinds of columns whose values the page writes as the database does."""
_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"


def pack(rows: Rows, folder: Path, where: str = "") -> Path:
    """Write the folder.

    - ``folder``: New, or empty.
    - ``where``: Only the items of this filter, with what belongs to them and to no other; without the run's page. The pack says so.

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
    sql, values = condition(rows, where)
    n = rows.count(where)
    (made / "data").mkdir()
    ids = [
        row[0]
        for row in rows.database.fetch(
            f"SELECT {as_text(rows.id, 'i')} FROM items i WHERE {sql} ORDER BY {PLACE}", values
        )
    ]
    apart = [
        part
        for i, column in enumerate(rows.columns_of("items"))
        for part in _column(rows, made, i, column, sql, values)
    ]
    _part(made, "fold", _json(_folding(rows)))
    if not where.strip():  # what the page asks for first
        asked = [name for name in (*rows.by, *REASONS) if name in {column.name for column in rows.columns_of("items")}]
        answers_of = {name: distribution(rows, name) for name in asked}
        _part(made, "first", _json({"rows": rows.page(limit=answers.PAGE), "distributions": answers_of}))
        apart.append("first")
    run = f"{rows.folder.parent.name}/{rows.folder.name}"
    about = answers.about(run, rows)
    index = {
        "about": {
            **about,
            "n": n,
            "page": bool(about["page"]) and not where.strip(),
            "packed": _packed(rows, n, where),
        },
        "standing": answers.stands(rows, where, ""),
        "lights": lights(rows.results, rows.by),
        "linked": rows.linked,
        "behind": [[name, [[c.table, c.kind] for c in columns]] for name, columns in rows.behind.items()],
        "texts": {
            table: [c.name for c in rows.columns_of(table) if c.kind in ("text", "list")] for table in rows.linked
        },
        "apart": apart,
        "chunk": CHUNK,
        "chunks": _behind(rows, made, ids, belonging(rows, sql, values) if where.strip() else None),
        "most_linked": MOST_LINKED,
    }
    said = json.dumps(_json(index))
    (made / "data" / "index.js").write_text(f"globalThis.evalbenchPack = JSON.parse({said});\n", encoding="utf-8")
    (made / "view.js").write_text(script("packed", "main"), encoding="utf-8")
    (made / "index.html").write_text(_page(), encoding="utf-8")
    (made / "view.css").write_text(css(), encoding="utf-8")
    if not where.strip() and (rows.folder / PAGE).is_file() and not (rows.folder / PAGE).is_symlink():
        shutil.copyfile(rows.folder / PAGE, made / PAGE)


def _packed(rows: Rows, n: int, where: str) -> str:
    if not where.strip():
        return counted(n, "item")
    return f"{n} of {counted(rows.n, 'item')}, those of {where}; without the run's page, which shows all"


def _column(rows: Rows, made: Path, i: int, column: Column, sql: str, values: list[Any]) -> Iterator[str]:
    """Write the values of a column and, where the page could not find them itself, the texts that a filter compares and the order.

    Yields: The names of the latter two, where they are written.
    """
    name, sorts = f"i.{quoted(column.name)}", column.kind in ("list", "other")
    order = f"CASE WHEN {name} IS NOT NULL THEN dense_rank() OVER (ORDER BY {name}) END" if sorts else "NULL"
    text = "NULL" if column.kind in _PLAIN else as_text(column.name, "i")
    found = list(
        rows.database.stream(f"SELECT {name}, {text}, {order} FROM items i WHERE {sql} ORDER BY {PLACE}", values)
    )
    shown = [as_json(row[0]) for row in found]
    _part(made, f"column-{i}", _json(shown))
    texts = [] if column.kind in _PLAIN else [_unlike(value, row[1]) for value, row in zip(shown, found, strict=True)]
    for kind, content in (("texts", texts), ("order", [row[2] for row in found] if sorts else [])):
        if any(each is not None for each in content):
            _part(made, f"{kind}-{i}", _json(content))
            yield f"{kind}-{i}"


def _unlike(value: Any, text: str | None) -> str | None:
    """The text of a value, where it is not what ``String(value)`` gives in the page.

    Examples
    --------
    >>> _unlike(0.25, "0.25"), _unlike(1.0, "1.0"), _unlike("2026-01-01T00:00:00", "2026-01-01 00:00:00")
    (None, '1.0', '2026-01-01 00:00:00')
    """
    if value is None or (isinstance(value, float) and ("e" in repr(value) or value.is_integer())):
        return text
    return None if isinstance(value, int | float | str) and str(value) == text else text


def _folding(rows: Rows) -> list[str]:
    """All letters that have another form in lower case, and these, as the database has them."""
    places = "SELECT unnest(range(1, 55296)) c UNION ALL SELECT unnest(range(57344, 1114112))"
    pairs = rows.database.fetch(
        f"SELECT u, lower(u) FROM (SELECT chr(CAST(c AS INTEGER)) u FROM ({places})) WHERE lower(u) <> u"
    )
    return ["".join(side) for side in zip(*pairs, strict=True)]


def _behind(rows: Rows, made: Path, ids: list[str | None], belongs: Belongs | None) -> int:
    """Write what belongs to each id, in chunks by the place of its first item; how many there are.

    - ``belongs``: Whether a row may be packed; None where all items are.

    Rows wait in a file for each chunk, so that only one chunk is in memory.
    """
    first: dict[str, int] = {}
    for place, id_ in enumerate(ids):
        if id_ is not None:
            first.setdefault(id_, place)
    n = (len(ids) - 1) // CHUNK + 1
    with tempfile.TemporaryDirectory(dir=made) as folder, ExitStack() as opened:
        waiting = [opened.enter_context((Path(folder) / str(i)).open("w+", encoding="utf-8")) for i in range(n)]
        for table in rows.linked:
            for (key, *group), values, texts in _rows_of(rows, table):
                for id_ in _ids(key, of_a_call=rows.linked[table][0] != rows.id):
                    if id_ in first and (
                        belongs is None or belongs(table, id_, group, (key or "")[len(id_) :], values)
                    ):
                        waiting[first[id_] // CHUNK].write(
                            f"{json.dumps(id_)}\t{json.dumps(table)}\t{json.dumps([values, texts])}\n"
                        )
        for i, file in enumerate(waiting):
            file.seek(0)
            chunk: dict[str, dict[str, list[str]]] = {}
            for line in file:  # its parts are JSON already
                own, of, said = line.rstrip("\n").split("\t")
                chunk.setdefault(own, {}).setdefault(of, []).append(said)
            tables = {
                own: _object({of: f"[{','.join(said)}]" for of, said in found.items()}) for own, found in chunk.items()
            }
            _part(made, f"behind-{i}", _object(tables))
    return n


def _rows_of(rows: Rows, table: str) -> Iterator[tuple[list[str | None], dict[str, Any], dict[str, str] | int]]:
    """The rows of a linked table: the texts of its keys, the values, and texts that the page could not write itself (0 for none)."""
    columns = rows.columns_of(table)
    names, odd = [c.name for c in columns], [c.name for c in columns if c.kind not in _PLAIN]
    keys = rows.linked[table]
    texts = [as_text(name, "t") for name in (*keys, *odd)]
    asked = ", ".join([*texts, *(f"t.{quoted(name)}" for name in names)])
    for found in rows.database.stream(f"SELECT {asked} FROM {quoted(table)} t"):
        row = {name: as_json(value) for name, value in zip(names, found[len(texts) :], strict=True)}
        unlike = {
            n: text
            for n, own in zip(odd, found[len(keys) :], strict=False)
            if (text := _unlike(row[n], own)) is not None
        }
        yield list(found[: len(keys)]), row, unlike or 0


def _ids(key: str | None, of_a_call: bool) -> Iterator[str]:
    """The ids that a key may be of: a call's begins with the id, up to a bar."""
    if key is not None:
        yield key
        if of_a_call:
            yield from (key[: bar.start()] for bar in re.finditer(r"\|", key))


def _object(parts: Mapping[str, str]) -> str:
    """A JSON object of names and values that are JSON."""
    return "{" + ",".join(f"{name}:{value}" for name, value in parts.items()) + "}"


def _json(content: Any) -> str:
    return json.dumps(content, allow_nan=False)


def _part(made: Path, name: str, content: str) -> None:
    packed = base64.b64encode(gzip.compress(content.encode(), 6, mtime=0)).decode()
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
