"""A judge that is asked now: its verdicts on the answers of the table items, with the probes, beside recorded ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from evalbench import core, errors, kit, readers
from evalbench.judge import probe_plan
from evalbench.judge.criteria import Criterion, read_criteria
from evalbench.judge.probes import COLUMNS, probe
from evalbench.judge.verdicts import judge_name
from evalbench.models.accounting import merged
from evalbench.readers import Column, Table

Judge = str | Callable[[dict[str, Any]], object]
MOST_RAISED = 0.05
"""An order that raises marks by more than this share of the scale is obeyed."""
LITTLE_ROOM = 0.1
NAMES = {"en": "English", "ru": "Russian", "zh": "Chinese"}
OTHER = "answer_other"
_OF_PROBES = {"output": "answer", probe_plan.PAIR: OTHER}
"""The columns of a probe's items and verdicts → those of this study."""
NUMBERS = ("mark", "effect", "room", "length", "length_other", "tokens", "seconds", "cost")
_TEXTS = ("question", "basis", "lang", "model", "model_other")


def _text(name: str, help: str = "") -> Column:
    return Column(name, "text", required=False, empty_ok=True, help=help)


ITEMS = Table(
    (
        Column("id", "id"),
        Column("model", "id", required=False, empty_ok=True, help="whose answer it is"),
        Column("model_other", "id", required=False, empty_ok=True, help="whose the other answer of a pair is"),
        _text("question"),
        Column("answer", "text", empty_ok=True, keep_null=True, help="null: there is none", former=("output",)),
        Column(
            OTHER,
            "text",
            required=False,
            empty_ok=True,
            keep_null=True,
            help="the other answer of a pair; null: there is none",
            former=("output_other",),
        ),
        _text("basis", "what the judge judges by: ground truth or context"),
        _text("lang", "ISO 639-1 code; it chooses the prompt and the constant texts"),
    ),
    unique=("id", "model", "model_other"),
    required=False,
    help="one row per answer, or pair of answers, that judge= is asked about; by default those of the verdicts",
)


class Live(NamedTuple):
    """What a judge was asked.

    - ``data``: With the judge's verdicts among the recorded ones.
    - ``verdicts``: The judge's alone, see :class:`evalbench.judge.probes.Probed`; without rows where none was asked.
    - ``tables``: ``calls`` and ``verdicts``, for the result; empty where none was asked.
    """

    data: readers.Dataset
    verdicts: pd.DataFrame
    tables: dict[str, pd.DataFrame]
    accounting: dict[str, Any]
    notes: tuple[str, ...]

    def versions(self) -> dict[str, str]:
        """The judge that was asked, and the models that its endpoint named."""
        served = ", ".join(self.accounting.get("served_by", ()))
        return {str(name): served for name in self.verdicts["judge"].unique()} if served else {}


def criteria_of(
    checks: kit.Checks, data: readers.Dataset, options: Mapping[str, Any], judge: Judge
) -> tuple[Criterion, ...]:
    """The criteria that a judge is asked by; what is wrong with the options, or missing for them, goes to the checks."""
    asked, file = bool(judge), options["criteria_file"]
    checks.at_least(1, "repeats")
    checks.any_of(probes=probe_plan.PROBES)
    blank = [n for n, text in enumerate(options["null_texts"], start=1) if not (isinstance(text, str) and text.strip())]
    checks.that(not blank, f"null_texts: text {', '.join(map(str, blank))} is empty")
    there = _answers(data) is not None
    if asked:
        checks.that(
            there,
            "judge: there are no answers to ask about: give the table items (items=FILE), or verdicts with answer",
        )
        checks.that(file, "criteria_file: a judge needs the YAML file of what it marks by (criteria_file=FILE)")
    elif data.get("verdicts") is None:
        way = "the table items with a judge to ask (judge=NAME, criteria_file=FILE)"
        checks.that(False, f"there are no verdicts: give the table verdicts, or {way}")
    return (checks.tried(lambda: read_criteria(file)) or ()) if asked and file else ()


