"""Items to headline figures with intervals, and the light of the confusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.metrics.entities import MODES
from evalbench.studies.ner_quality.items import classes_of, confused_column, confusions_of, own_column
from evalbench.studies.ner_quality.scores import (
    CONFUSION,
    DECIDING,
    NOTHING_FOUND,
    OWN,
    STRICT,
    class_id,
    class_measure,
    confusion_of,
    deciding_confusion,
    largest_confusion,
    macro_of,
    measures,
)

METHOD_BANDS = core.verdict.Bands.cut("green", 0.25, "yellow", 0.5, "red")
MOST_UNITS, BLOCKS = 20_000, 10_000
"""Of more texts than so many, the resamples draw blocks of texts that were put together at random."""
F1_FLOOR = 0.7
"""Below this strict F1 a light of the confusions is at best yellow; 0: whatever it is, as in the method document."""
UNKNOWN, NOTHING_THERE = ABSENT = ("unknown", "nothing")


def rules_of(
    green_to: float | None = None, yellow_to: float | None = None, lights: Mapping[str, Mapping[str, float]] = {}
) -> tuple[core.verdict.Bands, dict[str, dict[str, float]]]:
    """The bands of a class's confusion, and the checked thresholds of further figures.

    Raises ``BadInput``: Lists thresholds that are no rule or beyond their figure, and unknown figures.

    Examples
    --------
    >>> str(rules_of()[0]), str(rules_of(0.1, 0.2)[0])
    ('green: < 0.25; yellow: [0.25, 0.5); red: ≥ 0.5', 'green: ≤ 0.1; yellow: (0.1, 0.2]; red: > 0.2')
    """
    checks, known = kit.Checks(), [m.metric for m in measures()] + [f"macro_{mode}_f1" for mode in MODES]
    own = {"green_to": green_to, "yellow_to": yellow_to}
    rule = checks.tried(lambda: kit.rules.rule_of(own, higher_is_better=False, within=(0, 1)))
    found = checks.tried(lambda: kit.rules.rules_of(lights, dict.fromkeys(known, kit.rules.Figure())))
    checks.refuse("ner_quality")
    return kit.verdicts.bands_of(rule or {}, higher_is_better=False) or METHOD_BANDS, found or {}


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.share("f1_floor")
    checks.choices(absent=ABSENT)
    checks.tried(lambda: rules_of(**kit.taken(rules_of, checks.options)))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    green_to: float | None = None,
    yellow_to: float | None = None,
    f1_floor: float = F1_FLOOR,
    absent: str = UNKNOWN,
    lights: Mapping[str, Mapping[str, float]] = {},
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Figures of every model, those of its classes, and the verdict; options as of ``evaluate``."""
    bands, further = rules_of(green_to, yellow_to, lights)
    classes, pairs = classes_of(items), confusions_of(items)
    options: dict[str, int] = {"seed": seed, "n_resamples": n_resamples}
    over_all = [*measures(), *(macro_of(classes, mode) for mode in MODES)]
    floored = (
        replace(over_all[0], bands=kit.evidence.floor_bands(f1_floor), least_units=core.stats.FEW_UNITS)
        if f1_floor
        else over_all[0]
    )
    wanted = [kit.verdicts.with_light(m, further) for m in (floored, *over_all[1:])]
    wanted += [largest_confusion(classes, pairs), *(class_measure(name, "strict", "f1") for name in classes)]
    wanted += [confusion_of(name, classes, pairs, bands) for name in classes]
    found = estimates_of(items, wanted, **options)
    groups = {str(model): own for model, own in items.groupby("model", sort=True)}
    tests = {model: tested(found, model, own, classes, bands) for model, own in groups.items()}
    of_f1_alone = further and len(classes) == 1 and not pairs

    def held(model: str) -> tuple[str, ...]:
        return (DECIDING,) if tests[model].rests or further else (DECIDING, STRICT)

    lead = next((m for m in over_all if m.metric in further), over_all[0])
    whole = kit.worst_group(
        resampled_rows(items),
        [floored, *over_all[1:], *([] if of_f1_alone else [deciding_confusion(classes, pairs, bands)])],
        "model",
        lights=further,
        headline=STRICT,
        floor=f1_floor,
        what=f"{lead.title[:1].upper()}{lead.title[1:]}",
        over=core.counted(items["id"].nunique(), "text"),
        held_back=lambda e: tests[e.group["model"]].why if e.metric in held(e.group["model"]) else "",
        absent=kit.evidence.absent_of(
            items[items["n_true"] > 0],
            "model",
            "id",
            unit="text",
            counted="counted as texts in which nothing was found",
            stated=absent == NOTHING_THERE,
        ),
        remark=" ".join(
            filter(None, [_remark(items, classes, pairs, bands), missed_and_invented(groups, classes, bands)])
        ),
        units="_unit",
        estimates=(*found, *(() if of_f1_alone else (test.decides for test in tests.values()))),
        seed=seed,
        n_resamples=n_resamples,
    )
    verdict, own = whole.verdict, tuple(e for e in whole.estimates if e.metric != DECIDING)
    if verdict.decided_by and verdict.decided_by["metric"] == DECIDING:
        verdict = replace(verdict, decided_by=tests[verdict.decided_by["model"]].place)
    return core.Summary(own, verdict)


