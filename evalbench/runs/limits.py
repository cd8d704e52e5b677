"""The budget of a planned run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evalbench.core.budget import limit_faults
from evalbench.errors import BadInput
from evalbench.judge.agent.naming import model_behind
from evalbench.models.chat.rationing import unpriced
from evalbench.models.names import is_model_name, model
from evalbench.runs.run import Plan


def limited(planned: Plan, max_calls: int | None = None, max_cost: float | None = None) -> Plan:
    """The plan with a budget, see :mod:`evalbench.core.budget`; a run with another budget is another run.

    Raises ``BadInput`` if a limit is out of range, or the cost is limited and a model that the parameters name has no
    price.
    """
    limits = {name: n for name, n in (("max_calls", max_calls), ("max_cost", max_cost)) if n is not None}
    if not limits:
        return planned
    faults = [*limit_faults(max_calls, max_cost)]
    if max_cost is not None:
        faults += [unpriced(name) for name in model_names(planned.in_force) if model(name).price is None]
    if faults:
        raise BadInput.listing(f"{planned.study}: the run cannot start:", faults)
    identity = hashlib.sha256(f"{planned.identity}{json.dumps(limits, sort_keys=True)}".encode()).hexdigest()
    return replace(planned, limits=limits, identity=identity)


def model_names(values: Mapping[str, Any]) -> list[str]:
    """The language models that parameters name."""
    texts = [text for value in values.values() for text in (value if isinstance(value, list) else [value])]
    found = [name for text in texts if isinstance(text, str) and is_model_name(name := model_behind(text))]
    return [text for text in dict.fromkeys(found) if "#" in text or not text.startswith(("http://", "https://"))]
