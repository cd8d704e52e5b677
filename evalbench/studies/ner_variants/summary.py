"""Items to F1 of every wording, paired differences, and the light of a fuller description."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.studies.ner_variants import inputs
from evalbench.studies.ner_variants.items import COUNTS, wording

GAIN, DIVIDED = "description_gain", "one_class_gain"
BANDS = core.verdict.Bands(
    (
        core.verdict.Band("green", high=1),
        core.verdict.Band("yellow", 1, 3, high_closed=True),
        core.verdict.Band("red", 3, low_closed=False),
    )
)
FOUND_NOTHING = "neither wording finds a true entity"
COUNTED = "texts × classes"
NOTHING = "neither a true nor a listed entity"


def measures() -> tuple[core.Measure, ...]:
    """The figures of one wording, over all classes; and of one class."""
    return (
        _from_counts("f1", "F1", lambda t, p, h: core.ratio(2 * h, t + p)),
        _from_counts("precision", "precision", lambda t, p, h: core.ratio(h, p)),
        _from_counts("recall", "recall", lambda t, p, h: core.ratio(h, t)),
    )


def _from_counts(metric: str, title: str, value: Any) -> core.Measure:
    return core.Measure(metric, COUNTS, value, title=title, interval="counts", undefined=NOTHING)


class Pair(NamedTuple):
    """Two wordings on the same texts and classes."""

    metric: str
    name: str
    rows: pd.DataFrame
    asked: str
    wordings: tuple[str, str]


def gain_of(metric: str, title: str) -> core.Measure:
    """How much F1 rises from the first wording to the second, in percentage points."""
    columns = tuple(f"{side}_{count}" for side in "ab" for count in COUNTS)

    def value(*sums: core.arrays.Floats) -> core.arrays.Floats:
        (t, p, h), (u, q, k) = sums[:3], sums[3:]
        return 100 * (core.ratio(2 * k, u + q) - core.ratio(2 * h, t + p))

    lit = BANDS if metric == GAIN else None
    return core.Measure(
        metric, columns, value, unit="pp", title=title, undefined=NOTHING, bands=lit, higher_is_better=not lit
    )


def pairs_of(items: pd.DataFrame) -> Iterator[Pair]:
    """Each description with the next fuller one, and requests for all classes with those for one."""
    for asked, own in items.groupby("asked", sort=True):
        found = dict(iter(own.groupby(["requests", "description"])))
        for requests in ("all", "one"):
            there = [d for d in inputs.DESCRIPTIONS if (requests, d) in found]
            for one, other in pairwise(there):
                name = f"{asked}, {wording(requests, one)} → {wording(requests, other).partition(', ')[2]}"
                both = found[requests, one], found[requests, other]
                yield Pair(GAIN, name, _beside(*both), str(asked), _named(*both))
        for d in inputs.DESCRIPTIONS:
            if ("all", d) in found and ("one", d) in found:
                name = f"{asked}, {wording('all', d)} → one"
                both = found["all", d], found["one", d]
                yield Pair(DIVIDED, name, _beside(*both), str(asked), _named(*both))


def _named(first: pd.DataFrame, second: pd.DataFrame) -> tuple[str, str]:
    return str(first["model"].iloc[0]), str(second["model"].iloc[0])


def _beside(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Both wordings of each text and class; without values where either has none."""
    keys, columns = ["id", "entity_class"], ["unscored", *COUNTS]
    keys += [name for name in (core.clusters.CLUSTER,) if name in first]
    both = first[keys + columns].merge(second[keys + columns], on=keys, suffixes=("_of_a", "_of_b"))
    why = both["unscored_of_a"].where(both["unscored_of_a"] != "", both["unscored_of_b"])
    counts = {f"{side}_{count}": both[f"{count}_of_{side}"].where(why == "") for side in "ab" for count in COUNTS}
    return both[keys].assign(unscored=why, undefined="", **counts)


TITLES = {GAIN: "F1 gained by the fuller description", DIVIDED: "F1 gained by one class per request"}


