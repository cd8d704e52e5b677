"""Have the requests and responses of a system changed since it was validated, and has its quality with them?

Input: two samples of interactions (``id, request, response``, if known ``ts``, ``label`` and columns of slices): OOS, the validation's,
and OOT, a later one.  As two tables, as one that windows of time divide, or as a log store.  Labels are 0 and 1 or −1 and 1.

Figures (method document ``handbook``, the five tests of stability OOS against OOT): the drop of the key metric; population stability
indices of the texts beyond what chance gives, new tokens; the Gini of a classifier of both samples; the drop that the neighbours of
the new requests let one expect; the drop predicted from their distances.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evalbench.core.global_drift import LEAST_SIZE
from evalbench.core.judge_drift import MARGIN
from evalbench.core.local_drift import FORMULAS, N_NEIGHBOURS
from evalbench.core.progress import at
from evalbench.core.psi import EPSILON, N_BINS, N_PERMUTATIONS
from evalbench.core.result import Result
from evalbench.kit.anchors import anchored
from evalbench.kit.grouping import carried
from evalbench.kit.options import Checks, stated, taken
from evalbench.kit.rules import rule_of
from evalbench.kit.verdicts import MAX_UNSCORED, N_RESAMPLES, SEED
from evalbench.models.accounting import embeddings_counted, merged
from evalbench.models.similarity.embed import card_of, language_warning
from evalbench.readers.dataset import Dataset
from evalbench.readers.schema import Column, Table
from evalbench.studies.drift.all_rows import all_rows, beside
from evalbench.studies.drift.figures import measures, with_sums
from evalbench.studies.drift.inputs import AUTO, WINDOWS, adapted, copies_noted, metric_of, samples_of, windows_of
from evalbench.studies.drift.items import items_of
from evalbench.studies.drift.judged import reason_of
from evalbench.studies.drift.lights import LIGHTS_ON, NEW_TOKENS, PRESETS, PSI_LIGHTS_ON, RELIABLE_FROM, TESTS, rules_of
from evalbench.studies.drift.method import method
from evalbench.studies.drift.pictures import (
    anchors_shown,
    backtest_shown,
    lights_table,
    lowest_expected,
    most_typical,
    picture_months,
    picture_quality,
    picture_statistics,
    statistics_shown,
    telling,
)
from evalbench.studies.drift.shown import tables_of, worse_parts
from evalbench.studies.drift.summary import LIGHT_ON, NEW_TOKENS_AS, PRESET, PSI_LIGHT_ON, settings_of, summarise

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "QUESTION", "SCHEMA", "adapt", "anchors_shown", "backtest_shown", "evaluate", "lights_table", "lowest_expected", "measures", "most_typical", "needs", "picture_months",
    "picture_quality", "picture_statistics", "statistics_shown", "summarise", "telling", "with_sums",
]  # fmt: skip

QUESTION = "Have requests and responses changed since the validation, and the quality with them?"
NO_TRIALS = "an interaction happened once; of repeated answers give the one that was served"
SAMPLED = 10_000
"""Rows that are read of a table of more than :data:`evalbench.readers.large.LARGE_ROWS`; the texts of all are counted."""
COLUMNS = (
    Column("id", "id"),
    Column("request", "text", empty_ok=True, keep_null=True, help="null: the row is left out"),
    Column("response", "text", empty_ok=True, keep_null=True, help="null: unscored"),
    Column(
        "ts",
        "ts",
        required=False,
        empty_ok=True,
        help="when; a time without a zone is UTC",
        hint="write 2026-03-14T14:05:00Z, or leave the column out: 3/4/2026 is read only where another day of the column is above 12, "
        "numbers only where they are seconds, or parts of a second, since 1970",
    ),
    Column(
        "label",
        "float",
        required=False,
        empty_ok=True,
        help="whether the response is right: 0 and 1, −1 and 1, or a share",
        hint="write 1 for right, 0 for wrong, a share for what lies between, and leave cells without a verdict empty",
    ),
    Column(
        "score",
        "float",
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


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Tables of other shapes as ours: usual names, messages, one table that a column divides; labels in words as numbers."""
    return adapted(frames)


def needs(
    data: Dataset, *, metric: str = AUTO, oos_from: str = "", oos_to: str = "", oot_from: str = "", oot_to: str = ""
) -> None:
    """Refuse windows and tables that leave a side without rows, and labels on another scale."""
    windows = windows_of({"oos_from": oos_from, "oos_to": oos_to, "oot_from": oot_from, "oot_to": oot_to})
    whole = {"sample_method": "first", "n_samples": 0, "random_state": 0}
    metric_of(samples_of(data, windows, whole).rows, metric)


