"""Writes data/rule_books_search/1.1.0: two invented searches over the articles of rule_books, their judgements, and answers.

What each search does with a question is drawn from its habits; everything else follows from the subjects of the articles.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import make_rule_books
import numpy as np

from evalbench.core.seeds import rng

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "rule_books_search" / "1.1.0"
SEED = 17
DEPTH = 10
NOBODY = {
    "id": "osmarra-q6", "question": "How many cats may a household in Osmarra keep?", "group": "osmarra", "lang": "en",
}  # fmt: skip
# How often the article that answers is first; second or third, behind that of a neighbouring country; sixth to tenth; lost.
PLACES = ("first", "behind a neighbour", "late", "lost")
HABITS = {
    "moss-vectors": {"en": (0.45, 0.45, 0.10, 0.00), "ru": (0.60, 0.40, 0.00, 0.00)},
    "reed-words": {"en": (0.80, 0.00, 0.15, 0.05), "ru": (0.00, 0.00, 0.20, 0.80)},
}
SILENT = ("reed-words", "vereskovia-q4")
# How often each invented model is right where the first passage answers the question, and where it does not.
RIGHT = {"oak-7b": (0.92, 0.20), "elm-13b": (0.96, 0.55), "fern-1b": (0.40, 0.40)}


def ranked(question: dict, place: str, documents: list[dict], random: np.random.Generator) -> list[str]:
    """The first ten articles of a search, the answering one at its place."""
    source = next(d for d in documents if d["doc_id"] == question["doc_id"]) if "doc_id" in question else None
    subject = source["subject"] if source else "dogs"
    others = [d for d in documents if d is not source]
    random.shuffle(others)

    def nearness(document: dict) -> float:
        near = 2.0 * (document["subject"] == subject) + (document["group"] == question["group"])
        return near + 0.8 * (document["doc_id"] in question.get("related", ())) + random.random()

    found = [d["doc_id"] for d in sorted(others, key=nearness, reverse=True)][:DEPTH]
    at = {"first": 0, "behind a neighbour": int(random.integers(1, 3)), "late": int(random.integers(5, 10))}.get(place)
    if source and at is not None:
        if place == "first":
            own = [d for d in found if d.startswith(question["group"])]
            found = [*own[:1], *(d for d in found if d not in own[:1])]
        found.insert(at, source["doc_id"])
    return found[:DEPTH]


def scores(run: str, random: np.random.Generator) -> list[float]:
    """Cosines, or counts of common words, of which several are equal."""
    if run == "moss-vectors":
        return [round(float(s), 4) for s in np.sort(random.uniform(0.3, 0.9, DEPTH))[::-1]]
    return [float(s) for s in np.sort(random.integers(1, 12, DEPTH))[::-1]]


def judged(question: dict, documents: list[dict], random: np.random.Generator) -> dict[str, int]:
    """2 the article that answers, 1 those that touch on it, 0 the same subject elsewhere and three others at home."""
    subjects = {d["doc_id"]: d["subject"] for d in documents}
    subject = subjects.get(question.get("doc_id", ""), "dogs")
    home = [d["doc_id"] for d in documents if d["group"] == question["group"]]
    found = {d: 0 for d, own in subjects.items() if own == subject}
    found |= dict.fromkeys((home[int(i)] for i in random.permutation(len(home))[:3]), 0)
    found |= dict.fromkeys(question.get("related", ()), 1)
    return found | ({question["doc_id"]: 2} if "doc_id" in question else {})


def main() -> None:
    documents, questions = make_rule_books.read()
    asked = [*questions, NOBODY]
    qrels, run_rows, answers, places = [], [], [], []
    for question in asked:
        marks = judged(question, documents, rng(SEED, "judged", question["id"]))
        qrels += [(question["id"], passage, grade) for passage, grade in sorted(marks.items())]
        for run, habits in HABITS.items():
            random = rng(SEED, run, question["id"])
            place = PLACES[int(random.choice(len(PLACES), p=habits[question["lang"]]))] if "doc_id" in question else ""
            if (run, question["id"]) == SILENT:
                places.append((question["id"], run, "no passages"))
                continue
            passages = ranked(question, place, documents, random)
            run_rows += [
                (question["id"], passage, score, run)
                for passage, score in zip(passages, scores(run, random), strict=True)
            ]
            places.append((question["id"], run, place or "nothing to find"))
            if run == "moss-vectors" and "doc_id" in question:
                for model, chances in RIGHT.items():
                    chance = chances[int(passages[0] != question["doc_id"])]
                    right = int(rng(SEED, model, question["id"]).random() < chance)
                    answers.append((question["id"], run, model, right))
    OUT.mkdir(parents=True, exist_ok=True)
    write(OUT / "run.csv", ("id", "doc_id", "score", "model"), run_rows)
    write(OUT / "qrels.csv", ("id", "doc_id", "relevance"), qrels)
    write(OUT / "answers.csv", ("id", "model", "answered_by", "correct"), answers)
    write(OUT / "places.csv", ("id", "model", "place"), places)
    text = "".join(json.dumps({key: q[key] for key in NOBODY}, ensure_ascii=False) + "\n" for q in asked)
    (OUT / "questions.jsonl").write_text(text, encoding="utf-8")
    (OUT / "README.md").write_text(card(qrels, run_rows, answers, places), encoding="utf-8")


def write(path: Path, names: tuple[str, ...], rows: list[tuple]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def card(qrels: list[tuple], run_rows: list[tuple], answers: list[tuple], places: list[tuple]) -> str:
    counts = Counter((run, place) for _, run, place in places)
    kinds = (*PLACES, "no passages", "nothing to find")
    table = "\n".join(f"| {kind} | {' | '.join(str(counts[run, kind]) for run in HABITS)} |" for kind in kinds)
    grades = Counter(grade for *_, grade in qrels)
    return f"""# rule_books_search 1.1.0 (synthetic: yes)

What two searches that do not exist find for the questions of `rule_books@1.1.0`, how relevant each article is, and whether the
answers of three invented models were right. Sample data of the study `rag_retrieval`. It shows how the study works; it says
nothing about any real search, model or law.

- Synthetic: everything is invented. No search was run, no model asked, and the judgements were **not** collected from people.
- How made: `scripts/make_rule_books_search.py` lets each search put the article that answers at a place drawn from its habits.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.

`moss-vectors` stands for a search by meaning: it finds the subject in any language and confuses countries. `reed-words`
stands for a search by words: it is good in English and lost in Russian, its scores are whole numbers of which many are equal,
and it returns nothing for one question.

| place of the article that answers | {" | ".join(HABITS)} |
| --- | {" | ".join("---:" for _ in HABITS)} |
{table}

The places are those before passages with equal scores are put in order. One question, about cats, is answered by no article.

## Files

| file | rows | columns |
| --- | ---: | --- |
| `run.csv` | {len(run_rows)} | `id` of the question, `doc_id` of the article, `score`, `model` (the search) |
| `qrels.csv` | {len(qrels)} | `id`, `doc_id`, `relevance`: 2 answers the question ({grades[2]}), 1 touches on it ({grades[1]}), 0 irrelevant ({grades[0]}) |
| `answers.csv` | {len(answers)} | `id`, `model` (the search whose passages were given), `answered_by` (the language model), `correct` |
| `questions.jsonl` | 26 | `id`, `question`, `group`, `lang` |
| `places.csv` | {len(places)} | what was planted; no study reads it |

The texts of the articles are `documents.jsonl` of `rule_books@1.1.0`; the catalog lists them here too.
"""


if __name__ == "__main__":
    main()
