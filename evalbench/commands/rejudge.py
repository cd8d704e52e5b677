"""``evalbench rejudge``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalbench.commands.options import OF_A_RUN, assignments
from evalbench.commands.parameters import AlsoInJson
from evalbench.commands.run import Carried, carry_out

if TYPE_CHECKING:
    from evalbench.runs.run import Plan, Run


@click.command("rejudge", cls=AlsoInJson)
@click.argument("old", metavar="RUN")
@click.option("--judge", default="", metavar="NAME", help="Who judges (default: the judge of the run, asked anew).")
@click.option(
    "--judged-at",
    default="",
    metavar="TEXT",
    help="A name for this judging, such as 2026-11: verdicts given under another one are not taken from the cache (default: "
    "the date, where the judge is that of the run).",
)
@click.option(
    "-p",
    "pairs",
    multiple=True,
    metavar="name=value",
    help="A parameter that differs from the run's, such as judge_prompt=FILE; may be repeated.",
)
@click.option("--data", metavar="NAME@VERSION|PATH", help="The run's data, where they have been moved.")
@OF_A_RUN
def rejudge(
    old: str,
    judge: str,
    judged_at: str,
    pairs: tuple[str, ...],
    data: str | None,
    root: Path | None,
    max_calls: int | None,
    max_cost: float | None,
    **how: Any,
) -> None:
    """Judge the answers of a finished run again; RUN is its folder or id. Only the judge is asked, never the system.

    \b
    evalbench rejudge reports/rag_generation/A --judge openai/gpt-4o
    evalbench rejudge reports/judge_audit/A --judged-at 2026-11
    evalbench compare reports/rag_generation/A reports/rag_generation/B
    """
    from evalbench.runs.fork import forking

    fork = click.get_current_context().with_resource(forking())

    def planned() -> Plan:
        from evalbench import workbench
        from evalbench.readers.runs import run_folder
        from evalbench.runs.again import judged_again
        from evalbench.runs.limits import limited

        given = {**assignments(pairs, "-p"), **({"data": data} if data else {})}
        folder = run_folder(old, workbench.reports(root))
        return limited(judged_again(folder, judge, given, judged_at=judged_at, root=root), max_calls, max_cost)

    def after(done: Run) -> Sequence[str]:
        from evalbench.core.judging_time import in_words

        said = in_words((done.results or {}).get("judged_again") or {})
        return [said, f"compare  evalbench compare {shlex.quote(old)} {shlex.quote(str(done.folder))}"]

    sys.exit(carry_out(planned, "rejudge", Carried(fork=fork, **how), after))
