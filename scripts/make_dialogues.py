"""Writes data/dialogues/1.1.0: 200 invented sessions of two invented models with a parcel service that does not exist.

Planted, by seed: resolved sessions are short; a fifth is abandoned after more answers; ``oak-7b`` needs more answers than
``fern-1b``; in the week 2026-W14 sessions are three answers longer.
"""

from __future__ import annotations

import csv
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from evalbench.core.seeds import rng

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "dialogues" / "1.1.0"
SEED = 23
SESSIONS, WEEKS, WORSE_WEEK = 200, 10, 4
FIRST_MONDAY = datetime(2026, 3, 2, 8, tzinfo=timezone(timedelta(hours=3)))
MODELS = {"fern-1b": 1.1, "oak-7b": 1.9}
ABANDONED, LONGER_ABANDONED, LONGER_WEEK = 0.2, 1.5, 3

OPENINGS = {
    "en": (
        "My parcel {n} should have come on {day}.", "The locker in {street} does not open with my code {n}.",
        "I want to send a lamp to {town}. What does it cost?", "The courier left parcel {n} with a neighbour I do not know.",
        "Please change the address of parcel {n} to {street} 4.", "The box of parcel {n} arrived wet.",
    ),
    "ru": (
        "Посылка {n} должна была прийти в {day}.", "Ячейка на {street} не открывается моим кодом {n}.",
        "Хочу отправить лампу в {town}. Сколько это стоит?", "Курьер оставил посылку {n} у незнакомого соседа.",
        "Поменяйте адрес посылки {n} на {street}, дом 4.", "Коробка посылки {n} пришла мокрой.",
    ),
}  # fmt: skip
QUESTIONS = {
    "en": (
        "I see parcel {n}. Was anyone at home that day?", "Which locker is it, the one by the mill or the one by the school?",
        "Could you tell me the weight and the longest side?", "Is the number on the label {n}, with no letters behind it?",
        "Which phone number did you give when you ordered?", "Have you tried the code twice, with a minute in between?",
        "Shall I ask the depot in {town}?", "Do you still have the receipt?", "Is the seal on the box broken?",
        "Would tomorrow between nine and noon suit you?", "Was the parcel paid for by you or by the sender?",
    ),
    "ru": (
        "Вижу посылку {n}. Был ли кто-нибудь дома в тот день?", "Какая это ячейка: у мельницы или у школы?",
        "Назовите, пожалуйста, вес и самую длинную сторону.", "На наклейке номер {n}, без букв в конце?",
        "Какой телефон вы указали при заказе?", "Вы вводили код дважды, с перерывом в минуту?",
        "Спросить склад в городе {town}?", "Квитанция у вас сохранилась?", "Пломба на коробке повреждена?",
        "Завтра с девяти до двенадцати вам подойдёт?", "За посылку платили вы или отправитель?",
    ),
}  # fmt: skip
REPLIES = {
    "en": (
        "Yes, all day.", "The one by the mill.", "About three kilos, sixty centimetres.", "Yes, {n}.", "The one that ends in 07.",
        "Twice, nothing happens.", "Please do.", "I think so, somewhere.", "No, it looks whole.", "Yes, that is fine.", "By me.",
    ),
    "ru": (
        "Да, весь день.", "Та, что у мельницы.", "Около трёх кило, шестьдесят сантиметров.", "Да, {n}.", "Тот, что кончается на 07.",
        "Дважды, ничего не происходит.", "Спросите, пожалуйста.", "Кажется, где-то лежит.", "Нет, выглядит целой.", "Да, подойдёт.", "Я.",
    ),
}  # fmt: skip
SOLVED = {
    "en": ("It is settled: parcel {n} comes tomorrow before noon.", "Done. You will get a message with the new code."),
    "ru": ("Всё улажено: посылка {n} придёт завтра до полудня.", "Готово. Новый код придёт сообщением."),
}
THANKS = {"en": ("Thank you!", "Great, thanks."), "ru": ("Спасибо!", "Отлично, спасибо.")}
GIVEN_UP = {"en": ("Never mind, I will go there myself.", ""), "ru": ("Ладно, схожу туда сам.", "")}
STREETS = {"en": ("Quarry Lane", "Osier Row"), "ru": ("Каменной улице", "Ивовой улице")}
TOWNS = {"en": ("Larkmere", "Dunholt"), "ru": ("Жаворонково", "Дунхольт")}
DAYS = {"en": ("Monday", "Thursday"), "ru": ("понедельник", "четверг")}
FIELDS = ("session_id", "turn", "role", "time", "resolved", "model", "text")


