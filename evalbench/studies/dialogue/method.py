"""What a reader must know of the sessions, and how the figures were computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evalbench import core, kit
from evalbench.readers.strangers import alike
from evalbench.studies.dialogue import inputs, summary

_LISTED = 8


def notes(found: inputs.Turns, items: pd.DataFrame, by_week: pd.DataFrame) -> list[str]:
    """How roles were read, what is odd about the sessions, and the weeks that differ."""
    out, counts = [], found.counts
    roles = {how: own["role"].tolist() for how, own in found.roles.groupby("read as")}
    if found.guessed:
        names = ", ".join(roles["the model"])
        out.append(f"Read as the model's by their names: turns of the role {names}; model_roles says otherwise.")
    if "neither" in roles:
        own = found.roles[found.roles["read as"] == "neither"]
        listed = ", ".join(f"{r} ({n})" for r, n in zip(own["role"][:_LISTED], own["turns"][:_LISTED], strict=True))
        out.append(f"Neither the model's nor the user's, so not counted: turns of the role {listed}.")
    if lost := int((items["unscored"] != "").sum()):
        out.append(f"Sessions without an answer of the model, which are in no mean: {lost} of {len(items)}.")
    said = {
        "repeated": "Rows that repeat another one and were left out: {n}.",
        "silent": "Turns of the model without a text (null), such as calls of tools, which are not answers: {n}.",
        "shared": "Sessions with several models, in which each has its own answers: {n}.",
        "times": "Sessions whose times go back although their turns go on; the turns' numbers count: {n}.",
        "gaps": "Sessions that lack numbers between their turns, so that answers may be missing: {n}.",
        "in a row": "Sessions in which answers follow each other without a user's turn; each counts: {n}.",
    }
    out += [
        _first_if_many(what, words.format(n=counts[what]), counts[what], items)
        for what, words in said.items()
        if counts.get(what)
    ]
    if n := counts.get("outcomes", 0):
        text = f"Sessions whose rows differ in resolved; the last one's counts: {n}."
        short = f"in {n} of {core.counted(len(items), 'session')} rows differ in resolved: the last one's counts"
        out.append(core.Note("disagreement", short, text) if n > kit.MAX_UNSCORED * len(items) else text)
    if counts.get("no text at all"):
        out.append("The column text is empty throughout and was not read.")
    if how := counts.get("unnumbered", 0):
        lack = (
            f"All turns have the number {counts['one number']}" if "one number" in counts else "Turns have no numbers"
        )
        out.append(f"{lack}; their order is that of {'times' if how == 2 else 'the rows'}.")
    if near := alike(items["session_id"]):
        out.append(core.Note("unmatched", f"are turns of one session taken as those of several? Of the ids {near}"))
    dated = items["week"] != ""
    if dated.any() and not dated.all():
        out.append(f"Sessions without a time, which are in no week: {int((~dated).sum())} of {len(items)}.")
    if len(by_week):
        odd = by_week[by_week["p_holm"] <= summary.ALPHA].sort_values(["p_holm", "model", "week"])
        row: Any
        for row in odd.head(_LISTED).itertuples():
            way = "longer" if row.difference > 0 else "shorter"
            out.append(
                f"{row.week}, {row.model}: sessions are {way} than in the other weeks by {abs(row.difference):.1f} answers "
                f"({row.mean:.1f}, {core.counted(row.n, 'session')}; p {core.wording.p_equals(row.p_holm)}, Holm over {len(by_week)} weeks)."
            )
    return [*out, *(line for line in kit.answers.remarks(items) if not lost or not line.startswith("Unscored"))]


def described(
    orientation: str, lights: Mapping[str, Mapping[str, float]], time_zone: str, paired: bool
) -> tuple[str, ...]:
    """The formula, the thresholds and their source."""
    bands = summary.measures(orientation, lights)[0].bands
    source = "set by lights" if lights.get("answers") else "of the document"
    lines = [
        "Length of a session = number of the model's turns in it, two in a row too; the figure is the mean over sessions that "
        "have at least one. A model's turn whose text is null is not an answer; an empty text is one.",
        f"Thresholds {source}: {bands}. Source: handbook (docs/methods.md), «Спецификация Chat: средняя длина диалога»; it "
        "takes sessions of the past.",
        "Abandoned: resolved is 0. A session of unknown end is in the mean of all, not in the two others.",
        f"A session belongs to the ISO week (Monday first, {time_zone}) of its first turn; intervals of weeks are Student's. "
        "A week of ten sessions and more is compared with the model's other weeks: sessions dealt to weeks at random, Holm over all.",
        "Models are compared on the sessions that both have." if paired else "Models are compared as independent samples of sessions.",
        "Intervals resample sessions.",
    ]  # fmt: skip
    if orientation == "goal":
        lines.insert(
            3,
            "The thresholds hold for resolved sessions too, where they are known (ours): sessions that were given up shorten the mean of all.",
        )
    return tuple(lines)


def _first_if_many(what: str, text: str, n: int, items: pd.DataFrame) -> str:
    """A note on sessions, of the first rank where they are more than a few and change what is counted."""
    short = {
        "gaps": "lack numbers between their turns, so that answers may be missing",
        "in a row": "have answers that follow each other without a user's turn, each of which counts",
    }.get(what)
    if short is None or n <= kit.MAX_UNSCORED * len(items):
        return text
    return core.Note("instrument", f"{n} of {core.counted(len(items), 'session')} {short}", text)
