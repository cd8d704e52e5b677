"""Anchors then and now: paired, counted, void where the judge is another one, and hostile in every column."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evalbench.errors import BadInput
from evalbench.kit.anchors import anchored, judge_estimates

HOSTILE = ["<script>alert(1)</script>", "=1+1", "NA", "007", "q\u202e1", 'a,b\n"c"', "Ответ", "null"]


def table(n: int = 60, **columns: Any) -> pd.DataFrame:
    """Half of the anchors are right, and the judge says so."""
    right = [float(i % 2) for i in range(n)]
    ids = [*HOSTILE, *(f"q{i}" for i in range(n))][:n]
    return pd.DataFrame({"id": ids, "label": right, "mark": right, "judge": "acme/judge", "prompt": "v1"} | columns)


def written(folder: Path, name: str, frame: pd.DataFrame) -> str:
    file = folder / name
    if name.endswith(".parquet"):
        frame.to_parquet(file)
    elif name.endswith(".jsonl"):
        file.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")), "utf-8")
    else:
        frame.to_csv(file, index=False)
    return str(file)


def stricter(frame: pd.DataFrame, every: int) -> pd.DataFrame:
    marks = [0.0 if i % every == 1 else mark for i, mark in enumerate(frame["mark"])]
    return frame.assign(mark=marks)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_judge_that_got_stricter_is_caught_in_every_form_of_table(tmp_path: Path, kind: str) -> None:
    then = written(tmp_path, f"then.{kind}", table())
    now = written(tmp_path, f"now.{kind}", stricter(table(), 4))
    found = anchored(anchors_then=then, anchors_now=now)
    assert found is not None
    assert found.fit["light"] == "red"
    assert found.fit["void"] == ""
    assert found.fit["moved"].startswith("The judge itself moved by −0.25 [")
    assert "on the same 60 anchors (stricter" in found.fit["sentence"]
    assert set(found.table["id"]) == set(table()["id"])
    assert found.table["change"].iloc[0] == -1
    shift, changed, agreement = judge_estimates(found.fit)
    assert (shift.metric, shift.value, shift.light, shift.n, shift.n_of) == ("judge_shift", -0.25, "red", 60, "anchors")
    assert changed.value == 0.25
    assert agreement.note == "1 then, 0.75 now"


def test_the_same_judge_is_green(tmp_path: Path) -> None:
    files = [written(tmp_path, name, table()) for name in ("then.csv", "now.csv")]
    found = anchored(anchors_then=files[0], anchors_now=files[1])
    assert found is not None
    assert (found.fit["light"], found.fit["moved"]) == ("green", "")
    assert found.notes == ("Whether the judge's version changed cannot be checked: it is not known of both judgings.",)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"judge": "acme/other"}, "the judge from acme/judge to acme/other"),
        ({"prompt": "v2"}, "its prompt from v1 to v2"),
        ({"version": "judge-08"}, "its version from judge-05 to judge-08"),
        ({"judge": "<b>x</b>"}, "the judge from acme/judge to <b>x</b>"),
    ],
)
def test_another_judge_prompt_or_version_voids_the_figure_which_stays_shown(
    tmp_path: Path, change: dict[str, str], words: str
) -> None:
    then = written(tmp_path, "then.csv", table(version="judge-05"))
    now = written(tmp_path, "now.csv", stricter(table(**{"version": "judge-05"} | change), 4))
    found = anchored(anchors_then=then, anchors_now=now)
    assert found is not None
    assert (found.fit["void"], found.fit["moved"], found.fit["light"]) == (words, "", "grey")
    shift = judge_estimates(found.fit)[0]
    assert (shift.value, shift.light) == (-0.25, "grey")
    assert words in shift.note


def test_verdicts_that_may_come_from_the_cache_are_no_evidence(tmp_path: Path) -> None:
    files = [written(tmp_path, n, table(version="m-1", judged_at="2026-10")) for n in ("then.csv", "now.csv")]
    found = anchored(anchors_then=files[0], anchors_now=files[1])
    assert found is not None
    assert found.fit["light"] == "grey"
    assert "judged_at" in found.fit["why"]
    named = written(tmp_path, "named.csv", table(version="m-1", judged_at="2026-11"))
    later = anchored(anchors_then=files[0], anchors_now=named)
    assert later is not None
    assert later.fit["light"] == "green"


def test_what_does_not_pair_is_left_out_and_counted(tmp_path: Path) -> None:
    then = table(64, answer="aa")
    now = table(64, answer="aa").iloc[2:]
    now.loc[5, "answer"] = "bb"
    now.loc[7, "label"] = 0.0
    files = [written(tmp_path, "then.csv", then), written(tmp_path, "now.csv", now)]
    found = anchored(anchors_then=files[0], anchors_now=files[1])
    assert found is not None
    assert len(found.table) == 61
    assert found.notes[:3] == (
        "1 anchor left out: the text of the answer is another one now.",
        "2 anchors left out, judged at one of the two times only.",
        "The labels of 1 anchor differ between the two times; those of now count.",
    )


def test_no_verdict_is_no_mark(tmp_path: Path) -> None:
    now = table().astype({"mark": object})
    now.loc[:1, "mark"] = None
    files = [written(tmp_path, "then.csv", table()), written(tmp_path, "now.csv", now)]
    found = anchored(anchors_then=files[0], anchors_now=files[1])
    assert found is not None
    assert judge_estimates(found.fit)[0].n_unscored == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"anchors_then": "a.csv"}, "go together"),
        ({"anchors_then": "a.csv", "anchors_now": "a.csv", "anchors_margin": 0}, "anchors_margin must be"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        anchored(**options)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (table().drop(columns="mark"), "column mark: is missing"),
        (table(mark="good"), "column mark"),
        (table(mark="inf"), "column mark"),
        (pd.concat([table(), table()]), "more than once"),
        (pd.concat([table(30), table(judge="acme/other")]), "several judges"),
        (table().head(0), "no row"),
        (table().assign(id=[f"z{i}" for i in range(60)]), "no answer is in both"),
    ],
)
def test_tables_that_are_no_anchors_are_refused(tmp_path: Path, frame: pd.DataFrame, words: str) -> None:
    files = [written(tmp_path, "then.csv", table()), written(tmp_path, "now.csv", frame)]
    with pytest.raises(BadInput, match=words):
        anchored(anchors_then=files[0], anchors_now=files[1])


def test_a_folder_without_anchors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"has no anchors\.jsonl"):
        anchored(anchors_then=str(tmp_path), anchors_now=str(tmp_path))


def test_no_anchors_are_no_figures() -> None:
    assert anchored() is None
    assert judge_estimates(None) == ()
