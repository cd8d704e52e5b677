"""Write the sample data sets town_desk@1.1.0 and town_desk_answers@1.1.0 from their hand-written source.

Run from anywhere: ``python scripts/make_town_desk.py``.  The source, in ``scripts/town_desk/``, has one block per question:

    Q: the question
    R: reference | in | sentences
    P: a good answer in other words
    W: number of a reference sentence | that sentence with a fault
    N: a further sentence of the passage, not asked for

Six invented systems answer by seven ways of answering, each with its own habits; three invented annotators score every
answer from what is known of that way, with their own leniency and some chance.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evalbench.core.seeds import rng

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path(__file__).resolve().parent / "town_desk"
SEED = 20
LANGUAGES = {"en": "English", "ru": "Russian"}
WAYS = ("in other words", "word for word", "last sentence left out", "wordy", "faulty", "garbled", "off the question")
# Accuracy, fluency, relevance that a careful reader would give, 1 to 5.
QUALITY = {
    "in other words": (4.9, 4.7, 4.8),
    "word for word": (5.0, 4.8, 4.9),
    "last sentence left out": (4.1, 4.7, 4.3),
    "wordy": (4.7, 3.6, 3.8),
    "faulty": (2.2, 4.6, 3.7),
    "garbled": (2.6, 1.4, 2.9),
    "off the question": (1.2, 4.5, 1.2),
}
# How often each system answers in each way, in the order of WAYS.
HABITS = {
    "alder-2": (0.45, 0.45, 0.05, 0.05, 0.00, 0.00, 0.00),
    "birch-1": (0.10, 0.30, 0.50, 0.05, 0.05, 0.00, 0.00),
    "cedar-chat": (0.10, 0.05, 0.05, 0.75, 0.05, 0.00, 0.00),
    "dogwood-mini": (0.10, 0.05, 0.15, 0.05, 0.60, 0.00, 0.05),
    "elm-nano": (0.00, 0.05, 0.15, 0.00, 0.10, 0.60, 0.10),
    "fir-0": (0.00, 0.00, 0.10, 0.05, 0.10, 0.15, 0.60),
}
LENIENCY = {"reader_1": 0.15, "reader_2": 0.0, "reader_3": -0.2}
CRITERIA = ("accuracy", "fluency", "relevance")
WORDY = {
    "en": (
        "Thank you so much for your question, I am glad to help! ",
        " I hope that this was helpful; please ask again at any time if anything else should come to your mind.",
    ),
    "ru": (
        "Большое спасибо за ваш вопрос, я очень рад помочь! ",
        " Надеюсь, что это вам пригодится; пожалуйста, спрашивайте снова в любое время, если что-нибудь ещё придёт вам в голову.",
    ),
}


@dataclass(frozen=True)
class Question:
    """One block of the source."""

    id: str
    language: str
    question: str
    reference: tuple[str, ...]
    paraphrase: str
    fault: tuple[int, str]
    aside: str

    @property
    def passage(self) -> str:
        return " ".join([*self.reference[:2], self.aside, *self.reference[2:]])


def questions() -> list[Question]:
    """All questions of the source."""
    found = []
    for language in LANGUAGES:
        blocks = (SOURCE / f"{language}.txt").read_text("utf-8").strip().split("\n\n")
        for number, block in enumerate(blocks, start=1):
            part = {line[0]: line[3:] for line in block.splitlines()}
            at, _, sentence = part["W"].partition(" | ")
            found.append(
                Question(
                    f"{language}{number:02d}",
                    language,
                    part["Q"],
                    tuple(part["R"].split(" | ")),
                    part["P"],
                    (int(at) - 1, sentence),
                    part["N"],
                )
            )
    return found


def answer(question: Question, way: str, others: list[Question], random: np.random.Generator) -> str:
    """The answer to a question in one of the ways."""
    facts = list(question.reference)
    if way == "in other words":
        return question.paraphrase
    if way == "last sentence left out":
        return " ".join(facts[:-1])
    if way == "wordy":
        before, after = WORDY[question.language]
        return f"{before}{' '.join(facts)}{after}"
    if way == "faulty":
        facts[question.fault[0]] = question.fault[1]
        return " ".join(facts[max(0, question.fault[0] - 1) :][:2])
    if way == "garbled":
        return garbled(" ".join(facts), random)
    if way == "off the question":
        own = [other for other in others if other.language == question.language]
        pool = own if random.random() < 0.7 else others
        other = pool[int(random.integers(len(pool)))]
        return " ".join(other.reference[:2])
    return " ".join(facts)


def garbled(text: str, random: np.random.Generator) -> str:
    """Two thirds of the words, out of order within reach of two, one in eight said twice; a full stop at the end."""
    tokens = text.rstrip(".").lower().replace(".", "").split()
    tokens = [token for token in tokens if random.random() < 0.67] or tokens
    order = np.argsort(np.arange(len(tokens)) + random.uniform(0, 3, len(tokens)), kind="stable")
    twice = random.random(len(tokens)) < 0.125
    said = [token for i in order for token in [tokens[i]] * (2 if twice[i] else 1)]
    return " ".join(said) + "."


def answers() -> Iterator[tuple[Question, str, str, str]]:
    """Question, system, way, answer."""
    asked = questions()
    for question in asked:
        others = [q for q in asked if q.id[2:] != question.id[2:]]
        for system, habit in HABITS.items():
            random = rng(SEED, "answer", f"{question.id}/{system}")
            way = WAYS[int(random.choice(len(WAYS), p=habit))]
            yield question, system, way, answer(question, way, others, random)


def scores(question: Question, system: str, way: str) -> Iterator[tuple[str, str, int]]:
    """Annotator, criterion, score: what the way deserves, more or less, and 1 for a finished text from everyone."""
    random = rng(SEED, "scores", f"{question.id}/{system}")
    shared = random.normal(0, 0.35, len(CRITERIA))
    for annotator, leniency in LENIENCY.items():
        for criterion, quality, common in zip(CRITERIA, QUALITY[way], shared, strict=True):
            seen = quality + common + leniency + random.normal(0, 0.45)
            yield annotator, criterion, int(np.clip(round(seen), 1, 5))
        yield annotator, "completeness", 1


def judged(question: Question, system: str, way: str) -> float:
    """The mark, 1 to 5, of an invented language-model judge that likes long and fluent answers a little too much."""
    accuracy, fluency, relevance = QUALITY[way]
    liking = 0.5 * accuracy + 0.2 * fluency + 0.3 * relevance + (0.4 if way == "wordy" else 0.0)
    seen = liking + rng(SEED, "judge", f"{question.id}/{system}").normal(0, 0.5)
    return round(float(np.clip(seen, 1, 5)), 1)


def write() -> None:
    """Write both data sets."""
    rated, plain = (ROOT / "data" / name / "1.1.0" for name in ("town_desk", "town_desk_answers"))
    for folder in (rated, plain):
        folder.mkdir(parents=True, exist_ok=True)
    items, ratings, rows = [], [], []
    for question, system, way, text in answers():
        full = " ".join(question.reference)
        references = [full, " ".join(question.reference[:2])] if int(question.id[2:]) % 2 else full
        items.append(
            {"id": question.id, "model": system, "lang": question.language, "question": question.question,
             "reference": full, "answer": text, "juniper_judge": judged(question, system, way)}
        )  # fmt: skip
        ratings += [(question.id, system, *score) for score in scores(question, system, way)]
        if system in ("alder-2", "cedar-chat", "dogwood-mini"):
            rows.append(
                {"id": question.id, "model": system, "lang": question.language, "question": question.question,
                 "contexts": question.passage, "reference": references, "answer": text}
            )  # fmt: skip
    write_json_lines(rated / "items.jsonl", items)
    write_json_lines(plain / "items.jsonl", rows)
    (rated / "README.md").write_text(card(items, len(ratings)), "utf-8")
    (plain / "README.md").write_text(plain_card(len(rows)), "utf-8")
    with (rated / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "model", "annotator", "criterion", "mark"])
        writer.writerows(ratings)


def write_json_lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def card(items: list[dict[str, object]], n_ratings: int) -> str:
    """The data card of town_desk."""
    ways = [way for _, _, way, _ in answers()]
    table = "\n".join(f"| {way} | {ways.count(way)} | {a:g} | {f:g} | {r:g} |" for way, (a, f, r) in QUALITY.items())
    return f"""# town_desk 1.1.0 (synthetic: yes)

