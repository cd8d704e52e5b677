"""Writes data/rule_book_answers/1.1.0 from scripts/rule_book_answers/answers.txt, which was written by hand, and from rule_books.

A block is a question of rule_books: T a fact of its ground truth, N what a judge would ask from an answer to it.  Then come
the answers of two systems: = system | retrieved articles by rank (of the question's country where none is named; p: partially
relevant), A code | sentence, C code | claim of a sentence that makes several, F what was planted, M what a judge would ask from an
evasive answer.  Codes: n states fact n; !n contradicts it; +nn is told by article nn alone; ~k is told by context k; ~k!n
is, and contradicts fact n; x is invented; 0 claims nothing.

The verdicts are those that a faultless judge would give: they follow from the codes and from what was retrieved.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from evalbench.kit.judging import Docket
from evalbench.studies import load
from evalbench.studies.rag_generation.inputs import METRICS, answers_of
from evalbench.studies.rag_generation.judged import cases_of
from evalbench.text.sentences import sentences

ROOT = Path(__file__).resolve().parents[1]
BOOKS = ROOT / "data" / "rule_books" / "1.1.0"
OUT = ROOT / "data" / "rule_book_answers" / "1.1.0"
CODE = re.compile(r"(?:~(?P<context>\d))?(?:!(?P<against>\d))?(?P<fact>\d?)(?:\+(?P<article>\d\d))?(?P<invented>x?)")
REASONS = {
    "en": {
        "says": "Passage {k} says: {text}",
        "against": "The passage says something else: {text}",
        "none": "No passage says so.",
        "fact": "It is fact {n}.",
        "against fact": "Fact {n} says otherwise.",
        "no fact": "No fact says so.",
        "RELEVANT": "It is the article that answers the question.",
        "PARTIALLY_RELEVANT": "It touches on the subject and does not answer the question.",
        "IRRELEVANT": "It is about another subject, or another country.",
    },
    "ru": {
        "says": "В отрывке {k} сказано: {text}",
        "against": "В отрывке сказано другое: {text}",
        "none": "Ни в одном отрывке этого нет.",
        "fact": "Это факт {n}.",
        "against fact": "Факт {n} говорит другое.",
        "no fact": "Среди фактов этого нет.",
        "RELEVANT": "Это статья, которая отвечает на вопрос.",
        "PARTIALLY_RELEVANT": "Она касается предмета, но на вопрос не отвечает.",
        "IRRELEVANT": "Она о другом предмете или о другой стране.",
    },
}


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class Invented:
    """What a judge says, by what it is asked; a script, not a judge."""

    def __init__(self) -> None:
        self.said: dict[tuple, dict] = {}

    def __call__(self, item: dict) -> dict:
        return self.said[key(item)]

    def add(self, item: dict, reply: dict) -> None:
        known = self.said.setdefault(key(item), reply)
        assert known == reply, (item, known, reply)


def key(item: dict) -> tuple:
    left_out = ("id", "question") if "statement" in item else ("id",)  # a statement is judged by its passages
    return tuple((name, str(value)) for name, value in sorted(item.items()) if name not in left_out)


def read() -> tuple[list[dict], list[tuple[str, str, str]], Invented]:
    questions = {row["id"]: row for row in rows(BOOKS / "questions.jsonl")}
    articles = {row["doc_id"]: row["text"] for row in rows(BOOKS / "documents.jsonl")}
    answers, faults, judge = [], [], Invented()
    text = (ROOT / "scripts" / "rule_book_answers" / "answers.txt").read_text(encoding="utf-8").strip()
    for block in text.split("\n\n"):
        head, *parts = block.split("\n= ")
        name, *lines = head[2:].split("\n")
        asked = questions[name]
        facts = [line[2:] for line in lines if line.startswith("T ")]
        written = next(line[2:] for line in lines if line.startswith("N ")).split(" | ")
        truth = " ".join(facts)
        cut = sentences(truth, asked["lang"])
        assert cut == facts, (cut, facts)
        split(judge, asked["question"], cut, [(n, fact) for n, fact in enumerate(cut, 1)])
        for part in parts:
            system = System(part.split("\n"), asked, articles, facts, judge, written)
            answers.append({
                "id": name, "model": system.name, "group": asked["group"], "lang": asked["lang"],
                "question": asked["question"], "answer": system.text, "contexts": system.contexts, "reference": truth,
            })  # fmt: skip
            faults += [(name, system.name, fault) for fault in system.faults]
    return answers, faults, judge


def split(judge: Invented, question: str, cut: list[str], claims: list[tuple[int, str]]) -> None:
    reply = {"claims": [{"sentence": n, "claim": claim} for n, claim in claims]}
    judge.add({"question": question, "sentences": cut}, reply)


class System:
    """One system's answer to one question, and the verdicts on it."""

    def __init__(
        self, lines: list[str], asked: dict, articles: dict, facts: list, judge: Invented, written: list
    ) -> None:
        self.name, listed = (part.strip() for part in lines[0].split("|"))
        self.asked, self.facts, self.why = asked, facts, REASONS[asked["lang"]]
        names = [n if "-" in n else f"{asked['group']}-{n}" for n in listed.split()]
        partly = [name.endswith("p") for name in names]
        self.names = [name.removesuffix("p") for name in names]
        self.contexts = [articles[name] for name in self.names]
        said, claims = [], []
        for line in lines[1:]:
            if line[:2] in ("A ", "C "):
                code, text = (part.strip() for part in line[2:].split("|", 1))
                said += [text] if line[0] == "A" else []
                claims += [(len(said), text, code)] if code not in ("", "0") else []
            elif line.startswith("M "):
                written = line[2:].split(" | ")
        self.text = " ".join(said)
        assert sentences(self.text, asked["lang"]) == said, said
        self.faults = [f.strip() for line in lines if line.startswith("F ") for f in line[2:].split(",")]
        split(judge, asked["question"], said, [(n, text) for n, text, _ in claims])
        evasive = "non-committal" in self.faults
        judge.add({"answer": self.text}, {"questions": written, "noncommittal": evasive})
        for _, text, code in claims:
            judge.add({"statement": text, "passages": self.contexts}, self.by_contexts(code))
            judge.add({"statement": text, "passages": facts}, self.by_facts(code))
        for fact in facts:
            judge.add({"statement": fact, "passages": self.contexts}, self.carried())
        for text, doc, part in zip(self.contexts, self.names, partly, strict=True):
            label = "RELEVANT" if doc == asked["doc_id"] else "PARTIALLY_RELEVANT" if part else "IRRELEVANT"
            judge.add(
                {"question": asked["question"], "facts": facts, "passage": text},
                {"label": label, "reason": self.why[label]},
            )

    def carried(self) -> dict:
        """Every fact is in the article that answers the question."""
        if self.asked["doc_id"] not in self.names:
            return {"label": "NOT_SUPPORTED", "reason": self.why["none"], "passages": []}
        k = self.names.index(self.asked["doc_id"]) + 1
        return {
            "label": "SUPPORTED",
            "reason": self.why["says"].format(k=k, text=self.asked["passage"]),
            "passages": [k],
        }

    def by_contexts(self, code: str) -> dict:
        parts = CODE.fullmatch(code)
        if parts["context"]:
            k = int(parts["context"])
            reason = self.why["says"].format(k=k, text=self.contexts[k - 1].split("\n")[1])
            return {"label": "SUPPORTED", "reason": reason, "passages": [k]}
        if parts["article"]:
            k = self.names.index(f"{self.asked['group']}-{parts['article']}") + 1
            reason = self.why["says"].format(k=k, text=self.contexts[k - 1].split("\n")[1])
            return {"label": "SUPPORTED", "reason": reason, "passages": [k]}
        if parts["against"] and self.asked["doc_id"] in self.names:
            reason = self.why["against"].format(text=self.asked["passage"])
            return {"label": "CONTRADICTED", "reason": reason, "passages": []}
        return (
            self.carried() if parts["fact"] else {"label": "NOT_SUPPORTED", "reason": self.why["none"], "passages": []}
        )

    def by_facts(self, code: str) -> dict:
        parts = CODE.fullmatch(code)
        if parts["against"]:
            reason = self.why["against fact"].format(n=parts["against"])
            return {"label": "CONTRADICTED", "reason": reason, "passages": []}
        if parts["fact"]:
            reason = self.why["fact"].format(n=parts["fact"])
            return {"label": "SUPPORTED", "reason": reason, "passages": [int(parts["fact"])]}
        return {"label": "NOT_SUPPORTED", "reason": self.why["no fact"], "passages": []}


