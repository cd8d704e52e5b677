"""Columns that hold one thing each of several models, repeats or people, found by their names: as rows where a study wants rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.readers.role_names import fit_role, plain, role_of, roles
from evalbench.readers.role_values import first_cells, is_marks, is_number
from evalbench.readers.schema import STREAM, TRIAL
from evalbench.readers.written import numbered_ids

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Column, Table

_REPEATS = frozenset({"run", "attempt", "try", "sample", "repeat", "repetition", "trial", "попытка", "повтор", "次"})
_GIVERS = frozenset({"model", "system", "llm", "candidate", "модель", "система", "模型", *_REPEATS})
_DESCRIBES = frozenset({
    "id", "type", "time", "start", "end", "length", "len", "date", "tokens", "score", "label", "language", "lang", "source", "sources",
    "reason", "status", "count", "latency", "cost", "prompt", "format", "key", "index", "correct", "text", "name", "version",
    "expected", "right", "true", "gold", "reference", "target", "human", "perturbed", "previous", "original", "context",
})  # fmt: skip
"""Words beside "answer" that make a column say something of the answer, or another one than a model's."""
_FAMILIES = re.compile(
    r"(?:chat)?gpt|claude|llama|gemini|gemma|mi[sx]tral|qwen|phi|deepseek|grok|falcon|vicuna|command|cohere|jamba|nova|olmo|"
    r"yi|glm|kimi|ernie|doubao|yandexgpt|gigachat|saiga|vikhr|bloom|opt|palm|bard|copilot|flan|t5|bart|davinci|o1|o3|o4|sonnet|opus|haiku"
)
_PREFERRED = frozenset({"chosen", "rejected"})
"""Names of the two answers of a pair of which people prefer the first, as such pairs are published."""
_CHINESE = re.compile(r"(?<=[\u4e00-\u9fff])(?=[a-z0-9])|(?<=[a-z0-9])(?=[\u4e00-\u9fff])")
_SIZE = re.compile(r"\d+(?:\.\d+)?[bm]")


class Part(NamedTuple):
    """A column that holds one thing of several: the column, what tells it from the others, and whether that is a number.

    - ``about``: Of a mark, by what criterion, where the name says it.
    """

    column: str
    name: str
    numbered: bool
    stem: str
    about: str = ""


def of_answers(frame: pd.DataFrame, known: Sequence[Column], renames: Mapping[str, str]) -> list[Part]:
    """The columns that hold answers to one question: ``output_1``, ``answer_b``, ``response_gpt``, or named after models.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"question": ["Why?"], "response_gpt": ["So."], "response_claude": ["No."], "response_id": ["r1"]})
    >>> [(part.column, part.name) for part in of_answers(frame, (), {})]
    [('response_gpt', 'gpt'), ('response_claude', 'claude')]
    """
    own = {column.name for column in known}
    free = [str(c).strip() for c in frame.columns if str(c).strip() not in own | {*renames}]
    names = {str(c).strip(): c for c in frame.columns}
    pair = [name for name in free if plain(name) in _PREFERRED and _says_texts(frame[names[name]])]
    if len(pair) == len(_PREFERRED):
        return [Part(name, name, False, "") for name in pair]
    free = [name for name in free if _is_text(frame[names[name]]) and not _surely(name, known)]
    stems = _stems() | _GIVERS
    by_stem: dict[str, list[Part]] = defaultdict(list)
    for name in free:
        if part := parted(name, stems):
            by_stem[part.stem].append(part)
    groups = {stem: parts for stem, parts in by_stem.items() if len(parts) > 1 and _fits(frame, names, parts, stem)}
    said = {stem: parts for stem, parts in groups.items() if stem not in _GIVERS} or groups
    if len(said) == 1:
        return next(iter(said.values()))
    named = [name for name in free if is_a_model(name) and first_cells(frame[names[name]])]
    return [Part(name, name, False, "") for name in named] if not said else []


