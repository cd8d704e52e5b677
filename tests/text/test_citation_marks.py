import pytest
from timing import least

from evalbench.text.citation_marks import citation_marks, statements


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("none [a] [] [1.5] [2019] 1]", []),
        ("[1]", [(1,)]),
        ("[1, 2]", [(1, 2)]),
        ("[1-3]", [(1, 2, 3)]),
        ("[1–3; 2, 7]", [(1, 2, 3, 7)]),
        ("[1][2]", [(1,), (2,)]),
        ("［3］【4】", [(3,), (4,)]),
        ("[3-1]", [(3, 1)]),
        ("[1-999]", [(1, 999)]),
        ("[1](https://lexica.example/a_(b)", [(1,)]),
        ("[0] [0-9] [0, 1] [10]", [(10,)]),
        (f"[{', '.join(map(str, range(1, 61)))}]", [tuple(range(1, 61))]),
        ("`x[1]` [2] ``y`[3]`` [4]", [(2,), (4,)]),
        ("[1] ` [2]", [(1,), (2,)]),
        ("a ` b [1]\n\nc ` d [2]", [(1,), (2,)]),
        ("[1]\n```python\nx[2] = '`'\n```\n[3]", [(1,), (3,)]),
        ("[1]\n  ~~~~\nx[2]\n```\n~~~~\n[3]", [(1,), (3,)]),
        ("[1]\n```\nx[2]", [(1,)]),
        ("Use the `ls command. [1] Then use cd. [2] Finally run `pwd`. [3]", [(1,), (2,), (3,)]),
        ("用 `ls 命令。[1]然后 cd。[2] `pwd`[3]", [(1,), (2,), (3,)]),
    ],
)
def test_marks(text, numbers):
    assert [m.numbers for m in citation_marks(text)] == numbers


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("", "en", []),
        ("[1] [2]", "en", []),
        ("It sank [1]. Many died.[2][3] Few lived.", "en", [("It sank.", (1,)), ("Many died.", (2, 3)), ("Few lived.", ())]),
        ("It sank. [1] Many died. [2]", "en", [("It sank.", (1,)), ("Many died.", (2,))]),
        ("[1] A came.\n[2] B left.", "en", [("A came.", (1,)), ("B left.", (2,))]),
        ("He [1] came [1, 2].", "en", [("He came.", (1, 2))]),
        ("Она ушла [1]. Он пришёл.[2]", "ru", [("Она ушла.", (1,)), ("Он пришёл.", (2,))]),
        ("船沉了。[1]很多人死了[2]。", "zh", [("船沉了。", (1,)), ("很多人死了。", (2,))]),
    ],
)  # fmt: skip
def test_statements(text, language, expected):
    assert [tuple(s) for s in statements(text, language)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        "[1" * 50_000,
        "[1,1" * 20_000,
        "[1]" * 10_000,
        "[" + "1," * 200_000,
        "`[1]" * 50_000,
        "".join("`" * n + " " for n in range(1, 600)),
        "```\n" * 50_000,
        "``` " * 50_000,
        "```\n" + "````\n~~~\n" * 20_000,
        "\n".join("`" * n for n in range(600, 3, -1)),
    ],
)
def test_hostile_texts_cost_little(text):
    assert least(lambda: citation_marks(text), goal=1, rounds=1) < 1


@pytest.mark.parametrize("text", [" " * 200_000, "A" + "\t " * 100_000 + "[1", ("a" + " " * 999) * 200])
def test_long_rows_of_blanks_cost_linear_time(text):
    assert least(lambda: statements(text), goal=1, rounds=1) < 1
