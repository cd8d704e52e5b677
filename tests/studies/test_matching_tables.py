"""Tables of violations as strangers have them: lists in cells, both sides in one table, names of their own, no ids, no places."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from evalbench import BadInput, load, matching, studies

TEXTS = ("Drink it fast!", "A calm evening.", "Пейте быстрее, пейте!")
TRUE = ([("Drink it fast", "No haste")], [], [("Пейте быстрее", "No haste"), ("пейте!", "No shouting")])
FOUND = {
    "fir@1": ([("Drink it", "No haste")], [], [("Пейте быстрее", "No haste")]),
    "gpt-4o-mini": ([], [("calm", "No moods")], []),
}
RECALL = {"fir@1": 2 / 3, "gpt-4o-mini": 0.0}


def objects(pairs, text):
    return [{"start": text.index(quote), "end": text.index(quote) + len(quote), "rule": rule} for quote, rule in pairs]


def per_violation(side, names):
    """One row per violation of both sides."""
    rows = [(f"d{i}", text, "human", *pair) for i, text in enumerate(TEXTS) for pair in TRUE[i]]
    rows += [
        (f"d{i}", text, name, *pair) for name, own in FOUND.items() for i, text in enumerate(TEXTS) for pair in own[i]
    ]
    return pd.DataFrame(rows, columns=[names[0], names[1], side, *names[2:]])


def recalls(data, **options):
    result = matching.evaluate(data, embed="jaccard", n_resamples=50, **options)
    return {
        e.group["model"]: e.value
        for e in result.summary.estimates
        if e.metric == "recall" and len(result.items["model"].unique()) and e.group
    }, result


def read(path, **options):
    return load(path, study="matching", **options)


ENGLISH = ("doc_id", "text", "quote", "rule")
RUSSIAN = ("Номер текста", "Текст", "Цитата", "Правило")


@pytest.mark.parametrize(("side", "names", "form"), [
    ("source", ENGLISH, {"sep": ","}), ("Кто нашёл", RUSSIAN, {"sep": ";", "encoding": "cp1251"}), ("side", ENGLISH, {"sep": "\t"}),
])  # fmt: skip
def test_one_table_of_both_sides(tmp_path, side, names, form):
    frame = per_violation(side, names).replace({"human": "эксперт"} if side != "source" else {})
    frame.to_csv(tmp_path / "mine.csv", index=False, **form)
    data = read(tmp_path / "mine.csv")
    found, result = recalls(data)
    assert found == pytest.approx(RECALL)
    assert len(data["documents"]) == 3
    assert any(f"column {side} tells true violations" in note and "3 rows" in note for note in result.notes)
    assert any("No model of fir@1 is known" in note for note in result.notes)
    assert any("Neither version nor model of gpt-4o-mini is known" in note for note in result.notes)


def test_the_checker_may_be_in_a_column_of_its_own():
    frame = per_violation("source", ENGLISH)
    frame = frame.assign(
        model=frame["source"].where(frame["source"] != "human", ""),
        source=frame["source"].where(frame["source"] == "human", "prediction"),
    )
    assert recalls(read({"truth": frame}))[0] == pytest.approx(RECALL)


def test_two_columns_that_tell_the_sides_apart_are_refused_with_the_option():
    frame = per_violation("source", ENGLISH)
    frame["annotator"] = frame["source"]
    with pytest.raises(BadInput, match=r"--map 'source=side' or --map 'annotator=side'"):
        read({"truth": frame})
    assert len(read({"truth": frame}, columns={"source": "side"})["predictions"]) == 3


def per_text(cell):
    rows = [
        {"id": i, "model": name, "text": text, "gold": cell(TRUE[i], text), "predictions": cell(own[i], text)}
        for name, own in FOUND.items()
        for i, text in enumerate(TEXTS)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    "cell",
    [objects, lambda p, t: json.dumps(objects(p, t)), lambda p, t: str(objects(p, t))],
    ids=["lists", "JSON", "Python"],
)
def test_one_row_per_text_that_lists_both_sides(tmp_path, cell):
    frame = per_text(cell)
    assert recalls(read({"truth": frame}))[0] == pytest.approx(RECALL)
    if isinstance(frame["gold"].iloc[0], str):
        frame.to_csv(tmp_path / "mine.csv", index=False)
        assert recalls(read(tmp_path / "mine.csv"))[0] == pytest.approx(RECALL)


def test_a_checker_that_lists_nothing_in_any_text_has_a_recall_of_0():
    frame = per_text(objects)
    frame["predictions"] = [
        [] if model == "gpt-4o-mini" else cell for model, cell in zip(frame["model"], frame["predictions"], strict=True)
    ]
    assert recalls(read({"truth": frame}))[0] == pytest.approx(RECALL)
    nested = [
        {"text": t, "truth": objects(TRUE[i], t), "predictions": {"a": [], "b": objects(TRUE[i], t)}}
        for i, t in enumerate(TEXTS)
    ]
    found, result = recalls(read({"truth": pd.DataFrame(nested)}))
    assert found == {"a": 0.0, "b": 1.0}
    assert result.tables["checkers"].set_index("model")["predictions"].to_dict() == {"a": 0, "b": 3}
    alone, _ = recalls(read({"truth": pd.DataFrame([{**row, "predictions": []} for row in nested])}))
    assert alone == {"checker not named": 0.0}


def rules(pairs, _):
    return "; ".join(rule for _, rule in pairs)


def test_rules_between_semicolons_are_compared_without_places(tmp_path):
    per_text(rules).to_csv(tmp_path / "mine.csv", index=False)
    found, result = recalls(read(tmp_path / "mine.csv"))
    assert found == pytest.approx(RECALL)
    assert result.notes[1 if "Best" in result.notes[0] else 0]
    assert any("No violation has a place in its text" in note for note in result.notes)
    assert any("text overlap is left out" in line for line in result.method)
    assert result.estimate("low_overlap_share", model="fir@1").value is None
    assert "True: No haste [1]. Predicted: No haste [1]." in matching.documents(
        result
    ) or "True: No haste [1]" in matching.documents(result)
    assert any("6 cells of predictions" in n or "cells of predictions" in n for n in result.notes)
    with pytest.raises(BadInput, match="overlap cannot be weighed"):
        studies.study("matching_calibration").check(read(tmp_path / "mine.csv"))


def test_lists_of_passages_without_a_rule_are_refused_with_the_forms():
    frame = per_text(lambda pairs, _: [quote for quote, _ in pairs])
    with pytest.raises(BadInput, match="lists passages of the texts") as refused:
        read({"truth": frame})
    assert "one row per text: text, and truth and predictions" in str(refused.value)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (None, "row 1: gold is null; write []"),
        ([3], "row 1: gold lists '3'"),
        ("[{", "row 1: gold is not a list"),
        (7, "is not a list, found 7"),
    ],
)
def test_cells_that_list_no_violations_are_refused(cell, said):
    frame = per_text(objects).query("model == 'fir@1'").astype(object)
    frame.at[frame.index[0], "gold"] = cell
    with pytest.raises(BadInput) as refused:
        read({"truth": frame.reset_index(drop=True)})
    assert said in str(refused.value)


def test_texts_whose_true_violations_differ_between_checkers_are_refused():
    frame = per_text(objects)
    frame.at[4, "gold"] = [{"start": 0, "end": 1, "rule": "x"}]
    with pytest.raises(BadInput, match="other true violations in the rows of another checker"):
        read({"truth": frame})


def test_violations_without_ids_are_numbered_within_each_text_and_checker():
    both = per_violation("source", ("id", "text", "context", "rule"))
    truth, predictions = both[both["source"] == "human"], both[both["source"] != "human"]
    data = read({"truth": truth.drop(columns="source"), "predictions": predictions.rename(columns={"source": "model"})})
    assert data["truth"]["violation_id"].tolist() == ["t1", "t1", "t2"]
    assert data["predictions"]["violation_id"].tolist() == ["p1", "p1", "p1"]
    assert sum("violations were numbered in their order" in note for note in data.notes) == 2
    assert recalls(data)[0] == pytest.approx(RECALL)


def test_predictions_of_nobody_are_those_of_one_checker_and_an_origin_is_no_checker():
    truth = pd.DataFrame({"id": ["a"], "text": ["Drink it"], "context": ["Drink"], "rule": ["r"]})
    data = read({"truth": truth, "predictions": truth.drop(columns="text").assign(source="news")})
    found, result = recalls(data)
    assert found == {"checker not named": 1.0}
    assert any("no column model" in note for note in result.notes)
    two = pd.concat([truth.assign(source="fir"), truth.assign(source="elm")])
    assert set(recalls(read({"truth": truth, "predictions": two}))[0]) == {"fir", "elm"}


def test_rows_of_texts_without_violations_are_texts(tmp_path):
    frame = per_violation("source", ENGLISH)
    clean = pd.DataFrame([{"doc_id": "d9", "text": "Nothing here.", "source": "human"}])
    pd.concat([frame, clean]).to_csv(tmp_path / "mine.csv", index=False)
    found, result = recalls(read(tmp_path / "mine.csv"))
    assert found == pytest.approx(RECALL)
    assert result.items["id"].nunique() == 4
    assert any("without rule, place and passage" in note for note in result.notes)


def test_sheets_that_have_the_names_of_tables(tmp_path):
    pytest.importorskip("openpyxl")
    both = per_violation("source", ENGLISH)
    with pd.ExcelWriter(tmp_path / "mine.xlsx") as book:
        both[both["source"] == "human"].to_excel(book, sheet_name="Truth", index=False)
        both[both["source"] != "human"].to_excel(book, sheet_name="predictions", index=False)
    data = read(tmp_path / "mine.xlsx")
    assert recalls(data)[0] == pytest.approx(RECALL)
    assert "mine.xlsx: its sheets truth, predictions were read as the tables of these names" in data.notes


def test_renames_come_before_other_forms_are_read():
    frame = per_violation("whence", ("d", "t", "q", "r")).rename(columns={"d": "item key"})
    columns = {"whence": "side", "item key": "id", "t": "text", "q": "context", "r": "rule"}
    assert recalls(read({"truth": frame}, columns=columns))[0] == pytest.approx(RECALL)


def test_names_of_others_are_read_with_a_note():
    rows = pd.DataFrame({"user_input": ["q"], "response": ["a"], "retrieved_contexts": [["a"]], "reference": ["a"]})
    data = load({"answers": rows}, study="rag_generation")
    assert set(data.read_as["answers"]) >= {"user_input", "retrieved_contexts"}
    lists = pd.DataFrame({"user_input": ["q"], "retrieved_context_ids": [["a"]], "reference_context_ids": [["a"]]})
    data = load({"run": lists}, study="rag_retrieval")
    assert len(data["qrels"]) == 1
    assert "in the order of retrieved_context_ids; those of reference_context_ids have relevance 1" in " ".join(
        data.notes
    )
    rows = pd.DataFrame({"id": ["1"], "answer": ["42"], "response": ["It is 42."]})
    data = load(rows, study="needle")
    assert data["items"][["reference", "answer"]].to_numpy().tolist() == [[["42"], "It is 42."]]


def test_text_metrics_refuses_named_metrics_without_their_columns_before_anything_runs():
    data = load(pd.DataFrame({"id": ["1"], "output": ["a"]}), study="text_metrics")
    known = studies.defaults("text_metrics")
    with pytest.raises(BadInput, match="rougeL needs the column reference"):
        studies.refuse(data, "text_metrics", {**known, "metrics": ["rougeL", "length"]})
    studies.refuse(data, "text_metrics", {**known, "metrics": ["length", "no such metric"]})


@pytest.mark.parametrize(
    ("cells", "rules", "note"),
    [
        (["R2, R3", "R1"], ["R2", "R3", "R1"], "parted at commas"),
        (["R2，R3", "R1"], ["R2", "R3", "R1"], "parted at commas"),
        (["R2; R3", "R1, or more"], ["R2", "R3", "R1, or more"], "not parted at their commas"),
        (["No dogs, no cats", "R1"], ["No dogs, no cats", "R1"], "not parted at their commas"),
    ],
)
def test_rules_between_commas_are_parted_where_they_are_codes_and_else_it_is_said(cells, rules, note) -> None:
    frame = pd.DataFrame(
        {"id": ["1", "2"], "text": ["Walk here", "Do not run"], "violations": ["R1", "R1"], "predicted": cells}
    )
    data = read(frame)
    assert data["predictions"]["rule"].tolist() == rules
    assert any(note in said for said in data.notes)


def test_ids_that_both_sides_share_are_those_of_texts_where_no_note_came_before() -> None:
    """The table of predictions was parted off here, and has no notes of its own yet."""
    rows = [("1", "R1", "dogs", side, "No dogs inside") for side in ("gold", "gpt-4o-mini")]
    rows += [("2", "R3", "ten", "gold", "Quiet after ten"), ("2", "R2", "Quiet", "gpt-4o-mini", "Quiet after ten")]
    data = read(pd.DataFrame(rows, columns=["id", "rule", "quote", "source", "text"]))
    assert data["truth"]["id"].tolist() == data["predictions"]["id"].tolist()
    assert set(data["predictions"]["model"]) == {"gpt-4o-mini"}
