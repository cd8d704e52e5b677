import csv
import functools
import json

import pandas as pd
import pytest
from cited import SOURCES, entails_if_contained, judged, row

from evalbench import citation, load
from evalbench.draw.tables import html_table
from evalbench.errors import BadInput
from evalbench.kit.collecting import UNNAMED
from evalbench.studies import refuse
from evalbench.studies.citation.sources import address_key
from evalbench.web import fetch as webfetch


@pytest.fixture(scope="module")
def sample():
    return load("cited_answers@1.1.0", study="citation")


@pytest.fixture(scope="module")
def result(sample):
    return citation.evaluate(sample)


def test_faulty_options_are_listed_at_once(sample):
    with pytest.raises(BadInput) as error:
        citation.evaluate(
            sample, support_on="both", weights={"support": 1}, final_weights={"interpretability": 0, "correctness": 0}
        )
    for part in (
        "support_on must be one of support, claim_consistency_explainability; got 'both'",
        "weights must have exactly the keys support, verification; got support",
        "final_weights must be non-negative and not all zero",
    ):
        assert part in str(error.value)
    with pytest.raises(BadInput, match="quote_threshold must be between 0 and 1, got 2"):
        citation.evaluate(sample, quote_threshold=2)


def test_an_option_value_of_an_older_version_is_refused_with_its_new_name(sample):
    with pytest.raises(
        BadInput, match="'claim_consistency_seed', which is now called claim_consistency_explainability"
    ):
        citation.evaluate(sample, support_on="claim_consistency_seed")


def test_faulty_citations_are_listed_at_once():
    listed = [
        {"n": 0, "claim": "x"},
        {"n": 1},
        "text",
        {"n": 2, "claim": "x"},
        {"n": 2, "claim": "y"},
        {"n": 3, "claim": 4},
        {"n": "9" * 5000, "claim": "x"},
    ]
    with pytest.raises(BadInput) as error:
        judged(row("a [1]", listed))
    for part in (
        "citation 1: n is 0",
        "citation 2: claim must be",
        "citation 3: is not an object",
        "citation 5: n 2 appears twice",
        "citation 6: claim",
        'citation 7: n is "999',
    ):
        assert part in str(error.value)


def test_without_answers_and_model_it_says_what_is_missing():
    with pytest.raises(BadInput, match="no column answer; give one, or a model"):
        citation.evaluate(
            load({"answers": pd.DataFrame([{"id": "1", "question": "q", "reference": "g"}])}, study="citation")
        )


def test_the_worked_check_of_alce():
    """s1 cites [1], entailed; s2 cites [1][2], only [2] suffices; s3 uncited: recall 2/3, precision 2/3."""
    answer = "The bridge fell on 3 March 1908 [1]. Of the dead, 41 were counted [1][2]. It was sad."
    entries = [
        {"n": 1, "claim": "The bridge fell on 3 March 1908", "url": "https://lexica.example/a"},
        {"n": 2, "claim": "Of the dead, 41 were counted", "url": "s2"},
    ]
    result = judged(row(answer, entries))
    item = result.items.iloc[0]
    assert item["citation_recall"] == pytest.approx(2 / 3)
    assert item["citation_precision"] == pytest.approx(2 / 3)
    assert item["final"] == 1
    assert result.tables["statements"]["n_precise"].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("entry", "support", "verification"),
    [
        ({"claim": "fell on 3 March 1908", "url": "http://LEXICA.example/a/", "quote": "The bridge fell on 3 March 1908."}, 1, "VERIFIED"),
        ({"claim": "fell on 3 March 1908", "title": "a"}, 1, "NO QUOTE"),
        ({"claim": "fell on 4 March 1908", "url": "https://lexica.example/a", "quote": "The bridge fell on 4 March 1908."}, 0.5, "LIKELY_FABRICATED"),
        ({"claim": "It was sad", "url": "s2"}, 0.5, "NO QUOTE"),
        ({"claim": "It was sad", "url": "https://lexica.example/a", "quote": "."}, 0.5, "NO QUOTE"),
        ({"claim": "It was sad", "url": "https://lexica.example/a", "quote": "bridge"}, 0.5, "NO QUOTE"),
        ({"claim": "It was sad", "url": "https://lexica.example/a", "quote": "The bridge fell"}, 0.5, "VERIFIED"),
    ],
)  # fmt: skip
def test_one_citation(entry, support, verification):
    got = judged(row("It fell in 1908 [1].", [{"n": 1} | entry])).tables["citations"].iloc[0]
    assert (got["support"], got["verification_label"]) == (support, verification)


