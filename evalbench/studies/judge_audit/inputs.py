"""Recorded verdicts and human labels of any shape as one table of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, readers
from evalbench.readers import Column, Table
from evalbench.studies.judge_audit import kinds, labelled_rows, live, marks_in_words

JUDGE_UNNAMED = "judge not named"
CRITERION = "criterion"
KEYS = ("id", "model", "trial", CRITERION)
"""The columns that name an answer judged by a criterion."""
OF_VERDICT = (*KEYS, "judge", "variant", "probe", "order", "repeat")
HUMAN = "human"
_LABEL_COLUMN = re.compile(r"(?:human|annotator|label|rater|expert|эксперт|разметчик|专家|人工)[_ ](?P<name>.+)")


def _text(name: str, help: str = "", former: tuple[str, ...] = ()) -> Column:
    return Column(name, "text", former=former, required=False, empty_ok=True, help=help)


def _name(name: str, help: str = "") -> Column:
    return Column(name, "id", required=False, empty_ok=True, help=help)


def _number(name: str, help: str = "", low: float | None = None, role: str = "") -> Column:
    return Column(name, "float", role=role, required=False, empty_ok=True, low=low, help=help)


SCHEMA: Mapping[str, Table] = {
    "verdicts": Table(
        (
            Column("id", "id"),
            Column("judge", "id", required=False, groups=True),
            _name("model", "whose answer was judged"),
            _name("trial", "another answer of the model to the same"),
            _name(CRITERION),
            Column(
                "mark",
                "float",
                empty_ok=True,
                help="0 or 1, or a mark; of pairs the preference for answer: 1, 0, 0.5 or a probability; "
                "empty: the judge gave none",
            ),
            Column(
                "order",
                "text",
                required=False,
                empty_ok=True,
                choices=("ab", "ba", ""),
                help="of pairs: ab, answer was shown first; ba, it was shown second",
            ),
            _name("repeat", "which of several times that the same was asked"),
            _number("length", "of the answer; by default the characters of answer", 0, role="none"),
            _number("length_other", "of the other answer of a pair", 0),
            _text("question"),
            _text("answer", former=("output",)),
            _text("answer_other", "the other answer of a pair", ("output_other",)),
            _text("lang", "ISO 639-1 code"),
            _text("reason", "the judge's"),
            _text("comment", "yours, of the judge by this criterion"),
            _text("method", "how the judge was asked, such as G-Eval"),
            _number("tokens", "", 0),
            _number("seconds", "", 0),
            _number("cost", "", 0),
            _text("prompt", "its hash or version"),
            _text("unscored", "why there is no mark"),
            _text("probe", "what was done to the answer, such as injected; empty: nothing"),
            _name("variant", "which of several texts of a probe"),
            _number(
                "effect",
                "of a probe, as a share of the scale: what it added to the mark, or a constant text earned",
                -1,
            ),
            _number("room", "of an order to the judge: what it could have added at most"),
            _text("detail", "of the reason why there is no mark"),
            _text("call", "the name of the call"),
            _number(HUMAN, "a person's label, where there is no table of labels"),
            _text(kinds.KINDS, "of marks that are words of several kinds: all of these, made when they are read"),
        ),
        unique=OF_VERDICT,
        required=False,
        help="one row per verdict",
    ),
    "labels": Table(
        (
            Column("id", "id"),
            _name("annotator"),
            Column("mark", "float", empty_ok=True, help="empty: skipped"),
            _name("model"),
            _name("trial"),
            _name(CRITERION),
            _text("comment"),
            _text("skipped", "as `label merge` writes it; not used"),
            _text("stratum", "as `label merge` writes it; not used"),
            _text(
                "selected_by",
                "as `label merge` writes it: labels of items that somebody looked for are not a random part",
            ),
            _number("seconds", "as `label merge` writes it; not used"),
            Column(
                "probability",
                "float",
                required=False,
                empty_ok=True,
                low=0,
                high=1,
                help="with which the item was drawn to be labelled",
            ),
        ),
        required=False,
        help="one row per label, as `evalbench label merge` writes it",
    ),
    "items": live.ITEMS,
}

ALSO: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "verdicts": {
        "model": ("model_a",),
        "mark": ("winner",),
        "repeat": ("attempt", "iteration", "round"),
        "answer": marks_in_words.FIRST[1:4],
        "answer_other": marks_in_words.SECOND[1:4],
        "reason": ("explanation", "rationale", "justification", "reasoning"),
        "tokens": ("total_tokens", "n_tokens"),
        "seconds": ("latency", "duration"),
    },
    "labels": {"annotator": ("evaluator", "judge", "асессор"), "mark": ("winner",)},
    "items": {"basis": ("reference", "ground_truth", "context")},
}
"""Names of what only this study asks for, the likeliest first; all others are in the roles."""
_SAID = ("reason", "comment", "detail")
"""Columns that are shown and nothing is computed from."""


class Readings(NamedTuple):
    """What judges and people said.

    - ``verdicts``: All columns of ``OF_VERDICT``, absent ones empty; ``mark`` without a value where ``unscored`` says
      why.
    - ``labels``: The columns of :data:`KEYS`, those that labels do not name empty, ``annotator``, ``mark``,
      ``probability``.
    - ``on``: By which of :data:`KEYS` labels belong to verdicts.
    """

    verdicts: pd.DataFrame
    labels: pd.DataFrame
    on: tuple[str, ...]
    notes: tuple[str, ...]


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Tables with the usual other names of columns, and with marks in words, as the tables of the schema."""
    frames = labelled_rows.labels_apart(frames)
    found = {name: readers.labels.label_columns(frame) if name == "labels" else frame for name, frame in frames.items()}
    found |= {"verdicts": marks_in_words.each_order(found["verdicts"])} if "verdicts" in found else {}
    named = {name: _adapted(frame, ALSO[name]) if name in ALSO else frame for name, frame in found.items()}
    if named.get("verdicts") is None:
        return named
    named = {**kinds.coded(named, lambda column: column == HUMAN or _LABEL_COLUMN.fullmatch(column))}
    verdicts = named["verdicts"]
    if "mark" not in verdicts and "items" not in named:
        _ask_whose(verdicts)
    if "mark" not in verdicts and "answer" in verdicts and "items" not in named:
        return {
            **{k: v for k, v in named.items() if k != "verdicts"},
            "items": _adapted(frames["verdicts"], ALSO["items"]),
        }
    return _with_answers({**named, "verdicts": _each_once(verdicts)})


