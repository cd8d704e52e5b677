"""Saved files to one table of labels: duplicates, contradictions, agreement, and bad files with all faults at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from label_pages import DATA, called, made

from evalbench.core.agreement import cohen_kappa, krippendorff_alpha
from evalbench.errors import BadInput
from evalbench.label.merged import agreement, merge
from evalbench.label.saved import Key, read_keys, read_saved

KEY = Key("p1", "good", "single", (0, 1, 2), {f"i{k}": {"id": f"d{k // 2}", "model": "ab"[k % 2]} for k in range(8)})


def row(id_: str, mark: Any, annotator: str = "Ann", **more: Any) -> dict[str, Any]:
    said = {
        "page": "p1",
        "criterion": "good",
        "annotator": annotator,
        "id": id_,
        "mark": mark,
        "skipped": "",
        "seconds": 4.0,
    }
    return {**said, "at": "2026-01-01T10:00:00Z", **more}


def file(tmp_path: Path, rows: list[Any], name: str = "a.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows), encoding="utf-8")
    return path


def merged(tmp_path: Path, *lists: list[Any], keys: dict[str, Key] | None = None):
    paths = [file(tmp_path, rows, f"f{i}.jsonl") for i, rows in enumerate(lists)]
    keys = {"p1": KEY} if keys is None else keys
    return merge(read_saved(paths, keys), keys)


def test_duplicates_count_once_and_the_later_mark_counts(tmp_path: Path) -> None:
    first = [row("i0", 1), row("i1", 2), row("i2", 0)]
    second = [
        row("i0", 1),
        row("i1", 0, at="2026-01-01T11:00:00Z"),
        row("i2", 0, comment="c", at="2026-01-02T10:00:00Z"),
    ]
    for lists in ((first, second), (second, first)):
        found = merged(tmp_path, *lists)
        assert found.labels[["id", "model", "mark"]].to_numpy().tolist() == [
            ["d0", "a", 1.0],
            ["d0", "b", 0.0],
            ["d1", "a", 0.0],
        ]
        assert found.labels["comment"].tolist() == ["", "", "c"]
        assert (len(found.duplicates), len(found.contradictions)) == (2, 2)


def test_where_nothing_says_which_is_later_no_mark_counts(tmp_path: Path) -> None:
    found = merged(tmp_path, [row("i0", 1, at="")], [row("i0", 2, at="")], [row("i1", 1)], [row("i1", 2)])
    assert found.labels["skipped"].tolist() == ["contradicting"] * 2
    assert found.labels["mark"].isna().all()


def test_one_answer_on_two_pages_is_one_item(tmp_path: Path) -> None:
    other = Key("p2", "good", "single", (0, 1, 2), {"x": {"id": "d0", "model": "a"}})
    keys = {"p1": KEY, "p2": other}
    rows = [row("i0", 1), row("x", 1, page="p2", at="2026-02-01T00:00:00Z"), row("x", 2, "Bob", page="p2")]
    found = merged(tmp_path, rows, keys=keys)
    assert len(found.duplicates) == 1
    assert agreement(found.rows, n_resamples=0)["good"]["several"] == 1


def test_sides_of_two_pages_meet_in_the_winner(tmp_path: Path) -> None:
    keys = {
        page: Key(page, "good", "pairs", (0, 1), {"i": {"id": "d", "left": left, "right": right}})
        for page, left, right in (("p1", "a", "b"), ("p2", "b", "a"))
    }
    rows = [
        row("i", "left"),
        row("i", "right", "Bob", page="p2"),
        row("i", "tie", "Cid"),
        row("i", None, "Dan", skipped="unclear"),
    ]
    found = merged(tmp_path, rows, keys=keys)
    assert found.rows.set_index("annotator")["value"].to_dict() == {"Ann": "a", "Bob": "a", "Cid": "tie", "Dan": ""}
    scores = found.labels.set_index(["annotator", "model"])["mark"].to_dict()
    assert scores == {
        ("Ann", "a"): 1,
        ("Ann", "b"): 0,
        ("Bob", "a"): 1,
        ("Bob", "b"): 0,
        ("Cid", "a"): 0.5,
        ("Cid", "b"): 0.5,
    }
    assert found.comparisons is not None
    assert found.comparisons["winner"].tolist().count("a") == 2


def test_agreement_is_that_of_the_formulas(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    marks = rng.integers(0, 3, (8, 3))
    rows = [row(f"i{i}", int(marks[i, a]), name) for i in range(8) for a, name in enumerate(("Ann", "Bob", "Cid"))]
    found = agreement(merged(tmp_path, rows).rows, n_resamples=50)["good"]
    units = np.repeat(np.arange(8), 3)
    assert found["alpha"].value == pytest.approx(krippendorff_alpha(units, marks.ravel(), n_resamples=0).value)
    assert found["alpha_ordinal"].value == pytest.approx(
        krippendorff_alpha(units, marks.ravel(), "ordinal", n_resamples=0).value
    )
    assert found["pairs"][0]["kappa"].value == pytest.approx(cohen_kappa(marks[:, 0], marks[:, 1]).value)
    most = [b if b == c else np.nan for _, b, c in marks]
    assert found["annotators"]["Ann"]["kappa"].value == pytest.approx(
        cohen_kappa(marks[:, 0].astype(float), most).value
    )
    assert found["annotators"]["Ann"]["mean"] == pytest.approx(marks[:, 0].mean())
    assert found["annotators"]["Ann"]["seconds"] == 4.0


def test_one_annotator_alone_and_only_skips(tmp_path: Path) -> None:
    found = agreement(merged(tmp_path, [row("i0", 1)]).rows)["good"]
    assert found["alpha"].value is None
    assert found["annotators"]["Ann"]["kappa"].value is None
    found = agreement(merged(tmp_path, [row("i0", None, skipped="unclear")]).rows)["good"]
    assert (found["labels"], found["annotators"]["Ann"]["skipped"]) == (0, 1)


def test_names_that_may_be_one_person(tmp_path: Path) -> None:
    assert merged(tmp_path, [row("i0", 1, "Ann"), row("i0", 1, "ann")]).names == (("Ann", "ann"),)


def test_bad_files_all_faults_at_once(tmp_path: Path) -> None:
    good = file(tmp_path, [row("i0", 1)], "good.jsonl")
    paths = [
        good,
        file(tmp_path, ["{no json", row("i0", 1)], "broken.jsonl"),
        file(tmp_path, [row("nobody", 1), row("i0", 7), row("i1", "left")], "marks.jsonl"),
        file(tmp_path, [row("i0", 1, page="p9")], "page.jsonl"),
        file(tmp_path, [row("i0", 1, criterion="bad")], "criterion.jsonl"),
        file(tmp_path, [row("i0", 1, seconds=-1), row("i1", 1, annotator="")], "values.jsonl"),
        file(tmp_path, ['{"id": "i0", "score": 1}'], "columns.jsonl"),
        tmp_path / "none.jsonl",
    ]
    with pytest.raises(BadInput) as error:
        read_saved(paths, {"p1": KEY})
    said = "\n".join(error.value.faults)
    for part in (
        "broken.jsonl: line 1: not valid JSON", "marks.jsonl: id 'nobody' the page has no such item (row 1)",
        "marks.jsonl: mark '7' is not on the scale of the page (rows 2, 3)", "page.jsonl: page p9: no key", "the criterion is good, not bad",
        "values.jsonl: column seconds", "values.jsonl: column annotator: empty", "columns.jsonl: column page: is missing", "none.jsonl: no such file",
    ):  # fmt: skip
        assert part in said
    assert "good.jsonl" not in said


def test_without_a_key_marks_are_numbers_and_sides_are_refused(tmp_path: Path) -> None:
    found = merged(tmp_path, [row("i0", 1), row("i1", "2")], keys={})
    assert found.labels["id"].tolist() == ["i0", "i1"]
    assert "model" not in found.labels
    for mark, said in (("left", "give --key"), ("good", "is not a whole number")):
        with pytest.raises(BadInput, match=said):
            merged(tmp_path, [row("i0", mark)], keys={})


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        '{"format": 1, "page": "p", "criterion": "c", "mode": "pairs", "marks": [0, 1], "items": {"i": {"id": "d"}}}',
    ],
)
def test_what_is_no_key(tmp_path: Path, content: str) -> None:
    path = tmp_path / "k.key.json"
    path.write_text(content)
    with pytest.raises(BadInput, match="key"):
        read_keys([path])


def test_the_labels_are_read_by_human_correlation_as_they_are(tmp_path: Path) -> None:
    from evalbench import load
    from evalbench.studies import human_correlation

    rows = [
        {"id": f"d{i:02d}", "model": m, "contexts": "c", "answer": f"{m} {i}"}
        for i in range(12)
        for m in ("oak", "elm")
    ]
    made(tmp_path, rows)
    key = json.loads((tmp_path / "label.key.json").read_text())
    rng = np.random.default_rng(1)
    said = [
        row(id_, int(rng.integers(0, 2) + (item["model"] == "oak")), name, page=key["page"], criterion="helpful", seconds=float(i + 1))
        for name in ("Ann", "Bob") for i, (id_, item) in enumerate(key["items"].items())
    ]  # fmt: skip
    out = tmp_path / "labels.csv"
    said_back = called("label", "merge", file(tmp_path, said), "--key", tmp_path / "label.key.json", "--out", out)
    assert "48 labels of 2 annotators" in said_back
    data = load(out, study="human_correlation")
    result = human_correlation.evaluate(data, n_resamples=50)
    assert {e.metric for e in result.summary.estimates} >= {"alpha_ordinal", "kappa"}
    assert not {"seconds", "probability"} & {str(e.group.get("scorer")) for e in result.summary.estimates}


def test_labels_of_pairs_of_violations_are_pair_verdicts(tmp_path: Path) -> None:
    from evalbench.readers.tables import checked
    from evalbench.studies import matching_calibration

    pair = {"id": "s", "model": "c", "truth_id": "t", "prediction_id": "p"}
    keys = {"p1": Key("p1", "good", "single", (0, 1, 2), {"i": {**pair, "probability": 0.5, "stratum": "x"}})}
    labels = merged(
        tmp_path, [row("i", 1), row("i", 2, "Bob"), row("i", None, "Cid", skipped="unclear")], keys=keys
    ).labels
    assert labels["probability"].tolist() == [0.5] * 3
    read = matching_calibration.adapt({"pair_verdicts": labels.astype(object)})["pair_verdicts"]
    assert "read_as" not in read.attrs
    verdicts = checked(read, matching_calibration.SCHEMA["pair_verdicts"], "labels")
    own = ["id", "model", "truth_id", "prediction_id"]
    assert verdicts[own].drop_duplicates().to_numpy().tolist() == [[*pair.values()]]
    assert verdicts["mark"].tolist()[:2] == [0.5, 1.0]
    assert np.isnan(verdicts["mark"].iloc[2])


def test_a_key_of_pairs_that_was_written_before_names_their_text_and_checker(tmp_path: Path) -> None:
    pair = {"sample_id": "s", "checker": "c", "truth_id": "t", "prediction_id": "p"}
    content = {"format": 1, "page": "p1", "criterion": "good", "mode": "single", "marks": [0, 1], "seed": 0}
    path = tmp_path / "old.key.json"
    path.write_text(json.dumps({**content, "items": {"i": {"id": "s|t|p", "model": "c", **pair}}}))
    keys = read_keys([path])
    assert keys["p1"].items == {"i": {"id": "s", "model": "c", "truth_id": "t", "prediction_id": "p"}}
    labels = merged(tmp_path, [row("i", 1)], keys=keys).labels
    assert labels[["id", "model", "truth_id", "prediction_id", "mark"]].to_numpy().tolist() == [
        ["s", "c", "t", "p", 1.0]
    ]


def test_the_key_of_another_page_is_never_overwritten(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from evalbench.cli import group

    rows = [{"id": f"d{i}", "contexts": "c", "answer": f"- {i}"} for i in range(3)]
    out = made(tmp_path, rows)
    made(tmp_path, rows)
    before = (tmp_path / "label.key.json").read_bytes()
    words = [
        "label",
        "page",
        str(tmp_path / "label.jsonl"),
        "--criterion",
        str(DATA / "helpful.ru.yaml"),
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(group, words)
    assert "is the key of another page" in str(done.exception)
    assert (tmp_path / "label.key.json").read_bytes() == before


def test_merge_prints_json(tmp_path: Path) -> None:
    path = file(tmp_path, [row("i0", 1), row("i0", 1), row("i1", 1, "Bob")])
    found = json.loads(called("label", "merge", path, "--out", tmp_path / "l.parquet", "--json"))
    assert (found["labels"], len(found["duplicates"]), found["contradictions"]) == (2, 1, [])
    assert len(pd.read_parquet(tmp_path / "l.parquet")) == 2
    called("label", "merge", path, "--out", tmp_path / "l.jsonl")
    assert [r["id"] for r in map(json.loads, (tmp_path / "l.jsonl").read_text().splitlines())] == ["i0", "i1"]