def session(number: int) -> list[dict[str, Any]]:
    """The turns of one session."""
    draw = rng(SEED, "dialogue", f"{number:03}")
    lang = "ru" if number % 5 in (1, 3) else "en"
    model = sorted(MODELS)[number // 2 % 2]
    week = number // 2 % 100 // 2 % WEEKS
    resolved = draw.random() >= ABANDONED
    answers = 1 + int(draw.poisson(MODELS[model] + (0 if resolved else LONGER_ABANDONED)))
    answers += LONGER_WEEK if week == WORSE_WEEK else 0
    words = {
        "n": str(draw.integers(1000, 9999)),
        "street": str(draw.choice(STREETS[lang])),
        "town": str(draw.choice(TOWNS[lang])),
        "day": str(draw.choice(DAYS[lang])),
    }
    said = [("user", str(draw.choice(OPENINGS[lang])))]
    asked = draw.permutation(len(QUESTIONS[lang]))
    for i in range(answers - resolved):
        at = int(asked[i % len(asked)])
        said += [("assistant", QUESTIONS[lang][at]), ("user", REPLIES[lang][at])]
    if resolved:
        said += [("assistant", str(draw.choice(SOLVED[lang]))), ("user", str(draw.choice(THANKS[lang])))]
    else:
        said[-1] = ("user", str(draw.choice(GIVEN_UP[lang])))
        said = said if said[-1][1] else said[:-1]
    at = FIRST_MONDAY + timedelta(weeks=week, days=int(draw.integers(0, 5)), minutes=int(draw.integers(0, 540)))
    rows = []
    for turn, (role, text) in enumerate(said, 1):
        row = {
            "session_id": f"s{number:03}",
            "turn": turn,
            "role": role,
            "time": at.isoformat(),
            "resolved": int(resolved),
        }
        rows.append({**row, "model": model, "text": text.format(**words)})
        at += timedelta(seconds=int(draw.integers(10, 90)))
    return rows


CARD = """# dialogues 1.1.0 (synthetic: yes)

{n} sessions of customers with two models that do not exist, about the parcels of a service that does not exist. Sample data
of the study `dialogue`. They show how the study works; they say nothing about any real model.

- Synthetic: everything here is invented: sessions, models, names, times.
- How made: sentences were written by hand for this project; `scripts/make_dialogues.py` draws the sessions by seed and writes
  these files and this card.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.
- `turns.csv`: one row per turn; `resolved` is that of the whole session.

## Counts

{turns} turns; {n} sessions: {en} en, {ru} ru; {weeks} weeks from 2026-W10.

| | sessions | resolved | answers, resolved | answers, abandoned |
| --- | ---: | ---: | ---: | ---: |
{table}

Planted: resolved sessions are short; abandoned ones, about a fifth, have more answers; `oak-7b` needs more answers than
`fern-1b`; sessions that began in 2026-W14 have three answers more.
"""


def main() -> None:
    rows = [row for number in range(SESSIONS) for row in session(number)]
    OUT.mkdir(parents=True, exist_ok=True)
    with (OUT / "turns.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    sessions = {row["session_id"]: row for row in rows}
    lines = []
    for model in sorted(MODELS):
        own = {name: row for name, row in sessions.items() if row["model"] == model}
        answers = dict.fromkeys(own, 0)
        for row in rows:
            if row["session_id"] in own and row["role"] == "assistant":
                answers[row["session_id"]] += 1
        means = [
            sum(answers[name] for name in own if own[name]["resolved"] == end)
            / sum(own[name]["resolved"] == end for name in own)
            for end in (1, 0)
        ]
        solved = sum(row["resolved"] for row in own.values())
        lines.append(f"| {model} | {len(own)} | {solved} | {means[0]:.2f} | {means[1]:.2f} |")
    numbers = [int(name[1:]) for name in sessions]
    russian = sum(number % 5 in (1, 3) for number in numbers)
    card = CARD.format(
        n=len(sessions), turns=len(rows), en=len(sessions) - russian, ru=russian, weeks=WEEKS, table="\n".join(lines)
    )
    (OUT / "README.md").write_text(card, encoding="utf-8")
    print(f"{len(rows)} turns of {len(sessions)} sessions in {OUT}")


if __name__ == "__main__":
    main()
