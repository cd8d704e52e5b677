"""The texts that are scored: the table's own, or those of a model that is asked with a template over its columns."""

from __future__ import annotations

from typing import Any

import pandas as pd

from evalbench import errors, kit
from evalbench.models.exchange import Reply


def frame_of(items: pd.DataFrame) -> pd.DataFrame:
    """The table in the order of its ids and models."""
    keys = [key for key in ("id", "model") if key in items]
    return items.sort_values(keys, kind="stable", ignore_index=True)


def answered(frame: pd.DataFrame, prompt: str, model: str) -> tuple[pd.DataFrame, list[Reply]]:
    """The table with the outputs of a model that was asked with a template, each question once, and its replies.

    Raises
    ------
    BadInput
        If the template is faulty or names a column that the table lacks.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    from evalbench.models.chat.collect import collect
    from evalbench.models.exchange import Request, text_hash

    try:
        environment = SandboxedEnvironment(
            undefined=StrictUndefined, autoescape=False, finalize=lambda value: "" if value is None else value
        )
        template = environment.from_string(prompt)
        asked = pd.Series([template.render(row) for row in frame.to_dict("records")], index=frame.index, dtype=object)
    except TemplateError as error:
        raise errors.BadInput(f"prompt: {error}; the table has {', '.join(map(str, frame.columns))}") from error
    # Where the table has the outputs of several models, what is asked is the same for all of them.
    first = ~pd.DataFrame({"id": frame["id"], "asked": asked}).duplicated()
    frame, asked = frame[first].reset_index(drop=True), asked[first].reset_index(drop=True)
    requests = [
        Request(({"role": "user", "content": text},), item_id=i, purpose="answer", prompt_hash=text_hash(prompt))
        for i, text in zip(frame["id"], asked, strict=True)
    ]
    replies = collect(requests, model)
    outputs = pd.Series([kit.answers.answer_of(reply) for reply in replies], index=frame.index, dtype=object)
    columns: dict[str, Any] = {"output": outputs, "model": model, **({} if "prompt" in frame else {"prompt": asked})}
    return frame.drop(columns=["model"], errors="ignore").assign(**columns), replies
