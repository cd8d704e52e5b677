"""A result of ragas 0.4 with a score that is missing: python of_ragas.py FOLDER, in an environment with

``ragas==0.4.3 "langchain-community<0.4" "langchain<0.4" "langchain-core<0.4" rapidfuzz``.
"""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

os.environ["RAGAS_DO_NOT_TRACK"] = "true"

from langchain_core.embeddings import FakeEmbeddings
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from ragas import EvaluationDataset, SingleTurnSample, evaluate
from ragas.embeddings import LangchainEmbeddingsWrapper
from ragas.llms import LangchainLLMWrapper
from ragas.metrics import ExactMatch, MetricType, NonLLMStringSimilarity
from ragas.metrics.base import SingleTurnMetric


@dataclass
class Courtesy(SingleTurnMetric):
    """1 for an answer that says please; it breaks where the answer has no letters."""

    name: str = "courtesy"
    _required_columns: dict = field(default_factory=lambda: {MetricType.SINGLE_TURN: {"response"}})

    def init(self, run_config):
        """Nothing is needed."""

    async def _single_turn_ascore(self, sample, callbacks):
        if not any(letter.isalpha() for letter in sample.response):
            raise ValueError("no letters")
        return float("please" in sample.response.lower())


SAMPLES = [
    SingleTurnSample(user_input="When does the ferry of Low Mill leave?", response="At six, please.", reference="At six.",
                     retrieved_contexts=["The ferry of Low Mill leaves at six.", "It's free; bring \"exact\" change."]),
    SingleTurnSample(user_input="How many bridges has Low Mill?", response="3", reference="4", retrieved_contexts=[]),
    SingleTurnSample(user_input="Кто смотритель маяка?", response="Агата Росс", reference="Агата Росс"),
]  # fmt: skip

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    result = evaluate(
        EvaluationDataset(samples=SAMPLES),
        metrics=[ExactMatch(), NonLLMStringSimilarity(), Courtesy()],
        llm=LangchainLLMWrapper(FakeListChatModel(responses=["none"])),
        embeddings=LangchainEmbeddingsWrapper(FakeEmbeddings(size=4)),
        show_progress=False,
        raise_exceptions=False,
    )
    frame = result.to_pandas()
    frame.to_csv(folder / "ragas.csv", index=False)
    frame.to_json(folder / "ragas.jsonl", orient="records", lines=True, force_ascii=False)
