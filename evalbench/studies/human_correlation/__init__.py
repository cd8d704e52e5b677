"""Can an automatic metric stand in for annotators?

Input: outputs of systems on documents, human scores by criterion (a column per criterion, or long with annotator,
criterion, score) or comparisons of two outputs, and ready-made metric columns; metrics that are no column are computed by
the registry.

Figures, for each metric × criterion: Spearman, Kendall's tau-b and Pearson with the mean of the annotators, at three
levels that are always named: *summary* (over systems within each document, then mean over documents), *dataset* (all rows
pooled), *system* (means of systems); intervals from resampled documents, at system level from resampled systems and
documents.  Beside them: how often the metric prefers the output that people prefer, the annotators' own agreement
(Krippendorff's alpha, Cohen's kappa), the ceiling (one annotator against the mean of the others), the partial correlation
with the system held fixed, comparisons of metrics, and how many items would be needed.  Without a metric the study is of
the annotators' agreement alone.

Sources: Deutsch, Dror & Roth 2021 (levels, bootstrap); Graham & Baldwin 2014 (Williams' test); Krippendorff 2011;
Fisher 1921 (sample size).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.compared import left_out_note
from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.kit.judging import Heard
from evalbench.kit.metric_options import metrics_of, name_of, ways_of
from evalbench.kit.scoring import Scored, accounting_of, calls_of, score_all
from evalbench.metrics.registry import Card
from evalbench.readers.dataset import Dataset
from evalbench.studies._passing import check_resamples, check_shares
from evalbench.studies.human_correlation.analysis import Analysis, analyse
from evalbench.studies.human_correlation.cases import disagreements
from evalbench.studies.human_correlation.judging import Bench, bench_of
from evalbench.studies.human_correlation.pairs import pairs_table, preferred
from evalbench.studies.human_correlation.pictures import (
    agreement,
    best_comparisons,
    documents_needed,
    labels_needed,
    matrix,
    partials,
    picture_agreement,
    picture_criterion,
    picture_heat_map,
    picture_scatter,
    uncompared,
    undefined,
)
from evalbench.studies.human_correlation.reading import Readings, items_of, read
from evalbench.studies.human_correlation.schema import SCHEMA
from evalbench.studies.human_correlation.summary import summarise, summary_of
from evalbench.studies.human_correlation.tables import (
    DEFINITIONS,
    agreement_table,
    comparison_table,
    correlation_frame,
    label_plan,
    system_plan,
)
from evalbench.studies.human_correlation.trust import Judge, Trust, bands_of, trust_of
from evalbench.studies.human_correlation.weighted import weighted

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.judge.verdicts import InProcess

__all__ = [
    "METRICS",
    "QUESTION",
    "SCHEMA",
    "agreement",
    "best_comparisons",
    "disagreements",
    "documents_needed",
    "evaluate",
    "labels_needed",
    "matrix",
    "partials",
    "picture_agreement",
    "picture_criterion",
    "picture_heat_map",
    "picture_scatter",
    "preferred",
    "summarise",
    "uncompared",
    "undefined",
    "weighted",
]  # fmt: skip

QUESTION = "Can an automatic metric stand in for annotators?"
METRICS = (
    "f1_score", "jaccard_similarity", "rouge1", "rouge2", "rougeL", "chrf", "sacrebleu",
    "sentence_transformers_similarity", "request_similarity", "length", "language_match",
)  # fmt: skip


class _Scores(NamedTuple):
    """Scores and reasons by scorer, and what came with them."""

    scores: dict[str, np.ndarray]
    unscored: dict[str, np.ndarray]
    undefined: dict[str, np.ndarray]
    notes: tuple[str, ...]
    tables: dict[str, pd.DataFrame]
    accounting: dict[str, Any]


def evaluate(
    data: Dataset,
    *,
    metrics: Sequence[str] = METRICS,
    criteria: Sequence[str] = (),
    judges: Sequence[str | InProcess] = (),
    judge_criteria: Mapping[str, Mapping[str, Any]] | None = None,
    own_criterion: Mapping[str, str] | None = None,
    trusted: Sequence[str] = (),
    trust_from: float = 0.4,
    level: str = "auto",
    coefficient: str = "spearman",
    green_from: float = 0.7,
    yellow_from: float = 0.4,
    max_ci_width: float = 0.5,
    lower_is_better: Sequence[str] = (),
    language: str = "en",
    normalise: str = "full",
    references: str = "best",
    stem: bool = False,
    sentence_split: str = "newline",
    meteor_synonyms: bool = False,
    bleu_tokenize: str = "13a",
    embed: str = "use-multilingual",
    bert_model: str = "",
    bert_layers: int | None = None,
    judge: Any = "",
    max_unscored: float = 0.05,
    seed: int = 0,
    n_resamples: int = 2000,
) -> Result:
    """Correlate metrics with human scores.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="human_correlation")``.
    metrics : sequence of str
        Columns of the table, or names of the registry's text metrics; a column goes first.  With neither metrics nor
        judges the study is of the annotators' agreement alone.
    criteria : sequence of str
        Human criteria; needed where each is a column, else by default all.
    judges : sequence of str or callable
        Judges that mark every output by each of ``judge_criteria``, see :func:`evalbench.judge.verdicts.judge`: chat models,
        ``recorded:FILE`` by ``doc_id/system``, functions.  Each gives a metric ``JUDGE: CRITERION``.
    judge_criteria : mapping
        Criterion → ``definition``, ``scale`` (mark → when it is given), and if wanted ``examples`` and ``basis``
        (``"reference"`` or ``"context"``: the column that the judge is shown beside the output).
    own_criterion : mapping
        Metric → the only criterion that it is compared with, as a judge's marks of fluency with people's fluency; a metric
        that is not named is compared with every criterion.
    trusted, trust_from, level, coefficient, green_from, yellow_from, max_ci_width, lower_is_better
        See :func:`summarise`.
    language, normalise, references, stem, sentence_split, meteor_synonyms, bleu_tokenize, embed, bert_model, bert_layers, judge
        For metrics that are computed; see :func:`evalbench.studies.text_metrics.evaluate`.
    max_unscored : float
    seed, n_resamples : int

    Returns
    -------
    Result
        ``items``: one row per document, system, metric and criterion.  ``tables``: ``correlations`` (three levels,
        three coefficients), ``comparisons``, ``agreement``, ``label_plan``, ``system_plan``, ``texts``; ``calls`` where
        models were asked, ``contradictions`` where a judge of contradiction was.

    Raises
    ------
    BadInput
        For faults of the tables or the options.
    """
    bands = bands_of(yellow_from, green_from)
    _check_lists(metrics=metrics, judges=judges, criteria=criteria, trusted=trusted, lower_is_better=lower_is_better)
    check_shares(max_unscored=max_unscored)
    check_resamples(n_resamples)
    options = {
        "language": language, "normalise": normalise, "references": references, "stem": stem,
        "sentence_split": sentence_split, "meteor_synonyms": meteor_synonyms, "bleu_tokenize": bleu_tokenize,
        "embed": embed, "bert_model": bert_model, "bert_layers": bert_layers, "judge": judge,
    }  # fmt: skip
    readings = read(data, metrics, criteria)
    entries = metrics_of(_computed(readings.frame, metrics), options)
    metrics = [name if name in readings.frame.columns else name_of(name, options) for name in metrics]
    bench = bench_of(judges, judge_criteria or {}, list(readings.frame.columns), language=language, seed=seed)
    found = _scores(readings, metrics, entries, options, bench)
    if not found.scores and readings.ratings["annotator"].nunique() < 2:
        raise BadInput(
            "neither a metric nor a judge is named, and there is one human score for each output: nothing to compare"
        )
    own = _own(own_criterion or {}, list(found.scores), readings.criteria)
    items = items_of(readings, found.scores, found.unscored, found.undefined, own)
    analysis = analyse(items, level=level, coefficient=coefficient, seed=seed, n_resamples=n_resamples)
    trust = trust_of(analysis, trusted, trust_from)
    lower = tuple(lower_is_better)
    strangers = sorted(set(lower) - set(analysis.panel.scorers))
    if strangers:
        raise BadInput(f"lower_is_better: {', '.join(strangers)} not among {', '.join(analysis.panel.scorers)}")
    summary = summary_of(analysis, Judge(bands, max_ci_width, lower, max_unscored), trust)
    names = list(analysis.panel.scorers)
    return Result(
        study="human_correlation",
        question=QUESTION,
        judged=_judged(names),
        parameters={
            "metrics": list(metrics), "criteria": list(readings.criteria),
            "judges": [name if isinstance(name, str) else "a function" for name in judges],
            "judge_criteria": {k: dict(v) for k, v in (judge_criteria or {}).items()}, "own_criterion": own, "trusted": list(trusted),
            "trust_from": trust_from, "level": level, "coefficient": coefficient, "green_from": green_from,
            "yellow_from": yellow_from, "max_ci_width": max_ci_width, "lower_is_better": list(lower),
            **{name: value for name, value in options.items() if name != "judge"},
            "judge": judge if isinstance(judge, str) else "a function", "max_unscored": max_unscored, "seed": seed,
            "n_resamples": n_resamples,
        },
        data=data.label,
        id="doc_id",
        by=("scorer", "criterion") if names else ("criterion",),
        items_of=_items_of(names, own),
        items=items,
        summary=summary,
        tables={
            **(_of_metrics(analysis, lower, yellow_from, readings.pairs) if names else {}),
            "agreement": agreement_table(analysis, trust),
            "texts": readings.frame,
            **found.tables,
        },
        notes=(*_unread(data, names, readings.criteria), *readings.notes, *found.notes, *_remarks(analysis, trust),
               *filter(None, [left_out_note(len(names), "metrics", "their agreement on each criterion")])),
        method=(*_method(analysis, trust), *ways_of([entry.name for entry in entries], options)),
        accounting=found.accounting,
    )  # fmt: skip


def _computed(frame: pd.DataFrame, metrics: Iterable[str]) -> list[str]:
    """The metrics that are no columns of the table."""
    return [name for name in dict.fromkeys(metrics) if name not in frame.columns]


def _scores(
    readings: Readings, metrics: Sequence[str], entries: Sequence[Card], options: Mapping[str, Any], bench: Bench
) -> _Scores:
    """One column per metric: read from the table, computed by the registry, or marked by a judge."""
    frame = readings.frame
    ready = [name for name in dict.fromkeys(metrics) if name in frame.columns]
    found = score_all(frame, entries, options) if entries else Scored()
    marks = bench.marks(frame)
    heard = [Heard(v.judge, (), (v.calls,), v.accounting) for v in marks.verdicts]
    scores = {name: frame[name].to_numpy(dtype=float) for name in ready}
    unscored = {name: np.where(np.isnan(column), "no-value", "").astype(object) for name, column in scores.items()}
    return _Scores(
        scores | {e.name: found.columns[e.name] for e in entries} | marks.scores,
        unscored | {e.name: found.unscored[e.name] for e in entries} | marks.unscored,
        {e.name: found.undefined[e.name] for e in entries} | marks.undefined,
        (*found.notes, *marks.notes),
        calls_of(found, heard=heard),
        accounting_of(found, options, heard=heard),
    )


def _of_metrics(
    analysis: Analysis, lower: tuple[str, ...], against: float, pairs: pd.DataFrame | None
) -> dict[str, pd.DataFrame]:
    return {
        "correlations": correlation_frame(analysis, lower),
        "comparisons": comparison_table(analysis, lower),
        "pairs": pairs_table(analysis, lower, pairs),
        "label_plan": label_plan(analysis, lower, against),
        "system_plan": system_plan(analysis),
    }


def _judged(names: Sequence[str]) -> str:
    if not names:
        return "the annotators' agreement"
    return f"metric {names[0]}" if len(names) == 1 else f"{len(names)} metrics: {', '.join(names)}"


def _items_of(names: Sequence[str], own: Mapping[str, str]) -> str:
    if not names:
        return "outputs × criteria"
    return "outputs × metrics" if set(names) <= set(own) else "outputs × metrics × criteria"


def _own(own: Mapping[str, str], scorers: Sequence[str], criteria: Sequence[str]) -> dict[str, str]:
    """The metrics' own criteria.

    Raises
    ------
    BadInput
        For metrics and criteria that do not exist, all at once.
    """
    if not isinstance(own, Mapping):
        raise BadInput(f'own_criterion: a mapping of metric to criterion, e.g. {{"judge": "{criteria[0]}"}}')
    faults = [f"{name} is not a metric here; there are {', '.join(scorers)}" for name in own if name not in scorers]
    faults += [
        f"{name}: {criterion!r} is not a criterion; there are {', '.join(criteria)}"
        for name, criterion in own.items() if criterion not in criteria
    ]  # fmt: skip
    if faults:
        raise BadInput.listing("own_criterion:", faults)
    return dict(own)


def _check_lists(**options: Sequence[str]) -> None:
    faults = [f"{name}: a list of names, e.g. [{value!r}]" for name, value in options.items() if isinstance(value, str)]
    if faults:
        raise BadInput.listing("options:", faults)


def _unread(data: Dataset, metrics: Sequence[str], criteria: Sequence[str]) -> tuple[str, ...]:
    """The reader's notes, without the columns that turned out to be metrics or criteria."""
    known = {column.name for column in SCHEMA["items"].columns} | {*metrics, *criteria}
    rest = [str(c) for c in data["items"].columns if c not in known]
    others = [note for note in data.notes if not note.startswith("items: columns that are not used")]
    return (*others, *([f"items: columns that are not used: {', '.join(rest)}"] if rest else []))


