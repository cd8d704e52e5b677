"""Writes data/needles/1.1.0: facts, haystacks of our own paragraphs, and a recorded grid of two models that do not exist.

Planted, by seed: ``fern-1b`` loses facts at depth 0.5 of contexts of 16 000 tokens and more, most of them in related haystacks;
``oak-7b`` loses few anywhere.  Some replies hold the number within a longer one, or name another number first.
"""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path
from typing import Any

from evalbench.core.seeds import rng
from evalbench.text.words import words

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "needles" / "1.1.0"
SEED = 31
MODELS = ("fern-1b", "oak-7b")
KINDS = ("vanilla", "related")
LENGTHS, DEPTHS = (1000, 4000, 16000, 64000), (0.0, 0.25, 0.5, 0.75, 1.0)
LONG, LOST_AT = 16000, 0.5
RECALL = {"fern-1b": {"vanilla": 0.96, "related": 0.92}, "oak-7b": {"vanilla": 0.99, "related": 0.97}}
LOST = {"vanilla": 0.4, "related": 0.2}
WITHIN, NUMBER_BEFORE, NOTHING = 0.02, 0.04, 0.01
PARAGRAPHS, SENTENCES = 20, 7

PLACES = {
    "en": ("Larkmere", "Dunholt", "Osier Bridge", "Quarry End", "Fennick", "Marlpit", "Stannow", "Wicken Cross", "Bellcote", "Thornby"),
    "ru": ("Жаворонково", "Дунхольт", "Ивовый Мост", "Каменка", "Фенник", "Марлово", "Станнов", "Викен", "Колоколец", "Терновка"),
}  # fmt: skip
FACTS = {
    "en": (
        ("The lantern keeper of {p} has {n} keys.", "How many keys does the lantern keeper of {p} have?"),
        ("The tower of {p} was built with {n} blue bricks.", "With how many blue bricks was the tower of {p} built?"),
        ("The code of the old mill in {p} is {n}.", "What is the code of the old mill in {p}?"),
        ("The mayor of {p} keeps a bird of the kind {n}.", "Of which kind is the bird that the mayor of {p} keeps?"),
    ),
    "ru": (
        ("У смотрителя фонарей по имени Тимофей из города {p} ровно {n} ключей.", "Сколько ключей у смотрителя Тимофея из города {p}?"),
        ("На башню в городе {p} ушло {n} синих кирпичей.", "Сколько синих кирпичей ушло на башню в городе {p}?"),
        ("Код старой мельницы в городе {p} — {n}.", "Какой код у старой мельницы в городе {p}?"),
        ("Бургомистр города {p} держит птицу, её порода — {n}.", "Какой породы птица у бургомистра города {p}?"),
    ),
}  # fmt: skip
BIRDS = {"en": ("bramblewing", "ashfinch", "moorpiper"), "ru": ("ежевичник", "пеплозяблик", "болотник")}

