"""seaborn without scipy.stats, and whole all the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
from evalbench.draw.plots import seaborn
import matplotlib; matplotlib.use("agg")
sns = seaborn()
assert "scipy.stats" not in sys.modules
assert seaborn() is sns
values = [1.0, 2, 2, 3, 5]
(ours,) = sns.kdeplot(x=values, cumulative=True).get_lines()
assert "scipy.stats" in sys.modules
from scipy.stats import gaussian_kde
x, y = ours.get_data()
assert abs(y[-1] - gaussian_kde(values).integrate_box_1d(x[0], x[-1])) < 0.02
"""


@pytest.mark.slow
def test_densities_are_scipy_s_when_they_are_asked_for():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
