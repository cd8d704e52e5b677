"""Keyboards and transliteration against tables and texts of other packages."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbench.errors import BadInput
from evalbench.text.augment import SCHEMES, augment, to_cyrillic, to_latin
from evalbench.text.augment.keyboards import neighbours
from evalbench.text.augment.transliteration import INVERTIBLE

LOWER = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"
PANGRAM = "Юлия, съешь ещё этих мягких французских булок из Йошкар-Олы, да выпей алтайского чаю"


@pytest.mark.external
@pytest.mark.parametrize("scheme", ["cyrtranslit", "transliterate", "ala-lc"])
def test_a_scheme_is_that_of_its_reference(scheme, external_data):
    lines = (external_data("augmentations") / "ru_transliteration_reference.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 150
    field = {"cyrtranslit": "cyrtranslit_ru", "transliterate": "transliterate_ru", "ala-lc": "unidecode"}[scheme]
    # Unidecode also writes quotation marks and dashes in ASCII, which is none of the scheme's business.
    ascii_marks = str.maketrans({"«": "<<", "»": ">>", "–": "-", "—": "--"}) if scheme == "ala-lc" else {}
    wrong = [row for row in rows if to_latin(row["text"], scheme).translate(ascii_marks) != row[field]]
    assert wrong == []


@pytest.mark.external
@pytest.mark.parametrize("scheme", ["iso-9", "gost-7.79-b"])
def test_real_questions_come_back(scheme, external_data):
    lines = (external_data("augmentations") / "ru_transliteration_reference.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    russian = [text for text in texts if text.isascii() or not any(c.isascii() and c.isalpha() for c in text)]
    assert len(russian) > 140
    assert [t for t in russian if to_cyrillic(to_latin(t, scheme), scheme) != t] == []


@pytest.mark.external
def test_neighbouring_keys_are_those_of_augmentex(external_data):
    theirs = json.loads((external_data("augmentations") / "augmentex_pc_typos_chars.json").read_text("utf-8"))
    ours = neighbours()
    for letter in "abcdefghijklmnopqrstuvwxyz" + LOWER:
        expected = {key for key in theirs[letter] if key.isalpha()}
        if letter == "ё":  # its second name, е, is not beside it on any keyboard
            expected -= {"е"}
        assert set(ours[letter]) == expected, letter
        assert set(ours[letter.upper()]) == {key.upper() for key in expected}


def test_neighbours_are_mutual():
    ours = neighbours()
    assert all(letter in ours[other] for letter, near in ours.items() for other in near)


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("iso-9", "Ûliâ, sʺešʹ eŝë ètih mâgkih francuzskih bulok iz Joškar-Oly, da vypej altajskogo čaû"),
        (
            "gost-7.79-b",
            "Yuliya, s``esh` eshhyo e`tix myagkix franczuzskix bulok iz Joshkar-Oly`, da vy`pej altajskogo chayu",
        ),
        (
            "ala-lc",
            "Iuliia, s'esh' eshchio etikh miagkikh frantsuzskikh bulok iz Ioshkar-Oly, da vypei altaiskogo chaiu",
        ),
    ],
)
def test_a_pangram_by_each_standard(scheme, expected):
    assert to_latin(PANGRAM, scheme) == expected


LOWERED = st.text(st.sampled_from(LOWER + " ,.!?-0123456789我👨‍👩‍👧"))
TITLED = st.text(st.sampled_from(LOWER), min_size=1).filter(lambda w: w[0] not in "ъь").map(str.capitalize)
CAPITALS = st.text(st.sampled_from(LOWER.upper())).filter(lambda w: len(w.replace("Ъ", "").replace("Ь", "")) > 1)


@pytest.mark.parametrize("scheme", INVERTIBLE)
@given(parts=st.lists(LOWERED | TITLED | CAPITALS))
def test_invertible_where_claimed(scheme, parts):
    text = " ".join(parts)
    assert to_cyrillic(to_latin(text, scheme), scheme) == text


@given(st.text(), st.sampled_from(sorted(SCHEMES)))
def test_any_text_survives_both_ways(text, scheme):
    latin, cyrillic = to_latin(text, scheme), to_cyrillic(text, scheme)
    kept = [c for c in text if not c.isalpha() and c not in "'`\u0306\u0308"]
    for changed in (latin, cyrillic):
        assert [c for c in changed if not c.isalpha() and c not in "'`\u0306\u0308"] == kept


def test_capitals_contexts_and_marks():
    assert to_latin("Цена цирка, НИЦ, Щи", "gost-7.79-b") == "Cena cirka, NICz, Shhi"
    assert to_cyrillic("Cena cirka, NICz", "gost-7.79-b") == "Цена цирка, НИЦ"
    assert to_cyrillic("OBʺEKT, matʹ, MATʹ, Gelʹ", "iso-9") == "ОБЪЕКТ, мать, МАТЬ, Гель"
    assert to_latin("и\u0306од, а\u0301", "iso-9") == "jod, a\u0301"
    assert to_latin("їжак", "iso-9") == "їžak"  # a letter of another language stays


def test_direction():
    assert augment("привет hello", "transliterate", language="ru").text == "privet hello"
    assert augment("привет hello", "transliterate", language="en", scheme="iso-9").text == "привет хелло"
    assert augment("привет, Bob", "transliterate").text == "privet, Bob"
    assert augment("hello, мир", "transliterate", scheme="iso-9").text == "хелло, мир"
    assert augment("я " * 200, "transliterate", rate=0.5, scheme="iso-9").text.count("â") == 100


def test_unknown_schemes_are_refused():
    for change in (to_latin, to_cyrillic):
        with pytest.raises(BadInput, match="'mine' is not one of ala-lc"):
            change("a я", "mine")
