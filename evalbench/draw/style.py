"""The house style of pictures, and their way to an SVG that fits a page.

Figures are plain :class:`matplotlib.figure.Figure` objects; pyplot and its global state are never
touched.  Colours are written as CSS variables into the SVG, so that one picture serves light and
dark; its texts stay texts, in the reader's font.
"""

from __future__ import annotations

import hashlib
import io
import re
import threading
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from evalbench.draw import bars
from evalbench.draw.html import Html, attribute, escape, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

INK = "#1c2126"
MUTED = "#59616b"
GRID = "#dcdfe3"
PAPER = "#fefefe"
ACCENT = "#1f5a92"
GOOD = "#1b6e4c"
WARN = "#8a5a01"
BAD = "#a3281f"
SERIES = (ACCENT, "#b3590a", "#157a70", "#7c4c9f", "#7a6a1c", "#9c3d68")
FONT_SIZE = 9.0

_VARIABLES = {
    INK: "--eb-ink",
    MUTED: "--eb-muted",
    GRID: "--eb-line",
    PAPER: "--eb-paper",
    ACCENT: "--eb-accent",
    GOOD: "--eb-good",
    WARN: "--eb-warn",
    BAD: "--eb-bad",
    **{colour: f"--eb-series-{i}" for i, colour in enumerate(SERIES) if i},
}
_RC: Any = {  # matplotlib's stubs want its own list of literal names
    "svg.fonttype": "none",
    "svg.hashsalt": "evalbench",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "path.simplify": True,
}
# rcParams are global to the process: whoever draws holds this.
_LOCK = threading.RLock()
_PLACEHOLDERS = re.compile(
    r"^(no (alt|description)[\w ]*|(alt|description)( text)?|(an? |the )?(image|picture|figure|plot|chart)( of (an? |the )?\w+)?"
    r"|todo.*|tbd.*|untitled.*|<figure.*|n/?a|\S+\.(png|svg|jpe?g|gif))?[\s.:\d]*$",
    re.IGNORECASE,
)


@contextmanager
def _house_rc() -> Iterator[None]:
    import matplotlib as mpl

    with _LOCK, warnings.catch_warnings():
        # Glyphs come from the reader's fonts; the layout only needs widths.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        with mpl.rc_context(_RC):
            yield


def new_figure(width: float = 7.2, height: float = 3.6, rows: int = 1, cols: int = 1) -> tuple[Figure, Any]:
    """An empty figure in the house style.

    - ``width``, ``height``: Inches.
    - ``rows``, ``cols``: Panels.

    Returns (matplotlib.axes.Axes, or an array of them of shape (rows, cols)): One Axes where there is one panel.
    """
    from matplotlib.figure import Figure

    with _house_rc():
        figure = Figure(figsize=(width, height), layout="constrained", facecolor="none")
        axes = figure.subplots(rows, cols, squeeze=False)
        for ax in axes.flat:
            _style(ax)
    return figure, axes[0, 0] if axes.size == 1 else axes


