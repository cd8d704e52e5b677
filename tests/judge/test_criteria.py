"""Criteria out of YAML: strict, all faults at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalbench.errors import BadInput
from evalbench.judge.criteria import read_criteria, task_of_criterion

DATA = Path(__file__).resolve().parents[2] / "data" / "desk_labels" / "1.1.0"
GOOD = "name: a\ndefinition: Is it?\nscale: {0: 'no', 1: 'yes'}\n"


def read(tmp_path: Path, text: str):
    path = tmp_path / "criterion.yaml"
    path.write_text(text, encoding="utf-8")
    return read_criteria(path)


@pytest.mark.parametrize("name", ["helpful.yaml", "helpful.ru.yaml"])
def test_the_samples(name: str) -> None:
    (one,) = read_criteria(DATA / name)
    assert list(one.scale) == [0, 1, 2]
    assert {example.mark for example in one.examples} == {0, 1, 2}
    assert one.needs_basis == "context"
    task = task_of_criterion(one)
    assert task.labels == {"0": 0.0, "1": 1.0, "2": 2.0}
    assert (task.fields, task.optional) == (("answer", "basis"), ("question",))
    assert [e["text"] for e in task.context["examples"]] == [e.text for e in one.examples]


def test_a_list_and_the_defaults(tmp_path: Path) -> None:
    two = read(
        tmp_path,
        "- {name: a, definition: d, scale: {1: x, 0: y}}\n- {name: b, definition: d, scale: {0: x, 1: y}, needs_basis: true}\n",
    )
    assert [(one.name, list(one.scale), one.examples, one.needs_basis) for one in two] == [
        ("a", [0, 1], (), "none"), ("b", [0, 1], (), "any"),
    ]  # fmt: skip


def test_all_faults_at_once(tmp_path: Path) -> None:
    text = """
- name: ''
  scale: {0: '', yes: a, 1.5: b, 2: true}
  examples: [{mark: 7, text: ''}, 3, {mark: 0, text: t, why: no}]
  needs_basis: sometimes
  weight: 2
- {name: b, definition: d, scale: [0, 1], examples: {}}
- {name: c, definition: d, scale: {0: a}}
- 5
- {name: d, definition: d, scale: {0: a, 1: b}}
- {name: d, definition: d, scale: {0: a, 1: b}}
"""
    with pytest.raises(BadInput) as error:
        read(tmp_path, text)
    said = "\n".join(error.value.faults)
    for part in (
        "criterion 1: unknown key 'weight'", "criterion 1: name: expected a text", "criterion 1: definition: expected a text",
        "mark 0: when to give it is missing", "the mark True is not a whole number (YAML reads yes", "the mark 1.5 is not",
        "mark 2: true is not a text; put it in quotes", "examples: 1: the mark 7 is not on the scale", "examples: 1: text is missing",
        "examples: 2: expected mark, text", "examples: 3: unknown key 'why'", "needs_basis: expected one of",
        "criterion 2: scale: expected a mapping", "criterion 2: examples: expected a list", "criterion 3: scale: expected 2 to 10 marks",
        "criterion 4: expected a mapping", "the name 'd' appears twice",
    ):  # fmt: skip
        assert part in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: [", "not valid YAML (line 1"),
        (GOOD + "name: b\n", "'name' appears twice"),
        ("!!python/object/apply:os.system ['true']", "not valid YAML"),
        ("a: &a [*a]", "unknown key 'a'"),
        ("[]", "there is no criterion"),
        ("{? [1, 2] : 3}", "not valid YAML"),
        ("- " * 3000 + "a", "not valid YAML"),
    ],
)
def test_what_is_no_file_of_criteria(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        read(tmp_path, text)
    assert said in str(error.value)
