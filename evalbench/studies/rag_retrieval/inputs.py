"""The tables of retrieval: what each may hold, what is refused, and how one row per query becomes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, readers
from evalbench.metrics.ranking import among
from evalbench.readers import Column, Table

COMPARED = 100_000
"""So many identifiers at most are looked at for other writings of them."""
ONLY = "run"
"""The run's name where the table names none."""
SAMPLED = 20_000
"""Rows of a table that is read in parts on which it rests what its columns are."""

_QUERY = Column("id", "id", former=("query_id",), help="the query")
_PASSAGE = Column("doc_id", "id", former=("passage_id",), help="the passage")
SCHEMA: Mapping[str, Table] = {
    "run": Table(
        (
            _QUERY,
            _PASSAGE,
            Column("score", "float", required=False, help="the higher, the earlier; goes before rank"),
            Column("rank", "int", required=False, low=1, help="from 1; needed without a score"),
            Column("model", "id", required=False, groups=True, former=("run",), help="the search whose ranking it is"),
        ),
        unique=("id", "doc_id", "model"),
        trials="model",
        lists=True,
        sampled=SAMPLED,
        dealt=True,
        of_all=(("model", readers.schema.TRIAL),),
        trec=("id", "", "doc_id", "rank", "score", "model"),
        help="one row per query and passage that a search found; of several searches with a column model, or a TREC run; "
        "or one row per query with the lists relevant and retrieved of passage ids, the first the best",
    ),
    "qrels": Table(
        (_QUERY, _PASSAGE, Column("relevance", "float", empty_ok=True, low=-100, high=100, help="null: not judged")),
        unique=("id", "doc_id"),
        sampled=SAMPLED,
        dealt=True,
        trec=("id", "", "doc_id", "relevance"),
        help="one row per judged passage of a query, or TREC qrels; not needed beside lists relevant and retrieved",
    ),
    "documents": Table(
        (Column("doc_id", "id"), Column("text", "text", empty_ok=True)),
        unique=("doc_id",),
        required=False,
        stem="corpus",
        describes=True,
        help="the passages' texts",
    ),
    "questions": Table(
        (Column("id", "id"), Column("question", "text", empty_ok=True)),
        unique=("id",),
        required=False,
        stem="queries",
        describes=True,
        help="the queries' texts",
    ),
    "answers": Table(
        (
            Column("id", "id", help="the query"),
            Column("correct", "float", empty_ok=True, low=0, high=1, help="0 or 1, or between; null: unscored"),
            Column("answered_by", "id", required=False, groups=True, help="the language model"),
            Column("model", "id", required=False, help="the search whose passages it had"),
        ),
        unique=("id", "answered_by", "model"),
        required=False,
        help="whether a language model's answer was right, per query and model",
    ),
}

_ANSWERS = {"query_id": "id", "answer_correct": "correct", "run": "model"}
"""What the columns of answers were called before, and are called now."""


def adapt(frames: Mapping[str, pd.DataFrame]) -> Mapping[str, pd.DataFrame]:
    """BEIR's names of columns as ours: ``score`` of qrels, ``_id`` of documents, ``text`` of questions; lists of a query as rows."""
    out = _under_new_names(by_query(frames))
    for name, frame in list(out.items()):
        names = {"query-id": "id", "corpus-id": "doc_id"}
        given = {*frame.columns, *frame.attrs.get(readers.roles.READ_AS, ())}
        if name == "qrels" and "relevance" not in frame and "corpus-id" in given:
            names["score"] = "relevance"
        if name == "documents" and "doc_id" not in frame:
            names["_id"] = "doc_id"
        if name == "questions":
            names["text"] = "question"
        known = {old: new for old, new in names.items() if old in frame and new not in frame}
        out[name] = frame.rename(columns=known)
    return out


