"""Calls matched, in order, repeated, in loops, recovered; worked by hand, by brute force and against published trajectories."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import tau_airline
from generated import one_in_twenty

from evalbench.errors import BadInput
from evalbench.metrics import grounding, trajectories


@pytest.mark.parametrize("given", ["{", "[1]", "7", "null", '"x"', 7, [1]])
def test_arguments_that_are_no_object_are_a_fault_not_an_error(given: object) -> None:
    assert trajectories.arguments_of(given).fault
    assert trajectories.arguments_of(given).value == {}


def test_arguments_nested_without_end_are_a_fault() -> None:
    assert trajectories.arguments_of('{"a":' * 5000 + "1" + "}" * 5000).fault
    assert trajectories.arguments_of('{"a":' * 200 + "1" + "}" * 200).fault == "nested too deeply"


def test_equal_calls_have_one_key_and_others_another() -> None:
    key = trajectories.call_key
    assert key("f", {"a": [1, {"b": 2.0}]}) == key("f", {"a": [1.0, {"b": 2}]})
    assert len({key("f", {"a": v}) for v in (1, True, "1", None, [1], {"1": 1})}) == 6
    assert key("f", {}) != key("g", {})
    assert key("f\0{}", {}) != key("f", {})


def test_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(BadInput, match="2, 1"):
        trajectories.matched([0, 0], ["a"], [], [])
    with pytest.raises(BadInput, match="2 turns"):
        trajectories.looping([0], ["a"], turns=1)


def test_nothing_is_matched_where_nothing_is() -> None:
    assert trajectories.matched([], [], [], []).tolist() == []
    assert trajectories.matched([0], ["a"], [], []).tolist() == [False]
    assert trajectories.matched([], [], [0], ["a"]).tolist() == []
    assert trajectories.repeated([], []).tolist() == trajectories.looping([], []).tolist() == []
    assert trajectories.recovered([], [], []).tolist() == []


@pytest.mark.generated
@pytest.mark.parametrize("seed", one_in_twenty(range(600), in_check=150))
def test_the_vectorised_functions_are_those_of_brute_force(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 40))
    runs = np.sort(draw.integers(0, 4, n))
    keys = draw.choice(list("abc"), n).astype(object)
    failed = draw.random(n) < 0.4
    wanted = draw.integers(0, 4, 12), draw.choice(list("abcd"), 12).astype(object)
    found = trajectories.matched(runs, keys, *wanted)
    for run in set(runs):
        made, expected = Counter(keys[runs == run]), Counter(wanted[1][wanted[0] == run])
        assert found[runs == run].sum() == (made & expected).total()
    same = [any(runs[j] == runs[i] and keys[j] == keys[i] for j in range(i)) for i in range(n)]
    assert trajectories.repeated(runs, keys).tolist() == same
    good = [
        failed[i] and any(runs[j] == runs[i] and keys[j] == keys[i] and not failed[j] for j in range(i + 1, n))
        for i in range(n)
    ]
    assert trajectories.recovered(runs, keys, failed).tolist() == good
    assert trajectories.looping(runs, keys).tolist() == loops(runs.tolist(), keys.tolist())


def loops(runs: list[int], keys: list[str]) -> list[int]:
    out = [0] * len(keys)
    for period in (4, 3, 2, 1):
        for start in range(len(keys) - 3 * period + 1):
            part = keys[start : start + 3 * period]
            if len(set(runs[start : start + 3 * period])) == 1 and part == part[:period] * 3:
                out[start : start + 3 * period] = [period] * 3 * period
    return out


@pytest.mark.generated
@pytest.mark.parametrize("seed", one_in_twenty(range(200), in_check=60))
def test_calls_in_order_are_the_longest_common_subsequence(seed: int) -> None:
    draw = np.random.default_rng(seed)
    keys, expected = draw.choice(list("abc"), 7).tolist(), draw.choice(list("abc"), 5).tolist()
    some = {part for size in range(6) for part in combinations(expected, size)}
    own = {part for size in range(6) for part in combinations(keys, size)}
    assert trajectories.in_order(keys, expected) == max(map(len, some & own))


def test_a_trajectory_parts_from_the_one_that_it_follows_longest() -> None:
    assert trajectories.parting([], [["a"]]) == (0, 0)
    assert trajectories.parting(["a", "b"], [["a", "b"]]) == (2, 0)
    assert trajectories.parting(["a", "c"], [["b"], ["a", "b"], ["a"]]) == (1, 1)
    with pytest.raises(BadInput, match="there are none"):
        trajectories.parting(["a"], [])


@pytest.mark.parametrize(
    ("said", "claimed", "lacking"),
    [
        ("total 1,250.00", "It is 1250.", []),
        ("20 %", "It is 20% or 0.2.", []),
        ("2024-05-20", "on May 20th", []),
        ("ＫＸ-4410", "kx-4410", []),
        ("order KX-4410", "KX-4411", ["KX-4411"]),
        ("", "1. first\n2) second, 3 of them", []),
        ("", "pays 45", ["45"]),
        ("всего 12 500,5 рубля", "12500.5", []),
        ("owner: IVAN PETROV", "за Ивана Петрова, для Анна Корнева", ["Ивана Петрова", "Анна Корнева"]),
        ("mail ada@fern.example", "I wrote to ada@fern.example and tom@fern.example", ["tom@fern.example"]),
        ("", "Trip Type: one way", []),
        ("", "Dear Customer Service, thanks.", []),
        ("The fare is 100 and the balance is 250.", "You pay:\n- $100\n- 35 for the bag\nBalance: -250", ["35"]),
        ('{"at": "2024-05-19T16:45:00"}', "May 19, 2024 at 16:45, or 4:45 PM on 19 May 2024, May 19th.", []),
        (
            '{"at": "2024-05-19T16:45:00"}',
            "May 20, 2024 at 16:46; May 19, 2023.",
            ["May 20, 2024", "May 19, 2023", "16:46"],
        ),
        ("On May 19 of 2024", "See you on May 19, 2024.", []),
    ],
)
def test_claims_are_found_in_what_was_said_however_they_are_written(
    said: str, claimed: str, lacking: list[str]
) -> None:
    ground = grounding.Ground()
    ground.add(said)
    assert [claim.text for claim in ground.lacking(claimed)] == lacking


def test_a_claim_is_where_it_says() -> None:
    text = "So 45 seats on HX204 for Tom Wick."
    assert all(text[c.start : c.end] == c.text for c in grounding.claims_in(text))
    assert len(grounding.claims_in(text)) == 3


def test_a_date_and_a_time_are_one_claim_each() -> None:
    found = grounding.claims_in("- $100 by 2024-05-19 at 16:45")
    assert [(claim.text, claim.kind) for claim in found] == [
        ("$100", "number"),
        ("2024-05-19", "date"),
        ("16:45", "time"),
    ]


def test_a_hostile_text_takes_no_time() -> None:
    for text in (
        "A" * 10**6,
        "1," * 10**6,
        "Aa " * 10**6,
        "@." * 10**6,
        "1a" * 10**6,
        "May 1" * 10**6,
        "1:11" * 10**6,
        "\n- " * 10**6,
    ):
        grounding.Ground().lacking(text)


@pytest.mark.external
def test_published_trajectories_are_counted_as_they_were(external_data) -> None:
    folder: Path = external_data("tau_airline")
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["counts"]
    frames = tau_airline.tables(folder)
    steps = frames["steps"]
    calls = steps[steps["kind"] == "call"]
    runs = (calls["id"] + "/" + calls["trial"]).to_numpy()
    keys = [
        trajectories.call_key(n, trajectories.arguments_of(a).value) for n, a in calls[["name", "arguments"]].to_numpy()
    ]
    pairs = [
        (f"{row['id']}/{trial}", call)
        for row in frames["tasks"].to_dict("records")
        for trial in range(4)
        for call in json.loads(row["expected"])
    ]
    wanted = [run for run, _ in pairs]
    by_both = trajectories.matched(
        runs, keys, wanted, [trajectories.call_key(c["name"], c["arguments"]) for _, c in pairs]
    )
    by_name = trajectories.matched(runs, calls["name"], wanted, [c["name"] for _, c in pairs])
    assert (len(calls), len(pairs)) == (expected["calls"], expected["expected_calls"])
    assert by_both.sum() == expected["matched_name_and_arguments"]
    assert by_name.sum() == expected["matched_name"]
    assert trajectories.repeated(runs, keys).sum() == expected["identical_repeats"]


SAID = ["1,250.00", "1250", "45", "45 %", "0.45", "1/2", "½", "1½", "3万", "30000", "1.5 million", "1500000", "1 500 000", "１２３４", "KX-4410", "kx-4410", "Ada Brandt", "ada brandt", "рубля", "12 500,5", "12500.5", "0,125", "1/8", "-7/9", "a@b.de", "$120.50", "4.500", "4,500", "2031-05-01", "٣٤٥", "345", "100", "10%", "0.1", "０．５", "1.200.000", "Ça Vä"]  # fmt: skip


@pytest.mark.generated
@pytest.mark.parametrize("seed", one_in_twenty(range(400), in_check=100))
def test_texts_that_are_read_only_when_a_claim_may_be_in_them_hold_what_texts_read_at_once_hold(
    seed, monkeypatch
) -> None:
    draw = np.random.default_rng(seed)
    texts = [" ".join(draw.choice(SAID, draw.integers(1, 6))) for _ in range(40)]
    asked = draw.random(40) < 0.4
    found = []
    for passed in (0, 2, 8):
        monkeypatch.setattr(grounding, "_PASSED", passed)
        ground, lacking = grounding.Ground(), []
        for text, claims in zip(texts, asked, strict=True):
            if claims:
                lacking.append(ground.lacking(text))
            else:
                ground.add(text)
        found.append(lacking)
    assert found[0] == found[1] == found[2]
