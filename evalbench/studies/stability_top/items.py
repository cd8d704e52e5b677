"""Tops of questions and of their variants, compared."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.metrics.top_k import TopAgreement, top_agreement
from evalbench.models.similarity.embed import card_of, embed, language_warning
from evalbench.models.similarity.search import exact_nearest, graph_of
from evalbench.readers.strangers import alike, written_otherwise
from evalbench.studies.stability_top import inputs

FIGURES = ("unchanged_strict", "unchanged_soft", "jaccard", "rbo")
GRAPH_FROM = 200_000
"""From so many documents on the search is by a graph."""


class Tops(NamedTuple):
    """The tops of both sides of every row, by number of passage, and the names of the passages.

    - ``rows``: As :class:`evalbench.studies.stability_top.inputs.Asked` has them.
    - ``before``, ``after`` ((n, K) int arrays): -1: no passage.
    """

    rows: pd.DataFrame
    before: np.ndarray[Any, Any]
    after: np.ndarray[Any, Any]
    names: list[str]
    notes: list[str]


def searched(rows: pd.DataFrame, documents: pd.DataFrame, by: str, deepest: int) -> Tops:
    """The nearest documents of every question and variant, by the cosine of their vectors.

    A variant that the instrument could not give, or that is blank, has no top.
    """
    documents = documents.sort_values("doc_id", ignore_index=True)
    written = documents["text"].str.strip() != ""
    known, names = documents.loc[written, "text"].tolist(), documents.loc[written, "doc_id"].tolist()
    notes = [f"Documents without a text, never found: {int((~written).sum())}."] if (~written).any() else []
    repeated = len(known) - len(set(known))
    if repeated:
        notes.append(f"Documents whose text is another's: {repeated}; of equal ones the first by id is found first.")
    depth = min(deepest, len(known) - 1)
    if depth < deepest:
        notes.append(f"The tops are {depth} deep: there are {core.counted(len(known), 'document')}.")
    usable = (rows["unscored"] == "").to_numpy() & (rows["undefined"] != inputs.BLANK).to_numpy()
    texts = sorted(
        {t for c in ("question", "variant") for t in rows.loc[usable, c] if isinstance(t, str) and t.strip()}
    )
    if note := language_warning(card_of(by), [*known, *texts]):
        notes.append(note)
    table = embed(known, by)
    asked = embed(texts, by)
    found = graph_of(table)(asked, depth) if len(known) >= GRAPH_FROM else exact_nearest(table, asked, depth)
    place = {text: i for i, text in enumerate(texts)}
    none = np.full((1, depth), -1, np.int64)
    every = np.concatenate([found.places, none])
    sides = [np.array([place.get(t, -1) if ok else -1 for t, ok in zip(rows[c], usable, strict=True)], int) for c in ("question", "variant")]  # fmt: skip
    return Tops(rows, every[sides[0]], every[sides[1]], names, notes)


def recorded(tops: pd.DataFrame, questions: pd.DataFrame | None, variants: pd.DataFrame | None, deepest: int) -> Tops:
    """The tops that the table has: every changed question beside the question as it was written."""
    tops = tops.assign(augmentation=tops.get("augmentation", ""), original=inputs.is_original(tops))
    names = sorted(tops["doc_id"].unique())
    ordered = tops.sort_values(["id", "augmentation", "rank", "doc_id"], ignore_index=True)
    ordered["place"] = pd.Index(names).get_indexer(ordered["doc_id"])
    ordered["augmentation"] = ordered["augmentation"].where(~ordered["original"], "")
    ordered["at"] = ordered.groupby(["id", "augmentation"]).cumcount()
    depth = min(deepest, int(ordered["at"].max()) + 1)
    wide = ordered[ordered["at"] < depth].pivot(index=["id", "augmentation"], columns="at", values="place")
    wide = wide.reindex(columns=range(depth)).fillna(-1).astype(np.int64)
    whose = wide.index.to_frame(index=False)
    changed = whose[whose["augmentation"] != ""].sort_values(["augmentation", "id"], ignore_index=True)
    keys = pd.MultiIndex.from_frame(changed)
    bare = pd.MultiIndex.from_arrays([changed["id"], np.full(len(changed), "")], names=keys.names)
    before, after = (wide.reindex(index, fill_value=-1).to_numpy() for index in (bare, keys))
    lost = (before < 0).all(axis=1)
    rows = changed.assign(
        level=[inputs.level_of(name) for name in changed["augmentation"]],
        question=_texts(questions, changed, ["id"]),
        variant=_texts(variants, changed, ["id", "augmentation"]),
        edits=None,
        unscored=np.where(lost, inputs.NO_TOP, ""),
        undefined="",
    )
    notes = [f"The tops are {depth} deep: none of the table has more passages."] if depth < deepest else []
    held = ordered.groupby(["id", "augmentation"]).size().rename("n").reset_index()
    if shallow := int((held["n"] < depth).sum()):
        notes.append(
            f"Tops with fewer than {depth} passages: {shallow}; deeper than both are, they count as what they hold."
        )
    sizes = held.assign(changed=held["augmentation"] != "").groupby("changed")["n"].median()
    if len(sizes) == 2 and sizes[False] != sizes[True]:
        short = f"tops of changed questions have {sizes[True]:g} passages and those of questions as written {sizes[False]:g}"
        notes.append(core.Note("unmatched", short))
    notes += _spelt(tops, questions)
    n = whose["id"].nunique()
    if lone := n - changed["id"].nunique():
        text = f"Questions without any top after an augmentation, in no figure: {lone} of {n}."
        short = f"{lone} of {core.counted(n, 'question')} have no top after any augmentation and are in no figure"
        notes.append(core.Note("absent", short, text) if lone > kit.MAX_UNSCORED * n else text)
    tied = int(ordered[ordered.duplicated(["id", "augmentation", "rank"])].groupby(["id", "augmentation"]).ngroups)
    if tied:
        notes.append(f"Tops with passages of the same rank, which are in the order of their names: {tied}.")
    return Tops(rows, before, after, names, notes)


def _spelt(tops: pd.DataFrame, questions: pd.DataFrame | None) -> list[core.Note]:
    """Passages, and questions of either table, that are the same but for case or blanks."""
    out = []
    if said := alike(tops["doc_id"]):
        out.append(core.Note("unmatched", f"are two names of one passage taken as two? Of the passages {said}"))
    if questions is not None and (strange := {*tops["id"]} - {*questions["id"]}):
        said = written_otherwise(sorted(strange), questions["id"])
        short = f"{len(strange)} questions of the tops are not in the table of questions{'; ' if said else ''}{said}"
        out.append(core.Note("unmatched", short))
    return out


def _texts(table: pd.DataFrame | None, rows: pd.DataFrame, keys: list[str]) -> np.ndarray[Any, Any]:
    if table is None:
        return np.full(len(rows), None, dtype=object)
    found: np.ndarray[Any, Any] = (
        rows[keys].merge(table[[*keys, "question"]], on=keys, how="left")["question"].to_numpy(dtype=object)
    )
    return found


def compared(tops: Tops, persistence: float) -> TopAgreement:
    """The agreement of both tops of every row, NaN where one is missing."""
    found = top_agreement(tops.before, tops.after, persistence=persistence)
    missing = (tops.rows[["unscored", "undefined"]] != "").any(axis=1).to_numpy()
    return TopAgreement(*(np.where(missing[:, None], np.nan, each) for each in found))


def items_of(tops: Tops, found: TopAgreement, k: int) -> pd.DataFrame:
    """One row per question and augmentation with its figures at the developer's k."""
    at = min(k, found.rbo.shape[1]) - 1
    top = pd.DataFrame(tops.before[:, : at + 1]).assign(id=tops.rows["id"].to_numpy())
    alike = top.drop_duplicates("id").set_index("id").duplicated(keep=False)
    return tops.rows[["id", "augmentation", "level"]].assign(
        **{name: getattr(found, name)[:, at] for name in FIGURES},
        same_top=alike.reindex(tops.rows["id"]).to_numpy(float),
        unscored=tops.rows["unscored"],
        undefined=tops.rows["undefined"],
    )


def texts_of(tops: Tops, k: int) -> pd.DataFrame:
    """Questions, variants, the logs of their edits, and their tops, a row each."""
    names = np.array([*tops.names, ""], dtype=object)
    sides = {"top": tops.before, "top_after": tops.after}
    lists: dict[str, Any] = {
        c: [[name for name in names[row[:k]] if name] for row in side] for c, side in sides.items()
    }
    return tops.rows[["id", "augmentation", "question", "variant", "edits"]].assign(**lists)
