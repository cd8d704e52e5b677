"""The catalog of data sets: ``name@version`` → files with their SHA-256, licence, study (or a list of them), rows.

``python -m evalbench.readers.catalog add NAME@VERSION --study STUDY --title TEXT TABLE=PATH …`` appends an entry;
``--study`` may be repeated.  ``--replaces VERSION=TEXT`` says which version is not kept beside it, and what differs.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.files import raw_frame, read_bytes, sha256
from evalbench.workbench import own_root
from evalbench.workbench import root as find_root

NAME = re.compile(r"^(?P<name>[a-z0-9][a-z0-9_\-]*)@(?P<version>[0-9A-Za-z][0-9A-Za-z.\-]*)$")


NAMES_DIFFER = "only names of columns differ"
"""What an entry says of a version that it replaces, where nothing else does."""


@dataclass(frozen=True)
class Entry:
    """One data set of the catalog.

    - ``replaces``: Versions that are not kept beside this one → what differs.
    """

    name: str
    version: str
    studies: tuple[str, ...]
    title: str
    licence: str
    synthetic: bool
    card: str
    files: Mapping[str, Mapping[str, Any]]
    replaces: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"


def entries(root: Path | None = None) -> dict[str, Entry]:
    """All entries by ``name@version``.

    Raises ``BadInput`` if the catalog cannot be read; lists all its faults.
    """
    path = find_root(root) / "data" / "catalog.yaml"
    state = path.stat()
    return dict(_entries(path, state.st_mtime_ns, state.st_size))


@functools.lru_cache(maxsize=8)
def _entries(path: Path, changed: int, size: int) -> dict[str, Entry]:
    """The entries, remembered for as long as time and size of the file stay: a suite asks for them at every run."""
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise BadInput(f"{path}: nested too deeply") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror})") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # a date that no calendar has is a ValueError
        raise BadInput(f"{path}: not valid YAML: {error}") from error
    content = {} if content is None else content
    if not isinstance(content, dict):
        raise BadInput(f"{path}: expected a mapping of name@version to a data set's fields")
    found, faults = {}, []
    for label, card in content.items():
        match = NAME.match(str(label))
        if not isinstance(card, dict):
            faults.append(f"{label}: expected a mapping with study, title, licence, synthetic and files")
            continue
        missing = [key for key in ("study", "title", "licence", "synthetic", "files") if key not in card]
        if match is None:
            faults.append(f"{label}: expected name@version")
        elif missing:
            faults.append(f"{label}: lacks {', '.join(missing)}")
        elif wrong := _wrong_fields(card):
            faults += [f"{label}: {fault}" for fault in wrong]
        else:
            found[str(label)] = Entry(
                match["name"],
                match["version"],
                tuple(map(str, card["study"])) if isinstance(card["study"], list) else (str(card["study"]),),
                card["title"],
                card["licence"],
                bool(card["synthetic"]),
                card.get("card", ""),
                card["files"],
                card.get("replaces", {}),
            )
    if faults:
        raise BadInput.listing(f"{path}:", faults)
    return found


def _wrong_fields(card: Mapping[str, Any]) -> list[str]:
    """Fields of an entry that are of another kind than expected."""
    wrong = [
        f"{key}: expected a text" for key in ("title", "licence", "card") if not isinstance(card.get(key, ""), str)
    ]
    studies = card["study"] if isinstance(card["study"], list) else [card["study"]]
    if not all(isinstance(study, str) for study in studies):
        wrong.append("study: expected a name or a list of names")
    if not isinstance(card["synthetic"], bool):
        wrong.append("synthetic: expected yes or no")
    replaces = card.get("replaces", {})
    if not isinstance(replaces, dict) or not all(isinstance(text, str) for each in replaces.items() for text in each):
        wrong.append("replaces: expected a mapping of versions, as texts, to what differs")
    files = card["files"]
    if not isinstance(files, dict) or not all(isinstance(file, dict) for file in files.values()):
        return [*wrong, "files: expected a mapping of tables to path, sha256 and rows"]
    kinds: Mapping[str, Callable[[Any], bool]] = {
        "path": lambda value: isinstance(value, str) and "\0" not in value,
        "sha256": lambda value: isinstance(value, str),
        "rows": lambda value: value is None or type(value) is int,
    }
    return wrong + [
        f"files: {table}: {key}: expected a {'count' if key == 'rows' else 'text'}"
        for table, file in files.items()
        for key, fits in kinds.items()
        if not fits(file.get(key))
    ]


def same_data(one: Mapping[str, Any], other: Mapping[str, Any], root: Path | None = None) -> bool:
    """Whether what two runs say of their data is the same data: the same bytes, or versions of a data set that differ in names of columns alone.

    - ``one``, ``other``: ``data`` of their ``results.json``.

    Examples
    --------
    >>> before, now = ({"name": "needles", "version": version, "sha256": version} for version in ("1.0.0", "1.1.0"))
    >>> same_data(before, now), same_data(now, {"name": "own.csv", "version": "", "sha256": "1.2.0"})
    (True, False)
    """
    if one["sha256"] == other["sha256"]:
        return True
    if one["name"] != other["name"] or not (one["version"] and other["version"]):
        return False
    try:
        known = entries(root)
    except BadInput:
        return False
    pairs = ((one["version"], other["version"]), (other["version"], one["version"]))
    found = ((known.get(f"{one['name']}@{new}"), old) for new, old in pairs)
    return any(entry is not None and entry.replaces.get(old) == NAMES_DIFFER for entry, old in found)


def entry(label: str, root: Path | None = None) -> Entry:
    """The entry of a data set.

    Raises ``BadInput`` if there is none; the message names the one that replaces it, else those of that name or of a near
    one, else all.
    """
    from difflib import get_close_matches

    known = entries(root)
    if label not in known:
        name, _, version = label.partition("@")
        newer = [other for other in known.values() if other.name == name and version in other.replaces]
        if newer:
            said = f"{newer[-1].label} replaces it: {newer[-1].replaces[version]}"
            raise BadInput(f"no data set {label!r} in data/catalog.yaml; {said}")
        near = get_close_matches(name, {other.name for other in known.values()}, n=3, cutoff=0.7)
        meant = [other for other in sorted(known) if known[other].name in near]
        hint = f"is {' or '.join(meant)} meant?" if meant else f"there are {', '.join(sorted(known)) or 'none'}"
        raise BadInput(f"no data set {label!r} in data/catalog.yaml; {hint}")
    return known[label]


def entry_files(found: Entry, root: Path | None = None) -> dict[str, Path]:
    """Paths of an entry's files, each checked against its SHA-256.

    Raises ``BadInput`` if a file is missing, has other bytes than catalogued, or lies outside ``data/``.
    """
    base = (find_root(root) / "data").resolve()
    paths, faults = {}, []
    for table, file in found.files.items():
        path = (base / str(file["path"])).resolve()
        if not path.is_relative_to(base):
            faults.append(f"{table}: {file['path']} leads out of data/")
        elif not path.is_file():
            faults.append(f"{table}: {file['path']} is missing")
        elif sha256(path.read_bytes()) != file["sha256"]:
            faults.append(
                f"{table}: {file['path']} has other bytes than catalogued; a changed data set gets a new version"
            )
        else:
            paths[table] = path
    if faults:
        raise BadInput.listing(f"data set {found.label}:", faults)
    return paths


def add(
    label: str,
    files: Mapping[str, Path],
    *,
    study: Sequence[str],
    title: str,
    licence: str,
    synthetic: bool,
    card: str,
    replaces: Mapping[str, str] | None = None,
) -> None:
    """Append or replace an entry; counts rows and hashes bytes.  What an entry replaces stays, where nothing else is said.

    Raises ``BadInput`` if the name is faulty, a file is not in ``data/`` of the workbench, or there is no workbench
    but the package's own.
    """
    import yaml

    base = own_root() / "data"
    faults = [] if NAME.match(label) else [f"{label!r}: expected name@version"]
    for table, file in files.items():
        if not table or not file.is_file():
            faults.append(f"{table}={file}: expected table=path of a file")
        elif not file.resolve().is_relative_to(base.resolve()):
            faults.append(f"{table}: {file} is not in {base}: a catalogued file lies there")
    if faults:
        raise BadInput.listing("the data set is not catalogued:", faults)
    path = base / "catalog.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    former = replaces or (content.get(label) or {}).get("replaces")
    content[label] = {
        "study": study[0] if len(study) == 1 else list(study),
        "title": title,
        "licence": licence,
        "synthetic": synthetic,
        "card": card,
        **({"replaces": dict(former)} if former else {}),
        "files": {
            table: {
                "path": file.resolve().relative_to(base.resolve()).as_posix(),
                "rows": _rows(file),
                "sha256": sha256(read_bytes(file)),
            }
            for table, file in files.items()
        },
    }
    path.write_text(
        yaml.safe_dump(dict(sorted(content.items())), allow_unicode=True, sort_keys=False), encoding="utf-8"
    )


def _rows(file: Path) -> int:
    """The rows of a table, or the answers in a result file of another tool."""
    try:
        return len(raw_frame(file, read_bytes(file)))
    except BadInput as error:
        from evalbench.readers.tools.known import imported

        try:
            return len(imported(file).frames["items"])
        except BadInput:
            raise error from None


def _main() -> None:
    import click

    @click.group()
    def group() -> None:
        """Keep data/catalog.yaml."""

    @group.command("add")
    @click.argument("label")
    @click.argument("files", nargs=-1, required=True)
    @click.option("--study", required=True, multiple=True)
    @click.option("--title", required=True)
    @click.option("--licence", default="CC0-1.0")
    @click.option("--synthetic/--real", default=True)
    @click.option("--card", default="", help="path of the data card below data/")
    @click.option("--replaces", multiple=True, help="VERSION=TEXT: a version that is not kept, and what differs")
    def add_command(label: str, files: tuple[str, ...], replaces: tuple[str, ...], **card: Any) -> None:
        """Catalogue LABEL (name@version) with FILES written table=path."""
        before = {version: text for version, _, text in (each.partition("=") for each in replaces)}
        try:
            add(label, {t: Path(p) for t, _, p in (f.partition("=") for f in files)}, replaces=before, **card)
        except BadInput as error:
            raise SystemExit(str(error)) from None

    group()


if __name__ == "__main__":
    _main()
