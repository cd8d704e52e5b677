"""Planted tables of the studies of sources: citations, retrieved contexts, searches. The judges are fakes: words are compared."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from planted import (
    ABSENT,
    ANY,
    FEW,
    IDS,
    LATE,
    TWO,
    Frames,
    N,
    Planted,
    Tables,
    ids,
    items,
    lights,
    otherwise,
    with_late,
)
from planted_texts import problems

# -- citation --------------------------------------------------------------------------------------


def contains(item: dict[str, Any]) -> str:
    """A judge, a fake: a premise entails what it holds word for word; an answer is right that holds the gold answer."""
    if "gold" in item:
        return "CORRECT" if any(g in item["answer"] for g in item["gold"]) else "INCORRECT"
    return "ENTAILMENT" if re.sub(r"\s*\[\d+\]", "", item["hypothesis"]).rstrip(". ") in item["premise"] else "NEUTRAL"


def url(i: int) -> str:
    return f"https://archive.example/bridge-{i}"


def claim(i: int) -> str:
    return f"Bridge {i} fell in {1900 + i}."


def cited(n: int = N, mark: int = 1, said: Any = claim) -> Frames:
    """One entry each, which the answer cites by a mark."""
    answers = items(
        n, question=lambda i: f"When did bridge {i} fall?", reference=lambda i: str(1900 + i),
        answer=lambda i: f"{said(i).rstrip('.')} [{mark}].",
        citations=lambda i: [{"n": 1, "claim": said(i), "url": url(i), "quote": claim(i)}],
    )  # fmt: skip
    sources = pd.DataFrame(
        {"url": [url(i) for i in range(n)], "text": [f"Of old: {claim(i)} It was rebuilt." for i in range(n)]}
    )
    return {"answers": answers, "sources": sources}


def other(i: int) -> str:
    return f"Tower {i} stood until {1700 + i}."


def other_urls() -> Frames:
    own = cited()
    return own | {"sources": otherwise(own["sources"], "url")}


def late_answers() -> Frames:
    own = cited()
    return own | {"answers": with_late(own["answers"], "model", "id")}


FAKE = {"judge": contains}
CITATION: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: cited(said=other), r"0\.0% passed|0% passed", FAKE),
    "all_right": Planted(cited, r"100(\.0)?% passed", FAKE),
    "one_absent": Planted(late_answers, ABSENT, FAKE),
    "two_units": Planted(lambda: cited(2), TWO, FAKE),
    "off_by_one": Planted(lambda: cited(mark=2), r"40 of 40.*(mark|entr)|(mark|entr).*40 of 40", FAKE),
    "other_ids": Planted(other_urls, rf"{IDS}|url|address", FAKE),
    "all_equal": Planted(cited, r"1\.00", FAKE),
}

# -- explainability --------------------------------------------------------------------------------


def explained(n: int = N, right: bool = True, models: tuple[str, str] = ("oak", "oak"), mark: int = 1) -> Frames:
    """Word problems of one model and cited answers of one, the same as a rule."""
    solved = problems(n=n) if right else problems(lambda i: f"Perhaps.\n#### {900 + i}", n)
    answers = cited(n, mark, claim if right else other)
    return {
        "items": solved.assign(model=models[0]),
        "answers": answers["answers"].assign(model=models[1]),
        "sources": answers["sources"],
    }


def few_cited() -> Frames:
    own = explained()
    return own | {"answers": own["answers"].iloc[:FEW]}


def other_cited() -> Frames:
    own = explained()
    return own | {"sources": otherwise(own["sources"], "url")}


EXPLAINABILITY: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: explained(right=False), r"0\.\d", FAKE),
    "all_right": Planted(explained, r"1\.00", FAKE),
    "one_absent": Planted(few_cited, r"\b3\b|three", FAKE),
    "two_units": Planted(lambda: explained(2), TWO, FAKE),
    "off_by_one": Planted(lambda: explained(mark=2), r"40 of 40.*(mark|entr)|(mark|entr).*40 of 40", FAKE),
    "other_ids": Planted(lambda: explained(models=("oak", "OAK ")), rf"{IDS}|two models", FAKE),
    "all_equal": Planted(explained, r"1\.00", FAKE),
}

# -- rag_generation --------------------------------------------------------------------------------


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def by_words(item: dict[str, Any]) -> Any:
    """A judge, a fake: a passage supports a statement whose words it has."""
    if "sentences" in item:
        return {"claims": [{"sentence": n, "claim": s} for n, s in enumerate(item["sentences"], 1)]}
    if "statement" in item:
        carrying = [k for k, p in enumerate(item["passages"], 1) if words(item["statement"]) <= words(p)]
        return {"label": "SUPPORTED" if carrying else "NOT_SUPPORTED", "reason": "words", "passages": carrying}
    if "passage" in item:
        whole = any(words(fact) <= words(item["passage"]) for fact in item["facts"])
        return {"label": "RELEVANT" if whole else "IRRELEVANT", "reason": "words"}
    return {"questions": [item["answer"]], "noncommittal": False}


def permit(i: int) -> str:
    return f"Permit {i} costs {i + 20} crowns."


def generated(n: int = N, answer: Any = permit, truth: Any = permit) -> Frames:
    return {
        "answers": items(
            n, question=lambda i: f"What does permit {i} cost?", answer=answer, reference=truth,
            contexts=lambda i: [f"Article {i}. {permit(i)}", "Dogs bathe at two beaches."],
        )
    }  # fmt: skip


GENERATED = {
    "judge": by_words,
    "metrics": ["faithfulness", "answer_correctness"],
    "lights": {m: {"green_from": 0.9, "yellow_from": 0.7} for m in ("faithfulness", "answer_correctness")},
}
GENERATION: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: generated(answer=lambda i: f"Boats leave at {i}."), r"0\.0", GENERATED),
    "all_right": Planted(generated, r"1\.00", GENERATED),
    "one_absent": Planted(lambda: {"answers": with_late(generated()["answers"], "model", "id")}, ABSENT, GENERATED),
    "two_units": Planted(lambda: generated(2), TWO, GENERATED),
    "off_by_one": "contexts carry their texts, not their positions",
    "other_ids": "one table, without a join",
    "all_equal": Planted(generated, r"1\.00", GENERATED),
}

# -- rag_retrieval ---------------------------------------------------------------------------------


def searched(
    n: int = N, first: int = 1, ranked: bool = True, shift: int = 0, worst: bool = False, tied: bool = False
) -> Frames:
    """Five passages for each query, of which the first is judged relevant and the last judged not to be."""
    rows, judged = [], []
    for i, name in enumerate(ids(n)):
        judged += [(name, f"p{10 * i}", 1), (name, f"p{10 * i + 4}", 0)]
        for r in range(5):
            passage = 10 * i + (4 if worst and r == 0 else 5 + r if worst else r) + shift
            rows.append((name, f"p{passage}", r + first, 1.0 if tied else 5.0 - r))
    run = pd.DataFrame(rows, columns=["id", "doc_id", "rank", "score"])
    return {
        "run": run.drop(columns="score" if ranked else "rank"),
        "qrels": pd.DataFrame(judged, columns=["id", "doc_id", "relevance"]),
    }


def late_run() -> Frames:
    own = searched()
    return own | {"run": with_late(own["run"], "model", "id")}


def other_run(column: str) -> Frames:
    own = searched()
    return own | {"run": otherwise(own["run"], column)}


RANKED = {"metrics": ["ndcg", "recall"], "k": 5, "ks": [5], "lights": {"ndcg": {"green_from": 0.8, "yellow_from": 0.5}}}
RETRIEVAL: dict[str, Planted | str] = {
    "nothing_right": Planted(lambda: searched(worst=True), r"0\.0", RANKED),
    "all_right": Planted(searched, r"1\.00", RANKED),
    "one_absent": Planted(late_run, rf"37 of 40 [a-z]+.*{LATE}|{LATE}.*37 of 40 [a-z]+", RANKED),
    "two_units": Planted(lambda: searched(2), TWO, RANKED),
    "off_by_one": Planted(lambda: searched(first=0), "rank", RANKED, refused=r"rank: .*at least 1"),
    "other_ids": Planted(lambda: other_run("doc_id"), IDS, RANKED, refused=IDS),
    "all_equal": Planted(
        lambda: searched(ranked=False, tied=True),
        r"tie|equal|same score",
        RANKED,
        lights("grey", "yellow", "red", "unlit"),
    ),
}

# -- rag_tuning ------------------------------------------------------------------------------------


def bag(texts: list[str]) -> np.ndarray:
    """An embedding, a fake: which number of a house a text has."""
    found = np.full((len(texts), N + 1), 1e-3)
    for row, text in zip(found, texts, strict=True):
        for number in re.findall(r"house (\d+)", text):
            row[int(number) % (N + 1)] += 1
    return found


def library(n: int = N, source: Any = lambda i: i) -> Frames:
    documents = pd.DataFrame(
        {"doc_id": ids(n, "d"), "text": [f"About house {i}. The keys of house {i} hang at door {i}." for i in range(n)]}
    )
    questions = items(
        n, question=lambda i: f"Where do the keys of house {i} hang?", reference=lambda i: f"At door {i}.",
        doc_id=lambda i: f"d{source(i):02}",
    )  # fmt: skip
    return {"documents": documents, "questions": questions}


def few_sources() -> Frames:
    own = library()
    return own | {
        "questions": own["questions"].assign(
            doc_id=[d if i < FEW else "" for i, d in enumerate(own["questions"]["doc_id"])]
        )
    }


def other_sources() -> Frames:
    own = library()
    return own | {"questions": otherwise(own["questions"], "doc_id")}


def asks(fields: dict[str, Any]) -> str:
    """A model that writes questions, a fake: of the house of a chunk."""
    found = re.search(r"house \d+", fields["chunk"])
    return f"Where do the keys of {found[0] if found else 'it'} hang?"


def blind(texts: list[str]) -> np.ndarray:
    """An embedding, a fake: the texts' lengths, which say nothing of their houses."""
    return np.array([[1.0, len(text) % 7, len(text) % 3] for text in texts])


TUNED = {
    "embed": bag, "chunk_sizes": [], "chunk_size": 200, "most_k": 2, "k": 2, "patience": 1,
    "question_model": asks, "n_chunks": N, "n_rewrites": 0,
}  # fmt: skip
TUNING: dict[str, Planted | str] = {
    "nothing_right": Planted(library, r"0\.0", TUNED | {"embed": blind}),
    "all_right": Planted(library, r"1\.00", TUNED),
    "one_absent": Planted(
        few_sources,
        r"37 of 40|\b3 of 40",
        TUNED,
        ANY,
        "the light is the embedding's, which needs no source of a question",
    ),
    "two_units": Planted(lambda: library(2), TWO, TUNED),
    "off_by_one": Planted(lambda: library(source=lambda i: (i + 1) % N), r"0\.0", TUNED),
    "other_ids": Planted(other_sources, IDS, TUNED, refused=IDS),
    "all_equal": Planted(library, r"1\.00", TUNED),
}

TABLES: Tables = {
    "citation": CITATION,
    "explainability": EXPLAINABILITY,
    "rag_generation": GENERATION,
    "rag_retrieval": RETRIEVAL,
    "rag_tuning": TUNING,
}
