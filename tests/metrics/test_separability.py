"""What tells new texts from earlier ones: features against an independent library, leaks, copies, hostile texts."""

from __future__ import annotations

import numpy as np
import pytest

from evalbench.core.separability import gram
from evalbench.metrics.separability import near_copies, separated
from evalbench.metrics.tfidf import text_features

QUICK = {"n_permutations": 19, "n_resamples": 50}
NOUNS = ["parcel", "invoice", "refund", "lamp", "chair", "table", "bottle", "jacket", "phone", "cable"]
VERBS = ["where", "find", "lost", "late", "open", "wrong", "cheap", "broken", "order", "return"]


def requests(seed: int, n: int, end: str = "") -> list[str]:
    rng = np.random.default_rng(seed)
    return [
        f"{rng.choice(VERBS)} {rng.choice(NOUNS)} {rng.choice(VERBS)} {rng.choice(NOUNS)} {rng.choice(NOUNS)}{end}"
        for _ in range(n)
    ]


@pytest.fixture(scope="module")
def sides() -> np.ndarray:
    return np.arange(120) >= 60


def test_features_are_those_of_an_independent_library() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [
        "where is my parcel",
        "My parcel is late",
        "где моя посылка",
        "моя посылка где",
        "我的包裹在哪",
        "我的包裹",
        "",
    ]
    found = text_features(texts)
    options = {"sublinear_tf": True, "min_df": 2, "lowercase": True}
    peer = TfidfVectorizer(analyzer="char", ngram_range=(2, 4), **options)
    expected = peer.fit_transform([f" {text} " if text else "" for text in texts]).toarray()
    ours = {
        name: i for i, (name, kind) in enumerate(zip(found.names, found.kinds, strict=True)) if kind == "characters"
    }
    assert set(ours) == set(peer.get_feature_names_out())
    order = [ours[name] for name in peer.get_feature_names_out()]
    assert np.allclose(found.matrix[:, order].toarray(), expected)
    peer = TfidfVectorizer(tokenizer=str.split, token_pattern=None, **options)
    peer.fit(text for text in texts[:4])
    ours = {name for name, kind in zip(found.names, found.kinds, strict=True) if kind == "word"}
    assert set(peer.get_feature_names_out()) <= ours


def test_a_topic_that_sets_in_is_found_and_named(sides: np.ndarray) -> None:
    texts = requests(0, 60) + [f"{text} voucher" if i % 2 else text for i, text in enumerate(requests(1, 60))]
    found = separated(texts, sides, **QUICK)
    assert found.by_text.p == 0.05
    assert (found.telling[0].feature, found.telling[0].kind, found.telling[0].side) == ("voucher", "word", "current")
    assert (found.telling[0].reference, found.telling[0].current) == (0, 0.5)
    assert all("voucher" in texts[i] for i in found.typical[:5])
    assert not [t for t in found.telling if t.kind == "characters" and t.feature.strip() in "voucher" and t.weight > 0]


@pytest.mark.parametrize(
    ("end", "feature", "hint"),
    [
        (" 2026-03-0{i}", "0000-00-00", "date"),
        (" 0{i}.03.2026", "00.00.0000", "date"),
        (" of 2026", "2026", "date"),
        (" template=17", "template=00", "identifier"),
        (" T-{i}{i}", "t-00", "identifier"),
        (" #1{i}:", "#00:", "number"),
    ],
)
def test_leaks_are_among_the_telling_features(sides: np.ndarray, end: str, feature: str, hint: str) -> None:
    texts = requests(0, 60) + [text + end.format(i=i % 9) for i, text in enumerate(requests(1, 60))]
    found = separated(texts, sides, n_permutations=0, n_resamples=20)
    (leak,) = [t for t in found.telling if t.feature == feature]
    assert leak.side == "current"
    assert leak.hint == f"{hint}, in nearly all of one side and hardly any of the other"


def test_without_drift_no_side_is_known(sides: np.ndarray) -> None:
    found = separated(requests(3, 120), sides, **QUICK)
    assert abs(found.by_text.gini.value) < 0.35
    assert found.by_text.p > 0.05


