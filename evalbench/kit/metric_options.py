"""Text metrics by name, and their options: checked before anything is scored, handed over, stated on the page.

Options are a mapping with the names of a study's parameters: ``language``, ``normalise``, ``references``, ``stem``,
``sentence_split``, ``meteor_synonyms``, ``bleu_tokenize``, ``embed``, ``bert_model``, ``bert_layers``, ``judge``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

import regex

from evalbench.core.notes import Note
from evalbench.core.wording import counted
from evalbench.errors import BadInput
from evalbench.kit.defaults import MAX_UNSCORED
from evalbench.metrics.registry import MODULE, Card, card, options_of
from evalbench.metrics.rouge import SentenceSplit, Several
from evalbench.metrics.translation import NO_WORDNET, meteor_stages, wordnet_folder, wordnet_version
from evalbench.text.normalise import tokenizer
from evalbench.text.sentences import splitter
from evalbench.text.stems import stemmer_name
from evalbench.text.words import UNSPACED

Options = Mapping[str, Any]
# A metric's argument → the option of a study, where the two have different names.
_OPTION = {"tokenize": "bleu_tokenize", "num_layers": "bert_layers", "several": "references"}
_UNSPACED, _HAN = regex.compile(rf"[{UNSPACED}]", regex.V1), regex.compile(r"\p{Han}")
_METEOR = {"meteor": "meteor_synonyms"}


def arguments_of(entry: Card, options: Options) -> dict[str, Any]:
    """Those of a study's options that a metric takes, under the names of its arguments.

    Examples
    --------
    >>> arguments_of(card("sacrebleu"), {"language": "zh", "bleu_tokenize": "zh"})
    {'tokenize': 'zh'}
    """
    known = {name: _OPTION.get(name, name) for name in options_of(entry)}
    return {name: options[option] for name, option in known.items() if option in options}


def name_of(metric: str, options: Options) -> str:
    """The name under which a metric's scores appear: METEOR by synonyms is never taken for METEOR without.

    Raises
    ------
    BadInput
        If there is no such metric, or it is not a metric of texts.

    Examples
    --------
    >>> name_of("f1score", {}), name_of("meteor", {"meteor_synonyms": True})
    ('f1_score', 'meteor_synonyms')
    """
    try:
        entry = card(metric)
    except KeyError as error:
        raise BadInput(str(error.args[0])) from error
    if entry.kind not in ("text", "texts"):
        raise BadInput(f"{metric} is a metric of {entry.kind}, not of texts")
    return _METEOR.get(entry.name, entry.name) if options.get("meteor_synonyms") else entry.name


def metrics_of(names: Sequence[str], options: Options) -> list[Card]:
    """The cards of metrics by name or alias, each once; their options are checked.

    Parameters
    ----------
    names : sequence of str
        None is allowed: then options that no metric takes are refused all the same.  ``evaluate:NAME``, ``evaluate:FOLDER``
        and ``evaluate:FILE.py`` are modules, each of whose numbers is a metric, see :mod:`evalbench.kit.modules`.
    options : mapping
        Those of the study, among them the following.
    language : str
        ISO code: stop-words, stemmer, sentences.
    normalise : str
        For token F1, Jaccard, normalised exact match: ``full``, ``squad``, ``none``, or ``full`` without steps, as in
        ``full-stop_words``; see :func:`evalbench.text.normalise.tokenizer`.
    references : {"best", "mean"}
        ROUGE over several references: ``best`` (the one with the best F1) or ``mean`` over all.
    stem, meteor_synonyms : bool
        ROUGE compares stems of words (Porter's in English, as rouge-score); ``meteor`` matches English words by WordNet's synonyms too, and
        its figure is then called ``meteor_synonyms``.
    sentence_split : {"newline", "sentences"}
        What ROUGE-Lsum takes for sentences: lines (``newline``), or ``sentences`` of ``language``.
    bleu_tokenize : str
        sacrebleu's tokenizer; ``"zh"`` for Chinese.
    embed : str
        Embedding model of the similarities; see :func:`evalbench.models.similarity.embed.embedder`.
    bert_model, bert_layers
        For ``bertscore``: a local folder or hub name; for ``bertscore`` with a folder: the layer whose vectors are used.
    judge : str or callable
        For ``selfcheck_nli`` and ``context_contradiction``: a chat model, the folder of an NLI cross-encoder, or
        ``recorded:FILE``, see :func:`evalbench.judge.verdicts.judge`.  By default there is none, since none comes with
        the package, and these metrics are unscored; so they are with ``baseline/lexical``, which knows no contradiction.

    Raises
    ------
    BadInput
        For names of no text metric, unknown values of options, options that have no effect on these metrics, and
        what the machine or the language lacks, all at once.

    Examples
    --------
    >>> options = {"language": "en", "normalise": "full", "references": "best", "stem": False,
    ...            "sentence_split": "newline", "meteor_synonyms": False}
    >>> [entry.name for entry in metrics_of(["f1score", "meteor", "f1_score"], options)]
    ['f1_score', 'meteor']
    """
    if isinstance(names, str):
        raise BadInput(f'metrics must be a list of names, e.g. [{names!r}], or "auto"')
    found: dict[str, Card] = {}
    faults = []
    for metric in names:
        try:
            for entry in _cards_of(metric, options):
                known = found.setdefault(entry.name, entry)
                if known.source != entry.source:
                    faults.append(f"{metric}: another module has the name {entry.name}; rename one of the two")
        except BadInput as error:
            faults.append(str(error))
    faults += [*_synonyms_faults(found, options), *_rouge_faults(found, options)]
    try:
        tokenizer(options["normalise"], "")  # also where no metric asks for it: the page states it
    except BadInput as error:
        faults.append(str(error))
    if faults:
        raise BadInput.listing("metrics:", faults)
    return list(found.values())


def unknown(names: Iterable[str]) -> dict[str, str]:
    """Those that are neither metrics nor modules, and what is said of each.

    Examples
    --------
    >>> unknown(["f1score", "evaluate:wer.py", "my_judge"])
    {'my_judge': "no metric 'my_judge'"}
    """
    found = {}
    for name in names:
        try:
            card(name)
        except KeyError as error:
            if not name.startswith(MODULE):
                found[name] = str(error.args[0])
    return found


def _cards_of(metric: str, options: Options) -> list[Card]:
    """The card of a name, or those of a module, see :mod:`evalbench.kit.modules`."""
    if metric.startswith(MODULE):
        from evalbench.kit.modules import cards_of

        return cards_of(metric.removeprefix(MODULE))
    return [card(name_of(metric, options))]


def _synonyms_faults(names: Iterable[str], options: Options) -> list[str]:
    if "meteor_synonyms" not in names:
        return ["meteor_synonyms=True has no effect: meteor is not among the metrics"] * options["meteor_synonyms"]
    language = options["language"]
    faults = [] if language == "en" else [f"meteor_synonyms: WordNet is English, and language is {language!r}"]
    return faults if wordnet_folder() else [*faults, f"meteor_synonyms: {NO_WORDNET}"]


def _rouge_faults(names: Iterable[str], options: Options) -> list[str]:
    faults, names = [], list(names)
    for option, known, of in (
        ("references", get_args(Several), _by_references(names)),
        ("sentence_split", get_args(SentenceSplit), _by_lines(names)),
        ("stem", (False, True), _rouge(names)),
    ):
        value = options[option]
        if value not in known:
            faults.append(f"{option} must be one of {', '.join(map(str, known))}; got {value!r}")
        elif value != known[0] and not of:
            faults.append(f"{option}={value!r} has no effect: none of the metrics takes it")
    if options["stem"] is True and _rouge(names) and not stemmer_name(options["language"]):
        which = f"language {options['language']!r}" if options["language"] else "texts without a language"
        faults.append(f"stem: no stemmer exists for {which}; name the language of the texts, such as -p language=en")
    return faults


def methods_of(entries: Sequence[Card], options: Options) -> tuple[str, ...]:
    """What each metric is, what cuts sentences where one needs them, and the ways of METEOR and ROUGE."""
    by_sentence = [entry.name for entry in entries if "contradict" in entry.needs]
    return (
        *(f"{entry.name}: {entry.summary.rstrip('.')}. {entry.reference}." for entry in entries),
        *([f"Sentences of {_listed(by_sentence)} are cut by {splitter(options['language'])}."] if by_sentence else []),
        *ways_of([entry.name for entry in entries], options),
    )


def ways_of(names: Iterable[str], options: Options) -> tuple[str, ...]:
    """By which of their ways METEOR and ROUGE were computed; nothing where they are not among the metrics."""
    names, language = list(names), options["language"]
    said = [_stages(name, language) for name in names if name in (*_METEOR, *_METEOR.values())]
    if options["stem"]:
        said.append(
            f"{_listed(_rouge(names))}: words of more than three characters as stems ({stemmer_name(language)})."
        )
    if _by_references(names) and options["references"] == "mean":
        said.append(f"{_listed(_by_references(names))}: of several references, the mean over all.")
    if _by_lines(names):
        by = "line ends" if options["sentence_split"] == "newline" else splitter(language)
        said.append(f"{_listed(_by_lines(names))}: sentences cut by {by}.")
    return tuple(said)


def _stages(name: str, language: str) -> str:
    """By which stages METEOR matched words, and by which WordNet."""
    folder = wordnet_folder() if name in _METEOR.values() else None
    source = f" (WordNet {wordnet_version(folder)})".replace(" )", ")") if folder else ""
    return f"{name} matched words in these stages: {', '.join(meteor_stages(name, language))}{source}."


def lines_note(names: Iterable[str], options: Options, texts: Iterable[str | None]) -> list[str]:
    """A note where ROUGE-Lsum by lines is ROUGE-L, because no text has two lines."""
    by_lines = _by_lines(names)
    if not by_lines or options["sentence_split"] != "newline":
        return []
    if any("\n" in text.strip("\n") for text in texts if text):
        return []
    plain = _listed([name.replace("Lsum", "L") for name in by_lines])
    return [
        f'Every text is one line, so {_listed(by_lines)} equals {plain}; sentence_split "sentences" compares sentences.'
    ]


def unspaced_notes(names: Iterable[str], options: Options, texts: Iterable[str], noun: str = "output") -> list[str]:
    """A note where BLEU takes texts for single words, because their script has no spaces; of many, of the first rank.

    Examples
    --------
    >>> unspaced_notes(["sacrebleu"], {"bleu_tokenize": "13a"}, ["北京是中国的首都", "Rome"])[0].short
    'bleu_tokenize 13a takes 1 of 2 outputs, written without spaces, for few words: bleu_tokenize=zh'
    """
    if "sacrebleu" not in names or options["bleu_tokenize"] not in ("13a", "intl"):
        return []
    given = [text for text in texts if text]
    found = [text for text in given if 2 * len(_UNSPACED.findall(text)) > len(text)]
    if not found:
        return []
    other = "zh" if sum(map(len, map(_HAN.findall, found))) else "char"
    used, which = options["bleu_tokenize"], f"{len(found)} of {counted(len(given), noun)}"
    short = f"bleu_tokenize {used} takes {which}, written without spaces, for few words: bleu_tokenize={other}"
    many = len(found) > options.get("max_unscored", MAX_UNSCORED) * len(given)
    return [Note("instrument", short) if many else f"B{short[1:]}."]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _rouge(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith("rouge")]


def _by_references(names: Iterable[str]) -> list[str]:
    return [name for name in _rouge(names) if name != "rouge_for_context"]


def _by_lines(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith("rougeLsum")]
