"""What reaches a terminal: words. Nothing that steers it, whatever named a file, a column or a model."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import exit_code, started
from tqdm import tqdm

from evalbench.cli import main
from evalbench.commands import terminal
from evalbench.commands.terminal import CleanStream, cleaned
from evalbench.readers import catalog

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x08\u200b"
STEERING = set("\x1b\x07\x9b\u202e\x08\u200b")


@pytest.mark.parametrize(
    ("text", "shown"),
    [("plain\ttext\n", "plain\ttext\n"), ("a\x1b[31mb", "a‹ESC›[31mb"), ("a\rb", "a‹CR›b"), ("a\r\nb\r\n", "a\nb\n"), ("\r3/7 |##|", "\r3/7 |##|"),
     ("\r   \r", "\r   \r"), ("\r", "\r"), ("", ""), ("a\udcffb", "a‹U+DCFF›b"), ("مرحبا 👩‍💻", "مرحبا 👩‍💻"), ("\x9d0;x\x9c", "‹U+009D›0;x‹U+009C›")],
)  # fmt: skip
def test_what_steers_is_named_and_the_rest_stays(text, shown):
    assert cleaned(text) == shown


def test_a_stream_is_as_it_was_but_for_what_is_written(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-0123456789")
    raw = io.StringIO()
    stream = CleanStream(raw)
    assert stream.write("sk-very-secret-0123456789\x1b\n") == 27
    stream.writelines(["a\u202e", "b\n"])
    print("c\x07", file=stream)
    assert raw.getvalue() == "[key removed]‹ESC›\na‹RLO›b\nc‹BEL›\n"
    assert not stream.isatty()
    assert not hasattr(stream, "buffer")
    with pytest.raises(TypeError, match="a text is written here"):
        stream.write(b"bytes")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code"), [(["list"], 0), (["metrics", "show", "f1_score"], 0), (["run", "no_study", "--json"], 2)]
)
def test_a_reader_that_has_gone_changes_no_exit_code(words, code):
    reads, writes = os.pipe()
    os.close(reads)
    command = [sys.executable, "-m", "evalbench.cli", *words]
    try:
        done = subprocess.run(command, stdout=writes, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writes)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize(
    ("words", "ends", "code", "said"),
    [
        (["data", "list"], KeyboardInterrupt, 130, "Interrupted."),
        (["data", "list", "--rot", "x"], None, 2, "No such option"),
        (["--help"], None, 0, ""),
    ],
)
def test_how_a_command_ended_is_its_exit_code(words, ends, code, said, monkeypatch, capsys):
    def entries(root):
        raise ends

    monkeypatch.setattr(catalog, "entries", entries)
    monkeypatch.setattr(terminal, "clean_streams", lambda: None)
    monkeypatch.setattr(sys, "argv", ["evalbench", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert said in capsys.readouterr().err


def test_bars_of_progress_go_through():
    raw = io.StringIO()
    for _ in tqdm(range(3), file=CleanStream(raw), desc=f"model {HOSTILE}", ascii=True, mininterval=0):
        pass
    assert "\r" in raw.getvalue()
    assert "100%" in raw.getvalue()
    assert not STEERING & set(raw.getvalue())
    assert "‹CR›" not in raw.getvalue()


def on_a_terminal(*words: str, cwd: Path) -> tuple[int, str]:
    """Exit code and everything that a command writes to a terminal."""
    import pty

    main, theirs = pty.openpty()
    process = started(words, cwd, (theirs, theirs, theirs))
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(main)
    return exit_code(process), seen.decode("utf-8")


WAYS = {
    "a notebook": lambda folder: ["run", f"{HOSTILE}.ipynb"],
    "a study": lambda folder: ["run", HOSTILE],
    "an option": lambda folder: ["run", "matching", f"--{HOSTILE}"],
    "a command": lambda folder: [HOSTILE],
    "a parameter": lambda folder: ["run", "matching", "-p", f"{HOSTILE}=1"],
    "a column": lambda folder: ["data", "check", "--study", "matching", str(folder / "table.csv")],
    "a file": lambda folder: ["data", "check", "--study", "matching", str(folder / f"{HOSTILE}.csv")],
    "a suite": lambda folder: ["batch", str(folder / "suite.yaml")],
    "a run": lambda folder: ["compare", HOSTILE, HOSTILE],
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="not on this platform: Windows has no such terminals")
@pytest.mark.parametrize("way", WAYS)
def test_no_name_steers_a_terminal(way, tmp_path, root):
    (tmp_path / "table.csv").write_text(f"id,{HOSTILE}\n1,2\n", encoding="utf-8")
    (tmp_path / "suite.yaml").write_text(
        f'runs:\n- study: "{HOSTILE.encode("unicode_escape").decode()}"\n', encoding="utf-8"
    )
    code, seen = on_a_terminal(*WAYS[way](tmp_path), cwd=root)
    assert code == 2, seen
    assert "owned" in seen  # the name was said
    assert not STEERING & set(seen)
    assert "Traceback" not in seen
