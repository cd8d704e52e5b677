"""Items to headline figures, their light, and what a reader should know of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.metrics.mentions import CLASS, TEXT
from evalbench.studies.ner_conflicts.items import NOTHING, ONCE

SHARE = "conflict_share"
OCCURRENCES = "occurrences"
UNDIVIDED = "classes cannot be in conflict"


def measures() -> tuple[core.Measure, ...]:
    """The study's headline figures."""
    less: dict[str, Any] = {"higher_is_better": False}
    return (
        core.share_of(
            "conflict",
            SHARE,
            title="texts with conflicts",
            undefined="no text has a predicted string that occurs other than once",
            **less,
        ),
        core.Measure(
            "mean_gap",
            ("gap", "class_string"),
            core.ratio,
            unit=OCCURRENCES,
            title="occurrences less predictions, per conflict by class and string",
            undefined=f"no conflict by {CLASS}",
            **less,
        ),
        core.mean_of(
            "over_share",
            title="strings predicted too often, mean over texts with conflicts",
            worst=None,
            undefined="no text has conflicts",
            interval="bounded",
            **less,
        ),
        core.Measure(
            "mean_occurrences",
            ("occurrences", "conflicting"),
            core.ratio,
            unit=OCCURRENCES,
            title="occurrences of a conflicting string",
            higher_is_better=None,
            undefined="no string is in conflict",
        ),
        core.share_of("any_conflict", "conflict_share_all", title="texts with conflicts, of all texts", **less),
        core.Measure(
            "nested_share",
            ("nested", "class_string_all"),
            core.ratio,
            title=f"conflicts by {CLASS} that nesting explains",
            higher_is_better=None,
            interval="counts",
            undefined=f"no conflict by {CLASS}",
        ),
        core.Measure(
            "absent_share",
            ("absent", "strings"),
            core.ratio,
            title="predicted strings that do not occur in their text",
            interval="counts",
            undefined=NOTHING,
            **less,
        ),
    )


def rules_of(
    green_to: float | None = None, yellow_to: float | None = None, lights: Mapping[str, Mapping[str, float]] = {}
) -> dict[str, dict[str, float]]:
    """The checked thresholds of each figure that has a light, that of the share of texts first, also without any.

    Raises ``BadInput``: Lists thresholds that are no rule or beyond their figure, and unknown figures.

    Examples
    --------
    >>> rules_of(0.1, 0.3)
    {'conflict_share': {'green_to': 0.1, 'yellow_to': 0.3}}
    """
    own = {SHARE: {"green_to": green_to, "yellow_to": yellow_to}}
    return kit.rules.rules_of(lights, kit.rules.figures_of(measures(), OCCURRENCES), own)


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.tried(lambda: rules_of(**kit.taken(rules_of, checks.options)))