def _style(ax: Axes) -> None:
    from cycler import cycler

    ax.set_facecolor("none")
    ax.set_prop_cycle(cycler(color=SERIES))
    for side, spine in ax.spines.items():
        spine.set_visible(side == "bottom")
        spine.set(color=MUTED, linewidth=0.8)
    ax.grid(axis="y", color=GRID, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.tick_params(colors=MUTED, labelcolor=INK, labelsize=FONT_SIZE, length=0, width=0.8, pad=5)
    ax.tick_params(axis="x", length=3)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(color=MUTED, fontsize=FONT_SIZE)
    ax.set_title("", loc="left", fontsize=FONT_SIZE + 1.5, fontweight="bold", color=INK, pad=10)


def dot(ax: Axes, x: float, y: float, size: float = 6) -> None:
    """A value's dot, whole also at the end of the scale."""
    ax.plot([x], [y], "o", color=ACCENT, markersize=size, markeredgecolor=PAPER, markeredgewidth=0.8, clip_on=False)


def title_at_top(figure: Figure, text: str) -> None:
    """A title at the left edge of the whole figure; panels that lay themselves out make room for it."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(rect=(0, 0, 1, 1 - 0.3 / figure.get_figheight()))
    figure.suptitle(
        text,
        x=0,
        y=1 - 0.04 / figure.get_figheight(),
        ha="left",
        va="top",
        fontsize=FONT_SIZE + 1.5,
        fontweight="bold",
        color=INK,
    )


def width_of(text: str) -> float:
    """Approximate width of a text in ems; East Asian wide characters count one, others about half.

    The bundled font has no such glyphs, so matplotlib would reserve too little room for them.
    """
    return sum(1.05 if unicodedata.east_asian_width(c) in "WF" else 0.56 for c in text)


def shortened(text: str, ems: float = 22) -> str:
    """A label cut to a width, its middle left out with an ellipsis: names that differ at their ends stay different."""
    whole = " ".join(str(text).split())
    most = 4 * int(ems) + 100  # no letter is narrower than half an em: what is beyond is cut in any case
    text = plain(whole[:most])
    if len(whole) <= most and width_of(text) <= ems:
        return text
    end = plain(whole[-most:])
    while end and width_of(end) > ems / 2:
        end = end[1:]
    while text and width_of(text) + width_of(end) > ems - 1:
        text = text[:-1]
    return f"{text.rstrip()}…{end.lstrip()}"


# -- checks -------------------------------------------------------------------------------------


def says_nothing(alt: str) -> bool:
    """Whether an alt text is missing, a placeholder or a file's name: too short to describe a picture."""
    short = len(alt.split()) < 3 and width_of(alt) < 10
    return short or bool(_PLACEHOLDERS.match(alt.strip()))


def titles(figure: Figure) -> list[str]:
    """All titles of a figure, the whole's first."""
    own = [figure.get_suptitle()]
    return [
        t
        for t in own + [ax.get_title(loc=where) for ax in figure.axes for where in ("left", "center", "right")]
        if t.strip()
    ]


def _needs_label(axis: Axis) -> bool:
    """Whether an axis shows numbers; named rows and bars say themselves what they are."""
    from matplotlib.category import StrCategoryFormatter
    from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullFormatter

    if not axis.get_visible() or not axis.axes.axison or not axis.axes.get_visible():
        return False
    formatter, locator = axis.get_major_formatter(), axis.get_major_locator()
    named = isinstance(formatter, FuncFormatter) and isinstance(locator, FixedLocator)  # set_yticks(at, names)
    if named or isinstance(formatter, (FixedFormatter, NullFormatter, StrCategoryFormatter)):
        return False
    params = axis.get_tick_params(which="major")
    return any(params.get(f"label{side}", False) for side in ("left", "right", "bottom", "top"))


def faults(figure: Figure, alt: str) -> list[str]:
    """What keeps a picture from being shown: no alt text, no title, an axis of numbers without a label."""
    found = []
    if says_nothing(alt):
        found.append(f"alt text {alt!r} does not say what the picture shows")
    if not titles(figure):
        found.append("it has no title")
    for i, ax in enumerate(figure.axes, start=1):
        for name in ("x", "y"):
            axis = getattr(ax, f"{name}axis")
            if _needs_label(axis) and not (axis.label.get_text().strip() or _shared_label(figure, name)):
                found.append(f"the {name} axis of panel {i} has no label")
    return found


def _shared_label(figure: Figure, name: str) -> str:
    return str(getattr(figure, f"get_sup{name}label")()).strip()


# -- SVG ----------------------------------------------------------------------------------------


def _as_plain_text(figure: Figure) -> None:
    """No text of the figure is read as mathematics, and none reorders or hides."""
    from matplotlib.axis import Axis
    from matplotlib.text import Text
    from matplotlib.ticker import LogFormatterMathtext, StrMethodFormatter

    for axis in figure.findobj(Axis):
        if isinstance(axis.get_major_formatter(), LogFormatterMathtext):
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
        for formatter in (axis.get_major_formatter(), axis.get_minor_formatter()):
            _in_plain_text(formatter)
    for artist in figure.findobj(Text):
        artist.set_parse_math(False)
        artist.set_text(plain(artist.get_text()))


def _in_plain_text(formatter: Any) -> None:
    """Tick labels are made anew whenever a figure is drawn: their maker has to be cleaned, not its labels."""
    made = formatter.format_ticks
    formatter.format_ticks = lambda values: [plain(label) for label in made(values)]


def _raw_svg(figure: Figure) -> str:
    buffer = io.StringIO()
    with _house_rc():
        _as_plain_text(figure)
        figure.savefig(
            buffer,
            format="svg",
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    # Cells of tables and offsets of axes are no texts that can be found before: what is left is cleaned here.
    return plain(buffer.getvalue())


_ID = re.compile(r'\bid="([^"]+)"')


def _body(svg: str) -> tuple[str, str, str]:
    """Inner markup, width and height in points, without prolog, global style and unused ids."""
    root = re.search(r'<svg [^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>(.*)</svg>', svg, re.DOTALL)
    if root is None:
        raise ValueError("matplotlib wrote an SVG without a viewBox")
    width, height, inner = root.groups()
    inner = re.sub(r"<metadata>.*?</metadata>", "", inner, flags=re.DOTALL)
    inner = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", inner, flags=re.DOTALL)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', inner))
    inner = _ID.sub(lambda found: found[0] if found[1] in used else "", inner)
    inner = re.sub(r"font-family: [^;\"]*;? ?", "", inner)
    inner = re.sub(r"font: ((?:[a-z0-9]+ )*)([\d.]+px) [^;\"]*", _font, inner)
    inner = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", inner)
    return re.sub(r"\s*\n\s*", "\n", re.sub(r" +>", ">", inner)).strip(), width, height


def _font(found: re.Match[str]) -> str:
    weight = found[1].strip()
    return f"font-size: {found[2]}" + (f"; font-weight: {weight}" if weight else "")


def _with_variables(inner: str) -> str:
    pattern = re.compile("|".join(map(re.escape, _VARIABLES)), re.IGNORECASE)
    # Only inside style attributes: a text of the data may well read "#1c2126".
    return re.sub(
        r'style="[^"]*"',
        lambda style: pattern.sub(lambda c: f"var({_VARIABLES[c[0].lower()]},{c[0]})", style[0]),
        inner,
    )


def to_svg(figure: Figure, alt: str) -> Html:
    """A figure as inline SVG: deterministic bytes, real text, colours that follow light and dark.

    - ``alt``: What the picture shows, for those who do not see it.

    Returns: One ``<svg role="img">``; the same figure gives the same bytes, its ids are its own.

    Raises ``ValueError``: Without an alt text that says something, a title, or labels on axes of numbers; lists all.

    Examples
    --------
    >>> figure, ax = new_figure()
    >>> to_svg(figure, "")
    Traceback (most recent call last):
    ValueError: this picture cannot be shown: alt text '' does not say what the picture shows; it has no title; the x axis of panel 1 has no label; the y axis of panel 1 has no label
    """
    if found := faults(figure, alt):
        raise ValueError(f"this picture cannot be shown: {'; '.join(found)}")
    inner, width, height = _body(_raw_svg(figure))
    prefix = f"f{hashlib.sha256(inner.encode()).hexdigest()[:8]}-"
    inner = _ID.sub(rf'id="{prefix}\1"', inner)
    inner = re.sub(r'(href="|url\()#', rf"\1#{prefix}", inner)
    return Html(
        f'<svg class="eb-svg" role="img" aria-label="{attribute(alt)}" viewBox="0 0 {width} {height}" '
        'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'style="stroke-linejoin:round;stroke-linecap:butt;--eb-w:{float(width):.0f}">'
        f"<title>{escape(titles(figure)[0])}</title>{_with_variables(inner)}</svg>"
    )


def picture(figure: Figure, alt: str, caption: str = "") -> Html:
    """A figure with its caption, in a box that scrolls where the screen is too narrow for its text."""
    label = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    behind = f' data-bars="{attribute(bars.of(figure))}"' if bars.of(figure) else ""
    return Html(
        f'<figure class="eb-figure eb-picture"{behind}><div class="eb-scroll" tabindex="0" role="group" '
        f'aria-label="{attribute(titles(figure)[0] if titles(figure) else "Picture")}">{to_svg(figure, alt)}</div>'
        f"{label}</figure>"
    )


def told_apart(labels: Sequence[str], ems: float = 22) -> list[str]:
    """Labels cut to a width, up to twice of it where different ones would be cut to the same."""
    for width in (ems, 1.5 * ems, 2 * ems):
        short = [shortened(label, width) for label in labels]
        if len({*short}) == len({*labels}):
            break
    return short
