"""The shape that every reader gives: rows with their scores, verdicts and labels, and what is known of the run."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

UNSCORED = "imported"
NO_MODEL = (
    "the model is not in the file; evalbench data import FILE --model NAME --to DIR names it, in a copy to run on"
)
OWN = (
    *(
        "id",
        "model",
        "trial",
        "task",
        "split",
        "question_hash",
        "question",
        "messages",
        "answer",
        "reference",
        "contexts",
    ),
    *("choices", "error", "seconds", "cost", "tokens", "samples", "raw_answer"),
    *("output", "response", "reply", "model_answer", "prompt", "query", "request", "context", "chunks"),
    *("system", "score", "mark", "judge", "annotator", "unscored"),
)
"""Columns of ``items``, and names under which studies look for what was asked and said; metadata of these names, such as
the gold answer of a data set, become ``metadata_NAME``."""


MOST = 1e100
"""No score is larger, so that sums and squares of scores are finite."""


class Score(NamedTuple):
    """One metric of one row; ``value`` None: unscored, for the reason in ``detail``."""

    metric: str
    value: float | None
    detail: str = ""
    answer: str | None = None
    passed: bool | None = None


class Row(NamedTuple):
    """One answer: its columns, its scores, and what judges and people said of it.

    - ``kind`` ({"answer", "whole", "trial", "more"}): ``whole``: the first of several trials, whose scores are those of
      all trials together and get no trial; ``trial``: a further one of them; ``more``: further scores of a row that was
      given before.
    """

    item: dict[str, Any]
    scores: list[Score]
    judgements: Sequence[dict[str, Any]] = ()
    labels: Sequence[dict[str, Any]] = ()
    kind: str = "answer"


class Figure(NamedTuple):
    """A figure that the tool wrote, beside ours; ``reason`` is a code and ``words`` say why the two differ."""

    metric: str
    tool_figure: str
    tool_value: float | None
    ours: float | None
    n: int
    reason: str = ""
    words: str = ""
    model: str = ""
    slice: Mapping[str, str] = {}

    @property
    def agrees(self) -> bool:
        if self.tool_value is None or self.ours is None:
            return self.tool_value is self.ours
        return math.isclose(self.tool_value, self.ours, rel_tol=1e-9, abs_tol=1e-9)


_LOWER = re.compile(
    r"errors?|loss|latency|perplexity|ppl|[wct]er|toxicity|toxic|harmful|unsafe|offensive|hallucinat(?:ions?|ed)|bias|biased|brier|ece|r?m[as]e|rmse|violations|failures"
    r"|duration|seconds|ms|cost"
)
_GOOD = re.compile(r"accuracy|precision|recall|f1|auc|auroc|detect(ion|ed)|similarity|free|no|without|non")


def lower_by_name(metric: str) -> bool:
    """Whether the name of a metric alone shows that less is better.

    Examples
    --------
    >>> [lower_by_name(name) for name in ("error_rate", "latencyMs", "Bias", "is_toxic", "error_detection_f1", "faithfulness")]
    [True, True, True, True, False, False]
    """
    words = {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", metric)}
    return any(map(_LOWER.fullmatch, words)) and not any(map(_GOOD.fullmatch, words))


@dataclass
class Run:
    """What a file says of itself, and its rows, one at a time.

    - ``version``, ``format_version``: As the file has them.
    - ``task``: The task of all rows; rows of several files with different tasks get it in front of their ids.
    - ``model``: The model of all rows that name none.
    - ``folder``: The name of the model where neither the file nor the user gives one: that of its folder.
    - ``higher``: Metric → whether more is better, where the file has it.
    - ``plain``: The name of a metric in ``higher``.
    - ``lower_assumed``: Whether less is better, from the name of a metric of which the file does not say so.
    - ``scales``: Where the reader knows them, such as ``yes/no``.
    - ``binary``: Whether a metric that is only 0 and 1 has the scale 0/1.
    - ``headline``: Figures of the tool as they are written.
    - ``figures``: From the :class:`~evalbench.readers.tools.tally.Tally` of all rows to figures beside ours.
    - ``assumed``, ``notes``: Sentences.
    - ``left_aside``: Columns that are not read.
    """

    tool: str
    rows: Iterator[Row]
    version: str | None = None
    format_version: int | str | None = None
    task: str = ""
    model: str = ""
    folder: str = ""
    higher: dict[str, bool] = field(default_factory=dict)
    plain: Callable[[str], str] = lambda metric: metric
    lower_assumed: Callable[[str], bool] = lower_by_name
    scales: dict[str, str] = field(default_factory=dict)
    binary: bool = False
    headline: dict[str, Any] = field(default_factory=dict)
    figures: Callable[[Any], Iterable[Figure]] = lambda tally: ()
    assumed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_aside: Counter[str] = field(default_factory=Counter)


def text_of(value: Any) -> str:
    """A JSON value as text; a text is itself.

    Examples
    --------
    >>> text_of("да"), text_of({"a": [1]}), text_of(True)
    ('да', '{"a": [1]}', 'true')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def sole_text(value: Any) -> Any:
    """The text of an object that holds nothing else; any other value as it is.

    Examples
    --------
    >>> sole_text({"question": "2+2?"}), sole_text({"a": "x", "b": "y"})
    ('2+2?', {'a': 'x', 'b': 'y'})
    """
    if isinstance(value, dict) and len(value) == 1:
        only = next(iter(value.values()))
        return only if isinstance(only, str) else value
    return value


