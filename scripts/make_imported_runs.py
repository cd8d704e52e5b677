"""Writes data/imported_runs/1.0.0: two runs of two invented models on the questions of a library that does not exist, as promptfoo
writes them.

Planted, by seed: in ``before.json`` ``thistle-mini`` knows less than ``sorrel-9b``, least of fines, and some of its requests ended in
an error; the judge's reply could not be read a few times.  In ``after.json`` the prompt asks for the rules first: ``thistle-mini`` is
better at fines, ``sorrel-9b`` is as it was.  promptfoo counts every error as 0.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from evalbench.core.seeds import rng

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "imported_runs" / "1.0.0"
SEED, TRIALS = 47, 2
MODELS = {"sorrel-9b": "invented:sorrel-9b", "thistle-mini": "invented:thistle-mini"}
JUDGE = "invented:juniper-judge"
DOWN = (5, 17)  # tests of which every request failed
FAILED = "Could not extract JSON from llm-rubric response"
# Topic → language → questions and the words that a right answer holds.
QUESTIONS: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {
    "loans": {
        "en": (
            ("How many books may a reader of the Quince Library take home?", "eight"),
            ("For how long may a map be borrowed?", "two weeks"),
            ("Can a loan be renewed by post?", "by postcard"),
            ("Which shelf holds books that are not lent?", "the blue shelf"),
            ("Who may borrow scores?", "choir members"),
        ),
        "ru": (
            ("Сколько книг можно взять домой в библиотеке «Айва»?", "восемь"),
            ("На какой срок выдают карты?", "две недели"),
            ("Кому выдают ноты?", "участникам хора"),
        ),
    },
    "rooms": {
        "en": (
            ("Where is the reading room for children?", "on the second floor"),
            ("When does the night hall open?", "at nine"),
            ("How many seats has the map room?", "fourteen"),
            ("May tea be drunk in the reading room?", "only in the winter garden"),
            ("Who keeps the key of the tower?", "the warden"),
        ),
        "ru": (
            ("Где детский читальный зал?", "на втором этаже"),
            ("Во сколько открывается ночной зал?", "в девять"),
            ("Сколько мест в зале карт?", "четырнадцать"),
        ),
    },
    "events": {
        "en": (
            ("On which day is the evening of poems?", "Thursday"),
            ("Where are tickets for the lantern walk?", "at the south desk"),
            ("Who leads the workshop on binding?", "Ottilie Marr"),
            ("What does the book fair cost?", "nothing"),
            ("When is the day of open stacks?", "in October"),
        ),
        "ru": (
            ("В какой день вечер стихов?", "в четверг"),
            ("Кто ведёт мастерскую переплёта?", "Оттилия Марр"),
            ("Сколько стоит вход на книжную ярмарку?", "бесплатно"),
        ),
    },
    "fines": {
        "en": (
            ("What is the fine for a book that is a week late?", "three farthings"),
            ("Is there a fine for a lost card?", "a new photograph"),
            ("Who forgives a fine?", "the head librarian"),
            ("How is a fine paid?", "in stamps"),
            ("What happens after the third reminder?", "a visit of the porter"),
        ),
        "ru": (
            ("Какой штраф за книгу, опоздавшую на неделю?", "три полушки"),
            ("Чем платят штраф?", "марками"),
            ("Что бывает после третьего напоминания?", "визит привратника"),
        ),
    },
}
RIGHT = {"en": ("It is {}.", "According to the rules: {}.", "{}, as far as the rules go."),
         "ru": ("Ответ: {}.", "По правилам: {}.", "{}, так сказано в правилах.")}  # fmt: skip
WRONG = {"en": ("I am not sure; please ask at the desk.", "That depends on the season.", "The rules do not say."),
         "ru": ("Не знаю, спросите у стойки.", "Это зависит от времени года.", "В правилах этого нет.")}  # fmt: skip
KNOWS = {
    "before": {"sorrel-9b": {"fines": 0.7, "": 0.85}, "thistle-mini": {"fines": 0.2, "": 0.6}},
    "after": {"sorrel-9b": {"fines": 0.7, "": 0.85}, "thistle-mini": {"fines": 0.65, "": 0.65}},
}
PROMPTS = {
    "before": ("plain", "Answer the reader of the library: {{question}}"),
    "after": ("rules first", "Recall the rule of the library, then answer the reader: {{question}}"),
}
STARTED = {"before": "2026-09-14T09:30:00.000Z", "after": "2026-09-21T09:30:00.000Z"}


def tests() -> list[dict[str, Any]]:
    """The test cases: each question once."""
    found = []
    for topic, languages in QUESTIONS.items():
        for lang, pairs in languages.items():
            for question, expected in pairs:
                checks: list[dict[str, Any]] = [
                    {"type": "icontains", "value": "{{expected}}", "metric": "has_answer"},
                    {"type": "llm-rubric", "value": "polite, to the point", "metric": "manner", "provider": JUDGE},
                ]
                if topic == "fines":  # of other topics it is not asked
                    checks.append({"type": "not-icontains", "value": "not sure", "metric": "no_hedge"})
                found.append({"vars": {"question": question, "expected": expected}, "metadata": {"topic": topic, "lang": lang}, "assert": checks})  # fmt: skip
    return found


def checked(test: dict[str, Any], output: str, manner: float, judge_failed: bool) -> list[dict[str, Any]]:
    """What promptfoo's assertions say of an answer."""
    expected = test["vars"]["expected"]
    said = []
    for check in test["assert"]:
        if check["type"] == "llm-rubric":
            reason = (
                FAILED
                if judge_failed
                else "to the point"
                if manner >= 0.5
                else "it leaves the reader without an answer"
            )
            one: dict[str, Any] = {
                "pass": not judge_failed and manner >= 0.5,
                "score": 0 if judge_failed else manner,
                "reason": reason,
            }
            if judge_failed:
                one["metadata"] = {"graderError": True}
        else:
            has = (expected if check["metric"] == "has_answer" else "not sure").casefold() in output.casefold()
            good = has == (check["metric"] == "has_answer")
            wanted = f'Expected output to {"" if check["metric"] == "has_answer" else "not "}contain "{expected if check["metric"] == "has_answer" else "not sure"}"'
            one = {"pass": good, "score": int(good), "reason": "Assertion passed" if good else wanted}
        said.append({**one, "assertion": check})
    return said


