"""The hook around functions of an application that has no ``openai``: it notices nothing, and everything is logged."""

from __future__ import annotations

import asyncio
import gc
import inspect
import subprocess
import sys
import threading
import types
from datetime import UTC, datetime

import pytest

from evalbench.errors import BadInput
from evalbench.monitor import logged
from evalbench.monitor.clients import client_hash

KEY = b"a key of sixteen"


def test_an_interaction_is_a_row(kept):
    id = kept.log.record(
        request=[{"role": "system", "content": "Кратко."}, {"role": "user", "content": "Почему?"}],
        response={
            "choices": [{"message": {"content": "Потому."}, "finish_reason": "stop"}],
            "model": "tiny-2026",
            "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        },
        client="anna", ts=0, model="tiny", prompt_version="v3", latency=0.5, cost=0.01, stages={"found": ["doc 1"]},
    )  # fmt: skip
    assert kept.row == {
        "id": id,
        "client": client_hash("anna", KEY),
        "ts": datetime(1970, 1, 1, tzinfo=UTC),
        "request": "Почему?",
        "response": "Потому.",
        "model": "tiny-2026",
        "prompt_version": "v3",
        "latency": 0.5,
        "input_tokens": 7,
        "output_tokens": 3,
        "cost": 0.01,
        "error": None,
        "stages": {
            "messages": [{"role": "system", "content": "Кратко."}, {"role": "user", "content": "Почему?"}],
            "found": ["doc 1"],
            "finish": "stop",
        },
    }


def test_ids_grow_with_time_and_are_distinct(kept):
    ids = [kept.log.record(request=str(i)) for i in range(300)]
    assert len(set(ids)) == 300
    assert [id[:12] for id in ids] == sorted(id[:12] for id in ids)
    assert all(len(id) == 32 and set(id) <= set("0123456789abcdef") for id in ids)


def test_what_is_logged_is_what_was_asked_then(kept):
    messages = [{"role": "user", "content": "first"}]
    kept.log.record(request=messages, response="one")
    messages.append({"role": "assistant", "content": "one"})
    messages[0]["content"] = "changed"
    assert kept.row["request"] == "first"
    assert kept.row["stages"] is None


def test_parts_and_pictures(kept):
    picture = "data:image/png;base64," + "A" * 5000
    parts = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": picture}}]
    kept.log.record(request=[{"role": "user", "content": parts}])
    assert kept.row["request"] == "What is it?"
    url = kept.row["stages"]["messages"][0]["content"][1]["image_url"]["url"]
    assert url.startswith("[image/png, 5022 characters, sha256 ")


def test_a_decorated_function_is_the_function(kept):
    @kept.log
    def answer(question: str, loud: bool = False) -> str:
        """Answer."""
        return question.upper() if loud else question

    assert answer("why?", loud=True) == "WHY?"
    assert answer.__doc__ == "Answer."
    assert list(inspect.signature(answer).parameters) == ["question", "loud"]
    assert (kept.row["request"], kept.row["response"]) == ("why?", "WHY?")
    assert 0 <= kept.row["latency"] < 5


def test_methods_and_named_parameters(kept):
    class Bot:
        @kept.log.calls(request="text", client="user_id")
        def reply(self, user_id, text="hello"):
            return {"said": text}

    assert Bot().reply("u-17", text="why?") == {"said": "why?"}
    assert (kept.row["request"], kept.row["response"]) == ("why?", '{"said": "why?"}')
    assert kept.row["client"] == client_hash("u-17", KEY)
    with pytest.raises(TypeError, match="reply has no parameter 'question': self, user_id, text"):
        kept.log.calls(request="question")(Bot.reply)


def test_exceptions_of_the_application_pass_unchanged(kept):
    class Refused(Exception):
        status_code = 429

    thrown = Refused("the key is sk-hunter2hunter2")

    @kept.log
    def answer(question):
        raise thrown

    with pytest.raises(Refused) as caught:
        answer("why?")
    assert caught.value is thrown
    assert caught.value.__context__ is caught.value.__cause__ is None
    assert kept.row["error"] == "test_hook.Refused 429" or kept.row["error"].endswith("Refused 429")
    assert kept.row["response"] is None
    assert "hunter2" not in str(kept.tables)
    assert kept.log.counts.faults == 0


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, MemoryError])
def test_what_ends_a_process_passes_too(kept, stop):
    @kept.log
    def answer(question):
        raise stop

    with pytest.raises(stop):
        answer("why?")
    assert kept.row["error"] == stop.__name__


