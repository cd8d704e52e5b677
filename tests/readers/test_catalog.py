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


def test_a_version_that_is_not_kept_is_told_with_the_one_that_replaces_it(bench):
    cards = {"words@1.1.0": {**CARD, "replaces": {"1.0.0": "only names of columns differ"}}, "words@0.9.0": CARD}
    (bench / "data" / "catalog.yaml").write_text(yaml.safe_dump(cards), encoding="utf-8")
    with pytest.raises(BadInput) as error:
        catalog.entry("words@1.0.0", bench)
    said = "words@1.1.0 replaces it: only names of columns differ"
    assert str(error.value) == f"no data set 'words@1.0.0' in data/catalog.yaml; {said}"
    with pytest.raises(BadInput, match=r"is words@0\.9\.0 or words@1\.1\.0 meant"):
        catalog.entry("words@1.0.1", bench)


@pytest.mark.parametrize("replaces", ["1.0.0", ["1.0.0"], {"1.0.0": 1}, {1.0: "only names of columns differ"}])
def test_what_an_entry_replaces_is_a_mapping_of_versions_to_texts(replaces, bench):
    cards = {"words@1.1.0": {**CARD, "replaces": replaces}}
    (bench / "data" / "catalog.yaml").write_text(yaml.safe_dump(cards), encoding="utf-8")
    with pytest.raises(BadInput, match=r"words@1\.1\.0: replaces: expected a mapping of versions"):
        catalog.entries(bench)


def test_adding_an_entry_says_what_it_replaces(bench, monkeypatch):
    (bench / "data" / "catalog.yaml").write_text("", encoding="utf-8")
    (bench / "data" / "items.csv").write_text("id\n1\n", encoding="utf-8")
    monkeypatch.setattr(catalog, "own_root", lambda: bench)
    card = {"study": ["tiny"], "title": "Words", "licence": "CC0-1.0", "synthetic": True, "card": ""}
    catalog.add("words@1.1.0", {"items": bench / "data" / "items.csv"}, **card, replaces={"1.0.0": "other names"})
    assert catalog.entry("words@1.1.0", bench).replaces == {"1.0.0": "other names"}
    catalog.add("words@1.1.0", {"items": bench / "data" / "items.csv"}, **{**card, "title": "More words"})
    found = catalog.entry("words@1.1.0", bench)
    assert (found.title, found.replaces) == ("More words", {"1.0.0": "other names"})


def test_every_shipped_sample_of_a_former_version_is_named(root):
    replaced = [
        (found.name, version, found.label) for found in catalog.entries(root).values() for version in found.replaces
    ]
    assert replaced
    for name, version, label in replaced:
        with pytest.raises(BadInput, match=f"{label} replaces it: only names of columns differ"):
            catalog.entry(f"{name}@{version}", root)
