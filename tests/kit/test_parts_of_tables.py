"""Studies of several tables that do not fit give, part by part, what they give in one piece."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tables_of_scores import apart, bare, beside, long, of_scores, unasked

from evalbench import load, studies
from evalbench.core.result import Result
from evalbench.core.schedulers import PROCESSES
from evalbench.errors import BadInput
from evalbench.kit import parts
from evalbench.readers import large
from evalbench.readers.dealt import ends_of

Tables = Mapping[str, pd.DataFrame]
TEXTS = {"texts", "answers", "solutions"}
GRADES = (0, 1, 2, -1, None)


def searches(n: int = 24, trials: int = 0) -> Tables:
    """Runs that lack queries, tie, and find passages that nobody judged; judgements of queries that no run has; in no order."""
    rng = np.random.default_rng(2)
    run, qrels, answers = [], [], []
    for i in range(n):
        for place in range(4):
            qrels.append((f"q{i:03}", f"p{(3 * i + place) % 50}", GRADES[rng.integers(len(GRADES))], f"t{i % 3}"))
        answers.append((f"q{i:03}", "ann", int(rng.integers(2))))
        for model in ("oak", "fern", "yew"):
            for trial in range(trials or 1):
                if (model == "fern" and i % 3) or (model == "yew" and (i != 5 or trial)):
                    continue  # in most parts a run has no rows
                for place in rng.choice(7, size=4, replace=False):
                    score = round(float(rng.random()), 1)
                    run.append(
                        (f"q{i + 2:03}", f"p{(3 * i + 6 + place) % 50}", score, model, f"l{len(model)}", str(trial))
                    )
    found = pd.DataFrame(run, columns=["id", "doc_id", "score", "model", "letters", "trial"])
    return {
        "run": (found if trials else found.drop(columns="trial")).sample(frac=1, random_state=1),
        "qrels": pd.DataFrame(qrels, columns=["id", "doc_id", "relevance", "topic"]).sample(frac=1, random_state=1),
        "answers": pd.DataFrame(answers, columns=["id", "answered_by", "correct"]),
        "documents": pd.DataFrame({"doc_id": [f"p{i}" for i in range(50)], "text": "So."}),
        "questions": pd.DataFrame({"id": [f"q{i:03}" for i in range(n)], "question": "Why?"}),
    }


def entities(n: int = 24, trials: int = 0, strange: int = 3) -> Tables:
    """Spans that overlap, repeat, are of classes that most parts lack or gold does not know, of models that mark little; in no order."""
    rng = np.random.default_rng(3)
    gold, predictions = [], []
    for i in range(n):
        for k in range(rng.integers(4)):
            kind = "rare" if i == 7 else ("place", "Person", "org")[rng.integers(3)]
            gold.append((f"d{i:03}", 10 * k, 10 * k + 4, kind))
            for model in ("oak", "fern", "yew"):
                for trial in range(trials or 1):
                    if (model == "fern" and i % 3) or (model == "yew" and (i != 5 or trial)):
                        continue
                    start = 10 * k + int(rng.integers(-2, 3)) * (k > 0)
                    own = (
                        kind
                        if rng.random() < 0.6
                        else f"odd {rng.integers(strange)}"
                        if i % 4 == 0 or strange > 20
                        else "place"
                    )
                    spans = [(f"d{i:03}", start, start + int(rng.integers(3, 6)), own, model, str(trial))]
                    predictions += spans * (1 + (i % 9 == 0))
    found = pd.DataFrame(predictions, columns=["id", "start", "end", "entity_class", "model", "trial"])
    texts = [(f"d{i:03}", f"{i:040}", ("en", "de", None)[i % 3], f"t{i % 2}") for i in range(n)]
    return {
        "gold": pd.DataFrame(gold, columns=["id", "start", "end", "entity_class"]).sample(frac=1, random_state=1),
        "predictions": (found if trials else found.drop(columns="trial")).sample(frac=1, random_state=1),
        "texts": pd.DataFrame(texts, columns=["id", "text", "lang", "topic"]).sample(frac=1, random_state=1),
    }


def many_classes(n: int = 40, trials: int = 0) -> Tables:
    """More classes unknown to gold than are told apart, of which no part has many; a table of texts is not given."""
    return {name: frame for name, frame in entities(n, trials, strange=60).items() if name != "texts"}


def trips(n: int = 18, trials: int = 0) -> Tables:
    """Steps of agents with odd and faulty calls, failures, claims, marks of all kinds, tasks that are not known, outcomes without a step; in no order."""
    rng = np.random.default_rng(4)
    steps, outcomes, met, blames = [], [], [], []
    for i in range(n):
        for model in ("oak", "fern"):
            for trial in range(trials or 1):
                if model == "fern" and i % 3 == 0:
                    continue
                own = (f"t{i:03}", model, str(trial))
                failed = rng.random() < 0.4
                outcomes.append(
                    (*own, (None, 0.0, 0.5, 1.0)[rng.integers(4)] if i % 5 else float(not failed), f"l{len(model)}")
                )
                met += [(*own, name, int(rng.integers(2)), needs) for name, needs in (("a", "null"), ("b", '["a"]'))]
                blames += (
                    [(*own, 2, who, judge) for who, judge in (("ann", ""), ("", "rob"))]
                    if failed and i % 2 and i % 11 < 10
                    else []
                )
                if i % 11 == 10:
                    continue  # an outcome without a step
                names = ["find_it", "pay", "close", "find_it"][: 2 + int(rng.integers(3))]
                said = [("message", "user", "", "", "Where is KX-1?", "")]
                for k, name in enumerate(names):
                    arguments = ('{"id": "KX-1"}', '{"id": 7.0, "n": 2}', "{broken", f'{{"at": "{i}{trial}{model}"}}')[
                        rng.integers(4)
                    ]
                    said.append(("call", "", name, arguments, "", ""))
                    said.append(
                        ("result", "", name, "", f"Found {i + k} of 12.", "no answer" if rng.random() < 0.2 else "")
                    )
                said.append(("message", "assistant", "", "", f"It is {i} of 99, so I find it.", ""))
                steps += [(*own, k, *one, float(k), f"c{i % 2}") for k, one in enumerate(said, start=1)]
    columns = ["id", "model", "trial"]
    frames = {
        "steps": pd.DataFrame(
            steps, columns=[*columns, "step", "kind", "role", "name", "arguments", "text", "error", "seconds", "colour"]
        ),
        "outcomes": pd.DataFrame(outcomes, columns=[*columns, "mark", "letters"]),
        "requirements": pd.DataFrame(met, columns=[*columns, "requirement", "met", "needs"]),
        "blames": pd.DataFrame(blames, columns=[*columns, "step", "annotator", "judge"]),
    }
    if not trials:
        frames = {name: frame.drop(columns="trial") for name, frame in frames.items()}
    tasks = pd.DataFrame(
        {
            "id": [f"t{i:03}" for i in range(n - 2)],
            "question": "Where is KX-1?",
            "expected": [
                json.dumps([{"name": "find_it", "arguments": {"id": "KX-1"}}, {"name": "pay"}]) if i % 4 else "null"
                for i in range(n - 2)
            ],
            "forbidden": [json.dumps(["close"]) if i % 6 == 0 else "null" for i in range(n - 2)],
            "max_steps": [9 if i % 2 else None for i in range(n - 2)],
            "topic": [f"s{i % 3}" for i in range(n - 2)],
        }
    )
    schema = json.dumps({"type": "object", "properties": {"id": {"type": "string"}}})
    tools = pd.DataFrame({"name": ["find_it", "pay"], "parameters": [schema, "null"]})
    return {
        **{name: frame.sample(frac=1, random_state=1) for name, frame in frames.items()},
        "tasks": tasks,
        "tools": tools,
    }


def retrieved(n: int = 0, trials: int = 0) -> Tables:
    """Answers with and without contexts, right answers and claims, of models that lack some; odd cells in every column; in no order."""
    rng = np.random.default_rng(5)
    facts = [
        "A boat goes 5 km.",
        "It is red.",
        "Hello!",
        "Does it float?",
        "It carries 3 people; it cost 40 crowns.",
        "",
    ]
    said = [*facts, "I do not know.", "Error code: 500", "null", None, "Лодка красная.", "<b>It</b> is red. It is red."]
    rows = []
    for i in range(n or (24 if trials else 40)):
        contexts = [facts[k] for k in rng.integers(len(facts), size=rng.integers(4))] if i % 5 else ["It is red."]
        reference = (None, "", "It is red. A boat goes 5 km.")[rng.integers(3)] if i % 7 else "It is red."
        for model in ("oak", "fern"):
            for trial in range(trials or 1):
                if model == "fern" and i % 3 == 0:
                    continue
                answer = " ".join(filter(None, (said[k] for k in rng.integers(len(said), size=2)))) or None
                rows.append((f"q{i:03}", model, str(trial), f"Question {i}?", answer, contexts, reference, f"t{i % 3}"))
    columns = ["id", "model", "trial", "question", "answer", "contexts", "reference", "topic"]
    frame = pd.DataFrame(rows, columns=columns)
    return {"answers": (frame if trials else frame.drop(columns="trial")).sample(frac=1, random_state=1)}


def cited(n: int = 0, trials: int = 0) -> Tables:
    """Answers that cite nothing, sources of their question, of others, of none, or such as nobody supplied, with faults of all kinds; in no order."""
    rng = np.random.default_rng(6)
    facts = ["A boat goes 5 km.", "It is red and large.", "It carries 3 people.", "Why not?", "", "Лодка красная."]
    quotes = ["", "It is red", "is red and large", "It carries 3 people.", "was never written down", None]
    rows: list[tuple[Any, ...]] = []
    sources = [("https://all.example/x", " ".join(facts[:3]), "Of all", "press", ""), ("Empty", "  ", "", "", "")]
    n = n or (24 if trials else 40)
    for i in range(n):
        if i % 4:
            kind, title = ("press", "", "odd")[i % 3], (f"Title {i % 6}", "")[i % 2]
            text = facts[i % 3] if i % 9 else f"{facts[i % 3]} " * 400
            sources.append((f"http://www.S{i % 7}.example/", text, title, kind, f"q{i:03}"))
        for model in ("oak", "fern"):
            for trial in range(trials or 1):
                if model == "fern" and i % 3 == 0:
                    continue
                listed, marks = [], ""
                for k in range(rng.integers(4)):
                    url = (
                        f"https://s{rng.integers(8)}.example",
                        "https://all.example/X",
                        "empty",
                        "",
                        "https://S3.EXAMPLE/ ",
                    )[rng.integers(5)]
                    entry = {
                        "n": k + 1,
                        "claim": facts[rng.integers(4)],
                        "url": url,
                        "title": f"title {rng.integers(7)}",
                    }
                    listed.append({**entry, "quote": quotes[rng.integers(len(quotes))]})
                    marks += f"[{k + int(rng.integers(1, 3))}]"
                answer = (f"{facts[rng.integers(len(facts))]} {marks}", "null", None, "")[
                    rng.choice(4, p=[0.85, 0.05, 0.05, 0.05])
                ]
                right = [] if i % 5 == 0 else [facts[rng.integers(3)], ""]
                cells = json.dumps(listed) if listed or i % 2 else None
                rows.append(
                    (
                        f"q{i:03}",
                        f"Question {i}?",
                        right,
                        answer,
                        cells,
                        model,
                        str(trial),
                        ("en", None, "ru")[i % 3],
                        f"t{i % 2}",
                    )
                )
    columns = ["id", "question", "reference", "answer", "citations", "model", "trial", "lang", "topic"]
    frame = pd.DataFrame(rows, columns=columns)
    return {
        "answers": (frame if trials else frame.drop(columns="trial")).sample(frac=1, random_state=1),
        "sources": pd.DataFrame(sources, columns=["url", "text", "title", "kind", "id"]).sample(frac=1, random_state=1),
    }


def solved(n: int = 0, trials: int = 0) -> Tables:
    """Responses that are right, wrong, refused, without equations or with such as nobody can read; references that lack an answer or a step."""
    rng = np.random.default_rng(7)
    last = ["#### 6", "#### six", "The answer is 14%.", "Answer: 6", "#### 1,000", "6"]
    steps = [
        "She has <<2*3=6>>6 boats.",
        "That is 6 / 2 = 4 a day.",
        "So 5 + x = 11.",
        "There are many.",
        "7 * 24 = 168 h",
        "1/0 = 5",
    ]
    rows = []
    for i in range(n or (24 if trials else 40)):
        right = (
            ""
            if i % 9 == 0
            else "#### 6"
            if i % 5 == 0
            else f"{2 * i} boats are <<2*{i}={2 * i}>>{2 * i}.\n#### {(6, 14)[i % 2]}"
        )
        for model in ("oak", "fern"):
            for trial in range(trials or 1):
                if model == "fern" and i % 3 == 0:
                    continue
                lines = [steps[k] for k in rng.integers(len(steps), size=rng.integers(4))]
                said = "\n".join([*lines, last[rng.integers(len(last))]])
                answer = (said, "I cannot help with that.", "", None, "null")[
                    rng.choice(5, p=[0.8, 0.05, 0.05, 0.05, 0.05])
                ]
                rows.append(
                    (
                        f"q{i:03}",
                        f"She has {i} boats. How many?",
                        right,
                        answer,
                        model,
                        str(trial),
                        ("en", None)[i % 2],
                        f"t{i % 2}",
                    )
                )
    columns = ["id", "question", "reference", "answer", "model", "trial", "lang", "topic"]
    frame = pd.DataFrame(rows, columns=columns)
    return {"items": (frame if trials else frame.drop(columns="trial")).sample(frac=1, random_state=1)}


def otherwise(n: int = 40, trials: int = 0) -> Tables:
    """Queries without variants, variants without queries, controls, variants that change nothing or are empty, levels in some rows; in no order."""
    rng = np.random.default_rng(8)
    said = ["Rome", "In Rome, I think.", "Paris", "", None, "null", "seven"]
    items, variants = [], []
    for i in range(n):
        for model in ("oak", "fern"):
            right = json.dumps(["Rome", "7"][: 1 + i % 2]) if i % 6 else "[]"
            items.append((f"q{i:03}", f"Where is it, {i}?", said[rng.integers(len(said))], right, model, f"t{i % 3}"))
            for k, name in enumerate(("butter_finger", "again", "negation", "translate_ru_en")):
                if (name == "negation" and i % 5) or (model == "fern" and i % 4 == k):
                    continue
                same = name == "again" or (name == "negation" and i != 35)
                asked = f"Where is it, {i}?" if same else "" if i % 13 == 0 else f"Wher is it, {i}?"
                level = "words" if name == "negation" and i == 10 else None
                variants.append(
                    (f"q{i + 2:03}" if i % 7 else f"Q{i:03}", name, asked, said[rng.integers(len(said))], level, model)
                )
    lost = pd.DataFrame(variants, columns=["id", "augmentation", "question", "answer", "level", "model"])
    asked_of = dict(zip((one[0] for one in items), (one[1] for one in items), strict=True))
    same = lost["question"].str.startswith("Where") & lost["id"].isin(asked_of)
    lost["question"] = lost["question"].where(~same, lost["id"].map(asked_of))
    return {
        "items": pd.DataFrame(items, columns=["id", "question", "answer", "reference", "model", "topic"]).sample(
            frac=1, random_state=1
        ),
        "variants": lost.sample(frac=1, random_state=1),
    }


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
