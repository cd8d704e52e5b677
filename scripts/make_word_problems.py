"""Writes data/word_problems/1.1.0 from scripts/word_problems: problems by hand, faults of three invented models by seed.

A problem is a question and its steps, one a line, as ``reference | a model's wording``; ``{6*9}`` becomes
``6 * 9 = <<6*9=54>>54``.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

from evalbench.core.seeds import rng
from evalbench.text.arithmetic import parse

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "word_problems" / "1.1.0"
SEED = 11
BRACES = re.compile(r"\{([^{}]+)\}")

PLANS = {
    "fern-1b": {
        "none": 22, "wrong arithmetic": 28, "skipped step": 18, "unsupported constant": 14, "no marker": 6,
        "words only": 8, "empty": 4,
    },
    "oak-7b": {"none": 80, "wrong arithmetic": 6, "skipped step": 7, "inline equations": 7},
    "elm-13b": {"verbose": 74, "verbose and wrong": 14, "verbose and no marker": 12},
}  # fmt: skip
PADDING = {
    "en": ("Let us read the question with care and note what it gives.", "The question gives {n}, that is {n}.",
           "We should make sure that nothing was forgotten.", "Hence the result that was asked for has been found."),
    "ru": ("Внимательно прочитаем условие и выпишем данные.", "В условии сказано {n}, то есть {n}.",
           "Проверим, что ничего не забыто.", "Таким образом, искомый результат найден."),
    "zh": ("先仔细读题，写下已知的数。", "题目给出{n}，也就是{n}。", "检查一下有没有遗漏。", "这样就得到了所求的结果。"),
}  # fmt: skip
CONSTANT = {
    "en": "To allow for what gets lost on the way, multiply: {e}.",
    "ru": "С поправкой на потери в пути умножим: {e}.",
    "zh": "再考虑路上的损耗，乘一下：{e}。",
}
ANSWER = {"en": "So the answer is {n}.", "ru": "Значит, ответ {n}.", "zh": "所以答案是{n}。"}


def shown(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"


def spaced(expression: str) -> str:
    return re.sub(r"\s*([-+*/])\s*", r" \1 ", expression)


def written(expression: str, result: str, style: str) -> str:
    if style == "words":
        return result
    if style == "inline":
        return f"{spaced(expression)} = {result}"
    return f"{spaced(expression)} = <<{expression}={result}>>{result}"


def substituted(expression: str, old: str, new: str) -> str:
    return re.sub(rf"(?<![\d.]){re.escape(old)}(?![\d.%])", new, expression)


def read(language: str) -> list[dict]:
    blocks = (ROOT / "scripts" / "word_problems" / f"{language}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    problems = []
    for block in blocks:
        question, *lines = block.split("\n")
        steps = [tuple(part.strip() for part in line.split("|")) for line in lines]
        assert all(len(s) == 2 and len(BRACES.findall(s[0])) == 1 for s in steps), block
        assert all(parse(BRACES.findall(a)[0]).value == parse(BRACES.findall(b)[0]).value for a, b in steps), block
        problems.append({"language": language, "question": question, "steps": steps})
    return problems


def solution(lines: list[str], style: str = "annotated") -> tuple[list[str], str]:
    """Steps written out, and the last result."""
    out, result = [], ""
    for line in lines:
        expression = BRACES.findall(line)[0]
        result = shown(parse(expression).value)
        out.append(BRACES.sub(lambda m, e=expression, r=result: written(e, r, style), line))
    return out, result


def with_wrong_result(lines: list[str], at: int, off: int) -> tuple[list[str], str]:
    """Steps in which one result is off and every later step goes on with it."""
    out, result, swaps = [], "", []
    for i, line in enumerate(lines):
        expression = BRACES.findall(line)[0]
        true = parse(expression).value
        for old, new in swaps:
            expression = substituted(expression, old, new)
        value = parse(expression).value + (off if i == at else 0)
        result = shown(value)
        if value != true:
            swaps.append((shown(true), result))
        out.append(BRACES.sub(lambda m, e=expression, r=result: written(e, r, "annotated"), line))
    return out, result


def respond(problem: dict, fault: str, draw: np.random.Generator) -> str:
    """A model's response with its fault."""
    lines = [step[1] for step in problem["steps"]]
    language = problem["language"]
    if fault == "empty":
        return ""
    steps, result = solution(lines)
    if fault in ("wrong arithmetic", "verbose and wrong"):
        steps, result = with_wrong_result(lines, int(draw.integers(len(lines))), int(draw.choice([-4, -3, 2, 3, 6])))
    elif fault == "skipped step":
        steps = steps[:-2] + steps[-1:]
    elif fault == "inline equations":
        steps, result = solution(lines, "inline")
    elif fault == "words only":
        steps, result = solution(lines, "words")
    elif fault == "unsupported constant":
        factor = str(draw.choice(["1.1", "0.95", "13", "37"]))
        extra, result = solution(["{" + f"{result}*{factor}" + "}"])
        steps.append(CONSTANT[language].format(e=extra[0]))
    if fault.startswith("verbose"):
        first, given, check, last = PADDING[language]
        number = BRACES.findall(lines[0])[0]
        number = re.findall(r"[\d.]+", number)[0]
        steps = [
            first,
            given.format(n=written(number, number, "annotated") if draw.random() < 0.7 else number),
            *steps,
            check,
            last,
        ]
    if fault.endswith("no marker"):
        return "\n".join([*steps, ANSWER[language].format(n=result)])
    return "\n".join([*steps, f"#### {result}"])


