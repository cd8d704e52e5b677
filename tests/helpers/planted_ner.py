"""Planted tables of the studies of named entities."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
from planted import ABSENT, IDS, TWO, Frames, N, Planted, Tables, ids, otherwise, with_late

PEOPLE = ("Mira", "Anton", "Ivor", "Edda")
PLACES = ("Veldport", "Osier", "Tarn", "Dunholt")


def text(i: int) -> str:
    return f"{PEOPLE[i % 4]} came to {PLACES[i // 4 % 4]} on day {i}."


def texts(n: int = N) -> pd.DataFrame:
    return pd.DataFrame({"id": ids(n, "t"), "text": [text(i) for i in range(n)]})


def spans(n: int = N, shift: int = 0) -> pd.DataFrame:
    """The person and the place of each text."""
    rows = []
    for i, name in enumerate(ids(n, "t")):
        for word, kind in ((PEOPLE[i % 4], "PERSON"), (PLACES[i // 4 % 4], "PLACE")):
            start = text(i).index(word)
            rows.append((name, start + shift, start + len(word) + shift, kind))
    return pd.DataFrame(rows, columns=["id", "start", "end", "entity_class"])


def elsewhere(n: int = N) -> pd.DataFrame:
    """The words "came to" for a person: of one class, none of them right."""
    rows = [(name, text(i).index("came"), text(i).index("came") + 7, "PERSON") for i, name in enumerate(ids(n, "t"))]
    return pd.DataFrame(rows, columns=["id", "start", "end", "entity_class"])


def one_class(n: int = N) -> Frames:
    gold = spans(n)
    return {"gold": gold[gold["entity_class"] == "PERSON"], "predictions": elsewhere(n), "texts": texts(n)}


def found(predictions: pd.DataFrame, n: int = N) -> Frames:
    return {"gold": spans(n), "predictions": predictions, "texts": texts(n)}


QUALITY: dict[str, Planted | str] = {
    "nothing_right": Planted(one_class, r"F1 0\.0"),
    "all_right": Planted(lambda: found(spans()), r"F1 1\.00"),
    "one_absent": Planted(lambda: found(with_late(spans(), "model", "id")), ABSENT),
    "two_units": Planted(lambda: found(spans(2), 2), TWO),
    "off_by_one": Planted(lambda: found(spans(shift=1)), r"off by|shifted|by (1|one) (char|place|pos)"),
    "other_ids": Planted(lambda: found(otherwise(spans(), "id")), IDS, refused=IDS),
    "all_equal": Planted(lambda: found(spans()), r"F1 1\.00"),
}


def strings(n: int = N, change: Any = str) -> pd.DataFrame:
    rows = [(t, e, change(text(i)[s:stop])) for i, t in enumerate(ids(n, "t")) for _, s, stop, e in of_text(i, n)]
    return pd.DataFrame(rows, columns=["id", "entity_class", "entity"])


def of_text(i: int, n: int) -> list[tuple[Any, ...]]:
    return [*spans(n).iloc[2 * i : 2 * i + 2].itertuples(index=False, name=None)]


def twice(n: int = N, times: int = 2) -> Frames:
    """Each text two times, so that each string occurs twice; predicted so many times."""
    doubled = texts(n).assign(text=lambda frame: frame["text"] + " " + frame["text"])
    return {"texts": doubled, "predictions": pd.concat([strings(n)] * times)}


def invented(n: int = N) -> Frames:
    return {"texts": texts(n), "predictions": strings(n, lambda word: f"{word[::-1]}ov")}


BANDS = {"green_to": 0.1, "yellow_to": 0.3}


def late_twice() -> Frames:
    own = twice()
    return own | {"predictions": with_late(own["predictions"], "model", "id")}


CONFLICTS: dict[str, Planted | str] = {
    "nothing_right": Planted(invented, r"(not|never) (occur|in)|no(ne)? .*occur|do not stand", BANDS),
    "all_right": Planted(twice, r"0\.0", BANDS),
    "one_absent": Planted(late_twice, ABSENT, BANDS),
    "two_units": Planted(lambda: twice(2), TWO, BANDS),
    "off_by_one": "strings are predicted, without positions",
    "other_ids": Planted(lambda: twice() | {"predictions": otherwise(strings(), "id")}, IDS, BANDS, refused=IDS),
    "all_equal": Planted(partial(twice, times=1), r"1\.00", BANDS),
}


def replies(n: int = N, change: Any = str) -> pd.DataFrame:
    """The same reply whatever was asked: all classes in one request, with each detail of description."""
    rows = []
    for i, name in enumerate(ids(n, "t")):
        said = str([(change(text(i)[s:stop]), e) for _, s, stop, e in of_text(i, n)])
        rows += [(name, "all", detail, said) for detail in ("none", "definition", "examples")]
    return pd.DataFrame(rows, columns=["id", "requests", "description", "answer"])


def asked(given: pd.DataFrame, n: int = N, shift: int = 0) -> Frames:
    return {"replies": given, "gold": spans(n, shift), "texts": texts(n)}


VARIANTS: dict[str, Planted | str] = {
    "nothing_right": Planted(
        lambda: asked(replies(change=lambda word: f"{word[::-1]}ov")), r"F1 0\.0|finds a true entity|not occur"
    ),
    "all_right": Planted(lambda: asked(replies()), r"\b0"),
    "one_absent": Planted(lambda: asked(with_late(replies(), "model", "id")), ABSENT),
    "two_units": Planted(lambda: asked(replies(2), 2), TWO),
    "off_by_one": Planted(lambda: asked(replies(), shift=1), r"off by|shifted|by (1|one) (char|place|pos)"),
    "other_ids": Planted(lambda: asked(otherwise(replies(), "id")), IDS, refused=IDS),
    "all_equal": Planted(lambda: asked(replies()), r"\b0"),
}

TABLES: Tables = {"ner_quality": QUALITY, "ner_conflicts": CONFLICTS, "ner_variants": VARIANTS}
