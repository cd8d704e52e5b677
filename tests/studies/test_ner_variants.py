"""Wordings of the request: gains on the same texts, the light, strict reading, a model that is asked."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from chat import chat_endpoint
from studied import evaluated, page, sample, whole

from evalbench import load, ner_variants
from evalbench.errors import BadInput
from evalbench.kit.collecting import UNNAMED
from evalbench.studies.ner_variants.summary import BANDS

TEXTS = [f"Mira saw Ivo in town {i}" for i in range(30)]


def tables(**wordings: list[str | None]) -> dict[str, pd.DataFrame]:
    """Thirty texts with two persons each; a wording is ``requests_description`` and its replies."""
    ids = [f"t{i:02}" for i in range(30)]
    gold = [(i, *span, "PER") for i in ids for span in ((0, 4), (9, 12))]
    replies = [
        {
            "id": i,
            "requests": requests,
            "description": description,
            "entity_class": "PER" * (requests == "one"),
            "answer": said,
        }
        for (requests, description), listed in ((name.split("_"), listed) for name, listed in wordings.items())
        for i, said in zip(ids, listed, strict=True)
    ]
    return {
        "texts": pd.DataFrame({"id": ids, "text": TEXTS}),
        "gold": pd.DataFrame(gold, columns=["id", "start", "end", "entity_class"]),
        "replies": pd.DataFrame(replies),
    }


def result_of(made: dict[str, pd.DataFrame], **options):
    return ner_variants.evaluate(load(made, study="ner_variants"), n_resamples=50, **options)


BOTH, ONE = '[("Mira", "PER"), ("Ivo", "PER")]', '[("Mira", "PER")]'


def test_the_gain_is_in_percentage_points_and_names_what_lacked_information():
    found = result_of(tables(all_none=[ONE] * 30, all_definition=[BOTH] * 30))
    (gain,) = [e for e in found.summary.estimates if e.metric == "description_gain"]
    assert gain.value == pytest.approx(100 * (1 - 2 / 3))
    assert (found.light, gain.light, found.verdict.decided_by["metric"]) == ("red", "red", "description_gain")


@pytest.mark.parametrize(
    ("gain", "light"),
    [(-5, "green"), (0, "green"), (0.999, "green"), (1, "yellow"), (2, "yellow"), (3, "yellow"), (3.001, "red")],
)
def test_the_bands_are_the_documents(gain, light):
    assert BANDS.light(gain) == light


def test_a_loss_misleads():
    found = result_of(tables(all_none=[BOTH] * 30, all_definition=[ONE] * 20 + [BOTH] * 10))
    assert found.light == "green"
    assert "The added description misleads" in found.sentence


def test_one_class_per_request_has_no_light():
    found = result_of(tables(all_none=[ONE] * 30, one_none=[BOTH] * 30))
    assert found.light == "unlit"
    (gain,) = [e for e in found.summary.estimates if e.metric == "one_class_gain"]
    assert gain.value == pytest.approx(100 / 3)


def test_an_unparsed_reply_is_unscored_and_never_an_empty_list():
    found = result_of(tables(all_none=["no idea", "[]"] + [BOTH] * 28, all_definition=[BOTH] * 30))
    f1 = {e.group["model"]: e for e in found.summary.estimates if e.metric == "f1"}
    first = f1[f"{UNNAMED}, all, name only"]
    assert (first.n, first.n_unscored) == (29, 1)
    assert first.value == pytest.approx(2 * 56 / (58 + 56))
    gain = next(e for e in found.summary.estimates if e.metric == "description_gain")
    assert (gain.n, gain.n_unscored) == (29, 1)
    assert ner_variants.unread(found)["why"].tolist() == ["not a list of tuples"]


def test_strings_are_counted_as_often_as_they_are_true():
    made = tables(all_none=['[("Mira", "PER"), ("Mira", "PER"), ("Zed", "PER")]'] * 30)
    counts = result_of(made).items[["n_true", "n_predicted", "hits"]].iloc[0].tolist()
    assert counts == [2, 3, 1]


def test_classes_that_were_not_asked_for_are_left_out_and_counted():
    made = tables(one_none=['[("Mira", "PER"), ("town", "LOC")]'] * 30)
    found = result_of(made)
    assert found.items["n_predicted"].sum() == 30
    assert "left out: 30" in " ".join(found.notes)


@pytest.mark.parametrize("form", ["tuples", "json"])
def test_a_model_is_asked_in_every_wording(form, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path / "cache"))
    seen: list[str] = []

    def answer(prompt: str) -> str:
        seen.append(prompt)
        names = ["Mira", "Ivo"] if "A person" in prompt else ["Mira"]
        if form == "json":
            return json.dumps({"entities": [{"entity": n, "entity_class": "PER"} for n in names]})
        return "[" + ", ".join(f'("{n}", "PER")' for n in names) + "]"

    made = {name: table for name, table in tables(all_none=[ONE] * 30).items() if name != "replies"}
    made["classes"] = pd.DataFrame({"entity_class": ["PER"], "definition": ["A person"], "examples": ["Ann"]})
    with chat_endpoint(answer) as server:
        found = result_of(made, model=server.name, n_samples=5, reply_format=form)
    assert len(seen) == 5 * 3  # with a single class, requests for all and for one are the same
    assert sum("Examples: Ann" in prompt for prompt in seen) == 5
    assert found.n_unscored == 0
    assert len(found.tables["calls"]) == 30
    assert (found.light, found.verdict.would_be) == ("grey", "red")
    assert "Only 5 have a value and a light needs 20; the figures alone would give red." in found.sentence


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"reply_format": "xml"}, "reply_format must be one of tuples, json"),
        ({"descriptions": ["none", "long"]}, "descriptions must be one of"),
        ({"requests": []}, "requests must be some of"),
        ({"requests": ["one"]}, "no table holds replies to these wordings"),
    ],
)
def test_options_are_refused(options, said):
    with pytest.raises(BadInput, match=said):
        result_of(tables(all_none=[ONE] * 30), **options)


@pytest.mark.parametrize(
    ("table", "column", "value", "said"),
    [
        ("gold", "end", 500, "is not within its text"),
        ("gold", "id", "nowhere", "gold: no text has the id nowhere"),
        ("replies", "id", "nowhere", "replies: no text has the id nowhere"),
        ("replies", "requests", "some", "expected one of all, one"),
        ("replies", "description", None, "column description: empty"),
        ("replies", "entity_class", "PER", "requests for all classes leave entity_class empty"),
        ("texts", "text", None, "column text: empty"),
        ("classes", "entity_class", None, "column entity_class: empty"),
    ],
)
def test_bad_cells_are_refused_with_their_place(table, column, value, said):
    made = dict(sample("ner_variants"))
    rows = made[table].astype(object).reset_index(drop=True)
    rows.at[0, column] = value
    with pytest.raises(BadInput, match=said):
        evaluated("ner_variants", made | {table: rows})


def test_hostile_replies_reach_the_page_as_text():
    found = result_of(tables(all_none=["<script>alert(1)</script>"] * 5 + [ONE] * 25, all_definition=[BOTH] * 30))
    assert "<script>" not in page("ner_variants", found)


def test_the_sample_has_what_its_card_says():
    gains = whole("ner_variants").tables["gains"].set_index(["wordings", "entity_class"])["gain"]
    first = "larch-2, all, name only → definition"
    assert gains[first, "PRODUCT"] > 20
    assert gains["larch-2, all, definition → examples", "PLACE"] < 0


@pytest.mark.parametrize("beside", [{}, {"answer": "none"}, {"response": "none"}])
def test_a_column_reply_is_read_as_the_answer_whatever_stands_beside_it(beside):
    made = tables(all_none=[ONE] * 30)
    replies = made["replies"].rename(columns={"answer": "reply"}).assign(**beside)
    data = load({**made, "replies": replies}, study="ner_variants")
    assert data["replies"]["answer"].tolist() == made["replies"]["answer"].tolist()
    assert any("column reply was read as answer" in note for note in data.notes)