def may_be_of_several(name: str) -> bool:
    """Whether a name can be one of :func:`of_answers`.

    Examples
    --------
    >>> [name for name in ("answer_b", "gpt-4", "chosen", "model", "faithfulness") if may_be_of_several(name)]
    ['answer_b', 'gpt-4', 'chosen']
    """
    return plain(name) in _PREFERRED or is_a_model(name) or parted(name, _stems() | _GIVERS) is not None


def _stems() -> set[str]:
    """What answers are called."""
    answer = roles()["answer"]
    return {answer.name, *answer.names, *answer.weak, "conversation", "text"}


def _surely(name: str, known: Sequence[Column]) -> bool:
    """Whether a name is one of something else that a table may hold."""
    others = [role for role in roles().values() if role.name not in ("model", "answer", "mark")]
    return any(fit_role(name, role) in (0, 1) for role in others)


def _fits(frame: pd.DataFrame, names: Mapping[str, Any], parts: Sequence[Part], stem: str) -> bool:
    """Whether columns named after who gives them, as ``model_a``, hold texts of theirs and not their names."""
    return stem not in _GIVERS or any(len({*map(str, first_cells(frame[names[p.column]]))}) > 1 for p in parts)


def _is_text(cells: pd.Series) -> bool:
    first = first_cells(cells)
    return not any(isinstance(c, (dict, float, bool)) for c in first)


def _says_texts(cells: pd.Series) -> bool:
    """Whether cells are texts, and not the names of sides."""
    first = first_cells(cells)
    return all(isinstance(cell, str) for cell in first) and any(len(cell.split()) > 1 for cell in first)


def is_a_model(name: str) -> bool:
    """Whether a name is plainly a model's: of a known family, or with a size such as 7b."""
    words = re.split(r"[\s_\-./:]+", str(name).strip().casefold())
    return any(_SIZE.fullmatch(word) for word in words) or bool(
        _FAMILIES.fullmatch(re.sub(r"[\d.]+$", "", words[-1 if len(words) > 1 and "/" in name else 0]))
    )


def parted(name: str, stems: frozenset[str] | set[str]) -> Part | None:
    """A name as the word that several share and what is left: ``response_gpt``, ``gpt_response``, ``output1``.

    Examples
    --------
    >>> parted("Response GPT-4", {"response"}).name, parted("output1", {"output"}).name
    ('GPT-4', '1')
    """
    words = re.sub(r"(?<=[^\W\d])(\d+)$", r" \1", _CHINESE.sub(" ", plain(name))).split()
    for k in range(len(words) - 1, 0, -1):
        for stem, rest in ((words[:k], words[k:]), (words[-k:], words[:-k])):
            if " ".join(stem) in stems and rest and not {*rest} & _DESCRIBES:
                short = " ".join([word for word in rest if word not in stems] or rest)
                numbered = short.isdigit() or len(short) == 1
                return Part(name, short if numbered else _but(name, stem) or short, numbered, " ".join(stem))
    return None


def _but(name: str, stem: Sequence[str]) -> str:
    """A name as it is written, without the words at its beginning or end that several share: ``GPT-4`` of ``Response GPT-4``."""
    between = r"[\s_\-./:]*"
    words = between.join(map(re.escape, stem))
    return re.sub(f"^{words}{between}|{between}{words}$", "", name, count=1, flags=re.IGNORECASE)


