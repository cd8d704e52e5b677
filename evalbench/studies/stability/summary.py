"""Items to drops with intervals, a light for each test, and the sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.stability import inputs, lighting

DROP = "drop"
NOTHING = "no item has a score before and after"


def rules_of(lights: Mapping[str, Mapping[str, float]]) -> core.verdict.Bands:
    """The bands of a drop: the document's, or the stated ones.

    Raises ``BadInput``: Lists figures other than ``drop``, and thresholds that are no rule.

    Examples
    --------
    >>> str(rules_of({"drop": {"green_to": 2, "yellow_to": 4}}))
    'green: ≤ 2; yellow: (2, 4]; red: > 4'
    """
    rule = kit.rules.rules_of(lights, {DROP: kit.rules.Figure(False, (0.0, 100.0))}).get(DROP)
    return lighting.bands_of((rule["green_to"], rule["yellow_to"]) if rule else None)


def measures(*, metric: str = "", score_range: Sequence[float] = ()) -> tuple[core.Measure, ...]:
    """The figures of one augmentation."""
    worst_score, best = score_range or (0.0, 1.0)
    low, high = sorted((worst_score, best))
    name = metric or "score"
    common: dict[str, Any] = {"unit": f"{low:g}–{high:g}", "higher_is_better": best > worst_score, "undefined": NOTHING}
    return (
        core.mean_of(DROP, unit="pp", higher_is_better=False, worst=100.0, undefined=NOTHING),
        core.Measure(
            "relative_drop", (DROP, "above_worst"), core.ratio, higher_is_better=False, scale=None, title="relative drop (PDR)",
            undefined=f"{NOTHING}, or before is at the worst",
        ),
        core.mean_of("before", title=f"{name} before", **{**common, "worst": None}),
        core.mean_of("after", title=f"{name} after", **{**common, "worst": worst_score}),
        core.share_of("changed", title="items changed", higher_is_better=None, worst=None, undefined=NOTHING),
        core.share_of("worse", title="items worse", higher_is_better=False, undefined=NOTHING),
    )  # fmt: skip


class Found(NamedTuple):
    """The figures of every augmentation and model.

    - ``estimates``: Of each group: the drop first, with its light.
    - ``rows``: The items of each group.
    """

    estimates: list[list[core.Estimate]]
    rows: list[pd.DataFrame]
    drops: lighting.Drops
    levels: list[str]


def found_of(
    items: pd.DataFrame,
    own: Sequence[core.Measure],
    bands: core.verdict.Bands,
    light_on: str,
    *,
    seed: int,
    n_resamples: int,
) -> Found:
    """Every group's figures with their lights, models in order of their names, characters before words."""
    by = [c for c in ("model", "augmentation") if c in items]
    order = items.assign(place=items["level"].map({level: i for i, level in enumerate(inputs.LEVELS)}))
    groups = [
        (dict(zip([*by[:-1], "", by[-1]], map(str, name), strict=True)), rows)
        for name, rows in order.groupby([*by[:-1], "place", by[-1]], sort=True)
    ]
    done = [
        core.measures.estimate(
            rows, own, units=rows["id"], seed=seed, group={k: v for k, v in group.items() if k}, n_resamples=n_resamples
        )
        for group, rows in groups
    ]
    lists = [list(one.estimates) for one in done]
    above = [float(rows.loc[rows[DROP].notna(), "above_worst"].mean()) for _, rows in groups]
    for each, (_, rows), start in zip(lists, groups, above, strict=True):
        each[0], relative = _widened(each[0], rows, start), each[1]
        low, high = each[0].ci_low, each[0].ci_high
        if relative.ci_low is not None and relative.ci_low == relative.ci_high and low is not None and high is not None:
            each[1] = replace(relative, ci_low=low / start, ci_high=high / start, method=each[0].method, note="")
    first = [each[0] for each in lists]
    replicates = [one.replicates[DROP] for one in done]
    size = max(map(len, replicates), default=0)
    drops = lighting.Drops(
        value=_column(e.value for e in first),
        low=_column(e.ci_low for e in first),
        high=_column(e.ci_high for e in first),
        above=np.array(above),
        replicates=np.stack([r if len(r) else np.full(size, np.nan) for r in replicates], axis=1),
        n=np.array([e.n for e in first]),
        family=np.array([e.group.get("model", "") for e in first]),
    )
    lights: list[core.verdict.Light] = lighting.lights_of(drops, light_on, bands)[0].tolist()
    for at, (each, light, start) in enumerate(zip(lists, lights, above, strict=True)):
        each[0] = replace(each[0], light=light, cuts=bands.cuts)
        if light == "yellow" and bands.light(each[0].value) == "red":
            more = f"that the drop is above {bands.cuts[1]:g} pp is not shown{lighting.held_together(drops, at, bands)}"
            each[0] = replace(each[0], note="; ".join(filter(None, [each[0].note, more])))
        if light == "grey" and each[0].value is not None:
            each[0] = replace(
                each[0], note="; ".join(filter(None, [each[0].note, _why_grey(each[0], start, bands, light_on)]))
            )
    return Found(lists, [rows for _, rows in groups], drops, [inputs.LEVELS[int(group[""])] for group, _ in groups])


