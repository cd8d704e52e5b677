"""Values, lights as data, statistics and the wording of numbers; nothing but numpy and scipy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalbench.core.imports import modules_of

if TYPE_CHECKING:
    from evalbench.core import agreement as agreement
    from evalbench.core import annotators as annotators
    from evalbench.core import answer as answer
    from evalbench.core import arrays as arrays
    from evalbench.core import betting as betting
    from evalbench.core import bounded as bounded
    from evalbench.core import bradley_terry as bradley_terry
    from evalbench.core import budget as budget
    from evalbench.core import clusters as clusters
    from evalbench.core import compared as compared
    from evalbench.core import comparison as comparison
    from evalbench.core import constant_answer as constant_answer
    from evalbench.core import correlation as correlation
    from evalbench.core import correlation_levels as correlation_levels
    from evalbench.core import correlation_table as correlation_table
    from evalbench.core import dealing as dealing
    from evalbench.core import dry as dry
    from evalbench.core import ends as ends
    from evalbench.core import escalation as escalation
    from evalbench.core import experiments as experiments
    from evalbench.core import global_drift as global_drift
    from evalbench.core import imports as imports
    from evalbench.core import judge_drift as judge_drift
    from evalbench.core import judged_by as judged_by
    from evalbench.core import judged_rates as judged_rates
    from evalbench.core import judging_time as judging_time
    from evalbench.core import kendall as kendall
    from evalbench.core import leanings as leanings
    from evalbench.core import linearised as linearised
    from evalbench.core import local_drift as local_drift
    from evalbench.core import measures as measures
    from evalbench.core import noise as noise
    from evalbench.core import notes as notes
    from evalbench.core import panels as panels
    from evalbench.core import planning as planning
    from evalbench.core import ppi as ppi
    from evalbench.core import probes as probes
    from evalbench.core import progress as progress
    from evalbench.core import psi as psi
    from evalbench.core import quantiles as quantiles
    from evalbench.core import resample as resample
    from evalbench.core import result as result
    from evalbench.core import seeds as seeds
    from evalbench.core import sides as sides
    from evalbench.core import significance as significance
    from evalbench.core import slices as slices
    from evalbench.core import stability as stability
    from evalbench.core import stats as stats
    from evalbench.core import transport as transport
    from evalbench.core import trials as trials
    from evalbench.core import unscored as unscored
    from evalbench.core import verdict as verdict
    from evalbench.core import wording as wording
    from evalbench.core.answer import Answer as Answer
    from evalbench.core.answer import Line as Line
    from evalbench.core.arrays import Bools as Bools
    from evalbench.core.arrays import Floats as Floats
    from evalbench.core.arrays import Indices as Indices
    from evalbench.core.arrays import Ints as Ints
    from evalbench.core.measures import Measure as Measure
    from evalbench.core.measures import mean_of as mean_of
    from evalbench.core.measures import ratio as ratio
    from evalbench.core.measures import share_of as share_of
    from evalbench.core.notes import Note as Note
    from evalbench.core.result import Estimate as Estimate
    from evalbench.core.result import Result as Result
    from evalbench.core.result import Summary as Summary
    from evalbench.core.wording import counted as counted
    from evalbench.core.wording import percent as percent

__getattr__ = modules_of(
    __name__,
    answer="Answer Line",
    arrays="Bools Floats Indices Ints",
    result="Estimate Result Summary",
    measures="Measure mean_of ratio share_of",
    notes="Note",
    wording="counted percent",
)
