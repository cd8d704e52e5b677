"""Can an automatic metric stand in for annotators?

Input: outputs of systems on documents, human scores by criterion (a column per criterion, or long with annotator,
criterion, score), and ready-made metric columns; metrics that are no column are computed by the registry.

Figures, for each metric × criterion: Spearman, Kendall's tau-b and Pearson with the mean of the annotators, at three
levels that are always named: *summary* (over systems within each document, then mean over documents), *dataset* (all rows
pooled), *system* (means of systems); intervals from resampled documents.  Beside them: the annotators' own agreement
(Krippendorff's alpha, Cohen's kappa), the ceiling (one annotator against the mean of the others), the partial correlation
with the system held fixed, comparisons of metrics, and how many items would be needed.

Sources: Deutsch, Dror & Roth 2021 (levels, bootstrap); Graham & Baldwin 2014 (Williams' test); Krippendorff 2011;
Fisher 1921 (sample size).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.readers.dataset import Dataset
from evalbench.readers.schema import Column, Table
from evalbench.studies._passing import check_resamples, check_shares
from evalbench.studies.human_correlation.analysis import Analysis, analyse
from evalbench.studies.human_correlation.cases import disagreements
from evalbench.studies.human_correlation.judging import Bench, bench_of
from evalbench.studies.human_correlation.pictures import (
    agreement,
    best_comparisons,
    documents_needed,
    figure_agreement,
    figure_criterion,
    figure_heat_map,
    figure_scatter,
    labels_needed,
    matrix,
    partials,
    undefined,
)
from evalbench.studies.human_correlation.reading import Readings, items_of, read
from evalbench.studies.human_correlation.summary import summarise, summary_of
from evalbench.studies.human_correlation.tables import (
    agreement_table,
    comparison_table,
    correlation_frame,
    label_plan,
    system_plan,
)
from evalbench.studies.human_correlation.trust import Judge, bands_of, trust_of
from evalbench.studies.human_correlation.weighted import weighted
from evalbench.studies.text_metrics.scoring import by_synonyms, stages_of

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.judge.verdicts import InProcess

__all__ = [
    "METRICS", "QUESTION", "SCHEMA", "agreement", "best_comparisons", "disagreements", "documents_needed", "evaluate",
    "figure_agreement",
    "figure_criterion", "figure_heat_map", "figure_scatter", "labels_needed", "matrix", "partials", "summarise", "undefined",
    "weighted",
]  # fmt: skip

QUESTION = "Can an automatic metric stand in for annotators?"
METRICS = (
    "f1_score", "jaccard_similarity", "rouge1", "rouge2", "rougeL", "chrf", "sacrebleu",
    "sentence_transformers_similarity", "request_similarity", "length", "language_match",
)  # fmt: skip

SCHEMA: Mapping[str, Table] = {
    "items": Table(
        (
            Column("doc_id", "id"),
            Column("system", "id", required=False),
            Column("output", "text", required=False, empty_ok=True, keep_null=True, help="null: unscored"),
            Column("reference", "texts", required=False, empty_ok=True),
            Column("context", "texts", required=False, empty_ok=True),
            Column("prompt", "text", required=False, empty_ok=True, help="the request"),
            Column("samples", "texts", required=False, empty_ok=True),
            Column("annotator", "id", required=False),
            Column("criterion", "id", required=False),
            Column("score", "float", required=False, empty_ok=True),
        ),
        help="one row per document and system, with a column per criterion and per ready-made metric; "
        "or one row per human score, with annotator, criterion, score",
    ),
    "ratings": Table(
        (
            Column("doc_id", "id"),
            Column("system", "id", required=False),
            Column("annotator", "id"),
            Column("criterion", "id"),
            Column("score", "float", empty_ok=True),
        ),
        required=False,
        help="one row per human score",
    ),
}


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
    trusted: Sequence[str] = (),
    trust_from: float = 0.4,
    level: str = "auto",
    coefficient: str = "spearman",
    green_at: float = 0.7,
    yellow_at: float = 0.4,
    max_ci_width: float = 0.5,
    lower_is_better: Sequence[str] = (),
    language: str = "en",
    normalise: str = "full",
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
        Columns of the table, or names of the registry's text metrics; a column goes first.
    criteria : sequence of str
        Human criteria; needed where each is a column, else by default all.
    judges : sequence of str or callable
        Judges that mark every output by each of ``judge_criteria``, see :func:`evalbench.judge.verdicts.judge`: chat models,
        ``recorded:FILE`` by ``doc_id/system``, functions.  Each gives a metric ``JUDGE: CRITERION``.
    judge_criteria : mapping
        Criterion → ``definition``, ``scale`` (mark → when it is given), and if wanted ``examples`` and ``basis``
        (``"reference"`` or ``"context"``: the column that the judge is shown beside the output).
    trusted, trust_from, level, coefficient, green_at, yellow_at, max_ci_width, lower_is_better
        See :func:`summarise`.
    language, normalise, meteor_synonyms, bleu_tokenize, embed, bert_model, bert_layers, judge
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
    bands = bands_of(yellow_at, green_at)
    if not (metrics or judges) or isinstance(metrics, str) or isinstance(judges, str):
        raise BadInput(
            "metrics must be a list of columns or of names of metrics, judges a list: at least one of either"
        )
    _check_lists(criteria=criteria, trusted=trusted, lower_is_better=lower_is_better)
    check_shares(max_unscored=max_unscored)
    check_resamples(n_resamples)
    metrics = _computed_by_synonyms(data, metrics, meteor_synonyms, language)
    readings = read(data, metrics, criteria)
    options = {
        "language": language, "normalise": normalise, "tokenize": bleu_tokenize, "embed": embed,
        "bert_model": bert_model, "num_layers": bert_layers, "judge": judge,
    }  # fmt: skip
    bench = bench_of(judges, judge_criteria or {}, list(readings.frame.columns), language=language, seed=seed)
    found = _scores(readings, metrics, options, bench)
    items = items_of(readings, found.scores, found.unscored, found.undefined)
    analysis = analyse(items, level=level, coefficient=coefficient, seed=seed, n_resamples=n_resamples)
    trust = trust_of(analysis, trusted, trust_from)
    lower = tuple(lower_is_better)
    strangers = sorted(set(lower) - set(analysis.panel.scorers))
    if strangers:
        raise BadInput(
            f"lower_is_better: {', '.join(strangers)} not among {', '.join(analysis.panel.scorers)}"
        )
    figures = summary_of(analysis, Judge(bands, max_ci_width, lower, max_unscored), trust)
    names = list(analysis.panel.scorers)
    return Result(
        study="human_correlation",
        question=QUESTION,
        judged=f"metric {names[0]}" if len(names) == 1 else f"{len(names)} metrics: {', '.join(names)}",
        parameters={
            "metrics": list(metrics), "criteria": list(readings.criteria),
            "judges": [name if isinstance(name, str) else "a function" for name in judges],
            "judge_criteria": {k: dict(v) for k, v in (judge_criteria or {}).items()}, "trusted": list(trusted),
            "trust_from": trust_from, "level": level, "coefficient": coefficient, "green_at": green_at,
            "yellow_at": yellow_at, "max_ci_width": max_ci_width, "lower_is_better": list(lower),
            **{k: v for k, v in options.items() if k not in ("tokenize", "num_layers", "judge")},
            "meteor_synonyms": meteor_synonyms, "bleu_tokenize": bleu_tokenize, "bert_layers": bert_layers,
            "judge": judge if isinstance(judge, str) else "a function", "max_unscored": max_unscored, "seed": seed,
            "n_resamples": n_resamples,
        },
        data=data.label,
        id="doc_id",
        by=("scorer", "criterion"),
        items_of="outputs × metrics × criteria",
        items=items,
        figures=figures,
        tables={
            "correlations": correlation_frame(analysis, lower),
            "agreement": agreement_table(analysis, trust),
            "comparisons": comparison_table(analysis, lower),
            "label_plan": label_plan(analysis, lower, yellow_at),
            "system_plan": system_plan(analysis),
            "texts": readings.frame,
            **found.tables,
        },
        notes=(*_unread(data, names, readings.criteria), *readings.notes, *found.notes, *_remarks(analysis, trust)),
        method=(*_method(analysis, trust), *stages_of(_computed(readings.frame, metrics), language)),
        accounting=found.accounting,
    )  # fmt: skip


def _computed(frame: pd.DataFrame, metrics: Iterable[str]) -> list[str]:
    """The metrics that are no columns of the table."""
    return [name for name in dict.fromkeys(metrics) if name not in frame.columns]


def _computed_by_synonyms(data: Dataset, metrics: Sequence[str], wanted: bool, language: str) -> list[str]:
    """The metrics with METEOR by synonyms where it is wanted; a column of the table keeps its name."""
    computed = _computed(data["items"], metrics)
    named = dict(zip(computed, by_synonyms(computed, wanted, language), strict=True))
    return [named.get(name, name) for name in metrics]


def _scores(readings: Readings, metrics: Sequence[str], options: Mapping[str, Any], bench: Bench) -> _Scores:
    """One column per metric: read from the table, computed by the registry, or marked by a judge."""
    from evalbench.studies.text_metrics.scoring import Scored, calls_of, chosen, roles, score_all

    frame = readings.frame
    ready = [name for name in dict.fromkeys(metrics) if name in frame.columns]
    computed = _computed(frame, metrics)
    entries = chosen(computed) if computed else []
    found = score_all(frame, entries, options) if entries else Scored()
    marks = bench.marks(frame)
    scores = {name: frame[name].to_numpy(dtype=float) for name in ready}
    unscored = {
        name: np.where(np.isnan(column), "no-value", "").astype(object) for name, column in scores.items()
    }
    return _Scores(
        scores | {e.name: found.columns[e.name] for e in entries} | marks.scores,
        unscored | {e.name: found.unscored[e.name] for e in entries} | marks.unscored,
        {e.name: found.undefined[e.name] for e in entries} | marks.undefined,
        (*found.notes, *marks.notes),
        calls_of(found, verdicts=marks.verdicts),
        roles("", found, options, verdicts=marks.verdicts),
    )


def _check_lists(**options: Sequence[str]) -> None:
    faults = [
        f"{name}: a list of names, e.g. [{value!r}]"
        for name, value in options.items()
        if isinstance(value, str)
    ]
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
    said = [
        f"{len(panel.scorers)} metrics were tried: the best of many looks better than it is"
        if len(panel.scorers) > 1 else "",
        f"not trusted: {', '.join(trust.untrusted)}" if trust.untrusted else "",
        "" if panel.has_systems else "no column system: no system level, no partial correlation",
    ]  # fmt: skip
    return tuple(filter(None, said))


def _method(analysis: Analysis, trust: Any) -> tuple[str, ...]:
    return (
        "Levels: summary, the correlation over systems within a document, mean over documents where both vary; dataset, "
        "over all rows pooled; system, over the systems' means (Deutsch, Dror & Roth 2021).",
        f"Intervals: percentile bootstrap over {analysis.panel.n_documents} documents, the same resamples for every figure.",
        "Ceiling: each annotator against the mean of the others, averaged over annotators.",
        f"Trusted criteria: {', '.join(trust.trusted) or 'none'} ({trust.why}).",
        "Comparisons: paired bootstrap over documents at summary and dataset level (p from Student's t); Williams' test "
        "(Pearson) at system level only, since pooled rows are not independent. Holm over the pairs of one criterion and level.",
        "Labels needed: ((z.975 + z.80) / (atanh r − atanh r0))² + 3 (Fisher 1921).",
    )