def test_async_functions_and_their_cancellation(kept):
    @kept.log
    async def answer(question):
        await asyncio.sleep(0 if question == "quick" else 60)
        return question

    async def main():
        assert await answer("quick") == "quick"
        slow = asyncio.create_task(answer("slow"))
        await asyncio.sleep(0.01)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(answer("late"), 0.01)

    assert inspect.iscoroutinefunction(answer)
    asyncio.run(main())
    said = [(row["request"], row["response"], row["error"]) for row in kept.rows]
    cancelled = "asyncio.CancelledError"
    assert said == [("quick", "quick", None), ("slow", None, cancelled), ("late", None, cancelled)]


def test_calls_under_way_at_the_same_time_are_kept_apart(kept):
    @kept.log
    async def answer(question):
        with kept.log.about(client=question, prompt_version=f"v{question}"):
            await asyncio.sleep(0.001 * (int(question) % 3))
            kept.log.stage("found", question)
            return question * 2

    async def main():
        await asyncio.gather(*(answer(str(i)) for i in range(20)))

    asyncio.run(main())
    assert len(kept.rows) == 20
    assert all(
        row["response"] == row["request"] * 2 and row["stages"] == {"found": row["request"]} for row in kept.rows
    )


def pieces(question):
    yield "a"
    kept_back = yield "b"
    yield kept_back or "c"


def test_streams_read_to_their_end(kept):
    logged_pieces = kept.log(pieces)
    stream = logged_pieces("why?")
    assert isinstance(stream, types.GeneratorType)
    assert list(stream) == ["a", "b", "c"]
    assert (kept.row["response"], kept.row["error"]) == ("abc", None)
    assert 0 <= kept.row["stages"]["first_text"] <= kept.row["latency"]


@pytest.mark.parametrize("way", ["close", "forgotten"])
def test_streams_left_half_way(kept, way):
    stream = kept.log(pieces)("why?")
    assert next(stream) == "a"
    if way == "close":
        stream.close()
        assert list(stream) == []
    del stream
    gc.collect()
    assert (kept.row["response"], kept.row["error"]) == ("a", "abandoned")


def test_streams_that_break(kept):
    @kept.log
    def broken(question):
        yield "a"
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        list(broken("why?"))
    assert (kept.row["response"], kept.row["error"]) == ("a", "ConnectionError")


def test_async_streams(kept):
    @kept.log
    async def asked(question):
        yield "a"
        await asyncio.sleep(0)
        yield "b"

    async def main():
        assert [piece async for piece in asked("whole")] == ["a", "b"]
        half = asked("half")
        async for _ in half:
            break
        await half.aclose()
        cancelled = asyncio.create_task(anext(asked("never")))
        cancelled.cancel()
        await asyncio.gather(cancelled, return_exceptions=True)
        gc.collect()

    asyncio.run(main())
    said = {(row["request"], row["response"], row["error"]) for row in kept.rows}
    assert {("whole", "ab", None), ("half", "a", "abandoned")} < said
    assert len(said) == 3


def test_a_reply_longer_than_all_room_is_lost_and_the_application_gets_it():
    rows = []
    with logged(lambda table, new: rows.extend(new), max_bytes=10_000) as log:

        @log
        def stream(question):
            yield from ["x" * 1000] * 20

        assert len("".join(stream("why?"))) == 20_000
        assert log.record(request="y" * 20_000) == ""
        assert log(lambda question: "z" * 20_000)("why?") == "z" * 20_000
    assert log.counts.lost == {"too large": 3}
    assert [row["reason"] for row in rows] == ["too large"] * len(rows)


def test_calls_within_a_call_are_its_stages(kept):
    ask = kept.log(lambda prompt: prompt.upper())

    @kept.log
    def answer(question):
        kept.log.stage("found", ["doc 1"])
        return ask(f"rewrite: {question}") + ask("then")

    assert answer("why?") == "REWRITE: WHY?THEN"
    assert kept.row["request"] == "why?"
    stages = kept.row["stages"]
    assert stages["found"] == ["doc 1"]
    assert [(call["request"], call["response"]) for call in stages["calls"]] == [
        ("rewrite: why?", "REWRITE: WHY?"),
        ("then", "THEN"),
    ]


def test_feedback_refers_to_an_interaction(kept):
    id = kept.log.record(request="why?")
    kept.log.feedback(id, 1, comment="good", judge="anna")
    kept.log.feedback(id, 0.5, source="annotator", judge="rater 1")
    assert len(kept.rows) == 1
    user, annotator = kept.tables["feedback"]
    assert (user["interaction"], user["value"], user["source"], user["comment"]) == (id, 1, "user", "good")
    assert user["judge"] == client_hash("anna", KEY)
    assert annotator["judge"] == "rater 1"
    assert isinstance(user["ts"], datetime)


