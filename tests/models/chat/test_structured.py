"""Values out of replies: strict JSON, the first object in a text, probabilities of options."""

from __future__ import annotations

import math
from enum import Enum
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from timing import least

from evalbench.models.chat.structured import NoValue, first_object, option_probabilities, parsed, response_format
from evalbench.models.exchange import Reply, Request, TokenLogprob


class Word(Enum):
    YES = "yes"
    NO = "no"


class Inner(BaseModel):
    why: str = "none given"


class Mark(BaseModel):
    mark: Literal[0, 1, 2]
    word: Word = Word.NO
    inner: Inner = Inner()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "holds no JSON object"),
        ("[1, 2]", "holds no JSON object"),
        ("mark: 1", "holds no JSON object"),
        ('{"mark": 1', "its JSON object is broken"),
        ('{"mark": NaN}', "NaN is not JSON"),
        ('{"mark": -Infinity}', "-Infinity is not JSON"),
        ('{"mark": 3}', "mark: Input should be 0, 1 or 2"),
        ('{"mark": 1, "word": "maybe"}', "word: Input should be 'yes' or 'no'"),
        ("{}", "mark: Field required"),
        ('{"colour": "blue"} {"mark": 1}', "mark: Field required"),
    ],
)
def test_what_holds_no_value(text, fault):
    with pytest.raises(NoValue, match=fault):
        parsed(text, Mark)


@pytest.mark.parametrize(
    "text",
    [
        '{"mark": 1, "word": "yes"}',
        'Sure!\n```json\n{"mark": 1, "word": "yes"}\n```\nDone.',
        r'As \frac{1}{2} shows in {set}: {"mark": 1, "word": "yes"} and {"mark": 2}',
        '{ "mark" : 1 , "word": "yes", "extra": [{"a": "}"}]}',
    ],
)
def test_the_first_object_is_found(text):
    assert parsed(text, Mark) == Mark(mark=1, word=Word.YES)


@pytest.mark.parametrize(
    "text",
    ['{"a":' * 100_000, '{"' * 100_000, "{ " * 100_000, '{"a": [' + "[" * 100_000, "{" * 1_000_000],
    ids=["keys", "quotes", "blanks", "lists", "braces"],
)
def test_hostile_texts_take_no_long_time(text):
    def searched():
        with pytest.raises(NoValue):
            first_object(text)

    assert least(searched, goal=5, rounds=1) < 5


@given(st.text())
def test_any_text_is_an_object_or_no_value(text):
    try:
        found = first_object(text)
    except NoValue:
        return
    assert isinstance(found, dict)


@given(st.text(), st.sampled_from([0, 1, 2]))
def test_a_value_is_found_behind_any_text_without_braces(text, mark):
    found = parsed(text.replace("{", "(") + f'{{"mark": {mark}}}', Mark)
    assert found.mark == mark


def test_the_schema_is_closed_for_strict_mode():
    form = response_format(Mark)["json_schema"]
    assert form["strict"] is True
    assert form["schema"]["required"] == ["mark", "word", "inner"]
    assert form["schema"]["additionalProperties"] is False
    assert form["schema"]["$defs"]["Inner"]["required"] == ["why"]
    assert "default" not in str(form["schema"])


def reply(*tokens: TokenLogprob) -> Reply:
    return Reply(request=Request("x"), model="m", host="h", logprobs=tokens or None)


def place(token: str, **likely: float) -> TokenLogprob:
    top = tuple((other, math.log(share)) for other, share in likely.items())
    return TokenLogprob(token, math.log(likely.get(token, 1.0)), top)


def test_no_logprobs_is_said_plainly():
    found = option_probabilities(reply(), ("0", "1"))
    assert found.options == {}
    assert math.isnan(found.off_options)
    assert found.statement == "m at h gave no log-probabilities"


def test_no_token_is_an_option():
    assert "no token" in option_probabilities(reply(place("maybe")), ("yes", "no")).statement


def test_probabilities_at_the_answer_behind_its_name():
    tokens = (
        place('{"1": '),
        place('"mark": '),
        TokenLogprob(
            "1", 0.0, (("1", math.log(0.5)), (" 1", math.log(0.25)), ("0", math.log(0.125)), ("x", math.log(0.1)))
        ),
    )
    found = option_probabilities(reply(*tokens), ("0", "1", "2"), after='"mark"')
    assert found.options == pytest.approx({"0": 0.125, "1": 0.75, "2": 0.0})
    assert found.off_options == pytest.approx(0.125)


def test_a_token_counts_for_the_only_option_that_it_begins():
    found = option_probabilities(
        reply(place("corr", corr=0.5, incorrect=0.25, co=0.125)), ("correct", "incorrect", "cold")
    )
    assert found.options == pytest.approx({"correct": 0.5, "incorrect": 0.25, "cold": 0.0})
    assert found.off_options == pytest.approx(0.25)
