"""The worst cases of a result beside their texts: what a reader looks at before believing a score."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.draw.html import Html, escape, language_attributes

if TYPE_CHECKING:
    import pandas as pd

Show = Mapping[str, str | Callable[[dict[str, Any]], Any]]


def worst_cases(
    rows: pd.DataFrame,
    by: str | Sequence[str],
    *,
    keys: Sequence[str],
    n: int | None = 10,
    highest: Iterable[str] = (),
    unscored: bool = False,
    texts: pd.DataFrame | None = None,
    show: Show | Sequence[str] | None = None,
) -> pd.DataFrame:
    """The worst rows first, each with its texts.

    Parameters
    ----------
    rows : DataFrame
        One row per case, such as the items of a result.
    by : str or sequence of str
        The lowest value is the worst; rows that are equal in all of them are in the order of ``keys``.
    keys : sequence of str
        The columns that name a case.
    n : int or None
        How many; None for all.
    highest : iterable of str
        Those of ``by`` of which the highest value is the worst.
    unscored : bool
        Keep rows without a value of the first ``by``, after all others; by default they are not cases.
    texts : DataFrame, optional
        One row per case; of a column that ``rows`` has too, the one of ``rows`` is shown.
    show : mapping or sequence, optional
        The columns of the table: names, or a mapping of heading to a column's name or to a function of the row, for
        cells of HTML. By default all columns.

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame({"id": ["a", "b", "c"], "final": [0.5, None, 0.2]})
    >>> texts = pd.DataFrame({"id": ["a", "b", "c"], "answer": ["yes", "", "no"]})
    >>> worst_cases(items, "final", keys=["id"], texts=texts, show={"id": "id", "said": lambda row: row["answer"]})
      id said
    0  c   no
    1  a  yes
    """
    by = [by] if isinstance(by, str) else list(by)
    order = [*by, *(key for key in keys if key not in by)]
    ascending = [name not in set(highest) for name in order]
    known = rows if unscored else rows[rows[by[0]].notna()]
    places = known[order].reset_index(drop=True).sort_values(order, ascending=ascending, kind="stable").index
    found = known.iloc[places[: n or None]].reset_index(drop=True)
    if texts is not None:
        own = texts.loc[texts[keys[0]].isin(found[keys[0]]), [*keys, *(name for name in texts if name not in found)]]
        found = found.merge(own, on=list(keys), how="left", validate="many_to_one")
    return found if show is None else shown(found, show)


def held(rows: pd.DataFrame, texts: pd.DataFrame, key: str = "id") -> pd.DataFrame:
    """The rows whose texts are in memory: of a table that was read in parts those of the extreme cases, else all.

    Examples
    --------
    >>> import pandas as pd
    >>> items, texts = pd.DataFrame({"id": ["a", "b"], "final": [0.5, 0.2]}), pd.DataFrame({"id": ["b"]})
    >>> held(items, texts)["final"].tolist()
    [0.2]
    """
    return rows[rows[key].isin(texts[key])]


def shown(rows: pd.DataFrame, show: Show | Sequence[str]) -> pd.DataFrame:
    """The columns that a reader sees; see ``show`` of :func:`worst_cases`.

    Examples
    --------
    >>> import pandas as pd
    >>> shown(pd.DataFrame({"id": ["a"], "n": [2]}), {"which": "id", "twice": lambda row: 2 * row["n"]})
      which twice
    0     a     4
    """
    import pandas as pd

    named: Show = show if isinstance(show, Mapping) else {name: name for name in show}
    records: Any = rows.to_dict("records")
    columns = {
        heading: rows[cell] if isinstance(cell, str) else cells(map(cell, records), rows.index)
        for heading, cell in named.items()
    }
    return pd.DataFrame(columns, index=rows.index)


def cells(values: Iterable[Any], index: Any = None) -> pd.Series:
    """A column of cells as they are: a text column of pandas would turn HTML into text, which is escaped again.

    Examples
    --------
    >>> type(cells([Html("<b>5</b>")])[0]).__name__
    'Html'
    """
    import pandas as pd

    return pd.Series(list(values), index=index, dtype=object)


def in_turn(rows: pd.DataFrame, by: str, n: int | None = None) -> pd.DataFrame:
    """Rows in their order, the groups of a column in turn: the first of each group, then the second of each.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"model": ["a", "a", "a", "b"], "id": [1, 2, 3, 4]})
    >>> in_turn(rows, "model", 3)["id"].tolist()
    [1, 4, 2]
    """
    turn = rows.groupby(by).cumcount().to_numpy()
    order = np.lexsort((rows[by].to_numpy(dtype=str), turn))
    return rows.iloc[order].head(n or len(rows))


def rows_of(table: pd.DataFrame, case: Mapping[Hashable, Any], keys: Sequence[str]) -> pd.DataFrame:
    """The rows of a finer table that belong to one case.

    Examples
    --------
    >>> import pandas as pd
    >>> steps = pd.DataFrame({"id": ["a", "b", "a"], "step": [1, 1, 2]})
    >>> rows_of(steps, {"id": "a", "final": 0.5}, ["id"])["step"].tolist()
    [1, 2]
    """
    return table[np.logical_and.reduce([(table[key] == case[key]).to_numpy() for key in keys])]


def sheet(title: str, text: str, *parts: Html, code: str | None = None) -> Html:
    """One case in full: its title, the text that it is about (in the language ``code``), and what belongs to it.

    Examples
    --------
    >>> sheet("p1, <fern>", "How many?", Html("<p>5</p>"))
    '<p class="eb-doc-title">p1, &lt;fern&gt;</p><p>How many?</p><p>5</p>'
    """
    head = f'<p class="eb-doc-title">{escape(title)}</p><p{language_attributes(text, code)}>{escape(text)}</p>'
    return Html("".join([head, *parts]))


def score_text(value: float) -> str:
    """A score with two decimals; a dash where there is none.

    Examples
    --------
    >>> score_text(0.5), score_text(float("nan"))
    ('0.50', '–')
    """
    return "–" if value is None or value != value else f"{value:.2f}"


def yes_no(value: Any, unknown: str) -> str:
    """Whether something holds; ``unknown`` says why it is not known.

    Examples
    --------
    >>> yes_no(1.0, "no equation"), yes_no(False, "no equation"), yes_no(None, "no equation")
    ('✓ yes', '✗ no', '– no equation')
    """
    import pandas as pd

    return f"– {unknown}" if pd.isna(value) else "✓ yes" if value else "✗ no"
