"""The formulas in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalbench import core
from evalbench.studies.drift import lights


def described(options: Mapping[str, Any]) -> tuple[str, ...]:
    """The formulas, a line each."""
    tests = options["tests"]
    on = "the figure" if options["light_on"] == "estimate" else "its whole interval"
    drop = lights.bands_for("drop", options["preset"], options["lights"])
    of_level = (
        "red also where the thresholds of the key metric (key_bands) are red for OOT, green only where they are green; else yellow"
        if options["key_bands"]
        else "without key_bands the drop alone decides and the level of the key metric is not judged"
    )
    lines = [
        f"Lights of drops (tests 1, 4, 5), percentage points: {drop}; {of_level}. They are of {on}. "
        f"Fewer than {lights.LEAST_ROWS} rows on a side: grey."
    ]
    if "key_metric" in tests:
        lines.append(
            "Test 1: mean of the key metric in OOS less that in OOT; the interval draws rows of both sides, or is Newcombe's of both Wilson "
            "intervals where no label of either side differs."
        )
    if "statistics" in tests:
        chance = (
            f"less its mean over {options['n_permutations']} deals of whole rows to the sides, since small samples have a large index "
            "without any drift"
            if options["psi_light_on"] == "excess"
            else "as it is"
        )
        lines += [
            f"Test 2: population stability index Σ (q − p) ln(q / p), {chance}; shares below {options['epsilon']:g} are raised to it; numbers in "
            f"{options['n_bins']} bins of equal counts of OOS. Tokens are Unicode words in lower case. Its interval is the spread of the index "
            "in resamples around the value, since a resample lies further away than a sample.",
            "New tokens: their share in OOT, each occurrence counted, less the share that one half of OOS lacks of the other.",
            "Bounds: "
            + "; ".join(
                f"{preset.replace('_', ' ')}: {lights.bands_for('counts', preset, {})} (stop-words {lights.bands_for('stop_words', preset, {})})"
                for preset in lights.PRESETS
            )
            + f"; new tokens {lights.bands_for('new_tokens', 'handbook', {})}. The rule over them is handbook's: red from 3 red statistics of "
            "responses; yellow from 1 red or 3 yellow ones of responses, or 3 red of requests; else green.",
        ]
    if "separability" in tests:
        lines.append(
            "Test 3: logistic regression on TF-IDF of words and characters of the requests, and on their vectors; Gini = 2 AUC − 1 of rows that it "
            f"was not fitted to, near-copies in one fold; the greater decides: {lights.bands_for('gini', options['preset'], options['lights'])}. p: as "
            "high a Gini where the sides are dealt anew and all is fitted anew."
        )
    if "local_drift" in tests:
        formula = "Σ sᵢ yᵢ / Σ sᵢ" if options["formula"] == "weighted" else "½ (1 + mean of sᵢ tᵢ), t = 2 y − 1"
        lines.append(
            f"Test 4: for each request of OOT its {options['n_neighbours']} nearest labelled requests of OOS by {options['embed'] or 'vectors'}; expected "
            f"quality {formula}; the drop is against the same expectation of OOS, each request left out of its own neighbours. Grey where "
            f"the mean similarity is below {options['reliable_from']:g}, a bound of the embedding model (handbook: {lights.RELIABLE_FROM:g})."
        )
    if "global_drift" in tests:
        lines.append(
            f"Test 5: half of the labelled requests of OOS are the base, the other half is cut into sub-samples of {options['size']}; features of "
            f"their distances to the base (1 − cosine) with Pearson's p < {core.global_drift.ALPHA:g} and |r| > {core.global_drift.LEAST_R:g} against the key metric enter a linear "
            f"regression, applied to OOT cut in the same size. Left out with fewer than {core.global_drift.LEAST_SAMPLES} sub-samples; grey without such a "
            "feature, and where OOT lies outside the range that was seen."
        )
    lines.append(
        "Stability of the light: resamples of rows, tests 3 and 5 drawn apart. handbook (docs/methods.md), «Стабильность: OOS vs OOT» and the four "
        "tests without labels; bins, epsilon, the null, five neighbours and the thirty rows are ours."
    )
    return tuple(lines)
