"""The file correction.json: written, read back, and refused where it is foreign, cut or changed."""

import json

import numpy as np
import pytest

from evalbench.errors import BadInput
from evalbench.readers.corrections import Learnt, read_corrections, written

WHERE = {"name": "arena", "version": "1", "sha256": "ab", "models": ["fern"]}


def learnt(**changes):
    rng = np.random.default_rng(0)
    judged = rng.choice([0.2, 0.5, 0.85], 60)
    human = np.clip(judged - 0.1 + rng.normal(0, 0.1, 60), 0, 1).round(3)
    own = {"judge": "acme/judge", "criterion": "faithful", "prompts": ("p1",), "population": WHERE, "annotators": 2}
    return Learnt(**(own | {"judged": tuple(judged), "human": tuple(human)} | changes))


def test_what_is_written_is_read_back_whatever_the_order_of_labels(tmp_path):
    one, other = learnt(), learnt(criterion="right", scale=(0.0, 4.0))
    path = tmp_path / "correction.json"
    path.write_bytes(written([other, one]))
    found = read_corrections(path)
    assert [(f.judge, f.criterion, f.prompts, f.scale, f.annotators) for f in found] == [
        ("acme/judge", "faithful", ("p1",), (0.0, 1.0), 2),
        ("acme/judge", "right", ("p1",), (0.0, 4.0), 2),
    ]
    assert sorted(zip(found[0].judged, found[0].human, strict=True)) == sorted(zip(one.judged, one.human, strict=True))
    assert found[0].fit.expected == pytest.approx(one.fit.expected)
    assert found[0].where == "arena@1"
    backwards = learnt(judged=one.judged[::-1], human=one.human[::-1])
    assert written([one, other]) == written([other, backwards])


def changed(content, **changes):
    entry = content["corrections"][0]
    return content | {"corrections": [entry | changes]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: [], "expected a JSON object"),
        (lambda c: {"light": "red"}, "is not a correction that judge_audit wrote"),
        (lambda c: c | {"schema_version": 9}, "schema_version is 9"),
        (lambda c: c | {"corrections": []}, "has no corrections"),
        (lambda c: c | {"corrections": [7]}, "correction 1: expected an object"),
        (lambda c: c | {"corrections": c["corrections"] * 2}, "judge acme/judge, criterion faithful: twice"),
        (lambda c: changed(c, judge=""), "correction 1: judge is ''"),
        (lambda c: changed(c, prompts="p"), "prompts is not a list of texts"),
        (lambda c: changed(c, scale=[1, 0]), "not within the scale"),
        (lambda c: changed(c, scale=[0, "x"]), "not two numbers"),
        (lambda c: changed(c, labels=[[0.5, 0.5, 10**12]], n_labels=10**12), "at most"),
        (lambda c: changed(c, labels=[[0.5, 0.5, -1]]), "labels is not a list"),
        (lambda c: changed(c, labels=c["corrections"][0]["labels"][:3]), "n_labels is 60, the labels are"),
        (lambda c: changed(c, fit=[[0.2, 0.9]]), "fit is not that of the labels"),
        (lambda c: changed(c, population=None), "population is not an object"),
    ],
)
def test_foreign_cut_and_changed_files_are_refused_with_their_name(tmp_path, change, said):
    path = tmp_path / "correction.json"
    content = change(json.loads(written([learnt()])))
    path.write_text(json.dumps(content))
    with pytest.raises(BadInput) as error:
        read_corrections(path)
    assert "correction.json" in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize("key", ["judge", "criterion", "prompts", "population", "scale", "n_labels", "labels", "fit"])
def test_what_is_missing_is_named(tmp_path, key):
    content = json.loads(written([learnt()]))
    del content["corrections"][0][key]
    path = tmp_path / "correction.json"
    path.write_text(json.dumps(content))
    with pytest.raises(BadInput, match=f"correction 1: '{key}' is missing"):
        read_corrections(path)


def test_a_cut_file_a_folder_and_no_file_are_refused(tmp_path):
    path = tmp_path / "correction.json"
    path.write_bytes(written([learnt()])[:80])
    for place in (path, tmp_path, tmp_path / "none.json"):
        with pytest.raises(BadInput, match=place.name):
            read_corrections(place)


def test_marks_beyond_their_scale_are_no_correction():
    with pytest.raises(ValueError, match="not within the scale"):
        learnt(judged=(2.0,), human=(1.0,))
