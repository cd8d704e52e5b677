"""Human correlation: the tables it refuses, and the shapes it takes."""

import json

import numpy as np
import pandas as pd
import pytest
from rated_panels import evaluate, panel, value

from evalbench.core.notes import first_rank
from evalbench.errors import BadInput
from evalbench.readers.dataset import load
from evalbench.studies import human_correlation as study


class TestRefusals:
    def test_criteria_must_be_named_where_each_is_a_column(self):
        frame, _ = panel()
        with pytest.raises(BadInput, match="name the criteria: the table has neither criterion and mark columns"):
            evaluate(frame, metrics=["good"])

    def test_all_faults_at_once(self):
        frame = pd.DataFrame({"id": ["a", "b"], "m": ["1", "x"], "h": ["2", "high"]})
        with pytest.raises(BadInput) as caught:
            evaluate(frame, metrics=["m"], criteria=["h", "g"])
        message = str(caught.value)
        assert "column m: 1 cell is not a number, first 'x' (row 2)" in message
        assert "column h: 1 cell is not a number, first 'high' (row 2)" in message
        assert "criterion g: no such column; there are id, m, h, model" in message

    def test_cells_that_are_not_numbers_do_not_hide_repeated_ids_and_rows_are_those_of_the_file(self, tmp_path):
        (tmp_path / "items.csv").write_text("id,model,m,h\na,s,1,2\na,s,x,high\nb,s,2,\n")
        with pytest.raises(BadInput) as caught:
            study.evaluate(load(tmp_path / "items.csv", study.SCHEMA), metrics=["m"], criteria=["h"])
        assert str(caught.value).splitlines() == [
            "human scores (rows as a spreadsheet counts them: a CSV's header is row 1):",
            "  - column m: 1 cell is not a number, first 'x' (row 3)",
            "  - column h: 1 cell is not a number, first 'high' (row 3)",
            "  - 2 duplicate scores for the same document, system, criterion and annotator, first a, s, h",
            "  - 2 rows share id and model, first a",
        ]

    def test_numbers_within_objects_are_offered(self, tmp_path):
        rows = [{"id": f"d{i}", "m": i, "h": i % 3, "scores": {"overall": i, "said": "so"}} for i in range(9)]
        path = tmp_path / "items.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)))
        way = "--map scores.overall=overall makes a column overall of scores.overall"
        data = load(path, study.SCHEMA)
        for options, said in (
            ({"criteria": ["scores.overall"]}, f"criterion scores.overall: no such column; .*; {way}"),
            ({"criteria": ["h"], "metrics": ["scores.overall"]}, f"metric scores.overall: no such column; {way}"),
            ({}, f"name the criteria: .* numbers within objects: scores.overall; {way}"),
        ):
            with pytest.raises(BadInput, match=said):
                study.evaluate(data, **options)
        result = study.evaluate(data, criteria=["h"], n_resamples=20)
        assert any(way in note and "not read as metrics" in note for note in result.notes)
        renamed = load(path, study.SCHEMA, columns={"scores.overall": "overall"})
        assert study.evaluate(renamed, criteria=["overall"], metrics=["m"], n_resamples=20).parameters["criteria"] == [
            "overall"
        ]

    def test_repeated_rows_and_scores(self):
        frame, ratings = panel()
        with pytest.raises(BadInput, match="2 rows share id and model, first d0"):
            evaluate(pd.concat([frame, frame.iloc[:1]]), ratings, metrics=["good"])
        with pytest.raises(
            BadInput, match="2 duplicate scores for the same document, system, criterion and annotator, first d0"
        ):
            evaluate(frame, pd.concat([ratings, ratings.iloc[:1]]), metrics=["good"])
        with pytest.raises(BadInput, match="1 documents and systems are not in items, first"):
            evaluate(frame.iloc[1:], ratings, metrics=["good"])

    def test_unknown_metrics_and_options(self):
        frame, ratings = panel()
        with pytest.raises(BadInput, match="no metric 'roug1'; did you mean rouge1"):
            evaluate(frame, ratings, metrics=["roug1"])
        with pytest.raises(BadInput) as caught:
            evaluate(frame, ratings, metrics=["good", "juniper_judge"])
        message = str(caught.value)
        assert (
            """without them: -p 'metrics=["good"]'; what the table and this machine allow: -p metrics=auto""" in message
        )
        assert 'in a notebook metrics = "auto"' in message
        with pytest.raises(BadInput, match="level must be one of auto, summary, dataset, system; got 'sentence'"):
            evaluate(frame, ratings, metrics=["good"], level="sentence")
        with pytest.raises(BadInput, match="trusted: zeal not among the criteria complete, quality"):
            evaluate(frame, ratings, metrics=["good"], trusted=["zeal"])
        with pytest.raises(BadInput, match="green_from must be above yellow_from, got 0.4 and 0.7"):
            evaluate(frame, ratings, metrics=["good"], yellow_from=0.7, green_from=0.4)
        with pytest.raises(BadInput, match=r"metrics must be a list of names, such as \[.good.\]"):
            evaluate(frame, ratings, metrics="good")

    def test_options_out_of_range_and_lists_that_are_texts(self):
        frame, ratings = panel()
        for options, said in (
            ({"trusted": "quality"}, r"trusted must be a list of texts, such as \['quality'\]"),
            ({"criteria": "quality"}, "criteria must be a list of texts"),
            ({"lower_is_better": ["typo"]}, "lower_is_better: typo not among good"),
            ({"n_resamples": 0}, "n_resamples must be at least 2, got 0"),
            ({"max_unscored": 7}, "max_unscored must be between 0 and 1, got 7"),
        ):
            with pytest.raises(BadInput, match=said):
                evaluate(frame, ratings, metrics=["good"], **options)

    def test_a_column_cannot_be_metric_and_criterion(self):
        with pytest.raises(BadInput, match="column good is named as a metric and as a criterion"):
            evaluate(panel()[0], metrics=["good"], criteria=["good"])

    def test_a_reference_that_begins_like_a_list_and_is_none_is_a_text_with_a_note(self, tmp_path):
        (tmp_path / "items.csv").write_text('id,model,answer,reference,h\n1,a,x,"[""a"", b]",3\n2,a,x,y,4\n')
        read = load(tmp_path / "items.csv", study.SCHEMA)
        assert read["items"]["reference"].tolist() == [['["a", b]'], ["y"]]
        assert any("reference" in note and "list" in note for note in read.notes)


