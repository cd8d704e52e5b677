"""Queries, and what an augmentation makes of them, put to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from evalbench import core, errors, kit
from evalbench.models.exchange import Reply
from evalbench.text.augment import AUGMENTATIONS, augmented, check_options

MADE = tuple(AUGMENTATIONS)
SCHEME = "ala-lc"
PROMPT = "query"
Reasons = tuple[dict[Any, str], dict[Any, str]]


class Answered(NamedTuple):
    """Both tables with a model's answers, and what it replied.

    - ``reasons`` ((mapping, mapping)): Why a query (by id) and a variant (by id and augmentation) has no answer.
    """

    items: pd.DataFrame
    variants: pd.DataFrame
    replies: list[Reply]
    reasons: Reasons


class Made(NamedTuple):
    """Variants of queries.

    - ``variants``: ``id, augmentation, question`` and ``why`` there is no query where a model wrote none.
    - ``replies``: Of the model that wrote paraphrases and translations.
    - ``sums``: What :func:`left_as_they_are` counts.
    """

    variants: pd.DataFrame
    replies: list[Reply]
    sums: dict[str, dict[str, int]]


def check(
    augmentations: Sequence[str], rates: Mapping[str, float], protect: Sequence[str], scheme: str, rephraser: str
) -> None:
    """Refuse augmentations that do not exist, options that they do not take, and those that want a model without one: all of them.

    Raises
    ------
    BadInput
    """
    faults = [] if augmentations else ["augmentations: none was named"]
    repeated = sorted({name for name in augmentations if list(augmentations).count(name) > 1})
    faults += [f"augmentations: {name} is named twice" for name in repeated]
    faults += [f"rates: {name} is not among the augmentations" for name in rates if name not in augmentations]
    for name in dict.fromkeys(augmentations):
        if not _by_model(name):
            faults += check_options(name, rate=rates.get(name), protect=protect, scheme=scheme)
            continue
        faults += kit.rephrasing.check_rephrasing(name)
        faults += [] if rephraser else [f"augmentations: {name} is written by a model; name it: -p rephraser=MODEL"]
        faults += [f"rates: {name} takes none"] if name in rates else []
    if faults:
        raise errors.BadInput.listing("augmentations:", dict.fromkeys(faults))


def _by_model(name: str) -> bool:
    return name in (kit.rephrasing.PARAPHRASE, kit.rephrasing.TRANSLATE) or name.startswith(
        f"{kit.rephrasing.TRANSLATE}_"
    )


def made(
    items: pd.DataFrame,
    *,
    augmentations: Sequence[str],
    rates: Mapping[str, float],
    protect: Sequence[str],
    scheme: str,
    rephraser: str,
    max_tokens: int,
    seed: int,
) -> Made:
    """The variants of every query that each augmentation changes, and how many it leaves as they are.

    - ``items``: ``id, question``, if wanted ``lang``.
    - ``augmentations``, ``rates``, ``protect``, ``scheme``, ``seed``: See :func:`evalbench.text.augment.augmented`.
    - ``rephraser``, ``max_tokens``: Who writes paraphrases and translations, see
      :func:`evalbench.kit.rephrasing.rephrased`.
    """
    first = items.drop_duplicates("id")
    first = first[[c for c in ("id", "question", "lang") if c in first]]
    languages = first["lang"].tolist() if "lang" in first else None
    parts, replies = [], []
    sums: dict[str, dict[str, int]] = {"written": {}, "others": {}, "same": {}}
    for name in augmentations:
        if _by_model(name):
            found = kit.rephrasing.rephrased(first, "question", name, rephraser, protect=protect, max_tokens=max_tokens)
            replies += found.replies
            new = found.rows.rename(columns={"unscored": "why"})
            sums["others"][name] = found.others
        else:
            texts = augmented(
                first["question"].tolist(), name, ids=first["id"].tolist(), seed=seed, rate=rates.get(name), languages=languages,
                protect=protect, scheme=scheme,
            ).texts  # fmt: skip
            new = first.assign(question=pd.Series(texts, index=first.index, dtype=object), why="")
        same = (new["question"] == first["question"].reindex(new.index)).to_numpy(dtype=bool)
        sums["written"][name], sums["same"][name] = len(new), int(same.sum())
        parts.append(new.loc[~same, ["id", "question", "why"]].assign(augmentation=name))
    return Made(pd.concat(parts, ignore_index=True), replies, sums)


def left_as_they_are(sums: Mapping[str, Any]) -> list[str]:
    """How many queries an augmentation is not for, or leaves as they are."""
    out = []
    for name, n in sums.get("written", {}).items():
        if others := sums["others"].get(name, 0):
            out.append(f"{name} is not for {core.counted(others, 'query', 'queries')} of another language.")
        if same := sums["same"][name]:
            out.append(
                f"{name} leaves {same} of {core.counted(n, 'query', 'queries')} as they are; they are not asked again."
            )
    return out


def answered(items: pd.DataFrame, variants: pd.DataFrame, model: str, **settings: Any) -> Answered:
    """Ask a model every query and every variant; replies are cached, so that nothing is paid for twice.

    - ``items``: ``id, question``; of several models' rows the first counts.
    - ``variants``: ``id, augmentation, question``; of those with a reason ``why`` there is no query, none is asked.
    - ``settings``: See :func:`evalbench.kit.collecting.asked`.
    """
    first = items.drop_duplicates("id").drop(columns=["model", "answer"], errors="ignore")
    others = variants.drop_duplicates(["id", "augmentation"]).drop(columns=["model", "answer"], errors="ignore")
    others = others[others["id"].isin(first["id"])]
    if "lang" in first:
        others = others.assign(lang=first.set_index("id")["lang"].reindex(others["id"]).to_numpy())
    unwritten = others[others["why"] != ""] if "why" in others else others.head(0)
    others = others.drop(index=unwritten.index)
    tables, replies = [], []
    for rows, purpose in ((first, "answer to the query"), (others, "answer to the variant")):
        said = kit.collecting.asked(
            rows, model, PROMPT, lambda row: {"query": row["question"]}, purpose=purpose, **settings
        )
        tables.append(_with(rows, said, model))
        replies.append(said)
    reasons: Reasons = (
        {i: reply.unscored for i, reply in zip(first["id"], replies[0], strict=True)},
        {
            place: reply.unscored
            for place, reply in zip(zip(others["id"], others["augmentation"], strict=True), replies[1], strict=True)
        },
    )
    if len(unwritten):
        places = zip(unwritten["id"], unwritten["augmentation"], strict=True)
        reasons[1].update(zip(places, unwritten["why"], strict=True))
        tables[1] = pd.concat([tables[1], unwritten.assign(model=model, answer=None)])
    return Answered(tables[0], tables[1].drop(columns="why", errors="ignore"), [*replies[0], *replies[1]], reasons)


def _with(rows: pd.DataFrame, replies: Sequence[Reply], model: str) -> pd.DataFrame:
    texts = pd.Series([kit.answers.answer_of(reply) for reply in replies], index=rows.index, dtype=object)
    return rows.assign(model=model, answer=texts)