def _column(values: Iterable[float | None]) -> core.arrays.Floats:
    return np.array([np.nan if x is None else x for x in values], dtype=float)


def _widened(e: core.Estimate, rows: pd.DataFrame, above: float) -> core.Estimate:
    """The drop with what resamples cannot show: falls or rises of which the items have none."""
    if e.value is None or e.ci_low is None or e.ci_high is None:
        return e
    if core.stats.no_width(e.ci_low, e.ci_high):
        low, high = lighting.all_agree(e.value, above, e.n)
        note = "; ".join(part for part in e.note.split("; ") if "no width" not in part)
        return replace(e, ci_low=low, ci_high=high, method="Wilson over items, all agree", note=note)
    low, high = lighting.unseen(e.value, above, e.n, fell=bool(rows["worse"].any()), rose=bool((rows[DROP] < 0).any()))
    low, high = min(low, e.ci_low), max(high, e.ci_high)
    wider = [end for end, was in ((low, e.ci_low), (high, e.ci_high)) if end != was]
    return replace(e, ci_low=low, ci_high=high, method=f"{e.method}{', Wilson where no item moved' if wider else ''}")


NO_ROOM = "can show"
"""How a grey light ends whose score is too low to fall: by this the answer knows it."""


def _why_grey(e: core.Estimate, above: float, bands: core.verdict.Bands, light_on: str) -> str:
    """Why so few items, or so low a score, cannot say."""
    limit = bands.cuts[1]
    if light_on == "estimate" and e.n < core.stats.FEW_UNITS:
        return f"{core.counted(e.n, 'item')}, and the light of an estimate needs {core.stats.FEW_UNITS}"
    if bands.light(above) != "red":
        return f"before is {above:.3g} pp above the worst, so that no drop of more than {limit:g} pp {NO_ROOM}"
    if e.ci_high is None:
        return "one item cannot show anything"
    if bands.light(e.ci_high) == "red" and e.value is not None and bands.light(e.value) == "green":
        enough = e.n * ((e.ci_high - e.value) / (limit - e.value)) ** 2
        more = f", about {_round_up(enough)} with such answers would do"
        return f"the interval reaches from green to above {limit:g} pp: too few items to say{more}"
    return f"the drop is not below {bands.cuts[0]:g} pp, nor is it shown that it is more: too few items to say"