@kit.slicing.sliced(measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    green_to: float | None = None,
    yellow_to: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Figures of every model and the verdict, the worst light decides; options as of ``evaluate``."""
    sums = items.groupby("model", sort=True)[["absent", "absent_by_case", "strings"]].sum()
    lost = {str(model): row for model, row in sums.iterrows() if row["absent"] > max_unscored * row["strings"]}
    due = items.groupby("id")["n_predicted"].transform("max") > 0
    absent = {
        model: f"{core.percent(row['absent'] / row['strings'], [max_unscored])} of its strings are not in the texts"
        for model, row in lost.items()
    }
    single = _of_one_class(items)

    def held_back(e: core.Estimate) -> str:
        model = e.group.get("model", "")
        one_class = f"all predictions are of class {single[model]}" if model in single and e.light == "green" else ""
        return absent.get(model) or one_class

    return kit.worst_group(
        items,
        measures(),
        "model",
        lights=rules_of(green_to, yellow_to, lights),
        what="Texts with conflicts",
        over=core.counted(items["id"].nunique(), "text"),
        units="id",
        max_unscored=max_unscored,
        held_back=held_back,
        absent=kit.evidence.absent_of(items[due], "model", "id", unit="text", counted="left out"),
        notes=[*_strangers(lost), *_undivided(items, single), *_repeated(items)],
        seed=seed,
        n_resamples=n_resamples,
    )


def _strangers(lost: Mapping[str, Any]) -> list[core.notes.Note]:
    """The models that predict strings that are not in the texts, and how many of them occur in other case."""
    said = []
    for model, row in lost.items():
        case = f", {row['absent_by_case']:.0f} occur with case_sensitive=false" if row["absent_by_case"] else ""
        said.append(
            f"{row['absent']:.0f} of {row['strings']:.0f} predicted strings do not occur in their text ({model}){case}"
        )
    more = f", and many of {core.counted(len(said) - 3, 'more model')}" if len(said) > 3 else ""
    return [core.notes.Note("unmatched", "; ".join(said[:3]) + more)] if said else []


def _of_one_class(items: pd.DataFrame) -> dict[str, str]:
    """The models that predict one class alone, in enough texts to notice, and the class."""
    own = items[items["n_predicted"] > 0] if "only_class" in items else items[:0]
    each = {str(model): rows["only_class"] for model, rows in own.groupby("model", sort=True)}
    return {
        m: str(c.iloc[0]) for m, c in each.items() if len(c) >= core.stats.FEW_UNITS and c.iloc[0] and c.nunique() == 1
    }


def _undivided(items: pd.DataFrame, single: Mapping[str, str]) -> list[core.notes.Note]:
    """That classes cannot be in conflict where there is one alone."""
    several = items["model"].nunique() > 1
    named = [f"all predictions{f' of {m}' if several else ''} are of one class, {name}" for m, name in single.items()]
    more = f", and those of {core.counted(len(named) - 3, 'more model')}" if len(named) > 3 else ""
    short = "; ".join(named[:3]) + more
    return [core.notes.Note("instrument", f"{short}: {UNDIVIDED}")] if named else []


def _repeated(items: pd.DataFrame) -> list[core.notes.Note]:
    """That most strings are predicted more often than they occur, though they do occur."""
    sums = items.groupby("model", sort=True)[["text_string", "absent", "strings"]].sum()
    there, over = sums["strings"] - sums["absent"], sums["text_string"] - sums["absent"]
    most = sums.index[(2 * over > there) & (there > 0)]
    if not len(most):
        return []
    model = str(over[most].idxmax())
    whose = f" of {model}" if len(sums) > 1 else ""
    short = f"{over[model]:.0f} of {there[model]:.0f} strings{whose} are predicted more often than they occur"
    return [core.notes.Note("unmatched", f"{short}: are rows repeated, or of two classes?")]


def notes(items: pd.DataFrame, conflicts: pd.DataFrame) -> list[str]:
    """How many texts the conflicts are not applicable to, and what was counted apart."""
    once, nothing = ((items["undefined"] == reason) for reason in (ONCE, NOTHING))
    out = []
    if once.any():
        odd = int((items.loc[once, "any_conflict"] > 0).sum())
        more = (
            f"; in {odd} of them such a string was predicted more than once, which only the share of all texts counts"
        )
        out.append(
            f"Not applicable, because {ONCE} and so its place is known: {int(once.sum())} of {len(items)} "
            f"items{more if odd else ''}."
        )
    if nothing.any():
        out.append(f"Not applicable, because {NOTHING}: {int(nothing.sum())} of {len(items)} items.")
    if apart := int(conflicts["nested"].sum()):
        out.append(
            f"Conflicts by {CLASS} that nesting explains, as «Paris» inside «Paris Hilton»: {apart} of "
            f"{int((conflicts['kind'] == CLASS).sum())}."
        )
    return out


def method(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The formulas in force."""
    where = "as whole words" if options["whole_words"] else "anywhere, but never inside a visible character"
    case = "" if options["case_sensitive"] else ", upper and lower case alike"
    return (
        f"Occurrences are counted {where}{case}, from left to right without overlaps, in composed form (Unicode NFC). "
        "In scripts written without spaces every character is a word.",
        f"Conflict by {CLASS}: a class predicts a string at least once, and fewer times than it occurs. Conflict by {TEXT}: "
        "all classes together predict a string more often than it occurs.",
        "A conflict by class and string is nested where the occurrences outside other, longer predicted strings are not more "
        f"than the predictions; such conflicts {'count like the others' if options['count_nested'] else 'are counted apart'}.",
        f"Texts in which {ONCE}, or {NOTHING}, have no conflict to be found: they are in the share of all texts alone.",
        "handbook (docs/methods.md), «качество модели в разрезе конфликтующих предсказаний». Its table prints the mean "
        "difference as predicted less occurrences with a positive value; here it is occurrences less predicted. Intervals "
        "resample texts.",
    )
