"""Studies of several tables that do not fit give, part by part, what they give in one piece."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tables_in_parts import Tables, cited, entities, many_classes, otherwise, retrieved, searches, solved, trips
from tables_of_scores import apart, bare, beside, long, of_scores, unasked

from evalbench import load, studies
from evalbench.core.result import Result
from evalbench.core.schedulers import PROCESSES
from evalbench.errors import BadInput
from evalbench.kit import made_files, parts
from evalbench.readers import large
from evalbench.readers.dealt import ends_of

TEXTS = {"texts", "answers", "solutions"}


@dataclass(frozen=True)
class Case:
    """A study, its tables, and how it is asked."""

    study: str
    tables: Callable[..., Tables]
    slices: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.study}-{self.tables.__name__}"


CASES = [
    Case("rag_retrieval", searches, ("topic", "letters"), {"metrics": ["ndcg", "mrr", "hit_rate"], "ks": [1, 3]}),
    Case("ner_quality", entities, ("topic", "lang")),
    Case("ner_quality", many_classes),
    Case("trajectories", trips, ("topic", "letters", "colour")),
    Case("imported", beside, ("topic",)),
    Case(
        "imported",
        unasked,
        (),
        {"metrics": ["rating", "correct"], "lights": {"rating": {"green_from": 3, "yellow_from": 2}}},
    ),
    Case("imported", apart, ("topic",), {"scales": {"right": [0, 1]}}),
    Case("imported", long, ("topic",)),
    Case("imported", bare),
    Case("imported", of_scores),
    Case("trajectories", trips, (), {"success_by": "requirements"}),
    Case("rag_generation", retrieved, ("topic",), {"max_unscored": 0.5}),
    Case("rag_generation", retrieved, (), {"n_samples": 11, "sample_method": "random", "metrics": ["faithfulness"]}),
    Case("rag_generation", retrieved, (), {"n_samples": 5}),
    Case("citation", cited, ("topic",), {"max_unscored": 0.5}),
    Case("citation", cited, (), {"n_samples": 11, "sample_method": "random", "sources_complete": True}),
    Case("stability", otherwise, ("topic",), {"levels": {"negation": "other"}}),
    Case("stability", otherwise, (), {"n_samples": 15, "metric": "exact_match"}),
    Case("cot_levels", solved, ("topic",)),
    Case(
        "cot_levels",
        solved,
        (),
        {"n_samples": 9, "answer_extractor": "flexible", "answer_markers": ["####", "answer:"]},
    ),
]


def written(folder: Path, tables: Tables, files: int = 3) -> Path:
    for name, frame in tables.items():
        (folder / name).mkdir(parents=True)
        for k in range(min(files, len(frame))):
            frame.iloc[k::files].to_parquet(folder / name / f"part-{k}.parquet")
    return folder


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROCESSES, "1")


def small(monkeypatch: pytest.MonkeyPatch, case: Case, rows: int = 25) -> None:
    """Tables of a hundred rows do not fit; where ranges end is seen in all ids, of which a small sample has too few."""
    ids = [*map(str, next(iter(case.tables().values()))["id"])]
    monkeypatch.setattr(parts, "ends_of", lambda sampled, n: ends_of(ids, n))
    monkeypatch.setattr(large, "LARGE_ROWS", 50)
    monkeypatch.setattr(parts, "ROWS", rows)
    schema = studies.study(case.study).SCHEMA
    for name, table in schema.items():
        if table.dealt:
            monkeypatch.setitem(schema, name, replace(table, sampled=min(table.sampled, 20)))


def found(case: Case, folder: Path, columns: Mapping[str, str] = {}, **options: Any) -> tuple[Result, tuple[Any, ...]]:
    """The result, and what only the reading of the tables said."""
    data = load(folder, study=case.study, slices=case.slices, columns=columns)
    result = studies.study(case.study).evaluate(data, **{"n_resamples": 50, **case.options, **options})
    return result, data.notes


def plain(note: str) -> str:
    """A note; nothing of one on how texts are written, which is of a sample."""
    return (
        ""
        if re.match(r"\d+ of \d+ (sampled )?(answer|response|output)s? (is|are|reads?|holds?|writes?) ", note)
        else note
    )


def as_text(cell: Any) -> str:
    """A cell of any kind, so that lists are those of files."""
    cell = cell.tolist() if isinstance(cell, np.ndarray) else cell
    return "" if cell is None or cell is pd.NA or cell != cell else str(cell)


def assert_same(one: tuple[Result, tuple[Any, ...]], other: tuple[Result, tuple[Any, ...]]) -> None:
    (a, read), (b, read_in_parts) = one, other
    assert any("rows were read, in parts" in note for note in read_in_parts)
    assert not any("rows were read, in parts" in note for note in read)
    pd.testing.assert_frame_equal(a.items, b.items, check_dtype=False)
    pd.testing.assert_frame_equal(a.figures, b.figures)
    assert list(a.tables) == list(b.tables)
    asked = {name for name in a.tables if "prompt_hash" in a.tables[name]}
    texts = TEXTS & {*b.stored}  # of which the sample and the extreme cases are in memory
    for name in {*a.tables} - {"flickering"} - texts - asked:
        tables = (result.tables[name].reset_index(drop=True) for result in (a, b))
        pd.testing.assert_frame_equal(*tables, check_dtype=False)
    for name, kept in b.stored.items():
        stored = pd.read_parquet(kept.path)[[*a.tables[name]]]
        if "augmentation" in stored:
            stored = stored.sort_values(["model", "augmentation", "id"], kind="stable", ignore_index=True)
        if name in asked:  # what is asked in two parts is in both
            assert {*zip(stored["item_id"], stored["prompt"], strict=True)} == {
                *zip(a.tables[name]["item_id"], a.tables[name]["prompt"], strict=True)
            }
            continue
        pd.testing.assert_frame_equal(a.tables[name].map(as_text), stored.map(as_text), check_dtype=False)
    notes = [
        [text for note in r.notes if note not in said and (text := plain(str(note)))]
        for r, said in ((a, read), (b, read_in_parts))
    ]
    assert notes[0] == notes[1]
    assert a.verdict.sentence == b.verdict.sentence
    left = {"notes", "first_rank", "sentence", "data", "tables", "trials"}
    json_a, json_b = ({key: value for key, value in r.to_json().items() if key not in left} for r in (a, b))
    assert json_a == json_b
    trials = [{**(r.to_json().get("trials") or {}), "flickering": 0} for r in (a, b)]
    assert trials[0] == trials[1]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("trials", [0, 2])
def test_figures_are_those_of_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case, trials: int
) -> None:
    folder = written(tmp_path / "log", case.tables(trials=trials))
    one = found(case, folder)
    for rows in (7,) if trials else (7, 25, 1000):
        small(monkeypatch, case, rows)
        assert_same(one, found(case, folder))


def pages_of(result: Result) -> dict[str, Any]:
    """What a page shows of a result: every picture, table and sheet that needs nothing else."""
    module = importlib.import_module(f"evalbench.studies.{result.study}.pictures")
    own = {name: one for name, one in vars(module).items() if inspect.isfunction(one) and not name.startswith("_")}
    alone = {
        name: one
        for name, one in own.items()
        if inspect.unwrap(one).__module__ == module.__name__
        and [p.name for p in inspect.signature(one).parameters.values() if p.default is p.empty] == ["result"]
    }
    few = {name: {"rows": 2} if "rows" in inspect.signature(one).parameters else {} for name, one in alone.items()}
    return {name: one(result, **few[name]) for name, one in alone.items()}


@pytest.mark.parametrize("trials", [0, 2])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_pages_show_the_cases_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case, trials: int
) -> None:
    folder = written(tmp_path / "log", case.tables(n=100 if trials else 300, trials=trials))  # most cases are not kept
    one = pages_of(found(case, folder)[0])
    small(monkeypatch, case, 60)
    monkeypatch.setattr(made_files, "EXTREMES", 4 if trials else 2)
    again = pages_of(found(case, folder)[0])
    assert one
    assert {name: drawn(page) for name, page in again.items()} == {name: drawn(page) for name, page in one.items()}


def drawn(page: Any) -> str:
    return page.to_html() if isinstance(page, pd.DataFrame) else str(page)


def sample(study: str) -> Tables:
    """The tables of a study's sample, their lists and objects as texts."""
    tables = load(str(studies.defaults(study)["data"]), study=study).tables
    return {
        name: frame.map(lambda cell: json.dumps(cell) if isinstance(cell, (list, dict)) else cell)
        for name, frame in tables.items()
    }


