"""Requests: what is refused, and what makes two of them one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from evalbench.core.unscored import REASONS
from evalbench.errors import BadInput
from evalbench.models.exchange import Request, schema_text, text_hash


class Mark(BaseModel):
    mark: int


def test_all_faults_at_once():
    with pytest.raises(BadInput) as refused:
        Request(
            ({"role": "judge", "content": 3}, {"content": "x"}, {"role": "user", "content": "a\ud800"}),
            temperature=2.5,
            max_tokens=0,
            seed=True,
            schema=dict,
            logprobs=21,
            sample=-1,
            item_id="007",
        )
    said = str(refused.value)
    for part in (
        "for 007", "message 0: role 'judge'", "message 0: its content is int", "message 1: expected a role and a content",
        "message 2: its content holds a lone surrogate", "temperature is 2.5", "max_tokens is 0", "seed is True",
        "logprobs is 21", "sample is -1", "schema is <class 'dict'>",
    ):  # fmt: skip
        assert part in said, part


@pytest.mark.parametrize("messages", [(), []])
def test_no_messages(messages):
    with pytest.raises(BadInput, match="no messages"):
        Request(messages)


@pytest.mark.parametrize("heat", [float("nan"), float("inf"), "0", -0.1])
def test_temperatures_that_are_none(heat):
    with pytest.raises(BadInput, match="temperature"):
        Request("x", temperature=heat)


def test_the_prompt_hash_is_the_templates_or_the_texts():
    assert Request("hi").prompt_hash == text_hash("hi")
    assert Request("hi", prompt_hash="abc").prompt_hash == "abc"


def test_what_shapes_the_reply_is_in_the_key_and_accounting_is_not():
    one = Request("hi", max_tokens=5)
    same = replace(one, item_id="x", purpose="judge", prompt_hash="y")
    assert one.key("e") == same.key("e")
    others = [
        one.key("f"),
        *(
            replace(one, **change).key("e")
            for change in (
                {"messages": "ho"}, {"messages": ({"role": "system", "content": "hi"},)}, {"temperature": 1.0},
                {"temperature": None}, {"max_tokens": 6}, {"seed": 0}, {"schema": Mark}, {"logprobs": 1}, {"sample": 1},
            )
        ),
    ]  # fmt: skip
    assert len({one.key("e"), *others}) == 1 + len(others)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text()), min_size=1, max_size=3))
def test_keys_are_stable_and_hexadecimal(pairs):
    messages = tuple({"role": role, "content": text} for role, text in pairs)
    key = Request(messages).key("endpoint")
    assert key == Request([dict(reversed(message.items())) for message in messages]).key("endpoint")
    assert len(bytes.fromhex(key)) == 32


def test_fields_keep_their_order_since_models_fill_them_in_it():
    class ReasonFirst(BaseModel):
        why: str
        mark: int
        also: str

    text = schema_text(ReasonFirst)
    assert text.index('"why"') < text.index('"mark"') < text.index('"also"')


def test_the_reasons_are_a_closed_list():
    assert "" not in REASONS
    assert {"timeout", "unparsed", "rate-limited"} <= set(REASONS)


def test_a_whole_temperature_is_the_same_question():
    assert Request("a", temperature=0).key("e") == Request("a", temperature=0.0).key("e")
    assert Request("a", temperature=1).key("e") != Request("a", temperature=None).key("e")
