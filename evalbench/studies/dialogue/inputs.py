"""The table of turns: who speaks, in which order, and what is odd about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import errors, kit, readers

MODEL_ROLES = ("assistant", "ai", "bot", "chatbot", "gpt", "llm", "model", "ассистент", "бот", "модель", "助手")
USER_ROLES = ("user", "human", "client", "customer", "клиент", "пользователь", "用户")
LISTS = ("messages", "conversation", "conversations")
LOGGED = {"text": ("content", "message"), "time": ("created_at", "timestamp")}
KEY = ["session_id", "turn", "role"]


class Turns(NamedTuple):
    """The turns of all sessions in their order.

    - ``turns``: With ``speaker`` (``model``, ``user`` or ``other``), ``answer`` (whether the turn counts) and
      ``model``, empty where a session has several and the turn names none.
    - ``roles``: Each role: how it is read and how many turns it has.
    - ``guessed``: Whether the model's roles were found by their names.
    - ``counts``: What is odd, for the notes.
    """

    turns: pd.DataFrame
    roles: pd.DataFrame
    guessed: bool
    counts: Mapping[str, int]


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Sessions that list their messages (``role`` and ``content``, or ``from`` and ``value``) as one row per message.

    In a table of turns without ``text`` or ``time`` the columns of :data:`LOGGED` are these, with a note.
    """
    frame = frames.get("turns")
    if frame is not None and "role" in frame and not frame.columns.has_duplicates:
        return {**frames, "turns": _in_parts(_as_logged(frame))}
    listed = None if frame is None else next((name for name in LISTS if name in frame), None)
    if frame is None or listed is None or frame.columns.has_duplicates or not len(frame):
        return frames
    if not frame[listed].map(_is_messages).all():
        return frames
    return {**frames, "turns": _in_parts(_unfolded(frame, listed))}


def _in_parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Contents that come in parts as their texts; of parts without a text, such as a call of a tool, nothing."""
    if "text" not in frame or not (parts := frame["text"].map(readers.frames.are_objects)).any():
        return frame
    texts = [
        readers.replies.texts_of(cell)[0] if part else cell for cell, part in zip(frame["text"], parts, strict=True)
    ]
    out = frame.assign(text=pd.Series(texts, index=frame.index, dtype=object))
    out.attrs.update(frame.attrs)
    return out


def _as_logged(frame: pd.DataFrame) -> pd.DataFrame:
    pairs = ((own, next((name for name in names if name in frame), "")) for own, names in LOGGED.items())
    taken = {name: own for own, name in pairs if name and own not in frame}
    return readers.roles.noted(frame.rename(columns=taken), frame, taken)


def _is_messages(cell: Any) -> bool:
    return isinstance(cell, list) and all(isinstance(m, dict) and ("role" in m or "from" in m) for m in cell)


def _unfolded(frame: pd.DataFrame, listed: str) -> pd.DataFrame:
    first = next((name for name in ("session_id", "id", "conversation_id") if name in frame), None)
    rows = []
    for number, (_, row) in enumerate(frame.iterrows(), 1):
        own = {name: row[name] for name in ("resolved", "model", "time") if name in frame}
        for turn, message in enumerate(row[listed], 1):
            text = next((message[name] for name in ("content", "value", "text") if name in message), None)
            known = {name: message[name] for name in ("time", "model", "resolved") if name in message}
            known |= {"time": message["ts"]} if "ts" in message else {}
            name = row[first] if first else f"s{number:04}"
            role = message.get("role", message.get("from"))
            rows.append({"session_id": name, "turn": turn, "role": role, **own, "text": text, **known})
    return pd.DataFrame(rows, dtype=object)


def check_zone(name: str) -> None:
    """Refuse a time zone that does not exist."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError, TypeError) as error:
        raise errors.BadInput(f"time_zone {name!r} is not a time zone; one is Europe/Moscow, another UTC") from error


def one_number(turns: pd.DataFrame) -> bool:
    """Whether all turns have the same number, which is not their place in the session."""
    return "turn" in turns and turns["turn"].nunique() == 1 and bool(turns.duplicated(KEY).any())


def check_repeats(turns: pd.DataFrame) -> None:
    """Refuse rows of one session, model, turn and role that differ; equal ones are one row that was written twice."""
    if "turn" not in turns or one_number(turns):
        return
    place = [*KEY, *(["model"] if "model" in turns else [])]
    distinct = turns[[name for name in turns if name in {*place, "text", "time", "resolved"}]].drop_duplicates()
    odd = distinct[distinct.duplicated(place)].drop_duplicates(KEY)
    if len(odd):
        head = (
            f"{len(odd)} turns appear more than once, with other content; number the turns of a session from 1, or rename "
            "the column turn, so that the order of times or rows counts:"
        )
        lines = zip(odd["session_id"], odd["turn"], odd["role"], strict=True)
        raise errors.BadInput.listing(head, [f"session {s}, turn {t:g}, role {r}" for s, t, r in lines], headed=True)


def check_times(turns: pd.DataFrame) -> None:
    """Refuse times that no calendar of ISO 8601 weeks has."""
    if "time" not in turns or turns["time"].isna().all():
        return
    odd = turns["time"].notna() & ~turns["time"].dt.year.between(2, 9998)
    if odd.any():
        raise errors.BadInput.listing(
            f"{int(odd.sum())} times in column time are not of the years 2 to 9998:",
            [f"session {name}" for name in turns.loc[odd, "session_id"].unique()],
            headed=True,
        )


