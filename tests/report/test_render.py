"""The page of a run as text: what passes, what is escaped, what a failed run shows."""

import itertools
import json
import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from evalbench.draw.marks import digest
from evalbench.draw.show import shown
from evalbench.errors import BadInput
from evalbench.report.facts import settings
from evalbench.report.narrative import Parameter, narrate, output_html, parameters
from evalbench.report.page import write_atomically
from evalbench.report.render import render

HOSTILE = (
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "from $5 to $6",
    "abc\u202edef",
    "007",
    "None",
    "NA",
)


def page(folder):
    return render(folder.path).read_text(encoding="utf-8")


def attributes(html):
    """Names of all attributes, as a browser's parser would find them."""
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.extend(name for name, _ in attrs)
    parser.feed(html)
    return found


def book(*cells):
    return {"cells": list(cells)}


# -- what is refused ----------------------------------------------------------------------------


def test_a_folder_that_is_not_a_runs_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"is not the folder of a run: it has no run\.json"):
        render(tmp_path)


def test_a_finished_run_without_results_has_a_page_that_says_so(run_folder):
    folder = run_folder()
    (folder.path / "results.json").unlink()
    page = render(folder.path).read_text(encoding="utf-8")
    assert "The run&#x27;s files cannot be read" in page
    assert "has no results.json" in page
    assert "There are no figures and no verdict" in page


@pytest.mark.parametrize(
    "content",
    ["", "{", '{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}', '{"nbformat": 4}'],
)
def test_a_notebook_of_which_half_is_left_costs_prose_and_pictures_only(content, run_folder):
    folder = run_folder()
    (folder.path / "notebook.ipynb").write_text(content, encoding="utf-8")
    page = render(folder.path).read_text(encoding="utf-8")
    assert "The executed notebook cannot be read, so its prose and pictures are missing" in page
    assert "Headline figures" in page


def test_nothing_is_left_behind_when_writing_fails(tmp_path):
    target = tmp_path / "report.html"
    target.mkdir()
    with pytest.raises(OSError):
        write_atomically(target, "x")
    assert list(tmp_path.iterdir()) == [target]


# -- a finished run -----------------------------------------------------------------------------


def test_the_page_answers_in_order(run_folder):
    html = page(run_folder())
    ids = re.findall(r'<h[1-6][^>]*id="([^"]+)"', html)
    assert ids == [
        "verdict-title", "figures-title", "about-title", "the-pictures", "the-cases-to-look-at", "texts-with-their-marks",
        "the-lowest-scores", "method-title", "provenance-title",
    ]  # fmt: skip
    assert "<h1>Violation matching</h1>" in html
    assert "SYNTHETIC DATA" in html
    assert "2 of 120 items could not be scored" in html


