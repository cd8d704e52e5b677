"""What ``label plan`` and ``label merge`` print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evalbench.core.ppi import Corrected
from evalbench.core.stats import Measured
from evalbench.core.wording import counted, signed
from evalbench.label.plan import saving

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.label.existing import Labels
    from evalbench.label.marks import Marks
    from evalbench.label.merged import Merged
    from evalbench.label.plan import Plan

_MOST = 10


def planned(plan: Plan, marks: Marks, random_share: float, labels: Labels | None = None) -> Iterator[str]:
    """The strata, and the widths to be expected."""
    n, width = len(plan.table), plan.width
    labelled = f", {plan.n_labelled} of them labelled already" if plan.n_labelled else ""
    yield f"{counted(plan.n_items, 'item')}{labelled}; marks: {marks.of}, {marks.low:g}–{marks.high:g}"
    yield (
        f"{counted(n, 'item')} drawn: {random_share:.0%} spread over the strata by size, the rest by size × the deviation of "
        "people's marks that is anticipated (Neyman)"
    )
    wide = max(len(stratum.name) for stratum in plan.strata)
    yield f"  {'stratum':<{wide}}  items  drawn  probability  deviation"
    for name, size, drawn, deviation in ((s.name, s.size, s.drawn, s.deviation) for s in plan.strata):
        yield f"  {name:<{wide}}  {size:>5}  {drawn:>5}  {drawn / size:>11.2f}  {deviation * (marks.high - marks.low):>9.2g}"
    if labels is not None:
        yield f"now, with {counted(plan.n_labelled, 'labelled item')}: {_now(width.now, labels)}"
    yield f"expected width of the 95 % interval of the mean human mark, with {counted(n, 'label')}:"
    yield f"  labels alone, drawn at random                {width.alone:.2g}"
    for r, value in width.random.items():
        yield f"  with the judge, if it correlates at {r:.1f}       {value:.2g}   (saves at most a factor {saving(r):.2f} of labels)"
    yield (
        f"  as planned, if marks mean what they say      {width.planned:.2g}   (at random from the same strata: {width.proportional:.2g})"
    )
    if width.r is None:
        yield "  how far judge and people correlate is not known until some items are labelled (--labels)"
    else:
        ends = [max(0.0, x or 0.0) for x in (width.r_low, width.r_high)]
        yield (
            f"  judge and people correlate at {signed(f'{width.r:.2f}')} [{signed(f'{width.r_low:.2f}')}, {signed(f'{width.r_high:.2f}')}]: the judge saves "
            f"at most a factor {saving(max(width.r, 0.0)):.2f} [{saving(ends[0]):.2f}, {saving(ends[1]):.2f}] of labels"
        )
        yield f"  with the {plan.n_labelled} labels that exist and these       {width.after:.2g}"


def _now(now: Corrected | None, labels: Labels) -> str:
    if now is None:
        return "no corrected mean: the probabilities of the labels are not those of one plan over all items"
    if now.value is None:
        return f"no corrected mean: {now.note}"
    by_plan = not all(p != p for p in labels.probability)
    how = "by the probabilities of their plan" if by_plan else "as if the labels were drawn at random"
    if now.ci_low is None or now.ci_high is None:
        return f"judge says {now.naive:.2f} → corrected {now.value:.2f} ({now.note})"
    return (
        f"judge says {now.naive:.2f} → corrected {now.value:.2f} [{signed(f'{now.ci_low:.2f}')}, {now.ci_high:.2f}], "
        f"width {now.ci_high - now.ci_low:.2g}, {how}"
    )


def lines(merged: Merged, found: Mapping[str, Any], n_files: int) -> Iterator[str]:
    """Counts, agreement by criterion and annotator, duplicates and contradictions."""
    rows = merged.rows
    skipped = rows[rows["skipped"] != ""]
    yield (
        f"{counted(n_files, 'file')}: {counted(int((rows['mark'] != '').sum()), 'label')} of "
        f"{counted(rows['annotator'].nunique(), 'annotator')}, {len(skipped)} skipped"
        + (f" ({_reasons(skipped)})" if len(skipped) else "")
    )
    for criterion, of in found.items():
        yield from _criterion(criterion, of)
    if n := len(merged.duplicates):
        yield f"duplicates: {counted(n, 'row')} said what another row says; each counted once"
        yield from _listed(merged.duplicates)
    if n := merged.contradictions.groupby(["criterion", "annotator", "item"]).ngroups:
        undecided = int((rows["skipped"] == "contradicting").sum())
        yield f"contradictions: {counted(n, 'item')} marked differently by one annotator; the later mark counts" + (
            f", {undecided} where no row is later count as skipped" if undecided else ""
        )
        yield from _listed(merged.contradictions)
    for names in merged.names:
        yield f"note: are these one person? {', '.join(map(repr, names))}"


def _criterion(name: str, of: Mapping[str, Any]) -> Iterator[str]:
    yield f"criterion {name}: {counted(of['labels'], 'label')} of {counted(of['items'], 'item')}, {of['several']} with two or more"
    yield f"  Krippendorff's alpha, nominal   {measured(of['alpha'])}"
    if "alpha_ordinal" in of:
        yield f"  Krippendorff's alpha, ordinal   {measured(of['alpha_ordinal'])}"
    for pair in of["pairs"]:
        yield f"  Cohen's kappa, {' and '.join(pair['annotators'])}   {measured(pair['kappa'])}"
    wide = max(map(len, of["annotators"]), default=0)
    for annotator, one in of["annotators"].items():
        parts = [counted(one["labels"], "label"), f"{one['skipped']} skipped"]
        parts += [f"{one['flagged']} to come back to"] if one["flagged"] else []
        parts += [f"mean mark {one['mean']:.2f}"] if one["mean"] is not None else []
        parts += [f"median {one['seconds']:.0f} s per item"] if one["seconds"] is not None else []
        kappa = "" if len(of["annotators"]) < 2 else f"; kappa with most of the others {measured(one['kappa'])}"
        yield f"  {annotator:<{wide}}  {', '.join(parts)}{kappa}"


def measured(figure: Measured) -> str:
    """A figure with its interval, or why it has none.

    Examples
    --------
    >>> measured(Measured(0.5, -0.1, 0.9, 30)), measured(Measured(None, note="no common item"))
    ('0.50 [−0.10, 0.90], n = 30', 'none: no common item')
    """
    if figure.value is None:
        return f"none: {figure.note}"
    text = signed(f"{figure.value:.2f}")
    if figure.ci_low is not None and figure.ci_high is not None:
        text += f" [{signed(f'{figure.ci_low:.2f}')}, {signed(f'{figure.ci_high:.2f}')}]"
    return f"{text}, n = {figure.n}" + (f" ({figure.note})" if figure.note else "")


def _reasons(skipped: pd.DataFrame) -> str:
    counts = skipped["skipped"].value_counts()
    return ", ".join(f"{str(reason)[:40]} {n}" for reason, n in list(counts.items())[:5]) + (
        ", …" if len(counts) > 5 else ""
    )


def _listed(rows: pd.DataFrame) -> Iterator[str]:
    first: Any = rows.head(_MOST).to_dict("records")
    for row in first:
        said = row["mark"] or f"skipped ({row['skipped']})"
        when = "" if row["at"] != row["at"] else f", {row['at']:%Y-%m-%d %H:%M:%S}"
        yield f"  {row['annotator']}, item {row['id']}: {said}{when} ({row['file']}, row {row['row']})"
    if len(rows) > _MOST:
        yield f"  … and {len(rows) - _MOST} more rows"