def _under_new_names(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables without their former names of columns.

    In answers ``model`` was who answered, and ``run`` the search: so it is where a column has a former name, or where no
    search has any of the names in ``model``.
    """
    out = {name: frame for name, frame in frames.items() if name != "answers"}
    if (answers := frames.get("answers")) is None:
        return out
    names = _ANSWERS
    if "model" in answers and "answered_by" not in answers:
        searches = set(out["run"]["model"].map(str)) if "model" in out.get("run", ()) else set()
        if "run" in answers or searches.isdisjoint(answers["model"].map(str)):
            names = names | {"model": "answered_by"}
    answers = readers.former.under_new_names(answers, names)
    if "answered_by" in answers:
        answers, said = readers.nameless.with_models(answers, "answered_by")
        answers.attrs["notes"] = [*answers.attrs.get("notes", ()), *said]
    return {**out, "answers": answers}


def check(data: readers.Dataset) -> None:
    """Refuse runs without an order, and runs that share no query with the judgements.

    Raises ``BadInput``: All faults in one message.
    """
    run, qrels = data["run"], data["qrels"]
    judged = qrels[qrels["relevance"].notna()]
    _refuse([*_orderless(run), *_apart(*({c: t[c].unique() for c in ("id", "doc_id")} for t in (judged, run)))])


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        raise errors.BadInput.listing("the tables do not fit:", faults)


def _orderless(run: pd.DataFrame) -> list[str]:
    ordered = "score" in run or "rank" in run
    return [] if ordered else ["run: needs a column score or rank, by which its passages are in order"]


def _apart(judged: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """What is wrong where no query, or no passage, of the runs is judged; each name once."""
    if not len(judged["id"]):
        return ["qrels: no passage has a relevance"]
    if not among(found["id"], judged["id"]).any():
        otherwise = readers.strangers.written_otherwise(found["id"], judged["id"])
        return [
            f"run and qrels share no query: qrels have {_some(judged['id'])}, the run {_some(found['id'])}; "
            f"{otherwise or 'were queries numbered by their place?'}"
        ]
    if not among(found["doc_id"], judged["doc_id"]).any():
        otherwise = readers.strangers.written_otherwise(judged["doc_id"], found["doc_id"])
        return [
            f"run and qrels share no passage: qrels have {_some(judged['doc_id'])}, the run {_some(found['doc_id'])}"
            f"{'; ' * bool(otherwise)}{otherwise}"
        ]
    return []


def _some(ids: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(ids)[:3]))


class Given(NamedTuple):
    """The tables as the study reads them.

    - ``runs``: ``id``, ``doc_id``, ``score`` of each run, by its name.
    - ``qrels``: Without passages that were not judged.
    """

    runs: Mapping[str, pd.DataFrame]
    qrels: pd.DataFrame


def given(data: readers.Dataset) -> Given:
    """Runs and judgements.

    Raises ``BadInput``: For runs without an order.
    """
    table, columns = data["run"], ["id", "doc_id", "score"]
    _refuse(_orderless(table))
    if "score" not in table:
        table = table.assign(score=-table["rank"].astype(float))
    runs = {ONLY: table[columns]}
    if "model" in table:
        own = {str(name): rows[columns] for name, rows in table.groupby("model", sort=True)}
        runs = {
            name: own.get(name, table[columns].iloc[:0]) for (name,) in readers.dealt.values_of(table, ("model",)) or ()
        }
    return Given(runs, data["qrels"][data["qrels"]["relevance"].notna()][["id", "doc_id", "relevance"]])


def within_scale(qrels: pd.DataFrame, max_grade: float) -> None:
    """Refuse grades above the highest of the scale."""
    if (highest := qrels["relevance"].max()) > max_grade:
        raise errors.BadInput(f"max_grade: qrels have a grade of {highest:g}, above {max_grade:g}")


def counted(data: readers.Dataset, found: Given) -> dict[str, pd.DataFrame]:
    """What notes rest on.

    - Returns ``rows``: How many rows of qrels there are, how many without a relevance, and rankings whose ranks and scores disagree; to be added up.
    - Returns ``names``: The different queries and passages of each run, and under no run those that are judged: ``model, column, name``.
    """
    table = data["run"]
    disagreeing = _disagreeing(table) if "score" in table and "rank" in table else 0
    n = len(data["qrels"])
    rows = pd.DataFrame({"n": [n], "unmarked": [n - len(found.qrels)], "disagreeing": [disagreeing]})
    names = [
        pd.DataFrame({"model": name, "column": column, "name": own[column].unique()})
        for name, own in (("", found.qrels), *found.runs.items())
        for column in ("id", "doc_id")
    ]
    return {"rows": rows, "names": pd.concat(names, ignore_index=True)}


def notes_of(rows: pd.DataFrame, names: pd.DataFrame) -> list[str]:
    """What a reader must know of the tables by what was :func:`counted`.

    Raises ``BadInput``: Where no query or no passage of the runs is judged.
    """
    known = {key: {*own} for key, own in names.groupby(["model", "column"], sort=False)["name"]}
    runs = sorted({*names["model"]} - {""})
    judged = {column: known.get(("", column), set()) for column in ("id", "doc_id")}
    _refuse(
        _apart(
            {c: sorted(own) for c, own in judged.items()},
            {c: sorted(names.loc[(names["model"] != "") & (names["column"] == c), "name"].unique()) for c in judged},
        )
    )
    n, unmarked, disagreeing = (int(rows[column].sum()) for column in ("n", "unmarked", "disagreeing"))
    notes: list[str] = []
    if unmarked:
        notes.append(f"Rows of qrels without a relevance, taken as not judged: {unmarked} of {n}.")
    if disagreeing:
        notes.append(
            f"The order of column rank is not that of column score in {core.counted(disagreeing, 'ranking')}; the score decides, as in "
            "trec_eval."
        )
    for name in runs:
        if beyond := len(known[name, "id"] - judged["id"]):
            asked = len(known[name, "id"])
            notes.append(f"{name}: {beyond} of its {asked} queries have no judgements and were left out.")
        for column, what in (("id", "queries"), ("doc_id", "passages")):
            strangers = sorted(judged[column] - known[name, column])
            own = sorted(known[name, column])[:COMPARED] if strangers else ()
            if said := readers.strangers.written_otherwise(strangers[:COMPARED], own):
                short = f"{len(strangers)} judged {what} are not in {name}: {said}"
                notes.append(core.Note("unmatched", short))
    return notes


def _disagreeing(table: pd.DataFrame) -> int:
    """Rankings in which a passage of a better rank has a lower score."""
    keys = [key for key in ("model", "id") if key in table]
    rows: Any = table.sort_values([*keys, "rank"], kind="stable")
    same = (rows[keys] == rows[keys].shift()).all(axis=1)
    wrong = same & (rows["score"] > rows["score"].shift())
    return int(rows.loc[wrong, keys].drop_duplicates().shape[0])


RELEVANT, RETRIEVED = "relevant", "retrieved"
FORMS = (
    "one row per query and passage found: id, doc_id, score or rank, with a table qrels (-p qrels=FILE)",
    "one row per query: id, and the lists relevant and retrieved of passage ids, the first retrieved the best",
    "TREC files of a run and of qrels, or BEIR's tables",
)


def by_query(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Tables ``run`` and ``qrels`` (and ``questions``) of a row per query; other tables stay as they are.

    A query without an id is numbered by its text, or by its place where there is none.

    Raises ``BadInput`` for lists that are in neither form, cells that are no lists of ids, and queries of several runs
    whose relevant passages differ: all of them.
    """
    out = dict(frames)
    frame = frames.get("run")
    if frame is None or {"doc_id", "passage_id", "corpus-id"} & set(frame.columns):
        return out
    relevant, found = _columns(frame)
    if not relevant:
        return out
    if "qrels" in out:
        raise errors.BadInput(f"a table qrels beside the lists of {relevant}: which is it? Leave one out")
    text = readers.finding.column_of(frame, "question", held=readers.finding.is_text)
    own = readers.finding.column_of(frame, "id", "query_id", held=lambda cell: isinstance(cell, (str, int)))
    run = readers.finding.column_of(frame, "model", "run", held=readers.finding.is_text)
    if own:
        ids: Any = frame[own].tolist()
    else:
        numbers = pd.factorize(frame[text].map(repr))[0] if text else np.arange(len(frame))
        ids = [f"q{i + 1:04d}" for i in numbers]
    if run and len(found) > 1:
        raise errors.BadInput(
            f"run: a column {run} beside the lists of {', '.join(found)}: which names the search? Leave one out"
        )
    faults = []
    judged = frame[relevant].map(lambda cell: [] if cell is None or cell != cell else readers.rankings.ids_in(cell))
    faults += [
        readers.rankings.not_ids(row, relevant, frame.at[row, relevant]) for row in frame.index if judged[row] is None
    ]
    lists = {name: readers.rankings.in_order(frame[name], name) for name in found}
    faults += [fault for _, wrong in lists.values() for fault in wrong]
    table = pd.DataFrame({"id": ids, "judged": judged}, index=frame.index).assign(
        **({"model": frame[run]} if run else {})
    )
    if not faults and run:
        sets = table["judged"].map(lambda cell: repr(sorted(cell)))
        differ = table.index[sets != sets.groupby(table["id"]).transform("first")]
        faults += [f"row {row}: {relevant} differs from that of the query's first row" for row in differ]
    if faults:
        raise errors.BadInput.listing("run: one row per query:", faults)
    once = ~table["id"].duplicated() if run else np.full(len(table), True)
    several = len(found) > 1
    parts = [
        _long(table.drop(columns="judged").assign(found=cells, **({"model": name} if several else {})), "found")
        for name, (cells, _) in lists.items()
    ]
    out["run"] = pd.concat([part.assign(rank=part.groupby(level=0, sort=False).cumcount() + 1) for part in parts])
    graded = any(one.value is not None for cell in judged for one in cell)
    out["run"].attrs["notes"] = [
        *frame.attrs.get("notes", ()),
        *(f"column {old} was read as {new}" for old, new in ((own, "id"), (run, "model")) if old not in ("", new)),
        f"read as one row per query: passages in the order of {' and of '.join(found)}; those of {relevant} have "
        + ("the relevance that it says" if graded else "relevance 1")
        + ("" if own else f"; queries were numbered by {text or 'their place'}"),
    ]
    long = _long(table.loc[once, ["id", "judged"]], "judged")
    out["qrels"] = long.assign(
        doc_id=[one.id for one in long["doc_id"]],
        relevance=[1 if one.value is None else one.value for one in long["doc_id"]],
    )
    if text and "questions" not in out:
        out["questions"] = pd.DataFrame({"id": table["id"], "question": frame[text]})[once]
    return out


def _columns(frame: pd.DataFrame) -> tuple[str, list[str]]:
    """The column of the relevant passages, and those of the found ones, of which several are as many searches; empty for none."""
    ids = [str(c) for c in frame if readers.rankings.lists_ids(frame[c])]
    several = [name for name in ids if frame[name].map(lambda cell: isinstance(cell, (list, dict))).any()]
    relevant = readers.finding.column_of(frame, RELEVANT)
    found = readers.finding.column_of(frame, RETRIEVED)
    others = [name for name in (ids if relevant else several) if name not in (relevant, found)]
    if relevant and (found or others):
        return relevant, [found] if found else others
    if several or (relevant and not {"score", "rank"} & set(frame.columns)):
        lists = [name for name in dict.fromkeys((relevant, found, *several)) if name]
        way_out = f"\nname them: --map NAME={RETRIEVED} --map NAME={RELEVANT}"
        raise errors.BadInput.listing(
            f"run: no ranking is found in the lists of {', '.join(lists)}; what is read:", FORMS, end=way_out
        )
    return "", []


def _long(table: pd.DataFrame, column: str) -> pd.DataFrame:
    listed = table[table[column].map(lambda cell: bool(cell))]
    return listed.explode(column).rename(columns={column: "doc_id"})
