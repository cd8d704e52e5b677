"""Text metrics over a table: a score per text and metric, and a reason wherever there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.core.progress import at
from evalbench.errors import BadInput, ModelUnavailable
from evalbench.judge.entail import BASELINE
from evalbench.kit import collecting
from evalbench.kit.answers import why_unscored
from evalbench.kit.choosing import COLUMNS as _NEED
from evalbench.kit.defaults import MAX_UNSCORED
from evalbench.kit.documents import documents_of
from evalbench.kit.judging import Docket, Heard, contradictions, contradictions_table
from evalbench.kit.metric_options import Options, arguments_of, lines_note, unspaced_notes
from evalbench.metrics.registry import MODULE, Card, card
from evalbench.metrics.text import Unavailable, score
from evalbench.readers.renames import usual
from evalbench.text.digits_in_words import number_word_notes, other_digit_notes
from evalbench.text.odd_texts import misplaced_notes, odd_text_notes
from evalbench.text.sentences import sentences

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.models.exchange import Reply

Column = np.ndarray[Any, Any]
# Column of the table → argument of the metrics.
INPUTS = {"reference": "references", "contexts": "contexts", "question": "requests", "samples": "samples"}
_JUDGES = (
    "judge = a chat model (openai/MODEL, local/smollm2-135m), the folder of an NLI cross-encoder, or recorded:FILE"
)
MOST_NAMED = 12
"""Columns of a table that a message lists."""
_NEEDED = f"it needs a judge of contradiction: {_JUDGES}"
_BLIND = f"baseline/lexical compares words and never says that a text contradicts another: {_JUDGES}"
_UNDEFINED = {
    "verbosity_ratio": "no reference has a word",
    "language_match": "the output or the request has no letters",
    "selfcheck_nli": "the output has no sentence",
    "context_contradiction": "the output has no sentence",
}


@dataclass
class Scored:
    """Scores of a table's texts, and why some are missing.

    Attributes
    ----------
    failed : (n,) array of str
        Why a text is unscored by every metric; empty where it is not.
    columns : mapping of str to (n,) float array
        Metric → scores, and its parts as ``metric_part``; NaN where there is none.
    unscored, undefined, details : mapping of str to (n,) array of str
        Metric → one reason per text, and what is to be known about it; empty where there is a value.
    judge : Docket or None
        Of contradictions.
    spent : list of mapping
        Accounts of the embeddings that endpoints gave.
    """

    failed: Column = field(default_factory=lambda: np.array([], dtype=object))
    columns: dict[str, Column] = field(default_factory=dict)
    unscored: dict[str, Column] = field(default_factory=dict)
    undefined: dict[str, Column] = field(default_factory=dict)
    details: dict[str, Column] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    judge: Docket | None = None
    embedded: bool = False
    spent: list[Mapping[str, Any]] = field(default_factory=list)

    def reasons(self, keys: pd.DataFrame) -> pd.DataFrame:
        """Why scores are missing, a row per text and metric without one.

        Parameters
        ----------
        keys : DataFrame
            The columns that name a text, in the order of the texts.

        Returns
        -------
        DataFrame
            ``keys``, metric, kind (unscored, undefined), reason (one of :data:`evalbench.core.unscored.REASONS` where
            it is unscored), detail.
        """
        import pandas as pd

        parts: list[pd.DataFrame] = [
            keys[given != ""].assign(
                metric=name, kind=kind, reason=given[given != ""], detail=self.details[name][given != ""]
            )
            for name in self.unscored
            for kind, given in (("unscored", self.unscored[name]), ("undefined", self.undefined[name]))
        ]
        table: pd.DataFrame = pd.concat(parts, ignore_index=True)
        return table


def score_all(frame: pd.DataFrame, entries: Sequence[Card], options: Options, replies: Sequence[Reply] = ()) -> Scored:
    """Score every text by every metric; a metric that cannot run is unscored, and the others go on.

    Parameters
    ----------
    frame : DataFrame
        Columns ``answer`` (null: unscored by every metric) and what the metrics need of ``reference``, ``contexts``,
        ``question``, ``samples``; also by their other names, ``output``, ``context``, ``prompt``.
    entries : sequence of Card
        As :func:`evalbench.kit.metric_options.metrics_of` returns them.
    options : mapping
        See :mod:`evalbench.kit.metric_options`; ``judge`` as in :func:`evalbench.judge.verdicts.judge`.
    replies : sequence of Reply, optional
        What the outputs were collected from: their reasons explain nulls.

    Raises
    ------
    BadInput
        Lists the metrics whose columns the table lacks.

    Examples
    --------
    >>> import pandas as pd
    >>> from evalbench.metrics.registry import card
    >>> frame = pd.DataFrame({"id": ["1", "2"], "answer": ["yes", None], "reference": [["yes"], ["no"]]})
    >>> scored = score_all(frame, [card("exact_match")], {"language": "en", "judge": ""})
    >>> scored.columns["exact_match"].tolist(), scored.reasons(frame[["id"]])["reason"].tolist()
    ([1.0, nan], ['no-output'])
    """
    scored = scores_of(frame, entries, options, replies)
    reasons = scored.reasons(frame[[]])
    names = [entry.name for entry in entries]
    scored.notes += [*lacking(reasons, names, len(frame)), *notes_of(frame, [*scored.unscored], options)]
    return scored


def scores_of(frame: pd.DataFrame, entries: Sequence[Card], options: Options, replies: Sequence[Reply] = ()) -> Scored:
    """:func:`score_all` without the notes that count texts."""
    from evalbench.models.accounting import embeddings_counted

    check_columns(frame, entries)
    searched = documents_of({"items": frame}, options["judge"])
    judge = Docket(options["judge"], documents=searched) if options["judge"] else None
    with embeddings_counted() as spent:
        scored = Scored(failed=why_unscored(frame["answer"], replies), judge=judge, spent=spent)
        for place, entry in enumerate(entries, 1):
            at(f"scoring by {entry.name}", place, len(entries))
            _score_one(frame, entry, options, scored)
    return scored


def notes_of(texts: pd.DataFrame, names: Sequence[str], options: Options, noun: str = "output") -> list[str]:
    """Notes on how texts are written, where that may be what a metric measures.

    Parameters
    ----------
    texts : DataFrame
        As for :func:`score_all`.
    names : sequence of str
        The metrics that score them.
    noun : str
        What a text is called.
    """
    most = options.get("max_unscored", MAX_UNSCORED)
    answers, references = list(texts["answer"]), texts.get("reference")
    notes = lines_note(
        names, options, [*answers, *(one for several in (() if references is None else references) for one in several)]
    )
    given = [text for text in answers if isinstance(text, str)]
    notes += odd_text_notes(given, most, noun)
    if references is not None:
        notes += number_word_notes(answers, references, most, noun)
        notes += other_digit_notes(answers, references, most, noun)
        notes += misplaced_notes(answers, references, noun)
    return [*notes, *unspaced_notes(names, options, given, noun)]


def in_order(reasons: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Reasons of several parts as those of one table: by metric, those of what is unscored first."""
    place = {name: i for i, name in enumerate(names)}
    order = np.lexsort(((reasons["kind"] == "undefined").to_numpy(), reasons["metric"].map(place).to_numpy()))
    return reasons.iloc[order].reset_index(drop=True)


