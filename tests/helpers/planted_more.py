"""Planted tables beside those of each kind: the ways in which a table of one study looks right and is not, or wrong and is right."""

from __future__ import annotations

import pandas as pd
from planted import ANY, NOT_GREEN, Frames, Planted, Tables, ids, items, lights, one_table
from planted_asked import EXACT, SURE, TOP, repeated, sure, tops
from planted_drift import BY_LABELS, COMPARED, DRIFTED, labelled, later, pairs, with_models
from planted_ner import BANDS, elsewhere, found, spans, strings, texts
from planted_people import MATCHED, PASS, WARM, marked, rated, scored
from planted_rag import FAKE, GENERATED, RANKED, TUNED, cited, explained, generated, library, searched
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


def invented_quotes() -> Frames:
    own = cited()
    entries = [[{**entry, "quote": "It never happened."} for entry in listed] for listed in own["answers"]["citations"]]
    return own | {"answers": own["answers"].assign(citations=entries)}


def without_sources() -> Frames:
    return {"answers": cited()["answers"]}


def without_marks() -> Frames:
    own = cited()
    return own | {"answers": own["answers"].assign(answer=own["answers"]["answer"].str.replace(" [1]", ""))}


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


def out_of_scale() -> Frames:
    """Scores of 20 of 100, of a metric whose range is said to be 0 to 1."""
    return scored(lambda i: 20.0)


def in_one_order() -> Frames:
    """Pairs that the judge saw in one order alone."""
    verdicts = items(judge=lambda i: "oak", order=lambda i: "ab", mark=lambda i: float(i % 2))
    return {"verdicts": verdicts, "labels": items(annotator=lambda i: "ada", mark=lambda i: float(i % 2))}


# -- two models ------------------------------------------------------------------------------------


def both_silent() -> Frames:
    return {"items": pairs(a="I cannot help with that.", b="I cannot help with that, sorry.")}


def at_odds() -> Frames:
    """Two annotators of whom one marks the opposite of the other."""
    own = labelled()
    both = [own.assign(annotator="ada"), own.assign(annotator="bo", mark=2 - own["mark"])]
    return {"items": with_models(pairs()), "labels": pd.concat(both)}


MORE: Tables = {
    "ner_quality": {
        "ends_included": Planted(lambda: found(spans().assign(end=lambda f: f["end"] - 1)), r"off by|end", lights=WRONG),
        "each_prediction_twice": Planted(lambda: found(pd.concat([spans(), spans()])), r"repeat|twice|duplicate", lights=WRONG),
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
        "numbers_with_a_separator": Planted(
            one_table(needles(lambda i: f"It has 2,3{i:02}.").assign(reference=[f"23{i:02}" for i in range(40)])),
            r"written otherwise|separator|1\.0", FOUND, ANY, "either they are read, or the sentence says why they are not",
        ),
        "the_answer_is_in_the_question": Planted(
            one_table(
                needles(lambda i: "I do not know of any lantern.").assign(
                    question="Where is the lantern kept?", reference="lantern"
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
    "drift": {
        "empty_responses": Planted(
            lambda: (own := later()) | {"oot": own["oot"].assign(answer="")}, r"empty|without a text", DRIFTED, lights("red", "grey")
        ),
        "no_labels": Planted(
            lambda: {name: frame.drop(columns="label") for name, frame in later().items()}, r"no labels", DRIFTED, WRONG
        ),
        "one_file_for_both_sides": Planted(
            lambda: {"oos": later()["oos"], "oot": later()["oos"]}, r"same (rows|\d+)|identical|one and the same", DRIFTED, ANY,
            "what is the same has not changed, which must be said",
        ),
    },
    "dialogue": {
        "ends_unknown_of_half": Planted(
            lambda: {"turns": pd.concat([turns(), turns(resolved=None).assign(session_id=lambda f: "u" + f["session_id"])])},
            r"40 of (80|unknown)|unknown", lights=ANY, because="answers are counted whatever the end was",
        ),
        "most_given_up": Planted(
            lambda: {"turns": pd.concat([turns(resolved=0), turns(n=20).assign(session_id=lambda f: "r" + f["session_id"])])},
            r"not resolved|67%|33%|given up|abandoned", lights=ANY, because="sessions that were resolved were short, which is what is asked",
        ),
    },
    "citation": {
        "invented_quotes": Planted(invented_quotes, r"quote", FAKE, WRONG),
        "no_sources": Planted(without_sources, r"40 of 40|no source|not at hand|support", FAKE, lights("grey", "unlit")),
        "no_marks_in_the_texts": Planted(without_marks, r"40 of 40", FAKE, WRONG),
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
    "imported": {
        "scores_out_of_scale": Planted(out_of_scale, r"scale|outside|range", PASS, WRONG),
    },
    "judge_audit": {
        "pairs_in_one_order": Planted(in_one_order, r"one order|order ab|single order", lights=ANY, because="right in the order that was asked"),
    },
    "confidence": {
        "two_wrong_answers": Planted(
            one_table(sure(lambda i: 2 if i < 2 else 9, lambda i: int(i > 1))), r"\b(2|two) wrong", SURE, WRONG
        ),
    },
    "reproduction": {
        "one_answer_to_all_questions": Planted(
            one_table(repeated(lambda i, k: "I cannot help with that.")), r"declin|refus|same answer", EXACT, ANY,
            "the answers are the same each time, which is what is asked",
        ),
    },
    "rag_tuning": {
        "the_question_model_refuses": Planted(
            library, r"question", TUNED | {"question_model": lambda fields: "I cannot do that."}, lights("grey", "unlit")
        ),
    },
    "cascade": {
        "both_refuse": Planted(both_silent, r"both|naive|fail|refus", COMPARED, WRONG),
        "annotators_at_odds": Planted(at_odds, r"alpha|disagree", BY_LABELS, WRONG),
    },
}  # fmt: skip
