"""Items to figures, the best k, the best chunks, and the light of the embedding."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.metrics.registry import card
from evalbench.studies.rag_tuning import sections

TARGET_METRIC, K, N_SEARCH = "hit_rate", 5, 5
HIT_FLOOR = 0.5
AT_1 = "hit_rate_at_1"
NOT_ASKED = "The light is that of the embedding, which was not looked at: it needs question_model and n_chunks."
TITLES = {
    "hit_rate": "hit rate",
    "mrr": "mean reciprocal rank",
    "recall": "recall of sources",
    "precision": "precision",
}


def at_n(n_search: int) -> str:
    """The name of the hit rate among the first ``n_search``."""
    return f"hit_rate_at_{n_search}"


def _between(red_below: float, green_above: float) -> core.verdict.Bands:
    """Yellow from the one threshold to the other, both themselves yellow."""
    middle = core.verdict.Band("yellow", red_below, green_above, high_closed=True)
    return core.verdict.Bands(
        (core.verdict.Band("red", high=red_below), middle, core.verdict.Band("green", green_above, low_closed=False))
    )


def bands_for(n_search: int, lights: Mapping[str, Any]) -> dict[str, core.verdict.Bands]:
    """The lights of the embedding: the document's, or thresholds of the user's own.

    Examples
    --------
    >>> rules = bands_for(5, {})
    >>> [rules["hit_rate_at_1"].light(x) for x in (0.299, 0.3, 0.4, 0.401)]
    ['red', 'yellow', 'yellow', 'green']
    >>> [rules["hit_rate_at_5"].light(x) for x in (0.499, 0.5, 0.7, 0.701)]
    ['red', 'yellow', 'yellow', 'green']
    """
    rules = {AT_1: _between(0.3, 0.4), at_n(n_search): _between(0.5, 0.7)}
    for metric, rule in lights.items():
        found = kit.verdicts.bands_of(kit.rules.rule_of(rule, within=(0, 1), of=metric))
        if found is None:
            rules.pop(metric, None)
        else:
            rules[metric] = found
    return rules


def measures(*, target_metric: str = TARGET_METRIC, n_search: int = N_SEARCH) -> tuple[core.Measure, ...]:
    """The figures of the embedding, then the target metric and the figures of retrieval."""
    return (*of_embedding(n_search), key_measure(target_metric), *_of_retrieval(target_metric))


def of_embedding(n_search: int) -> tuple[core.Measure, ...]:
    """Hit rates, mean reciprocal rank and mean place of generated questions."""
    without = "no generated question was searched for"
    return (
        core.share_of("found_1", AT_1, title="embedding: hit rate @1 of generated questions", undefined=without),
        core.share_of(
            "found_n",
            at_n(n_search),
            title=f"embedding: hit rate @{n_search} of generated questions",
            undefined=without,
        ),
        core.mean_of(
            "reciprocal", f"mrr_at_{n_search}", title=f"embedding: mean reciprocal rank @{n_search}", undefined=without
        ),
        core.mean_of(
            "place",
            "mean_place",
            title="embedding: mean place where found",
            unit="place",
            higher_is_better=False,
            undefined="no generated question found its chunk",
        ),
    )


def key_measure(target_metric: str) -> core.Measure:
    """The mean of the target metric over the questions."""
    share, unit = target_metric == "hit_rate", "0–1"
    if target_metric not in sections.RETRIEVAL:
        entry = card(target_metric)
        share, unit = entry.unit == "0/1", "0–1" if entry.unit == "0/1" else entry.unit
    make = core.share_of if share else core.mean_of
    return make(
        "quality",
        target_metric,
        title=TITLES.get(target_metric, target_metric),
        unit=unit,
        undefined="no question has a value",
    )


HITS = core.share_of("hit_rate", title=TITLES["hit_rate"], undefined="no question has a source")
"""How often the questions of the table find a source of theirs, whatever is tuned for."""


def judged_measures(target_metric: str) -> tuple[core.Measure, ...]:
    """The figures that rest on the judge of answers."""
    return (key_measure(target_metric),) if target_metric in sections.JUDGED else ()


def rests_on_judge(
    figure: str,
    group: Mapping[str, str],
    *,
    target_metric: str = TARGET_METRIC,
    n_search: int = N_SEARCH,
    judge: Any = "",
) -> bool:
    """Whether a figure could change with a judge: one marks the questions that search for chunks, one the answers that k is chosen by."""
    if figure in {m.metric for m in of_embedding(n_search)}:
        return bool(judge)
    return target_metric in sections.JUDGED or figure not in {m.metric for m in measures(target_metric=target_metric)}


def _of_retrieval(target_metric: str) -> tuple[core.Measure, ...]:
    without = "no question has a source"
    return tuple(
        (core.share_of if name == "hit_rate" else core.mean_of)(name, title=TITLES[name], undefined=without)
        for name in sections.RETRIEVAL[:3]
        if name != target_metric
    )


class Choice(NamedTuple):
    """Which k is best.

    - ``best``: Where the target metric is highest; of equals the smallest.
    - ``plain``: The smallest that is within one standard error of it.
    - ``error``: The standard error at the best.
    """

    best: int
    plain: int
    error: float


def chosen_k(items: pd.DataFrame) -> Choice | None:
    """The best k of the items of the section on top-k; None where none has a value.

    The standard error is that of the mean at the best k: the standard deviation over the questions (n − 1) over √n.

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame({"part": "top k", "k": [1, 1, 2, 2, 3, 3], "quality": [0.0, 0.0, 0.5, 1.0, 0.6, 1.0]})
    >>> chosen_k(items)
    Choice(best=3, plain=2, error=0.2)
    """
    rows = items[(items["part"] == sections.TOP_K) & items["quality"].notna()]
    if rows.empty:
        return None
    groups = rows.groupby("k")["quality"]
    means, counts, spread = groups.mean(), groups.count(), groups.std(ddof=1)
    best = int(means.index[np.flatnonzero(means >= means.max() - 1e-12)[0]])
    error = float(np.nan_to_num(spread[best]) / np.sqrt(counts[best]))
    plain = int(means.index[np.flatnonzero(means >= means[best] - error - 1e-12)[0]])
    return Choice(best, plain, round(error, 12))


def compared(
    items: pd.DataFrame, part: str, listed: Sequence[core.Measure], seed: int, n_resamples: int
) -> pd.DataFrame:
    """Every two settings of a section, paired on the questions; empty where there is one."""
    rows = items[items["part"] == part]
    rank_by = listed[0].metric if part == sections.CHUNKS else ""
    return kit.comparing.compare_groups(rows, listed, "setting", rank_by=rank_by, seed=seed, n_resamples=n_resamples)


def best_cells(table: pd.DataFrame) -> list[str]:
    """The setting that is shown to be better than every other after Holm's adjustment; none where none is.

    Settings that are the same for every question, such as overlaps below a sentence, win and lose together.
    """
    if table.empty:
        return []
    first = table["setting_a"].iloc[0]
    own = table[table["setting_a"] == first]
    same = own["setting_b"][own["outcome"] == "same"].tolist()
    won = own["setting_b"][own["outcome"] == "better"].tolist()
    others = {*table["setting_a"], *table["setting_b"]} - {first}
    return [str(first), *map(str, same)] if won and {*same, *won} == others else []


def _copied(rows: pd.DataFrame, max_unscored: float) -> dict[str, str]:
    """Why the light of the embedding is grey where generated questions are passages of their chunks."""
    known = rows[rows["copied"].notna()] if "copied" in rows else rows.head(0)
    n = int(known["copied"].sum()) if len(known) else 0
    if n <= max_unscored * len(known):
        return {}
    why = f"{n} of {core.counted(len(known), 'generated question')} repeat their chunk word for word, so that any embedding finds it"
    return dict.fromkeys(map(str, rows["setting"].unique()), why)


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    given = checks.options["lights"] or {}
    hits = (AT_1, at_n(checks.options["n_search"]))
    strangers = [metric for metric in given if metric not in hits]
    checks.share("hit_floor")
    checks.that(not strangers, f"lights: {', '.join(strangers)} has no light; those that have are {', '.join(hits)}")
    checks.tried(lambda: bands_for(5, {metric: rule for metric, rule in given.items() if metric not in strangers}))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    target_metric: str = TARGET_METRIC,
    k: int = K,
    n_search: int = N_SEARCH,
    lights: Mapping[str, Mapping[str, float]] | None = None,
    hit_floor: float = HIT_FLOOR,
    max_unscored: float = kit.MAX_UNSCORED,
    correction_fit: Mapping[str, Any] | None = None,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """The figures of every section, and the verdict: the light of the embedding, in words the rest; options as of ``evaluate``.

    ``correction_fit``: see :func:`evalbench.kit.verdicts.worst_group`.
    """
    options: dict[str, Any] = {"seed": seed, "n_resamples": n_resamples}
    key = key_measure(target_metric)
    listed = {sections.TOP_K: (key,), sections.CHUNKS: (key,), sections.QUERIES: (key, *_of_retrieval(target_metric))}
    rules = bands_for(n_search, lights or {})
    listed[sections.EMBEDDING] = tuple(_lit(measure, rules) for measure in of_embedding(n_search))
    found: dict[str, list[core.Estimate]] = {part: [] for part in sections.PARTS}
    for part in sections.PARTS:
        own = items[items["part"] == part]
        for setting in in_order(own):
            rows = own[own["setting"] == setting]
            group = {"setting": setting}
            found[part] += core.measures.estimate(
                rows, listed[part], units=rows["id"], group=group, **options
            ).estimates
    remark = " ".join(_remarks(items, found, key, k, options))
    if found[sections.EMBEDDING]:
        rows = items[items["part"] == sections.EMBEDDING]
        over = core.counted(len(rows), "generated question")
        hits, of_hits = _hits(items, k, hit_floor, options)
        headline = HITS.metric if of_hits else ""
        summary = kit.worst_group(
            pd.concat([rows, hits], ignore_index=True) if of_hits else rows,
            [*listed[sections.EMBEDDING], *([HITS] if of_hits else [])],
            "setting",
            headline=headline,
            floor=hit_floor if of_hits else 0.0,
            faults=_copied(rows, max_unscored),
            over=over,
            max_unscored=max_unscored,
            absent=kit.evidence.Absent(),
            remark=remark,
            estimates=[*found[sections.EMBEDDING], *of_hits],
            **options,
        )
        shown = summary.verdict.sentence.replace(
            f" of {len(rows) + len(hits)} have no value", f" of {len(rows)} have no value"
        )
        summary = replace(summary, verdict=replace(summary.verdict, sentence=shown))
        rest_of = {(e.metric, e.group["setting"]) for e in of_hits}
        found[sections.TOP_K] = [e for e in found[sections.TOP_K] if (e.metric, e.group["setting"]) not in rest_of]
    else:
        at_k = (
            found[sections.TOP_K][-1:]
            if found[sections.TOP_K]
            else found[sections.CHUNKS][:1] or found[sections.QUERIES][:1]
        )
        at_k = [e for e in found[sections.TOP_K] if e.group["setting"] == sections.setting_of(k)] or at_k
        rows = items[items["setting"] == at_k[0].group["setting"]]
        over = core.counted(rows["id"].nunique(), "question")
        summary = kit.worst_group(
            rows, [key], "setting", over=over, remark=remark, estimates=at_k, fit=correction_fit, **options
        )
        said = summary.verdict.sentence.replace(kit.verdicts.NO_THRESHOLDS, NOT_ASKED)
        summary = replace(summary, verdict=replace(summary.verdict, sentence=said))
    rest: list[core.Estimate] = []
    for part in sections.PARTS[1:]:
        corrections = kit.correcting.fixed(
            items[items["part"] == part], found[part], [key], "setting", fit=correction_fit
        )
        rest += corrections.estimates if corrections else found[part]
    lit = summary.estimates if found[sections.EMBEDDING] else ()
    verdict = summary.verdict
    if not verdict.sentence.startswith(target_metric):
        verdict = replace(verdict, sentence=f"{verdict.sentence[0].upper()}{verdict.sentence[1:]}")
    tuned = [e for e in rest if target_metric in (e.metric, e.corrects)]
    return core.Summary(
        (*lit[:2], *tuned, *lit[2:], *(e for e in rest if target_metric not in (e.metric, e.corrects))), verdict
    )


def _hits(
    items: pd.DataFrame, k: int, floor: float, options: Mapping[str, Any]
) -> tuple[pd.DataFrame, list[core.Estimate]]:
    """The rows of the table's own questions at k, and how often these find a source; none where no question has one."""
    name = sections.setting_of(k)
    rows = items[(items["part"] == sections.TOP_K) & (items["setting"] == name) & items["hit_rate"].notna()]
    if rows.empty:
        return rows, []
    measure = replace(HITS, bands=kit.evidence.floor_bands(floor)) if floor else HITS
    found = core.measures.estimate(rows, [measure], units=rows["id"], group={"setting": name}, **options)
    return rows, list(found.estimates)


