"""MLflow: ``mlflow.genai.evaluate(...).result_df`` as JSON, JSON Lines or Parquet, and the legacy ``eval_results_table.json``.

Feedback of a source HUMAN is a label; an expectation is a reference, whatever its source.  A scorer that failed is written
with the source CODE, so what a scorer is comes from the rows where it worked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalbench.readers.tools.probe import Probe
from evalbench.readers.tools.safe import lines, mapping, objects, sequence
from evalbench.readers.tools.shapes import (
    NO_MODEL,
    UNSCORED,
    Row,
    Run,
    Score,
    clipped,
    metadata_columns,
    no_number,
    number_of,
    numbered,
    present,
    question_hash,
    score_of,
    sole_text,
    text_of,
)

NAME = "mlflow"
FILES = "genai result_df saved as .json, .jsonl or .parquet; legacy eval_results_table.json"
_SCORE = re.compile(r"^(?P<name>.+)/(?P<version>v\d+)/score$")
_JUDGES = frozenset(("faithfulness", "answer_similarity", "answer_correctness", "answer_relevance", "relevance"))
"""Judges of the legacy evaluation, whose marks are 1 to 5."""
_ASIDE = (
    "trace",
    "spans",
    "trace_metadata",
    "tags",
    "state",
    "request_time",
    "execution_duration",
    "client_request_id",
    "assessments",
)
_NO_METRICS = ("latency", "token_count")


def recognises(look: Probe) -> bool:
    """Whether rows are traces with assessments, or a document is a legacy table with columns of scores."""
    if look.form == "document" and isinstance(look.value, dict):
        columns = look.value.get("columns")
        return "data" in look.keys and isinstance(columns, list) and any(_SCORE.match(str(c)) for c in columns)
    keys = look.keys
    if look.form == "parquet":
        from evalbench.readers.tools.parquet_rows import columns as of_parquet

        keys = frozenset(of_parquet(look.path))
    return "trace_id" in keys and ("assessments" in keys or any(key.endswith("/value") for key in keys))


def refused(look: Probe) -> str:
    """Why a table of traces is not read, if it is a CSV file."""
    if look.form == "csv" and recognises(look):
        return "a CSV of MLflow's result has objects printed as texts; save it with result_df.to_json('result.json', orient='records', default_handler=str)"
    return ""


def read(look: Probe) -> Run:
    """The rows of an evaluation, of either form."""
    if look.form == "document" and isinstance(look.value, dict):
        return _legacy(look.value)
    if look.form == "document":
        rows = objects(look.value)
    elif look.form == "parquet":
        from evalbench.readers.tools.parquet_rows import rows as of_parquet

        rows = list(of_parquet(look.path))
    else:
        rows = [row for _, row in lines(look.path)]
    run = Run(NAME, iter(()))
    run.notes.append(NO_MODEL)
    run.notes.append("the file holds no overall figure of the tool")
    run.left_aside.update(key for row in rows[:1] for key in row if key in _ASIDE and key != "assessments")
    run.rows = _each(rows, run)
    return run


def _feedback(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The assessments of a row that give a value and count; those that were overridden are not valid."""
    return [a for a in objects(row.get("assessments")) if "feedback" in a and a.get("valid") is not False]


def _source(assessment: Mapping[str, Any]) -> tuple[str, str]:
    source = mapping(assessment.get("source"))
    return str(source.get("source_type") or ""), str(source.get("source_id") or "")


def _failed(assessment: Mapping[str, Any]) -> bool:
    feedback = mapping(assessment.get("feedback"))
    return feedback.get("value") is None or bool(feedback.get("error"))


