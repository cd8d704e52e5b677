"""Documents that list true and predicted entities, or tags of tokens, side by side."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from evalbench import errors, readers

TOKENS = "tokens"
TRUE_TAGS = ("ner_tags", "gold_tags", "tags", "labels")
PREDICTED_TAGS = ("predicted_tags", "predictions", "predicted")
GOLD_TAG, PREDICTED_TAG = "gold_tag", "predicted_tag"
FORMS = (
    "one row per entity: id, start, end, entity_class",
    "one row per text: text, the true entities under gold or entities, the predicted ones under predictions or predicted; "
    "each a list of objects with start, end and label (or entity_class, type)",
    "one row per text: tokens, ner_tags and predicted_tags (or predictions), lists of one length, their tags texts such as B-PER",
    "one row per token: token, gold_tag, predicted_tag; or a CoNLL file; or brat's folder",
)


def list_column(frame: pd.DataFrame, names: Sequence[str]) -> str:
    """The first of some columns that has lists; empty where none has."""
    return next((c for c in names if c in frame and frame[c].map(lambda v: isinstance(v, list)).any()), "")


def refused(frame: pd.DataFrame, table: str) -> None:
    """Refuse lists and objects that are in no form that is read.

    Raises ``BadInput``: With the forms.
    """
    nested = [str(c) for c in frame if frame[c].map(lambda v: isinstance(v, (list, dict))).any()]
    if nested and not {"start", "end"} & set(frame.columns):
        head = f"{table}: no entities are found in the lists or objects of {', '.join(nested)}; what is read:"
        raise errors.BadInput.listing(head, FORMS)


def first_of_each(frame: pd.DataFrame, ids: Sequence[str], column: str) -> pd.DataFrame:
    """One row per text, where rows of several models share its true entities.

    Raises ``BadInput`` where these differ.
    """
    cells = frame[column].map(repr)
    key = pd.Series(list(ids), index=frame.index)
    first = cells.groupby(key).transform("first")
    if (cells != first).any():
        wrong = frame.index[cells != first]
        raise errors.BadInput.listing(
            f"gold: column {column}: other true entities than in the first row of the same text:",
            [f"row {row}" for row in wrong],
        )
    return frame[~key.duplicated()]


def token_rows(frame: pd.DataFrame, table: str) -> pd.DataFrame | None:
    """A row per token of texts that list their tokens and tags; None where they do not.

    Raises ``BadInput`` for lists of different lengths, and tags that are not texts: all of them.
    """
    if list_column(frame, (TOKENS,)) == "" or not _are_texts(frame[TOKENS]):
        return None
    predicted = list_column(frame, PREDICTED_TAGS)
    true = list_column(frame, [c for c in TRUE_TAGS if c != predicted])
    columns = {GOLD_TAG: true, PREDICTED_TAG: predicted}
    if not (true and predicted):
        columns = {readers.tagged.TAG: true or predicted}
    if not any(columns.values()):
        refused(frame, table)
    faults = []
    for row, *lists in zip(frame.index, *(frame[c] for c in (TOKENS, *columns.values())), strict=True):
        if not all(isinstance(cells, list) for cells in lists):
            faults.append(f"row {row}: {' and '.join((TOKENS, *columns.values()))} must be lists")
        elif len({len(cells) for cells in lists}) > 1:
            sizes = ", ".join(
                f"{len(cells)} {name}" for cells, name in zip(lists, (TOKENS, *columns.values()), strict=True)
            )
            faults.append(f"row {row}: lists of different lengths: {sizes}")
        elif any(not isinstance(tag, str) for tags in lists[1:] for tag in tags):
            faults.append(
                f"row {row}: tags must be texts such as B-PER; numbers of Hugging Face become texts by "
                f'dataset.features["{next(iter(columns.values()))}"].feature.names'
            )
    if faults:
        raise errors.BadInput.listing(f"{table}: tokens and tags:", faults)
    more = {"model": frame["model"]} if "model" in frame else {}
    cells = {readers.tagged.TOKEN: frame[TOKENS], **{c: frame[old] for c, old in columns.items()}}
    long = pd.DataFrame({"id": readers.spans.texts_in(frame)["id"], **cells, **more}, index=frame.index)
    return long[long[readers.tagged.TOKEN].map(len) > 0].explode([readers.tagged.TOKEN, *columns])


def _are_texts(cells: pd.Series) -> bool:
    """Whether the first cell that lists anything lists texts, not objects with places of tokens."""
    first = next((cell for cell in cells if isinstance(cell, list) and cell), [""])
    return isinstance(first[0], str)
