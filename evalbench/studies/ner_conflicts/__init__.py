"""Where are predicted entities in conflict with their text, so that their places cannot be told?

Input: texts, and entities that were predicted as strings with a class, without places.

Figures (method document ``handbook``, «Спецификация NER: качество модели в разрезе конфликтующих предсказаний»): conflicts *by class
and string* (a class predicts a string fewer times than it occurs) and *by text and string* (all classes together predict it
more often than it occurs); the share of texts with conflicts, and three means over them.  Conflicts that nesting explains
(«Paris» inside «Paris Hilton») are counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping

from evalbench import core, kit, readers
from evalbench.readers import Column, Table
from evalbench.studies.contract import offered
from evalbench.studies.ner_conflicts import inputs, summary
from evalbench.studies.ner_conflicts.items import items_of

QUESTION = "Where are predicted entities in conflict with their text, so that their places cannot be told?"
MEASURED_BY = dict.fromkeys(("whole_words", "case_sensitive", "count_nested"), ("*",))
SCHEMA: Mapping[str, Table] = {
    "predictions": Table(
        (
            Column("id", "id", help="the text", former=("text_id",)),
            Column("entity_class", "text", help="the predicted class"),
            Column("entity", "text", help="the predicted string, a row each time that it was predicted"),
            Column("model", "id", groups=True, required=False, help="who predicted, where there are several"),
        ),
        trials="model",
        lists=True,
        help="one row per predicted entity",
    ),
    "texts": Table(
        (
            Column("id", "id", help="the text", former=("text_id",)),
            Column("text", "text"),
            Column("lang", "text", required=False, empty_ok=True, help="ISO 639-1 code"),
        ),
        unique=("id",),
        help="one row per text, also those without a predicted entity; or a column text of the predictions",
    ),
}


adapt = inputs.texts_of
check = inputs.prepare


def evaluate(
    data: readers.Dataset,
    *,
    whole_words: bool = True,
    case_sensitive: bool = True,
    count_nested: bool = False,
    green_to: float | None = None,
    yellow_to: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Count conflicts between predicted strings and their occurrences.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="ner_conflicts")``: tables predictions, texts.
    whole_words : bool
        Whether a string occurs only as whole words; otherwise anywhere, but never inside a visible character.
    case_sensitive : bool
        Whether upper and lower case differ.
    count_nested : bool
        Whether conflicts that nesting explains count like the others, as in the method document.
    green_to, yellow_to : float or None
        Share of texts with conflicts (0–1): green at or below; yellow at or below, red above.  Both, or neither: then it is unlit.
    lights : mapping of str to mapping
        Thresholds of further figures, ``{"over_share": {"green_to": 0.05, "yellow_to": 0.2}}``.  The worst light decides.
    max_unscored : float
        A larger share of predicted strings that do not occur, or of texts without a row of a model, makes its light grey.

    Returns
    -------
    Result
        ``items``: one row per text and model.  ``tables``: ``conflicts``, ``texts``, with several models ``comparisons``.

    Raises
    ------
    BadInput
        For faults of the tables or the options, all at once.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    summary.check_options(checks)
    checks.refuse("ner_conflicts")
    data, trials = kit.trials.spread(data, SCHEMA)
    known = inputs.prepare(data)
    each, conflicts = items_of(known, whole_words=whole_words, case_sensitive=case_sensitive, count_nested=count_nested)
    items, of_trials = trials.averaged(each, "id")
    items = kit.grouping.carried(items, data)
    if readers.schema.SYSTEMS not in data["predictions"].attrs:  # else its texts list what was found, also nothing
        due = items.groupby("id")["n_predicted"].transform("max")
        items = kit.evidence.mark_absent(items.assign(_due=due), "model", "id", found="n_predicted", due="_due").drop(
            columns="_due"
        )
    models = trials.names(known.models)
    compared = kit.comparing.compare_groups(
        items,
        [m for m in summary.measures() if m.metric == summary.SHARE],
        "model",
        rank_by=summary.SHARE,
        seed=seed,
        n_resamples=n_resamples,
    )
    result = kit.result_of(
        evaluate,
        data,
        options,
        items,
        items_of="texts × models" if len(models) > 1 else "texts",
        tables={"conflicts": conflicts, "texts": known.texts},
        some={"comparisons": compared},
        notes=(
            *kit.comparing.in_words(compared, "model", summary.SHARE, len(models)),
            *data.notes,
            *kit.evidence.same_but_for_writing(known.classes, "class"),
            *summary.notes(items, conflicts),
        ),
        method=summary.method(options),
    )
    return trials.reported(result, of_trials, summary.measures())


globals().update(offered(__name__))
