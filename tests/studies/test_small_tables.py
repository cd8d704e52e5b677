"""Tables of a few rows, or of rows without a score: what the sentence and the light beside each figure say."""

import pandas as pd
import pytest
from cited import judged, row

from evalbench import confidence, cot_levels, load, matching, text_metrics
from evalbench.commands.printed import headline
from evalbench.kit.collecting import UNNAMED

STUDIES = ("citation", "cot_levels", "matching", "text_metrics")
CITED = [{"n": 1, "claim": "The bridge fell on 3 March 1908.", "url": "https://lexica.example/a"}]


def problems(n, unscored=0):
    solution = "3 + 4 = <<3+4=7>>7\n#### 7"
    rows = [
        {"id": f"p{i}", "question": "Ann has 3 pears and buys 4.", "reference": solution, "answer": solution}
        for i in range(n)
    ]
    for r in rows[:unscored]:
        r["answer"] = None
    return load({"items": pd.DataFrame(rows)}, study="cot_levels")


def violations(n):
    sample = load("house_style_curated@1.1.0", study="matching").tables
    predictions = sample["predictions"]
    own = predictions[predictions["model"] == predictions["model"].iloc[0]]
    kept = sample["documents"]["id"].drop_duplicates().iloc[:n]
    tables = {**sample, "predictions": own}
    own = {name: t[t["id"].isin(kept)] for name, t in tables.items() if "id" in t}
    return load(own, study="matching")


def sentence(study, n):
    if study == "cot_levels":
        return cot_levels.evaluate(problems(n), n_resamples=50).sentence
    if study == "citation":
        rows = [row("It fell in 1908 [1].", CITED, id=str(i)) for i in range(n)]
        return judged(*rows).sentence
    if study == "matching":
        return matching.evaluate(
            violations(n), embed="jaccard", yellow_from=0.0, green_from=0.1, n_resamples=50
        ).sentence
    items = pd.DataFrame({"id": [str(i) for i in range(n)], "output": "a red cat", "reference": "a red cat"})
    lights = {"f1_score": {"green_from": 0.6, "yellow_from": 0.3}}
    return text_metrics.evaluate({"items": items}, metrics=["f1_score"], lights=lights, n_resamples=50).sentence


@pytest.mark.parametrize("study", STUDIES)
def test_the_sentence_of_a_verdict_on_few_items_says_so(study):
    assert "nly 3 have a value and a light needs 20, so the light stays grey" in sentence(study, 3)
    alone = sentence(study, 1)
    assert "Only one has a value and a light needs 20" in alone
    assert "too narrow" not in alone
    assert not any(f" 1 {plural}" in alone for plural in ("problems", "answers", "texts"))


@pytest.mark.parametrize("study", STUDIES)
def test_a_sentence_over_twenty_says_nothing_of_few(study):
    assert "too narrow" not in sentence(study, 20)


def test_no_figure_is_lit_where_too_many_are_unscored():
    found = cot_levels.evaluate(problems(8, unscored=4), n_resamples=50)
    assert (found.light, found.verdict.would_be) == ("grey", "green")
    assert found.estimate("final", model=UNNAMED).light == "grey"
    assert "grey, decides" in headline(found.to_json())[0]


def test_no_cited_figure_is_lit_where_too_many_are_unscored():
    rows = [row("It fell in 1908 [1].", CITED, id=str(i)) for i in range(4)]
    found = judged(*rows, row(None, CITED, id="none"))
    assert found.light == "grey"
    assert found.estimate("final", model=UNNAMED).light == "grey"


def test_answers_without_a_citation_to_check_are_undefined_in_fabricated_citations():
    quoted = [{**CITED[0], "quote": "The bridge fell on 3 March 1908."}]
    found = judged(row("It fell in 1908 [1].", CITED), row("It fell in 1908 [1].", quoted, id="quoted"))
    figure = found.estimate("fabricated_citations", model=UNNAMED)
    assert (figure.value, figure.n, figure.n_undefined) == (0, 1, 1)
    nothing = judged(row("It fell in 1908 [1].", CITED)).estimate("fabricated_citations", model=UNNAMED)
    assert (nothing.value, nothing.n, nothing.n_undefined) == (None, 0, 1)


@pytest.mark.parametrize("right", [0, 1])
def test_answers_that_are_all_right_or_all_wrong_have_no_auroc_and_need_no_threshold_to_say_so(right):
    rows = pd.DataFrame({"id": ["p", "q"], "answer": ["a", "b"], "samples": [["a"], ["c"]], "correct": [right, right]})
    result = confidence.evaluate(load({"items": rows}, study="confidence"), embed="", n_resamples=50)
    assert result.light == "unlit"
    assert f"has no value ({UNNAMED}: every answer is {'right' if right else 'wrong'}" in result.sentence
