"""A file of trajectories as the data of a study whose table is ``steps``."""

from trajectory_files import ANSWER, FAILED, openai, tau, write

from evalbench.readers.dataset import load
from evalbench.readers.schema import Column, Table

STEPS = Table(
    (
        *(
            Column("id", "id"),
            Column("step", "int", low=0),
            Column("kind", "text"),
            Column("name", "text", False, True),
        ),
        *(
            Column("text", "text", False, True),
            Column("error", "float", False, True),
            Column("arguments", "text", False, True),
        ),
    ),
    unique=("id", "step"),
    trials="model",
)
TASKS = Table(
    (Column("id", "id"), Column("question", "text", False, True), Column("expected", "json", False, True)),
    unique=("id",),
    required=False,
)
OUTCOMES = Table(
    (Column("id", "id"), Column("mark", "float", False, True)), unique=("id",), required=False, trials="model"
)
SCHEMA = {"steps": STEPS, "tasks": TASKS, "outcomes": OUTCOMES}


def test_the_tables_of_a_result_file(tmp_path):
    path = write(tmp_path / "runs.json", [tau(0), tau(1, None)])
    data = load(path, SCHEMA)
    assert len(data["steps"]) == 14
    assert data["tasks"]["expected"][0] == [{"name": "find_loan", "arguments": {"book": 7}}]
    assert data["outcomes"]["mark"].fillna(-1).tolist() == [1.0, -1.0]
    assert "runs.json: read as trajectories of the form tau-bench" in data.notes


def test_errors_are_words_where_the_study_asks_for_words(tmp_path):
    columns = tuple(Column("error", "text", False, True) if c.name == "error" else c for c in STEPS.columns)
    words = {**SCHEMA, "steps": Table(columns, unique=("id", "step"), trials="model")}
    data = load(write(tmp_path / "runs.json", [tau(0)]), words)
    assert data["steps"]["error"].tolist() == ["", "", "", FAILED, "", "", ""]


def test_a_limit_is_the_last_step_and_trials_without_a_model_are_named_so(tmp_path):
    runs = [
        {"id": "a", "stop_reason": "max_steps", "messages": openai()},
        {"id": "b", "model": "fern-1b", "messages": openai()},
    ]
    data = load(write(tmp_path / "runs.json", runs), SCHEMA)
    last = data["steps"].groupby("id").tail(1)
    assert last[["model", "kind", "name", "text"]].values.tolist() == [
        ["model not named", "note", "limit", "limit: max_steps"],
        ["fern-1b", "message", "", ANSWER],
    ]
    assert [*data.tables] == ["steps", "tasks"]  # outcomes without a mark say nothing


def test_a_file_without_marks_has_no_outcomes(tmp_path):
    data = load(write(tmp_path / "chat.json", openai()), SCHEMA)
    assert [*data.tables] == ["steps", "tasks"]


def test_a_table_of_ones_own_is_read_as_it_is(tmp_path):
    (tmp_path / "own.csv").write_text("id,step,kind,name\na,0,call,find\na,1,result,find\n")
    data = load(tmp_path / "own.csv", SCHEMA)
    assert data["steps"]["kind"].tolist() == ["call", "result"]


def test_another_study_reads_the_same_file_as_before(tmp_path):
    rows = [{"id": "a", "messages": openai(), "output": "x"}]
    items = {"items": Table((Column("id", "id"), Column("output", "text")), unique=("id",))}
    assert load(write(tmp_path / "r.json", rows), items)["items"]["output"].tolist() == ["x"]


def test_how_a_trial_ended_is_no_column_that_is_not_used(tmp_path):
    runs = [{"id": "a", "stop_reason": "max_steps", "success": 0, "messages": openai()}]
    data = load(write(tmp_path / "runs.json", runs), SCHEMA)
    assert "ended" not in data["outcomes"]
    assert not any("not used" in note and "ended" in note for note in data.notes)