def question_hash(*parts: Any) -> str:
    """SHA-256 of what a question is made of: of its text where it is one text, so that the files of two tools agree.

    Examples
    --------
    >>> question_hash("2+2?") == question_hash({"question": "2+2?"}) != question_hash("2+2?", ["3", "4"])
    True
    """
    given = [sole_text(part) for part in parts]
    whole = text_of(given[0] if len(given) == 1 else given)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def text_of_messages(messages: Any) -> str:
    """Nested messages as one text: that of a single user, else each after its role.

    Examples
    --------
    >>> text_of_messages([{"role": "user", "content": "Hi"}])
    'Hi'
    >>> text_of_messages([{"role": "system", "content": "Be short."}, {"role": "user", "content": [{"text": "Hi"}]}])
    'system: Be short.\\n\\nuser: Hi'
    """
    if isinstance(messages, str):
        return messages
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        return text_of(messages)
    said = [(str(m.get("role") or m.get("type") or ""), text_of_parts(m.get("content"))) for m in messages]
    if len(said) == 1 and said[0][0] in ("user", "human", ""):
        return said[0][1]
    return "\n\n".join(f"{role}: {text}" if role else text for role, text in said)


def text_of_parts(content: Any) -> str:
    """The texts of a message's content, which may be a list of parts; images and tools are left out."""
    if content is None:
        return ""
    if not isinstance(content, list):
        return text_of(content)
    parts = [part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, (str, dict))]
    return "".join(part for part in parts if isinstance(part, str))


def number_of(value: Any) -> float | None:
    """A number up to :data:`MOST` either way, 1 or 0 for true or false; None for anything else."""
    return float(value) if isinstance(value, int | float) and abs(value) <= MOST else None


def whole_of(value: Any, otherwise: int = 0) -> int:
    """A whole number that is one in the file; for anything else the other.

    Examples
    --------
    >>> whole_of(3), whole_of("3"), whole_of(None, 1)
    (3, 0, 1)
    """
    return value if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 63 else otherwise


WORDS: Mapping[str, float] = {"yes": 1.0, "true": 1.0, "pass": 1.0, "no": 0.0, "false": 0.0, "fail": 0.0}


def score_of(value: Any) -> tuple[float | None, str]:
    """A score and its scale; words that are no yes and no have no value.

    Examples
    --------
    >>> score_of("yes"), score_of(False), score_of(0.5), score_of("often")
    ((1.0, 'yes/no'), (0.0, 'true/false'), (0.5, ''), (None, ''))
    """
    if isinstance(value, bool):
        return float(value), "true/false"
    if isinstance(value, str):
        word = value.strip().lower()
        scale = "pass/fail" if word in ("pass", "fail") else "true/false" if word in ("true", "false") else "yes/no"
        return (WORDS[word], scale) if word in WORDS else (None, "")
    return number_of(value), ""


def no_number(value: Any) -> str:
    """Why a value is no score, in words.

    Examples
    --------
    >>> no_number(float("nan")), no_number("often"), no_number(None)
    ('the score is NaN', 'the score is "often"', 'the score is null')
    """
    if isinstance(value, float) and not abs(value) <= MOST:
        return f"the score is {'NaN' if math.isnan(value) else 'infinite' if math.isinf(value) else f'too large, {value:g}'}"
    return f"the score is {clipped(json.dumps(value, ensure_ascii=False))}"


def clipped(text: str, most: int = 300) -> str:
    """The first line of a text, up to ``most`` characters."""
    line = text.strip().split("\n", 1)[0].rstrip()
    return line if len(line) <= most else line[: most - 1] + "…"


def metadata_columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as columns: a value that is nested becomes JSON text, a name that is ours gets ``metadata_`` in front."""
    return {
        f"metadata_{key}" if key in OWN else str(key): text_of(value) if isinstance(value, (dict, list)) else value
        for key, value in values.items()
        if value is not None
    }


def present(**columns: Any) -> dict[str, Any]:
    """The columns that are not None."""
    return {name: value for name, value in columns.items() if value is not None}


def numbered(i: int) -> str:
    """The id of the row ``i``, from 1, of a format that has none.

    Examples
    --------
    >>> numbered(1), numbered(12345)
    ('q0001', 'q12345')
    """
    return f"q{i:04d}"
