"""Items to headline figures and their verdict, the curves over k, and what a reader should know of both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.studies.rag_retrieval.figures import FORMULAS, UNJUDGED, Figure, bare, figures_of
from evalbench.studies.rag_retrieval.items import MEAN

METRICS = ("ndcg", "average_precision", "mrr", "precision", "recall", "hit_rate")
K, KS = 5, (1, 3, 5, 10)
AUTO = "auto"


def rules_of(lights: Mapping[str, Any], metrics: Sequence[str], k: int) -> dict[str, dict[str, float]]:
    """The checked thresholds by the names of figures.

    Raises ``BadInput``: Lists lights of metrics that are not computed or at another depth, and thresholds that are no
    rule.
    """
    checks, found = kit.Checks(), {}
    for name, rule in lights.items():
        metric = bare(name)
        if metric not in metrics:
            checks.that(False, f"lights: {name} is not among the metrics, which are {', '.join(metrics)}")
            continue
        at = Figure(metric, k).name
        checks.that(
            not re.search(r"_at_\d", str(name)) or name == at,
            f"lights: {name}: the light is that of k, which is {k}: {at}",
        )
        found[at] = checks.tried(lambda rule=rule, name=name: kit.rules.rule_of(rule, within=(0, 1), of=name)) or {}  # type: ignore[misc]
    checks.refuse("rag_retrieval")
    return {name: rule for name, rule in found.items() if rule}


def measure_of(figure: Figure, ties: str = "") -> core.Measure:
    """The mean of a figure over queries; of the hit rate a proportion, unless a hit is a mean over orders."""
    if figure.metric == UNJUDGED:
        return core.mean_of(
            figure.name, title=figure.title, higher_is_better=False, worst=None, undefined="nothing was found"
        )
    proportion = figure.card.unit == "0/1" and ties != MEAN
    undefined = (
        "no query has enough judged passages of both kinds"
        if figure.metric == "auc"
        else "no query has a relevant passage"
    )
    return core.mean_of(
        figure.name, title=figure.title, undefined=undefined, interval="wilson" if proportion else "bootstrap"
    )


def measures(metrics: Sequence[str], k: int, ties: str = "") -> tuple[core.Measure, ...]:
    """The headline: every metric at k, and the share of the first k passages that nobody judged."""
    return tuple(measure_of(figure, ties) for figure in (*figures_of(metrics, [k]), Figure(UNJUDGED, k)))


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    given = checks.options
    checks.choices(absent=(AUTO, "zero", "skip"))
    checks.tried(lambda: rules_of(given["lights"] or {}, given["metrics"], given["k"]))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    metrics: Sequence[str] = METRICS,
    k: int = K,
    ties: str = "",
    absent: str = AUTO,
    lights: Mapping[str, Mapping[str, float]] | None = None,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Means of every metric at k over queries per run, with intervals, and the verdict; options as of ``evaluate``."""
    return kit.worst_group(
        items,
        measures(metrics, k, ties),
        "model",
        called="run",
        lights=lights,
        over=core.counted(items["id"].nunique(), "query", "queries"),
        max_unscored=max_unscored,
        absent=absent_of(items, absent),
        notes=_tied(items, max_unscored),
        seed=seed,
        n_resamples=n_resamples,
    )


def _tied(items: pd.DataFrame, max_unscored: float) -> list[core.Note]:
    """A note on runs whose passages all have one score, so that their order is not that of the search."""
    found = []
    for run, own in items[items["n_ranked"] > 1].groupby("model"):
        n = int((own["n_tied"] == own["n_ranked"]).sum())
        if n > max_unscored * len(own):
            found.append(f"{run}: {n} of {core.counted(len(own), 'query')}")
    short = f"all passages of a query have the same score, so that the search gives no order ({'; '.join(found)})"
    return [core.Note("instrument", short)] if found else []


def absent_of(items: pd.DataFrame, absent: str) -> kit.evidence.Absent:
    """The queries that each run lacks, of those with a relevant passage."""
    counted = "in no mean" if absent == "skip" else "counted 0"
    stated, items = absent != AUTO, items[items["n_relevant"] > 0]
    return kit.evidence.absent_of(items, "model", "id", unit="query", counted=counted, stated=stated)


