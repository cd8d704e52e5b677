"""Items to headline figures with intervals, and the light of the confusions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.metrics.entities import MODES
from evalbench.studies.ner_quality.items import classes_of, confused_column, confusions_of, own_column

CONFUSION, OWN, STRICT = "largest_confusion", "confusion_of_", "strict_f1"
METHOD_BANDS = core.verdict.Bands.cut("green", 0.25, "yellow", 0.5, "red")
MOST_UNITS, BLOCKS = 20_000, 10_000
"""Of more texts than so many, the resamples draw blocks of texts that were put together at random."""
NOTHING_FOUND = "no true entity was found, so that none can be taken for another class"
_NOTHING = "neither a true nor a predicted entity"


# -- figures ---------------------------------------------------------------------------------------


def measures() -> tuple[core.Measure, ...]:
    """The figures over all classes together."""
    return (
        _f1("strict", STRICT),
        _share("strict", "precision"),
        _share("strict", "recall"),
        *(_f1(mode, f"{mode}_f1") for mode in MODES[1:]),
    )


def _f1(mode: str, metric: str) -> core.Measure:
    columns = (mode, "n_true", "n_predicted")
    return core.Measure(metric, columns, _harmonic, title=f"{mode} F1", undefined=_NOTHING)


def _share(mode: str, figure: str) -> core.Measure:
    total, why = (
        ("n_predicted", "nothing was predicted") if figure == "precision" else ("n_true", "there is no true entity")
    )
    title = f"{mode} {figure}"
    return core.Measure(f"{mode}_{figure}", (mode, total), core.ratio, title=title, interval="counts", undefined=why)


def _harmonic(hits: core.Floats, true: core.Floats, predicted: core.Floats) -> core.Floats:
    return core.ratio(2 * hits, true + predicted)


def class_id(name: str) -> str:
    """A class as a part of a metric's name: itself in lower case, or where that loses something with a mark of its own.

    Examples
    --------
    >>> class_id("PER"), class_id("ЛИЦО").startswith("class_"), class_id("Per") == class_id("PER")
    ('per', True, False)
    """
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if name in (plain.upper(), plain):
        return plain if name == plain.upper() else f"{plain}_"
    return f"{plain or 'class'}_{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def macro_of(classes: Sequence[str], mode: str, figure: str = "f1") -> core.Measure:
    """The mean of a figure over the classes of the gold that have it."""
    columns = [_columns(name, mode, figure) for name in classes]
    width = len(columns[0]) if columns else 1

    def value(*sums: core.Floats) -> core.Floats:
        parts = [sums[i : i + width] for i in range(0, len(sums), width)]
        each = np.stack([_harmonic(*part) if figure == "f1" else core.ratio(*part) for part in parts])
        if figure == "f1":  # a class that was not drawn has no recall, whatever was predicted
            each = np.where(np.stack([part[1] for part in parts]) > 0, each, np.nan)
        known = np.isfinite(each)
        return core.ratio(np.where(known, each, 0).sum(axis=0), known.sum(axis=0).astype(float))

    flat = tuple(column for own in columns for column in own)
    name = {"f1": "F1"}.get(figure, figure)
    return core.Measure(
        f"macro_{mode}_{figure}", flat, value, title=f"{mode} {name}, mean over classes", undefined=_NOTHING
    )


def _columns(name: str, mode: str, figure: str) -> tuple[str, ...]:
    hits = own_column("strict" if mode == "exact" else mode, name)
    sides = {"f1": ("true", "predicted"), "precision": ("predicted",), "recall": ("true",)}[figure]
    return (hits, *(own_column(side, name) for side in sides))


def class_measure(name: str, mode: str, figure: str) -> core.Measure:
    """A figure of one class, among entities of that class alone."""
    columns = _columns(name, mode, figure)
    metric, title = f"{mode}_{figure}_of_{class_id(name)}", f"{mode} {'F1' if figure == 'f1' else figure} of {name}"
    if figure == "f1":
        return core.Measure(metric, columns, _harmonic, title=title, undefined=_NOTHING)
    return core.Measure(
        metric, columns, core.ratio, title=title, interval="counts", undefined=f"no {figure}: nothing to divide by"
    )


def confusion_of(name: str, pairs: Sequence[tuple[str, str]], bands: core.verdict.Bands | None = None) -> core.Measure:
    """The largest share of a class's true entities that was taken for one other class."""
    columns = [confused_column(*pair) for pair in pairs if pair[0] == name]

    def value(total: core.Floats, *others: core.Floats) -> core.Floats:
        return core.ratio(np.max(others, axis=0) if others else np.zeros_like(total), total)

    return core.Measure(
        f"{OWN}{class_id(name)}",
        (own_column("true", name), *columns),
        value,
        title=f"largest confusion of {name}",
        higher_is_better=False,
        interval="counts",
        undefined=f"no true {name}",
        bands=bands,
    )


