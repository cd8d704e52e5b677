"""The sample data of the explainability studies are what their scripts write, and hold what their cards say."""

import json

import pytest

from evalbench.readers.catalog import entries, entry_files


@pytest.mark.parametrize(
    ("maker", "name"), [("make_word_problems", "word_problems"), ("make_cited_answers", "cited_answers")]
)
def test_the_script_writes_these_bytes(maker, name, script, root, tmp_path, monkeypatch, capsys):
    module = script(maker)
    monkeypatch.setattr(module, "OUT", tmp_path / "out")
    module.main()
    kept = root / "data" / name / "1.1.0"
    written = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert written == sorted(p.name for p in kept.iterdir())
    assert all((tmp_path / "out" / n).read_bytes() == (kept / n).read_bytes() for n in written)


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_word_problems(root):
    items = rows(root / "data/word_problems/1.1.0/items.jsonl")
    assert len({r["id"] for r in items}) == 60
    assert {r["model"] for r in items} == {"fern-1b", "oak-7b", "elm-13b"}
    assert len({r["question"] for r in items}) == 60


def test_cited_answers(root):
    folder = root / "data/cited_answers/1.1.0"
    answers, sources = rows(folder / "answers.jsonl"), rows(folder / "sources.jsonl")
    assert len(answers) == 30
    assert {s["id"] for s in sources} == {a["id"] for a in answers}
    addresses = [c["url"] for a in answers for c in a["citations"]] + [s["url"] for s in sources]
    assert all(".example/" in address for address in addresses)


def test_explained_answers_names_the_files_of_both(root):
    both = entries(root)["explained_answers@1.1.0"]
    assert both.synthetic
    assert sorted(entry_files(both, root)) == ["answers", "items", "sources"]
