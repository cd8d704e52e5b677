"""Input of text metrics, and the laws that every one of them keeps."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalbench.metrics
from evalbench.errors import BadInput
from evalbench.metrics.registry import card
from evalbench.metrics.text import Unavailable, best_pair, pairs, require, score

CARDS = evalbench.metrics.cards()
NEEDS_WORDNET = {"meteor_synonyms"}
SCRIPTS = {
    "en": "The quick brown fox sleeps under the old bridge",
    "ru": "Быстрая бурая лиса спит под старым мостом",
    "zh": "敏捷的棕色狐狸在旧桥下睡觉",
    "ar": "الثعلب البني السريع ينام تحت الجسر القديم",
    "hi": "तेज़ भूरी लोमड़ी पुराने पुल के नीचे सोती है",
}
SEED_NAMES = {
    "exactmatch": "exact_match", "normalized_exactmatch": "normalized_exact_match", "f1score": "f1_score",
    "sentence_tranformers_similarity": "sentence_transformers_similarity", "knowledge_f1score": "knowledge_f1_score",
    "faithfulness_selfcheckgpt": "context_contradiction",
}  # fmt: skip


def embed(texts):
    """A fake embedding: counts of characters modulo 16."""
    out = np.zeros((len(texts), 16))
    for row, text in zip(out, texts, strict=True):
        for character in text:
            row[ord(character) % 16] += 1
    return out


def contradict(premises, hypotheses):
    """A fake judge: whatever is not said word for word is contradicted."""
    return np.array([float(h not in p) for p, h in zip(premises, hypotheses, strict=True)])


FAKES = {"embed": embed, "contradict": contradict}


def inputs(entry, texts):
    """Columns for a metric in which every other text equals the output."""
    columns = {"reference": "references", "context": "contexts", "request": "requests", "samples": "samples"}
    found = {columns[n]: [[t] for t in texts] if n == "samples" else list(texts) for n in entry.needs if n in columns}
    return found | {name: fake for name, fake in FAKES.items() if name in entry.needs}


def runnable(entry):
    return entry.name != "bertscore"


def each(entries):
    """Parameters of a test: one per metric, marked where it needs more than the packages."""
    return [pytest.param(e, id=e.name, marks=[pytest.mark.wordnet] if e.name in NEEDS_WORDNET else []) for e in entries]


def called(entry, **columns):
    """A metric over columns: one of kind "text" is written for two strings, and ``score`` goes over the rows."""
    return score(entry, **columns)[entry.name] if entry.kind == "text" else entry.function(**columns)


def test_the_table_of_the_specification_is_complete():
    names = {entry.name for entry in CARDS}
    assert names >= {
        "exact_match", "normalized_exact_match", "f1_score", "f1_score_set", "jaccard_similarity", "rouge1", "rouge2",
        "rougeL", "rougeLsum", "sacrebleu", "chrf", "meteor", "bertscore", "sentence_transformers_similarity",
        "knowledge_f1_score", "rouge_for_context", "selfcheck_nli", "context_contradiction", "verbosity_ratio",
        "request_similarity", "language_match", "length",
    }  # fmt: skip
    for alias, name in SEED_NAMES.items():
        assert card(alias).name == name


@pytest.mark.parametrize("entry", CARDS, ids=lambda e: e.name)
def test_a_card_says_what_to_know(entry):
    assert entry.summary
    assert entry.reference
    assert entry.languages
    assert entry.unit
    assert entry.range[0] < entry.range[1]
    assert ":func:" not in entry.summary


@pytest.mark.parametrize("entry", each(e for e in CARDS if e.example[1] is not None))
def test_the_golden_example_holds(entry):
    given_, expected = entry.example
    found = called(entry, **given_)
    headline = next(iter(found.values())) if isinstance(found, Mapping) else found
    np.testing.assert_allclose(headline, expected, atol=1e-9)


@pytest.mark.parametrize("entry", each(e for e in CARDS if runnable(e)))
class TestLaws:
    def test_none_and_unequal_lengths_are_refused(self, entry):
        columns = inputs(entry, ["a", "b"])
        with pytest.raises(BadInput, match=r"1 of 2 are not text \(row 1: None\)"):
            called(entry, outputs=["a", None], **columns)
        with pytest.raises(BadInput, match="outputs must be a column of texts, not one text"):
            called(entry, outputs="ab", **columns)
        text_columns = [name for name in columns if name not in FAKES]
        for name in text_columns:
            short = {**columns, name: columns[name][:1]}
            with pytest.raises(BadInput, match=f"1 {name} for 2 outputs"):
                called(entry, outputs=["a", "b"], **short)

    def test_identical_texts_score_best_in_every_script(self, entry):
        texts = list(SCRIPTS.values())
        found = score(entry, texts, **inputs(entry, texts))[entry.name]
        if entry.name == "length":
            assert (found > 5).all()
            return
        best = {True: entry.range[1], False: entry.range[0], None: 1.0}[entry.higher_is_better]
        # METEOR's penalty leaves ½/n³ even for identical texts of n words.
        np.testing.assert_allclose(found, best, atol=0.01 if entry.name.startswith("meteor") else 1e-9)

    def test_range_order_and_repeats(self, entry):
        outputs = ["a cat", "", "Кот спит. Да!", "我的家", "a cat", "12", "!?", "x " * 50]
        others = ["the cat", "x", "кот", "我家", "the cat", "12", "!?", "y x"]
        first = score(entry, outputs, **inputs(entry, others))
        backwards = score(entry, outputs[::-1], **inputs(entry, others[::-1]))
        for name in first:
            np.testing.assert_array_equal(first[name], backwards[name][::-1])
        values = first[entry.name]
        known = values[~np.isnan(values)]
        assert len(known)
        assert (known >= entry.range[0] - 1e-12).all()
        assert (known <= entry.range[1] + 1e-9).all()
        np.testing.assert_array_equal(values[0], values[4])

    def test_no_texts_give_no_scores(self, entry):
        assert all(len(values) == 0 for values in score(entry, [], **inputs(entry, [])).values())


@pytest.mark.parametrize("entry", each(e for e in CARDS if "reference" in e.needs and runnable(e)))
def test_of_several_references_the_best_counts(entry):
    fakes = {name: fake for name, fake in FAKES.items() if name in entry.needs}
    far, near = "nothing in common here", "a red apple fell from the tree"
    alone = score(entry, [near], references=[near], **fakes)[entry.name]
    for several in ([far, near], [near, far]):
        np.testing.assert_allclose(score(entry, [near], references=[several], **fakes)[entry.name], alone, atol=1e-9)


def test_references_that_are_no_texts_are_refused():
    with pytest.raises(
        BadInput, match=r"references: 2 of 3 are neither a text nor a list of texts \(row 0: \[\], row 2: 4\)"
    ):
        pairs(["a", "b", "c"], [[], "x", 4])
    with pytest.raises(BadInput, match="references must be a column"):
        pairs(["a"], "a")


def test_a_metric_that_lacks_a_column_says_which():
    with pytest.raises(BadInput, match="^knowledge_f1_score needs contexts$"):
        score("knowledge_f1_score", ["a"], references=["a"])
    with pytest.raises(KeyError, match="did you mean"):
        score("rougel1", ["a"], references=["a"])


def test_a_missing_package_says_how_to_get_it():
    with pytest.raises(Unavailable, match="^thing needs the package no-such-thing: pip install no-such-thing$"):
        require("no-such-thing", "no_such_thing", "thing")


def test_a_new_metric_is_one_function_of_two_strings(monkeypatch):
    from evalbench.metrics import registry

    monkeypatch.setattr(registry, "_CARDS", dict(registry._CARDS))
    monkeypatch.setattr(registry, "_ALIASES", dict(registry._ALIASES))

    @registry.metric(
        kind="text", range=(0, 1), higher_is_better=True, reference="here",
        example=({"output": "ab", "reference": "ac"}, 1.0),
    )  # fmt: skip
    def same_start(output: str, reference: str) -> float:
        """Whether two texts start alike."""
        return float(output[:1] == reference[:1])

    found = score("same_start", ["ab", "xb"], references=["ac", ["y", "xx"]])
    assert found["same_start"].tolist() == [1.0, 1.0]


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), max_size=6))
def test_best_pair_is_the_first_maximum(rows):
    first = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(int)
    values = np.array([v for r in rows for v in r])
    expected = [int(first[i]) + int(np.argmax(r)) for i, r in enumerate(rows)]
    assert best_pair(values, first).tolist() == expected


def test_listing_loads_no_model_and_no_heavy_library():
    import subprocess
    import sys

    code = (
        "import sys, evalbench.metrics as m; m.cards();"
        "print([n for n in ('torch', 'sacrebleu', 'nltk', 'bert_score', 'pandas', 'datasets') if n in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_nan_never_counts_as_the_best_reference():
    assert math.isclose(score("verbosity_ratio", ["a b"], references=[["", "a b"]])["verbosity_ratio"][0], 1.0)
