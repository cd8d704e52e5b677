"""Paraphrases and translations of a column of texts, written by a model: the augmentations that need one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from evalbench.errors import BadInput
from evalbench.kit.answers import answer_of
from evalbench.kit.collecting import asked
from evalbench.models.prompts import prompt_language
from evalbench.text.augment import check_protect, protected_spans

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.models.exchange import Reply

PARAPHRASE = "paraphrase"
TRANSLATE = "translate"
REPHRASINGS = (PARAPHRASE, "translate_ru_en", "translate_ru_uk", "translate_ru_uk_ru")
"""Those that the method document has; ``translate_`` and any languages of :data:`LANGUAGES` will do."""
LANGUAGES = {
    "ar": ("Arabic", "арабский"),
    "be": ("Belarusian", "белорусский"),
    "de": ("German", "немецкий"),
    "en": ("English", "английский"),
    "es": ("Spanish", "испанский"),
    "fr": ("French", "французский"),
    "hi": ("Hindi", "хинди"),
    "it": ("Italian", "итальянский"),
    "ja": ("Japanese", "японский"),
    "kk": ("Kazakh", "казахский"),
    "ko": ("Korean", "корейский"),
    "pl": ("Polish", "польский"),
    "pt": ("Portuguese", "португальский"),
    "ru": ("Russian", "русский"),
    "tr": ("Turkish", "турецкий"),
    "uk": ("Ukrainian", "украинский"),
    "zh": ("Chinese", "китайский"),
}
"""Codes of ISO 639-1 with the names that the prompts give: in English, in Russian."""
_FENCE = re.compile(r"^\[(?P<end>/?)(?:text|kept) [0-9a-f]{12}\]$\n?", re.MULTILINE)

_IN_WORDS = {
    "butter_finger": "typing slips",
    "word_swap": "swapped words",
    "human_level": "slips of many kinds",
    "special_token": "hyphens between letters",
    "transliterate": "words in another script",
    PARAPHRASE: "paraphrases",
}


def in_words(label: str) -> str:
    """What an augmentation does, in a few words; a name that is not known as it is, with blanks.

    Examples
    --------
    >>> in_words("butter_finger"), in_words("word_swap 0.2"), in_words("translate_ru_uk"), in_words("made_shorter")
    ('typing slips', 'swapped words (0.2)', 'translation', 'made shorter')
    """
    name, _, rate = label.partition(" ")
    if said := _IN_WORDS.get(name):
        return f"{said} ({rate})" if rate else said
    return "translation" if name.startswith(f"{TRANSLATE}_") else label.replace("_", " ")


class Rephrased(NamedTuple):
    """What a model made of the texts.

    Attributes
    ----------
    rows : DataFrame
        Those of the rows that the augmentation is for, with the new text in the place of the old one, None where there is none, and
        ``unscored``: why.
    replies : list of Reply
        For the table of calls.
    others : int
        Rows that it is not for: a translation from Russian is for Russian texts.
    """

    rows: pd.DataFrame
    replies: list[Reply]
    others: int


def check_rephrasing(name: str) -> list[str]:
    """Faults of the name of an augmentation that a model writes.

    Examples
    --------
    >>> check_rephrasing("translate_ru_uk_ru"), check_rephrasing("translate_ru_xx")
    ([], ["augmentation: 'translate_ru_xx': 'xx' is not one of ar, be, de, en, es, fr, hi, it, ja, kk, ko, pl, pt, ru, tr, uk, zh"])
    """
    if name == PARAPHRASE:
        return []
    head, *codes = name.split("_")
    if head != TRANSLATE or len(codes) < 2:
        form = "translate_FROM_TO or translate_FROM_TO_BACK with codes of languages, such as translate_ru_en"
        return [f"augmentation: {name!r} is not {PARAPHRASE}, nor {form}"]
    unknown = [code for code in dict.fromkeys(codes) if code not in LANGUAGES]
    faults = [f"augmentation: {name!r}: {code!r} is not one of {', '.join(LANGUAGES)}" for code in unknown]
    faults += [f"augmentation: {name!r} translates {a} into itself" for a, b in pairwise(codes) if a == b]
    return faults


def rephrased(
    rows: pd.DataFrame, column: str, name: str, model: str, *, protect: Sequence[str] = (), **settings: Any
) -> Rephrased:
    """Ask a model to paraphrase or translate a column of texts; a translation there and back is asked leg by leg.

    Replies are cached: a second run asks only for what is missing.

    Parameters
    ----------
    rows : DataFrame
        With ``id``, the column and, if wanted, ``lang``, by which the prompt is chosen and, of a translation, the rows; rows without
        a language are taken for the first one.
    column : str
        Where the texts are.
    name : str
        ``paraphrase``, ``translate_ru_en``, ``translate_ru_uk_ru``, …
    protect : sequence of str
        What must stay letter by letter, see :func:`evalbench.text.augment.protected_spans`: the prompt asks for it, and a reply
        without it is ``unparsed``.
    settings
        See :func:`evalbench.kit.collecting.asked`.

    Raises
    ------
    BadInput
        For an unknown name, or unknown kinds of what is protected.
    """
    if faults := [*check_rephrasing(name), *check_protect(protect)]:
        raise BadInput.listing("texts cannot be rephrased:", faults)
    codes = name.split("_")[1:]
    languages = rows["lang"].fillna("").astype(str) if "lang" in rows else None
    found = rows if not codes or languages is None else rows[languages.isin(["", codes[0]])]
    found = found.assign(unscored="")
    kept = {i: _kept(text, protect) for i, text in zip(found.index, found[column], strict=True)}
    replies: list[Reply] = []
    prompt = str(settings.get("prompt", ""))
    for leg in pairwise(codes) if codes else [("", "")]:
        todo = found[found["unscored"] == ""]
        if codes:
            todo = todo.assign(lang=leg[0])
        records: list[dict[str, Any]] = [
            {"id": row["id"], "lang": row.get("lang"), "fields": _fields(row[column], kept[i], leg, prompt)}
            for i, row in zip(todo.index, todo.to_dict("records"), strict=True)
        ]
        task = TRANSLATE if codes else PARAPHRASE
        said = asked(records, model, task, lambda row: row["fields"], purpose=name, **settings)
        texts = [_text(reply, row["fields"]["kept"]) for reply, row in zip(said, records, strict=True)]
        found = _taken_in(found, todo.index, column, texts)
        replies += said
    return Rephrased(found, replies, len(rows) - len(found))


def _taken_in(
    found: pd.DataFrame, index: pd.Index, column: str, texts: Sequence[tuple[str | None, str]]
) -> pd.DataFrame:
    import pandas as pd

    new = found[column].astype(object).copy()
    why = found["unscored"].copy()
    new.loc[index] = pd.Series([text for text, _ in texts], index=index, dtype=object)
    why.loc[index] = pd.Series([reason for _, reason in texts], index=index, dtype=object)
    return found.assign(**{column: new, "unscored": why})


def _fields(text: str, kept: Sequence[str], leg: tuple[str, str], prompt: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"text": text, "kept": kept}
    if not leg[0]:
        return fields
    which = int(prompt_language(TRANSLATE, leg[0], prompt) == "ru")
    return {**fields, "source": LANGUAGES[leg[0]][which], "target": LANGUAGES[leg[1]][which]}


def _kept(text: str, protect: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(text[a:b] for a, b in protected_spans(text, protect))) if protect else []


def _text(reply: Reply, kept: Sequence[str]) -> tuple[str | None, str]:
    """The text of a reply, without the marks that a model repeats, or why there is none."""
    text = answer_of(reply)
    if text is None:
        return None, reply.unscored
    text = _FENCE.sub("", text).strip()
    if not text:
        return None, "no-text"
    return (text, "") if all(piece in text for piece in kept) else (None, "unparsed")
