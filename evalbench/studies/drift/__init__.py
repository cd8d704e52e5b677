"""Have the requests and responses of a system changed since it was validated, and has its quality with them?

Input: two samples of interactions (``id, question, answer``, if known ``time``, ``label`` and columns of slices): OOS, the validation's,
and OOT, a later one.  As two tables, as one that windows of time divide, or as a log store.  Labels are 0 and 1 or −1 and 1.

Figures (method document ``handbook``, the five tests of stability OOS against OOT): the drop of the key metric; population stability
indices of the texts beyond what chance gives, new tokens; the Gini of a classifier of both samples; the drop that the neighbours of
the new requests let one expect; the drop predicted from their distances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbench import core, kit, readers
from evalbench.models.accounting import embeddings_counted
from evalbench.models.similarity.embed import card_of, language_warning
from evalbench.readers import Column, Table
from evalbench.studies.contract import offered
from evalbench.studies.drift import figures, finer_tables, inputs, method, texts_of_all_rows
from evalbench.studies.drift.figures import measures as measures
from evalbench.studies.drift.figures import with_sums as with_sums
from evalbench.studies.drift.items import items_of
from evalbench.studies.drift.lights import RELIABLE_FROM, TESTS, rules_of
from evalbench.studies.drift.summary import (
    LIGHT_ON,
    NEW_TOKENS_AS,
    PRESET,
    PSI_LIGHT_ON,
    check_options,
    settings_of,
    summarise,
)

QUESTION = "Have requests and responses changed since the validation, and the quality with them?"
_BINNED = ("stop_words_*", "frequencies_*", "counts_*", "predictions_*")
_EXPECTED, _PREDICTED = ("expected_*", "reliability"), ("predicted_*",)
MAKES_ITEMS = ("metric", "tests", "size", "languages")
MEASURED_BY = {
    **dict.fromkeys(("tests", "key_bands", "preset", "reliable_from", "period"), ()),
    **dict.fromkeys(("anchors_then", "anchors_now", "anchors_margin"), ()),
    "new_tokens": ("new_tokens_*",),
    "languages": ("stop_words_*",),
    **dict.fromkeys(("n_bins", "epsilon", "psi_light_on"), _BINNED),
    "n_permutations": (*_BINNED, "new_tokens_*", "gini*"),
    "embed": ("gini*", "predictions_*", *_EXPECTED, *_PREDICTED),
    **dict.fromkeys(("n_neighbours", "formula"), _EXPECTED),
    "size": _PREDICTED,
}
JUDGED_OPTIONS = ("oos_from", "oos_to", "oot_from", "oot_to")
NO_TRIALS = "an interaction happened once; of repeated answers give the one that was served"
SAMPLED = 10_000
"""Rows that are read of a table of more than :data:`evalbench.readers.large.LARGE_ROWS`; the texts of all are counted."""
COLUMNS = (
    Column("id", "id"),
    Column("question", "text", empty_ok=True, keep_null=True, help="null: the row is left out", former=("request",)),
    Column("answer", "text", empty_ok=True, keep_null=True, help="null: unscored", former=("response",)),
    Column(
        "time",
        "ts",
        required=False,
        empty_ok=True,
        help="when; a time without a zone is UTC",
        hint="write 2026-03-14T14:05:00Z, or leave the column out: 3/4/2026 is read only where another day of the column is above 12, "
        "numbers only where they are seconds, or parts of a second, since 1970",
        former=("ts",),
    ),
    Column(
        "label",
        "float",
        role="none",
        required=False,
        empty_ok=True,
        help="whether the response is right: 0 and 1, −1 and 1, or a share",
        hint="write 1 for right, 0 for wrong, a share for what lies between, and leave cells without a verdict empty",
    ),
    Column(
        "score",
        "float",
        role="none",
        required=False,
        empty_ok=True,
        help="a mark from 0 to 1, the key metric where there are no labels",
        hint="write marks from 0 to 1, and leave cells without one empty",
    ),
    Column(
        "prediction",
        "text",
        required=False,
        empty_ok=True,
        help="the class of the response; else a cluster of its vector",
    ),
    Column("model", "text", required=False, empty_ok=True, help="what answered, named where the sides differ"),
    Column("reference", "text", required=False, empty_ok=True, help="the true answer, for the best constant answer"),
)
SCHEMA: Mapping[str, Table] = {
    "oos": Table(
        COLUMNS,
        unique=("id",),
        no_trials=NO_TRIALS,
        sampled=SAMPLED,
        stem="validation",
        help="the validation sample, or all rows where windows divide them",
    ),
    "oot": Table(
        COLUMNS,
        unique=("id",),
        no_trials=NO_TRIALS,
        sampled=SAMPLED,
        required=False,
        stem="production",
        help="the later sample",
    ),
}
PERIODS = ("month", "week", "day")
PERIOD = PERIODS[0]


adapt = inputs.adapted


def needs(
    data: readers.Dataset,
    *,
    metric: str = inputs.AUTO,
    oos_from: str = "",
    oos_to: str = "",
    oot_from: str = "",
    oot_to: str = "",
) -> None:
    """Refuse windows and tables that leave a side without rows, and labels on another scale."""
    windows = inputs.windows_of({"oos_from": oos_from, "oos_to": oos_to, "oot_from": oot_from, "oot_to": oot_to})
    whole = {"sample_method": "first", "n_samples": 0, "random_state": 0}
    inputs.metric_of(inputs.samples_of(data, windows, whole).rows, metric)


def evaluate(
    data: readers.Dataset,
    *,
    metric: str = inputs.AUTO,
    oos_from: str = "",
    oos_to: str = "",
    oot_from: str = "",
    oot_to: str = "",
    tests: Sequence[str] = TESTS,
    key_bands: Mapping[str, float] = {},
    light_on: str = LIGHT_ON,
    lights: Mapping[str, Mapping[str, float]] = {},
    preset: str = PRESET,
    psi_light_on: str = PSI_LIGHT_ON,
    new_tokens: str = NEW_TOKENS_AS,
    languages: Sequence[str] = (),
    n_bins: int = core.psi.N_BINS,
    epsilon: float = core.psi.EPSILON,
    n_permutations: int = core.psi.N_PERMUTATIONS,
    embed: str = "use-multilingual",
    n_neighbours: int = core.local_drift.N_NEIGHBOURS,
    formula: str = core.local_drift.FORMULAS[0],
    reliable_from: float | None = None,
    size: int = core.global_drift.LEAST_SIZE,
    period: str = PERIOD,
    anchors_then: str = "",
    anchors_now: str = "",
    anchors_margin: float = core.judge_drift.MARGIN,
    sample_method: str = "random",
    n_samples: int = 0,
    random_state: int = 0,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Compare a later sample of interactions with that of the validation.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="drift")``: tables oos and oot, or one table with times.
    metric : str
        The key metric, a column from 0 to 1; ``auto`` takes ``label``, or ``score`` where there are no labels.
    oos_from, oos_to, oot_from, oot_to : str
        When the window of OOS begins (ISO 8601, inclusive); when it ends (exclusive); when that of OOT begins; when it ends.
    tests : sequence of str
        Which tests run and decide: ``key_metric``, ``statistics``, ``separability``, ``local_drift``, ``global_drift``.
    key_bands : mapping of str to float, optional
        Thresholds of the key metric in OOT, such as ``{"green_from": 0.7, "yellow_from": 0.6}``; without them the drop alone decides.
    light_on : {"estimate", "ci"}
        What the lights of drops are of: the figure, or what its whole interval shows.
    lights : mapping of str to mapping, optional
        Thresholds instead of the document's, of ``drop`` (pp), ``gini``, ``psi``, ``new_tokens``: ``{"gini": {"green_to": 0.2, "yellow_to": 0.5}}``.
    preset : {"handbook", "rule_of_thumb"}
        Bounds of the stability index: the document's 0.5 and 1, or 0.1 and 0.25; both are shown.
    psi_light_on : {"excess", "raw"}
        What the lights of the statistics are of: the index beyond its mean by chance, or the index itself.
    new_tokens : {"increase", "ratio"}
        How much larger the share of new tokens is than between halves of OOS: by subtraction, or by division less 1.
    languages : sequence of str
        ISO codes whose lists of stop-words count; none: the most frequent tokens.
    n_bins, epsilon
        Bins of equal counts of OOS, of a statistic that is a number; the least share of a bin, above 0 and below 0.1.
    n_permutations : int
        How often whole rows are dealt anew to both samples, for what chance gives.
    embed : str
        Embedding model of tests 4 and 5, see :func:`evalbench.models.similarity.embed.embedder`; empty leaves them out.
    n_neighbours : int
        Labelled requests of OOS from which the quality of a request is expected.
    formula : {"weighted", "handbook"}
        How it is expected, see :func:`evalbench.core.local_drift.expected_quality`.
    reliable_from : float or None
        A smaller mean similarity to neighbours makes test 4 grey; null: what the card of the embedding model says, else 0.2.
    size : int
        Rows of a sub-sample of test 5, at least 15.
    period : {"month", "week", "day"}
        For which parts of OOT each test is shown.
    anchors_then, anchors_now, anchors_margin
        See :func:`evalbench.kit.anchors.anchored`; where the judge changed or moved, tests of a score that it gave have no light.
    sample_method, n_samples, random_state
        See :func:`evalbench.kit.sampling.sample_ids`; of each side.
    max_unscored, seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per interaction and side, with its texts.  ``tables``: ``lights`` (each test in each period and slice),
        ``statistics``, and where they ran ``classifiers``, ``telling``, ``typical``, ``features``, ``backtest``, ``anchors``.

    Raises
    ------
    BadInput
        For faults of the options, windows that leave a side without rows, and labels on another scale.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    checks.some(tests=TESTS)
    windows = checks.tried(lambda: inputs.windows_of({name: options[name] for name in inputs.WINDOWS})) or {}
    checks.choices(formula=core.local_drift.FORMULAS, period=PERIODS)
    checks.at_least(1, "n_neighbours")
    checks.at_least(core.global_drift.LEAST_SIZE, "size")
    check_options(checks)
    checks.vectors()
    judge = checks.tried(lambda: kit.anchors.anchored(**kit.taken(kit.anchors.anchored, options)))
    checks.refuse("drift")
    core.progress.at("both samples")
    samples = inputs.samples_of(data, windows, options)
    name, values, said = inputs.metric_of(samples.rows, metric)
    card = card_of(embed) if embed else None
    if reliable_from is None:
        options["reliable_from"] = RELIABLE_FROM if card is None or card.unrelated is None else card.unrelated
    options |= {
        "key_bands": kit.rules.rule_of(key_bands, within=(0, 1), of="key_bands"),
        "lights": rules_of(lights),
        "metric": name or inputs.AUTO,
        "tests": [t for t in TESTS if t in tests],
    }
    counted = texts_of_all_rows.counted(data, samples, windows, options, name)
    options["all_rows"] = counted.key
    options["halved_at"] = samples.halved_at
    options["judge_drift"] = judge and {**judge.fit, "reason": figures.reason_of(judge.fit, name)}
    rows = kit.grouping.carried(samples.rows, data, where=samples.sources)
    with embeddings_counted() as spent:
        measured = items_of(rows, values, options)
    items = measured.items
    core.progress.at(f"the tests, {n_resamples} resamples")
    summary = summarise(items, **kit.taken(summarise, options))
    warning = language_warning(card, items["question"].tolist()) if card else ""
    tables = finer_tables.tables_of(measured, settings_of(options), options)
    return kit.result_of(
        evaluate,
        data,
        options,
        items,
        by=("side",),
        judged="the later half of the interactions against the earlier"
        if samples.halved_at
        else "the interactions of OOT against those of OOS",
        summary=summary,
        items_of="interactions of both samples",
        tables=texts_of_all_rows.beside(tables, counted),
        some={"anchors": judge.table if judge else None},
        notes=(
            *data.notes_beside([name]),
            *samples.notes,
            *counted.notes,
            *said,
            *measured.notes,
            *inputs.copies_noted(rows),
            *finer_tables.worse_parts(tables["lights"]),
            warning,
            *(judge.notes if judge else ()),
        ),
        method=method.described(options),
        spent=spent,
    )


globals().update(offered(__name__))
