"""Writes data/cascade/1.1.0: questions to an invented town's desk, the answers of two invented models, what they can be judged against,
people's labels and the verdicts of two judges.  Everything is invented; no model gave any of it.

Each question has a state for either answer (right, part, vague, wrong), from which labels and verdicts follow, with the errors
that are stated below.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from evalbench.studies import load
from evalbench.studies.cascade import evaluate

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "cascade" / "1.1.0"
SEED = 8
CHEAP, STRONG = "elm-small", "elm-large"
MODELS = {"a": "fern", "b": "oak"}
QUALITY = {"right": 2, "part": 1, "vague": 0, "wrong": 0, "none": 0}
# (both orders name the better one, the orders disagree); what is left names the worse one.
SURE: Mapping[str, tuple[float, float]] = {STRONG: (0.76, 0.2), CHEAP: (0.6, 0.27)}
TIES: Mapping[str, tuple[float, float]] = {STRONG: (0.62, 0.28), CHEAP: (0.4, 0.45)}
LABEL_ERROR = 0.09
N_LABELLED = 100

EN = (
    "library",
    "indoor pool",
    "clock museum",
    "ice rink",
    "market hall",
    "botanical garden",
    "music school",
    "observatory",
    "puppet theatre",
    "town archive",
)
RU = (
    ("библиотека", "библиотеку", "библиотеке", "библиотеки"), ("бассейн", "бассейн", "бассейне", "бассейна"),
    ("музей часов", "музей часов", "музее часов", "музея часов"), ("каток", "каток", "катке", "катка"),
    ("планетарий", "планетарий", "планетарии", "планетария"), ("ботанический сад", "ботанический сад", "ботаническом саду", "ботанического сада"),
    ("театр кукол", "театр кукол", "театре кукол", "театра кукол"), ("обсерватория", "обсерваторию", "обсерватории", "обсерватории"),
    ("зоопарк", "зоопарк", "зоопарке", "зоопарка"), ("архив", "архив", "архиве", "архива"),
)  # fmt: skip
# question, the same question in other words, the right answer, the same in other words, the same with the reason; values
EN_ASKED = (
    ("When does the {p} open on weekdays?", "At what time does the {p} open on weekdays?", "The {p} opens at {n} on weekdays.", "On weekdays the {p} opens its doors at {n}.", (7, 11)),
    ("When does the {p} close on Saturday?", "At what time does the {p} close on Saturday?", "The {p} closes at {n} on Saturday.", "On Saturday the {p} closes its doors at {n}.", (13, 19)),
    ("What does an adult ticket to the {p} cost?", "How much does an adult ticket to the {p} cost?", "An adult ticket to the {p} costs {n} crowns.", "For an adult a ticket to the {p} costs {n} crowns.", (3, 29)),
    ("Up to what age do children enter the {p} free of charge?", "Until what age do children enter the {p} free of charge?", "Children up to {n} years enter the {p} free of charge.", "Free entry to the {p} is for children up to {n} years.", (4, 14)),
    ("How many days ahead must a group book the {p}?", "How many days in advance must a group book the {p}?", "A group must book the {p} at least {n} days ahead.", "Groups must book the {p} {n} days ahead at least.", (2, 20)),
    ("How many lockers does the {p} have?", "How many lockers are there at the {p}?", "The {p} has {n} lockers.", "There are {n} lockers at the {p}.", (20, 90)),
    ("Which bus stops at the {p}?", "Which bus line stops at the {p}?", "Bus {n} stops at the {p}.", "The {p} has a stop of bus {n}.", (21, 69)),
)  # fmt: skip
RU_ASKED = (
    ("Во сколько по будням открывается {0}?", "В какое время по будням открывается {0}?", "По будням {0} открывается в {n} часов.", "В {n} часов открывается по будням {0}.", (7, 11)),
    ("До скольких часов в субботу работает {0}?", "До какого часа в субботу работает {0}?", "В субботу {0} работает до {n} часов.", "По субботам {0} работает до {n} часов.", (13, 19)),
    ("Сколько стоит взрослый билет в {1}?", "Какова цена взрослого билета в {1}?", "Взрослый билет в {1} стоит {n} крон.", "Билет для взрослого в {1} стоит {n} крон.", (5, 29)),
    ("До какого возраста дети проходят в {1} бесплатно?", "До скольких лет дети проходят в {1} бесплатно?", "Дети до {n} лет проходят в {1} бесплатно.", "Бесплатно в {1} проходят дети до {n} лет.", (5, 14)),
    ("За сколько дней группе нужно записаться в {1}?", "За сколько дней группа должна записаться в {1}?", "Группе нужно записаться в {1} за {n} дней.", "Группа записывается в {1} за {n} дней.", (5, 20)),
    ("Сколько шкафчиков в {2}?", "Сколько всего шкафчиков в {2}?", "В {2} {n} шкафчиков.", "Всего в {2} {n} шкафчиков.", (20, 90)),
    ("Какой автобус останавливается у {3}?", "Какой номер автобуса у остановки {3}?", "У {3} останавливается автобус {n}.", "Автобус {n} останавливается у {3}.", (21, 69)),
)  # fmt: skip
VAGUE = {
    "en": (
        "That depends on the season; please ask at the desk.",
        "There is no fixed rule for this, it changes now and then.",
    ),
    "ru": (
        "Это зависит от сезона, лучше спросить в справочной.",
        "Твёрдого правила нет, время от времени всё меняется.",
    ),
}
MORE = {
    "en": (" Please bring your town card, it saves queueing.", " The desk at the entrance helps with everything else."),
    "ru": (" Возьмите с собой карту жителя, так быстрее.", " Со всем остальным поможет справочная у входа."),
}
PART = {"en": "Usually around {m} or {n}, as far as is known.", "ru": "Обычно около {m} или {n}, насколько известно."}
REFUSED = {"en": "I'm sorry, but I cannot help with that.", "ru": "К сожалению, я не могу ответить на этот вопрос."}
OTHER = {
    "en": "По этому вопросу лучше обратиться в справочную города.",
    "ru": "Please ask the desk of the town about this matter.",
}
CLASSES = ("hours", "hours", "prices", "prices", "visits", "visits", "ways")
# zone: (number, how the answers of A and B are)
ZONES: tuple[tuple[str, tuple[tuple[int, str, str], ...]], ...] = (
    ("naive", ((2, "none", "right"), (5, "right", "none"), (1, "none", "none"))),
    ("same", ((58, "right", "right"),)),
    ("truth", ((14, "right", "wrong"), (7, "wrong", "right"), (8, "right", "right"), (3, "wrong", "wrong"), (2, "right", "part"))),
    ("chunks", ((10, "right", "vague"), (6, "vague", "right"), (8, "right", "right"), (2, "right", "part"))),
    ("open", ((5, "right", "part"), (4, "part", "right"), (5, "right", "right"))),
)  # fmt: skip


def questions(draw: random.Random) -> list[dict[str, Any]]:
    """All questions with the states of their answers, the bases not yet."""
    base = [{"lang": "en", "place": p, "asked": i} for p in range(len(EN)) for i in range(len(EN_ASKED))]
    base += [{"lang": "ru", "place": p, "asked": i} for p in range(len(RU)) for i in range(len(RU_ASKED))]
    draw.shuffle(base)
    states = [(zone, a, b) for zone, parts in ZONES for n, a, b in parts for _ in range(n)]
    assert len(states) == len(base)
    for row, (zone, a, b) in zip(base, states, strict=True):
        low, high = (EN_ASKED if row["lang"] == "en" else RU_ASKED)[row["asked"]][4]
        row.update(zone=zone, a=a, b=b, n=draw.randint(low, high), again=False)
    twice = [row for row in base if row["zone"] == "open" and row["a"] == row["b"]][:1] + [
        row for row in base if row["zone"] in ("truth", "chunks") and row["a"] != row["b"]
    ][:7]
    twice += [row for row in base if row["zone"] == "same"][:2]
    return [*base, *({**row, "again": True, "of": row} for row in twice)]


def texts(row: dict[str, Any], draw: random.Random) -> None:
    """Question, right answer and both answers."""
    lang = row["lang"]
    asked = (EN_ASKED if lang == "en" else RU_ASKED)[row["asked"]]
    names = {"p": EN[row["place"]]} if lang == "en" else {}
    cases = RU[row["place"]] if lang == "ru" else ()

    def put(text: str, n: int) -> str:
        said = text.format(*cases, n=n, **names)
        return said[:1].upper() + said[1:]

    n = row["n"]
    row["question"], row["right"] = put(asked[int(row["again"])], n), put(asked[2], n)
    wrong = n + draw.choice((1, 2, 3, 5))
    for side in ("a", "b"):
        state, plain = row[side], put(asked[2 if side == "a" else 3], n)
        row[f"answer_{side}"] = {
            "right": plain,
            "wrong": put(asked[2 if side == "a" else 3], wrong),
            "vague": draw.choice(VAGUE[lang]),
            "part": PART[lang].format(n=n, m=n - draw.choice((1, 2))),
            "none": draw.choice(("", REFUSED[lang], REFUSED[lang], OTHER[lang])),
        }[state]
    if row["zone"] == "same":
        row["answer_b"] = draw.choice((row["answer_a"], row["answer_a"].rstrip(".") + "!", row["answer_a"].upper()))
    elif (row["a"], row["b"]) == ("right", "right"):
        row[draw.choice(("answer_a", "answer_b"))] += draw.choice(MORE[lang])
    if row["again"]:
        for side in ("a", "b"):
            row[f"answer_{side}"] = row["of"][f"answer_{side}"]


def with_bases(rows: list[dict[str, Any]], draw: random.Random) -> list[tuple[str, str]]:
    """Ground truths, chunks, facts and classes in the rows; returns the dictionary."""
    truth = [row for row in rows if row["zone"] == "truth"]
    chunks = [row for row in rows if row["zone"] == "chunks"]
    rest = [row for row in rows if row["zone"] in ("naive", "same")]
    draw.shuffle(rest)
    n = len(rows) // 3
    truth, rest = [*truth, *rest[: n - len(truth)]], rest[n - len(truth) :]
    chunks = [*chunks, *rest[: n - len(chunks)]]
    for row in rows:
        row.update(reference="", contexts=[], relevant=None, facts=[], class_a="", class_b="", true_class="")
    for row in truth:
        row["reference"] = row["right"]
    for row in chunks:
        other = draw.choice([one for one in rows if one["lang"] == row["lang"] and one["place"] != row["place"]])
        row["contexts"] = [other["right"], row["right"]]
        row["relevant"] = [0, 1]
    classified = draw.sample(rows, 40)
    for row in classified:
        right = CLASSES[row["asked"]]
        row["true_class"] = row["class_a"] = row["class_b"] = right
        if row["b"] in ("wrong", "vague"):
            row["class_b"] = draw.choice([c for c in sorted(set(CLASSES)) if c != right])
    listed = [row for row in rows if row["zone"] == "open"]
    for row in [*listed[:3], *draw.sample(chunks, 6)]:
        row["facts"] = [row["right"]]
    entries = []
    for row in [one for one in listed if not one["again"]][4:7]:
        term = (
            EN[row["place"]]
            if row["lang"] == "en"
            else next(form for form in RU[row["place"]] if form in row["question"].casefold())
        )
        entries.append((term, row["right"]))
    return sorted(set(entries))


def labels(rows: list[dict[str, Any]], draw: random.Random) -> list[tuple[str, str, str, int]]:
    """Two annotators' marks of both answers, 0 to 2, of a hundred questions."""
    first = [
        row
        for row in rows
        if row["again"] is False
        and any(other.get("of") is row for other in rows)
        and row["zone"] in ("truth", "chunks")
    ]
    others = [row for row in rows if row not in first and not row["again"]]
    hard = [row for row in others if row["zone"] == "open" or "part" in (row["a"], row["b"])]
    rest = draw.sample([row for row in others if row not in hard], N_LABELLED - len(first) - 2) + draw.sample(hard, 2)
    found = []
    for row in [*first, *rest]:
        for annotator in ("ada", "boris"):
            for side, model in MODELS.items():
                mark = QUALITY[row[side]]
                if row not in first and draw.random() < LABEL_ERROR:
                    mark = draw.choice([m for m in (0, 1, 2) if m != mark])
                found.append((row["id"], annotator, model, mark))
    return sorted(found)