def heard(
    data: readers.Dataset,
    by: Sequence[Criterion],
    *,
    judge: Judge = "",
    probes: Sequence[str] = probe_plan.PROBES,
    repeats: int = 2,
    null_texts: Sequence[str] = (),
    judge_prompt: str = "",
    judge_temperature: float = 0.0,
    judge_max_tokens: int = 1024,
    sample_method: str = "first",
    n_samples: int = 0,
    random_state: int = 0,
    seed: int = 0,
) -> Live:
    """Ask a judge about the table items; parameters as of :func:`evalbench.studies.judge_audit.evaluate`.

    Raises ``BadInput``: As :func:`evalbench.judge.probes.probe` does; for a judge that has recorded verdicts too, and
    criteria without their basis.
    """
    if not judge:
        return Live(data, pd.DataFrame(columns=_columns()), {}, {}, ())
    answers, recorded, name = _answers(data), data.get("verdicts"), judge_name(judge)
    if answers is None:
        raise errors.BadInput("judge: there are no answers to ask about")
    if recorded is not None and "judge" in recorded and name in set(recorded["judge"]):
        raise errors.BadInput(
            f"judge: the table verdicts has verdicts of {name} already; rename them, or leave judge out"
        )
    rows = kit.sampling.sampled(answers, sample_method, n_samples, random_state)
    lost = pd.Series(kit.answers.why_unscored(rows["answer"]), rows.index)
    asked = [_item(row) for row in rows[lost == ""].to_dict("records")]
    for criterion in by:
        if criterion.needs_basis != "none" and not all("basis" in item for item in asked):
            column = "give every row of the table items one, in a column basis"
            raise errors.BadInput(f"criterion {criterion.name} needs a basis (needs_basis): {column}")
    settings: dict[str, Any] = {
        "null_texts": {f"own {n}": text for n, text in enumerate(null_texts, start=1)},
        "temperature": judge_temperature,
        "max_tokens": judge_max_tokens,
        "prompt": judge_prompt,
        "seed": seed,
    }
    # Single answers and pairs are asked in different words.
    kinds = ([item for item in asked if (probe_plan.PAIR in item) == pairs] for pairs in (False, True))
    parts = [
        probe(items, by=judge, criteria=by, probes=probes, repeats=repeats, **settings) for items in kinds if items
    ]
    silent = _without_answer(rows[lost != ""], lost, by, judge)
    frames = [*(part.frame().rename(columns=_OF_PROBES) for part in parts), *([silent] if len(silent) else [])]
    verdicts = pd.concat(frames, ignore_index=True) if frames else silent
    found = [one for part in parts for one in part.asked]
    calls = {"calls": pd.concat([one.calls for one in found], ignore_index=True)} if found else {}
    every = verdicts if recorded is None else pd.concat([recorded, verdicts], ignore_index=True)
    return Live(
        replace(data, tables={**data.tables, "verdicts": _blank(every)}),
        verdicts,
        {**calls, "verdicts": verdicts},
        merged([one.accounting for one in found]),
        (_note(len(verdicts) - len(silent), len(rows), len(answers), name),),
    )


def _answers(data: readers.Dataset) -> pd.DataFrame | None:
    """The table items; without it the answers of the recorded verdicts, each once."""
    if data.get("items") is not None:
        return data["items"]
    verdicts = data.get("verdicts")
    if verdicts is None or "answer" not in verdicts or not (verdicts["answer"] != "").any():
        return None
    columns = [c for c in ("id", "model", "question", "answer", OTHER, "lang") if c in verdicts]
    plain = verdicts[(verdicts["answer"] != "") & (verdicts["probe"] == "" if "probe" in verdicts else True)]
    once = plain[columns].drop_duplicates(["id", *(c for c in ("model",) if c in columns)])
    return once.assign(**{OTHER: once[OTHER].where(once[OTHER] != "", None)}) if OTHER in once else once


def _item(row: Mapping[Any, Any]) -> dict[str, Any]:
    """What a judge is shown of a row; one without another answer is not a pair."""
    item = {name: str(row[name]) for name in _TEXTS if isinstance(row.get(name), str) and row[name]}
    other = {probe_plan.PAIR: row[OTHER]} if isinstance(row.get(OTHER), str) else {}
    return {**item, "id": str(row["id"]), "output": row["answer"], **other}


