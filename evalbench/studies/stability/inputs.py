"""Queries and their variants side by side: from two tables, from one that holds both, or asked of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.readers.dealt import values_of
from evalbench.readers.strangers import written_otherwise

CHARACTERS = ("butter_finger", "word_swap", "human_level")
WORDS = ("special_token", "paraphrase", "transliterate", "translate")
LEVELS = ("characters", "words", "other")
ORIGINAL = readers.side_by_side.UNCHANGED | {"none", "no", "нет", "无"}
"""What the augmentation of a query as it was written is called in a table that holds both."""
STRANGERS, BARE, GROUPS = "strangers", "bare", "groups"
_NAMED = 5
_NOT_A_LETTER = re.compile(r"[\W_]+")


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """A table that holds queries and variants as two: variants in rows of their own, told apart by the column of the augmentation, or
    beside their queries.
    """
    frame = frames.get("items")
    if frame is None or "variants" in frames or frame.columns.has_duplicates:
        return frames
    column = readers.finding.column_of(frame, "augmentation")
    if column and (parts := _in_rows(frame, column)):
        return {**frames, **parts}
    pairs = readers.side_by_side.beside(list(map(str, frame.columns)), (column,))
    return {**frames, **_in_columns(frame, pairs, column)} if pairs else frames


def _in_rows(frame: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    """Rows of queries and rows of variants; nothing where there is but one kind."""
    missing = frame[column].isna().to_numpy()
    said = frame[column].astype(str).str.strip().str.lower()
    own = missing | said.isin(ORIGINAL).to_numpy()
    if own.all() or not own.any():
        return {}
    items, variants = frame[own].drop(columns=column), frame[~own].rename(columns={column: "augmentation"})
    items.attrs["notes"] = [
        *frame.attrs.get("notes", ()),
        f"{core.counted(int(own.sum()), 'row')} of queries as they were written, {int((~own).sum())} of variants, by the column {column}",
    ]
    return {"items": items, "variants": variants.drop(columns=["reference", "contexts"], errors="ignore")}


def _in_columns(frame: pd.DataFrame, pairs: readers.side_by_side.Beside, column: str) -> dict[str, pd.DataFrame]:
    """The columns of queries and those of their variants as two tables; nothing where no answer stands beside another."""
    changed = {word: own for word, own in pairs.changed.items() if "answer" in own}
    if not changed:
        return {}
    ids = readers.finding.column_of(frame, "id")
    if not ids:
        frame = frame.assign(id=[f"q{i:04d}" for i in range(1, len(frame) + 1)])
    taken = {source for own in changed.values() for source in own.values()}
    items = frame.drop(columns=[*taken, *([column] if column else [])])
    items = items.rename(columns={source: rest for rest, source in pairs.original.items()})
    model = readers.finding.column_of(frame, "model")
    kept = [ids or "id", *([model] if model else [])]
    parts = [
        frame[[*kept, *own.values()]]
        .rename(columns={source: rest for rest, source in own.items()})
        .assign(augmentation=frame[column] if column and len(changed) == 1 else word)
        for word, own in changed.items()
    ]
    said = [
        f"{' and '.join(own.values())} were read as the variant of {' and '.join(pairs.original[rest] for rest in own)}"
        for own in changed.values()
    ]
    items.attrs["notes"] = [*frame.attrs.get("notes", ()), *said]
    variants = pd.concat(parts, ignore_index=len(parts) > 1)
    variants.attrs = {readers.roles.READ_AS: {source: rest for own in changed.values() for rest, source in own.items()}}
    return {"items": items, "variants": variants}


class Paired(NamedTuple):
    """Every variant beside its query.

    - ``rows``: ``id, model`` if there is one, ``augmentation, level, question, variant, answer, answer_after, reference``,
      in this order.
    - ``tables``, ``sums``: What has no counterpart, see :func:`left_out`.
    """

    rows: pd.DataFrame
    by: tuple[str, ...]
    tables: Mapping[str, pd.DataFrame]
    sums: Mapping[str, int]


def level_of(augmentation: str) -> str:
    """To which test an augmentation of a known name belongs; ``other`` for an unknown one.

    Examples
    --------
    >>> level_of("Butter-Finger 0.1"), level_of("translate_ru_uk"), level_of("negation")
    ('characters', 'words', 'other')
    """
    name = _NOT_A_LETTER.sub("_", augmentation.lower()).strip("_") + "_"
    known = {**dict.fromkeys(CHARACTERS, "characters"), **dict.fromkeys(WORDS, "words")}
    return next((level for start, level in known.items() if name.startswith(f"{start}_")), "other")


def check_levels(levels: Mapping[str, str]) -> None:
    """Refuse levels that do not exist: all of them.

    Raises
    ------
    BadInput
    """
    wrong = [
        f"levels: {name}: {level!r} is not one of {', '.join(LEVELS)}"
        for name, level in levels.items()
        if level not in LEVELS
    ]
    if wrong:
        raise errors.BadInput.listing("levels:", wrong)


def variants_of(data: readers.Dataset) -> pd.DataFrame:
    """The table of variants.

    Raises ``BadInput`` if there is none.
    """
    variants = data.get("variants")
    if variants is None:
        raise errors.BadInput(
            "there is no table variants (id, augmentation, question, answer): give one, or one table with both and a column "
            "augmentation that is empty for queries as they were written, or a model to ask (-p model=NAME)"
        )
    return variants


def check_queries(data: readers.Dataset) -> None:
    """Refuse tables without the queries that a model is to be asked.

    Raises
    ------
    BadInput
    """
    lacking = [
        name for name in ("items", "variants") if (table := data.get(name)) is not None and "question" not in table
    ]
    if lacking:
        said = readers.renames.usual("question", data[lacking[0]].columns)
        raise errors.BadInput(
            f"table {' and table '.join(lacking)}: no column question, so that the model cannot be asked{said}"
        )


def sampled_variants(variants: pd.DataFrame, sample: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """The variants of a sample of the items; of no item are none of them, which are counted later."""
    left = set(items["id"]) - set(sample["id"])
    return variants[~variants["id"].isin(left)] if left else variants


def texts_of(pair: Paired, column: str) -> pd.DataFrame:
    """The texts of both sides, a row per query, augmentation and model."""
    scores = {f"{column}_after", column} if column else set()
    return pair.rows.drop(columns=[c for c in pair.rows if c in scores])


def with_models(items: pd.DataFrame, variants: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables with the column ``model``, or neither: the one model of a table is that of the other.

    Raises ``BadInput`` if one table has several models and the other does not name any.
    """
    if ("model" in items) == ("model" in variants):
        return items, variants
    named, bare = ("items", "variants") if "model" in items else ("variants", "items")
    models = [name for (name,) in values_of(items if named == "items" else variants, ("model",)) or ()]
    if len(models) > 1:
        raise errors.BadInput(
            f"table {named} has {core.counted(len(models), 'model')} and table {bare} no column model: whose are its outputs?"
        )
    only = {"model": models[0]} if models else {"model": ""}
    return (items.assign(**only), variants) if bare == "items" else (items, variants.assign(**only))


