import pytest

from evalbench.metrics.coherence import step_coherence
from evalbench.text.equations import places
from evalbench.text.solutions import parse_solution


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("<<x+56=86>>", "cannot read 'x'"),
        ("x + 56 = 86", "cannot read 'x'"),
        ("x+56=86", "cannot read 'x'"),
        ("<<6 2x4's=48>>", 'cannot read "\'"'),
        ("<<$195=160+5x>>", "cannot read 'x'"),
        ("$195=160+5x", "cannot read 'x'"),
        ("n - 4 = 116 - 2", "cannot read 'n'"),
        ("12 = 3 * 4m", "cannot read 'm'"),
        ("<<2*half=1>>", "cannot read 'half'"),
        ("<<1/0=1>>", "division by zero"),
        ("<<12/1.3333...=10>>", "cannot read '.'"),
        ("<<83.3>>", "an equation needs two sides"),
    ],
)
def test_what_cannot_be_read_is_left_out_with_its_reason(line, fault):
    (equation,) = parse_solution(line).equations
    assert equation.fault == fault
    alone = step_coherence(parse_solution(line), "195 and 160")
    assert (alone.steps[0].accurate, alone.steps[0].coherent) == (None, None)
    assert alone.score != alone.score
    annotated = line if "<<" in line else f"<<{line}>>"
    beside = step_coherence(parse_solution(f"{annotated}\n<<2+3=5>>"), "2 and 3")
    assert (beside.accuracy, beside.coherence) == (1.0, 1.0)
    assert [f.kind for f in beside.steps[0].faults] == ["unread"]


@pytest.mark.parametrize(
    ("line", "equations"),
    [
        ("(3 + 3 = 6)", ["3 + 3 = 6"]),
        ("<<(3 + 3 = 6)>>", ["3 + 3 = 6"]),
        ("She takes both (3 + 3 = 6).", ["3 + 3 = 6"]),
        ("So 2 * 6 = 12 (3 + 3 = 6)", ["2 * 6 = 12", "3 + 3 = 6"]),
        ("((3 + 3) * 2 = 12)", ["(3 + 3) * 2 = 12"]),
        ("(3 + 3) = (2 * 3)", ["(3 + 3) = (2 * 3)"]),
        ("**3 + 3 = 6**", ["3 + 3 = 6"]),
        ("3 + 3 = **6**", ["3 + 3 = 6"]),
        ("x = 3 + 3 = 6", ["x = 3 + 3 = 6"]),
    ],
)
def test_brackets_and_bold_type_around_an_equation(line, equations):
    found = parse_solution(line).equations
    assert [e.text for e in found] == equations
    assert all(e.holds() for e in found)


@pytest.mark.parametrize(
    "label",
    [
        "Step 2 - ",
        "Step 2 – ",
        "step 2: ",
        "**Step 2** - ",
        "**Step 2:** ",
        "### Step 2 - ",
        "- Step 2 - ",
        "Day 2 - ",
        "Then, on day 2 - ",
        "#2 - ",
        "#2: ",
        "(2) ",
        "(2) - ",
        "2) ",
        "2. ",
        "2. - ",
        "Year 2 = ",
        "Шаг 2 - ",
        "第2步：",
        "步骤2: ",
    ],
)
def test_the_number_and_the_dash_of_a_label_are_not_part_of_an_equation(label):
    line = f"{label}19.50/0.75 = 26"
    (equation,) = parse_solution(line).equations
    assert (equation.text, equation.holds()) == ("19.50/0.75 = 26", True)
    got = step_coherence(parse_solution(line), "19.50 at 0.75 each")
    assert got.steps[0].faults == ()


@pytest.mark.parametrize(
    "line", ["(2) * 3 = 6", "2 - 5 = -3", "A week 2 * 7 = 14", "Total 5 - 3 = 2", "- 5 + 3 = 8", "9 days - 2 = 7"]
)
def test_what_only_looks_like_a_label_stays(line):
    found = parse_solution(line).equations
    assert all(e.holds() for e in found)
    assert bool(found) == ("days" not in line)


@pytest.mark.parametrize(
    ("text", "question", "marked"),
    [
        ("Step 1: 100% − 50% = 50%", "It is cheap.", ["100%", "50%"]),
        ("Step 1 - 1 * 7 = 7", "", ["1", "7"]),
        ("**Step 7** - 7 + 7 = 14", "", ["7", "7"]),
        ("Step 4: 7*4 = <<7*4=28>>28", "", ["7", "4"]),
        ("Step 2: 19.50/0.75 = 26", "19.50", ["0.75"]),
        ("17 + 7 = 24", "17", ["7"]),
        ("7 % of 5: 7 % * 5 = 0.35", "5", ["7 %"]),
        ("Step 3: \\frac{3}{4} = 0.75", "", ["3", "4"]),
    ],
)
def test_a_number_without_a_source_is_marked_where_it_stands(text, question, marked):
    (step,) = step_coherence(parse_solution(text), question).steps
    unsourced = [f for f in step.faults if f.kind == "unsourced"]
    assert [text[f.start : f.end] for f in unsourced] == marked
    label = text.find(":") if text.startswith("Step") and ":" in text else text.find(" - ")
    assert all(f.start > label for f in unsourced)


@pytest.mark.parametrize(
    "question", ["All 100% of it, less 25%.", "A hundred percent, less 25%.", "The price falls by 25%."]
)
def test_the_whole_of_a_percentage_has_a_source(question):
    got = step_coherence(parse_solution("100% − 25% = 75%"), question)
    assert (got.accuracy, got.coherence) == (1.0, 1.0), got.steps


def test_places_are_those_of_the_numbers_on_the_left():
    line = "first 12 + 2 = 14"
    (equation,) = parse_solution(line).equations
    assert [line[a:b] for a, b in places(line, equation)] == ["12", "2"]