def _round_up(n: float) -> str:
    """Two leading digits, upwards: 137 is 140."""
    step = 10 ** max(len(str(int(n))) - 2, 0)
    return core.wording.count(-(-int(np.ceil(n)) // step) * step)


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.tried(lambda: rules_of(checks.options["lights"]))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    metric: str = "",
    score_range: Sequence[float] = (),
    light_on: str = lighting.LIGHT_ON,
    lights: Mapping[str, Mapping[str, float]] = {},
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """The figures of every augmentation and model, of each test the largest drop, and the verdict; options as of ``evaluate``."""
    bands = rules_of(lights)
    own = measures(metric=metric, score_range=score_range)
    found = found_of(items, own, bands, light_on, seed=seed, n_resamples=n_resamples)
    alone = [each[0] for each in found.estimates]
    shown = [kit.verdicts.held(e, "", kit.evidence.unscored_share(e, max_unscored)) for e in alone]
    tests = _tests(items, found, shown)
    light = core.verdict.worst([e.light for e in shown])
    basis = alone if light == "grey" else shown
    would_be = core.verdict.worst([e.light for e in basis])
    waiting = [basis is shown and a.light != b.light for a, b in zip(alone, shown, strict=True)]
    stability = lighting.stability_of(
        found.drops, _jointly(found, seed, n_resamples), waiting, light_on, bands, would_be
    )
    crowd = [e for e, s in zip(alone, shown, strict=True) if e.light != s.light]
    sentence = "".join(
        (
            " ".join(_said(level, found, shown, bands, metric or "the score") for level in inputs.LEVELS if level in found.levels),
            f" {core.counted(items['id'].nunique(), 'item')}.",
            core.stats.of_few(e.n for e in alone),
            kit.verdicts.left_out(items),
            _without(items),
            f" More than {core.percent(max_unscored, [max_unscored])} are unscored under {_names(crowd)}: not enough evidence for a light"
            f"{'' if would_be == light else f'; the figures alone would give {would_be}'}."
            if crowd
            else "",
        )
    )  # fmt: skip
    rule = (
        f"drop in percentage points, {'its interval' if light_on == lighting.LIGHT_ON else 'the estimate'}: {bands}; "
        "of each test the worst augmentation, and of all the worst test, decides"
    )
    every = [[first, *each[1:]] for each, first in zip(found.estimates, shown, strict=True)]
    estimates = [each[i] for i in range(len(own)) for each in every]
    verdict = core.verdict.Verdict(
        light, sentence, rule, stability, None if would_be == light else would_be, core.result.decisive(basis).place
    )
    return core.Summary((*tests, *estimates), verdict)


def _jointly(found: Found, seed: int, n_resamples: int) -> core.arrays.Floats:
    """The drops in resamples of all items, the same for every augmentation and model: ``(r, g)``."""
    done = [
        core.measures.unit_sums(rows, (DROP, f"#{DROP}"), core.clusters.drawn_together(rows, rows["id"]))
        for rows in found.rows
    ]
    every = np.unique(np.concatenate([ids for _, ids in done]))
    if len(every) < 2:
        return np.empty((0, len(done)))
    table = np.zeros((len(every), 2 * len(done)))
    for j, (sums, ids) in enumerate(done):
        table[np.searchsorted(every, ids), 2 * j : 2 * j + 2] = sums
    drawn = core.stats.bootstrap_sums(table, lambda sums: sums, core.seeds.rng(seed, "bootstrap/light"), n_resamples)
    return core.ratio(drawn[:, 0::2], drawn[:, 1::2])


def _tests(items: pd.DataFrame, found: Found, shown: Sequence[core.Estimate]) -> list[core.Estimate]:
    """Of each test and model the largest drop, with the worst light of its augmentations."""
    out = []
    models = sorted({e.group.get("model", "") for e in shown})
    for level in inputs.LEVELS:
        for model in models:
            at = [i for i, e in enumerate(shown) if found.levels[i] == level and e.group.get("model", "") == model]
            if not at:
                continue
            own = [shown[i] for i in at]
            top = max(own, key=lambda e: -np.inf if e.value is None else e.value)
            notes = (
                [f"the largest of {core.counted(len(own), 'augmentation')}: {top.group['augmentation']}"]
                if top.value is not None
                else [top.note]
            )
            out.append(
                replace(
                    top,
                    metric=level,
                    title=f"{level}: largest drop",
                    group={"model": model} if "model" in items else {},
                    light=core.verdict.worst([e.light for e in own]),
                    n=sum(e.n for e in own),
                    n_unscored=sum(e.n_unscored for e in own),
                    n_undefined=sum(e.n_undefined for e in own),
                    n_of="variants",
                    note="; ".join(notes),
                )
            )
    return out


# -- the sentence --------------------------------------------------------------------------------


def _said(level: str, found: Found, shown: Sequence[core.Estimate], bands: core.verdict.Bands, metric: str) -> str:
    """One test in words: its light, and the drop behind it, of each model."""
    at = [i for i, own in enumerate(found.levels) if own == level]
    by_model: dict[str, list[int]] = {}
    for i in at:
        by_model.setdefault(shown[i].group.get("model", ""), []).append(i)
    parts = {model: _of_model(own, found, shown, bands, metric) for model, own in by_model.items()}
    name = {"characters": "Characters", "words": "Words", "other": "Other augmentations"}[level]
    if len(parts) == 1:
        model, (light, said) = next(iter(parts.items()))
        return f"{name}: {light}, {said}{f' ({model})' if model else ''}."
    light = core.verdict.worst([one for one, _ in parts.values()])
    ordered = sorted(parts, key=lambda m: (("red", "yellow", "grey", "green").index(parts[m][0]), m))
    if len(ordered) > kit.verdicts.NAMED:
        lit = [one for one, _ in parts.values()].count(light)
        return f"{name}: {light}, as {lit} of {core.counted(len(parts), 'model')}; first {ordered[0]}, {parts[ordered[0]][1]}."
    return f"{name}: {light}. {'; '.join(f'{m} {parts[m][0]}, {parts[m][1]}' for m in ordered)}."


def _of_model(
    at: Sequence[int], found: Found, shown: Sequence[core.Estimate], bands: core.verdict.Bands, metric: str
) -> tuple[core.verdict.Light, str]:
    own = [shown[i] for i in at]
    light = core.verdict.worst([e.light for e in own])
    known = [e for e in own if e.value is not None]
    if not known:
        why = next(iter(dict.fromkeys(e.note for e in own)))
        return light, f"no drop has a value: {why}"
    e = core.result.decisive([e for e in known if e.light == light] or known)
    figure = core.wording.estimate_text(e, [each[0] for each in found.estimates])
    before, after = found.estimates[at[own.index(e)]][2:4]
    moved = f"{metric} {core.wording.estimate_text(replace(before, ci_low=None, ci_high=None), [before, after])} to {core.wording.estimate_text(replace(after, ci_low=None, ci_high=None), [before, after])}"
    name = e.group["augmentation"]
    if light in ("red", "yellow"):
        return light, f"under {name} a drop of {figure} pp ({moved})"
    if light == "green":
        return (
            light,
            f"no drop of {bands.cuts[0]:g} pp or more is shown; the largest is {figure} pp under {name} ({moved})",
        )
    return light, f"{figure} pp under {name} ({moved}): {_reason(e)}"


def _reason(e: core.Estimate) -> str:
    return e.note.split("; ")[-1] if e.note else "not enough evidence to say"


def _names(crowd: Sequence[core.Estimate]) -> str:
    said = [" of ".join(reversed([*e.group.values()])) for e in crowd]
    return ", ".join(said[: kit.verdicts.NAMED]) + (
        f" and {len(said) - kit.verdicts.NAMED} more" if len(said) > kit.verdicts.NAMED else ""
    )


def _without(items: pd.DataFrame) -> str:
    without = items["undefined"][items["undefined"] != ""]
    return f" {len(without)} of {len(items)} have no value ({core.unscored.counted(without)})." if len(without) else ""


def drops_table(
    items: pd.DataFrame,
    *,
    metric: str = "",
    score_range: Sequence[float] = (),
    light_on: str = lighting.LIGHT_ON,
    lights: Mapping[str, Mapping[str, float]] = {},
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> pd.DataFrame:
    """A row per augmentation and model: figures, light, and how improbable a smaller drop is.

    ``p_yellow`` and ``p_red``: one-sided, Holm over a model's augmentations, that the drop is below the first threshold, and that it
    is not above the second.
    """
    bands = rules_of(lights)
    own = measures(metric=metric, score_range=score_range)
    found = found_of(items, own, bands, light_on, seed=seed, n_resamples=n_resamples)
    p = [lighting.holm_rows(lighting.p_values(found.drops, cut), found.drops.family)[0] for cut in bands.cuts]
    records = []
    for i, (drop, relative, before, after, changed, worse) in enumerate(found.estimates):
        light = kit.verdicts.held(drop, "", kit.evidence.unscored_share(drop, max_unscored)).light
        counts = found.rows[i]["changed"].sum(), found.rows[i]["worse"].sum()
        records.append(
            {
                **drop.group, "level": found.levels[i], "light": light, "n": drop.n, "n_unscored": drop.n_unscored,
                "n_undefined": drop.n_undefined, "before": before.value, "after": after.value, DROP: drop.value, "low": drop.ci_low,
                "high": drop.ci_high, "relative_drop": relative.value, "changed": changed.value, "n_changed": int(counts[0]),
                "worse": worse.value, "n_worse": int(counts[1]), "p_yellow": p[0][i], "p_red": p[1][i], "note": drop.note,
            }
        )  # fmt: skip
    return pd.DataFrame(records).astype(
        dict.fromkeys(("before", "after", DROP, "low", "high", "relative_drop", "changed", "worse"), float)
    )


def compared(items: pd.DataFrame, *, seed: int = kit.SEED, n_resamples: int = kit.N_RESAMPLES) -> pd.DataFrame:
    """Every two models on the drop under each augmentation, see :func:`evalbench.kit.comparing.compare_groups`."""
    if "model" not in items or items["model"].nunique() < 2:
        return pd.DataFrame()
    wide = items.pivot(index=["id", "model"], columns="augmentation", values=DROP)
    wide.columns = [f"{DROP} {name}" for name in wide.columns]
    own = [
        core.mean_of(
            name,
            title=f"drop under {name.removeprefix(DROP)[1:]}",
            unit="pp",
            higher_is_better=False,
            undefined=NOTHING,
        )
        for name in wide.columns
    ]
    return kit.comparing.compare_groups(wide.reset_index(), own, "model", seed=seed, n_resamples=n_resamples)
