"""The tables of the cascade: their columns, forms of others, and the questions with everything they can be judged against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.judge import verdicts
from evalbench.readers import Column, Table
from evalbench.studies.cascade import sides, state
from evalbench.studies.cascade.people import WINNERS, mean_marks, preferences
from evalbench.text.numbers import is_cyrillic
from evalbench.text.words import words

_TEXT: Any = {"required": False, "empty_ok": True}


def _answer(side: str) -> Column:
    said = f"the answer of model {side.upper()}; null: unscored"
    return Column(f"answer_{side}", "text", empty_ok=True, keep_null=True, former=(f"output_{side}",), help=said)


ITEMS = Table(
    (
        Column("id", "id", help="the question"),
        Column("question", "text"),
        _answer("a"),
        _answer("b"),
        Column("model_a", "id", required=False, help="its name, one for the whole table"),
        Column("model_b", "id", required=False),
        Column("reference", "text", former=("truth",), **_TEXT, help="the right answer, where it is known"),
        Column("contexts", "texts", former=("chunks",), **_TEXT, help="retrieved passages"),
        Column("relevant", "json", role="none", **_TEXT, help="for each of the contexts 1 if it is relevant, else 0"),
        Column("facts", "texts", **_TEXT, help="what a full answer must say"),
        Column("class_a", "text", **_TEXT, help="how model A's pipeline classified the question"),
        Column("class_b", "text", **_TEXT),
        Column("true_class", "text", **_TEXT, help="the right class"),
        Column("lang", "text", **_TEXT, help="ISO 639-1 code"),
        Column("mark_a", "float", **_TEXT, help="a person's mark of the answer of model A; more is better"),
        Column("mark_b", "float", **_TEXT, help="of the answer of model B"),
    ),
    unique=("id",),
    no_trials="the cascade compares one answer of each model to a question",
    help="one row per question, with the answers of two models",
)
LABELS = Table(
    (
        Column("id", "id", help="the question"),
        Column("model", "id", help="whose answer"),
        Column("mark", "float", empty_ok=True, help="more is better"),
        Column("annotator", "id", required=False, empty_ok=True),
        Column("criterion", "text", **_TEXT),
        Column("comment", "text", **_TEXT),
    ),
    required=False,
    help="people's marks of answers",
)
ANNOTATED = Table(
    (
        Column("id", "id", help="the question"),
        Column("winner", "text", **_TEXT, help="a, b or tie, or a model's name; empty: not labelled"),
        Column("annotator", "id", required=False, empty_ok=True),
        Column("comment", "text", **_TEXT),
    ),
    required=False,
    help="the table to_label.csv of an earlier run, filled in, or the comparisons that label merge wrote",
)
DICTIONARY = Table(
    (Column("term", "text", help="a word or several that questions about it have"), Column("fact", "text")),
    required=False,
    help="facts by term",
)
VERDICTS = Table(
    (
        Column("id", "id", help="of what was asked: column item_id of the table calls"),
        Column("task", "text", help="what was asked: mark, pairwise, ranking, claims, support, …"),
        Column("judge", "id", required=False, empty_ok=True, help="whose verdict, where there are several judges"),
        Column("label", "text", **_TEXT),
        Column("reason", "text", **_TEXT),
        Column("reply", "json", **_TEXT, help="what else was said, an object"),
    ),
    required=False,
    help="verdicts that were given before, for a judge that is named there, or recorded",
)
SCHEMA: Mapping[str, Table] = {
    "items": ITEMS,
    "labels": LABELS,
    "annotated": ANNOTATED,
    "dictionary": DICTIONARY,
    "verdicts": VERDICTS,
}
_LONG = Table((Column("answer", "text"), Column("model", "id")))
"""Columns of answers below each other."""


def adapt(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Tables of other forms: usual names of columns, and answers of two models below each other, made into one row a question.

    Raises ``BadInput`` where answers below each other are of another number than two models.
    """
    found, items = dict(frames), frames.get("items")
    if items is not None:
        said = readers.former.under_new_names(sides.answers(items, ITEMS.columns), {"output": "answer"})
        found["items"] = items = readers.roles.with_roles(said, _LONG, {})
    if items is not None and {"model", "answer", "question"} <= set(items.columns) and not _named(found):
        found["items"] = items = numbered_by_question(items)
    if items is not None and {"id", "model", "answer"} <= set(items.columns) and "answer_a" not in items:
        found["items"] = side_by_side(items)
        found["items"].attrs.update(items.attrs)
    return _with_people(found)