def deciding_confusion(
    classes: Sequence[str], pairs: Sequence[tuple[str, str]], bands: core.verdict.Bands
) -> core.Measure:
    """The largest confusion of any class where it is red, else the second largest: what the light is that of.

    The light over it is the test's: red with one red class, yellow with two yellow ones, else green.
    """

    def value(each: core.Floats) -> core.Floats:
        first, second = _two_largest(each)
        return np.where(bands.lights(first) == "red", first, second)

    return _over_classes("deciding_confusion", "confusion that decides", classes, pairs, value, bands)


def largest_confusion(classes: Sequence[str], pairs: Sequence[tuple[str, str]]) -> core.Measure:
    """The largest confusion of any class."""
    return _over_classes(
        CONFUSION, "largest confusion of a class", classes, pairs, lambda each: _two_largest(each)[0], None
    )


def _over_classes(
    metric: str,
    title: str,
    classes: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    value: Callable[[core.Floats], core.Floats],
    bands: core.verdict.Bands | None,
) -> core.Measure:
    own = [confusion_of(name, pairs) for name in classes]
    ends = np.cumsum([0, *(len(m.sums) for m in own)]).tolist()

    def of_sums(*sums: core.Floats) -> core.Floats:
        if not own:
            return np.full(1, np.nan)
        each = np.stack([m.value(*sums[a:b]) for m, a, b in zip(own, ends[:-1], ends[1:], strict=True)])
        return np.where(np.isfinite(each).any(axis=0), value(each), np.nan)

    return core.Measure(
        metric,
        tuple(column for m in own for column in m.sums) or ("n_true",),
        of_sums,
        title=title,
        higher_is_better=False,
        interval="counts",
        undefined="there is no true entity",
        bands=bands,
    )


def _two_largest(each: core.Floats) -> tuple[core.Floats, core.Floats]:
    """Of each column of ``(classes, resamples)``; a class without a value has none, and 0 stands for what is not there."""
    ordered = np.sort(np.where(np.isfinite(each), each, 0.0), axis=0)
    return ordered[-1], ordered[-2] if len(ordered) > 1 else np.zeros_like(ordered[-1])


# -- the light -------------------------------------------------------------------------------------


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


