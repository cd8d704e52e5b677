"""Writes data/asked_otherwise/1.1.0: queries about a town that does not exist, changed in six ways, with the answers of two models
that do not exist.

Planted, by seed: ``oak-7b`` gives a wrong answer to four in ten of the queries that it answered rightly when they are written with
``butter_finger``, and to one in eight with ``human_level``; else either model changes about one answer in fifty.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evalbench.core.seeds import rng
from evalbench.text.augment import augmented

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "asked_otherwise" / "1.1.0"
SEED = 32
MODELS = {"fern-1b": 0.84, "oak-7b": 0.92}
MADE = ("butter_finger", "word_swap", "human_level", "special_token", "transliterate")
BREAKS = {("oak-7b", "butter_finger"): 0.4, ("oak-7b", "human_level"): 0.125}
CHANCE = 0.02

PLACES = {
    "en": (
        "the bakery by the mill", "the clock tower", "the ferry house", "the old pharmacy", "the tram depot",
        "the school in Linden Street", "the boat shed", "the seed shop", "the music hall", "the post office on the quay",
    ),
    "ru": (
        "пекарне у мельницы", "башне с часами", "доме паромщика", "старой аптеке", "трамвайном депо", "школе на Липовой улице",
        "лодочном сарае", "лавке семян", "концертном зале", "почте на набережной",
    ),
}  # fmt: skip
# Query, paraphrase, how the answer is put, and the values, of which each place has one.
QUESTIONS: dict[str, tuple[tuple[str, str, str, tuple[str, ...]], ...]] = {
    "en": (
        ("What colour is the door of {p} in Velmora?", "Tell me how the entrance of {p} in Velmora is painted.", "{a}",
         ("green", "blue", "yellow", "brown", "white", "black", "orange")),
        ("Which animal is carved above the window of {p} in Velmora?",
         "Above the window of {p} in Velmora an animal was cut into the wood. Name it.", "a {a}",
         ("heron", "badger", "salmon", "goat", "raven", "hedgehog", "moth")),
        ("On which weekday is {p} in Velmora closed?", "{p} in Velmora has one day of rest. Name the day.", "{a}",
         ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")),
        ("Who keeps the key of {p} in Velmora?", "Name the person with whom the key of {p} in Velmora is left.", "{a}",
         ("Orlin Fesk", "Mara Tull", "Bertil Anso", "Ilka Dorn", "Pavo Reem", "Senna Volk", "Tove Larch")),
        ("In which year was {p} in Velmora built?", "Give the year when builders finished {p} in Velmora.", "{a}",
         ("1841", "1856", "1873", "1889", "1902", "1914", "1927")),
    ),
    "ru": (
        ("Какого цвета дверь в {p} города Вельмора?", "Назови краску, которой покрыт вход в {p} города Вельмора.", "{a}",
         ("зелёная", "синяя", "жёлтая", "коричневая", "белая", "чёрная", "оранжевая")),
        ("Какой зверь вырезан над окном в {p} города Вельмора?", "Над окном в {p} города Вельмора мастер вырезал зверя. Кто это?", "{a}",
         ("барсук", "лосось", "козёл", "ворон", "ёж", "филин", "мотылёк")),
        ("По каким дням выходной в {p} города Вельмора?", "В {p} города Вельмора раз в неделю отдыхают. Назови день.", "{a}",
         ("понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье")),
        ("Кто хранит ключ в {p} города Вельмора?", "Назови того, у кого в {p} города Вельмора лежит ключ.", "{a}",
         ("Орлин Феск", "Мара Тулль", "Бертиль Ансо", "Илка Дорн", "Паво Реем", "Сенна Вольк", "Тове Ларх")),
        ("Сколько ступеней у лестницы в {p} города Вельмора?", "Сосчитай ступени лестницы в {p} города Вельмора.", "{a}",
         ("12", "15", "18", "21", "24", "27", "33")),
    ),
}  # fmt: skip
CARD = """# asked_otherwise 1.1.0 (synthetic: yes)

