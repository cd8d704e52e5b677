"""``record(result)``: a notebook's last line."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalbench.core.clusters import in_arrow
from evalbench.core.dry import is_dry
from evalbench.core.judging_time import AGAIN
from evalbench.core.judging_time import in_words as again_in_words
from evalbench.errors import BadInput
from evalbench.readers.runs import ITEMS, RESULTS_JSON, RUN_JSON, table_file, whole_file, write_json
from evalbench.runs.folder import RUN, RUN_SCHEMA_VERSION, now, update_run
from evalbench.runs.leaks import leaks

if TYPE_CHECKING:
    import pandas as pd

    from evalbench.core.result import Result


def record(result: Result, out: str | Path | None = None) -> None:
    """Write a result into the run's folder, or show it.

    Under ``evalbench run`` the result goes to the run's folder.  In JupyterLab nothing is written: the result is
    shown, with the command line that renders the same.  With ``out`` a run marked *interactive* is written there.
    A dry run writes nothing.

    Parameters
    ----------
    out : str or Path, optional
        A new or empty folder.

    Raises
    ------
    BadInput
        If ``out`` is not empty, or the result holds a key of the environment: then nothing is kept.
    """
    if not hasattr(result, "to_json"):
        raise TypeError(f"record takes the Result of a study, not {type(result).__name__}")
    folder = os.environ.get(RUN)
    if is_dry():
        return
    if folder:
        write(result, Path(folder))
    elif out is not None:
        target = Path(out)
        if target.exists() and any(target.iterdir()):
            raise BadInput(f"{target}: is not empty; a run gets a folder of its own")
        target.mkdir(parents=True, exist_ok=True)
        fields = {"schema_version": RUN_SCHEMA_VERSION, "study": result.study, "run_id": target.name}
        write_json(target / RUN_JSON, {**fields, "status": "interactive", "started": now(), "finished": now()})
        write(result, target)
        if found := leaks(target):
            shutil.rmtree(target)
            said = ", ".join(f"{name} in {file.name}" for file, name in found)
            raise BadInput(f"{target}: not kept, because its files held the value of a key: {said}")
    else:
        from evalbench.draw.show import show

        show(result)
        print(f"Nothing was written. {_how_to_render(result)}")


def write(result: Result, folder: Path) -> None:
    """Write ``results.json``, ``items.parquet`` and the tables, ``results.json`` last.

    Items are sorted by group and id, so that the order of rows changes no byte.
    """
    _write_frame(_in_order(result.items, [result.id, *result.by]), folder / ITEMS)
    tables = {name: table_file(name) for name in sorted({*result.tables, *result.stored})}
    for name, file in tables.items():
        if name in result.stored:
            with whole_file(folder / file) as temporary:
                shutil.copyfile(result.stored[name].path, temporary)
        else:
            _write_frame(result.tables[name], folder / file)
    for name, content in sorted(result.files.items()):
        if Path(name).name != name:
            raise ValueError(f"{name!r}: a file of a run lies in its folder")
        with whole_file(folder / name) as temporary:
            temporary.write_bytes(content)
    read_as = {"read_as": {name: dict(own) for name, own in result.read_as.items()}} if result.read_as else {}
    update_run(folder, **result.accounting, **read_as)
    write_json(folder / RESULTS_JSON, {**_of_old_run(result.to_json()), "tables": tables})


def _in_order(items: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """Sorted; what is in order is not copied."""
    if (len(order) == 1 or all(in_arrow(items[name]) for name in order)) and _ascend([items[name] for name in order]):
        return items
    return items.sort_values(order, kind="stable", ignore_index=True)


def _ascend(keys: Sequence[pd.Series]) -> bool:
    """Whether no row is before the one above it, by the first of the keys that tells them apart; missing cells tell nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ordered = True
    for key in reversed(keys):
        cells = pa.chunked_array(pa.array(key))
        sooner, later = cells[:-1], cells[1:]
        ordered = pc.or_(pc.less(sooner, later), pc.and_(pc.equal(sooner, later), ordered))
    return bool(pc.all(pc.fill_null(ordered, False)).as_py())


def _of_old_run(content: dict[str, Any]) -> dict[str, Any]:
    """The content of ``results.json``; of a run that judged another's answers again, with what it is."""
    if not os.environ.get(AGAIN):
        return content
    from evalbench.models.chat import replay

    recorded = replay.active()
    assert recorded is not None
    account = recorded.account()
    return {**content, "notes": [again_in_words(account), *content["notes"]], "judged_again": account}


def _write_frame(frame: pd.DataFrame, path: Path) -> None:
    with whole_file(path) as temporary:
        frame.reset_index(drop=True).to_parquet(temporary, index=False)


def _how_to_render(result: Result) -> str:
    if str(result.data) == "frames":
        return "The data were frames of this notebook: load them from files to get a command that reproduces this run."
    try:
        return f"This command reproduces it:\n{command_line(result)}"
    except Exception as error:  # noqa: BLE001 - everything is computed by now; a hint does not take it away
        return f"There is no command that reproduces it from here: {error}"


def command_line(result: Result, variables: Mapping[str, Any] | None = None) -> str:
    """The ``evalbench run`` line that renders a result made in JupyterLab, from any folder.

    What the result says of itself comes first; the notebook's variables add the names of files, which a result
    does not hold.

    - ``variables``: The notebook's variables; by default those of ``__main__``.
    """
    from evalbench.runs.modules import METRICS, named
    from evalbench.runs.notebooks import known_parameters
    from evalbench.runs.run import file_paths

    if variables is None:
        import __main__

        variables = vars(__main__)
    known = known_parameters(result.study)
    given = {name: value for name, value in variables.items() if name in known and _is_json(value)}
    told = {name: value for name, value in result.parameters.items() if name in known and _is_json(value)}
    if named(told):  # metrics by the names that they have there, without their files
        told.pop(METRICS)
    # Results hold the bare names of files; the variables hold their paths.
    paths, _ = file_paths(
        result.study, {**told, **given, "data": _data_of(result, given.get("data"))}, None, Path.cwd()
    )
    values = {**given, "data": _data_of(result, given.get("data")), **told}
    values |= {name: str(path) for name, path in paths.items()}
    words = ["evalbench", "run", result.study]
    for name, parameter in known.items():
        value = values.get(name, parameter.default)
        if value == parameter.default:
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        words += ["--data", text] if name == "data" else ["-p", f"{name}={text}"]
    return shlex.join(words)


def _data_of(result: Result, variable: Any) -> Any:
    """What the notebook's variable names, unless the result was made from something else that can be named."""
    label = str(result.data)
    names_it = isinstance(variable, str) and label in (variable, Path(variable).expanduser().resolve().name)
    can_be_named = result.data.version or Path(label).exists()
    return variable if names_it or (variable and not can_be_named) else label


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True
