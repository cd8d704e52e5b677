"""Writes data/quiz_answers/1.0.0: answers of two invented models to questions about a town that does not exist, ten samples each.

Planted, by seed: ``heron-2b`` is wrong more often, and its samples scatter where it is; ``larch-8b`` is right more often, but on
the tides it repeats one wrong answer in nearly every sample.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from evalbench.core.seeds import rng

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "quiz_answers" / "1.0.0"
SEED, N = 31, 10
MODELS = ("heron-2b", "larch-8b")
TRAP = ("larch-8b", "tides")
RIGHT = {"heron-2b": 0.66, "larch-8b": 0.82}
PLACES = {
    "en": ("Osier Quay", "Gull Steps", "the Mill Basin", "Lantern Bay", "Saltmarsh Pier", "the Weir"),
    "ru": ("Ивовый причал", "Чаечья лестница", "Мельничная заводь", "Фонарная бухта", "Солёный мол", "Запруда"),
}
TOPICS: dict[str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "ferries": {
        "en": (
            ("From which pier does the ferry to {place} leave in {month}?", "Which ferry calls at {place} in {month}?"),
            ("pier 2", "pier 3", "pier 5", "pier 7", "the Grebe", "the Plover"),
        ),
        "ru": (
            ("С какого пирса в {month} отходит паром до места «{place}»?", "Какой паром в {month} заходит в место «{place}»?"),
            ("пирс 2", "пирс 3", "пирс 5", "пирс 7", "«Чомга»", "«Ржанка»"),
        ),
    },
    "tides": {
        "en": (
            ("At what hour is high water at {place} on the first of {month}?", "How many metres does the tide rise at {place} in {month}?"),
            ("05:10", "06:40", "08:20", "11:35", "2.1 m", "3.4 m"),
        ),
        "ru": (
            ("В котором часу полная вода в месте «{place}» первого числа, {month}?", "На сколько метров поднимается вода в месте «{place}», {month}?"),
            ("05:10", "06:40", "08:20", "11:35", "2,1 м", "3,4 м"),
        ),
    },
    "museum": {
        "en": (
            ("Which room of the town museum shows the model of {place} in {month}?", "Who painted {place} for the {month} room?"),
            ("room 4", "room 9", "room 12", "Ada Thrupp", "Ivo Marsh", "Nell Carrow"),
        ),
        "ru": (
            ("В каком зале городского музея стоит макет места «{place}», {month}?", "Кто написал «{place}» для зала «{month}»?"),
            ("зал 4", "зал 9", "зал 12", "Ада Трапп", "Иво Марш", "Нелли Кэрроу"),
        ),
    },
    "market": {
        "en": (
            ("What is sold on the market at {place} in {month}?", "On which weekday is the {month} market at {place}?"),
            ("smoked eel", "willow baskets", "quinces", "Tuesday", "Friday", "Sunday"),
        ),
        "ru": (
            ("Чем торгуют на рынке у места «{place}», {month}?", "По каким дням рынок у места «{place}», {month}?"),
            ("копчёный угорь", "ивовые корзины", "айва", "вторник", "пятница", "воскресенье"),
        ),
    },
}  # fmt: skip
MONTHS = {"en": ("May", "June", "July", "August"), "ru": ("май", "июнь", "июль", "август")}
FORMS = ("{}", "{}", "{}.", "{} ", "{}!")


def questions() -> list[dict[str, Any]]:
    """Every topic, language, place and month once: 4 · 2 · 6 · 4, of which the Russian ones are every second."""
    found = []
    for topic, languages in TOPICS.items():
        for lang, (wordings, options) in languages.items():
            for p, place in enumerate(PLACES[lang]):
                for m, month in enumerate(MONTHS[lang]):
                    if lang == "ru" and (p + m) % 2:
                        continue
                    kind = (p + m // 2) % 2
                    own = options[: len(options) - 2] if topic in ("ferries", "tides") else options[:3]
                    rest = options[len(own) :]
                    choices = rest if kind else own
                    number = len(found) + 1
                    draw = rng(SEED, "reference", f"{number:03}")
                    found.append(
                        {
                            "id": f"q{number:03}",
                            "topic": topic,
                            "lang": lang,
                            "question": wordings[kind].format(place=place, month=month),
                            "choices": choices,
                            "reference": choices[int(draw.integers(len(choices)))],
                        }
                    )
    return found


def answered(question: dict[str, Any], model: str) -> dict[str, Any]:
    """A model's answer and samples."""
    draw = rng(SEED, "answer", f"{question['id']} {model}")
    trapped = (model, question["topic"]) == TRAP
    right = draw.random() < (0.3 if trapped else RIGHT[model])
    others = [c for c in question["choices"] if c != question["reference"]]
    answer = question["reference"] if right else others[int(draw.integers(len(others)))]
    repeats = draw.beta(18, 1) if trapped else draw.beta(4, 1.6) if right else draw.beta(1.5, 2.6)
    elsewhere = [c for c in [*question["choices"], "?"] if c != answer]
    samples = []
    for _ in range(N):
        text = answer if draw.random() < repeats else elsewhere[int(draw.integers(len(elsewhere)))]
        form = FORMS[int(draw.integers(len(FORMS)))].format(text)
        samples.append(form.capitalize() if draw.random() < 0.3 else form)
    kept = {key: question[key] for key in ("id", "topic", "lang", "question", "reference")}
    return {**kept, "model": model, "answer": answer, "samples": samples}


CARD = """# quiz_answers 1.0.0 (synthetic: yes)

Answers of two models that do not exist to {n} questions about a town that does not exist, with ten samples of each at a raised
temperature. Sample data of the study `confidence`. They show how the study works; they say nothing about any real model.

- Synthetic: everything here is invented: town, questions, models, answers, samples.
- How made: `scripts/make_quiz_answers.py` draws answers and samples by seed and writes this file and this card.
- Licence: CC0-1.0.
- `items.jsonl`: one row per question and model: `id, topic, lang, question, reference, model, answer, samples`.

## Counts

{n} questions: {en} en, {ru} ru.

| | right | right on tides | mean share of samples that repeat a wrong answer | the same on tides |
| --- | ---: | ---: | ---: | ---: |
{table}

Planted: where `heron-2b` is wrong its samples scatter; so do those of `larch-8b`, but on the tides it repeats one wrong answer in
nearly every sample.
"""


def main() -> None:
    asked = questions()
    rows = [answered(question, model) for question in asked for model in MODELS]
    OUT.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (OUT / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = []
    for model in MODELS:
        cells = []
        for own in (
            [r for r in rows if r["model"] == model],
            [r for r in rows if r["model"] == model and r["topic"] == "tides"],
        ):
            wrong = [r for r in own if r["answer"] != r["reference"]]
            repeated = [np.mean([s.strip(" .!").lower() == r["answer"].lower() for s in r["samples"]]) for r in wrong]
            cells.append((1 - len(wrong) / len(own), float(np.mean(repeated))))
        table.append(f"| {model} | {cells[0][0]:.2f} | {cells[1][0]:.2f} | {cells[0][1]:.2f} | {cells[1][1]:.2f} |")
    english = sum(q["lang"] == "en" for q in asked)
    card = CARD.format(n=len(asked), en=english, ru=len(asked) - english, table="\n".join(table))
    (OUT / "README.md").write_text(card, encoding="utf-8")
    print(f"{len(rows)} answers to {len(asked)} questions in {OUT}")


if __name__ == "__main__":
    main()