def roles_of(column: Iterable[str], model_roles: Sequence[str], user_roles: Sequence[str]) -> dict[str, str]:
    """How each role is read: ``model``, ``user`` or ``other``.

    - ``model_roles``, ``user_roles``: Upper and lower case are equal; by default the usual names.

    Raises ``BadInput`` if no role is the model's, if a role that was named is not in the table, or is named for both.

    Examples
    --------
    >>> roles_of(["User", "assistant", "system"], [], [])
    {'User': 'user', 'assistant': 'model', 'system': 'other'}
    """
    counts = pd.Series(column, dtype=object).value_counts()
    names = sorted(map(str, counts.index))
    present = {name.casefold() for name in names}
    of_model, of_user = ({str(role).casefold() for role in given} for given in (model_roles, user_roles))
    faults = [f"role {role!r} is named as the model's and as the user's" for role in sorted(of_model & of_user)]
    faults += [f"no turn has the role {role!r}" for role in sorted((of_model | of_user) - present)]
    of_model = of_model or ({*MODEL_ROLES} - of_user)
    of_user = of_user or ({*USER_ROLES} - of_model)
    if not of_model & present:
        listed = ", ".join(f"{name} ({counts[name]})" for name in names[:12])
        faults.append(
            f"no role is known as the model's; there are {listed}: -p 'model_roles=[\"{names[0]}\"]' names it"
        )
    if faults:
        raise errors.BadInput.listing("roles:", faults)
    return {n: "model" if n.casefold() in of_model else "user" if n.casefold() in of_user else "other" for n in names}


def prepared(table: pd.DataFrame, model_roles: Sequence[str], user_roles: Sequence[str]) -> Turns:
    """The turns in their order, each with its speaker and its session's model; rows that were written twice once."""
    check_repeats(table)
    check_times(table)
    known = [name for name in (*KEY, "time", "resolved", "model", "text") if name in table]
    turns = table[known].reset_index(drop=True)
    counts: dict[str, int] = {}
    if one_number(turns):
        counts["one number"] = int(turns["turn"].iloc[0])
        turns = turns.drop(columns="turn")
    if "text" in turns and not turns["text"].map(lambda text: bool(text)).any():
        turns = turns.drop(columns="text")
        counts["no text at all"] = 1
    if "turn" in turns:
        once = turns.drop_duplicates()
        counts["repeated"] = len(turns) - len(once)
        turns = once
    read = roles_of(turns["role"], model_roles, user_roles)
    turns["speaker"] = turns["role"].map(read)
    turns["model"], counts["shared"] = _models(turns)
    by_time = "turn" not in turns
    rank = turns["speaker"].map({"other": 0, "user": 1, "model": 2})
    order = turns.assign(_rank=rank, _text=turns["text"].fillna("") if "text" in turns else "")
    first = ["time"] if "time" in turns else []
    keys = ["session_id", *(first if by_time else ["turn", *first, "_rank", "_text"])]
    turns = turns.loc[order.sort_values(keys, kind="stable", na_position="first").index].reset_index(drop=True)
    if by_time:
        counts["unnumbered"] = 2 if "time" in turns else 1
        turns.insert(1, "turn", turns.groupby("session_id", sort=False).cumcount() + 1)
    spoken = turns["speaker"] == "model"
    silent = spoken & (turns["text"].isna() if "text" in turns else False)
    turns["answer"] = spoken & ~silent
    counts["silent"] = int(silent.sum())
    counts |= _order(turns)
    table_of_roles = pd.DataFrame(
        {
            "role": list(read),
            "read as": ["neither" if how == "other" else f"the {how}" for how in read.values()],
            "turns": [int(n) for n in turns["role"].value_counts().reindex(list(read))],
        }
    )
    return Turns(turns, table_of_roles, not model_roles, counts)


def _models(turns: pd.DataFrame) -> tuple[pd.Series, int]:
    """Each turn's model, a turn that names none in the only one of its session; and how many sessions have several."""
    if "model" not in turns:
        return pd.Series(kit.collecting.UNNAMED, turns.index, dtype=object), 0
    model = turns["model"].astype(object).where(turns["model"].notna(), "")
    named = pd.DataFrame({"session_id": turns["session_id"], "model": model})[model != ""].drop_duplicates()
    several = named["session_id"].duplicated(keep=False)
    only = named[~several].set_index("session_id")["model"]
    mixed = set(named.loc[several, "session_id"])
    of_session = turns["session_id"].map(only)
    of_session = of_session.where(
        of_session.notna(), turns["session_id"].isin(mixed).map({True: "", False: kit.collecting.UNNAMED})
    )
    return model.where(model != "", of_session), len(mixed)


def _order(turns: pd.DataFrame) -> dict[str, int]:
    """How many sessions have times against their order, gaps in their numbers, answers in a row, outcomes that differ."""
    same = turns["session_id"].eq(turns["session_id"].shift()).to_numpy()
    session = turns["session_id"]
    found: dict[str, int] = {}
    if "time" in turns:
        back = turns["time"].diff().dt.total_seconds().to_numpy() < 0
        found["times"] = session[same & back].nunique()
    step = np.diff(turns["turn"].to_numpy(float), prepend=np.nan)
    found["gaps"] = session[same & (step > 1)].nunique()
    answers = turns["answer"].to_numpy()
    found["in a row"] = session[same & answers & np.roll(answers, 1)].nunique()
    if "resolved" in turns:
        found["outcomes"] = int((turns.groupby("session_id", sort=False)["resolved"].nunique() > 1).sum())
    return found
