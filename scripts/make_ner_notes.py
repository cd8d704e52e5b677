"""Write the sample data sets ner_notes@1.1.0 and ner_strings@1.1.0: invented town news with entities of four classes.

Run from anywhere: ``python scripts/make_ner_notes.py``.  Sentences with slots are filled with invented names by seed, so that
every true span is known; three invented models then predict them, each with its own habits of missing, confusing and cutting.
``ner_notes`` has the spans; ``ner_strings`` the same predictions as bare strings, of which some are listed once too few or in
two classes; its replies are those of one invented model to differently worded requests.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evalbench.core.seeds import rng

ROOT = Path(__file__).resolve().parent.parent
SEED = 7
CLASSES = ("ORGANISATION", "PERSON", "PLACE", "PRODUCT")
NAMES = {
    "en": {
        "PERSON": ["Mira Holt", "Anton Weld", "Selma Quist", "Ivor Tamm", "Dora Vance-Ode", "Pell Arno", "Jun Okare"],
        "PLACE": ["Veldport", "Ostermere", "Karmin Bay", "Low Tarn", "Quillham", "Sandel"],
        "ORGANISATION": [
            "Bank of Veldport",
            "Tarn & Sons",
            "Ostermere Rowing Club",
            "Quist",
            "Hollin Press",
            "Sandel Tram",
        ],
        "PRODUCT": ["Kettle 3", "Quist", "Lumo lamp", "Brisk-o", "Tarnphone", "Veldport Lager"],
    },
    "ru": {
        "PERSON": ["Мира Хольт", "Антон Вельд", "Зельма Квист", "Ивор Тамм", "Юна Окаре"],
        "PLACE": ["Вельдо", "Остермере", "Кармино", "Квилли", "Санделе"],
        "ORGANISATION": ["Банк Вельдо", "Тарн и сыновья", "клуб «Остермере»", "Квист", "Холлин Пресс"],
        "PRODUCT": ["Чайник-3", "Квист", "Люмо", "Бриск-о", "Тарнфон"],
    },
}
SENTENCES = {
    "en": [
        "{PERSON} has opened a shop in {PLACE}, and {PLACE} came to see it.",
        "{ORGANISATION} will close its office in {PLACE} on Friday.",
        "The new {PRODUCT} is sold by {ORGANISATION} only.",
        "{PERSON} of {ORGANISATION} praised the {PRODUCT} at the market of {PLACE}.",
        "Last year {ORGANISATION} hired {PERSON}; {PERSON} is still there.",
        "“I never liked the {PRODUCT}”, said {PERSON}, “but the {PRODUCT} sells.”",
        "The ferry from {PLACE} to {PLACE} was late again.",
        "{ORGANISATION} and {ORGANISATION} share a yard.",
        "{PERSON} and {PERSON} met on the quay of {PLACE}.",
        "Nobody in {PLACE} knows who painted the bridge.",
        "For sale: one {PRODUCT}, hardly used, ask {PERSON}.",
        "{ORGANISATION} has named a bench after {PERSON} ☀️.",
    ],
    "ru": [
        "{PERSON} открывает лавку, город — {PLACE}, и {PLACE} рад.",
        "{ORGANISATION} закрывает контору в пятницу.",
        "{PRODUCT} — новинка, которую продаёт {ORGANISATION}.",
        "{PERSON} хвалит {PRODUCT}, а {ORGANISATION} молчит.",
        "«{PRODUCT} мне не нравится, — говорит {PERSON}, — но {PRODUCT} берут».",
        "Паром {PLACE} — {PLACE} снова опоздал.",
        "{PERSON} и {PERSON} встретились на набережной.",
        "{ORGANISATION} и {ORGANISATION} делят один двор.",
    ],
}
PLAIN = {"en": "It rained all day and nothing else happened.", "ru": "Весь день шёл дождь, и больше ничего не было."}
TEXTS = {"en": 72, "ru": 48}


class Habits(NamedTuple):
    """How a model errs.

    Attributes
    ----------
    missed : float
        Share of entities that it does not see.
    confused : mapping of class to (class, share)
        What it takes a class for, and how often.
    cut : float
        Share of spans of several words that lose their last word or get the word before them.
    stray : float
        Share of texts in which it also marks a word that is no entity.
    nested : float
        Share of entities of several words of which it marks the last word too.
    """

    missed: float
    confused: dict[str, tuple[str, float]]
    cut: float
    stray: float
    nested: float


MODELS = {
    "larch-2": Habits(0.05, {"PRODUCT": ("ORGANISATION", 0.08)}, 0.04, 0.04, 0.0),
    "willow-1": Habits(0.1, {"ORGANISATION": ("PLACE", 0.42), "PRODUCT": ("ORGANISATION", 0.38)}, 0.08, 0.1, 0.1),
    "hazel-nano": Habits(0.2, {"PRODUCT": ("ORGANISATION", 0.78), "PERSON": ("PLACE", 0.12)}, 0.2, 0.2, 0.25),
}
Span = tuple[int, int, str]


def texts() -> Iterator[tuple[str, str, str, list[Span]]]:
    """Id, language, text and true spans of every text."""
    number = 0
    for lang, count in TEXTS.items():
        for _ in range(count):
            number += 1
            draw = rng(SEED, "text", f"{lang}{number}")
            sentences = SENTENCES[lang]
            chosen = [sentences[i] for i in draw.choice(len(sentences), size=int(draw.integers(1, 3)), replace=False)]
            if number % 15 == 0:
                chosen = [PLAIN[lang]]
            text, spans = filled(" ".join(chosen), lang, draw)
            yield f"t{number:03d}", lang, text, spans


def filled(template: str, lang: str, draw: np.random.Generator) -> tuple[str, list[Span]]:
    """A text and its spans; a slot that comes twice in one sentence may have one name twice."""
    text, spans, last = "", [], {}
    while "{" in template:
        head, _, rest = template.partition("{")
        kind, _, template = rest.partition("}")
        names = NAMES[lang][kind]
        name = last[kind] if kind in last and draw.random() < 0.6 else names[int(draw.integers(len(names)))]
        last[kind] = name
        text += head
        spans.append((len(text), len(text) + len(name), kind))
        text += name
    return text + template, spans


def predicted(text: str, spans: list[Span], habits: Habits, draw: np.random.Generator) -> list[Span]:
    """What a model with these habits marks."""
    found: set[Span] = set()
    for start, end, kind in spans:
        if draw.random() < habits.missed:
            continue
        other, share = habits.confused.get(kind, ("", 0.0))
        named = other if draw.random() < share else kind
        words = text[start:end].split(" ")
        if len(words) > 1 and draw.random() < habits.cut:
            end -= len(words[-1]) + 1
        elif len(words) > 1 and draw.random() < habits.nested:
            found.add((end - len(words[-1]), end, "PLACE"))
        found.add((start, end, named))
    if draw.random() < habits.stray:
        first = text.split(" ")[0].strip("«“,.”»")
        at = text.index(first)
        if not any(a < at + len(first) and at < b for a, b, _ in found):
            found.add((at, at + len(first), CLASSES[int(draw.integers(4))]))
    return sorted(found)


def strings(text: str, spans: list[Span], model: str, draw: np.random.Generator) -> list[tuple[str, str]]:
    """Predictions without places: a model that lists each string once per class, or one in two classes."""
    once = {"larch-2": 0.15, "willow-1": 0.5, "hazel-nano": 0.9}[model]
    twice = {"larch-2": 0.02, "willow-1": 0.06, "hazel-nano": 0.1}[model]
    listed = [(kind, text[start:end]) for start, end, kind in spans]
    if draw.random() < once:
        listed = list(dict.fromkeys(listed))
    if listed and draw.random() < twice:
        kind, string = listed[0]
        listed.append((CLASSES[(CLASSES.index(kind) + 1) % 4], string))
    return listed


DEFINITIONS = {
    "ORGANISATION": (
        "A company, bank, club or publisher that acts as a body.",
        "Bank of Veldport; Tarn & Sons; Холлин Пресс",
    ),
    "PERSON": ("A person called by name.", "Mira Holt; Антон Вельд"),
    "PLACE": ("A town, bay or other place on a map, not as part of a longer name.", "Veldport; Low Tarn; Кармино"),
    "PRODUCT": ("A thing that is sold under a name.", "Kettle 3; Lumo lamp; Люмо"),
}
# Share of true entities of a class that the model finds, by how much it is told of the class, and of others that it adds.
TOLD: dict[str, dict[str, tuple[float, float]]] = {
    "none": dict(zip(CLASSES, [(0.62, 0.2), (0.93, 0.05), (0.85, 0.1), (0.48, 0.25)], strict=True)),
    "definition": dict(zip(CLASSES, [(0.86, 0.08), (0.93, 0.05), (0.9, 0.06), (0.8, 0.1)], strict=True)),
    "examples": dict(zip(CLASSES, [(0.88, 0.08), (0.94, 0.05), (0.84, 0.16), (0.82, 0.08)], strict=True)),
}
ONE_BY_ONE = (0.05, -0.03)
REPLIED = 60


def replies(notes: list[tuple[str, str, str, list[Span]]]) -> Iterator[dict[str, str]]:
    """Raw replies of one invented model to every wording of the request."""
    for text_id, _, text, spans in notes[::2][:REPLIED]:
        for described, shares in TOLD.items():
            named = {kind: list(entities(text, spans, kind, *shares[kind], text_id)) for kind in CLASSES}
            listed = [(string, kind) for kind in CLASSES for string in named[kind]]
            yield reply(text_id, "all", described, "", listed)
            if described == "definition":
                for kind in CLASSES:
                    found, added = shares[kind]
                    own = entities(text, spans, kind, found + ONE_BY_ONE[0], added + ONE_BY_ONE[1], text_id)
                    yield reply(text_id, "one", described, kind, [(string, kind) for string in own])


def entities(text: str, spans: list[Span], kind: str, found: float, added: float, text_id: str) -> Iterator[str]:
    """The strings of a class: the same draw of an entity in every wording, so that wordings differ by their shares alone."""
    for start, end, own in spans:
        chance = rng(SEED, "found", f"{text_id}/{start}").random()
        if (own == kind and chance < found) or (
            own != kind and rng(SEED, "added", f"{text_id}/{start}/{kind}").random() < added / 2
        ):
            yield text[start:end]


def reply(text_id: str, requests: str, described: str, kind: str, listed: list[tuple[str, str]]) -> dict[str, str]:
    """One row of the table replies; some lists are in a fenced block."""
    said = "[" + ", ".join(f"({quoted(a)}, {quoted(b)})" for a, b in listed) + "]"
    if rng(SEED, "fenced", f"{text_id}/{requests}/{described}/{kind}").random() < 0.1:
        said = f"```python\n{said}\n```"
    return {
        "id": text_id,
        "model": "larch-2",
        "requests": requests,
        "description": described,
        "entity_class": kind,
        "answer": said,
    }


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def write(path: Path, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


CARD = """# {name} 1.1.0 (synthetic: yes)