def test_a_source_that_was_not_supplied_is_uncertain_unless_the_list_is_complete():
    entry = [{"n": 1, "claim": "x", "url": "https://elsewhere.example/"}]
    open_ = judged(row("1908 [1].", entry))
    assert open_.items["undefined"].iloc[0].startswith("no text of any cited source")
    assert open_.items["interpretability"].iloc[0] == 0.5
    closed = judged(row("1908 [1].", entry), sources_complete=True)
    assert closed.items["interpretability"].iloc[0] == 0
    assert closed.tables["citations"]["support_label"].iloc[0] == "NO SOURCE"


def test_marks_without_entries_and_entries_without_marks_are_counted():
    result = judged(row("1908 [1][7].", [{"n": 1, "claim": "x", "url": "s2"}, {"n": 2, "claim": "y", "url": "s2"}]))
    assert result.items[["n_dangling", "n_unmarked"]].values.tolist() == [[1, 1]]


def test_an_uncited_and_an_empty_answer_score_0():
    result = judged(row("It was in 1908.", None), row("", [], id="empty"))
    items = result.items.set_index("id")
    assert items.loc["q", "interpretability"] == 0
    assert items.loc["q", "final"] == 0.5
    assert items.loc["empty", "final"] == 0
    assert (items["unscored"] == "").all()


def test_a_judge_that_fails_leaves_the_answer_unscored():
    result = judged(row("1908 [1].", [{"n": 1, "claim": "this fails", "url": "s2"}]), row("1908.", None, id="fine"))
    items = result.items.set_index("id")
    assert items.loc["q", "unscored"] == "unparsed"
    assert pd.isna(items.loc["q", "final"])
    assert result.light == "grey"
    assert "1 of 2 could not be scored" in result.sentence


def test_a_judge_that_fails_on_a_statement_leaves_the_answer_unscored_not_undefined():
    entry = [{"n": 1, "claim": "fell in 1908", "url": "s2"}]
    result = judged(row("This fails [1].", entry), row("1908.", None, id="fine"))
    assert result.tables["statements"].set_index("id")["unscored"].to_dict() == {"q": "unparsed", "fine": ""}
    items = result.items.set_index("id")
    assert (items.loc["q", "unscored"], items.loc["q", "undefined"]) == ("unparsed", "")
    recall = result.estimate("citation_recall", model=UNNAMED)
    assert (recall.n_unscored, recall.n_undefined) == (1, 0)


def test_equal_questions_are_asked_once():
    asked = []

    def counting(item):
        asked.append(item)
        return entails_if_contained(item)

    entry = [{"n": 1, "claim": "x", "url": "s2"}]
    rows = [row("1908 [1].", entry, id=str(i)) for i in range(5)]
    tables = {"answers": pd.DataFrame(rows), "sources": pd.DataFrame(SOURCES)}
    citation.evaluate(load(tables, study="citation"), judge=counting, n_resamples=50)
    assert len(asked) == 4  # support, consistency, statement, correctness


def test_the_lexical_judge_is_at_best_grey(result):
    assert result.light == "grey"
    assert result.verdict.would_be in ("green", "red")
    assert f"would give {result.verdict.would_be}" in result.sentence
    assert {e.light for e in result.summary.estimates} == {"grey", "unlit"}


