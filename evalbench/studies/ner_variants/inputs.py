"""Raw replies to differently worded requests: those of the table, or a model's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
from pydantic import BaseModel

from evalbench import core, errors, kit, readers
from evalbench.models.exchange import Reply
from evalbench.text.occurrences import comparable

REQUESTS = ("all", "one")
DESCRIPTIONS = ("none", "definition", "examples")


class Entity(BaseModel):
    """One entity of a reply."""

    entity: str
    entity_class: str


class Entities(BaseModel):
    """What a reply in JSON holds."""

    entities: list[Entity]


class Known(NamedTuple):
    """What is judged.

    - ``texts``, ``classes``: By id; by ``entity_class``, with ``definition`` and ``examples``.
    - ``true`` (mapping of (str, str) to Counter): Text and class to how often each string is a true entity.
    - ``replies``: ``id, model, requests, description, entity_class, answer, unscored``.
    """

    texts: pd.DataFrame
    classes: pd.DataFrame
    true: Mapping[tuple[str, str], Counter[str]]
    replies: pd.DataFrame
    notes: tuple[core.notes.Note, ...] = ()


def prepare(data: readers.Dataset) -> Known:
    """The checked tables.

    Raises ``BadInput`` for spans that are empty or leave their text, and texts and classes that are not there: all at
    once.
    """
    gold, texts = data["gold"].astype({"start": int, "end": int}), data["texts"].sort_values("id", ignore_index=True)
    known = dict(zip(texts["id"], texts["text"], strict=True))
    faults: list[str] = []
    true: dict[tuple[str, str], Counter[str]] = {}
    for i, start, end, kind in gold[["id", "start", "end", "entity_class"]].itertuples(index=False):
        text = known.get(i)
        if text is None:
            faults.append(f"gold: no text has the id {i}")
        elif not start < end <= len(text):
            faults.append(
                f"gold: id {i}: [{start}, {end}) is not within its text of {core.counted(len(text), 'character')}"
            )
        else:
            true.setdefault((i, kind), Counter())[comparable(text[start:end].strip())] += 1
    own = data.get("classes")
    classes = own if own is not None else pd.DataFrame({"entity_class": sorted(gold["entity_class"].unique())})
    classes = classes.assign(**{c: classes.get(c, "") for c in ("definition", "examples")})
    names = set(classes["entity_class"])
    faults += [f"gold: class {kind} is not among the classes" for kind in sorted(set(gold["entity_class"]) - names)]
    replies = data.get("replies")
    if replies is None:
        replies = pd.DataFrame(columns=["id", "model", "requests", "description", "entity_class", "answer"])
    replies = replies.assign(
        model=replies.get("model", kit.collecting.UNNAMED), entity_class=replies.get("entity_class", "")
    )
    strangers = sorted(set(replies["id"]) - set(known))
    faults += [f"replies: {why}" for why in [readers.strangers.written_otherwise(strangers, known)] if why]
    faults += [f"replies: no text has the id {i}" for i in strangers]
    one = replies["requests"] == "one"
    strange = sorted(set(replies.loc[one, "entity_class"]) - names)
    faults += [f"replies: a request for one class names {kind!r}, which is not among the classes" for kind in strange]
    if (replies.loc[~one, "entity_class"] != "").any():
        faults.append("replies: requests for all classes leave entity_class empty")
    if faults:
        raise errors.BadInput.listing("texts, true entities and replies:", faults)
    replies = replies.assign(unscored=kit.answers.why_unscored(replies["answer"]))
    places = [(known[i], a, b) for i, a, b in gold[["id", "start", "end"]].itertuples(index=False)]
    return Known(texts, classes.sort_values("entity_class", ignore_index=True), true, replies, shifted(places))


def shifted(places: Sequence[tuple[str, int, int]]) -> tuple[core.notes.Note, ...]:
    """Whether most places cut words, and the same places moved by a character do not.

    Examples
    --------
    >>> [note.short for note in shifted([("Mira came to Oslo.", 1, 5), ("Ivo came to Bonn.", 13, 17)])]
    ['2 of 2 true places are whole words only when moved by -1 character: they are off by one']
    """

    def whole(start: int, end: int) -> int:
        moved = ((text, a + start, b + end) for text, a, b in places)
        return sum(0 <= a < b <= len(text) and not (_inside(text, a) or _inside(text, b)) for text, a, b in moved)

    for sides, words in (
        ((-1, -1), "moved by -1 character"),
        ((1, 1), "moved by +1 character"),
        ((0, 1), "1 character longer"),
        ((-1, 0), "1 character longer at the start"),
    ):
        n = whole(*sides)
        if 2 * n > len(places) > 2 * whole(0, 0):
            short = f"{n} of {len(places)} true places are whole words only when {words}: they are off by one"
            return (core.notes.Note("shifted", short),)
    return ()


def _inside(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def collected_replies(known: Known, options: Mapping[str, Any]) -> tuple[Known, list[Reply]]:
    """The replies that are judged, of the sampled texts and the wanted wordings.

    Raises ``BadInput`` if there is no model to ask and no reply of these wordings.
    """
    wanted = kit.sampling.sample_ids(
        known.texts["id"].tolist(), options["sample_method"], options["n_samples"], options["random_state"]
    )
    if options["model"]:
        texts = known.texts[known.texts["id"].isin(wanted)]
        rows: list[dict[str, Any]] = [
            {
                **{str(k): v for k, v in row.items()},
                "requests": requests,
                "description": description,
                "entity_class": kind,
            }
            for row in texts.to_dict("records")
            for requests in options["requests"]
            for description in options["descriptions"]
            for kind in ([""] if requests == "all" else known.classes["entity_class"])
        ]
        settings = kit.taken(kit.collecting.asked, options) | {
            "schema": Entities if options["reply_format"] == "json" else None
        }
        found = kit.collecting.asked(
            rows, task="list_entities", fields=lambda row: _fields(row, known, options), purpose="reply", **settings
        )
        said = pd.Series([kit.answers.answer_of(reply) for reply in found], dtype=object)
        frame = pd.DataFrame(rows)[["id", "requests", "description", "entity_class"]]
        frame = frame.assign(model=options["model"], answer=said, unscored=kit.answers.why_unscored(said, found))
        return known._replace(replies=frame), found
    own = known.replies
    own = own[own["id"].isin(wanted) & own["requests"].isin(options["requests"])]
    own = own[own["description"].isin(options["descriptions"])]
    if own.empty:
        raise errors.BadInput(
            "no table holds replies to these wordings; give a table replies (-p replies=FILE), or a model to ask (--model)"
        )
    return known._replace(replies=own), []


def _fields(row: Mapping[str, Any], known: Known, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the prompt shows: the text, and the classes with as much as this wording says of them."""
    own = known.classes
    if row["entity_class"]:
        own = own[own["entity_class"] == row["entity_class"]]
    depth = DESCRIPTIONS.index(row["description"])
    classes = [
        {
            "name": c["entity_class"],
            "definition": c["definition"] if depth else "",
            "examples": c["examples"] if depth > 1 else "",
        }
        for c in own.to_dict("records")
    ]
    return {"text": row["text"], "classes": classes, "form": options["reply_format"]}
