"""What another tool wrote, as one row per answer: its scores in columns of their own, each with why it is not there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.readers import Column, Table
from evalbench.studies.imported.columns import IMPORTED, bounded, melted
from evalbench.studies.imported.forms import HASH, Forms, forms_of

UNIT = "unit"
"""The items' column of the resampling unit: a hash of the question, or the id where some rows have none."""
HIGHER, LOWER, NEITHER = DIRECTIONS = ("higher", "lower", "neither")
NOT_APPLICABLE = "not-applicable"
NO_VALUE = "no-value"
_COPY, _INSTANCE = "perturbation", "instance_id"
_SHORT = 16
_TEXTS = {"question", "answer", "contexts"}
_RESERVED = {"id", UNIT, "model", "unscored", "undefined", "n_trials", "n_trials_lost", "cluster", readers.schema.TRIAL}
_SCORE = " (score)"
_SAMPLED = 20_000

SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("id", "id", help="the question"),
            Column("model", "id", groups=True, required=False, help="whose answer it is"),
            Column("question", "text", former=("prompt",), required=False, empty_ok=True, help="what was asked"),
            Column("answer", "text", former=("output",), required=False, empty_ok=True, keep_null=True, help="shown"),
            Column("reference", "texts", perhaps=("answer",), required=False, empty_ok=True, help="shown"),
            Column("contexts", "texts", former=("context",), required=False, empty_ok=True, help="shown"),
            Column(HASH, "id", required=False, empty_ok=True, help="by which runs are paired; else made of question"),
            Column("error", "text", required=False, empty_ok=True, help="the tool's words where no answer came"),
        ),
        unique=("id", "model"),
        trials="model",
        sampled=_SAMPLED,
        dealt=True,
        of_all=(("model", readers.schema.TRIAL),),
        across=((_COPY, _INSTANCE),),
        scored=True,
        help="one row per answer, with a column of numbers per metric where there is no table scores",
    ),
    "scores": Table(
        (
            Column("id", "id"),
            Column("model", "id", groups=True, required=False, help="as in items"),
            Column(readers.schema.TRIAL, "id", required=False, empty_ok=True, help="as in items"),
            Column("metric", "id"),
            Column("value", "float", empty_ok=True, help="empty: unscored"),
            Column("unscored", "text", required=False, empty_ok=True, help="why there is no value"),
            Column("detail", "text", required=False, empty_ok=True, help="in the tool's own words"),
        ),
        required=False,
        sampled=_SAMPLED,
        dealt=True,
        scored=True,
        help="one row per score that was asked for; a metric that an answer was never asked for has none",
    ),
    "metrics": Table(
        (
            Column("metric", "id"),
            Column("low", "float", required=False, empty_ok=True, help="the worst or best score that there can be"),
            Column("high", "float", required=False, empty_ok=True),
            Column("scale", "text", required=False, empty_ok=True, help="in the tool's words"),
            Column("scale_from", "text", required=False, empty_ok=True, help="file or assumed"),
            Column("direction", "id", required=False, empty_ok=True, choices=(*DIRECTIONS, "")),
            Column("direction_from", "text", required=False, empty_ok=True, help="file or assumed"),
        ),
        unique=("metric",),
        required=False,
        describes=True,
        help="what is known of each metric",
    ),
    "figures": Table(
        (
            Column("metric", "id", empty_ok=True, help="empty: of no single metric, such as tests passed"),
            Column("model", "id", required=False, empty_ok=True),
            Column("slice", "text", required=False, empty_ok=True, help='of a part: {"split": "test"}'),
            Column("tool_figure", "text", required=False, empty_ok=True, help="what the tool calls it"),
            Column("tool_value", "float", empty_ok=True),
            Column("ours", "float", required=False, empty_ok=True, help="of no single metric: the figure by what was scored"),
            Column("n", "float", required=False, empty_ok=True, help="rows that it rests on, as the tool says"),
            Column("words", "text", required=False, empty_ok=True, help="how the tool came to it"),
            Column("reason", "text", required=False, empty_ok=True, help="the same as a code; not used"),
        ),
        required=False,
        describes=True,
        help="the tool's own figures",
    ),
    "judgements": Table(
        (
            Column("id", "id"),
            Column("model", "id", required=False),
            Column(readers.schema.TRIAL, "id", required=False, empty_ok=True),
            Column("judge", "id", required=False, empty_ok=True),
            Column("criterion", "id", required=False, empty_ok=True),
            Column("mark", "float", required=False, empty_ok=True),
            Column("label", "text", required=False, empty_ok=True),
            Column("reason", "text", required=False, empty_ok=True),
            Column("unscored", "text", required=False, empty_ok=True),
            Column("detail", "text", required=False, empty_ok=True),
            Column("judge_prompt", "text", required=False, empty_ok=True, help="what the judge was asked"),
        ),
        required=False,
        describes=True,
        help="verdicts of judges, shown beside the answers",
    ),
}  # fmt: skip


