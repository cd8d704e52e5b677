"""Escaped HTML tables of frames; the one door to everything that is drawn as HTML.

A cell that came from a file or a model is text: markup in it is shown, not obeyed.  Long texts are
clamped with a way to see the whole, wide tables scroll in their own box.
"""

from __future__ import annotations

import json
import math
import numbers
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalbench.core.wording import count, counted, decimals_for, rounded, signed
from evalbench.draw.band import verdict_html
from evalbench.draw.html import Html, attribute, breakable, case_anchor, escape, language_attributes, without_markup
from evalbench.draw.slices import slices_html
from evalbench.draw.spans import Document, Span, documents, highlight
from evalbench.draw.verdict import data_label, headline_table, notes_html

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.core.result import Result

__all__ = [
    "Document",
    "Html",
    "Span",
    "documents",
    "escape",
    "folded",
    "headline_table",
    "highlight",
    "html_table",
    "result_html",
    "rounded",
]

NUMERIC = ' class="n"'
# 0.71 [0.63, 0.78], < 0.001, 2026-11-22T10:00:00Z
_FIGURE = re.compile(r"[\s\d.,:;()\[\]<>=≤≥±+−–%TZ-]*")
NO_VALUE = Html('<span class="eb-none" title="no value">–</span>')
HIDDEN_ROWS = 500  # rows of one table at most, the open ones among them
_LONG_HEAD = 10
_OPEN = 10  # rows of a table that may fold
HIDDEN_TEXT = 200  # characters of a text in them


def clamped(text: str, clamp: int) -> Html:
    """A text, escaped; longer ones as a ``<details>`` that shows the beginning until it is opened."""
    if len(text) <= clamp:
        return escape(text)
    return Html(
        f'<details class="eb-clamp"><summary><span class="eb-head">{escape(text[:clamp].rstrip())}… </span>'
        f'<span class="eb-toggle">whole text, {counted(len(text), "character")}</span></summary>'
        f'<div class="eb-whole">{escape(text)}</div></details>'
    )


def text_block(text: str, clamp: int = 200, code: str | None = None) -> Html:
    """A text in a block of its own language, clamped; a text of nothing but white space says that it is empty."""
    if not text.strip():
        return Html("<div><em>empty</em></div>")
    return Html(f"<div{language_attributes(text, code)}>{clamped(text, clamp)}</div>")


def folded(summary: Any, body: Any) -> Html:
    """Something one click away: a judge's raw reply behind its verdict, say.

    Both are escaped unless they are :class:`Html`; line breaks of the body stay.
    """
    return Html(
        f'<details class="eb-fold"><summary>{escape(summary)}</summary>'
        f'<div class="eb-whole"{language_attributes(str(body)) if not isinstance(body, Html) else ""}>'
        f"{escape(body)}</div></details>"
    )


def _missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, (str, bytes, list, tuple, dict, set)):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses a truth value, arrays an ambiguous one
        return type(value).__name__ == "NAType"


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not _is_bool(value)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _column_decimals(values: Sequence[float]) -> int:
    """Decimals for a column of numbers: three significant digits of its largest, at most four; none of whole numbers."""
    if all(float(v).is_integer() for v in values if math.isfinite(v)):
        return 0
    largest = max(abs(v) for v in values if math.isfinite(v))
    return min(max(decimals_for(largest, 3), 0), 4)


def _number(value: float, decimals: int) -> str:
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{decimals}f}" if abs(value) < 10_000 else f"{value:,.{decimals}f}".replace(",", "\u202f")
    return signed(text)


def _as_text(value: Any) -> str:
    if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
        return "; ".join(value)
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _cell(value: Any, decimals: int | None, clamp: int, code: str | None, width: str) -> str:
    if isinstance(value, Html):
        return f"<td{width}>{value}</td>"
    if _missing(value):
        return f"<td{width}>{NO_VALUE}</td>"
    if decimals is not None:
        return f"<td{width}>{_number(float(value), decimals)}</td>"
    if _is_bool(value):
        return f"<td{width}>{'yes' if value else 'no'}</td>"
    text = _as_text(value)
    # A name without spaces breaks at its joints, or it would push the last columns out of sight.
    shown = breakable(text) if len(text) <= clamp and not any(map(str.isspace, text)) else clamped(text, clamp)
    return f"<td{width}{language_attributes(text, code)}>{shown}</td>"