class TestShapes:
    def test_wide_long_and_separate_say_the_same(self):
        frame, ratings = panel()
        ratings = ratings[ratings.criterion == "quality"]
        separate = evaluate(frame, ratings, metrics=["good"])
        long = evaluate(frame.merge(ratings, on=["id", "model"]), metrics=["good"])
        by_annotator = frame.merge(
            ratings.rename(columns={"mark": "quality"}).drop(columns="criterion"), on=["id", "model"]
        )
        wide = evaluate(by_annotator, metrics=["good"], criteria=["quality"])
        assert (
            [e.row() for e in separate.summary.estimates]
            == [e.row() for e in long.summary.estimates]
            == [e.row() for e in wide.summary.estimates]
        )

    def test_one_annotator_only(self):
        frame, ratings = panel()
        result = evaluate(frame, ratings[ratings.annotator == "a0"], metrics=["good"])
        assert not [e for e in result.summary.estimates if "scorer" not in e.group], (
            "figures that one person cannot have"
        )
        assert result.light == "grey"
        assert "No light, because no criterion is trusted: there is one human score for each output" in result.sentence
        study.picture_criterion(result, "quality")
        study.picture_agreement(result)

    def test_without_systems_the_level_is_dataset(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"id": [f"{i}" for i in range(30)], "m": rng.normal(size=30)})
        frame["h"] = frame["m"] + rng.normal(0, 0.1, 30)
        result = evaluate(frame, metrics=["m"], criteria=["h"], trusted=["h"])
        assert "at dataset level" in result.sentence
        assert value(result, level="summary", coefficient="spearman")["note"] == "each document has one output"
        assert value(result, level="system", coefficient="spearman")["note"] == "fewer than three systems"
        assert "no column model: no system level, no partial correlation" in result.notes

    def test_ten_thousand_identical_rows(self):
        frame = pd.DataFrame({"id": [f"{i:05d}" for i in range(10_000)], "answer": "same", "reference": "same", "h": 3})
        result = evaluate(frame, metrics=["rougeL", "f1_score"], criteria=["h"], trusted=["h"], n_resamples=20)
        assert result.light == "grey"
        assert result.tables["correlations"]["value"].isna().all()
        assert "constant human score: every output got 3" in result.sentence

    def test_many_annotators_take_places(self):
        frame, ratings = panel()
        ratings = ratings.assign(annotator=[f"w{i}" for i in range(len(ratings))])
        result = evaluate(frame, ratings, metrics=["good"])
        assert any("the k-th rating of each output" in note for note in result.notes)
        assert result.estimate("alpha_ordinal", criterion="quality").value > 0.4

    def test_gaps_in_metric_and_scores(self):
        frame, ratings = panel()
        frame.loc[0, "good"] = np.nan
        ratings = ratings.drop(ratings[(ratings.id == "d1") & (ratings.model == "s1")].index)
        result = evaluate(frame, ratings, metrics=["good"])
        assert value(result, criterion="quality", level="dataset", coefficient="spearman")["n"] == 30
        counted = result.items[result.items.criterion == "quality"]["undefined"].value_counts().to_dict()
        assert counted == {"": 31, "no-reference": 1}
        assert result.n_unscored == 2  # one output by two criteria

    def test_a_metric_that_is_not_installed_is_unscored_and_the_others_go_on(self):
        frame, ratings = panel()
        frame = frame.assign(answer="a b", reference="a b")
        result = evaluate(frame, ratings, metrics=["good", "bertscore"])
        figure = result.estimate("spearman_summary", scorer="bertscore", criterion="quality")
        assert (figure.light, figure.n_of, figure.n_unscored) == ("grey", "documents", 8)
        assert "unscored: not installed" in figure.note
        assert any(note.startswith("bertscore is unscored: bertscore needs") for note in result.notes)
        assert result.estimate("spearman_summary", scorer="good", criterion="quality").value > 0.5

    def test_empty_outputs_are_wrong_answers(self):
        frame, ratings = panel()
        frame = frame.assign(answer=["" if s == "s0" else "red apple" for s in frame["model"]], reference="red apple")
        result = evaluate(frame, ratings, metrics=["f1_score"])
        assert (result.items.loc[result.items.model == "s0", "score"] == 0).all()


