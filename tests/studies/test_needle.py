"""The study of needles: contexts as they are asked, recorded replies, a run that is killed and goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalbench import load, needle
from evalbench.core.result import Result
from evalbench.errors import BadInput
from evalbench.kit.collecting import UNNAMED
from evalbench.studies.needle.haystack import cells_of, counter, plan_of
from evalbench.text.words import words

FACTS = pd.DataFrame(
    {
        "id": ["k1", "k2"],
        "needle": ["The keeper has 4217 keys.", "The bird is a moorpiper."],
        "question": ["How many keys has the keeper?", "Which bird is it?"],
        "reference": ["4217", "moorpiper"],
    }
)
HAY = pd.DataFrame(
    {
        "id": ["h1", "h2"],
        "kind": ["vanilla", "related"],
        "text": [
            " ".join(f"The tide came in at {i} and went out." for i in range(40)),
            " ".join(f"Another keeper lost key {i} in the harbour." for i in range(40)),
        ],
    }
)


def result_of(items: pd.DataFrame, **options: Any) -> Result:
    return needle.evaluate(load({"items": items}, study="needle"), **{"n_resamples": 50, **options})


def asked(model: str, **options: Any) -> Result:
    data = load({"needles": FACTS, "haystacks": HAY}, study="needle")
    return needle.evaluate(
        data, model=model, **{"n_resamples": 50, "lengths": [60, 120], "depths": [0, 0.5, 1], **options}
    )


def replies(said: list[Any], expected: str = "4217", **columns: Any) -> pd.DataFrame:
    ids = [f"r{i}" for i in range(len(said))]
    return pd.DataFrame({"id": ids, "reference": expected, "answer": pd.Series(said, dtype=object), **columns})


# -- recorded replies -----------------------------------------------------------------------------


def test_a_worked_table_with_nothing_but_what_is_required():
    found = result_of(replies(["4217", "It is 14217.", "Of 98, 4217.", "no", "", None]))
    values = {e.metric: (e.value, e.n, e.n_unscored) for e in found.summary.estimates}
    assert values["recall"] == values["contains"] == (0.4, 5, 1)
    assert values["word"] == values["fuzzy"] == (0.4, 5, 1)
    assert values["first_number"] == (0.2, 5, 1)
    assert "recall_vanilla" not in values
    assert found.items["unscored"].tolist() == ["", "", "", "", "", "no-output"]
    assert "Without length and depth in the table, a grid of both cannot be drawn." in found.notes
    assert needle.picture_grid(found) is None
    assert needle.picture_depths(found) is None
    assert needle.where_recall_falls(found).empty


def test_the_recall_is_that_of_the_scorer_and_its_name_says_so():
    rows = replies(["4217", "It is 4217kg."])
    for scorer, recall in (("contains", 1.0), ("word", 0.5), ("first_number", 1.0)):
        found = result_of(rows, scorer=scorer)
        assert found.estimate("recall", model=UNNAMED).value == recall
        assert found.sentence.startswith(f"Recall ({scorer.replace('_', ' ')}) {recall:.2f}")
    assert "Of 2 scored replies other scorers than contains differ: word on 1, fuzzy on 1." in result_of(rows).notes


def test_a_reference_that_is_not_there_is_undefined_and_a_word_is_no_number():
    rows = replies(["4217", "teal"]).assign(reference=["4217", None])
    found = result_of(rows)
    assert found.items["undefined"].tolist() == ["", "no-reference"]
    assert found.estimate("recall", model=UNNAMED).value == 1.0
    words_too = result_of(rows.assign(reference=["4217", "teal"]), scorer="first_number")
    assert words_too.items["undefined"].tolist() == ["", "the expected answer is not one number"]
    assert words_too.n_unscored == 0


def test_depths_in_percent_are_read_as_such_and_many_lengths_are_gathered():
    rows = replies(["4217"] * 60, depth=[i % 5 * 25 for i in range(60)], length=[90_000 + 7 * i for i in range(60)])
    found = result_of(rows)
    assert sorted(found.items["depth"].unique()) == [0, 0.25, 0.5, 0.75, 1]
    assert "Depths above 1 are there, so that all were read as percent." in found.notes
    assert found.items["length"].nunique() == 10
    assert "The 60 lengths are gathered into 10 groups, each named by its median." in found.notes


def test_the_planted_fall_is_found_with_its_interval_and_no_other():
    found = needle.evaluate(load("needles@1.1.0", study="needle"), n_resamples=300)
    shown = found.tables["falls"].query("shown")
    assert set(shown["model"]) == {"fern-1b"}
    assert set(shown["length"].dropna()) == {16000, 64000}
    assert (shown["p_holm"] < 0.01).all()
    assert (shown["depth"] == 0.5).all()
    assert (shown["low"] >= 0.25).all()
    assert (shown["high"] == 0.5).all()
    means = {kind: found.estimate(f"recall_{kind}", model="fern-1b").value for kind in ("vanilla", "related")}
    assert means["vanilla"] > means["related"]
    assert "Vanilla haystack 0.92, related haystack 0.88." in found.sentence


def test_cells_have_wilson_s_interval():
    rows = replies(["4217"] * 20, length=1000, depth=0.5, haystack="vanilla")
    cell = result_of(rows).tables["cells"].iloc[0]
    assert (cell["recall"], cell["n"]) == (1.0, 20)
    assert (cell["low"], cell["high"]) == (pytest.approx(0.8389, abs=1e-4), 1.0)


def test_cells_and_depths_are_over_needles_or_clusters():
    rows = replies(["4217", "4217", "4217", "4217", "no", "no", "no", "no"] * 3, length=1000, depth=0.5)
    alone = result_of(rows).tables["cells"].iloc[0]
    named = result_of(rows.assign(needle=[f"n{i // 4}" for i in range(24)])).tables["cells"].iloc[0]
    assert named["recall"] == alone["recall"] == 0.5
    assert (named["low"], named["high"]) == (pytest.approx(0.1228, abs=1e-3), pytest.approx(0.8772, abs=1e-3))
    assert alone["low"] > 0.3
    data = load({"items": rows.assign(document=[f"n{i // 4}" for i in range(24)])}, study="needle", cluster="document")
    of_documents = needle.evaluate(data, n_resamples=50).tables["cells"].iloc[0]
    assert (of_documents["low"], of_documents["high"]) == (named["low"], named["high"])
    one = result_of(rows.assign(needle="n")).tables["cells"].iloc[0]
    assert np.isnan(one[["low", "high"]].astype(float)).all()


def test_without_names_replies_to_one_question_are_about_one_needle():
    rows = replies(["4217", "no"] * 10, question=[f"How many keys has keeper {i % 4}?" for i in range(20)])
    found = result_of(rows)
    assert (
        "The table names no needle: the 20 replies to 4 questions are drawn together by question and expected answer."
        in found.notes
    )
    assert found.items["needle"].nunique() == 4
    assert "clustered" in found.estimate("recall", model=UNNAMED).method
    one = result_of(rows.assign(question="How many keys?"))
    assert one.items["needle"].nunique() == 20
    assert any("All 20 replies are to one question" in note for note in one.notes)


def test_of_a_light_over_one_haystack_the_sentence_says_what_it_is_about():
    found = needle.evaluate(
        load("needles@1.1.0", study="needle"),
        lights={"recall_related": {"green_from": 0.99, "yellow_from": 0.9}},
        n_resamples=50,
    )
    assert found.light == "red"
    assert "800 of 1600 are not about it." in found.sentence


def test_replies_about_one_needle_are_drawn_together():
    rows = replies(["4217", "no"] * 30, needle=[f"n{i % 2}" for i in range(60)])
    found = result_of(rows)
    assert "clustered" in found.estimate("recall", model=UNNAMED).method
    assert (found.estimate("recall", model=UNNAMED).ci_low, found.estimate("recall", model=UNNAMED).ci_high) == (0, 1)


def test_a_function_judges_besides_and_may_be_the_scorer():
    def judge(item: dict[str, Any]) -> str:
        return "CORRECT" if "four" in item["answer"] else "INCORRECT"

    rows = replies(["four thousand two hundred and seventeen", "4217", "", None])
    besides = result_of(rows, judge=judge)
    assert besides.estimate("recall", model=UNNAMED).value == pytest.approx(1 / 3)
    assert besides.estimate("judged", model=UNNAMED).value == pytest.approx(1 / 3)
    assert besides.items["judged"].tolist()[:3] == [1, 0, 0]
    only = result_of(rows, judge=judge, scorer="judge")
    assert only.sentence.startswith("Recall (judge) 0.33")
    lost = result_of(
        rows.head(2),
        judge=lambda item: {"unscored": "unparsed"} if "four" in item["answer"] else "CORRECT",
        scorer="judge",
    )
    assert lost.items["unscored"].tolist() == ["unparsed", ""]
    assert lost.items["contains"].tolist() == [0, 1]
    lexical = result_of(rows, judge="baseline/lexical", scorer="judge", green_from=0.5, yellow_from=0.1)
    assert lexical.light == "grey"
    with pytest.raises(BadInput, match="scorer judge needs a judge"):
        result_of(rows, scorer="judge")


# -- contexts -------------------------------------------------------------------------------------


def contexts(**more: Any) -> list[dict[str, Any]]:
    own: dict[str, Any] = {"kinds": [], "lengths": [60, 120], "per_context": 1, "tokenizer": "words", **more}
    facts = FACTS.assign(reference=[[text] for text in FACTS["reference"]])
    return cells_of(plan_of(facts, HAY, **own), own["lengths"], [0, 0.25, 0.5, 1])


def test_a_context_is_as_long_as_asked_whole_sentences_with_the_needle_at_its_depth():
    rows = contexts()
    assert len(rows) == 2 * 2 * 2 * 4
    sentence = 10  # words of the longest sentence
    for row in rows:
        assert row["length"] - sentence < row["tokens"] == len(words(row["context"])) <= row["length"]
        fact = FACTS.set_index("id").loc[row["needle"], "needle"]
        assert row["context"].count(fact) == 1
        before = row["context"].index(fact) / (len(row["context"]) - len(fact))
        assert before == pytest.approx(row["depth"], abs=0.12)
        assert abs(row["placed"] - row["depth"]) <= 0.1
        rest = row["context"].replace(fact, "").split(". ")
        assert all(part.strip() in HAY["text"].str.cat(sep=" ") for part in rest)
    assert rows[0]["context"].startswith(FACTS["needle"][0])
    assert len({row["id"] for row in rows}) == len(rows)


def test_several_needles_in_a_context_are_all_asked_for():
    rows = contexts(per_context=2)
    assert {row["needle"] for row in rows} == {"k1+k2"}
    first = rows[0]
    assert first["reference"] == ["4217", "moorpiper"]
    at = [first["context"].index(text) / len(first["context"]) for text in FACTS["needle"]]
    assert at[0] == 0
    assert at[1] == pytest.approx(0.5, abs=0.15)
    with pytest.raises(BadInput, match="first_number reads one number"):
        asked("x", needles_per_context=2, scorer="first_number")


def test_tokens_are_words_characters_or_those_of_a_tokenizer(tmp_path):
    assert counter("words")("Жил-был кот. 你好") == 5
    assert counter("characters")("你好") == 2
    tokenizers = pytest.importorskip("tokenizers", reason="peer not importable: tokenizers")
    pytest.importorskip("transformers", reason="peer not importable: transformers")
    own = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1, "[UNK]": 2}, unk_token="[UNK]"))
    own.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    own.save(str(tmp_path / "tokenizer.json"))
    assert counter(str(tmp_path))("a b a-c") == 5
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(BadInput, match="cannot be read"):
        counter(str(tmp_path))
    with pytest.raises(BadInput, match="tokenizer must be words, characters, or a file"):
        counter("nowhere")


def test_a_haystack_that_is_too_short_is_refused_with_the_way_out():
    with pytest.raises(BadInput) as caught:
        contexts(lengths=[4, 60, 1000, 2000])
    said = list(caught.value.faults)
    assert said[0] == (
        "length 4: the needle k1 has 5 tokens and leaves no room for a haystack (2 such); ask for greater lengths"
    )
    assert said[1] == (
        "haystack vanilla has 360 tokens, fewer than the length 1000, 2000 needs besides the needle; give more text, or "
        "lengths up to 365"
    )
    assert said[2].startswith("haystack related has 320 tokens")


def test_a_haystack_that_holds_the_answer_or_is_missing_is_refused():
    held = HAY.assign(text=HAY["text"] + " The MOORPIPER sang.")
    with pytest.raises(BadInput, match="haystack related holds the expected answer of k2 without the needle"):
        needle.evaluate(load({"needles": FACTS, "haystacks": held}, study="needle"), model="local/none", lengths=[60])
    russian = FACTS.assign(lang="ru")
    with pytest.raises(BadInput, match="there is no vanilla haystack for needles in ru"):
        needle.evaluate(load({"needles": russian, "haystacks": HAY}, study="needle"), model="local/none", lengths=[60])
    with pytest.raises(BadInput, match="missing: needles, haystacks"):
        needle.needs(load({"items": replies(["4217"])}, study="needle"), model="local/none")
    with pytest.raises(BadInput, match="there is no table items"):
        needle.needs(load({"needles": FACTS, "haystacks": HAY}, study="needle"))


def test_options_are_refused_all_at_once():
    with pytest.raises(BadInput) as caught:
        result_of(
            replies(["x"]), lengths=[0], depths=[2], kinds=["hay"], scorer="exact", green_from=0.5, lights={"f1": {}}
        )
    said = "\n".join(caught.value.faults)
    for part in ("lengths must be", "depths must be", "kinds must be one of vanilla, related", "scorer must be one of",
                 "green_from and yellow_from are set together", "lights must be one of recall"):  # fmt: skip
        assert part in said


# -- a model --------------------------------------------------------------------------------------


def test_the_script_writes_the_sample(script, root, tmp_path, monkeypatch, capsys):
    module = script("make_needles")
    monkeypatch.setattr(module, "OUT", tmp_path)
    module.main()
    kept = root / "data" / "needles" / "1.1.0"
    assert all((tmp_path / p.name).read_bytes() == p.read_bytes() for p in kept.iterdir())


@pytest.mark.external
def test_infinitebench_as_recorded_predictions(external_data):
    """A table of another shape: renamed, and every model with its interval."""
    table = pd.read_parquet(external_data("infinitebench") / "retrieval.parquet")
    own = table[table["task"] == "number_string"]
    names = {"row": "id", "ground_truth": "reference", "prediction": "answer"}
    found = needle.evaluate(load({"items": own}, study="needle", columns=names), scorer="first_number", n_resamples=100)
    values = {m: round(100 * (found.estimate("recall", model=m).value or np.nan), 2) for m in own["model"].unique()}
    assert values == {
        "gpt4": 100, "yarn-mistral": 56.61, "kimi": 95.42, "claude2": 98.14, "yi-6b-200k": 94.92, "yi-34b-200k": 100,
        "chatglm3": 80.68,
    }  # fmt: skip
    substring = {m: round(100 * (found.estimate("contains", model=m).value or np.nan), 2) for m in values}
    assert {m: v for m, v in substring.items() if v != values[m]} == {
        "yarn-mistral": 58.31, "claude2": 99.15,
    }  # fmt: skip


# -- replies that only look right -----------------------------------------------------------------

LIT = {"green_from": 0.9, "yellow_from": 0.7}


def test_a_number_within_a_longer_one_is_not_found():
    found = result_of(replies(["There are 15 keys."] * 40, "5"), **LIT)
    assert found.light == "red"
    assert found.estimate("recall", model=UNNAMED).value == 0
    joined = result_of(replies(["It weighs 5kg."] * 40, "5"), **LIT)
    assert joined.estimate("recall", model=UNNAMED).value == 1
    assert "The scorer word would give 0.00, another light, so the light stays grey" in joined.sentence
    assert result_of(replies(["It has 2,393."] * 40, "2393"), **LIT).light == "green"


def test_scorers_that_differ_on_many_replies_are_in_the_sentence():
    found = result_of(replies(["Of 98 keys, 4217."] * 40), **LIT)
    assert "Of 40 scored replies other scorers than contains differ: first_number on 40." in found.sentence
    few = result_of(replies(["Of 98 keys, 4217."] + ["4217"] * 39), **LIT)
    assert "differ" not in few.sentence
    assert "Of 40 scored replies other scorers than contains differ: first_number on 1." in few.notes


def test_an_expected_answer_that_the_question_holds_is_in_the_sentence():
    rows = replies(["The blue one."] * 40, "blue", question=[f"Is door {i} blue or red?" for i in range(40)])
    said = "The question holds the expected answer of 40 replies, so that one which repeats it counts as right."
    assert said in result_of(rows, **LIT).sentence


@pytest.mark.parametrize("reply", ["I do not know where San Francisco is.", "It is not San Francisco."])
def test_refusals_and_denials_that_hold_the_expected_answer_make_the_light_grey(reply):
    found = result_of(replies([reply] * 40, "San Francisco"), **LIT)
    assert found.light == "grey"
    assert (
        "40 of 40 replies that hold the expected answer decline to answer, deny it, repeat the question, name several answers or are an error"
        in found.sentence
    )
    assert result_of(replies(["It is not Oslo but San Francisco."] * 40, "San Francisco"), **LIT).light == "green"