def evaluate(
    data: Dataset,
    *,
    metric: str = AUTO,
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
    n_bins: int = N_BINS,
    epsilon: float = EPSILON,
    n_permutations: int = N_PERMUTATIONS,
    embed: str = "use-multilingual",
    n_neighbours: int = N_NEIGHBOURS,
    formula: str = FORMULAS[0],
    reliable_from: float | None = None,
    size: int = LEAST_SIZE,
    period: str = PERIOD,
    anchors_then: str = "",
    anchors_now: str = "",
    anchors_margin: float = MARGIN,
    sample_method: str = "random",
    n_samples: int = 0,
    random_state: int = 0,
    max_unscored: float = MAX_UNSCORED,
    seed: int = SEED,
    n_resamples: int = N_RESAMPLES,
) -> Result:
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
        Thresholds of the key metric in OOT, such as ``{"green_from": 0.7, "yellow_from": 0.6}``; without them a small drop is at best yellow.
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
    options = stated(evaluate, locals())
    checks = Checks(options)
    checks.that(
        tests and not set(tests) - set(TESTS),
        f"tests must be some of {', '.join(TESTS)}; got {', '.join(map(str, tests)) or 'none'}",
    )
    windows = checks.tried(lambda: windows_of({name: options[name] for name in WINDOWS})) or {}
    key = checks.tried(lambda: rule_of(key_bands, within=(0, 1), of="key_bands")) or {}
    rules = checks.tried(lambda: rules_of(lights)) or {}
    for name, known in (
        ("light_on", LIGHTS_ON), ("preset", PRESETS), ("psi_light_on", PSI_LIGHTS_ON), ("new_tokens", NEW_TOKENS), ("formula", FORMULAS),
        ("period", PERIODS),
    ):  # fmt: skip
        checks.choice(name, options[name], known)
    checks.at_least(2, n_bins=n_bins)
    checks.at_least(1, n_neighbours=n_neighbours)
    checks.at_least(LEAST_SIZE, size=size)
    checks.that(n_permutations >= 19 or (n_permutations == 0 and psi_light_on == "raw"),
                f"n_permutations must be at least 19 (or 0 with psi_light_on raw), got {n_permutations!r}")  # fmt: skip
    checks.that(0 < epsilon < 0.1, f"epsilon must be above 0 and below 0.1, got {epsilon!r}")
    checks.that(
        reliable_from is None or -1 <= reliable_from <= 1,
        f"reliable_from must be between −1 and 1, got {reliable_from!r}",
    )
    checks.that(embed != "jaccard", "embed: jaccard has no vectors; name an embedding model, or none")
    judge = checks.tried(lambda: anchored(**taken(anchored, options)))
    checks.refuse("drift")
    at("both samples")
    samples = samples_of(data, windows, options)
    name, values, said = metric_of(samples.rows, metric)
    card = card_of(embed) if embed else None
    if reliable_from is None:
        options["reliable_from"] = RELIABLE_FROM if card is None or card.unrelated is None else card.unrelated
    options |= {"key_bands": key, "lights": rules, "metric": name or AUTO, "tests": [t for t in TESTS if t in tests]}
    counted = all_rows(data, samples, windows, options)
    options["halved_at"] = samples.halved_at
    options["judge_drift"] = judge and {**judge.fit, "reason": reason_of(judge.fit, name)}
    rows = carried(samples.rows, data, where=samples.sources)
    with embeddings_counted() as spent:
        measured = items_of(rows, values, options)
    items = measured.items
    at(f"the tests, {n_resamples} resamples")
    summary = summarise(items, **taken(summarise, options))
    warning = language_warning(card, items["request"].tolist()) if card else ""
    tables = tables_of(measured, settings_of(options), options)
    return Result(
        study="drift",
        question=QUESTION,
        judged="the later half of the interactions against the earlier"
        if samples.halved_at
        else "the interactions of OOT against those of OOS",
        parameters=options,
        data=data.label,
        id="id",
        by=("side",),
        items=items,
        items_of="interactions of both samples",
        summary=summary,
        tables={**beside(tables, counted), **({"anchors": judge.table} if judge else {})},
        notes=(
            *data.notes_beside([name]),
            *samples.notes,
            *counted.notes,
            *said,
            *measured.notes,
            *copies_noted(rows),
            *worse_parts(tables["lights"]),
            *filter(None, [warning]),
            *(judge.notes if judge else ()),
        ),
        method=method(options),
        accounting=merged(spent),
    )
