"""The face of the models: their names (:mod:`evalbench.models.names`), and the shortest way to ask one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalbench.models.endpoint import EndpointFault, Limits, Model, Price
from evalbench.models.names import FORMS, aliases, is_model_name, model, models_file
from evalbench.models.wire.client import client

if TYPE_CHECKING:
    from pydantic import BaseModel

    from evalbench.models.exchange import Reply

__all__ = [
    "FORMS",
    "EndpointFault",
    "Limits",
    "Model",
    "Price",
    "aliases",
    "ask",
    "client",
    "is_model_name",
    "model",
    "models_file",
]


def ask(
    prompt: str | Sequence[Mapping[str, str]],
    model: str | Model,
    *,
    schema: type[BaseModel] | None = None,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    seed: int | None = None,
    **options: Any,
) -> Reply:
    """Ask one question. ``options`` are those of :func:`evalbench.models.chat.collect.collect`.

    Examples
    --------
    With the weights of a local model on this machine::

        ask("What is the capital of France?", "local/smollm2-135m").text
    """
    from evalbench.models.chat.collect import collect
    from evalbench.models.exchange import Request, as_messages

    request = Request(as_messages(prompt), schema=schema, temperature=temperature, max_tokens=max_tokens, seed=seed)
    return collect([request], model, **options)[0]
