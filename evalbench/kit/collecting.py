"""What is judged: the table's own texts, or texts that a model is asked for with a prompt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.kit.answers import answer_of, why_unscored
from evalbench.readers import nameless

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import BaseModel

    from evalbench.kit.judging import Heard
    from evalbench.models.exchange import Reply
    from evalbench.models.prompts import Prompt

Row = Mapping[str, Any]
UNNAMED = nameless.UNNAMED
"""The group of what no row names a model for; in every study, and not to be read as a model's name."""


def collected(
    rows: pd.DataFrame,
    column: str,
    task: str,
    fields: Callable[[Row], Row],
    *,
    model: str = "",
    purpose: str = "",
    **settings: Any,
) -> tuple[pd.DataFrame, list[Reply]]:
    """The texts that are judged: the table's own, or where a model is named one for each id, asked with a prompt.

    Parameters
    ----------
    rows : DataFrame
    column : str
        Where the texts are.
    task, fields, settings
        See :func:`asked`; ``**taken(asked, options)`` hands it the options of a study.
    model : str
        Who is asked; without one the texts are the table's own.
    purpose : str
        What the texts are called in the table of calls and in messages, if not as their column.

    Returns
    -------
    DataFrame
        The rows with ``model``, their text, and ``unscored``: why there is none.
    list of Reply
        Empty where no model was asked.

    Raises
    ------
    BadInput
        If no model is named and the table has no such column.
    """
    import pandas as pd

    if not model:
        own = given(rows, column, f"{purpose or column}s")
        return own.assign(unscored=why_unscored(own[column])), []
    first = rows.drop_duplicates("id")
    replies = asked(first, model, task, fields, purpose=purpose or column, **settings)
    texts = pd.Series([answer_of(reply) for reply in replies], first.index, dtype=object)
    found = first.assign(model=model, unscored=why_unscored(texts, replies))
    found[column] = texts
    return found, replies


def given(frame: pd.DataFrame, column: str, what: str) -> pd.DataFrame:
    """The table's own texts, each with a ``model``.

    Parameters
    ----------
    column : str
        Where the texts are.
    what : str
        The texts in words, such as ``"answers"``.

    Raises
    ------
    BadInput
        If the table has no such column.

    Examples
    --------
    >>> import pandas as pd
    >>> given(pd.DataFrame({"id": ["1"], "answer": ["yes"]}), "answer", "answers")["model"].tolist()
    ['model not named']
    """
    if column not in frame:
        raise BadInput(f"the table has no column {column}; give one, or a model to collect {what} from (--model)")
    return frame if "model" in frame else frame.assign(model=UNNAMED)


def asked(
    rows: pd.DataFrame | Iterable[Row],
    model: str,
    task: str,
    fields: Callable[[Row], Row],
    *,
    purpose: str,
    prompt: str = "",
    temperature: float = 0.0,
    max_tokens: int | None = None,
    seed: int | None = None,
    schema: type[BaseModel] | None = None,
    samples: int = 1,
) -> list[Reply]:
    """One reply per row, or several, asked in the row's language where the prompt exists in it, otherwise in English.

    Replies are cached: a second run asks only for what is missing.

    Parameters
    ----------
    rows : DataFrame or iterable of mapping
        With ``id`` and, if wanted, ``lang``.
    task : str
        The name of a shipped prompt.
    fields : callable
        From a row to what the prompt shows.
    purpose : str
        What the table of calls says that they were for.
    prompt : str
        Your own prompt: a file ``NAME.LANGUAGE.jinja`` or a folder of such files.  Beside a file its other
        languages are looked for.
    temperature : float
        Of the replies.
    max_tokens : int, optional
        The longest reply.
    seed : int, optional
        What is sent with every question.
    schema : type of pydantic.BaseModel, optional
        The value that each reply must hold.
    samples : int
        Replies per row; each is asked and kept on its own, and where a seed is given has its own, ``seed + sample``.

    Returns
    -------
    list of Reply
        In the order of the rows, a row's samples one after another.
    """
    from evalbench.models.chat.collect import collect
    from evalbench.models.exchange import Request, as_messages
    from evalbench.models.prompts import load_prompt, prompt_language

    known: dict[str, Prompt] = {}
    requests = []
    records: Any = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
    for row in records:
        wanted = str(row.get("lang") or "")
        if wanted not in known:
            known[wanted] = load_prompt(task, prompt_language(task, wanted, prompt), prompt or None)
        template = known[wanted]
        messages = as_messages(template.render(**fields(row)))
        requests += [
            Request(
                messages,
                temperature=temperature,
                max_tokens=max_tokens,
                seed=seed,
                schema=schema,
                sample=sample,
                item_id=str(row["id"]),
                purpose=purpose,
                prompt_hash=template.sha256,
            )
            for sample in range(samples)
        ]
    return collect(requests, model)