def compared(
    items: pd.DataFrame,
    *,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> tuple[core.Summary, pd.DataFrame]:
    """The summary, and the gains of every class with intervals."""
    options: dict[str, int] = {"seed": seed, "n_resamples": n_resamples}
    own = tuple(replace(e, n_of=COUNTED) for e in kit.verdicts.by_group(items, measures(), "model", **options))  # type: ignore[arg-type]
    pairs = list(pairs_of(items))
    overall: list[core.Estimate] = []
    rows = []
    for pair in pairs:
        measure = gain_of(pair.metric, TITLES[pair.metric])
        if not len(pair.rows):
            measure = replace(measure, undefined="no text has replies to both wordings")
        (found,) = core.measures.estimate(
            pair.rows, [measure], units=pair.rows["id"], group={"model": pair.name}, **options
        ).estimates
        found = _with_width(found, pair.rows)
        overall.append(replace(found, n_of=COUNTED))
        rows.append({"wordings": pair.name, "metric": pair.metric, "entity_class": "", **_cells(found)})
        for name, part in pair.rows.groupby("entity_class", sort=True):
            (of_class,) = core.measures.estimate(part, [measure], units=part["id"], group={}, **options).estimates
            cells = _cells(_with_width(of_class, part))
            rows.append({"wordings": pair.name, "metric": pair.metric, "entity_class": name, **cells})
    for row, part in zip(rows, _parts(pairs), strict=True):
        row["n"] = int(part.loc[part["unscored"] == "", "id"].nunique())
    columns = ["wordings", "metric", "entity_class", "gain", "gain_low", "gain_high", "n", "light"]
    summary = _judged(items, own, pairs, overall, max_unscored, options)
    return summary, pd.DataFrame(rows, columns=columns)


def _with_width(e: core.Estimate, rows: pd.DataFrame) -> core.Estimate:
    """The gain with the interval of texts that are all alike, where a bootstrap has no width: others may differ as far as can be."""
    if e.value is None or e.ci_low is None or e.ci_low != e.ci_high:
        return e
    w = float(core.stats.wilson(0, rows.loc[rows["unscored"] == "", "id"].nunique())[1])
    low, high = e.value - w * (100 + e.value), e.value + w * (100 - e.value)
    return replace(e, ci_low=low, ci_high=high, method="Wilson over units, all agree", note="")


def _parts(pairs: Sequence[Pair]) -> Iterator[pd.DataFrame]:
    """Of each pair all rows, then those of each class."""
    for pair in pairs:
        yield pair.rows
        yield from (part for _, part in pair.rows.groupby("entity_class", sort=True))


def _cells(e: core.Estimate) -> dict[str, Any]:
    numbers = (np.nan if x is None else x for x in (e.value, e.ci_low, e.ci_high))
    return {**dict(zip(("gain", "gain_low", "gain_high"), numbers, strict=True)), "n": e.n, "light": e.light}


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """F1 of every wording, the gains, and the verdict; options as of ``evaluate``."""
    return compared(items, max_unscored=max_unscored, seed=seed, n_resamples=n_resamples)[0]


def _judged(
    items: pd.DataFrame,
    own: tuple[core.Estimate, ...],
    pairs: list[Pair],
    overall: list[core.Estimate],
    max_unscored: float,
    options: Mapping[str, int],
) -> core.Summary:
    absent = absent_of(items)
    lacking = absent.too_many(max_unscored)
    empty = [_against(e, pair, lacking) if e.value is not None else "" for e, pair in zip(overall, pairs, strict=True)]
    shown = [
        kit.verdicts.held(e, why, kit.evidence.unscored_share(e, max_unscored))
        for e, why in zip(overall, empty, strict=True)
    ]
    shown = [
        replace(e, note="; ".join(filter(None, [e.note, why]))) if why else e
        for e, why in zip(shown, empty, strict=True)
    ]
    lit = [i for i, e in enumerate(overall) if e.metric == GAIN]
    over = core.counted(items["id"].nunique(), "text")
    if not lit:
        words = f"{_figures([e for e in own if e.metric == 'f1'], 'F1')}; {over}.{kit.verdicts.left_out(items)}"
        return core.Summary(
            (*own, *shown), core.verdict.Verdict("unlit", f"{words} Without two descriptions there is no light.")
        )
    light, alone = (
        core.verdict.worst([shown[i].light for i in lit]),
        core.verdict.worst([overall[i].light for i in lit]),
    )
    basis = [(overall if light == "grey" else shown)[i] for i in lit]
    decided = core.result.decisive(basis)
    told = [overall[i] for i in lit]
    few = core.stats.of_few(
        pairs[i].rows.loc[pairs[i].rows["unscored"] == "", "id"].nunique() for i in lit if overall[i].value is not None
    )
    misleads = [e.group["model"] for e in told if e.ci_high is not None and e.ci_high < 0]
    remark = f" The added description misleads: {'; '.join(misleads)}." if misleads else ""
    unread = any(kit.evidence.unscored_share(overall[i], max_unscored) for i in lit)
    held = "; ".join(dict.fromkeys(empty[i] for i in lit if empty[i]))
    why = "Too many replies could not be read for a light" if unread else f"{held[:1].upper()}{held[1:]}"
    found_nothing = light == "grey" and any(empty[i] == FOUND_NOTHING for i in lit)
    grey = f" {why}; the figures alone would give {alone}." if light == "grey" != alone else ""
    grey = f" {why}, so the light stays grey." if found_nothing else grey
    sentence = f"{_figures(told, 'F1 gained by the fuller description')}; {over}.{few}{kit.verdicts.left_out(items)}{remark}{grey}"
    sentence = core.notes.with_notes(sentence, absent.notes())
    measure = gain_of(GAIN, TITLES[GAIN])
    drawn = [
        core.stability.Lit(pairs[i].rows, pairs[i].rows["id"], measure, light != "grey" and shown[i] is not overall[i])
        for i in lit
    ]
    stability = core.stability.joint_stability(drawn, alone if light == "grey" else light, **options)
    rule = f"gain in percentage points, the worst decides: {BANDS}"
    would_be = None if light != "grey" or alone == light or found_nothing else alone
    return core.Summary(
        (*own, *shown), core.verdict.Verdict(light, sentence, rule, stability, would_be, decided.place, absent.notes())
    )


def absent_of(items: pd.DataFrame) -> kit.evidence.Absent:
    """The texts of which a model has no reply; where models have them all, those of which a wording has none."""
    of_models = kit.evidence.absent_of(items, "asked", "id", unit="text")
    return of_models if of_models.counts else kit.evidence.absent_of(items, "model", "id", unit="text")


def _against(e: core.Estimate, pair: Pair, lacking: Collection[str]) -> str:
    """Why a gain has no light: two wordings that find nothing, too few texts, or too many of which others have replies."""
    if not pair.rows[["a_hits", "b_hits"]].sum().sum():
        return FOUND_NOTHING
    n = pair.rows.loc[pair.rows["unscored"] == "", "id"].nunique()
    if pair.asked in lacking or any(wording_of in lacking for wording_of in pair.wordings):
        return f"{pair.name} lacks too many texts"
    return kit.evidence.too_few(e, n)


def _figures(own: list[core.Estimate], what: str) -> str:
    known = sorted((e for e in own if e.value is not None), key=lambda e: -(e.value or 0.0))
    unit = " pp" if known and known[0].unit == "pp" else ""
    if not known:
        return f"{what} has no value ({own[0].note if own else 'nothing was asked'})"
    said = [f"{core.wording.estimate_text(e, own)}{unit} ({e.group['model']})" for e in known]
    return f"{what} {'; '.join(said)}"


def notes(items: pd.DataFrame, read: pd.DataFrame) -> list[str]:
    """What could not be read, what was listed besides, and where a description took something away."""
    out = []
    if (read["unscored"] != "").any():
        n = int((read["unscored"] != "").sum())
        out.append(
            f"Replies without a score: {n} of {len(read)}; one that is not of the form that was asked for is never an empty list."
        )
    if turned := int(read["n_turned"].sum()):
        short = f"{turned} of {int(read[['n_listed', 'n_others']].sum().sum())} listed entities have a class where the string belongs"
        out.append(core.notes.Note("unmatched", f"{short}: are strings and classes turned round, not (string, class)"))
    if others := int(read["n_others"].sum()):
        text, listed = (
            f"Listed entities of classes that were not asked for, left out: {others}.",
            int(read["n_listed"].sum()),
        )
        case = ", by case alone" if 2 * int(read["n_case"].sum()) > others else ""
        short = f"{others} of {others + listed} listed entities are of classes that were not asked for{case}"
        much = others > kit.MAX_UNSCORED * (others + listed) and not turned
        out.append(core.notes.Note("unmatched", short, text) if much else text)
    return out


def method(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The formulas in force."""
    form = (
        "a list of tuples (string, class)"
        if options["reply_format"] == "tuples"
        else "JSON: entities, each with entity and entity_class"
    )
    return (
        "An entity of a reply is right where its string and class are those of a true entity of the text, each true one counted once; F1 = "
        "2 · right / (true + listed). Replies have no places.",
        f"Replies are read strictly as {form}; anything else is unscored, unparsed.",
        "Gains pair two wordings on the texts and classes that both have, in percentage points. Intervals resample texts.",
        f"Light of a fuller description, by the gain over all classes: {BANDS}. A large gain says that the description before it lacked "
        "information; a loss, that what was added misleads. One class per request has no light.",
        "handbook (docs/methods.md), «при варьировании детализации описания распознаваемых сущностей» and «при распознавании всех типов "
        "сущностей/сущностей по отдельности за один запрос».",
    )