def test_planted_faults_of_the_sample(result, root):
    with (root / "data/cited_answers/1.1.0/faults.csv").open() as file:
        planted = {}
        for line in csv.DictReader(file):
            planted.setdefault(line["fault"], set()).add(line["id"])
    items, citations = result.items.set_index("id"), result.tables["citations"]
    assert set(items.index[items["n_citations"] == 0]) == planted["uncited"]
    assert set(items.index[items["n_dangling"] > 0]) == planted["dangling mark"]
    assert set(items.index[items["n_unmarked"] > 0]) == planted["uncited entry"]
    quoted = citations[(citations["quote"] != "") & (citations["source_text"] != "")]
    assert set(quoted.loc[quoted["located"] == "", "id"]) == planted["fabricated quote"]
    assert set(citations.loc[citations["source_text"] == "", "id"]) == planted["fabricated source"]


def test_the_web_is_asked_only_where_wanted_and_only_for_what_is_not_supplied(monkeypatch):
    pages = {"http://gone.example/": "not-found", "http://slow.example/": "timeout"}

    class Scripted:
        """Stands in for the fetcher; the guard itself is tested with the fetcher."""

        def __init__(self, allow):
            self.allow = allow

        def fetch_all(self, urls):
            assert set(urls) == {*pages, "http://there.example/"}
            failed = {u: webfetch.Page(u, outcome, "said so") for u, outcome in pages.items()}
            return failed | {
                "http://there.example/": webfetch.Page(
                    "http://there.example/", "ok", "", text="The bridge fell in 1908."
                )
            }

    entries = [
        {"n": i, "claim": "fell in 1908", "url": u}
        for i, u in enumerate([*pages, "http://there.example/", "https://lexica.example/a"], 1)
    ]
    monkeypatch.setattr(webfetch, "Fetcher", Scripted)
    result = judged(row("1908 [1-4].", entries), check_urls=True)
    labels = result.tables["citations"]["verification_label"].tolist()
    assert labels == ["LIKELY_FABRICATED", "UNCERTAIN", "VERIFIED", "NO QUOTE"]
    assert result.tables["citations"]["support"].tolist()[0] == 0
    assert sorted(result.tables["pages"]["outcome"]) == ["not-found", "ok", "timeout"]
    monkeypatch.setattr(webfetch, "Fetcher", functools.partial(pytest.fail, "the web was asked"))
    judged(row("1908 [1-4].", entries))


def test_a_page_without_text_is_no_proof_of_fabrication(monkeypatch):
    class Scripted:
        def __init__(self, **_):
            pass

        def fetch_all(self, urls):
            return {u: webfetch.Page(u, "ok", "HTTP 200", 200, (u,), " \n") for u in urls}

    monkeypatch.setattr(webfetch, "Fetcher", Scripted)
    entry = [{"n": 1, "claim": "x", "url": "http://drawn.example/"}]
    got = judged(row("1908 [1].", entry), check_urls=True).tables["citations"].iloc[0]
    assert (got["verification_label"], got["support_label"]) == ("UNCERTAIN", "")
    assert "no text" in got["verification_reason"]


def test_pages_escape_what_models_write():
    evil = "<img src=x onerror=alert(1)> 1908 [1]."
    result = judged(row(evil, [{"n": 1, "claim": "<script>x</script>", "quote": "<b>q</b>", "url": "<s2>"}]))
    page = (
        citation.annotated(result) + html_table(citation.worst(result)) + html_table(citation.faulty_citations(result))
    )
    assert page.count("&lt;script&gt;") == 2
    assert page.count("&lt;img") == 2
    assert "<script>" not in page
    assert "<img" not in page
    assert "<b>q" not in page


def test_tables_of_the_page(result):
    assert citation.worst(result)["final"].is_monotonic_increasing
    assert len(citation.faulty_citations(result)) > 0


def test_addresses():
    assert address_key("https://www.Lexica.example/a/#x") == "lexica.example/a"
    assert address_key("s2") == "s2"
    assert address_key("http://[") == "http://["


