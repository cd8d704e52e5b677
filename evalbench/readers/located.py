"""Which files hold the tables of a study, by a name of the catalog or a path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalbench.errors import BadInput
from evalbench.readers import catalog
from evalbench.readers.files import ENDINGS, SHOWN
from evalbench.readers.folder import row_files
from evalbench.readers.schema import Table
from evalbench.readers.trec import trec_files


def locate(
    data: str | Path, schema: Mapping[str, Table], root: Path | None = None
) -> tuple[dict[str, Path], str, str, bool]:
    """Files by table, name, version and whether the data are synthetic.

    Raises ``BadInput`` for an unknown data set, a missing file, or a folder without a file for any table.
    """
    text = str(data)
    path = Path(text).expanduser()
    if catalog.NAME.match(text) and not path.exists():
        found = catalog.entry(text, root)
        files = catalog.entry_files(found, root)
        known = {t: p for t, p in files.items() if t in schema} or {next(iter(schema)): next(iter(files.values()))}
        return known, found.name, found.version, found.synthetic
    if path.is_dir():
        stems = [(t, stem) for t, own in schema.items() for stem in (own.stem, t) if stem]
        paths = {t: p for t, stem in stems if (p := path / stem).is_dir() and row_files(p)}
        paths |= {t: p for t, stem in stems for e in ENDINGS if (p := path / f"{stem}{e}").is_file()}
        for t, own in schema.items():
            if t not in paths and own.trec and (found_files := trec_files(path, t, own.trec)):
                paths[t] = found_files[0] if len(found_files) == 1 else path
        if not paths and row_files(path):
            paths = {next(iter(schema)): path}
        own_files = [p for p in sorted(path.iterdir()) if p.is_file() and p.name.endswith(ENDINGS)]
        if not paths and len(own_files) == 1:
            paths = {next(iter(schema)): own_files[0]}
        if not paths:
            raise BadInput(
                f"{path}: holds no file for any of {', '.join(schema)} (endings {SHOWN}), nor a JSON file per row"
            )
        return paths, path.resolve().name, "", False
    if not path.exists() and not path.suffix:
        raise BadInput(f"{text}: neither a data set (name@version) nor a file or folder")
    return {next(iter(schema)): path}, path.name, "", False
