"""The sample of invented answers is what its script writes, and holds what its card says."""

import json


def test_the_script_writes_these_bytes(script, root, tmp_path, monkeypatch):
    module = script("make_rule_book_answers")
    monkeypatch.setattr(module, "OUT", tmp_path / "out")
    module.main()
    kept = root / "data" / "rule_book_answers" / "1.1.0"
    written = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert written == sorted(p.name for p in kept.iterdir())
    assert all((tmp_path / "out" / n).read_bytes() == (kept / n).read_bytes() for n in written)


def test_both_systems_answer_every_question_of_the_rule_books(root):
    rows = [
        json.loads(line)
        for line in (root / "data/rule_book_answers/1.1.0/answers.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    questions = {
        row["id"]: row["question"]
        for row in map(json.loads, (root / "data/rule_books/1.1.0/questions.jsonl").read_text("utf-8").splitlines())
    }
    assert {(row["id"], row["model"]) for row in rows} == {(i, m) for i in questions for m in ("fern", "oak")}
    assert all(row["question"] == questions[row["id"]] and len(row["contexts"]) == 3 for row in rows)