TEXTS = {
    ("vanilla", "en"): (
        "{0} {1} before the {2} was {3}, and nobody {4}.",
        (("The baker", "A gardener", "My aunt", "The old sailor", "Our neighbour", "The younger sister", "A painter", "The schoolmaster"),
         ("swept the yard", "went down to the shore", "lit the stove", "folded the sheets", "counted the clouds", "sharpened a pencil"),
         ("bread", "tide", "garden gate", "morning tea", "wet rope", "kitchen window"),
         ("ready", "cold again", "forgotten", "as grey as slate", "warm enough", "half open"),
         ("thought much of it", "was in a hurry", "asked for a reason", "minded the rain", "said a word", "looked at the time")),
    ),
    ("related", "en"): (
        "In {0} the {1} of the {2} {3}, as the {4} of that year noted.",
        (("the next valley", "the upper town", "the harbour quarter", "the lower mill", "a village by the lake", "the eastern parish"),
         ("keeper", "mayor", "miller", "watchman", "clerk", "bricklayer"),
         ("lantern house", "old tower", "blue gate", "bird market", "key room", "brick kiln"),
         ("lost a bunch of keys", "changed the code of the door", "ordered several hundred bricks", "bought a singing bird",
          "had the tower painted", "counted the lanterns twice"),
         ("chronicle", "register", "diary", "accounts", "letters", "minutes")),
    ),
    ("vanilla", "ru"): (
        "{0} {1}, пока {2} {3}, и никто {4}.",
        (("Пекарь", "Садовник", "Дядя Захар", "Старый моряк", "Наш сосед", "Младший брат", "Художник", "Учитель"),
         ("подметал двор", "шёл к берегу", "топил печь", "складывал бельё", "считал облака", "точил карандаш"),
         ("дождь", "ветер", "утренний туман", "соседский кот", "далёкий поезд", "старый граммофон"),
         ("не умолкал", "медлил у ворот", "казался серым", "держался в стороне", "делал своё дело", "будил улицу"),
         ("об этом не думал", "не торопился", "не спрашивал почему", "не сердился", "не говорил ни слова", "не смотрел на часы")),
    ),
    ("related", "ru"): (
        "Как говорит {4} тех лет, {1} {2} из {0} {3}.",
        (("соседней долины", "верхнего города", "портового квартала", "нижней слободы", "деревни у озера", "восточного прихода"),
         ("смотритель", "сторож", "писарь", "хозяин", "каменщик", "староста"),
         ("фонарного дома", "старой башни", "синих ворот", "птичьего рынка", "комнаты ключей", "кирпичного завода"),
         ("потерял связку ключей", "сменил код на двери", "заказал несколько сотен кирпичей", "купил певчую птицу",
          "велел покрасить башню", "дважды пересчитал фонари"),
         ("летопись", "опись", "записная книга", "переписка", "приходная книга", "хроника")),
    ),
}  # fmt: skip
SAID = {"en": ("{a}", "It is {a}.", "The text says {a}."), "ru": ("{a}", "Это {a}.", "В тексте сказано: {a}.")}
MISSED = {
    "en": ("The text does not say.", "I cannot find it.", "It is {w}."),
    "ru": ("В тексте этого нет.", "Не нахожу.", "Это {w}."),
}
BEFORE = {"en": "Of the {w} lines, one says {a}.", "ru": "Из {w} строк в одной сказано: {a}."}
CARD = """# needles 1.1.0 (synthetic: yes)

{needles} facts, haystacks of our own paragraphs in two kinds and languages, and {n} recorded replies of two models that do not
exist. Sample data of the study `needle`. They show how the study works; they say nothing about any real model.

- Synthetic: everything here is invented: facts, places, paragraphs, replies, models.
- How made: sentences and patterns were written by hand for this project; `scripts/make_needles.py` fills them by seed and writes
  these files and this card.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.
- `items.csv`: the recorded grid, one row per reply; its contexts of 1 000 to 64 000 tokens never existed. `needles.jsonl` and
  `haystacks.jsonl`: what a model is asked about with `model=…`.

## Counts

{counts}

The grid: {needles} needles × 4 lengths × 5 depths × 2 haystacks × 2 models. Recall by `contains`:

| | vanilla | related | vanilla, 16 000 and more, depth 0.5 | related, 16 000 and more, depth 0.5 |
| --- | ---: | ---: | ---: | ---: |
{table}

Planted: `fern-1b` loses facts at depth 0.5 of contexts of 16 000 tokens and more; related haystacks are harder; in a few replies
the number is within a longer one, which only `contains` takes, or another number comes first, which `first_number` does not
take; a few replies are empty.
"""


