"""May this judge be believed: how far does it agree with people, what is its figure worth, and what does it favour?

Input: recorded verdicts of one judge or several (0/1, marks, or preferences of pairs), one row each, and labels of people on some of
the answers, in a table of their own, as ``evalbench label merge`` writes it, or in a column ``human``.

Figures (method document ``handbook``, section 12; see also the method): agreement with people beside that of people among
themselves, the judge's rate beside the rate corrected by labels, whether it may replace an annotator, how many independent judges a
panel is worth, and probes: place, length, repeats, a constant answer, orders in answers, its own family, verdicts without a mark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalbench import core, kit, readers
from evalbench.judge.probe_plan import PROBES
from evalbench.studies.contract import offered
from evalbench.studies.judge_audit import beside, figures, inputs, learnt, live, method, noise, tables
from evalbench.studies.judge_audit.figures import measures as measures
from evalbench.studies.judge_audit.items import items_of
from evalbench.studies.judge_audit.summary import EPSILON, check_options, summarise

QUESTION = "May this judge be believed, for what may it be used, and for what not?"
MEASURED_BY = {
    **dict.fromkeys(("humans", "null_model", "kinds_in_order", "epsilon"), ("*",)),
    "probes": (),
    "repeats": ("repeat_equal",),
    "null_texts": ("null_answer",),
}
JUDGED_OPTIONS = ("judge", "judge_prompt", "judge_max_tokens", "judge_temperature", "judged_at", "criteria_file")


def evaluate(
    data: readers.Dataset,
    *,
    judge: str | Callable[[dict[str, Any]], object] = "",
    criteria_file: str = "",
    probes: Sequence[str] = PROBES,
    repeats: int = 2,
    null_texts: Sequence[str] = (),
    judge_prompt: str = "",
    judge_temperature: float = 0.0,
    judge_max_tokens: int = 1024,
    judged_at: str = "",
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    humans: Sequence[str] = (),
    null_model: str = "",
    kinds_in_order: Sequence[str] = (),
    labels_drawn: str = figures.DRAWN,
    epsilon: float = EPSILON,
    green_from: float = figures.GREEN_FROM,
    yellow_from: float = figures.YELLOW_FROM,
    lights: Mapping[str, Mapping[str, float]] = {},
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Audit judges by their recorded verdicts.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="judge_audit")``: table verdicts, and labels if wanted.
    judge : str or callable
        A judge that is asked now about the table items, or the answers of recorded verdicts, see :func:`evalbench.judge.verdicts.judge`.
    criteria_file : str
        YAML file of what it marks by, see :func:`evalbench.judge.criteria.read_criteria`; of pairs name and definition alone.
    probes : sequence of {"injected", "null"}
        What it is asked besides the answers as they are: answers with an order to praise them, and constant texts.
    repeats : int
        How often it is asked for each answer as it is.
    null_texts : sequence of str
        Constant texts of your own, besides ours.
    judge_prompt, judge_temperature, judge_max_tokens
        Your own prompt ``mark`` (of pairs ``pairwise``), a file or a folder; of a language model's verdicts; the longest verdict of a language model.
    judged_at : str
        A name for this judging, such as ``2026-11``: verdicts given under another one are not taken from the cache, so that
        a judge that changed in silence is seen.
    sample_method, n_samples, random_state
        See :func:`evalbench.kit.sampling.sample_ids`.
    humans, null_model
        Names in the column judge that are people, whose verdicts are labels; the system whose answers are one constant text.
    kinds_in_order : sequence of str
        The words that marks are, from the lowest to the highest, such as ``["unsafe", "unclear", "safe"]``; empty: kinds without an
        order.
    labels_drawn : {"auto", "random", "elsewhere", "probability"}
        How the labelled answers were chosen: ``random``, a random part; ``elsewhere``, by their class or from another sample;
        ``probability``, by the labels' column probability; ``auto``: by that column where there is one, else random.
    epsilon : float
        By how much a judge may be worse than an annotator, since it costs less (0–1): 0.2 of experts, 0.15 of trained
        annotators, 0.1 of a crowd.
    green_from, yellow_from : float
        Agreement with people that is green, at or above; yellow from here, red below.
    lights : mapping of str to mapping
        Thresholds of the probes, such as ``{"first_slot": {"green_to": 0.05, "yellow_to": 0.1}}``: of ``first_slot`` the distance
        from ½, of ``length_bias`` and ``family_gap`` that from 0.
    max_unscored, seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per answer, criterion and judge.  ``tables``: ``agreement``, ``replacing``, ``rates``, ``probes``, ``panel``,
        ``alike``, ``confusion``, ``kinds``, ``costs``, ``unparsed``, ``texts``, ``reasons``; ``beside`` where a judge looks things up.  ``files``: ``correction.json``, for studies that rest on the judge, and
        ``anchors.jsonl``: the labelled answers with the judge's marks, by which its drift is measured.

    Raises
    ------
    BadInput
        For faults of the tables or the options, all at once.
    """
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    asked_by = live.criteria_of(checks, data, options, judge)
    check_options(checks)
    checks.refuse("judge_audit")
    with core.judging_time.judging(judged_at):
        heard = live.heard(data, asked_by, **{**kit.taken(live.heard, options), "judge": judge})
    data = heard.data
    readings = inputs.read(data, humans, kinds_in_order, at_random=labels_drawn in (figures.DRAWN, "random"))
    if labels_drawn == figures.DRAWN:
        labels_drawn = "probability" if readings.labels["probability"].notna().any() else "random"
    options["labels_drawn"] = labels_drawn
    items, remarks = items_of(readings, null_model=null_model, labels_drawn=labels_drawn)
    items = kit.grouping.carried(items, data)
    summary = summarise(items, **kit.taken(summarise, options))
    judges = readings.verdicts["judge"].unique()
    looked_up = beside.beside_of(items, seed=seed, n_resamples=n_resamples)
    return kit.result_of(
        evaluate,
        data,
        options,
        items,
        by=("judge",),
        judged=kit.collecting.several("judge", judges),
        summary=summary,
        items_of="answers × judges",
        tables={
            **tables.tables_of(items, summary, readings, **kit.taken(tables.tables_of, options)),
            **heard.tables,
            **({"beside": looked_up} if len(looked_up) else {}),
        },
        notes=(
            *data.notes,
            *heard.notes,
            *readings.notes,
            *remarks,
            *method.notes(items, readings, labels_drawn),
            *beside.notes_of(looked_up),
        ),
        method=method.described(items, options),
        accounting=heard.accounting,
        files=learnt.files_of(items, readings, data.label, heard.versions(), judged_at),
        trials=noise.noise_of(items, readings),
    )


globals().update(offered(__name__))
