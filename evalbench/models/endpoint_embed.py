"""Embeddings from OpenAI-compatible endpoints."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.models.encoders import Encode, ModelUnavailable

if TYPE_CHECKING:
    import numpy.typing as npt
    import openai

_TEXTS_PER_REQUEST = 128
_TIMEOUT_SECONDS = 60.0
_RETRIES = 4


def endpoint_encoder(name: str) -> Encode:
    """Encoding function for ``openai/…``, ``azure/…``, ``gemini/…``, ``ollama/…``, ``http(s)://…#model``."""
    client, model = _client(name)

    def encode(texts: Sequence[str]) -> npt.NDArray[Any]:
        rows: list[list[float]] = []
        for start in range(0, len(texts), _TEXTS_PER_REQUEST):
            part = list(texts[start : start + _TEXTS_PER_REQUEST])
            reply = client.embeddings.create(model=model, input=part, encoding_format="float")
            data = sorted(reply.data or [], key=lambda row: row.index)
            if [row.index for row in data] != list(range(len(part))):
                raise ModelUnavailable(f"{name}: {len(part)} texts sent, {len(data)} embeddings came back")
            rows.extend(row.embedding for row in data)
        return np.asarray(rows)

    return encode


def _client(name: str) -> tuple[openai.OpenAI, str]:
    """The client of an endpoint and the model's name there; keys come from the environment only."""
    import openai

    options: dict[str, Any] = {"timeout": _TIMEOUT_SECONDS, "max_retries": _RETRIES}
    if name.startswith(("http://", "https://")):
        url, _, model = name.partition("#")
        if not model:
            raise ModelUnavailable(
                f"{name!r}: write the model after a #, as in http://127.0.0.1:8000/v1#model"
            )
        return openai.OpenAI(
            base_url=url, api_key=os.environ.get("EVALBENCH_API_KEY") or "none", **options
        ), model
    raise ModelUnavailable(f"{name!r}: this provider is not served yet")
