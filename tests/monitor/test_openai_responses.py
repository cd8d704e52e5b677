"""The hook around ``openai``'s Responses API and around the clients that ``with_options`` makes, against the loopback."""

from __future__ import annotations

import asyncio
import json

import openai
import pytest
from pydantic import BaseModel

from evalbench.monitor.clients import client_hash

ASK = {"model": "tiny", "input": "Why?"}
USAGE = {
    "input_tokens": 7, "output_tokens": 3, "total_tokens": 10, "input_tokens_details": {"cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}  # fmt: skip


def client(kept, url, kind=openai.OpenAI):
    return kept.log.openai(kind(base_url=url, api_key="sk-hunter2-hunter2-x9", max_retries=0, timeout=10))


def message(*texts):
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}


def response(*output, **more):
    return {
        "id": "r", "object": "response", "created_at": 0, "model": "tiny-2026", "status": "completed", "output": list(output),
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "usage": USAGE, **more,
    }  # fmt: skip


def events(*texts, last="completed"):
    """A stream of the Responses API."""
    whole = response(message("".join(texts)), status=last)
    at = {"item_id": "m", "output_index": 0, "content_index": 0}
    item = {"type": "response.output_item.added", "output_index": 0, "item": message() | {"status": "in_progress"}}
    empty = {"type": "output_text", "text": "", "annotations": []}
    made = [
        {"type": "response.created", "response": response(status="in_progress", usage=None)},
        item,
        {"type": "response.content_part.added", **at, "part": empty},
        *({"type": "response.output_text.delta", **at, "delta": text, "logprobs": []} for text in texts),
        *([{"type": f"response.{last}", "response": whole}] if last else []),
    ]
    numbered = [{**one, "sequence_number": i} for i, one in enumerate(made)]
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in numbered).encode()


def streaming(scripted, *texts, **more):
    scripted.headers = {"Content-Type": "text/event-stream"}
    scripted.streams = events(*texts, **more)


def test_a_response_is_logged_and_answered_as_before(kept, scripted):
    scripted.gives(response({"id": "t", "type": "reasoning", "summary": []}, message("So", " it is.")))
    found = client(kept, scripted.url).responses.create(**ASK, instructions="Be brief.", user="anna")
    assert isinstance(found, openai.types.responses.Response)
    assert found.output_text == "So it is."
    row = kept.row
    assert (row["request"], row["response"], row["model"], row["error"]) == ("Why?", "So it is.", "tiny-2026", None)
    assert (row["input_tokens"], row["output_tokens"]) == (7, 3)
    assert row["client"] == client_hash("anna", b"a key of sixteen")
    system, asked = {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}
    assert row["stages"] == {"messages": [system, asked], "finish": "completed", "model_asked": "tiny"}


def test_tools_of_a_response(kept, scripted):
    call = {
        "id": "f",
        "type": "function_call",
        "call_id": "c",
        "name": "look_up",
        "arguments": '{"q": 1}',
        "status": "completed",
    }
    scripted.gives(response(call))
    asking = client(kept, scripted.url)
    first = asking.responses.create(**ASK)
    assert kept.row["response"] is None
    assert kept.row["stages"]["tool_calls"] == [{"name": "look_up", "arguments": '{"q": 1}'}]
    scripted.gives(response(message("42")))
    result = {"type": "function_call_output", "call_id": "c", "output": "42"}
    asking.responses.create(model="tiny", input=[{"role": "user", "content": "Why?"}, *first.output, result])
    assert (kept.rows[1]["request"], kept.rows[1]["response"]) == ("Why?", "42")
    assert [one.get("type") for one in kept.rows[1]["stages"]["messages"]] == [
        None,
        "function_call",
        "function_call_output",
    ]


def test_a_response_that_was_cut_and_one_refused(kept, scripted):
    scripted.gives(response(message("So"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}))
    client(kept, scripted.url).responses.create(**ASK)
    refusal = message() | {"content": [{"type": "refusal", "refusal": "I will not."}]}
    scripted.gives(response(refusal))
    client(kept, scripted.url).responses.create(**ASK)
    assert [row["stages"]["finish"] for row in kept.rows] == ["max_output_tokens", "completed"]
    assert kept.rows[1]["response"] is None
    assert kept.rows[1]["stages"]["refusal"] == "I will not."