class TestMetricsByDefault:
    def rated(self, **columns):
        frame, ratings = panel()
        return frame.assign(**columns), ratings

    def run(self, items, ratings=None, **options):
        tables = {"items": items, **({} if ratings is None else {"ratings": ratings})}
        return study.evaluate(load(tables, study.SCHEMA), n_resamples=50, **options)

    def test_columns_of_numbers_and_those_of_the_document(self):
        items, ratings = self.rated(answer="a red apple", reference="a pear", remark="words", vote=1.0)
        result = self.run(items, ratings)
        own = [name for name in (*panel()[0].columns, "vote") if name not in ("id", "model")]
        assert result.parameters["metrics"] == [*own, "meteor", "sacrebleu", "rouge1"]
        assert (
            f"Columns of numbers that were read as metrics: {', '.join(own)}; metrics=[…] names others." in result.notes
        )

    def test_what_the_texts_do_not_allow_is_said(self):
        items, ratings = self.rated(answer="a red apple")
        result = self.run(items, ratings)
        assert "Not asked: meteor, sacrebleu, rouge1 (needs a column reference)." in result.notes

    def test_criteria_are_no_metrics(self):
        items, _ = self.rated(human=np.arange(len(panel()[0])))
        assert "human" not in self.run(items, criteria=["human"]).parameters["metrics"]

    def test_where_nothing_is_left_to_compare_the_reason_and_a_way_out_are_said(self):
        items = pd.DataFrame({"id": ["1", "2"], "better": ["a b", "c"], "worse": ["d", "e"]})
        with pytest.raises(
            BadInput, match=r"""nothing to compare; what needs the output alone: -p 'metrics=\["length"\]'"""
        ):
            self.run(items)
        with pytest.raises(BadInput, match="Not asked: meteor, sacrebleu, rouge1 "):
            self.run(items)

    def test_criteria_that_are_columns_are_suggested(self):
        with pytest.raises(BadInput, match=r"-p 'criteria=\[\"good\""):
            self.run(panel()[0])

    def test_pairs_bring_both_sides(self):
        rows = 30
        items = pd.DataFrame({"id": [f"d{i}" for i in range(rows)], "better": "a good answer", "worse": "a bad one",
                              "m_better": np.arange(rows), "m_worse": 0.0, "alone_better": 1.0})  # fmt: skip
        assert self.run(items).parameters["metrics"] == ["m"]


