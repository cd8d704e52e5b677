"""What a notebook shows, and how its page knows it."""

import pandas as pd
import pytest

from evalbench.draw.html import Html
from evalbench.draw.marks import digest
from evalbench.draw.pictures import interval_bars
from evalbench.draw.show import register, show, shown
from evalbench.report.narrative import output_html


def test_other_things_are_refused():
    with pytest.raises(TypeError, match=r"show takes a \(figure, alt text\) pair, a DataFrame, an Html .*, not list"):
        shown([1])


def test_a_picture_without_alt_text_is_refused():
    figure, _ = interval_bars(["a"], [1], [0], [2], title="One row only", xlabel="x")
    with pytest.raises(ValueError, match="does not say"):
        shown((figure, ""))


@pytest.mark.parametrize(
    ("thing", "kind", "text"),
    [
        (pd.DataFrame({"a": ["<b>\u202e"]}), "table", "‹RLO›"),
        (Html("<b>x</b>"), "html", "worst"),
        (interval_bars(["a"], [1], [0], [2], title="One row only", xlabel="x"), "figure", "One row only"),
    ],
)
def test_html_plain_text_and_the_mark(thing, kind, text):
    made = shown(thing, "The worst")
    data, metadata = made._repr_mimebundle_()
    assert metadata == {"text/html": {"evalbench": kind}}
    assert data["text/html"].startswith("<style>")
    assert "The worst</figcaption>" in data["text/html"]
    assert text in data["text/plain"]
    assert repr(made) == data["text/plain"]


@pytest.mark.parametrize("thing", [None, pd.DataFrame(), pd.DataFrame({"a": []}), Html("")])
def test_of_nothing_neither_table_nor_caption_is_shown_on_the_page(thing):
    data, metadata = shown(thing, "Pairs of checkers")._repr_mimebundle_()
    assert metadata == {"text/html": {"evalbench": "nothing"}}
    assert data["text/plain"] == "Nothing to show: Pairs of checkers"
    output = {"output_type": "display_data", "data": data, "metadata": metadata}
    assert output_html(output, {digest("nothing", data["text/html"])}) == ""


def test_show_displays_through_ipython(monkeypatch):
    seen = []
    monkeypatch.setattr("IPython.display.display", seen.append)
    show(pd.DataFrame({"a": range(30)}), "Many", rows=5, file="items.parquet")
    assert "first 5 of 30 rows, the rest is in items.parquet" in seen[0].html


def test_without_ipython_nothing_is_registered():
    assert register() is False


def test_a_registered_result_shows_itself():
    from IPython.core.interactiveshell import InteractiveShell

    from evalbench.core.result import DataLabel, Result, Summary
    from evalbench.core.verdict import Verdict

    result = Result(
        study="matching", question="How good?", judged="fern <b>", parameters={}, data=DataLabel("d", "1", "0", True),
        id="id", items=pd.DataFrame({"id": ["1"]}), summary=Summary((), Verdict("green", "All is well.")),
    )  # fmt: skip
    shell = InteractiveShell.instance()
    try:
        assert register() is True
        data, metadata = shell.display_formatter.format(result)
    finally:
        InteractiveShell.clear_instance()
    assert metadata["text/html"] == {"evalbench": "result"}
    assert "SYNTHETIC DATA" in data["text/html"]
    assert "fern &lt;b&gt;" in data["text/html"]
    assert data["text/plain"] == "matching: green. All is well."
