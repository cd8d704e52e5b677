"""The result of a study, composed of what every study has and what is its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalbench.core.result import DataLabel, Result, Summary
from evalbench.kit import answering
from evalbench.kit.collecting import accounting_of, calls_of, several, with_items
from evalbench.kit.evidence import without_width
from evalbench.kit.options import taken

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.kit.judging import Heard
    from evalbench.kit.stopping import Stopped
    from evalbench.models.exchange import Reply
    from evalbench.readers.dataset import Dataset


def result_of(
    evaluate: Callable[..., Result],
    data: Dataset | DataLabel,
    options: Mapping[str, Any],
    items: pd.DataFrame,
    *,
    id: str = "id",
    by: Sequence[str] = ("model",),
    judged: str = "",
    summary: Summary | None = None,
    tables: Mapping[str, pd.DataFrame] = {},
    some: Mapping[str, pd.DataFrame | None] = {},
    notes: Iterable[str | None],
    method: Iterable[str] = (),
    replies: Sequence[Reply] = (),
    heard: Sequence[Heard] = (),
    spent: Iterable[Mapping[str, Any]] = (),
    stopped: Stopped | None = None,
    counted: tuple[str, str] = ("question", "mean"),
    **own: Any,
) -> Result:
    """The result of a study; its name, question and summary are those of the module of ``evaluate``.

    Parameters
    ----------
    evaluate : callable
        The study's; its module has ``QUESTION`` and ``summarise``.
    options : mapping
        Every option as it ran, see :func:`evalbench.kit.options.stated`, and what the figures rest on besides.
    id, by, tables, notes, method
        Of the :class:`~evalbench.core.result.Result`.
    judged : str
        By default the groups of the first column of ``by``, by their names.
    summary : Summary, optional
        By default that of the items with those of the options that ``summarise`` takes.
    some : mapping of str to DataFrame or None
        Tables that are left out where they have no rows.
    replies, heard
        What models and judges answered: the table ``calls``, and what they cost.
    spent : iterable of mapping
        Further accounts.
    stopped : Stopped, optional
        Where asking stopped early: the tables of the evidence, its method, the plan.
    counted : (str, str)
        What was asked and its figure, in words, for the sentence of how it stopped.
    **own
        Further fields of the result.
    """
    from evalbench.models.accounting import merged

    study = inspect.unwrap(evaluate).__globals__
    summarise = study["summarise"]
    kept = {name: table for name, table in some.items() if table is not None and len(table)}
    if stopped is not None:
        from evalbench.kit.stopping import METHOD

        kept, method = {**kept, **stopped.tables()}, (*method, METHOD)
        own = {"stopping": stopped.to_json(*counted), "files": stopped.files(), **own}
    summary = summary or summarise(items, **taken(summarise, options))
    result = Result(
        study=evaluate.__module__.rpartition(".")[2],
        question=study["QUESTION"],
        judged=judged or several(by[0], items[by[0]]),
        parameters=options,
        data=data if isinstance(data, DataLabel) else data.label,
        read_as={} if isinstance(data, DataLabel) else {name: own for name, own in data.read_as.items() if own},
        id=id,
        by=tuple(by),
        items=items,
        summary=summary,
        tables=_with_items({**tables, **kept, **calls_of(replies, heard)}, items[id]),
        notes=(*filter(None, notes), *without_width(summary)),
        method=tuple(method),
        **{"accounting": merged([accounting_of(replies, heard), *spent]), **own},
    )
    return answering.with_answer(result, study.get("answer"))


def _with_items(tables: dict[str, pd.DataFrame], ids: pd.Series) -> dict[str, pd.DataFrame]:
    """The tables, in which calls say for which items they were made."""
    calls = tables.get("calls")
    return tables if calls is None else {**tables, "calls": with_items(calls, ids)}