def test_parsed_and_raw_responses(kept, scripted):
    class Answer(BaseModel):
        why: str

    scripted.gives(response(message('{"why": "so"}')))
    asking = client(kept, scripted.url)
    assert asking.responses.parse(**ASK, text_format=Answer).output_parsed == Answer(why="so")
    assert asking.responses.with_raw_response.create(**ASK).parse().output_text == '{"why": "so"}'
    assert [row["response"] for row in kept.rows] == ['{"why": "so"}'] * 2


def test_streamed_responses(kept, scripted):
    streaming(scripted, "So", " it is")
    asking = client(kept, scripted.url)
    stream = asking.responses.create(**ASK, stream=True)
    assert isinstance(stream, openai.Stream)
    assert [one.delta for one in stream if one.type == "response.output_text.delta"] == ["So", " it is"]
    with asking.responses.stream(**ASK) as within:
        assert within.get_final_response().output_text == "So it is"
    for row in kept.rows:
        assert (row["response"], row["model"], row["error"]) == ("So it is", "tiny-2026", None)
        assert (row["input_tokens"], row["output_tokens"]) == (7, 3)
        assert row["stages"]["finish"] == "completed"
        assert 0 < row["stages"]["first_text"] <= row["latency"]
    assert len(kept.rows) == 2


def test_the_stream_of_chats_is_logged_too(kept, scripted):
    scripted.streams_texts("So", " it is")
    messages = [{"role": "user", "content": "Why?"}]
    with client(kept, scripted.url).chat.completions.stream(model="tiny", messages=messages) as stream:
        assert stream.get_final_completion().choices[0].message.content == "So it is"
    assert (kept.row["request"], kept.row["response"], kept.row["error"]) == ("Why?", "So it is", None)


@pytest.mark.parametrize("last", ["", "incomplete"])
def test_a_stream_of_a_response_that_ends_early(kept, scripted, last):
    streaming(scripted, "So", " it is", last=last)
    stream = client(kept, scripted.url).responses.create(**ASK, stream=True)
    for one in stream:
        if one.type == "response.output_text.delta" and not last:
            break
    stream.close()
    row = kept.row
    assert (row["response"], row["error"]) == (("So it is", None) if last else ("So", "abandoned"))
    assert row["model"] == "tiny-2026"


def test_async_responses(kept, scripted):
    scripted.gives(response(message("So.")))
    streaming(scripted, "So", " it is")
    scripted.headers = {}

    async def main():
        async with client(kept, scripted.url, openai.AsyncOpenAI) as asking:
            assert (await asking.responses.create(**ASK)).output_text == "So."
            stream = await asking.responses.create(**ASK, stream=True)
            assert [one.delta async for one in stream if one.type == "response.output_text.delta"] == ["So", " it is"]
            async with asking.with_options(timeout=5).responses.stream(**ASK) as within:
                assert (await within.get_final_response()).output_text == "So it is"

    asyncio.run(main())
    assert [row["response"] for row in kept.rows] == ["So.", "So it is", "So it is"]


def test_errors_pass_unchanged(kept, scripted):
    scripted.gives({"error": {"message": "no"}}, status=401)
    with pytest.raises(openai.AuthenticationError):
        client(kept, scripted.url).responses.create(**ASK)
    assert (kept.row["request"], kept.row["error"]) == ("Why?", "openai.AuthenticationError 401")


@pytest.mark.parametrize("way", ["with_options", "copy"])
def test_clients_made_of_a_client_are_logged_once(kept, scripted, way):
    scripted.says("So.")
    first = client(kept, scripted.url)
    made = getattr(getattr(first, way)(timeout=5), way)(max_retries=0)
    assert isinstance(made, openai.OpenAI)
    assert made.timeout == 5
    messages = [{"role": "user", "content": "Why?"}]
    assert made.chat.completions.create(model="tiny", messages=messages).choices[0].message.content == "So."
    scripted.gives(response(message("Thus.")))
    assert made.responses.create(**ASK).output_text == "Thus."
    assert [row["response"] for row in kept.rows] == ["So.", "Thus."]


def test_the_key_of_a_client_made_of_a_client_is_not_logged(kept, scripted):
    key = "sk-other-other-4711"
    scripted.gives(response(message(f"You sent {key}.")))
    client(kept, scripted.url).with_options(api_key=key).responses.create(**ASK)
    assert kept.row["response"] == "You sent [key removed]."
