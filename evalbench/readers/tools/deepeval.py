"""deepeval: ``test_run_*.json``, ``.deepeval/.latest_run_full.json``, ``.latest_test_run.json``.

Metrics differ from case to case: one that a case was not tested with is not applicable.  A metric without a score and with
an error is unscored; deepeval leaves it out of the metric's mean and counts its test case as failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.tools.probe import Probe
from evalbench.readers.tools.safe import mapping, objects, sequence
from evalbench.readers.tools.shapes import (
    NO_MODEL,
    UNSCORED,
    Figure,
    Row,
    Run,
    Score,
    clipped,
    lower_by_name,
    metadata_columns,
    no_number,
    number_of,
    present,
    question_hash,
    text_of,
    text_of_messages,
)
from evalbench.readers.tools.tally import Tally

NAME = "deepeval"
FILES = "test_run_*.json, .deepeval/.latest_run_full.json"
_LOWER = ("hallucination", "bias", "toxicity", "misuse", "pii leakage", "non-advice", "role violation")
_READ = """name input actualOutput expectedOutput context retrievalContext tokenCost completionTime tags metadata comments
metricsData turns order scenario expectedOutcome additionalMetadata"""
_CASE = frozenset(f"{_READ} success runDuration evaluationCost".split())
_OF_RUN = """testCases conversationalTestCases metricsScores traceMetricsScores hyperparameters testPassed testFailed identifier
runDuration evaluationCost testFile datasetAlias datasetId deployment deploymentConfigs prompts testRunId"""
_RUN = frozenset(_OF_RUN.split())
"""What a run says of itself, read or of no use to a reader."""


def recognises(look: Probe) -> bool:
    """Whether a document is a test run, also one that is wrapped or holds only a link."""
    return look.form == "document" and bool(
        {"testCases", "conversationalTestCases", "testRunData", "testRunLink"} & look.keys
        and isinstance(look.value, dict)
    )


def read(look: Probe) -> Run:
    """The test cases of a run, of one turn and of several.

    Raises ``BadInput`` for a file that only links to a run, and for a run without test cases.
    """
    whole = mapping(look.value)
    body = whole.get("testRunData", whole)
    if not isinstance(body, dict) or not {"testCases", "conversationalTestCases"} & set(body):
        raise BadInput(
            f"{look.path}: holds only a link to a run, no results; import .deepeval/.latest_run_full.json, "
            "or a test_run_*.json of DEEPEVAL_RESULTS_FOLDER"
        )
    cases = [*objects(body.get("testCases")), *objects(body.get("conversationalTestCases"))]
    if not cases:
        raise BadInput(f"{look.path}: a test run without test cases")
    model = mapping(body.get("hyperparameters")).get("model")
    headline = present(
        testPassed=body.get("testPassed"), testFailed=body.get("testFailed"), identifier=body.get("identifier")
    )
    run = Run(NAME, _each(cases), model=str(model) if model else "", headline=headline)
    if not model:
        run.notes.append(NO_MODEL)
    run.higher = _directions(cases)
    run.lower_assumed = lambda metric: metric.lower().startswith(_LOWER) or lower_by_name(metric)
    run.left_aside.update(key for case in cases for key, value in case.items() if value and key not in _CASE)
    run.left_aside.update(key for key, value in body.items() if value and key not in _RUN)
    run.figures = lambda tally: _figures(body, cases, tally)
    return run


def _each(cases: Iterable[dict[str, Any]]) -> Iterator[Row]:
    seen: dict[str, int] = {}
    for place, case in enumerate(cases):
        name = str(case.get("name") or f"test_case_{case.get('order', place)}")
        seen[name] = seen.get(name, 0) + 1
        data = objects(case.get("metricsData"))
        yield Row(
            _item(case, name if seen[name] == 1 else f"{name} ({seen[name]})"),
            [_score(metric) for metric in data],
            [_verdict(metric) for metric in data if _judge(metric)],
        )


def _item(case: Mapping[str, Any], name: str) -> dict[str, Any]:
    turns = objects(case.get("turns"))
    if turns:
        asked = [turn.get("content") for turn in turns if turn.get("role") == "user"]
        said = [turn.get("content") for turn in turns if turn.get("role") == "assistant"]
        # Several turns: the question is all that the user said, the answer the last reply.
        item: dict[str, Any] = {"id": name, "question_hash": question_hash(case.get("scenario") or asked)}
        item |= {"question": text_of_messages(turns[:-1] if said and turns[-1].get("role") == "assistant" else turns)}
        item |= {"messages": turns, "answer": text_of_parts_or_none(said), "reference": case.get("expectedOutcome")}
        context = [text for turn in turns for text in sequence(turn.get("retrievalContext"))]
        item["contexts"] = context or case.get("context")
    else:
        asked_text = case.get("input")
        item = {"id": name, "question_hash": question_hash(asked_text), "question": text_of(asked_text)}
        output = case.get("actualOutput")
        item |= {"answer": output if output is None else text_of(output), "reference": case.get("expectedOutput")}
        item["contexts"] = case.get("retrievalContext", case.get("context"))
        if case.get("retrievalContext") is not None and case.get("context") is not None:
            item["gold_context"] = case["context"]
    item |= present(cost=number_of(case.get("tokenCost")), seconds=number_of(case.get("completionTime")))
    tags, comments = case.get("tags"), case.get("comments")
    further = {
        **mapping(case.get("metadata") or case.get("additionalMetadata")),
        **present(tags=", ".join(map(str, sequence(tags))) or None, comments=comments),
    }
    return item | {key: value for key, value in metadata_columns(further).items() if key not in item}


def text_of_parts_or_none(said: list[Any]) -> str | None:
    """The last reply; None where there is none."""
    return text_of(said[-1]) if said and said[-1] is not None else None


def _value(metric: Mapping[str, Any]) -> tuple[float | None, str]:
    number = number_of(metric.get("score"))
    if number is not None and not metric.get("error"):
        return number, ""
    words = metric.get("error") or (
        no_number(metric["score"]) if metric.get("score") is not None else "deepeval: no score"
    )
    return None, clipped(str(words))


def _score(metric: Mapping[str, Any]) -> Score:
    value, detail = _value(metric)
    passed = metric.get("success")
    return Score(
        _name(metric), value, detail, passed=passed if isinstance(passed, bool) and value is not None else None
    )


def _name(metric: Mapping[str, Any]) -> str:
    return str(metric.get("name") or metric.get("metric") or "metric")


def _judge(metric: Mapping[str, Any]) -> str:
    """The model that judged; a metric of code has none, or the word none."""
    model = metric.get("evaluationModel")
    return str(model) if model and str(model).lower() != "none" else ""


def _verdict(metric: Mapping[str, Any]) -> dict[str, Any]:
    value, detail = _value(metric)
    tokens = [n for key in ("inputTokenCount", "outputTokenCount") if (n := number_of(metric.get(key))) is not None]
    return {
        "judge": _judge(metric),
        "criterion": _name(metric),
        "mark": value,
        "reason": metric.get("reason") or "",
        "unscored": UNSCORED if value is None else "",
        "detail": detail,
        **present(cost=number_of(metric.get("evaluationCost")), tokens=sum(tokens) if tokens else None),
    }


def _directions(cases: Iterable[Mapping[str, Any]]) -> dict[str, bool]:
    """Metrics whose direction their rows show: less is better where one passes below its threshold or fails above it."""
    found: dict[str, bool] = {}
    for metric in (m for case in cases for m in objects(case.get("metricsData"))):
        score, threshold = number_of(metric.get("score")), number_of(metric.get("threshold"))
        passed = metric.get("success")
        if (
            score is None
            or threshold is None
            or metric.get("error")
            or score == threshold
            or not isinstance(passed, bool)
        ):
            continue
        found.setdefault(_name(metric), (score > threshold) == passed)
    return found


def _figures(body: Mapping[str, Any], cases: list[dict[str, Any]], tally: Tally) -> Iterator[Figure]:
    model = next(iter(tally.models), "")
    for entry in objects(body.get("metricsScores")):
        scores = [number for value in sequence(entry.get("scores")) if (number := number_of(value)) is not None]
        metric, errors = str(entry.get("metric")), int(number_of(entry.get("errors")) or 0)
        cell = tally.of(metric)
        words = f"{cell.missing} of {cell.n + cell.missing} rows failed; the tool's mean leaves them out, ours counts them as unscored"
        yield Figure(
            metric, "mean of metricsScores[].scores", sum(scores) / len(scores) if scores else None, cell.mean, cell.n,
            "failed-left-out" if cell.missing or errors else "", words if cell.missing or errors else "", model,
        )  # fmt: skip
    passed, failed = number_of(body.get("testPassed")), number_of(body.get("testFailed"))
    if passed is None or failed is None or not passed + failed:
        return
    ours = [_passes(case) for case in cases]
    scored = [value for value in ours if value is not None]
    errored = sum(1 for case in cases if any(_value(m)[0] is None for m in objects(case.get("metricsData"))))
    yield Figure(
        "", "testPassed / (testPassed + testFailed)", passed / (passed + failed),
        sum(scored) / len(scored) if scored else None, len(scored),
        "errors-counted-failed" if errored else "",
        f"a metric that raised an error fails its test case: {errored} of {len(cases)} cases; ours asks only the metrics that gave a score"
        if errored else "", model,
    )  # fmt: skip


def _passes(case: Mapping[str, Any]) -> bool | None:
    """Whether a case passed every metric that gave it a score; None where none did."""
    given = [m.get("success") for m in objects(case.get("metricsData")) if _value(m)[0] is not None]
    return all(given) if given else None
