"""What studies need besides their sample to ask a model anything at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import biased_judges
import pandas as pd
from studied import sample

MORE: dict[str, dict[str, Any]] = {
    "cascade": {"strong": ""},
    "text_metrics": {"prompt": "{{ id }}", "lights": {}},
    "trajectories": {"success_by": "judge", "figures": ["success"]},
    "human_correlation": {
        "metrics": [],
        "judge_criteria": {
            "brevity": {"definition": "It is short.", "scale": {"0": "no", "1": "yes"}, "basis": "reference"}
        },
    },
    "stability": {"augmentations": ["paraphrase"]},
    "stability_top": {"augmentations": ["paraphrase"]},
}


def tables(name: str) -> Mapping[str, pd.DataFrame]:
    """The sample's, or what a judge is asked about where the sample holds verdicts."""
    if name == "judge_audit":
        return {"items": biased_judges.answers(8), "labels": biased_judges.labels(biased_judges.answers(8))}
    return sample(name)
