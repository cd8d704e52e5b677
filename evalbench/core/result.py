"""What a study returns: a frozen :class:`Result` of items, figures with intervals, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core import budget as budgets
from evalbench.core.answer import Answer
from evalbench.core.clusters import CLUSTER, said_of
from evalbench.core.notes import first_rank, with_notes
from evalbench.core.slices import Slices
from evalbench.core.verdict import Light, Verdict, worst

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 3


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One headline figure of one group.

    - ``metric``: An identifier, by which figures are found, gated and compared.
    - ``value``: None where it is undefined; ``note`` then says why.
    - ``ci_low``, ``ci_high``: The 95 % interval.
    - ``method``: Name of the interval's method.
    - ``n``: Items that the value rests on.
    - ``n_of``: What ``n`` and the next two count, where a study counts several things: ``"documents"``,
      ``"annotators"``.
    - ``n_unscored``, ``n_undefined``: Items that the instrument could not score; items that have no value.
    - ``unit``: E.g. ``"0–1"``, ``"pp"``, ``"words"``.
    - ``cuts``: The values at which the light changes, ascending; empty without a rule over this figure.
    - ``group``: Compared group, e.g. ``{"model": "fern@1.0.0|oak-7b"}``; empty for the whole.
    - ``title``: The words for people; the identifier where none are given.
    - ``corrects``: The metric, a judge's, of which this is the value corrected by what people say of the same items.
    - ``n_labels``: Labels that such a correction rests on.

    Examples
    --------
    >>> Estimate(metric="citation_recall", value=0.5, title="citation recall (ALCE)").title
    'citation recall (ALCE)'
    >>> Estimate(metric="f1", value=0.5).title
    'f1'
    """

    metric: str
    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    method: str = ""
    n: int = 0
    n_of: str = ""
    n_unscored: int = 0
    n_undefined: int = 0
    unit: str = ""
    higher_is_better: bool | None = None
    light: Light = "unlit"
    cuts: tuple[float, ...] = ()
    note: str = ""
    group: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    corrects: str = ""
    n_labels: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.metric)
        for name in ("value", "ci_low", "ci_high"):
            number = getattr(self, name)
            if number is not None and not math.isfinite(number):
                raise ValueError(f"{self.metric}: {name} is {number}; an undefined figure is None, with a note")
        if self.value is None and not self.note:
            raise ValueError(f"{self.metric}: no value and no note that says why")

    @property
    def place(self) -> dict[str, str]:
        """Which figure it is: its metric and its group's columns."""
        return {"metric": self.metric, **self.group}

    def row(self) -> dict[str, Any]:
        """Flat and JSON-ready: group columns first; what only corrected figures have, of these alone."""
        without = ("group", "metric", "title", *(() if self.corrects else ("corrects", "n_labels")))
        fields = {k: v for k, v in asdict(self).items() if k not in without}
        return {**dict(self.group), "metric": self.metric, "title": self.title, **fields, "cuts": list(self.cuts)}


def decisive(lit: Sequence[Estimate]) -> Estimate:
    """The one that decides where the worst light does: of those with that light the least good, the first of equals."""
    light = worst([e.light for e in lit])
    return min((e for e in lit if e.light == light), key=_goodness)


def _goodness(e: Estimate) -> float:
    """The value, larger where better; smallest where there is none."""
    return -math.inf if e.value is None else -e.value if e.higher_is_better is False else e.value


