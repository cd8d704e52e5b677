"""Planted tables of searches and sessions: one list for all, nothing but what is relevant, turns that lack their users."""

from __future__ import annotations

import pandas as pd
from planted import ANY, Frames, N, Planted, Tables, ids, lights
from planted_asked import TOP, sure, tops, unmoved
from planted_rag import RANKED, searched
from planted_texts import turns

HALF = N // 2


def one_list() -> Frames:
    """The same five passages for all queries, of which the first answers each."""
    run = searched()["run"]
    judged = [(name, passage, int(passage == "p0")) for name in ids() for passage in ("p0", "p4")]
    return {
        "run": run.assign(passage_id=[f"p{i % 5}" for i in range(len(run))]),
        "qrels": pd.DataFrame(judged, columns=["query_id", "passage_id", "relevance"]),
    }


def judged_as_found() -> Frames:
    own = searched()
    return own | {"qrels": own["run"][["query_id", "passage_id"]].assign(relevance=1)}


def half_without_tops() -> Frames:
    own = tops(unmoved)
    listed = own["tops"]
    return own | {"tops": listed[(listed["augmentation"] == "") | (listed["id"] < f"q{HALF}")]}


FOUND_TOO: Tables = {
    "rag_retrieval": {
        "one_list_for_all_queries": Planted(one_list, r"all 40 queries have one and the same list of passages", RANKED, ANY),
        "judged_as_found": Planted(judged_as_found, r"every passage that run lists is relevant: were others left out", RANKED, ANY),
        "lists_shorter_than_k": Planted(
            searched, r"no list has more than 5 passages, so that nothing is known of the first 50", RANKED | {"k": 50, "ks": [50]}, ANY
        ),
        "nothing_is_relevant": Planted(
            lambda: (own := searched()) | {"qrels": own["qrels"].assign(relevance=0)}, r"no query has a relevant passage", RANKED, lights("grey")
        ),
    },
    "stability_top": {
        "half_of_the_questions_without_tops": Planted(
            half_without_tops, r"20 of 40 questions have no top after any augmentation and are in no figure", TOP, ANY
        ),
    },
    "dialogue": {
        "no_turn_of_a_user": Planted(
            lambda: {"turns": turns().assign(role="assistant")}, r"40 of 40 sessions have answers that follow each other without a user", lights=ANY
        ),
        "numbers_that_jump": Planted(
            lambda: {"turns": turns(answers=3)[lambda rows: rows["turn"].ne(3)]}, r"40 of 40 sessions lack numbers between their turns", lights=ANY
        ),
    },
    "confidence": {
        "one_score_without_thresholds": Planted(
            lambda: {"items": sure(lambda i: 10, lambda i: i % 2)}, r"all answers have the same score", {"embed": ""}, lights("unlit")
        ),
    },
}  # fmt: skip