{what}

- Synthetic: everything here is invented: texts, names, models, predictions{more}.
- How made: sentences with slots were written by hand for this project and filled with invented names by seed
  (`scripts/make_ner_notes.py`); three models that do not exist then mark them, each with its own habits.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.
{files}
## What was planted

{counts}
"""


def main() -> None:
    """Write both data sets and their cards."""
    notes = list(texts())
    spans, listed = [], []
    for model, habits in MODELS.items():
        for text_id, _, text, true in notes:
            found = predicted(text, true, habits, rng(SEED, model, text_id))
            spans += [(text_id, start, end, kind, model) for start, end, kind in found]
            said = strings(text, found, model, rng(SEED, f"strings/{model}", text_id))
            listed += [(text_id, kind, string, model) for kind, string in said]
    gold = [(text_id, *span) for text_id, _, _, true in notes for span in true]
    plain = [(text_id, text, lang) for text_id, lang, text, _ in notes]
    answered = list(replies(notes))
    for name in ("ner_notes", "ner_strings"):
        folder = ROOT / "data" / name / "1.1.0"
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / "texts.csv", ["id", "text", "lang"], plain)
    folder = ROOT / "data" / "ner_notes" / "1.1.0"
    write(folder / "gold.csv", ["id", "start", "end", "entity_class"], gold)
    write(folder / "predictions.csv", ["id", "start", "end", "entity_class", "model"], spans)
    write(
        folder / "classes.csv",
        ["entity_class", "definition", "examples"],
        [(kind, *DEFINITIONS[kind]) for kind in CLASSES],
    )
    with (folder / "replies.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in answered)
    per_class = Counter(kind for *_, kind in gold)
    counts = (
        f"{len(notes)} texts ({TEXTS['en']} English, {TEXTS['ru']} Russian), {len(gold)} true entities: "
        f"{', '.join(f'{kind} {per_class[kind]}' for kind in CLASSES)}.\n\n"
        "`larch-2` is mostly right. `willow-1` often takes an organisation for a place and a product for an organisation.\n"
        "`hazel-nano` takes most products for organisations, misses a fifth of all entities, cuts names short, and marks the\n"
        "last word of a long name as a place of its own. *Quist* is a firm and a product."
    )
    (folder / "README.md").write_text(
        CARD.format(
            name="ner_notes",
            what="Town news in English and Russian with named entities of four classes, what three models that do not exist "
            "marked in them, and\none model's replies to requests of different wording. Sample data of the studies "
            "`ner_quality` and `ner_variants`. They show how the\nstudies work; they say nothing about any real model.",
            more=", replies",
            files="- `gold.csv`, `predictions.csv`: one row per span, `end` exclusive, counted in code points. `classes.csv`: what a\n"
            f"  request says of each class. `replies.jsonl`: {len(answered)} raw replies on {REPLIED} of the texts, each a list of tuples.\n",
            counts=counts
            + "\n\nIn the replies, definitions help with organisations and products; examples bring more strays among "
            "places.",
        ),
        encoding="utf-8",
    )
    (ROOT / "data" / "ner_strings" / "1.1.0" / "README.md").write_text(
        CARD.format(
            name="ner_strings",
            what="Town news in English and Russian, and the named entities that three models that do not exist list in them, as strings "
            "without\nplaces. Sample data of the study `ner_conflicts`. They show how the study works; they say nothing "
            "about any real model.",
            more="",
            files="- `predictions.csv`: one row each time that a model lists a string. `texts.csv`: the texts.\n",
            counts=counts
            + "\n\n`hazel-nano` mostly lists a string once however often it occurs, `willow-1` in every second text; now and then "
            "a string\nis listed in two classes.",
        ),
        encoding="utf-8",
    )
    write(
        ROOT / "data" / "ner_strings" / "1.1.0" / "predictions.csv", ["id", "entity_class", "entity", "model"], listed
    )


if __name__ == "__main__":
    main()
