"""A judge's mean corrected by the items that people labelled: the figure beside the naive one, and which of them the light rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from evalbench.core.measures import Measure
from evalbench.core.ppi import Corrected
from evalbench.core.result import Estimate
from evalbench.core.seeds import rng
from evalbench.core.stats import FEW_UNITS, no_width
from evalbench.core.verdict import Bands, Light, worst_lights
from evalbench.core.wording import counted, estimate_text
from evalbench.kit.corrected_means import LABEL, METHODS, Found, by_correction, by_labels

if TYPE_CHECKING:
    import pandas as pd

CORRECTED, TRANSPORT = "_corrected", "_transport"
_MOST = 3
_ROUNDING = 1e-9
_Z = float(ndtri(0.975))


@dataclass(frozen=True)
class Fixed:
    """Figures of one study with their corrections.

    Attributes
    ----------
    estimates : tuple of Estimate
        Those given, each with its correction after it.  A naive one whose light rests on its correction is unlit.
    measures : tuple of Measure
        Of the corrected figures, for words and thresholds; what they sum is the naive figure's.
    said : mapping of (metric, group) to str
        What is said of each correction, a clause.
    """

    estimates: tuple[Estimate, ...]
    measures: tuple[Measure, ...]
    said: Mapping[tuple[str, tuple[str, ...]], str]

    def sentence(self, figure: str, decided: Estimate | None) -> str:
        """What the labels say of the judge, of this figure first, and on which figure the light rests.

        Of many groups the deciding one is named; where none of them decides, the first.
        """
        own = tuple(decided.group.values()) if decided else ()
        names = sorted(dict.fromkeys(metric for metric, _ in self.said), key=lambda metric: metric != figure)
        said = []
        for metric in names[:_MOST]:
            of = {group: words for (m, group), words in self.said.items() if m == metric}
            if len(of) > _MOST:
                group = own if own in of else next(iter(of))
                of = {group: of[group]}
            begin = "" if metric == figure else f"of {metric.replace('_', ' ')} "
            each = [f"{', '.join(g)}: {w}" if len(self.groups) > 1 and g else w for g, w in of.items()]
            words = f"{begin}{'; '.join(each)}"
            said.append(f"{'Corrected by labels: ' if len(self.groups) > 1 and not begin else ''}{words}")
        rests = decided is not None and bool(decided.corrects)
        if said and decided:
            said.append(
                "the light rests on the corrected figure" if rests else "the light rests on the judge's own figure"
            )
        return "".join(f" {one[:1].upper()}{one[1:]}." for one in said)

    @property
    def groups(self) -> set[tuple[str, ...]]:
        """Those that have a correction."""
        return {group for _, group in self.said}


def fixed(
    items: pd.DataFrame,
    estimates: Sequence[Estimate],
    measures: Sequence[Measure],
    by: str,
    units: str = "id",
    fit: Mapping[str, Any] | None = None,
) -> Fixed | None:
    """The corrections of figures that labels were given for; None where none were.

    A figure is corrected where it is the mean of one column of the items.  0/1 verdicts with 0/1 labels:
    :func:`~evalbench.core.judged_rates.post_stratified_rate`; other marks: :func:`~evalbench.core.ppi.corrected_mean`; labels drawn
    with known probabilities: :func:`~evalbench.core.ppi.sampled_mean`; drawn by the judge's mark: the same within groups of like marks; drawn by
    their truth, or taken from another sample: :func:`~evalbench.core.judged_rates.rogan_gladen_rate`.  Where clusters are drawn together
    the interval is widened by √(variance of the clusters' sums / that of the items) and by t.  A correction that was learnt on
    other data is used where its transport check holds.

    Parameters
    ----------
    items : DataFrame
        With the columns that :func:`evalbench.kit.labelled.Given.on` adds.
    estimates, measures
        Those of :func:`evalbench.kit.verdicts.by_group`, with their lights.
    by, units : str
        The columns of the group and of the resampling unit.
    fit : mapping, optional
        The correction learnt on other data, see :func:`evalbench.kit.corrected_means.fit_of`.
    """
    known = {m.metric: m for m in measures}
    columns = {metric: place for metric in known if (place := _column(items, metric))}
    wanted = set(columns) | ({str(fit["figure"])} & set(known) if fit else set())
    if not wanted:
        return None
    out: list[Estimate] = []
    said = {}
    for e in estimates:
        if e.metric not in wanted or (by in items and e.group and by not in e.group):
            out.append(e)
            continue
        measure, here = known[e.metric], _rows(items, e.group)
        there = e.metric in columns and items.loc[here, columns[e.metric][1]].notna().any()
        own = by_labels(items, here, measure, *columns[e.metric], units) if there else None
        carried = fit if fit and fit["figure"] == e.metric else None
        if own is None and carried is None:
            out.append(e)
            continue
        one = _one(e, measure, own, by_correction(items, here, measure, carried, units), carried)
        decisive = one.light != "unlit"
        out += [replace(e, light="unlit", cuts=()) if decisive else e, one]
        if carried:
            out.append(_check(e, carried))
        if one.value is not None:
            elsewhere = str(carried["learnt_on"]) if carried and one.method == METHODS["carried"] else ""
            said[e.metric, tuple(e.group.values())] = bias_text(e, one, elsewhere)
    names = {e.metric for e in out}
    of = tuple(
        replace(m, metric=f"{m.metric}{CORRECTED}", title=title_of(m.title))
        for m in measures
        if f"{m.metric}{CORRECTED}" in names
    )
    return Fixed(tuple(out), of, said)


def title_of(title: str) -> str:
    """The words for a corrected figure."""
    return f"{title}, corrected"


def _column(items: pd.DataFrame, metric: str) -> tuple[str, str] | None:
    """How a figure's labels were drawn, and the column that holds them."""
    return next(((drawn, f"{p}{metric}") for drawn, p in LABEL.items() if f"{p}{metric}" in items), None)


def _rows(items: pd.DataFrame, group: Mapping[str, str]) -> npt.NDArray[np.bool_]:
    here = np.ones(len(items), dtype=bool)
    for name, value in group.items():
        here &= (items[name].astype(str) == value).to_numpy()
    return here


# -- one figure of one group -----------------------------------------------------------------------


def _one(
    e: Estimate, measure: Measure, own: Found | None, carried: Found | None, fit: Mapping[str, Any] | None
) -> Estimate:
    """The corrected figure: by a correction learnt elsewhere where that holds here, else by labels of these items."""
    state = state_of(checked(fit, e)) if fit else ""
    used = own if carried is None or state == "fails" else carried
    if used is None:
        used = Found(
            Corrected(None, note="the correction does not carry over" if carried else "no item has a mark"), ""
        )
    found = _on_scale(measure, used.found)
    enough = found.value is not None and found.n_labelled >= FEW_UNITS and (used is own or state == "holds")
    notes = [found.note, *used.notes]
    if found.value is not None:
        notes.insert(0, _resting(e, used is carried, enough, found.n_labelled, state, fit, measure.bands is not None))
        notes.append(_wider(found))
    light: Light = measure.bands.light(found.value) if measure.bands and enough else "unlit"
    return replace(
        e,
        metric=f"{e.metric}{CORRECTED}",
        title=title_of(e.title),
        value=found.value,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        method=used.method if found.ci_low is not None else "",
        light=light,
        cuts=measure.bands.cuts if measure.bands and enough else (),
        note="; ".join(filter(None, notes)) or "no label",
        corrects=e.metric,
        n_labels=found.n_labelled,
    )


def _on_scale(measure: Measure, found: Corrected) -> Corrected:
    """A corrected mean and its interval held within the scale; of few labels no interval where it would have no width."""
    if found.value is None or found.ci_low is None or found.ci_high is None:
        return found
    notes = [found.note]
    flat = no_width(found.ci_low, found.ci_high)
    if measure.unit == "0–1":
        held = [min(1.0, max(0.0, end)) for end in (found.value, found.ci_low, found.ci_high)]
        notes.append(f"{found.value:.2f} before it was held within the scale" if held[0] != found.value else "")
        found = found._replace(value=held[0], ci_low=held[1], ci_high=held[2])
    if flat:
        notes.append("the labels show no spread around what the judge says: the interval has no width")
    elif no_width(float(found.ci_low or 0.0), float(found.ci_high or 0.0)):
        flat = True
        notes.append("all of the interval is beyond the scale")
    none = flat and found.n_labelled < FEW_UNITS
    low, high = (None, None) if none else (found.ci_low, found.ci_high)
    return found._replace(ci_low=low, ci_high=high, note="; ".join(filter(None, notes)))


def _resting(
    e: Estimate, carried: bool, enough: bool, n: int, state: str, fit: Mapping[str, Any] | None, lit: bool
) -> str:
    """Which figure the light rests on, and why."""
    where = f"learnt on {fit['learnt_on']}, {counted(n, 'label')}" if carried and fit else counted(n, "label")
    if not lit:
        return where
    if enough:
        return f"{where}; the light rests on this figure, not on the judge's own"
    why = {"few": f"fewer than {FEW_UNITS} labels check it here", "unchecked": "no label checks it here"}.get(state, "")
    if not carried:
        why = f"fewer than {FEW_UNITS} labels"
    return f"{where}; the light rests on the judge's own figure: {why}"


def _wider(found: Corrected) -> str:
    """What twice the labels would bring, in words."""
    wide, twice = found.width(), found.width(2)
    if not wide or not twice:
        return ""
    if twice > 0.97 * wide:
        return f"more labels would hardly narrow its interval, which is {_digits(wide)} wide"
    return f"with twice the labels its interval would be about {_digits(twice)} wide in place of {_digits(wide)}"


def _digits(width: float) -> str:
    return f"{width:.0f}" if width >= 9.5 else f"{width:.2g}"


# -- a correction learnt on other data -------------------------------------------------------------


def checked(fit: Mapping[str, Any], e: Estimate) -> Mapping[str, Any]:
    """The transport check of a figure's group."""
    found: Mapping[str, Any] = fit["checks"].get(", ".join(e.group.values()), {})
    return found


def state_of(check: Mapping[str, Any]) -> str:
    """``fails`` where the interval lies beside 0, ``unchecked`` or ``few`` without and with too few labels, else ``holds``.

    Examples
    --------
    >>> state_of({"gap": -0.3, "low": -0.5, "high": -0.1, "n": 50}), state_of({"gap": 0.0, "low": -0.1, "high": 0.1, "n": 19})
    ('fails', 'few')
    """
    low, high, n = check.get("low"), check.get("high"), int(check.get("n") or 0)
    if low is not None and high is not None and (low > _ROUNDING or high < -_ROUNDING):
        return "fails"
    return "unchecked" if n == 0 else "few" if n < FEW_UNITS or low is None else "holds"


_STATES: Mapping[str, tuple[Light, str]] = {
    "holds": ("green", "the correction carries over"),
    "fails": ("red", "the correction does not carry over, and is not used"),
    "few": ("grey", f"fewer than {FEW_UNITS} labels"),
    "unchecked": ("grey", "no label of these items checks the correction"),
}


def _check(e: Estimate, fit: Mapping[str, Any]) -> Estimate:
    check = checked(fit, e)
    light, words = _STATES[state_of(check)]
    return Estimate(
        metric=f"{e.metric}{TRANSPORT}",
        title=f"{e.title}: human − corrected",
        value=check.get("gap"),
        ci_low=check.get("low"),
        ci_high=check.get("high"),
        method="bootstrap of both samples of labels" if check.get("low") is not None else "",
        n=int(check.get("n") or 0),
        n_of="labels",
        unit="difference",
        light=light,
        note=f"{words}; learnt on {fit['learnt_on']} with {counted(int(fit['n_labels']), 'label')} for {fit['judge']}",
        group=e.group,
    )


# -- words and stability ---------------------------------------------------------------------------


def bias_text(naive: Estimate, corrected: Estimate, learnt_on: str = "") -> str:
    """How much too kind or too strict the judge is, a clause.

    Examples
    --------
    >>> naive = Estimate(metric="m", value=0.84, ci_low=0.83, ci_high=0.85, unit="0–1", higher_is_better=True)
    >>> bias_text(naive, replace(naive, value=0.76, ci_low=0.74, ci_high=0.78, n_labels=480))
    'the judge says 0.840 [0.830, 0.850], corrected by 480 labels 0.760 [0.740, 0.780]: 8 points too kind'
    """
    assert naive.value is not None
    assert corrected.value is not None
    gap = naive.value - corrected.value
    shown = corrected.ci_low is not None and not corrected.ci_low <= naive.value <= (corrected.ci_high or 0.0)
    kind = "too strict" if (gap < 0) == (naive.higher_is_better is not False) else "too kind"
    if naive.higher_is_better is None:
        kind = "too low" if gap < 0 else "too high"
    size = f"{_digits(abs(100 * gap))} points" if naive.unit == "0–1" else _digits(abs(gap))
    end = f"{size} {kind}" if shown else f"{size} {kind}, which chance alone could give"
    of = f" of {learnt_on}" if learnt_on else ""
    return (
        f"the judge says {estimate_text(naive, [corrected])}, corrected by {counted(corrected.n_labels, 'label')}{of} "
        f"{estimate_text(corrected, [naive])}: {end}"
    )


def stability(
    lit: Sequence[tuple[Estimate, Bands | None, bool]], light: Light, *, seed: int, n_resamples: int
) -> float | None:
    """The share of draws of the figures out of their intervals, each by itself, in which the worst light is this one.

    Parameters
    ----------
    lit : sequence of (Estimate, Bands, bool)
        The third: evidence holds it back, so it is grey whatever is drawn.
    light, seed, n_resamples
        See :func:`evalbench.core.stability.joint_stability`.
    """
    if not lit or all(e.ci_low is None for e, _, _ in lit):
        return None
    drawn = []
    for e, bands, held in lit:
        wide = 0.0 if e.ci_low is None or e.ci_high is None else (e.ci_high - e.ci_low) / (2 * _Z)
        normal = rng(seed, "corrected/light", "/".join([e.metric, *e.group.values()])).standard_normal(n_resamples)
        values = np.nan if e.value is None else e.value + wide * normal
        drawn.append(
            np.full(n_resamples, "grey", "<U6")
            if held or bands is None
            else bands.lights(np.broadcast_to(values, n_resamples))
        )
    return float(np.mean(worst_lights(drawn) == light))