def test_headings_skip_no_level(run_folder):
    levels = [int(n) for n in re.findall(r"<h([1-6])[ >]", page(run_folder()))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_links_of_the_contents_lead_somewhere(run_folder):
    html = page(run_folder())
    targets = set(re.findall(r'href="#([^"]+)"', html))
    assert targets <= set(re.findall(r'id="([^"]+)"', html))


def test_parameters_stand_with_their_help_and_a_changed_default(run_folder):
    html = page(run_folder())
    assert re.search(
        r'<th scope="row">threshold</th><td><code>0.5</code></td><td><code>0.4</code></td><td>score from which',
        html,
    )
    assert re.search(r'<th scope="row">backend</th><td><code>&quot;jaccard&quot;</code></td><td></td>', html)
    assert "injected" not in html


def test_backticks_in_a_help_are_code_and_the_rest_is_text():
    (setting,) = settings({"x": 1}, (Parameter("x", 1, "see `evalbench <list>` & more"),))
    assert setting.help == "see <code>evalbench &lt;list&gt;</code> &amp; more"


def test_provenance_names_hashes_versions_and_files(run_folder):
    html = page(run_folder(judge_panel={"seats": 3}))
    for said in (
        "5f" * 32,
        "3c" * 20,
        "ab" * 32,
        "pandas <b>3.1.1</b>",
        "table of pairs",
        "1.2 MB",
        "judge panel",
        "seats <b>3</b>",
    ):
        assert said in html
    for name in ("items.parquet", "results.json", "run.json", "notebook.ipynb", "pairs.parquet"):
        assert f'<a href="{name}">{name}</a>' in html


def test_provenance_has_units_and_says_none(run_folder):
    html = page(run_folder(call_seconds=192.4, peak_memory_mb=240.9, errors={}))
    for said in ("<dd>7.2 s</dd>", "<dd>3 min 12 s</dd>", "<dd>241 MB</dd>", "<dt>errors</dt><dd>none</dd>"):
        assert said in html


def test_the_result_is_not_said_twice(run_folder):
    assert page(run_folder()).count('class="eb-verdict') == 1


def test_one_style_sheet_and_nothing_from_outside(run_folder):
    html = page(run_folder())
    assert html.count("<style>") == 1
    assert not re.findall(r'(?:src|href)="(?!#|data:|[\w.-]+")[^"]*"', html)
    assert "@import" not in html
    assert "url(http" not in html


def test_the_page_is_small(run_folder):
    html = page(run_folder())
    assert len(re.sub(r'<svg class="eb-svg".*?</svg>', "", html, flags=re.DOTALL).encode()) < 100_000


def test_rendering_again_gives_the_same_bytes(run_folder):
    folder = run_folder()
    first = page(folder)
    assert page(folder) == first


def test_hostile_text_is_text_everywhere(run_folder):
    html = page(run_folder(hostile=HOSTILE, note=HOSTILE[0], error=""))
    assert html.count("<script>") == 1
    assert "<img" not in html
    assert not [name for name in attributes(html) if name.startswith("on")]
    assert "\u202e" not in html
    for text in ("from $5 to $6", "&lt;script&gt;alert(1)&lt;/script&gt;", "007", "None", "NA"):
        assert text in html


def test_texts_say_their_language(run_folder):
    html = page(run_folder())
    assert '<html lang="en">' in html
    assert 'lang="ru">' in html
    assert 'lang="zh">' in html


def test_a_run_without_a_notebook_has_its_figures(run_folder):
    folder = run_folder(status="interactive")
    (folder.path / "notebook.ipynb").unlink()
    html = page(folder)
    assert "interactive run" in html
    assert "<h1>Matching</h1>" in html
    assert "Headline figures" in html


# -- other ends ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("failed", "The run failed"),
        ("died", "The run died"),
        ("timeout", "The run ran out of time"),
        ("no-result", "The run ended without a result"),
        ("running", "The run has not finished"),
    ],
)
def test_a_run_that_did_not_finish_says_so_and_shows_no_figure(run_folder, status, words):
    html = page(run_folder(status=status, error="ValueError: \x1b[31mcolumn <b>text</b>\x1b[0m is missing"))
    assert f"<strong>{words}</strong>" in html
    assert '<p class="eb-sentence">ValueError: column &lt;b&gt;text&lt;/b&gt; is missing</p>' in html
    assert "Headline figures" not in html
    assert 'class="eb-svg"' not in html
    assert '<th scope="row">threshold</th>' in html
    assert "Where it came from" in html


def test_figures_of_a_failed_run_are_not_shown_even_if_they_were_written(run_folder):
    folder = run_folder()
    run = json.loads((folder.path / "run.json").read_text())
    (folder.path / "run.json").write_text(json.dumps({**run, "status": "failed", "error": None}))
    html = page(folder)
    assert "no error was recorded" in html
    assert "0.71" not in html


