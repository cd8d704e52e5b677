"""Whatever frames a study is handed, it evaluates them or raises BadInput: never another exception; and its page can be drawn."""

from __future__ import annotations

import json
import warnings

import pytest
from generated import one_in_twenty
from random_frames import broken
from some_studies import some_studies
from studied import options, page, sample

from evalbench import studies
from evalbench.errors import BadInput

DRAWN = 12  # of one in so many evaluated cases everything that the notebook shows is drawn


@pytest.mark.generated
@pytest.mark.soak
@pytest.mark.parametrize("name", some_studies(studies.names()))
def test_frames_are_evaluated_or_refused(name: str) -> None:
    evaluated, wrong = 0, []
    for number in one_in_twenty(range(600), in_check=12):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data = studies.load(broken(sample(name), number), study=name)
                result = studies.study(name).evaluate(data, **options(name, n_resamples=20))
        except BadInput:
            continue
        except Exception as error:  # what this test is about
            wrong.append(f"{number}: {type(error).__name__}: {error}")
            continue
        evaluated += 1
        try:
            json.dumps(result.to_json(), allow_nan=False)
            if evaluated % DRAWN == 1:
                page(name, result)
        except Exception as error:
            wrong.append(f"{number}, drawn: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
    assert evaluated > 0