def calls_of(replies: Sequence[Reply], heard: Iterable[Heard] = ()) -> dict[str, pd.DataFrame]:
    """The table ``calls`` of what models and judges were asked, for ``Result.tables``; empty where nothing was asked."""
    import pandas as pd

    from evalbench.models.accounting import calls_table

    calls = [*([calls_table(replies)] if replies else []), *(table for each in heard for table in each.calls)]
    return {"calls": pd.concat(calls, ignore_index=True)} if calls else {}


def called(heard: Iterable[Heard], ids: Iterable[Any], replies: Sequence[Reply] = ()) -> dict[str, pd.DataFrame]:
    """The table of :func:`calls_of`, in which calls say for which of these items they were made."""
    return {name: with_items(calls, ids) for name, calls in calls_of(replies, heard).items()}


def with_items(calls: pd.DataFrame, ids: Iterable[Any]) -> pd.DataFrame:
    """Calls with a column ``asked_for``: the items that rest on each, where the call's own name does not begin with the id and a bar.

    What says it already stays; other names are cut at a slash or a blank until one is an item's. Without any the calls are as given.

    Examples
    --------
    >>> import pandas as pd
    >>> with_items(pd.DataFrame({"item_id": ["q1/tone/a", "q2|oak", "?"]}), ["q1", "q2"])["asked_for"].tolist()
    [['q1'], [], []]
    """
    import pandas as pd

    known = {str(one) for one in ids}
    named = {name: _items_of(str(name), known) for name in calls["item_id"].unique()}
    given = calls["asked_for"] if "asked_for" in calls else [None] * len(calls)
    whose = [
        list(own) if isinstance(own, list) and own else named[name]
        for own, name in zip(given, calls["item_id"], strict=True)
    ]
    return calls.assign(asked_for=pd.Series(whose, calls.index, dtype=object)) if any(whose) else calls


def _items_of(name: str, known: Collection[str]) -> list[str]:
    if name.partition("|")[0] in known:
        return []
    while name and name not in known:
        name = name[: max(name.rfind("/"), name.rfind(" "), 0)].rstrip()
    return [name] if name else []


def accounting_of(replies: Sequence[Reply], heard: Iterable[Heard] = ()) -> dict[str, Any]:
    """What models and judges cost, for ``Result.accounting``; empty where nothing was asked."""
    from evalbench.models.accounting import accounting, merged

    return merged([*([accounting(replies)] if replies else []), *(each.accounting for each in heard)])


def several(what: str, names: Iterable[str]) -> str:
    """Who was judged, in words, for ``Result.judged``.

    Examples
    --------
    >>> several("model", ["b", "a", "b"]), several("model", ["a"])
    ('2 models: a, b', 'model a')
    >>> several("model", [UNNAMED])
    'a model that the table does not name'
    """
    distinct = sorted(set(names))
    if distinct in ([UNNAMED], [f"{what} not named"]):
        return f"a {what} that the table does not name"
    between = "; " if any(", " in name for name in distinct) else ", "
    return f"{what} {distinct[0]}" if len(distinct) == 1 else f"{len(distinct)} {what}s: {between.join(distinct)}"
