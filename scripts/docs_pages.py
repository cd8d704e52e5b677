"""The parts of the site that the code knows, by the names that pages have for them: ``<!-- generated: NAME ARGUMENTS -->``.

Nothing here is written by hand twice: tables of input come from the schemas, options from the notebooks' parameters, formulas and
sources from a run of the study on its sample, words on the light from its notebook.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MARK = re.compile(r"^<!-- generated: ([\w-]+) ?(.*?) -->$", re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#{}$])")


def text(words: str) -> str:
    r"""Words as they are, whatever Markdown would make of them.

    >>> print(text("f1_score = 2pr / (p + r) [0, 1]"))
    f1\_score = 2pr / (p + r) \[0, 1\]
    """
    return _SPECIAL.sub(r"\\\1", words)


def words_of(docstring: str) -> str:
    r"""A sentence of a docstring or of a help, its roles, what is in backticks and what is stressed as they are meant.

    >>> print(words_of("Parameters as of :func:`~a.b.kept`; ``x`` is *not* P(A | B) * 2"))
    Parameters as of `kept`; `x` is *not* P(A \| B) \* 2
    """
    parts = re.split(r"(`+[^`]+`+|(?<![\w*])\*[^\s*](?:[^*]*[^\s*])?\*(?![\w*]))", _ROLE.sub(r"``\1``", docstring))
    marked = {"`": lambda p: f"`{p.strip('`')}`", "*": lambda p: f"*{text(p[1:-1])}*"}
    # Every other part is what the pattern found.
    return "".join(marked[p[0]](p) if number % 2 else text(p) for number, p in enumerate(parts))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown; cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace(chr(10), ' ') for cell in line)} |" for line in lines)


def code(value: object) -> str:
    """A value in code, within a table too."""
    return "`" + str(value).replace("|", r"\|") + "`" if str(value) else ""


# -- a study ------------------------------------------------------------------------------------


def narrative(study: str) -> tuple[str, str, str]:
    """Title, introduction and words on the light of a study, from the first cell of its notebook."""
    cells = json.loads((ROOT / "notebooks" / f"{study}.ipynb").read_text(encoding="utf-8"))["cells"]
    title, _, rest = "".join(cells[0]["source"]).partition("\n")
    intro, found, light = rest.partition("**How to read the light.**")
    if not found:
        raise SystemExit(f"{study}: the first cell of the notebook does not say how to read the light")
    return title.removeprefix("# ").strip(), intro.strip(), light.strip()


def study_page(name: str, runs: Mapping[str, Path]) -> str:
    """All that is known of a study: what it asks, wants, computes, its light, options and the page of its sample."""
    from evalbench import studies
    from evalbench.readers.catalog import entries

    study = studies.study(name)
    _, intro, light = narrative(name)
    results = json.loads((runs[name] / "results.json").read_text(encoding="utf-8"))
    samples = ", ".join(f"`{label}`" for label, entry in entries(ROOT).items() if name in entry.studies)
    parts = [
        intro if intro.startswith(study.QUESTION) else f"**{text(study.QUESTION)}** {intro}",
        f"```\nevalbench run {name}                      # on its sample\n"
        f"evalbench data check mine.csv --study {name}\nevalbench run {name} --data mine.csv\n```",
        "## The table that it wants",
        wanted(name),
        *(schema(table_name, each) for table_name, each in study.SCHEMA.items()),
        f"Sample data: {samples}. Columns of other names: [Start with your table](../start.md#columns-with-other-names).",
        "## The light",
        light,
        "What the colours mean everywhere: [lights](../reading.md#the-light).",
        "## Figures, formulas, sources",
        docstring_of_figures(study.doc),
        figures(results),
        "As the sample's page states them:",
        "\n".join(f"- {text(line)}" for line in results["method"]),
        "## Options",
        options(name),
        "## The sample's page",
        f'```{{raw}} html\n<p><a href="../samples/{name}/report.html">Open it by itself</a>.</p>\n'
        f'<iframe class="eb-sample" src="../samples/{name}/report.html" title="The page of {name} on its sample data" loading="lazy"></iframe>\n```',
    ]
    return "\n\n".join(part for part in parts if part)


def wanted(name: str) -> str:
    """What the study computes and needs, in the words of ``needs.yaml``."""
    import yaml

    said = yaml.safe_load((ROOT / "evalbench" / "asking" / "needs.yaml").read_text(encoding="utf-8"))[name]
    needs = "\n".join(f"- {text(need['words'])}" for need in said["needs"])
    return f"It computes {text(said['computes'])}. For that it needs:\n\n{needs}"


def schema(name: str, wanted_table: Any) -> str:
    """The columns of a table."""
    rows = []
    for column in wanted_table.columns:
        rows.append(
            [
                code(column.name),
                text(column.expected().replace(", not empty", "")),
                "yes" if column.required else "",
                words_of(column.help),
            ]
        )
    optional = "" if wanted_table.required else " (optional)"
    said = f": {words_of(wanted_table.help)}" if wanted_table.help else ""
    return f"Table `{name}`{optional}{said}\n\n{table(['column', 'a cell is', 'required', 'what it is'], rows)}"


def docstring_of_figures(doc: str) -> str:
    """The paragraphs of a study's docstring that say which figures there are and where they come from."""
    paragraphs = [" ".join(p.split()) for p in doc.split("\n\n")]
    said = [p for p in paragraphs[1:] if not p.startswith("Input")]
    return "\n\n".join(words_of(p) for p in said)


