"""Under other thresholds a run stands as a new run with these options does: of every study, every option that is offered."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from generated import one_in_twenty
from some_studies import some_studies
from studied import evaluated, options, sample, whole

from evalbench import studies
from evalbench.errors import BadInput
from evalbench.explorer.rows import Rows
from evalbench.explorer.standing import AFTER_LOOKING, free_options, standing
from evalbench.runs.record import record

pytest.importorskip("duckdb", reason="peer not importable: duckdb")

# Values that a number's own share of .8 is not: words, and thresholds that are set together.
OTHERS: dict[str, dict[str, Any]] = {
    "confidence": {"green_from": 0.75},
    "dialogue": {"orientation": "discussion", "lights": {"answers": {"green_to": 1, "yellow_to": 2}}},
    "drift": {
        "key_bands": {"green_from": 0.6, "yellow_from": 0.5}, "light_on": "ci", "lights": {"psi": {"green_to": 0.3, "yellow_to": 0.5}},
        "preset": "rule_of_thumb", "reliable_from": 0.2, "psi_light_on": "raw", "new_tokens": "ratio",
    },
    "human_correlation": {"trusted": ["accuracy"], "level": "system", "coefficient": "pearson", "lower_is_better": ["length"]},
    "imported": {"directions": {"has_answer": "lower"}, "lights": {"has_answer": {"green_from": 0.9, "yellow_from": 0.2}}},
    "judge_audit": {"labels_drawn": "elsewhere", "lights": {"kappa": {"green_from": 0.95, "yellow_from": 0.2}}},
    "matching": {"absent": "nothing", "light_on": "ha_f1", "lights": {"precision": {"green_from": 0.9, "yellow_from": 0.2}}},
    "needle": {"scorer": "word", "lights": {"recall_vanilla": {"green_from": 0.9, "yellow_from": 0.2}}},
    "ner_conflicts": {"green_to": 0.2, "yellow_to": 0.4, "lights": {"conflict_share": {"green_to": 0.1, "yellow_to": 0.4}}},
    "ner_quality": {"green_to": 0.2, "yellow_to": 0.4, "absent": "nothing", "lights": {"strict_f1": {"green_from": 0.9, "yellow_from": 0.4}}},
    "rag_generation": {"lights": {"faithfulness": {"green_from": 0.95, "yellow_from": 0.2}}},
    "rag_retrieval": {"absent": "zero", "lights": {"ndcg_at_5": {"green_from": 0.95, "yellow_from": 0.2}}},
    "rag_tuning": {"lights": {"hit_rate_at_5": {"green_from": 0.95, "yellow_from": 0.2}}},
    "reproduction": {"lights": {"flickers": {"green_to": 0.1, "yellow_to": 0.5}}},
    "stability": {"light_on": "estimate", "lights": {"drop": {"green_to": 0.01, "yellow_to": 0.02}}},
    "stability_top": {"lights": {"jaccard": {"green_from": 0.95, "yellow_from": 0.2}}},
    "trajectories": {"figures": ["call_f1"], "lights": {"success": {"green_from": 0.95, "yellow_from": 0.2}}},
    "text_metrics": {"lights": {"f1_score": {"green_from": 0.95, "yellow_from": 0.2}}},
}  # fmt: skip
TOGETHER = {"green_to": "yellow_to", "yellow_to": "green_to"}


@pytest.fixture(scope="module", params=some_studies(studies.names()))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """A finished run of a study on its sample."""
    folder = tmp_path_factory.mktemp(request.param)
    record(whole(request.param), folder)
    return Rows(folder)


def other(name: str, option: str, parameter: inspect.Parameter) -> Any:
    now = options(name).get(option, parameter.default)
    if option in OTHERS.get(name, {}):
        return OTHERS[name][option]
    assert type(now) in (int, float), f"{name}: another value of {option} is wanted"
    return now + 1 if isinstance(now, int) else round(0.8 * now, 6)


@pytest.mark.generated
def test_a_figure_and_its_light_are_those_of_a_run_with_the_option(run: Rows) -> None:
    name = run.results["study"]
    free = free_options(studies.study(name))
    assert free or name == "matching_calibration"  # whose items are made with all of its options
    for options_ in batched(free):
        changed = {}
        for option in options_:
            changed[option] = other(name, option, free[option])
            if option in TOGETHER:
                changed[TOGETHER[option]] = other(name, TOGETHER[option], free[option])
        again, found = evaluated(name, sample(name), **changed), standing(run, options=changed)
        assert found.summary is not None
        assert [e.row() for e in found.summary.estimates] == [e.row() for e in again.summary.estimates], options_
        assert found.summary.verdict.light == again.light, options_
        assert [option for option in options_ if f"{option}=" not in found.line] == []


def batched(free: Iterable[str]) -> list[list[str]]:
    """Each option in one of two runs, beside others but seldom its neighbours, which may hide what it does; what thresholds say hangs on others."""
    names = [name for name in free if name != "lights"]
    return [part for part in (names[::2], names[1::2], ["lights"] if "lights" in free else []) if part]


PAIRS = {"green_from": 0.75, "yellow_from": 0.5, "green_to": 0.2, "yellow_to": 0.4, "reliable_from": 0.2}
"""Numbers of options that are null by default."""
FACTORS = (0, 0.3, 0.9, 1.1, 1.6, -1)


def setting(name: str, number: int) -> dict[str, Any]:
    """One to three options of a study that ``summarise`` reads, with values in and out of their range."""
    draw, free = random.Random(f"{name} {number}"), free_options(studies.study(name))
    chosen = draw.sample(sorted(free), min(len(free), draw.randint(1, 3)))
    changed: dict[str, Any] = {}
    for option in chosen:
        now = options(name).get(option, free[option].default)
        number_now = PAIRS[option] if now is None and option in PAIRS else now
        if type(number_now) in (int, float):
            changed[option] = type(number_now)(round(number_now * draw.choice(FACTORS), 6))
            if option in TOGETHER and draw.random() < 0.8:
                changed.setdefault(TOGETHER[option], PAIRS[TOGETHER[option]])
        else:
            changed[option] = other(name, option, free[option])
    return changed


def outcome(said: Callable[[], Any]) -> tuple[Any, ...] | frozenset[str]:
    """Figures and verdict of a run or of what the explorer says, or the faults for which it is refused."""
    try:
        found = said()
    except BadInput as error:
        return frozenset(error.faults)
    return ([estimate.row() for estimate in found.summary.estimates], found.summary.verdict)


@pytest.mark.generated
@pytest.mark.soak
@pytest.mark.parametrize("number", one_in_twenty(range(20), in_check=1))
def test_any_setting_is_that_of_a_run_or_refused_as_by_a_run(run: Rows, number: int) -> None:
    name = run.results["study"]
    changed = setting(name, number)
    by_run = outcome(lambda: evaluated(name, sample(name), **changed))
    here = outcome(lambda: standing(run, options=changed))
    if isinstance(by_run, frozenset):  # a run looks at its tables only after its options: fewer faults at once
        assert isinstance(here, frozenset)
        assert by_run <= here, changed
    else:
        assert here == by_run, changed


WITH_LIGHTS = [name for name in studies.names() if "lights" in studies.study(name).options()]
"""Studies whose user may give rules of lights of his own."""


@pytest.mark.generated
@pytest.mark.parametrize("run", some_studies(WITH_LIGHTS), indirect=True)
def test_half_a_rule_of_a_light_is_refused_as_by_a_run(run: Rows) -> None:
    name = run.results["study"]
    assert "lights" in free_options(studies.study(name))
    (figure, rule), *_ = OTHERS[name]["lights"].items()
    for end in rule:
        changed = {"lights": {figure: {end: rule[end]}}}
        here = outcome(lambda changed=changed: standing(run, options=changed))
        by_run = outcome(lambda changed=changed: evaluated(name, sample(name), **changed))
        assert isinstance(by_run, frozenset), by_run
        assert here == by_run
        assert "are set together or not at all" in " ".join(by_run)


@pytest.mark.generated
def test_items_that_a_threshold_moves_are_counted(run: Rows) -> None:
    assert standing(run).moved is None
    name = run.results["study"]
    same = {option: run.results["parameters"][option] for option in free_options(studies.study(name))}
    if same:
        again = standing(run, options=same).moved
        assert again is not None
        assert (again.rescored in (0, None), again.relit) == (True, 0)


@pytest.mark.slow
def test_a_threshold_that_items_pass_or_fail_rescores_those_between_the_old_and_the_new(tmp_path) -> None:
    record(whole("citation"), tmp_path)
    run = Rows(tmp_path)
    now, final = run.results["parameters"]["threshold"], run.frame()["final"].to_numpy(float)
    between = np.unique(final[np.isfinite(final) & (final < now)])[-3:]
    lowered = standing(run, options={"threshold": float(between[0])}).moved
    assert lowered is not None
    assert lowered.rescored == np.isin(final, between).sum() > 0


@pytest.mark.generated
def test_without_a_change_it_is_what_the_run_says(run: Rows) -> None:
    found = standing(run)
    assert found.summary is not None
    assert [e.row() for e in found.summary.estimates] == run.results["summary"]
    assert (found.summary.verdict.light, found.note, found.n) == (run.results["light"], "", run.n)


@pytest.mark.generated
def test_of_some_items_the_figures_are_theirs_and_said_to_be_chosen(run: Rows) -> None:
    first = run.page(limit=1)[0][run.id]
    found = standing(run, f'-{run.id}="{first}"')
    assert 0 < found.n < run.n
    assert found.note == AFTER_LOOKING
    assert found.summary is not None
    assert found.summary.estimates
    assert standing(run, f'{run.id}="{first}" -{run.id}="{first}"').summary is None


@pytest.mark.generated
def test_an_option_that_makes_the_items_needs_a_new_run(run: Rows) -> None:
    hooks = studies.study(run.results["study"])
    assert set(hooks.MAKES_ITEMS) <= set(hooks.options())
    for option in (*hooks.MAKES_ITEMS, "seed"):
        with pytest.raises(BadInput, match=f"{option}: other scores are needed: a new run"):
            standing(run, options={option: 1})
    with pytest.raises(BadInput, match="no_such: not an option of"):
        standing(run, options={"no_such": 1})


def test_thresholds_of_another_type_or_in_the_wrong_order_are_refused(tmp_path) -> None:
    record(whole("confidence"), tmp_path)
    run = Rows(tmp_path)
    with pytest.raises(BadInput, match="coverage must be a number, got 'much'"):
        standing(run, options={"coverage": "much"})
    with pytest.raises(BadInput, match="green_from must be above yellow_from, got 0.2 and 0.7"):
        standing(run, options={"green_from": 0.2})
