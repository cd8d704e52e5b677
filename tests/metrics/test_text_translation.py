"""BLEU, chrF and METEOR against their peers."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbench.metrics import translation as module
from evalbench.metrics.translation import (
    BLEU_COUNTS,
    chrf,
    corpus_bleu,
    meteor,
    meteor_stages,
    sacrebleu,
    wordnet_folder,
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
            expected = single_meteor_score(
                words(reference), words(output), stemmer=NoStemmer(), wordnet=NoWordNet()
            )
            assert value == pytest.approx(expected, abs=1e-12)

    def test_with_wordnet_it_is_nltk_s(self):
        if wordnet_folder() is None:
            pytest.skip("no WordNet in WNSEARCHDIR, WNHOME, nltk's data or /usr/share/wordnet")
        from nltk.translate.meteor_score import single_meteor_score

        pairs = [
            ("It is a guide to action which ensures that the military always obeys the commands of the party",
             "It is a guide to action that ensures that the military will forever heed Party commands"),
            ("the automobile is quick", "the cars are fast"),
        ]  # fmt: skip
        for output, reference in pairs:
            expected = single_meteor_score(reference.split(), output.split(), wordnet=module._synonyms("en"))
            assert meteor([output], [reference])[0] == pytest.approx(expected, abs=1e-12)
        # nltk's own documented value for the first pair.
        assert meteor([pairs[0][0]], [pairs[0][1]])[0] == pytest.approx(0.6944, abs=5e-5)
        assert meteor_stages("en") == ("exact", "stem", "synonym")

    def test_the_stages_that_run_are_named(self, monkeypatch):
        monkeypatch.setattr(module, "wordnet_folder", lambda: None)
        assert meteor_stages("en") == ("exact", "stem")
        assert meteor_stages("ru") == ("exact", "stem")
        assert meteor_stages("zh") == ("exact",)

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
