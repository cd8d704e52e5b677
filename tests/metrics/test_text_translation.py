"""BLEU, chrF and METEOR against their peers."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.metrics import character_ngrams
from evalbench.metrics import translation as module
from evalbench.metrics.character_ngrams import chrf
from evalbench.metrics.text import Unavailable
from evalbench.metrics.translation import (
    BLEU_COUNTS,
    corpus_bleu,
    meteor,
    meteor_stages,
    meteor_synonyms,
    sacrebleu,
    wordnet_folder,
    wordnet_version,
)

pytest.importorskip("sacrebleu", reason="peer not importable: sacrebleu")
text = st.text(alphabet=st.sampled_from("aab bc d.кот 我"), max_size=40)
rows = st.lists(st.tuples(text, st.lists(text, min_size=1, max_size=2)), min_size=1, max_size=6)


@settings(max_examples=40)
@given(rows)
def test_sentence_bleu_and_chrf_are_sacrebleu_s(rows):
    import sacrebleu as peer

    outputs, references = [a for a, _ in rows], [b for _, b in rows]
    bleu, characters = sacrebleu(outputs, references)["bleu"], chrf(outputs, references)
    for i, (output, several) in enumerate(rows):
        assert bleu[i] == pytest.approx(peer.sentence_bleu(output, several).score, abs=1e-9)
        assert characters[i] == pytest.approx(peer.sentence_chrf(output, several).score, abs=1e-9)


ODD = [
    "", " ", "\u00a0\u2003", "a", " a\tb\nc ", "a\x1cb", "abcde", "abcdef", "abcdefg", "aaaaaaaaaa", "\U0001f600\U0001f601 x",
    "e\u0301\u200b", "\ud800 lone", "x" * 3000, "the cat sat on the mat",
]  # fmt: skip


@pytest.mark.parametrize("limit", [1, 50, 1 << 20])
def test_chrf_of_odd_texts_is_sacrebleu_s_however_many_are_taken_at_once(limit, monkeypatch):
    import sacrebleu as peer

    monkeypatch.setattr(character_ngrams, "_CHARACTERS_AT_ONCE", limit)
    every = [(a, b) for a in ODD for b in ODD]
    found = chrf([a for a, _ in every], [b for _, b in every])
    assert found.tolist() == pytest.approx([peer.sentence_chrf(a, [b]).score for a, b in every], abs=1e-9)
    several = chrf(ODD, [ODD] * len(ODD))
    assert several.tolist() == pytest.approx([peer.sentence_chrf(a, ODD).score for a in ODD], abs=1e-9)
    assert chrf([], []).shape == (0,)


@settings(max_examples=80)
@given(st.lists(st.tuples(text, text), min_size=1, max_size=6))
def test_corpus_bleu_from_summed_counts_is_sacrebleu_s(rows):
    import sacrebleu as peer

    outputs, references = zip(*rows, strict=True)
    counts = sacrebleu(outputs, references)
    found = corpus_bleu(*(counts[name].sum(keepdims=True) for name in BLEU_COUNTS))
    assert found[0] == pytest.approx(peer.corpus_bleu(list(outputs), [list(references)]).score, abs=1e-9)


def test_chinese_has_its_own_tokenizer():
    output, reference = "我的家在这里很好", "我的家在那里很好"
    assert sacrebleu([output], [reference])["bleu"][0] == 0.0
    assert sacrebleu([output], [reference], tokenize="zh")["bleu"][0] > 30


class TestMeteor:
    @settings(max_examples=60)
    @given(st.lists(st.tuples(text, text), min_size=1, max_size=4))
    def test_without_synonyms_it_is_nltk_s(self, rows):
        from nltk.translate.meteor_score import single_meteor_score

        from evalbench.text.words import words

        class NoWordNet:
            def synsets(self, word):
                return []

        outputs, references = zip(*rows, strict=True)
        found = meteor(outputs, references, language="zz")

        class NoStemmer:
            def stem(self, word):
                return word

        for value, output, reference in zip(found, outputs, references, strict=True):
            expected = single_meteor_score(words(reference), words(output), stemmer=NoStemmer(), wordnet=NoWordNet())
            assert value == pytest.approx(expected, abs=1e-12)

    @pytest.mark.wordnet
    def test_with_synonyms_it_is_nltk_s(self):
        from nltk.translate.meteor_score import single_meteor_score

        reader = module._wordnet(wordnet_folder())
        pairs = [
            ("It is a guide to action which ensures that the military always obeys the commands of the party",
             "It is a guide to action that ensures that the military will forever heed Party commands"),
            ("the automobile is quick", "the cars are fast"),
        ]  # fmt: skip
        for output, reference in pairs:
            expected = single_meteor_score(reference.split(), output.split(), wordnet=reader)
            assert meteor_synonyms([output], [reference])[0] == pytest.approx(expected, abs=1e-12)
        # nltk's own documented value for the first pair.
        assert meteor_synonyms([pairs[0][0]], [pairs[0][1]])[0] == pytest.approx(0.6944, abs=5e-5)
        assert re.fullmatch(r"\d\.\d", wordnet_version(wordnet_folder()))

    def test_what_is_installed_changes_no_score(self, monkeypatch):
        """METEOR once asked WordNet wherever apt had put it."""

        def looked_for():
            raise AssertionError("meteor looks for WordNet")

        monkeypatch.setattr(module, "wordnet_folder", looked_for)
        assert meteor(["a car"], ["an automobile"]).tolist() == [0.0]

    def test_synonyms_are_refused_where_they_cannot_be_had(self, monkeypatch):
        with pytest.raises(BadInput, match=r"^meteor_synonyms: WordNet is English, and language is 'ru'$"):
            meteor_synonyms(["кот"], ["кошка"], language="ru")
        monkeypatch.setattr(module, "wordnet_folder", lambda: None)
        with pytest.raises(Unavailable, match=r"^meteor_synonyms: WordNet is not in WNSEARCHDIR.*apt-get install"):
            meteor_synonyms(["a car"], ["an automobile"])

    def test_the_stages_that_run_are_named(self):
        assert meteor_stages() == ("exact", "stem")
        assert meteor_stages("meteor", "ru") == ("exact", "stem")
        assert meteor_stages("meteor", "zh") == ("exact",)
        assert meteor_stages("meteor_synonyms") == ("exact", "stem", "synonym")

    def test_the_version_of_wordnet_is_read_from_its_head(self, tmp_path):
        (tmp_path / "data.noun").write_text("  1 a licence\n  2 WordNet 3.1 Copyright 2011\n")
        assert wordnet_version(tmp_path) == "3.1"
        (tmp_path / "data.noun").write_text("0001 03 n 01 car 0 000 | a car\n")
        assert wordnet_version(tmp_path) == ""

    def test_russian_words_match_by_stem(self):
        assert meteor(["кошки спят"], ["кошка спит"], language="ru")[0] > 0.2
        assert meteor(["кошки спят"], ["кошка спит"], language="zh")[0] == 0.0

    def test_no_warning_reaches_the_user(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            meteor(["a cat"], ["the cats"])


def test_resampled_sums_are_handled_at_once():
    counts = sacrebleu(["a b c d e", "a b x d", "q"], ["a b c d e", "a b c d", "r"])
    table = np.stack([counts[name] for name in BLEU_COUNTS], axis=1)
    weights = np.array([[1, 1, 1], [2, 0, 1], [0, 0, 3]])
    found = corpus_bleu(*(weights @ table).T)
    for w, value in zip(weights, found, strict=True):
        alone = corpus_bleu(*(w[None] @ table).T)
        assert value == alone[0]
    assert found[2] == 0.0
