"""Which named entities does a model find, and which classes does it take for others?

Input: true and predicted spans of the same texts with their classes; or tokens with tags (BIO columns, CoNLL files), folders of
brat, texts that list their entities.

Figures: precision, recall and F1 in four modes (strict, exact, partial, type; SemEval-2013 Task 9), over all classes, as mean over
classes and per class, by optimal assignment.  Method document ``handbook``, «распределения ошибок предсказаний NER-модели в разрезе
классов»: the share of a class's true entities that is taken for another class, and the light that follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbench import core, kit, readers
from evalbench.readers import Column, Table
from evalbench.studies.contract import offered
from evalbench.studies.ner_quality import forms, inputs, method, scores, summary
from evalbench.studies.ner_quality.items import classes_of, items_of, joined, of_all_parts, shifted
from evalbench.studies.ner_quality.tables import figures

QUESTION = "Which named entities does a model find, and which classes does it take for others?"
MEASURED_BY = dict.fromkeys(("f1_floor", "absent"), ())
SAMPLED = 20_000
"""Rows of a table that is read in parts on which it rests what its columns are."""
_SPAN = (
    Column("id", "id", help="the text", former=("text_id",)),
    Column("start", "int", low=0, help="first character, counted in code points from 0"),
    Column("end", "int", low=1, help="one past the last character"),
    Column("entity_class", "text"),
)
SCHEMA: Mapping[str, Table] = {
    "gold": Table(
        _SPAN,
        whole=True,
        sampled=SAMPLED,
        dealt=True,
        of_all=(("entity_class",),),
        help="one row per true entity; or tokens with tags, brat's folder, texts that list their entities",
    ),
    "predictions": Table(
        (*_SPAN, Column("model", "id", groups=True, required=False, help="who predicted, where there are several")),
        trials="model",
        lists=True,
        whole=True,
        sampled=SAMPLED,
        dealt=True,
        of_all=(("model", readers.schema.TRIAL), ("entity_class",)),
        help="one row per predicted entity, in any of the forms of gold; a folder of CoNLL files: a model each; or in gold's "
        "own rows, as lists predictions or predicted, or predicted_tags beside tokens and ner_tags",
    ),
    "texts": Table(
        (
            Column("id", "id", help="the text", former=("text_id",)),
            Column("text", "text"),
            Column("lang", "text", required=False, empty_ok=True, help="ISO 639-1 code"),
        ),
        unique=("id",),
        required=False,
        sampled=SAMPLED,
        dealt=True,
        help="one row per text, also those without an entity",
    ),
}


adapt = forms.spans_of
check = inputs.prepare


def evaluate(
    data: readers.Dataset,
    *,
    green_to: float | None = None,
    yellow_to: float | None = None,
    f1_floor: float = summary.F1_FLOOR,
    absent: str = summary.UNKNOWN,
    lights: Mapping[str, Mapping[str, float]] = {},
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Judge predicted entities against true ones.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="ner_quality")``: tables gold, predictions, texts.
    green_to, yellow_to : float or None
        Largest share (0–1) of a class that may be taken for one other: green at or below; yellow at or below, red above.
        Both, or neither: then the method document's, green below 0.25, yellow below 0.5.
    f1_floor : float
        Below this strict F1 the light is at best yellow; 0: whatever it is, as in the method document.
    absent : {"unknown", "nothing"}
        A text in which a model has no row: ``unknown`` holds a light back where others have more, ``nothing`` was found.
    lights : mapping of str to mapping
        Thresholds of further figures, ``{"strict_f1": {"green_from": 0.9, "yellow_from": 0.7}}``.  The worst light decides.

    Returns
    -------
    Result
        ``items``: one row per text and model.  ``tables``: ``spans``, ``confusions``, ``modes``, ``classes``, ``texts``; with
        several models ``comparisons``.

    Raises
    ------
    BadInput
        For faults of the tables or the options, all at once.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    summary.check_options(checks)
    checks.refuse("ner_quality")
    made = kit.parts.made(made_of, data, options, SCHEMA)
    tables, trials, texts = of_all_parts(made.tables), made.trials, made.tables["texts"]
    true, every = classes_of(made.items), list(dict.fromkeys(tables["confusions"]["predicted_class"]))
    of_trials = None if made.rows is None else joined(made.rows, every)
    items = kit.grouping.carried(joined(made.items, every), made.data or data)
    if readers.schema.SYSTEMS not in data["predictions"].attrs:  # else its texts list what was found, also nothing
        items = kit.evidence.mark_absent(items, "model", "id", found="n_predicted", due="n_true")
    models = trials.names(tables["counts"]["model"])
    counts = trials.summed(tables["counts"])
    resampling: dict[str, int] = {"seed": seed, "n_resamples": n_resamples}
    compared = kit.comparing.compare_groups(
        summary.resampled_rows(items),
        [m for m in scores.measures() if m.metric.endswith("f1")],
        "model",
        units="_unit",
        rank_by=scores.STRICT,
        seed=seed,
        n_resamples=n_resamples,
    )
    result = kit.result_of(
        evaluate,
        data,
        options,
        items,
        items_of="texts × models" if len(models) > 1 else "texts",
        tables={
            **{name: tables[name] for name in ("spans", "confusions")},
            **figures(items, counts, **resampling),
            "texts": texts,
        },
        some={"comparisons": compared},
        notes=(
            *kit.comparing.in_words(compared, "model", scores.STRICT, len(models)),
            *data.notes,
            *shifted(tables["spans"]),
            *inputs.notes_of(tables["numbers"], true),
        ),
        method=method.described(options, len(texts)),
    )
    return trials.reported(result, of_trials, scores.measures())


def made_of(data: readers.Dataset, options: Mapping[str, Any]) -> kit.parts.Made:
    """The items of every text and model, their spans, and counts that are added up over parts."""
    data, trials = kit.trials.spread(data, SCHEMA)
    known = inputs.prepare(data)
    each, tables = items_of(known)
    items, rows = trials.averaged(each, "id")
    tables = {**tables, "numbers": known.numbers, "texts": known.texts}
    return kit.parts.Made(items, tables=tables, trials=trials, rows=rows)


globals().update(offered(__name__))
