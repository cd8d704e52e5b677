"""The name of a judge that looks things up, and the settings in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from evalbench.errors import BadInput

PREFIX = "agent"
PROTOCOLS = ("auto", "tools", "json")
_NAME = re.compile(r"agent(?:\[(?P<settings>[^\]]*)\])?:(?P<model>.*)", re.DOTALL)
_CORPUS = re.compile(r"(?P<before>(?:^|,)\s*corpus\s*=\s*)(?P<path>[^,\s][^,]*)")
_WHOLE = {"calls": 50, "tokens": 10_000_000, "seconds": 86_400}


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A judge that looks things up.

    Attributes
    ----------
    name : str
        As it was given.
    model : str
        The language model that acts.
    calls : int
        Calls of tools an item, 1–50, several in one reply or not; then the verdict is asked for once more.
    tokens, seconds : int
        Of all calls of an item, in and out; at the bound the verdict is asked for once more.
    corpus : str
        File or folder of documents to search besides what the item and the data set hold; empty for none.
    embed : str
        Embedding model that searches beside BM25; empty for BM25 alone.
    web : bool
        Whether it may open addresses of the public web.
    protocol : {"auto", "tools", "json"}
        How tools are called: ``tools`` as the endpoint has them, ``json`` as texts, ``auto`` the first unless the endpoint refuses it.
    """

    name: str
    model: str
    calls: int = 8
    tokens: int = 60_000
    seconds: int = 300
    corpus: str = ""
    embed: str = ""
    web: bool = False
    protocol: str = "auto"


SETTINGS = tuple(one.name for one in fields(Agent) if one.name not in ("name", "model"))


def is_agent(name: str) -> bool:
    """Whether a judge's name is that of one that looks things up.

    Examples
    --------
    >>> is_agent("agent:openai/gpt-4o"), is_agent("agent[calls=4]:openai/gpt-4o"), is_agent("agents/nli")
    (True, True, False)
    """
    return _NAME.fullmatch(name) is not None


def model_behind(name: str) -> str:
    """The language model that acts under an agent's name; any other name as it is.

    Examples
    --------
    >>> model_behind("agent[calls=4]:openai/gpt-4o"), model_behind("openai/gpt-4o")
    ('openai/gpt-4o', 'openai/gpt-4o')
    """
    found = _NAME.fullmatch(name)
    return found["model"].strip() if found else name


def with_corpus(name: str, changed: Callable[[str], str]) -> str:
    """The name with another corpus in the place of its own; any other name as it is.

    Examples
    --------
    >>> with_corpus("agent[calls=4, corpus=rules/]:openai/gpt-4o", str.upper), with_corpus("corpus=x", str.upper)
    ('agent[calls=4, corpus=RULES/]:openai/gpt-4o', 'corpus=x')
    >>> with_corpus("agent[corpus= , calls=4]:openai/gpt-4o", str.upper)
    'agent[corpus= , calls=4]:openai/gpt-4o'
    """
    found = _NAME.fullmatch(name)
    if found is None or not found["settings"]:
        return name
    start, end = found.span("settings")
    settings = _CORPUS.sub(lambda one: f"{one['before']}{changed(one['path'].strip())}", found["settings"])
    return f"{name[:start]}{settings}{name[end:]}"


def agent_of(name: str) -> Agent:
    """The agent of a name.

    Raises
    ------
    BadInput
        With all faults at once: no model, an unknown setting or one given twice, a value out of range, a corpus that is not there.

    Examples
    --------
    >>> agent_of("agent[calls=4, web=yes]:openai/gpt-4o").calls
    4
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise BadInput(f"{name!r} is not a judge that looks things up: agent:MODEL, or agent[calls=4]:MODEL")
    faults = [] if found["model"].strip() else ["it names no model"]
    given: dict[str, object] = {}
    for part in filter(None, map(str.strip, (found["settings"] or "").split(","))):
        key, _, value = (one.strip() for one in part.partition("="))
        if key not in SETTINGS:
            faults.append(f"unknown setting {key!r}; there are {', '.join(SETTINGS)}")
        elif key in given:
            faults.append(f"{key} is given twice")
        else:
            given[key] = _value(key, value, faults)
    if faults:
        raise BadInput.listing(f"the judge {name!r} is invalid:", faults)
    return Agent(name=name, model=found["model"].strip(), **given)  # type: ignore[arg-type]


def name_faults(name: str) -> list[str]:
    """All that is wrong with an agent's name, its model's and that of its embedding model.

    Examples
    --------
    >>> name_faults("agent[calls=0]:nobody")[0]
    "the judge 'agent[calls=0]:nobody' is invalid: calls is '0'; expected a whole number from 1 to 50"
    >>> name_faults("agent:openai/gpt-4o")
    []
    """
    from evalbench.models.names import is_model_name, model

    faults = []
    try:
        agent_of(name)
    except BadInput as error:
        faults += [f"the judge {name!r} is invalid: {fault}" for fault in error.faults] or [str(error)]
    behind = model_behind(name)
    if behind and not is_model_name(behind):
        faults.append(f"{name}: {behind!r} is not a language model, and only one can look things up")
    elif behind:
        try:
            model(behind)
        except BadInput as error:
            faults.append(f"{name}: {error}")
    return faults


def _value(key: str, value: str, faults: list[str]) -> object:
    if key in _WHOLE:
        if not (value.isascii() and value.isdecimal() and len(value) < 10 and 1 <= int(value) <= _WHOLE[key]):
            faults.append(f"{key} is {value!r}; expected a whole number from 1 to {_WHOLE[key]:,}")
            return 1
        return int(value)
    if key == "web":
        if value not in ("yes", "no"):
            faults.append(f"web is {value!r}; expected yes or no")
        return value == "yes"
    if key == "protocol" and value not in PROTOCOLS:
        faults.append(f"protocol is {value!r}; expected one of {', '.join(PROTOCOLS)}")
    if key == "embed" and value in ("", "jaccard"):
        faults.append(f"embed is {value!r}; expected the name of an embedding model")
    if key == "corpus" and not Path(value).expanduser().exists():
        faults.append(f"corpus: no file or folder {value!r}")
    return value