def _remarks(analysis: Analysis, trust: Any) -> tuple[str, ...]:
    panel = analysis.panel
    if not panel.scorers:
        return ()
    said = [
        f"{len(panel.scorers)} metrics were tried: the best of many looks better than it is"
        if len(panel.scorers) > 1 else "",
        f"not trusted: {', '.join(trust.untrusted)}" if trust.untrusted else "",
        "" if panel.has_systems else "no column system: no system level, no partial correlation",
    ]  # fmt: skip
    return tuple(filter(None, said))


def _method(analysis: Analysis, trust: Trust) -> tuple[str, ...]:
    panel = analysis.panel
    several, partial = len(panel.annotators) > 1, panel.has_systems and panel.scorers
    people = "the annotators' mean" if several else "the human score"
    of_metrics = (
        f"Correlations are with {people}. Levels: summary, the correlation over systems within a document, mean over documents "
        "where both vary; dataset, over all rows pooled; system, over the systems' means (Deutsch, Dror & Roth 2021).",
        *(f"{name}: {said}." for name, said in DEFINITIONS.items() if partial and "_" in name),
        "Comparisons: paired bootstrap over documents at summary and dataset level (p from Student's t); Williams' test "
        "(Pearson) at system level only, since pooled rows are not independent. Holm over the pairs of one criterion and level.",
        "Labels needed: ((z.975 + z.80) / (atanh r − atanh r0))² + 3 (Fisher 1921).",
        f"Trusted criteria: {', '.join(trust.trusted) or 'none'} ({trust.why}).",
    )
    return (
        f"Intervals: percentile bootstrap over {panel.n_documents} documents, the same resamples for every figure; of alpha over "
        "outputs; at system level over systems and documents (Boot-Both of Deutsch et al.), and none under ten systems.",
        *(["Ceiling: each annotator against the mean of the others, averaged over annotators."] if several else []),
        *(of_metrics if panel.scorers else ()),
    )