class Given(NamedTuple):
    """What a table holds, in one shape.

    - ``rows``: One per answer: ``id``, ``unit``, ``model``, ``trial`` where there are some, the texts, and the
      scores as in :func:`evalbench.studies.imported.items.items_of`.
    - ``scores``: One per score that was asked for: ``id``, ``unit``, ``model``, ``trial``, ``metric``, ``value``,
      ``unscored``, ``detail``.
    - ``originals``: Of copies that a perturbation made, and that are kept: the unit of each → that of its instance.
    """

    rows: pd.DataFrame
    scores: pd.DataFrame
    notes: tuple[str, ...]
    originals: Mapping[str, str] = {}


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """One long table, a score a row, as the two tables of answers and scores."""
    items = frames.get("items")
    if items is None or "scores" in frames:
        return frames
    names = {str(c).strip(): c for c in items.columns}
    value = next((names[v] for v in ("value", "score") if v in names), None)
    if "metric" not in names or value is None:
        return frames
    own = {names["metric"], value, *(names[c] for c in ("unscored", "detail") if c in names)}
    keys = [names[c] for c in ("id", "model", readers.schema.TRIAL) if c in names]
    if not keys:
        return frames
    scores = items[[*keys, *(c for c in items.columns if c in own)]].rename(columns={value: "value"})
    answers = items.drop(columns=list(own))
    kept = answers[~answers[keys].astype(str).duplicated()]
    of_all = "" if kit.parts.is_dealt(items) else f": {len(items)} scores of {len(kept)} answers"
    kept.attrs["notes"] = [*items.attrs.get("notes", ()), f"one row per score{of_all}"]
    return {**frames, "items": kept, "scores": scores}


def column_of(metric: str) -> str:
    """The items' column of a metric's scores: its name, unless that would be taken for something else.

    Examples
    --------
    >>> column_of("faithfulness"), column_of("id"), column_of("f1_unscored"), column_of("a (score)")
    ('faithfulness', 'id (score)', 'f1_unscored (score)', 'a (score) (score)')
    """
    taken = (
        metric in _RESERVED | _TEXTS
        or metric.endswith(("_unscored", "_undefined", _SCORE))
        or metric.startswith("slice:")
    )
    return f"{metric}{_SCORE}" if taken else metric


def metrics_in(items: pd.DataFrame) -> list[str]:
    """The metrics that have a column in the items."""
    names = [str(c) for c in items.select_dtypes("number").columns if str(c) not in _RESERVED]
    return [name.removesuffix(_SCORE) for name in names]


def check(data: readers.Dataset) -> None:
    """Refuse scores of answers that the table does not have, and scores that come twice."""
    given(data, forms_of(data, ()))


def needs(data: readers.Dataset, *, metrics: Sequence[str]) -> None:
    """Refuse metrics that the table does not have."""
    if not any(map(kit.parts.is_dealt, data.tables.values())):
        given(data, forms_of(data, () if isinstance(metrics, str) else metrics))


def trials_apart(data: readers.Dataset) -> bool:
    """Whether only the scores say of which model or trial an answer is, of which there are several."""
    items, scores = data["items"], data.get("scores")
    names = {"model", readers.schema.TRIAL}
    return scores is not None and readers.schema.TRIAL in {*items, *scores} and bool(names & {*scores} - {*items})


