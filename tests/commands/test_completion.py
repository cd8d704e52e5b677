"""Completion: what a shell receives, and the line that bash, zsh and fish make of it."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import evalbench

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def told(line: str, cwd: Path = ROOT, shell: str = "bash", **variables: str) -> list[str]:
    """What completes a line, without its kind."""
    variables = {"COMP_LINE": line, **variables}
    done = evalbench(cwd=cwd, env={**os.environ, "_EVALBENCH_COMPLETE": f"{shell}_complete", **variables})
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip().splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "piece", "expected"),
    [("evalbench ba", "ba", ["plain,batch"]),
     ("evalbench label p", "p", ["plain,page", "plain,plan"]),
     ("evalbench label page t.csv --language ", "", ["plain,en", "plain,ru", "plain,zh"]),
     ("evalbench run matching_", "matching_", ["plain,matching_calibration"]),
     ("evalbench run matching -p rule_t", "rule_t", ["plain,rule_threshold="]),
     ("evalbench run -p seed=1 matching -p assign", "assign", ["plain,assignment="]),
     ("evalbench run text_metrics -p stem=", "=", ["plain,true", "plain,false"]),
     ("evalbench run text_metrics -p stem=f", "f", ["plain,false"]),
     ("evalbench run matching -p assignment=", "=", ["plain,greedy", "plain,optimal"]),
     ("evalbench run matching -p light_on=m", "m", ["plain,match_score"]),
     ("evalbench run text_metrics -p metrics=", "=", ["plain,auto"]),
     ("evalbench run human_correlation -p references=", "=", ["plain,best", "plain,mean"]),
     ("evalbench run explainability -p cot_sample_method=r", "r", ["plain,random"]),
     ("evalbench run citation -p judge=base", "base", ["plain,baseline/lexical"]),
     ("evalbench run matching --data house_style", "house_style", ["plain,house_style_curated@1.1.0"]),
     ("evalbench run matching --data house_style_curated@", "@", ["plain,1.1.0"]),
     ("evalbench run matching --data=house_style_curated@1", "1", ["plain,1.1.0"]),
     ("evalbench run matching -p data=house", "house", ["plain,house_style_curated@1.1.0"]),
     ("evalbench run matching --data ./mine", "./mine", ["file,./mine"]),
     ("evalbench run no_such_study -p ", "", []),
     ("evalbench data check mine.csv --study cot", "cot", ["plain,cot_levels"]),
     ("evalbench metrics show exact", "exact", ["plain,exact_match"]),
     ("evalbench list metr", "metr", ["plain,metrics"])],
)  # fmt: skip
def test_what_bash_is_told(line: str, piece: str, expected: list[str]) -> None:
    assert told(line, COMP_PIECE=piece) == expected


def test_outside_of_the_checkout_it_is_the_same(tmp_path: Path) -> None:
    assert told("evalbench run matching_", tmp_path, COMP_PIECE="matching_") == ["plain,matching_calibration"]


def test_every_parameter_of_a_study_is_offered() -> None:
    from evalbench.runs.notebooks import known_parameters

    known = known_parameters("matching", ROOT).values()
    offered = told("evalbench run matching -p ", COMP_PIECE="")
    assert offered == [f"plain,{p.name}=" for p in known if not p.advanced]
    assert 2 < len(offered) <= 10
    rest = {p.name for p in known if p.advanced and p.name.startswith("s")}
    assert rest <= {o.removeprefix("plain,").rstrip("=") for o in told("evalbench run matching -p s", COMP_PIECE="s")}


def completed(shell: list[str], setup: str, typed: str, cwd: Path) -> str:
    """The line of an interactive shell after ``typed``, in which tabs complete."""
    import pty

    home, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COMP")}
    environment |= {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "TERM": "dumb",
        "PS1": "",
        "HOME": str(cwd),
        "COLUMNS": "300",
    }
    process = subprocess.Popen(shell, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=environment)
    os.close(theirs)

    def heard(until: str, seconds: float) -> str:
        """What the shell writes until it wrote a text, for so long at most."""
        read, end = "", time.monotonic() + seconds
        while time.monotonic() < end and until not in read:
            if select.select([home], [], [], 0.1)[0]:
                try:
                    read += os.read(home, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        return read

    try:
        os.write(home, f"{setup}; echo rea''dy\n".encode())
        heard("ready", 30)
        for part, rest in zip(typed.split("\t")[:-1], COMPLETED, strict=True):
            os.write(home, f"{part}\t".encode())
            heard(rest, 20)
        os.write(
            home, f"{typed.split(chr(9))[-1]}\x01echo \x05 >line.txt; echo do''ne\n".encode()
        )  # begin, end of the line
        heard("done", 20)
    finally:
        process.kill()
        process.wait()
        os.close(home)
    return (cwd / "line.txt").read_text().strip()


TYPED = "evalbench run matching_c\t-p seed=3 --data house_style_c\t-p n_resa\t100 -p objective=sp\t"
COMPLETED = ("alibration", "urated@1.1.0", "mples=", "earman")  # what the shell adds at each tab
LINE = "evalbench run matching_calibration -p seed=3 --data house_style_curated@1.1.0 -p n_resamples=100 -p objective=spearman"


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("shell", "setup"),
    [(["bash", "--norc", "--noprofile", "-i"], 'eval "$(_EVALBENCH_COMPLETE=bash_source evalbench)"'),
     (["zsh", "-f", "-i"], 'autoload -Uz compinit; compinit -u -D; eval "$(_EVALBENCH_COMPLETE=zsh_source evalbench)"')],
    ids=["bash", "zsh"],
)  # fmt: skip
def test_a_shell_completes_the_line(shell: list[str], setup: str, tmp_path: Path) -> None:
    if sys.platform == "win32" or shutil.which(shell[0]) is None:
        pytest.skip(f"not on this platform: {shell[0]}")
    assert completed(shell, setup, TYPED, tmp_path) == LINE


@pytest.mark.skipif(shutil.which("fish") is None, reason="not on this platform: fish")
def test_fish_completes_the_line(tmp_path: Path) -> None:
    def offered(line: str) -> list[str]:
        script = f"_EVALBENCH_COMPLETE=fish_source evalbench | source; complete -C '{line}'"
        environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(tmp_path)}
        done = subprocess.run(["fish", "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environment, check=True)  # fmt: skip
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    assert offered("evalbench run matching_") == ["matching_calibration"]
    assert offered("evalbench run matching --data house") == ["house_style_curated@1.1.0"]
    assert offered("evalbench run matching -p rule_t") == ["rule_threshold="]


def test_every_choice_is_one_that_the_study_takes() -> None:
    """The words of the docstrings: the default of each option is among them."""
    from evalbench import studies
    from evalbench.runs.choices import choices_of

    for name in studies.names():
        choices = choices_of(name)
        for option, parameter in studies.study(name).options().items():
            words = choices.get(option)
            if words and isinstance(parameter.default, str) and parameter.default and option not in ("embed", "judge"):
                assert parameter.default in words, (name, option)
