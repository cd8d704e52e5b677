"""What README.md and the recipes have as commands is run as it is there: blocks are taken out of the documents."""

from __future__ import annotations

import json
import re
import shutil
import socket
from pathlib import Path

import click
import pytest
from documents import ROOT, blocks, shell
from fake_gateway import fake_gateway

from evalbench.cli import group
from evalbench.report.history import read_runs

README, RECIPES = "README.md", "docs/recipes.md"


def solved(prompt: str) -> str:
    """An answer to a question, or a judge's label."""
    label = next((name for name in ("ENTAILMENT", "VERIFIED", "CORRECT") if name in prompt), "")
    return json.dumps({"reason": "it is said", "label": label}) if label else f"Ответ на: {prompt}"


@pytest.mark.slow
def test_gigachat_behind_a_fake_gateway(tmp_path: Path) -> None:
    """Replies, embeddings and verdicts; the gateway's key is in no file of the runs."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 8090)) == 0:
            pytest.skip("not on this platform: port 8090 of this machine is taken")
    (tmp_path / "home").mkdir()
    key = "key-of-the-gateway-0123456789"
    (tmp_path / "home" / ".gateway-key").write_text(key + "\n")
    rows = [{"id": f"q{i}", "prompt": f"Вопрос {i}?", "reference": f"Ответ на: вопрос {i}"} for i in range(6)]
    (tmp_path / "questions.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    first, second = blocks(RECIPES, "GigaChat", "bash")
    (aliases,) = blocks(RECIPES, "GigaChat", "toml")
    builds = {"GigaChat": "GigaChat:2.0.28.2", "EmbeddingsGigaR": "EmbeddingsGigaR"}
    with fake_gateway(8090, key, solved, builds) as asked:
        said = shell(first, tmp_path, home=tmp_path / "home")
        (tmp_path / "models.toml").write_text(aliases)
        shell(f"{first.splitlines()[0]}\n{second}", tmp_path, home=tmp_path / "home")
    assert re.search(r"^chat +yes", said, re.MULTILINE)
    assert {(one.path, one.body["model"]) for one in asked} == {
        ("/v1/chat/completions", "GigaChat"),
        ("/v1/embeddings", "EmbeddingsGigaR"),
        ("/v1/embeddings", "GigaChat"),  # `models check` tries this too
    }
    assert {one.key for one in asked} == {key}
    runs = read_runs(tmp_path / "reports")
    assert sorted(run.study for run in runs) == ["citation", "text_metrics", "text_metrics"]
    for run in runs:
        folder = (tmp_path / "reports" / run.href).parent
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        assert record["status"] == "ok"
        assert record["other_models"] == {}
        assert not any(key.encode() in file.read_bytes() for file in folder.iterdir())
        if run.study == "text_metrics":
            summary = json.loads((folder / "results.json").read_text(encoding="utf-8"))["summary"]
            assert {row["n_unscored"] for row in summary} == {0}


def commands(text: str) -> list[list[str]]:
    """The commands of evalbench in code between backticks, in the words of a shell."""
    import shlex

    found = re.findall(r"`evalbench ([^`]+)`", text)
    return [shlex.split(one, comments=True) for one in found]


@pytest.mark.parametrize("document", [README, RECIPES, "docs/methods.md", "CONTRIBUTING.md"])
def test_every_command_in_a_sentence_exists_with_its_options(document: str) -> None:
    found = commands((ROOT / document).read_text(encoding="utf-8"))
    assert found
    for words in found:
        command: click.Command = group
        rest = words
        while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
            assert rest[0] in command.list_commands(click.Context(command)), words
            command, rest = command.get_command(click.Context(command), rest[0]), rest[1:]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word.partition("=")[0] for word in rest if word.startswith("-")} <= known | {"--help"}, words