def _width_class(present: Sequence[Any], numeric: bool) -> str:
    """Numbers are right-aligned; figures with intervals and dates do not break; prose and longer names get room."""
    if numeric:
        return NUMERIC
    texts = [_as_text(v) for v in present if not isinstance(v, Html)]
    marked = [re.sub("<[^>]*>", "", v) for v in present if isinstance(v, Html)]
    if max(map(len, marked), default=0) > 24 or max(map(len, texts), default=0) > 60:
        return ' class="l"'
    if marked:
        return ' class="m"'
    if texts and all(_FIGURE.fullmatch(text) for text in texts):
        return ' class="w"'
    return ' class="m"' if max(map(len, texts), default=0) > 12 else ""


def _column_cells(
    values: Sequence[Any], rows: int, clamp: int, code: str | None, is_case: bool
) -> tuple[str, list[str]]:
    """The class of a column's cells, and the cells; long texts of those behind the first ``rows`` are cut."""
    shown = [v for v in values[:rows] if not _missing(v)]
    numeric = bool(shown) and all(_is_number(v) for v in values if not _missing(v))
    decimals = _column_decimals([float(v) for v in values if not _missing(v)]) if numeric else None
    width = _width_class(shown, numeric)
    whole = [_cell(v, decimals, clamp, code, width) for v in values[:rows]]
    cells = [*whole, *(_cell(_cut(v), decimals, HIDDEN_TEXT + 1, code, width) for v in values[rows:])]
    if not is_case:
        return width, cells
    return width, [_case_cell(v, cell) for v, cell in zip(values, cells, strict=True)]


def _cut(value: Any) -> Any:
    """A value of a hidden row: what is drawn loses its markup, and a text what is beyond its first 200 characters."""
    if _missing(value) or _is_number(value) or _is_bool(value):
        return value
    text = without_markup(value) if isinstance(value, Html) else _as_text(value)
    return text if len(text) <= HIDDEN_TEXT else f"{text[:HIDDEN_TEXT].rstrip()}…"


def _case_cell(value: Any, cell: str) -> str:
    """A cell with the id of a case, which a page makes into an anchor."""
    if _missing(value) or isinstance(value, Html) or "<details" in cell:
        return cell
    head, _, rest = cell.removesuffix("</td>").partition(">")
    return f'{head}><span data-case="{case_anchor(value)}">{rest}</span></td>'