class Judge:
    """An invented judge: what it says of a question, by the states of its answers."""

    def __init__(self, name: str, rows: list[dict[str, Any]]) -> None:
        self.name, self.rows, self.kept = name, {row["id"]: row for row in rows}, {}

    def __call__(self, item: dict[str, Any]) -> dict[str, Any]:
        key = (item["id"], _task(item))
        self.kept.setdefault(key, self.said(item))
        return dict(self.kept[key])

    def said(self, item: dict[str, Any]) -> dict[str, Any]:
        row, draw = self.rows[item["id"].split("/")[0]], random.Random(f"{SEED}/{self.name}/{item['id']}")
        task = _task(item)
        if task == "pairwise":
            return {"label": self.pair(row, item["id"].split("/")[1])}
        if task == "ranking":
            return {"order": self.order(item, draw)}
        if task == "claims":
            return {"claims": [{"sentence": i, "claim": text} for i, text in enumerate(item["sentences"], 1)]}
        if task == "support":
            own = set(re.findall(r"\d+", item["statement"]))
            carried = own and any(own <= set(re.findall(r"\d+", passage)) for passage in item["passages"])
            return {"label": "SUPPORTED" if carried else "NOT_SUPPORTED", "passages": [1] if carried else []}
        good = QUALITY[row[item["id"].split("/")[-1]]] == 2
        return {"mark": int(good != (draw.random() < 0.1)), "reason": "Invented."}

    def pair(self, row: dict[str, Any], order: str) -> str:
        draw = random.Random(f"{SEED}/{self.name}/{row['id']}/pair")
        gap = QUALITY[row["a"]] - QUALITY[row["b"]]
        chance, first = draw.random(), draw.random() < 0.7
        place = {"ab": ("FIRST", "SECOND"), "ba": ("SECOND", "FIRST")}[order]  # of A, of B
        if gap:
            sure, unsure = SURE[self.name]
            better, worse = place if gap > 0 else place[::-1]
            if chance < sure:
                return better
            return ("FIRST" if first else "SECOND") if chance < sure + unsure else worse
        same, unsure = TIES[self.name]
        if chance < same:
            return "TIE"
        return ("FIRST" if first else "SECOND") if chance < same + unsure else place[int(first)]

    def order(self, item: dict[str, Any], draw: random.Random) -> list[int]:
        worth = {}
        for i, text in enumerate(item["answers"], 1):
            state = next(
                QUALITY[row[s]] for row in self.rows.values() for s in ("a", "b") if row[f"answer_{s}"] == text
            )
            worth[i] = state + draw.gauss(0, 0.5)
        return sorted(worth, key=lambda i: -worth[i])


