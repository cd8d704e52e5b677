"""ragas: ``EvaluationResult.to_pandas()`` as JSON Lines, JSON, CSV or Parquet.

Also the columns of 0.1 (``question, answer, contexts, ground_truth``).  A row has a column per metric and no id, no model,
no version; in CSV, lists are Python literals, and a printed numpy array (no commas between its texts) is taken apart.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from evalbench.errors import BadInput
from evalbench.readers.tools.probe import Probe
from evalbench.readers.tools.safe import lines, objects
from evalbench.readers.tools.shapes import (
    NO_MODEL,
    Row,
    Run,
    Score,
    metadata_columns,
    no_number,
    number_of,
    numbered,
    question_hash,
    text_of,
    text_of_messages,
)

NAME = "ragas"
FILES = "EvaluationResult.to_pandas() saved as .jsonl, .json, .csv or .parquet"
QUESTION = ("user_input", "question")
ANSWER = ("response", "answer")
REFERENCE = ("reference", "ground_truth", "ground_truths")
CONTEXTS = ("retrieved_contexts", "contexts")
TEXTS = (
    *QUESTION,
    *ANSWER,
    *REFERENCE,
    *CONTEXTS,
    "reference_contexts",
    "rubrics",
    "multi_responses",
    "reference_tool_calls",
)
LISTS = (*CONTEXTS, "reference_contexts", "ground_truths", "multi_responses", "rubrics", "reference_tool_calls")
_METRICS = """faithfulness faithful_rate answer_relevancy response_relevancy context_precision context_recall
    context_entity_recall context_relevancy context_utilization answer_correctness answer_similarity semantic_similarity
    llm_context_precision_with_reference llm_context_precision_without_reference non_llm_context_precision_with_reference
    non_llm_context_recall factual_correctness noise_sensitivity noise_sensitivity_relevant exact_match string_present
    non_llm_string_similarity bleu_score rouge_score chrf_score nv_accuracy nv_context_relevance
    nv_response_groundedness aspect_critic simple_criteria_score rubrics_score tool_call_accuracy tool_call_f1
    agent_goal_accuracy topic_adherence llm_sql_equivalence datacompy_score summary_score multimodal_faithful_rate
    multimodal_relevance id_based_context_precision id_based_context_recall"""
KNOWN = frozenset(_METRICS.split())
NO_SCORE = "ragas: no score"
_INDEX = ("", "Unnamed: 0")
_IDS = ("id", "index", "row_id", "sample_id", "question_id", "trial")
"""Numbers that someone added and that are not scores."""


def recognises(look: Probe) -> bool:
    """Whether the columns are those of an evaluation: a question with its answer or passages, and a metric."""
    keys = look.keys
    if look.form == "parquet":
        from evalbench.readers.tools.parquet_rows import columns

        keys = frozenset(columns(look.path))
    elif look.form not in ("lines", "document", "csv") or (look.form == "document" and isinstance(look.value, dict)):
        return False
    if keys & {"trace_id", "doc_id"}:
        return False
    new = "user_input" in keys and bool(keys & {"response", "retrieved_contexts", "reference"})
    old = "question" in keys and "contexts" in keys
    known = bool({_base(key) for key in keys} & KNOWN)
    return (new and (known or _has_numbers(look))) or (old and known)


def _has_numbers(look: Probe) -> bool:
    """Whether a further column of the first rows is a number."""
    if look.form == "csv":
        first: Any = [{name: cell_of(name, text) for name, text in row.items()} for row in look.value[1][:20]]
    else:
        first = objects(look.value)[:20] or [look.value]
    own = (*TEXTS, *_INDEX, *_IDS)
    return any(
        isinstance(value, float)
        for row in first
        if isinstance(row, dict)
        for name, value in row.items()
        if name not in own
    )


def read(look: Probe) -> Run:
    """The rows of a result, and which of its columns are metrics.

    Raises ``BadInput`` if no column is a metric.
    """
    rows = list(_rows(look))
    names = list(dict.fromkeys(key for row in rows for key in row))
    metrics = [name for name in names if _is_metric(name, rows)]
    if not metrics:
        raise BadInput(f"{look.path}: no column with scores; its columns are {', '.join(names)}")
    run = Run(NAME, _each(rows, metrics))
    run.notes.append(NO_MODEL)
    run.notes.append("ids were made in the order of the file, since it has none; the hash of the question pairs runs")
    run.notes.append("the file holds no overall figure of the tool")
    run.lower_assumed = lambda metric: _base(metric).startswith("noise_sensitivity")
    return run


def _rows(look: Probe) -> Iterator[dict[str, Any]]:
    if look.form == "lines":
        yield from (row for _, row in lines(look.path))
    elif look.form == "document":
        yield from objects(look.value)
    elif look.form == "parquet":
        from evalbench.readers.tools.parquet_rows import rows

        yield from rows(look.path)
    else:
        yield from (
            {name: cell_of(name, text) for name, text in row.items() if name not in _INDEX} for row in look.value[1]
        )


def cell_of(name: str, text: str) -> Any:
    """The value of a CSV cell: texts stay texts, lists are Python literals, everything else is a number if it reads as one.

    Examples
    --------
    >>> cell_of("response", "5"), cell_of("exact_match", "0.5"), cell_of("retrieved_contexts", "[]")
    ('5', 0.5, [])
    >>> cell_of("retrieved_contexts", "['a'\\n 'b']"), cell_of("reference", "") is None
    (['a', 'b'], True)
    """
    if text == "":
        return "" if name in ANSWER else None
    if name in LISTS or (name in QUESTION and text.lstrip().startswith("[{")):
        return _literal(text)
    if name in TEXTS:
        return text
    try:
        return float(text)
    except ValueError:
        return text


def _literal(text: str) -> Any:
    """A Python literal; in a printed array the missing commas are put in, since literals side by side are one text."""
    stripped = text.strip()
    if not stripped.startswith(("[", "{")) or len(stripped) > 1_000_000:
        return text
    try:
        value = ast.literal_eval(stripped)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return _texts(stripped) or value
    return value


def _texts(literal: str) -> list[str]:
    """The texts of a list as they are written, whether commas part them or not."""
    tree = ast.parse(literal, mode="eval").body
    if not isinstance(tree, ast.List) or not tree.elts:
        return []
    found: list[str] = []
    for node in tree.elts:
        source = ast.get_source_segment(literal, node) or ""
        found += [ast.literal_eval(piece) for piece in _pieces(source)]
    return found


def _pieces(source: str) -> list[str]:
    """Text literals that stand side by side, one by one."""
    import io
    import tokenize

    tokens = tokenize.generate_tokens(io.StringIO(f"({source})").readline)
    return [token.string for token in tokens if token.type == tokenize.STRING]


def _base(name: str) -> str:
    """The name of a metric without its options: ``factual_correctness(mode=f1)`` is ``factual_correctness``."""
    return str(name).partition("(")[0].strip()


def _is_metric(name: str, rows: list[dict[str, Any]]) -> bool:
    if name in TEXTS or name in _INDEX or name in _IDS:
        return False
    values = [row.get(name) for row in rows]
    present = [value for value in values if value is not None]
    if not present:
        return _base(name) in KNOWN
    return all(isinstance(value, (int, float)) for value in present) or (
        _base(name) in KNOWN and not any(isinstance(value, (list, dict)) for value in present)
    )


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _each(rows: list[dict[str, Any]], metrics: list[str]) -> Iterator[Row]:
    for i, row in enumerate(rows, start=1):
        question, answer = _first(row, QUESTION), _first(row, ANSWER)
        contexts, gold = _first(row, CONTEXTS), row.get("reference_contexts")
        item: dict[str, Any] = {"id": numbered(i), "question_hash": question_hash(question)}
        item["question"] = text_of_messages(question)
        if isinstance(question, list):
            item["messages"] = question
        item["answer"] = answer if answer is None else text_of(answer)
        item["reference"] = _first(row, REFERENCE)
        item["contexts"] = contexts
        if "reference_contexts" in row:
            item["reference_contexts"] = gold
        further = {key: value for key, value in row.items() if key not in (*TEXTS, *_INDEX) and key not in metrics}
        if row.get("rubrics"):
            further["rubrics"] = row["rubrics"]
        item |= metadata_columns(further)
        yield Row(item, [_score(name, row.get(name)) for name in metrics])


def _score(metric: str, value: Any) -> Score:
    number = number_of(value)
    return Score(
        metric, number, "" if number is not None else NO_SCORE if value is None else f"ragas: {no_number(value)}"
    )
