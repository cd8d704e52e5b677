"""Embeddings from OpenAI-compatible endpoints; names and keys as in :mod:`evalbench.models.llm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.models import llm
from evalbench.models.collect import run_sync
from evalbench.models.encoders import Encode, ModelUnavailable
from evalbench.models.redact import redactor

if TYPE_CHECKING:
    import numpy.typing as npt

_TEXTS_PER_REQUEST = 128
_TIMEOUT_SECONDS = 60.0
_RETRIES = 4


def endpoint_encoder(name: str) -> Encode:
    """Encoding function for ``openai/…``, ``azure/…``, ``gemini/…``, ``ollama/…`` and ``http(s)://HOST/v1#MODEL``."""
    target = llm.model(name)

    def encode(texts: Sequence[str]) -> npt.NDArray[Any]:
        return run_sync(_embeddings(target, list(texts)))

    return encode


async def _embeddings(target: llm.Model, texts: list[str]) -> npt.NDArray[Any]:
    import openai

    rows: list[list[float]] = []
    async with llm.client(target, timeout=_TIMEOUT_SECONDS).with_options(max_retries=_RETRIES) as client:
        for start in range(0, len(texts), _TEXTS_PER_REQUEST):
            part = texts[start : start + _TEXTS_PER_REQUEST]
            try:
                reply = await client.embeddings.create(model=target.id, input=part, encoding_format="float")
            except openai.OpenAIError as error:
                raise ModelUnavailable(
                    f"{target.name} gave no embeddings: {redactor()(str(error))}"
                ) from None
            found = sorted(reply.data or [], key=lambda row: row.index)
            if [row.index for row in found] != list(range(len(part))):
                raise ModelUnavailable(
                    f"{target.name}: {len(part)} texts sent, {len(found)} embeddings came back"
                )
            rows.extend(row.embedding for row in found)
    return np.asarray(rows)