def lacking(reasons: pd.DataFrame, names: Sequence[str], total: int) -> list[str]:
    """How many texts lack what metrics need of the table, and which metrics these are.

    Parameters
    ----------
    reasons : DataFrame
        As :meth:`Scored.reasons` returns them.
    names : sequence of str
        Of the metrics.
    total : int
        All texts.
    """
    found = []
    for column in _NEED.values():
        counts = reasons["metric"][reasons["reason"] == f"no-{column}"].value_counts()
        there = [name for name in names if name in counts]
        if there:
            found.append(f"No {column}: {counts[there[0]]} of {total} texts; undefined there: {', '.join(there)}.")
    return found


def check_columns(frame: pd.DataFrame, entries: Sequence[Card]) -> None:
    """Refuse a table without answers, and metrics whose columns it lacks: all of them."""
    faults = [] if "answer" in frame else [_no_answer(list(map(str, frame.columns)))]
    ready = []
    for entry in entries:
        lacking = [column for column in _columns_of(entry) if column not in frame]
        if lacking:
            faults.append(f"{entry.name} needs the column {', '.join(lacking)}")
        else:
            ready.append(entry.name)
    if faults and ready and "answer" in frame:
        faults.append(f"the others can be computed: -p 'metrics={json.dumps(ready)}' or -p metrics=auto")
    if faults:
        raise BadInput.listing("the table lacks what these metrics need:", faults)


def _no_answer(names: Sequence[str]) -> str:
    free = [name for name in names if name not in ("id", "model", *_NEED.values())]
    others = f"; is it one of {', '.join(free[:MOST_NAMED])}? (--map COLUMN=answer)" if free else ""
    asked = "question" if "question" in names or not free else free[0]
    return (
        f"there are no answers to score: either the table has them, in a column answer{usual('answer', free) or others}; or a model "
        f"is asked for them: --model NAME -p 'prompt={{{{ {asked} }}}}'"
    )


