"""Every study on small tables of which it is known what is wrong with them: nothing wrong is green, nothing right is red.

The tables are in ``tests/helpers/planted_*.py``, by room; their kinds, and what each kind may give, in ``planted.py``;
``planted_more.py`` has tables of one study each.
"""

from __future__ import annotations

import planted_agents
import planted_asked
import planted_believed
import planted_calibrated
import planted_drift
import planted_found
import planted_fresh
import planted_more
import planted_moved
import planted_ner
import planted_people
import planted_rag
import planted_texts
import pytest
from planted import KINDS, LIGHTS, Planted, Tables, faults
from some_studies import some_studies

from evalbench import studies

ROOMS = (planted_agents, planted_ner, planted_texts, planted_asked, planted_rag, planted_people, planted_drift)
PLANTED: Tables = {study: kinds for room in ROOMS for study, kinds in room.TABLES.items()}
GIVEN = [
    (study, kind, table)
    for tables in (
        PLANTED,
        planted_more.MORE,
        planted_fresh.FRESH,
        planted_believed.BELIEVED,
        planted_calibrated.CALIBRATION_TOO,
        planted_moved.MOVED,
        planted_found.FOUND_TOO,
    )
    for study, kinds in tables.items()
    for kind, table in kinds.items()
    if isinstance(table, Planted)
]

# What a study does not yet say of a table.  Whoever mends one takes its line out: the test is strict.
KNOWN: dict[tuple[str, str], str] = {}


def test_every_study_has_a_table_of_each_kind_or_a_reason() -> None:
    lacking = [
        f"{s}, {kind}: {KINDS[kind]}" for s in studies.names() for kind in KINDS if not PLANTED.get(s, {}).get(kind)
    ]
    assert not lacking, (
        "no planted table of these kinds; write each in tests/helpers/planted_*.py "
        "(or a sentence that says why the kind has no meaning for the study):\n" + "\n".join(lacking)
    )


def test_no_study_and_no_kind_is_planted_that_does_not_exist() -> None:
    assert {*PLANTED} == {*studies.names()}
    assert {kind for kinds in PLANTED.values() for kind in kinds} == {*KINDS}
    assert {*KNOWN} <= {(study, kind) for study, kind, _ in GIVEN}


def test_other_lights_than_those_of_a_kind_have_a_reason() -> None:
    assert not [f"{s}, {kind}" for s, kind, t in GIVEN if t.lights - LIGHTS.get(kind, t.lights) and not t.because]


@pytest.mark.generated
@pytest.mark.parametrize(
    ("study", "kind", "table"),
    [
        pytest.param(
            s, kind, table, id=f"{s}-{kind}",
            marks=[pytest.mark.xfail(strict=True, reason=KNOWN[s, kind])] if (s, kind) in KNOWN else [],
        )
        for s, kind, table in GIVEN
        if s in some_studies(studies.names())
    ],
)  # fmt: skip
def test_a_planted_table_is_seen_for_what_it_is(study: str, kind: str, table: Planted) -> None:
    wrong = faults(study, kind, table)
    assert not wrong, f"{study}, {kind} ({KINDS.get(kind, 'beside the kinds')}):\n" + "\n".join(wrong)