TASKS = {"sentences": "claims", "statement": "support", "passage": "relevance", "answer": "questions"}


def verdicts(answers: list[dict], judge: Invented) -> list[dict]:
    """What was asked under the names by which the study looks it up."""
    import pandas as pd

    docket = Docket(judge)
    data = load(pd.DataFrame(answers), study="rag_generation")
    cases_of(answers_of(data["answers"]), docket, METRICS, split="claims", n_questions=3)
    found = []
    for question, says in docket.heard().answers:
        task = next(TASKS[name] for name in TASKS if name in question.fields)
        verdict = {"label": says.label, "reason": says.reason} if says.label else {}
        found.append({"id": says.id, "task": task, **verdict, **({"reply": dict(says.parts)} if says.parts else {})})
    return sorted(found, key=lambda row: (row["task"], row["id"]))


def main() -> None:
    answers, faults, judge = read()
    told = verdicts(answers, judge)
    OUT.mkdir(parents=True, exist_ok=True)
    for name, listed in (("answers", answers), ("verdicts", told)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in listed)
        (OUT / f"{name}.jsonl").write_text(text, encoding="utf-8")
    table = "id,model,fault\n" + "".join(f"{i},{m},{f}\n" for i, m, f in faults)
    (OUT / "faults.csv").write_text(table, encoding="utf-8")
    (OUT / "README.md").write_text(card(answers, faults, told), encoding="utf-8")


