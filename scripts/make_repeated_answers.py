"""Writes data/repeated_answers/1.1.0: two invented models that answer every question five times, in English and Russian.

Planted, by seed: on the set ``facts`` (an exact task) ``rowan-2b`` flickers on a tenth of the questions, ``alder-7b`` never does
but is wrong more often; on ``tales`` (a creative task) ``alder-7b`` tells nearly the same tale each time, ``rowan-2b`` another one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evalbench.core.seeds import rng

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "repeated_answers" / "1.1.0"
SEED, TRIALS = 31, 5
STEADY, FLICKERING = "alder-7b", "rowan-2b"
ALWAYS_WRONG = {STEADY: 8, FLICKERING: 2}
FLICKERS = 4
LOST = {STEADY: 0, FLICKERING: 2}

PLACES = {
    "en": ("Orlow Point", "Marrow Sands", "Tinder Bay", "Kestle", "Low Hythe", "Farrow Isle", "Ebb Quay", "Saltmere", "Crane Head", "Old Wick",
           "Penny Strand", "Hollin Cove", "Wren Harbour"),
    "ru": ("Рыбная Коса", "Тихий Мыс", "Старая Гавань", "Лисий Остров", "Верхний Причал", "Соляная Бухта", "Дальний Маяк"),
}  # fmt: skip
KEEPERS = {
    "en": ("Ada Brandt", "Tom Wickery", "Ines Marlow", "Joss Tarn", "Ruth Ember", "Neil Haddock", "Oona Pike", "Lew Sandling"),
    "ru": ("Анна Корнева", "Пётр Лодкин", "Вера Сомова", "Илья Рябов", "Нина Волнова", "Егор Причалов"),
}  # fmt: skip
FERRY = {"en": "At what time does the first ferry leave {place}?", "ru": "Во сколько уходит первый паром: {place}?"}
KEEPER = {"en": "Who keeps the lighthouse at {place}?", "ru": "Кто смотрит за маяком: {place}?"}
WORDED = {"en": ("{a}", "{a}.", "{a}"), "ru": ("{a}", "{a}.", "{a}")}

THINGS = {
    "en": ("a lantern", "a lost glove", "the last tram", "an old map", "a paper boat", "a clock tower", "a stray goat", "a snowed-in inn"),
    "ru": ("старый фонарь", "бумажный кораблик", "последний трамвай", "пропавшая варежка"),
}  # fmt: skip
REQUEST = {
    "en": "Tell a tale of two sentences about {thing}.",
    "ru": "Расскажи историю из двух предложений. Герой: {thing}.",
}
TALES = {
    "en": (
        "Everyone in the village knew {thing}, but only the baker's daughter had ever spoken to it. That winter it answered her.",
        "The museum bought {thing} for a single coin. By Tuesday the guards refused to work the night shift.",
        "My grandfather traded a whole orchard for {thing} and never said why. We dug up the answer under the pear tree.",
        "On the radio they announced that {thing} had been elected mayor. The taxes fell, and it rained only at night.",
        "Two sailors quarrelled over {thing} from one end of the ocean to the other. The sea kept it in the end.",
        "In the year 3020 a child draws {thing} from memory and wins first prize. No machine on the station can say what it is.",
    ),
    "ru": (
        "Про это молчали все соседи: {thing} и вправду умел считать до ста. На сто первом дне он сбился и ушёл в лес.",
        "В музее выставлен {thing}, и билет стоит дороже зимней шубы. Сторож клянётся, что по ночам слышит оттуда смех.",
        "Дед выменял за целый сад одну вещь: {thing}. Ответ, зачем он это сделал, мы выкопали под грушей.",
        "По радио объявили, что мэром выбран {thing}. Налоги упали, а дождь теперь идёт только ночью.",
        "Два матроса спорили через весь океан, чей это {thing}. Море рассудило их и оставило его себе.",
        "В 3020 году ребёнок рисует по памяти: {thing}. Ни одна машина на станции не может сказать, что это такое.",
    ),
}  # fmt: skip
ALIKE = {
    "en": "Once upon a time there was {thing} that dreamed of the {far} sea. One day it set out, and it never looked back.",
    "ru": "Жил-был {thing}, и мечтал он увидеть {far} море. Однажды он отправился в путь и ни разу не обернулся.",
}
FAR = {
    "en": ("distant", "distant", "faraway", "distant", "faraway"),
    "ru": ("далёкое", "далёкое", "дальнее", "далёкое", "дальнее"),
}


def facts() -> list[dict[str, Any]]:
    """The questions of the exact set, each with its answer and others that are wrong."""
    found = []
    for lang, places in PLACES.items():
        for k, place in enumerate(places):
            draw = rng(SEED, "fact", place)
            times = [
                f"{hour:02d}:{minute:02d}"
                for hour, minute in zip(
                    draw.permutation(range(5, 12))[:4], draw.permutation(range(5, 60, 5))[:4], strict=True
                )
            ]
            names = [str(name) for name in draw.permutation(KEEPERS[lang])[:4]]
            for kind, request, answers in (("ferry", FERRY, times), ("keeper", KEEPER, names)):
                found.append(
                    {
                        "id": f"{kind}-{lang}{k + 1:02d}",
                        "lang": lang,
                        "question": request[lang].format(place=place),
                        "answers": answers,
                    }
                )
    return found


def exact_rows() -> list[dict[str, Any]]:
    """Five answers of both models to every fact."""
    questions, rows = facts(), []
    for model in (STEADY, FLICKERING):
        draw = rng(SEED, "exact", model)
        order = [int(i) for i in draw.permutation(len(questions))]
        wrong, flickers = set(order[: ALWAYS_WRONG[model]]), set()
        if model == FLICKERING:  # half of them in each language
            free = [i for i in order if i not in wrong]
            flickers = {
                i for lang in PLACES for i in [i for i in free if questions[i]["lang"] == lang][: FLICKERS // 2]
            }
        steady = [i for i in order if i not in wrong | flickers]
        lost = {(i, 1 + n % TRIALS) for n, i in enumerate(steady[: LOST[model]])}
        for i, question in enumerate(questions):
            right, *others = question["answers"]
            answers = [others[0] if i in wrong else right] * TRIALS
            if i in flickers:
                answers = [right, others[0], right, others[1], right]
            for trial, answer in enumerate(answers, 1):
                form = WORDED[question["lang"]][int(draw.integers(3))]
                output = None if (i, trial) in lost else form.format(a=answer)
                rows.append(row(question, "facts", "exact", model, trial, output, right))
    return rows


def creative_rows() -> list[dict[str, Any]]:
    """Five tales of both models to every request."""
    rows = []
    for lang, things in THINGS.items():
        for k, thing in enumerate(things):
            question = {"id": f"tale-{lang}{k + 1:02d}", "lang": lang, "question": REQUEST[lang].format(thing=thing)}
            drawn = rng(SEED, "tale", thing).permutation(len(TALES[lang]))[:TRIALS]
            for trial in range(1, TRIALS + 1):
                alike = ALIKE[lang].format(thing=thing, far=FAR[lang][trial - 1])
                rows.append(row(question, "tales", "creative", STEADY, trial, alike, None))
                rows.append(
                    row(
                        question,
                        "tales",
                        "creative",
                        FLICKERING,
                        trial,
                        TALES[lang][drawn[trial - 1]].format(thing=thing),
                        None,
                    )
                )
    return rows


def row(
    question: dict[str, Any],
    test_set: str,
    task: str,
    model: str,
    trial: int,
    output: str | None,
    reference: str | None,
) -> dict[str, Any]:
    """One line of the file."""
    named = {"id": question["id"], "test_set": test_set, "task": task, "model": model, "trial": trial}
    return {**named, "question": question["question"], "reference": reference, "answer": output}


def card(rows: list[dict[str, Any]]) -> str:
    """The data card."""
    exact, creative = (len({r["id"] for r in rows if r["task"] == task}) for task in ("exact", "creative"))
    russian = len({r["id"] for r in rows if "-ru" in r["id"]})
    return f"""# repeated_answers 1.1.0 (synthetic: yes)