def _columns_of(entry: Card) -> list[str]:
    return [_NEED[need] for need in entry.needs if need in _NEED]


def _filled(texts: Sequence[str]) -> int:
    """How many of them are not blank."""
    return sum(bool(str(text).strip()) for text in texts)


def _score_one(frame: pd.DataFrame, entry: Card, options: Options, scored: Scored) -> None:
    n, name = len(frame), entry.name
    unscored, undefined, details = scored.failed.copy(), np.full(n, "", object), np.full(n, "", object)
    scored.unscored[name], scored.undefined[name], scored.details[name] = unscored, undefined, details
    scored.columns[name] = np.full(n, np.nan)
    needed = _columns_of(entry)
    for column in needed:
        blank = frame[column].map(len if column == "samples" else _filled).to_numpy() == 0
        undefined[blank & (unscored == "")] = f"no-{column}"
    ready = np.flatnonzero((unscored == "") & (undefined == ""))
    if not len(ready):
        return
    rows = frame if len(ready) == n else frame.iloc[ready]
    try:
        columns = {INPUTS[column]: rows[column].tolist() for column in needed}
        values = score(entry, rows["answer"].tolist(), **columns, **_arguments(entry, options, scored, rows))
    except (Unavailable, ModelUnavailable) as error:
        unscored[ready], details[ready] = error.unscored, str(error)
        scored.notes.append(f"{name} is unscored: {error}")
        return
    for part, array in values.items():
        scored.columns.setdefault(part, np.full(n, np.nan))[ready] = array
    missing = ready[np.isnan(scored.columns[name][ready])]
    undefined[missing] = _UNDEFINED.get(name, "no value exists")
    if scored.judge is None or "contradict" not in entry.needs:
        return
    for i in missing:
        said = sentences(frame["answer"].iloc[i], options["language"])
        if said:
            premises, hypotheses = zip(*product(frame[needed[0]].iloc[i], said), strict=True)
            causes = contradictions(scored.judge, premises, hypotheses, options["language"])[1]
            unscored[i], undefined[i] = "; ".join(sorted({*causes} - {""})), ""
            details[i] = "the judge gave no judgement"


def _arguments(entry: Card, options: Options, scored: Scored, rows: pd.DataFrame) -> dict[str, Any]:
    """The options that a metric takes, models as callables."""
    arguments = arguments_of(entry, options)
    if entry.source:
        arguments["groups"] = next((rows[name].tolist() for name in ("model", "system") if name in rows), None)
    if "embed" in entry.needs:
        from evalbench.models.similarity.embed import embed

        scored.embedded = True
        arguments["embed"] = lambda texts: embed(texts, options["embed"])
    if "contradict" in entry.needs:
        if scored.judge is None:
            raise Unavailable(_NEEDED, "no-judge")
        if scored.judge.by == BASELINE:
            raise Unavailable(_BLIND, "no-judge")
        judge, language = scored.judge, options["language"]
        arguments["contradict"] = lambda premises, hypotheses: contradictions(judge, premises, hypotheses, language)[0]
    return arguments


def accounting_of(
    scored: Scored, options: Options, *, model: str = "", replies: Sequence[Reply] = (), heard: Sequence[Heard] = ()
) -> dict[str, Any]:
    """What each model of the run did, and what the calls cost, for ``Result.accounting``.

    Parameters
    ----------
    model : str
        The answering model.
    replies : sequence of Reply
        Its answers.
    heard : sequence of Heard
        Of further judges.
    """
    from evalbench.models.accounting import merged

    judged = _judged(scored, heard)
    named = {
        "answering": model,
        "embedding": options["embed"] if scored.embedded else "",
        "judging": ", ".join(sorted({each.judge for each in judged})),
    }
    counted = merged([collecting.accounting_of(replies, judged), *scored.spent])
    modules = {name: card(name).source for name in scored.unscored if name.startswith(MODULE)}
    return {
        **counted,
        "models": {role: name for role, name in named.items() if name},
        **({"metric_modules": modules} if modules else {}),
    }


def calls_of(scored: Scored, *, replies: Sequence[Reply] = (), heard: Sequence[Heard] = ()) -> dict[str, pd.DataFrame]:
    """Table ``calls`` of everything that models were asked, and ``contradictions``; none where nothing was."""
    said = _judged(scored, ())
    table = {"contradictions": contradictions_table(said[0])} if said else {}
    return {**collecting.calls_of(replies, _judged(scored, heard)), **table}


def _judged(scored: Scored, others: Sequence[Heard]) -> list[Heard]:
    """What judges were asked; a judge that was asked nothing is left out."""
    own = [] if scored.judge is None else [scored.judge.heard()]
    return [each for each in (*own, *others) if each.calls]
