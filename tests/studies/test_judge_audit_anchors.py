"""The labelled answers of an audit are anchors: a judge that got stricter between two audits is seen, its cache is not taken for it."""

from __future__ import annotations

import json
from pathlib import Path

import biased_judges as fakes
from chat import chat_endpoint

from evalbench import judge_audit, load
from evalbench.core.result import Result
from evalbench.kit.anchors import Anchored, anchored

N = 20


def audited(folder: Path, judge: str, judged_at: str = "", **more: object) -> str:
    """The anchors of an audit of the judge, which is asked now."""
    folder.mkdir()
    table = fakes.answers(N)
    table.loc[3, "output"] += " <script>alert(1)</script> \u202e {{ 7 * 7 }}"
    criteria = folder / "right.yaml"
    criteria.write_text(fakes.CRITERION, "utf-8")
    data = load({"items": table, "labels": fakes.labels(table)}, study="judge_audit")
    options = {"probes": [], "repeats": 1, "n_resamples": 20, **more}
    result: Result = judge_audit.evaluate(
        data, judge=judge, criteria_file=str(criteria), judged_at=judged_at, **options
    )
    (folder / "anchors.jsonl").write_bytes(result.files["anchors.jsonl"])
    return str(folder)


def drift(then: str, now: str) -> Anchored:
    found = anchored(anchors_then=then, anchors_now=now)
    assert found is not None
    return found


def test_a_stricter_judge_is_seen_only_where_it_is_asked_anew(tmp_path: Path) -> None:
    """A scripted endpoint on the loopback whose judge changes in silence between two months."""
    mark = {"now": lambda prompt: 1}

    def answer(prompt: str) -> str:
        return json.dumps({"reason": "by the script", "mark": mark["now"](prompt)})

    with chat_endpoint(answer) as endpoint:
        then = audited(tmp_path / "then", endpoint.name, "2026-10")
        asked = len(endpoint.answered)
        assert asked == 2 * N
        mark["now"] = lambda prompt: int(sum(map(ord, prompt)) % 3 > 0)
        kept = audited(tmp_path / "kept", endpoint.name, "2026-10")
        assert len(endpoint.answered) == asked
        now = audited(tmp_path / "now", endpoint.name, "2026-11")
        assert len(endpoint.answered) == 2 * asked
        audited(tmp_path / "resumed", endpoint.name, "2026-11")
        assert len(endpoint.answered) == 2 * asked
    silent, found = drift(then, kept), drift(then, now)
    assert silent.fit["light"] == "grey"
    assert "from the cache" in silent.fit["why"]
    assert (found.fit["light"], found.fit["void"]) == ("red", "")
    assert "stricter" in found.fit["sentence"]
    assert found.notes == ()


def test_another_prompt_is_named(tmp_path: Path) -> None:
    own = tmp_path / "mark.en.jinja"
    own.write_text("Mark it.\n{{ question }}\n{{ answer }}\n{{ definition }}", "utf-8")
    with chat_endpoint(lambda prompt: json.dumps({"reason": "so", "mark": 1})) as endpoint:
        then = audited(tmp_path / "then", endpoint.name, "2026-10")
        now = audited(tmp_path / "now", endpoint.name, "2026-11", judge_prompt=str(own))
    found = drift(then, now)
    assert found.fit["void"].startswith("its prompt from ")
    assert found.fit["light"] == "grey"


def test_recorded_verdicts_give_anchors_of_each_judge(tmp_path: Path) -> None:
    table = fakes.answers(N)
    recorded = table[["id", "model"]].assign(judge="acme/judge", criterion="right", mark=1.0, prompt="v1")
    recorded.loc[0, "mark"] = None
    data = load({"verdicts": recorded, "labels": fakes.labels(table).head(30)}, study="judge_audit")
    rows = [json.loads(line) for line in judge_audit.evaluate(data, n_resamples=20).files["anchors.jsonl"].splitlines()]
    assert len(rows) == 30
    assert rows[0] == {
        "id": "q000", "model": "mira-large", "trial": "", "criterion": "right", "label": rows[0]["label"], "mark": None,
        "judge": "acme/judge", "prompt": "v1", "version": "", "judged_at": "", "answer": "",
    }  # fmt: skip


def test_without_labels_there_are_no_anchors() -> None:
    table = fakes.answers(N)
    recorded = table[["id", "model"]].assign(judge="acme/judge", mark=1.0)
    assert (
        "anchors.jsonl"
        not in judge_audit.evaluate(load({"verdicts": recorded}, study="judge_audit"), n_resamples=20).files
    )