def paired(items: pd.DataFrame, variants: pd.DataFrame, columns: Sequence[str], levels: Mapping[str, str]) -> Paired:
    """Each variant beside its query.

    - ``columns``: Further columns of both tables, such as a score: they become ``COLUMN`` and ``COLUMN_after``.
    - ``levels``: Goes before the column ``level``, which goes before the name.

    Raises ``BadInput`` if two rows of one augmentation have several levels.
    """
    items, variants = with_models(items, variants)
    by = ("model", "augmentation") if "model" in items else ("augmentation",)
    keys = ["id", *by[:-1]]
    texts = ("question", "answer")
    before = items[[*keys, *(c for c in (*texts, "reference", "contexts", *columns) if c in items)]]
    after = variants[[*keys, "augmentation", *(c for c in (*texts, "reference", *columns) if c in variants)]]
    renamed = {c: "variant" if c == "question" else f"{c}_after" for c in after if c not in (*keys, "augmentation")}
    rows = after.rename(columns=renamed).merge(before, on=keys, how="inner", validate="many_to_one")
    rows["level"] = _levels(variants, levels).reindex(rows["augmentation"]).to_numpy()
    if "reference_after" in rows:
        own = rows["reference_after"].map(len) > 0
        rows["reference"] = rows["reference"] if "reference" in rows else rows["reference_after"]
        rows["reference_after"] = rows["reference_after"].where(own, rows["reference"])
    rows["level"] = rows["level"].fillna("other").astype(str)
    rows = rows.sort_values([*by[:-1], "augmentation", "id"], kind="stable", ignore_index=True)
    order = [
        *keys,
        "augmentation",
        "level",
        *(c for c in ("question", "variant", "answer", "answer_after", "reference") if c in rows),
    ]
    return Paired(rows[[*order, *(c for c in rows if c not in order)]], by, *_apart(items, variants, keys))


