"""The label page in a real browser: labelled by keys alone, closed, opened again, merged; blind; hostile texts are texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from label_pages import MODELS, answers, begin, called, made, opener, press, rows_of, saved

pytestmark = pytest.mark.browser

HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<!-- <script> -->]]>",
    "abc\u202edef\u200b\u0000end",
    "\u2028\u2029 {{ 7 * 7 }} ${1} \\u003c",
    "",
)


@pytest.fixture
def tabs(browser: Any) -> Iterator[Any]:
    yield from opener(browser)


def mark_for(text: str) -> str:
    return str(int(re.search(r"row (\d+)", text)[1]) % 3)


def test_200_items_by_keys_closed_half_way_opened_again_and_merged(tabs: Any, tmp_path: Path) -> None:
    path = made(tmp_path, answers(200))
    page = tabs(path, clock=True)
    begin(page, "Анна")
    given = {}
    for i in range(100):
        assert page.text_content("#item-title") == f"Item {i + 1} of 200"
        text = page.text_content(".answer.text")
        if i == 7:
            press(page, "s", "3")  # skipped: broken
        else:
            given[text] = mark_for(text)
            press(page, given[text])
    assert page.text_content("#count") == "100 of 200"
    first = saved(page, tmp_path / "first.jsonl")
    press(page, "ArrowLeft")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.close(run_before_unload=True)
    assert asked == []  # all was saved

    # Another browser, which has kept nothing: the saved file has it all.
    page = tabs(path, clock=True)
    page.set_input_files("#file", first)
    page.wait_for_selector("#work:not([hidden])")
    assert page.text_content("#who") == "Анна"
    assert page.text_content("#item-title") == "Item 101 of 200"
    while page.is_visible("#work"):
        text = page.text_content(".answer.text")
        given[text] = mark_for(text)
        press(page, given[text])
    assert page.text_content("#end-title") == "All done. Thank you!"
    last = saved(page, tmp_path / "last.jsonl")
    assert page.faults == []

    rows = rows_of(last)
    assert len(rows) == len({row["id"] for row in rows}) == 200
    assert sorted(row["order"] for row in rows) == list(range(1, 201))
    assert all(3 <= row["seconds"] < 20 for row in rows if not row["skipped"])  # and what a busy machine adds
    called("label", "merge", first, last, "--key", tmp_path / "label.key.json", "--out", tmp_path / "labels.csv")
    import pandas as pd

    labels = pd.read_csv(tmp_path / "labels.csv")
    assert len(labels) == 200
    assert labels["skipped"].dropna().tolist() == ["broken"]
    wanted = {(f"q{i // 2:03d}", MODELS[i % 2]): float(i % 3) for i in range(200)}
    found = {(row.id, row.model): row.mark for row in labels.itertuples() if row.mark == row.mark}
    assert len(found) == 199
    assert found.items() <= wanted.items()


def test_no_model_and_no_verdict_is_in_the_page_or_in_the_saved_file(tabs: Any, tmp_path: Path) -> None:
    path = made(tmp_path, answers(12))
    page = tabs(path)
    begin(page)
    page.wait_for_timeout(250)
    page.keyboard.press("1")
    file = saved(page, tmp_path / "saved.jsonl")
    for text in (path.read_text(encoding="utf-8"), file.read_text(encoding="utf-8")):
        for name in (*MODELS, "quartz", "flint", "0.9371", "SUPPORTED-BY-JUDGE", "judge_mark"):
            assert name.casefold() not in text.casefold()
    key = json.loads((tmp_path / "label.key.json").read_text(encoding="utf-8"))
    assert {item["model"] for item in key["items"].values()} == set(MODELS)


def test_ids_that_name_a_model_do_not_reach_the_page(tmp_path: Path) -> None:
    rows = [{"id": f"Flint-Mini/{i}", "model": "flint-mini", "contexts": "c", "answer": f"a {i}"} for i in range(3)]
    assert "flint" not in made(tmp_path, rows).read_text(encoding="utf-8").casefold()


def test_sides_are_shuffled_recorded_and_found_again(tabs: Any, tmp_path: Path) -> None:
    path = made(tmp_path, answers(40), "--side-by-side", "--seed", 3)
    key = json.loads((tmp_path / "label.key.json").read_text(encoding="utf-8"))["items"]
    assert len(key) == 20
    assert {item["left"] for item in key.values()} == set(MODELS)
    page = tabs(path, clock=True)
    begin(page)
    while page.is_visible("#work"):  # always for the first model, whatever its side; row 6 and 7 are equal
        left = int(re.search(r"row (\d+)", page.text_content(".left.text"))[1])
        press(page, "2" if left // 2 == 3 else "1" if left % 2 == 0 else "3")
    file = saved(page, tmp_path / "saved.jsonl")
    called("label", "merge", file, "--key", tmp_path / "label.key.json", "--out", tmp_path / "labels.csv")
    import pandas as pd

    labels = pd.read_csv(tmp_path / "labels.csv")
    assert labels.groupby("model")["mark"].sum().to_dict() == {MODELS[0]: 19.5, MODELS[1]: 0.5}
    comparisons = pd.read_csv(tmp_path / "labels.comparisons.csv", keep_default_na=False)
    assert comparisons["winner"].value_counts().to_dict() == {MODELS[0]: 19, "": 1}


def test_hostile_texts_and_two_megabytes_are_texts(tabs: Any, tmp_path: Path) -> None:
    long = "слово </script> " * 125_000  # two million characters
    rows = [
        {"id": f"h{i}", "contexts": text or "c", "question": text, "answer": text} for i, text in enumerate(HOSTILE)
    ]
    rows.append({"id": "long", "contexts": "c", "answer": long})
    path = made(tmp_path, rows, "--in-order", "--title", HOSTILE[0])
    page = tabs(path)
    page.keyboard.type('=1+1,"<b>')
    page.keyboard.press("Enter")
    for i, text in enumerate((*HOSTILE, long)):
        shown = page.text_content(".answer.text")
        if i == 3:
            assert shown == "abcRLOdefZWSPNULend"
        elif i == 4:
            assert shown == "LSPS {{ 7 * 7 }} ${1} \\u003c"
        else:
            assert shown.startswith(text[:10_000] or "The answer is empty.")
        page.keyboard.press("c")
        page.keyboard.type(f"=cmd {i} </script>\n\"'")
        page.keyboard.press("Escape")
        page.wait_for_timeout(250)
        if i == len(HOSTILE):
            assert len(shown) < 20_000
            page.click(".more")
            assert page.text_content(".answer.text") == long
        page.keyboard.press("0")
    assert page.is_visible("#end")
    assert page.title() == " ".join(HOSTILE[0].split())
    file = saved(page, tmp_path / "saved.jsonl")
    with page.expect_download() as download:
        page.click("#end-csv")
    download.value.save_as(tmp_path / "saved.csv")
    assert page.faults == []
    assert "\n'=cmd" not in (tmp_path / "saved.csv").read_text(encoding="utf-8")
    assert "'=cmd" in (tmp_path / "saved.csv").read_text(encoding="utf-8")
    out = {}
    for source in (file, tmp_path / "saved.csv"):
        called("label", "merge", source, "--key", tmp_path / "label.key.json", "--out", tmp_path / "labels.parquet")
        import pandas as pd

        out[source.suffix] = pd.read_parquet(tmp_path / "labels.parquet")
    assert out[".jsonl"].equals(out[".csv"])
    assert sorted(out[".csv"]["comment"]) == [f"=cmd {i} </script>\n\"'" for i in range(7)]
    assert set(out[".csv"]["annotator"]) == {'=1+1,"<b>'}
    page = tabs(path)  # and the CSV opens again
    page.set_input_files("#file", tmp_path / "saved.csv")
    page.wait_for_selector("#end:not([hidden])")
    assert page.text_content("#end-counts") == "7 marked, 0 skipped, 0 open."


def test_no_request_leaves(tabs: Any, tmp_path: Path, browser: Any) -> None:
    path = made(tmp_path, answers(4))
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri(), wait_until="networkidle")
    begin(page)
    page.wait_for_timeout(250)
    page.keyboard.press("1")
    assert [r for r in requests if not r.startswith("data:")] == [path.as_uri()]
    page.close()
