"""The sample of invented regulations is what its script writes, and holds what its card says."""

import json


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_script_writes_these_bytes(script, root, tmp_path, monkeypatch):
    module = script("make_rule_books")
    monkeypatch.setattr(module, "OUT", tmp_path / "out")
    module.main()
    kept = root / "data" / "rule_books" / "1.1.0"
    written = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert written == sorted(p.name for p in kept.iterdir())
    assert all((tmp_path / "out" / n).read_bytes() == (kept / n).read_bytes() for n in written)


def test_each_question_is_answered_by_a_passage_of_an_article_of_its_country(root):
    folder = root / "data" / "rule_books" / "1.1.0"
    documents = {d["doc_id"]: d for d in rows(folder / "documents.jsonl")}
    questions = rows(folder / "questions.jsonl")
    assert len(documents) == len({d["text"] for d in documents.values()}) == 60
    assert len({q["id"] for q in questions}) == len({q["question"] for q in questions}) == 25
    for question in questions:
        document = documents[question["doc_id"]]
        assert question["passage"] in document["text"]
        assert (question["group"], question["lang"]) == (document["group"], document["lang"])
