"""Write the sample data set house_style_curated@1.1.0 from its hand-written source.

Run from anywhere: ``python scripts/make_house_style.py``. The source, in ``scripts/house_style/``, quotes the
passages instead of counting characters:

    @ SAMPLE_ID LANGUAGE                                             a document; its text follows, to the first row
    t RULE | PASSAGE | EXPLANATION | CORRECTION                      a true violation (t1, t2, … in their order)
    f|r|m RULE | PASSAGE | EXPLANATION | CORRECTION | VERDICTS       a violation that a checker reports

RULE is ``CODE[@LANGUAGE][=own wording][#own category]``, with the codes of ``rules.txt``. PASSAGE occurs once in the
text; ``A && B`` are two spans of one violation; ``ctx:C`` is a violation given by its context alone, and
``ctx:C => A`` one whose context is not quite the passage A. VERDICTS name true violations of the document: ``+1``
the same finding as t1, ``-2`` not that of t2; a second sign (``+1-``) is the second annotator's.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path(__file__).resolve().parent / "house_style"
DATA = ROOT / "data" / "house_style_curated" / "1.1.0"
TEST_DATA = ROOT / "tests" / "data"
CHECKERS = {"f": "fern-prompt@1.1.0|oak-7b", "r": "reed-index@2.2.0|oak-7b", "m": "moss-panel@2.1.0|birch-30b"}
DESCRIPTIONS = {
    "f": "One prompt with all rules; marks whole sentences and words the rules itself. Invented.",
    "r": "Looks each passage up in an index of the rules, without examples; marks fragments. Invented.",
    "m": "Several readings of each text and a vote among them; explains and corrects. Invented.",
}
NESTED = ("hs-012", "hs-016", "hs-022", "hs-040", "hs-044")
FINDING = ("start", "end", "spans", "context", "rule", "category", "explanation", "correction")
RULE = re.compile(r"(?P<code>[A-Z]\d)(@(?P<lang>\w+))?(=(?P<wording>[^#]+))?(#(?P<category>\w+))?")
VERDICT = re.compile(r"(?P<first>[+-])(?P<truth>\d)(?P<second>[+-]?)")
ANNOTATORS = ("annotator-1", "annotator-2")


class Rule(NamedTuple):
    category: str
    wording: dict[str, str]


class Violation(NamedTuple):
    id: str
    violation_id: str
    model: str
    spans: tuple[tuple[int, int], ...]
    context: str
    rule: str
    category: str
    explanation: str
    correction: str
    verdicts: str


class Document(NamedTuple):
    id: str
    lang: str
    text: str
    truth: tuple[Violation, ...]
    predictions: tuple[Violation, ...]


def read_rules() -> dict[str, Rule]:
    rules = {}
    for line in (SOURCE / "rules.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            code, category, en, ru, zh = (field.strip() for field in line.split(" | "))
            rules[code] = Rule(category, {"en": en, "ru": ru, "zh": zh})
    return rules


def locate(text: str, passage: str) -> tuple[int, int]:
    """The half-open interval of code points of `passage`, which must occur exactly once."""
    if text.count(passage) != 1:
        raise ValueError(f"{passage!r} occurs {text.count(passage)} times in {text!r}")
    start = text.index(passage)
    return start, start + len(passage)


def parse_violation(row: str, ids: tuple[str, str, str], lang: str, text: str, rules: dict[str, Rule]) -> Violation:
    fields = [field.strip().replace("\\n", "\n") for field in f"{row} ".split("|")]
    rule, passage, explanation, correction, verdicts = fields + [""] * (5 - len(fields))
    named = RULE.fullmatch(rule)
    if named is None:
        raise ValueError(f"{ids}: {rule!r} is not a rule")
    known = rules[named["code"]]
    context, meant = "", passage
    if passage.startswith("ctx:"):
        context, _, meant = passage.removeprefix("ctx:").partition(" => ")
        meant = meant or context
    return Violation(
        *ids,
        spans=tuple(locate(text, part) for part in meant.split(" && ")),
        context=context,
        rule=named["wording"] or known.wording[named["lang"] or lang],
        category=named["category"] or known.category,
        explanation=explanation,
        correction=correction,
        verdicts=verdicts,
    )


def parse_document(block: str, rules: dict[str, Rule]) -> Document:
    head, *lines = block.strip().split("\n")
    sample_id, lang = head.split()
    is_row = [re.match(r"[tfrm] [A-Z]\d", line) is not None for line in lines]
    first = is_row.index(True) if True in is_row else len(lines)
    text = "\n".join(lines[:first])
    seen: Counter[str] = Counter()
    found: dict[bool, list[Violation]] = {True: [], False: []}
    for line in lines[first:]:
        kind, row = line[0], line[2:]
        seen[kind] += 1
        ids = (sample_id, f"{sample_id}-{kind}{seen[kind]}", CHECKERS.get(kind, ""))
        found[kind == "t"].append(parse_violation(row, ids, lang, text, rules))
    return Document(sample_id, lang, text, tuple(found[True]), tuple(found[False]))


def read_documents(rules: dict[str, Rule]) -> list[Document]:
    parts = (SOURCE / name for name in ("en_1.txt", "en_2.txt", "ru.txt", "zh.txt"))
    blocks = (block for part in parts for block in re.split(r"^@ ", part.read_text("utf-8"), flags=re.M)[1:])
    return [parse_document(block, rules) for block in blocks]


def place(violation: Violation) -> dict[str, object]:
    """Where the violation is: its context, its spans, or its start and end; the other fields are absent."""
    if violation.context:
        return {"context": violation.context}
    if len(violation.spans) > 1:
        return {"spans": [list(span) for span in violation.spans]}
    return dict(zip(("start", "end"), violation.spans[0], strict=True))


def flat_row(violation: Violation) -> dict[str, object]:
    row = violation._asdict() | {"spans": "", "context": ""} | place(violation)
    if row["spans"]:
        row["spans"] = json.dumps(row["spans"])
    return row


def nested_document(document: Document) -> dict[str, object]:
    def nested(violation: Violation) -> dict[str, object]:
        row = {"violation_id": violation.violation_id, "model": violation.model, **place(violation)}
        row |= {name: getattr(violation, name) for name in FINDING[4:]}
        return {name: value for name, value in row.items() if value != ""}

    return {
        "id": document.id,
        "lang": document.lang,
        "text": document.text,
        "violations": [nested(violation) for violation in document.truth],
        "predictions": [nested(violation) for violation in document.predictions],
    }


def verdict_rows(document: Document) -> list[dict[str, object]]:
    rows = []
    for prediction in document.predictions:
        for token in prediction.verdicts.split():
            verdict = VERDICT.fullmatch(token)
            if verdict is None:
                raise ValueError(f"{prediction.violation_id}: {token!r} is not a verdict")
            truth = document.truth[int(verdict["truth"]) - 1]
            rows += [
                {
                    "id": document.id,
                    "model": prediction.model,
                    "truth_id": truth.violation_id,
                    "prediction_id": prediction.violation_id,
                    "mark": int(sign == "+"),
                    "annotator": annotator,
                }
                for annotator, sign in zip(ANNOTATORS, (verdict["first"], verdict["second"]), strict=True)
                if sign
            ]
    return rows


def characters(violation: Violation) -> set[int]:
    return {index for start, end in violation.spans for index in range(start, end)}


def faults(document: Document, checker: str, wordings: set[str]) -> Counter[str]:
    """How the predictions of one checker on one document differ from the truth, counted by kind of fault."""
    predictions = [row for row in document.predictions if row.model == checker]
    count: Counter[str] = Counter(predictions=len(predictions))
    hits: Counter[str] = Counter()
    for row in predictions:
        met = [true for true in document.truth if characters(true) & characters(row)]
        hits.update(true.violation_id for true in met)
        count["same passage"] += any(characters(true) == characters(row) for true in met)
        count["shifted, shorter or longer passage"] += bool(met) and all(
            characters(true) != characters(row) for true in met
        )
        count["passage without any violation"] += not met
        count["passage over several violations"] += len(met) > 1
        count["category of none of the violations it meets"] += bool(met) and row.category not in {
            true.category for true in met
        }
        count["rule in its own words"] += row.rule not in wordings
        count["no explanation"] += not row.explanation
        count["no correction"] += not row.correction
    count["true violations met by several predictions"] = sum(times > 1 for times in hits.values())
    count["true violations met by none"] = len(document.truth) - len(hits)
    return count


def markdown_table(header: list[str], rows: list[list[object]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def count_tables(documents: list[Document], rules: dict[str, Rule]) -> dict[str, object]:
    truth = [row for document in documents for row in document.truth]
    verdicts = [row for document in documents for row in verdict_rows(document)]
    pairs: dict[str, list[int]] = {}
    for row in verdicts:
        pairs.setdefault(f"{row['truth_id']} {row['prediction_id']}", []).append(row["mark"])
    wordings = {wording for rule in rules.values() for wording in rule.wording.values()}
    by_checker = {
        checker: sum((faults(document, checker, wordings) for document in documents), Counter())
        for checker in CHECKERS.values()
    }
    kinds = list(faults(documents[0], CHECKERS["m"], wordings))
    languages = list(dict.fromkeys(document.lang for document in documents))
    return {
        "documents": len(documents),
        "clean": sum(not document.truth for document in documents),
        "violations": len(truth),
        "rules": len(rules),
        "categories": len({rule.category for rule in rules.values()}),
        "multi_span": sum(len(row.spans) > 1 for row in truth),
        "contexts": sum(bool(row.context) for row in truth),
        "pairs": len(pairs),
        "pairs_yes": sum(signs[0] for signs in pairs.values()),
        "pairs_twice": sum(len(signs) == 2 for signs in pairs.values()),
        "pairs_disagree": sum(len(set(signs)) == 2 for signs in pairs.values()),
        "verdicts": len(verdicts),
        "by_language": markdown_table(
            ["language", "documents", "true violations"],
            [
                [
                    lang,
                    sum(document.lang == lang for document in documents),
                    sum(len(document.truth) for document in documents if document.lang == lang),
                ]
                for lang in languages
            ],
        ),
        "by_category": markdown_table(
            ["category", "rules", "true violations"],
            [
                [
                    category,
                    sum(rule.category == category for rule in rules.values()),
                    sum(row.category == category for row in truth),
                ]
                for category in dict.fromkeys(rule.category for rule in rules.values())
            ],
        ),
        "by_checker": markdown_table(
            ["", *(f"`{checker.split('@')[0]}`" for checker in by_checker)],
            [[kind, *(counts[kind] for counts in by_checker.values())] for kind in kinds],
        ),
    }


def write_csv(path: Path, columns: tuple[str, ...], rows: list[dict[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(rows)


def write(data: Path = DATA, test_data: Path = TEST_DATA) -> None:
    rules = read_rules()
    documents = read_documents(rules)
    data.mkdir(parents=True, exist_ok=True)
    test_data.mkdir(parents=True, exist_ok=True)
    write_csv(data / "documents.csv", ("id", "text", "lang"), [document._asdict() for document in documents])
    write_csv(
        data / "truth.csv",
        ("id", "violation_id", *FINDING),
        [flat_row(row) for document in documents for row in document.truth],
    )
    write_csv(
        data / "predictions.csv",
        ("id", "violation_id", "model", *FINDING),
        [flat_row(row) for document in documents for row in document.predictions],
    )
    write_csv(
        data / "pair_verdicts.csv",
        ("id", "model", "truth_id", "prediction_id", "mark", "annotator"),
        [row for document in documents for row in verdict_rows(document)],
    )
    described = [{"model": CHECKERS[kind], "description": words} for kind, words in DESCRIPTIONS.items()]
    write_csv(data / "checkers.csv", ("model", "description"), described)
    card = (SOURCE / "README.template.md").read_text("utf-8").format(**count_tables(documents, rules))
    (data / "README.md").write_text(card, encoding="utf-8", newline="\n")
    nested = [nested_document(document) for document in documents if document.id in NESTED]
    (test_data / "house_style_nested.jsonl").write_text(
        "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in nested), encoding="utf-8", newline="\n"
    )
    located = {row.violation_id: list(row.spans[0]) for document in documents for row in document.truth if row.context}
    (test_data / "house_style_context_spans.json").write_text(
        json.dumps(located, indent=1) + "\n", encoding="utf-8", newline="\n"
    )


if __name__ == "__main__":
    write()
