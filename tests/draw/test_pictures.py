"""Pictures: refused without words, safe against their data, the same bytes every time."""

import itertools
import re
import threading
import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from evalbench.core.result import Estimate
from evalbench.draw.panels import estimate_panels
from evalbench.draw.pictures import Line, distribution, heat_map, interval_bars, lines, title_at_top
from evalbench.draw.style import INK, new_figure, picture, says_nothing, shortened, to_svg, width_of


def bars(labels=("fern", "moss"), title="F1 of each checker"):
    n = len(labels)
    return interval_bars(labels, [0.5] * n, [0.4] * n, [0.6] * n, title=title, xlabel="F1 (0–1)", domain=(0, 1))


@pytest.mark.parametrize(
    "alt",
    [
        "",
        " ",
        "image",
        "figure 1",
        "No description has been provided for this image",
        "TODO: describe",
        "plot.png",
        "a chart",
        "the picture",
    ],
)
def test_placeholders_are_no_alt_text(alt):
    assert says_nothing(alt)
    with pytest.raises(ValueError, match="alt text .* does not say what the picture shows"):
        to_svg(bars()[0], alt)


def test_a_short_chinese_alt_text_is_one():
    assert not says_nothing("三个检查器的得分及其区间对比图")


def test_all_faults_of_a_picture_are_listed():
    figure, ax = new_figure()
    ax.plot([0, 1])
    with pytest.raises(
        ValueError, match="alt text .*; it has no title; the x axis of panel 1 has no label; the y axis of"
    ):
        to_svg(figure, "")


def test_named_rows_and_hidden_axes_need_no_label():
    figure, ax = new_figure()
    ax.set_title("A title")
    ax.barh(["a", "b"], [1, 2])
    ax.set_xlabel("words")
    to_svg(figure, "Bars of two groups")
    ax.set_axis_off()
    to_svg(figure, "Bars of two groups")


