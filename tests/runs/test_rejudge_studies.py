"""``evalbench rejudge`` of ``cascade``, ``rag_generation``, ``text_metrics`` and ``trajectories``, from the command line to the page; endpoints are scripted fakes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from chat import Chat, chat_endpoint

from evalbench.readers.runs import read_frame, read_results, read_run

HOSTILE = "<script>alert(1)</script>"
N = 12
SAID = [f"The pool in Mill Street {i} opens at {i + 7}. {HOSTILE}" for i in range(N)]
ASKED = [f"When does the pool in Mill Street {i} open?" for i in range(N)]
Says = Callable[[str], str]


def _label(kind: bool, good: str, bad: str, **more: Any) -> str:
    return json.dumps({"reason": f"by the script {HOSTILE}", **more, "label": good if kind else bad})


def of_pairs(first_is_better: bool) -> Says:
    """Marks all alike and compares pairs: the answers that name an hour are better, or worse."""

    def says(prompt: str) -> str:
        if "- FIRST" in prompt:
            return _label(
                (prompt.rindex("It opens at") < prompt.rindex("Go there")) == first_is_better, "FIRST", "SECOND"
            )
        if "You find the" in prompt or "claims" in prompt:
            return json.dumps({"claims": [{"sentence": 1, "claim": "It opens at some hour."}]})
        return json.dumps({"reason": "equal", "mark": 1})

    return says


def of_support(good: bool) -> Says:
    def says(prompt: str) -> str:
        if "non-committal" in prompt:
            return json.dumps({"questions": ["When?", "Where?", "Who?"], "noncommittal": not good})
        if "- PARTIALLY_RELEVANT" in prompt:
            return _label(good, "RELEVANT", "IRRELEVANT")
        return _label(good, "SUPPORTED", "NOT_SUPPORTED", passages=[1] if good else [])

    return says


def of_contradiction(good: bool) -> Says:
    return lambda prompt: _label(good, "ENTAILMENT", "CONTRADICTION")


def of_trajectories(good: bool) -> Says:
    def says(prompt: str) -> str:
        if "The kinds of failures" in prompt:
            return _label(good, "no_failure", "made_up", steps=[] if good else [2])
        return json.dumps({"reason": f"by the script {HOSTILE}", "mark": int(good)})

    return says


def tables(name: str) -> pd.DataFrame:
    ids = [f"q{i}" for i in range(N)]
    if name == "cascade":
        worse = [f"Go there from {i + 9} on, or later." for i in range(N)]
        better = [f"It opens at {i + 7}. {HOSTILE}" for i in range(N)]
        return pd.DataFrame({"id": ids, "question": ASKED, "answer_a": better, "answer_b": worse})
    if name == "trajectories":
        turns = [(q, "user", 1) for q in ASKED], [(a, "assistant", 2) for a in SAID]
        rows = [
            {"id": i, "step": n, "kind": "message", "role": r, "text": t}
            for own in turns
            for i, (t, r, n) in zip(ids, own, strict=True)
        ]
        return pd.DataFrame(rows)
    if name == "rag_generation":
        contexts = [[said, "The mill is old."] for said in SAID]
        return pd.DataFrame({"id": ids, "question": ASKED, "answer": SAID, "contexts": contexts, "ground_truth": SAID})
    return pd.DataFrame({"id": ids, "prompt": ASKED, "context": SAID, "reference": SAID})


class Study(NamedTuple):
    """What is run: the judge's script, the figure that rests on it, and the options."""

    judge: Callable[[bool], Says]
    metric: str
    options: tuple[str, ...]


STUDIES = {
    "cascade": Study(of_pairs, "advantage", ("-p", "geval_samples=1")),
    "rag_generation": Study(of_support, "faithfulness", ()),
    "trajectories": Study(of_trajectories, "success", ()),
    "text_metrics": Study(
        of_contradiction, "context_contradiction",
        ("-p", 'metrics=["context_contradiction","f1_score"]', "-p", "prompt={{ prompt }}"),
    ),
}  # fmt: skip


class Ran(NamedTuple):
    """A finished run in its folder; its system still listens, so that a request to it would be seen."""

    name: str
    folder: Path
    run: Path
    system: Chat


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "evalbench.cli", *words]


def evalbench(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "EVALBENCH_CACHE": str(cwd / "cache")}
    return subprocess.run(command(*words), capture_output=True, text=True, cwd=cwd, env=env, check=False)


