"""Write the sample data sets desk_log, desk_log_control and desk_log_judged, all @1.1.0: half a year of a help desk that nobody runs.

Run from anywhere: ``python scripts/make_desk_log.py``.  OOS is January and February, OOT March to June.  In desk_log three things
change on 1 April: requests come through another form and open in other words, more of them are about devices, which the invented
model answers badly, and the model answers at greater length in other words.  In desk_log_control nothing changes.  How many requests
of a month are about devices, and how many answers are right, is fixed; which ones, and how they are put, is drawn.

In desk_log_judged nothing changes either, and an invented judge marks the answers in place of people; from 1 April on it fails three in
ten of the right ones that it passed before.  Its anchors are labelled answers that it judged in February and again in June.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from evalbench.core.seeds import rng

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path(__file__).resolve().parent / "desk_log" / "phrases.yaml"
SEED = 21
ROWS = {1: 600, 2: 600, 3: 120, 4: 120, 5: 120, 6: 120}
SETS_IN = 4
DAYS = {1: 31, 2: 28, 3: 31, 4: 30, 5: 31, 6: 30}
DEVICES = {False: 0.25, True: 0.44}
RIGHT = {False: {"rooms": 0.99, "devices": 0.04}, True: {"rooms": 0.88, "devices": 0.02}}
JUDGED_ROWS = {1: 160, 2: 160, 3: 60, 4: 60, 5: 60, 6: 60}
JUDGE, N_ANCHORS = "pine-judge-1", 100
PASSED = {False: {1: 0.97, 0: 0.05}, True: {1: 0.68, 0: 0.03}}
"""Shares of right and of wrong answers that the judge passes before April and from then on."""


def month_rows(
    month: int, drifted: bool, phrases: dict[str, Any], name: str, sizes: dict[int, int] = ROWS
) -> Iterator[dict[str, Any]]:
    """The interactions of a month."""
    draw = rng(SEED, f"{name}/{month}")
    n = sizes[month]
    kinds = np.array(["devices"] * round(n * DEVICES[drifted]) + ["rooms"] * (n - round(n * DEVICES[drifted])))
    draw.shuffle(kinds)
    right = np.zeros(n, dtype=int)
    for kind, share in RIGHT[drifted].items():
        places = draw.permutation(np.flatnonzero(kinds == kind))
        right[places[: round(share * len(places))]] = 1
    minutes = np.sort(draw.choice(DAYS[month] * 24 * 60, n, replace=False))
    for i in range(n):
        lang = "en" if draw.random() < 0.6 else "ru"
        own = phrases[lang]
        topic = str(draw.choice(sorted(own[kinds[i]])))
        block = own[kinds[i]][topic]
        opener = str(draw.choice(own["openers_later" if drifted else "openers"]))
        slots = {slot: str(draw.choice(values)) for slot, values in own["slots"].items()}
        asked = str(draw.choice(block["ask"])).format(**slots)
        more = str(draw.choice(own["closings"])).format(**slots)
        fact = str(draw.choice(block["answer" if right[i] else "wrong"])).format(**slots)
        style = own["styles_later" if drifted else "styles"]
        day, minute = divmod(int(minutes[i]), 24 * 60)
        yield {
            "id": f"{month}{i + 1:04d}",
            "time": f"2026-{month:02d}-{day + 1:02d}T{minute // 60:02d}:{minute % 60:02d}:00Z",
            "lang": lang,
            "topic": topic,
            "question": f"{opener}{asked[:1].lower() if opener.rstrip().endswith((',', ':')) else asked[:1]}{asked[1:]}{more}",
            "answer": " ".join([str(draw.choice(style["before"])), fact, str(draw.choice(style["after"]))]).strip(),
            "label": int(right[i]),
        }


def marks(labels: list[int], strict: bool, name: str) -> list[int]:
    """What the judge gives to answers that are right (1) or wrong (0); how many it passes is fixed."""
    draw, given = rng(SEED, f"judge/{name}"), np.zeros(len(labels), dtype=int)
    for label, share in PASSED[strict].items():
        places = draw.permutation(np.flatnonzero(np.array(labels) == label))
        given[places[: round(share * len(places))]] = 1
    return given.tolist()


def judged(rows: list[dict[str, Any]], strict: bool, name: str) -> list[dict[str, Any]]:
    """Interactions with the judge's mark in place of the label."""
    given = marks([row["label"] for row in rows], strict, name)
    return [{**{k: v for k, v in row.items() if k != "label"}, "score": g} for row, g in zip(rows, given, strict=True)]


def anchors(strict: bool, name: str) -> list[dict[str, Any]]:
    """Labelled answers with the judge's mark at one time; three quarters are right."""
    labels = [int(i % 4 > 0) for i in range(N_ANCHORS)]
    return [
        {
            "id": f"a{i + 1:03d}",
            "label": label,
            "mark": mark,
            "judge": JUDGE,
            "prompt": "right or wrong, 2",
            "judged_at": name,
        }
        for i, (label, mark) in enumerate(zip(labels, marks(labels, strict, name), strict=True))
    ]


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    phrases = yaml.safe_load(SOURCE.read_text("utf-8"))
    data = ROOT / "data"
    oos = [row for month in (1, 2) for row in month_rows(month, False, phrases, "oos")]
    write(data / "desk_log" / "1.1.0", "oos", oos)
    for name, drifts in (("desk_log", True), ("desk_log_control", False)):
        oot = [row for month in (3, 4, 5, 6) for row in month_rows(month, drifts and month >= SETS_IN, phrases, name)]
        write(data / name / "1.1.0", "oot", oot)
    folder, sides = data / "desk_log_judged" / "1.1.0", {"oos": (1, 2), "oot": (3, 4, 5, 6)}
    for side, months in sides.items():
        rows = [
            row
            for month in months
            for row in judged(
                list(month_rows(month, False, phrases, "judged", JUDGED_ROWS)), month >= SETS_IN, f"month {month}"
            )
        ]
        write(folder, side, rows)
    for name, strict, at in (("anchors_then", False, "2026-02"), ("anchors_now", True, "2026-06")):
        write(folder, name, anchors(strict, at))


if __name__ == "__main__":
    main()
