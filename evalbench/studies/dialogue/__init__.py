"""How long are the dialogues: does the model solve a problem quickly, or keep a conversation going?

Input: the turns of sessions, one row each, with the role that speaks; optionally the time, whether the session's problem was
solved, the model, and the text.  A file of sessions that list their ``messages`` is read as it is.

Figures (method document ``handbook``, «Спецификация Chat: средняя длина диалога»): the mean number of the model's answers per
session.  A short session may be solved or given up: with ``resolved`` both are counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbench.core.result import Result
from evalbench.kit.collecting import several
from evalbench.kit.comparing import compare_groups, in_words
from evalbench.kit.grouping import carried
from evalbench.kit.options import Checks, stated, taken
from evalbench.kit.verdicts import MAX_UNSCORED, N_RESAMPLES, SEED
from evalbench.readers.dataset import Dataset
from evalbench.readers.schema import Column, Table
from evalbench.studies.dialogue.inputs import adapt, check_repeats, check_times, check_zone, prepared, roles_of
from evalbench.studies.dialogue.items import items_of, lengths
from evalbench.studies.dialogue.method import method, notes
from evalbench.studies.dialogue.pictures import (
    comparisons,
    outcomes,
    picture_lengths,
    picture_weeks,
    roles,
    weeks,
    worst,
)
from evalbench.studies.dialogue.summary import ORIENTATION, ORIENTATIONS, measures, rules_of, summarise
from evalbench.studies.dialogue.weeks import weeks_of

__all__ = [
    "QUESTION", "SCHEMA", "adapt", "check", "comparisons", "evaluate", "lengths", "measures", "needs", "outcomes",
    "picture_lengths", "picture_weeks", "roles", "summarise", "weeks", "weeks_of", "worst",
]  # fmt: skip

QUESTION = "How many answers of the model does a session take?"
SCHEMA: Mapping[str, Table] = {
    "turns": Table(
        (
            Column("session_id", "id", help="the conversation"),
            Column("turn", "int", required=False, help="its place in the session; without it the order of times or rows"),
            Column("role", "id", help="who speaks, such as user and assistant"),
            Column("ts", "ts", required=False, empty_ok=True, help="when; a time without a zone is UTC"),
            Column("resolved", "bool", required=False, empty_ok=True, help="whether the session's problem was solved; "
                   "where its rows differ, the last one's counts"),
            Column("model", "id", groups=True, required=False, empty_ok=True, help="which model answers"),
            Column("text", "text", required=False, empty_ok=True, keep_null=True, help="shown; a model's turn without one, "
                   "such as the call of a tool, is not an answer"),
        ),
        no_trials="a session is one conversation, and conversations are not repeated",
        help="one row per turn",
    )
}  # fmt: skip


def check(data: Dataset) -> None:
    """Refuse different rows at one place of a session, and times that no calendar has.

    Raises
    ------
    BadInput
    """
    check_repeats(data["turns"])
    check_times(data["turns"])


def needs(data: Dataset, *, model_roles: Sequence[str] = (), user_roles: Sequence[str] = ()) -> None:
    """Refuse a table in which no role is known as the model's."""
    roles_of(data["turns"]["role"], model_roles, user_roles)


def evaluate(
    data: Dataset,
    *,
    orientation: str = ORIENTATION,
    model_roles: Sequence[str] = (),
    user_roles: Sequence[str] = (),
    time_zone: str = "UTC",
    lights: Mapping[str, Mapping[str, float]] = {},
    max_unscored: float = MAX_UNSCORED,
    seed: int = SEED,
    n_resamples: int = N_RESAMPLES,
) -> Result:
    """Count the model's answers in every session.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="dialogue")``: table turns.
    orientation : {"goal", "discussion"}
        What the sessions are for: ``goal``, a problem to be solved in few answers, or ``discussion``, a conversation that goes on.
    model_roles : sequence of str
        Roles whose turns are the model's answers; by default the usual names.
    user_roles : sequence of str
        Roles whose turns are the user's; by default the usual names.
    time_zone : str
        Where weeks begin on Monday at midnight, such as ``Europe/Moscow``.
    lights : mapping of str to mapping, optional
        Thresholds instead of the document's, ``{"answers": {"green_to": 4, "yellow_to": 6}}``; in discussions ``green_from``
        and ``yellow_from``.  Also of ``answers_resolved`` and ``resolved``.  The worst light decides.
    max_unscored, seed, n_resamples
        See :func:`evalbench.kit.verdicts.worst_group`.

    Returns
    -------
    Result
        ``items``: one row per session and model.  ``tables``: ``turns`` in their order, ``roles``, ``weeks`` where dated, and
        with several models ``comparisons``.

    Raises
    ------
    BadInput
        For faults of the options, or a table in which no role is known as the model's.
    """
    options = stated(evaluate, locals())
    checks = Checks(options)
    checks.choice("orientation", orientation, ORIENTATIONS)
    checks.tried(lambda: check_zone(time_zone))
    if orientation in ORIENTATIONS:
        checks.tried(lambda: rules_of(orientation, lights))
    checks.refuse("dialogue")
    found = prepared(data["turns"], model_roles, user_roles)
    items = carried(items_of(found, time_zone), data, unit="session_id")
    summary = summarise(items, **taken(summarise, options))
    by_week = weeks_of(items, orientation, lights)
    paired = items["session_id"].duplicated(keep=False).mean() > 0.5
    compared = compare_groups(
        items, measures(orientation)[:1], "model", units="session_id", rank_by="answers", paired=bool(paired), seed=seed,
        n_resamples=n_resamples,
    )  # fmt: skip
    tables = {"turns": found.turns, "roles": found.roles}
    some = {"weeks": by_week, "comparisons": compared}
    models = sorted(set(items["model"]))
    return Result(
        study="dialogue",
        question=QUESTION,
        judged=several("model", models),
        parameters=options,
        data=data.label,
        id="session_id",
        by=("model",),
        items=items,
        summary=summary,
        tables=tables | {name: table for name, table in some.items() if len(table)},
        notes=(*in_words(compared, "model", "answers", len(models)), *data.notes, *notes(found, items, by_week)),
        method=method(orientation, lights, time_zone, bool(paired)),
    )