@pytest.mark.external
def test_natural_questions_are_read_as_they_are(external_data):
    data = load(external_data("natural_questions") / "nq_open_oracle_head400.jsonl", study="citation")
    assert len(data["answers"]) == 400
    assert len(data["sources"]) == 400
    with pytest.raises(BadInput, match="no column answer"):
        citation.evaluate(data)
    gold = data["answers"].iloc[0]
    rows = gold.to_dict() | {
        "answer": f"{gold['reference'][0]} [1].",
        "citations": [{"n": 1, "claim": gold["reference"][0], "url": "q1-1"}],
    }

    def judge(item):
        """The hypothesis is the short answer behind its question."""
        said = item.get("hypothesis", "").removeprefix(f"{gold['question'].strip()} ")
        return entails_if_contained({**item, "hypothesis": said} if said else item)

    result = citation.evaluate(
        load({"answers": pd.DataFrame([rows]), "sources": data["sources"]}, study="citation"),
        judge=judge,
        n_resamples=50,
    )
    assert json.loads(json.dumps(result.to_json()))["summary"][0]["value"] == 1


# -- one page for several questions -----------------------------------------------------------------


def supplied(*sources):
    entries = [
        {"n": 1, "claim": "fell in 1908", "url": "https://lexica.example/a", "quote": "It fell in the year 1908."}
    ]
    rows = [row("It fell in 1908 [1].", entries, id=i) for i in ("one", "two")]
    return {"answers": pd.DataFrame(rows), "sources": pd.DataFrame(sources)}


def page(question, text="It fell in the year 1908.", url="https://lexica.example/a"):
    return {"id": question, "url": url, "text": text}


def verified(tables):
    result = citation.evaluate(load(tables, study="citation"), judge=entails_if_contained, n_resamples=50)
    return result.tables["citations"].set_index("id")["verification_label"].to_dict()


def test_the_same_page_may_be_supplied_for_two_questions():
    assert verified(supplied(page("one"), page("two"), page("two"))) == {"one": "VERIFIED", "two": "VERIFIED"}


def test_each_question_has_the_text_that_was_supplied_for_it():
    tables = supplied(page("one"), page("two", "Another part of the page, without the year."))
    assert verified(tables) == {"one": "VERIFIED", "two": "LIKELY_FABRICATED"}


def test_a_page_supplied_for_other_questions_is_known_with_all_that_was_supplied_of_it():
    tables = supplied(page("three", "Another part of the page."), page("four"), page("two", "Nothing of it."))
    assert verified(tables) == {"one": "VERIFIED", "two": "LIKELY_FABRICATED"}
    assert verified(supplied(page("", "It fell in the year 1908."), page("two"))) == dict.fromkeys(
        ("one", "two"), "VERIFIED"
    )


@pytest.mark.parametrize("study", ["citation", "explainability"])
def test_texts_of_one_question_and_address_that_differ_are_refused(study):
    sources = [page("one"), page("one", "else", "HTTPS://LEXICA.example/a/"), page("", "a", "b"), page("", "c", "b")]
    with pytest.raises(BadInput) as error:
        refuse(load(supplied(*sources), study=study), study, {})
    said = str(error.value)
    assert "lexica.example/a of id one: 2 different texts" in said
    assert "b: 2 different texts" in said
    assert "name the question of each in id" in said


def test_runs_that_a_function_judged_are_compared(tmp_path):
    from evalbench.compare.runs import Hooks, compare
    from evalbench.compare.sides import read_side, with_names
    from evalbench.runs.record import record
    from evalbench.studies import study

    def harsh(item):
        return "INCORRECT" if "gold" in item else "NEUTRAL"

    tables = load(supplied(page("one"), page("two")), study="citation")
    for name, judge in (("a", entails_if_contained), ("b", harsh)):
        record(citation.evaluate(tables, judge=judge, n_resamples=50), out=tmp_path / name)
    sides = with_names([read_side(tmp_path / name) for name in "ab"])
    found = compare(sides[0], sides[1:], Hooks.of(study("citation")), n_resamples=100)[0]
    assert ("judge", "function:entails_if_contained", "function:harsh") in found.parameters
    assert not any("not compared" in note for note in found.notes)
    assert {row.comparison.metric for row in found.rows} >= {"final", "support"}


def test_evaluate_refuses_them_too():
    with pytest.raises(BadInput, match="lexica.example/a of id one: 2 different texts"):
        verified(supplied(page("one"), page("one", "else")))
