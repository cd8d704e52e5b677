"""``evalbench models load``: streamed requests at several levels, against scripted endpoints on the loopback, fakes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from evalbench.commands.models import models
from evalbench.core.quantiles import quantile, throughput
from evalbench.errors import BadInput
from evalbench.models.endpoint import EndpointFault
from evalbench.models.load import load
from evalbench.models.load_figures import figures


class Endpoint:
    """What a fake endpoint does: its status for the n-th request, seconds before the first piece, whether it counts tokens."""

    def __init__(
        self, status: Callable[[int], int] = lambda n: 200, wait: float = 0.01, pieces: int = 4, **more: Any
    ) -> None:
        self.status, self.wait, self.pieces = status, wait, pieces
        self.counts, self.refuses = more.get("counts", True), more.get("refuses", ())
        self.bodies: list[dict[str, Any]] = []
        self.most = self.now = 0
        self.name = ""
        self.lock = threading.Lock()


@contextmanager
def serving(does: Endpoint) -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with does.lock:
                does.bodies.append(asked)
                number = len(does.bodies)
                does.now += 1
                does.most = max(does.most, does.now)
            try:
                self.answer(asked, number)
            finally:
                with does.lock:
                    does.now -= 1

        def answer(self, asked: dict[str, Any], number: int) -> None:
            status = 400 if set(does.refuses) & set(asked) else does.status(number)
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream" if status == 200 else "application/json")
            self.end_headers()
            if status != 200:
                self.wfile.write(b'{"error": {"message": "<b>no</b>"}}')
                return
            time.sleep(does.wait)
            for n in range(does.pieces):
                self.event({"choices": [{"index": 0, "delta": {"content": f"w{n} "}}]})
            if does.counts and "stream_options" in asked:
                self.event({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 9, "total_tokens": 29}})
            self.wfile.write(b"data: [DONE]\n\n")

        def event(self, content: dict[str, Any]) -> None:
            base = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
            self.wfile.write(f"data: {json.dumps({**base, **content})}\n\n".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    does.name = f"http://127.0.0.1:{server.server_port}/v1#m"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield does
    finally:
        server.shutdown()
        server.server_close()


def test_each_level_keeps_so_many_under_way_and_counts_every_request() -> None:
    with serving(Endpoint(wait=0.2)) as one:
        found = load([one.name], levels=[3, 1], seconds=1)
    assert [level.level for level in found.levels] == [1, 3]
    assert 3 <= one.most <= 6  # a handler of the fake ends a moment after its reply was read
    assert len(found.requests) + found.warm_up == len(one.bodies)
    assert found.warm_up == 1
    assert len({body["messages"][0]["content"] for body in one.bodies}) > len(one.bodies) / 2
    at_one, at_three = figures(found)
    assert at_three.requests > 1.5 * at_one.requests
    assert 0.2 <= at_one.figures["first_p50"].value < 0.8  # a machine that is busy may answer late
    assert at_one.figures["tokens_per_reply"].value == 9
    assert at_one.counted_by == "endpoint"
    for each in (at_one, at_three):
        wall, tokens = each.seconds, 9 * each.replies
        assert each.figures["tokens_per_second"].value == pytest.approx(tokens / wall)


def test_two_endpoints_are_asked_one_after_the_other_at_each_level() -> None:
    with serving(Endpoint()) as one, serving(Endpoint(pieces=8)) as two:
        found = load([one.name, two.name], levels=[1, 2], seconds=0.15)
        assert [(level.model, level.level) for level in found.levels] == [
            (one.name, 1), (two.name, 1), (one.name, 2), (two.name, 2)
        ]  # fmt: skip


def test_the_first_refusal_for_too_many_ends_an_endpoint_and_not_the_other() -> None:
    with serving(Endpoint(lambda n: 200 if n < 2 else 429)) as one, serving(Endpoint()) as two:
        found = load([one.name, two.name], levels=[1, 4, 16], seconds=0.3)
        asked = len(one.bodies)
    own = [level for level in found.levels if level.model == one.name]
    assert "429" in own[0].stopped
    assert own[-1].seconds == 0
    assert own[-1].stopped.startswith("not asked")
    assert asked < 2 + 4
    assert figures(found)[0].errors == {"rate-limited": 1}
    assert not any(level.stopped for level in found.levels if level.model == two.name)


def test_failures_are_counted_by_kind_and_in_no_latency() -> None:
    with serving(Endpoint(lambda n: 500 if n % 2 else 200)) as one:
        found = load([one.name], levels=[1], seconds=0.3)
    (only,) = figures(found)
    assert set(only.errors) == {"server-error"}
    assert only.replies == only.figures["first_p50"].n
    assert only.replies + only.errors["server-error"] == only.requests


@pytest.mark.parametrize(
    ("refuses", "counted", "warm_up"), [(("stream_options",), "pieces", 3), (("max_tokens",), "endpoint", 2)]
)
def test_parameters_that_an_endpoint_does_not_take_are_left_out(
    refuses: tuple[str, ...], counted: str, warm_up: int
) -> None:
    with serving(Endpoint(refuses=refuses)) as one:
        found = load([one.name], levels=[1], seconds=0.1)
    assert found.warm_up == warm_up
    assert set(found.requests["counted_by"]) == {counted}
    assert (found.requests["error"] == "").all()


def test_an_endpoint_that_takes_nothing_is_refused() -> None:
    with serving(Endpoint(lambda n: 400)) as one, pytest.raises(EndpointFault, match="takes no streamed request"):
        load([one.name], levels=[1], seconds=0.1)


def test_all_faults_before_anything_is_asked() -> None:
    with serving(Endpoint()) as one, pytest.raises(BadInput) as error:
        load([one.name, one.name, "http://models.example/v1#m"], levels=[0, 999], seconds=-1, max_tokens=0, timeout=0)
    assert not one.bodies
    said = str(error.value)
    for part in (
        "level 0",
        "level 999",
        "seconds is -1",
        "max_tokens is 0",
        "timeout is 0",
        "models.example, not on this machine",
        f"{one.name} is named more than once",
    ):
        assert part in said
    assert "--yes allows it" in said


def test_the_command_writes_its_folder_once(tmp_path: Path) -> None:
    out = tmp_path / "load"
    with serving(Endpoint(lambda n: 200 if n % 5 else 400)) as one:
        arguments = ["load", one.name, "--levels", "1,2", "--seconds", "0.2", "--out", str(out)]
        done = CliRunner().invoke(models, arguments)
        again = CliRunner().invoke(models, arguments)
    assert done.exit_code == 0, done.output
    assert "is not empty" in str(again.exception)
    page = (out / "load.html").read_text(encoding="utf-8")
    assert "tokens a second" in page
    assert "<b>no</b>" not in page
    kept = json.loads((out / "load.json").read_text(encoding="utf-8"))
    assert [level["level"] for level in kept["levels"]] == [1, 2]
    assert sorted(path.name for path in out.iterdir()) == ["load.html", "load.json", "requests.parquet"]
    assert "expected whole numbers" in str(
        CliRunner().invoke(models, [*arguments[:2], "--levels", "one", "--out", "x"]).exception
    )


def test_an_endpoint_that_answers_nothing_fails_the_command(tmp_path: Path) -> None:
    with serving(Endpoint(lambda n: 500 if n > 1 else 200)) as one:
        arguments = ["load", one.name, "--levels", "1", "--seconds", "0.1", "--out", str(tmp_path / "load")]
        done = CliRunner().invoke(models, arguments)
    assert done.exit_code == 1, done.exception
    assert "none of them answered" in done.output
    figures = json.loads((tmp_path / "load" / "load.json").read_text(encoding="utf-8"))["levels"][0]["figures"]
    assert figures["tokens_per_second"]["value"] is None
    assert (tmp_path / "load" / "load.html").is_file()


def test_quantiles_cover() -> None:
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        found = quantile(rng.exponential(size=120), 0.95)
        held += (found.ci_low or 0) <= -np.log(0.05) <= (found.ci_high if found.ci_high is not None else np.inf)
    assert 0.92 <= held / 400 <= 0.99


def test_throughput_covers_in_a_closed_loop() -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        tokens = rng.integers(20, 100, 80)
        seconds = tokens / 50 + rng.exponential(0.2, 80)
        found = throughput(tokens, seconds, seconds.sum())
        held += found.ci_low <= 59.5 / (59.5 / 50 + 0.2) <= found.ci_high
    assert 0.92 <= held / 400 <= 0.98
