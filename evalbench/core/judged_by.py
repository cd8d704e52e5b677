"""Who judged, and what of it changed between two records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class JudgedBy(NamedTuple):
    """Who judged, as far as a record says it.

    - ``judge``: Empty where it is not known.
    - ``prompts``: Hashes or versions of the prompts.
    - ``versions``: The models as the endpoint named them.
    - ``settings``: What else shapes a verdict: temperature, length, criteria.
    - ``at``: The name of the judging, see :mod:`evalbench.core.judging_time`.
    """

    judge: str = ""
    prompts: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    settings: Mapping[str, Any] = {}
    at: str = ""


def judge_changes(then: JudgedBy, now: JudgedBy) -> tuple[str, ...]:
    """What changed of a judge, from what to what; empty where nothing that both records know did.

    Examples
    --------
    >>> a = JudgedBy("acme/judge", ("1f" * 32,), ("judge-2026-05",))
    >>> judge_changes(a, a._replace(prompts=("ab" * 32,), versions=("judge-2026-08",)))
    ('its prompt from 1f1f1f1f to abababab', 'its version from judge-2026-05 to judge-2026-08')
    >>> judge_changes(a, JudgedBy("acme/other")), judge_changes(a, a)
    (('the judge from acme/judge to acme/other',), ())
    """
    found = []
    if then.judge and now.judge and then.judge != now.judge:
        found.append(f"the judge from {then.judge} to {now.judge}")
    for name, before, after in (("prompt", then.prompts, now.prompts), ("version", then.versions, now.versions)):
        if before and after and set(before) != set(after):
            found.append(f"its {name} from {_named(before)} to {_named(after)}")
    for name in sorted({*then.settings, *now.settings}):
        was, is_now = then.settings.get(name), now.settings.get(name)
        if name in then.settings and name in now.settings and was != is_now:
            found.append(f"{name} from {_setting(was)} to {_setting(is_now)}")
    return tuple(found)


def judge_unknown(then: JudgedBy, now: JudgedBy) -> tuple[str, ...]:
    """Which of judge, prompt and version cannot be compared, since a record does not name it.

    Examples
    --------
    >>> judge_unknown(JudgedBy("a", ("v1",)), JudgedBy("a"))
    ('prompt', 'version')
    """
    return tuple(name for name, field in _KNOWN.items() if not (getattr(then, field) and getattr(now, field)))


def kept_verdicts(then: JudgedBy, now: JudgedBy) -> str:
    """Why the verdicts of now may be those of then, taken from the cache; empty where they are not.

    Examples
    --------
    >>> one = JudgedBy("acme/judge", versions=("judge-1",), at="2026-10")
    >>> kept_verdicts(one, one._replace(at="2026-11")), kept_verdicts(one, JudgedBy("people"))
    ('', '')
    >>> kept_verdicts(one, one)
    'both judgings are named 2026-10, so verdicts of the earlier one may have come from the cache (judged_at)'
    """
    if not (then.versions and now.versions) or then.judge != now.judge or then.at != now.at:
        return ""
    named = f"are named {now.at}" if now.at else "have no name"
    return f"both judgings {named}, so verdicts of the earlier one may have come from the cache (judged_at)"


_KNOWN = {"judge": "judge", "prompt": "prompts", "version": "versions"}
_HEX = frozenset("0123456789abcdef")


def _named(names: Sequence[str]) -> str:
    return ", ".join(name[:8] if len(name) == 64 and set(name) <= _HEX else name for name in sorted(set(names)))


def _setting(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