def main() -> None:
    problems = [p for language in ("en", "ru", "zh") for p in read(language)]
    rows, faults = [], []
    for i, problem in enumerate(problems, 1):
        name = f"wp-{i:03d}"
        reference, answer = solution([step[0] for step in problem["steps"]])
        for model, plan in PLANS.items():
            draw = rng(SEED, f"fault {model}", name)
            fault = str(draw.choice(list(plan), p=np.array(list(plan.values())) / sum(plan.values())))
            rows.append({
                "id": name, "model": model, "lang": problem["language"], "question": problem["question"],
                "reference": "\n".join([*reference, f"#### {answer}"]), "answer": respond(problem, fault, draw),
            })  # fmt: skip
            faults.append({"id": name, "model": model, "fault": fault})
    OUT.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (OUT / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (OUT / "faults.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "model", "fault"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(faults)
    (OUT / "README.md").write_text(card(problems, faults), encoding="utf-8")


def card(problems: list[dict], faults: list[dict]) -> str:
    languages = Counter(p["language"] for p in problems)
    counts = Counter((f["fault"], f["model"]) for f in faults)
    kinds = sorted({f["fault"] for f in faults})
    table = "\n".join(f"| {k} | " + " | ".join(str(counts[k, m]) for m in PLANS) + " |" for k in kinds)
    return f"""# word_problems 1.1.0 (synthetic: yes)

{len(problems)} word problems in the shape of GSM8K (question, reference steps with `<<a=b>>` annotations, `#### answer`) and the
responses of three models that do not exist. Sample data of the studies `cot_levels` and `explainability`. They show how
the studies work; they say nothing about any real model.

- Synthetic: everything here is invented: problems, steps, responses, names, models.
- How made: problems and both wordings of every step were written by hand for this project (`scripts/word_problems/`);
  `scripts/make_word_problems.py` calculates the results, plants the faults by seed and writes these files and this card.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.
- `items.jsonl`: one row per problem and model. `faults.csv`: what was planted in each response (no study reads it).

## Counts

{len(faults)} responses; problems: {", ".join(f"{n} {code}" for code, n in languages.items())}.

| planted | {" | ".join(PLANS)} |
| --- | {" | ".join("---:" for _ in PLANS)} |
{table}

`fern-1b` miscalculates, skips steps and brings in constants that nobody gave; `oak-7b` is mostly right; `elm-13b` is
right but pads its solutions. *Wrong arithmetic*: one result is off and the later steps go on with it. *Skipped step*:
the last step but one is missing, its result is used all the same. *No marker*: the answer stands in a sentence, without `####`.
Several problems need a fact that they do not state (two weeks have 14 days): the reference solutions themselves then
use numbers without a source.
"""


if __name__ == "__main__":
    main()
