"""Planted tables of searches and sessions: one list for all, nothing but what is relevant, turns that lack their users."""

from __future__ import annotations

import pandas as pd
from planted import ANY, Frames, N, Planted, Tables, ids, lights
from planted_asked import TOP, answered, right, sure, tops, unmoved
from planted_people import PASS, scored
from planted_rag import RANKED, searched
from planted_texts import turns

HALF = N // 2


def one_list() -> Frames:
    """The same five passages for all queries, of which the first answers each."""
    run = searched()["run"]
    judged = [(name, passage, int(passage == "p0")) for name in ids() for passage in ("p0", "p4")]
    return {
        "run": run.assign(doc_id=[f"p{i % 5}" for i in range(len(run))]),
        "qrels": pd.DataFrame(judged, columns=["id", "doc_id", "relevance"]),
    }


def judged_as_found() -> Frames:
    own = searched()
    return own | {"qrels": own["run"][["id", "doc_id"]].assign(relevance=1)}


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
    "stability": {
        "answers_afterwards_are_empty": Planted(
            lambda: answered(right, lambda i: ""), r"80 of 120 outputs are empty", lights=lights("red")
        ),
        "changed_queries_are_empty": Planted(
            lambda: (own := answered(right, right)) | {"variants": own["variants"].assign(question="")},
            r"80 of 80 changed queries are empty", lights=ANY,
        ),
    },
    "imported": {
        "a_metric_in_two_cases": Planted(
            lambda: (own := scored(lambda i: 1.0)) | {"scores": own["scores"].assign(metric=["Pass", "pass"] * HALF)},
            r"Pass and pass differ by case alone: are they one metric", PASS, ANY,
        ),
        "outputs_are_errors": Planted(
            lambda: (own := scored(lambda i: 1.0)) | {"items": own["items"].assign(output="HTTP error 503: service unavailable")},
            r"40 of 40 outputs read like an error", PASS, ANY,
        ),
        "some_outputs_are_empty": Planted(
            lambda: (own := scored(lambda i: 1.0)) | {"items": own["items"].assign(output=["", "At 9."] * HALF)},
            r"20 of 40 outputs are empty", PASS, ANY,
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
