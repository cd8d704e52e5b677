"""Tokens with tags and brat's folders: what is read, what is repaired with a note, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evalbench.errors import BadInput
from evalbench.readers.brat import brat_frame
from evalbench.readers.files import raw_table
from evalbench.readers.folder import folder_frame, row_files
from evalbench.readers.tagged import chunks_of, tokens_of

ONE = np.zeros(20, dtype=np.int64)


def chunks(tags: str, text: np.ndarray | None = None) -> list[tuple[int, int, str]]:
    listed = tags.split()
    found = chunks_of(listed, ONE[: len(listed)] if text is None else text)
    return list(zip(found.first.tolist(), found.last.tolist(), found.kinds, strict=True))


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("B-A I-A O B-A", [(0, 1, "A"), (3, 3, "A")]),
        ("B-A B-A", [(0, 0, "A"), (1, 1, "A")]),
        ("I-A I-A", [(0, 1, "A")]),
        ("O I-A I-B", [(1, 1, "A"), (2, 2, "B")]),
        ("B-A I-B", [(0, 0, "A"), (1, 1, "B")]),
        ("B-A I-A E-A S-A", [(0, 2, "A"), (3, 3, "A")]),
        ("B-A E-A I-A", [(0, 1, "A"), (2, 2, "A")]),
        ("U-A U-A B-B L-B", [(0, 0, "A"), (1, 1, "A"), (2, 3, "B")]),
        ("B-creative-work I-creative-work", [(0, 1, "creative-work")]),
        ("O O", []),
    ],
)
def test_entities_of_tags(tags, found):
    assert chunks(tags) == found


def test_no_entity_goes_on_into_the_next_text():
    assert chunks("B-A I-A", np.array([0, 1])) == [(0, 0, "A"), (1, 1, "A")]


def test_what_begins_without_b_is_counted():
    assert chunks_of(["I-A", "O", "B-A", "I-B"], ONE[:4]).repaired == 2


def test_no_tags_are_refused():
    with pytest.raises(BadInput, match=r"not tags[^Z]*- PER\n[^Z]*- X-PER"):
        chunks_of(["PER", "X-PER", "O"], ONE[:3])


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path):
    return raw_table(path, path.read_bytes())


def test_a_conll_file(tmp_path):
    path = written(tmp_path / "a.conll", "-DOCSTART- O\n\n# id 1\nMira\tB-PER\r\n#\tO\n\nin\tO\nСандел\tB-LOC\n")
    frame, notes = read(path)
    assert frame["token"].tolist() == ["Mira", "#", "in", "Сандел"]
    assert frame["sentence"].tolist() == [1, 1, 2, 2]
    assert frame.index.tolist() == [4, 5, 7, 8]
    assert "tag_before" not in frame
    assert notes == ["1 line that begins with # and has no tag was left out"]
    tokens = tokens_of(frame)
    assert tokens.texts == ["Mira #", "in Сандел"]
    assert (tokens.start.tolist(), tokens.end.tolist()) == ([0, 5, 0, 3], [4, 6, 2, 9])


def test_two_columns_of_tags_are_both_kept(tmp_path):
    frame, _ = read(written(tmp_path / "a.conll", "a NN B-X I-X\nb NN O O\n"))
    assert frame[["tag_before", "tag"]].to_numpy().tolist() == [["B-X", "I-X"], ["O", "O"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [("Mira PER\n", "line 1: 'Mira PER' has no tag"), ("alone\n", "has no tag"), ("# x\n", "holds no token")],
)
def test_files_that_are_no_tokens_are_refused(tmp_path, text, said):
    with pytest.raises(BadInput, match=said):
        read(written(tmp_path / "a.conll", text))


def test_a_folder_of_conll_files_is_a_model_each(tmp_path):
    for name in ("oak", "elm"):
        written(tmp_path / f"{name}.conll", "a B-X\n")
    assert [p.name for p in row_files(tmp_path)] == ["elm.conll", "oak.conll"]
    frame, notes, digests = folder_frame(tmp_path)
    assert frame["model"].tolist() == ["elm", "oak"]
    assert notes == ["its 2 files were read as a model each"]
    assert set(digests) == {"elm.conll", "oak.conll"}


def brat(folder: Path, name: str, text: str, annotations: str) -> None:
    folder.mkdir(exist_ok=True)
    written(folder / f"{name}.txt", text)
    written(folder / f"{name}.ann", annotations)


def test_documents_of_brat(tmp_path):
    brat(
        tmp_path,
        "d1",
        "Mira saw Ив.",
        "T1\tPER 0 4\tMira\nR1\tknows Arg1:T1 Arg2:T2\nT2\tPER 9 11\tИв\n#1\tNote T1\tok\n",
    )
    brat(tmp_path, "d2", "left and right wing", "T1\tX 0 4;15 19\tleft wing\n")
    frame, notes, digests = folder_frame(tmp_path)
    assert frame["annotations"].tolist() == [
        [{"start": 0, "end": 4, "entity_class": "PER"}, {"start": 9, "end": 11, "entity_class": "PER"}],
        [{"start": 0, "end": 19, "entity_class": "X"}],
    ]
    assert frame["text"].tolist() == ["Mira saw Ив.", "left and right wing"]
    assert "1 entity of several fragments" in notes[1]
    assert set(digests) == {"d1.ann", "d1.txt", "d2.ann", "d2.txt"}


def test_faults_of_brat_are_told_at_once(tmp_path):
    brat(tmp_path, "d", "Mira", "T1\tPER 0 9\tMira\nT2\tPER 2 1\tx\nT3\tPER 0 4\tMina\nT4 PER 0 4\n")
    with pytest.raises(BadInput) as caught:
        brat_frame(tmp_path)
    said = "\n".join(caught.value.faults)
    assert "line 1: ends at 9, but the text has 4 characters" in said
    assert "line 2: 'PER 2 1' is not a class with a start and an end" in said
    assert "line 3: quotes 'Mina', but 'Mira' is there" in said
    assert "line 4: 'T4 PER 0 4' lacks the tab" in said


def test_folders_of_brat_are_models(tmp_path):
    for model in ("oak", "elm"):
        brat(tmp_path / model, "d", "Mira", "T1\tPER 0 4\tMira\n")
    frame, _, _ = folder_frame(tmp_path)
    assert frame["model"].tolist() == ["elm", "oak"]
