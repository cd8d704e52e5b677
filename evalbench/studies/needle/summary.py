"""Replies to headline figures and their light."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.judge.entail import holds_back
from evalbench.studies.needle import haystack
from evalbench.studies.needle.items import JUDGE, SCORERS

SCORER = "contains"
WITHOUT = "no reply has an expected answer"


def _figures(scorer: str, judge: str) -> tuple[core.Measure, ...]:
    of_kind = [
        core.share_of(
            f"recall_{kind}", title=f"recall, {kind} haystack", undefined=f"no reply is about a {kind} haystack"
        )
        for kind in haystack.KINDS
    ]
    none = dict.fromkeys(SCORERS, WITHOUT) | {"first_number": "no reply has one number as its expected answer"}
    scorers = [core.share_of(name, title=f"by {name.replace('_', ' ')}", undefined=none[name]) for name in SCORERS]
    judged = [core.share_of("judged", title="by the judge", undefined=WITHOUT)] if judge else []
    return (
        core.share_of("recall", title=f"recall ({scorer.replace('_', ' ')})", undefined=WITHOUT),
        *of_kind,
        *scorers,
        *judged,
    )


def rules_of(
    scorer: str = SCORER,
    judge: Any = "",
    green_from: float | None = None,
    yellow_from: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
) -> dict[str, dict[str, float]]:
    """The checked thresholds of each figure that has a light, that of the recall first, also without any.

    Raises ``BadInput``: Lists thresholds that are no rule, and unknown figures.

    Examples
    --------
    >>> rules_of(lights={"recall_related": {"green_from": 0.9, "yellow_from": 0.7}})
    {'recall': {}, 'recall_related': {'green_from': 0.9, 'yellow_from': 0.7}}
    """
    known = {m.metric: kit.rules.Figure() for m in _figures(scorer, judge)}
    return kit.rules.rules_of(lights, known, {"recall": {"green_from": green_from, "yellow_from": yellow_from}})


def measures(
    scorer: str = SCORER,
    judge: Any = "",
    green_from: float | None = None,
    yellow_from: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
) -> tuple[core.Measure, ...]:
    """The headline figures with their lights."""
    rules = rules_of(scorer, judge, green_from, yellow_from, lights)
    return tuple(replace(m, bands=kit.verdicts.bands_of(rules.get(m.metric, {}))) for m in _figures(scorer, judge))


def judged_measures(scorer: str = SCORER, judge: Any = "") -> tuple[core.Measure, ...]:
    """The figures that rest on the judge."""
    own = ("judged", "recall") if scorer == JUDGE else ("judged",)
    return tuple(m for m in _figures(scorer, judge) if m.metric in own)


def rests_on_judge(figure: str, group: Mapping[str, str], *, scorer: str = SCORER) -> bool:
    """Whether a figure could change with the judge: what words alone decide could not."""
    return figure not in (
        *SCORERS,
        *(("recall", *(f"recall_{kind}" for kind in haystack.KINDS)) if scorer != JUDGE else ()),
    )


def check_options(checks: kit.Checks) -> None:
    """Gather what is wrong with the options that :func:`summarise` reads."""
    checks.tried(lambda: rules_of(**kit.taken(rules_of, checks.options)))


@kit.slicing.sliced("needle", measures=measures)
def summarise(
    items: pd.DataFrame,
    *,
    scorer: str = SCORER,
    judge: Any = "",
    green_from: float | None = None,
    yellow_from: float | None = None,
    lights: Mapping[str, Mapping[str, float]] = {},
    max_unscored: float = kit.MAX_UNSCORED,
    correction_fit: Mapping[str, Any] | None = None,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """The figures of every model and the verdict; options as of ``evaluate``."""
    kinds = [kind for kind in haystack.KINDS if (items["haystack"] == kind).any()]
    left_out = {f"recall_{kind}" for kind in haystack.KINDS if kind not in kinds or len(kinds) < 2}
    lit = {name for name, rule in rules_of(scorer, judge, green_from, yellow_from, lights).items() if rule}
    own = [m for m in measures(scorer, judge, green_from, yellow_from, lights) if m.metric not in left_out - lit]
    found = kit.worst_group(
        items,
        own,
        "model",
        over=core.counted(len(items), "reply", "replies"),
        held_back=(
            f"The judge is {judge}, which compares words"
            if scorer == JUDGE and holds_back(str(judge))
            else _doubtful(items, scorer, own[0].bands, max_unscored)
        ),
        max_unscored=max_unscored,
        remark=_beside(items, kinds),
        units="needle",
        fit=correction_fit,
        seed=seed,
        n_resamples=n_resamples,
    )
    said, decided = found.verdict.sentence, (found.verdict.decided_by or {}).get("metric", "")
    if decided.startswith("recall_"):
        said = re.sub(r" have no value( \([^)]*\))?\.", r" are not about it\1.", said, count=1)
    return replace(found, verdict=replace(found.verdict, sentence=f"{said[:1].upper()}{said[1:]}"))


def _doubtful(
    items: pd.DataFrame, scorer: str, bands: core.verdict.Bands | None, max_unscored: float
) -> dict[str, str]:
    """Of each model: that whole words give another light, or that replies count as right which decline or deny."""
    out = {}
    for model, own in items.groupby("model"):
        right = own["declined"].dropna() if "declined" in own else own["recall"].head(0)
        if right.sum() > max_unscored * len(right):
            out[str(model)] = (
                f"{int(right.sum())} of {core.counted(len(right), 'reply', 'replies')} that hold the expected answer decline "
                "to answer, deny it, repeat the question, name several answers or are an error"
            )
        within = (own["contains"] > own["word"]) & (own["recall"] > own["word"])
        whole = own["recall"].mask(within, own["word"]).mean()
        if scorer not in ("word", JUDGE) and bands and bands.light(whole) != bands.light(own["recall"].mean()):
            said = f"The scorer word would give {whole:.2f}, another light"
            if scorer != SCORER:
                n = core.counted(int(within.sum()), "reply", "replies")
                said = f"In {n} the expected answer is within a longer word; without them {whole:.2f}, another light"
            out.setdefault(str(model), said)
    return out


def _beside(items: pd.DataFrame, kinds: list[str]) -> str:
    """The recall in either haystack, a sentence; empty where there is one."""
    means = {kind: items[f"recall_{kind}"].mean() for kind in kinds}
    if len(kinds) < 2 or any(mean != mean for mean in means.values()):
        return ""
    return f"{', '.join(f'{kind} haystack {mean:.2f}' for kind, mean in means.items()).capitalize()}."
