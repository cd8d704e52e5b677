"""What ``citation`` may say without quotes, without right answers, and by ``baseline/lexical``."""

import random

import pandas as pd
import pytest
from cited import SOURCES, judged, row

from evalbench import citation, load
from evalbench.draw.tables import html_table
from evalbench.kit.collecting import UNNAMED
from tests.helpers.lights import of_figures


def test_without_quotes_nothing_is_verified_and_support_is_not_averaged_with_it():
    entries = [
        {"n": 1, "claim": "The bridge fell on 3 March 1908", "url": "https://lexica.example/a"},
        {"n": 2, "claim": "It was sad", "url": "s2"},
    ]
    result = judged(row("It fell [1][2].", entries))
    item = result.items.iloc[0]
    assert result.tables["citations"]["verification"].isna().all()
    assert pd.isna(item["verification"])
    assert item["interpretability"] == item["support"] == 0.75
    assert result.estimate("verification", model=UNNAMED).note == (
        "no citation has a quote to look for in a supplied source"
    )
    assert any("2 of 2. Their verification is undefined and not averaged" in note for note in result.notes)
    assert "<strong>verified" not in citation.annotated(result)
    fabricated = result.estimate("fabricated_citations", model=UNNAMED)
    assert (fabricated.value, fabricated.note) == (None, "no source or quote could be checked")


def test_a_fabricated_source_beside_real_ones_without_quotes_costs_its_own_share_only():
    real = [{"n": n, "claim": "Of the dead, 41 were counted", "url": "s2"} for n in range(1, 5)]
    result = judged(
        row("It fell [1-5].", [*real, {"n": 5, "claim": "x", "url": "https://no.example/"}]), sources_complete=True
    )
    assert result.items["interpretability"].iloc[0] == pytest.approx(4 / 5)
    assert result.items[["n_fabricated", "n_checked"]].iloc[0].tolist() == [1, 1]


def test_a_table_without_right_answers_is_a_normal_one():
    entry = [{"n": 1, "claim": "The bridge fell on 3 March 1908", "url": "https://lexica.example/a"}]
    bare = {k: v for k, v in row("It fell [1].", entry).items() if k != "reference"}
    result = judged(bare, bare | {"id": "silent", "answer": "", "citations": None})
    items = result.items.set_index("id")
    assert items["correctness"].isna().all()
    assert items["final"].to_dict() == items["interpretability"].to_dict() == {"q": 1, "silent": 0}
    assert (items["unscored"] == "").all()
    assert items["undefined"].str.startswith("no-reference").all()
    correctness = result.estimate("correctness", model=UNNAMED)
    assert (correctness.value, correctness.n_undefined) == (None, 2)
    assert correctness.note == "there is no right answer to compare with"
    assert (
        "All answers have no right answer to compare with: the final score is interpretability there."
        in result.sentence
    )
    assert of_figures(result) == "red"
    page = citation.annotated(result) + html_table(citation.worst(result))
    assert "no right answer is given" in page
    assert "not compared with a right one" in page
    assert citation.picture_scores(result)[0].axes


def test_right_answers_of_some_rows_count_for_these_only():
    entry = [{"n": 1, "claim": "Of the dead, 41 were counted", "url": "s2"}]
    result = judged(row("It fell [1].", entry), row("It fell [1].", entry, id="bare", reference=None))
    items = result.items.set_index("id")
    assert items["final"].to_dict() == {"q": 0.5, "bare": 1}
    assert "1 of 2 answers have no right answer" in result.sentence


def test_the_final_score_is_never_correctness_alone():
    entry = [{"n": 1, "claim": "It fell", "url": "s2"}]
    result = judged(row("In 1908 [1].", entry), weights={"support": 0, "verification": 1})
    assert result.items["correctness"].iloc[0] == 1
    assert pd.isna(result.items["final"].iloc[0])
    assert "no citation has a quote" in result.items["undefined"].iloc[0]