def test_a_failed_run_shows_the_cell_that_raised_and_no_other(run_folder):
    error = new_output(
        "error", ename="ValueError", evalue="no", traceback=["\x1b[31mValueError\x1b[0m: <no>"]
    )
    cells = [new_code_cell("first = 1"), new_code_cell("fails(first)", outputs=[error])]
    html = page(run_folder(status="failed", error="ValueError: <no>", cells=cells))
    assert "Where it stopped" in html
    assert "fails(first)" in html
    assert ">ValueError: &lt;no&gt;</pre>" in html
    assert "first = " not in html


def test_a_traceback_gives_its_last_line_to_the_band(run_folder):
    error = "Traceback (most recent call last):\n  File \"x.py\", line 1\nKeyError: 'text'"
    html = page(run_folder(status="failed", error=error))
    assert '<p class="eb-sentence">KeyError: &#x27;text&#x27;</p>' in html
    assert "The whole error" in html


# -- the notebook -------------------------------------------------------------------------------


def display(data, metadata=None):
    return new_output("display_data", data=data, metadata=metadata or {})


def test_html_that_draw_did_not_make_is_shown_as_its_plain_text():
    out = output_html(
        display({"text/html": "<script>alert(1)</script><table>", "text/plain": "   a <b>\n0  1"})
    )
    assert out == '<pre class="output" tabindex="0">   a &lt;b&gt;\n0  1</pre>\n'


def test_html_that_draw_made_passes_without_its_style():
    data = {"text/html": '<style>p{}</style><div class="eb"><p>x</p></div>', "text/plain": "x"}
    out = display(data, {"text/html": {"evalbench": "table"}})
    assert output_html(out, {digest("table", data["text/html"])}) == '<div class="eb"><p>x</p></div>\n'


@pytest.mark.parametrize(
    "data", [{"text/html": "<b>"}, {"image/svg+xml": "<svg onload=x>"}, {"application/javascript": "x"}]
)
def test_what_has_no_text_is_left_out_and_named(data):
    out = output_html(display(data))
    assert "is left out" in out
    assert next(iter(data)) in out


def test_a_picture_needs_a_description_and_valid_data():
    png = "iVBORw0KGgo="
    assert output_html(
        display({"image/png": png}, {"image/png": {"alt": "Three bars of falling height"}})
    ) == (f'<img src="data:image/png;base64,{png}" alt="Three bars of falling height">\n')
    for alt in ("", "image", "No description has been provided for this image"):
        out = output_html(display({"image/png": png, "text/plain": "<Figure>"}, {"image/png": {"alt": alt}}))
        assert "without a description is left out" in out
    out = output_html(
        display({"image/png": '"><script>'}, {"image/png": {"alt": "Three bars of falling height"}})
    )
    assert "cannot be decoded" in out


def test_printed_text_and_errors_lose_their_colours_and_stay_text():
    out = output_html(new_output("stream", name="stdout", text="\x1b[1m<b>\x1b[0m\nsecond\n"))
    assert "printed, 2 lines" in out
    assert "&lt;b&gt;\nsecond</pre>" in out
    assert output_html(new_output("stream", name="stderr", text="\n")) == ""
    out = output_html(new_output("error", ename="E", evalue="v", traceback=["\x1b[31m<x>\x1b[0m"]))
    assert "&lt;x&gt;" in out


def test_raw_html_in_markdown_is_text():
    story = narrate(
        book(
            new_markdown_cell(
                "# T\n\n## S\n\n<script>alert(1)</script>\n\na <b onclick=x>b</b> `<i>` [x](javascript:alert)"
            )
        )
    )
    assert "<script" not in story.body
    assert "<b" not in story.body
    assert "&lt;script&gt;" in story.body
    assert "javascript:" not in story.body


def test_pictures_in_markdown_stay_inside_the_page():
    story = narrate(
        book(new_markdown_cell("## S\n\n![three falling bars of height](https://example.org/x.png)"))
    )
    assert "<img" not in story.body
    assert "[picture: three falling bars of height]" in story.body


