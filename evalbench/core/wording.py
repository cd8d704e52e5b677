"""Numbers in words: one way to round, sign and count for sentences, tables, pages and the command line."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalbench.core.result import Estimate

# A value that is this near to a threshold reaches it but for floating point.
_TOUCHES = 1e-9
_MOST_DECIMALS = 12


def signed(text: str) -> str:
    """A number's text with a true minus sign, and none before zero.

    Examples
    --------
    >>> signed("-0.00"), signed("-0.08")
    ('0.00', '−0.08')
    """
    if text.startswith("-") and not text.strip("-0.,\u202f"):
        text = text[1:]
    return text.replace("-", "−")


def cut(text: str, most: int) -> str:
    """At most so many letters of a text, without its middle but for the numbers in it: names that differ at their ends or in a number stay different.

    Examples
    --------
    >>> cut("house/of-a-long-family-01", 16), cut("oak", 16)
    ('house/of…mily-01', 'oak')
    >>> cut("fern-with-a-long-prompt-v17-and-no-tools", 24)
    'fern-wit…v17…nd-no-tools'
    """
    if len(text) <= most:
        return text
    room = max(most - 1, 0)
    end = len(text) - room // 2
    start = room - room // 2
    numbers = "…".join(re.findall(r"\w*\d\w*", text[start:end]))
    if not numbers or len(numbers) >= start // 2:
        return f"{text[:start]}…{text[end:]}"
    return f"{text[: start - len(numbers) - 1]}…{numbers}…{text[end:]}"


def count(number: int) -> str:
    """A count with thin no-break spaces between thousands.

    Examples
    --------
    >>> count(1234).replace("\u202f", "_")
    '1_234'
    """
    return f"{number:,}".replace(",", "\u202f")


def counted(number: int, singular: str, plural: str = "") -> str:
    """A count and its noun: ``"1 row"``, ``"2 rows"``, ``"3 queries"``."""
    ending = f"{singular[:-1]}ies" if singular.endswith("y") and singular[-2] not in "aeiou" else f"{singular}s"
    return f"{count(number)} {singular if number == 1 else plural or ending}"


def listed(names: Sequence[str], most: int = 5, last: str = ", ") -> str:
    """Names in a row, of many the first ones.

    Examples
    --------
    >>> listed(["a", "b", "c"], last=" and "), listed(["a", "b", "c", "d"], 2)
    ('a, b and c', 'a, b and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {count(len(names) - most)} more"
    return last.join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def p_text(p: float | None) -> str:
    """A p-value for reading: two or three decimals, never 0.

    Examples
    --------
    >>> p_text(0.0004), p_text(0.0317), p_text(0.312), p_text(None)
    ('< 0.001', '0.032', '0.31', '–')
    """
    if p is None or math.isnan(p):
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def p_equals(p: float | None) -> str:
    """A p-value after the letter: ``"= 0.032"``, ``"< 0.001"``."""
    text = p_text(p)
    return text if text[:1] in "<–" else f"= {text}"


def decimals_for(width: float, digits: int = 2) -> int:
    """Decimals that show ``digits`` significant digits of ``width``; negative means tens, hundreds, …"""
    return digits - 1 - math.floor(math.log10(width))


def apart(value: float, decimals: int, cuts: Sequence[float]) -> int:
    """As many decimals, from ``decimals`` on, as leave the value on its own side of every cut.

    Examples
    --------
    >>> apart(0.39984, 2, [0.4, 0.7]), apart(0.41, 2, [0.4]), apart(0.4, 2, [0.4])
    (4, 2, 2)
    """

    def sides(x: float) -> list[int]:
        return [0 if abs(x - cut) <= _TOUCHES else 1 if x > cut else -1 for cut in cuts]

    own = sides(value)
    tried = (d for d in range(decimals, _MOST_DECIMALS) if sides(round(value, d)) == own)
    return next(tried, max(decimals, _MOST_DECIMALS))


def rounded(
    value: float | None, low: float | None = None, high: float | None = None, *, cuts: Sequence[float] = ()
) -> str:
    """A figure and its interval, rounded to two significant digits of the interval's width.

    Parameters
    ----------
    value : float or None
        None (or NaN) gives a dash.
    low, high : float or None
        The interval; without one the value gets three significant digits and no brackets.
    cuts : sequence of float
        Where the light changes: the value gets as many digits as tell it from them.

    Examples
    --------
    >>> rounded(0.70693, 0.6312, 0.7789)
    '0.71 [0.63, 0.78]'
    >>> rounded(0.70693)
    '0.707'
    >>> rounded(0.39984, 0.3112, 0.4889, cuts=[0.4])
    '0.3998 [0.31, 0.49]'
    >>> rounded(None)
    '–'
    """
    if value is None or math.isnan(value):
        return "–"
    return " ".join(filter(None, rounded_parts(value, low, high, cuts=cuts)))


def rounded_parts(
    value: float,
    low: float | None,
    high: float | None,
    decimals: int | None = None,
    *,
    cuts: Sequence[float] = (),
    difference: bool = False,
) -> tuple[str, str]:
    """The value and, separately, its interval in brackets (empty without one).

    Parameters
    ----------
    low, high : float or None
    decimals : int, optional
        Those that neighbouring rows share, see :func:`shared_decimals`.
    cuts : sequence of float
        See :func:`rounded`.
    difference : bool
        Whether an end of the interval lies at 0 or beside it matters: it gets as many digits as say so.
    """
    decimals = own_decimals(value, low, high) if decimals is None else decimals
    shown = _fixed(value, apart(value, decimals, cuts))
    if low is None or high is None:
        return shown, ""
    zero = (0.0,) if difference else ()
    ends = max(apart(end, decimals, zero) for end in (low, high))
    return shown, f"[{_fixed(low, ends)}, {_fixed(high, ends)}]"


def own_decimals(value: float, low: float | None, high: float | None) -> int:
    """Two significant digits of the interval's width; three of the value where there is no interval."""
    width = (high - low) if low is not None and high is not None else 0.0
    if width > 0:
        return decimals_for(width)
    return decimals_for(abs(value), 3) if value else 2


def _fixed(value: float, decimals: int) -> str:
    if decimals > _MOST_DECIMALS and value:
        return signed(f"{value:.2g}")
    decimals = min(decimals, _MOST_DECIMALS)
    # Python rounds halves to even in binary, which is what repr-exact values deserve.
    return signed(f"{round(value, decimals):,.{max(decimals, 0)}f}".replace(",", "\u202f"))


def shared_decimals(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Decimals for neighbouring rows, so that they align: those of the widest interval, and at least one
    significant digit of the narrowest."""
    own = [
        own_decimals(row["value"], row.get("ci_low"), row.get("ci_high")) for row in rows if row["value"] is not None
    ]
    return max(min(own), max(own) - 1) if own else None


def aligned(values: Sequence[float | None], lows: Sequence[float | None], highs: Sequence[float | None]) -> list[str]:
    """Figures and intervals of neighbouring rows with the same decimals; see :func:`rounded`."""
    rows = [
        {"value": value, "ci_low": low, "ci_high": high} for value, low, high in zip(values, lows, highs, strict=True)
    ]
    decimals = shared_decimals(rows)
    return ["–" if row["value"] is None else " ".join(filter(None, estimate_parts(row, decimals))) for row in rows]


# -- headline figures ---------------------------------------------------------------------------


def _flat(row: Mapping[str, Any] | Estimate) -> Mapping[str, Any]:
    return row if isinstance(row, Mapping) else row.row()


def title_of(row: Mapping[str, Any]) -> str:
    """The words for a row of ``results.json``'s ``summary``: its title, else its metric.

    Examples
    --------
    >>> title_of({"metric": "level_1_answer", "title": "level 1 answer"}), title_of({"metric": "f1"})
    ('level 1 answer', 'f1')
    """
    return str(row.get("title") or row["metric"])


def group_of(row: Mapping[str, Any], by: Sequence[str]) -> str:
    """The names of a row's group, those that it has.

    Examples
    --------
    >>> group_of({"judge": "elm", "criterion": ""}, ["judge", "criterion"])
    'elm'
    """
    return ", ".join(str(row[name]) for name in by if row.get(name) not in (None, ""))


def estimate_parts(row: Mapping[str, Any], decimals: int | None = None) -> tuple[str, str]:
    """A headline figure's value and its interval, each as every sentence, table and line has them.

    Parameters
    ----------
    row : mapping
        A row of ``results.json``'s ``summary``, with a value.
    decimals : int, optional
        Those that the rows of its metric share, see :func:`shared_decimals`.
    """
    return rounded_parts(
        row["value"],
        row.get("ci_low"),
        row.get("ci_high"),
        decimals,
        cuts=row.get("cuts") or (),
        difference=row.get("unit") == "difference",
    )


def estimate_text(row: Mapping[str, Any] | Estimate, rows: Sequence[Mapping[str, Any] | Estimate] = ()) -> str:
    """A headline figure with its interval, as the table has it; a dash where it has no value.

    Parameters
    ----------
    row : mapping or Estimate
        A row of ``results.json``'s ``summary``.
    rows : sequence of mapping or Estimate
        The whole summary: rows of one metric share their decimals.
    """
    one = _flat(row)
    return "–" if one["value"] is None else " ".join(filter(None, estimate_parts(one, _decimals_in(one, rows))))


def interval_text(value: Any, low: Any, high: Any) -> str:
    """A value with its interval out of a table's cells; a dash where there is none.

    Examples
    --------
    >>> interval_text(0.512, 0.4, 0.6), interval_text(float("nan"), None, None)
    ('0.51 [0.40, 0.60]', '–')
    """
    names = ("value", "ci_low", "ci_high")
    known = [None if end is None or end != end else float(end) for end in (value, low, high)]
    return estimate_text({"metric": "", **dict(zip(names, known, strict=True))})


def _decimals_in(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any] | Estimate]) -> int | None:
    return shared_decimals([r for r in map(_flat, rows) if r["metric"] == row["metric"]])


def value_text(row: Mapping[str, Any] | Estimate, rows: Sequence[Mapping[str, Any] | Estimate] = ()) -> str:
    """A headline figure without its interval; see :func:`estimate_text`."""
    one = _flat(row)
    return "–" if one["value"] is None else estimate_parts(one, _decimals_in(one, rows))[0]


def share_text(row: Mapping[str, Any] | Estimate, rows: Sequence[Mapping[str, Any] | Estimate] = ()) -> str:
    """A share in percent, rounded where the table rounds it; a dash where it has no value.

    Examples
    --------
    >>> share_text({"metric": "passed", "value": 0.215, "ci_low": 0.14, "ci_high": 0.31})
    '21%'
    """
    text = value_text(row, rows)
    if text == "–":
        return text
    decimals = len(text.partition(".")[2])
    return f"{100 * float(text.replace('−', '-')):.{max(decimals - 2, 0)}f}%"


def difference_parts(value: float, low: float | None, high: float | None) -> tuple[str, str]:
    """A difference with its sign, and its interval; what lies beside 0 is not shown as 0.

    Examples
    --------
    >>> difference_parts(0.051, 0.0004, 0.1012), difference_parts(0.0, -0.0012, 0.1)
    (('+0.05', '[0.0004, 0.1012]'), ('0.00', '[−0.001, 0.100]'))
    """
    shown, interval = rounded_parts(value, low, high, cuts=(0.0,), difference=True)
    return f"+{shown}" if value > 0 else shown, interval


def percent(share: float, cuts: Sequence[float] = ()) -> str:
    """A share in whole percent, with as many decimals as tell it from the cuts; a share that is a cut, as it is.

    Examples
    --------
    >>> percent(0.0517, [0.05]), percent(0.025, [0.025]), percent(0.3)
    ('5.2%', '2.5%', '30%')
    """
    value = round(100 * share, 10)
    if any(abs(share - cut) <= _TOUCHES for cut in cuts):
        return f"{value:g}%"
    return f"{value:.{apart(value, 0, [100 * cut for cut in cuts])}f}%"