@pytest.mark.parametrize(
    ("study", "options"),
    [("rag_retrieval", {}), ("ner_quality", {}), ("trajectories", {}), ("trajectories", {"judge": "recorded"})],
)
def test_samples_give_what_they_give_in_one_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, study: str, options: Mapping[str, Any]
) -> None:
    case = Case(study, lambda: sample(study), (), options)
    folder = written(tmp_path / "log", case.tables())
    one = found(case, folder)
    small(monkeypatch, case, 300)
    assert_same(one, found(case, folder))


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES[:2], *CASES[3:5]], ids=str)
def test_processes_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    folder = written(tmp_path / "log", case.tables())
    one = found(case, folder)
    small(monkeypatch, case)
    monkeypatch.setenv(PROCESSES, "2")
    assert_same(one, found(case, folder))


def test_orders_drawn_for_all_queries_are_one_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "log", searches())
    own = {"ties": "mean", "tie_orders": 3}
    one = found(CASES[0], folder, **own)
    small(monkeypatch, CASES[0])
    assert_same(one, found(CASES[0], folder, **own))


@pytest.mark.parametrize("changed", ["", "query_id", "qid"])
def test_a_small_table_is_dealt_in_memory_where_it_is_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    tables = searches()
    folder = written(tmp_path / "log", {name: tables[name] for name in ("run", "documents", "questions", "answers")})
    tables["qrels"].rename(columns={"id": changed or "id"}).to_csv(folder / "qrels.csv", index=False)
    one, read = found(CASES[0], folder)
    small(monkeypatch, CASES[0])
    again = found(CASES[0], folder)
    if not changed:
        return assert_same((one, read), again)
    pd.testing.assert_frame_equal(one.items, again[0].items)
    assert list(map(str, again[1])) == list(map(str, read))
    return None