def given(data: readers.Dataset, forms: Forms) -> Given:
    """The answers of a data set, or of a part of it, with their scores.

    - ``forms``: Of all rows.

    Raises ``BadInput``: All faults at once.
    """
    faults: list[str] = []
    names, items, scores = forms.metrics, data["items"].reset_index(drop=True), data.get("scores")
    scores = melted(items, forms.words) if scores is None else scores.reset_index(drop=True)
    scores = bounded(scores[scores["metric"].isin(names)])
    items, scores = _joined(items, scores, faults)
    if faults:
        raise errors.BadInput.listing(f"imported scores{readers.tables.counted_as(faults, data.sheets)}:", faults)
    items = _questions(items, hashed=forms.hashed)
    items, scores, originals, said = _without_copies(items, scores, data.grouping.slices)
    keys = [c for c in ("id", "model", readers.schema.TRIAL) if c in items]
    scores = scores.assign(
        unscored=_why(scores), detail=scores.get("detail", pd.Series("", index=scores.index)).fillna("")
    )
    where = pd.MultiIndex.from_frame(items[keys])
    place = where.get_indexer(pd.MultiIndex.from_frame(scores[keys]))
    rows = _wide(items, scores, place, names)
    scores = scores.assign(**{UNIT: items[UNIT].to_numpy()[place]})
    columns = [
        "id",
        UNIT,
        "model",
        *([readers.schema.TRIAL] if readers.schema.TRIAL in scores else []),
        "metric",
        "value",
        "unscored",
        "detail",
    ]
    order = scores.assign(_at=scores["metric"].map({m: i for i, m in enumerate(names)}))
    order = order.sort_values([*keys, "_at"], kind="stable", ignore_index=True)
    return Given(rows, order[columns], tuple(said), originals)


def _without_copies(
    items: pd.DataFrame, scores: pd.DataFrame, slices: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str], list[str]]:
    """Rows that no perturbation made, as HELM's own figures have them; all, with the unit of each copy's instance, where they are slices."""
    if not {_COPY, _INSTANCE} <= {*items}:
        return items, scores, {}, []
    changed = items[_COPY].fillna("").astype(str) != ""
    known = dict(zip(items.loc[~changed, "id"], items.loc[~changed, UNIT], strict=True))
    copy = changed & items[_INSTANCE].isin(known)
    if not copy.any():
        return items, scores, {}, []
    n = core.counted(int(copy.sum()), "row is a perturbed copy", "rows are perturbed copies")
    if _COPY in slices:
        of = items.loc[copy]
        said = f"{n} of other rows: they are in the means over all rows, and drawn together with those that they are copies of."
        return items, scores, dict(zip(of[UNIT], of[_INSTANCE].map(known), strict=True)), [said]
    keys = [c for c in ("id", "model", readers.schema.TRIAL) if c in items]
    said = f'{n} of other rows, and left out, as HELM\'s own figures do; slices=["{_COPY}"] has them.'
    return items[~copy].reset_index(drop=True), scores[~among(scores, items[copy], keys)], {}, [said]


