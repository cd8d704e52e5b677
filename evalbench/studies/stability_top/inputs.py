"""Questions, what augmentations make of them, and what a search finds for both."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.models.exchange import Reply
from evalbench.readers import Column, Table
from evalbench.text.augment import AUGMENTATIONS, augmented, check_options

K = 5
"""How many passages a system reads."""
NONE = "none"
"""The control: the question as it is, asked again."""
OTHERS: Mapping[str, tuple[str, ...]] = {
    "id": ("query_id", "question_id", "qid", "query", "question", "номер вопроса", "запрос", "вопрос", "查询", "问题"),
    "augmentation": ("variant", "perturbation", "attack", "искажение", "вариант", "аугментация", "扰动", "变体"),
    "doc_id": (
        "doc",
        "document_id",
        "document",
        "passage_id",
        "passage",
        "retrieved",
        "retrieved_ids",
        "документ",
        "фрагмент",
        "文档",
    ),
    "rank": ("position", "место", "позиция", "ранг", "排名"),
}
"""Column of tops → names under which it is read too, the likeliest first."""
LEVELS = ("characters", "words", "other")
BLANK, NOT_CHANGED, NO_TOP = "blank-question", "nothing-to-change", "no-output"
_NAMED = 5
SCHEMA: Mapping[str, Table] = {
    "questions": Table(
        (
            Column("id", "id"),
            Column("question", "text", empty_ok=True, help="as it was written"),
            Column("lang", "id", required=False, empty_ok=True, help="ISO 639-1: the script of transliterate, the prompt of a model"),
        ),
        unique=("id",),
        required=False,
        stem="queries",
        no_trials="a search is asked once; give repeated ones as augmentations of their own in the table tops",
        help="questions to the documents",
    ),
    "documents": Table(
        (Column("doc_id", "id"), Column("text", "text", empty_ok=True, help="an empty one is never found")),
        unique=("doc_id",),
        required=False,
        stem="corpus",
        help="what is searched, a row per passage",
    ),
    "variants": Table(
        (
            Column("id", "id", help="of the question"),
            Column("augmentation", "id", help="how it was changed, such as paraphrase"),
            Column("question", "text", empty_ok=True, help="as it was changed"),
        ),
        unique=("id", "augmentation"),
        required=False,
        help="changed questions of your own, in place of those made here",
    ),
    "tops": Table(
        (
            Column("id", "id", help="of the question"),
            Column("augmentation", "id", required=False, empty_ok=True, help="how the question was changed; empty: not at all"),
            Column("doc_id", "id", help="a passage that your search found"),
            Column("rank", "int", low=0, help="the first is the lowest"),
        ),
        unique=("id", "augmentation", "doc_id"),
        required=False,
        no_trials="tops are compared one by one; give repeated ones an augmentation of their own",
        help="what your own search found, in place of the one here",
    ),
}  # fmt: skip


class Asked(NamedTuple):
    """Every variant beside its question.

    - ``rows``: ``id, augmentation, level, question, variant`` (None where there is none), ``edits`` (the log as JSON;
      None where another made the variant), ``unscored``, ``undefined``, in the order of the first two.
    """

    rows: pd.DataFrame
    replies: list[Reply]
    notes: list[str]


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """Questions and documents with the columns of BEIR, ``_id`` and ``text``; one table of tops, given as the main one."""
    out = dict(frames)
    main = out.get("questions")
    if main is not None and "tops" not in out and "documents" not in out and not main.columns.has_duplicates:
        main = out["questions"] = _tops_named(main)
    if main is not None and "tops" not in out and "doc_id" in main and "question" not in main:
        listed = "rank" not in main and bool(main["doc_id"].map(lambda cell: isinstance(cell, list)).any())
        if listed or "rank" in main:
            out["tops"] = _ranked(out.pop("questions")) if listed else out.pop("questions")
    for name, key in (("questions", "id"), ("documents", "doc_id")):
        frame = out.get(name)
        if frame is None:
            continue
        names = {"_id": key, **({"text": "question"} if name == "questions" else {})}
        renamed = {old: new for old, new in names.items() if old in frame and new not in frame}
        if renamed:
            attrs = dict(frame.attrs)
            out[name] = frame.rename(columns=renamed)
            out[name].attrs.update(attrs)
    return out


def _tops_named(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of tops with our names; one that has no place in a list, nor a list, stays as it is."""
    names = {str(c).strip().casefold(): str(c) for c in reversed(list(frame.columns))}
    found = {own: next((names[n] for n in (own, *others) if n in names), "") for own, others in OTHERS.items()}
    listed = bool(found["doc_id"]) and frame[found["doc_id"]].map(lambda cell: isinstance(cell, list)).any()
    if not (found["id"] and found["augmentation"] and found["doc_id"] and (found["rank"] or listed)):
        return frame
    taken = {name: own for own, name in found.items() if name and name != own}
    out = frame.rename(columns=taken)
    said = [f"column {name} was read as {own} (--map COLUMN={own} takes another)" for name, own in taken.items()]
    out.attrs = {**frame.attrs, "notes": [*frame.attrs.get("notes", ()), *said]}
    return out


