"""Pictures and tables of a reproduction result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from evalbench import core, draw, kit
from evalbench.readers import where
from evalbench.studies.reproduction import inputs, summary

NO_MARKS = "No answer is marked right or wrong: that takes a column reference or correct"
ANSWERED = "the question, and the answers, the most frequent first"
ALIKE = 0.05
"""Answers to a creative task that differ by no more are nearly the same: where its light is not green."""
ANSWERS = 5
"""So many different answers of a question are open; the others are one click away."""
LONGEST = 200


def picture_words(result: core.Result) -> draw.Drawn:
    """Lexical diversity of every test set and model."""
    return _bars(
        result, summary.LIT[inputs.EXACT], "Lexical diversity: how much answers to one question differ in words"
    )


def picture_meaning(result: core.Result) -> draw.Drawn | None:
    """Semantic diversity of every test set and model; None where there is none."""
    if "semantic_diversity" not in result.items:
        return None
    return _bars(
        result, summary.LIT[inputs.CREATIVE], "Semantic diversity: how much answers to one question differ in meaning"
    )


def _bars(result: core.Result, metric: str, title: str) -> draw.Drawn:
    rows = [e for e in result.summary.estimates if e.metric == metric]
    names = [", ".join(e.group.values()) for e in rows]
    return draw.pictures.estimate_bars(names, rows, title=title, xlabel=f"{summary.TITLES[metric]} (percentage points)")


def picture_questions(result: core.Result) -> draw.Drawn:
    """How diversity is spread over the questions: a few that change wholly, or all a little."""
    found = [(group, task, rows) for group, task, rows in summary.groups_of(result.items)]
    groups = {", ".join(group.values()): (task, rows) for group, task, rows in found}
    return draw.pictures.distribution(
        {name: 100 * rows[_figure(rows, task)].to_numpy(dtype=float) for name, (task, rows) in groups.items()},
        title="Diversity of each question, by what its task is judged by",
        xlabel="Diversity (percentage points)",
        domain=(0, 100),
        behind={
            ", ".join(group.values()): draw.bars.Behind(
                _figure(rows, task), where.of_group(group, list(group)), scale=0.01
            )
            for group, task, rows in found
        },
    )


def _figure(rows: pd.DataFrame, task: str) -> str:
    return summary.LIT[task] if summary.LIT[task] in rows else summary.LIT[inputs.EXACT]


def most_different(result: core.Result, rows: int = 8) -> pd.DataFrame:
    """The questions whose answers differ most, with the answers and how often each was given; the groups in turn.

    Those of exact tasks, by words; where all tasks are creative theirs, by meaning.
    """
    items, worth = result.items, _diversity(result.items)
    judged = (items["task"] == inputs.EXACT) | (inputs.EXACT not in set(items["task"]))
    return _cases(result, worth.where((worth > 0) & judged), rows, "No question has two different answers")


def most_alike(result: core.Result, rows: int = 6) -> pd.DataFrame:
    """The questions of creative tasks whose answers are nearly the same, with the answers."""
    items = result.items
    if inputs.CREATIVE not in set(items["task"]):
        return _note("No test set is a creative task")
    alike = (items["task"] == inputs.CREATIVE) & (_diversity(items) <= ALIKE)
    return _cases(result, (-_diversity(items)).where(alike), rows, f"No question differs by {100 * ALIKE:g} pp or less")


def flickering(result: core.Result, rows: int = 12) -> pd.DataFrame:
    """The questions whose answers are neither all right nor all wrong, with the answers."""
    items = result.items
    if "flickers" not in items:
        return _note(NO_MARKS)
    worth = items["lexical_diversity"].fillna(0).where(items["flickers"] == 1)
    return _cases(result, worth, rows, "No question is sometimes right and sometimes wrong")


def _diversity(items: pd.DataFrame) -> pd.Series:
    words = items["lexical_diversity"]
    return words.where(items["task"] == inputs.EXACT, items.get("semantic_diversity", words)).fillna(words)


def _note(text: str) -> pd.DataFrame:
    return pd.DataFrame({"note": [text]})


def _cases(result: core.Result, worth: pd.Series, n: int, nothing: str) -> pd.DataFrame:
    """The questions of the highest worth with their answers, the groups in turn; those without one are no cases."""
    cases = result.items.assign(worth=worth)
    cases = cases[cases["worth"].notna()]
    if cases.empty:
        return _note(nothing)
    by = ["model", *(["test_set"] if "test_set" in cases else [])]
    keys = ["id", *by]
    cases = cases.sort_values(["worth", *keys], ascending=[False] + [True] * len(keys), kind="stable")
    turn = cases.groupby(by, sort=True).cumcount()
    cases = cases.assign(turn=turn).sort_values(["turn", *by], kind="stable", ignore_index=True).head(n)
    texts = result.tables["generations"].merge(cases[keys], on=keys)
    grouped: dict[Any, pd.DataFrame] = dict(iter(texts.groupby(keys, sort=False)))

    def own(row: dict[str, Any]) -> pd.DataFrame:
        return grouped[tuple(row[key] for key in keys)]

    figures = [("lexical_diversity", "words"), ("semantic_diversity", "meaning"), ("correct", "right")]

    def whose(row: dict[str, Any]) -> draw.Html:
        said = [(name, 100 * row[column]) for column, name in figures if column in row and row[column] == row[column]]
        units = [f"{name} {value:.1f}{' %' if name == 'right' else ' pp'}" for name, value in said]
        return draw.Html("<br>".join(draw.escape(each) for each in (", ".join(str(row[name]) for name in by), *units)))

    show: dict[str, Any] = {"id": "id", "whose, differing by": whose, ANSWERED: lambda row: _answered(own(row))}
    return kit.cases.shown(cases, show)


def _answered(rows: pd.DataFrame) -> draw.Html:
    """The question, then each different answer once, with how often it was given and whether it is right."""
    question = rows["question"].iloc[0] if "question" in rows else None
    parts = []
    spoken = rows[rows["answer_no"] >= 0]
    for _, same in sorted(spoken.groupby("answer_no"), key=lambda pair: (-len(pair[1]), pair[1]["answer"].min())):
        mark = same["correct"].mean() if "correct" in same else np.nan
        said = (
            "" if mark != mark else {0.0: ", wrong", 1.0: ", right"}.get(float(mark), f", right {mark:.0%} of the time")
        )
        text = str(same["answer"].min())
        parts.append(
            f"<div{draw.html.language_attributes(text)}><strong>{len(same)} ×{said}:</strong> {draw.tables.clamped(text, LONGEST)}</div>"
        )
    lost, empty = int((rows["unscored"] != "").sum()), int(((rows["unscored"] == "") & (rows["answer_no"] < 0)).sum())
    rest = [f"<div><strong>{n} × {what}</strong></div>" for n, what in ((lost, "lost"), (empty, "empty")) if n]
    body = "".join(parts[:ANSWERS])
    if len(parts) > ANSWERS:
        body += draw.tables.folded(
            core.counted(len(parts) - ANSWERS, "further answer"), draw.Html("".join(parts[ANSWERS:]))
        )
    asked = (
        f"<em>{draw.tables.text_block(question, LONGEST)}</em>"
        if isinstance(question, str) and question.strip()
        else ""
    )
    return draw.Html(asked + body + "".join(rest))


def changes(result: core.Result) -> pd.DataFrame:
    """How many questions have one answer, two, and more, for every test set and model."""
    found = []
    for group, task, rows in summary.groups_of(result.items):
        known = rows[rows["lexical_diversity"].notna()]
        n = known["n_answers"]
        found.append(
            {
                **{name.replace("_", " "): value for name, value in group.items()},
                "task": task,
                "questions": len(rows),
                "one answer": int((n == 1).sum()),
                "two": int((n == 2).sum()),
                "three or more": int((n > 2).sum()),
                "fewer than two to compare": len(rows) - len(known),
                "most answers": int(n.max()) if len(n) else 0,
            }
        )
    return pd.DataFrame(found)


def by_trial(result: core.Result) -> pd.DataFrame:
    """The share of right answers of every trial, with its interval."""
    table = result.tables.get("trials")
    if table is None:
        marked = "correct" in result.items and result.items["correct"].notna().any()
        return _note("The table does not say which trial an answer is of" if marked else NO_MARKS)
    texts = core.wording.aligned(*([None if x != x else x for x in table[name]] for name in ("correct", "low", "high")))
    names = [name for name in ("model", "test_set", "trial", "n") if name in table]
    return table[names].rename(columns={"test_set": "test set", "n": "questions"}).assign(**{"right answers": texts})


def passes(result: core.Result) -> pd.DataFrame:
    """The chance that at least one of k generations is right (pass@k), and that all k are (pass^k), with intervals."""
    found = []
    for group, rows, marks in _marked(result):
        right = marks.groupby("id")["correct"].agg(["size", "sum"]).astype(int)
        seen = core.trials.passed(
            right["size"], right["sum"], seed=result.parameters["seed"], n_resamples=result.parameters["n_resamples"]
        )
        names = {name.replace("_", " "): value for name, value in group.items()}
        at, hat = (
            core.wording.aligned(*([None if x != x else x for x in part.tolist()] for part in parts))
            for parts in ((seen.at, seen.at_low, seen.at_high), (seen.hat, seen.hat_low, seen.hat_high))
        )
        found += [
            {
                **names,
                "k": k,
                "one of k right": one,
                "all k right": every,
                "questions": seen.n_items,
                "left out": len(rows) - seen.n_items,
            }
            for k, one, every in zip(seen.k.tolist(), at, hat, strict=True)
        ]
    return pd.DataFrame(found) if found else _note(NO_MARKS)


def noise(result: core.Result) -> pd.DataFrame:
    """Where the noise of the share of right answers is from, and what more calls would be best spent on."""
    found = []
    for group, _, marks in _marked(result):
        split = core.noise.noise_split(marks["correct"].to_numpy(dtype=float), marks["id"].to_numpy())
        if split is None:
            continue
        shares = {c.name: "–" if c.share != c.share else core.percent(c.share) for c in split.components}
        found.append(
            {
                **{name.replace("_", " "): value for name, value in group.items()},
                "right answers": kit.cases.score_text(split.mean),
                "noise from the questions": shares["items"],
                "from repeated answers": shares.get("answers", "–"),
                "what more calls would do": core.noise.noise_sentence(split),
            }
        )
    return pd.DataFrame(found) if found else _note("No question has two answers that are marked right or wrong")


def _marked(result: core.Result) -> Iterator[tuple[dict[str, str], pd.DataFrame, pd.DataFrame]]:
    """Each group in which answers are marked right or wrong: its items, and its generations that have a mark."""
    generations = result.tables["generations"]
    if "correct" not in generations:
        return
    for group, _, rows in summary.groups_of(result.items):
        own = np.logical_and.reduce([(generations[name] == value).to_numpy() for name, value in group.items()])
        marks = generations[own & generations["correct"].notna().to_numpy()]
        if len(marks):
            yield group, rows, marks
