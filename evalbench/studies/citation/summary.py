"""Items to estimates, verdict and its sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.judge.entail import BASELINE
from evalbench.studies.citation.items import CONSISTENCY

THRESHOLD = 0.8


def measures(threshold: float) -> tuple[core.Measure, ...]:
    """The measures of one model."""
    uncited = "nothing was cited"
    return (
        core.mean_of("final", bands=kit.verdicts.pass_mark(threshold)),
        core.share_of("passed"),
        core.mean_of("interpretability"),
        core.mean_of("correctness", undefined="there is no right answer to compare with"),
        core.mean_of("support", undefined="no text of any source is at hand"),
        core.mean_of("verification", undefined="no citation has a quote to look for in a supplied source"),
        core.mean_of("citation_recall", title="citation recall (ALCE)", undefined="no statement"),
        core.mean_of("citation_precision", title="citation precision (ALCE)", undefined=uncited),
        core.Measure(
            "fabricated_citations",
            ("n_fabricated", "n_checked"),
            core.ratio,
            title="fabricated citations",
            higher_is_better=False,
            undefined="no source or quote could be checked",
        ),
        core.mean_of(CONSISTENCY, title="claim consistency (explainability)", worst=None, undefined=uncited),
        core.mean_of("source_credibility", title="source credibility", worst=None, undefined=uncited),
        core.share_of(
            "uncited", "answers_without_a_citation", title="answers without a citation", higher_is_better=False
        ),
        _count("marks_without_an_entry", "n_dangling", "marks"),
        _count("entries_never_cited", "n_unmarked", "entries"),
    )


def judged_measures(threshold: float) -> tuple[core.Measure, ...]:
    """Those that people's labels of the judge's verdicts correct."""
    own = ("final", "interpretability", "correctness", "support", "citation_recall", "citation_precision", CONSISTENCY)
    return tuple(m for m in measures(threshold) if m.metric in own)


def rests_on_judge(figure: str, group: Mapping[str, str]) -> bool:
    """Whether a figure could change with the judge: the kind of a source and the match of marks and entries could not."""
    return figure not in ("source_credibility", "marks_without_an_entry", "entries_never_cited")


def _count(metric: str, column: str, unit: str) -> core.Measure:
    title = metric.replace("_", " ")
    return core.Measure(metric, (column,), np.asarray, title=title, unit=unit, higher_is_better=False)


def with_sums(items: pd.DataFrame, *, threshold: float = THRESHOLD) -> pd.DataFrame:
    """The items with what the measures sum beside their columns: who passed, who cited nothing.

    An answer none of whose citations could be checked is not one that fabricates nothing: it is undefined there.
    """
    uncited = (items["n_citations"] == 0).astype(float).where(items["unscored"] == "")
    checked = items["n_checked"].where(items["n_checked"] > 0)
    return items.assign(passed=kit.verdicts.reaches(items["final"], threshold), uncited=uncited, n_checked=checked)


@kit.slicing.sliced(measures=measures, with_sums=with_sums)
def summarise(
    items: pd.DataFrame,
    *,
    threshold: float = THRESHOLD,
    max_unscored: float = kit.MAX_UNSCORED,
    judge: str = BASELINE,
    correction_fit: Mapping[str, Any] | None = None,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Summary:
    """Estimates per model and the verdict: a model passes if its mean final score reaches the threshold; options as of ``evaluate``.

    On the judge ``baseline/lexical`` the light stays grey; ``correction_fit``: see :func:`evalbench.kit.verdicts.worst_group`.
    """
    nowhere = {str(model): leading_nowhere(rows, max_unscored)[1] for model, rows in items.groupby("model")}
    return kit.worst_group(
        with_sums(items, threshold=threshold),
        measures(threshold),
        "model",
        what="Mean final score",
        over=core.counted(items["id"].nunique(), "answer"),
        share="passed",
        held_back=kit.verdicts.held_back_by(judge),
        faults=nowhere,
        max_unscored=max_unscored,
        notes=leading_nowhere(items, 0.0)[0] if any(nowhere.values()) else (),
        remark=_without_gold(items),
        fit=correction_fit,
        seed=seed,
        n_resamples=n_resamples,
    )


class _Fault(NamedTuple):
    """A way in which marks, entries or sources of an answer lead nowhere: in words, and which answers have it.

    - ``scored``: Whether the scores count it, so that it matters where most answers have it.
    """

    kind: core.notes.Kind
    what: str
    text: str
    columns: tuple[str, ...]
    holds: Callable[[pd.DataFrame], pd.Series]
    scored: bool = False


_FAULTS = (
    _Fault(
        "dangling",
        "have marks without an entry",
        "these marks name a source that does not exist, and no score counts them (table answers)",
        ("n_dangling",),
        lambda rows: rows["n_dangling"] > 0,
    ),
    _Fault(
        "dangling",
        "have no mark of any of their entries",
        "what is cited is not tied to what is said",
        ("n_unmarked", "n_citations"),
        lambda rows: (rows["n_citations"] > 0) & (rows["n_unmarked"] == rows["n_citations"]),
    ),
    _Fault(
        "unmatched",
        "cite an address that differs from a supplied one in case or blanks alone",
        "their sources count as not supplied (table citations, column support_reason)",
        ("n_unmatched",),
        lambda rows: rows["n_unmatched"] > 0,
    ),
    _Fault(
        "absent",
        "cite sources that are not at hand",
        "nothing was read of what they cite; give the sources, or check_urls",
        ("n_citations", "support"),
        lambda rows: (rows["n_citations"] > 0) & rows["support"].isna(),
    ),
    _Fault(
        "unmatched",
        "quote words that are not in their source",
        "such a citation is at best uncertain (table citations, column verification_reason)",
        ("n_unfound",),
        lambda rows: rows["n_unfound"] > 0,
        scored=True,
    ),
)


def leading_nowhere(items: pd.DataFrame, max_unscored: float) -> tuple[list[core.Note], str]:
    """Marks, entries, addresses and quotes that lead nowhere.

    Returns: A note on each fault that more than ``max_unscored`` of the scored answers have, and why their light is grey.
    """
    found, of = _leading_nowhere(items), core.counted(int((items["unscored"] == "").sum()), "answer")
    shorts = {fault: f"{n} of {of} {fault.what}" for fault, n, share in found if share > max_unscored}
    notes = [core.Note(fault.kind, short, f"{short}: {fault.text}.") for fault, short in shorts.items()]
    return notes, why_nowhere(max((share for _, _, share in found), default=0.0), max_unscored)


def share_nowhere(items: pd.DataFrame) -> float:
    """The largest share of the scored answers, 0–1, that has one of the faults for which a light stays grey."""
    return max((share for _, _, share in _leading_nowhere(items)), default=0.0)


def why_nowhere(share: float, max_unscored: float) -> str:
    """Why the light is grey where such a share of answers leads nowhere; empty where it may be lit."""
    most = core.percent(max_unscored, [max_unscored])
    return f"more than {most} of the answers name what does not exist" if share > max_unscored else ""


def _leading_nowhere(items: pd.DataFrame) -> list[tuple[_Fault, int, float]]:
    """How many, and which share, of the scored answers have each fault; one that is in the score counts from half of them on."""
    scored = items[items["unscored"] == ""]
    known = [fault for fault in _FAULTS if {*fault.columns} <= {*scored}]
    counts = [(fault, int(fault.holds(scored).sum())) for fault in known]
    return [(fault, n, n / len(scored)) for fault, n in counts if n > (len(scored) / 2 if fault.scored else 0)]


def _without_gold(items: pd.DataFrame) -> str:
    scored = items["unscored"] == ""
    n = int((items["correctness"].isna() & scored).sum())
    if not n:
        return ""
    which = "All answers" if n == scored.sum() else f"{n} of {scored.sum()} answers"
    return f"{which} have no right answer to compare with: the final score is interpretability there."
