"""Logs of inspect_ai, .eval and .json, with a judge that gives no grade and a scorer of two values: python of_inspect.py FOLDER,

in an environment with ``inspect-ai==0.3.285``.
"""

import sys
from pathlib import Path

from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.model._model import ModelAPI
from inspect_ai.scorer import Score, includes, mean, model_graded_qa, scorer
from inspect_ai.solver import generate


async def _count(self, text):
    return max(1, len(str(text)) // 4)


ModelAPI.count_text_tokens = _count  # the real one fetches a vocabulary
ANSWERS = ["The ferry leaves at six.", "Three.", "Агата Росс"] * 2
GRADES = ["It is right.\nGRADE: C", "It is wrong.\nGRADE: I", "I would rather not say."] * 2
SAMPLES = [
    Sample(input="When does the ferry leave?", target="six", id="ferry", metadata={"topic": "travel", "contexts": ["It leaves at six."]}),
    Sample(input="How many bridges are there?", target=["4", "four"], id="bridges", metadata={"topic": "town"}),
    Sample(input="Кто смотритель маяка?", target="Росс", id=3, metadata={"topic": "town"}),
]  # fmt: skip


@scorer(metrics={"length": [mean()], "politeness": [mean()]})
def manners():
    """Two values of an answer."""

    async def score(state, target):
        return Score(value={"length": min(1.0, len(state.output.completion) / 40), "politeness": 0.5})

    return score


def replies(model, texts):
    return get_model(model, custom_outputs=[ModelOutput.from_content(model, text) for text in texts], memoize=False)


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    for form in ("eval", "json"):
        task = Task(
            name="low_mill",
            dataset=MemoryDataset(SAMPLES, name="low_mill"),
            solver=generate(),
            scorer=[includes(), manners(), model_graded_qa(model=replies("mockllm/judge", GRADES))],
            epochs=Epochs(2),
        )
        (log,) = eval(task, model=replies("mockllm/mill-1b", ANSWERS), log_dir=str(folder / "logs"), log_format=form, display="none", max_samples=1)  # fmt: skip
        assert log.status == "success", log.error
        (made,) = (folder / "logs").glob(f"*.{form}")
        made.rename(folder / f"inspect.{form}")
