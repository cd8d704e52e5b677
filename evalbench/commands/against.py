"""``evalbench batch --against previous``: each run of a suite against its previous comparable one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.commands.compare import target
from evalbench.compare.sides import read_side
from evalbench.errors import BadInput
from evalbench.readers.runs import PAGE

if TYPE_CHECKING:
    from evalbench.compare.gate import Gated
    from evalbench.compare.runs import Differences
    from evalbench.compare.sides import Side
    from evalbench.runs.batch import Outcome

NO_PREVIOUS = "no previous run"


class Against(NamedTuple):
    """A run against its previous comparable one.

    - ``number``: Of the run in its suite.
    - ``state``: ``regression``, ``inconclusive``, ``none``, or ``no previous run``.
    - ``why``: Why the two were not compared; empty where they were.
    - ``previous``: The id of the previous run.
    - ``page``: Of the comparison.
    """

    number: int
    state: str
    why: str = ""
    previous: str = ""
    page: Path | None = None
    figures: tuple[Gated, ...] = ()
    notes: tuple[str, ...] = ()

    def row(self, folder: Path) -> dict[str, Any]:
        """JSON-ready, with the page as seen from a folder."""
        return {
            "state": self.state,
            "why": self.why,
            "previous": self.previous or None,
            "page": self.page and Path(os.path.relpath(self.page, folder)).as_posix(),
            "figures": [figure.row() for figure in self.figures],
            "notes": list(self.notes),
        }


def against_previous(outcomes: Sequence[Outcome], margins: Mapping[str, float], reports: Path) -> list[Against]:
    """Every run that is ok against the previous one, with Holm's adjustment over all of them; writes their pages.

    - ``margins``: How much worse does not matter.
    """
    from evalbench.compare.gate import gate, worst
    from evalbench.report.history import previous, read_runs

    runs = read_runs(reports)
    own = {outcome.folder.name for outcome in outcomes}
    ended: dict[int, Against] = {}
    compared: dict[int, tuple[Outcome, Differences, str]] = {}
    for outcome in outcomes:
        number = outcome.job.number
        found = next(
            (r for r in runs if (r.study, r.run_id) == (outcome.folder.parent.name, outcome.folder.name)), None
        )
        if not outcome.ok or found is None:
            continue
        before, why = previous(runs, found, own)
        if before is None:
            ended[number] = Against(number, NO_PREVIOUS, why)
            continue
        try:
            compared[number] = (
                outcome,
                _differences(reports / before.study / before.run_id, outcome, margins),
                before.run_id,
            )
        except BadInput as error:
            ended[number] = Against(number, "inconclusive", f"not compared: {error}", before.run_id)
        except Exception as error:  # noqa: BLE001 - the runs are done; what happened to one comparison is said, never a pass
            why = f"not compared: {type(error).__name__}: {error}"
            ended[number] = Against(number, "inconclusive", why, before.run_id)
    gated = gate([differences for _, differences, _ in compared.values()], margins)
    for (number, (outcome, differences, run_id)), figures in zip(compared.items(), gated, strict=True):
        state = worst([figure.state for figure in figures])
        page = _written(differences, outcome, reports, margins)
        ended[number] = Against(number, state, "", run_id, page, figures, differences.notes)
    return [ended[number] for number in sorted(ended)]


def _differences(before: Path, outcome: Outcome, margins: Mapping[str, float]) -> Differences:
    from evalbench import studies
    from evalbench.compare.gate import margins_of
    from evalbench.compare.runs import Hooks, compare

    study = outcome.job.plan.study
    if study not in studies.names():
        raise BadInput(f"{study} is a notebook of its own; only runs of studies are compared")
    sides = [_named(before, "the previous run"), _named(outcome.folder, "this run")]
    stated = margins_of(sides[1].results, margins_of(sides[0].results, margins))
    return compare(sides[0], sides[1:], Hooks.of(studies.study(study)), margins=stated)[0]


def _named(folder: Path, name: str) -> Side:
    return replace(read_side(folder), name=name)


def _written(differences: Differences, outcome: Outcome, reports: Path, margins: Mapping[str, float]) -> Path:
    """The comparison's own page, as ``evalbench compare`` has it."""
    from evalbench.compare.matrix import Pairs, with_answers
    from evalbench.kit.defaults import SEED
    from evalbench.report.compare_files import write

    sides = (differences.reference, differences.side)
    folder = target(sides, ["previous", sorted(margins.items())], reports)
    study = outcome.job.plan.study
    links = {side.run_id: f"../../{study}/{side.run_id}/{PAGE}" for side in sides}
    pairs = with_answers(Pairs.against_the_first([differences]), seed=SEED)
    return write(pairs, folder, links)


def unknown_margins(margins: Mapping[str, float], summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each margin of a metric that none of these runs states.

    Examples
    --------
    >>> unknown_margins({"rougel": 0.1}, [{"summary": [{"metric": "rougeL"}]}])
    ['--margin rougel: no run of the suite has this metric; did you mean rougeL?']
    """
    known = dict.fromkeys(str(row["metric"]) for results in summaries for row in results["summary"])
    lines = []
    for name in margins:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}" if known else ""
            lines.append(f"--margin {name}: no run of the suite has this metric{hint}")
    return lines


_SIGNS = {"regression": "↓", "inconclusive": "?", "none": "=", NO_PREVIOUS: "–"}

_LINES = 8
_COUNTED = {NO_PREVIOUS: "without a previous run"}


def against_lines(
    found: Sequence[Against], labels: Mapping[int, str], state: str, faults: Sequence[str] = ()
) -> list[str]:
    """What a terminal shows: a line for each run and each figure that counts, and one for all.

    - ``labels``: Of the runs, by number.
    - ``state``: Of the whole.
    - ``faults``: Of :func:`unknown_margins`.
    """
    from evalbench.compare.gate import STATES

    lines = ["against the previous runs"]
    for one in found:
        lines.append(f"{one.number:>4}  {_SIGNS[one.state]} {one.state}  {labels[one.number]}")
        lines += [f"      {one.why}"] * bool(one.why)
        shown = sorted(one.figures, key=lambda figure: STATES.index(figure.state))
        lines += [f"      {_SIGNS[figure.state]} {figure.words}" for figure in shown[:_LINES]]
        lines += [f"      … and {len(shown) - _LINES} more on the page"] * (len(shown) > _LINES)
        lines += [f"      {one.page}"] * bool(one.page)
    counts = {name: sum(one.state == name for one in found) for name in _SIGNS}
    said = ", ".join(f"{n} {_COUNTED.get(name, name)}" for name, n in counts.items() if n) or "nothing to compare"
    return [*lines, *faults, f"against the previous runs: {state} ({said})"]


def state_of(found: Sequence[Against], faults: Sequence[str] = ()) -> str:
    """Of the suite: a regression, or no evidence either way where a run, or a margin, has nothing to be compared with, or none.

    Examples
    --------
    >>> state_of([Against(1, "none"), Against(2, NO_PREVIOUS)]), state_of([Against(1, "none")]), state_of([])
    ('inconclusive', 'none', 'inconclusive')
    """
    from evalbench.compare.gate import worst

    states = [one.state if one.state != NO_PREVIOUS else "inconclusive" for one in found]
    return worst([*states, *(["inconclusive"] if faults else [])])


CODES = {"regression": 3, "inconclusive": 5, "none": 0}