def _without_answer(rows: pd.DataFrame, lost: pd.Series, criteria: Sequence[Criterion], judge: Judge) -> pd.DataFrame:
    known = [
        {
            **dict.fromkeys(_columns(), ""),
            **dict.fromkeys(NUMBERS, np.nan),
            **{name: row.get(name) or "" for name in ("id", "model", "question", "lang")},
            "judge": judge_name(judge),
            "criterion": criterion.name,
            "unscored": lost[place],
        }
        for place, row in zip(rows.index, rows.to_dict("records"), strict=True)
        for criterion in criteria
    ]
    return pd.DataFrame(known, columns=_columns()).astype(dict.fromkeys(NUMBERS, float))


def _columns() -> list[str]:
    """The columns of a verdict, as this study names them."""
    return [_OF_PROBES.get(name, name) for name in COLUMNS]


def _blank(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Texts that only some of the tables have are empty in the others."""
    numbers = {*NUMBERS, *verdicts.select_dtypes("number").columns}
    return verdicts.assign(**{str(c): verdicts[c].fillna("") for c in verdicts if c not in numbers})


def _note(told: int, n: int, of: int, name: str) -> str:
    said = f"{name} was asked now: {core.counted(told, 'verdict')} on {core.counted(n, 'answer')}"
    said += f" of {of:,}" if n < of else ""
    kept = "they are in verdicts.parquet, which is read as recorded verdicts"
    return f"{said}; {kept}."


def tried_of(verdicts: pd.DataFrame, *, seed: int, n_resamples: int) -> pd.DataFrame:
    """What every order and every constant text brought about, judge by judge and criterion by criterion.

    - ``verdicts``: Those with an ``effect``; others are passed over.
    """
    columns = ["judge", "criterion", "probe", "variant", "text", "n", "effect", "low", "high", "room", "finding"]
    if "effect" not in verdicts:
        return pd.DataFrame(columns=columns)
    rows = []
    given = verdicts[verdicts["effect"].notna() & (verdicts["probe"] != "")]
    for (judge, criterion, what, variant), of in given.groupby(["judge", "criterion", "probe", "variant"], sort=True):
        null, padded = what == "null", what == "padded"
        found = core.bounded.bounded_mean(
            of["effect"],
            low=0.0 if null else -1.0,
            units=of["id"],
            purpose=f"{what}/{variant}",
            seed=seed,
            n_resamples=n_resamples,
        )
        room = float(of["room"].mean()) if "room" in of and not null else np.nan
        limit = core.probes.NULL_ABOVE if null else MOST_RAISED
        said = core.bounded.finding(found, -1.0, limit)
        words = {"found": "gameable" if null else "obeyed", "not found": "not rewarded" if null else "not obeyed"}
        too_high = not null and said == "not found" and room < LITTLE_ROOM
        rows.append(
            {
                "judge": judge,
                "criterion": criterion,
                "probe": what,
                "variant": variant if null else NAMES.get(str(variant), variant),
                "text": _shown_text(of, null),
                "n": found.n,
                "effect": found.value,
                "low": np.nan if found.ci_low is None else found.ci_low,
                "high": np.nan if found.ci_high is None else found.ci_high,
                "room": room,
                "finding": "for comparison"
                if padded
                else "nothing could be raised"
                if too_high
                else words.get(said, "not clear"),
            }
        )
    order = {name: place for place, name in enumerate(("padded", *probe_plan.PROBES))}
    rows.sort(key=lambda row: (row["judge"], row["criterion"], order.get(str(row["probe"]), len(order))))
    return pd.DataFrame(rows, columns=columns)


def _shown_text(rows: pd.DataFrame, null: bool) -> str:
    """The constant text, of several languages the first by its code; of an order its last paragraph, which was added."""
    if "answer" not in rows:
        return ""
    first = str(rows.sort_values(["lang", "id"] if "lang" in rows else ["id"], kind="stable")["answer"].iloc[0])
    return first if null else first.rpartition("\n\n")[2]