def _kinds(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """Scorer → its kind and id, from the rows where it worked; those that only ever failed are code."""
    found: dict[str, tuple[str, str]] = {}
    for assessment in (a for row in rows for a in _feedback(row)):
        kind, name = _source(assessment), str(assessment.get("assessment_name"))
        if kind[0] != "HUMAN" and (name not in found or (not _failed(assessment) and kind[0] == "LLM_JUDGE")):
            found[name] = kind
    return found


def _expectations(row: Mapping[str, Any]) -> dict[str, Any]:
    """The references of a row; a list is kept as JSON text in ``serialized_value``."""
    found = {}
    for assessment in objects(row.get("assessments")):
        expectation = assessment.get("expectation")
        if isinstance(expectation, dict):
            kept = mapping(expectation.get("serialized_value")).get("value")
            found[str(assessment.get("assessment_name"))] = (
                _json(kept) if kept is not None else expectation.get("value")
            )
    return found


def _json(text: Any) -> Any:
    """The value of a JSON text; any other value as it is."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[", '"')):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _each(rows: Sequence[dict[str, Any]], run: Run) -> Iterator[Row]:
    kinds = _kinds(rows)
    expected = {name for row in rows for name in _expectations(row)}
    columns = [
        str(key).removesuffix("/value")
        for key in dict.fromkeys(k for row in rows for k in row)
        if str(key).endswith("/value")
    ]
    human = {str(a.get("assessment_name")) for row in rows for a in _feedback(row) if _source(a)[0] == "HUMAN"} - set(
        kinds
    )
    metrics = [name for name in dict.fromkeys((*columns, *kinds)) if name not in expected and name not in human]
    for i, row in enumerate(rows, start=1):
        given: dict[str, dict[str, Any]] = {}
        for assessment in _feedback(row):
            if _source(assessment)[0] != "HUMAN":
                given[str(assessment.get("assessment_name"))] = assessment
        scores = [score for name in metrics for score in _score(name, row, given.get(name), run)]
        judges = {name: kinds[name][1] for name in given if kinds[name][0] == "LLM_JUDGE"}
        yield Row(
            _item(row, i),
            scores,
            [_verdict(name, given[name], judge, row) for name, judge in judges.items()],
            [_label(a) for a in _feedback(row) if _source(a)[0] == "HUMAN" and not _failed(a)],
        )


def _item(row: Mapping[str, Any], place: int) -> dict[str, Any]:
    asked, answer, expected = _json(row.get("request")), row.get("response"), _expectations(row)
    answer = sole_text(_json(answer))
    item: dict[str, Any] = {"id": str(row.get("trace_id") or numbered(place)), "question_hash": question_hash(asked)}
    item |= {"question": text_of(sole_text(asked)), "answer": answer if answer is None else text_of(answer)}
    main = "expected_response" if "expected_response" in expected or len(expected) != 1 else next(iter(expected))
    item["reference"] = expected.pop(main, None)
    duration = number_of(row.get("execution_duration"))
    item |= present(seconds=duration / 1000 if duration else None)
    further: dict[str, Any] = {}
    for part in ("tags", "trace_metadata"):
        further |= {key: value for key, value in mapping(row.get(part)).items() if not key.startswith("mlflow.")}
    lists = {name: value for name, value in expected.items() if isinstance(value, list) and name not in item}
    return (
        item
        | lists
        | {k: v for k, v in metadata_columns({**further, **expected}).items() if k not in item and k not in lists}
    )


def _score(name: str, row: Mapping[str, Any], assessment: Mapping[str, Any] | None, run: Run) -> Iterator[Score]:
    """The score of one scorer: unscored where it failed, nothing where it was not asked."""
    error = row.get(f"{name}/error_message")
    if assessment is None:
        value = row.get(f"{name}/value")
        if value is None and not error and "assessments" in row:
            return
    else:
        feedback = mapping(assessment.get("feedback"))
        value, error = feedback.get("value"), error or mapping(feedback.get("error")).get("error_message")
    number, scale = (None, "") if error else score_of(value)
    if scale:
        run.scales[name] = scale
    words = (
        ""
        if number is not None
        else str(error)
        if error
        else f"mlflow: {no_number(value)}"
        if value is not None
        else "mlflow: no score"
    )
    yield Score(name, number, clipped(words))


def _verdict(name: str, assessment: Mapping[str, Any], judge: str, row: Mapping[str, Any]) -> dict[str, Any]:
    feedback = mapping(assessment.get("feedback"))
    error = mapping(feedback.get("error")).get("error_message") or row.get(f"{name}/error_message")
    value = feedback.get("value")
    mark = None if error else score_of(value)[0]
    return {
        **present(judge=judge or None),
        "criterion": name,
        "mark": mark,
        "label": text_of(value) if isinstance(value, (str, bool)) else "",
        "reason": str(assessment.get("rationale") or ""),
        "unscored": UNSCORED if mark is None else "",
        "detail": "" if mark is not None else clipped(str(error or f"mlflow: {no_number(value)}")),
    }


def _label(assessment: Mapping[str, Any]) -> dict[str, Any]:
    value = mapping(assessment.get("feedback")).get("value")
    return {
        "annotator": _source(assessment)[1] or "human",
        "criterion": str(assessment.get("assessment_name")),
        "mark": score_of(value)[0],
        "label": text_of(value) if isinstance(value, (str, bool)) else "",
        "comment": str(assessment.get("rationale") or ""),
    }


def _legacy(table: Mapping[str, Any]) -> Run:
    columns = [str(column) for column in sequence(table.get("columns"))]
    rows = [dict(zip(columns, row, strict=False)) for row in sequence(table.get("data")) if isinstance(row, list)]
    metrics: dict[str, str] = {}
    for column in columns:
        if found := _SCORE.match(column):
            name = found["name"] if found["name"] not in metrics else f"{found['name']}/{found['version']}"
            metrics[name] = column
    run = Run(NAME, _legacy_rows(rows, columns, metrics))
    run.scales = {name: "1..5" for name in metrics if name in _JUDGES}
    run.lower_assumed = lambda metric: metric.startswith(("toxicity", "mae", "mse", "rmse", "perplexity"))
    run.left_aside.update(column for column in columns if column in _NO_METRICS)
    run.notes.append(NO_MODEL)
    run.notes.append("ids were made in the order of the file, since it has none")
    run.notes.append("the tool's own means are not in the file but among the run's metrics")
    return run


def _first(columns: Sequence[str], *names: str) -> str:
    return next((name for name in names if name in columns), "")


def _legacy_rows(rows: Sequence[dict[str, Any]], columns: Sequence[str], metrics: Mapping[str, str]) -> Iterator[Row]:
    asked = _first(columns, "inputs", "input", "question", "query", "prompt") or (columns[0] if columns else "")
    answer, gold = (
        _first(columns, "predictions", "outputs", "output"),
        _first(columns, "ground_truth", "targets", "target"),
    )
    contexts = _first(columns, "context", "retrieved_context", "source_documents")
    own = {asked, answer, gold, contexts, *_NO_METRICS, *metrics.values()}
    for i, row in enumerate(rows, start=1):
        said = row.get(answer)
        item: dict[str, Any] = {"id": numbered(i), "question_hash": question_hash(_json(row.get(asked)))}
        item |= {
            "question": text_of(row.get(asked) or ""),
            "answer": said if said is None else text_of(said),
            "reference": row.get(gold),
        }
        item |= present(contexts=row.get(contexts)) if contexts else {}
        further = {key: value for key, value in row.items() if key not in own and not re.search(r"/v\d+/", key)}
        scores, verdicts = [], []
        for name, column in metrics.items():
            reason_column = column.removesuffix("score") + "justification"
            reason, value = row.get(reason_column), row.get(column)
            number = score_of(value)[0]
            failed = reason or ("mlflow: no score" if value is None else f"mlflow: {no_number(value)}")
            score = Score(name, number, "" if number is not None else clipped(str(failed)))
            scores.append(score)
            if reason_column in columns:
                verdicts.append({
                    "criterion": name, "mark": number, "label": "", "reason": "" if number is None else str(reason or ""),
                    "unscored": UNSCORED if number is None else "", "detail": score.detail,
                })  # fmt: skip
        yield Row(item | {k: v for k, v in metadata_columns(further).items() if k not in item}, scores, verdicts)
