"""Writes data/judge_audit/1.1.0: 120 pairs of invented answers, verdicts of four invented judges, labels of three invented annotators.

Planted, by seed: ``alder`` is a good judge; ``alder-mini`` is a copy of it with a little noise; ``birch`` prefers the longer answer, and so a
long text that answers nothing; ``cedar`` prefers the answer shown first.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from evalbench.core.seeds import rng

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "judge_audit" / "1.1.0"
SEED, N, N_LABELLED, N_NULL = 47, 120, 60, 40
MODEL, OTHER, NULL = "heron-2b", "larch-8b", "parrot-0"
ERRORS = {"ada": 0.03, "bo": 0.05, "vera": 0.08}
ALDER_WRONG, COPY_NOISE, FLIP, TO_LONGER, TO_FIRST = 0.10, 0.02, 0.01, 0.8, 0.7
HELPFUL, COMPLETE = "helpful", "complete"
METHODS = {HELPFUL: "pairwise, both orders", COMPLETE: "pointwise, 0 or 1"}
COMMENTS = {
    ("birch", HELPFUL): "Seems to reward length: see the pairs in which the short answer is the right one.",
    ("birch", COMPLETE): "The definition does not say what belongs into a complete answer, and the judge counts words.",
    ("cedar", HELPFUL): "Asked in one order only it would have looked fine.",
    ("alder", COMPLETE): "Strict where the answer leaves the weekday out, as the annotators are.",
}
PLACES = {
    "en": (
        "the Reed Library",
        "the Gull Museum",
        "the Mill Baths",
        "the Lantern Theatre",
        "the Osier Archive",
        "the Weir Garden",
    ),
    "ru": (
        "Камышовая библиотека",
        "Чаечий музей",
        "Мельничные бани",
        "Фонарный театр",
        "Ивовый архив",
        "Запрудный сад",
    ),
}
DAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
    "ru": ("понедельник", "вторник", "среду", "четверг", "пятницу"),
}
QUESTION = {
    "en": "When does {place} open on {day}, and what must visitors bring?",
    "ru": "Во сколько в {day} начинает работу {place} и что нужно взять с собой?",
}
HOURS = {"en": "It opens at {hour}:00.", "ru": "Начало работы — {hour}:00."}
THINGS = {
    "en": ("Bring a library card.", "Bring soft shoes.", "Bring a towel.", "Bring the ticket on paper."),
    "ru": (
        "Возьмите читательский билет.",
        "Возьмите мягкую обувь.",
        "Возьмите полотенце.",
        "Возьмите билет на бумаге.",
    ),
}
PADDING = {
    "en": (
        "Thank you for this question, which many visitors have asked before.",
        "The staff will be glad to see you and to show you around.",
        "Opening hours matter when a visit is planned, so it is wise to ask.",
        "The way there is pleasant, above all when the weather is fine.",
    ),
    "ru": (
        "Спасибо за вопрос, его задавали уже многие посетители.",
        "Сотрудники будут рады вам и с удовольствием всё покажут.",
        "Часы работы важны, когда планируешь визит, поэтому спросить разумно.",
        "Дорога туда приятная, особенно в хорошую погоду.",
    ),
}
NOTHING = {
    "en": "This is an important question, and a careful answer takes many things into account: the place, the day, the season and the visitor. "
    "In general it is best to be prepared, to look at all sides of the matter and to keep in mind that circumstances may differ. "
    "Above all, every visitor is welcome, and every question deserves attention.",
    "ru": "Это важный вопрос, и продуманный ответ учитывает многое: место, день, время года и самого посетителя. "
    "В целом лучше подготовиться, рассмотреть все стороны дела и помнить, что обстоятельства бывают разными. "
    "Главное, что рады каждому посетителю и каждый вопрос заслуживает внимания.",
}
COSTS = {"alder": (610, 2.4, 3.0), "alder-mini": (600, 0.9, 0.4), "birch": (480, 1.1, 0.8), "cedar": (450, 1.0, 0.7)}


def pairs() -> list[dict[str, Any]]:
    """120 questions with two answers, one of them right, and what is true of them."""
    found = []
    for i in range(N):
        lang = "en" if i % 2 == 0 else "ru"
        draw = rng(SEED, "pair", f"{i:03}")
        place = PLACES[lang][i // 2 % 6]
        day = DAYS[lang][i // 12 % 5]
        hour, thing = int(draw.integers(8, 13)), THINGS[lang][int(draw.integers(4))]
        better = draw.random() < 0.5
        padded = int(draw.random() < 0.7)
        whole = [draw.random() < (0.85 if right else 0.45) for right in (better, not better)]
        texts = [
            answer(lang, hour if right else 14 + int(draw.integers(5)), thing if full else "", long, draw)
            for right, full, long in zip((better, not better), whole, (padded, 1 - padded), strict=True)
        ]
        found.append(
            {
                "id": f"p{i + 1:03}", "lang": lang, "question": QUESTION[lang].format(place=place, day=day),
                "answer": texts[0], "answer_other": texts[1], HELPFUL: float(better), COMPLETE: float(whole[0]),
            }
        )  # fmt: skip
    return found


def answer(lang: str, hour: int, thing: str, padded: int, draw: Any) -> str:
    """The hour, what to bring, and words that say nothing."""
    padding = [PADDING[lang][int(k)] for k in draw.permutation(4)[: 2 + int(draw.integers(2)) if padded else 0]]
    return " ".join(filter(None, [*padding[:1], HOURS[lang].format(hour=hour), thing, *padding[1:]]))


def verdicts(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every verdict of every judge."""
    rows = []
    for pair in found:
        for judge in COSTS:
            rows += compared(pair, judge, MODEL, pair["answer"])
        for judge in ("alder", "birch"):
            rows.append(marked(pair, judge))
    for pair in found[:N_NULL]:
        null = {**pair, "id": f"n{pair['id'][1:]}", HELPFUL: 0.0}
        for judge in COSTS:
            rows += compared(null, judge, NULL, NOTHING[pair["lang"]])
    return short(rows)