def _ranked(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per passage out of rows with the list of all, the first first; of an empty list nothing is left."""
    known = frame[frame["doc_id"].map(lambda cell: not isinstance(cell, list) or bool(cell))].reset_index(drop=True)
    out = known.explode("doc_id")
    out = out.assign(rank=out.groupby(level=0).cumcount() + 1).reset_index(drop=True)
    lost = len(frame) - len(known)
    said = "column doc_id holds lists: passages in the order of their ranks"
    out.attrs.update(frame.attrs)
    out.attrs["notes"] = (
        *frame.attrs.get("notes", ()),
        f"{said}; rows with an empty list, left out: {lost}" if lost else said,
    )
    return out


def needs(
    data: readers.Dataset, *, augmentations: Sequence[str] = tuple(AUGMENTATIONS), rephraser: str = "", k: int = K
) -> None:
    """Refuse data with nothing to search and no tops, and augmentations that need a model where none is named."""
    tops, variants = data.get("tops"), data.get("variants")
    if tops is not None:
        changed = ~is_original(tops)
        if not changed.any() or changed.all():
            side = "a changed question" if not changed.any() else "a question as it was written"
            held = sorted(set(tops["augmentation"])) if "augmentation" in tops else []
            named = (
                f"; augmentation is {', '.join(map(repr, held[:_NAMED]))}{', …' if len(held) > _NAMED else ''}"
                if any(held)
                else ""
            )
            raise errors.BadInput(
                f"table tops: no row is of {side}; the tops of both are compared{named}. A question as it was written has an empty "
                "augmentation, or a word such as original, clean, исходный, 原始"
            )
        if "augmentation" in tops:
            names = tops[~changed].groupby("id")["augmentation"].nunique()
            if len(twice := names.index[names > 1].tolist()):
                raise errors.BadInput(
                    f"table tops: questions as they were written have tops under several names: {', '.join(twice[:_NAMED])}; keep one"
                )
        return
    missing = [name for name in ("questions", "documents") if data.get(name) is None]
    if missing:
        raise errors.BadInput(
            f"there is no table {' and no table '.join(missing)}: give questions (id, question) and documents (doc_id, text), or what "
            "your own search found as table tops (id, augmentation, doc_id, rank)"
        )
    n = int((data["documents"]["text"].str.strip() != "").sum())
    if isinstance(k, int) and n <= k:
        raise errors.BadInput(
            f"k is {k}, but only {core.counted(n, 'document')} have a text: the first {k} are always the same ones"
        )
    written = [] if variants is not None else [name for name in augmentations if by_model(name)]
    if written and not rephraser:
        raise errors.BadInput(
            f"{', '.join(written)}: a model writes these; name one (-p rephraser=MODEL), or give a table variants"
        )


def by_model(name: str) -> bool:
    """Whether an augmentation is one that a model writes."""
    return isinstance(name, str) and (name == kit.rephrasing.PARAPHRASE or name.startswith(kit.rephrasing.TRANSLATE))


def shares_of(augmentations: Sequence[str], rates: Mapping[str, Any]) -> list[tuple[str, str, float | None]]:
    """Label, name and rate of every augmentation at every rate; the rate is part of the label where there are several.

    Raises ``BadInput`` for unknown names, names given twice, and rates that are none: all of them.

    Examples
    --------
    >>> shares_of(["word_swap", "butter_finger"], {"butter_finger": [0.05, 0.1]})
    [('word_swap', 'word_swap', None), ('butter_finger 0.05', 'butter_finger', 0.05), ('butter_finger 0.1', 'butter_finger', 0.1)]
    """
    names = list(augmentations)
    faults = [] if names else ["none was named"]
    faults += [f"{name} is named twice" for name in sorted({str(n) for n in names if names.count(n) > 1})]
    faults += [f"rates: {name} is not among the augmentations" for name in rates if name not in names]
    found: list[tuple[str, str, float | None]] = []
    for name in dict.fromkeys(names):
        given = rates.get(name)
        several = list(given) if isinstance(given, list | tuple) else [given]
        wrong = [x for x in several if x is not None and (isinstance(x, bool) or not isinstance(x, int | float))]
        faults += [f"rates: {name}: {x!r} is not a number" for x in wrong] or (
            [] if several else [f"rates: {name}: none"]
        )
        if name == NONE or by_model(name):
            faults += [] if name == NONE else kit.rephrasing.check_rephrasing(name)
            faults += [f"rates: {name} has no rate"] if name in rates else []
        elif not wrong:
            faults += [fault for x in several for fault in check_options(str(name), rate=x)]
        found += [(f"{name} {x:g}" if len(several) > 1 else str(name), str(name), x) for x in several if x not in wrong]
    if faults:
        raise errors.BadInput.listing("augmentations:", dict.fromkeys(faults))
    return found


def variants_of(
    data: readers.Dataset,
    *,
    augmentations: Sequence[str],
    rates: Mapping[str, Any],
    protect: Sequence[str],
    scheme: str,
    rephraser: str,
    sample_method: str,
    n_samples: int,
    random_state: int,
    seed: int,
    **settings: Any,
) -> Asked:
    """The variants of the questions: the table's own, or those made here, by a model where one is needed."""
    questions = kit.sampling.sampled(data["questions"], sample_method, n_samples, random_state).sort_values(
        "id", ignore_index=True
    )
    own, notes, replies = data.get("variants"), [], []
    if own is not None:
        strangers = ~own["id"].isin(data["questions"]["id"])
        if strangers.any():
            notes.append(f"Variants of questions that the table does not have, left out: {int(strangers.sum())}.")
        rows = own.rename(columns={"question": "variant"}).merge(
            questions, on="id", how="inner", validate="many_to_one"
        )
        rows = rows.assign(unscored="")
    else:
        parts = []
        for label, name, rate in shares_of(augmentations, rates):
            made, said, others = _made(questions, name, rate, protect, scheme, rephraser, seed, settings)
            parts.append(made.assign(augmentation=label))
            replies += said
            if others:
                notes.append(
                    f"{label} is not for {others} of {core.counted(len(questions), 'question')}: they are in another language."
                )
        rows = pd.concat(parts, ignore_index=True)
    if not len(rows):
        raise errors.BadInput("no question has a variant")
    rows["level"] = [level_of(name) for name in rows["augmentation"]]
    same = rows["variant"] == rows["question"]
    control = same.groupby(rows["augmentation"]).transform("all") & (own is not None) | (rows["augmentation"] == NONE)
    blank = [
        not q.strip() or (isinstance(v, str) and not v.strip())
        for q, v in zip(rows["question"], rows["variant"], strict=True)
    ]
    rows["undefined"] = np.select([blank, same & ~control], [BLANK, NOT_CHANGED], default="")
    rows.loc[rows["undefined"] != "", "unscored"] = ""
    rows["edits"] = rows["edits"].astype(object).where(rows["edits"].notna(), None) if "edits" in rows else None
    columns = ["id", "augmentation", "level", "question", "variant", "edits", "unscored", "undefined"]
    return Asked(rows.sort_values(["augmentation", "id"], ignore_index=True)[columns], replies, notes)


def _made(
    questions: pd.DataFrame,
    name: str,
    rate: float | None,
    protect: Sequence[str],
    scheme: str,
    model: str,
    seed: int,
    settings: Mapping[str, Any],
) -> tuple[pd.DataFrame, list[Reply], int]:
    if name == NONE:
        return questions.assign(variant=questions["question"], unscored=""), [], 0
    if by_model(name):
        found = kit.rephrasing.rephrased(questions, "question", name, model, protect=protect, seed=seed, **settings)
        old = questions.set_index("id")["question"].reindex(found.rows["id"]).to_numpy()
        return found.rows.assign(variant=found.rows["question"], question=old), found.replies, found.others
    languages = questions["lang"].tolist() if "lang" in questions else None
    texts, ids = questions["question"].tolist(), questions["id"].tolist()
    made = augmented(texts, name, ids=ids, seed=seed, rate=rate, languages=languages, protect=protect, scheme=scheme)
    logs = [json.dumps(made.edits.of(i), ensure_ascii=False) for i in range(len(texts))]
    return questions.assign(variant=made.texts, edits=logs, unscored=""), [], 0


def level_of(label: str) -> str:
    """To which list of augmentations one belongs; ``other`` for an unknown one and for the control.

    Examples
    --------
    >>> level_of("butter_finger 0.1"), level_of("translate_ru_uk"), level_of("none")
    ('characters', 'words', 'other')
    """
    name = re.sub(r"\W+", "_", label.strip().lower())
    if by_model(name):
        return "words"
    return next(
        (a.level for known, a in AUGMENTATIONS.items() if name == known or name.startswith(f"{known}_")), "other"
    )


def is_original(tops: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Which rows of the tops are of questions as they were written."""
    if "augmentation" not in tops:
        return np.ones(len(tops), bool)
    found: np.ndarray[Any, Any] = (
        tops["augmentation"].str.strip().str.lower().isin(readers.side_by_side.UNCHANGED).to_numpy(bool)
    )
    return found
