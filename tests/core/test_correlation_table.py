import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalbench.core import correlation_levels
from evalbench.core import correlation_table as module
from evalbench.core.correlation import correlate
from evalbench.core.correlation_table import KINDS, correlation_table

SCIPY = {"spearman": stats.spearmanr, "kendall": stats.kendalltau, "pearson": stats.pearsonr}


def peer(a, b, kind):
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    return float(SCIPY[kind](a, b).statistic)


def panel(rng, documents=6, systems=4, p=2, q=2, levels=4):
    document, system = np.divmod(np.arange(documents * systems), systems)
    return (
        rng.integers(levels, size=(len(document), p)) / 2,
        rng.integers(levels, size=(len(document), q)),
        document,
        system,
    )


def test_refuses_columns_of_different_lengths():
    with pytest.raises(ValueError, match=r"x, y and document need as many rows: \(2, 1\), \(3, 1\), \(2,\)"):
        correlation_table(np.ones((2, 1)), np.ones((3, 1)), document=[0, 1])


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_every_level_and_coefficient_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    x, y, document, system = panel(rng)
    found = correlation_table(x, y, document=document, system=system, n_resamples=3)
    for kind in KINDS:
        for i, j in np.ndindex(2, 2):
            within = [peer(x[document == d, i], y[document == d, j], kind) for d in range(6)]
            defined = [v for v in within if v == v]
            summary = found["summary", kind]
            np.testing.assert_allclose(summary.values[i, j], np.mean(defined) if defined else np.nan, atol=1e-12)
            assert (summary.n[i, j], summary.n_undefined[i, j]) == (len(defined), 6 - len(defined))
            np.testing.assert_allclose(found["dataset", kind].values[i, j], peer(x[:, i], y[:, j], kind), atol=1e-12)
            means = [np.round([m[system == s, k].mean() for s in range(4)], 12) for m, k in ((x, i), (y, j))]
            np.testing.assert_allclose(found["system", kind].values[i, j], peer(*means, kind), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_replicates_are_those_of_rows_drawn_with_their_documents(kind):
    rng = np.random.default_rng(5)
    x, y, document, system = panel(rng, documents=5)
    found = correlation_table(x, y, document=document, system=system, n_resamples=20, seed=3)
    counts = np.concatenate(list(module.resample_counts(5, module.rng(3, "correlation/table"), 20)))
    drawn = np.concatenate(list(module.resample_counts(4, module.rng(3, "correlation/systems"), 20)))
    for r in range(20):
        rows = np.concatenate([np.flatnonzero(document == d) for d in range(5) for _ in range(int(counts[r, d]))])
        np.testing.assert_allclose(
            found["dataset", kind].replicates[r, 0, 1], peer(x[rows, 0], y[rows, 1], kind), atol=1e-9
        )
        means = [
            np.round([m[rows][system[rows] == s, k].mean() for s in range(4) for _ in range(int(drawn[r, s]))], 12)
            for m, k in ((x, 0), (y, 1))
        ]
        np.testing.assert_allclose(found["system", kind].replicates[r, 0, 1], peer(*means, kind), atol=1e-9)
        each = [
            peer(x[document == d, 0], y[document == d, 1], kind) for d in range(5) for _ in range(int(counts[r, d]))
        ]
        mean = np.nanmean(each) if np.isfinite(each).any() else np.nan
        np.testing.assert_allclose(found["summary", kind].replicates[r, 0, 1], mean, atol=1e-9)


def test_kendall_by_blocks_and_row_by_row_agree(monkeypatch):
    rng = np.random.default_rng(1)
    x, y, document, _ = panel(rng, documents=12)
    by_block = correlation_table(x, y, document=document, kinds=("kendall",), levels=("dataset",), n_resamples=30)
    monkeypatch.setattr(correlation_levels, "_DOCUMENTS_FOR_BLOCKS", 0)
    by_row = correlation_table(x, y, document=document, kinds=("kendall",), levels=("dataset",), n_resamples=30)
    for one, other in zip(by_block["dataset", "kendall"], by_row["dataset", "kendall"], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


@pytest.mark.parametrize("kind", ["spearman", "pearson"])
def test_partial_agrees_with_the_regression_of_core(kind):
    rng = np.random.default_rng(2)
    x, y, document, system = panel(rng, documents=20, levels=9)
    x = x + system[:, None]
    found = correlation_table(x, y, document=document, system=system, partial=True, n_resamples=2)
    peer = correlate(x[:, 0], y[:, 0], kind, given=system.astype(str), n_resamples=2).value
    assert found["dataset", f"partial_{kind}"].values[0, 0] == pytest.approx(peer, abs=1e-12)


def test_residuals_are_ranked_after_the_systems_means_are_taken_off():
    """The other partial Spearman, exactly; its interval, with the means held, beside that of remade residuals."""
    rng = np.random.default_rng(3)
    x, y, document, system = panel(rng, documents=60, systems=6, p=1, q=1, levels=9)
    x = x + system[:, None] + 0.5 * y
    found = correlation_table(x, y, document=document, system=system, partial=True, n_resamples=500)
    one = found["dataset", "residual_spearman"]

    def remade(rows):
        left = [
            np.round(m[rows, 0] - np.array([m[rows, 0][system[rows] == s].mean() for s in range(6)])[system[rows]], 9)
            for m in (x, y)
        ]  # fmt: skip
        return stats.spearmanr(*left).statistic

    assert one.values[0, 0] == pytest.approx(remade(np.arange(360)), abs=1e-12)
    assert one.values[0, 0] != pytest.approx(found["dataset", "partial_spearman"].values[0, 0], abs=1e-4)
    counts = np.concatenate(list(module.resample_counts(60, module.rng(0, "correlation/table"), 500)))
    slow = [remade(np.repeat(np.arange(360), c[document].astype(int))) for c in counts]
    ends = [np.quantile(r, [0.025, 0.975]) for r in (one.replicates[:, 0, 0], slow)]
    np.testing.assert_allclose(*ends, atol=0.015)


def test_simpson_s_paradox_shows():
    rng = np.random.default_rng(4)
    document, system = np.divmod(np.arange(600), 6)
    x = system + 0.3 * rng.standard_normal(600)
    y = system - 0.3 * (x - system) + 0.1 * rng.standard_normal(600)
    found = correlation_table(x[:, None], y[:, None], document=document, system=system, partial=True, n_resamples=2)
    assert found["dataset", "spearman"].values[0, 0] > 0.9
    assert found["dataset", "partial_spearman"].values[0, 0] < -0.5


def test_gaps_leave_out_a_pair_s_rows_only():
    rng = np.random.default_rng(7)
    x, y, document, system = panel(rng, documents=10)
    y = y.astype(float)
    x[3, 0] = y[5, 1] = np.nan
    x[:, 1] = np.nan
    found = correlation_table(x, y, document=document, system=system, n_resamples=2)["dataset", "spearman"]
    kept = np.isfinite(x[:, 0]) & np.isfinite(y[:, 1])
    assert found.values[0, 1] == pytest.approx(peer(x[kept, 0], y[kept, 1], "spearman"))
    assert found.n.tolist() == [[39, 38], [0, 0]]
    assert np.isnan(found.values[1]).all()


def test_constant_columns_have_no_value_at_any_level():
    x, y, document, system = panel(np.random.default_rng(8))
    found = correlation_table(x, np.full_like(y, 0.1, dtype=float), document=document, system=system, partial=True)
    assert all(np.isnan(t.values).all() and np.isnan(t.replicates).all() for t in found.values())


def test_the_order_of_rows_changes_nothing():
    rng = np.random.default_rng(9)
    x, y, document, system = panel(rng, documents=10)
    shuffled = rng.permutation(len(x))
    one = correlation_table(x, y, document=document, system=system, partial=True, n_resamples=50)
    other = correlation_table(
        x[shuffled], y[shuffled], document=document[shuffled], system=system[shuffled], partial=True, n_resamples=50
    )
    for name in one:
        for a, b in zip(one[name], other[name], strict=True):
            np.testing.assert_array_equal(a, b)


def test_one_row_per_document_leaves_the_summary_level_undefined():
    found = correlation_table([[1.0], [2], [3]], [[1.0], [3], [2]], document=[0, 1, 2], n_resamples=5)
    assert np.isnan(found["summary", "spearman"].values).all()
    assert found["summary", "spearman"].n_undefined.tolist() == [[3]]
    assert found["dataset", "spearman"].values[0, 0] == pytest.approx(0.5)


def test_two_rows_correlate_perfectly_and_so_say_nothing():
    x = np.array([[1.0], [2.0], [3.0]])
    two, three = (correlation_table(x[:n], x[:n] ** 2, document=np.arange(n), n_resamples=5) for n in (2, 3))
    for kind in ("spearman", "kendall", "pearson"):
        assert np.isnan(two["dataset", kind].values).all()
        assert two["dataset", kind].n == 2
        assert three["dataset", kind].values[0, 0] > 0.9


def test_counts_take_the_place_of_the_bootstrap():
    rng = np.random.default_rng(0)
    x, y, document = rng.normal(size=(40, 2)), rng.normal(size=(40, 1)), np.repeat(np.arange(10), 4)
    counts = np.vstack([np.ones(10), 2 * np.ones(10), np.arange(10.0)])
    for found in correlation_table(x, y, document=document, counts=counts).values():
        assert found.replicates.shape == (3, 2, 1)
        np.testing.assert_allclose(found.replicates[0], found.values, atol=1e-12)


def test_counts_have_a_column_for_each_document():
    with pytest.raises(ValueError, match=r"counts need a column for each of 2 documents: \(1, 3\)"):
        correlation_table([[1.0], [2.0]], [[1.0], [2.0]], document=[0, 1], counts=np.ones((1, 3)))
