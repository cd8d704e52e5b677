"""Right and wrong as people write them: 0 and 1, words of three languages, thumbs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

RIGHT = (
    "yes", "true", "pass", "passed", "good", "correct", "right", "up", "thumbs up", "thumbs_up", "thumbsup", "like", "liked", "positive",
    "да", "верно", "правильно", "корректно", "хорошо", "нравится", "лайк", "是", "对", "正确", "好", "赞", "满意", "有用", "有帮助", "доволен", "помогло", "👍", "👍🏻", "👍🏼", "👍🏽", "👍🏾", "👍🏿", "✅", "✓", "✔",
)  # fmt: skip
WRONG = (
    "no", "false", "fail", "failed", "bad", "incorrect", "wrong", "down", "thumbs down", "thumbs_down", "thumbsdown", "dislike", "disliked", "negative",
    "нет", "неверно", "неправильно", "некорректно", "плохо", "не нравится", "дизлайк", "否", "错", "错误", "不正确", "差", "踩", "不满意", "没用", "没有帮助", "недоволен", "не помогло", "👎", "👎🏻", "👎🏼", "👎🏽", "👎🏾", "👎🏿", "❌", "✗", "✘",
)  # fmt: skip
_TRUTH = {**dict.fromkeys(RIGHT, "1"), **dict.fromkeys(WRONG, "0")}
_NUMBERS = frozenset({"0", "1", "-1", "−1", "+1", "0.0", "1.0", "-1.0"})


def truth_of(cell: Any) -> str | None:
    """``1`` or ``0`` for a word that means right or wrong, else None.

    Examples
    --------
    >>> [truth_of(cell) for cell in ("Good", " неверно", "对", "👎", "partly", 1)]
    ['1', '0', '1', '0', None, None]
    """
    return _TRUTH.get(str(cell).strip().casefold())


def are_verdicts(cells: Iterable[Any]) -> bool:
    """Whether cells, those that are not null, hold nothing but right and wrong.

    Examples
    --------
    >>> are_verdicts(["up", "down", None]), are_verdicts([1, 0]), are_verdicts([1, 5]), are_verdicts([None])
    (True, True, False, False)
    """
    known = {str(cell).strip().casefold() for cell in cells if cell is not None and cell == cell} - {""}
    return bool(known) and known <= {*_NUMBERS, *_TRUTH}
