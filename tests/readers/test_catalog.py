"""The catalog is parsed once for as long as its file stays as it is."""

from __future__ import annotations

import pytest
import yaml

from evalbench.errors import BadInput
from evalbench.readers import catalog

CARD = {"study": "tiny", "title": "Words", "licence": "CC0-1.0", "synthetic": True, "files": {}}


@pytest.fixture
def bench(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "data").mkdir()
    return tmp_path


def write(bench, *labels):
    text = yaml.safe_dump(dict.fromkeys(labels, CARD), sort_keys=False)
    (bench / "data" / "catalog.yaml").write_text(text, encoding="utf-8")


def test_faults_are_told_all_at_once_each_time(bench):
    (bench / "data" / "catalog.yaml").write_text("words: {}\nmore@1.0.0: {title: More}\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(BadInput) as error:
            catalog.entries(bench)
        assert "words: expected name@version" in str(error.value)
        assert "more@1.0.0: lacks study, licence, synthetic, files" in str(error.value)


def test_a_suite_reads_the_catalog_once(bench, monkeypatch):
    write(bench, "words@1.0.0", "words@2.0.0")
    first = catalog.entries(bench)
    monkeypatch.setattr(yaml, "safe_load", lambda text: pytest.fail("parsed anew"))
    first.clear()
    assert catalog.entry("words@2.0.0", bench).label == "words@2.0.0"
    assert list(catalog.entries(bench)) == ["words@1.0.0", "words@2.0.0"]


def test_a_changed_catalog_is_read_anew(bench):
    write(bench, "words@1.0.0")
    assert list(catalog.entries(bench)) == ["words@1.0.0"]
    write(bench, "words@1.0.0", "words@2.0.0")
    assert list(catalog.entries(bench)) == ["words@1.0.0", "words@2.0.0"]
    (bench / "data" / "catalog.yaml").unlink()
    with pytest.raises(BadInput, match="no data/catalog.yaml"):
        catalog.entries(bench)


@pytest.mark.parametrize(
    ("label", "hint"),
    [
        ("town_desk@9.0.0", "is town_desk@1.0.0 or town_desk@1.1.0 meant?"),
        ("towndesk@1.0.0", "is town_desk@1.0.0 or town_desk@1.1.0 meant?"),
        ("nothing@1.0.0", "there are town_desk@1.0.0, town_desk@1.1.0, words@1.0.0"),
    ],
)
def test_an_unknown_data_set_is_told_with_those_of_a_near_name_or_with_all(label, hint, bench):
    write(bench, "words@1.0.0", "town_desk@1.1.0", "town_desk@1.0.0")
    with pytest.raises(BadInput) as error:
        catalog.entry(label, bench)
    assert str(error.value) == f"no data set '{label}' in data/catalog.yaml; {hint}"
