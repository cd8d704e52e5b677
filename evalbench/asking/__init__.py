"""Tables of a study; without one, what can be asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from evalbench.asking.asked import Asked
    from evalbench.readers.dataset import Dataset


@overload
def load(data: Any, *, columns: Mapping[str, str] | None = None, root: Path | None = None) -> Asked: ...


@overload
def load(
    data: Any,
    *,
    study: str,
    columns: Mapping[str, str] | None = None,
    cluster: str | Sequence[str] = "",
    slices: str | Sequence[str] = (),
    root: Path | None = None,
    **files: str | Path,
) -> Dataset: ...


def load(
    data: Any,
    *,
    study: str = "",
    columns: Mapping[str, str] | None = None,
    cluster: str | Sequence[str] = "",
    slices: str | Sequence[str] = (),
    root: Path | None = None,
    **files: str | Path,
) -> Dataset | Asked:
    """Read and check a study's tables; see :func:`evalbench.studies.load`.  Without a study: what can be asked of them.

    Parameters
    ----------
    data : str, Path, DataFrame or mapping of str to DataFrame
        ``name@version``, a file, a folder with one file per table, a frame, or frames by table.  Whatever has ``to_pandas``
        (Polars, Arrow, a data set of Hugging Face), a list of dicts and a dict of lists are frames.
    study : str
        Whose tables; without one every study is tried on the data, see :class:`evalbench.asking.asked.Asked`.
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
    >>> sorted(load("house_style_curated@1.1.0").studies()["study"])
    ['matching', 'matching_calibration']
    """
    if study:
        from evalbench import studies

        options: dict[str, Any] = {"columns": columns, "cluster": cluster, "slices": slices, "root": root, **files}
        return studies.load(data, study=study, **options)
    from evalbench.asking.asking import asked
    from evalbench.errors import BadInput

    if cluster or slices or files:
        raise BadInput("cluster, slices and further files are a study's: name it with study=")
    return asked(data, columns=columns, root=root)
