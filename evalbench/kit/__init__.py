"""What every study is built of: options, sampling, collecting, judging, scoring, verdicts, comparing, cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalbench.core.imports import modules_of

if TYPE_CHECKING:
    from evalbench.kit import anchors as anchors
    from evalbench.kit import answering as answering
    from evalbench.kit import answers as answers
    from evalbench.kit import cases as cases
    from evalbench.kit import choosing as choosing
    from evalbench.kit import collecting as collecting
    from evalbench.kit import comparing as comparing
    from evalbench.kit import corrected_means as corrected_means
    from evalbench.kit import correcting as correcting
    from evalbench.kit import curating as curating
    from evalbench.kit import defaults as defaults
    from evalbench.kit import documents as documents
    from evalbench.kit import doubts as doubts
    from evalbench.kit import early as early
    from evalbench.kit import evidence as evidence
    from evalbench.kit import extraction as extraction
    from evalbench.kit import finders as finders
    from evalbench.kit import generating as generating
    from evalbench.kit import grouping as grouping
    from evalbench.kit import judging as judging
    from evalbench.kit import labelled as labelled
    from evalbench.kit import marks as marks
    from evalbench.kit import metric_options as metric_options
    from evalbench.kit import modules as modules
    from evalbench.kit import options as options
    from evalbench.kit import parts as parts
    from evalbench.kit import rephrasing as rephrasing
    from evalbench.kit import results as results
    from evalbench.kit import rules as rules
    from evalbench.kit import sampling as sampling
    from evalbench.kit import saying as saying
    from evalbench.kit import scoring as scoring
    from evalbench.kit import sentences as sentences
    from evalbench.kit import slicing as slicing
    from evalbench.kit import stopping as stopping
    from evalbench.kit import streaming as streaming
    from evalbench.kit import trial_tables as trial_tables
    from evalbench.kit import trials as trials
    from evalbench.kit import verdicts as verdicts
    from evalbench.kit import violating as violating
    from evalbench.kit import workers as workers
    from evalbench.kit.options import Checks as Checks
    from evalbench.kit.options import stated as stated
    from evalbench.kit.options import taken as taken
    from evalbench.kit.results import result_of as result_of
    from evalbench.kit.verdicts import MAX_UNSCORED as MAX_UNSCORED
    from evalbench.kit.verdicts import N_RESAMPLES as N_RESAMPLES
    from evalbench.kit.verdicts import SEED as SEED
    from evalbench.kit.verdicts import worst_group as worst_group

__getattr__ = modules_of(
    __name__, options="Checks stated taken", results="result_of", verdicts="MAX_UNSCORED N_RESAMPLES SEED worst_group"
)
