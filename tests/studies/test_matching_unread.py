"""Tables of violations whose sides cannot be told: refused with the --map options that make them run as they are."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pandas as pd
import pytest

from evalbench import BadInput, load, matching

TEXTS = ("Drink it fast, fast!", "A calm evening.", "Пейте быстрее!")


def lists(true: str, found: str, **more: Any) -> pd.DataFrame:
    said = {true: ["haste; repetition", "", "haste"], found: ["haste", "mood", "haste"]}
    return pd.DataFrame({"№": [1, 2, 3], "Текст": TEXTS, **said, **more})


def people(form: str) -> pd.DataFrame:
    haste = {"start": 0, "end": 13, "rule": "haste"}
    own = [
        ("anna", 0, [haste, {"start": 15, "end": 19, "rule": "repetition"}]),
        ("boris", 0, [haste]),
        ("anna", 1, []),
        ("boris", 1, []),
    ]
    if form == "lists":
        return pd.DataFrame(
            [{"doc": f"d{i}", "text": TEXTS[i], "annotator": who, "violations": said} for who, i, said in own]
        )
    rows = [{"doc_id": f"d{i}", "text": TEXTS[i], "annotator": who, "label": one["rule"], "start": one["start"], "end": one["end"]}
            for who, i, said in own for one in said]  # fmt: skip
    return pd.DataFrame(rows)


def options_in(message: str) -> dict[str, str]:
    words = shlex.split(message[message.index("--map") :])
    return {name: to for name, _, to in (word.rpartition("=") for word in words if word != "--map")}


def figures(data: Any) -> dict[str, float | None]:
    result = matching.evaluate(data, embed="jaccard", n_resamples=50)
    return {e.metric: e.value for e in result.summary.estimates if e.metric in ("f1", "precision", "recall")}


@pytest.mark.parametrize(
    ("true", "found"),
    [("Нарушения (эталон)", "Найдено моделью"), ("expected_violations", "gpt-4o"), ("人工标注", "模型检测")],
)
def test_columns_of_other_names_that_list_violations_run_with_the_options_of_the_message(tmp_path, true, found):
    path = tmp_path / "mine.csv"
    lists(true, found).to_csv(path, index=False)
    with pytest.raises(BadInput) as refused:
        load(path, study="matching")
    columns = options_in(str(refused.value))
    assert columns == {
        name: to
        for name, to in ((true, "true_violations"), (found, "found_violations"))
        if name != "expected_violations"
    }
    assert figures(load(path, study="matching", columns=columns)) == {
        "f1": pytest.approx(2 / 3), "precision": pytest.approx(2 / 3), "recall": pytest.approx(2 / 3),
    }  # fmt: skip


@pytest.mark.parametrize("form", ["lists", "rows"])
def test_of_two_annotators_the_first_is_the_truth_where_the_user_says_so(tmp_path, form):
    path = tmp_path / "mine.jsonl"
    rows = people(form).to_dict("records")
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(BadInput, match="to take anna for the truth and boris for a checker, name it side") as refused:
        load(path, study="matching")
    columns = options_in(str(refused.value))
    assert columns == {"annotator": "side"} | ({"label": "rule"} if form == "rows" else {})
    data = load(path, study="matching", columns=columns)
    assert any("anna was taken for it, boris for a checker" in note for note in data.notes)
    assert figures(data) == {"f1": pytest.approx(2 / 3), "precision": 1.0, "recall": 0.5}


@pytest.mark.parametrize("text", [{}, {"text": ["?", "?"]}])
def test_answers_beside_references_are_a_table_of_another_study(text):
    rows = pd.DataFrame(
        {"id": ["1", "2"], "prompt": "?", "output": ["Paris", "Rome it is"], "reference": ["Paris", "Rome"], **text}
    )
    with pytest.raises(BadInput, match="evalbench run text_metrics scores such a table") as refused:
        load({"truth": rows}, study="matching")
    columns = options_in(str(refused.value))
    assert columns == {"reference": "true_violations", "output": "found_violations"}
    if text:
        assert len(load({"truth": rows}, study="matching", columns=columns)["truth"]) == 2


def test_a_table_of_true_violations_alone_still_asks_for_predictions():
    rows = pd.DataFrame({"id": ["a"], "text": ["Drink it"], "context": ["Drink"], "rule": ["haste"]})
    with pytest.raises(BadInput, match="table predictions is missing"):
        load({"truth": rows}, study="matching")
