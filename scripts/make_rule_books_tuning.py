"""Writes data/rule_books_tuning/1.1.0: replies of an invented model to what rag_tuning asks on rule_books.

Questions for chunks with their marks, and further wordings of the questions, were written by hand (scripts/rule_books_tuning/).
Answers are made here by rules that the card states; the study itself says what it asks, so that nothing is missing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from evalbench import studies
from evalbench.core.seeds import rng
from evalbench.studies import rag_tuning
from evalbench.studies.rag_tuning.asking import asked_hash
from evalbench.text.sentences import sentences
from evalbench.text.words import words

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(__file__).resolve().parent / "rule_books_tuning"
OUT = ROOT / "data" / "rule_books_tuning" / "1.1.0"
MOST_READ = 4
CONFUSED = 0.5
KNOWN = ("osmarra-q5", "tindalia-q3")
UNKNOWN = {"en": "I do not know.", "ru": "Не знаю."}
OPTIONS: dict[str, Any] = {
    "target_metric": "f1_score", "model": "recorded", "judge": "recorded", "chunk_size": 240, "chunk_sizes": [120, 240, 480],
    "overlaps": [0, 60], "k": 5, "n_chunks": 30, "n_rewrites": 2, "most_k": 10,
}  # fmt: skip


def rows_of(name: str) -> list[list[str]]:
    text = (SOURCE / name).read_text(encoding="utf-8")
    return [[part.strip() for part in line.split("|")] for line in text.splitlines() if line.strip()]


class Invented:
    """The invented model *heron*, and a mark of each question that it wrote."""

    __name__ = "heron"

    def __init__(self, questions: list[dict[str, Any]], documents: dict[str, str]) -> None:
        self.questions = {row["question"]: row for row in questions}
        self.rewrites = {
            row["id"]: own for row in questions for name, *own in rows_of("rewrites.txt") if name == row["id"]
        }
        self.chunks = {}
        self.marks = {}
        for name, mark, question in rows_of("chunk_questions.txt"):
            document, _, span = name.rpartition(":")
            start, end = map(int, span.split("-"))
            text = documents[document][start:end]
            self.chunks[text], self.marks[text] = question, mark
        self.replies: dict[tuple[str, str], dict[str, str]] = {}

    def __call__(self, fields: dict[str, Any]) -> str:
        purpose = "question" if "chunk" in fields else "answer" if "contexts" in fields else "rewrite"
        about, reply = getattr(self, f"_{purpose}")(fields)
        self._keep(purpose, fields, about, reply)
        return reply

    def mark(self, item: dict[str, Any]) -> str:
        mark = self.marks[item["answer"]]
        self._keep("mark", {"chunk": item["answer"], "question": item["question"]}, item["id"], mark)
        return mark

    def _keep(self, purpose: str, fields: dict[str, Any], about: str, reply: str) -> None:
        asked = asked_hash(fields)
        self.replies[purpose, asked] = {"purpose": purpose, "asked": asked, "about": about, "reply": reply}

    def _question(self, fields: dict[str, Any]) -> tuple[str, str]:
        return "a chunk", self.chunks[fields["chunk"]]

    def _rewrite(self, fields: dict[str, Any]) -> tuple[str, str]:
        row = self.questions[fields["question"]]
        return row["id"], "\n".join(self.rewrites[row["id"]])

    def _answer(self, fields: dict[str, Any]) -> tuple[str, str]:
        row, contexts = self.questions[fields["question"]], fields["contexts"]
        about = f"{row['id']}, {len(contexts)} chunks"
        unknown = UNKNOWN[row["lang"]]
        if not contexts:
            return about, row["reference"] if row["id"] in KNOWN else unknown
        needed = sentences(row["passage"], row["lang"])
        held = [sentence for sentence in needed if any(sentence in context for context in contexts)]
        distractor = self._likest(row, contexts)
        confused = len(contexts) > MOST_READ and rng(0, "confused", row["id"]).random() < CONFUSED
        if len(held) == len(needed):
            return about, f"{row['reference']} {distractor}" if confused else row["reference"]
        if held:
            return about, f"{' '.join(held)} {distractor}" if confused else " ".join(held)
        return about, distractor or unknown

    @staticmethod
    def _likest(row: dict[str, Any], contexts: list[str]) -> str:
        """The sentence of other passages that has most words of the question."""
        asked = set(words(row["question"].lower()))
        others = [s for context in contexts for s in sentences(context, row["lang"]) if s not in row["passage"]]
        return max(others, key=lambda s: len(asked & set(words(s.lower()))), default="")


def main() -> None:
    data = studies.load("rule_books@1.1.0", study="rag_tuning", root=ROOT)
    documents = dict(zip(data["documents"]["doc_id"], data["documents"]["text"], strict=True))
    model = Invented(data["questions"].to_dict("records"), documents)
    result = rag_tuning.evaluate(data, **{**OPTIONS, "model": model, "judge": model.mark, "n_resamples": 20})
    replies = [model.replies[key] for key in sorted(model.replies)]
    OUT.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in replies)
    (OUT / "replies.jsonl").write_text("".join(lines), encoding="utf-8")
    (OUT / "README.md").write_text(card(replies), encoding="utf-8")
    print(result.sentence, file=sys.stderr)


def card(replies: list[dict[str, str]]) -> str:
    counts = {
        purpose: sum(row["purpose"] == purpose for row in replies)
        for purpose in rag_tuning.SCHEMA["replies"].columns[0].choices
    }
    return f"""# rule_books_tuning 1.1.0 (synthetic: yes)

The articles and questions of `rule_books@1.1.0`, with recorded replies of an invented model, *heron*, to what `rag_tuning` asks on them with the options of its
notebook, so that the notebook runs without a model. They show how the study works; they say nothing about any real model.

- Synthetic: everything here is invented.
- How made: {counts["question"]} questions for chunks with their marks, and {counts["rewrite"]} × 2 further wordings, were written by hand (`scripts/rule_books_tuning/`);
  {counts["answer"]} answers are made by rules in `scripts/make_rule_books_tuning.py`.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.

## Planted behaviour

- An answer is the right one where the chunks hold every sentence of the question's passage, the sentences that they hold where they hold some, and else the likest sentence of another
  article: a wrong country's rule.
- Out of more than {MOST_READ} chunks *heron* adds such a sentence to about half of the answers: the quality grows with k, and falls beyond {MOST_READ}.
- Without chunks it answers {len(KNOWN)} of the questions rightly (bread at midday, a hut in a storm) and does not know the rest.
- 2 questions for chunks are marked 3 or lower: their chunks do not answer them. Some others name neither country nor subject and find another chunk.

## Files

UTF-8, JSON Lines; documents and questions are those of `rule_books@1.1.0`.

| file | one row per | columns |
| --- | --- | --- |
| `replies.jsonl` | reply | `purpose` (answer, question, mark, rewrite), `asked` (hash of what the prompt shows), `about`, `reply` |
"""


if __name__ == "__main__":
    main()