@kit.slicing.sliced("text_id", measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    green_to: float | None = None,
    yellow_to: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Figures of every model, those of its classes, and the verdict; options as of ``evaluate``."""
    bands, further = rules_of(green_to, yellow_to, lights)
    classes, pairs = classes_of(items), confusions_of(items)
    rows = resampled_rows(items)
    options: dict[str, int] = {"seed": seed, "n_resamples": n_resamples}
    over_all = [
        kit.verdicts.with_light(m, further) for m in (*measures(), *(macro_of(classes, mode) for mode in MODES))
    ]
    wanted = [*over_all, largest_confusion(classes, pairs)]
    wanted += [class_measure(name, "strict", "f1") for name in classes]
    wanted += [confusion_of(name, pairs, bands) for name in classes]
    found = estimates_of(items, wanted, **options)
    nothing = {str(model) for model, own in items.groupby("model") if _n_missed(own) == own["n_true"].sum() > 0}
    found = tuple(
        replace(e, light="grey", note="; ".join(filter(None, [e.note, NOTHING_FOUND])))
        if e.metric.startswith(OWN) and e.group["model"] in nothing and e.light != "unlit"
        else e
        for e in found
    )
    models = list(dict.fromkeys(e.group["model"] for e in found))
    deciding = [_deciding(found, model, bands) for model in models]
    named = [e for e in found if e.metric in further and e.light != "unlit"]
    light = core.verdict.worst([*(of_model for of_model, _ in deciding), *(e.light for e in named)])
    likely = [e for of_model, e in deciding if e is not None and of_model == light] + [
        e for e in named if e.light == light
    ]
    decided = core.result.decisive(likely) if likely else None
    groups = {str(model): own for model, own in rows.groupby("model", sort=True)}
    measure = deciding_confusion(classes, pairs, bands)
    lit = [core.stability.Lit(own, own["_unit"], measure, model in nothing) for model, own in groups.items()]
    lit += [
        core.stability.Lit(own, own["_unit"], m) for own in groups.values() for m in over_all if m.bands is not None
    ]
    about = decided.metric if decided is not None and decided.metric in further else CONFUSION
    own_rows = [e for e in found if e.metric == about]
    words = [_figures(own_rows), core.counted(items["text_id"].nunique(), "text")]
    few = core.stats.of_few(e.n for e in own_rows if e.value is not None)
    by = ""
    # Where the largest is red, it decides itself; its interval as that of one class may be another than the largest of any class's.
    if decided is not None and decided.light != "red" and core.wording.estimate_text(decided, found) not in words[0]:
        title = f"{decided.title[:1].upper()}{decided.title[1:]}"
        by = f"{title} {core.wording.estimate_text(decided, found)} ({decided.group['model']}), the second largest, decides."
    said = [f"{'; '.join(words)}.{few}", by, _remark(items, classes, pairs, bands), _missed(items)]
    sentence = " ".join(filter(None, said))
    rule = f"confusion of a class: {bands}; red: one red class; yellow: two yellow ones; the worst model decides"
    rule = "; ".join([rule, *(f"{m.title}: {m.bands}" for m in over_all if m.bands is not None)])
    stability = core.stability.joint_stability(lit, light, **options)
    return core.Summary(
        found, core.verdict.Verdict(light, sentence, rule, stability, None, decided.place if decided else None)
    )


def _deciding(
    found: Sequence[core.Estimate], model: str, bands: core.verdict.Bands
) -> tuple[core.verdict.Light, core.Estimate | None]:
    """A model's light, and the class whose confusion decides it: the largest if it is red, else the second largest."""
    own = [e for e in found if e.group["model"] == model and e.metric.startswith(OWN) and e.value is not None]
    if own and all(e.light == "grey" for e in own):
        return "grey", None
    own.sort(key=lambda e: -(e.value or 0.0))
    if not own:
        return "grey", None
    if own[0].light == "red":
        return "red", own[0]
    return (own[1].light, own[1]) if len(own) > 1 else (bands.light(0.0), None)


def _n_missed(own: pd.DataFrame) -> float:
    """How many true entities no prediction touches."""
    return float((own["n_true"] - 2 * own["partial"] + own["exact"]).sum())


def _missed(items: pd.DataFrame) -> str:
    """Of which models the light says little, since they leave more than half of the true entities without a prediction."""
    said = []
    for model, own in items.groupby("model", sort=True):
        missed, true = _n_missed(own), float(own["n_true"].sum())
        if missed == true > 0:
            said.append(f"{model} finds no true entity, so that it can take none for another class")
        elif missed > true / 2:
            said.append(f"{model} misses {missed / true:.0%} of the true entities, which the light does not count")
    return f"{'; '.join(said[:5])}{'; …' if len(said) > 5 else ''}." if said else ""


def _figures(own: Sequence[core.Estimate]) -> str:
    """A figure of every model, the worst first; of many the ends."""
    known = sorted(
        (e for e in own if e.value is not None), key=lambda e: (e.value or 0.0) * (1 if e.higher_is_better else -1)
    )
    if not known:
        title = own[0].title if own else "confusion of classes"
        return f"{title[:1].upper()}{title[1:]} has no value ({own[0].note if own else 'nothing was judged'})"
    title = known[0].title
    said = [f"{core.wording.estimate_text(e, own)} ({e.group['model']})" for e in known]
    if len(said) > kit.verdicts.NAMED:
        return f"{title[:1].upper()}{title[1:]} from {said[0]} to {said[-1]}; {len(said)} models"
    return f"{title[:1].upper()}{title[1:]} {'; '.join(said)}"


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
    if items["text_id"].nunique() <= MOST_UNITS or core.clusters.CLUSTER in items:
        return items.assign(_unit=items["text_id"])
    block = pd.util.hash_array(items["text_id"].to_numpy(dtype=object)) % BLOCKS
    model, names = pd.factorize(items["model"], sort=True)
    group = model * BLOCKS + block.astype(np.int64)
    numbers = [
        c
        for c in items.columns
        if not (c in ("text_id", "model", "unscored", "undefined") or c.startswith(core.slices.SLICE))
    ]
    sums = {c: np.bincount(group, items[c].to_numpy(dtype=float), len(names) * BLOCKS) for c in numbers}
    filled = np.flatnonzero(np.bincount(group, minlength=len(names) * BLOCKS))
    own = {"model": np.array(names, dtype=object)[filled // BLOCKS], "_unit": (filled % BLOCKS).astype(str)}
    return pd.DataFrame({**own, **{c: column[filled] for c, column in sums.items()}, "unscored": "", "undefined": ""})


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