@pytest.mark.parametrize("seed", range(3))
def test_the_baseline_says_of_real_sources_neither_contradiction_nor_fabricated(seed):
    """Random claims, true and altered, against random supplied sources, without quotes and with true ones."""
    dice = random.Random(seed)
    texts = [s["text"] for s in SOURCES] + [
        "The firm does not sell alcohol. It employs 40 people.", "Sales rose in 1998; no one was hurt."
    ]  # fmt: skip
    sources = [{"url": f"s{i}", "text": text} for i, text in enumerate(texts)]
    rows = []
    for i in range(40):
        entries = []
        for n in range(1, 4):
            source, told = dice.choice(sources), dice.choice(texts)
            words = [dice.choice(["not", "never", "12", "fell", *[w] * 40]) for w in told.split()]
            entries.append({"n": n, "claim": " ".join(words), "url": source["url"]})
            if dice.random() < 0.5:
                start = dice.randrange(len(source["text"]) - 12)
                entries[-1]["quote"] = source["text"][start:]
        rows.append(row(f"{entries[0]['claim']} [1][2][3].", entries, id=str(i), reference=None))
    tables = {"answers": pd.DataFrame(rows), "sources": pd.DataFrame(sources)}
    result = citation.evaluate(load(tables, study="citation"), n_resamples=50)
    found = result.tables["citations"]
    assert set(found["support_label"]) == {"ENTAILMENT", "NEUTRAL"}
    assert set(found["verification_label"]) == {"VERIFIED", "NO QUOTE"}
    assert set(found["consistency_label"]) <= {"ENTAILMENT", "NEUTRAL"}
    page = citation.annotated(result, n=40) + html_table(citation.faulty_citations(result, rows=200))
    assert "contradict" not in page
    assert "fabricated" not in page


QUOTED = [
    ("“The bridge fell on 3 March 1908.”", "VERIFIED"),
    ("The bridge … on 3 March 1908", "VERIFIED"),
    ("The bridge fell [...] 3 March 1908", "VERIFIED"),
    ("...fell on 3 March 1908. . . .", "VERIFIED"),
    ("The bridge … on … March 1908", "VERIFIED"),
    ("The bridge fell ... 4 March 1908", "LIKELY_FABRICATED"),
    ("The bridge … never … on 3 March 1908", "LIKELY_FABRICATED"),
    ("on 3 March 1908 … The bridge fell", "LIKELY_FABRICATED"),
    ("The bridge fell … and nobody was there", "LIKELY_FABRICATED"),
]


@pytest.mark.parametrize(("quote", "verification"), QUOTED)
def test_a_quote_may_leave_words_out_and_have_other_quotation_marks(quote, verification):
    entry = {"n": 1, "claim": "It was sad", "url": "https://lexica.example/a", "quote": quote}
    assert judged(row("1908 [1].", [entry])).tables["citations"]["verification_label"].tolist() == [verification]


def test_typesetting_is_no_fabrication():
    source = {"url": "s", "text": "“We — that is, ‘the firm’ — didn’t sell”, she said."}
    entry = {"n": 1, "claim": "It was sad", "url": "s", "quote": "\"We - that is, 'the firm' - didn't sell\""}
    assert judged(row("No [1].", [entry]), sources=[source]).tables["citations"]["located"].tolist() == ["exact"]


def test_of_a_long_source_the_judge_reads_where_the_claim_is_found():
    filling = "Nothing of note was written down that day by anybody in the town. " * 400
    source = {"url": "s", "text": filling + "The bridge over the Lenne fell on 3 March 1908. " + filling}
    told = row("It fell [1].", [{"n": 1, "claim": "The bridge over the Lenne fell", "url": "s"}])
    other = row("It fell [1].", [{"n": 1, "claim": "Lenne: bridge falls in March of 1908", "url": "s"}], id="other")
    result = judged(told, other, sources=[source])
    found = result.tables["citations"].set_index("id")
    assert found.loc["q", "support"] == 1
    assert found.loc["other", "located"] == ""
    for begin, characters in zip(found["read_start"], found["read_characters"], strict=True):
        assert "The bridge over the Lenne fell" in source["text"][begin : begin + characters]
    assert "Citations whose source has more than 6000 characters: 2." in " ".join(result.notes)
    assert "The bridge over the Lenne" in citation.annotated(result)


def test_verdicts_are_told_as_the_judge_s():
    tables = {"answers": pd.DataFrame([row("1908 [1].", [
        {"n": 1, "claim": "The bridge fell on 3 March 1908", "url": "https://lexica.example/a", "quote": "The bridge rose on 9 May"},
    ])]), "sources": pd.DataFrame(SOURCES)}  # fmt: skip
    result = citation.evaluate(load(tables, study="citation"), n_resamples=50)
    page = citation.annotated(result)
    assert "<strong>supported</strong>: probability of support 0." in page
    assert "the quote is not in the source, which was judged to support the claim" in page
    assert "Citations of q, judged by baseline/lexical" in page


