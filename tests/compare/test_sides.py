"""The models of a run beside another's, by their use or as a list."""

from __future__ import annotations

import pytest

from evalbench.compare.sides import surroundings


@pytest.mark.parametrize(
    ("models", "shown"),
    [({"judging": "openai/gpt-4o"}, {"model, judging": "openai/gpt-4o"}), (["a/b", "c/d"], {"models": "a/b, c/d"})],
)
def test_models_by_use_or_as_a_list(models, shown):
    found = surroundings({"models": models})
    assert {name: value for name, value in found.items() if name.startswith("model")} == shown
