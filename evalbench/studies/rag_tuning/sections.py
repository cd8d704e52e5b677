"""The four sections: quality by top-k, by chunk size and overlap, of the embedding, and with several queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, kit
from evalbench.judge.tasks import Task, mark_task
from evalbench.metrics import rank_fusion, registry
from evalbench.studies.rag_generation.inputs import Answer
from evalbench.studies.rag_generation.items import items_of as answers_items
from evalbench.studies.rag_generation.judged import cases_of
from evalbench.studies.rag_tuning import asking, inputs
from evalbench.studies.rag_tuning.rag import Cutter, Found, Index, indexed, judged, retrieval_scores
from evalbench.text.refusals import is_noncommittal
from evalbench.text.words import words

Array = np.ndarray[Any, Any]

TOP_K, CHUNKS, QUERIES, EMBEDDING = "top k", "chunks", "queries", "embedding"
PARTS = (EMBEDDING, TOP_K, CHUNKS, QUERIES)
RETRIEVAL = ("hit_rate", "mrr", "recall", "precision")
JUDGED = ("answer_correctness", "faithfulness")
"""Metrics of answers that a judge gives, as in ``rag_generation``."""
SINGLE = "single query"
LOW_MARK, NO_QUESTION, REFUSED = "low-mark", "unparsed", "refused"
LEAST_DEPTH = 20
"""So many chunks of each rewrite are fused, or four times as many as are wanted."""
MARKS: Task = mark_task(
    "answers the question",
    "How well the text answers the question, whatever else it says.",
    {
        1: "it has nothing to do with the question",
        2: "it is on the subject and does not answer",
        3: "it answers a part",
        4: "it answers nearly everything",
        5: "it answers the whole question",
    },
)


@dataclass
class Rag:
    """What the sections share.

    - ``documents``, ``questions``: Sorted by their ids.
    - ``key``: The metric that answers are scored by; None where the target metric is one of retrieval.
    - ``options``: Of the text metric.
    - ``answering``, ``asking``, ``marking``: Who answers; who writes and rewrites questions.
    - ``tables``: What the sections leave for the page.
    """

    documents: pd.DataFrame
    questions: pd.DataFrame
    sources: inputs.Sources
    cutter: Cutter
    target_metric: str
    key: registry.Card | None
    options: dict[str, Any]
    answering: asking.Asker | None
    writing: asking.Asker | None
    judging: kit.judging.Docket | None = None
    answers: list[pd.DataFrame] = field(default_factory=list)

    @property
    def languages(self) -> list[str]:
        given = self.questions["lang"] if "lang" in self.questions else [""] * len(self.questions)
        return list(given)

    def vectors(self) -> Array:
        """Of the questions."""
        return self.cutter.parts.vectors(self.questions["question"].tolist())

    def found(self, index: Index, queries: Array, k: int) -> Found:
        """What a search finds for the questions, and whether it carries their sources."""
        return judged(index, index.search(queries, k).places, self.sources)

    def rows(self, part: str, setting: str, index: Index, found: Found, k: int) -> pd.DataFrame:
        """One row per question: the target metric and the figures of retrieval at ``k``."""
        empty = dict.fromkeys(RETRIEVAL, np.full(len(self.questions), np.nan))
        scores = retrieval_scores(found, self.sources, k) if k else empty
        frame = pd.DataFrame({"id": self.questions["id"], "part": part, "setting": setting, "k": k, **scores})
        if self.key is None:
            return frame.assign(quality=frame[self.target_metric], unscored="", undefined=self.sources.why)
        values, unscored, undefined = self._answered(frame, index, found, k)
        return frame.assign(quality=values, unscored=unscored, undefined=undefined)

    def _answered(self, frame: pd.DataFrame, index: Index, found: Found, k: int) -> tuple[Array, Array, Array]:
        """The answers out of the chunks that were found, scored by the target metric."""
        assert self.key is not None
        assert self.answering is not None
        asked = self.questions["question"].tolist()
        contexts = [[index.texts[place] for place in own[:k] if place >= 0] for own in found.places]
        part, setting = frame["part"].iloc[0], frame["setting"].iloc[0]
        core.progress.at(f"answering: {part}, {setting}")
        replies = self.answering.ask(
            "answer",
            [
                {"id": f"{name} {part} {setting}", "lang": lang, "fields": {"question": question, "contexts": own}}
                for name, lang, question, own in zip(frame["id"], self.languages, asked, contexts, strict=True)
            ],
        )
        truth = self.questions["reference"] if "reference" in self.questions else [""] * len(asked)
        texts = frame[["id", "part", "setting"]].assign(
            question=asked,
            answer=np.array([kit.answers.answer_of(reply) for reply in replies], dtype=object),
            reference=kit.cases.cells([text] if text.strip() else [] for text in truth),
            contexts=kit.cases.cells(contexts),
        )
        name = self.key.name
        self.answers.append(
            texts[["id", "part", "setting", "question"]].assign(
                reference=list(truth),
                answer=texts["answer"],
                chunks=["; ".join(index.names[p] for p in own[:k] if p >= 0) for own in found.places],
            )
        )
        if self.judging is not None:
            return self._judged(texts, kit.answers.why_unscored(texts["answer"], replies))
        scored = kit.scoring.score_all(texts, [self.key], self.options, replies)
        return scored.columns[name], scored.unscored[name], scored.undefined[name]

    def _judged(self, texts: pd.DataFrame, why: Array) -> tuple[Array, Array, Array]:
        """Answers scored by the verdicts of a judge, sentence by sentence."""
        assert self.key is not None
        assert self.judging is not None
        answers = [
            Answer(
                id=row["id"],
                model="",
                lang=lang or "en",
                group="",
                question=row["question"],
                text=None if reason else row["answer"],
                contexts=tuple(row["contexts"]),
                truth=(row["reference"] or [""])[0].strip(),
                unscored=str(reason),
            )
            for row, lang, reason in zip(texts.to_dict("records"), self.languages, why, strict=True)
        ]
        cases = cases_of(answers, self.judging, [self.key.name], split="sentences", n_questions=1)
        items = answers_items(cases, [self.key.name])
        return tuple(items[column].to_numpy() for column in (self.key.name, "unscored", "undefined"))  # type: ignore[return-value]


def setting_of(k: int) -> str:
    """The name of a setting of top-k."""
    return f"k={k}"


def by_top_k(rag: Rag, index: Index, queries: Array, k: int, patience: int, most_k: int) -> list[pd.DataFrame]:
    """Quality at 0, 1, 2, … chunks: at least to ``k``, and on until it has not grown ``patience`` times in a row."""
    last = min(max(k, most_k), len(index.texts))
    found = rag.found(index, queries, last)
    rows: list[pd.DataFrame] = []
    best, still = -np.inf, 0
    for n in range(0 if rag.key is not None else 1, last + 1):
        rows.append(rag.rows(TOP_K, setting_of(n), index, found, n))
        mean = rows[-1]["quality"].mean()
        grown = mean > best + 1e-12
        best, still = (mean, 0) if grown else (best, still + 1)
        if n >= k and still >= patience:
            break
    return rows


def by_chunks(
    rag: Rag, base: Index, queries: Array, cells: Sequence[tuple[int, int]], k: int, base_cell: tuple[int, int]
) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """Quality of every chunk size and overlap at ``k``, and what the chunks of each are like."""
    rows, sizes = [], []
    for place, (size, overlap) in enumerate(cells, 1):
        core.progress.at("indexing chunks", place, len(cells))
        index = base if (size, overlap) == base_cell else indexed(rag.documents, rag.cutter, size, overlap)
        found = rag.found(index, queries, min(k, len(index.texts)))
        rows.append(rag.rows(CHUNKS, cell_name(size, overlap), index, found, k))
        sizes.append({"setting": cell_name(size, overlap), "size": size, "overlap": overlap, **_sizes(index, found)})
    return rows, pd.DataFrame(sizes)


def cell_name(size: int, overlap: int) -> str:
    """The name of a setting of chunks."""
    return f"chunks {size}/{overlap}"


def _sizes(index: Index, found: Found) -> dict[str, Any]:
    """The real chunks: how many, their size, how much of one the next repeats, how much text is found."""
    low, median, high = np.quantile(index.sizes, [0.025, 0.5, 0.975])
    after = index.documents[1:] == index.documents[:-1]
    repeated = np.maximum(index.ends[:-1] - index.starts[1:], 0)[after]
    handed = np.where(found.places >= 0, index.sizes[found.places], 0).sum(axis=1)
    return {
        "n_chunks": len(index.texts),
        "size_low": float(low),
        "size_median": float(median),
        "size_high": float(high),
        "repeated": float(repeated.mean()) if len(repeated) else 0.0,
        "found_characters": float(handed.mean()),
    }


def fusion_depth(k: int) -> int:
    """How many chunks of each wording are fused where ``k`` are wanted."""
    return max(LEAST_DEPTH, 4 * k)


def by_queries(
    rag: Rag, index: Index, queries: Array, k: int, n_rewrites: int, fusion: str
) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """The single query against several wordings of it, whose rankings are fused."""
    assert rag.writing is not None
    asked = rag.questions["question"].tolist()
    replies = rag.writing.ask(
        "rewrite",
        [
            {"id": name, "lang": lang, "fields": {"question": question, "n": n_rewrites}}
            for name, lang, question in zip(rag.questions["id"], rag.languages, asked, strict=True)
        ],
    )
    written = [
        [line for line in asking.lines(reply.text) if line != question][:n_rewrites] if not reply.unscored else []
        for question, reply in zip(asked, replies, strict=True)
    ]
    depth = min(fusion_depth(k), len(index.texts))
    first = index.search(queries, depth).places
    flat = [text for own in written for text in own]
    others = index.search(rag.cutter.parts.vectors(flat), depth).places if flat else np.zeros((0, depth), np.int64)
    ends = np.cumsum([0, *map(len, written)])
    places = np.full((len(asked), min(k, len(index.texts))), -1, np.int64)
    for i, (a, b) in enumerate(pairwise(ends)):
        one = rank_fusion.fused(np.vstack([first[i : i + 1], others[a:b]]), places.shape[1], fusion)
        places[i, : len(one)] = one
    single = rag.rows(QUERIES, SINGLE, index, judged(index, first[:, : places.shape[1]], rag.sources), k)
    several = rag.rows(QUERIES, f"several queries ({fusion})", index, judged(index, places, rag.sources), k)
    failed = np.array([reply.unscored for reply in replies], dtype=object)
    lost = (failed != "").astype(bool)
    several = several.assign(
        unscored=np.where(lost, failed, several["unscored"]),
        undefined=np.where(lost, "", several["undefined"]),
        **{name: several[name].mask(lost) for name in ("quality", *RETRIEVAL)},
    )
    table = pd.DataFrame(
        {
            "id": rag.questions["id"],
            "question": asked,
            "rewrites": ["\n".join(own) for own in written],
            "n_rewrites": list(map(len, written)),
            "unscored": failed,
        }
    )
    return [single, several], table


def of_embedding(
    rag: Rag,
    index: Index,
    *,
    n_chunks: int,
    n_search: int,
    seed: int,
    name: str,
    docket: kit.judging.Docket | None,
    min_mark: float,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Whether questions that were written for single chunks find them again: no labels are needed."""
    assert rag.writing is not None
    chosen = set(kit.sampling.sample_ids(index.names, "random", n_chunks, seed))
    own = np.array([i for i, chunk in enumerate(index.names) if chunk in chosen], dtype=np.int64)
    langs = [rag.cutter.languages[index.documents[i]] for i in own]
    replies = rag.writing.ask(
        "question",
        [
            {"id": index.names[i], "lang": lang, "fields": {"chunk": index.texts[i]}}
            for i, lang in zip(own, langs, strict=True)
        ],
    )
    asked = [asking.one_line(reply.text) if not reply.unscored else "" for reply in replies]
    why = np.array([reply.unscored for reply in replies], dtype=object)
    lacking = [NO_QUESTION if not text else REFUSED if is_noncommittal(text) else "" for text in asked]
    unscored = np.where(why == "", np.array(lacking, dtype=object), why)
    table = pd.DataFrame(
        {
            "id": [index.names[i] for i in own],
            "chunk": [index.texts[i] for i in own],
            "question": asked,
            "lang": langs,
            "mark": np.nan,
            "copied": [float(_is_copy(text, index.texts[i])) for text, i in zip(asked, own, strict=True)],
            "unscored": unscored,
            "undefined": "",
        }
    )
    if docket is not None:
        _marked(table, docket, min_mark)
    ready = np.flatnonzero((table["unscored"] == "") & (table["undefined"] == ""))
    place = np.full(len(table), np.nan)
    for name_of in ("found_1", "found_n", "reciprocal"):
        table[name_of] = np.nan
    if len(ready):
        vectors = rag.cutter.parts.vectors([asked[i] for i in ready])
        places = index.search(vectors, min(n_search, len(index.texts))).places
        hits = places == own[ready][:, None]
        place[ready] = np.where(hits.any(axis=1), hits.argmax(axis=1) + 1.0, np.nan)
        table.loc[ready, "found_1"] = hits[:, :1].any(axis=1).astype(float)
        table.loc[ready, "found_n"] = hits.any(axis=1).astype(float)
        table.loc[ready, "reciprocal"] = np.nan_to_num(1 / place[ready])
        table.loc[ready, "nearest"] = [index.names[p] for p in places[:, 0]]
    table["place"] = place
    items = table[["id", "found_1", "found_n", "place", "reciprocal", "copied", "unscored", "undefined"]]
    return items.assign(part=EMBEDDING, setting=name, k=n_search), table


LEAST_WORDS = 3
"""A question of fewer words may stand in its chunk by chance."""


def _is_copy(question: str, chunk: str) -> bool:
    """Whether a generated question is its chunk or a passage of it, up to case, signs and blanks."""
    own, of = words(question.casefold()), words(chunk.casefold())
    return len(own) >= LEAST_WORDS and f" {' '.join(own)} " in f" {' '.join(of)} "


def _marked(table: pd.DataFrame, docket: kit.judging.Docket, min_mark: float) -> None:
    """Marks of whether a chunk answers its question; questions of a low mark are left out, in place."""
    ready = np.flatnonzero(table["unscored"] == "")
    asked: Any = table.iloc[ready].itertuples()
    questions = [
        kit.judging.Question({"answer": row.chunk, "question": row.question}, row.lang or "en", row.id) for row in asked
    ]
    verdicts = docket.ask(MARKS, questions)
    table.loc[ready, "mark"] = [verdict.value for verdict in verdicts]
    table.loc[ready, "unscored"] = [verdict.unscored for verdict in verdicts]
    low = (table["mark"] <= min_mark) & (table["unscored"] == "")
    table.loc[low, "undefined"] = LOW_MARK
