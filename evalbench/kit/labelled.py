"""Labels and corrections that a study is given, read, checked, and set beside its items."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.measures import Measure
from evalbench.core.notes import Note
from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.judge.offline import RECORDED
from evalbench.kit.collecting import UNNAMED
from evalbench.kit.corrected_means import LABEL, PROBABILITY, STRATUM, fit_of
from evalbench.readers.corrections import Learnt, read_corrections
from evalbench.readers.labels import Decided, decided, no_random_part, read_labels
from evalbench.readers.strangers import written_otherwise

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.kit.judging import Heard

_HASH = re.compile(r"[0-9a-f]{64}")
OPTIONS = ("labels", "labels_of", "labels_scale", "labels_drawn", "correction")
"""The options of every study whose figures rest on a judge; their words are those of :func:`given`."""


class Labelled(NamedTuple):
    """Items beside their labels.

    Attributes
    ----------
    items : DataFrame
        With a column of labels for each figure that has some, and with those of a plan's draw.
    options : mapping
        ``correction_fit`` for ``summarise``: the correction learnt on other data, None without one.
    """

    items: pd.DataFrame
    options: dict[str, Any]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Given:
    """Labels and a correction that were read; ``on`` sets them beside a study's items.

    Attributes
    ----------
    labels : mapping of str to Decided
        Figure → one label for each item.
    drawn : str
        How they were drawn.
    learnt : tuple of Learnt
        The corrections of the file.
    figures : mapping of str to Measure
    chosen : str
        The figure that ``labels_of`` names.
    """

    labels: Mapping[str, Decided] = field(default_factory=dict)
    drawn: str = "random"
    learnt: tuple[Learnt, ...] = ()
    file: str = ""
    correction: str = ""
    figures: Mapping[str, Measure] = field(default_factory=dict)
    chosen: str = ""

    def on(
        self,
        items: pd.DataFrame,
        heard: Heard | None = None,
        *,
        by: str = "model",
        unit: str = "id",
        seed: int = 0,
        n_resamples: int = 2000,
    ) -> Labelled:
        """The items with their labels, and the correction fitted and checked on them.

        Parameters
        ----------
        heard : Heard, optional
            The judge, and the prompts that it was asked with.
        by, unit : str
            The items' columns of the group and of the unit that labels name.

        Raises
        ------
        BadInput
            For labels of models that are not judged, and a correction of another judge or prompt.
        """
        added: dict[str, Any] = {}
        notes: list[str] = []
        for metric, found in self.labels.items():
            added |= _columns(items, metric, found, self.drawn, by, unit, self.file, notes)
        out = items.assign(**added)
        if not self.learnt:
            return Labelled(out, {"correction_fit": None}, tuple(notes))
        if heard is None:
            raise BadInput(f"correction {self.correction}: there is no judge whose figures it would correct")
        prompts = {str(h) for frame in heard.calls for h in frame.get("prompt_hash", ()) if isinstance(h, str) and h}
        learnt, figure = self._correction(heard.judge, prompts, notes)
        column = next((f"{p}{figure}" for p in LABEL.values() if f"{p}{figure}" in out), "")
        fit = fit_of(learnt, figure, out, self.figures[figure], column, by, seed, n_resamples)
        return Labelled(out, {"correction_fit": fit}, tuple(notes))

    def _correction(self, judge: str, prompts: set[str], notes: list[str]) -> tuple[Learnt, str]:
        """The one correction of the file that is of this judge, its prompt and a figure of this study."""
        recorded = judge.startswith(RECORDED.rstrip(":"))
        there = ", ".join(dict.fromkeys(one.judge for one in self.learnt))
        of_judge = [one for one in self.learnt if recorded or one.judge == judge]
        if not of_judge:
            raise BadInput(
                f"correction {self.correction}: it was learnt for the judge {there}, and the judge here is {judge}: another "
                "judge errs otherwise"
            )
        named = [(one, figure) for one in of_judge if (figure := self._figure(one))]
        if len(named) != 1:
            criteria = ", ".join(f"{one.criterion or 'no name'} ({one.judge})" for one in of_judge)
            raise BadInput(
                f"correction {self.correction}: its criteria are {criteria}; "
                + ("several are figures of this study: keep one" if named else f"name the figure with labels_of, one of {', '.join(self.figures)}")
            )  # fmt: skip
        learnt, figure = named[0]
        if recorded:
            notes.append(f"The verdicts are recorded, so whether the judge is {learnt.judge} cannot be checked.")
        known = {prompt for prompt in learnt.prompts if _HASH.fullmatch(prompt)}
        other = sorted(known - prompts)
        if prompts and other:
            raise BadInput(
                f"correction {self.correction}: it was learnt with another prompt (hash {other[0][:12]}) than the judge was asked "
                f"with here ({', '.join(sorted(p[:12] for p in prompts))})"
            )
        if not known or not prompts:
            whose = "the correction" if prompts else "this run"
            notes.append(
                f"Whether the correction was learnt with this prompt cannot be checked: {whose} has no hash of its prompt."
            )
        return learnt, figure

    def _figure(self, learnt: Learnt) -> str:
        own = figure_of(learnt.criterion, self.figures)
        return own or (self.chosen if len({one.criterion for one in self.learnt}) == 1 else "")


def figure_of(criterion: str, figures: Mapping[str, Measure]) -> str:
    """The figure that a criterion has the name or title of; empty where none.

    Examples
    --------
    >>> from evalbench.core.measures import mean_of
    >>> figure_of("Answer relevance", {"answer_relevance": mean_of("answer_relevance")})
    'answer_relevance'
    """
    wanted = criterion.casefold().replace(" ", "_")
    return next((m for m, f in figures.items() if wanted in (m.casefold(), f.title.casefold().replace(" ", "_"))), "")


def given(
    measures: Sequence[Measure],
    rows: pd.DataFrame | None = None,
    *,
    unit: str = "id",
    labels: str = "",
    labels_of: str = "",
    labels_scale: Sequence[float] = (),
    labels_drawn: str = "random",
    correction: str = "",
) -> Given:
    """Read what people said of a study's items, before a judge is asked.

    Parameters
    ----------
    measures : sequence of Measure
        The figures that rest on the judge.
    rows : DataFrame, optional
        What is judged: labels of other ids are refused.
    unit : str
        Its column that labels name.
    labels : str
        A table of what people said of the same items, as ``evalbench label merge`` writes it; the judge's figure is then corrected.
    labels_of : str
        Which figure the labels are of, where their criterion does not have its name.
    labels_scale : sequence of float
        The ends of the labels' scale, such as ``[0, 4]``, where it is not that of the figure.
    labels_drawn : {"random", "by_mark", "by_class"}
        How items were chosen for labelling: at ``random``; so many of each group of the judge's marks (``by_mark``); by what people
        say or from elsewhere (``by_class``).  The probabilities of ``evalbench label plan`` count before it.
    correction : str
        A ``correction.json`` of this judge, learnt on other data; ``labels`` check whether it holds here.

    Raises
    ------
    BadInput
        All faults of the labels at once, with file, column and rows; options that do not fit; a file that is no correction.
    """
    figures = {m.metric: m for m in measures if is_mean(m)}
    scale = list(labels_scale)
    faults = [] if labels_drawn in LABEL else [f"labels_drawn must be one of {', '.join(LABEL)}; got {labels_drawn!r}"]
    if scale and not (len(scale) == 2 and all(np.isfinite(scale)) and scale[0] < scale[1]):
        faults.append(f"labels_scale must be two numbers, the first below the second; got {scale}")
    if labels_of and labels_of not in figures:
        faults.append(
            f"labels_of must be one of {', '.join(figures) or 'none, since no figure is a judge’s'}; got {labels_of!r}"
        )
    if (labels_of or scale) and not (labels or correction):
        faults.append("labels_of and labels_scale need labels, the file that they describe")
    if faults:
        raise BadInput.listing("labels:", faults)
    if (labels or correction) and not figures:
        raise BadInput("labels and correction: no figure rests on a judge with these options")
    learnt = read_corrections(Path(correction).expanduser()) if correction else ()
    read: dict[str, pd.DataFrame] = {}
    if labels:
        known = None if rows is None or unit not in rows else set(rows[unit].astype(str))
        read = _read(Path(labels).expanduser(), figures, labels_of, scale, known)
    found = {figure: decided(own, at_random=labels_drawn == "random") for figure, own in read.items()}
    if faults := [fault for figure, own in found.items() if (fault := _all_selected(figure, own))]:
        raise BadInput.listing(f"{labels}: labels cannot be used:", faults)
    return Given(found, labels_drawn, learnt, labels, correction, figures, labels_of)


def is_mean(measure: Measure) -> bool:
    """Whether a figure is the mean of one column of the items, so that labels of items correct it."""
    return len(measure.sums) == 2 and measure.sums[1] == f"#{measure.sums[0]}"


def _read(
    path: Path, figures: Mapping[str, Measure], chosen: str, scale: Sequence[float], known: set[str] | None
) -> dict[str, pd.DataFrame]:
    rows = read_labels(path)
    criteria = sorted(set(rows["criterion"]))
    of = {criterion: figure_of(criterion, figures) for criterion in criteria}
    if chosen and len(criteria) == 1:
        of = {criteria[0]: chosen}
    named = {criterion: figure for criterion, figure in of.items() if figure and chosen in ("", figure)}
    if not named:
        which = f"the criteria are {', '.join(criteria)}" if criteria != [""] else "no criterion is named"
        raise BadInput(f"{path}: of which figure are the labels? {which}; name it with labels_of: {', '.join(figures)}")
    faults = []
    if known is not None and (strange := rows[~rows["id"].isin(known)]).size:
        faults.append(_fault(strange, "id", "there is no such item"))
    found = {}
    for criterion, figure in named.items():
        own = rows[rows["criterion"] == criterion].copy()
        low, high = scale or ((0.0, 1.0) if figures[figure].unit in ("0–1", "0/1") else (-np.inf, np.inf))
        off = own[(own["mark"] < low) | (own["mark"] > high)]
        if len(off):
            faults.append(_fault(off, "mark", f"is off the scale {low:g}–{high:g} of {figure} (labels_scale)"))
        if scale:
            own["mark"] = (own["mark"] - low) / (high - low)
        found[figure] = own
    if faults:
        raise BadInput.listing(f"{path}: labels cannot be used:", faults)
    return found


def _all_selected(figure: str, found: Decided) -> str:
    """The fault of a figure whose labels are all of items that somebody looked for; empty where some are left."""
    if not found.selected or found.skipped < len(found.labels):
        return ""
    return (
        f"{figure}: all {counted(len(found.selected), 'label')} were {no_random_part(found.selected)}: a figure corrected by them "
        "would be of these; label without filter and order or as `evalbench label plan` draws, or say with labels_drawn how they "
        "were chosen"
    )


def _fault(rows: pd.DataFrame, column: str, what: str) -> str:
    places = ", ".join(map(str, rows["row"].head(5))) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")
    cell = rows.iloc[0][column]
    shown = repr(cell[:60]) if isinstance(cell, str) else f"{cell:g}"
    return f"column {column}: {shown} {what} ({'row' if len(rows) == 1 else 'rows'} {places})"


def _columns(
    items: pd.DataFrame, metric: str, found: Decided, drawn: str, by: str, unit: str, file: str, notes: list[str]
) -> dict[str, Any]:
    """The columns of one figure's labels, and what must be said of them."""
    import pandas as pd

    labels = found.labels
    groups = items[by].astype(str) if by in items else pd.Series("", items.index)
    several = groups.nunique() > 1
    if several and (labels["model"] == "").any():
        raise BadInput(
            f"{file}: column model: {counted(groups.nunique(), by)} are judged, and labels do not say whose answer they are of"
        )
    others = labels[(labels["model"] != "") & ~labels["model"].isin(set(groups))]
    if len(others) and (several or not set(groups) & {"", UNNAMED}):
        if len(others) == len(labels):
            raise BadInput(
                f"{file}: column model: all labels are of {by} {others.iloc[0]['model'][:60]!r} or others that are not judged "
                f"here; there are {', '.join(sorted(set(groups))[:10])}"
            )
        labels = labels.drop(others.index)
        notes.append(
            f"{counted(len(others), 'label')} of {by} {others.iloc[0]['model'][:60]!r} or others not judged here."
        )
    if labels["id"].duplicated().any() and not several:
        raise BadInput(
            f"{file}: column model: labels are of several models, and the table does not name whose answers it has"
        )
    keyed = (
        labels.assign(model=labels["model"] if several else "")
        .drop_duplicates(["id", "model"])
        .set_index(["id", "model"])
    )
    own = pd.MultiIndex.from_arrays([items[unit].astype(str), groups if several else [""] * len(items)])
    at = keyed.reindex(own)
    unused = len(keyed) - int(keyed.index.isin(own).sum())
    n_labelled = int(at["mark"].notna().sum())
    elsewhere = written_otherwise(set(labels["id"]) - set(items[unit].astype(str)), items[unit].astype(str))
    said = [
        counted(n_labelled, "item") + " labelled",
        f"{counted(len(found.selected), 'label')} left out, {no_random_part(found.selected)}" if found.selected else "",
        f"{found.several} by several people, whose {'mean' if found.by_mean else 'majority'} counts"
        if found.several
        else "",
        f"{counted(found.ties, 'item')} left out, since as many said the one as the other" if found.ties else "",
        f"{counted(found.skipped, 'item')} skipped by those who labelled" if found.skipped else "",
        f"{counted(unused, 'label')} of items that are not in the sample{f' ({elsewhere})' if elsewhere else ''}"
        if unused
        else "",
    ]
    text = f"Labels of {metric.replace('_', ' ')}: {'; '.join(filter(None, said))}"
    notes.append(Note("labels", text) if unused + found.ties + len(found.selected) > n_labelled else f"{text}.")
    columns: dict[str, Any] = {f"{LABEL[drawn]}{metric}": at["mark"].to_numpy(dtype=float)}
    if at["probability"].notna().any():
        columns[f"{PROBABILITY}{metric}"] = at["probability"].to_numpy(dtype=float)
        if (labels["stratum"] != "").any():
            columns[f"{STRATUM}{metric}"] = at["stratum"].fillna("").to_numpy(dtype=object)
    return columns
