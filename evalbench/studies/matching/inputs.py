"""True and predicted violations, checked, ordered, with their spans located in the text; and a file of weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, errors, readers
from evalbench.metrics.matching import Spans, assemble_spans
from evalbench.studies.matching.names import NOT_NAMED
from evalbench.text.locate import locate
from evalbench.text.odd_texts import LEAST

CONTEXT_THRESHOLD = 0.8
"""Least similarity of a context that is located fuzzily."""
PLACES = ("start", "end", "spans", "context")
NOWHERE = (
    "No violation has a place in its text (a column start and end, spans, or context): text overlap is left out, the other weights "
    "are renormalised, and a pair may match by its rule alone.  --map COLUMN=context names the quoted passages, if there are any."
)


@dataclass(frozen=True)
class Violations:
    """True and predicted violations with located spans, sorted by sample, checker and id.

    - ``truth``, ``predictions``: With ``located`` (how the span was found) and, for predictions, ``model``.
    - ``documents``: ``id, text``, one row per sample.
    - ``checkers``: In order.
    - ``faults``: Predicted contexts that are not in their text: they count as predictions that overlap with nothing.
    - ``placed``: Whether violations have places in their texts; where none has, rules alone are compared.
    """

    truth: pd.DataFrame
    predictions: pd.DataFrame
    documents: pd.DataFrame
    checkers: tuple[str, ...]
    truth_spans: Spans
    predicted_spans: Spans
    faults: pd.DataFrame
    notes: tuple[str, ...] = ()
    placed: bool = True

    def __repr__(self) -> str:
        counts = f"{len(self.truth)} true and {len(self.predictions)} predicted violations"
        return f"<{counts} of {len(self.documents)} texts by {len(self.checkers)} checkers>"


def prepare(data: readers.Dataset, *, context_threshold: float = CONTEXT_THRESHOLD) -> Violations:
    """Check and order violations and find their spans.

    - ``context_threshold``: Least similarity of a fuzzily located context, 0–1.

    Raises ``BadInput``: All faults at once: samples without a text, spans beyond the text, true contexts that are not
    in the text, rows with neither span nor context.
    """
    documents, faults = _documents(data)
    texts = dict(zip(documents["id"], documents["text"], strict=True))
    truth = data["truth"].sort_values(["id", "violation_id"], kind="stable", ignore_index=True)
    predictions = data["predictions"].sort_values(["id", "model", "violation_id"], kind="stable", ignore_index=True)
    for frame in (truth, predictions):
        for column in ("category", "explanation", "correction"):
            if column not in frame:
                frame[column] = ""
    placed = any(column in frame for frame in (truth, predictions) for column in PLACES)
    truth_spans, truth_lost = _spans(truth, texts, "truth", context_threshold, faults, placed)
    spans, lost = _spans(predictions, texts, "predictions", context_threshold, faults, placed)
    faults += [
        f"truth: violation {row.violation_id} of sample {row.id}: its context is not in the text: {_clip(str(row.context))}"
        for row in truth_lost.itertuples()
    ]
    checkers = tuple(sorted({*predictions["model"], *data["predictions"].attrs.get(readers.schema.SYSTEMS, ())} - {""}))
    if faults:
        raise errors.BadInput.listing(f"{data.label}: {len(faults)} fault{'s' * (len(faults) != 1)}:", faults)
    notes = [*([] if placed else [NOWHERE]), *data.notes, *_unversioned(checkers), *_of_one_rule(truth, predictions)]
    for name, frame in (("truth", truth), ("predictions", predictions)):
        for how in ("white space", "fuzzy"):
            count = int((frame["located"] == how).sum())
            if count:
                which = "1 context was" if count == 1 else f"{count} contexts were"
                notes.append(f"{name}: {which} located in the text by {how} search, not exactly")
    described = data.get("checkers")
    silent = sorted(set(described["model"]) - set(checkers)) if described is not None else []
    if silent:
        notes.append(
            f"checkers: no predictions of {', '.join(silent)}, so {'it is' if len(silent) == 1 else 'they are'} not judged"
        )
    return Violations(
        truth, predictions, documents, checkers, truth_spans, spans, pd.DataFrame(lost), tuple(notes), placed
    )


def _of_one_rule(truth: pd.DataFrame, predictions: pd.DataFrame) -> list[core.notes.Note]:
    """A note where all violations of both sides name one rule, or those of one side alone do."""
    true, said = truth["rule"].unique(), []
    only_true = len(true) == 1 and len(truth) >= LEAST
    for checker, own in predictions.groupby("model", sort=True)["rule"]:
        found = own.unique()
        only_found = len(found) == 1 and len(own) >= LEAST
        if only_true and only_found and true[0] == found[0]:
            what = f"all true violations and all of {checker}'s name one rule, {_clip(true[0])}"
            said.append(f"{what}: that their rules are alike shows nothing")
        elif only_found and (len(true) > 1 or only_true):
            among = f"one of the {len(true)} of the truth" if found[0] in true else "which is none of the truth's"
            said.append(f"all {len(own)} predictions of {checker} name one rule, {_clip(found[0])}, {among}")
        elif only_true and true[0] not in found and len(found) > 1:
            what = f"all {len(truth)} true violations name one rule, {_clip(true[0])}"
            said.append(f"{what}, which is none of the {len(found)} of {checker}")
    more = f"; so it is with {len(said) - 2} more checkers" if len(said) > 2 else ""
    return [core.notes.Note("instrument", "; ".join(said[:2]) + more)] if said else []


def _unversioned(checkers: tuple[str, ...]) -> list[str]:
    """A note on checkers that are not written ``name@version|model``: what was judged cannot be told from its name."""
    checkers = tuple(name for name in checkers if name != NOT_NAMED)
    found = [parts_of(name) for name in checkers]
    lacking = {
        what: [name for name, parts in zip(checkers, found, strict=True) if not parts[place]]
        for place, what in ((1, "version"), (2, "model"))
    }
    both = [name for name in lacking["version"] if name in lacking["model"]]
    groups = {
        "Neither version nor model": both,
        "No version": [name for name in lacking["version"] if name not in both],
        "No model": [name for name in lacking["model"] if name not in both],
    }
    return [
        f"{what} of {_some(names)} is known: a later run cannot show whether it was the same (name@version|model has both)."
        for what, names in groups.items()
        if names
    ]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more checkers" if len(names) > 5 else "")


def parts_of(checker: str) -> tuple[str, str, str]:
    """Name, version and model of ``name@version|model``; a part that is not there is empty.

    Examples
    --------
    >>> parts_of("fir@1.0.0|oak-7b"), parts_of("fir@1"), parts_of("gpt-4o-mini")
    (('fir', '1.0.0', 'oak-7b'), ('fir', '1', ''), ('gpt-4o-mini', '', ''))
    """
    own, _, model = checker.partition("|")
    name, _, version = own.partition("@")
    return name, version, model


def _documents(data: readers.Dataset) -> tuple[pd.DataFrame, list[str]]:
    faults: list[str] = []
    documents = data.get("documents")
    if documents is None:
        if "text" not in data["truth"]:
            raise errors.BadInput(
                f"{data.label}: the truth has no column text and there is no table documents (id, text)"
            )
        documents = data["truth"][["id", "text"]].drop_duplicates()
        doubled = documents.loc[documents["id"].duplicated(), "id"].unique()
        faults += [f"truth: sample {sample} has different texts in different rows" for sample in doubled]
    known = set(documents["id"])
    for table in ("truth", "predictions"):
        samples = pd.Index(data[table]["id"].unique())
        strangers = samples[~samples.isin(known)]
        faults += [f"{table}: {why}" for why in [readers.strangers.written_otherwise(strangers, known)] if why]
        faults += [f"{table}: sample {s} has no text in documents" for s in strangers]
    return documents.sort_values("id", ignore_index=True), faults


def _spans(
    frame: pd.DataFrame, texts: Mapping[str, str], table: str, threshold: float, faults: list[str], placed: bool
) -> tuple[Spans, pd.DataFrame]:
    """Spans of every row from ``spans``, else ``start, end``, else a located ``context``; and the rows not found."""
    n = len(frame)
    start = frame["start"].to_numpy(dtype=float) if "start" in frame else np.full(n, np.nan)
    end = frame["end"].to_numpy(dtype=float) if "end" in frame else np.full(n, np.nan)
    listed = frame["spans"].tolist() if "spans" in frame else [[]] * n
    contexts = frame["context"].tolist() if "context" in frame else [""] * n
    size = frame["id"].map({s: len(t) for s, t in texts.items()}).fillna(np.inf).to_numpy(dtype=float)
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
        sample = str(frame["id"].iat[i])
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
        elif placed:
            faults.append(f"{_row(table, frame, i)}: neither start and end nor spans nor a context")
    frame["located"] = how
    columns = [c for c in ("id", "model", "violation_id", "context") if c in frame]
    return assemble_spans(start, end, several), frame.iloc[lost][columns].reset_index(drop=True)


def _row(table: str, frame: pd.DataFrame, i: int) -> str:
    return f"{table}: violation {frame['violation_id'].iat[i]} of sample {frame['id'].iat[i]}"


def _clip(text: Any) -> str:
    return repr(text if len(text) <= 60 else text[:59] + "…")


def read_weights(path: str) -> dict[str, Any]:
    """A calibration file: ``parameters`` holds weights and thresholds, the rest says where they came from; empty without.

    Raises ``BadInput`` if it cannot be read or states something unknown.
    """
    if not path:
        return {}
    known = {"std_weights", "ha_weights", "overlap_threshold", "rule_threshold", "score_threshold", "ha_thresholds"}
    try:
        content = readers.files.parsed_json(Path(path).expanduser().read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise errors.BadInput(f"weights_file {path}: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("parameters"), dict):
        raise errors.BadInput(f'weights_file {path}: expected an object with a key "parameters"')
    unknown = sorted(set(content["parameters"]) - known)
    if unknown:
        raise errors.BadInput(
            f"weights_file {path}: unknown {', '.join(unknown)}; it may state {', '.join(sorted(known))}"
        )
    return content
