"""Who made a model, and which family it is of, by its name alone."""

from __future__ import annotations

import functools
import re
from typing import Literal, NamedTuple

_VENDORS: dict[str, dict[str, str]] = {
    "OpenAI": {
        "gpt": r"(chat|insta|instruct)?gpt(?!-?(j|neo|2)\b)\d*o?|(text-)?davinci",
        "o-series": r"o[134](-(mini|pro|preview))?",
    },
    "Anthropic": {"claude": r"claude\d*"},
    "Google": {"gemini": r"gemini|bard", "gemma": r"gemma\d*", "palm": r"palm\d*|text-bison|chat-bison"},
    "Meta": {"llama": r"(code|meta-?)?llama\d*"},
    "Mistral": {"mistral": r"(open-)?(mi[sx]tral|ministral|magistral|codestral|pixtral)"},
    "Alibaba": {"qwen": r"(code)?qwen\d*|qwq|tongyi"},
    "DeepSeek": {"deepseek": r"deepseek"},
    "xAI": {"grok": r"grok\d*"},
    "Cohere": {"command": r"command-(r|a|light|nightly|xlarge|medium)|aya"},
    "Microsoft": {"phi": r"phi\d*|wizardlm"},
    "01.AI": {"yi": r"yi"},
    "Zhipu": {"glm": r"(chat)?glm\d*"},
    "Baichuan": {"baichuan": r"baichuan\d*"},
    "Moonshot": {"kimi": r"kimi|moonshot"},
    "MiniMax": {"minimax": r"minimax|abab\d*"},
    "Baidu": {"ernie": r"ernie"},
    "Tencent": {"hunyuan": r"hunyuan"},
    "ByteDance": {"doubao": r"doubao"},
    "Shanghai AI Laboratory": {"internlm": r"intern(lm|vl)\d*"},
    "Sber": {"gigachat": r"gigachat"},
    "Yandex": {"yandexgpt": r"yandexgpt\d*"},
    "T-Bank": {"t-lite": r"t-(lite|pro)"},
    "MTS": {"cotype": r"cotype"},
    "Amazon": {"nova": r"(amazon-)?nova-(micro|lite|pro|premier)", "titan": r"amazon-titan|titan-text"},
    "IBM": {"granite": r"granite"},
    "NVIDIA": {"nemotron": r"nemotron"},
    "TII": {"falcon": r"falcon\d*"},
    "AI21": {"jamba": r"jamba|jurassic"},
    "Databricks": {"dbrx": r"dbrx|dolly"},
    "Allen AI": {"olmo": r"olmo\d*", "tulu": r"tulu"},
    "Hugging Face": {"smollm": r"smollm\d*", "zephyr": r"zephyr"},
    "LMSYS": {"vicuna": r"vicuna"},
}
# How unknown names begin that say nothing of who made the model.
_NO_FAMILY = frozenset(
    re.findall(
        r"\w+",
        """
    ai agent answer assistant base baseline bot candidate chat custom default engine experiment exp final first function ft human judge large live llm local medium mini model my
    new null old output own prod production prompt recorded reference run second small system team test the tuned variant version writer
""",
    )
)
_LEAST_LETTERS = 3
Relation = Literal["family", "vendor", ""]


class Family(NamedTuple):
    """A family of models.

    Attributes
    ----------
    vendor : str
        Empty where only the name is known.
    """

    vendor: str
    family: str


@functools.cache
def _patterns() -> tuple[tuple[Family, re.Pattern[str]], ...]:
    return tuple(
        (Family(vendor, family), re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z])"))
        for vendor, families in _VENDORS.items()
        for family, pattern in families.items()
    )


@functools.lru_cache(maxsize=4096)
def families_of(name: str) -> frozenset[Family]:
    """The families that a model's name speaks of.

    Parameters
    ----------
    name : str
        As in a table or on the command line: ``openai/gpt-4o``, ``Llama-3-8B-Instruct``, ``http://host/v1#tiny``.

    Returns
    -------
    frozenset of Family
        Several for a name such as ``deepseek-r1-distill-llama``.  Of a name that none of the known families has, its first
        word, without a vendor: two unknown models of one first word are one family; empty for words such as *model*.

    Notes
    -----
    What a model was trained from is not in its name: Vicuna is not taken for a Llama.

    Examples
    --------
    >>> families_of("openai/gpt-4o-2024-08-06") == families_of("gpt4_1106_preview")
    True
    >>> sorted(families_of("deepseek-r1-distill-llama-70b"))
    [Family(vendor='DeepSeek', family='deepseek'), Family(vendor='Meta', family='llama')]
    >>> families_of("mira-large-2") == families_of("mira-tiny"), families_of("model-b")
    (True, frozenset())
    """
    bare = re.sub(r"^(function|recorded):", "", name.strip().lower().rstrip("/"))
    whole = re.sub(r"[\s_.:]+", "-", bare)
    last = re.split(r"[/#]", whole)[-1]
    for part in (last, whole):
        known = frozenset(family for family, pattern in _patterns() if pattern.search(part))
        if known:
            return known
    stem = re.match(r"[^\W\d_]+", last)
    if stem is None or len(stem[0]) < _LEAST_LETTERS or stem[0] in _NO_FAMILY:
        return frozenset()
    return frozenset({Family("", stem[0])})


def related(judge: str, model: str) -> Relation:
    """How a judge and a judged model are related, by their names.

    Returns
    -------
    {"family", "vendor", ""}
        Empty where they are not, or where a name says nothing.

    Examples
    --------
    >>> related("openai/gpt-4o", "gpt-3.5-turbo"), related("openai/gpt-4o", "o3-mini"), related("openai/gpt-4o", "claude-3-opus")
    ('family', 'vendor', '')
    """
    one, other = families_of(judge), families_of(model)
    if one & other:
        return "family"
    return "vendor" if {a.vendor for a in one} & {b.vendor for b in other} - {""} else ""
