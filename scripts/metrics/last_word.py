"""A metric script in the hub's own form: does the output end with the word that the reference ends with?"""

import datasets
import evaluate


class LastWord(evaluate.Metric):
    """Share of outputs whose last word is the reference's."""

    def _info(self) -> evaluate.MetricInfo:
        features = datasets.Features({"predictions": datasets.Value("string"), "references": datasets.Value("string")})
        return evaluate.MetricInfo(
            description="Share of outputs whose last word is the reference's.",
            citation="",
            inputs_description="predictions, references: lists of texts",
            features=features,
        )

    def _compute(self, predictions: list[str], references: list[str]) -> dict[str, float]:
        same = [_last(a) == _last(b) for a, b in zip(predictions, references, strict=True)]
        return {"last_word": sum(same) / len(same)}


def _last(text: str) -> str:
    words = text.rstrip(".!? ").split()
    return words[-1].lower() if words else ""
