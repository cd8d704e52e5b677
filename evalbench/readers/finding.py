"""The column of a raw frame that holds a role: the one that fits best is taken; of two that fit equally the user is asked."""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING, Any

from evalbench.errors import BadInput
from evalbench.readers.role_names import fit
from evalbench.readers.schema import Column

if TYPE_CHECKING:
    import pandas as pd


def column_of(frame: pd.DataFrame, role: str, own: str = "", held: Callable[[Any], bool] = lambda _: True) -> str:
    """The column that holds a role; empty where none does.

    - ``own``: What the study calls it, if not as the role.
    - ``held``: What its cells are, those that are not null.

    Raises ``BadInput`` where two fit equally: one question.

    Examples
    --------
    >>> import pandas as pd
    >>> column_of(pd.DataFrame({"sentence": ["Oslo is far"], "n": [1]}), "text", held=lambda cell: isinstance(cell, str))
    'sentence'
    """
    wanted = Column(own or role, "text", role=role)
    tiers: list[list[str]] = [[], [], []]
    for column in map(str, frame.columns):
        tier = fit(column, wanted)
        if tier is not None and len(known := frame[column].dropna()) and known.map(held).all():
            tiers[tier].append(column)
    if wanted.name in tiers[0]:
        return wanted.name
    best = next(filter(None, tiers), [""])
    if len(best) > 1:
        options = [f"--map {quote(f'{name}={wanted.name}')}" for name in best]
        raise BadInput.listing(
            f"which column holds the {wanted.name.replace('_', ' ')}: {', '.join(best)}?", options, headed=True
        )
    return best[0]


def is_text(cell: Any) -> bool:
    """Whether a cell is a text."""
    return isinstance(cell, str)
