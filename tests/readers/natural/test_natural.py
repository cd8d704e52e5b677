"""Tables as people have them, read with no option but the data: the figure that must come out, or the one question.

The tables lie in ``tables``, what must come of each in ``expected.yaml``; neither knows the names of our own columns.
"""

import json
import math
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from evalbench import studies
from evalbench.errors import BadInput

HERE = Path(__file__).parent
EXPECTED = yaml.safe_load((HERE / "expected.yaml").read_text(encoding="utf-8"))
KNOWN_FAILING: frozenset[str] = frozenset()
"""Tables that are not read yet; one that is read must be taken out."""
TOLERANCE = 1e-6
_HEAD = re.compile(r"^(?:output|answer|response|model|run)[ _.-]*(?=.)", re.IGNORECASE)
_OPTION = re.compile(r"--map\s+['\"]?([^='\"\s][^='\"]*?)=")


def source(case, folder, made):
    """The path that stands after ``--data``; a table to be given as Parquet is written so into ``made``."""
    path = folder / "tables" / case["file"]
    if case.get("written_as") != "parquet":
        return path
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    pd.DataFrame(rows).to_parquet(made / f"{path.stem}.parquet")
    return made / f"{path.stem}.parquet"


def run(case, path):
    """The tables and the result of ``run STUDY --data PATH``; only what does not concern the reading is made cheap."""
    own = studies.study(case["study"])
    dataset = studies.load(str(path), study=case["study"])
    cheap = {"n_resamples": 200}
    if case["study"] == "text_metrics" and "figures" in case:
        cheap["metrics"] = sorted({figure["metric"] for figure in case["figures"]})
    studies.refuse(dataset, case["study"], {**studies.defaults(case["study"]), **cheap})
    return dataset, own.evaluate(dataset, **cheap)


def plain(group):
    """A group's name without what says that it is a model: ``output_1`` is ``1``, ``response_gpt`` is ``gpt``."""
    return _HEAD.sub("", str(group).strip().casefold())


class NotRead(Exception):
    """A table that is not read as it should be, or not asked about; a wrong figure is another thing, and never expected."""


def figure_of(result, figure):
    """The value of the one estimate of a metric whose groups hold those that are expected."""
    wanted = {plain(name) for name in figure["groups"]}
    of_metric = [e for e in result.summary.estimates if e.metric == figure["metric"]]
    found = [e for e in of_metric if wanted <= {plain(name) for name in dict(e.group).values()}]
    if len(found) != 1 or found[0].value is None:
        raise NotRead(f"{figure}: {found}; there are {[dict(e.group) for e in of_metric]}")
    return found[0].value


def said_of_reading(dataset, result):
    """Everything that says how the table was read, but for what says which columns were not used."""
    notes = [note for note in map(str, (*dataset.notes, *result.notes)) if "not used" not in note]
    return "\n".join([*notes, str(getattr(dataset, "read_as", "")), str(getattr(result, "read_as", ""))])


def check_figures(case, path):
    dataset, result = run(case, path)
    for figure in case["figures"]:
        assert math.isclose(figure_of(result, figure), figure["value"], abs_tol=TOLERANCE), figure
    said = said_of_reading(dataset, result)
    if silent := [name for name in case["read"] if name not in said]:
        raise NotRead(f"no note names {', '.join(silent)}:\n{said}")


def check_asked(case, path):
    asks = case["asks"]
    try:
        run(case, path)
    except BadInput as error:
        text = str(error)
    else:
        raise NotRead("nothing was asked")
    lacking = [name for name in asks["columns"] if name not in text]
    lacking += [line for line in asks["lines"] if not any(way in text for way in line.split("|"))]
    further = {*_OPTION.findall(text)} - {*asks["columns"], "NAME"}
    if lacking or further:
        raise NotRead(f"lacking: {lacking}, asked besides: {further}:\n{text}")


def check(case, folder, made):
    path = source(case, folder, made)
    check_asked(case, path) if "asks" in case else check_figures(case, path)


def cases(expected, failing=frozenset()):
    strict = pytest.mark.xfail(strict=True, raises=(BadInput, NotRead), reason="not read yet")
    return [pytest.param(name, id=name, marks=[strict] * (name in failing)) for name in expected]


@pytest.mark.parametrize("name", cases(EXPECTED, KNOWN_FAILING))
def test_a_table_as_people_have_it_gives_its_figure_or_one_question(name, tmp_path):
    check(EXPECTED[name], HERE, tmp_path)


def test_every_table_is_expected_to_give_something():
    files = {path.relative_to(HERE / "tables").parts[0] for path in (HERE / "tables").rglob("*") if path.is_file()}
    assert {case["file"] for case in EXPECTED.values()} == files
    assert all(("asks" in case) != bool(case.get("figures")) for case in EXPECTED.values())
    assert len(EXPECTED) >= 40
    assert set(EXPECTED) >= KNOWN_FAILING
