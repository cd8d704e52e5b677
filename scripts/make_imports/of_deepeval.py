"""A test run of deepeval with a dialogue, a metric that breaks and one of which less is better: python of_deepeval.py FOLDER,

in an environment with ``deepeval==4.3.1``.
"""

import os
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1]).resolve()
os.environ.update(
    DEEPEVAL_TELEMETRY_OPT_OUT="YES",
    DEEPEVAL_RESULTS_FOLDER=str(FOLDER / "runs"),
    OPENAI_API_KEY="none",
    CONFIDENT_OPEN_BROWSER="NO",
)

from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseConversationalMetric, BaseMetric, ExactMatchMetric
from deepeval.test_case import ConversationalTestCase, LLMTestCase, Turn


class Own(BaseMetric):
    """A metric of ours; ``judge`` is the name of a model that it says it asked."""

    def __init__(self, name, score, threshold, *, lower=False, judge=None):
        self.name, self.given, self.threshold, self.lower, self.evaluation_model = name, score, threshold, lower, judge
        self.async_mode = self.strict_mode = False

    def measure(self, case, *args, **kwargs):
        self.score = self.given(case)
        self.reason = f"{len(case.actual_output)} letters"
        self.success = self.score <= self.threshold if self.lower else self.score >= self.threshold
        return self.score

    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)

    def is_successful(self):
        return bool(self.success)

    @property
    def __name__(self):
        return self.name


class Turns(BaseConversationalMetric):
    """How many turns a dialogue has, of four."""

    def __init__(self):
        self.threshold, self.evaluation_model, self.async_mode, self.strict_mode = 0.5, "mill-judge-1", False, False

    def measure(self, case, *args, **kwargs):
        self.score = len(case.turns) / 4
        self.reason, self.success = f"{len(case.turns)} turns", self.score >= self.threshold
        return self.score

    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)

    def is_successful(self):
        return bool(self.success)

    @property
    def __name__(self):
        return "Turns"


def broken(case):
    if "мост" in case.input:
        raise ValueError("the judge's reply could not be read")
    return 0.9


CASES = [
    LLMTestCase(name="ferry", input="When does the ferry leave?", actual_output="At six.", expected_output="At six.",
                retrieval_context=["The ferry leaves at six."], additional_metadata={"topic": "travel"}, tags=["easy"]),
    LLMTestCase(input="Сколько мостов?", actual_output="Три моста, и ещё один старый мост.", expected_output="Четыре"),
]  # fmt: skip
TALKS = [
    ConversationalTestCase(name="refund", scenario="A ticket is given back", expected_outcome="The fare is refunded", turns=[
        Turn(role="user", content="I missed the ferry."), Turn(role="assistant", content="Would you like a refund?"),
        Turn(role="user", content="Yes, please."), Turn(role="assistant", content="It is done.")])
]  # fmt: skip

if __name__ == "__main__":
    quiet = {
        "async_config": AsyncConfig(run_async=False),
        "display_config": DisplayConfig(show_indicator=False, print_results=False),
        "error_config": ErrorConfig(ignore_errors=True),
        "hyperparameters": {"model": "mill-1b"},
    }
    metrics = [
        ExactMatchMetric(),
        Own("Wordiness", lambda case: min(1.0, len(case.actual_output) / 40), 0.5, lower=True, judge="mill-judge-1"),
        Own("Breaks", broken, 0.5, judge="mill-judge-1"),
    ]
    for name, cases, used in (("deepeval", CASES, metrics), ("deepeval_dialogue", TALKS, [Turns()])):
        before = set((FOLDER / "runs").glob("*.json"))
        evaluate(cases, used, **quiet)
        (made,) = set((FOLDER / "runs").glob("*.json")) - before
        made.rename(FOLDER / f"{name}.json")
