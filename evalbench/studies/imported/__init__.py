"""What do the scores of another tool show, with intervals, honest counts and a paired comparison?

Input: a result file of ragas, deepeval, promptfoo, inspect, lm-eval, MLflow or HELM, the folder that ``evalbench data import``
makes of one, or any table with a column of numbers per metric, or with a score a row.

Figures: the mean of every metric of each model with its interval; how many scores are missing, by reason and in the tool's own words;
the tool's own figures beside ours, and why they differ; two models compared question by question.  Nothing is scored anew.  No metric
has a threshold of its own, so the light is unlit until ``lights`` gives it one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalbench import core, kit, readers
from evalbench.studies.contract import offered
from evalbench.studies.imported import inputs, made, method, summary
from evalbench.studies.imported.columns import OWN
from evalbench.studies.imported.forms import forms_of
from evalbench.studies.imported.items import in_order, without_empty
from evalbench.studies.imported.theirs import parts_in, theirs_of
from evalbench.text.odd_texts import odd_text_notes

QUESTION = "What do the scores of another tool show, with intervals and honest counts?"
MAKES_ITEMS = ("scales",)
MEASURED_BY = dict.fromkeys(("directions", "scales"), ("*",))
CONTENT_UNIT = inputs.UNIT
_DIRECTION = ": assumed: direction of "  # said with the direction itself in a note of the study


def evaluate(
    data: readers.Dataset,
    *,
    metrics: Sequence[str] = (),
    directions: Mapping[str, str] | None = None,
    scales: Mapping[str, Sequence[float]] | None = None,
    lights: Mapping[str, Mapping[str, float]] | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Give the scores of another tool intervals, counts and comparisons.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="imported")``: the file of a tool, the folder of ``evalbench data import``, or a table of your own.
    metrics : sequence of str
        Which metrics, the first being what the verdict is about; empty: all, those of the most answers first.
    directions, scales : mapping, optional
        Metric → ``higher``, ``lower`` or ``neither``: which end is better, where the file has it wrong or not at all; metric → its lowest and
        highest score, such as ``[1, 5]``, where the file has it wrong or not at all.
    lights : mapping of str to mapping, optional
        Metric → its thresholds, e.g. ``{"faithfulness": {"green_from": 0.9, "yellow_from": 0.8}}``, at or above; where less is
        better ``green_to`` and ``yellow_to``, at or below.
    max_unscored : float
        A larger share of questions without a score of a metric makes its light grey.

    Returns
    -------
    Result
        ``items``: one row per question and model, a column per metric; ``tables``: ``scores``, ``texts``, ``metrics``, ``reasons``
        where scores are missing, ``theirs`` where the file has figures of the tool's own, ``judgements`` where it has verdicts,
        ``comparison`` where there are several models.

    Raises
    ------
    BadInput
        For faulty options, scores that come twice and scores of answers that are not there, all at once.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalbench import load
    >>> rows = pd.DataFrame({"user_input": ["a?", "b?"], "response": ["x", "y"], "faithfulness": [1.0, 0.5]})
    >>> data = load({"items": rows}, study="imported", columns={"user_input": "question", "response": "answer"})
    >>> evaluate(data, n_resamples=100).estimate("faithfulness", model="model not named").value
    0.75
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    summary.checked_directions(directions or {}, checks)
    summary.checked_scales(scales or {}, checks)
    checks.refuse("imported")
    forms, figures = forms_of(data, metrics), data.get("figures")
    names = forms.metrics
    summary.checked_directions(directions or {}, checks, names)
    summary.checked_scales(scales or {}, checks, names)
    asked = {"forms": forms, "parted": parts_in(figures)}
    found = kit.parts.made(made.made_of, data, asked, inputs.SCHEMA, together=inputs.trials_apart(data))
    trials, each = found.trials, found.items if found.rows is None else found.rows
    values = {name: each[inputs.column_of(name)].to_numpy(float) for name in names}
    facts = method.facts_of(values, data.get("metrics"), directions or {}, scales or {})
    rules = checks.tried(lambda: summary.rules_of(lights or {}, names, facts.directions, facts.fitting)) or {}
    checks.refuse("imported")
    options |= {"metrics": list(names), "directions": facts.directions, "scales": facts.scales, "lights": rules}
    core.progress.at(f"intervals, {n_resamples} resamples")
    items = without_empty(found.items, each, names)
    rows = None if found.rows is None else without_empty(found.rows, each, names)
    items = kit.grouping.carried(items, found.data or data, unit=inputs.UNIT)
    originals = found.tables[made.ORIGINALS]
    if len(originals) and not core.clusters.is_clustered(items):
        of = dict(zip(originals["unit"], originals["original"], strict=True))
        items[core.clusters.CLUSTER] = items[inputs.UNIT].map(lambda unit: of.get(unit, unit))
    models = sorted(set(items["model"]))
    listed = summary.measures(names, facts.directions, facts.fitting)
    mixed = {name: said for name in names for said in summary.two_scales(items, name)}
    scores, lost = found.tables[made.SCORES], found.tables[made.LOST]
    beside = theirs_of(scores, found.tables.get(made.PARTED), figures, facts)
    by_reason = {str(reason): int(n) for reason, n in lost.groupby("reason")["n"].sum().items()}
    repeated = bool(trials.groups)
    noun = "sampled output" if any(map(kit.parts.is_dealt, data.tables.values())) else "output"
    used = {c for c in data["items"] if c in names} | ({"answer", "passed", *OWN} if "scores" in data.tables else set())
    result = kit.result_of(
        evaluate,
        data,
        options,
        items,
        id=inputs.UNIT if forms.hashed else "id",
        some={
            "scores": scores,
            "texts": found.texts,
            "metrics": method.facts_table(names, facts),
            "reasons": in_order(found.tables[made.REASONS], names),
            "theirs": beside,
            "judgements": _verdicts(data, repeated),
            "comparison": kit.comparing.compare_groups(
                items,
                [m for m in listed if m.metric not in mixed],
                "model",
                units=inputs.UNIT,
                seed=seed,
                n_resamples=n_resamples,
            ),
        },
        notes=[
            *mixed.values(),
            *method.remarks(values, by_reason, found.n, facts, beside),
            *forms.notes,
            *found.notes,
            *kit.evidence.same_but_for_writing(names, "metric"),
            *(odd_text_notes(found.sampled["answer"], kit.MAX_UNSCORED, noun) if "answer" in found.sampled else ()),
            *(n for n in data.notes_beside(used) if _DIRECTION not in n),
            core.compared.left_out_note(len(models), "models", "each metric"),
        ],
        method=method.described(hashed=forms.hashed, figures=bool(len(beside))),
        stored=found.stored,
    )
    return trials.reported(result, rows, listed)


def _verdicts(data: readers.Dataset, repeated: bool) -> Any:
    """The verdicts of judges, named as the answers are."""
    table = data.get("judgements")
    if table is None:
        return None
    named = table if "model" in table else table.assign(model=kit.collecting.UNNAMED)
    kept = (
        named
        if repeated and readers.schema.TRIAL in named
        else named.drop(columns=readers.schema.TRIAL, errors="ignore")
    )
    words = kept[["id", "model", *(c for c in kept if c not in ("id", "model"))]].astype(str)
    return kept.loc[words.sort_values([str(c) for c in words], kind="stable").index].reset_index(drop=True)


globals().update(offered(__name__))