{n} short questions about a town that does not exist, {en} English and {ru} Russian, each as it was written and changed in six ways, with the
answers of two models that do not exist. Sample data of the study `stability`. They show how the study works; they say nothing about any
real model.

- Synthetic: everything here is invented: town, questions, models, answers.
- How made: questions and paraphrases written by hand for this project; `scripts/make_asked_otherwise.py` changes the questions by the
  augmentations of the package, draws the answers by seed and writes these files and this card.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.
- `items.jsonl`: one row per question and model. `variants.jsonl`: one row per question, augmentation and model.

## Counts

Right answers of {n} questions.

| | {heads} |
| --- |{rules}
{lines}

Planted: `oak-7b` breaks under typos: four in ten of its right answers become wrong with `butter_finger`, one in eight with `human_level`;
else either model changes about one answer in fifty, `fern-1b` under every augmentation.
"""


def questions() -> list[dict[str, Any]]:
    """The questions with their paraphrases, answers and wrong answers."""
    found = []
    for lang, templates in QUESTIONS.items():
        for i, place in enumerate(PLACES[lang]):
            for j, (query, other, form, values) in enumerate(templates):
                texts = [text.format(p=place) for text in (query, other)]
                found.append(
                    {
                        "id": f"{lang}{5 * i + j + 1:03}",
                        "lang": lang,
                        "question": texts[0],
                        "paraphrase": texts[1][:1].upper() + texts[1][1:],
                        "reference": form.format(a=values[(3 * i + j) % len(values)]),
                        "wrong": [form.format(a=v) for k, v in enumerate(values) if k != (3 * i + j) % len(values)],
                    }
                )
    return found


def answer(question: dict[str, Any], right: bool, model: str, draw: Any) -> str:
    """A model's answer; fern puts a full stop behind it."""
    text = question["reference"] if right else question["wrong"][int(draw.integers(len(question["wrong"])))]
    return f"{text}." if model == "fern-1b" else text


def main() -> None:
    """Write the files and the card."""
    asked = questions()
    columns = {"ids": [q["id"] for q in asked], "languages": [q["lang"] for q in asked], "seed": SEED}
    changed = {name: augmented([q["question"] for q in asked], name, **columns).texts for name in MADE}
    changed["paraphrase"] = [q["paraphrase"] for q in asked]
    items, variants = [], []
    right: dict[tuple[str, str], int] = {}
    for model, share in MODELS.items():
        for place, question in enumerate(asked):
            draw = rng(SEED, f"answers of {model}", question["id"])
            known = bool(draw.random() < share)
            own = {"id": question["id"], "lang": question["lang"], "model": model}
            output = answer(question, known, model, draw)
            items.append(
                {**own, "question": question["question"], "answer": output, "reference": question["reference"]}
            )
            right[model, "as written"] = right.get((model, "as written"), 0) + known
            for name, texts in changed.items():
                chance = rng(SEED, f"answers of {model} to {name}", question["id"])
                flips = chance.random() < (BREAKS.get((model, name), CHANCE) if known else CHANCE)
                still = known != bool(flips)
                said = output if still == known else answer(question, still, model, chance)
                right[model, name] = right.get((model, name), 0) + still
                variants.append(
                    {
                        "id": question["id"],
                        "augmentation": name,
                        "model": model,
                        "question": texts[place],
                        "answer": said,
                    }
                )
    OUT.mkdir(parents=True, exist_ok=True)
    for name, rows in (("items", items), ("variants", variants)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (OUT / f"{name}.jsonl").write_text(text, encoding="utf-8")
    heads = ["as written", *changed]
    lines = [f"| {model} | {' | '.join(str(right[model, head]) for head in heads)} |" for model in MODELS]
    card = CARD.format(
        n=len(asked),
        en=sum(q["lang"] == "en" for q in asked),
        ru=sum(q["lang"] == "ru" for q in asked),
        heads=" | ".join(head if head == "as written" else f"`{head}`" for head in heads),
        rules=" ---: |" * len(heads),
        lines="\n".join(lines),
    )
    (OUT / "README.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    main()
