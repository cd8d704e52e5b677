"""How an ner_quality result was computed, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbench import core
from evalbench.studies.ner_quality import summary


def described(options: Mapping[str, Any], n_texts: int) -> tuple[str, ...]:
    """The formulas in force."""
    bands, _ = summary.rules_of(options["green_to"], options["yellow_to"])
    floor = f"Below a strict F1 of {options['f1_floor']:g} the light is at best yellow." if options["f1_floor"] else ""
    units = "Intervals resample texts."
    if n_texts > summary.MOST_UNITS:
        units = (
            f"Intervals resample {core.wording.count(summary.BLOCKS)} blocks of texts that were put together at random."
        )
    return (
        "strict: the same boundaries and the same class; exact: the same boundaries, whatever the class; partial: the same "
        "boundaries count 1, an overlap ½, whatever the class; type: the same class and any overlap.",
        "precision = credit / predicted, recall = credit / true, F1 = 2 · credit / (true + predicted). correct, incorrect, "
        "partial: pairs; missed, spurious: entities without a partner.",
        "Each mode pairs true and predicted entities one to one by the assignment with the largest credit (exact pairs first "
        "among equals, then most pairs), so that the order of predictions changes nothing. nervaluate takes the first that fits.",
        "Per class, and in the mean over classes, entities of that class alone are paired, so exact is strict there. The mean is over the "
        "classes of the gold; one of which nothing was predicted has no precision and is left out of that mean.",
        "Confusions pair by the largest number of shared characters, then the same class, then the same boundaries. Share = entities of "
        "class 1 paired with one of class 2, divided by all true entities of class 1. A class's light rests on its largest share among other classes, "
        f"missed ones left out: {bands}. The test is red with one red class, yellow with two yellow ones, else green: so the largest share "
        "decides where it is red, else the second largest. Of a single class, and of one of which no entity is found, there is no "
        f"confusion; a class that is found in fewer than {core.stats.FEW_UNITS} texts decides nothing. {floor}",
        f"handbook (docs/methods.md), «распределения ошибок предсказаний NER-модели в разрезе классов»; SemEval-2013 Task 9, section 5. {units}",
    )
