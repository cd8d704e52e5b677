"""A run as Markdown and JUnit: whole, and nothing in a name is markup."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from evalbench.report.outputs import escaped, fenced, junit, markdown

HOSTILE = "<script>x</script> | **b** [a](http://evil/) `c` \x1b[31m \u202e \x00 \ufffe & @team ]]>"
RUN = {
    "study": "matching",
    "run_id": "20260101T000000Z-aaaaaaaa",
    "status": "ok",
    "seconds": 2.5,
    "started": "2026-01-01T00:00:00Z",
}


def row(metric: str, group: str, light: str = "unlit", value: float | None = 0.5) -> dict:
    return {"metric": metric, "title": metric.upper(), "checker": group, "value": value, "ci_low": 0.4, "ci_high": 0.6,
            "n": 9, "n_unscored": 1, "note": "" if value is not None else "no item", "light": light, "cuts": []}  # fmt: skip


def results(*rows: dict, light: str = "red", decided_by: dict | None = None) -> dict:
    return {
        "by": ["checker"],
        "light": light,
        "sentence": "F1 is low.",
        "summary": list(rows),
        "decided_by": decided_by,
    }


def test_markdown_is_a_table_whatever_the_names_are() -> None:
    shown = markdown(RUN, results(row("f1", HOSTILE, "red"), row("recall", "", value=None)))
    lines = [line for line in shown.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    for line in lines[2:]:
        assert line.replace("\\|", "").count("|") == 7
    for raw in ("<script", "http://", "**b**", "\x1b", "\u202e", "\x00", " @team"):
        assert raw not in shown
    assert "0.50 [0.40, 0.60]" in shown.replace("\\", "")
    assert "– (no item)" in shown.replace("\\", "")
    assert shown.startswith("### ■ matching: red\n\nF1 is low.\n")


ANSWER = {
    "answer": "Fern is not good enough <b>.",
    "decided_by": {"text": "F1 0.50, n\N{NO-BREAK SPACE}9.", "at": "decides"},
    "could_change": {"text": "", "at": "notes"},
    "next": {"text": "Read @team.", "at": "items"},
}


def test_markdown_begins_with_the_answer_and_folds_the_sentence() -> None:
    found = {**results(row("f1", "a", "red"), decided_by={"metric": "f1", "checker": "a"}), "answer": ANSWER}
    shown = markdown(RUN, found)
    assert shown.startswith(
        "### ■ matching: red\n\n**Fern is not good enough &lt;b&gt;.**\n\n- Decided by: F1 0.50, n 9.\n- Next: Read \\@team.\n\n|"
    )
    assert "Could change" not in shown
    assert shown.index("| F1") < shown.index("<details>") < shown.index("F1 is low.") < shown.index("</details>")
    assert "- First figure: F1" in markdown(RUN, {**found, "decided_by": None})
    verdict = ET.fromstring(junit(RUN, found, {"red"}))[0][0].find("failure").get("message")
    assert verdict == "red: Fern is not good enough <b>. F1 is low."


def test_the_deciding_row_is_always_shown() -> None:
    rows = [row("f1", f"g{i}", "red" if i == 80 else "green") for i in range(100)]
    shown = markdown(RUN, results(*rows, decided_by={"metric": "f1", "checker": "g80"}), most=10)
    assert "g80" in shown
    assert "decides" in shown
    assert "90 more figures are in the report." in shown


def test_a_run_that_failed_says_why() -> None:
    failed = {**RUN, "status": "died", "error": "the kernel died <b>"}
    assert markdown(failed, None) == "### ✕ matching: died\n\nthe kernel died &lt;b&gt;\n"
    suite = ET.fromstring(junit(failed, None, {"red"}))[0]
    assert (suite.get("tests"), suite.get("errors"), suite.get("failures")) == ("1", "1", "0")
    assert suite[0].find("error").get("message") == "died: the kernel died <b>"


@pytest.mark.parametrize(
    ("failing", "failures"), [({"red"}, 2), ({"red", "yellow"}, 3), ({"red", "yellow", "grey"}, 4)]
)
def test_junit_counts_what_fails_and_skips_what_was_not_judged(failing: set[str], failures: int) -> None:
    rows = [
        row("f1", HOSTILE, "red"),
        row("f1", "b", "yellow"),
        row("f1", "c", "grey"),
        row("f1", "d"),
        row("f1", "e", "green"),
    ]
    suite = ET.fromstring(junit(RUN, results(*rows), failing))[0]
    assert suite.get("tests") == "6"
    assert int(suite.get("failures")) == failures == len(suite.findall("testcase/failure"))
    assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped")) == 1 + ("grey" not in failing)
    assert suite[0].get("name") == "verdict"
    assert "<script>x</script>" in suite[1].get("name")
    assert "\x1b" not in suite[1].get("name")


def test_escaping() -> None:
    assert escaped("plain words 1.5") == "plain words 1.5"
    assert fenced(["``` a"]).startswith("````\n")
