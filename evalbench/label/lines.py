"""What ``label merge`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evalbench.core.stats import Measured
from evalbench.core.wording import counted, signed

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.label.merged import Merged

_MOST = 10


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
    return ", ".join(f"{reason[:40]} {n}" for reason, n in list(counts.items())[:5]) + (", …" if len(counts) > 5 else "")


def _listed(rows: pd.DataFrame) -> Iterator[str]:
    for row in rows.head(_MOST).to_dict("records"):
        said = row["mark"] or f"skipped ({row['skipped']})"
        when = "" if row["at"] != row["at"] else f", {row['at']:%Y-%m-%d %H:%M:%S}"
        yield f"  {row['annotator']}, item {row['id']}: {said}{when} ({row['file']}, row {row['row']})"
    if len(rows) > _MOST:
        yield f"  … and {len(rows) - _MOST} more rows"
