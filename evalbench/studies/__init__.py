"""The studies, one module each, found by name."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.kit.options import taken

if TYPE_CHECKING:
    from evalbench.readers.dataset import Dataset
    from evalbench.studies.contract import Study


def names() -> list[str]:
    """Names of all studies."""
    return list(_names())


@cache
def _names() -> tuple[str, ...]:
    return tuple(
        sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "contract" and not m.name.startswith("_"))
    )


@cache
def study(name: str) -> Study:
    """What a study offers; its module is looked at once.

    Raises
    ------
    BadInput
        If there is none of this name, or its module breaks the contract, see :mod:`evalbench.studies.contract`.
    """
    from evalbench.studies.contract import study_of

    return study_of(importlib.import_module(f"{__name__}.{known(name)}"))


_study = study  # load has a parameter of this name


def known(name: str) -> str:
    """The name itself, where a study has it.

    Raises
    ------
    BadInput
        If none has; the nearest name is in the message.
    """
    if name in names():
        return name
    near = get_close_matches(name, names(), n=1)
    hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(names())}"
    raise BadInput(f"no study {name!r}{hint}")


def question(name: str) -> str:
    """What a study answers, read from its source: importing every study takes seconds.

    Raises
    ------
    BadInput
        If there is no study of this name.

    Examples
    --------
    >>> question("human_correlation")
    'Can an automatic metric stand in for annotators?'
    """
    module = Path(__file__).parent / known(name)
    source = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    for node in ast.parse(source.read_bytes()).body:
        if isinstance(node, ast.Assign) and "QUESTION" in (ast.unparse(target) for target in node.targets):
            try:
                return str(ast.literal_eval(node.value))
            except ValueError:  # made by an expression
                break
    return study(name).QUESTION


def defaults(name: str) -> Mapping[str, Any]:
    """The defaults of a study's parameters as the study was released, whatever its notebook holds by now.

    Made by ``scripts/notebooks.py``; empty for a name that is not a study's.
    """
    known = json.loads((Path(__file__).parent / "defaults.json").read_text(encoding="utf-8"))
    return dict(known.get(name, {}))


def load(
    data: str | Path | Mapping[str, Any],
    *,
    study: str,
    columns: Mapping[str, str] | None = None,
    cluster: str | Sequence[str] = "",
    slices: str | Sequence[str] = (),
    root: Path | None = None,
    **files: str | Path,
) -> Dataset:
    """Read and check a study's tables; see :func:`evalbench.readers.dataset.load`.

    Parameters
    ----------
    data : str, Path or mapping of str to DataFrame
        ``name@version``, a file, a folder with one file per table, or frames by table.
    study : str
        Whose tables.
    columns : mapping, optional
        Renames: column in the file → column that we expect.
    cluster : str or sequence of str
        A column, or several: items with the same value are drawn together in every interval and test.
    slices : str or sequence of str
        Columns whose values the figures are also given for.
    root : Path, optional
        The workbench, found upwards otherwise.
    **files : str or Path
        Further files by table name.

    Examples
    --------
    >>> data = load("house_style_curated@1.1.0", study="matching")
    >>> str(data.label), list(data.tables)
    ('house_style_curated@1.1.0', ['truth', 'predictions', 'checkers', 'documents'])
    """
    from evalbench.readers.dataset import load as load_tables

    own = _study(study)
    options: dict[str, Any] = {"columns": columns, "cluster": cluster, "slices": slices, "root": root, **files}
    return load_tables(data, own.SCHEMA, adapt=own.adapt, further=own.check, **options)


def refuse(data: Dataset, study: str, options: Mapping[str, Any]) -> None:
    """Refuse tables that a run of a study with these options refuses, before anything is asked or computed.

    Raises
    ------
    BadInput
        What the study's ``check`` or ``needs`` says.
    """
    from evalbench.readers.large import is_dealt

    own = _study(study)
    if own.check is not None and not any(map(is_dealt, data.tables.values())):
        own.check(data)
    if own.needs is not None:
        own.needs(data, **{name: value for name, value in taken(own.needs, options).items() if name != "data"})