def card(answers: list[dict], faults: list[tuple[str, str, str]], told: list[dict]) -> str:
    systems = sorted({row["model"] for row in answers})
    planted = Counter((fault, model) for _, model, fault in faults)
    kinds = sorted({fault for fault, _ in planted})
    table = "\n".join(f"| {kind} | {' | '.join(str(planted[kind, s]) for s in systems)} |" for kind in kinds)
    tasks = Counter(row["task"] for row in told)
    return f"""# rule_book_answers 1.1.0 (synthetic: yes)

Answers of two systems that do not exist, {" and ".join(systems)}, to the {len({r["id"] for r in answers})} questions of `rule_books`, each with the three articles that it
was made from, by rank, and the verdicts of a judge on all of it. Sample data of the study `rag_generation`. They show how the study
works; they say nothing about any real law, country or system.

- Synthetic: everything here is invented, the verdicts too: no model gave them.
- How made: answers and codes written by hand (`scripts/rule_book_answers/answers.txt`); `scripts/make_rule_book_answers.py` adds
  the articles and writes these files and this card. Its verdicts are those of a judge that makes no mistakes, so that the
  figures show the planted faults and nothing else; a real judge errs.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.
- `answers.jsonl`: one row per question and system. `verdicts.jsonl`: one row per thing that was asked: {", ".join(f"{n} {task}" for task, n in sorted(tasks.items()))}.
  `faults.csv`: what was planted in which answer (no study reads it).

## Planted faults

| planted | {" | ".join(systems)} |
| --- |{" ---: |" * len(systems)}
{table}

*Unsupported sentence*: one that neither the contexts nor the ground truth have. *Missing fact*: the contexts have it, the answer does not. *Wrong
number*: the answer has another number than its source. *Non-committal*: the answer evades the question. *Wrong country*: the answer
follows an article of another country, since the right one was not retrieved. `oak` ranks the right article first less often than
`fern`, and misses it for some questions.
"""


if __name__ == "__main__":
    main()