def row(run: str, model: str, index: int, test: dict[str, Any], trial: int) -> dict[str, Any]:
    """One row of ``results.results``."""
    draw = rng(SEED, f"{run}/{model}/{trial}", str(index % len(tests())))
    topic, lang = test["metadata"]["topic"], test["metadata"]["lang"]
    knows = KNOWS[run][model].get(topic, KNOWS[run][model][""])
    right, form, failed, lost, manner = draw.random(), draw.integers(3), draw.random(), draw.random(), draw.random()
    hard = rng(SEED, model, str(index % len(tests()))).random()  # a question that is hard is so in every trial
    label, raw = PROMPTS[run]
    place = list(MODELS).index(model)
    base = {
        "id": hashlib.sha256(f"{run}{model}{index}{trial}".encode()).hexdigest()[:32],
        "latencyMs": int(300 + 900 * draw.random()),
        "prompt": {"raw": raw.replace("{{question}}", test["vars"]["question"]), "label": label},
        "promptId": hashlib.sha256(raw.encode()).hexdigest(),
        "promptIdx": place,
        "provider": {"id": MODELS[model], "label": model},
        "testCase": {**test, "options": {}},
        "testIdx": index,
        "vars": test["vars"],
        "metadata": test["metadata"],
    }
    down = run == "before" and index % len(tests()) in DOWN
    if model == "thistle-mini" and (down or failed < (0.07 if run == "before" else 0.02)):
        error = "API error: 529 overloaded"
        return {**base, "cost": 0, "error": error, "gradingResult": None, "namedScores": {}, "response": {"error": error}, "score": 0, "success": False, "failureReason": 2}  # fmt: skip
    known = 0.75 * hard + 0.25 * right < knows
    output = (RIGHT if known else WRONG)[lang][form].format(test["vars"]["expected"])
    output = output[:1].upper() + output[1:]
    said = checked(test, output, round(0.55 + 0.45 * manner if known else 0.15 + 0.6 * manner, 2), lost < 0.04)
    score = sum(one["score"] for one in said) / len(said)
    passed = all(one["pass"] for one in said)
    first = next((one["reason"] for one in said if not one["pass"]), "All assertions passed")
    named = {one["assertion"]["metric"]: one["score"] for one in said}
    grading = {"pass": passed, "score": score, "reason": first, "namedScores": named, "componentResults": said}
    response = {
        "output": output,
        "tokenUsage": {"total": 60, "prompt": 40, "completion": 20},
        "cost": 0.0001,
        "cached": False,
    }
    failure = {} if passed else {"error": first}
    return {**base, **failure, "cost": 0.0001, "gradingResult": grading, "namedScores": named, "response": response,
            "score": score, "success": passed, "failureReason": 0 if passed else 1}  # fmt: skip


