import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.text.normalise import normalised_ids, tokenizer
from evalbench.text.sentences import sentences, splitter
from evalbench.text.stopwords import stop_words


def normalised(text, normalise="full", language="en"):
    """The tokens of a text, one blank apart."""
    return " ".join(tokenizer(normalise, language)(text))


def test_unknown_names_are_refused():
    for wrong in ("sqad", "full-punct", "squad-lower", "none-lower", ""):
        with pytest.raises(BadInput) as refused:
            tokenizer(wrong)
        assert str(refused.value) == (
            f"normalise={wrong!r} is not one of full, squad, none, nor full without some of the steps lower, punctuation, "
            "stop_words, as in full-stop_words"
        )
    with pytest.raises(BadInput, match="no stop-words for language 'xx'; there are ar, "):
        stop_words("xx")


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "The defendant is not guilty", "The defendant is guilty"),
        ("en", "It isn't there", "It is there"),
        ("en", "above 5", "below 5"),
        ("en", "It is -5", "It is 5"),
        ("en", "C++", "C"),
        ("en", "3.14", "3 14"),
        ("ru", "Он не виновен", "Он виновен"),
        ("ru", "Да", "Нет"),
        ("ru", "их было семь", "их было восемь"),
        ("zh", "他没有罪", "他有罪"),
        ("zh", "不是", "是"),
        ("zh", "三个", "两个"),
    ],
)
def test_opposite_answers_stay_apart(language, one, other):
    assert normalised(one, language=language) != normalised(other, language=language)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "  The  Cat, sat… on «the» MAT!  ", "cat sat on mat"),
        ("ru", "Это же — Кот, и он спит.", "кот спит"),
        ("zh", "这是我的家。", "家"),
        ("", "the cat", "the cat"),
        ("en", "Isn’t it?", "isn't"),
        ("en", "-5", "− 5"),
    ],
)
def test_full_normalisation(language, text, expected):
    assert normalised(text, language=language) == expected


def test_each_step_can_be_left_out():
    assert normalised("The Cat!", "full-lower") == "Cat"
    assert normalised("The Cat!", "full-punctuation") == "cat!"
    assert normalised("The Cat!", "full-stop_words") == "the cat"
    assert normalised("The Cat!", "full-lower-punctuation-stop_words") == "The Cat!"
    assert normalised("The Cat!", "none") == "The Cat"


@pytest.mark.parametrize("text", ["the", "и", "的", "!!!", "👍", "…"])
def test_where_nothing_would_remain_nothing_is_removed(text):
    assert normalised(text, language="ru" if text == "и" else "zh" if text == "的" else "en") == text


def squad_normalize(text):
    """SQuAD v1.1's steps, as its paper's evaluation script states them."""
    import re

    bare = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_squad_tokens_are_squad_s_on_ascii(text):
    assert tokenizer("squad")(text) == squad_normalize(text)


def test_squad_tokens_of_unspaced_scripts_are_characters():
    assert tokenizer("squad")("我的家。") == ["我", "的", "家"]


@given(st.text(max_size=40))
def test_normalising_never_empties_a_text(text):
    assert bool(tokenizer("full", "en")(text)) == bool(text.strip())


beside_blanks = st.text(alphabet=st.sampled_from("theA 's \n\xa0-−3.,!?=\u0338€%👍’…Σσяи再的"), max_size=14)


@pytest.mark.parametrize("normalise", ["full", "full-lower", "full-punctuation", "full-stop_words", "squad", "none"])
@given(
    st.lists(st.one_of(beside_blanks, st.sampled_from(["the", "the a", "!!!", " ", "", "it is", "C++ -5"])), max_size=6)
)
def test_a_column_has_the_tokens_of_its_texts(normalise, texts):
    found, tokens = normalised_ids(texts, normalise, "en"), tokenizer(normalise, "en")
    assert [[found.vocabulary[i] for i in found[k]] for k in range(len(found))] == [tokens(text) for text in texts]


@pytest.mark.parametrize(
    ("language", "text", "count"),
    [
        ("en", "Dr. Fenn came at 3.5 p.m. today! Did he?", 2),
        ("ru", "Д-р Иванов пришёл. И ушёл в 5 ч. вечера.", 2),
        ("zh", "你好。再见！好吗？", 3),
        ("hi", "यह एक वाक्य है। यह दूसरा है।", 2),
        ("ar", "مرحبا. كيف حالك؟ جيد.", 3),
        ("en", "a line\n\nanother line", 2),
        ("en", " \n ", 0),
        ("en", "The '90s were fine. Rock 'n' roll lived. It died.", 3),
        (
            "en",
            "siler wrote 'thank you for your support , kenosha , ' it reads . Siler 's family came . They left .",
            3,
        ),
        ("en", "He said 'we left. They came. It died.", 3),
        ("en", "He said ‘go. Then he went. It’s fine.", 3),
        ("en", "'I came. I saw.' he said. He left.", 2),
        ("en", "‘I came. I saw.’ he said. The dogs' tails wagged.", 2),
        ("en", "It is by J.\u00a0Fenn. He left at 3\u202fp.m. today.", 2),
        ("en", "bA.\u00a0 A.\u3000é. It ends.", 2),
    ],
)
def test_sentences(language, text, count):
    found = sentences(text, language)
    assert len(found) == count
    assert "".join("".join(found).split()) == "".join(text.split())


def test_the_splitter_is_named():
    assert splitter("en") == "sentencex"
    assert splitter("ru") in {"razdel", "sentencex"}