def test_classes_unknown_to_gold_are_known_to_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "log", many_classes())
    case = next(case for case in CASES if case.tables is many_classes)
    small(monkeypatch, case, 7)
    result, _ = found(case, folder)
    assert "classes unknown to gold" in set(result.tables["spans"]["predicted_class"])
    assert not result.tables["spans"]["predicted_class"].str.startswith("odd").any()


def test_places_under_other_names_are_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables, gold = entities(), entities()["gold"]
    tables = {**tables, "gold": gold.assign(start_from_1=gold.pop("start") + 1).rename(columns={"end": "end_inside"})}
    case = next(case for case in CASES if case.tables is entities)
    folder = written(tmp_path / "log", tables)
    one, read = found(case, folder)
    small(monkeypatch, case)
    again, read_again = found(case, folder)
    pd.testing.assert_frame_equal(one.items, again.items)
    assert list(map(str, read)) == list(map(str, read_again))


def test_rows_that_hold_those_of_another_table_are_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = cited()["answers"].drop(columns="citations")
    listed = [
        [{"url": f"https://{i}.example", "text": "It is red."}] if i % 3 else []
        for i in answers["id"].str[1:].astype(int)
    ]
    tables = {"answers": answers.assign(sources=[json.dumps(own) for own in listed])}
    case = Case("citation", lambda: tables)
    folder = written(tmp_path / "log", tables)
    one, read = found(case, folder)
    assert one.items["n_citations"].sum()
    small(monkeypatch, case, 7)
    again, read_again = found(case, folder)
    pd.testing.assert_frame_equal(one.items, again.items)
    assert list(map(str, read)) == list(map(str, read_again))


def test_faults_of_parts_say_what_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = solved()["items"]
    case = Case(
        "cot_levels", lambda: {"items": items.assign(reference=items["reference"].mask(items["id"] > "q030", "six"))}
    )
    small(monkeypatch, case, 7)
    with pytest.raises(
        BadInput, match=r"faults in parts of it:\n  - \d references? .*no number behind a marker.*: id q031"
    ):
        found(case, written(tmp_path / "log", case.tables()))


def test_numbers_as_ids_are_in_the_order_of_their_digits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {
        name: frame.assign(id=[3 * int(one[1:]) for one in frame["id"]]) if "id" in frame else frame
        for name, frame in searches().items()
    }
    case = replace(CASES[0], tables=lambda: tables)
    one = found(case, written(tmp_path / "log", tables))
    small(monkeypatch, case, 7)
    assert_same(one, found(case, tmp_path / "log"))


def test_renames_of_any_table_hold_in_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = searches()
    names = {
        "run": {"score": "mine", "id": "key"},
        "qrels": {"id": "key"},
        "documents": {"text": "body"},
        "answers": {"id": "key"},
    }
    named = {name: frame.rename(columns=names.get(name, {})) for name, frame in tables.items()}
    folder, columns = written(tmp_path / "log", named), {"mine": "score", "body": "text", "key": "id"}
    one = found(CASES[0], folder, columns)
    small(monkeypatch, CASES[0])
    assert_same(one, found(CASES[0], folder, columns))


def test_what_no_part_can_see_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = searches()
    apart = {**tables, "qrels": tables["qrels"].assign(doc_id=lambda frame: frame["doc_id"].str.upper())}
    beyond = {**tables, "qrels": tables["qrels"].assign(relevance=lambda frame: np.where(frame["id"] == "q023", 9, 1))}
    small(monkeypatch, CASES[0])
    for name, faulty, said, own in (
        ("apart", apart, "run and qrels share no passage: qrels have 'P0', 'P1', 'P10', the run 'p0', 'p1', 'p10'", {}),
        ("beyond", beyond, "max_grade: qrels have a grade of 9, above 3", {"metrics": ["err"], "max_grade": 3}),
    ):
        with pytest.raises(BadInput, match=said):
            found(CASES[0], written(tmp_path / name, faulty), **own)


def test_faults_of_all_tables_and_parts_are_in_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = searches()
    last = {name: tables[name][tables[name]["id"] == "q023"].head(1) for name in ("run", "qrels")}
    doubled = {**tables, **{name: pd.concat([tables[name], row]) for name, row in last.items()}}
    small(monkeypatch, CASES[0])
    with pytest.raises(BadInput, match="log: faults in parts of it") as caught:
        found(CASES[0], written(tmp_path / "log", doubled))
    assert {fault.split(":")[0] for fault in caught.value.faults} == {"run", "qrels"}
