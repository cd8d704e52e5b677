"""Contexts: needles placed at a depth of a haystack that is cut to a length."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import errors
from evalbench.metrics.needle import normal
from evalbench.text.sentences import sentences
from evalbench.text.words import words

KINDS = ("vanilla", "related")
LENGTHS = (250, 500, 1000)
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
WORDS, CHARACTERS = "words", "characters"
_LANGUAGE = re.compile(r"[a-z]{2,3}(-\w+)?")
Counter = Callable[[str], int]


class Haystack(NamedTuple):
    """Sentences of one kind and language.

    - ``pieces``: Sentences with the white space behind them.
    - ``sizes``: Tokens of each.
    """

    kind: str
    lang: str
    pieces: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.kind}{f' ({self.lang})' if self.lang else ''}"


class Plan(NamedTuple):
    """What is asked: haystacks, groups of needles that are placed together, and how tokens are counted."""

    haystacks: Sequence[Haystack]
    groups: Sequence[Sequence[Mapping[str, Any]]]
    count: Counter


def counter(tokenizer: str) -> Counter:
    """How many tokens a text has.

    - ``tokenizer``: ``words`` (of any language), ``characters``, or a file ``tokenizer.json``, or a folder with one.

    Raises ``BadInput`` if there is no such file, or it is no tokenizer.

    Examples
    --------
    >>> counter("words")("Isn't it 3.14?"), counter("characters")("你好")
    (3, 2)
    """
    if tokenizer == WORDS:
        return lambda text: len(words(text))
    if tokenizer == CHARACTERS:
        return len
    path = Path(tokenizer).expanduser()
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise errors.BadInput(
            f"tokenizer must be words, characters, or a file tokenizer.json or a folder with one; got {tokenizer!r}"
        )
    try:
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        raise errors.BadInput("a tokenizer needs the package transformers: pip install 'evalbench[embed]'") from error
    try:
        read = PreTrainedTokenizerFast(tokenizer_file=str(file))
    except Exception as error:  # whatever the library raises for a file that is not one
        raise errors.BadInput(f"tokenizer {file} cannot be read: {error}") from error
    return lambda text: len(read.encode(text, add_special_tokens=False))


def plan_of(
    needles: pd.DataFrame,
    haystacks: pd.DataFrame,
    *,
    kinds: Sequence[str],
    lengths: Sequence[int],
    per_context: int,
    tokenizer: str,
) -> Plan:
    """Haystacks and groups of needles, checked against the lengths.

    - ``needles``, ``haystacks``: ``id``, ``needle``, ``question``, ``reference``, ``lang``; ``id``, ``kind``, ``text``,
      ``lang``.
    - ``kinds``: Kinds of haystack; by default all that there are.
    - ``per_context``: Needles of one language in each context.

    Raises ``BadInput``: All at once: a haystack that is missing, or shorter than a length; a needle longer than a
    length; an answer that the haystack holds without the needle; fewer needles than a context takes.
    """
    count = counter(tokenizer)
    wanted = [kind for kind in KINDS if kind in (kinds or list(haystacks["kind"]))]
    records: Any = needles.sort_values("id", kind="stable").to_dict("records")
    rows: list[dict[str, Any]] = [{"lang": "", **row} for row in records]
    langs = sorted({str(row["lang"]) for row in rows})
    texts = haystacks.sort_values("id", kind="stable")
    own = texts["lang"] if "lang" in texts else texts["id"].map(lambda _: "")
    faults: list[str] = []
    found: list[Haystack] = []
    for kind in wanted:
        for lang in langs:
            parts = texts.loc[(texts["kind"] == kind) & (own == lang), "text"]
            if parts.empty:
                faults.append(
                    f"there is no {kind} haystack for needles in {lang or 'no stated language'}: add its text, or name other kinds"
                )
                continue
            pieces = _pieces(parts.tolist(), lang)
            found.append(Haystack(kind, lang, pieces, tuple(map(count, pieces))))
    faults += [f"no haystack is of kind {kind}" for kind in kinds if kind not in set(haystacks["kind"])]
    of_lang = [[row for row in rows if row["lang"] == lang] for lang in langs]
    starts = [range(0, len(own) - per_context + 1, per_context) for own in of_lang]
    groups = [own[i : i + per_context] for own, each in zip(of_lang, starts, strict=True) for i in each]
    if not groups:
        faults.append(
            f"no language has {per_context} needles, as many as needles_per_context; give more, or ask for fewer"
        )
    faults += _too_short(found, groups, lengths, count) + _answered(found, rows)
    if faults:
        raise errors.BadInput.listing("contexts cannot be made:", faults)
    return Plan(found, groups, count)


def _pieces(texts: Sequence[str], lang: str) -> tuple[str, ...]:
    """The sentences of texts, each with a space behind it, and with a blank line where a text ends."""
    code = lang if _LANGUAGE.fullmatch(lang) else "en"
    return tuple(
        f"{sentence} " if i < len(own) else f"{sentence}\n\n"
        for own in (sentences(text, code) for text in texts)
        for i, sentence in enumerate(own, 1)
    )


def _too_short(
    found: Sequence[Haystack], groups: Sequence[Sequence[Mapping[str, Any]]], lengths: Sequence[int], count: Counter
) -> list[str]:
    out = []
    sizes = {id(group): sum(count(row["needle"]) for row in group) for group in groups}
    for length in sorted(set(lengths)):
        long = [group for group in groups if sizes[id(group)] >= length]
        if long:
            named = ", ".join(f"{row['id']}" for row in long[0])
            out.append(
                f"length {length}: the needle {named} has {sizes[id(long[0])]} tokens and leaves no room for a haystack "
                f"({len(long)} such); ask for greater lengths"
            )
    for haystack in found:
        own = [sizes[id(group)] for group in groups if group[0]["lang"] == haystack.lang]
        total = sum(haystack.sizes)
        short = [n for n in sorted(set(lengths)) if own and n - min(own) > total]
        if short:
            out.append(
                f"haystack {haystack.name} has {total} tokens, fewer than the length {', '.join(map(str, short))} needs besides "
                f"the needle; give more text, or lengths up to {total + min(own)}"
            )
    return out


def _answered(found: Sequence[Haystack], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    out = []
    for haystack in found:
        text = normal("".join(haystack.pieces))
        held = [
            r["id"]
            for r in rows
            if r["lang"] == haystack.lang and any(normal(e) in text for e in r["reference"] if normal(e))
        ]
        if held:
            out.append(
                f"haystack {haystack.name} holds the expected answer of {', '.join(held[:8])} without the needle, so that a reply "
                "may find it there; change the needle or the haystack"
            )
    return out


def cells_of(plan: Plan, lengths: Sequence[int], depths: Sequence[float]) -> list[dict[str, Any]]:
    """One row per group of needles, haystack, length and depth: what is asked, with its context.

    The context holds whole sentences of the haystack from its beginning, ``length`` tokens at most with the needles; the first
    needle comes before the sentence nearest to ``depth``, further ones at even distances from there to the end.

    Returns: ``id, needle, lang, haystack, length, depth, tokens, placed`` (the first needle's own depth),
    ``questions``, ``question``, ``reference``, ``context``.
    """
    rows = []
    for group in plan.groups:
        name, lang = "+".join(str(row["id"]) for row in group), str(group[0]["lang"])
        texts = [str(row["needle"]).strip() for row in group]
        size = sum(map(plan.count, texts))
        known = {
            "needle": name,
            "lang": lang,
            "questions": [str(row["question"]) for row in group],
            "question": "\n".join(str(row["question"]) for row in group),
            "reference": [text for row in group for text in row["reference"]],
        }
        for haystack in (h for h in plan.haystacks if h.lang == lang):
            reached = np.array([0, *accumulate(haystack.sizes)])
            for length in sorted(set(lengths)):
                kept = int(np.searchsorted(reached, length - size, side="right")) - 1
                for depth in sorted(set(depths)):
                    context, placed = _placed(haystack.pieces[:kept], reached[: kept + 1], texts, depth)
                    rows.append(
                        {
                            "id": f"{name}/{haystack.kind}/{length}/{depth:g}",
                            **known,
                            "haystack": haystack.kind,
                            "length": length,
                            "depth": float(depth),
                            "tokens": plan.count(context),
                            "placed": placed,
                            "context": context,
                        }
                    )
    return rows


def _placed(pieces: Sequence[str], reached: Any, needles: Sequence[str], depth: float) -> tuple[str, float]:
    """The context, and the share of the haystack before the first needle."""
    total = max(int(reached[-1]), 1)
    step = (1 - depth) / len(needles)
    at = [int(np.abs(reached - (depth + i * step) * total).argmin()) for i in range(len(needles))]
    parts: list[str] = []
    for i in range(len(pieces) + 1):
        parts += [f"{needle} " for needle, place in zip(needles, at, strict=True) if place == i]
        parts += pieces[i : i + 1]
    return "".join(parts).strip(), int(reached[at[0]]) / total
