"""From a checked table of texts to one row of scores per text, with a reason wherever there is none."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evalbench.errors import BadInput, ModelUnavailable
from evalbench.judge.entail import BASELINE
from evalbench.kit.answers import answer_of, why_unscored
from evalbench.metrics.registry import COLUMNS, Card, cards
from evalbench.metrics.registry import card as card_named
from evalbench.metrics.text import Unavailable, score
from evalbench.metrics.translation import NO_WORDNET, meteor_stages, wordnet_folder, wordnet_version
from evalbench.studies.text_metrics.contradiction import BLIND, NEEDED, Contradictions
from evalbench.studies.text_metrics.rouge import rouge_said, without_lines
from evalbench.text.sentences import sentences, splitter
from evalbench.text.words import words

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.judge.verdicts import Judgements
    from evalbench.models.exchange import Reply

Floats = np.ndarray[Any, np.dtype[np.float64]]
# Column of the table → argument of the metrics.
INPUTS = {"reference": "references", "context": "contexts", "prompt": "requests", "samples": "samples"}
_NEED = {"reference": "reference", "context": "context", "request": "prompt", "samples": "samples"}
_UNDEFINED = {
    "verbosity_ratio": "no reference has a word",
    "language_match": "the output or the request has no letters",
    "selfcheck_nli": "the output has no sentence",
    "context_contradiction": "the output has no sentence",
}


@dataclass
class Scored:
    """Columns of scores, and why some are missing: metric → one reason per text, empty where there is a value.

    ``failed``: why a text is unscored by every metric.  ``spent``: accounts of the embeddings that endpoints gave.
    """

    failed: np.ndarray[Any, Any] = field(default_factory=lambda: np.array([], dtype=object))
    columns: dict[str, Floats] = field(default_factory=dict)
    unscored: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    undefined: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    judge: Contradictions | None = None
    embedded: bool = False
    spent: list[Mapping[str, Any]] = field(default_factory=list)


def chosen(names: Sequence[str]) -> list[Card]:
    """The cards of metrics by name or alias, each once.

    Raises
    ------
    BadInput
        For names that are no text metric; the message lists them all.
    """
    if isinstance(names, str):
        raise BadInput(f"metrics must be a list of names, e.g. [{names!r}]")
    found: dict[str, Card] = {}
    faults = []
    for name in names:
        try:
            entry = card_named(name)
        except KeyError as error:
            faults.append(str(error.args[0]))
            continue
        if entry.kind not in ("text", "texts"):
            faults.append(f"{name} is a metric of {entry.kind}, not of texts")
        found[entry.name] = entry
    if faults or not found:
        raise BadInput.listing("metrics:", faults or ["none was named"])
    return list(found.values())


def by_synonyms(metrics: Iterable[str], wanted: bool, language: str) -> list[str]:
    """The names with ``meteor_synonyms`` in the place of ``meteor`` where ``wanted``.

    A score by synonyms has a name of its own, so that it is never taken for one without.

    Raises
    ------
    BadInput
        If ``wanted`` without METEOR among the names, or by synonyms and the machine has no WordNet, or the language none.
    """
    names = ["meteor_synonyms" if wanted and name == "meteor" else name for name in metrics]
    asked, faults = "meteor_synonyms" in names, []
    if wanted and not asked:
        faults.append("meteor is not among the metrics")
    if asked and language != "en":
        faults.append(f"WordNet is English, and language is {language!r}")
    if asked and wordnet_folder() is None:
        faults.append(NO_WORDNET)
    if faults:
        raise BadInput.listing("meteor_synonyms cannot be used:", faults)
    return names


def text_cards() -> list[Card]:
    """The cards of all text metrics."""
    return [entry for entry in cards() if entry.kind in ("text", "texts")]


def frame_of(items: pd.DataFrame) -> pd.DataFrame:
    """The table in the order of its ids."""
    keys = [key for key in ("id", "model") if key in items]
    return items.sort_values(keys, kind="stable", ignore_index=True)


def answered(frame: pd.DataFrame, prompt: str, model: str) -> tuple[pd.DataFrame, list[Reply]]:
    """The table with the outputs of a model that was asked with a template, and its replies.

    Raises
    ------
    BadInput
        If the template is faulty or names a column that the table lacks.
    """
    import pandas as pd
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    from evalbench.models.chat.collect import collect
    from evalbench.models.exchange import Request, text_hash

    try:
        environment = SandboxedEnvironment(
            undefined=StrictUndefined, autoescape=False, finalize=lambda value: "" if value is None else value
        )
        template = environment.from_string(prompt)
        asked = [template.render(row) for row in frame.to_dict("records")]
    except TemplateError as error:
        raise BadInput(f"prompt: {error}; the table has {', '.join(map(str, frame.columns))}") from error
    requests = [
        Request(({"role": "user", "content": text},), item_id=i, purpose="answer", prompt_hash=text_hash(prompt))
        for i, text in zip(frame["id"], asked, strict=True)
    ]
    replies = collect(requests, model)
    outputs = pd.Series([answer_of(reply) for reply in replies], index=frame.index, dtype=object)
    columns = {"output": outputs, "model": model, **({} if "prompt" in frame else {"prompt": asked})}
    return frame.drop(columns=["model"], errors="ignore").assign(**columns), replies


def score_all(
    frame: pd.DataFrame, entries: Sequence[Card], options: Mapping[str, Any], replies: Sequence[Reply] = ()
) -> Scored:
    """Score every text by every metric; a metric that cannot run is unscored, and the others go on.

    Parameters
    ----------
    frame : DataFrame
        An ``output`` that is null is unscored by every metric.
    entries : sequence of Card
    replies : sequence of Reply, optional
        What the outputs were collected from: says why one is null.
    options : mapping
        ``language``, ``normalise``, ``tokenize``, ``embed``, ``bert_model``, ``num_layers``, ``judge``, and those of
        :func:`evalbench.studies.text_metrics.rouge.rouge_options`.

    Raises
    ------
    BadInput
        Lists the metrics whose columns the table lacks.
    """
    _check_columns(frame, entries)
    from evalbench.models.accounting import embeddings_counted

    judge = Contradictions(options["judge"], options["language"]) if options["judge"] else None
    with embeddings_counted() as spent:
        scored = Scored(failed=why_unscored(frame["output"], replies), judge=judge, spent=spent)
        for entry in entries:
            _score_one(frame, entry, options, scored)
    scored.notes += _without_inputs(scored, len(frame))
    scored.notes += without_lines(frame, scored.unscored, options)
    return scored


def _without_inputs(scored: Scored, total: int) -> list[str]:
    """How many texts lack what metrics need of the table, and which metrics these are."""
    found = []
    for column in _NEED.values():
        counts = {name: int((why == f"no-{column}").sum()) for name, why in scored.undefined.items()}
        names = [name for name, count in counts.items() if count]
        if names:
            found.append(f"No {column}: {counts[names[0]]} of {total} texts; undefined there: {', '.join(names)}.")
    return found


def _check_columns(frame: pd.DataFrame, entries: Sequence[Card]) -> None:
    faults = [] if "output" in frame else ["there is no column output: name prompt and model to collect outputs"]
    ready = []
    for entry in entries:
        lacking = [_NEED[need] for need in entry.needs if need in _NEED and _NEED[need] not in frame]
        if lacking:
            faults.append(f"{entry.name} needs the column {', '.join(lacking)}")
        else:
            ready.append(entry.name)
    if faults and ready and "output" in frame:
        faults.append(f"the others can be had: metrics = {json.dumps(ready)}")
    if faults:
        raise BadInput.listing("the table lacks what these metrics need:", faults)


def _score_one(frame: pd.DataFrame, entry: Card, options: Mapping[str, Any], scored: Scored) -> None:
    n = len(frame)
    unscored, undefined = scored.failed.copy(), np.full(n, "", object)
    scored.unscored[entry.name], scored.undefined[entry.name] = unscored, undefined
    scored.columns[entry.name] = np.full(n, np.nan)
    needed = [_NEED[need] for need in entry.needs if need in _NEED]
    for column in needed:
        undefined[(frame[column].map(len).to_numpy() == 0) & (unscored == "")] = f"no-{column}"
    ready = np.flatnonzero((unscored == "") & (undefined == ""))
    if not len(ready):
        return
    rows = frame.iloc[ready]
    try:
        arguments = _arguments(entry, options, scored)
        columns = {INPUTS[c]: rows[c].tolist() for c in needed}
        values = score(entry, rows["output"].tolist(), **columns, **arguments)
    except (Unavailable, ModelUnavailable) as error:
        unscored[ready] = str(error)
        scored.notes.append(f"{entry.name} is unscored: {error}")
        return
    for name, array in values.items():
        scored.columns.setdefault(name, np.full(n, np.nan))[ready] = array
    missing = ready[np.isnan(scored.columns[entry.name][ready])]
    undefined[missing] = _UNDEFINED.get(entry.name, "no value exists")
    if "contradict" in entry.needs:
        for i in missing:
            said = sentences(frame["output"].iloc[i], options["language"])
            if said and scored.judge is not None:
                cause = scored.judge.causes(frame[needed[0]].iloc[i], said)
                unscored[i], undefined[i] = f"the judge gave no verdict ({cause})", ""


def _arguments(entry: Card, options: Mapping[str, Any], scored: Scored) -> dict[str, Any]:
    """The options that a metric takes, models as callables."""
    taken = inspect.signature(entry.function).parameters
    arguments = {k: v for k, v in options.items() if k in taken and k not in COLUMNS}
    if "embed" in taken:
        from evalbench.models.similarity.embed import embed

        scored.embedded = True
        arguments["embed"] = lambda texts: embed(texts, options["embed"])
    if "contradict" in taken:
        if scored.judge is None:
            raise Unavailable(NEEDED)
        if scored.judge.by == BASELINE:
            raise Unavailable(BLIND)
        arguments["contradict"] = scored.judge
    return arguments


def items_of(frame: pd.DataFrame, scored: Scored) -> pd.DataFrame:
    """One row per text and model: its scores, the sums behind corpus figures, and the reasons."""
    import pandas as pd

    keys = {key: frame[key].to_numpy() for key in ("id", "model") if key in frame}
    lengths = {"output_words": [np.nan if text is None else len(words(text)) for text in frame["output"]]}
    reasons = {"unscored_metrics": _joined(scored.unscored), "undefined_metrics": _joined(scored.undefined)}
    scoreless = np.isnan(np.stack([scored.columns[name] for name in scored.unscored])).all(axis=0)
    # A text counts as unscored, or as undefined, only where no metric at all has a value for it.
    failed = np.where(scoreless, _shared(scored.unscored), "")
    without = np.where(scoreless & (failed == ""), _shared(scored.undefined), "")
    return pd.DataFrame({**keys, **lengths, **scored.columns, **reasons, "unscored": failed, "undefined": without})


def _joined(reasons: Mapping[str, Any]) -> list[str]:
    """One text per row, a line ``metric: reason`` for each metric that has one."""
    table = [
        [f"{name}: " + " ".join(reason.split()) if reason else "" for reason in column]
        for name, column in reasons.items()
    ]
    return ["\n".join(filter(None, row)) for row in zip(*table, strict=True)]


def _shared(reasons: Mapping[str, Any]) -> list[str]:
    """The one reason that all metrics have for a text; as :func:`_joined` where they differ."""
    rows = zip(*reasons.values(), strict=True)
    return [row[0] if len(set(row)) == 1 else lines for row, lines in zip(rows, _joined(reasons), strict=True)]


_BY_SENTENCE = {"selfcheck_nli", "context_contradiction"}


def methods(entries: Sequence[Card], options: Mapping[str, Any]) -> tuple[str, ...]:
    """What each metric is, and what cuts sentences where one needs them."""
    said = [f"{entry.name}: {entry.summary.rstrip('.')}. {entry.reference}." for entry in entries]
    cut = [entry.name for entry in entries if entry.name in _BY_SENTENCE]
    if cut:
        said.append(f"Sentences of {', '.join(cut)} are cut by {splitter(options['language'])}.")
    return (*said, *ways_of([entry.name for entry in entries], options))


def ways_of(names: Sequence[str], options: Mapping[str, Any]) -> tuple[str, ...]:
    """By which of their ways METEOR and ROUGE were computed; nothing where they are not among the metrics."""
    return (*stages_of(names, options["language"]), *rouge_said(names, options))


def stages_of(names: Iterable[str], language: str) -> tuple[str, ...]:
    """By which stages METEOR matched words, and by which WordNet; nothing where it is not among the metrics."""
    said = []
    for name in names:
        if name in ("meteor", "meteor_synonyms"):
            folder = wordnet_folder() if name == "meteor_synonyms" else None
            source = f" (WordNet {wordnet_version(folder)})".replace(" )", ")") if folder else ""
            stages = ", ".join(meteor_stages(name, language))
            said.append(f"{name} matched words in these stages: {stages}{source}.")
    return tuple(said)


def roles(
    model: str,
    scored: Scored,
    options: Mapping[str, Any],
    replies: Sequence[Reply] = (),
    verdicts: Sequence[Judgements] = (),
) -> dict[str, Any]:
    """What each model of the run did, and what the calls cost; ``verdicts`` are those of further judges."""
    from evalbench.models.accounting import accounting, merged

    judged = _judged(scored, verdicts)
    named = {
        "answering": model,
        "embedding": options["embed"] if scored.embedded else "",
        "judging": ", ".join(sorted({v.judge for v in judged})),
    }
    counted = merged([*([accounting(replies)] if replies else []), *scored.spent, *(v.accounting for v in judged)])
    return {**counted, "models": {role: name for role, name in named.items() if name}}


def calls_of(
    scored: Scored, replies: Sequence[Reply] = (), verdicts: Sequence[Judgements] = ()
) -> dict[str, pd.DataFrame]:
    """Table ``calls`` of everything that models were asked, and ``contradictions``; none where nothing was."""
    import pandas as pd

    from evalbench.models.accounting import calls_table

    calls = [*([calls_table(replies)] if replies else []), *(v.calls for v in _judged(scored, verdicts))]
    tables = {"calls": pd.concat(calls, ignore_index=True)} if calls else {}
    if scored.judge is not None and scored.judge.verdicts:
        tables["contradictions"] = scored.judge.table()
    return tables


def _judged(scored: Scored, verdicts: Sequence[Judgements]) -> list[Judgements]:
    return [*(scored.judge.verdicts if scored.judge is not None else []), *verdicts]