def curves_of(
    items: pd.DataFrame, metrics: Sequence[str], ks: Sequence[int], *, ties: str, **options: Any
) -> pd.DataFrame:
    """Every metric at every depth per run, with its interval: ``model, metric, k, value, ci_low, ci_high, n``."""
    figures = {figure.name: figure for figure in figures_of(metrics, sorted(ks))}
    found = kit.verdicts.by_group(items, [measure_of(figure, ties) for figure in figures.values()], "model", **options)
    rows = [
        {
            "model": e.group.get("model", ""),
            "metric": figures[e.metric].metric,
            "k": figures[e.metric].k,
            "value": e.value,
            "ci_low": e.ci_low,
            "ci_high": e.ci_high,
            "n": e.n,
        }
        for e in found
    ]
    return pd.DataFrame(rows).astype({"value": float, "ci_low": float, "ci_high": float})


def notes(items: pd.DataFrame, k: int, ks: Sequence[int], ties: str, no_relevant: str, tie_orders: int) -> list[str]:
    """What was counted otherwise than a reader may expect: queries without relevant passages or not in a run, ties, the unjudged."""
    out = []
    once, deepest = items.drop_duplicates("id"), max([*ks, k])
    if without := int((once["n_relevant"] == 0).sum()):
        how = "in no mean" if no_relevant == "skip" else "counted 0"
        out.append(f"Queries without a relevant passage, {how}: {without} of {len(once)}.")
    for name, own in items.groupby("model", sort=True):
        if short := int(((own["n_ranked"] > 0) & (own["n_ranked"] < deepest)).sum()):
            out.append(
                f"{name}: {short} of {len(own)} queries have fewer than {deepest} passages; beyond the end of its list a "
                "query gains nothing, and precision is still divided by k."
            )
        if tied := int((own["n_tied"] > 0).sum()):
            ways = {
                "mean": f"figures are means over {tie_orders} random orders of them",
                "random": "they are in a random order",
            }
            way = ways.get(ties, f"they are in order of their ids, {ties}")
            out.append(
                f"{name}: {int(own['n_tied'].sum())} passages of {core.counted(tied, 'query', 'queries')} have a score that another "
                f"passage of the query has; {way}."
            )
        if (share := own[Figure(UNJUDGED, k).name].mean()) > 0.5:
            out.append(
                f"{name}: {share:.0%} of the first {k} passages were not judged and count as irrelevant. If some are relevant, "
                "its precision, hit rate and MRR are higher, and figures that divide by what is relevant differ either way."
            )
    return out


def method(metrics: Sequence[str], ks: Sequence[int], options: Mapping[str, Any]) -> tuple[str, ...]:
    """The formulas in force."""
    orders = {
        "mean": f"figures are means over {options['tie_orders']} random orders of them",
        "random": "they are in a random order",
    }
    ties = orders.get(options["ties"], f"they are in order of their ids, {options['ties']}")
    skipped = "are in no mean" if options["no_relevant"] == "skip" else "count 0"
    lacking = "are in no mean of it, as in trec_eval" if options["absent"] == "skip" else "count 0, as in trec_eval -c"
    return (
        *(f"{Figure(name, 1).words}: {FORMULAS[name]}. {Figure(name, 1).card.reference}." for name in metrics),
        f"R is the number of relevant passages. A passage is relevant from grade {options['relevant_from']:g} on; unjudged passages count as irrelevant, as in "
        f"trec_eval. Depths: {', '.join(map(str, ks))}; the headline is at {options['k']}.",
        f"Where passages have the same score, {ties} (trec_eval: by id, descending).",
        f"Queries without a relevant passage {skipped} (pytrec_eval counts them 0). Judged queries that a run lacks {lacking}.",
        "Means over queries; intervals resample queries. Runs are compared on the same queries by swapping them query by "
        "query, Holm over the whole table.",
        "handbook (docs/methods.md), «Спецификация RAG: ключевая метрика качества»; answers by passage: «качество ответа LLM "
        "в зависимости от качества найденного пассажа».",
    )
