"""Writes data/cited_answers/1.1.0 from scripts/cited_answers/answers.txt, which was written by hand.

A block is a question: Q question, G gold answer, S kind | title | text of a supplied source, A the model's answer, C number |
source (s1, s2; x: an address that was not supplied) | claim | quote, F what was planted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "data" / "cited_answers" / "1.1.0"
HOSTS = {"encyclopaedia": "lexica.example", "press": "courier.example", "official": "registry.example"}
MODEL = "oak-7b"


def read() -> tuple[list[dict], list[dict], list[tuple[str, str]]]:
    answers, sources, faults = [], [], []
    lang = ""
    for block in (ROOT / "scripts" / "cited_answers" / "answers.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        if lines[0].startswith("lang "):
            lang = lines.pop(0).split()[1]
        name = f"ca-{len(answers) + 1:02d}"
        parts: dict[str, list[str]] = {}
        for line in lines:
            parts.setdefault(line[0], []).append(line[2:])
        urls = []
        for n, source in enumerate(parts["S"], 1):
            kind, title, text = (p.strip() for p in source.split(" | "))
            urls.append(f"https://{HOSTS[kind]}/{name}-{n}")
            sources.append({"url": urls[-1], "id": name, "title": title, "text": text, "kind": kind})
        citations = []
        for citation in parts.get("C", []):
            number, source, claim, quote = (p.strip() for p in citation.split("|"))
            url = f"https://archive.example/{name}" if source == "x" else urls[int(source[1:]) - 1]
            citations.append({"n": int(number), "claim": claim, "url": url} | ({"quote": quote} if quote else {}))
        answers.append({
            "id": name, "model": MODEL, "lang": lang, "question": parts["Q"][0], "reference": parts["G"][0],
            "answer": parts["A"][0], "citations": citations,
        })  # fmt: skip
        faults += [(name, fault.strip()) for line in parts.get("F", []) for fault in line.split(",")]
    return answers, sources, faults


def main() -> None:
    answers, sources, faults = read()
    OUT.mkdir(parents=True, exist_ok=True)
    for name, rows in (("answers", answers), ("sources", sources)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (OUT / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (OUT / "faults.csv").write_text("id,fault\n" + "".join(f"{i},{f}\n" for i, f in faults), encoding="utf-8")
    (OUT / "README.md").write_text(card(answers, sources, faults), encoding="utf-8")


def card(answers: list[dict], sources: list[dict], faults: list[tuple[str, str]]) -> str:
    languages = Counter(a["lang"] for a in answers)
    citations = [c for a in answers for c in a["citations"]]
    marks = sum(len(re.findall(r"\[[0-9, -]+\]", a["answer"])) for a in answers)
    table = "\n".join(f"| {fault} | {n} |" for fault, n in sorted(Counter(f for _, f in faults).items()))
    return f"""# cited_answers 1.1.0 (synthetic: yes)

{len(answers)} questions in the shape of Natural Questions, each with a gold answer, an answer with citation marks by a model that
does not exist, its citations and the sources that the model was given. Sample data of the studies `citation` and
`explainability`. They show how the studies work; they say nothing about any real model, person or place.

- Synthetic: everything here is invented: places, people, works, sources, addresses (all under `.example`), model.
- How made: written by hand for this project (`scripts/cited_answers/answers.txt`); `scripts/make_cited_answers.py` numbers
  the addresses and writes these files and this card.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.
- `answers.jsonl`: one row per question. `sources.jsonl`: one row per supplied source. `faults.csv`: what was planted in which
  answer (no study reads it).

## Counts

{len(answers)} answers ({", ".join(f"{n} {code}" for code, n in languages.items())}), {marks} citation marks, {len(citations)} citations,
{sum("quote" in c for c in citations)} of them with a quote, {len(sources)} sources; {len({i for i, _ in faults})} answers carry a fault.

| planted | answers |
| --- | ---: |
{table}

*Contradicting*: the answer says what its source denies. *Fabricated quote*: the quote does not stand in the source.
*Fabricated source*: the cited address is none of the supplied ones. *Needless citation*: another source alone carries the
statement. *Dangling mark*: a mark without an entry. *Uncited entry*: an entry that no mark names.
"""


if __name__ == "__main__":
    main()
