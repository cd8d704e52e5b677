"""The parameters cells and the call of every study's notebook, from the signature and the docstring of its ``evaluate``.

``make notebooks`` rewrites both cells, and ``evalbench/studies/defaults.json``, with which runs compare a notebook's
parameters cell so that an edited default is reported; a test fails where any of them is stale.  A notebook's metadata
keep what a signature cannot know::

    "evalbench": {"reads": {"data": "help", "sources": "help"}, "sample": {"data": "cited_answers@1.1.0", …},
                  "main": ["model", "judge", …]}

``reads`` are the files that the notebook reads, ``sample`` the values of its sample that differ from the defaults,
``main`` the parameters that most users touch, beside the data and the renames; the others are in the folded cell
tagged ``advanced``.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evalbench import studies
from evalbench.readers.parameters import ADVANCED, MAIN, TYPES, Parameter

MOST_MAIN = 8
ROOT = Path(__file__).resolve().parents[1]
DEFAULTS = ROOT / "evalbench" / "studies" / "defaults.json"
WIDTH = 120
COLUMNS = Parameter("columns", ("dict",), False, {}, 'renames: {"column in the file": "column we expect"}')
CLUSTER = Parameter("cluster", ("str", "list"), False, "", "column, or several, whose equal values are drawn together")
SLICES = Parameter("slices", ("list", "str"), False, [], "columns whose values the figures are also given for")
OF_DATA = (COLUMNS, CLUSTER, SLICES)
# What an option of this name is in every study, where its docstring has no words for it.
EVERYWHERE = {
    "random_state": "of the random sample",
    "max_unscored": "a larger share of unscored items makes the light grey",
    "seed": "random seed, also of requests to models",
    "n_resamples": "bootstrap resamples",
}
_ABSTRACT = {"Sequence": "list", "Mapping": "dict", **{name: name for name in TYPES}}
_ROLE = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")


def notebook_path(name: str) -> Path:
    """A study's notebook."""
    return ROOT / "notebooks" / f"{name}.ipynb"


# -- what an option is ---------------------------------------------------------------------------


def parameters(name: str, own: Mapping[str, Any]) -> dict[str, Parameter]:
    """The lines of a study's parameters cell, in order.

    Parameters
    ----------
    name : str
        The study's.
    own : mapping
        The notebook's metadata ``evalbench``.
    """
    study = studies.study(name)
    lines = [Parameter(table, ("str",), False, "", words) for table, words in own["reads"].items()]
    lines += OF_DATA
    for option in study.options().values():
        words = help_of(study.evaluate, option.name) or EVERYWHERE.get(option.name, "")
        if not words:
            raise SystemExit(f"{name}: the docstring of evaluate has no line for {option.name}")
        lines.append(parameter(option, words))
    sample = dict(own["sample"])
    found = {p.name: Parameter(p.name, p.types, p.optional, sample.pop(p.name, p.default), p.help) for p in lines}
    if sample:
        raise SystemExit(
            f"{name}: the notebook's metadata have values for {', '.join(sample)}, which are not parameters"
        )
    return found


def parameter(option: inspect.Parameter, words: str) -> Parameter:
    """An option as a notebook can have it: a simple type and a literal.

    Examples
    --------
    >>> def evaluate(data, *, weights: Mapping[str, float] | None = None, judge: str | Callable = "", k: float = 1): ...
    >>> for option in list(inspect.signature(evaluate).parameters.values())[1:]:
    ...     print(line(parameter(option, "…")))
    weights: dict = {}  # …
    judge: str = ""  # …
    k: float = 1.0  # …
    """
    written = option.annotation if isinstance(option.annotation, str) else str(option.annotation)
    kinds = re.findall(r"\w+", re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", written)))
    types = tuple(dict.fromkeys(_ABSTRACT[kind] for kind in kinds if kind in _ABSTRACT))
    default = json.loads(json.dumps(option.default))  # tuples are lists, mappings plain ones
    types = types or (type(default).__name__,)
    if default is None and types[0] in ("list", "dict"):
        default = [] if types[0] == "list" else {}
    if types == ("float",) and default is not None:
        default = float(default)
    return Parameter(option.name, types, default is None, default, words)


def help_of(function: Callable[..., Any], option: str, known: frozenset[Any] = frozenset()) -> str:
    """The first sentence of an option's description, with its choices.

    Of several options described together it is the option's own part, where semicolons part it into as many; where the
    description refers to a function, that function's.
    """
    names, kind, words = described(function).get(option, ((), "", ""))
    parts = sentence(words).split("; ")
    if len(names) == len(parts) > 1:
        return plain(parts[names.index(option)])
    if len(names) > 1 or words.startswith(("See ", "As for ")):
        others = [_resolved(function, target) for target in re.findall(r":func:`~?([\w.]+)`", words)]
        found = (help_of(o, option, known | {function}) for o in others if callable(o) and o not in known)
        return next(filter(None, found), "")
    text = plain(sentence(words))
    choices = re.findall(r'"([^"]*)"', kind) if "{" in kind else []
    if all(re.search(rf"\b{choice}\b", text) for choice in choices):
        return text
    either = f"{', '.join(choices[:-1])} or {choices[-1]}"
    return f"{text} ({either})" if ":" in text else f"{either}: {text}".removesuffix(": ")


def sentence(words: str) -> str:
    """The first sentence, without what it refers to.

    Examples
    --------
    >>> sentence("A model, e.g. ``x``; see :func:`y`.  Others too.")
    'A model, e.g. ``x``'
    """
    return re.split(r"(?<!e\.g\.)(?<=\.)\s+(?=[A-Z`*])|[;,:]\s+see ", words)[0]


def described(function: Callable[..., Any]) -> dict[str, tuple[tuple[str, ...], str, str]]:
    """By option: those that are described together with it, their type, and the words, of a numpydoc docstring."""
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.DOTALL | re.MULTILINE)
    found = {}
    for entry in re.findall(r"^\S.*(?:\n(?:[ \t].*|(?=\n)))*", section.group(1) if section else "", re.MULTILINE):
        head, _, words = entry.partition("\n")
        named, _, kind = head.partition(" : ")
        names = tuple(part.strip(" *") for part in named.split(","))
        found |= {name: (names, kind, " ".join(words.split())) for name in names}
    return found


