"""What an explainability result says of its method, and the notes on its halves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbench import core, kit
from evalbench.studies.explainability import inputs


def notes(summary: core.Summary, content: Mapping[str, Any], parts: Mapping[str, inputs.Part]) -> list[str]:
    """Those of the halves; what they do not share or lack, and why the file may say pass where the light does not."""
    out = [note for part in parts.values() if isinstance(part.source, core.Result) for note in part.source.notes]
    cited = parts["citation"].items
    without = int((cited["undefined"].str.split("; ").str[0] == kit.answers.NO_REFERENCE).sum())
    models = [part.model for part in parts.values()]
    if len({*models}) > 1:
        whose = " and ".join(f"the {inputs.HALVES[name].words} of {part.model}" for name, part in parts.items())
        alike = ", whose names differ in case or blanks alone" if len({*map(_bare, models)}) == 1 else ""
        out.append(core.Note("mixed", f"two models are taken as one{alike}: {whose}"))
    if without:
        out.append(
            f"{without} of {len(cited)} cited answers have no right answer to compare with: their score is "
            "interpretability alone."
        )
    if summary.verdict.light == "grey" and content["overall_pass"]:
        out.append(
            "overall_pass of FINAL_RESULTS_YYYYMMDD.json is true while the light is grey: pass compares the score with "
            "its threshold alone, the light also asks what the score rests on."
        )
    return list(dict.fromkeys(out))


def _bare(name: str) -> str:
    return "".join(name.casefold().split())


def described(options: Mapping[str, Any]) -> tuple[str, ...]:
    """How the overall score is computed, with its source."""
    return (
        f"Overall score = {options['weight_cot']:g} × mean final score of cot_levels + {options['weight_citation']:g} × "
        f"mean final score of citation, divided by the weights' sum; passes from {options['threshold']:g} on.",
        "The two halves are independent samples: each is resampled apart, and the overall interval is that of the "
        "weighted sums.",
        "Weights, threshold and the keys of FINAL_RESULTS_YYYYMMDD.json: explainability (docs/methods.md), Output Format.",
    )