def test_vectors_have_a_classifier_of_their_own(sides: np.ndarray) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(120, 8)) * 0.01 + 5
    vectors[sides, 3] += 0.05
    found = separated(requests(4, 120), sides, vectors=vectors, **QUICK)
    assert found.by_vectors.gini.value > 0.9 > 0.5 > found.by_text.gini.value
    assert (found.by_vectors.folds == found.by_text.folds).all()


def test_copies_and_clusters_lie_in_one_fold(sides: np.ndarray) -> None:
    texts = requests(5, 120)
    texts[3], texts[70], texts[71] = "Please help me, now!", "please help me now", "please, help me now!!"
    found = separated(texts, sides, **QUICK)
    assert len({found.by_text.folds[i] for i in (3, 70, 71)}) == 1
    users = [f"u{i % 40}" for i in range(120)]
    found = separated(texts, sides, clusters=users, **QUICK)
    assert all(len({int(found.by_text.folds[i]) for i in range(u, 120, 40)}) == 1 for u in range(40))
    assert found.by_text.n_groups <= 40


def test_an_answer_that_many_give_is_evidence_and_not_a_copy(sides: np.ndarray) -> None:
    texts = ["yes" if i % 2 else "no" for i in range(60)] + ["no"] * 60
    found = separated(texts, sides, **QUICK)
    assert found.by_text.gini.value == pytest.approx(0.5, abs=0.1)
    assert found.notes == ("120 near-copies of one another are more than a fold holds, and were parted",)
    assert len(found.typical) == 1


def test_chains_of_copies_are_parted_by_a_higher_cosine() -> None:
    angle = np.arange(12) * np.arccos(0.93)
    cosine = np.cos(np.abs(angle[:, None] - angle))
    texts = [f"text{i}" for i in range(12)]
    assert len(set(near_copies(texts, cosine, 0.9, most=12)[0].tolist())) == 1
    groups, remark = near_copies(texts, cosine, 0.9, most=3)
    assert len(set(groups.tolist())) == 12
    assert remark.startswith("12 near-copies")


def test_more_rows_than_wanted_are_drawn_from_both_sides() -> None:
    texts = requests(6, 300)
    found = separated(texts, np.arange(300) >= 260, max_rows=100, **QUICK)
    assert (len(found.used), (found.used >= 260).sum()) == (100, 40)
    assert found.notes[0] == "drawn: 100 of 300 texts"
    assert set(found.typical.tolist()) <= set(range(260, 300))


@pytest.mark.parametrize(
    "texts",
    [
        ["", "", "", ""],
        ["a", "", "a", ""],
        ["\ud800", "\0\0", "\u202e<script>", "é" * 5000],
        ["…", "!!!", "…", "?"],
        [" ", "\n\t", "\u3000", "\ufeff"],
        ["我", "我", "я", "я"],
    ],
)
def test_texts_of_any_kind(texts: list[str]) -> None:
    found = separated(texts, [False, False, True, True], **QUICK)
    assert found.by_text.gini.value is None or -1 <= found.by_text.gini.value <= 1
    assert len(found.used) == 4


def test_no_text_or_one_side_has_no_gini() -> None:
    for texts, side in (([], []), (["a", "b"], [True, True]), (["a", "b"], [True, False])):
        found = separated(texts, side, vectors=np.ones((len(texts), 2)), **QUICK)
        assert found.by_text.gini.value is found.by_vectors.gini.value is None
        assert (found.telling, len(found.typical)) == ((), 0)
    with pytest.raises(ValueError, match="one length"):
        separated(["a"], [True, False])


def test_near_copies_of_nothing() -> None:
    assert near_copies([], gram(np.empty((0, 3))), most=1)[0].tolist() == []


@pytest.mark.external
@pytest.mark.slow
def test_answers_of_two_snapshots_are_told_apart_and_halves_of_one_are_not(external_data) -> None:
    import pandas as pd

    rows = pd.read_parquet(external_data("llm_drift") / "prime_full_eval.parquet").sort_values(["model", "id"])
    march, june = (
        rows.loc[rows["model"].str.endswith(end), "answer"].tolist()[:300] for end in ("gpt-4-0314", "gpt-4-0613")
    )
    found = separated(march + june, np.arange(600) >= 300, **QUICK)
    assert found.by_text.gini.ci_low > 0.95
    assert found.telling[0].feature == "no"
    control = separated(march, np.arange(300) % 2 == 1, **QUICK)
    assert abs(control.by_text.gini.value) < 0.25