def deciding_row(results: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The row of a ``results.json``'s ``summary`` that its light rests on.

    Parameters
    ----------
    results : mapping
        Content of ``results.json``.

    Returns
    -------
    mapping or None
        None where no figure decided, or where the file is of a time before ``decided_by``.
    """
    place = results.get("decided_by")
    if not isinstance(place, Mapping):
        return None
    columns = ("metric", *(results.get("by") or ()))
    return next((row for row in results["summary"] if all(row.get(c) == place.get(c) for c in columns)), None)


@dataclass(frozen=True)
class Summary:
    """What a study's ``summarise`` returns: its figures and the verdict on them.

    Raises ``KeyError`` if the verdict names a deciding figure that is not among the figures.
    """

    estimates: tuple[Estimate, ...]
    verdict: Verdict
    slices: Slices | None = None

    def __post_init__(self) -> None:
        place = self.verdict.decided_by
        if place is not None:
            self.estimate(**place)

    def estimate(self, metric: str, **group: str) -> Estimate:
        """The one figure of this metric and group.

        Raises
        ------
        KeyError
            If there is none; the message lists what there is.
        """
        for estimate in self.estimates:
            if estimate.metric == metric and dict(estimate.group) == group:
                return estimate
        known = sorted({e.metric for e in self.estimates})
        groups = [dict(e.group) or "the whole" for e in self.estimates if e.metric == metric]
        there_is = f"it exists for {', '.join(map(str, groups))}" if groups else f"metrics: {', '.join(known)}"
        titled = next((e.metric for e in self.estimates if e.title == metric != e.metric), "")
        hint = f"did you mean {titled!r}?" if titled and not groups else there_is
        raise KeyError(f"no figure {metric!r} for {group or 'the whole'}; {hint}")


class Tables(dict[str, "pd.DataFrame"]):
    """Frames by name; shows their sizes and columns rather than their rows."""

    def __repr__(self) -> str:
        return "\n".join(
            f"{name}: {len(frame)} rows of {', '.join(map(str, frame.columns))}" for name, frame in self.items()
        )


@dataclass(frozen=True)
class DataLabel:
    """What was judged: name, version and the SHA-256 of the bytes that were read."""

    name: str
    version: str
    sha256: str
    synthetic: bool = False

    def __str__(self) -> str:
        return f"{self.name}@{self.version}" if self.version else self.name


@dataclass(frozen=True)
class Stored:
    """A table that is larger than what a result holds of it: its Parquet file, and what keeps that file from going."""

    path: Path
    keeper: object = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class Result:
    """A finished study.

    - ``study``: The study's name, as its notebook and module.
    - ``question``: The one question that it asks, a sentence.
    - ``judged``: What was judged, in words (a checker, a model, a metric).
    - ``parameters``: Every option that shaped the figures; JSON values.
    - ``id``: The column of ``items`` that names the resampling unit.
    - ``by``: The columns of ``items`` that name compared groups.
    - ``items``: One row per unit and group: id, sums or scores, ``unscored``, ``undefined``.
    - ``items_of``: What an item is where it is no plain row of the data, e.g. ``"outputs × metrics × criteria"``.
    - ``tables``: Finer rows that carry the same id.
    - ``verdict``: The light with its rule and its stability under resampling.
    - ``notes``: What a reader must know besides: rows left out, columns guessed, models that ran. Those of the first
      rank (:class:`evalbench.core.notes.Note`) are in the sentence too.
    - ``method``: How it was computed: formulas with their sources, a line each.
    - ``trials``: What repeated answers show, where there are some: noise, pass@k and pass^k, flickering items; JSON
      values.
    - ``stopping``: Where items were asked until the evidence decided: the plan's hash, how many were asked, what was
      decided; JSON values. Items not asked are left out of ``items``.
    - ``accounting``: What varies between equal runs (models, endpoints, calls, tokens, cost); goes to ``run.json``.
    - ``read_as``: Table → columns of other names → what they were read as; goes to ``run.json``.
    - ``files``: Further files that the run's folder gets, by file name.
    - ``stored``: Tables of which ``tables`` hold some rows, and a run's folder gets all, by name.
    - ``answer``: What it answers to its question, in plain words.
    - ``budget``: The limits of the run and how far it came, see :meth:`evalbench.core.budget.Budget.account`; empty
      without limits.
    """

    study: str
    question: str
    judged: str
    parameters: Mapping[str, Any]
    data: DataLabel
    id: str
    items: pd.DataFrame
    summary: Summary
    by: tuple[str, ...] = ()
    items_of: str = ""
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    method: tuple[str, ...] = ()
    trials: Mapping[str, Any] = field(default_factory=dict)
    stopping: Mapping[str, Any] = field(default_factory=dict)
    accounting: Mapping[str, Any] = field(default_factory=dict)
    read_as: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    stored: Mapping[str, Stored] = field(default_factory=dict)
    answer: Answer | None = None
    budget: Mapping[str, Any] = field(default_factory=budgets.account)

    def __post_init__(self) -> None:
        tables, notes = dict(self.tables), [*self.verdict.notes, *self.notes]
        if self.summary.slices is not None:
            import pandas as pd

            tables["slices"] = pd.DataFrame([s.row() for s in self.summary.slices.rows])
            notes += self.summary.slices.notes
        if CLUSTER in self.items:
            notes.append(said_of(self.items, self.id, self.parameters.get(CLUSTER, ())))
        if stopped := budgets.in_words(self.budget):
            notes.insert(0, stopped)
        object.__setattr__(self, "tables", Tables(tables))
        object.__setattr__(self, "notes", tuple(dict.fromkeys(notes)))

    def __repr__(self) -> str:
        sizes = [f"items {len(self.items)}", *(f"{name} {len(frame)}" for name, frame in self.tables.items())]
        return f"<Result of {self.study}: {self.light}. {self.sentence} Rows: {', '.join(sizes)}>"

    @property
    def verdict(self) -> Verdict:
        return self.summary.verdict

    @property
    def light(self) -> Light:
        return self.verdict.light

    @property
    def sentence(self) -> str:
        """That of the verdict, with the notes of the first rank."""
        return with_notes(self.verdict.sentence, self.notes)

    @property
    def n_unscored(self) -> int:
        """Items that carry a reason why they could not be scored."""
        if "unscored" not in self.items:
            return 0
        reasons = self.items["unscored"].fillna("")
        return int((reasons != "").sum())

    def estimate(self, metric: str, **group: str) -> Estimate:
        """The one figure of this metric and group; see :meth:`Summary.estimate`."""
        return self.summary.estimate(metric, **group)

    @property
    def figures(self) -> pd.DataFrame:
        """The figures as a table, a row each: value, interval, n, light, and the group that they are of."""
        import pandas as pd

        return pd.DataFrame([estimate.row() for estimate in self.summary.estimates])

    def all_of(self, table: str, columns: Sequence[str]) -> pd.DataFrame:
        """Columns of all rows of a table, also of one of which it holds some rows."""
        import pandas as pd

        if table in self.stored:
            return pd.read_parquet(self.stored[table].path, columns=[*columns])
        return self.tables[table][[*columns]]

    def frame(self) -> pd.DataFrame:
        """The same as :attr:`figures`, by its earlier name."""
        return self.figures

    def to_json(self) -> dict[str, Any]:
        """The deterministic content of ``results.json``, without the names of table files."""
        verdict = self.verdict
        return {
            "schema_version": SCHEMA_VERSION,
            "study": self.study,
            "question": self.question,
            "judged": self.judged,
            **({} if self.answer is None else {"answer": self.answer.to_json()}),
            "parameters": dict(self.parameters),
            "data": asdict(self.data),
            "id": self.id,
            "by": list(self.by),
            "light": verdict.light,
            "sentence": self.sentence,
            "light_stability": verdict.stability,
            "light_rule": verdict.rule,
            "would_be_light": verdict.would_be,
            "decided_by": None if verdict.decided_by is None else dict(verdict.decided_by),
            "items": {"n": len(self.items), "unscored": self.n_unscored, "of": self.items_of},
            "summary": [estimate.row() for estimate in self.summary.estimates],
            **({} if self.summary.slices is None else {"slices": [s.row() for s in self.summary.slices.rows]}),
            **({"clusters": int(self.items[CLUSTER].nunique())} if CLUSTER in self.items else {}),
            "notes": list(map(str, self.notes)),
            **({"first_rank": [note.row() for note in first]} if (first := first_rank(self.notes)) else {}),
            "method": list(self.method),
            **({"trials": dict(self.trials)} if self.trials else {}),
            **({"stopping": dict(self.stopping)} if self.stopping else {}),
            **({"budget": dict(self.budget)} if self.budget else {}),
        }
