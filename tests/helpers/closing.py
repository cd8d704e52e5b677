"""What the tests say at their end, in one line: how many passed, what was not tried, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping


def closing_line(
    counts: Mapping[str, int], seconds: float, skipped: Collection[str], reasons: Mapping[str, str]
) -> str:
    """The line.

    - ``counts``: pytest's words for outcomes, such as ``passed``.
    - ``skipped``: the reason of each test that was skipped.
    - ``reasons``: what reasons begin with → in other words.

    Examples
    --------
    >>> why = ["no chromium on PATH", "no time: an hour", "no chromium on PATH"]
    >>> closing_line({"passed": 9012, "failed": 1}, 171.2, why, {"no chromium": "a browser is not installed"})
    '1 test failed, 9 012 passed in 2 min 51 s; 3 not run: a browser is not installed (2), no time: an hour (1)'
    """
    bad = [f"{_tests(counts[word], first=True)} {said}" for word, said in BAD.items() if counts.get(word)]
    passed = f"{_tests(counts.get('passed', 0), first=not bad)} passed"
    line = f"{', '.join([*bad, passed])} in {_time(seconds)}"
    if not skipped:
        return line
    why = Counter(next((said for start, said in reasons.items() if one.startswith(start)), one) for one in skipped)
    listed = ", ".join(f"{reason} ({_number(n)})" for reason, n in why.most_common())
    return f"{line}; {_number(len(skipped))} not run: {listed}"


BAD = {"failed": "failed", "error": "ended in an error outside the test"}


def _tests(n: int, first: bool) -> str:
    return f"{_number(n)} test{'' if n == 1 else 's'}" if first else _number(n)


def _number(n: int) -> str:
    return f"{n:,}".replace(",", " ")


def _time(seconds: float) -> str:
    """
    >>> _time(59.7), _time(0.2), _time(3600)
    ('1 min', 'less than 1 s', '60 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s" if rest else "less than 1 s"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"
