"""A judge that looks things up beside a plain one on the same labelled answers."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from evalbench import draw, judge_audit, load
from evalbench.core.agreement import cohen_kappa
from evalbench.studies.judge_audit.beside import COLUMNS, notes_of

PLAIN, AGENT = "openai/oak", "agent[calls=4]:openai/oak"


def audited(judges, n: int = 40):
    """Right at other answers: the plain one at three quarters, the agent at those but for two, and at half the others."""
    human = np.arange(n) % 2
    wrong = {PLAIN: np.arange(n) % 4 == 3, AGENT: (np.arange(n) % 8 == 7) | np.isin(np.arange(n), (0, 1))}
    rows = [
        {"id": f"q{i:02}", "judge": judge, "mark": int(human[i] ^ wrong[judges[judge]][i]), "lang": "ru" if i < 10 else "en",
         "seconds": 1.0 if judges[judge] == PLAIN else 4.0}
        for judge in judges for i in range(n)
    ]  # fmt: skip
    labels = [{"id": f"q{i:02}", "annotator": who, "mark": int(human[i])} for i in range(n) for who in "abc"]
    data = load({"verdicts": pd.DataFrame(rows), "labels": pd.DataFrame(labels)}, study="judge_audit")
    return judge_audit.evaluate(data, n_resamples=500), human, wrong


def test_what_looking_things_up_changed_is_counted():
    result, human, wrong = audited({PLAIN: PLAIN, AGENT: AGENT})
    table = result.tables["beside"]
    assert list(table.columns) == COLUMNS
    (row,) = table[table["of"] == "all"].to_dict("records")
    assert (row["judge"], row["other"], row["answers"]) == (AGENT, PLAIN, 40)
    assert (row["better"], row["worse"]) == (5, 2)
    assert row["right"] == pytest.approx(33 / 40)
    assert row["right_more"] == pytest.approx(3 / 40)
    kappas = [cohen_kappa(human, human ^ wrong[judge], n_resamples=10).value for judge in (AGENT, PLAIN)]
    assert row["kappa_more"] == pytest.approx(kappas[0] - kappas[1])
    assert row["right_more_low"] < row["right_more"] < row["right_more_high"]
    assert row["kappa_more_low"] < row["kappa_more"] < row["kappa_more_high"]
    assert (row["seconds"], row["seconds_other"]) == (4.0, 1.0)


def test_kinds_of_answers_are_named():
    result, _, _ = audited({PLAIN: PLAIN, AGENT: AGENT})
    table = result.tables["beside"]
    said = table[table["of"] == "people say"].set_index("kind")
    assert said["answers"].to_dict() == {"0": 20, "1": 20}
    assert said["worse"].to_dict() == {"0": 1, "1": 1}
    assert said["better"].to_dict() == {"0": 0, "1": 5}


def test_a_note_says_it():
    result, _, _ = audited({PLAIN: PLAIN, AGENT: AGENT})
    (note,) = [one for one in map(str, result.notes) if "looking things up made" in one]
    assert "on the same 40 labelled answers: 0.82 agree with people against 0.75" in note
    assert "made 5 right and 2 wrong, 4.0 s an answer against 1.0" in note


def test_without_such_a_judge_there_is_no_such_table():
    result, _, _ = audited({PLAIN: PLAIN, "other": AGENT})
    assert "beside" not in result.tables
    assert not notes_of(pd.DataFrame(columns=COLUMNS))
    assert math.isfinite(result.summary.estimates[0].value)


def test_the_page_shows_it_and_escapes_names():
    evil = "agent:openai/<img src=x onerror=alert(1)>"
    result, _, _ = audited({PLAIN: PLAIN, evil: AGENT})
    shown = judge_audit.looked_up(result)
    assert shown["n"].tolist() == [40, 20, 20]
    assert (shown["made right"].tolist(), shown["made wrong"].tolist()) == ([5, 0, 5], [2, 1, 1])
    assert "0.75\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}0.82" in str(shown["share that is right"].iloc[0])
    assert [str(cell) for cell in shown["Cohen's kappa"]][1:] == ["–", "–"], "people say the same of all of a kind"
    assert str(shown["an answer takes"].iloc[0]).replace("\N{NO-BREAK SPACE}", " ") == "1 → 4 s", (
        "the cost is not known"
    )
    page = str(draw.tables.html_table(shown))
    assert "<img" not in page
    assert "&lt;img src=x" in page


def test_no_table_where_nothing_is_looked_up():
    result, _, _ = audited({PLAIN: PLAIN, "other": AGENT})
    assert judge_audit.looked_up(result) is None
