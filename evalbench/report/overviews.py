"""The overviews of schedules below a folder of reports, as the index names them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

FOLDER, JSON, PAGE = "monitor", "monitor.json", "monitor.html"


class Overview(NamedTuple):
    """An overview of a schedule.

    - ``sentence``: Its last lights.
    - ``made``: When, with its time zone.
    - ``href``: Its page, relative to the index.
    """

    schedule: str
    sentence: str
    made: str
    href: str


def overviews(reports: Path) -> list[Overview]:
    """Those below a folder of reports, by name; one whose JSON is damaged says so."""
    return [_overview(page) for page in sorted((reports / FOLDER).glob(f"*/{PAGE}"))]


def _overview(page: Path) -> Overview:
    name = page.parent.name
    href = f"{FOLDER}/{quote(name)}/{PAGE}"
    try:
        content = json.loads((page.parent / JSON).read_text(encoding="utf-8"))
        return Overview(
            str(content["schedule"]), str(content["sentence"]), f"{content['made']} {content['timezone']}", href
        )
    except (OSError, ValueError, KeyError, TypeError):
        return Overview(name, f"its {JSON} cannot be read", "", href)