def estimates_of(
    items: pd.DataFrame, wanted: Sequence[core.Measure], *, seed: int, n_resamples: int
) -> tuple[core.Estimate, ...]:
    """Figures of every model; ``n`` counts texts."""
    rows, n = resampled_rows(items), items["model"].value_counts()
    options: dict[str, int] = {"seed": seed, "n_resamples": n_resamples}
    return tuple(
        replace(e, n=int(n[model])) if e.n else e
        for model, own in rows.groupby("model", sort=True)
        for e in core.measures.estimate(
            own, wanted, units=own["_unit"], group={"model": str(model)}, **options
        ).estimates
    )


def resampled_rows(items: pd.DataFrame) -> pd.DataFrame:
    """The rows that are resampled, their unit in ``_unit``: the items, or of very many texts the sums of blocks of them.

    Which block a text is in depends on its id alone.
    """
    if items["id"].nunique() <= MOST_UNITS or core.clusters.CLUSTER in items:
        return items.assign(_unit=items["id"])
    block = pd.util.hash_array(items["id"].to_numpy(dtype=object)) % BLOCKS
    model, names = pd.factorize(items["model"], sort=True)
    group = model * BLOCKS + block.astype(np.int64)
    numbers = [
        c
        for c in items.columns
        if not (c in ("id", "model", "unscored", "undefined") or c.startswith(core.slices.SLICE))
    ]
    sums = {c: np.bincount(group, items[c].to_numpy(dtype=float), len(names) * BLOCKS) for c in numbers}
    filled = np.flatnonzero(np.bincount(group, minlength=len(names) * BLOCKS))
    own = {"model": np.array(names, dtype=object)[filled // BLOCKS], "_unit": (filled % BLOCKS).astype(str)}
    return pd.DataFrame({**own, **{c: column[filled] for c, column in sums.items()}, "unscored": "", "undefined": ""})


class Tested(NamedTuple):
    """The document's test of one model.

    - ``decides``: The confusion of the class that decides; without a value where no class has one.
    - ``why``: What holds a light back.
    - ``place``: Of the class's own figure; where another class holds the light back, of that one's.
    - ``rests``: Whether a class is found in enough texts; else the floor of F1 decides nothing either.
    """

    decides: core.Estimate
    why: str = ""
    place: Mapping[str, str] | None = None
    rests: bool = True


def tested(
    found: Sequence[core.Estimate], model: str, items: pd.DataFrame, classes: Sequence[str], bands: core.verdict.Bands
) -> Tested:
    """The class that decides: the largest confusion, or where that is a yellow one the second largest.

    Classes that are found in too few texts decide nothing; the light is grey where no other is left, and where it would
    be green though such a class is taken for another, or one of enough texts is never found.
    """
    every = {e.metric: e for e in found if e.group["model"] == model}
    own = [(every[f"{OWN}{class_id(name)}"], name) for name in classes]
    ranked = sorted((pair for pair in own if pair[0].value is not None), key=lambda pair: -(pair[0].value or 0.0))
    if not ranked:
        why = own[0][0].note if len(classes) == 1 else NOTHING_FOUND
        empty = replace(
            every[CONFUSION], metric=DECIDING, value=None, ci_low=None, ci_high=None, light="grey", note=why
        )
        return Tested(empty, "there is no confusion to judge", rests=False)
    n_true, n_missed = ({name: items[own_column(side, name)] for name in classes} for side in ("true", "missed"))
    seen = {name: int((n_true[name] > n_missed[name]).sum()) for name in classes}
    least = core.stats.FEW_UNITS
    enough = [pair for pair in ranked if seen[pair[1]] >= least]
    few = {
        name: f"{name} is found in only {core.counted(seen[name], 'text')}" for name in classes if seen[name] < least
    }
    first, *rest = enough or ranked
    lone = first[0].light == "yellow" and not rest
    e, name = rest[0] if first[0].light == "yellow" and rest else first
    beside = "" if e is first[0] else f", second to {first[1]} with {core.wording.value_text(first[0], found)}"
    decides = replace(
        e,
        metric=DECIDING,
        title=every[CONFUSION].title,
        group={"model": model, "class": f"{name}{beside}"},
        light="green" if lone else e.light,
    )
    place = None if lone else e.place
    if not enough:
        return Tested(decides, f"{few[first[1]]} and a light needs {least}", first[0].place, rests=False)
    if decides.light != "green":
        return Tested(decides, "", place)
    unsure = [(found_one, other) for found_one, other in ranked if other in few and found_one.light != "green"]
    doubts = [few[other] for _, other in unsure]
    never = [other for e, other in own if e.value is None and int((n_true[other] > 0).sum()) >= least]
    doubts += [f"no {other} is found, so that none can be taken for another class" for other in never]
    return Tested(decides, "; ".join(doubts[:3]), unsure[0][0].place if unsure else place)


def missed_and_invented(groups: Mapping[str, pd.DataFrame], classes: Sequence[str], bands: core.verdict.Bands) -> str:
    """Of which classes much is missed, and how much is invented: what the test does not count."""
    missed, invented = [], []
    for model, own in groups.items():
        of, whose = _sums(own, classes), f" ({model})" if len(groups) > 1 else ""
        much = sorted((-m / n, name) for name, (n, m) in of.items() if n and bands.light(m / n) != "green")
        named = [f"{of[name][1]:.0f} of {of[name][0]:.0f} {name}" for _, name in much]
        if named:
            more = f" and much of {core.counted(len(much) - 3, 'more class', 'more classes')}" if len(much) > 3 else ""
            missed.append(f"{', '.join(named[:3])}{more}{whose}")
        n = float(own["n_predicted"].sum())
        beside = n - sum(total - gone for total, gone in of.values())
        if n and bands.light(beside / n) != "green":
            invented.append(f"{beside:.0f} of {n:.0f}{whose}")
    said = (("Missed: ", missed), ("Predictions without a true entity of their own: ", invented))
    return " ".join(f"{what}{'; '.join(every[:5])}{'; …' if len(every) > 5 else ''}." for what, every in said if every)


def _sums(items: pd.DataFrame, classes: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Of each class how many are true, and missed."""
    columns = {name: (own_column("true", name), own_column("missed", name)) for name in classes}
    return {name: (float(items[true].sum()), float(items[missed].sum())) for name, (true, missed) in columns.items()}


def worst_pairs(
    items: pd.DataFrame, classes: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> list[tuple[str, str, float]]:
    """Of each class the class that it is taken for most often, and the share, the largest first."""
    found = []
    for name in classes:
        total = float(items[own_column("true", name)].sum())
        counts = [(float(items[confused_column(*pair)].sum()), pair[1]) for pair in pairs if pair[0] == name]
        most, other = max(counts, key=lambda c: (c[0], c[1]), default=(0.0, ""))
        if total and most:
            found.append((name, other, most / total))
    return sorted(found, key=lambda row: (-row[2], row[0]))


def _remark(
    items: pd.DataFrame, classes: Sequence[str], pairs: Sequence[tuple[str, str]], bands: core.verdict.Bands
) -> str:
    """What each model takes for what, where its class is not green."""
    said = []
    for model, own in items.groupby("model", sort=True):
        bad = [(a, b, x) for a, b, x in worst_pairs(own, classes, pairs) if bands.light(x) in ("red", "yellow")]
        if bad:
            named = ", ".join(f"{a} for {b} ({x:.0%})" for a, b, x in bad[:3])
            said.append(f"{model} takes {named}{' and more' if len(bad) > 3 else ''}")
    if not said:
        return ""
    return f"{'; '.join(said[:5])}{'; …' if len(said) > 5 else ''}."
