"""Writes data/rule_books/1.1.0 from scripts/rule_books/, which was written by hand.

A file is a country: C name | language | book of rules.  Then come blocks: A subject | title, with the text on the next line;
Q question, G its ground truth, S the subject of the article that answers it, P the passage in that article's words, R the
subjects of articles of the country that touch on it.
"""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(__file__).resolve().parent / "rule_books"
OUT = ROOT / "data" / "rule_books" / "1.1.0"
COUNTRIES = ("veldmark", "osmarra", "karrowmere", "tindalia", "vereskovia")
ARTICLE = {"en": "article", "ru": "статья"}


def read() -> tuple[list[dict], list[dict]]:
    """Documents with their `subject`, and questions with the `related` documents, both country by country."""
    documents, questions = [], []
    for country in COUNTRIES:
        head, *blocks = (SOURCE / f"{country}.txt").read_text(encoding="utf-8").strip().split("\n\n")
        _, lang, book = (part.strip() for part in head[2:].split("|"))
        articles: dict[str, dict] = {}
        for block in blocks:
            lines = block.split("\n")
            if lines[0].startswith("A: "):
                subject, title = (part.strip() for part in lines[0][2:].split("|"))
                number = len(articles) + 1
                articles[subject] = {
                    "doc_id": f"{country}-{number:02d}", "group": country, "lang": lang, "subject": subject,
                    "text": f"{book}, {ARTICLE[lang]} {number}. {title}.\n{lines[1]}",
                }  # fmt: skip
                continue
            part = {line[0]: line[3:].strip() for line in lines}
            source = articles[part["S"]]
            assert part["P"] in source["text"], block
            number = sum(question["group"] == country for question in questions) + 1
            questions.append({
                "id": f"{country}-q{number}", "group": country, "lang": lang, "question": part["Q"],
                "reference": part["G"], "doc_id": source["doc_id"], "passage": part["P"],
                "related": [articles[subject.strip()]["doc_id"] for subject in part.get("R", "").split(",") if subject],
            })  # fmt: skip
        documents += articles.values()
    return documents, questions


def write_json_lines(path: Path, rows: list[dict], leave_out: str) -> None:
    kept = ({key: value for key, value in row.items() if key != leave_out} for row in rows)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept), encoding="utf-8")


def main() -> None:
    documents, questions = read()
    OUT.mkdir(parents=True, exist_ok=True)
    write_json_lines(OUT / "documents.jsonl", documents, "subject")
    write_json_lines(OUT / "questions.jsonl", questions, "related")
    (OUT / "README.md").write_text(card(documents, questions), encoding="utf-8")


def card(documents: list[dict], questions: list[dict]) -> str:
    subjects = [{d["subject"] for d in documents if d["group"] == country} for country in COUNTRIES]
    shared = len(set.intersection(*subjects))
    languages = "\n".join(
        f"| {country} | {next(d['lang'] for d in documents if d['group'] == country)} "
        f"| {sum(d['group'] == country for d in documents)} | {sum(q['group'] == country for q in questions)} |"
        for country in COUNTRIES
    )
    return f"""# rule_books 1.1.0 (synthetic: yes)

{len(documents)} articles from the regulations of five countries that do not exist, and {len(questions)} questions with their answers and
the passages that carry them. Sample data of the studies of retrieval and of answers from passages. They show how the studies
work; they say nothing about any real law, country or system.

- Synthetic: everything here is invented. No article is the law anywhere.
- How made: written by hand for this project (`scripts/rule_books/`); `scripts/make_rule_books.py` numbers the articles and writes
  these files and this card.
- Licence: CC0-1.0.
- Version 1.1.0 has other names of columns than 1.0.0; its values are equal.

| country | language | articles | questions |
| --- | --- | ---: | ---: |
{languages}

{shared} subjects (night quiet, dogs, bees, bicycles, markets, deposits, trial periods, returned goods, libraries) are regulated in all five
countries, in other words and with other figures: a search that finds the subject and misses the country brings a wrong number.
{len(subjects[0]) - shared} subjects of each country are its own. A few articles touch on each other (sheep on the dyke, dogs on the dyke).

## Files

UTF-8, JSON Lines.

| file | one row per | columns |
| --- | --- | --- |
| `documents.jsonl` | article | `doc_id`, `group` (the country), `lang`, `text` (the heading is the first line) |
| `questions.jsonl` | question | `id`, `group`, `lang`, `question`, `reference`, `doc_id` (the article that answers it), `passage` (from its text, word for word) |
"""


if __name__ == "__main__":
    main()
