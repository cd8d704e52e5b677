"""What two runs' judges have to do with their differences: whether it was the same judge, and how far it moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalbench.compare.sides import Side
from evalbench.core.compared import ANOTHER_JUDGE, Comparison, in_words
from evalbench.core.judge_drift import JudgeDrift, drift_light, drift_sentence, judge_drift
from evalbench.core.judged_by import JudgedBy, judge_changes, judge_unknown
from evalbench.core.measures import Measure
from evalbench.core.verdict import Light
from evalbench.errors import BadInput
from evalbench.judge.agent.naming import model_behind
from evalbench.kit.anchors import compared
from evalbench.kit.corrected_means import LABEL
from evalbench.kit.labelled import is_mean
from evalbench.kit.options import taken
from evalbench.models.names import is_model_name
from evalbench.readers.anchors import FILE, read_anchors
from evalbench.readers.catalog import same_data

if TYPE_CHECKING:
    import pandas as pd

JUDGES = ("judge", "answer_judge", "strong")
"""The options of studies that name a judge."""
_AUDIT = "judge_audit"
_OF_JUDGES = (_AUDIT, "human_correlation")
"""Studies that judge judges: which of two is better is what they compare."""
_NAMED = 6


@dataclass(frozen=True)
class Judging:
    """What is said of the judges of two runs.

    - ``changes``: What changed of the judge, from what to what; empty for the same judge.
    - ``same_answers``: Whether both runs are known to have judged the same answers.
    - ``drift``: How far the verdicts moved, where both judged the same answers.
    - ``light``: Of the drift.
    """

    changes: tuple[str, ...]
    same_answers: bool
    drift: JudgeDrift | None
    light: Light
    sentences: tuple[str, ...]

    @property
    def voids(self) -> bool:
        """Whether differences of figures say nothing of the system."""
        return bool(self.changes)

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "changes": list(self.changes),
            "same_answers": self.same_answers,
            "light": self.light,
            "drift": None if self.drift is None else self.drift.to_json(),
            "sentences": list(self.sentences),
        }


def with_judges(d: Any, hooks: Any, *, seed: int, n_resamples: int) -> Any:
    """The differences of two runs (:class:`evalbench.compare.runs.Differences`), those that rest on another judge without a verdict."""
    judging = judging_of(d.reference, d.side, hooks, seed=seed, n_resamples=n_resamples)
    if judging is None:
        return d
    if not judging.voids:
        return replace(d, judging=judging, notes=(*judging.sentences, *d.notes))
    names = (d.side.name, d.reference.name)
    rests = [_rests(hooks.rests_on_judge, one) for one in (d.reference, d.side)]

    def void(one: Any) -> Any:
        """A row without a verdict where its figure rests on another judge."""
        c: Comparison = one.comparison
        if c.outcome == "undefined" or not any(of(c.metric, one.group) for of in rests):
            return one
        changed = replace(c, outcome=ANOTHER_JUDGE)
        return one._replace(comparison=replace(changed, words=in_words(changed, names)))

    rows, slices = tuple(map(void, d.rows)), tuple(map(void, d.slices))
    if not any(row.comparison.outcome == ANOTHER_JUDGE for row in rows):
        return d
    kept = dict.fromkeys(
        row.comparison.title for row in rows if not any(of(row.comparison.metric, row.group) for of in rests)
    )
    judging = replace(judging, sentences=(*judging.sentences, *_kept(list(kept))))
    return replace(d, rows=rows, slices=slices, judging=judging)


def _rests(hook: Callable[..., bool] | None, side: Side) -> Callable[[str, Mapping[str, str]], bool]:
    """Whether a figure of a group rests on the judge, under the options of a run."""
    if hook is None:
        return lambda metric, group: True
    options = taken(hook, side.results["parameters"])
    return lambda metric, group: hook(metric, group, **options)


def _kept(titles: Sequence[str]) -> list[str]:
    more = f" and {len(titles) - _NAMED} more" if len(titles) > _NAMED else ""
    named = f"{', '.join(titles[:_NAMED])}{more}"
    return [f"No judge has a part in these, which keep their verdict: {named}."] * bool(titles)


def judging_of(reference: Side, side: Side, hooks: Any, *, seed: int, n_resamples: int) -> Judging | None:
    """What is said of the judges of two runs; None where they asked none, or are one run."""
    then, now = judged_by(reference), judged_by(side)
    study = reference.results["study"]
    if reference.run_id == side.run_id:
        return None
    if study == _AUDIT:
        return _of_audits(reference, side, seed, n_resamples)
    if not (then.judge or now.judge) or study in _OF_JUDGES:
        return None
    changes = judge_changes(_named(then), _named(now))
    alike = _same_answers(reference, side)
    said = _of_changes(changes, alike, then, now, reference.run_id)
    light: Light = "unlit"
    figure = _figure(reference, side, hooks.judged_measures or hooks.measures) if alike else None
    drift = None if figure is None else _drift(reference, side, figure, hooks.unit, seed, n_resamples)
    if drift and drift.n:
        light = drift_light(drift, void="; ".join(changes))[0]
        said.append(drift_sentence(drift, another=bool(changes)))
    return Judging(changes, alike, drift, light, tuple(said)) if said else None


def _of_changes(changes: Sequence[str], alike: bool, then: JudgedBy, now: JudgedBy, earlier: str) -> list[str]:
    if changes and alike:
        return [
            f"Both runs judged the same answers, and the judge changed ({'; '.join(changes)}): differences of figures that rest "
            "on it are the judge's, none is the system's."
        ]
    if changes:
        way_out = f" Judge the earlier run again: evalbench rejudge {earlier} --judge {now.judge}" if now.judge else ""
        return [
            f"The judge changed ({'; '.join(changes)}), so figures that rest on it have no verdict on the system: a difference "
            f"may be the judge's.{way_out}"
        ]
    if is_model_name(model_behind(now.judge)) and (unknown := judge_unknown(then, now)):
        return [f"Whether the judge's {' or '.join(unknown)} changed is not known: a run has no record of it."]
    return []


def judged_by(side: Side) -> JudgedBy:
    """Who judged a run, as far as its files say it."""
    parameters = side.results["parameters"]
    names = [str(parameters.get(name) or "") for name in JUDGES]
    settings = {
        name: value
        for name, value in parameters.items()
        if name.startswith("judge_") and name not in ("judge_prompt",) and not isinstance(value, list | dict)
    }
    prompts, versions = (side.run.get(name) or [] for name in ("judge_prompts", "judge_versions"))
    return JudgedBy(
        " and ".join(filter(None, names)),
        tuple(map(str, prompts)) if isinstance(prompts, list) else (),
        tuple(map(str, versions)) if isinstance(versions, list) else (),
        settings,
    )


def _named(by: JudgedBy) -> JudgedBy:
    """A run without a judge is one of another judge than a run with one."""
    return by if by.judge else by._replace(judge="none")


def _same_answers(reference: Side, side: Side) -> bool:
    """Whether both runs are known to have judged the same answers: no system was asked, or an old run was judged again."""
    origins = [
        (str((one.results.get("judged_again") or {}).get("identity") or _identity(one))) for one in (reference, side)
    ]
    if origins[0] and origins[0] == origins[1]:
        return True
    recorded = not any(one.results["parameters"].get("model") for one in (reference, side))
    return recorded and same_data(reference.results["data"], side.results["data"])


def _identity(side: Side) -> str:
    hashes = side.run.get("sha256")
    return str(hashes.get("identity") or "") if isinstance(hashes, Mapping) else ""


def _figure(reference: Side, side: Side, hook: Callable[..., Sequence[Measure]] | None) -> Measure | None:
    """The first figure of a judge that is a mean over items, in both runs."""
    if hook is None:
        return None
    found = [m for m in hook(**taken(hook, reference.results["parameters"])) if is_mean(m)]
    return next((m for m in found if m.sums[0] in reference.items and m.sums[0] in side.items), None)


def _drift(reference: Side, side: Side, measure: Measure, unit: str, seed: int, n_resamples: int) -> JudgeDrift | None:
    keys = list(dict.fromkeys([unit or str(reference.results["id"]), str(reference.results["id"]), *reference.by]))
    if any(key not in one.items for key in keys for one in (reference, side)):
        return None
    sides = [one.items.set_index([one.items[key].astype(str) for key in keys]) for one in (reference, side)]
    if any(one.index.has_duplicates for one in sides):
        return None
    both = sides[0].index.intersection(sides[1].index).sort_values()
    then, now = (one.loc[both, measure.sums[0]].astype(float).to_numpy() for one in sides)
    units = both.get_level_values(0).to_numpy(dtype=str)
    labels = next(
        (found for one in reversed(sides) if (found := _labels(one.loc[both], measure.metric)) is not None), None
    )
    try:
        return judge_drift(then, now, labels, units=units, seed=seed, n_resamples=n_resamples)
    except ValueError:  # labels on another scale than the figure's
        return judge_drift(then, now, units=units, seed=seed, n_resamples=n_resamples)


def _labels(items: pd.DataFrame, metric: str) -> Any:
    name = next((f"{prefix}{metric}" for prefix in LABEL.values() if f"{prefix}{metric}" in items), "")
    return items[name].astype(float).to_numpy() if name else None


def _of_audits(reference: Side, side: Side, seed: int, n_resamples: int) -> Judging | None:
    """The drift of a judge between two audits of the same labelled answers; who is better is what an audit compares."""
    if not (reference.folder and side.folder and all((one.folder / FILE).is_file() for one in (reference, side))):  # type: ignore[operator]
        return None
    try:
        tables = [read_anchors(one.folder / FILE) for one in (reference, side)]  # type: ignore[operator]
        found = compared(tables[0], tables[1], seed=seed, n_resamples=n_resamples)
    except BadInput as error:
        return Judging((), False, None, "unlit", (f"How far the judge moved is not known: {error}",))
    void = [f"It was another judge: {found.fit['void']}."] if found.fit["void"] else []
    words = [found.fit["sentence"], *void, *found.notes]
    if found.fit["light"] == "grey" and not void:
        words.insert(1, f"{found.fit['why'][0].upper()}{found.fit['why'][1:]}.")
    drift = JudgeDrift.of_json(found.fit["drift"])
    return Judging((), True, drift, found.fit["light"], tuple(words))