def _with_people(frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables, with who won and the marks of both answers as tables of their own where the items hold them."""
    items = frames.get("items")
    if items is None or {"labels", "annotated"} & {*frames} or not {"answer_a", "answer_b"} <= {*items}:
        return frames
    numbered, said = readers.written.numbered({"items": items}, {"items": ITEMS}, {})
    items = readers.roles.noted(numbered["items"], items, {}, [*said.values()])
    names = _names(items)
    returned, labels = sides.winners(items, names, ITEMS.columns), sides.marks(items, names)
    if returned is None and labels is None:
        sides.ask_of_marks(items, ITEMS.columns)
        return frames
    used = [*returned.attrs[readers.roles.READ_AS]] if returned is not None else ["mark_a", "mark_b"]
    items = readers.roles.noted(items.drop(columns=used), items, {})
    parts = {"annotated": returned, "labels": labels}
    return {**frames, "items": items, **{name: part for name, part in parts.items() if part is not None}}


def _named(frames: Mapping[str, pd.DataFrame]) -> bool:
    """Whether questions have ids, in this table or in another one that speaks of them."""
    return any("id" in map(str, frame.columns) for frame in frames.values())


def numbered_by_question(rows: pd.DataFrame) -> pd.DataFrame:
    """Answers of two models below each other, without ids: rows of the same question share a number.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"question": ["Why?", "When?", "Why?"], "model": ["oak", "oak", "fern"], "answer": ["a", "b", "c"]})
    >>> numbered_by_question(rows)["id"].tolist()
    ['q0001', 'q0002', 'q0001']
    """
    asked = [cell if isinstance(cell, str) else "" for cell in rows["question"]]
    place: dict[str, int] = {}
    ids = [f"q{place.setdefault(text, len(place) + 1):04d}" for text in asked]
    out = rows.assign(id=ids)
    out.attrs["notes"] = [
        *rows.attrs.get("notes", ()),
        f"no column id: rows share a number where question is the same, {min(ids, default='')} to {max(ids, default='')} "
        "(--map COLUMN=id takes a column instead)",
    ]
    return out


def side_by_side(rows: pd.DataFrame) -> pd.DataFrame:
    """Answers of two models below each other, as one row a question: model A is the first by name.

    Raises ``BadInput`` if there are not two models, they share no question, or one has several answers to a question.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"id": ["1", "1"], "model": ["oak", "fern"], "answer": ["Yes.", "No."], "question": ["Why?"] * 2})
    >>> side_by_side(rows)[["model_a", "answer_a", "answer_b"]].values.tolist()
    [['fern', 'No.', 'Yes.']]
    """
    names = sorted({str(name) for name in rows["model"].dropna()})
    if len(names) != 2:
        raise errors.BadInput(
            f"the cascade compares two models, and the column model names {len(names)} ({', '.join(names[:5])}"
            f"{', …' if len(names) > 5 else ''}): give a table with the answers of two"
        )
    parts = [rows[rows["model"].astype(str) == name] for name in names]
    doubled = [str(i) for part in parts for i in part.loc[part["id"].duplicated(), "id"]]
    if doubled:
        raise errors.BadInput(f"several answers of one model to a question, first {doubled[0]}: the cascade takes one")
    a, b = (part.drop(columns="model").set_index("id") for part in parts)
    if a.index.intersection(b.index).empty:
        raise errors.BadInput(f"{' and '.join(names)} share no question: the cascade compares two answers to one")
    both = a.drop(columns="answer").combine_first(b.drop(columns="answer"))
    both = both.assign(
        model_a=names[0],
        model_b=names[1],
        answer_a=a["answer"].reindex(both.index),
        answer_b=b["answer"].reindex(both.index),
    )
    out = both.reset_index().astype({"answer_a": object, "answer_b": object})
    for column in ("answer_a", "answer_b"):
        out[column] = [value if isinstance(value, str) else None for value in out[column]]
    return out


def check(data: readers.Dataset) -> None:
    """Refuse what the schema cannot express: several names of a model, flags that do not fit the contexts, unknown winners."""
    faults = []
    rows = data["items"]
    for column in ("model_a", "model_b"):
        if column in rows and rows[column].nunique() > 1:
            faults.append(
                f"column {column}: {rows[column].nunique()} names, where it must be one: the cascade compares two models"
            )
    names = models_of(data)
    if names["a"] == names["b"]:
        faults.append(f"model_a and model_b are both {names['a']!r}")
    if "relevant" in rows:
        contexts: Any = rows["contexts"] if "contexts" in rows else [[]] * len(rows)
        wrong = [
            str(i)
            for i, flags, own in zip(rows["id"], rows["relevant"], contexts, strict=True)
            if not _fits(flags, own)
        ]
        if wrong:
            faults.append(
                f"column relevant: expected a list of 0 and 1, one for each of the contexts (ids {', '.join(wrong[:5])}{', …' if len(wrong) > 5 else ''})"
            )
    returned = data.get("annotated")
    if returned is not None and "winner" in returned:
        known = {*WINNERS, *names.values()}
        cells = returned["winner"].fillna("").map(_winner)
        odd = cells[~cells.isin({"", *known})]
        places = data.rows.get("annotated", returned.index + 1)[odd.index]
        file = data.files.get("annotated", data.label.name)
        if fault := _odd_winners(odd, places):
            said = str(fault.as_given(data.read_as.get("annotated", {})))
            faults.append(said if file == data.label.name else f"{file}: {said}")
    if faults:
        raise errors.BadInput.listing(f"{data.label}{readers.tables.counted_as(faults, data.sheets)}:", faults)


def _odd_winners(odd: pd.Series, rows: pd.Index) -> readers.cells.Fault | None:
    """The fault of winners that name no side, with their rows."""
    expected = "expected a, b, tie or a model's name, or nothing where nobody judged"
    words = ", ".join(f'"{word}"' for word in dict.fromkeys(odd))
    return readers.cells.Fault("winner", expected, tuple(rows), words) if len(odd) else None


def unmatched(data: readers.Dataset, models: Mapping[str, str]) -> list[core.notes.Note]:
    """Labels, and rows that came back, of questions or models that the items lack: nothing is made of them."""
    known, found = {*data["items"]["id"].astype(str)}, []
    for name in ("labels", "annotated"):
        table = data.get(name)
        if table is None or not len(table):
            continue
        asked = {str(i) if name == "labels" else str(i).removeprefix("'") for i in table["id"]}
        if strangers := sorted(asked - known):
            near = readers.strangers.written_otherwise(strangers, known)
            short = f"{core.wording.count(len(strangers))} of {core.counted(len(asked), 'question')} of the table {name} are not among the items"
            found.append(core.notes.Note("unmatched", f"{short}{f': {near}' if near else f', such as {strangers[0]}'}"))
        if name == "labels" and (others := sorted({*table["model"].astype(str)} - {*models.values()})):
            near = readers.strangers.written_otherwise(others, models.values())
            short = f"labels of {', '.join(others[:3])} are of neither {models['a']} nor {models['b']}"
            found.append(core.notes.Note("unmatched", f"{short}{f': {near}' if near else ''}"))
    return found


def _fits(flags: Any, contexts: Any) -> bool:
    if flags is None:
        return True
    given = [] if contexts is None else list(contexts)
    return isinstance(flags, list) and len(flags) == len(given) and all(flag in (0, 1, True, False) for flag in flags)


def _winner(cell: Any) -> str:
    text = str(cell).strip()
    return text.casefold() if text.casefold() in WINNERS else text


def models_of(data: readers.Dataset) -> dict[str, str]:
    """Side → the name of its model; A and B where the table has none."""
    return _names(data["items"])


def _names(rows: pd.DataFrame) -> dict[str, str]:
    return {
        side: str(rows[f"model_{side}"].iloc[0]) if f"model_{side}" in rows and len(rows) else side.upper()
        for side in ("a", "b")
    }


def judged_in_words(models: Mapping[str, str]) -> str:
    return kit.collecting.several("model", models.values())


def returned_of(data: readers.Dataset, models: Mapping[str, str]) -> dict[str, state.Preference]:
    """What annotators said in the table that came back, by question."""
    table = data.get("annotated")
    if table is None or "winner" not in table or table.empty:
        return {}
    rows = table.assign(winner=table["winner"].fillna("").map(_winner))
    # A table that label merge wrote has a column choice: there the empty winner of a comparison that was made is a tie.
    if "choice" in rows:
        rows["winner"] = rows["winner"].mask((rows["winner"] == "") & (rows["choice"].fillna("") == "tie"), "tie")
    rows = rows[rows["winner"] != ""]
    names = {"a": models["a"], "b": models["b"]}
    of_name = {name: side for side, name in names.items()}
    side = rows["winner"].map(lambda w: of_name.get(w, w))
    ids = [str(i).removeprefix("'") for i in rows["id"]]
    said = rows["annotator"].fillna("").astype(str) if "annotator" in rows else pd.Series("", index=rows.index)
    halves = [
        pd.DataFrame(
            {
                "id": ids,
                "annotator": said.to_numpy(),
                "model": names[own],
                "mark": [1.0 if w == own else 0.5 if w == "tie" else 0.0 for w in side],
            }
        )
        for own in ("a", "b")
    ]
    return preferences(pd.concat(halves, ignore_index=True), names)


def cases_of(data: readers.Dataset) -> list[state.Case]:
    """Every question with two answers, in the order of the ids."""
    rows = data["items"].sort_values("id", kind="stable", ignore_index=True)
    labels, models = data.get("labels"), models_of(data)
    people = preferences(labels, models) if labels is not None and len(labels) else {}
    marks = mean_marks(labels, models) if labels is not None and len(labels) else {}
    entries = _entries(data)
    found = []
    for row in rows.to_dict("records"):
        if not (isinstance(row["answer_a"], str) and isinstance(row["answer_b"], str)):
            continue
        name, question = str(row["id"]), str(row["question"])
        contexts, flags = tuple(_list(row.get("contexts"))), _list(row.get("relevant"))
        right = _text(row.get("true_class"))
        classes = {side: _text(row.get(f"class_{side}")) for side in ("a", "b")}
        found.append(
            state.Case(
                name,
                question,
                row["answer_a"],
                row["answer_b"],
                _text(row.get("lang")) or ("ru" if is_cyrillic(question) else "en"),
                reference=_text(row.get("reference")),
                relevant=tuple(c for c, flag in zip(contexts, flags, strict=False) if flag) if flags else (),
                contexts=() if flags else contexts,
                facts=tuple(fact for fact in _list(row.get("facts")) if fact.strip()),
                dictionary=_of_question(question, entries),
                suspect=tuple(side for side, own in classes.items() if right and own and own != right),
                people=people.get(name),
                marks=marks.get(name, {}),
            )
        )
    return found


def _entries(data: readers.Dataset) -> list[tuple[tuple[str, ...], str]]:
    table = data.get("dictionary")
    if table is None:
        return []
    rows = sorted({(str(t), str(f)) for t, f in zip(table["term"], table["fact"], strict=True)})
    return [(tuple(words(term, lower=True)), fact) for term, fact in rows if words(term)]


def _of_question(question: str, entries: Sequence[tuple[tuple[str, ...], str]]) -> tuple[str, ...]:
    """The facts whose term the question has, as words in a row."""
    told = words(question, lower=True)
    runs = {n: {tuple(told[i : i + n]) for i in range(len(told) - n + 1)} for n in {len(term) for term, _ in entries}}
    return tuple(fact for term, fact in entries if term in runs[len(term)])


def _text(cell: Any) -> str:
    return cell.strip() if isinstance(cell, str) else ""


def _list(cell: Any) -> list[Any]:
    return list(cell) if isinstance(cell, list | tuple) else [cell] if isinstance(cell, str) and cell else []


def judge_of(name: str | verdicts.InProcess, data: readers.Dataset) -> state.By | None:
    """A judge that the data set's table of verdicts names, or ``recorded`` for all of that table; any other as it is, none for none.

    Raises ``BadInput`` if ``recorded`` has no table, or a table of several judges.
    """
    if not name or callable(name):
        return name or None
    table = data.get("verdicts")
    names = sorted(set(table["judge"].fillna("")) - {""}) if table is not None and "judge" in table else []
    if table is not None and name in names:
        return verdicts.Recording([_row(row) for row in table[table["judge"] == name].to_dict("records")], name)
    if name != kit.judging.OWN_TABLE:
        return name
    table = kit.judging.own_verdicts(data, "or recorded:FILE")
    if len(names) > 1:
        raise errors.BadInput(
            f"judge='recorded': the table verdicts has several judges: name one of {', '.join(names)}"
        )
    return verdicts.Recording([_row(row) for row in table.to_dict("records")], kit.judging.OWN_TABLE)


def _row(row: Mapping[Any, Any]) -> dict[Any, Any]:
    return {key: value for key, value in row.items() if key != "judge"}