def _joined(items: pd.DataFrame, scores: pd.DataFrame, faults: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers and scores with the same keys: a model, and a trial where either has one."""
    if readers.schema.TRIAL in scores and (scores[readers.schema.TRIAL] == "").all():
        scores = scores.drop(columns=readers.schema.TRIAL)
    items, scores = _of_all_trials(items, scores)
    for name, empty in (("model", kit.collecting.UNNAMED), (readers.schema.TRIAL, "1")):
        if name in scores and name not in items:
            # Of questions without models or trials of their own each has the answers that are scored.
            shared = [c for c in ("id", "model") if c in items and c in scores]
            own = scores[[*shared, name]].drop_duplicates()
            items = items.merge(own, on=shared, how="left")
            items[name] = items[name].fillna(empty).replace("", empty)
        elif name in items and name not in scores:
            several = items.drop_duplicates([c for c in ("id", "model") if c in items and c != name])
            if len(several) < len(items):
                faults.append(f"table scores: no column {name}, and items has several rows for one id")
                continue
            scores = scores.merge(items[["id", name]].drop_duplicates("id"), on="id", how="left")
            scores[name] = scores[name].fillna(empty)
    items = items if "model" in items else items.assign(model=kit.collecting.UNNAMED)
    scores = scores if "model" in scores else scores.assign(model=kit.collecting.UNNAMED)
    if faults:
        return items, scores
    keys = [c for c in ("id", "model", readers.schema.TRIAL) if c in items and c in scores]
    strangers = scores.loc[~among(scores, items, keys), keys].drop_duplicates().sort_values(keys)
    if len(strangers):
        more = f", first {', '.join(map(str, strangers.iloc[0]))}"
        for key in keys:
            known = set(items[key].astype(str))
            near = readers.strangers.written_otherwise(sorted(set(strangers[key].astype(str)) - known), known)
            more += f"; of {key}: {near}" if near else ""
        faults.append(f"table scores: {core.counted(len(strangers), 'answer')} not in items ({', '.join(keys)}){more}")
    twice = scores[scores.duplicated([*keys, "metric"])]
    if len(twice):
        first = ", ".join(map(str, twice.iloc[0][[*keys, "metric"]]))
        faults.append(
            f"table scores: {core.counted(len(twice), 'score')} given twice ({', '.join(keys)}, metric), first {first}"
        )
    return items, scores


def _of_all_trials(items: pd.DataFrame, scores: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Where several answers have one score together, which names no trial, the first of them stands for all."""
    keys = [c for c in ("id", "model") if c in items and c in scores]
    if readers.schema.TRIAL not in items or (
        readers.schema.TRIAL in scores and (scores[readers.schema.TRIAL] != "").all()
    ):
        return items, scores
    if readers.schema.TRIAL not in scores:
        scores = scores.assign(**{readers.schema.TRIAL: ""})
    together = scores[scores[readers.schema.TRIAL] == ""]
    first = items.drop_duplicates(keys)
    trial = (
        together[keys]
        .merge(first[[*keys, readers.schema.TRIAL]], on=keys, how="left")[readers.schema.TRIAL]
        .fillna("")
        .to_numpy()
    )
    out = scores.assign(**{readers.schema.TRIAL: scores[readers.schema.TRIAL].mask(scores[readers.schema.TRIAL] == "")})
    out.loc[together.index, readers.schema.TRIAL] = trial
    kept = ~items.duplicated(keys) | ~among(items, together, keys)
    return items[kept].reset_index(drop=True), out


def among(rows: pd.DataFrame, others: pd.DataFrame, keys: Sequence[str]) -> Any:
    """Whether the keys of each row are those of some other row."""
    return pd.MultiIndex.from_frame(rows[list(keys)]).isin(
        pd.MultiIndex.from_frame(others[list(keys)].drop_duplicates())
    )


def _questions(items: pd.DataFrame, *, hashed: bool) -> pd.DataFrame:
    """The answers with the unit of each: a hash of its question, or the id where some question is not known."""
    own = items["id"]
    if hashed:
        own = (items[HASH] if HASH in items else items["question"].map(question_hash)).str.slice(0, _SHORT)
    return items.assign(**{UNIT: own})


def question_hash(text: Any) -> str:
    """A hash of a question's text; empty where there is none.

    Examples
    --------
    >>> question_hash("What is the capital?")[:8], question_hash("")
    ('0078fcf4', '')
    """
    return (
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if isinstance(text, str) and text.strip()
        else ""
    )


def _why(scores: pd.DataFrame) -> Any:
    """Why each score has no value; empty where it has one.  A reason in other words than ours is the tool's."""
    without = scores["value"].isna().to_numpy()
    said = (
        scores["unscored"].fillna("").to_numpy(dtype=object)
        if "unscored" in scores
        else np.full(len(scores), "", object)
    )
    known = [reason if reason in core.unscored.REASONS else IMPORTED if reason else NO_VALUE for reason in said]
    return np.where(without, np.array(known, dtype=object), "")


def _wide(items: pd.DataFrame, scores: pd.DataFrame, place: Any, names: Sequence[str]) -> pd.DataFrame:
    """The answers with a column per metric, and ``COLUMN_unscored`` or ``COLUMN_undefined`` where values are missing."""
    columns: dict[str, Any] = {}
    of = scores.assign(_place=place).groupby("metric", sort=False)
    for name in names:
        rows, column = of.get_group(name) if name in of.groups else scores[:0].assign(_place=place[:0]), column_of(name)
        at, values = rows["_place"].to_numpy(), np.full(len(items), np.nan)
        why, apart = np.full(len(items), "", dtype=object), np.full(len(items), NOT_APPLICABLE, dtype=object)
        values[at], why[at], apart[at] = rows["value"], rows["unscored"], ""
        columns |= {column: values, f"{column}_unscored": why, f"{column}_undefined": apart}
    return items.drop(columns=[c for c in columns if c in items]).assign(**columns)