def _first(names: Iterable[Any]) -> str:
    found = [str(name) for name in names]
    return ", ".join(found[:_NAMED]) + (", …" if len(found) > _NAMED else "")


def _levels(variants: pd.DataFrame, levels: Mapping[str, str]) -> pd.Series:
    """Augmentation → level."""
    names = variants["augmentation"].unique()
    stated: dict[str, str] = {}
    said: dict[str, list[str]] = {}
    if "level" in variants:
        for name, level in values_of(variants, ("augmentation", "level")) or ():
            said.setdefault(name, []).extend([level] if level else [])
        faults = [f"{name}: {', '.join(own)}" for name, own in said.items() if len(own) > 1]
        if faults:
            raise errors.BadInput.listing("table variants: column level: an augmentation belongs to one test:", faults)
        stated = {name: own[0] for name, own in said.items() if own}
    return pd.Series({name: levels.get(name) or stated.get(name) or level_of(name) for name in names}, dtype=object)


def _apart(
    items: pd.DataFrame, variants: pd.DataFrame, keys: list[str]
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """The ids of either table that have no counterpart, how many ids each augmentation has, and counts."""
    own, other = (set(map(tuple, frame[keys].to_numpy())) for frame in (items, variants))
    known, bare = set(items["id"]), sorted(key[0] for key in own - other)
    tables = {
        STRANGERS: pd.DataFrame({"id": sorted(set(variants["id"]) - known)}, dtype=str),
        BARE: pd.DataFrame({"id": bare}, dtype=str),
        GROUPS: variants.groupby([*keys[1:], "augmentation"])["id"].nunique().rename("n").reset_index(),
    }
    lost = sum(tuple(key) not in own for key in variants[keys].to_numpy())
    sums = {"variants": len(variants), "lost": lost, "items": len(own), "paired": len(known - {*bare})}
    return tables, sums


def left_out(made: kit.parts.Made) -> list[str]:
    """What of either table has no counterpart.

    Raises ``BadInput`` if no variant has its query among the items.
    """
    strangers, bare = (made.tables[name]["id"].tolist() for name in (STRANGERS, BARE))
    known, n, out = sorted({*made.items["id"], *bare}), made.sums, []
    said = written_otherwise(strangers, known)
    if not len(made.items):
        raise errors.BadInput(
            f"no variant belongs to an item: the ids of variants ({_first(strangers or known)}) are not those "
            f"of items ({_first(known)})" + (f": {said}" if said else "")
        )
    if n["lost"]:
        where = f" ({_first(strangers)})" if strangers else ""
        text = f"Variants of an item that the table does not have, left out: {n['lost']} of {n['variants']}{where}."
        short = f"{n['lost']} of {n['variants']} variants are of ids that the items lack; {said}"
        out.append(core.Note("unmatched", short, text) if said else text)
    if bare:
        out.append(f"Items without a variant, in no figure: {len(bare)} of {n['items']} ({_first(bare)}).")
    counts = made.tables[GROUPS].groupby([c for c in made.tables[GROUPS] if c != "n"], sort=True)["n"].sum()
    fewer = counts[counts < n["paired"]]
    names = [" ".join(name) if isinstance(name, tuple) else str(name) for name in fewer.index]
    absent = kit.evidence.Absent(dict(zip(names, (n["paired"] - own for own in fewer), strict=True)), n["paired"])
    return [*out, *absent.notes()]


def same_query(rows: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Which variants are their query, letter by letter."""
    if not {"question", "variant"} <= set(rows):
        return np.zeros(len(rows), dtype=bool)
    found: np.ndarray[Any, Any] = ((rows["question"] == rows["variant"]) & (rows["question"] != "")).to_numpy(
        dtype=bool
    )
    return found


def controls(items: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Which items ask the same again on purpose: of an augmentation of no known kind, none of whose variants differs.

    - ``items``: All of them, with a column ``same``, see :func:`same_query`.
    """
    found: np.ndarray[Any, Any] = items.groupby("augmentation")["same"].transform("all").to_numpy(dtype=bool)
    return found & (items["level"] == "other").to_numpy()