def _resolved(function: Callable[..., Any], target: str) -> Any:
    module, _, name = target.rpartition(".")
    return getattr(importlib.import_module(module or function.__module__), name, None)


def plain(words: str) -> str:
    """A docstring's words as a comment has them: no mark-up, no full stop, no capital but of a name.

    Examples
    --------
    >>> plain("A folder of ``entailment``, see :func:`evalbench.judge.verdicts.judge`.")
    'a folder of entailment, see judge'
    >>> plain("ROUGE over *several* references")
    'ROUGE over several references'
    """
    text = re.sub(r"(?<!\w)\*(\w[^*]*)\*(?!\w)", r"\1", _ROLE.sub(r"\1", words).replace("``", "")).rstrip(".;: ")
    first, space, rest = text.partition(" ")
    return text if first[1:] != first[1:].lower() else first.lower() + space + rest


# -- what is written -----------------------------------------------------------------------------


def line(known: Parameter) -> str:
    """A line of the parameters cell."""
    return f"{known.name}: {known} = {literal(known.default)}  # {known.help}"


def literal(value: Any) -> str:
    """A JSON value as Python writes it, with double quotes.

    Examples
    --------
    >>> literal({"a": [1, None, True], "答": "\\\\boxed"})
    '{"a": [1, None, True], "答": "\\\\\\\\boxed"}'
    """
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(key)}: {literal(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def call(head: str, arguments: list[str]) -> str:
    """A call on one line, or with an argument on each."""
    short = f"{head}({', '.join(arguments)})"
    return short if len(short) <= WIDTH else "\n    ".join([f"{head}(", *(f"{a}," for a in arguments)]) + "\n)"


def with_calls(source: str, name: str, tables: list[str], options: list[str]) -> str:
    """A cell's source with the calls of ``load`` and ``evaluate`` made anew."""
    made = {
        "load": call("dataset = load", ["data", f'study="{name}"', *(f"{t}={t}" for t in tables)]),
        f"{name}.evaluate": call(f"result = {name}.evaluate", ["dataset", *(f"{o}={o}" for o in options)]),
    }
    lines = source.split("\n")
    for node in reversed(ast.parse(source).body):
        of = ast.unparse(node.value.func) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else ""
        if of in made:
            lines[node.lineno - 1 : node.end_lineno] = [made.pop(of)]
    if made:
        raise SystemExit(f"{name}: the notebook's cell has no call of {', '.join(made)}")
    return "\n".join(lines)


def ranks(name: str, own: Mapping[str, Any], known: Mapping[str, Parameter]) -> dict[str, list[str]]:
    """The names in each parameters cell, by the cell's tag; one cell where the metadata name no main ones."""
    if "main" not in own:
        return {MAIN: list(known)}
    first = list(dict.fromkeys(["data", "columns", *own["main"]]))
    if len(own["main"]) > MOST_MAIN or not set(first) <= known.keys():
        raise SystemExit(f"{name}: main names at most {MOST_MAIN} parameters that there are, not {own['main']}")
    return {MAIN: first, ADVANCED: [n for n in known if n not in first]}


def with_cells(name: str, text: str) -> tuple[str, dict[str, Parameter]]:
    """A notebook's JSON with both cells made anew, and its parameters."""
    node = json.loads(text)
    own = node["metadata"]["evalbench"]
    known = parameters(name, own)
    of_data = [parameter.name for parameter in OF_DATA]
    reads = [*of_data, *(table for table in own["reads"] if table != "data")]
    for tag, names in ranks(name, own, known).items():
        (cell,) = (c for c in node["cells"] if tag in c["metadata"].get("tags", []))
        cell["source"] = "\n".join(line(known[n]) for n in names).splitlines(keepends=True)
    (cell,) = (c for c in node["cells"] if c["cell_type"] == "code" and f"{name}.evaluate(" in "".join(c["source"]))
    options = [option for option in known if option not in own["reads"] and option not in of_data]
    cell["source"] = with_calls("".join(cell["source"]), name, reads, options).splitlines(keepends=True)
    return json.dumps(node, ensure_ascii=False, indent=1) + "\n", known


def made() -> dict[Path, str]:
    """Every file that this script writes, with its text."""
    texts = {name: with_cells(name, notebook_path(name).read_text(encoding="utf-8")) for name in studies.names()}
    defaults = {name: {p.name: p.default for p in known.values()} for name, (_, known) in texts.items()}
    found = {notebook_path(name): text for name, (text, _) in texts.items()}
    return found | {DEFAULTS: json.dumps(defaults, ensure_ascii=False, indent=1) + "\n"}


def stale() -> list[str]:
    """The files that :func:`made` would change."""
    return [str(path.relative_to(ROOT)) for path, text in made().items() if path.read_text(encoding="utf-8") != text]


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(f"stale: {', '.join(old)}: make notebooks" if (old := stale()) else 0)
    for path, text in made().items():
        path.write_text(text, encoding="utf-8")
