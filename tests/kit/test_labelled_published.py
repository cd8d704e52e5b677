"""Labels and corrections of a published judge, from files to the figures of a verdict."""

import pandas as pd
import pytest

from evalbench.core.measures import mean_of
from evalbench.kit.judging import Heard
from evalbench.kit.labelled import given
from evalbench.kit.verdicts import pass_mark, worst_group
from evalbench.readers.corrections import Learnt, written

MEASURES = (mean_of("score", bands=pass_mark(0.8)),)
JUDGE = Heard("acme/judge", (), (), {})


def items(table: pd.DataFrame, policy: str) -> pd.DataFrame:
    own = table[table["policy"] == policy].reset_index(drop=True)
    names = {"id": [f"q{i:04}" for i in own.index], "model": policy, "unscored": "", "undefined": ""}
    return pd.DataFrame({**names, "score": own["judge_score"], "oracle": own["oracle_label"]})


def labels(rows: pd.DataFrame, path) -> str:
    known = rows[rows["oracle"].notna()]
    known.assign(criterion="score", annotator="oracle", mark=known["oracle"])[
        ["id", "model", "criterion", "annotator", "mark"]
    ].to_csv(path, index=False)
    return str(path)


@pytest.mark.external
def test_the_published_judge_is_corrected_and_its_correction_carries_over_where_it_should(external_data, tmp_path):
    table = pd.read_csv(external_data("cje_arena") / "scores.csv")
    base = items(table, "base")
    own = given(MEASURES, base, labels=labels(base, tmp_path / "base.csv")).on(base, JUDGE)
    found = worst_group(own.items, MEASURES, "model", n_resamples=200)
    naive, fixed = (found.estimate(name, model="base") for name in ("score", "score_corrected"))
    assert (naive.value, naive.ci_low, naive.ci_high) == pytest.approx((0.8413, 0.8334, 0.8492), abs=2e-3)
    assert (fixed.value, fixed.ci_low, fixed.ci_high) == pytest.approx((0.7552, 0.7357, 0.7747), abs=5e-5)
    assert fixed.n_labels == 480
    assert "corrected by 480 labels 0.755 [0.736, 0.775]: 8.6 points too kind" in found.verdict.sentence
    assert (found.verdict.light, found.verdict.decided_by["metric"]) == ("red", "score_corrected")

    known = base[base["oracle"].notna() & base["score"].notna()]
    correction = tmp_path / "correction.json"
    correction.write_bytes(written([Learnt("acme/judge", "score", tuple(known["score"]), tuple(known["oracle"]))]))
    expected = {"clone": (0.005, "green"), "parallel_universe_prompt": (0.016, "green"), "unhelpful": (-0.275, "red")}
    for policy, (gap, light) in expected.items():
        rows = items(table, policy)
        few = given(MEASURES, rows, labels=labels(rows, tmp_path / f"{policy}.csv"), correction=str(correction))
        set_beside = few.on(rows, JUDGE)
        found = worst_group(
            set_beside.items, MEASURES, "model", fit=set_beside.options["correction_fit"], n_resamples=200
        )
        check = found.estimate("score_transport", model=policy)
        assert (check.value, check.light, check.n) == (pytest.approx(gap, abs=5e-4), light, 50)
        used = found.estimate("score_corrected", model=policy)
        assert used.method.startswith("isotonic" if light == "green" else "prediction-powered")
        assert used.value < found.estimate("score", model=policy).value
