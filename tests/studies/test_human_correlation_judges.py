"""Human correlation: models that mark as annotators do."""

import pandas as pd
import pytest
from rated_panels import OPTIONS, evaluate, panel, value

from evalbench.errors import BadInput
from evalbench.studies import human_correlation as study


class TestJudges:
    BRIEF = {"definition": "Is it short?", "scale": {"0": "long", "1": "a few words", "2": "one word"}}

    @staticmethod
    def table():
        frame, ratings = panel()
        words = {"s0": "a b c d", "s1": "a b c", "s2": "a b", "s3": "a"}
        return frame.assign(answer=frame["model"].map(words), reference="a", question="Say a."), ratings

    def test_all_faults_at_once_before_anyone_is_asked(self):
        frame, ratings = panel()
        criteria = {
            "a": {"definition": "", "scale": {"0": "x", "1": "y"}},
            "b": {"definition": "d", "scale": {"0": "x", "half": "y"}, "basis": "contexts"},
            "c": {"definition": "d", "scale": {"0": "x", "1": "y"}, "basis": "output"},
            "d": {"meaning": "d"},
        }
        with pytest.raises(BadInput) as error:
            evaluate(frame, ratings, judges=["baseline/lexical"], judge_criteria=criteria)
        for fault in (
            "no column answer", "baseline/lexical compares texts and gives no marks", "the definition is empty",
            "mark 'half' is not a whole number", "b: the table has no column contexts",
            "c: basis must be one of reference, contexts; got 'output'", "d: expected basis, definition, examples, scale",
        ):  # fmt: skip
            assert fault in str(error.value)

    def test_judges_need_criteria(self):
        frame, ratings = self.table()
        with pytest.raises(BadInput, match="judges needs judge_criteria, for example"):
            evaluate(frame, ratings, judges=[lambda item: 1])

    def test_marks_are_a_metric_and_the_calls_are_kept(self, tmp_path):
        frame, ratings = self.table()
        shown = []

        def short(item):
            shown.append(item)
            return {"mark": 2 - min(item["answer"].count(" "), 2), "reason": "counted"}

        result = evaluate(
            frame, ratings, metrics=["good"], judges=[short], judge_criteria={"brevity": self.BRIEF | {"basis": "reference"}}
        )  # fmt: skip
        marks = result.items[result.items["scorer"] == "short: brevity"]
        assert set(marks["score"]) == {0.0, 1.0, 2.0}
        assert value(
            result, scorer="short: brevity", criterion="quality", level="system", coefficient="spearman"
        )["value"] > 0.9  # fmt: skip
        calls = result.tables["calls"]
        assert len(calls) == len(frame) == len(shown)
        assert calls["item_id"][0] == "d0/s0"
        assert {(i["question"], i["basis"]) for i in shown} == {("Say a.", "a")}
        assert all("system" not in item for item in shown)
        assert result.accounting["models"] == {"judging": "function:short"}
        again = study.summarise(result.items, **OPTIONS)
        assert again == result.summary

    def test_outputs_and_bases_that_are_not_there_are_shown_to_no_judge(self):
        frame, ratings = self.table()
        frame["answer"] = [None if i % 4 == 0 else text for i, text in enumerate(frame["answer"])]
        frame["reference"] = [None if i % 4 < 2 else text for i, text in enumerate(frame["reference"])]
        shown = []

        def short(item):
            shown.append(item)
            return {"mark": 1, "reason": ""}

        result = evaluate(
            frame, ratings, metrics=["good"], judges=[short], judge_criteria={"brevity": self.BRIEF | {"basis": "reference"}}
        )  # fmt: skip
        marks = result.items[(result.items["scorer"] == "short: brevity") & (result.items["criterion"] == "quality")]
        assert marks["unscored"].value_counts().to_dict() == {"": 3 * len(frame) // 4, "no-output": len(frame) // 4}
        assert (marks["undefined"] == "no-reference").sum() == len(frame) // 4
        assert marks["score"].notna().sum() == len(shown) == len(frame) // 2

    def test_what_a_judge_cannot_mark_is_unscored(self):
        frame, ratings = self.table()

        def fails_on_two(item):
            return {"unscored": "timeout"} if item["id"] in ("d0/s0", "d1/s1") else {"mark": item["answer"].count("b")}

        result = evaluate(
            frame, ratings, metrics=[], judges=[fails_on_two], judge_criteria={"b": self.BRIEF}
        )  # fmt: skip
        figure = result.estimate("spearman_summary", scorer="fails_on_two: b", criterion="quality")
        assert (figure.n, figure.n_unscored, figure.light) == (8, 0, "grey")
        assert figure.note.endswith("no score for 2 of 32 outputs")
        failed = result.items[(result.items["unscored"] != "") & (result.items["criterion"] == "quality")]
        assert failed["unscored"].tolist() == ["timeout", "timeout"]

    def test_recorded_marks_stand_for_a_judge(self, tmp_path):
        frame, ratings = self.table()
        file = tmp_path / "marks.csv"
        ids = frame["id"] + "/" + frame["model"]
        pd.DataFrame({"id": ids, "mark": frame["answer"].str.len() % 3}).to_csv(file, index=False)
        result = evaluate(
            frame, ratings, metrics=[], judges=[f"recorded:{file}"], judge_criteria={"brevity": self.BRIEF}
        )
        assert result.judged == f"metric recorded:{file}: brevity"
        assert set(result.items["unscored"]) == {""}

    def test_calls_of_a_judge_of_contradiction_are_kept_too(self):
        frame, ratings = self.table()
        frame = frame.assign(contexts="It is a.")
        result = evaluate(frame, ratings, metrics=["context_contradiction"], judge=lambda item: "NEUTRAL")
        assert len(result.tables["calls"]) == len(result.tables["contradictions"]) == 4
