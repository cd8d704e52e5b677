"""Planted tables beside those of each kind: the ways in which a table of one study looks right and is not, or wrong and is right."""

from __future__ import annotations

import pandas as pd
from planted import ANY, NOT_GREEN, Frames, Planted, Tables, ids, lights, one_table
from planted_asked import TOP, tops
from planted_ner import BANDS, elsewhere, found, spans, strings, texts
from planted_people import MATCHED, WARM, marked, rated
from planted_rag import FAKE, GENERATED, RANKED, cited, explained, generated, searched
from planted_texts import CLOSE, FOUND, answers, needles, problems, solution, turns

WRONG = NOT_GREEN
RIGHT = lights("green")

# -- entities --------------------------------------------------------------------------------------


def without_places() -> pd.DataFrame:
    own = spans()
    return own[own["entity_class"] == "PERSON"]


def with_invented() -> pd.DataFrame:
    """All that is right, and four entities a text that are none."""
    more = [elsewhere().assign(start=lambda f, k=k: f["start"] + k, end=lambda f, k=k: f["end"] + k) for k in range(4)]
    return pd.concat([spans(), *more])


def other_classes() -> pd.DataFrame:
    own = spans()
    return own.assign(entity_class=own["entity_class"].str.lower())


def written_otherwise() -> Frames:
    return {"texts": texts(), "predictions": strings(change=str.upper)}


# -- sources ---------------------------------------------------------------------------------------


def empty_sources() -> Frames:
    own = cited()
    return own | {"sources": own["sources"].assign(text=" ")}


def of_two_models() -> Frames:
    return explained(models=("gpt", "llama"))


def same_for_all() -> Frames:
    """A search that returns the same five documents whatever is asked."""
    own = tops(lambda i, r: r)
    return own | {"tops": own["tops"].assign(doc_id="d" + own["tops"]["rank"].astype(str))}


def farthest_first() -> Frames:
    own = searched(ranked=False)
    return own | {"run": own["run"].assign(score=-own["run"]["score"])}


def short_truths() -> Frames:
    return generated(truth=lambda i: f"{i + 20} crowns")


# -- people ----------------------------------------------------------------------------------------


def one_document_doubly() -> Frames:
    """A second annotator marked 24 outputs, all of one document."""
    systems = [f"s{k}" for k in range(24)]
    keys = [(d, s, 1 + (3 * i + 2 * k) % 5) for i, d in enumerate(ids(25, "d")) for k, s in enumerate(systems)]
    outputs = [{"doc_id": d, "system": s, "output": f"text of {s} {d}", "warmth": float(q)} for d, s, q in keys]
    said = [(d, s, a, "clear", q) for d, s, q in keys for a in ("ada", "bo") if a == "ada" or d == "d00"]
    return {
        "items": pd.DataFrame(outputs),
        "ratings": pd.DataFrame(said, columns=["doc_id", "system", "annotator", "criterion", "score"]),
    }


def six_outputs_doubly() -> Frames:
    own = rated()
    kept = (own["ratings"]["annotator"] == "ada") | own["ratings"]["doc_id"].isin(ids(2, "d"))
    return own | {"ratings": own["ratings"][kept]}


MORE: Tables = {
    "ner_quality": {
        "ends_included": Planted(lambda: found(spans().assign(end=lambda f: f["end"] - 1)), r"off by|end", lights=WRONG),
        "a_class_never_found": Planted(lambda: found(without_places()), r"PLACE", lights=WRONG),
        "four_invented_a_text": Planted(lambda: found(with_invented()), r"F1 0\.50|precision 0\.33|invented|spurious", lights=WRONG),
        "classes_in_lower_case": Planted(lambda: found(other_classes()), r"\bcase\b", lights=WRONG),
    },
    "ner_conflicts": {
        "strings_in_upper_case": Planted(written_otherwise, r"case_sensitive|\bcase\b", BANDS, WRONG),
    },
    "matching": {
        "another_rule_named": Planted(lambda: marked(rule="Words must be short."), r"match score|rule", MATCHED, WRONG),
    },
    "cot_levels": {
        "two_answers": Planted(
            one_table(problems(lambda i: f"#### 999\nNo: {solution(i)}")), r"strict.*flexible|flexible.*strict", lights=WRONG
        ),
        "half_the_references_without_steps": Planted(
            one_table(problems(reference=lambda i: solution(i) if i % 2 else f"#### {i + 7}")), r"20 of 40", lights=RIGHT
        ),
        "refusals": Planted(one_table(problems(lambda i: "I cannot help with that.")), r"0(\.0)?% passed", lights=WRONG),
    },
    "needle": {
        "the_answer_is_in_the_question": Planted(
            one_table(
                needles(lambda i: "I do not know of any lantern.").assign(
                    question="Where is the lantern kept?", expected="lantern"
                )
            ),
            r"question", FOUND, WRONG,
        ),
    },
    "text_metrics": {
        "the_word_nan_on_both_sides": Planted(
            one_table(answers(lambda i: "nan").assign(reference="nan")), r"nan", CLOSE, ANY, "Namibia is NA: a word is a word, said"
        ),
    },
    "dialogue": {
        "most_given_up": Planted(
            lambda: {"turns": pd.concat([turns(resolved=0), turns(n=20).assign(session_id=lambda f: "r" + f["session_id"])])},
            r"not resolved|67%|33%|given up|abandoned", lights=ANY, because="sessions that were resolved were short, which is what is asked",
        ),
    },
    "citation": {
        "empty_sources": Planted(empty_sources, r"unscored|empty|could not be scored", FAKE, lights("grey")),
    },
    "explainability": {
        "two_models": Planted(of_two_models, r"two models|gpt.*llama|llama.*gpt", FAKE, ANY, "they may be two names of one"),
    },
    "rag_generation": {
        "short_truths": Planted(short_truths, r"1\.00|0\.\d", GENERATED, ANY, "by what the judge, a fake, says of fragments"),
    },
    "rag_retrieval": {
        "distances": Planted(farthest_first, r"distances|reversed", RANKED, WRONG),
    },
    "stability_top": {
        "the_same_for_every_question": Planted(same_for_all, r"same (top|list|five)|every question", TOP, WRONG),
    },
    "human_correlation": {
        "six_of_120_marked_twice": Planted(six_outputs_doubly, r"on 6 of 120", WARM, WRONG),
        "one_document_marked_twice": Planted(one_document_doubly, r"24 of 600|1 document|one document", WARM, WRONG),
    },
}  # fmt: skip