def summed(run: str, model: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The head of a column of promptfoo's table: sums in which an error is 0."""
    label, raw = PROMPTS[run]
    named: dict[str, float] = {}
    counts: dict[str, int] = {}
    for one in rows:
        for name, value in one["namedScores"].items():
            named[name], counts[name] = named.get(name, 0) + value, counts.get(name, 0) + 1
    reasons = [one["failureReason"] for one in rows]
    metrics = {
        "score": sum(one["score"] for one in rows),
        "testPassCount": reasons.count(0),
        "testFailCount": reasons.count(1),
        "testErrorCount": reasons.count(2),
        "namedScores": named,
        "namedScoresCount": counts,
        "cost": sum(one["cost"] for one in rows),
    }
    return {
        "raw": raw,
        "label": label,
        "id": hashlib.sha256(raw.encode()).hexdigest(),
        "provider": model,
        "metrics": metrics,
    }


def run_of(run: str) -> dict[str, Any]:
    """A whole file: promptfoo repeats a test under a further ``testIdx``."""
    cases = tests()
    rows = [
        row(run, model, trial * len(cases) + i, test, trial)
        for trial in range(TRIALS)
        for i, test in enumerate(cases)
        for model in MODELS
    ]
    own = {model: [one for one in rows if one["provider"]["label"] == model] for model in MODELS}
    reasons = [one["failureReason"] for one in rows]
    stats = {"successes": reasons.count(0), "failures": reasons.count(1), "errors": reasons.count(2)}
    results = {
        "version": 3,
        "timestamp": STARTED[run],
        "prompts": [summed(run, model, own[model]) for model in MODELS],
        "results": rows,
        "stats": stats,
    }
    about = {"promptfooVersion": "0.120.5", "exportedAt": STARTED[run], "evaluationCreatedAt": STARTED[run]}
    config = {
        "description": f"library desk, {run}",
        "providers": [{"id": of, "label": name} for name, of in MODELS.items()],
    }
    return {"evalId": f"eval-{run}", "results": results, "config": config, "shareableUrl": None, "metadata": about}


CARD = """# imported_runs 1.0.0 (synthetic: yes)

Two runs of two models that do not exist, on {n} questions about a library that does not exist, in the form in which promptfoo writes
its results. Sample data of the study `imported`. They show how the study works; they say nothing about any real model, and nothing
about promptfoo but how it counts errors.

- Synthetic: everything here is invented: library, questions, models, judge, answers, verdicts. promptfoo itself was not run.
- How made: `scripts/make_imported_runs.py` draws answers and verdicts by seed and writes both files and this card.
- Licence: CC0-1.0.
- `before.json`, `after.json`: `evalbench run imported --data before.json`; promptfoo's result file, version 3. {n} tests ({en} en, {ru} ru), each asked twice of both
  models; metrics `score`, `pass`, `has_answer`, `manner` (by a judge) and, of fines only, `no_hedge`.

## Counts

| | rows | errors | judge failed | pass, by promptfoo | mean score, by promptfoo |
| --- | ---: | ---: | ---: | ---: | ---: |
{rows}

Planted: errors of `thistle-mini` that promptfoo counts as 0; verdicts that could not be read; `thistle-mini` knows least of fines, and
in the second run, with another prompt, as much of them as of the rest.
"""


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    lines = []
    for run in PROMPTS:
        content = run_of(run)
        (OUT / f"{run}.json").write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")
        for head in content["results"]["prompts"]:
            rows = [one for one in content["results"]["results"] if one["provider"]["label"] == head["provider"]]
            broken = sum(FAILED in json.dumps(one) for one in rows)
            m = head["metrics"]
            lines.append(
                f"| {run}, {head['provider']} | {len(rows)} | {m['testErrorCount']} | {broken} | {m['testPassCount'] / len(rows):.2f} | {m['score'] / len(rows):.3f} |"
            )
    langs = [test["metadata"]["lang"] for test in tests()]
    card = CARD.format(n=len(langs), en=langs.count("en"), ru=langs.count("ru"), rows="\n".join(lines))
    (OUT / "README.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    main()
