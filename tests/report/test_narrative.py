"""The notebook on the page: what of its prose and outputs passes, what is escaped, what is left out."""

import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from evalbench.draw.marks import digest
from evalbench.draw.show import shown
from evalbench.readers.parameters import readable_parameters
from evalbench.report.narrative import narrate, output_html


def book(*cells):
    return {"cells": list(cells)}


def display(data, metadata=None):
    return new_output("display_data", data=data, metadata=metadata or {})


def test_html_that_draw_did_not_make_is_shown_as_its_plain_text():
    out = output_html(display({"text/html": "<script>alert(1)</script><table>", "text/plain": "   a <b>\n0  1"}))
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
    assert output_html(display({"image/png": png}, {"image/png": {"alt": "Three bars of falling height"}})) == (
        f'<img src="data:image/png;base64,{png}" alt="Three bars of falling height">\n'
    )
    for alt in ("", "image", "No description has been provided for this image"):
        out = output_html(display({"image/png": png, "text/plain": "<Figure>"}, {"image/png": {"alt": alt}}))
        assert "without a description is left out" in out
    out = output_html(display({"image/png": '"><script>'}, {"image/png": {"alt": "Three bars of falling height"}}))
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
    assert "<code>&lt;i&gt;</code>" in story.body
    assert "javascript:" not in story.body


def test_pictures_in_markdown_stay_inside_the_page():
    story = narrate(book(new_markdown_cell("## S\n\n![three falling bars of height](https://example.org/x.png)")))
    assert "<img" not in story.body
    assert "[picture: three falling bars of height]" in story.body


def test_markdown_tables_lists_and_code():
    story = narrate(
        book(new_markdown_cell("## S\n\n| a | b |\n|---|---|\n| 1 | <2> |\n\n- x\n\n```python\nif a < b: pass\n```"))
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
    story = narrate(book(new_markdown_cell("# T\n\n## Same\n\n#### deep\n\n## Same\n\n# Another top")), taken=("same",))
    assert [(h.level, h.id) for h in story.headings] == [(2, "same-2"), (3, "deep"), (2, "same-3"), (2, "another-top")]
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
    cell = new_code_cell(source, metadata={"tags": ["parameters"]})
    found = readable_parameters(book(cell), "x")
    assert [(p.name, p.default, p.help) for p in found] == [("a", "x # y", "what a is"), ("b", {}, ""), ("c", 1, "see")]
    both = book(new_code_cell("z: int = 3  # rare", metadata={"tags": ["advanced"]}), cell)
    assert [(p.name, p.advanced) for p in readable_parameters(both, "x")][-2:] == [("c", False), ("z", True)]
    assert readable_parameters(book(new_code_cell("a = ", metadata={"tags": ["parameters"]})), "x") == ()
    assert readable_parameters(book(), "x") == ()


def test_an_endless_output_is_cut_and_says_where_the_rest_is():
    out = output_html(new_output("stream", name="stdout", text="x" * 1_000_000))
    assert len(out) < 21_000
    assert "980\u202f000 more characters in notebook.ipynb" in out
