"""Of a notebook's HTML the page trusts what was drawn in that very run, and of that only what shows something."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from evalbench.draw.html import Html, boxed
from evalbench.draw.marks import KEY, digest, is_safe, metadata, signature
from evalbench.draw.pictures import heat_map
from evalbench.draw.show import shown
from evalbench.draw.style import new_figure, to_svg
from evalbench.report.narrative import carried_digests, output_html, signed_digests
from evalbench.report.render import render
from evalbench.runs.run import plan, run

REFRESH = '<meta http-equiv="refresh" content="0;url=https://evil.example/">'


def output(markup: str, said: dict, text: str = "the text of it") -> dict:
    return nbformat.v4.new_output("display_data", data={"text/html": markup, "text/plain": text}, metadata=said)


def book(*outputs: dict) -> dict:
    return {"cells": [{"cell_type": "code", "source": "show(x)", "outputs": list(outputs)}]}


def test_a_mark_is_of_a_run_and_of_its_html(monkeypatch):
    monkeypatch.setenv(KEY, "the key of this run")
    made, said = shown(pd.DataFrame({"a": [1]}), "A table")._repr_mimebundle_()
    own = output(made["text/html"], said)
    assert signed_digests(book(own), "the key of this run") == [digest("table", made["text/html"])]
    assert signed_digests(book(own), "another key") == []
    copied = output(made["text/html"] + "<p>more</p>", said)
    by_hand = output(made["text/html"], {"text/html": {"evalbench": "table"}})
    as_another = output(made["text/html"], {"text/html": {**said["text/html"], "evalbench": "result"}})
    odd = [output("x", {"text/html": said}) for said in ("table", ["a"], {"evalbench": 3, "mark": None})]
    for forged in (copied, by_hand, as_another, *odd):
        assert signed_digests(book(forged), "the key of this run") == []
        if forged is not by_hand:  # the same bytes as what was drawn are what was drawn
            assert "the text of it" in output_html(forged, signed_digests(book(own), "the key of this run"))


def test_without_a_runner_nothing_is_signed(monkeypatch):
    monkeypatch.delenv(KEY, raising=False)
    assert metadata("table", "<p>x</p>") == {"text/html": {"evalbench": "table"}}


UNSAFE = [
    REFRESH, "<META HTTP-EQUIV=refresh content='0'>", "<iframe srcdoc='x'></iframe>", "<form action=x><input></form>", "<base href=//x>",
    "<script>x</script>", "<object data=x></object>", "<embed src=x>", "<style>*{display:none}</style>", "<link rel=stylesheet href=//x>",
    "<p onclick='x'>a</p>", '<svg><g onload="x"/></svg>', "<svg><title><meta http-equiv=refresh></title></svg>", "<svg><style><img src=x></style></svg>",
    "<!-- x -->", "<![CDATA[x]]>", "<?xml x?>", "<a href='javascript:x'>a</a>", '<a href="java&#115;cript:x">a</a>', '<a href=" &#1;javascript:x">a</a>',
    '<a href="data:text/html,x">a</a>', '<a href="//evil.example">a</a>', '<img src="ftp://evil.example/x.png">',
    '<img src="https://evil.example/x.png">', '<svg><image href="https://evil.example/x"/></svg>', '<svg><use href="https://evil.example/#a"/></svg>',
    "<p style=\"background:image-set('https://x' 1x)\">a</p>", "<p style=\"background:cross-fade('https://x', red)\">a</p>",
    '<p style="background:url(https://x)">a</p>', '<svg><animate attributeName="href"/></svg>', '<svg><set/></svg>', "<svg><foreignObject></foreignObject></svg>",
    "<p title='a", "<p <meta>>", "<p/><meta", "<", "< p>", "<x-y>", "<template><p></p></template>", "<noscript>", "<math><mtext></mtext></math>",
    "<p formaction=x>", "<a ping='//x' href='#a'>a</a>", "<button>a</button>", "<video src=x></video>", "<frameset>", "<p\x00>",
]  # fmt: skip


@pytest.mark.parametrize("markup", UNSAFE)
def test_what_does_more_than_show_is_text_even_with_the_runs_own_mark(markup):
    whole = boxed(Html(f"<p>before</p>{markup}<p>after</p>"))
    assert not is_safe(f"<p>before</p>{markup}")
    said = {"text/html": {"evalbench": "html", "mark": signature("k", "html", whole)}}
    forged = output(whole, said)
    shown_as = output_html(forged, signed_digests(book(forged), "k"))
    assert shown_as == '<pre class="output" tabindex="0">the text of it</pre>\n'


def test_what_draw_makes_is_safe():
    figure, ax = new_figure()
    ax.set(title="What is drawn: a picture", xlabel="x", ylabel="y")
    ax.imshow([[0, 1], [1, 0]])
    ax.legend(handles=[ax.plot([0, 1], [0, 1], "o--", label="<b>")[0]])
    assert is_safe(to_svg(figure, "Four fields that alternate in colour"))
    table = pd.DataFrame({"a": ["<script>", '" onclick="x', "a > b & c", "url(x) \\ @import"], "b": [1.5, None, 2, 3]})
    for thing in (table, heat_map([[0.1]], ["a>b"], ["<i>"], title="One field of a heat map", unit="0–1")):
        assert is_safe(shown(thing, "What: a < b > c").html)


def test_the_list_is_carried_over_where_paths_change():
    before = book(
        output("<p>/worker/x</p>", metadata("html", "")), output("<p>b</p>", {"text/html": {"evalbench": "html"}})
    )
    after = json.loads(json.dumps(before).replace("/worker", "/client"))
    known = {digest("html", "<p>/worker/x</p>")}
    assert carried_digests(before, after, known) == [digest("html", "<p>/client/x</p>")]


CELLS = (
    "import pandas as pd\nfrom evalbench import show\nshow(pd.DataFrame({'a': ['drawn in this run']}), 'A table')",
    f"from IPython.display import display\nforged = {{'text/html': '''{REFRESH}<p>forged by hand</p>''', 'text/plain': 'a plain text'}}\n"
    "display(forged, raw=True, metadata={'text/html': {'evalbench': 'html'}})",
    "from evalbench.draw.html import Html\nshow(Html(forged['text/html']))",
    "import os\nfrom evalbench.draw.marks import metadata\n"
    "display(forged, raw=True, metadata=metadata('html', forged['text/html']))",
)  # fmt: skip


@pytest.mark.slow
def test_a_whole_run_with_forgeries_and_its_page_made_again(tmp_path, request):
    words = (
        "from evalbench.core.result import DataLabel, Estimate, Result, Summary\nfrom evalbench.core.verdict import Verdict\n"
        "from evalbench import record\nfigure = Estimate(metric='mean', value=0.5, n=2, note='no interval')\n"
        "record(Result(study='tiny', question='?', judged='a test', parameters={}, data=DataLabel('none', '', ''), id='id',\n"
        "  items=pd.DataFrame({'id': ['a'], 'unscored': '', 'undefined': ''}), summary=Summary((figure,), Verdict('green', 'Tiny.'))))"
    )
    node = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    head = nbformat.v4.new_code_cell("k: int = 1", metadata={"tags": ["parameters"]})
    node.cells = [head, *map(nbformat.v4.new_code_cell, (*CELLS, words))]
    nbformat.write(node, tmp_path / "tiny.ipynb")
    done = run(plan(str(tmp_path / "tiny.ipynb")), out=tmp_path / "r")
    assert done.status == "ok", done.error
    page = (done.folder / "report.html").read_text()
    assert "drawn in this run</td>" in page
    assert "evil.example" not in page.partition("<details")[0]
    assert "<p>forged by hand" not in page
    assert 'http-equiv="refresh"' not in page
    # Anywhere, from the folder alone.
    elsewhere = Path(shutil.copytree(done.folder, tmp_path / "elsewhere" / "tiny" / done.folder.name))
    assert render(elsewhere).read_text() == page
    # The file holds no key: what is put into it later is text.
    text = (elsewhere / "notebook.ipynb").read_text()
    assert text.count("drawn in this run</td>") == 1
    (elsewhere / "notebook.ipynb").write_text(text.replace("drawn in this run</td>", "written later</td>"))
    again = render(elsewhere).read_text()
    assert "written later</td>" not in again
    assert "drawn in this run" in again  # its plain text
    keys = [json.loads((folder / "run.json").read_text()).get("drawn") for folder in (done.folder, elsewhere)]
    assert keys[0] == keys[1]
    assert len(keys[0]) >= 2
