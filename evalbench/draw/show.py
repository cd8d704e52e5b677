"""Showing things in a notebook: the only place that imports IPython.

What is shown carries a mark in its output's metadata, by which the report page knows that the HTML
was drawn, and escaped, here (:mod:`evalbench.draw.marks`); all other HTML of a notebook is shown as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalbench.draw.html import Html, boxed, plain, without_markup
from evalbench.draw.marks import NOTHING, metadata

if TYPE_CHECKING:
    from evalbench.core.result import Result

Bundle = tuple[dict[str, str], dict[str, dict[str, str]]]


@dataclass(frozen=True)
class Shown:
    """HTML with its plain-text fallback; displays itself in JupyterLab."""

    html: Html
    text: str
    kind: str

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Bundle:
        markup = boxed(self.html)
        return {"text/html": markup, "text/plain": self.text}, metadata(self.kind, markup)

    def __repr__(self) -> str:
        return self.text


def shown(x: Any, caption: str = "", *, rows: int = 20, file: str = "", fold: bool = False) -> Shown:
    """What :func:`show` displays, as a value.

    Raises ``TypeError`` if ``x`` is none of the things that can be shown.
    Raises ``ValueError`` if a picture lacks alt text, title or axis labels.
    """
    import pandas as pd

    from evalbench.core.result import Result
    from evalbench.draw import tables
    from evalbench.draw.style import picture
    from evalbench.draw.trials import trials_html

    if isinstance(x, Result):
        html = tables.result_html(x)
        if x.trials:
            html = Html(f"{html}{trials_html(x.trials, x.by)}")
        return Shown(html, f"{x.study}: {x.light}. {plain(x.sentence)}", "result")
    if x is None or (isinstance(x, (pd.DataFrame, Html)) and len(x) == 0):
        said = f"Nothing to show: {caption}" if caption else "Nothing to show."
        return Shown(Html(f'<p class="eb-small">{tables.escape(said)}</p>'), plain(said), NOTHING)
    if isinstance(x, pd.DataFrame):
        html = tables.html_table(x, caption=caption, rows=rows, file=file, fold=fold)
        return Shown(html, plain(x.head(rows).to_string(index=False, max_colwidth=60)), "table")
    if isinstance(x, Html):
        label = f"<figcaption>{tables.escape(caption)}</figcaption>" if caption else ""
        html = Html(f'<figure class="eb-figure">{label}{x}</figure>') if caption else x
        return Shown(html, without_markup(html), "html")
    if isinstance(x, tuple) and len(x) == 2 and hasattr(x[0], "savefig") and isinstance(x[1], str):
        return Shown(picture(x[0], x[1], caption), plain(x[1]), "figure")
    raise TypeError(
        f"show takes a (figure, alt text) pair, a DataFrame, an Html of draw or a Result, not {type(x).__name__}"
    )


def show(x: Any, caption: str = "", *, rows: int = 20, file: str = "", fold: bool = False) -> None:
    """Show a picture, a table, HTML of ``draw`` or a Result in the notebook and on its page.

    Parameters
    ----------
    x : (Figure, str), pandas.DataFrame, Html, Result or None
        A picture comes with its alt text.  Of None, a table without rows and empty HTML nothing appears on the page,
        nor does the caption; a section in which nothing else is shown is left out.
    caption : str
        One line.
    rows : int
        For a DataFrame: at most so many rows are drawn.
    file : str
        For a DataFrame: the file that holds all of it.
    fold : bool
        For a DataFrame: of more than ten rows only a line is open, the caption and how many rows there are.
    """
    from IPython.display import display

    display(shown(x, caption, rows=rows, file=file, fold=fold))


def _result_bundle(result: Result, include: Any = None, exclude: Any = None) -> Bundle:
    return shown(result)._repr_mimebundle_()


def register() -> bool:
    """Let a Result display itself in the running IPython; False where there is none."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is None or shell.display_formatter is None:
        return False
    shell.display_formatter.mimebundle_formatter.for_type_by_name(
        "evalbench.core.result",
        "Result",
        lambda result, include=None, exclude=None: _result_bundle(result, include, exclude),
    )
    return True
