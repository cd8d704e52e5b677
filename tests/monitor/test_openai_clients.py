"""The hook around ``openai``'s own clients, against an endpoint on the loopback."""

from __future__ import annotations

import asyncio
import gc
import traceback

import openai
import pytest
from chat import chat_endpoint

from evalbench.monitor.clients import client_hash

ASK = {"model": "tiny", "messages": [{"role": "user", "content": "Why?"}]}
SECRET = "sk-hunter2-hunter2-x9"


def client(kept, url, kind=openai.OpenAI, **options):
    return kept.log.openai(kind(base_url=url, api_key=SECRET, max_retries=0, timeout=10, **options))


def test_a_call_is_logged_and_answered_as_before(kept):
    with chat_endpoint(lambda prompt: prompt.upper()) as endpoint:
        asking = client(kept, endpoint.name.partition("#")[0])
        completion = asking.chat.completions.create(**ASK, user="anna", temperature=0)
    assert isinstance(completion, openai.types.chat.ChatCompletion)
    assert completion.choices[0].message.content == "WHY?"
    row = kept.row
    assert (row["request"], row["response"], row["model"], row["error"]) == ("Why?", "WHY?", "tiny", None)
    assert (row["input_tokens"], row["output_tokens"]) == (7, 3)
    assert row["client"] == client_hash("anna", b"a key of sixteen")
    assert row["stages"] == {"finish": "stop"}
    assert endpoint.bodies[0]["user"] == "anna"


@pytest.mark.parametrize("models", [("tiny", "tiny"), ("tiny", "large")])
def test_an_interaction_has_the_model_and_the_tokens_of_the_calls_within(kept, models):
    with chat_endpoint(lambda prompt: prompt.upper()) as endpoint:
        asking = client(kept, endpoint.name.partition("#")[0])

        @kept.log
        def answer(question):
            kept.log(lambda topic: topic)("no model")
            return [asking.chat.completions.create(**ASK | {"model": model}).model for model in models]

        named = answer("Why?")
    row = kept.row
    assert [call.get("model") for call in row["stages"]["calls"]] == [None, *named]
    one = len(set(named)) == 1
    assert (row["model"], row["input_tokens"], row["output_tokens"]) == (("tiny", 14, 6) if one else (None,) * 3)


def test_a_client_is_hooked_once(kept, scripted):
    scripted.says("So.")
    asking = kept.log.openai(client(kept, scripted.url))
    assert asking.chat.completions.create(**ASK).choices[0].message.content == "So."
    assert kept.row["model"] == "tiny"


def test_the_function_alone_as_a_decorator_takes_it(kept, scripted):
    scripted.says("So.")
    asking = openai.OpenAI(base_url=scripted.url, api_key="none", max_retries=0)
    create = kept.log(asking.chat.completions.create)
    assert create(**ASK).choices[0].message.content == "So."
    assert (kept.row["request"], kept.row["response"]) == ("Why?", "So.")


def test_tools_refusals_and_several_choices(kept, scripted):
    call = {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": '{"q": 1}'}}
    scripted.gives(
        {
            "id": "x", "object": "chat.completion", "created": 0, "model": "tiny-2026",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"},
                {"index": 1, "message": {"role": "assistant", "content": "So.", "refusal": "I will not."}, "finish_reason": "stop"},
            ],
        }
    )  # fmt: skip
    completion = client(kept, scripted.url).chat.completions.create(**ASK, n=2)
    assert kept.row["response"] is None
    assert kept.row["model"] == "tiny-2026"
    assert kept.row["stages"] == {
        "tool_calls": [{"name": "look_up", "arguments": '{"q": 1}'}],
        "refusal": "I will not.",
        "choices": [None, "So."],
        "finish": "tool_calls",
        "model_asked": "tiny",
    }
    follow_up = [
        *ASK["messages"],
        completion.choices[0].message,
        {"role": "tool", "tool_call_id": "1", "content": "42"},
    ]
    client(kept, scripted.url).chat.completions.create(model="tiny", messages=follow_up)
    messages = kept.rows[1]["stages"]["messages"]
    assert kept.rows[1]["request"] == "Why?"
    assert messages[1]["tool_calls"][0]["function"]["name"] == "look_up"


def test_async_calls_and_their_cancellation(kept):
    async def main(url):
        async with client(kept, url, openai.AsyncOpenAI) as asking:
            completion = await asking.chat.completions.create(**ASK)
            assert completion.choices[0].message.content == "WHY?"
            task = asyncio.create_task(asking.chat.completions.create(**ASK))
            await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with chat_endpoint(lambda prompt: prompt.upper(), delay=0.3) as endpoint:
        asyncio.run(main(endpoint.name.partition("#")[0]))
    assert [(row["response"], row["error"]) for row in kept.rows] == [("WHY?", None), (None, "asyncio.CancelledError")]
    assert 0.2 < kept.rows[0]["latency"] < 8


def test_streams(kept, scripted):
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    scripted.streams_texts("So", " it is", usage=usage)
    stream = client(kept, scripted.url).chat.completions.create(**ASK, stream=True)
    assert isinstance(stream, openai.Stream)
    assert stream.response.status_code == 200
    with stream as chunks:
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "So it is"
    row = kept.row
    assert (row["response"], row["model"], row["error"]) == ("So it is", "tiny-2026", None)
    assert (row["input_tokens"], row["output_tokens"]) == (5, 2)
    assert row["stages"]["finish"] == "stop"
    assert 0 < row["stages"]["first_text"] <= row["latency"]