@pytest.fixture(scope="module", params=sorted(STUDIES))
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    name, folder = str(request.param), tmp_path_factory.mktemp(str(request.param))
    study = STUDIES[name]
    tables(name).to_json(folder / "mine.jsonl", orient="records", lines=True, force_ascii=False)
    with chat_endpoint(lambda prompt: f"It opens at 7. {HOSTILE}") as system, chat_endpoint(study.judge(True)) as judge:
        asked = ("--model", system.name) if name == "text_metrics" else ()
        words = (name, "--data", "mine.jsonl", *asked, "-p", f"judge={judge.name}", "-p", "n_resamples=100")
        done = evalbench("run", *words, *study.options, "--out", "reports", "-q", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert len(set(judge.answered)) == len(judge.answered) >= N
        assert len(system.answered) == (N if asked else 0)
        yield Ran(name, folder, Path(done.stdout.strip()).parent, system)


def value(run: Path, metric: str) -> float:
    return next(float(row["value"]) for row in read_results(run)["summary"] if row["metric"] == metric)


@pytest.mark.slow
def test_the_items_are_the_same_the_verdicts_others_and_the_page_says_so(ran: Ran) -> None:
    study, before = STUDIES[ran.name], len(ran.system.answered)
    with chat_endpoint(study.judge(False)) as other:
        done = evalbench("rejudge", str(ran.run), "--judge", other.name, "--out", "reports", cwd=ran.folder)
        sent = Counter(other.answered)
    assert done.returncode == 0, done.stderr
    assert len(ran.system.answered) == before
    line = next(line for line in done.stdout.splitlines() if line.startswith("compare"))
    new = Path(line.split()[-1])
    results = read_results(new)
    assert read_run(new)["requests"] == sent.total() == len(sent)
    assert (results["judged_again"]["requests"], results["judged_again"]["not_recorded"]) == (0, 0)
    assert results["judged_again"]["run"] == ran.run.name
    then, now = (read_frame(run / "items.parquet") for run in (ran.run, new))
    assert then["id"].tolist() == now["id"].tolist()
    assert (now["unscored"] == "").all()
    assert value(ran.run, study.metric) != value(new, study.metric)
    page = (new / "report.html").read_text("utf-8")
    assert "Judged again: the answers are those of the run" in page
    assert f"../{ran.run.name}/report.html" in page
    assert HOSTILE not in page
    compared = evalbench(*line.split()[2:], cwd=ran.folder)
    assert "Both runs judged the same answers, and the judge changed" in compared.stdout, compared.stderr


@pytest.mark.slow
def test_one_that_was_killed_goes_on_and_asks_nothing_twice(ran: Ran) -> None:
    study, before = STUDIES[ran.name], len(ran.system.answered)
    env = {**os.environ, "EVALBENCH_CACHE": str(ran.folder / "cache")}
    with chat_endpoint(study.judge(False), delay=0.3) as other:
        words = ["rejudge", str(ran.run), "--judge", other.name, "--out", "reports", "-q"]
        first = subprocess.Popen(command(*words), cwd=ran.folder, env=env, start_new_session=True)
        while len(other.answered) < 10 and first.poll() is None:
            time.sleep(0.02)
        assert first.poll() is None
        os.killpg(first.pid, signal.SIGKILL)
        first.wait(60)
        time.sleep(0.6)
        done = Counter(other.answered)
        second = evalbench(*words, cwd=ran.folder)
        again = Counter(other.answered) - done
    assert second.returncode == 0, second.stderr
    assert len(ran.system.answered) == before
    assert (done & again).total() <= 8  # those that were under way when it was killed
    assert max(again.values()) == 1
    assert again.total() < (done | again).total()
    results = read_results(Path(second.stdout.strip()).parent)
    assert results["items"]["unscored"] == 0
    assert results["judged_again"]["not_recorded"] == 0


def of_closed_questions(first_is_better: bool) -> Says:
    """The judge's questions: of one answer such that the other model confirms it, of the other such that it does not."""

    def says(prompt: str) -> str:
        yes = ("It opens at" in prompt) == first_is_better
        return json.dumps({"questions": [{"question": f"Is it {first_is_better}?", "answer": "YES" if yes else "NO"}]})

    return says


@pytest.mark.slow
def test_a_model_that_answers_the_judges_own_questions_is_asked_them(tmp_path: Path) -> None:
    tables("cascade").to_json(tmp_path / "mine.jsonl", orient="records", lines=True)
    runs = []
    with chat_endpoint(lambda prompt: _label(True, "YES", "NO")) as answerer:
        for good in (True, False):
            with chat_endpoint(of_closed_questions(good)) as judge:
                if good:
                    named = ("-p", f"judge={judge.name}", "-p", f"answerer={answerer.name}", "-p", "run_stages=[12]")
                    words = ("run", "cascade", "--data", "mine.jsonl", *named, "-p", "n_resamples=100")
                else:
                    words = ("rejudge", str(runs[0]), "--judge", judge.name)
                done = evalbench(*words, "--out", "reports", "-q", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            runs.append(Path(done.stdout.strip()).parent)
    assert [value(run, "advantage") for run in runs] == [1, -1]
    assert read_results(runs[1])["judged_again"]["not_recorded"] == 0
