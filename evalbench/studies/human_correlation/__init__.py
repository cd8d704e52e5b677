"""Can an automatic metric stand in for annotators?

Input: outputs of systems on documents, human scores by criterion (a column per criterion, or long with annotator,
criterion, mark) or comparisons of two outputs, and ready-made metric columns; metrics that are no column are computed by
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

from collections.abc import Mapping, Sequence
from typing import Any

from evalbench import core, errors, kit, readers
from evalbench.judge.verdicts import InProcess
from evalbench.studies.contract import offered
from evalbench.studies.human_correlation import inputs, items, method, panels, summary, tables, trust
from evalbench.studies.human_correlation.label_tables import adapt as adapt

QUESTION = "Can an automatic metric stand in for annotators?"
_HEADLINE = ("trusted_mean", "ceiling")
MEASURED_BY = {
    **dict.fromkeys(("criteria", "max_ci_width"), ()),
    **dict.fromkeys(("own_criterion", "trusted", "trust_from", "level", "coefficient"), _HEADLINE),
    "lower_is_better": ("*",),
}
JUDGED_OPTIONS = ("judges", "judge_criteria", "judge")


def needs(data: readers.Dataset, *, metrics: Sequence[str] | str, criteria: Sequence[str]) -> None:
    """Refuse tables without human scores, and columns of scores that are not numbers."""
    if not isinstance(criteria, str):
        inputs.read(data, () if isinstance(metrics, str) else metrics, criteria)


def evaluate(
    data: readers.Dataset,
    *,
    metrics: Sequence[str] | str = kit.choosing.AUTO,
    criteria: Sequence[str] = (),
    judges: Sequence[str | InProcess] = (),
    judge_criteria: Mapping[str, Mapping[str, Any]] | None = None,
    own_criterion: Mapping[str, str] | None = None,
    trusted: Sequence[str] = (),
    trust_from: float = trust.TRUST_FROM,
    level: str = panels.LEVEL,
    coefficient: str = panels.COEFFICIENT,
    green_from: float = summary.GREEN_FROM,
    yellow_from: float = summary.YELLOW_FROM,
    max_ci_width: float = summary.MAX_CI_WIDTH,
    lower_is_better: Sequence[str] = (),
    language: str = "",
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
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Correlate metrics with human scores.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="human_correlation")``.
    metrics : "auto" or sequence of str
        Columns of the table, or names of the registry's text metrics, a column before a name; ``auto``: the columns of
        numbers that are not criteria, and ``meteor``, ``sacrebleu``, ``rouge1`` where answer and reference are there.
        With neither metrics nor judges the study is of the annotators' agreement alone.
    criteria : sequence of str
        Human criteria; needed where each is a column, else by default all.
    judges : sequence of str or callable
        Judges that mark every output by ``judge_criteria``, e.g. ``["openai/gpt-4o"]``; each gives a metric ``JUDGE: CRITERION``.
        ``recorded:FILE`` (by ``id/model``) and functions too, see :func:`evalbench.judge.verdicts.judge`.
    judge_criteria : mapping
        What they mark: ``{"accuracy": {"definition": "…", "scale": {"0": "…", "1": "…"}, "basis": "reference"}}``.
        ``scale`` says of each mark when it is given.  Optional are ``examples``, and ``basis`` (``"reference"`` or
        ``"contexts"``): the column that the judge is shown beside the output.
    own_criterion : mapping
        Metric → the only criterion that it is compared with, such as ``{"openai/gpt-4o: fluency": "fluency"}``.  A metric
        that is not named is compared with every criterion.
    trusted, trust_from
        Criteria of the headline, fixed beforehand (empty: by the annotators' agreement); ordinal alpha from which a criterion is trusted.
    level : {"auto", "summary", "dataset", "system"}
        Of the headline: ``summary``, ``dataset``, ``system``; ``auto``: summary where documents have several outputs.
    coefficient : {"spearman", "kendall", "pearson"}
    green_from, yellow_from : float
        Green from here; yellow from here, red below.  Of a metric of which less is better, the negative is judged, and the note says so.
    max_ci_width, lower_is_better
        A wider interval makes a light grey, and so do fewer than 20 documents; ready-made metrics where lower is
        better, while those of the registry state it themselves.
    language : str
        ISO code of the stop-words, stemmer and sentences of computed metrics; empty for mixed languages.
    normalise, references, stem, sentence_split, meteor_synonyms, bleu_tokenize, embed, bert_model, bert_layers, judge
        For metrics that are computed; see :func:`evalbench.kit.metric_options.metrics_of`.
    max_unscored : float
        More unscored outputs than this share make a metric's light grey.

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
    judge_criteria, own_criterion = judge_criteria or {}, own_criterion or {}
    parameters = kit.stated(evaluate, locals())
    checks = kit.Checks(parameters)
    alone = isinstance(metrics, str) and metrics != kit.choosing.AUTO
    checks.that(not alone, f"metrics must be a list of names, such as [{metrics!r}]")
    summary.check_options(checks)
    checks.refuse("human_correlation")
    options = {**parameters, "judge": judge}
    metrics, chosen = inputs.automatic(data, criteria, options) if isinstance(metrics, str) else (metrics, ())
    readings = inputs.read(data, metrics, criteria)
    marked = items.criteria_of(judges, judge_criteria, list(readings.frame.columns))
    found, heard = items.scores_of(readings.frame, metrics, judges, marked, options)
    if not found.unscored and readings.ratings["annotator"].nunique() < 2:
        left = "; a column of numbers that is left out of criteria can be a metric" if criteria else ""
        lone = "neither a metric nor a judge is there, and there is one human score for each output: nothing to compare"
        way = "; what needs the output alone: -p 'metrics=[\"length\"]'" if "answer" in readings.frame else ""
        raise errors.BadInput("\n".join([lone + left + way, *chosen]))
    names = sorted(found.unscored)
    items.check_metrics(own_criterion, lower_is_better, names, readings.criteria)
    scored = kit.grouping.carried(items.items_of(readings, found, own_criterion), data, unit="id")
    core.progress.at(f"correlations, {n_resamples} resamples")
    panel, terms = summary.settled(scored, options)
    used = {*metrics, *readings.criteria, *readings.people, *inputs.side_columns(metrics)}
    return kit.result_of(
        evaluate,
        data,
        {**parameters, "metrics": items.recorded(metrics, found), "criteria": list(readings.criteria)},
        scored,
        id="id",
        by=("scorer", "criterion") if names else ("criterion",),
        judged=kit.collecting.several("metric", names) if names else "the annotators' agreement",
        summary=summary.summarise(scored, **kit.taken(summary.summarise, parameters))
        if data.grouping.slices
        else summary.summary_of(panel, terms),
        items_of="outputs"
        + " × metrics" * bool(names)
        + " × criteria" * (not names or not set(names) <= {*own_criterion}),
        tables={
            **tables.tables_of(panel, terms.trusted, yellow_from),
            "texts": readings.frame,
            **kit.scoring.calls_of(found, heard=heard),
        },
        notes=(*data.notes_beside(used), *readings.notes, *found.notes, *chosen, *method.remarks(panel, terms)),
        method=(
            *method.described(panel, terms),
            *kit.metric_options.ways_of(items.computed(readings.frame, items.recorded(metrics, found)), options),
        ),
        accounting=kit.scoring.accounting_of(found, options, heard=heard),
    )


globals().update(offered(__name__))