def _task(item: Mapping[str, Any]) -> str:
    known = {"first": "pairwise", "answers": "ranking", "sentences": "claims", "statement": "support"}
    return next((task for field, task in known.items() if field in item), "mark")


def verdicts(judges: tuple[Judge, ...]) -> list[tuple[str, str, str, str, str, str]]:
    """What the judges said, as rows of the table."""
    found = []
    for judge in judges:
        for (name, task), said in judge.kept.items():
            parts = {key: value for key, value in said.items() if key not in ("label", "mark", "reason")}
            label = str(said.get("label", said.get("mark", "")))
            found.append(
                (
                    name,
                    task,
                    judge.name,
                    label,
                    str(said.get("reason", "")),
                    json.dumps(parts, ensure_ascii=False) if parts else "",
                )
            )
    return sorted(found)


def made() -> dict[str, str]:
    """The files by name."""
    draw = random.Random(SEED)
    rows = questions(draw)
    for row in rows:
        texts(row, draw)
    draw.shuffle(rows)
    for number, row in enumerate(rows, 1):
        row["id"] = f"q{number:03}"
    dictionary = with_bases(rows, draw)
    marks = labels(rows, draw)
    best = {name for name, _, model, mark in marks if model == MODELS["b"] and mark == max(QUALITY.values())}
    lucky = next(row for row in rows if row["true_class"] and row["b"] == "right" and row["id"] in best)
    lucky["class_b"] = next(c for c in CLASSES if c != lucky["true_class"])
    columns = [
        "id",
        "question",
        "answer_a",
        "answer_b",
        "reference",
        "contexts",
        "relevant",
        "facts",
        "class_a",
        "class_b",
        "true_class",
        "lang",
    ]
    items = [{"model_a": "fern", "model_b": "oak", **{name: row[name] for name in columns}} for row in rows]
    frames = {
        "items": pd.DataFrame(items),
        "labels": pd.DataFrame(marks, columns=["id", "annotator", "model", "mark"]),
        "dictionary": pd.DataFrame(dictionary, columns=["term", "fact"]),
    }
    judges = Judge(CHEAP, rows), Judge(STRONG, rows)
    evaluate(load(frames, study="cascade"), judge=judges[0], strong=judges[1], n_resamples=2)
    for judge in judges:
        for row in rows:
            for order in ("ab", "ba"):
                judge({"id": f"{row['id']}/{order}", "first": "", "second": ""})
    frames["verdicts"] = pd.DataFrame(verdicts(judges), columns=["id", "task", "judge", "label", "reason", "reply"])
    frames["states"] = pd.DataFrame(
        [(row["id"], row["zone"], row["a"], row["b"], row["of"]["id"] if row["again"] else "") for row in rows],
        columns=["id", "zone", "a", "b", "duplicate_of"],
    )
    files = {f"{name}.csv": _csv(frame) for name, frame in frames.items() if name != "items"}
    files["items.jsonl"] = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    files["README.md"] = card(frames)
    return files


