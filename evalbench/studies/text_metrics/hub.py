"""Our metrics beside those of the hub, over the texts of a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evalbench import hub
from evalbench.kit.metric_options import arguments_of
from evalbench.metrics.registry import card

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.core.result import Result


def combined(result: Result, metrics: Sequence[str], script: str = "") -> pd.DataFrame:
    """``evaluate.combine`` of ours and of a local metric script over the outputs of a result.

    Parameters
    ----------
    result : Result
        Of several references the first one is used, since scripts take one text.
    metrics : sequence of str
        Ours.
    script : str
        Path of an ``evaluate`` script, absolute or below the workbench; empty for none.

    Returns
    -------
    DataFrame
        One row per figure; a note where the package ``evaluate`` is not installed.
    """
    from importlib.util import find_spec

    import pandas as pd

    if find_spec("evaluate") is None:
        return pd.DataFrame({"note": ["evaluate is not installed: pip install evaluate"]})
    texts = result.tables["texts"].dropna(subset=["output"])
    texts = texts[texts["reference"].map(len) > 0] if "reference" in texts else texts.iloc[:0]
    if not len(texts):
        return pd.DataFrame({"note": ["no text has an output and a reference"]})
    parts = [hub.metric(name, **arguments_of(card(name), result.parameters)) for name in metrics]
    found = (
        hub.import_evaluate()
        .combine([*parts, *([hub.load_script(script)] if script else [])])
        .compute(predictions=texts["output"].tolist(), references=[several[0] for several in texts["reference"]])
    )
    shown = {name: value for name, value in found.items() if not name.endswith("_n")}
    return pd.DataFrame({"figure": list(shown), "value": list(shown.values()), "texts": len(texts)})