def html_table(
    frame: pd.DataFrame,
    *,
    caption: str = "",
    rows: int = 20,
    clamp: int = 200,
    lang_columns: Mapping[str, str] | None = None,
    total: int | None = None,
    file: str = "",
    fold: bool = False,
) -> Html:
    """A frame as an escaped table in its own scroll box.

    - ``frame``: Its index is not shown. :class:`Html` in a column of dtype object (of :func:`highlight`, say) passes as
      it is; pandas' text columns turn it into text, which is escaped.
    - ``rows``: So many rows are open. The next ones, 500 rows in all, are behind "show all", their texts cut to 200
      characters, so that a page's filter searches them; further ones are counted below the table.
    - ``clamp``: Texts longer than this many characters are folded.
    - ``lang_columns``: Languages that are known; otherwise each cell's script decides.
    - ``total``: Number of rows of the whole, where ``frame`` is its head already; by default ``len(frame)``.
    - ``file``: Where the whole is, e.g. ``"items.parquet"``.
    - ``fold``: Of more than ten rows only a line is open: the caption and how many rows there are.

    Raises ``ValueError`` if ``rows`` or ``clamp`` is below 1, or ``total`` below the rows given.

    Notes
    -----
    Numbers are right-aligned, three significant digits of the column's largest.  A dash stands for no
    value (None, NaN); an empty text leaves an empty cell; the texts ``None`` and ``NA`` stay texts.
    In a column ``id`` each cell carries the name of its case (:func:`evalbench.draw.html.case_anchor`).
    A frame with the one column ``note`` says why there is no table: its texts become sentences, without the caption.

    Examples
    --------
    >>> import pandas as pd
    >>> "&lt;script&gt;" in html_table(pd.DataFrame({"output": ["<script>"]}))
    True
    """
    total = len(frame) if total is None else total
    if rows < 1 or clamp < 1 or total < len(frame):
        raise ValueError(f"rows={rows} and clamp={clamp} must be at least 1, total={total} at least {len(frame)}")
    if list(frame.columns) == ["note"]:
        return _in_place_of_a_table(frame["note"].tolist())
    kept = frame.head(max(rows, HIDDEN_ROWS))
    shown, hidden = min(rows, len(kept)), max(len(kept) - rows, 0)
    languages = lang_columns or {}
    columns = [
        _column_cells(kept.iloc[:, j].tolist(), rows, clamp, languages.get(str(name)), name == "id")
        for j, name in enumerate(frame.columns)
    ]
    head = "".join(_head(str(name), width) for name, (width, _) in zip(frame.columns, columns, strict=True))
    lines = [f"<tr>{''.join(cells)}</tr>" for cells in zip(*(cells for _, cells in columns), strict=True)]
    body = "".join(lines[:rows])
    if not shown:
        body = f'<tr><td colspan="{max(len(columns), 1)}" class="eb-none">no rows</td></tr>'
    rest = f"{REST_START}{''.join(lines[rows:])}</tbody>" if hidden else ""
    folds = fold and total > _OPEN
    label = f"<figcaption>{escape(caption)}</figcaption>" if caption and not folds else ""
    drawn = Html(
        f'<figure class="eb-figure">{label}<div class="eb-scroll" tabindex="0" role="group" '
        f'aria-label="{attribute(caption or "Table")}"><table class="eb-table eb-sortable"{_total(len(kept), total)}>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{rest}</table></div>"
        f"{_show_all(len(kept), total) if hidden else ''}{_rest(shown, total, file)}</figure>"
    )
    return behind_a_line(f"{counted(total, 'row')}: {caption or 'table'}", drawn) if folds else drawn


def behind_a_line(said: str, drawn: Html) -> Html:
    """What is drawn behind a line that says what it is: opened by a click, by a link into it, and in print."""
    return Html(f'<details class="eb-more"><summary>{escape(said)}</summary>{drawn}</details>')


def _total(kept: int, total: int) -> str:
    """How many rows there are where not all are on the page, for the filter to say."""
    return f' data-total="{count(total)}"' if kept < total else ""


def _head(name: str, width: str) -> str:
    """The head of a column; one without a name is no head, and a long name gets room on a narrow screen."""
    classes = ["n"] * (width == NUMERIC) + ["h"] * (len(name) > _LONG_HEAD)
    cell = f' class="{" ".join(classes)}"' if classes else ""
    return f'<th scope="col"{cell}>{escape(name)}</th>' if name.strip() else "<td></td>"


REST_START = '<tbody class="eb-rest">'
ALL_START = '<details class="eb-all"><summary>'


def _show_all(kept: int, total: int) -> str:
    """The fold that shows the hidden rows: the style sheet looks whether it is open, so that no script is needed."""
    which = "show all" if kept == total else "show the first"
    return f"{ALL_START}{which} {count(kept)} rows, long texts cut to {HIDDEN_TEXT} characters</summary></details>"


def _in_place_of_a_table(notes: Sequence[Any]) -> Html:
    texts = [_as_text(note) for note in notes]
    said = "".join(f"<p>{escape(text[:1].upper() + text[1:].rstrip('.'))}.</p>" for text in texts)
    return Html(f'<div class="eb-figure">{said}</div>')


def _rest(shown: int, total: int, file: str) -> str:
    if shown >= total:
        return ""
    where = f", the rest is in {escape(file)}" if file else ""
    return f'<p class="eb-small">first {count(shown)} of {counted(total, "row")}{where}</p>'


def result_html(result: Result) -> Html:
    """A Result as JupyterLab shows it: what was judged, the band, the headline figures, the notes."""
    results = result.to_json()
    return Html(
        f'<div class="eb-result"><p class="eb-kicker">{escape(results["study"])} · {escape(results["judged"])} · '
        f"{escape(data_label(results['data']))}</p>"
        f'<p class="eb-question">{escape(results["question"])}</p>{verdict_html(results)}'
        f"{headline_table(results['summary'], results['by'])}{notes_html(results['notes'])}{slices_html(results)}</div>"
    )