@pytest.mark.parametrize("way", ["close", "with", "forgotten"])
def test_a_stream_left_half_way(kept, scripted, way):
    scripted.streams_texts("So", " it is")
    stream = client(kept, scripted.url).chat.completions.create(**ASK, stream=True)
    assert next(stream).choices[0].delta.content == "So"
    if way == "close":
        stream.close()
    elif way == "with":
        with stream:
            pass
    del stream
    gc.collect()
    assert (kept.row["response"], kept.row["error"]) == ("So", "abandoned")


def test_a_stream_left_after_the_model_has_ended_is_whole(kept, scripted):
    scripted.streams_texts("So", " it is")
    stream = client(kept, scripted.url).chat.completions.create(**ASK, stream=True)
    for chunk in stream:
        if chunk.choices[0].finish_reason:
            break
    stream.close()
    assert (kept.row["response"], kept.row["error"]) == ("So it is", None)


def test_tools_in_a_stream(kept, scripted):
    scripted.streams_texts()
    parts = [
        {"index": 0, "function": {"name": "look_up", "arguments": '{"q"'}},
        {"index": 0, "function": {"arguments": ": 1}"}},
    ]
    import json

    events = [{"choices": [{"index": 0, "delta": {"tool_calls": [part]}}]} for part in parts]
    scripted.streams = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode() + scripted.streams
    list(client(kept, scripted.url).chat.completions.create(**ASK, stream=True))
    assert kept.row["stages"]["tool_calls"] == [{"name": "look_up", "arguments": '{"q": 1}'}]
    assert kept.row["response"] is None


def test_async_streams(kept, scripted):
    scripted.streams_texts("So", " it is")

    async def main():
        async with client(kept, scripted.url, openai.AsyncOpenAI) as asking:
            stream = await asking.chat.completions.create(**ASK, stream=True)
            assert isinstance(stream, openai.AsyncStream)
            async with stream as chunks:
                assert [chunk.choices[0].delta.content async for chunk in chunks] == ["So", " it is", None]
            stream = await asking.chat.completions.create(**ASK, stream=True)
            async for _ in stream:
                break
            await stream.close()

    asyncio.run(main())
    assert [(row["response"], row["error"]) for row in kept.rows] == [("So it is", None), ("So", "abandoned")]


def test_errors_pass_unchanged_and_show_no_key(kept, scripted):
    scripted.gives({"error": {"message": f"Incorrect API key provided: {SECRET}"}}, status=401)
    bare = openai.OpenAI(base_url=scripted.url, api_key=SECRET, max_retries=0)
    with pytest.raises(openai.AuthenticationError) as without:
        bare.chat.completions.create(**ASK)
    with pytest.raises(openai.AuthenticationError) as caught:
        client(kept, scripted.url).chat.completions.create(**ASK)
    assert str(caught.value) == str(without.value)
    assert caught.value.__cause__ is without.value.__cause__ is None
    assert type(caught.value.__context__) is type(without.value.__context__)
    assert kept.row["error"] == "openai.AuthenticationError 401"
    assert SECRET not in str(kept.tables)


def test_frames_of_the_hook_show_no_key(kept, scripted):
    scripted.gives({"error": {"message": "no"}}, status=500)
    with pytest.raises(openai.InternalServerError) as caught:
        client(kept, scripted.url).chat.completions.create(**ASK, extra_headers={"X-Tenant": "none"})
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = [frame for frame in shown.stack if "evalbench/monitor" in frame.filename]
    assert ours
    assert not any(SECRET in value for frame in ours for value in (frame.locals or {}).values())


@pytest.mark.parametrize("stream", [False, True])
def test_keys_that_an_endpoint_repeats_are_not_logged(kept, scripted, stream):
    said = f"You sent {SECRET} and Bearer tenant-4711-4711-key."
    scripted.says(said)
    scripted.streams_texts(*said)
    headers = {"X-Tenant-Authorization": "Bearer tenant-4711-4711-key"}
    reply = client(kept, scripted.url).chat.completions.create(**ASK, stream=stream, extra_headers=headers)
    assert list(reply) if stream else reply.choices[0].message.content == said
    assert kept.row["response"] == "You sent [key removed] and Bearer [key removed]."
    assert "4711" not in str(kept.tables)


def test_an_endpoint_that_is_away(kept):
    with pytest.raises(openai.APIConnectionError):
        client(kept, "http://127.0.0.1:9/v1").chat.completions.create(**ASK)
    assert kept.row["error"] == "openai.APIConnectionError"


def test_wrong_calls_are_the_application_s_own(kept, scripted):
    with pytest.raises(TypeError, match="messages"):
        client(kept, scripted.url).chat.completions.create(model="tiny")
    assert kept.row["error"] == "TypeError"
    assert kept.row["request"] == ""


def test_raw_responses(kept, scripted):
    scripted.says("So.")
    scripted.streams_texts("So", " it is")
    asking = client(kept, scripted.url).chat.completions.with_raw_response
    raw = asking.create(**ASK)
    assert raw.status_code == 200
    assert raw.parse().choices[0].message.content == "So."
    stream = asking.create(**ASK, stream=True).parse()
    assert [chunk.choices[0].delta.content for chunk in stream] == ["So", " it is", None]
    assert [(row["response"], row["error"]) for row in kept.rows] == [("So.", None), (None, None)]
