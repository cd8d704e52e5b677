"""Planted tables of the studies of questions asked again, or otherwise: generations, augmentations, confidence."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from planted import ABSENT, IDS, TWO, Frames, N, Planted, Tables, ids, items, lights, one_table, otherwise, with_late

# -- reproduction ----------------------------------------------------------------------------------


def repeated(cell: Callable[[int, int], str], n: int = N, times: int = 5) -> pd.DataFrame:
    return items(
        n, question=lambda i: f"When does house {i} open?", samples=lambda i: [cell(i, k) for k in range(times)],
        task=lambda i: "exact",
    )  # fmt: skip


WORDS = ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "inlet", "jetty"]


def varied(i: int, k: int) -> str:
    return " ".join(WORDS[(k * 2 + j) % 10] + str(i) for j in range(2))


def steady(i: int, k: int) -> str:
    return f"At {i}."


def numbered(first: int, case: bool = False, times: int = 4) -> pd.DataFrame:
    """A row for each generation; every second one may write its question's id otherwise."""
    keys = [(name.upper() + " " if case and k % 2 else name, str(k + first)) for name in ids() for k in range(times)]
    return pd.DataFrame(keys, columns=["id", "trial"]).assign(answer="At noon.", task="exact")


EXACT = {"embed": ""}
REPRODUCTION: dict[str, Planted | str] = {
    "nothing_right": Planted(one_table(repeated(varied)), r"\bpp\b", EXACT, lights("red")),
    "all_right": Planted(one_table(repeated(steady)), r"\b0", EXACT),
    "one_absent": Planted(one_table(with_late(repeated(steady), "model", "id")), ABSENT, EXACT),
    "two_units": Planted(one_table(repeated(steady, 2)), TWO, EXACT),
    "off_by_one": Planted(
        one_table(numbered(0)), r"\b0", EXACT, lights("green"), "a trial has a name: from 0 or from 1 is the same"
    ),
    "other_ids": Planted(one_table(numbered(1, case=True)), IDS, EXACT, refused=IDS),
    "all_equal": Planted(one_table(repeated(steady)), r"\b0", EXACT),
}

# -- stability -------------------------------------------------------------------------------------


def answered(before: Callable[[int], str], after: Callable[[int], str], n: int = N) -> Frames:
    """Answers before, and after one augmentation of each level."""
    own = items(n, question=lambda i: f"When does house {i} open?", answer=before, reference=lambda i: f"at {i}")
    parts = [
        pd.DataFrame({"id": ids(n), "augmentation": name, "question": [f"Wehn deos huose {i} opne?" for i in range(n)],
                      "answer": [after(i) for i in range(n)]})
        for name in ("butter_finger", "word_swap")
    ]  # fmt: skip
    return {"items": own, "variants": pd.concat(parts)}


def right(i: int) -> str:
    return f"at {i}"


def wrong(i: int) -> str:
    return f"near the {WORDS[i % 10]}"


def one_model_late() -> Frames:
    own = answered(right, right)
    return {name: with_late(frame, "model", "id") for name, frame in own.items()}


def one_augmentation_late() -> Frames:
    own = answered(right, right)
    kept = own["variants"]["id"].isin(ids()[:3]) | (own["variants"]["augmentation"] == "butter_finger")
    return own | {"variants": own["variants"][kept]}


STABILITY: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: answered(wrong, wrong), r"before|0\.0+ .*already|no answer|none"),
    "all_right": Planted(lambda: answered(right, right), r"\b0"),
    "one_absent": Planted(one_augmentation_late, r"37 of 40 [a-z]+.*word_swap|word_swap.*37 of 40 [a-z]+"),
    "two_units": Planted(lambda: answered(right, right, 2), TWO),
    "off_by_one": "answers have no positions",
    "other_ids": Planted(
        lambda: (own := answered(right, right)) | {"variants": otherwise(own["variants"], "id")}, IDS, refused=IDS
    ),
    "all_equal": Planted(lambda: answered(right, right), r"\b0"),
}

