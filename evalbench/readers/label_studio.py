"""Label Studio's export: a task a row with what each annotator said, as a study's tables of items and of marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from evalbench.core.wording import counted
from evalbench.readers.role_names import role_of
from evalbench.readers.roles import noted

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.readers.schema import Table

_MARK = ("mark", "annotator", "criterion", "id")


def with_marks(frames: Mapping[str, pd.DataFrame], schema: Mapping[str, Table]) -> dict[str, pd.DataFrame]:
    """The frames, of tasks with ratings, numbers or one choice those of a study that has a table of people's marks."""
    main = next(iter(schema))
    tasks = frames.get(main)
    target = next((name for name, table in schema.items() if {*_MARK} <= {*_by_role(table)} and name not in frames), "")
    if tasks is None or not target or not {"annotations", "data"} <= {*map(str, tasks.columns)}:
        return dict(frames)
    marks = [
        dict(mark, row=row)
        for row, task in zip(tasks.index, tasks.to_dict("records"), strict=True)
        for mark in _marks(task)
    ]
    if not marks:
        return dict(frames)
    import pandas as pd

    names = _by_role(schema[target])
    ratings = pd.DataFrame({names[role]: pd.Series([m[role] for m in marks], dtype=object) for role in _MARK})
    ratings.index = pd.Index([m["row"] for m in marks])
    items = pd.DataFrame(
        [{"id": task["id"], **task["data"]} for task in tasks.to_dict("records")], index=tasks.index, dtype=object
    )
    key = _by_role(schema[main])["id"]
    if key != "id":
        items = items.rename(columns={"id": key}) if key not in items else items.drop(columns="id")
    people = ratings[names["annotator"]].nunique()
    said = f"an export of Label Studio: {counted(len(ratings), 'mark')} of {counted(people, 'annotator')}"
    return {**frames, main: noted(items, tasks, {"data": main, "annotations": target}, [said]), target: ratings}


def _by_role(table: Table) -> dict[str, str]:
    return {role.name: column.name for column in table.columns if (role := role_of(column)) is not None}


def _marks(task: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    """What annotators said of a task; withdrawn annotations are left out."""
    for given in task["annotations"] or ():
        if not isinstance(given, dict) or given.get("was_cancelled"):
            continue
        who = given.get("completed_by")
        name = (who.get("email") or who.get("id")) if isinstance(who, dict) else who
        for part in given.get("result") or ():
            value = part.get("value") if isinstance(part, dict) else None
            mark = _mark(value) if isinstance(value, dict) else None
            if mark is not None:
                yield {
                    "id": task.get("id"),
                    "annotator": str(name),
                    "criterion": str(part.get("from_name", "")),
                    "mark": mark,
                }


def _mark(value: Mapping[str, Any]) -> Any:
    choices = value.get("choices")
    one = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    return next((mark for mark in (value.get("rating"), value.get("number"), one) if mark is not None), None)
