"""Results of MLflow, genai with a person's label and a judge that fails, and a legacy table: python of_mlflow.py FOLDER,

in an environment with ``mlflow==3.17.2``.
"""

import os
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1]).resolve()
os.environ.update(
    MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true", MLFLOW_TRACKING_URI=f"sqlite:///{FOLDER}/mlflow.db"
)
os.environ["LOGNAME"] = "miller"
os.chdir(FOLDER)

import mlflow
import pandas as pd
from mlflow.entities import AssessmentSource, Feedback
from mlflow.genai.scorers import scorer
from mlflow.metrics import MetricValue, make_metric

DATA = [
    {"inputs": {"question": "When does the ferry leave?"}, "outputs": "At six.", "expectations": {"expected_response": "At six.", "expected_facts": ["six"]}},
    {"inputs": {"question": "Сколько мостов?"}, "outputs": "Три", "expectations": {"expected_response": "Четыре"}},
]  # fmt: skip


@scorer
def exact(outputs, expectations):
    return outputs == expectations["expected_response"]


@scorer
def polite(inputs, outputs):
    if "мост" in inputs["question"]:
        raise ValueError("the judge's reply could not be read")
    return Feedback(
        value="yes",
        rationale="short and kind",
        source=AssessmentSource(source_type="LLM_JUDGE", source_id="mill-judge-1"),
    )


@scorer
def checked(outputs):
    return Feedback(
        value=outputs != "Три", rationale="looked up", source=AssessmentSource(source_type="HUMAN", source_id="ada")
    )


def _same(predictions, targets):
    scores = [float(said == right) for said, right in zip(predictions, targets, strict=True)]
    return MetricValue(
        scores=scores,
        justifications=["same" if s else "other" for s in scores],
        aggregate_results={"mean": sum(scores) / len(scores)},
    )


if __name__ == "__main__":
    mlflow.set_experiment("low-mill")
    result = mlflow.genai.evaluate(data=DATA, scorers=[exact, polite, checked])
    text = result.result_df.to_json(orient="records", default_handler=str)
    for place in (str(FOLDER), str(Path(__file__).resolve().parent), sys.prefix, sys.base_prefix):
        for slash in ("/", "\\/", "\\\\/"):
            text = text.replace(place.replace("/", slash), "FOLDER")
    (FOLDER / "mlflow.json").write_text(text, encoding="utf-8")
    frame = pd.DataFrame(
        {
            "inputs": [d["inputs"]["question"] for d in DATA],
            "ground_truth": ["At six.", "Четыре"],
            "predictions": [d["outputs"] for d in DATA],
        }
    )
    metric = make_metric(eval_fn=_same, greater_is_better=True, name="same", version="v1")
    with mlflow.start_run() as run:
        mlflow.evaluate(
            data=frame, targets="ground_truth", predictions="predictions", extra_metrics=[metric], evaluators="default"
        )
    made = mlflow.artifacts.download_artifacts(
        run_id=run.info.run_id, artifact_path="eval_results_table.json", dst_path=str(FOLDER)
    )
    Path(made).rename(FOLDER / "mlflow_legacy.json")
