"""Tables of studies that are read part by part, with what is hard to read so: what most parts lack, what ties, odd cells, no order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

Tables = Mapping[str, pd.DataFrame]
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