def figures(results: Mapping[str, Any]) -> str:
    """The figures of a run: their name in files, the words for people, unit and direction."""
    better = {True: "more", False: "less", None: ""}
    rows = {
        row["metric"]: [
            text(row["title"] or row["metric"]),
            code(row["metric"]),
            text(row["unit"]),
            better[row["higher_is_better"]],
        ]
        for row in results["summary"]
    }
    return "On its sample, with the default options:\n\n" + table(
        ["figure", "in files", "unit", "better"], rows.values()
    )


def options(name: str) -> str:
    """The parameters that most users touch, then the others."""
    from evalbench.commands.parameters import parameter_rows
    from evalbench.runs.notebooks import known_parameters

    known = known_parameters(name, ROOT).values()
    parts = []
    for title, advanced in (("", False), ("### Advanced options", True)):
        chosen = [p for p in known if p.advanced == advanced]
        rows = []
        for left, right in parameter_rows(chosen):
            option, _, kind = left.partition(": ")
            said, _, default = right.rpartition("[default: ")
            rows.append(
                [
                    code(option),
                    code(kind),
                    default[:-1] if default[:-1] in ("empty", "None") else code(default[:-1]),
                    words_of(said.strip()),
                ]
            )
        if rows:
            parts += [title, table(["option", "type", "default", "what it is"], rows)]
    return "\n\n".join(part for part in parts if part)


def which(names: str, runs: Mapping[str, Path]) -> str:
    """Studies by their questions."""
    from evalbench import studies

    rows = [[f"[`{name}`](studies/{name}.md)", text(studies.study(name).QUESTION)] for name in names.split()]
    return table(["study", "your question"], rows)


def all_studies(_: str, runs: Mapping[str, Path]) -> str:
    """Every study's page, in a table and for the contents."""
    from evalbench import studies

    rows = [[f"[`{name}`]({name}.md)", text(studies.study(name).QUESTION)] for name in studies.names()]
    contents = "```{toctree}\n:hidden:\n\n" + "\n".join(studies.names()) + "\n```"
    return f"{table(['study', 'question'], rows)}\n\n{contents}"


# -- metrics, commands, names -------------------------------------------------------------------


def _end(x: float) -> str:
    return {float("inf"): "∞", float("-inf"): "−∞"}.get(x, f"{x:g}")


def metrics(_: str, runs: Mapping[str, Path]) -> str:
    """The registry, a table for each file of metrics."""
    from evalbench.metrics.registry import cards

    groups: dict[str, list[list[str]]] = {}
    for card in cards():
        path = f"{card.function.__module__}.{card.function.__name__}"
        better = {True: " ↑", False: " ↓", None: ""}[card.higher_is_better]
        needs = ", ".join((*card.needs, *([card.languages] if card.languages != "any" else [])))
        row = [
            f"{{py:func}}`{card.name} <{path}>`",
            words_of(card.summary),
            f"{_end(card.range[0])}–{_end(card.range[1])}{better}",
            text(needs),
            text(card.reference),
        ]
        groups.setdefault(card.function.__module__.rpartition(".")[2], []).append(row)
    head = ["metric", "what it is", "range", "needs", "source"]
    return "\n\n".join(f"### {name.replace('_', ' ')}\n\n{table(head, rows)}" for name, rows in sorted(groups.items()))