def test_markdown_tables_lists_and_code():
    story = narrate(
        book(
            new_markdown_cell(
                "## S\n\n| a | b |\n|---|---|\n| 1 | <2> |\n\n- x\n\n```python\nif a < b: pass\n```"
            )
        )
    )
    assert "<td>&lt;2&gt;</td>" in story.body
    assert "<li>x</li>" in story.body
    assert "if a &lt; b: pass" in story.body


def _cell(*things):
    """A code cell that showed these."""
    bundles = [shown(thing, "a caption")._repr_mimebundle_() for thing in things]
    outputs = [new_output("display_data", data=data, metadata=metadata) for data, metadata in bundles]
    return new_code_cell("show(x)", outputs=outputs)


def test_a_section_with_nothing_to_show_is_left_out_and_only_that():
    empty, full = pd.DataFrame({"a": []}), pd.DataFrame({"a": [1]})
    story = narrate(
        book(
            new_markdown_cell("# T\n\nintro"), new_code_cell("computed = 1"),
            new_markdown_cell("## Pairs of checkers\n\nprose of pairs\n\n### below"), _cell(empty, None),
            new_markdown_cell("## Half empty"), _cell(empty), _cell(full),
            new_markdown_cell("## Only code"), new_code_cell("x = 2"),
            new_markdown_cell("## Only prose\n\nprose"),
        ),
        known=[digest(kind, shown(thing, "a caption")._repr_mimebundle_()[0]["text/html"])
               for kind, thing in (("nothing", empty), ("nothing", None), ("table", full))],
    )  # fmt: skip
    assert [h.text for h in story.headings] == ["Half empty", "Only code", "Only prose"]
    assert "prose of pairs" not in story.body
    assert story.body.count("<figcaption>a caption") == 1
    assert "intro" in story.intro


def test_headings_are_unique_in_order_and_do_not_jump():
    story = narrate(
        book(new_markdown_cell("# T\n\n## Same\n\n#### deep\n\n## Same\n\n# Another top")), taken=("same",)
    )
    assert [(h.level, h.id) for h in story.headings] == [
        (2, "same-2"),
        (3, "deep"),
        (2, "same-3"),
        (2, "another-top"),
    ]
    assert story.title == "T"


def test_code_is_behind_a_toggle_and_the_parameters_cells_are_not_there():
    cell = new_code_cell('x = "<b>"  # why', metadata={"tags": ["parameters"]})
    story = narrate(book(new_markdown_cell("## S"), cell, new_code_cell('show("<i>")  # why')))
    assert story.body.count("<details") == 1
    assert '<span class="s">&quot;&lt;i&gt;&quot;</span>' in story.body
    assert '<span class="c"># why</span>' in story.body


def test_code_with_nothing_in_between_stands_in_one_fold():
    story = narrate(book(new_markdown_cell("## S"), new_code_cell("a = 1"), new_code_cell("record(a)")))
    assert story.body.count("<details") == 1
    assert "record(a)" in story.body


def test_the_parameters_cell_is_read_with_its_helps():
    source = 'a: str = "x # y"  # what a is\nb: dict = {}\nc = 1  # see\nimport os\nd: float = compute()'
    found = parameters(book(new_code_cell(source, metadata={"tags": ["parameters"]})))
    assert [(p.name, p.default, p.help) for p in found] == [
        ("a", "x # y", "what a is"),
        ("b", {}, ""),
        ("c", 1, "see"),
    ]
    assert parameters(book(new_code_cell("a = ", metadata={"tags": ["parameters"]}))) == ()
    assert parameters(book()) == ()


def test_an_endless_output_is_cut_and_says_where_the_rest_is():
    out = output_html(new_output("stream", name="stdout", text="x" * 1_000_000))
    assert len(out) < 21_000
    assert "980\u202f000 more characters in notebook.ipynb" in out
