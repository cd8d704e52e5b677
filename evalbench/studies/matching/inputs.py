"""True and predicted violations, checked, ordered, with their spans located in the text; and a file of weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput
from evalbench.metrics.matching import Spans, assemble_spans
from evalbench.readers.files import parsed_json
from evalbench.text.locate import locate

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.dataset import Dataset


CONTEXT_THRESHOLD = 0.8
"""Least similarity of a context that is located fuzzily."""


@dataclass(frozen=True)
class Violations:
    """True and predicted violations with located spans, sorted by sample, checker and id.

    Attributes
    ----------
    truth, predictions : DataFrame
        With ``located`` (how the span was found) and, for predictions, ``checker``.
    documents : DataFrame
        ``sample_id, text``, one row per sample.
    checkers : tuple of str
        ``name@version|model``, in order.
    truth_spans, predicted_spans : Spans
    faults : DataFrame
        Predicted contexts that are not in their text: they count as predictions that overlap with nothing.
    notes : tuple of str
    """

    truth: pd.DataFrame
    predictions: pd.DataFrame
    documents: pd.DataFrame
    checkers: tuple[str, ...]
    truth_spans: Spans
    predicted_spans: Spans
    faults: pd.DataFrame
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = f"{len(self.truth)} true and {len(self.predictions)} predicted violations"
        return f"<{counts} of {len(self.documents)} texts by {len(self.checkers)} checkers>"


def prepare(data: Dataset, *, context_threshold: float = CONTEXT_THRESHOLD) -> Violations:
    """Check and order violations and find their spans.

    Parameters
    ----------
    data : Dataset
    context_threshold : float
        Least similarity of a fuzzily located context, 0–1.

    Raises
    ------
    BadInput
        All faults at once: samples without a text, spans beyond the text, true contexts that are not in
        the text, rows with neither span nor context, checkers not written ``name@version|model``.
    """
    import pandas as pd

    documents, faults = _documents(data)
    texts = dict(zip(documents["sample_id"], documents["text"], strict=True))
    truth = data["truth"].sort_values(["sample_id", "violation_id"], kind="stable", ignore_index=True)
    predictions = data["predictions"].sort_values(
        ["sample_id", "checker", "violation_id"], kind="stable", ignore_index=True
    )
    for frame in (truth, predictions):
        for column in ("category", "explanation", "correction"):
            if column not in frame:
                frame[column] = ""
    truth_spans, truth_lost = _spans(truth, texts, "truth", context_threshold, faults)
    spans, lost = _spans(predictions, texts, "predictions", context_threshold, faults)
    faults += [
        f"truth: violation {row.violation_id} of sample {row.sample_id}: its context is not in the text: {_clip(str(row.context))}"
        for row in truth_lost.itertuples()
    ]
    checkers = tuple(sorted(predictions["checker"].unique()))
    strange = (name for name in checkers if not re.fullmatch(r"[^@|]+@[^@|]+\|.+", name))
    faults += [
        f"predictions: checker {name!r} is not written name@version|model, such as {_example(name)}" for name in strange
    ]
    if faults:
        raise BadInput.listing(f"{data.label}: {len(faults)} fault{'s' * (len(faults) != 1)}:", faults)
    notes = list(data.notes)
    for name, frame in (("truth", truth), ("predictions", predictions)):
        for how in ("white space", "fuzzy"):
            count = int((frame["located"] == how).sum())
            if count:
                which = "1 context was" if count == 1 else f"{count} contexts were"
                notes.append(f"{name}: {which} located in the text by {how} search, not exactly")
    described = data.get("checkers")
    silent = sorted(set(described["checker"]) - set(checkers)) if described is not None else []
    if silent:
        notes.append(
            f"checkers: no predictions of {', '.join(silent)}, so {'it is' if len(silent) == 1 else 'they are'} not judged"
        )
    return Violations(truth, predictions, documents, checkers, truth_spans, spans, pd.DataFrame(lost), tuple(notes))


def _documents(data: Dataset) -> tuple[pd.DataFrame, list[str]]:
    import pandas as pd

    faults: list[str] = []
    documents = data.get("documents")
    if documents is None:
        if "text" not in data["truth"]:
            raise BadInput(
                f"{data.label}: the truth has no column text and there is no table documents (sample_id, text)"
            )
        documents = data["truth"][["sample_id", "text"]].drop_duplicates()
        doubled = documents.loc[documents["sample_id"].duplicated(), "sample_id"].unique()
        faults += [f"truth: sample {sample} has different texts in different rows" for sample in doubled]
    known = set(documents["sample_id"])
    for table in ("truth", "predictions"):
        samples = pd.Index(data[table]["sample_id"].unique())
        faults += [f"{table}: sample {s} has no text in documents" for s in samples[~samples.isin(known)]]
    return documents.sort_values("sample_id", ignore_index=True), faults


def _spans(
    frame: pd.DataFrame, texts: Mapping[str, str], table: str, threshold: float, faults: list[str]
) -> tuple[Spans, pd.DataFrame]:
    """Spans of every row from ``spans``, else ``start, end``, else a located ``context``; and the rows not found."""
    n = len(frame)
    start = frame["start"].to_numpy(dtype=float) if "start" in frame else np.full(n, np.nan)
    end = frame["end"].to_numpy(dtype=float) if "end" in frame else np.full(n, np.nan)
    listed = frame["spans"].tolist() if "spans" in frame else [[]] * n
    contexts = frame["context"].tolist() if "context" in frame else [""] * n
    size = frame["sample_id"].map({s: len(t) for s, t in texts.items()}).fillna(np.inf).to_numpy(dtype=float)
    given = ~np.isnan(start) & ~np.isnan(end)
    whole = given & np.array([not spans for spans in listed], dtype=bool)
    wrong = whole & ((start < 0) | (end <= start) | (end > size))
    for i in np.flatnonzero(wrong).tolist():
        faults.append(
            f"{_row(table, frame, i)}: span {start[i]:.0f}–{end[i]:.0f} is not inside its text of {size[i]:.0f} characters"
        )
    several: dict[int, list[list[int]]] = {i: [] for i in np.flatnonzero(~whole | wrong).tolist()}
    how = np.where(whole, "given", "").astype(object)
    lost = []
    for i in np.flatnonzero(~whole).tolist():
        sample = str(frame["sample_id"].iat[i])
        if listed[i]:
            beyond = [s for s in listed[i] if s[1] > size[i]]
            if beyond:
                faults.append(
                    f"{_row(table, frame, i)}: span {beyond[0]} is not inside its text of {size[i]:.0f} characters"
                )
            several[i], how[i] = listed[i], "given"
        elif str(contexts[i]).strip():
            place = locate(contexts[i], texts.get(sample, ""), threshold)
            several[i], how[i] = ([[place.start, place.end]], place.how) if place else ([], "not found")
            if place is None and sample in texts:
                lost.append(i)
        else:
            faults.append(f"{_row(table, frame, i)}: neither start and end nor spans nor a context")
    frame["located"] = how
    columns = [c for c in ("sample_id", "checker", "violation_id", "context") if c in frame]
    return assemble_spans(start, end, several), frame.iloc[lost][columns].reset_index(drop=True)


def _row(table: str, frame: pd.DataFrame, i: int) -> str:
    return f"{table}: violation {frame['violation_id'].iat[i]} of sample {frame['sample_id'].iat[i]}"


def _example(name: str) -> str:
    """How a checker may be named, keeping what there is of a name."""
    plain = re.split(r"[@|]", name)[0].strip() or "checker"
    return f"{plain}@1|unknown"


def _clip(text: Any) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def read_weights(path: str) -> dict[str, Any]:
    """A calibration file: ``parameters`` holds weights and thresholds, the rest says where they came from; empty without.

    Raises
    ------
    BadInput
        If it cannot be read or states something unknown.
    """
    if not path:
        return {}
    known = {"std_weights", "ha_weights", "overlap_threshold", "rule_threshold", "score_threshold", "ha_thresholds"}
    try:
        content = parsed_json(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"weights_file {path}: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("parameters"), dict):
        raise BadInput(f'weights_file {path}: expected an object with a key "parameters"')
    unknown = sorted(set(content["parameters"]) - known)
    if unknown:
        raise BadInput(f"weights_file {path}: unknown {', '.join(unknown)}; it may state {', '.join(sorted(known))}")
    return content