def _csv(frame: pd.DataFrame) -> str:
    out = io.StringIO(newline="")
    frame.to_csv(out, index=False, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
    return out.getvalue()


def card(frames: Mapping[str, pd.DataFrame]) -> str:
    """The data card."""
    states = frames["states"]
    items, told = frames["items"], Counter(frames["verdicts"]["judge"] + ", " + frames["verdicts"]["task"])
    lines = "\n".join(f"  - {name}: {n}" for name, n in sorted(told.items()))
    table = "\n".join(
        f"| {a} | {b} | {n} |" for (a, b), n in sorted(Counter(zip(states["a"], states["b"], strict=True)).items())
    )
    return f"""# cascade 1.1.0 (synthetic: yes)

{len(items)} questions to the desk of a town that does not exist, the answers of two models that do not exist, fern (A) and oak (B), and what
these can be judged against. Sample data of the study `cascade`. They show how the study works; they say nothing about any real model or judge.

- Synthetic: everything here is invented, labels and verdicts too: neither people nor models gave them.
- How made: `scripts/make_cascade.py` writes these files and this card. Each answer has a state (right, part, vague, wrong, none); labels and
  verdicts follow from the states, with errors: a label is another mark with probability {LABEL_ERROR:g}; of a pair with a better answer
  {STRONG} names it in both orders with probability {SURE[STRONG][0]:g} ({CHEAP}: {SURE[CHEAP][0]:g}) and lets the place decide with {SURE[STRONG][1]:g} ({SURE[CHEAP][1]:g}).
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.
- `items.jsonl`: a row a question, {int((items["lang"] == "en").sum())} English and {int((items["lang"] == "ru").sum())} Russian; {int((items["reference"] != "").sum())} with a ground truth, {int((items["contexts"].map(len) > 0).sum())} with
  chunks that are labelled relevant or not, {int((items["facts"].map(len) > 0).sum())} with a must-have fact, {int((items["true_class"] != "").sum())} with classes of the query; {int((states["duplicate_of"] != "").sum())} are other questions in other words.
- `labels.csv`: marks of both answers, 0 to 2, by two annotators, of {frames["labels"]["id"].nunique()} questions. `dictionary.csv`: facts by term.
- `verdicts.csv`: of two judges, the cheap {CHEAP} and the strong {STRONG}; pairs of all questions in both orders, the rest where the cascade asks:
{lines}
- `states.csv`: what was planted (no study reads it).

## Planted states

| fern | oak | questions |
| --- | --- | ---: |
{table}
"""


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for name, content in made().items():
        (OUT / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
