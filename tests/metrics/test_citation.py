import math

import numpy as np
import pytest

from evalbench.metrics.citation import (
    CORRECTNESS,
    SUPPORT,
    VERIFICATION,
    citation_precision,
    citation_recall,
    cited,
    interpretability,
    source_verdict,
)
from evalbench.metrics.registry import cards


def judge(facts, log=None):
    def entails(questions):
        if log is not None:
            log.extend(questions)
        return [facts.get(q, 0.0) for q in questions]

    return entails


def test_refusals():
    with pytest.raises(ValueError, match="between 0 and 1"):
        citation_recall([2])
    with pytest.raises(ValueError, match="judged is 'MAYBE'"):
        source_verdict(located=True, judged="MAYBE")
    with pytest.raises(ValueError, match="not all 0"):
        interpretability([1], [1], (0, 0))


def test_the_worked_check():
    facts = {((1,), 0): 1.0, ((1, 2), 1): 1.0, ((2,), 1): 1.0}
    got = cited([[1], [1, 2], []], judge(facts))
    assert citation_recall(got.joined) == pytest.approx(2 / 3)
    assert got.precise().tolist() == [1, 0, 1]
    assert citation_precision(got.precise()) == pytest.approx(2 / 3)


def test_no_question_is_asked_in_vain():
    log = []
    cited([[1], [1, 2], [], [3, 4]], judge({((1,), 0): 1.0, ((1, 2), 1): 1.0, ((2,), 1): 1.0}, log))
    assert log == [((1,), 0), ((1, 2), 1), ((3, 4), 3), ((1,), 1), ((2,), 1), ((2,), 1)]


def test_citations_that_need_each_other_are_precise():
    got = cited([[1, 2]], judge({((1, 2), 0): 1.0}))
    assert got.precise().tolist() == [1, 1]


def test_citations_of_an_unsupported_statement_are_imprecise():
    assert cited([[1, 2]], judge({((1,), 0): 1.0})).precise().tolist() == [0, 0]


def test_no_verdict_stays_unknown():
    nan = math.nan
    assert np.isnan(cited([[1]], judge({((1,), 0): nan})).precise()).all()
    got = cited([[1, 2]], judge({((1, 2), 0): 1.0, ((1,), 0): nan, ((2,), 0): 1.0}))
    assert np.isnan(got.precise()[0])
    assert got.precise()[1] == 1
    assert citation_precision(got.precise()) == 1


def test_nothing_cited_has_recall_0_and_no_precision():
    got = cited([[], []], judge({}))
    assert citation_recall(got.joined) == 0
    assert math.isnan(citation_precision(got.precise()))
    assert math.isnan(citation_recall([]))


@pytest.mark.parametrize(
    ("located", "judged", "label"),
    [
        (True, "ENTAILMENT", "VERIFIED"),
        (True, "NEUTRAL", "VERIFIED"),
        (True, "CONTRADICTION", "UNCERTAIN"),
        (False, "ENTAILMENT", "UNCERTAIN"),
        (False, "NEUTRAL", "LIKELY_FABRICATED"),
        (False, "CONTRADICTION", "LIKELY_FABRICATED"),
    ],
)
def test_source_verdicts(located, judged, label):
    got, reason = source_verdict(located=located, judged=judged)
    assert got == label
    assert reason.startswith("the quote is in" if located else "the quote is not in")


def test_label_scores():
    assert list(SUPPORT.values()) == list(VERIFICATION.values()) == list(CORRECTNESS.values()) == [1, 0.5, 0]


def test_interpretability():
    assert interpretability([1, 0.5], [0.5, 1], (0.75, 0.25)).tolist() == [0.875, 0.625]
    assert np.isnan(interpretability([math.nan], [math.nan]))


def test_the_cards_examples_hold():
    mine = [c for c in cards() if c.function.__module__ == "evalbench.metrics.citation"]
    assert len(mine) == 3
    for card in mine:
        given, expected = card.example
        assert float(card.function(**given)) == pytest.approx(expected), card.name