@pytest.mark.external
def test_published_right_claims_are_neither_contradicted_nor_fabricated_by_the_baseline(external_data):
    """Real passages with claims that annotators hold to be in them; nothing is known against any of these citations."""
    path = external_data("natural_questions") / "nq_open_oracle_head400.jsonl"
    data = load(path, study="citation")
    passages = data["sources"].drop_duplicates("id").set_index("id")
    rows = []
    for answer in data["answers"].head(150).to_dict("records"):
        text = passages.loc[answer["id"], "text"]
        claim = f"{answer['question']}: {answer['reference'][0]}"
        entry = {"n": 1, "claim": claim, "url": passages.loc[answer["id"], "url"], "quote": text[20:120]}
        bare = {"n": 2, "claim": claim, "url": entry["url"]}
        rows.append(answer | {"answer": f"{answer['reference'][0]} [1][2].", "citations": [entry, bare]})
    tables = {"answers": pd.DataFrame(rows), "sources": data["sources"]}
    result = citation.evaluate(load(tables, study="citation"), n_resamples=50)
    found = result.tables["citations"]
    assert set(found["support_label"]) == {"ENTAILMENT", "NEUTRAL"}
    assert found.groupby("n")["verification_label"].unique().map(list).to_dict() == {1: ["VERIFIED"], 2: ["NO QUOTE"]}
    assert (found["support_label"] == "ENTAILMENT").mean() > 0.75


# -- marks, sources and answers that lead nowhere ----------------------------------------------------


def bridges(n=40, mark=1, url="https://lexica.example/B{}", text="It fell in {}."):
    rows = [
        {
            **row(
                f"It fell in {1900 + i} [{mark}].", [{"n": 1, "claim": f"It fell in {1900 + i}", "url": url.format(i)}]
            ),
            "id": f"q{i:02}",
            "reference": str(1900 + i),
        }
        for i in range(n)
    ]
    sources = [{"url": f"https://lexica.example/B{i}", "text": text.format(1900 + i)} for i in range(n)]
    return judged(*rows, sources=sources)


def test_marks_that_point_to_no_entry_are_in_the_sentence_and_hold_the_light_back():
    sound, dangling = bridges(), bridges(mark=2)
    assert sound.light == "green"
    assert (dangling.light, dangling.verdict.would_be) == ("grey", "green")
    assert "40 of 40 answers have marks without an entry." in dangling.sentence


def test_a_supplied_source_without_text_is_unscored_not_half_right():
    empty = bridges(text="  ")
    assert empty.light == "grey"
    assert empty.items["final"].isna().all()
    assert set(empty.items["unscored"]) == {"empty-source"}
    assert empty.tables["citations"][["support", "verification"]].isna().all(axis=None)
    assert "40 of 40 could not be scored (40 empty source)" in empty.sentence


@pytest.mark.parametrize("url", ["https://lexica.example/b{}", "https://lexica.example/ B{}"])
def test_addresses_that_differ_in_case_or_blanks_alone_are_pointed_out(url):
    other = bridges(url=url)
    assert other.light == "grey"
    assert (
        "40 of 40 answers cite an address that differs from a supplied one in case or blanks alone." in other.sentence
    )
    assert "B0 was, which differs in case or blanks" in other.tables["citations"]["support_reason"].iloc[0]


def test_answers_that_are_a_missing_value_in_words_are_counted_in_the_sentence():
    rows = [{**row("nan", []), "id": f"q{i}"} for i in range(20)]
    assert "20 of 20 answers are the word nan, None or null." in judged(*rows).sentence


def test_claims_and_statements_of_a_few_words_are_judged_behind_their_question():
    asked = []

    def judge(item):
        asked.append(item.get("hypothesis", ""))
        return "CORRECT" if "gold" in item else "ENTAILMENT"

    row_ = {**row("3 March [1].", [{"n": 1, "claim": "3 March", "url": "s2"}]), "question": "When did the bridge fall?"}
    tables = {"answers": pd.DataFrame([row_]), "sources": pd.DataFrame(SOURCES)}
    citation.evaluate(load(tables, study="citation"), judge=judge, n_resamples=50)
    assert {"When did the bridge fall? 3 March", "When did the bridge fall? 3 March."} <= {*asked}


def without(n=40, sources=SOURCES, mark=" [1]", quote="It never happened at all."):
    rows = []
    for i in range(n):
        entry = {"n": 1, "claim": "The bridge fell on 3 March 1908", "url": SOURCES[0]["url"], "quote": quote}
        rows.append({**row(f"The bridge fell on 3 March 1908{mark}.", [entry]), "id": f"q{i:02}"})
    return judged(*rows, sources=sources)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "40 of 40 answers quote words that are not in their source."),
        ({"quote": "", "sources": None}, "40 of 40 answers cite sources that are not at hand."),
        ({"quote": "", "mark": ""}, "40 of 40 answers have no mark of any of their entries."),
    ],
)
def test_invented_quotes_absent_sources_and_entries_without_marks_are_in_the_sentence(options, said):
    assert without(quote="").light == "green"
    result = without(**options)
    assert result.light == "grey"
    assert said in result.sentence