Questions to the service desk of a town that does not exist, half in English and half in Russian, answered by six invented
systems and scored by three invented annotators. Sample data of the study `human_correlation`. It shows how the study
works; it says nothing about any real model, metric, annotator or town.

- Synthetic: everything is invented, systems, judge and annotators included. The scores were **not** collected from people.
- How made: questions, references, answers in other words and faults are written by hand (`scripts/town_desk/`);
  `scripts/make_town_desk.py` lets each system answer in seven ways by its own habits, and each annotator score what a careful
  reader would give for that way, with a leniency of their own and chance (standard deviation 0.45; 0.35 is shared).
- `juniper_judge` stands for a language-model judge: a mark computed from the same qualities with chance and a liking for
  wordy answers. No model was asked.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.

| way of answering | answers | accuracy | fluency | relevance |
| --- | ---: | ---: | ---: | ---: |
{table}

Files: `items.jsonl`, {len(items)} rows (30 questions × 6 systems): id, model, lang, question, reference, answer, juniper_judge.
`ratings.csv`, {n_ratings} rows: id, model, annotator, criterion, mark.

Criteria: accuracy, fluency, relevance from 1 (bad) to 5 (good); completeness is 1 where the text does not break off. No
answer breaks off and all three annotators say so for every one: on this criterion no correlation exists, on purpose.

What to expect: copies of the reference look as good to every lexical metric as they are, answers in other words look
worse than they are, and garbled ones better. Length is no sign of quality, though it may look like one.
"""


def plain_card(n_rows: int) -> str:
    """The data card of town_desk_answers."""
    return f"""# town_desk_answers 1.1.0 (synthetic: yes)

The answers of three of the six invented systems of `town_desk` with the passage they had, for the study `text_metrics`.
Everything is invented; how it was made is told in the card of `town_desk`.

- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.

File: `items.jsonl`, {n_rows} rows (30 questions × 3 models): id, model, lang, question, contexts, reference, answer. Every other question
has two references, the second without the last sentence.
"""


if __name__ == "__main__":
    write()
