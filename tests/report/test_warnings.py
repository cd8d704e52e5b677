"""What a reader must know of a run's models before believing its figures is beside the verdict."""

from __future__ import annotations

import re

import pytest

from evalbench.report.render import render


def verdict_box(folder) -> str:
    html = render(folder.path).read_text(encoding="utf-8")
    return re.search(r'<section id="verdict".*?</section>', html, re.DOTALL)[0]


def test_another_model_than_asked_for_is_said_beside_the_verdict(run_folder):
    box = verdict_box(run_folder(other_models={"openai/big → small<script>": 12}))
    assert "answered with a different model than requested" in box
    assert "openai/big → small&lt;script&gt;: <b>12</b> replies" in box
    assert "<script>" not in box


def test_what_could_not_be_kept_is_said_beside_the_verdict(run_folder):
    box = verdict_box(run_folder(not_kept={"database or disk is full": 3}))
    assert "The cache could not store every paid reply" in box
    assert "database or disk is full: <b>3</b> replies" in box


@pytest.mark.parametrize("value", [{}, None, [], "text", 5, True])
def test_without_any_nothing_is_said_whatever_the_file_holds(run_folder, value):
    assert "eb-warning" not in verdict_box(run_folder(other_models=value, not_kept=value))