# -- stability_top ---------------------------------------------------------------------------------


def tops(after: Callable[[int, int], int], n: int = N, k: int = 5, first: int = 1) -> Frames:
    """The top of each question, and that of its augmentations: of question i, place k, a document's number."""
    rows = []
    for i, name in enumerate(ids(n)):
        for r in range(k):
            rows.append((name, "", f"d{i * 10 + r}", r + 1))
            rows += [(name, a, f"d{after(i, r)}", r + first) for a in ("butter_finger", "word_swap")]
    questions = items(n, question=lambda i: f"Who keeps the keys of house {i}?")
    return {"questions": questions, "tops": pd.DataFrame(rows, columns=["id", "augmentation", "doc_id", "rank"])}


def unmoved(i: int, r: int) -> int:
    return i * 10 + r


def moved(i: int, r: int) -> int:
    return 5000 + i * 10 + r


def few_tops() -> Frames:
    own = tops(unmoved)
    kept = own["tops"]["id"].isin(ids()[:3]) | (own["tops"]["augmentation"] != "word_swap")
    return own | {"tops": own["tops"][kept]}


def other_tops() -> Frames:
    own = tops(unmoved)
    return own | {"tops": otherwise(own["tops"], "id")}


TOP = {"k": 5, "deepest": 5}
STABILITY_TOP: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: tops(moved), r"\b0\.0", TOP, lights("red")),
    "all_right": Planted(lambda: tops(unmoved), r"1\.0", TOP),
    "one_absent": Planted(few_tops, r"37 of 40 [a-z]+.*word_swap|word_swap.*37 of 40 [a-z]+", TOP),
    "two_units": Planted(lambda: tops(unmoved, 2), TWO, TOP),
    "off_by_one": Planted(
        lambda: tops(unmoved, first=0),
        r"1\.0",
        TOP,
        lights("green"),
        "a list is in the order of its ranks, from 0 or from 1",
    ),
    "other_ids": Planted(other_tops, IDS, TOP, refused=IDS),
    "all_equal": Planted(lambda: tops(unmoved), r"1\.0", TOP),
}

# -- confidence ------------------------------------------------------------------------------------


def sure(agree: Callable[[int], int], correct: Callable[[int], int], n: int = N) -> pd.DataFrame:
    """Ten samples a question, of which so many agree with the answer."""
    return items(
        n, question=lambda i: f"Which pier has boat {i}?", answer=lambda i: f"pier {i}", correct=correct,
        samples=lambda i: [f"pier {i}" if k < agree(i) else f"dock {WORDS[k]}" for k in range(10)],
    )  # fmt: skip


def half(i: int) -> int:
    return i % 2


def agree_where_right(i: int) -> int:
    return 8 + i % 3 if half(i) else 1 + i % 3


def agree_where_wrong(i: int) -> int:
    return 1 + i % 3 if half(i) else 8 + i % 3


SURE = {"embed": "", "green_from": 0.8, "yellow_from": 0.7}
CONFIDENCE: dict[str, Planted | str] = {
    "nothing_right": Planted(one_table(sure(agree_where_wrong, half)), r"\b0\.0", SURE),
    "all_right": Planted(one_table(sure(agree_where_right, half)), r"\b1\.0", SURE),
    "one_absent": Planted(one_table(with_late(sure(agree_where_right, half), "model", "id")), ABSENT, SURE),
    "two_units": Planted(one_table(sure(agree_where_right, half, 2)), TWO, SURE),
    "off_by_one": "answers have no positions",
    "other_ids": "one table, without a join",
    "all_equal": Planted(
        one_table(sure(lambda i: 10, half)),
        r"0\.5|equal|the same|constant",
        SURE,
        because="",
        lights=lights("red", "grey", "unlit"),
    ),
}

TABLES: Tables = {
    "reproduction": REPRODUCTION,
    "stability": STABILITY,
    "stability_top": STABILITY_TOP,
    "confidence": CONFIDENCE,
}
