"""Statistics from batches: those of the whole table, whatever the batches; a capped vocabulary states what it lacks."""

from __future__ import annotations

import math
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from evalbench.core.psi import psi_of_counts, psi_of_numbers
from evalbench.core.seeds import keys
from evalbench.core.tallies import Tally, histogram, psi_of_histogram, quantiles, together
from evalbench.metrics.text_statistics import text_statistics
from evalbench.metrics.text_streams import NUMBERS, StreamedStatistics, TextCounts, known_from

CELLS = st.one_of(st.none(), st.text("aAbBc 我的ёü'\n\t\u3000.7", max_size=14))
NOBODY = np.random.default_rng(0)


def streamed(cells, current, ids, cuts=(), order=None, known=None, most=10_000) -> StreamedStatistics:
    """The statistics of rows in some order, in batches that end at the cuts, counted apart and joined in turn."""
    order = np.arange(len(cells)) if order is None else np.asarray(order, dtype=int)
    known = known or known_from([c or "" for c in cells])
    row_keys = keys(0, "halves", ids)
    whole = TextCounts(known, most)
    for i, rows in enumerate(np.split(order, sorted(cuts))):
        part = whole if i % 2 else TextCounts(known, most)
        part.add(pa.array([cells[r] for r in rows], pa.string()), np.asarray(current, dtype=bool)[rows], row_keys[rows])
        if part is not whole:
            whole.join(part)
    return whole.statistics()


def same(one: StreamedStatistics, other: StreamedStatistics) -> None:
    assert repr(one) == repr(other)
    for name in NUMBERS:
        for field in ("values", "counts"):
            assert np.array_equal(getattr(one.histograms[name], field), getattr(other.histograms[name], field))


@settings(max_examples=80, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=16), st.lists(st.integers(0, 16), max_size=4), st.randoms())
def test_batches_in_any_order_give_the_statistics_of_the_table(cells, cuts, shuffled: random.Random) -> None:
    current, ids = np.arange(len(cells)) % 3 == 2, [f"r{i}" for i in range(len(cells))]
    order = list(range(len(cells)))
    shuffled.shuffle(order)
    cuts = [min(cut, len(cells)) for cut in cuts]
    found = streamed(cells, current, ids, cuts, order)
    same(found, streamed(cells, current, ids))
    whole = text_statistics(cells, current, ids)
    for name in NUMBERS:
        expected = psi_of_numbers(getattr(whole, name), current, NOBODY, n_permutations=0)
        index = found.psi[name]
        assert (index.edges, index.reference, index.current) == (expected.edges, expected.reference, expected.current)
        assert_allclose(index.value, expected.value)
    expected = psi_of_counts(whole.counts, current, NOBODY, n_permutations=0).value
    assert_allclose(found.psi["tokens"].value, expected, atol=1e-12)
    for name in ("share", "expected", "increase", "ratio"):
        assert_allclose(getattr(found.new, name), getattr(whole.new, name), atol=1e-12)
    assert found.new.examples == whole.new.examples
    assert found.stop_words == whole.stop_words
    assert found.rows == (int((~current).sum()), int(current.sum()))
    assert sum(found.texts) == sum(cell is not None for cell in cells)
    assert sum(found.tokens) == np.nansum(whole.n_tokens)
    loss = found.vocabulary
    assert (loss.counted, loss.one_in, loss.left_out, loss.psi_error in (0.0, 0)) == (
        len(whole.vocabulary), 1, 0, all(found.tokens))  # fmt: skip


def zipf(n: int, rng: np.random.Generator) -> list[str]:
    """Texts with few frequent words and very many rare ones."""
    return [" ".join(f"w{w % 60_000}" for w in rng.zipf(1.25, 12)) for _ in range(n)]


@pytest.fixture(scope="module")
def many() -> tuple[list[str], np.ndarray, list[str]]:
    rng = np.random.default_rng(7)
    texts = zipf(3000, rng)
    texts[2000:] = [f"{text} new{rng.integers(0, 400)}" for text in texts[2000:]]
    return texts, np.arange(3000) >= 2000, [str(i) for i in range(3000)]