def _ask_whose(verdicts: pd.DataFrame) -> None:
    """Refuse several columns of marks, of which no name says which are the judge's and which people's."""
    role, own = readers.role_names.roles()["mark"], {column.name for column in SCHEMA["verdicts"].columns}
    stems = {"mark", *role.names, *role.weak}
    named = [
        str(c)
        for c in verdicts
        if str(c) not in own and (readers.wide.parted(str(c), stems) or readers.role_names.plain(str(c)) in stems)
    ]
    held = [c for c in named if readers.role_values.is_marks(readers.role_values.first_cells(verdicts[c]))]
    if len(held) > 1:
        other = "human" if HUMAN not in verdicts else "NAME"
        ways = " or ".join(f"--map {c}=mark" for c in held)
        rest = " or ".join(f"--map {c}={other}" for c in held)
        raise errors.BadInput(
            f"several columns hold marks: {', '.join(held)}; which are the judge's ({ways}), and which people's ({rest})? "
            "--map NAME= leaves a column out"
        )


def _with_answers(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Verdicts with the texts of the answers that were imported beside them; answers with trials are no table of their own."""
    verdicts, items = frames["verdicts"], frames.get("items")
    if items is None:
        return frames
    keys = [c for c in ("id", "model", "trial") if c in verdicts and c in items]
    texts = [c for c in ("question", "answer", "lang") if c in items and c not in verdicts]
    once = items.astype(dict.fromkeys(keys, str)).drop_duplicates(keys, keep=False) if "id" in keys else None
    if once is None or not texts or "answer_other" in verdicts or "answer_other" in items:
        return frames
    joined = verdicts.astype(dict.fromkeys(keys, str)).merge(once[[*keys, *texts]], on=keys, how="left")
    out = verdicts.assign(**{c: joined[c].to_numpy() for c in texts})
    out.attrs = verdicts.attrs
    rest = {name: frame for name, frame in frames.items() if name != "items" or "trial" not in frame}
    return {**rest, "verdicts": out}


def _each_once(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Without rows that are there twice, word for word."""
    try:
        doubled = verdicts.duplicated()
    except TypeError:  # cells that are lists
        doubled = verdicts.astype(str).duplicated()
    if not doubled.any() or verdicts.columns.duplicated().any():
        return verdicts
    named = [c for c in ("judge", "model", CRITERION) if c in verdicts]
    whose = []
    if named:
        of = verdicts.loc[doubled, named].astype(str).agg(", ".join, axis=1).value_counts()
        whose = [f"{group}: {n:,}" for group, n in of.head(3).items()]
    said = f"{core.counted(int(doubled.sum()), 'row')} of verdicts appear more than once, word for word, and count once"
    found = verdicts[~doubled]
    found.attrs = {
        **verdicts.attrs,
        "notes": (*verdicts.attrs.get("notes", ()), f"{said} ({'; '.join(whose)})" if whose else said),
    }
    return found


def _adapted(frame: pd.DataFrame, also: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    names = {str(column).strip() for column in frame.columns}
    found = {}
    for own, others in also.items():
        other = next((name for name in others if name in names and name not in found), None)
        if own not in names and other is not None:
            found[other] = own
    renamed = frame.rename(columns={c: found.get(str(c).strip(), c) for c in frame.columns})
    notes = list(frame.attrs.get("notes", ()))
    for column in [c for c in _SAID if c in renamed and renamed.columns.is_unique]:
        nested = renamed[column].map(lambda cell: isinstance(cell, list | dict))
        if nested.any():
            renamed[column] = renamed[column].where(~nested, renamed[column].map(_as_text))
            notes.append(f"{column}: {core.counted(int(nested.sum()), 'cell')} with a list or an object, shown as JSON")
    notes += [f"column {other} was read as {own}" for other, own in found.items()]
    for column in ("mark", HUMAN):
        if column not in renamed or renamed.columns.duplicated().any():
            continue
        marks_in_words.as_numbers(renamed, column, notes, of_pairs="answer_other" in renamed)
    renamed.attrs = {**frame.attrs, "notes": tuple(notes)}
    return renamed


def _as_text(cell: Any) -> Any:
    return json.dumps(cell, ensure_ascii=False, default=str) if isinstance(cell, list | dict) else cell


def read(
    data: readers.Dataset, humans: Sequence[str] = (), kinds_in_order: Sequence[str] = (), *, at_random: bool = False
) -> Readings:
    """Verdicts and labels of a data set.

    - ``humans``: Names in the column ``judge`` that are people: their rows are labels.
    - ``kinds_in_order``: The kinds of marks that are words, from the lowest: then they are ordered marks.
    - ``at_random``: Leave out labels of items that somebody looked for, with a filter or in an order.

    Raises ``BadInput`` for names that are not there, tables without a judge's verdict, and several labels of one
    annotator for the same.
    """
    verdicts = data["verdicts"].reset_index(drop=True)
    for column in (*OF_VERDICT, "unscored", "answer", "answer_other", "comment", "method", "prompt"):
        if column not in verdicts:
            verdicts[column] = ""
    verdicts["judge"] = verdicts["judge"].replace("", JUDGE_UNNAMED)
    faults = [f"humans: no verdict is by {name}" for name in humans if name not in set(verdicts["judge"])]
    people = verdicts["judge"].isin(list(humans))
    said = verdicts[people & (verdicts["probe"] == "")]
    tables = [said.assign(annotator=said["judge"])]
    verdicts = verdicts[~people].reset_index(drop=True)
    if verdicts.empty:
        faults.append("every verdict is by one of humans: no judge is left")
    given = data.get("labels")
    if given is not None:
        tables.append(given)
    beside, used = _beside(verdicts, data.unused.get("verdicts", ()))
    tables += beside
    labels = pd.concat([_as_labels(table) for table in tables], ignore_index=True)
    notes = [f"Columns that were read as labels of people: {', '.join(used)}."] if used else []
    skipped = int(labels["mark"].isna().sum())
    notes += [f"{core.counted(skipped, 'label')} without a mark, left out."] if given is not None and skipped else []
    labels = labels[labels["mark"].notna()]
    if at_random and (selected := readers.labels.is_selected(labels)).any():
        why = readers.labels.no_random_part(labels.loc[selected, "selected_by"].tolist())
        labels, n = labels[~selected], core.counted(int(selected.sum()), "label")
        notes.append(f"{n} left out, {why}; `labels_drawn=elsewhere` takes them.")
        faults += [] if len(labels) else [f"all {n} were {why}; `labels_drawn=elsewhere` takes them"]
    on = tuple(c for c in KEYS if c == "id" or ((labels[c] != "").any() and (verdicts[c] != "").any()))
    doubled = labels[labels.duplicated([*on, "annotator"], keep=False)]
    if len(doubled):
        first = doubled.iloc[0]
        of = ", ".join(f"{c} {first[c]}" for c in (*on, "annotator") if first[c] != "")
        way = "label columns that tell them apart (model, criterion, trial) must be in the verdicts too"
        faults.append(f"{len(doubled)} labels of one annotator for the same, first {of}; {way}")
    faults += _other_scales(verdicts, labels)
    if faults:
        raise errors.BadInput.listing("verdicts and labels:", faults)
    if kinds_in_order:
        verdicts, labels = kinds.in_order(verdicts, labels, kinds_in_order)
    verdicts, lost = _with_reasons(verdicts)
    own = pd.MultiIndex.from_frame(verdicts[[*on]])
    strange = ~pd.MultiIndex.from_frame(labels[[*on]]).isin(own)
    if strange.any():
        notes.append(_unasked(verdicts, labels, strange, on))
    return Readings(verdicts, labels[~strange].reset_index(drop=True), on, (*notes, *lost))


def _unasked(verdicts: pd.DataFrame, labels: pd.DataFrame, strange: Any, on: Sequence[str]) -> str:
    """The note on labels of what no judge was asked about, of the first rank where ids are only written otherwise."""
    one = ", ".join(str(v) for v in labels.loc[strange, list(on)].iloc[0])
    said = f"{core.counted(int(strange.sum()), 'label')} of what no judge was asked about, left out, first {one}."
    for column in on:
        known = set(verdicts[column])
        near = readers.strangers.written_otherwise(sorted(set(labels.loc[strange, column]) - known), known)
        if near:
            short = f"{core.counted(int(strange.sum()), 'label')} of what no judge was asked about; of {column}: {near}"
            return core.Note("unmatched", short, f"{said[:-1]}; of {column}: {near}.")
    return said


def _other_scales(verdicts: pd.DataFrame, labels: pd.DataFrame) -> Iterator[str]:
    """A fault for each criterion whose verdicts are within 0–1 and whose labels are not."""
    shared = (verdicts[CRITERION] != "").any() and (labels[CRITERION] != "").any()
    for criterion in sorted(set(verdicts[CRITERION])) if shared else [""]:
        marks = verdicts.loc[verdicts[CRITERION] == criterion if shared else slice(None), "mark"].dropna()
        own = labels.loc[labels[CRITERION].isin([criterion, ""]) if shared else slice(None), "mark"]
        if marks.empty or own.empty:
            continue
        low, high, least, most = marks.min(), marks.max(), own.min(), own.max()
        if 0 <= low < 1 and high <= 1 and (least < 0 or most > 1):
            name = f"criterion {criterion}: " if criterion else ""
            yield (
                f"{name}verdicts are between {low:g} and {high:g}, labels between {least:g} and {most:g}: not one scale; "
                "bring both to the same one"
            )


def _beside(verdicts: pd.DataFrame, unused: Sequence[str]) -> tuple[list[pd.DataFrame], list[str]]:
    """Labels in columns of the verdicts, ``human`` or such as ``human_ada``, each once for an answer."""
    found, used = [], []
    columns = {HUMAN: HUMAN} if HUMAN in verdicts else {}
    columns |= {c: m["name"] for c in unused if c in verdicts and (m := _LABEL_COLUMN.fullmatch(c))}
    for column, annotator in columns.items():
        marks = pd.to_numeric(verdicts[column].replace("", None), errors="coerce").astype(float)
        there = verdicts[column].notna() & (verdicts[column].astype(str).str.strip() != "")
        if not np.isfinite(marks[there]).all() or not there.any():
            continue  # a text beside the verdicts, such as label_name
        rows = verdicts.loc[there, [*KEYS]].assign(mark=marks[there], annotator=annotator)
        found.append(rows[~rows.duplicated()])
        used += [column] if column != HUMAN else []
    return found, used


def _as_labels(table: pd.DataFrame) -> pd.DataFrame:
    empty: dict[str, Any] = {**dict.fromkeys((*KEYS, "annotator", "comment", "selected_by"), ""), "probability": np.nan}
    named = table.assign(**{c: value for c, value in empty.items() if c not in table})
    return named[[*KEYS, "annotator", "mark", "probability", "comment", "selected_by"]].astype(
        {"mark": float, "probability": float}
    )


def _with_reasons(verdicts: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Why each verdict without a mark has none, one of the known reasons; a reason in other words is its detail."""
    given = verdicts["unscored"].str.strip()
    hyphenated = given.str.casefold().str.replace(r"[\s_]+", "-", regex=True)
    known = hyphenated.where(hyphenated.isin(core.unscored.REASONS), "no-value")
    marked = verdicts["mark"].notna()
    both = int((marked & (given != "")).sum())
    notes = (
        [f"{core.counted(both, 'verdict')} with a mark and a reason why there is none: the mark counts."]
        if both
        else []
    )
    detail = given.where(~marked & (known == "no-value"), "")
    return verdicts.assign(unscored=known.where(~marked, ""), detail=detail), notes