def test_columns_under_former_names_give_the_same_figures():
    frame, ratings = panel()
    frame = frame.assign(answer="a b", question="Say a.", contexts="a c", reference="a b")
    former = {
        "id": "doc_id",
        "model": "system",
        "mark": "score",
        "answer": "output",
        "question": "prompt",
        "contexts": "context",
    }
    own = evaluate(frame, ratings, metrics=["good", "rouge1"])
    other = evaluate(frame.rename(columns=former), ratings.rename(columns=former), metrics=["good", "rouge1"])
    assert [e.row() for e in own.summary.estimates] == [e.row() for e in other.summary.estimates]
    assert list(own.items) == list(other.items)
    assert any("column doc_id was read as id" in note for note in other.notes)


def test_a_column_score_without_a_criterion_is_neither_a_mark_nor_a_metric_of_its_own():
    frame, ratings = panel()
    result = evaluate(frame.assign(score=1.0), ratings)
    assert "score" not in result.parameters["metrics"]


def test_the_one_column_of_marks_beside_annotators_is_the_criterion():
    rows = [(f"q{i}", f"ответ {i}", who, i % 5 + (who == "Пётр")) for i in range(30) for who in ("Ольга", "Пётр")]
    frame = pd.DataFrame(rows, columns=["id", "ответ", "аннотатор", "оценка"])
    result = study.evaluate(load(frame, study.SCHEMA, adapt=study.adapt), n_resamples=50)
    named = study.evaluate(load(frame, study.SCHEMA, adapt=study.adapt), criteria=["оценка"], n_resamples=50)
    assert list(result.summary.estimates) == list(named.summary.estimates)
    assert {e.group["criterion"] for e in result.summary.estimates if "criterion" in e.group} == {"оценка"}
    assert any("column оценка was read as the marks of the annotators" in note for note in result.notes)
    with pytest.raises(BadInput, match="name the criteria"):
        study.evaluate(load(frame.assign(балл=1), study.SCHEMA, adapt=study.adapt), n_resamples=50)


def test_a_number_that_may_mean_not_rated_is_pointed_out_among_peoples_marks():
    rows = [{"id": f"q{i}", "rouge": i / 30, "human": -1 if i < 2 else 1 + i % 5} for i in range(30)]
    result = study.evaluate(load(pd.DataFrame(rows), study.SCHEMA, adapt=study.adapt), n_resamples=50)
    said = "2 of 30 marks of human are −1, the others 1 to 5: if it means not rated, leave these cells empty"
    assert said in [note.short for note in first_rank(result.notes)]