def test_a_capped_vocabulary_estimates_what_it_left_out(many) -> None:
    texts, current, ids = many
    known = known_from(texts[1900:2100])
    whole = streamed(texts, current, ids, known=known, most=1_000_000)
    found = streamed(texts, current, ids, known=known, most=1000)
    assert whole.vocabulary.one_in == 1
    loss = found.vocabulary
    assert loss.one_in >= 4
    assert loss.counted <= 1000 + len(known.tokens)
    assert abs(loss.distinct - whole.vocabulary.distinct) < 0.15 * whole.vocabulary.distinct
    assert 0 < loss.left_out < 0.5
    assert 0 < loss.increase_error < 0.02
    assert abs(found.new.increase - whole.new.increase) < 3 * loss.increase_error
    assert abs(found.psi["tokens"].value - whole.psi["tokens"].value) <= 3 * loss.psi_error + 1e-12
    for name in NUMBERS:
        assert found.psi[name] == whole.psi[name]


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 3000), max_size=5), st.integers(0, 1000))
def test_a_capped_vocabulary_is_the_same_in_any_order(many, cuts, seed: int) -> None:
    texts, current, ids = many
    known = known_from(texts[1900:2100])
    order = np.random.default_rng(seed).permutation(3000)
    same(
        streamed(texts, current, ids, cuts, order, known=known, most=700),
        streamed(texts, current, ids, known=known, most=700),
    )


def test_standard_errors_of_a_capped_vocabulary_hold_over_many_hashes() -> None:
    rng = np.random.default_rng(3)
    value = rng.exponential(size=2000)
    apart = []
    for _ in range(200):
        key = np.sort(rng.integers(0, 2**63, 2000).astype(np.uint64))
        tally = Tally(key[:50], most=500)
        tally.add(key, np.ones((2000, 2), dtype=np.int64), np.zeros(2000, dtype=np.uint16))
        total, error = tally.total(value[np.searchsorted(key, tally.keys)])
        apart.append((total - value.sum()) / error)
    assert abs(np.mean(apart)) < 0.2
    assert 0.85 < np.std(apart) < 1.15


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-5, 5).map(lambda x: round(x, 1)), min_size=1, max_size=40))
def test_quantiles_of_a_histogram_are_those_of_the_rows(values: list[float]) -> None:
    shares = np.linspace(0, 1, 11)
    found = quantiles(histogram(values, [False] * len(values)), shares)
    assert found.tolist() == np.quantile(values, shares).tolist()


def test_a_histogram_of_very_many_numbers_is_rounded_the_same_in_any_order() -> None:
    rng = np.random.default_rng(1)
    values, current = rng.random(4000) * 0.2, rng.random(4000) < 0.5
    parts = [histogram(values[i::8], current[i::8]) for i in range(8)]
    one = together(parts, most=1000)
    other = together([together(parts[5:], most=1000), together(parts[:5], most=1000)], most=1000)
    assert one.rounded
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.counts, other.counts)
    assert one.counts.sum() == 4000
    exact = psi_of_numbers(values, current, NOBODY, n_permutations=0)
    assert_allclose(psi_of_histogram(one).edges, exact.edges, atol=5.1e-5)


def test_a_side_without_rows_has_no_index() -> None:
    found = streamed(["a b", None], [False, False], ["1", "2"])
    assert all(math.isnan(index.value) for index in found.psi.values())
    assert math.isnan(found.new.share)
    empty = streamed([], [], [])
    assert empty.rows == empty.tokens == (0, 0)
    assert empty.vocabulary.left_out == 0


@pytest.mark.external
def test_published_numbers_of_tokens_and_stop_words_from_batches(external_data) -> None:
    import json

    folder = external_data("drift_reference")
    expected = json.loads((folder / "expected.json").read_text())
    for name in ("2022H2_vs_2026", "2022H2_even_vs_odd_control"):
        rows = [json.loads(line) for line in (folder / f"{name}_features.jsonl").read_text().splitlines()]
        for feature in ("n_tokens", "n_chars", "stop_share"):
            parts = [
                histogram([row[feature] for row in rows[i::7]], [row["part"] != "ref" for row in rows[i::7]])
                for i in range(7)
            ]
            found, known = psi_of_histogram(together(parts)), expected[name][feature]
            assert_allclose(found.edges, known["inner_edges"])
            assert (list(found.reference), list(found.current)) == (known["ref_counts"], known["cur_counts"])
            assert found.value == pytest.approx(known["psi_eps1e4"], abs=1e-6)