@pytest.mark.parametrize(
    "text",
    [
        "from $5 to $6",
        "$x^2$",
        "<script>alert(1)</script>",
        '"><img onerror=x>',
        "a & b",
        "$\\frac{1}{0}$",
        "检查器",
        "بحث",
        "\\bf",
    ],
)
def test_text_of_the_data_is_drawn_as_it_is(text):
    figure, alt = bars(labels=(text, "other"), title=f"Title {text}")
    svg = to_svg(figure, alt + text)
    root = ET.fromstring(svg)
    drawn = ["".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert text in drawn
    assert f"Title {text}" in drawn
    assert not {e.tag for e in root.iter()} & {"script", "img"}


def test_bidi_controls_are_visible_in_pictures_and_their_alt_text():
    figure, alt = bars(labels=("abc\u202edef",))
    svg = to_svg(figure, alt)
    assert "\u202e" not in svg
    assert "abc‹RLO›def" in svg


def test_the_same_figure_gives_the_same_bytes_and_another_has_other_ids():
    first, second = to_svg(*bars()), to_svg(*bars())
    assert first == second
    other = to_svg(*bars(labels=("fern", "reed")))
    ids = [set(re.findall(r'id="([^"]+)"', svg)) for svg in (first, other)]
    assert ids[0]
    assert not ids[0] & ids[1]
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', first))
    assert used == ids[0]


def test_colours_are_variables_and_nothing_is_painted_behind():
    svg = to_svg(*bars())
    assert f"var(--eb-ink,{INK})" in svg
    assert "#ffffff" not in svg
    assert "font-family" not in svg
    assert "<metadata" not in svg
    assert "<style" not in svg
    assert "<?xml" not in svg


def test_a_colour_in_a_text_stays_a_text():
    assert f">{INK}</text>" in to_svg(*bars(labels=(INK,)))


def test_a_title_and_a_role():
    svg = to_svg(*bars())
    assert svg.startswith(
        '<svg class="eb-svg" role="img" aria-label="F1 of each checker. F1 (0–1), with 95 % intervals: fern'
    )
    assert "<title>F1 of each checker</title>" in svg


def test_log_axes_show_numbers_not_their_source():
    figure, ax = new_figure()
    ax.set(xlabel="n", ylabel="seconds", title="Time grows linearly")
    ax.loglog([1, 1000], [1, 1000])
    svg = to_svg(figure, "Time against n, a straight line")
    assert "mathdefault" not in svg
    assert ">1000</text>" in svg


def test_threads_draw_the_same():
    expected, found = to_svg(*bars()), []
    threads = [threading.Thread(target=lambda: found.append(to_svg(*bars()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_the_global_settings_are_left_alone():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    to_svg(*bars())
    assert dict(mpl.rcParams) == before


def test_a_caption_is_escaped():
    figure, alt = bars()
    assert "<figcaption>&lt;b&gt;</figcaption>" in picture(figure, alt, "<b>")


@pytest.mark.parametrize("columns", [((), (), (), ()), (("a",), (1,), (1, 2), (1,))])
def test_interval_bars_refuse_columns_of_different_lengths(columns):
    with pytest.raises(ValueError, match="columns must have one length, at least 1: labels"):
        interval_bars(*columns, title="t", xlabel="x")


def test_interval_bars_say_what_has_no_value():
    figure, alt = interval_bars(["a", "b"], [None, 0.5], [None, None], [None, None], title="Two rows", xlabel="F1")
    assert "a no value; b 0.500" in alt
    assert ">no value<" in to_svg(figure, alt)


def test_panels_make_room_for_the_title_of_the_whole():
    figure, axes = new_figure(7.2, 2.0, rows=1, cols=2)
    for ax in axes.flat:
        ax.set_title("a panel", loc="left")
    title_at_top(figure, "The whole")
    figure.draw_without_rendering()
    title = figure.texts[0]
    tops = [ax.get_tightbbox().y1 for ax in axes.flat]
    assert max(tops) <= title.get_window_extent().y0


def test_a_heat_map_of_counts_is_described_in_whole_numbers():
    _, alt = heat_map([[28, 1], [0, 3]], ["a", "b"], ["c", "d"], title="t")
    assert "highest 28 at a, c; lowest 0 at b, c" in alt


def test_heat_map_refuses_another_shape_and_draws_nan_as_a_dash():
    with pytest.raises(ValueError, match=r"a matrix of shape \(1, 2\) for 2 row and 2 column names"):
        heat_map([[1, 2]], ["a", "b"], ["c", "d"], title="t")
    figure, alt = heat_map([[0.1, np.nan], [-0.5, 0.9]], ["a", "b"], ["c", "d"], title="Scores of pairs", unit="0–1")
    assert "highest 0.90 at b, d; lowest −0.50 at b, c" in alt
    svg = to_svg(figure, alt)
    assert ">–<" in svg
    assert ">−0.50<" in svg
    assert ">0–1<" in svg
    assert "no values" in heat_map([[np.nan]], ["a"], ["b"], title="Nothing here")[1]


def test_heat_map_of_one_value_and_of_wide_names():
    to_svg(*heat_map([[1.0]], ["a"], ["b"], title="One cell only"))
    names = [f"a long category {i}" for i in range(20)]
    to_svg(*heat_map(np.eye(20), names, names, title="A wide map of names", text=[["x"] * 20] * 20))


def test_distribution_refuses_nothing_and_counts_what_is_missing():
    with pytest.raises(ValueError, match="at least one group"):
        distribution({}, title="t", xlabel="x")
    figure, alt = distribution({"a": [0.1, 0.2, np.nan], "b": [np.nan]}, title="Scores of all items", xlabel="score")
    assert "a median 0.15" in alt
    assert "n 2; b no values" in alt
    svg = to_svg(figure, alt)
    assert ">1 without value<" in svg
    to_svg(*distribution({"same": [0.5] * 9}, title="All the same", xlabel="score"))


@pytest.mark.parametrize(("x", "whole"), [([1, 2, 3, 4, 5], True), ([1.0, 2.0, 5.0], True), ([0.0, 0.5, 1.0], False)])
def test_an_axis_of_counts_has_marks_at_whole_numbers_only(x, whole):
    figure, _ = lines({"a": (x, x)}, title="t", xlabel="k", ylabel="y")
    marks = figure.axes[0].get_xticks()
    assert all(float(mark).is_integer() for mark in marks) == whole


def ends_and_names(figure):
    """The height in points of each line's end and of its name."""
    figure.draw_without_rendering()
    ax = figure.axes[0]
    ends = [
        ax.transData.transform((0, line.get_ydata()[-1]))[1]
        for line in ax.lines
        if line.get_transform() == ax.transData
    ]
    names = [(box.y0 + box.y1) / 2 for box in (text.get_window_extent() for text in ax.texts)]
    return np.array(ends) * 72 / figure.dpi, np.array(names) * 72 / figure.dpi


def test_a_name_stands_at_the_end_of_its_line_also_where_others_are_moved():
    series = {
        name: ([1, 2, 3], [0.8, 0.8, last])
        for name, last in (("low", 0.59), ("high", 0.9), ("top", 1.0), ("as high", 1.0))
    }
    figure, _ = lines(series, title="t", xlabel="k", ylabel="y", domain=(0, 1))
    ends, names = ends_and_names(figure)
    assert ends.min() != ends.max()
    near = np.abs(np.sort(ends) - np.sort(names))
    assert near[:2].max() < 2
    assert near.max() < 14
    assert np.diff(np.sort(names)).min() > 9
    leaders = [line for line in figure.axes[0].lines if line.get_transform() == figure.axes[0].transAxes]
    assert len(leaders) == 2


def test_numbers_below_panels_have_room_between_them():
    own = {f"figure {i}": [Estimate(metric="m", value=0.5, group={"model": "oak"})] for i in range(4)}
    figure, _ = estimate_panels(own, "model", dict.fromkeys(own, (0.0, 1.0)), title="t", xlabel="x")
    figure.draw_without_rendering()
    boxes = [[label.get_window_extent() for label in ax.get_xticklabels()] for ax in figure.axes]
    gaps = [(after[0].x0 - before[-1].x1) / figure.dpi for before, after in itertools.pairwise(boxes)]
    assert min(gaps) > 0.18


def test_lines_refuse_what_does_not_fit_and_name_every_line():
    with pytest.raises(ValueError, match="at least one line"):
        lines({}, title="t", xlabel="x", ylabel="y")
    with pytest.raises(ValueError, match=r"line 'a': x has shape \(2,\), y \(1,\)"):
        lines({"a": ([1, 2], [1])}, title="t", xlabel="x", ylabel="y")
    series = {f"line {i}": Line([0, 1], [0.5, 0.5 + i / 1000], [0.4, 0.4], [0.6, 0.6]) for i in range(8)}
    svg = to_svg(*lines(series, title="Eight lines end together", xlabel="x", ylabel="y"))
    heights = sorted(float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>line \d<', svg))
    assert len(heights) == 8
    assert min(b - a for a, b in itertools.pairwise(heights)) > 9


def test_wide_characters_take_more_room():
    assert width_of("检查") > width_of("ab")
    assert shortened("字" * 50, 10) == "字字字字…字字字字"
    assert width_of(shortened("字" * 50, 10)) <= 10.5


def test_a_very_long_name_is_cut_at_once():
    began = time.perf_counter()
    short = shortened("x" * 1_000_000, 10)
    assert time.perf_counter() - began < 1
    assert short == shortened("x" * 50, 10)
    assert "…" in short
    assert shortened(f"{'x' * 100}-01", 10) != shortened(f"{'x' * 100}-02", 10)


def test_a_dot_at_the_end_of_the_scale_is_whole():
    figure, _ = interval_bars(["a"], [1], [0.8], [1], title="One row only", xlabel="share (0–1)")
    (dots,) = figure.axes[0].collections
    assert dots.get_offsets().tolist() == [[1, 0]]
    assert not dots.get_clip_on()