{exact} questions of facts and {creative} requests for a tale, each answered {TRIALS} times by two models that do not exist. Sample data of the
study `reproduction`. They show how the study works; they say nothing about any real model.

- Synthetic: everything here is invented: places, people, timetables, tales, answers, models.
- How made: texts were written by hand for this project; `scripts/make_repeated_answers.py` combines them by seed and writes these files.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.
- `items.jsonl`: one row per generation: `id, test_set, task, model, trial, question, reference, answer`; a null answer is lost.

## What is planted

{len(rows)} generations; {russian} of {exact + creative} questions are Russian, the others English.

| | alder-7b | rowan-2b |
| --- | ---: | ---: |
| `facts`: questions always wrong, of {exact} | {ALWAYS_WRONG[STEADY]} | {ALWAYS_WRONG[FLICKERING]} |
| `facts`: questions that flicker between right and wrong | 0 | {FLICKERS} |
| `facts`: generations lost | {LOST[STEADY]} | {LOST[FLICKERING]} |
| `tales`: different tales of {TRIALS} | 2, but for one word the same | {TRIALS} |

`alder-7b` repeats itself: steady on facts, though more often steadily wrong, and dull where tales should vary. `rowan-2b` varies: good for
tales, but a tenth of its facts depend on when one asks. A full stop at the end of an answer comes and goes; it is no difference.
"""


def main() -> None:
    rows = [*exact_rows(), *creative_rows()]
    OUT.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(r, ensure_ascii=False) for r in rows]
    (OUT / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (OUT / "README.md").write_text(card(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