class Nasty:
    """Raises whatever is asked of it; a caller's object, for tests."""

    def __getattr__(self, name):
        raise RuntimeError(f"no {name}: sk-hunter2hunter2")

    def __iter__(self):
        raise RuntimeError("no")

    __len__ = __bool__ = __str__ = __repr__ = __iter__


def circle():
    ring = []
    ring.append(ring)
    return ring


ODD = {
    "nasty": Nasty(),
    "choices that are none": {"choices": 7},
    "a choice that is none": {"choices": [None]},
    "bytes": b"\xff",
    "not a number": float("nan"),
    "a circle": circle(),
    "an object": object(),
    "a long number": 10**400,
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_no_value_breaks_the_application(kept, odd):
    answer = kept.log(lambda question: odd)
    assert answer("why?") is odd
    assert kept.log(lambda question: "fine")(odd) == "fine"
    kept.log.record(request=odd, response=odd, client=odd, model=odd, latency=odd, cost=odd, stages=odd, error=odd)
    kept.log.feedback(odd, odd, comment=odd)
    kept.log.record(request="still")
    assert kept.rows[-1]["request"] == "still"
    counts = kept.log.counts
    assert counts.given == counts.written + sum(counts.lost.values())
    assert "hunter2" not in f"{counts} {kept.tables}"


def test_without_a_key_no_client_is_kept(monkeypatch, caplog):
    rows = []
    monkeypatch.setenv("EVALBENCH_LOG_KEY", "short")
    with logged(lambda table, new: rows.extend(new)) as log:
        log.record(request="why?", client="anna")
    assert rows[0]["client"] is None
    assert "ids of clients are not kept: EVALBENCH_LOG_KEY has 5 bytes" in caplog.text
    monkeypatch.setenv("EVALBENCH_LOG_KEY", KEY.decode())
    with logged(lambda table, new: rows.extend(new)) as log:
        log.record(request="why?", client="anna")
    assert rows[1]["client"] == client_hash("anna", KEY)


def test_keys_of_the_environment_are_not_logged(kept, monkeypatch):
    monkeypatch.setenv("SHOP_API_KEY", "hunter2-hunter2-x9")
    kept.log.record(
        request=[{"role": "system", "content": "key hunter2-hunter2-x9"}, {"role": "user", "content": "hunter2-hunter2-x9?"}],
        response="It is hunter2-hunter2-x9.", stages={"hunter2-hunter2-x9": ["hunter2-hunter2-x9"]},
        model="hunter2-hunter2-x9", error="hunter2-hunter2-x9",
    )  # fmt: skip
    kept.log.feedback(kept.row["id"], 1, comment="hunter2-hunter2-x9")
    assert kept.row["response"] == "It is [key removed]."
    assert "hunter2" not in str(kept.tables)


def test_a_log_that_is_used_after_its_end_says_so(tmp_path):
    code = """
from evalbench.errors import BadInput
from evalbench.monitor import logged
with logged(lambda table, rows: None) as log:
    log.record(request="within")
    answer = log(str.upper)
assert answer("after") == "AFTER"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "log of interactions: 1 of 2 written, 1 lost (after the end)\n"


def test_a_log_that_is_not_used_starts_no_thread(tmp_path):
    before = threading.active_count()
    log = logged(tmp_path / "log.sqlite")
    log(str.upper)
    assert threading.active_count() == before
    log.close()
    assert not (tmp_path / "log.sqlite").exists()


def test_bounds_out_of_range_are_refused_at_once():
    with pytest.raises(BadInput) as caught:
        logged(print, max_rows=0, exit_timeout=float("nan"))
    assert "max_rows is 0; expected at least 1" in str(caught.value)
    assert "exit_timeout is nan; expected at least 0" in str(caught.value)


def test_a_key_that_anybody_could_guess_is_not_used(caplog):
    rows = []
    with logged(lambda table, new: rows.extend(new), key=b"short") as log:
        log.record(request="why?", client="anna")
    assert rows[0]["client"] is None
    assert "the key has 5 bytes, expected at least 16" in caplog.text


def test_calls_is_a_decorator_with_names_and_without(kept):
    @kept.log.calls
    def answer(question):
        return question.upper()

    assert (answer("why?"), kept.log.calls()(lambda question: question.title())("why?")) == ("WHY?", "Why?")
    assert [(row["request"], row["response"]) for row in kept.rows] == [("why?", "WHY?"), ("why?", "Why?")]
    with pytest.raises(TypeError, match=r'log\.calls\(request="question"\)'):
        kept.log.calls("question")