def metrics_api(_: str, runs: Mapping[str, Path]) -> str:
    """The functions of the registry with their docstrings, file by file."""
    from evalbench.metrics.registry import cards

    groups: dict[str, list[str]] = {}
    for card in cards():
        function, module = card.function, card.function.__module__
        path = f"{module}.{function.__name__}"
        if getattr(sys.modules[module], function.__name__, None) is not None:
            directive = f".. autofunction:: {path}"
        else:  # one of a family that is made in a loop
            said = inspect.cleandoc(function.__doc__ or "").replace("\n", "\n   ")
            directive = f".. py:function:: {path}{inspect.signature(function).replace(return_annotation=inspect.Signature.empty)}\n\n   {said}"
        if directive not in (found := groups.setdefault(module, [])):
            found.append(directive)
    return "\n\n".join(f"## {name}\n\n{rst(lines)}" for name, lines in sorted(groups.items()))


def rst(lines: Iterable[str]) -> str:
    """Directives of Sphinx within Markdown."""
    return "```{eval-rst}\n" + "\n\n".join(lines) + "\n```"


def notebook_names(_: str, runs: Mapping[str, Path]) -> str:
    """The names that a notebook uses."""
    import evalbench

    kinds = {
        name: "autoclass" if inspect.isclass(getattr(evalbench, name)) else "autofunction" for name in evalbench._NAMES
    }
    own = "\n   :no-index:"  # `evaluate` is that of a study, which has it too
    found = {name: f".. {kind}:: {evalbench._NAMES[name]}.{name}" for name, kind in kinds.items()}
    return rst(line + own * (".studies." in line) for line in found.values())


def studies_api(_: str, runs: Mapping[str, Path]) -> str:
    """``evaluate`` of every study."""
    from evalbench import studies

    found = {name: studies.study(name).evaluate for name in studies.names()}
    return "\n\n".join(
        f"## {name}\n\n" + rst([f".. autofunction:: {f.__module__}.evaluate"]) for name, f in found.items()
    )


def modules(names: str, runs: Mapping[str, Path]) -> str:
    """Whole modules: their public functions and classes."""
    parts = [f"## {name}\n\n" + rst([f".. automodule:: {name}\n   :members:"]) for name in names.split()]
    return "\n\n".join(parts)


def commands(_: str, runs: Mapping[str, Path]) -> str:
    """Every command with its help."""
    import click

    from evalbench.cli import group

    def shown(words: list[str], command: click.Command) -> Iterable[tuple[str, str, str]]:
        context = click.Context(command, info_name=" ".join(words), terminal_width=100, max_content_width=100)
        yield " ".join(words), command.get_short_help_str(200), command.get_help(context)
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                yield from shown([*words, name], inner)

    found = list(shown(["evalbench"], group))
    rows = [[f"[`{name}`](#{name.replace(' ', '-')})", words_of(short)] for name, short, _ in found[1:]]
    helps = [f"## {name}\n\n```text\n{said}\n```" for name, _, said in found[1:]]
    return "\n\n".join([table(["command", "what it does"], rows), *helps])


def decisions(_: str, runs: Mapping[str, Path]) -> str:
    """The decisions, by the titles of their files."""
    found = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    return "```{toctree}\n:maxdepth: 1\n\n" + "\n".join(path.stem for path in found) + "\n```"


PARTS: Mapping[str, Callable[[str, Mapping[str, Path]], str]] = {
    "study": study_page,
    "which": which,
    "studies": all_studies,
    "metrics": metrics,
    "metrics-api": metrics_api,
    "names": notebook_names,
    "studies-api": studies_api,
    "modules": modules,
    "commands": commands,
    "decisions": decisions,
}


def with_parts(page: str, runs: Mapping[str, Path], up: str = "") -> str:
    """A page with what its marks stand for; ``up`` leads from it to the folder of all pages."""

    def part(found: re.Match[str]) -> str:
        made = PARTS[found[1]](found[2], runs)
        return re.sub(r"`?(\w+)`? \(docs/methods\.md\)", rf"[\1]({up}methods.md#\1)", made)

    return MARK.sub(part, page)