def short(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with lengths, and texts and comments only where they occur first."""
    seen: set[tuple[str, ...]] = set()
    for row in rows:
        row |= {"length": len(row["answer"]), "length_other": len(row["answer_other"]) or None}
        for names, key in (
            (("question", "answer", "answer_other", "lang"), ("text", row["id"])),
            (("comment", "method"), (row["judge"], row["criterion"])),
        ):
            if key in seen:
                row |= dict.fromkeys(names)
            seen.add(key)
    return [{name: value for name, value in row.items() if value not in (None, "")} for row in rows]


def good(pair: dict[str, Any], judge: str, criterion: str) -> float:
    """The verdict of ``alder``, and that of its copy."""
    draw = rng(SEED, f"alder/{criterion}", pair["id"])
    said = pair[criterion] if draw.random() >= ALDER_WRONG else 1 - pair[criterion]
    noisy = judge == "alder-mini" and rng(SEED, f"copy/{criterion}", pair["id"]).random() < COPY_NOISE
    return 1 - said if noisy else said


def compared(pair: dict[str, Any], judge: str, model: str, output: str) -> list[dict[str, Any]]:
    """A pair in both orders, every second one in the first order twice."""
    longer = float(len(output) > len(pair["answer_other"]))
    asked = [("ab", "1"), ("ba", "1"), *([("ab", "2")] if int(pair["id"][1:]) % 2 else [])]
    rows = []
    for order, repeat in asked:
        draw = rng(SEED, f"{judge}/{order}/{repeat}", pair["id"])
        mark = good(pair, judge, HELPFUL)
        if judge == "birch":
            own = rng(SEED, "birch", pair["id"])
            mark = longer if own.random() < TO_LONGER else pair[HELPFUL]
        if judge == "cedar":
            own = rng(SEED, "cedar", pair["id"])
            mark = float(order == "ab") if own.random() < TO_FIRST else pair[HELPFUL]
        mark = 1 - mark if draw.random() < FLIP else mark
        lost = {"birch": 0.01, "cedar": 0.015}.get(judge, 0.0)
        unscored = ("unparsed" if draw.random() < 0.7 else "timeout") if draw.random() < lost else ""
        rows.append(
            {
                **head(pair, judge, model, HELPFUL, output), "answer_other": pair["answer_other"], "order": order,
                "repeat": repeat, "mark": None if unscored else mark, "unscored": unscored,
                "reason": "" if unscored else reason(pair["lang"], judge, mark), **spent(judge, draw),
            }
        )  # fmt: skip
    return rows


def marked(pair: dict[str, Any], judge: str) -> dict[str, Any]:
    """Whether one answer is complete."""
    mark = good(pair, judge, COMPLETE)
    if judge == "birch":
        own = rng(SEED, "birch/complete", pair["id"])
        mark = float(len(pair["answer"]) > 120) if own.random() < TO_LONGER else pair[COMPLETE]
    draw = rng(SEED, f"{judge}/complete", pair["id"])
    return {
        **head(pair, judge, MODEL, COMPLETE, pair["answer"]), "answer_other": "", "order": "", "repeat": "1", "mark": mark,
        "unscored": "", "reason": "", **spent(judge, draw),
    }  # fmt: skip


def head(pair: dict[str, Any], judge: str, model: str, criterion: str, output: str) -> dict[str, Any]:
    return {
        "id": pair["id"], "judge": judge, "model": model, "criterion": criterion, "method": METHODS[criterion],
        "comment": COMMENTS.get((judge, criterion), ""), "prompt": f"{criterion}-v1", "lang": pair["lang"],
        "question": pair["question"], "answer": output,
    }  # fmt: skip


def reason(lang: str, judge: str, mark: float) -> str:
    said = {
        "en": (
            "The answer gives the right hour.",
            "The other answer gives the right hour.",
            "This answer says more.",
            "The other answer says more.",
        ),
        "ru": (
            "В ответе верный час.",
            "Верный час в другом ответе.",
            "Этот ответ подробнее.",
            "Другой ответ подробнее.",
        ),
    }[lang]
    return said[(2 if judge == "birch" else 0) + int(mark < 0.5)]


def spent(judge: str, draw: Any) -> dict[str, Any]:
    tokens, seconds, price = COSTS[judge]
    used = int(tokens * (0.85 + 0.3 * draw.random()))
    return {
        "tokens": used,
        "seconds": round(seconds * (0.7 + 0.6 * draw.random()), 2),
        "cost": round(used * price / 1e6, 6),
    }


def labels(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What three annotators said of a random half."""
    chosen = sorted(rng(SEED, "labelled").permutation(N)[:N_LABELLED].tolist())
    rows = []
    for criterion in (HELPFUL, COMPLETE):
        for i in chosen:
            for name, error in ERRORS.items():
                wrong = rng(SEED, f"label/{criterion}/{name}", found[i]["id"]).random() < error
                truth = found[i][criterion]
                mark = 1 - truth if wrong else truth
                rows.append(
                    {"id": found[i]["id"], "model": MODEL, "criterion": criterion, "annotator": name, "mark": int(mark)}
                )
    return rows


CARD = """# judge_audit 1.1.0 (synthetic: yes)

120 pairs of answers by models that do not exist, verdicts of four judges that do not exist, labels of three annotators who do not exist.
Sample data of the study `judge_audit`. They show how the study works; they say nothing about any real model, judge or person.

- Synthetic: everything here is invented: places, questions, answers, verdicts, reasons, labels, times and prices.
- How made: `scripts/make_judge_audit.py` draws everything by seed and writes these files and this card.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.
- `verdicts.jsonl`: one row per verdict: `id, judge, model, criterion, method, comment, prompt, lang, question, answer, answer_other, order, repeat,
  mark, unscored, reason, tokens, seconds, cost, length, length_other`; texts, comments and methods where they occur first. By *helpful* pairs are compared in both orders, every second pair twice in the first order; `mark`
  is the preference for `answer`. By *complete* two of the judges mark `answer` alone.
- `labels.csv`: what three annotators said of 60 of the 120, drawn at random: `id, model, criterion, annotator, mark`.

## Planted

- `alder` is a good judge: {alder:.0%} of its opinions are wrong.
- `alder-mini` is a copy of `alder` with noise: {copy:.0%} of its opinions are turned round.
- `birch` prefers the longer answer in {longer:.0%} of the pairs, whatever is in it, and so it prefers `{null}`, a system that
  answers every question with one long constant text ({n_null} pairs, ids `n…`); by *complete* it marks long answers as complete.
- `cedar` prefers the answer shown first in {first:.0%} of the pairs.
- `{model}` writes the longer answer in 7 of 10 pairs, and is right in half of them.
- Every verdict is turned round with {flip:.0%}; a few of `birch` and `cedar` could not be read.
- The annotators err in {errors} of the answers, each independently.

## Counts

{n_pairs} pairs ({n_en} en, {n_ru} ru), {n_verdicts:,} verdicts, {n_labels} labels.
"""


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    found = pairs()
    said, given = verdicts(found), labels(found)
    with (OUT / "verdicts.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in said)
    with (OUT / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(given[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(given)
    en = sum(pair["lang"] == "en" for pair in found)
    card = CARD.format(
        alder=ALDER_WRONG, copy=COPY_NOISE, longer=TO_LONGER, first=TO_FIRST, flip=FLIP, null=NULL, n_null=N_NULL, model=MODEL,
        errors=", ".join(f"{error:.0%} ({name})" for name, error in ERRORS.items()), n_pairs=N, n_en=en, n_ru=N - en,
        n_verdicts=len(said), n_labels=len(given),
    )  # fmt: skip
    (OUT / "README.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    main()
