"""The page of a run as text: what passes, what is escaped, what a failed run shows."""

import itertools
import json
import re
from html.parser import HTMLParser

import pytest
from nbformat.v4 import new_code_cell, new_output

from evalbench.errors import BadInput
from evalbench.readers.parameters import Parameter
from evalbench.readers.runs import write_text
from evalbench.report.facts import not_read_as, read_as_html, settings
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
    "content", ["", "{", '{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}', '{"nbformat": 4}']
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
        write_text(target, "x")
    assert list(tmp_path.iterdir()) == [target]


# -- a finished run -----------------------------------------------------------------------------


def test_the_page_answers_in_order(run_folder):
    html = page(run_folder())
    ids = re.findall(r'<h[1-6][^>]*id="([^"]+)"', html)
    assert ids == [
        "verdict-title", "figures-title", "about-title", "the-pictures", "the-cases-to-look-at", "texts-with-their-marks",
        "the-lowest-scores", "method-title", "terms-title", "provenance-title",
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
        r'<th scope="row">threshold</th><td><code>0.5</code></td><td><code>0.4</code></td><td>score from which', html
    )
    assert re.search(r'<th scope="row">backend</th><td><code>&quot;jaccard&quot;</code></td><td></td>', html)
    assert "injected" not in html


def test_backticks_in_a_help_are_code_and_the_rest_is_text():
    (setting,) = settings({"x": 1}, (Parameter("x", ("int",), False, 1, "see `evalbench <list>` & more"),))
    assert setting.help == "see <code>evalbench &lt;list&gt;</code> &amp; more"


def test_advanced_parameters_are_folded_unless_they_differ_from_their_default():
    known = [Parameter(name, ("int",), False, 1, "", name != "k") for name in ("k", "m", "n")]
    assert [(s.name, s.folded) for s in settings({"k": 1, "m": 1, "n": 2}, known)] == [
        ("k", False),
        ("m", True),
        ("n", False),
    ]


def test_what_a_study_settles_itself_is_no_change():
    known = [Parameter(name, ("int",), False, 0, "", True) for name in ("k", "m")]
    found = settings({"k": 3, "m": 3}, known, asked={"k": 0, "m": 3})
    assert [(s.name, s.value, s.default, s.folded) for s in found] == [
        ("k", "<code>3</code>", "", True),
        ("m", "<code>3</code>", "<code>0</code>", False),
    ]


def test_what_a_column_was_read_as_is_said_once() -> None:
    notes = [
        "a.csv: column gold was read as reference",
        "column llm was read as model (--map COLUMN=model takes another)",
        "column x was read as y",
        "2 rows left out",
    ]
    run = {"read_as": {"items": {"gold": "reference", "llm": "model"}}}
    assert not_read_as(notes, run) == notes[2:]
    assert not_read_as(notes, {}) == notes
    assert "<code>gold</code> as reference" in read_as_html(run)


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
    error = new_output("error", ename="ValueError", evalue="no", traceback=["\x1b[31mValueError\x1b[0m: <no>"])
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