def needles() -> list[dict[str, Any]]:
    """Ten facts in either language; three have a word for an answer."""
    rows = []
    for lang, places in PLACES.items():
        for i, place in enumerate(places):
            draw = rng(SEED, "needle", f"{lang}{i}")
            of_bird = i in (3, 6, 9)
            sentence, question = FACTS[lang][3 if of_bird else i % 3]
            answer = BIRDS[lang][i // 3 - 1] if of_bird else str(draw.integers(1000, 9999))
            rows.append(
                {
                    "id": f"{lang}{i + 1:02}",
                    "lang": lang,
                    "needle": sentence.format(p=place, n=answer),
                    "question": question.format(p=place),
                    "reference": answer,
                }
            )
    return rows


def haystacks() -> list[dict[str, Any]]:
    """Paragraphs of sentences, none of which is there twice."""
    rows = []
    for (kind, lang), (pattern, slots) in TEXTS.items():
        every = list(product(*slots))
        draw = rng(SEED, "haystack", f"{kind} {lang}")
        chosen = draw.choice(len(every), PARAGRAPHS * SENTENCES, replace=False)
        said = [pattern.format(*every[i]) for i in chosen]
        said = [sentence[0].upper() + sentence[1:] for sentence in said]
        for p in range(PARAGRAPHS):
            text = " ".join(said[p * SENTENCES : (p + 1) * SENTENCES])
            rows.append({"id": f"{kind}-{lang}-{p + 1:02}", "kind": kind, "lang": lang, "text": text})
    return rows


def reply(needle: dict[str, Any], model: str, kind: str, length: int, depth: float) -> str:
    """What the invented model says."""
    draw = rng(SEED, "reply", f"{needle['id']} {model} {kind} {length} {depth}")
    lang, answer = needle["lang"], needle["reference"]
    lost = model == "fern-1b" and length >= LONG and depth == LOST_AT
    right = draw.random() < (LOST[kind] if lost else RECALL[model][kind])
    other = str(draw.integers(10_000, 99_999))
    odd, said = draw.random(), int(draw.integers(0, 3))
    if odd < NOTHING:
        return ""
    if not right:
        return MISSED[lang][said].format(w=other)
    if answer.isdecimal() and odd < NOTHING + WITHIN:
        return SAID[lang][said].format(a=f"1{answer}")
    if odd > 1 - NUMBER_BEFORE:
        return BEFORE[lang].format(w=other[:2], a=answer)
    return SAID[lang][said].format(a=answer)


def main() -> None:
    facts, texts = needles(), haystacks()
    rows = [
        {
            "id": f"{fact['id']}/{kind}/{length}/{depth:g}", "model": model, "needle": fact["id"], "lang": fact["lang"],
            "haystack": kind, "length": length, "depth": depth, "question": fact["question"], "reference": fact["reference"],
            "answer": reply(fact, model, kind, length, depth),
        }
        for fact, model, kind, length, depth in product(facts, MODELS, KINDS, LENGTHS, DEPTHS)
    ]  # fmt: skip
    OUT.mkdir(parents=True, exist_ok=True)
    for name, listed in (("needles", facts), ("haystacks", texts)):
        lines = [json.dumps(row, ensure_ascii=False) for row in listed]
        (OUT / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (OUT / "items.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    table = []
    for model in MODELS:
        shares = []
        for lost, kind in product((False, True), KINDS):
            own = [r for r in rows if r["model"] == model and r["haystack"] == kind]
            own = [r for r in own if not lost or (r["length"] >= LONG and r["depth"] == LOST_AT)]
            shares.append(f"{sum(r['reference'] in r['answer'] for r in own) / len(own):.2f}")
        table.append(f"| {model} | {' | '.join(shares)} |")
    sizes = {
        (kind, lang): sum(len(words(t["text"])) for t in texts if (t["kind"], t["lang"]) == (kind, lang))
        for kind, lang in TEXTS
    }
    counts = "; ".join(f"{kind} {lang}: {PARAGRAPHS} paragraphs, {n} words" for (kind, lang), n in sizes.items())
    card = CARD.format(needles=len(facts), n=len(rows), counts=f"Haystacks: {counts}.", table="\n".join(table))
    (OUT / "README.md").write_text(card, encoding="utf-8")
    print(f"{len(rows)} replies, {len(facts)} needles in {OUT}")


if __name__ == "__main__":
    main()