def _lit(measure: core.Measure, rules: Mapping[str, core.verdict.Bands]) -> core.Measure:
    return replace(measure, bands=rules[measure.metric]) if measure.metric in rules else measure


def in_order(rows: pd.DataFrame) -> list[str]:
    """The settings of a section, by the numbers in their names; the single query before several.

    Examples
    --------
    >>> import pandas as pd
    >>> in_order(pd.DataFrame({"setting": ["k=10", "k=9", "k=9"]}))
    ['k=9', 'k=10']
    """
    names = rows["setting"].unique().tolist()
    return sorted(names, key=lambda name: (name != sections.SINGLE, [int(n) for n in re.findall(r"\d+", name)], name))


def _remarks(
    items: pd.DataFrame,
    found: Mapping[str, Sequence[core.Estimate]],
    key: core.Measure,
    k: int,
    options: Mapping[str, Any],
) -> list[str]:
    """What the other sections found, a sentence each."""
    said = []
    by_k = {e.group["setting"]: e for e in found[sections.TOP_K]}
    choice = chosen_k(items)
    if choice is not None:
        best, plain, own = (by_k.get(sections.setting_of(n)) for n in (choice.best, choice.plain, k))
        assert best is not None
        rows = [e for e in found[sections.TOP_K] if e.value is not None]
        words = f"The highest {key.title} is at k = {choice.best}, {core.wording.estimate_text(best, rows)}"
        if plain is not None and choice.plain != choice.best:
            words += f"; the smallest k within one standard error is {choice.plain}, {core.wording.estimate_text(plain, rows)}"
        if own is not None and own.value is not None and k not in (choice.best, choice.plain):
            words += f"; at your k = {k} it is {core.wording.estimate_text(own, rows)}"
        said.append(f"{words}.")
    cells = found[sections.CHUNKS]
    if len(cells) > 1:
        best_ones = best_cells(compared(items, sections.CHUNKS, [key], options["seed"], options["n_resamples"]))
        won = f"{best_ones[0]} is better than every other" if best_ones else "none is shown to be the best"
        alike = f", and so is {', '.join(best_ones[1:])}, which is the same" if best_ones[1:] else ""
        said.append(f"Of {len(cells)} settings of chunks {won}{alike}.")
    if found[sections.QUERIES]:
        table = compared(
            items, sections.QUERIES, [key, *_of_retrieval(key.metric)], options["seed"], options["n_resamples"]
        )
        said += [_of_queries(row) for row in table[table["metric"] == key.metric].to_dict("records")]
    return said


def _of_queries(row: Mapping[Any, Any]) -> str:
    """Several queries against the single one on the target metric, a sentence."""
    turned = {"better": "worse", "worse": "better"} if row["setting_a"] == sections.SINGLE else {}
    outcome = turned.get(row["outcome"], row["outcome"])
    over = (
        f" (p {core.wording.p_equals(row['p_holm'])} after Holm's adjustment)" if row["p_holm"] == row["p_holm"] else ""
    )
    if outcome in ("better", "worse"):
        return f"Several queries are {outcome} than a single one{over}."
    if outcome == "same":
        return "Several queries and a single one are the same on each question."
    if outcome == "undefined":
        return "Several queries cannot be compared with a single one."
    return f"Between several queries and a single one no difference is shown{over}."