def answers_as_rows(
    frame: pd.DataFrame, table: Table, renames: Mapping[str, str]
) -> tuple[pd.DataFrame, dict[str, str], list[str]]:
    """A raw frame with a row per answer, where several columns hold answers to one question and none is the answer.

    Returns: What each column was read as, and notes.
    """
    import numpy as np

    by_role = {role.name: c for c in table.columns if (role := role_of(c)) is not None}
    answer, group = by_role.get("answer"), by_role.get("model")
    trial = table.column(TRIAL)
    names = {str(c).strip() for c in frame.columns}
    if (
        answer is None
        or group is None
        or not group.groups
        or frame.columns.has_duplicates
        or STREAM in frame.attrs
        or "samples" in names
    ):
        return frame, {}, []
    if answer.name in names | {*renames.values()} or not len(frame):
        return frame, {}, []
    parts = of_answers(frame, table.columns, renames)
    repeats = (
        bool(parts)
        and trial is not None
        and all(p.name.isdigit() for p in parts)
        and (not table.trials or parts[0].stem in _REPEATS)
    )
    to = trial if repeats else group
    if not parts or to is None or to.name in names or (len(parts) < 2 and to is trial):
        return frame, {}, []
    held, n = {str(c).strip(): c for c in frame.columns}, len(parts)
    givers = _named_beside(frame, parts) if to is group else []
    out = frame.drop(columns=[held[name] for name in (*(p.column for p in parts), *givers)])
    of_whom = f"the {to.name} that {', '.join(givers)} name" if givers else f"a {to.name} of its own"
    said = [f"columns {', '.join(p.column for p in parts)} were read as {answer.name}, each of {of_whom}"]
    key = table.columns[0]
    if key.name not in names and key.type == "id" and key.name not in renames.values():
        out.insert(0, key.name, numbered_ids(range(1, len(frame) + 1)))
        said.append(
            f"no column {key.name}: the rows were numbered in their order (--map COLUMN={key.name} takes a column instead)"
        )
    out = out.loc[out.index.repeat(n)] if out.index.is_unique else out.iloc[np.repeat(np.arange(len(out)), n)]
    called = [p.column if p.numbered and to is not trial else p.name for p in parts]
    cells = np.array([frame[held[p.column]].to_numpy(dtype=object) for p in parts], dtype=object).T.ravel()
    whose = np.array([frame[held[name]].to_numpy(dtype=object) for name in givers], dtype=object).T.ravel()
    whose = whose if givers else np.array(called * len(frame), dtype=object)
    out = out.assign(**{to.name: whose, answer.name: cells})
    out.attrs |= frame.attrs
    return out, {p.column: answer.name for p in parts} | dict.fromkeys(givers, to.name), said


def _named_beside(frame: pd.DataFrame, parts: Sequence[Part]) -> list[str]:
    """The columns that name who gave each of several answers, as ``model_a`` beside ``response_a``; none where any lacks one."""
    names = {
        plain(str(c)): str(c).strip() for c in frame.columns if all(isinstance(v, str) for v in first_cells(frame[c]))
    }
    for giver in sorted(_GIVERS):
        found = [names.get(plain(f"{giver}_{p.name}"), "") for p in parts]
        if all(found) and not {*found} & {p.column for p in parts}:
            return found
    return []


def of_people(frame: pd.DataFrame, known: Sequence[Column]) -> list[Part]:
    """The columns of marks that are named after those who gave them: ``rater1``, ``annotator_b``, ``fluency_rater1``, ``expert Anna``; or ``human`` alone.

    Examples
    --------
    >>> import pandas as pd
    >>> marks = pd.DataFrame({"fluency_rater1": [1, 2], "rater 2 fluency": [2, 2], "rouge": [0.1, 0.2]})
    >>> [(part.name, part.about) for part in of_people(marks, ())]
    [('rater 1', 'fluency'), ('rater 2', 'fluency')]
    """
    stems = {name for role in ("human", "annotator") for name in (role, *roles()[role].names)}
    own = {column.name for column in known}
    found = []
    for column in frame.columns:
        name = str(column).strip()
        part = None if name in own else _of_somebody(name, stems) or parted(name, stems)
        if part is None and name not in own and plain(name) in stems:
            part = Part(name, name, False, plain(name))
        first = first_cells(frame[column]) if part is not None else []
        if part is not None and first and is_marks(first) and all(map(is_number, first)):
            found.append(part)
    return found


def _of_somebody(name: str, stems: set[str]) -> Part | None:
    """A name of a criterion and of one of several who marked by it, numbered or lettered: ``coherence_rater1``."""
    words = re.sub(r"(?<=[^\W\d_])(\d+)(?=\s|$)", r" \1", plain(name)).split()
    for k, (word, number) in enumerate(pairwise(words)):
        about = " ".join(words[:k] + words[k + 2 :])
        if word in stems and about and (number.isdigit() or len(number) == 1):
            return Part(name, f"{word} {number}", True, word, about)
    return None
