"""How long are the dialogues: does the model solve a problem quickly, or keep a conversation going?

Input: the turns of sessions, one row each, with the role that speaks; optionally the time, whether the session's problem was
solved, the model, and the text.  A file of sessions that list their ``messages`` is read as it is.

Figures (method document ``handbook``, «Спецификация Chat: средняя длина диалога»): the mean number of the model's answers per
session.  A short session may be solved or given up: with ``resolved`` both are counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalbench import core, kit, readers
from evalbench.readers import Column, Table
from evalbench.studies.contract import offered
from evalbench.studies.dialogue import inputs, method
from evalbench.studies.dialogue.items import items_of
from evalbench.studies.dialogue.items import lengths as lengths
from evalbench.studies.dialogue.summary import (
    ORIENTATION,
    RESOLVED_FLOOR,
    check_options,
    compared_of,
    summarise,
    weeks_of,
)

QUESTION = "How many answers of the model does a session take?"
MEASURED_BY = {**dict.fromkeys(("orientation", "model_roles", "user_roles"), ("*",)), "time_zone": ()}
SCHEMA: Mapping[str, Table] = {
    "turns": Table(
        (
            Column("session_id", "id", help="the conversation"),
            Column("turn", "int", required=False, help="its place in the session; without it the order of times or rows"),
            Column("role", "id", help="who speaks, such as user and assistant"),
            Column("time", "ts", required=False, empty_ok=True, help="when; a time without a zone is UTC", former=("ts",)),
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


def check(data: readers.Dataset) -> None:
    """Refuse different rows at one place of a session, and times that no calendar has.

    Raises
    ------
    BadInput
    """
    inputs.check_repeats(data["turns"])
    inputs.check_times(data["turns"])


def needs(data: readers.Dataset, *, model_roles: Sequence[str] = (), user_roles: Sequence[str] = ()) -> None:
    """Refuse a table in which no role is known as the model's."""
    inputs.roles_of(data["turns"]["role"], model_roles, user_roles)


def evaluate(
    data: readers.Dataset,
    *,
    orientation: str = ORIENTATION,
    model_roles: Sequence[str] = (),
    user_roles: Sequence[str] = (),
    time_zone: str = "UTC",
    lights: Mapping[str, Mapping[str, float]] = {},
    resolved_floor: float = RESOLVED_FLOOR,
    max_unscored: float = kit.MAX_UNSCORED,
    seed: int = kit.SEED,
    n_resamples: int = kit.N_RESAMPLES,
) -> core.Result:
    """Count the model's answers in every session.

    Parameters
    ----------
    data : Dataset
        ``load(…, study="dialogue")``: table turns.
    orientation : {"goal", "discussion"}
        What the sessions are for: ``goal``, a problem to be solved in few answers, or ``discussion``, a conversation that goes on.
    model_roles, user_roles : sequence of str
        Roles whose turns are the model's answers, by default the usual names; roles whose turns are the user's, by default the usual names.
    time_zone : str
        Where weeks begin on Monday at midnight, such as ``Europe/Moscow``.
    lights : mapping of str to mapping, optional
        Thresholds instead of the document's, ``{"answers": {"green_to": 4, "yellow_to": 6}}``; in discussions ``green_from``
        and ``yellow_from``.  Also of ``answers_resolved`` and ``resolved``.  The worst light decides.
    resolved_floor : float
        Share of resolved sessions (0–1) below which sessions with a goal are at best yellow; 0, the document's rule: whatever it is.
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
    options = kit.stated(evaluate, locals())
    checks = kit.Checks(options)
    checks.tried(lambda: inputs.check_zone(time_zone))
    check_options(checks)
    checks.refuse("dialogue")
    found = inputs.prepared(data["turns"], model_roles, user_roles)
    items = kit.grouping.carried(items_of(found, time_zone), data, unit="session_id")
    summary = summarise(items, **kit.taken(summarise, options))
    by_week = weeks_of(items, orientation, lights)
    paired = items["session_id"].duplicated(keep=False).mean() > 0.5
    own, figures, unknown = compared_of(items, orientation, max_unscored)
    compared = kit.comparing.compare_groups(
        own, figures, "model", units="session_id", rank_by=figures[0].metric, paired=bool(paired), seed=seed,
        n_resamples=n_resamples,
    )  # fmt: skip
    models = sorted(set(items["model"]))
    return kit.result_of(
        evaluate,
        data,
        options,
        items,
        id="session_id",
        summary=summary,
        tables={"turns": found.turns, "roles": found.roles},
        some={"weeks": by_week, "comparisons": compared},
        notes=(
            *unknown,
            *(said for f in figures for said in kit.comparing.in_words(compared, "model", f.metric, len(models))),
            *data.notes,
            *method.notes(found, items, by_week),
        ),
        method=method.described(orientation, lights, time_zone, bool(paired)),
    )


globals().update(offered(__name__))
