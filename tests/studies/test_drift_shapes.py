"""Tables of other shapes: what is in them is found by usual names, and each guess is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.studies import drift
from evalbench.studies.drift.other_tables import reshaped

N = 40


def rows(seed: int, start: str) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    nouns, verbs = ["lamp", "chair", "table", "phone", "стол", "шкаф"], ["find", "return", "open", "order", "вернуть"]
    moments = pd.Timestamp(start, tz="UTC") + pd.to_timedelta(np.arange(N), unit="D")
    return pd.DataFrame(
        {
            "id": [f"{start}/{i}" for i in range(N)],
            "ts": moments.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "request": [f"how do I {rng.choice(verbs)} the {rng.choice(nouns)}?" for _ in range(N)],
            "response": [f"Please {rng.choice(verbs)} the {rng.choice(nouns)}." for _ in range(N)],
            "label": (rng.random(N) < 0.8).astype(int),
        }
    )


OOS, OOT = rows(0, "2026-01-01"), rows(1, "2026-03-01")
BOTH = pd.concat([OOS, OOT], ignore_index=True)


def two_files(folder: Path) -> Path:
    for name, frame in (("validation", OOS), ("production", OOT)):
        frame.to_csv(folder / f"{name}.csv", index=False)
    return folder


def in_russian(folder: Path) -> Path:
    names = {"request": "Запрос", "response": "Ответ", "ts": "Время", "label": "Оценка"}
    for name, frame in (("oos", OOS), ("oot", OOT)):
        frame.rename(columns=names).to_json(folder / f"{name}.jsonl", orient="records", lines=True, force_ascii=False)
    return folder


def divided(folder: Path) -> Path:
    one = pd.concat([OOS.assign(Split="Reference"), OOT.assign(Split="current")]).drop(columns="ts")
    one.to_csv(folder / "one.csv", index=False)
    return folder / "one.csv"


def of_a_gateway(folder: Path) -> Path:
    seconds = [int(moment.timestamp()) for moment in pd.to_datetime(BOTH["ts"])]
    frame = pd.DataFrame({"created": seconds, "prompt": BOTH["request"], "completion": BOTH["response"]})
    frame.to_json(folder / "log.jsonl", orient="records", lines=True)
    return folder / "log.jsonl"


def of_messages(folder: Path) -> Path:
    lines = [
        {
            "id": r.id,
            "created_at": r.ts,
            "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": "Hello"},
                {"role": "assistant", "content": "Hello!"},
                {"role": "user", "content": [{"type": "text", "text": r.request}]},
                {"role": "assistant", "content": r.response},
            ],
        }
        for r in BOTH.itertuples()
    ]
    (folder / "chats.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder / "chats.jsonl"


def of_a_spreadsheet(folder: Path) -> Path:
    days = pd.to_datetime(BOTH["ts"]).dt.strftime("%d.%m.%Y %H:%M")
    frame = pd.DataFrame(
        {"Date": days, "Question": BOTH["request"], "Answer": BOTH["response"], "is_correct": BOTH["label"]}
    )
    frame.to_csv(folder / "sheet.csv", index=False, sep=";", encoding="utf-8-sig")
    return folder / "sheet.csv"


def of_parquet(folder: Path) -> Path:
    frame = BOTH.assign(ts=pd.to_datetime(BOTH["ts"]), label=BOTH["label"].astype(bool), tags=[["a"]] * len(BOTH))
    frame.to_parquet(folder / "log.parquet")
    return folder / "log.parquet"


def with_signs(folder: Path) -> Path:
    BOTH.assign(label=2 * BOTH["label"] - 1, rating=4).to_csv(folder / "signs.csv", index=False)
    return folder / "signs.csv"


def in_words(folder: Path) -> Path:
    BOTH.assign(label=BOTH["label"].map({1: "Pass", 0: "fail"})).to_csv(folder / "words.csv", index=False)
    return folder / "words.csv"


def in_milliseconds(folder: Path) -> Path:
    moments = [str(1000 * int(moment.timestamp())) for moment in pd.to_datetime(BOTH["ts"])]
    BOTH.assign(ts=moments).to_csv(folder / "ms.csv", index=False)
    return folder / "ms.csv"


SHAPES: tuple[tuple[Callable[[Path], Path], str, bool], ...] = (
    (two_files, "", True),
    (in_russian, "column Запрос was read as question", True),
    (divided, "column Split: reference is OOS, current is OOT", True),
    (of_a_gateway, "time: numbers are read as seconds since 1970, UTC", False),
    (of_messages, "the last message of the user is the request", False),
    (of_a_spreadsheet, "time: days are read as day.month.year", True),
    (of_parquet, "No windows were given", True),
    (with_signs, "−1 and 1 are read as 0 and 1", True),
    (in_words, "No windows were given", True),
    (in_milliseconds, "time: numbers are read as milliseconds since 1970, UTC", True),
)


@pytest.mark.parametrize(("write", "note", "labelled"), SHAPES, ids=[write.__name__ for write, _, _ in SHAPES])
def test_a_table_of_another_shape_needs_no_option(tmp_path: Path, write: Any, note: str, labelled: bool) -> None:
    data = studies.load(write(tmp_path), study="drift")
    result = studies.study("drift").evaluate(data, embed="", n_permutations=19, n_resamples=20)
    items = result.items.sort_values("question")
    assert sorted(items["question"]) == sorted(BOTH["request"])
    assert sorted(items["answer"]) == sorted(BOTH["response"])
    assert items["side"].value_counts().to_dict() == {"oos": N, "oot": N}
    assert items["key"].notna().all() == labelled
    if labelled:
        assert items["key"].sum() == BOTH["label"].sum()
        known = [e.note for e in result.summary.estimates if e.metric == "quality"]
        assert all("without a column of true answers the best constant answer is unknown" in note for note in known)
    assert drift.telling(result)["feature"].str.fullmatch("“[^ ]+”").all()
    assert note in " ".join(result.notes)


def test_what_is_there_under_our_former_name_stays() -> None:
    frame = pd.DataFrame(
        {"request": ["a"], "prompt": ["b"], "Response": ["c"], "answer": ["d"], "ts": ["2026-01-01"], "date": ["x"]}
    )
    data = studies.load({"oos": frame}, study="drift")
    found = data.tables["oos"]
    assert found[["question", "answer"]].to_numpy().tolist() == [["a", "c"]]
    assert any(
        "column request was read as question, and prompt beside it is not used" in str(n).casefold() for n in data.notes
    )
    assert found["prompt"].tolist() == ["b"]


@pytest.mark.parametrize(
    ("cells", "taken"),
    [([1, 0, None], True), (["yes", "No", ""], True), ([1, 5], False), (["up", "so so"], False), ([None], False)],
)
def test_only_right_and_wrong_are_a_label_under_another_name(cells: list[Any], taken: bool) -> None:
    frame = pd.DataFrame({"correct": pd.Series(cells, dtype=object)})
    assert ("label" in reshaped({"oos": frame})["oos"]) == taken


@pytest.mark.parametrize(
    "cells",
    [["01.02.2026", "2026-02-01"], [1.7e9, 5], [True, False], ["1700000000", "x"], [None, ""], ["01/02/2026"], [1e300]],
)
def test_times_that_are_not_all_written_so_stay(cells: list[Any]) -> None:
    frame = pd.DataFrame({"time": pd.Series(cells, dtype=object)})
    assert reshaped({"oos": frame})["oos"]["time"].tolist() == cells


@pytest.mark.parametrize("words", [["reference", "other"], ["old", "before"], ["current"], ["oos", "oot", "x"], [1, 2]])
def test_a_column_of_other_words_divides_nothing(words: list[Any]) -> None:
    frame = pd.DataFrame({"split": words})
    assert list(reshaped({"oos": frame})) == ["oos"]


def times_of(*tables: list[Any]) -> list[list[Any]]:
    names = ("oos", "oot")
    frames = {
        name: pd.DataFrame({"time": pd.Series(cells, dtype=object)}) for name, cells in zip(names, tables, strict=False)
    }
    return [frame["time"].tolist() for frame in reshaped(frames).values()]


@pytest.mark.parametrize(
    ("cells", "iso"),
    [
        (["3/14/2026 2:05 PM", "3/4/2026 12:00 AM"], ["2026-03-14T14:05:00", "2026-03-04T00:00:00"]),
        (["14/3/2026", "4/3/2026 09:30"], ["2026-03-14", "2026-03-04T09:30:00"]),
        (
            ["Sat, 14 Mar 2026 14:05:00 +0300", "4 Mar 2026 09:30:00"],
            ["2026-03-14T14:05:00+03:00", "2026-03-04T09:30:00"],
        ),
        (["2026年3月14日 14:05"], ["2026-03-14T14:05:00"]),
        ([1773497100000000], ["2026-03-14T14:05:00.000000Z"]),
        (["1773497100000000000"], ["2026-03-14T14:05:00.000000Z"]),
    ],
)
def test_times_with_one_meaning_are_read(cells: list[Any], iso: list[str]) -> None:
    assert times_of(cells) == [iso]


@pytest.mark.parametrize(
    "cells",
    [["3/4/2026"], ["3/14/2026", "14/3/2026"], ["3/14/2026 13:00 PM", "3/4/2026 x"], ["Sat, 34 Mar 2026 14:05:00"]],
)
def test_the_order_of_day_and_month_is_not_guessed(cells: list[Any]) -> None:
    assert times_of(cells) == [cells]


def test_one_table_shows_the_order_of_the_other() -> None:
    assert times_of(["3/14/2026"], ["4/5/2026"]) == [["2026-03-14"], ["2026-04-05"]]


def test_refused_times_and_labels_come_with_the_way_out(tmp_path: Path) -> None:
    BOTH.assign(ts="3/4/2026", label="partly").to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(BadInput) as refused:
        studies.load(tmp_path / "t.csv", study="drift")
    assert "write 2026-03-14T14:05:00Z" in str(refused.value)
    assert "write 1 for right, 0 for wrong" in str(refused.value)


@pytest.mark.parametrize(
    ("right", "wrong"), [("good", "Bad"), ("верно", "неверно"), ("да", "нет"), ("正确", "错误"), ("对", "错")]
)
def test_labels_in_words_of_three_languages(right: str, wrong: str) -> None:
    frame = BOTH.assign(label=BOTH["label"].map({1: right, 0: wrong}))
    data = studies.load({"oos": frame}, study="drift")
    assert data.tables["oos"]["label"].tolist() == BOTH["label"].tolist()
    assert f"label: words are read as 1 ({right}) and 0 ({wrong})" in " ".join(data.notes)


@pytest.mark.parametrize(
    ("name", "marks", "way"),
    [
        (
            "rating",
            {1: 5, 0: 2},
            "it holds 2 to 5: write (mark − least) / (greatest − least) of its scale, then --map rating=score",
        ),
        ("score_1_5", {1: 4, 0: 1}, "then --map score_1_5=score"),
        ("my stars", {1: 0.8, 0: 0.2}, "--map 'my stars=score' makes it the key metric"),
        ("feedback", {1: "up", 0: "so so"}, "write its words as 1, 0 or a share, then --map feedback=label"),
    ],
)
def test_marks_under_other_names_are_named_with_the_way_to_use_them(name: str, marks: dict[int, Any], way: str) -> None:
    frame = BOTH.drop(columns="label").assign(**{name: BOTH["label"].map(marks)})
    notes = " ".join(studies.load({"oos": frame}, study="drift").notes)
    assert f"column {name} is not read as a mark of the response; " in notes
    assert way in notes


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("thumbs_up", (True, False)),
        ("verdict", ("верно", "неверно")),
        ("feedback", ("up", "down")),
        ("Оценка", ("👍", "👎")),
        ("评价", ("是", "否")),
    ],
)
def test_the_only_marks_that_say_right_and_wrong_are_the_label(name: str, marks: tuple[Any, Any]) -> None:
    frame = BOTH.drop(columns="label").assign(**{name: BOTH["label"].map({1: marks[0], 0: marks[1]})})
    data = studies.load({"oos": frame}, study="drift")
    assert data.tables["oos"]["label"].tolist() == BOTH["label"].tolist()
    assert f"column {name} was read as label" in " ".join(data.notes)
    two = studies.load({"oos": frame.assign(thumbs=1)}, study="drift")
    assert "label" not in two.tables["oos"]
    assert "is not read as a mark of the response" in " ".join(two.notes)


def test_a_day_beside_a_clock_is_the_time() -> None:
    texts = {"request": ["a", "b"], "response": ["c", "d"]}
    frame = pd.DataFrame({"time": ["09:15", "10:00"], "date": ["2026-03-01", "2026-03-02"], **texts})
    days = studies.load({"oos": frame}, study="drift").tables["oos"]["time"]
    assert days.dt.strftime("%Y-%m-%d").tolist() == ["2026-03-01", "2026-03-02"]


def test_messages_without_a_reply_or_of_another_form() -> None:
    chats = [
        [{"role": "user", "content": "a"}],
        [],
        None,
        "text",
        [{"from": "human", "value": "b"}, {"from": "gpt", "value": None}],
    ]
    found = reshaped({"oos": pd.DataFrame({"messages": pd.Series(chats, dtype=object)})})["oos"]
    assert found["question"].tolist() == ["a", None, None, None, "b"]
    assert found["answer"].tolist() == [None] * 5


def test_days_that_no_calendar_has_are_refused(tmp_path: Path) -> None:
    BOTH.assign(ts="31.02.2026").to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(BadInput, match="ts"):
        studies.load(tmp_path / "t.csv", study="drift")
